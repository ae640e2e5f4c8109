/* Where shipped files and plug-ins are. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fileio.h"

#ifndef GV_DATADIR
#define GV_DATADIR "/usr/local/share/gv-toolkit"
#endif
#ifndef GV_LIBDIR
#define GV_LIBDIR "/usr/local/lib"
#endif

/*
 * Where files may be, in a folder so far up from the program's: installed; in
 * the tree it was built in, for bin/ and for build/FLAVOUR/bin/.
 */
struct beside {
	int up;
	const char *name; /* NULL: no more */
};
static const struct beside data[] = {
    {1, "share/gv-toolkit"}, {1, "share"}, {3, "share"}, {0, NULL}};
static const struct beside plugins[] = {
    {1, "lib/gv"}, {1, "build/plugin"}, {1, "plugin"}, {0, NULL}};

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

/* Sets found to the path of a file in one of these folders.  0 or -1. */
static int
find_beside(char found[PATH_MAX], const struct beside *beside, const char *name)
{
	char program[PATH_MAX], dir[PATH_MAX], file[PATH_MAX + 64];
	ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 1);

	if (len <= 0) /* the system does not say */
		return -1;
	program[len] = '\0';
	for (; beside->name != NULL; beside++) {
		strcpy(dir, program);
		if (!cut_names(dir, 1 + beside->up))
			continue;
		snprintf(file, sizeof(file), "%s/%s/%s", dir, beside->name, name);
		if (strlen(file) >= PATH_MAX || access(file, R_OK) != 0)
			continue;
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
	if (found[0] != '\0')
		return found;
	/* a file of ours: share/ alone may be anybody's */
	if (find_beside(found, data, "gv_progress.py") == 0)
		cut_names(found, 1);
	else
		strcpy(found, GV_DATADIR);
	return found;
}

void
gv_plugin_path(char path[PATH_MAX], const char *name)
{
	const char *dir = getenv("GV_PLUGINS");

	if (dir != NULL && dir[0] != '\0')
		snprintf(path, PATH_MAX, "%s/%s", dir, name);
	else if (find_beside(path, plugins, name) != 0)
		snprintf(path, PATH_MAX, "%s/gv/%s", GV_LIBDIR, name);
}
