/* common/base/opt: what a user sees of a wrong option. */
#define _XOPEN_SOURCE 700 /* posix_openpt */
#include "tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fileio.h"
#include "base/opt.h"

enum { WORDS = 9, OUTPUT = 2000 };

static const struct option longopts[] = {GV_OPT_COMMON, GV_OPT_TABLE,
    {"count", required_argument, NULL, 'c'},
    {"share", required_argument, NULL, GV_OPT_OWN},
    {"limit", required_argument, NULL, GV_OPT_OWN + 1},
    {"kind", required_argument, NULL, GV_OPT_OWN + 2}, {NULL, 0, NULL, 0}};
static const char *const kinds[] = {"first", "second", "third"};

/* A program that shows its options. */
static int
program(int argc, char **argv)
{
	struct gv_opt o = {.usage = "usage: program [-c N] [FILE]", .help = "the help\n"};
	long long count = 0;
	double share = 0, limit = 0;
	int c;

	gv_init("program");
	while ((c = getopt_long(argc, argv,
		    GV_OPT_SHORT GV_OPT_TABLE_SHORT "c:", longopts, NULL)) != -1)
		switch (c) {
		case 'c':
			count = (long long)gv_opt_int(&o, "-c", optarg, 1, 100);
			break;
		case GV_OPT_OWN:
			share = gv_opt_double(&o, "--share", optarg, 0, 1);
			break;
		case GV_OPT_OWN + 1:
			limit = gv_opt_duration(&o, "--limit", optarg);
			break;
		case GV_OPT_OWN + 2:
			count = (long long)gv_opt_one_of(&o, "--kind", optarg, kinds, 3);
			break;
		default:
			gv_opt_common(&o, c, argc, argv);
		}
	gv_out_fmt(gv_stdout(), "%s %d %d %d %lld %g %g %s\n",
	    o.output != NULL ? o.output : "none", o.quiet, o.verbose, o.tsv, count, share,
	    limit, gv_opt_input(&o, argc, argv));
	return gv_finish();
}

/* What a program asks for whose options are a list of its own. */
struct asked {
	const char *text, *name;
	bool flag, deep;
	long long set;
};

static void
set_number(void *ctx, const char *arg)
{
	((struct asked *)ctx)->set = arg != NULL ? strtoll(arg, NULL, 10) : -1;
}

static int
program_of_own(bool table, int argc, char **argv)
{
	static struct gv_opt o = {.usage = "usage: own [-n N]", .help = "of its own\n"};
	struct asked a = {0};
	const struct gv_opt_own own[] = {
	    {.name = "name", .has_arg = required_argument, .text = &a.name},
	    {.name = "number",
		.has_arg = required_argument,
		.letter = 'n',
		.set = set_number},
	    {.name = "flag", .letter = 'f', .flag = &a.flag},
	    {.name = "text",
		.has_arg = required_argument,
		.letter = 't',
		.text = &a.text},
	    {.name = "deep", .flag = &a.deep}, {0}};

	gv_init("own");
	gv_opt_parse(&o, table, own, &a, argc, argv);
	gv_out_fmt(gv_stdout(), "%s %d %d %d; %s %s %d %d %lld;",
	    o.output != NULL ? o.output : "none", o.quiet, o.verbose, o.tsv,
	    a.name != NULL ? a.name : "none", a.text != NULL ? a.text : "none", a.flag,
	    a.deep, a.set);
	for (; optind < argc; optind++)
		gv_out_fmt(gv_stdout(), " %s", argv[optind]);
	gv_out_char(gv_stdout(), '\n');
	return gv_finish();
}

static int
program_with_tables(int argc, char **argv)
{
	return program_of_own(true, argc, argv);
}

static int
program_without(int argc, char **argv)
{
	return program_of_own(false, argc, argv);
}

static int (*started)(int argc, char **argv) = program;

/* A terminal as standard input. */
static void
open_terminal(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY);

	if (master == -1 || grantpt(master) != 0 || unlockpt(master) != 0)
		_exit(99);
	if (dup2(open(ptsname(master), O_RDWR | O_NOCTTY), STDIN_FILENO) == -1)
		_exit(98);
}

/* Runs it on the words of a line; the exit status, and both outputs as one text. */
static int
run(const char *line, bool terminal, char output[OUTPUT])
{
	char copy[200], *argv[WORDS + 2] = {(char[]){"program"}};
	int argc = 1, to[2], status;
	size_t len = 0;
	ssize_t n;
	char *word;
	pid_t pid;

	snprintf(copy, sizeof(copy), "%s", line);
	for (word = strtok(copy, " "); word != NULL && argc <= WORDS;
	     word = strtok(NULL, " "))
		argv[argc++] = word;
	fflush(stdout);
	if (pipe(to) != 0 || (pid = fork()) == -1)
		abort();
	if (pid == 0) {
		dup2(to[1], STDOUT_FILENO);
		dup2(to[1], STDERR_FILENO);
		close(to[0]);
		close(to[1]);
		if (terminal)
			open_terminal();
		else
			close(STDIN_FILENO);
		optind = 1;
		exit(started(argc, argv));
	}
	close(to[1]);
	while ((n = read(to[0], output + len, OUTPUT - 1 - len)) > 0)
		len += (size_t)n;
	output[len] = '\0';
	close(to[0]);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void
prints(const char *line, const char *want)
{
	char output[OUTPUT];

	is_int(run(line, false, output), 0, "program %s: status", line);
	is_str(output, want, "program %s", line);
}

/* Exit 2, the message and the usage line. */
static void
refuses(const char *line, const char *message)
{
	char output[OUTPUT], want[OUTPUT];

	snprintf(
	    want, sizeof(want), "program: %s\nusage: program [-c N] [FILE]\n", message);
	is_int(run(line, false, output), 2, "program %s: status", line);
	is_str(output, want, "program %s", line);
}

static void
refused_by_own(const char *line, const char *message)
{
	char output[OUTPUT], want[OUTPUT];

	snprintf(want, sizeof(want), "own: %s\nusage: own [-n N]\n", message);
	is_int(run(line, false, output), 2, "own %s: status", line);
	is_str(output, want, "own %s", line);
}

/* Options in a list, beside those that all programs have. */
static void
test_own(void)
{
	started = program_without;
	prints("", "none 0 0 0; none none 0 0 0;\n");
	prints("-fn7 -tx -v", "none 0 1 0; none x 1 0 7;\n");
	prints("-n 7 --flag --text=x --name y --deep a", "none 0 0 0; y x 1 1 7; a\n");
	prints("-q -o z --number=5 -- -f", "z 1 0 0; none none 0 0 5; -f\n");
	prints("--nam a -nf", "none 0 0 0; a none 0 0 0;\n");
	prints("-h", "of its own\n");
	refused_by_own("--tsv", "unknown option \"--tsv\"");
	refused_by_own("-d", "unknown option \"-d\"");
	refused_by_own("-fx", "unknown option \"-x\"");
	refused_by_own("-n", "option \"-n\" needs an argument");
	refused_by_own("--name", "option \"--name\" needs an argument");
	refused_by_own("--deep=1", "option \"--deep=1\" takes no argument");
	started = program_with_tables;
	prints("--tsv -f", "none 0 0 1; none none 1 0 0;\n");
	started = program;
}

int
main(void)
{
	char output[OUTPUT];

	prints("", "none 0 0 0 0 0 0 -\n");
	prints("-", "none 0 0 0 0 0 0 -\n");
	prints("-qvv --tsv -o x -c7 table", "x 1 2 1 7 0 0 table\n");
	prints("--share 0.25 --limit=1.5h --count=100", "none 0 0 0 100 0.25 5400 -\n");
	prints("--verbose --quiet --output=y -- -z", "y 1 1 0 0 0 0 -z\n");
	prints("--help", "the help\n");
	prints("-h", "the help\n");
	prints("-V", "program " GV_VERSION "\n");
	prints("--version -x", "program " GV_VERSION "\n");
	refuses("-x", "unknown option \"-x\"");
	refuses("-qxv", "unknown option \"-x\"");
	refuses("-v -xq", "unknown option \"-x\"");
	refuses("--nothing", "unknown option \"--nothing\"");
	refuses("--nothing=1", "unknown option \"--nothing=1\"");
	refuses("-c", "option \"-c\" needs an argument");
	refuses("-qc", "option \"-c\" needs an argument");
	refuses("--count", "option \"--count\" needs an argument");
	refuses("--quiet=1", "option \"--quiet=1\" takes no argument");
	refuses("--tsv=1", "option \"--tsv=1\" takes no argument");
	refuses("a b", "too many operands");
	refuses("-c 0", "-c: expected a whole number from 1 to 100, got \"0\"");
	refuses("-c 101", "-c: expected a whole number from 1 to 100, got \"101\"");
	refuses("-c 1.0", "-c: expected a whole number from 1 to 100, got \"1.0\"");
	refuses("--share 1.1", "--share: expected a number from 0 to 1, got \"1.1\"");
	prints("--share 0", "none 0 0 0 0 0 0 -\n");
	prints("--share 1 -c 1", "none 0 0 0 1 1 0 -\n");
	refuses("--share=-0.1", "--share: expected a number from 0 to 1, got \"-0.1\"");
	refuses("--share nan", "--share: expected a number from 0 to 1, got \"nan\"");
	prints("--kind first", "none 0 0 0 0 0 0 -\n");
	prints("--kind=third", "none 0 0 0 2 0 0 -\n");
	refuses(
	    "--kind fourth", "--kind: unknown \"fourth\"; known: first, second, third");
	refuses("--limit 5y",
	    "--limit: expected a duration such as 90s, 15m or 2h, got \"5y\"");
	refuses("--limit=-1",
	    "--limit: expected a duration such as 90s, 15m or 2h, got \"-1\"");
	test_own();
	if (run("-", true, output) == 99) {
		skip("no terminal can be opened");
	} else {
		is_int(run("-q", true, output), 2, "a terminal is no table: status");
		is_str(output,
		    "program: no input: name a file, or pipe a table in\n"
		    "usage: program [-c N] [FILE]\n",
		    "a terminal is no table");
		is_int(run("-", true, output), 0, "unless it is asked for");
	}
	return done_testing();
}
