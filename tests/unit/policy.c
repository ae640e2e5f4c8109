/*
 * common/policy: commands of every kind are asked and answer; what fails, hangs or
 * talks nonsense ends in a sentence, and the next question finds a fresh one.
 */
#include "tap.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fileio.h"
#include "policy/policy.h"

static char dir[] = "/tmp/gv-policy.XXXXXX";

/* ---- helpers ---- */

static struct gv_policy *
policy(const char *command)
{
	struct gv_policy_spec spec = {
	    .command = command, .directory = dir, .timeout_s = 20};

	return gv_policy_new(&spec);
}

/* A table of so many jobs. */
static struct gv_strbuf
table(int jobs)
{
	struct gv_strbuf b = {0};
	int m;

	gv_strbuf_str(&b, "job_id,gpu_type,steps_per_s\n");
	for (m = 0; m < jobs; m++)
		gv_strbuf_fmt(&b, "j%d,v100,%d\nj%d,k80,1\n", m, m % 9 + 1, m);
	return b;
}

/* Asks about a table and waits: 0 or -1. */
static int
ask(struct gv_policy *p, int jobs, struct gv_error *e)
{
	struct gv_strbuf b = table(jobs);

	gv_error_clear(e);
	if (gv_policy_ask(p, &b, e) != 0)
		return -1;
	return gv_policy_wait(p, e);
}

/* Rows of the answer, -1 when there is none or it is no table. */
static long
rows(struct gv_policy *p)
{
	struct gv_error e = {0};
	struct gv_frame f;
	long n;

	if (gv_policy_table(p, "answer", &f, &e) != 0)
		return -1;
	n = gv_frame_find(&f, "share") >= 0 ? (long)f.n_rows : -1;
	gv_frame_free(&f);
	return n;
}

static void
script(const char *name, const char *text)
{
	char path[512];
	struct gv_error e = {0};

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (gv_file_write(path, text, strlen(text), &e) != 0)
		gv_die_error(&e);
}

/* The processes in the log of a script that writes its own there. */
static int
logged(void)
{
	char path[512];
	struct gv_error e = {0};
	char *s;
	size_t len, i;
	int n = 0;

	snprintf(path, sizeof(path), "%s/log", dir);
	if (gv_file_read(path, &s, &len, 1 << 20, &e) != 0)
		return 0;
	for (i = 0; i < len; i++)
		n += s[i] == '\n';
	free(s);
	remove(path);
	return n;
}

static bool
has(const char *program)
{
	char command[256];

	snprintf(command, sizeof(command), "command -v %s >/dev/null 2>&1", program);
	return system(command) == 0;
}

/* ---- kinds of commands ---- */

/* One that streams answers all questions by one process, once it is known. */
static void
test_streams(const char *name, const char *command)
{
	struct gv_policy *p = policy(command);
	struct gv_error e = {0};
	long wrong = 0;
	int i;

	ok(ask(p, 3, &e) == 0 && rows(p) == 6, "%s: the first question", name);
	for (i = 0; i < 50; i++)
		wrong += ask(p, i, &e) != 0 || rows(p) != 2 * i;
	is_int(wrong, 0, "%s: fifty more", name);
	ok(gv_policy_starts(p) == 2, "%s: by one process more", name);
	if (e.count > 0)
		printf("# %s\n", e.text[0]);
	gv_policy_free(p);
}

/* One that reads to the end of its input is started for each question. */
static void
test_once(const char *name, const char *command)
{
	struct gv_policy *p = policy(command);
	struct gv_error e = {0};
	double start_s = gv_clock_s();
	long wrong = 0;
	int i;

	for (i = 0; i < 10; i++)
		wrong += ask(p, i, &e) != 0 || rows(p) != 2 * i;
	is_int(wrong, 0, "%s: ten questions", name);
	is_int(gv_policy_starts(p), 10, "%s: ten processes", name);
	ok(gv_clock_s() - start_s < 20, "%s: and nothing that is waited for", name);
	if (e.count > 0)
		printf("# %s\n", e.text[0]);
	gv_policy_free(p);
}

#define EQUAL "NR == 1 { print $0 \",share\"; next } { print $0 \",0.1\" }"

/* Answers table after table; $$ is logged. */
static const char stream_sh[] =
    "echo $$ >>log\n"
    "first=yes\n"
    "while IFS= read -r line; do\n"
    "	if [ -z \"$line\" ]; then echo; first=yes\n"
    "	elif [ $first = yes ]; then echo \"$line,share\"; first=no\n"
    "	else echo \"$line,0.1\"; fi\n"
    "done\n"
    "[ $first = yes ] || echo\n";

static const char stream_py[] =
    "import sys\n"
    "def answer(table):\n"
    "    for i, line in enumerate(table):\n"
    "        print(line.rstrip('\\n') + (',share' if i == 0 else ',0.1'))\n"
    "    print(flush=True)\n"
    "table = []\n"
    "for line in sys.stdin:\n"
    "    if line.strip():\n"
    "        table.append(line)\n"
    "    elif table:\n"
    "        answer(table)\n"
    "        table = []\n"
    "if table:\n"
    "    answer(table)\n";

static void
test_kinds(void)
{
	char command[1024];
	const char *bin = getenv("GV_BIN");

	script("stream.sh", stream_sh);
	script("stream.py", stream_py);
	script("cluster.csv", "gpu_type,gpus\nv100,2\nk80,3\n");
	test_streams("sh", "exec sh stream.sh");
	is_int(logged(), 2, "sh: it was started twice");
	test_once("awk", "exec awk '" EQUAL "'");
	test_once("sed", "sed '1s/$/,share/; 2,$s/$/,.5/'");
	test_once("a pipe", "cat | awk '" EQUAL "' | cat");
	if (has("python3")) {
		test_streams("python3", "python3 stream.py");
		test_once("python3, once",
		    "python3 -c 'import sys\n"
		    "for i, line in enumerate(sys.stdin.read().split()):\n"
		    "    print(line + (\",share\" if i == 0 else \",1\"))'");
	} else {
		skip("no python3");
		skip("no python3");
	}
	snprintf(command, sizeof(command), "%s/gv-alloc", bin != NULL ? bin : "bin");
	if (access(command, X_OK) != 0 || bin == NULL) {
		skip("GV_BIN names no gv-alloc");
		return;
	}
	snprintf(command, sizeof(command),
	    "exec '%s/gv-alloc' --stream -p max-min -c cluster.csv", bin);
	test_streams("gv-alloc --stream", command);
	snprintf(command, sizeof(command), "exec '%s/gv-alloc' -p max-min -c cluster.csv",
	    bin);
	test_once("gv-alloc", command);
}

/* Known to stream: no process is tried out first. */
static void
test_known(void)
{
	struct gv_policy_spec spec = {.command = "exec sh stream.sh",
	    .directory = dir,
	    .streams = true,
	    .timeout_s = 20};
	struct gv_policy *p = gv_policy_new(&spec);
	struct gv_error e = {0};
	int i;

	for (i = 0; i < 5; i++)
		ask(p, i, &e);
	ok(rows(p) == 8 && gv_policy_starts(p) == 1, "known to stream: one process");
	gv_policy_stop(p);
	ok(ask(p, 2, &e) == 0 && rows(p) == 4 && gv_policy_starts(p) == 2,
	    "stopped and asked again");
	gv_policy_free(p);
	is_int(logged(), 2, "it was started twice");
}

/* It writes an empty line, but only when its input ends. */
static void
test_buffered(void)
{
	struct gv_policy *p = policy("awk '" EQUAL " END { print \"\" }'");
	struct gv_error e = {0};
	double start_s;
	long wrong = 0;
	int i;

	/* an empty line is one more row to it */
	for (i = 1; i < 6; i++)
		wrong += ask(p, i, &e) != 0;
	is_int(wrong, 0, "an answer that is held back comes when the input ends");
	start_s = gv_clock_s();
	for (i = 1; i < 41; i++)
		wrong += ask(p, i, &e) != 0 || rows(p) != 2 * i;
	ok(wrong == 0 && gv_clock_s() - start_s < 10, /* each would be half a second */
	    "and is not waited for a third time");
	gv_policy_free(p);
}

/* One that answers once, with an empty line behind it, whatever it reads. */
static void
test_leaves(void)
{
	struct gv_policy *p = policy("echo $$ >>log\n"
				     "awk '/^$/ { exit } " EQUAL " END { print \"\" }'");
	struct gv_error e = {0};
	long wrong = 0;
	int i;

	for (i = 1; i < 8; i++) {
		wrong += ask(p, i, &e) != 0 || rows(p) != 2 * i;
		if (i % 2 == 0)
			gv_sleep_s(.02);
	}
	is_int(wrong, 0, "one that leaves after its answer is started again");
	logged();
	gv_policy_free(p);
}

/* ---- what goes wrong ---- */

/* A question that must end with this sentence, and a good one behind it. */
static void
bad(const char *what, const char *command, const char *sentence)
{
	struct gv_policy_spec spec = {.command = command,
	    .directory = dir,
	    .timeout_s = .4,
	    .limit_bytes = 1 << 20};
	struct gv_policy *p = gv_policy_new(&spec);
	struct gv_error e = {0};

	ok(ask(p, 3, &e) == -1, "%s", what);
	is_str(e.text[0], sentence, "%s: the sentence", what);
	is_int(e.count, 1, "%s: just one", what);
	gv_policy_free(p);
}

static void
test_bad(void)
{
	static const char *const nonsense[] = {"true", "echo", "echo a,a", "echo 'a,\"b'",
	    "printf 'a,b\\n\\0\\n'", "cat; echo 1,2", "cat; echo; echo x; echo 1",
	    "head -c 100000 /dev/zero"};
	size_t i;

	bad("a status", "cat; exit 3", "the policy has failed with status 3");
	bad("a signal", "kill -9 $$", "the policy was killed by signal 9");
	bad("no such program", "exec 2>/dev/null; ./nothing-here",
	    "the policy has failed with status 127");
	bad("no answer", "sleep 9", "the policy did not answer within 0.4 s");
	bad("an output that is closed", "exec >&-; sleep 9",
	    "the policy did not answer within 0.4 s");
	bad("a deaf one", "trap '' TERM; sleep 9 & wait",
	    "the policy did not answer within 0.4 s");
	bad("no end", "yes", "the policy has answered more than 1048576 bytes");
	bad("no end of a line", "tr '\\0' x </dev/zero",
	    "the policy has answered more than 1048576 bytes");
	bad("two tables", "cat; echo; cat cluster.csv",
	    "the policy has written more than a table and an empty line");
	for (i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
		struct gv_policy *p = policy(nonsense[i]);
		struct gv_error e = {0};
		int rc = ask(p, 3, &e);

		ok(rows(p) == -1 && (rc == 0 || e.count == 1), "nonsense: %s",
		    nonsense[i]);
		gv_policy_free(p);
	}
}

/* One that streams goes wrong at its second question; the next one finds a fresh process. */
static void
bad_stream(const char *what, const char *at_two, const char *sentence)
{
	struct gv_policy_spec spec = {.timeout_s = 1, .limit_bytes = 1 << 20};
	struct gv_policy *p;
	struct gv_error e = {0};
	struct gv_strbuf b = {0};
	char command[512];
	const char *s;
	size_t len;
	int k, rc[4];

	snprintf(command, sizeof(command),
	    "while read -r line; do read -r blank\n"
	    "echo \"a$line\"; echo\n"
	    "if [ $line = 2 ]; then %s; fi\ndone",
	    at_two);
	spec.command = command;
	p = gv_policy_new(&spec);
	for (k = 0; k < 4; k++) {
		gv_strbuf_fmt(&b, "%d\n", k);
		rc[k] = gv_policy_ask(p, &b, &e);
		if (rc[k] == 0)
			rc[k] = gv_policy_wait(p, &e);
	}
	ok(rc[0] == 0 && rc[1] == 0, "%s: answers before", what);
	/* it may be seen with this answer, or with the next question */
	if (rc[2] != 0)
		is_str(e.text[0], sentence, "%s: the sentence", what);
	s = gv_policy_answer(p, &len);
	if (rc[2] == 0 && rc[3] != 0) {
		gv_strbuf_fmt(&b, "3\n");
		rc[3] = gv_policy_ask(p, &b, &e) == 0 ? gv_policy_wait(p, &e) : -1;
		s = gv_policy_answer(p, &len);
	}
	/* what comes late stands before the next answer, where readers of tables refuse it */
	if (rc[3] == 0 && len > 3 && memcmp(s, "more\n", 5) == 0) {
		s += 5;
		len -= 5;
	}
	ok(rc[3] == 0 && len == 3 && memcmp(s, "a3\n", 3) == 0, "%s: and behind", what);
	gv_policy_free(p);
}

/* Sends that instead of an answer. */
static void
bad_answer(const char *what, const char *at_two, const char *sentence)
{
	struct gv_policy_spec spec = {.timeout_s = 1, .limit_bytes = 1 << 20};
	struct gv_policy *p;
	struct gv_error e = {0};
	struct gv_strbuf b = {0};
	char command[512];
	int k, rc[4];

	snprintf(command, sizeof(command),
	    "while read -r line; do read -r blank\n"
	    "if [ $line = 2 ]; then %s; fi\n"
	    "echo \"a$line\"; echo\ndone",
	    at_two);
	spec.command = command;
	p = gv_policy_new(&spec);
	for (k = 0; k < 4; k++) {
		gv_strbuf_fmt(&b, "%d\n", k);
		rc[k] = gv_policy_ask(p, &b, &e);
		if (rc[k] == 0)
			rc[k] = gv_policy_wait(p, &e);
	}
	ok(rc[0] == 0 && rc[1] == 0 && rc[2] == -1, "%s", what);
	is_str(e.text[0], sentence, "%s: the sentence", what);
	is_int(e.count, 1, "%s: just one", what);
	is_int(rc[3], 0, "%s: and answers behind", what);
	gv_policy_free(p);
}

static void
test_bad_stream(void)
{
	static const char more[] =
	    "the policy has written more than a table and an empty line";

	bad_answer("streams and dies", "exit 4", "the policy has failed with status 4");
	bad_answer(
	    "streams and is killed", "kill -9 $$", "the policy was killed by signal 9");
	bad_answer(
	    "streams and hangs", "sleep 9", "the policy did not answer within 1 s");
	bad_answer("streams without end", "exec yes",
	    "the policy has answered more than 1048576 bytes");
	bad_stream("streams too much", "echo more", more);
	bad_stream("streams too much and hangs", "echo more; sleep 9", more);
	bad_stream("streams and dies behind an answer", "exit 3", "");
}

/* A streaming process that was killed between two questions is not missed. */
static void
test_killed_between(void)
{
	struct gv_policy *p = policy("exec sh stream.sh");
	struct gv_error e = {0};
	char path[512];
	struct gv_error ignored = {0};
	char *s;
	const char *pid;
	size_t len;

	ask(p, 3, &e);
	ask(p, 3, &e);
	snprintf(path, sizeof(path), "%s/log", dir);
	if (gv_file_read(path, &s, &len, 1 << 20, &ignored) != 0)
		gv_die_error(&ignored);
	pid = strchr(s, '\n') + 1;
	ok(kill((pid_t)strtol(pid, NULL, 10), SIGKILL) == 0, "it was there");
	free(s);
	gv_sleep_s(.05);
	ok(ask(p, 4, &e) == 0 && rows(p) == 8,
	    "killed between two questions: asked anew");
	is_int(gv_policy_starts(p), 3, "by a third process");
	gv_policy_free(p);
	logged();
}

/* Waits until a script has made the file. */
static void
await(const char *name)
{
	char path[512];
	int tries;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	for (tries = 0; tries < 2000 && access(path, F_OK) != 0; tries++)
		gv_sleep_s(.01);
	remove(path);
}

/* What a streaming process writes behind its answer: empty lines are nothing. */
static void
test_writes_between(const char *name, const char *more, int starts)
{
	char command[1024];
	struct gv_policy_spec spec = {
	    .command = command, .directory = dir, .streams = true, .timeout_s = 20};
	struct gv_policy *p;
	struct gv_error e = {0};

	snprintf(command, sizeof(command),
	    "n=0; while IFS= read -r line; do n=$((n + 1))\n"
	    "if [ -z \"$line\" ]; then printf 'share\\n%%s\\n\\n' $((n - 2)); n=0\n"
	    "until [ -e go ]; do sleep .01; done; rm go; printf '%s'; >done; fi; done",
	    more);
	p = gv_policy_new(&spec);
	ok(ask(p, 2, &e) == 0 && rows(p) == 1, "%s: an answer", name);
	script("go", "");
	await("done");
	ok(ask(p, 3, &e) == 0 && rows(p) == 1, "%s: and another one", name);
	is_int(gv_policy_starts(p), starts, "%s: by so many processes", name);
	script("go", "");
	await("done");
	gv_policy_free(p);
}

/* One that leaves without an answer, and with status 0, is asked again, once. */
static void
test_asked_again(void)
{
	struct gv_policy_spec spec = {.directory = dir, .streams = true, .timeout_s = 20};
	struct gv_policy *p;
	struct gv_error e = {0};

	spec.command = "cat >/dev/null & [ -e was ] || { >was; exit 0; }; rm was\n"
		       "printf 'share\\r\\n1\\r\\n\\r\\n'";
	p = gv_policy_new(&spec);
	ok(ask(p, 1, &e) == 0 && rows(p) == 1, "one that leaves is asked again");
	is_int(gv_policy_starts(p), 2, "a second process");
	gv_policy_free(p);
	spec.command = "exit 0";
	p = gv_policy_new(&spec);
	ok(ask(p, 1, &e) == 0 && rows(p) == -1, "which has no answer either");
	is_int(gv_policy_starts(p), 2, "is not asked a third time");
	gv_policy_free(p);
}

/* The answer is what stands before the empty line, whatever ends its lines. */
static void
test_line_ends(void)
{
	static const char *const command[] = {"cat >/dev/null; printf 'share\\n1\\n\\n'",
	    "cat >/dev/null; printf 'share\\r\\n1\\r\\n\\r\\n\\r\\n'",
	    "cat >/dev/null; printf 'share\\n1'", "cat >/dev/null"};
	static const char *const want[] = {
	    "share\n1\n", "share\r\n1\r\n", "share\n1", ""};
	struct gv_error e = {0};
	size_t i, len;

	for (i = 0; i < 4; i++) {
		struct gv_policy *p = policy(command[i]);
		const char *s;

		ok(gv_policy_answer(p, &len) == NULL && len == 0, "no answer yet");
		ok(ask(p, 1, &e) == 0, "answer %zu", i);
		s = gv_policy_answer(p, &len);
		ok(len == strlen(want[i]) && memcmp(s, want[i], len) == 0,
		    "is what was written");
		gv_policy_free(p);
	}
}

/* A directory that is not there; nothing to start with. */
static void
test_cannot_start(void)
{
	struct gv_policy_spec spec = {
	    .command = "cat", .directory = "/nowhere/at/all", .timeout_s = 1};
	struct gv_policy *p = gv_policy_new(&spec);
	struct gv_error e = {0};
	struct gv_strbuf b = table(1);
	struct gv_frame f;

	is_int(gv_policy_ask(p, &b, &e), -1, "no directory");
	is_str(e.text[0], "/nowhere/at/all: cannot enter: No such file or directory",
	    "says so");
	is_int(gv_policy_turn(p, &e), GV_POLICY_FAILED, "and nothing is asked");
	gv_error_clear(&e);
	is_int(gv_policy_table(p, "x", &f, &e), -1, "so there is no table");
	is_str(e.text[0], "the policy has not answered", "says so");
	gv_policy_free(p);
	gv_policy_free(NULL);
}

/* A reader that is slow, one that does not read, and one that answers while it reads. */
static void
test_large(void)
{
	static const char *const command[] = {
	    "sleep .2; awk '" EQUAL "'",
	    "exec sh -c 'echo a,share; i=0; while [ $i -lt 400000 ]; do echo 1,1; "
	    "i=$((i+1)); "
	    "done' </dev/null",
	    "sed -u '1s/$/,share/; 2,$s/$/,1/'",
	};
	size_t i;

	for (i = 0; i < sizeof(command) / sizeof(command[0]); i++) {
		struct gv_policy *p = policy(command[i]);
		struct gv_error e = {0};

		ok(ask(p, 200000, &e) == 0 && rows(p) == 400000, "large: %s", command[i]);
		if (e.count > 0)
			printf("# %s\n", e.text[0]);
		gv_policy_free(p);
	}
}

/* The loop of somebody else: nothing blocks, whatever the policy does. */
static void
test_turns(void)
{
	struct gv_policy *p = policy("sleep 3; awk '" EQUAL "'");
	struct gv_error e = {0};
	struct gv_strbuf b = table(100000);
	double worst_s = 0;
	enum gv_policy_state s;

	ok(isinf(gv_policy_wait_s(p)), "nothing is asked: no time to wait for");
	gv_policy_ask(p, &b, &e);
	do {
		double start_s = gv_clock_s();
		struct pollfd fd[2];
		size_t n;

		s = gv_policy_turn(p, &e);
		worst_s = fmax(worst_s, gv_clock_s() - start_s);
		n = gv_policy_fds(p, fd);
		poll(fd, (nfds_t)n, (int)(1000 * fmin(gv_policy_wait_s(p), 10)));
	} while (s == GV_POLICY_ASKED);
	ok(s == GV_POLICY_ANSWERED && rows(p) == 200000, "turn by turn");
	ok(worst_s < 2.5, "no turn takes as long as the policy sleeps (%.3f s)", worst_s);
	gv_policy_free(p);
}

/* Who waits as long as it is told is not woken for nothing. */
static void
test_sleeps(void)
{
	struct gv_policy_spec spec = {.command = "sleep .3; exec sh stream.sh",
	    .directory = dir,
	    .timeout_s = 20,
	    .streams = true};
	struct gv_policy *p = gv_policy_new(&spec);
	struct gv_error e = {0};
	struct gv_strbuf b = table(3);
	int turns = 0;
	enum gv_policy_state s;

	gv_policy_ask(p, &b, &e);
	while ((s = gv_policy_turn(p, &e)) == GV_POLICY_ASKED && turns++ < 1000) {
		struct pollfd fd[2];
		size_t n = gv_policy_fds(p, fd);

		poll(fd, (nfds_t)n, (int)(1000 * fmin(gv_policy_wait_s(p), 10)));
	}
	ok(s == GV_POLICY_ANSWERED && turns < 50,
	    "it sleeps until there is an answer (%d)", turns);
	gv_policy_free(p);
}

/* ---- time ---- */

static int
by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static double
median_s(struct gv_policy *p, int times)
{
	double *t = calloc((size_t)times, sizeof(*t));
	struct gv_error e = {0};
	double m;
	int i;

	for (i = 0; i < times; i++) {
		double start_s = gv_clock_s();

		if (ask(p, 100, &e) != 0)
			printf("# %s\n", e.text[0]);
		t[i] = gv_clock_s() - start_s;
	}
	qsort(t, (size_t)times, sizeof(*t), by_value);
	m = t[times / 2];
	free(t);
	return m;
}

static void
test_time(void)
{
	struct gv_policy *stream = policy("exec sh stream.sh");
	struct gv_policy *once = policy("exec awk '" EQUAL "'");
	double a = median_s(stream, 101);
	double b = median_s(once, 101);

	printf("# sh that streams %.3f ms, awk started each time %.3f ms\n", 1e3 * a,
	    1e3 * b);
	gv_policy_free(stream);
	gv_policy_free(once);
}

int
main(void)
{
	gv_init("policy");
	if (mkdtemp(dir) == NULL)
		return 2;
	signal(SIGPIPE, SIG_DFL); /* as in a program that knows nothing of it */
	test_kinds();
	test_known();
	test_buffered();
	test_leaves();
	test_bad();
	test_bad_stream();
	test_writes_between("a line", "more\\n", 2);
	test_writes_between("empty lines", "\\n\\r\\n\\n", 1);
	test_asked_again();
	test_line_ends();
	test_killed_between();
	test_cannot_start();
	test_large();
	test_turns();
	test_sleeps();
	test_time();
	{
		struct gv_error e = {0};

		gv_remove_tree(dir, &e);
	}
	return done_testing();
}
