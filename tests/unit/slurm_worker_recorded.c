/*
 * What runs on a node of Slurm, under a clock and with workers of its own: what it hands on, when
 * it stops them, and what it tells of their end.
 */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE /* whose wrappers are inline: the functions are ours here */
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fileio.h"
#include "base/mem.h"
#include "draws.h"
#include "launch/local/keeper.h"
#include "launch/local/local.h"
#include "launch/slurm/step.h"
#include "recorded.h"
#include "scratch.h"
#include "stderr_said.h"

extern char **environ;

enum { RUNS = 200, PER_ANSWER = 5, MOST_LOOKS = 500 };

static struct {
	struct recorded *r;
	double now_s, left_s;
	size_t looks;
	int in; /* the other end of standard input */
	struct gv_launch launch;
	enum gv_launch_state end;
	int status;
	bool starved, full;
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

/* There are none, so that every gang has the port that is left. */
int
socket(int family, int type, int protocol)
{
	errno = EMFILE;
	return family + type + protocol >= 0 ? -1 : 0;
}

static void
happens(void)
{
	static const char byte[] = {GV_TELL_STOP, GV_TELL_KILL, GV_TELL_STOP, 'x'};
	static const int sig[] = {SIGTERM, SIGINT, SIGHUP, SIGCHLD};

	if (one_in(25))
		(void)!write(world.in, byte + below(4), 1);
	if (one_in(40)) {
		close(world.in);
		world.in = -1;
	}
	if (one_in(30))
		raise(sig[below(4)]);
	if (one_in(40) && rename("d", "gone") != 0)
		rename("gone", "d");
	if (one_in(60))
		world.now_s += 30;
	if (one_in(20))
		gv_slurm_file_put("d", "port", NULL, one_in(4) ? "0\n" : "4321\n");
}

int
poll(struct pollfd *p, nfds_t n, int ms)
{
	const struct timespec none = {0, 0};
	struct pollfd *volatile asked = p; /* declared as what poll() only writes */
	int ready;

	note("looks", ms);
	recorded_whole(world.r, (long long)n * 4 + (asked[1].fd >= 0));
	world.now_s += ms * 1e-3 * (one_in(3) ? .5 : 1);
	if (++world.looks > MOST_LOOKS)
		_exit(3);
	happens();
	ready = ppoll(p, n, &none, NULL);
	recorded_whole(world.r, ready);
	return ready;
}

/* What is called instead of it where the library is hardened. */
int __poll_chk(struct pollfd *p, nfds_t n, int ms, size_t room);
int
__poll_chk(struct pollfd *p, nfds_t n, int ms, size_t room)
{
	(void)room;
	return poll(p, n, ms);
}

/* Standard input is interrupted, or has nothing yet, now and then. */
ssize_t
read(int fd, void *b, size_t n)
{
	struct iovec v = {b, n};

	errno = one_in(2) ? EINTR : EAGAIN;
	return fd == 0 && one_in(4) ? -1 : readv(fd, &v, 1);
}

/* ---- workers, in the place of local.c's ---- */

static struct gv_launch *
start(const struct gv_launcher *by, const struct gv_launch_spec *spec,
    struct gv_launch_news *news)
{
	static const int status[] = {0, 0, 1, 3, 128 + SIGTERM, 128 + SIGKILL};
	struct sigaction sa;
	size_t i;

	(void)by;
	if (sigaction(SIGTERM, NULL, &sa) == 0)
		note("flags", sa.sa_flags & (SA_RESTART | SA_NOCLDSTOP | SA_NODEFER));
	note(spec->here, spec->master_port);
	note(spec->master_addr, spec->grace_s);
	note(spec->command, spec->threads);
	for (i = 0; i < spec->n_gpus; i++)
		note(spec->node[i], spec->gpus[i]);
	for (i = 0; environ[i] != NULL; i++)
		if (strncmp(environ[i], "SLURM", 5) == 0 ||
		    strncmp(environ[i], "GV_", 3) == 0)
			recorded_text(world.r, environ[i]);
	if (one_in(9)) {
		gv_launch_not_started(news, EAGAIN, "no process");
		return NULL;
	}
	world.left_s = world.now_s + (double)below(one_in(3) ? 200 : 20);
	world.end = one_in(9) ? GV_LAUNCH_LOST : GV_LAUNCH_LEFT;
	world.status = status[below(6)];
	world.starved = one_in(9);
	news->state = one_in(5) ? GV_LAUNCH_NONE : GV_LAUNCH_UP;
	return &world.launch;
}

static void
stop(struct gv_launch *l)
{
	note("stop", l->told);
	if (world.left_s > world.now_s && one_in(2))
		world.status = 128 + SIGTERM;
	world.left_s = fmin(world.left_s, world.now_s + (double)below(5));
}

static void
end(struct gv_launch *l)
{
	note("kill", l->told);
	if (world.left_s > world.now_s)
		world.status = 128 + SIGKILL;
	world.left_s = world.now_s;
}

static void
look(struct gv_launch *l, bool wait, struct gv_launch_news *news)
{
	note("poll", l->told + 2 * wait);
	news->state = one_in(4) ? GV_LAUNCH_NONE : GV_LAUNCH_UP;
	if (world.now_s < world.left_s)
		return;
	news->state = world.end;
	news->status = world.status;
	news->starved = world.starved;
	if (world.end == GV_LAUNCH_LOST)
		snprintf(news->reason, sizeof(news->reason), "who kept it was killed");
}

static void
forget(struct gv_launch *l)
{
	note("over", l->told);
}

const struct gv_launcher gv_launch_local = {.name = "drawn",
    .start = start,
    .stop = stop,
    .kill = end,
    .poll = look,
    .free = forget};

/* ---- a worker ---- */

/* What srun hands on, sometimes not all of it. */
static void
draw_environment(void)
{
	static const char *const name[] = {"n1", "n2", "n3"};
	static const char *const lost[] = {
	    "GV_WORKER_COMMAND", "GV_LAUNCH_DIR", "SLURMD_NODENAME", "GV_WORKER_GPUS"};
	const char *node[4];
	int gpus[4];
	struct gv_launch_spec spec = {.job_id = "j",
	    .command = "run it",
	    .gpu_type = "v",
	    .gpus = gpus,
	    .node = node,
	    .n_gpus = 1 + below(4),
	    .threads = 2,
	    .checkpoint_dir = "/c",
	    .progress = "/p",
	    .total_steps = NAN,
	    .grace_s = 5};
	const struct gv_launch_meeting m = {"a1", 0, "key"};
	char *nothing[] = {NULL}, **env;
	size_t at = 0, i;

	for (i = 0; i < spec.n_gpus; i++) {
		at += i > 0 && at < 2 && one_in(2);
		node[i] = name[at];
		gpus[i] = (int)i;
	}
	env = gv_handing_env(nothing, &spec, &m, one_in(20) ? "nowhere" : "d");
	for (i = 0; env[i] != NULL; i++)
		putenv(env[i]);
	setenv("SLURMD_NODENAME", name[one_in(2) ? 0 : below(at + 1)], 1);
	setenv("SLURM_STEP_ID", "4", 1);
	setenv("SLURM_CONF", "/etc/slurm", 1);
	setenv("CUDA_VISIBLE_DEVICES", "0,3", 1);
	if (one_in(2))
		setenv("SLURM_JOB_ID", "7", 1);
	if (one_in(4))
		unsetenv("CUDA_VISIBLE_DEVICES");
	if (one_in(15))
		unsetenv(lost[below(4)]);
}

static const char *
draw_mode(void)
{
	static const char *const mode[] = {"probe=d", "probe=nowhere", "sweep=0.5=d",
	    "sweep=1", "sweep=x=d", "swept=1=d", "", "worker"};

	return one_in(8) ? mode[below(8)] : "work";
}

static void
recorded_there(const char *name)
{
	struct gv_error e = {0};
	size_t len;
	char *s;

	if (gv_file_read(name, &s, &len, 1 << 20, &e) != 0) {
		recorded_whole(world.r, -1);
		return;
	}
	recorded_bytes(world.r, s, len);
	free(s);
}

static void
live(void)
{
	static const char *const there[] = {"here.n1", "here.n2", "left.n1", "left.n2",
	    "left.n3", "up", "port", "probe.n1", "probe.n2"};
	int wrote = open("wrote", O_RDWR | O_CREAT | O_TRUNC, 0600), in[2];
	char path[64];
	size_t i;

	world.now_s = 1000;
	if (pipe(in) != 0 || mkdir("d", 0700) != 0)
		gv_die_sys("d");
	dup2(in[0], 0);
	close(in[0]);
	fcntl(0, F_SETFL, O_NONBLOCK);
	world.in = in[1];
	if (one_in(6))
		gv_slurm_file_put("d", "left", "n1", "0 5.000000 own 0 \n");
	signal(SIGPIPE, SIG_IGN);
	clearenv(); /* of whoever runs this */
	draw_environment();
	stderr_listen();
	fflush(stdout);
	dup2(wrote, 1);
	note("status", gv_slurm_worker(draw_mode()));
	stderr_said(world.r);
	rename("gone", "d");
	recorded_double(world.r, world.now_s);
	recorded_there("wrote");
	for (i = 0; i < sizeof(there) / sizeof(there[0]); i++) {
		snprintf(path, sizeof(path), "d/%s", there[i]);
		recorded_there(path);
	}
}

/* In a process of its own, for it has an environment and signals. */
static int
live_apart(uint64_t *sum)
{
	struct gv_error e = {0};
	int status = -1;
	pid_t pid;

	fflush(stdout);
	if (world.r->new != NULL)
		fflush(world.r->new);
	pid = fork();
	if (pid == 0) {
		live();
		*sum = world.r->sum;
		_exit(0);
	}
	waitpid(pid, &status, 0);
	world.r->sum = *sum;
	if (gv_remove_tree("d", &e) != 0)
		gv_die_error(&e);
	return status;
}

int
main(void)
{
	static const char *const made[] = {"said", "wrote", NULL};
	struct recorded r;
	uint64_t *sum = mmap(NULL, sizeof(*sum), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint32_t i;
	int bad = 0;

	gv_init("gv");
	umask(077);
	recorded_open(&r);
	world.r = &r;
	scratch_enter();
	for (i = 0; i < RUNS; i++) {
		draws_begin(167, i, 0);
		bad += live_apart(sum) != 0;
		if (i % PER_ANSWER == PER_ANSWER - 1)
			recorded_answer(&r, "%d workers", PER_ANSWER);
	}
	is_int(bad, 0, "each of them ends");
	scratch_leave(made);
	recorded_close(&r);
	return done_testing();
}
