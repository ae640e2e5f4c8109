/* common/launch/slurm: a launch as an srun, the words of it, and what nodes say of its end. */
#define _XOPEN_SOURCE 700
#include "tap.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fileio.h"
#include "launch/slurm/core.h"
#include "launch/slurm/step.h"

static char dir[] = "/tmp/gv-step.XXXXXX";

/* Three nodes, the last of another job of the allocation. */
static const char *job[] = {"7", "8"};
static struct gv_slurm_node node[] = {
    {.name = "n1", .address = "a1", .n_gpus = 4, .mine = true},
    {.name = "n2", .address = "a2", .n_gpus = 2, .mine = true},
    {.name = "m1", .address = "b1", .group = 1, .mine = true}};
static struct gv_slurm slurm;

static void
begin(size_t jobs)
{
	static char self[] = "/bin/gv";

	slurm = (struct gv_slurm){.handle = {.launcher = {.start = gv_slurm_step_start,
						 .stop = gv_slurm_step_stop,
						 .kill = gv_slurm_step_kill,
						 .poll = gv_slurm_step_poll,
						 .free = gv_slurm_step_free},
				      .slurm = &slurm},
	    .allocation = {.n_jobs = jobs, .job = job, .n_nodes = 3, .node = node},
	    .dir = dir,
	    .self = self};
}

/* ---- its words ---- */

static void
is_srun(size_t jobs, size_t first, size_t n, const char *want, const char *name)
{
	const struct gv_slurm_node *on[3];
	struct gv_strbuf got = {0};
	struct gv_srun r;
	size_t i;

	begin(jobs);
	for (i = 0; i < n; i++)
		on[i] = &node[first + i];
	gv_srun_make(&r, &slurm, on, n, "gv:1", "work");
	for (i = 0; r.word[i] != NULL; i++)
		gv_strbuf_fmt(&got, "%s%s", i > 0 ? " " : "", r.word[i]);
	is_str(got.s, want, "%s", name);
	gv_srun_free(&r);
	gv_strbuf_free(&got);
}

#define FIXED                                                         \
	"srun --overlap --kill-on-bad-exit=1 --input=all --mpi=none " \
	"--cpu-bind=none --mem=0 --ntasks-per-node=1 --jobid=7 "
#define SELF "/bin/gv --worker=work"

static void
test_words(void)
{
	is_srun(1, 0, 1,
	    FIXED "--job-name=gv:1 --nodelist=n1 --nodes=1 --ntasks=1 --gres=gpu:4 " SELF,
	    "one node");
	is_srun(1, 0, 2,
	    FIXED
	    "--job-name=gv:1 --nodelist=n1,n2 --nodes=2 --ntasks=2 --gres=gpu:2 " SELF,
	    "two: as many GPUs as both have");
	is_srun(1, 1, 2,
	    FIXED "--job-name=gv:1 --nodelist=n2,m1 --nodes=2 --ntasks=2 " SELF,
	    "one without GPUs");
	is_srun(2, 1, 1,
	    FIXED "--het-group=0 --job-name=gv:1 --nodelist=n2 --nodes=1 --ntasks=1 "
		  "--gres=gpu:2 " SELF,
	    "of two jobs, which is told");
}

/* ---- launches that cannot be ---- */

static const int gpus[] = {0, 0};

static struct gv_launch_spec
spec_on(const char *const *on, size_t n)
{
	return (struct gv_launch_spec){.job_id = "j",
	    .command = "true",
	    .gpu_type = "v100",
	    .gpus = gpus,
	    .node = on,
	    .n_gpus = n,
	    .checkpoint_dir = dir,
	    .progress = dir,
	    .total_steps = NAN,
	    .round = -1,
	    .grace_s = 1,
	    .keep_fd = -1};
}

static void
cannot(const char *const *on, size_t n, int error, const char *want, const char *name)
{
	struct gv_launch_spec spec = spec_on(on, n);
	struct gv_launch_news news;
	struct gv_launch *l;
	size_t len;

	is_int(gv_launch_start(&l, &slurm.handle.launcher, &spec, &news),
	    GV_LAUNCH_NOT_STARTED, "%s", name);
	ok(l == NULL && news.error == error, "there is no launch");
	len = strlen(news.reason);
	ok(len >= strlen(want) && strcmp(news.reason + len - strlen(want), want) == 0,
	    "as it says: %s", want);
}

static void
test_cannot(void)
{
	static const char *const good[] = {"n1", "n2"}, *const far[] = {"n1", "m1"},
				 *const none[] = {"n1", "n3"};
	static char nowhere[] = "/nonexistent/launches";

	begin(2);
	cannot(NULL, 1, 0, "its GPUs are on no node of Slurm's", "GPUs of this machine");
	cannot(none, 2, 0, "node n3 is not in the allocation", "an unknown node");
	cannot(far, 2, 0, "nodes n1 and m1 are of two groups of a heterogeneous job",
	    "nodes of two jobs");
	slurm.dir = nowhere;
	cannot(good, 2, ENOENT, ": cannot make a directory: No such file or directory",
	    "no place for its files");
}

/* ---- its turn, and its end ---- */

/* A program "srun" that does this. */
static void
put_srun(const char *does)
{
	struct gv_strbuf path = {0}, text = {0};
	struct gv_error e = {0};

	gv_strbuf_fmt(&path, "%s/srun", dir);
	gv_strbuf_fmt(&text, "#!/bin/sh\n%s\n", does);
	if (gv_file_write(path.s, text.s, text.len, &e) != 0 || chmod(path.s, 0700) != 0)
		gv_die_error(&e);
	gv_strbuf_free(&path);
	gv_strbuf_free(&text);
}

static void
test_turn(void)
{
	static const char *const on[] = {"n1", "n2"};
	struct gv_launch_spec spec = spec_on(on, 2);
	struct gv_launch_news news;
	struct gv_launch *l;

	begin(1);
	slurm.n_starting = 1000;
	is_int(gv_launch_start(&l, &slurm.handle.launcher, &spec, &news), GV_LAUNCH_NONE,
	    "many start: it waits for its turn");
	is_int(gv_launch_poll(&l, false, &news), GV_LAUNCH_NONE, "and waits");
	gv_launch_stop(l);
	is_int(gv_launch_poll(&l, false, &news), GV_LAUNCH_NOT_STARTED,
	    "it is told to stop");
	is_str(news.reason, "it was stopped before its turn", "before it began");
	ok(l == NULL && slurm.n_starting == 1000, "nothing of it is left");
}

/* What its srun was told, and how it ends: its status. */
static void
tells(bool at_once, const char *want)
{
	static const char *const on[] = {"n1", "n2"};
	struct gv_launch_spec spec = spec_on(on, 2);
	struct gv_launch_news news;
	struct gv_launch *l;
	enum gv_launch_state state;
	char path[300], *s;
	size_t len;
	struct gv_error e = {0};

	begin(1);
	put_srun("cd \"$GV_LAUNCH_DIR\"; >up\n"
		 "dd bs=1 count=1 2>/dev/null >../told\n"
		 "echo 0 1.5 told 0 >left.n1; echo 137 1.25 told 0 >left.n2");
	state = gv_launch_start(&l, &slurm.handle.launcher, &spec, &news);
	while (state == GV_LAUNCH_NONE)
		state = gv_launch_poll(&l, true, &news);
	ok(state == GV_LAUNCH_UP && slurm.n_starting == 0, "its workers are up");
	if (at_once)
		gv_launch_kill(l);
	else
		gv_launch_stop(l);
	while (state == GV_LAUNCH_UP || state == GV_LAUNCH_NONE)
		state = gv_launch_poll(&l, true, &news);
	ok(state == GV_LAUNCH_LEFT && news.told && news.status == 137,
	    "it left as the first that did not end well: %d", news.status);
	snprintf(path, sizeof(path), "%s/told", dir);
	if (gv_file_read(path, &s, &len, 10, &e) != 0)
		gv_die_error(&e);
	is_str(s, want, "and its nodes were told");
	free(s);
}

/* ---- what nodes say ---- */

static void
is_left(const char *line, bool known, const char *name)
{
	const struct gv_slurm_node *on[] = {&node[0], &node[1]};
	struct left left[2] = {{0}};
	struct step t = {.node = on, .n_nodes = 2, .left = left};
	char text[200];

	snprintf(text, sizeof(text),
	    "left n1 %s\nelse\nleft n22 1 1 own 0\nleft n2 4 2 own 1 w x", line);
	gv_step_read_told(&t, text);
	ok(left[0].known == known, "%s", name);
	ok(left[1].known && left[1].status == 4 && left[1].time_s == 2 &&
		left[1].how == OWN && left[1].starved,
	    "and what the other one says is good");
	is_str(left[1].text, "w x", "to its last word");
}

static void
test_left(void)
{
	is_left("3 1.5 told 0", true, "a node says how it left");
	is_left("3 1.5 told", false, "without its last word it says nothing");
	is_left("3 1.5 told x", false, "nor with another one");
	is_left("3 1.5 tol 0", false, "nor why, with a word that begins as one");
	is_left("3 1.5 toll 0", false, "or is another");
	is_left("3 x told 0", false, "nor when");
	is_left("x 1.5 told 0", false, "nor with what status");
	is_left("", false, "nor nothing");
}

int
main(void)
{
	char path[500];
	struct gv_error e = {0};

	gv_init("slurm_step");
	if (mkdtemp(dir) == NULL)
		gv_die_sys("%s", dir);
	snprintf(path, sizeof(path), "%s:%s", dir, getenv("PATH"));
	setenv("PATH", path, 1);
	test_words();
	test_cannot();
	test_turn();
	tells(false, "s");
	tells(true, "k");
	test_left();
	gv_remove_tree(dir, &e);
	return done_testing();
}
