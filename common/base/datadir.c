/* Where shipped files are. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fileio.h"

#ifndef GV_DATADIR
#define GV_DATADIR "/usr/local/share/gv-toolkit"
#endif

/*
 * Where the data may be, in a folder so far up from the program's: installed; in
 * the tree it was built in, for bin/ and for build/FLAVOUR/bin/.
 */
static const struct {
	int up;
	const char *name;
} beside[] = {{1, "share/gv-toolkit"}, {1, "share"}, {3, "share"}};

/* Cuts the last n names off a path; false when it has fewer. */
static bool
cut_names(char *path, int n)
{
	char *slash = NULL;

	for (; n > 0; n--) {
		slash = strrchr(path, '/');
		if (slash == NULL)
			return false;
		*slash = '\0';
	}
	return true;
}

/* Sets found to a directory that has our data beside the program.  0 or -1. */
static int
find_beside(char found[PATH_MAX])
{
	char program[PATH_MAX], dir[PATH_MAX], file[PATH_MAX + 64];
	ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 1);
	size_t i;

	if (len <= 0) /* the system does not say */
		return -1;
	program[len] = '\0';
	for (i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
		strcpy(dir, program);
		if (!cut_names(dir, 1 + beside[i].up))
			continue;
		/* a file of ours: share/ alone may be anybody's */
		snprintf(file, sizeof(file), "%s/%s/gv_progress.py", dir, beside[i].name);
		if (strlen(file) >= PATH_MAX || access(file, R_OK) != 0)
			continue;
		cut_names(file, 1);
		strcpy(found, file);
		return 0;
	}
	return -1;
}

const char *
gv_data_dir(void)
{
	static char found[PATH_MAX];
	const char *dir = getenv("GV_DATA");

	if (dir != NULL && dir[0] != '\0')
		return dir;
	if (found[0] == '\0' && find_beside(found) != 0)
		strcpy(found, GV_DATADIR);
	return found;
}
