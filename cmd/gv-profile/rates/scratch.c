#define _XOPEN_SOURCE 700 /* realpath */
#include "scratch.h"

#include <stdlib.h>

#include "base/fileio.h"
#include "base/strbuf.h"

char *
scratch_make(const char *dir, struct gv_error *e)
{
	const char *tmp = dir != NULL ? dir : getenv("TMPDIR");
	struct gv_strbuf path = {0};
	char *real;

	if (tmp == NULL || tmp[0] == '\0')
		tmp = "/tmp";
	real = realpath(tmp, NULL);
	if (real == NULL) {
		gv_error_sys(e, "%s: cannot make a directory there", tmp);
		return NULL;
	}
	gv_strbuf_fmt(&path, "%s/gv-profile.XXXXXX", real);
	free(real);
	if (mkdtemp(path.s) == NULL) {
		gv_error_sys(e, "%s: cannot make a directory there", tmp);
		gv_strbuf_free(&path);
		return NULL;
	}
	return path.s;
}

int
scratch_remove(const char *path, struct gv_error *e)
{
	struct gv_error first = {0};

	return gv_remove_tree(path, &first) == 0 ? 0 : gv_remove_tree(path, e);
}
