/*
 * Launches as sruns that are drawn, on nodes that are, under a clock of their own: when they begin,
 * what they are told and when they are pressed, and what is said to have become of them.
 */
#define _GNU_SOURCE
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/entropy.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "draws.h"
#include "launch/local/keeper.h"
#include "launch/slurm/step.h"
#include "recorded.h"
#include "scratch.h"
#include "stderr_said.h"

enum { RUNS = 120, PER_ANSWER = 4, TURNS = 60, NODES = 4, LAUNCHES = 20, FIRST = 5000 };

/* What stands for an srun and its tasks. */
struct srun {
	bool runs, told;
	int out, in;
	char *dir;
	size_t n;
	const char *node[NODES];
	bool began[NODES], left[NODES], silent[NODES];
	double up_s, left_s[NODES], exits_s;
	int status; /* of waitpid */
};

static struct {
	struct recorded *r;
	double now_s;
	struct srun srun[LAUNCHES];
	size_t n, of_wait;
	struct gv_slurm slurm;
	double sweep_s; /* how long one takes */
} world;

static bool
one_in(size_t n)
{
	return below(n) == 0;
}

static void
note(const char *what, double n)
{
	recorded_text(world.r, what);
	recorded_double(world.r, n);
}

/* ---- the system ---- */

int
clock_gettime(clockid_t clock, struct timespec *t)
{
	double s = world.now_s + (clock == CLOCK_REALTIME ? 1e9 : 0);

	t->tv_sec = (time_t)s;
	t->tv_nsec = (long)((s - floor(s)) * 1e9);
	return 0;
}

int
nanosleep(const struct timespec *t, struct timespec *left)
{
	(void)left;
	note("sleeps", (double)t->tv_nsec);
	world.now_s += 1. / 64;
	return 0;
}

ssize_t
send(int fd, const void *b, size_t n, int flags)
{
	errno = EINTR;
	return one_in(4) ? -1 : sendto(fd, b, n, flags, NULL, 0);
}

pid_t
getpid(void)
{
	return 4711;
}

int
gv_entropy(void *buf, size_t n)
{
	memset(buf, 0x5a, n);
	errno = ENOSYS;
	return one_in(9) ? -1 : 0;
}

int
kill(pid_t pid, int sig)
{
	struct srun *s = &world.srun[(pid < 0 ? -pid : pid) - FIRST];

	note(pid < 0 ? "kills the session" : "kills", sig);
	recorded_whole(world.r, pid);
	if (sig == SIGKILL || one_in(2)) {
		s->exits_s = world.now_s;
		s->status = sig;
	}
	return 0;
}

pid_t
waitpid(pid_t pid, int *status, int how)
{
	struct srun *s = &world.srun[pid - FIRST];

	world.of_wait += how == WNOHANG;
	errno = one_in(2) ? EINTR : ECHILD;
	if (one_in(60))
		return -1;
	if (world.now_s < s->exits_s)
		return 0;
	s->runs = false;
	*status = s->status;
	return pid;
}

/* ---- in the place of command.c ---- */

char **
gv_slurm_env(void)
{
	static char a[] = "A=1", old[] = "GV_WORKER_JOB=old";
	char **env = gv_xcalloc(3, sizeof(*env));

	env[0] = a;
	env[1] = old;
	return env;
}

static void
draw_ends(struct srun *s)
{
	size_t i;

	s->up_s = world.now_s + (double)below(one_in(6) ? 2000 : 30) / 8;
	if (one_in(15)) /* never */
		s->up_s += 5000;
	s->exits_s = s->up_s;
	for (i = 0; i < s->n; i++) {
		s->left_s[i] = s->up_s + (double)below(one_in(4) ? 9000 : 40) / 8;
		s->silent[i] = one_in(8);
		s->exits_s = fmax(s->exits_s, s->left_s[i]);
	}
	s->status = one_in(8) ? SIGKILL : (int)below(3) << 8;
	if (one_in(6)) /* it has not heard that all have left */
		s->exits_s += 1000;
	if (one_in(10)) /* before any worker */
		s->exits_s = world.now_s + (double)below(2);
}

pid_t
gv_slurm_spawn(char *const *argv, char *const *env, int in, int out, int keep)
{
	struct srun *s = &world.srun[world.n];
	const char *list = "";
	mode_t mask = umask(0);
	size_t i;

	umask(mask);
	errno = EAGAIN;
	if (one_in(12))
		return -1;
	*s = (struct srun){.runs = true, .out = dup(out), .in = dup(in)};
	for (i = 0; argv[i] != NULL; i++) {
		recorded_text(world.r, argv[i]);
		if (strncmp(argv[i], "--nodelist=", 11) == 0)
			list = argv[i] + 11;
	}
	for (i = 0; env[i] != NULL; i++) {
		recorded_text(world.r, env[i]);
		if (strncmp(env[i], "GV_LAUNCH_DIR=", 14) == 0)
			s->dir = gv_xstrdup(env[i] + 14);
	}
	for (i = 0; i < NODES; i++)
		if (strstr(list, world.slurm.allocation.node[i].name) != NULL)
			s->node[s->n++] = world.slurm.allocation.node[i].name;
	note("spawned", keep);
	recorded_whole(world.r, mask);
	recorded_whole(world.r, fcntl(in, F_GETFD) * 4 + fcntl(out, F_GETFD));
	draw_ends(s);
	return FIRST + (pid_t)world.n++;
}

int
gv_slurm_command_start(struct gv_slurm_command *c, char *const *argv, double limit_s)
{
	note("commands", limit_s);
	for (; *argv != NULL; argv++)
		recorded_text(world.r, *argv);
	gv_strbuf_free(&c->out);
	*c = (struct gv_slurm_command){.pid = 1, .fd = -1};
	world.sweep_s = world.now_s + (double)below(20) / 8;
	if (one_in(9))
		c->pid = 0;
	return c->pid == 0 ? -1 : 0;
}

bool
gv_slurm_command_poll(struct gv_slurm_command *c)
{
	struct left left = {.status = (int)below(3), .time_s = 5, .how = TOLD};

	if (c->pid != 0 && world.now_s < world.sweep_s)
		return false;
	if (c->pid != 0) {
		c->status = one_in(2);
		if (one_in(2)) {
			gv_strbuf_str(&c->out, "left n1 ");
			gv_step_write_left(&c->out, &left);
		}
	}
	c->pid = 0;
	return true;
}

void
gv_slurm_command_free(struct gv_slurm_command *c)
{
	gv_strbuf_free(&c->out);
	*c = (struct gv_slurm_command){0};
}

/* ---- what happens on the nodes ---- */

static void
leave(struct srun *s, size_t i)
{
	static const enum how how[] = {OWN, OWN, OWN, TOLD, CUT, TERM, UNKEPT, REFUSED};
	struct left left = {.status = one_in(2) ? 0 : 1 + (int)below(3),
	    .time_s = 1e9 + world.now_s};
	struct gv_strbuf b = {0};

	s->left[i] = true;
	if (s->silent[i])
		return;
	left.how = s->told ? TOLD : how[below(8)];
	left.starved = one_in(12);
	if (left.how == UNKEPT || left.how == REFUSED)
		snprintf(left.text, sizeof(left.text), "why %zu", i);
	gv_step_write_left(&b, &left);
	gv_slurm_file_put(s->dir, "left", s->node[i], b.s);
	gv_strbuf_free(&b);
}

static void
hear(struct srun *s)
{
	char what;
	size_t i;

	while (recv(s->in, &what, 1, MSG_DONTWAIT) == 1) {
		note("hears", what);
		s->told = true;
		for (i = 0; i < s->n; i++)
			s->left_s[i] = fmin(s->left_s[i],
			    world.now_s +
				(what == GV_TELL_KILL ? 0 : (double)below(40) / 8));
		if (one_in(2))
			s->exits_s = fmin(s->exits_s, world.now_s + 6);
	}
}

static void
srun_turn(struct srun *s)
{
	static const char *const line[] = {"srun: error: n1: task 0: Killed\n",
	    "srun: error: Node failure on n2, it is lost\n",
	    "slurmstepd: error: Detected 1 oom-kill event(s)\n", "a\n",
	    "srun: error: Unable to create step\n"};
	size_t i;

	if (!s->runs)
		return;
	hear(s);
	for (i = 0; i < s->n && world.now_s >= s->up_s; i++) {
		if (!s->began[i] && !s->silent[i])
			gv_slurm_file_put(s->dir, "here", s->node[i], "");
		if (!s->began[i] && i == 0)
			gv_slurm_file_put(s->dir, "up", NULL, "");
		s->began[i] = true;
		if (world.now_s >= s->left_s[i] && !s->left[i])
			leave(s, i);
	}
	if (one_in(30)) {
		const char *says = line[below(5)];

		(void)!write(s->out, says, strlen(says));
	}
}

static void
nodes_turn(struct gv_slurm *s)
{
	struct gv_slurm_node *node = &s->allocation.node[below(NODES)];

	if (one_in(25))
		node->bad = (int)below(3);
	if (one_in(40))
		node->mine = !node->mine;
	if (one_in(200))
		s->over = true;
}

/* ---- launches ---- */

static void
recorded_news(const struct gv_launch_news *news, const struct gv_launch *l)
{
	const struct step *t = (const struct step *)l;

	recorded_whole(world.r, news->state * 8 + news->told * 4 + news->starved);
	recorded_whole(world.r, news->status);
	recorded_whole(world.r, news->error);
	recorded_text(world.r, news->node);
	recorded_text(world.r, news->reason);
	recorded_whole(world.r, (long long)world.slurm.n_starting);
	recorded_whole(world.r, world.slurm.slow);
	recorded_double(world.r, world.slurm.look_s);
	if (t == NULL)
		return;
	recorded_whole(world.r, t->phase);
	recorded_double(world.r, t->deadline_s);
	recorded_double(world.r, t->sweep_s);
	recorded_double(world.r, t->alone_s);
	recorded_whole(world.r, t->in >= 0);
}

static struct gv_launch *
launch(void)
{
	static const char *const name[] = {"n1", "n2", "n3", "m1", "none"};
	const char *node[6];
	int gpus[6];
	struct gv_launch_spec spec = {.job_id = "j",
	    .command = "run",
	    .gpu_type = "v",
	    .gpus = gpus,
	    .node = node,
	    .n_gpus = 1 + below(5),
	    .master_addr = one_in(5) ? "far" : NULL,
	    .checkpoint_dir = "/c",
	    .progress = "/p",
	    .total_steps = 7,
	    .round = 3,
	    .keep_fd = 9};
	struct gv_launch_news news;
	size_t at = below(3), i;
	struct gv_launch *l;

	spec.grace_s = (double)below(9);
	for (i = 0; i < spec.n_gpus; i++) {
		if (i > 0 && one_in(3))
			at = one_in(9) ? below(5) : (at + 1) % 3;
		node[i] = name[at];
		gpus[i] = (int)i;
	}
	if (one_in(20))
		spec.node = NULL;
	gv_launch_start(&l, &world.slurm.handle.launcher, &spec, &news);
	recorded_news(&news, l);
	return l;
}

static void
begin(void)
{
	static char dir[] = "d", self[] = "/bin/gv";
	static const char *job[] = {"7", "8"};
	static struct gv_slurm_node node[NODES];

	node[0] = (struct gv_slurm_node){
	    .name = "n1", .address = "a1", .n_gpus = 4, .mine = true};
	node[1] = (struct gv_slurm_node){
	    .name = "n2", .address = "a2", .n_gpus = 2, .mine = true};
	node[2] = (struct gv_slurm_node){.name = "n3", .address = "a3", .mine = true};
	node[3] = (struct gv_slurm_node){
	    .name = "m1", .address = "b1", .group = 1, .mine = true};
	world.slurm =
	    (struct gv_slurm){.handle = {.launcher = {.start = gv_slurm_step_start,
					     .stop = gv_slurm_step_stop,
					     .kill = gv_slurm_step_kill,
					     .poll = gv_slurm_step_poll,
					     .free = gv_slurm_step_free},
				  .slurm = &world.slurm},
		.allocation = {.n_jobs = one_in(2) ? 2 : 1,
		    .job = job,
		    .n_nodes = NODES,
		    .node = node},
		.dir = dir,
		.self = self,
		.look_s = HUGE_VAL};
	world.now_s = 1000;
	world.n = world.of_wait = 0;
	memset(world.srun, 0, sizeof(world.srun));
	if (mkdir("d", 0700) != 0)
		gv_die_sys("d");
	umask(one_in(2) ? 022 : 077);
}

/* Launches at first many, then fewer; each is polled each turn, and told now and then. */
static void
live(void)
{
	struct gv_launch *l[LAUNCHES] = {NULL};
	size_t n = 0, many = one_in(6) ? LAUNCHES : 3, turn, i;
	struct gv_launch_news news;
	struct gv_error e = {0};

	begin();
	for (turn = 0; turn < TURNS; turn++) {
		if (one_in(60))
			chmod("d", 0700), rmdir("d"); /* only where nothing is in it */
		while (n < many && (turn == 0 ? n < many - 1 : one_in(8)))
			l[n++] = launch();
		world.now_s += one_in(9) ? (double)below(300) : (double)below(16) / 8;
		nodes_turn(&world.slurm);
		for (i = 0; i < world.n; i++)
			srun_turn(&world.srun[i]);
		for (i = 0; i < n; i++) {
			if (one_in(turn > TURNS / 2 ? 6 : 20))
				gv_launch_stop(l[i]);
			if (one_in(turn > TURNS * 3 / 4 ? 8 : 60))
				gv_launch_kill(l[i]);
			if (l[i] == NULL)
				continue;
			gv_launch_poll(&l[i], one_in(9), &news);
			recorded_news(&news, l[i]);
		}
	}
	recorded_whole(world.r, (long long)world.of_wait);
	for (i = 0; i < n; i++)
		if (l[i] != NULL)
			gv_slurm_step_free(l[i]);
	for (i = 0; i < world.n; i++) {
		close(world.srun[i].in);
		close(world.srun[i].out);
		free(world.srun[i].dir);
	}
	umask(077);
	recorded_whole(world.r, rmdir("d")); /* nothing is left in it */
	gv_remove_tree("d", &e);
}

static int
descriptors(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 400; fd++)
		n += fcntl(fd, F_GETFD) != -1;
	return n;
}

int
main(void)
{
	static const char *const made[] = {"said", NULL};
	struct recorded r;
	uint32_t i;

	gv_init("gv");
	umask(077);
	recorded_open(&r);
	world.r = &r;
	scratch_enter();
	for (i = 0; i < RUNS; i++) {
		int before = descriptors();

		draws_begin(163, i, 0);
		stderr_listen();
		live();
		stderr_said(&r);
		recorded_whole(&r, descriptors() - before); /* nothing is left open */
		if (i % PER_ANSWER == PER_ANSWER - 1)
			recorded_answer(&r, "%d runs", PER_ANSWER);
	}
	scratch_leave(made);
	recorded_close(&r);
	return done_testing();
}
