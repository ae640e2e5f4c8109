#include "name.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

/* Cuts an ending off; false: it has none of these, or is nothing else. */
static bool
cut(const char *s, size_t *len)
{
	static const char *const ending[] = {
	    ".gz", ".csv", ".tsv", ".txt", ".log", ".events", ".jobs", ".summary"};
	size_t i, n;

	for (i = 0; i < sizeof(ending) / sizeof(ending[0]); i++) {
		n = strlen(ending[i]);
		if (*len > n && memcmp(s + *len - n, ending[i], n) == 0) {
			*len -= n;
			return true;
		}
	}
	return false;
}

static bool
is(const char *s, size_t len, const char *word)
{
	return len == strlen(word) && memcmp(s, word, len) == 0;
}

/* Lives until the process ends, as the operands do. */
static const char *
name_of(const char *path)
{
	static struct gv_arena names;
	const char *slash = strrchr(path, '/');
	const char *from = slash != NULL ? slash + 1 : path;
	size_t len = strlen(from);

	if (strcmp(path, "-") == 0)
		return "stdin";
	while (cut(from, &len))
		continue;
	if (slash != NULL && (is(from, len, "events") || is(from, len, "jobs") ||
				 is(from, len, "summary"))) {
		const char *of;

		while (slash > path && slash[-1] == '/')
			slash--;
		for (of = slash; of > path && of[-1] != '/'; of--)
			continue;
		if (slash > of) {
			from = of;
			len = (size_t)(slash - of);
		}
	}
	return gv_arena_strndup(&names, from, len);
}

struct operand
operand_of(const char *arg, const char *name)
{
	const char *equals = strchr(arg, '=');
	static struct gv_arena names;

	if (name != NULL)
		return (struct operand){name, arg};
	if (equals == NULL || equals == arg || access(arg, F_OK) == 0 ||
	    memchr(arg, '/', (size_t)(equals - arg)) != NULL)
		return (struct operand){name_of(arg), arg};
	return (struct operand){
	    gv_arena_strndup(&names, arg, (size_t)(equals - arg)), equals + 1};
}
