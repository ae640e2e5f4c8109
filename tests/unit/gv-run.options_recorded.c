/* Command lines of gv-run, drawn: what they set, or what is said of them and the status. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/opt.h"
#include "draws.h"
#include "gv-run/options.h"
#include "recorded.h"
#include "scratch.h"
#include "stderr_said.h"

enum { ROUNDS = 25, PER_ROUND = 24, WORDS = 16 };

static void
tell(const char *name, const char *s)
{
	printf("%s=%s\n", name, s != NULL ? s : "none");
}

/* What the process that parses them writes. */
static void
parse(int argc, char **argv)
{
	struct settings o = {
	    .round_s = 360, .grace_s = 60, .policy_timeout_s = 60, .max_failures = 5};
	struct gv_opt opt;

	options_parse(&o, &opt, argc, argv);
	tell("cluster", o.cluster);
	tell("state", o.state);
	tell("policy", o.policy);
	tell("log_dir", o.log_dir);
	tell("node", o.node);
	tell("input", o.input);
	tell("slurm_job", o.slurm_job);
	tell("output", opt.output);
	printf("%d %g %g %g %d %d\n", (int)o.launcher, o.round_s, o.grace_s,
	    o.policy_timeout_s, o.max_failures, (int)o.order);
	printf("%d%d%d %d %d%d%d%d%d %d%d%d\n", o.dry_run, o.resume, o.repair,
	    (int)o.request, o.clean_env, o.status, o.submit, o.follow, o.watch, o.quiet,
	    o.verbose, o.tsv);
	printf("%s\n", optind < argc ? argv[optind] : "no more");
	fflush(stdout);
	_exit(0);
}

/* Mostly a good one: of a kind, with what may stand beside it. */
static int
draw_words(char **argv)
{
	static char word[][32] = {"gv-run", "-c", "c.csv", "-s", "dir", "--resume",
	    "--status", "--follow", "--submit", "--cancel", "--hold", "--release",
	    "--repair", "-n", "--watch", "--launcher=slurm", "--slurm-job=7", "--node=n1",
	    "-r", "90s", "-g2m", "--policy-timeout=0.5", "--max-failures=3",
	    "--order=gavel", "--log-dir=logs", "--clean-env", "--tsv", "-q", "-v",
	    "-ppolicy", "-oout", "--round=0", "--max-failures=0", "--order=x",
	    "--launcher=x", "--policy-timeout=-1", "-g0", "--launcher=local"};
	static char job[][8] = {"t.csv", "a", "-", "b"};
	size_t kinds[] = {5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, n = 0, i;

	argv[n++] = word[0];
	if (below(4) > 0) {
		argv[n++] = word[1];
		argv[n++] = word[2];
	}
	if (below(4) > 0) {
		argv[n++] = word[3];
		argv[n++] = word[4];
	}
	for (i = below(3); i > 0; i--)
		argv[n++] = word[kinds[below(11)]];
	for (i = below(4); i > 0; i--) {
		size_t k = 16 + below(below(4) == 0 ? 22 : 15);

		if (k == 18)
			argv[n++] = word[k++];
		argv[n++] = word[k];
	}
	for (i = below(3); i > 0 && n < WORDS - 1; i--)
		argv[n++] = job[below(4)];
	argv[n] = NULL;
	return (int)n;
}

static void
ask(struct recorded *r)
{
	char *argv[WORDS];
	int argc = draw_words(argv), status = 0,
	    out = open("said", O_RDWR | O_CREAT | O_TRUNC, 0600);
	struct gv_error e = {0};
	pid_t pid;
	size_t len;
	char *s;

	fflush(stdout);
	fflush(stderr);
	pid = fork();
	if (pid == 0) {
		dup2(out, 1);
		dup2(out, 2);
		parse(argc, argv);
	}
	close(out);
	if (pid < 0 || waitpid(pid, &status, 0) != pid ||
	    gv_file_read("said", &s, &len, 1 << 16, &e) != 0)
		gv_die("no answer");
	recorded_whole(r, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	recorded_text(r, s);
	free(s);
}

int
main(void)
{
	static const char *const made[] = {"said", NULL};
	struct recorded r;
	size_t k;
	uint32_t i;

	gv_init("gv-run");
	recorded_open(&r);
	scratch_enter();
	for (i = 0; i < ROUNDS; i++) {
		draws_begin(89, i, 0);
		for (k = 0; k < PER_ROUND; k++)
			ask(&r);
		recorded_answer(&r, "%d command lines", PER_ROUND);
	}
	scratch_leave(made);
	recorded_close(&r);
	return done_testing();
}
