#include "base/term.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/num.h"

size_t
gv_term_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	int64_t n;

	if (!isatty(STDOUT_FILENO))
		return 0;
	if (columns != NULL && gv_parse_int(columns, strlen(columns), &n) == 0 && n > 0 &&
	    n < 100000)
		return (size_t)n;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return size.ws_col;
	return 80;
}

bool
gv_term_colour(void)
{
	const char *no = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if (!isatty(STDOUT_FILENO) || (no != NULL && no[0] != '\0'))
		return false;
	return term != NULL && term[0] != '\0' && strcmp(term, "dumb") != 0;
}
