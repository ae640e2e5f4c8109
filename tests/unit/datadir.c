/* common/base/datadir.c: a program finds its data and plug-ins beside itself, wherever that is. */
#define _XOPEN_SOURCE 700 /* mkdtemp, popen */
#include "tap.h"

#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/fileio.h"

static char root[] = "/tmp/gv-datadir-XXXXXX"; /* nothing but what the tests put there */
static char compiled_data[4096], compiled_plugin[4096];

static void
shell(const char *format, ...)
{
	char command[2048],
	    *p = command + snprintf(command, sizeof(command), "cd %s && ", root);
	va_list a;

	va_start(a, format);
	vsnprintf(p, sizeof(command) - (size_t)(p - command), format, a);
	va_end(a);
	if (system(command) != 0)
		printf("# failed: %s\n", command);
}

/* What this program says, started from a copy of it under root; less the root. */
static const char *
said(const char *program, const char *what)
{
	static char line[4096];
	char command[4096];
	FILE *f;
	size_t n;

	shell("mkdir -p $(dirname %s) && cp %s/program %s", program, root, program);
	snprintf(command, sizeof(command), "%s/%s %s", root, program, what);
	f = popen(command, "r");
	line[0] = '\0';
	if (f == NULL || fgets(line, sizeof(line), f) == NULL)
		strcpy(line, "nothing");
	if (f != NULL)
		pclose(f);
	shell("rm %s", program);
	n = strlen(root);
	return strncmp(line, root, n) == 0 ? line + n : line;
}

static void
test_data(void)
{
	shell("mkdir -p a/b/c/share a/b/share a/share/gv-toolkit share");
	shell("touch share/gv_progress.py a/b/share/gv_progress.py");
	is_str(said("a/b/bin/x", "data"), "/a/b/share", "beside the folder of programs");
	is_str(said("a/b/build/x", "data"), "/a/b/share", "whatever its name is");
	is_str(
	    said("a/b/build/san/bin/x", "data"), "/a/b/share", "of a build in the tree");
	is_str(said("a/b/c/d/x", "data"), compiled_data, "another's share is not ours");
	is_str(said("a/b/c/d/e/f/x", "data"), compiled_data, "nor is it farther up");
	shell("touch a/share/gv-toolkit/gv_progress.py a/share/gv_progress.py");
	is_str(said("a/bin/x", "data"), "/a/share/gv-toolkit", "where it is installed");
	shell("rm -r a/share");
}

static void
test_plugins(void)
{
	shell("mkdir -p a/lib/gv a/build/plugin a/plugin");
	shell("touch a/lib/gv/p.so a/build/plugin/p.so a/plugin/p.so");
	is_str(
	    said("a/bin/x", "plugin"), "/a/lib/gv/p.so", "a plug-in that is installed");
	shell("rm a/lib/gv/p.so");
	is_str(said("a/bin/x", "plugin"), "/a/build/plugin/p.so", "one of the tree");
	shell("rm a/build/plugin/p.so");
	is_str(said("a/bin/x", "plugin"), "/a/plugin/p.so", "one of another build");
	shell("rm a/plugin/p.so");
	is_str(said("a/bin/x", "plugin"), compiled_plugin, "else where it would be");
}

static void
test_environment(void)
{
	setenv("GV_DATA", "/elsewhere", 1);
	is_str(gv_data_dir(), "/elsewhere", "data is where one says");
	is_str(said("x", "data"), "/elsewhere", "wherever the program is");
	setenv("GV_DATA", "", 1);
	is_str(said("x", "data"), compiled_data, "not where one says nothing");
	unsetenv("GV_DATA");
	setenv("GV_PLUGINS", "/elsewhere", 1);
	is_str(said("x", "plugin"), "/elsewhere/p.so", "plug-ins are where one says");
	setenv("GV_PLUGINS", "", 1);
	is_str(said("x", "plugin"), compiled_plugin, "not where one says nothing");
	unsetenv("GV_PLUGINS");
}

/* With an argument: says where data or the plug-in is. */
int
main(int argc, char **argv)
{
	char path[PATH_MAX], self[PATH_MAX] = "";

	if (argc > 1) {
		gv_plugin_path(path, "p.so");
		printf("%s", strcmp(argv[1], "data") == 0 ? gv_data_dir() : path);
		/* asked again it is the same */
		return strcmp(argv[1], "data") == 0 &&
		       strcmp(gv_data_dir(), gv_data_dir()) != 0;
	}
	unsetenv("GV_DATA");
	unsetenv("GV_PLUGINS");
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) <= 0 ||
	    mkdtemp(root) == NULL)
		return 1;
	shell("cp '%s' program", self);
	strcpy(compiled_data, said("x", "data"));
	strcpy(compiled_plugin, said("x", "plugin"));
	ok(compiled_data[0] == '/' && strstr(compiled_plugin, "/gv/p.so") != NULL,
	    "where nothing is beside it, what it was compiled with: %s", compiled_data);
	test_data();
	test_plugins();
	test_environment();
	shell("rm -r program a share");
	rmdir(root);
	return done_testing();
}
