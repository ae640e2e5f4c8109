/*
 * Drawn runs of gv-run from the first turn of the loop to the last: when it looks again, what it
 * starts and stops, what it takes of users, submissions, other clusters and a policy, what it says,
 * and what it leaves in the state.
 */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE /* whose wrappers are inline: the functions are ours here */
#include "virtual_run.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "gv-run/core/signals.h"
#include "gv-run/running/loop.h"
#include "scratch.h"
#include "stderr_said.h"
#include "unsynced.h"

enum { RUNS = 120, PER_ANSWER = 4, SLEEPS = 80, MOST_SLEEPS = 3000 };

struct run {
	struct drawn_run d;
	struct state state;
	struct jobs jobs;
	struct journal journal;
	struct output output;
	struct policy policy;
	struct work work;
	struct control control;
	struct intake intake;
	struct watch watch;
	struct allocation allocation;
	struct places places;
	struct loop loop;
	struct gv_strbuf events;
	int reader; /* of a pipe that is the standard output; -1 = a file is */
	size_t sleeps, entries, lazy; /* it reads one time in so many */
	bool terminal;                /* is where messages go */
};

static struct run u;

int
gethostname(char *name, size_t len)
{
	snprintf(name, len, "n0");
	return 0;
}

int
isatty(int fd)
{
	return fd == STDERR_FILENO && u.terminal;
}

int
unlink(const char *path)
{
	errno = EROFS;
	if (around.keeps &&
	    (strstr(path, "/submit/") != NULL || strstr(path, "/control/") != NULL))
		return -1;
	return unlinkat(AT_FDCWD, path, 0);
}

/* ---- what users do ---- */

static void
enter(const char *spool, const char *text, size_t len)
{
	char path[60];

	snprintf(path, sizeof(path), "s/%s/%03zu.1", spool, u.entries++);
	scratch_file(path, text, len);
}

static void
request(void)
{
	static const char *const what[] = {"hold", "release", "cancel", "stop"};
	const char *kind = what[below(4)], *id = drawn_id(below(u.d.n_jobs));
	struct gv_strbuf text = {0};

	gv_strbuf_fmt(&text, "%s\n%s,%s\n", one_in(20) ? "request" : "request,job_id",
	    kind, id);
	enter("control", text.s, text.len);
	gv_strbuf_free(&text);
}

/* New jobs, sometimes such as the run has, or none. */
static void
submit(void)
{
	struct drawn_run more = u.d;
	struct gv_strbuf text = {0};
	size_t n = 1 + below(2);

	more.rows = (struct gv_strbuf){0};
	more.pairs = false;
	if (one_in(6))
		draw_job(&more, below(u.d.n_jobs), true);
	for (; n > 0 && u.d.n_jobs < DRAWN_JOBS; n--)
		draw_job(&more, u.d.n_jobs++, true);
	gv_strbuf_str(&text, one_in(9) ? "job_id,share\n" : drawn_header);
	gv_strbuf_add(&text, more.rows.s, more.rows.len);
	enter("submit", text.s, text.len);
	gv_strbuf_free(&more.rows);
	gv_strbuf_free(&text);
}

/* One that a run before has put into the journal, and mostly into the table. */
static void
enter_known(void)
{
	struct drawn_run more = u.d;
	struct gv_strbuf text = {0};

	more.rows = (struct gv_strbuf){0};
	more.pairs = false;
	draw_job(&more, one_in(3) ? DRAWN_JOBS - 1 : below(u.d.n_jobs), true);
	gv_strbuf_fmt(&text, "%s%s", drawn_header, more.rows.s);
	jobs_taken(&u.jobs, "000.1", 5);
	enter("submit", text.s, text.len);
	gv_strbuf_free(&more.rows);
	gv_strbuf_free(&text);
}

static void
other_cluster(void)
{
	struct gv_strbuf text = {0};
	size_t a = below(u.d.n_pools), b = below(u.d.n_pools);
	char pool[sizeof(u.d.pool[0])];

	memcpy(pool, u.d.pool[a], sizeof(pool));
	memcpy(u.d.pool[a], u.d.pool[b], sizeof(pool));
	memcpy(u.d.pool[b], pool, sizeof(pool));
	if (u.d.n_pools < DRAWN_POOLS && one_in(2))
		draw_pool(&u.d, u.d.n_pools++);
	else
		u.d.n_pools -= u.d.n_pools > 1;
	drawn_cluster_text(&u.d, &text);
	if (one_in(6))
		gv_strbuf_str(&text, "what\n");
	unlink("cluster.csv"); /* another file, whenever it was written */
	scratch_file("cluster.csv", text.s, text.len);
	gv_strbuf_free(&text);
}

static void
happens(void)
{
	static const char *const node[] = {"-", "", "n0", "n1", "-"};

	around.keeps = one_in(5);
	if (one_in(12))
		request();
	if (one_in(16))
		submit();
	if (u.d.o.watch && one_in(20))
		other_cluster();
	if (u.d.o.watch && one_in(30))
		raise(SIGHUP);
	if (one_in(25)) {
		snprintf(
		    around.bad_node, sizeof(around.bad_node), "%s", node[below(5)]);
		around.site.turns++;
	}
	around.site.over = around.site.over || one_in(600);
	if (one_in(500)) { /* the table cannot be written any more */
		unlink("s/jobs.csv");
		mkdir("s/jobs.csv", 0700);
	}
	if (one_in(400))
		raise(one_in(2) ? SIGTERM : SIGINT);
	if (one_in(500)) {
		unlink("s/cluster.csv");
		mkdir("s/cluster.csv", 0700);
	}
	if (u.sleeps > SLEEPS && u.sleeps % 8 == 0)
		raise(u.sleeps < 2 * SLEEPS ? SIGTERM : SIGINT);
}

/* What a reader takes of the events; one that has gone takes none. */
static void
take_events(void)
{
	char s[3000];
	ssize_t n;

	if (u.reader < 0 || !one_in(u.lazy))
		return;
	n = read(u.reader, s, sizeof(s));
	if (n > 0)
		gv_strbuf_add(&u.events, s, (size_t)n);
	if (one_in(40)) {
		close(u.reader);
		u.reader = -1;
	}
}

int
poll(struct pollfd *p, nfds_t n, int ms)
{
	const struct timespec none = {0, 0};
	double part = one_in(4) ? (double)below(16) / 16 : 1;
	int ready;

	recorded_whole(around.r, (long long)n);
	recorded_whole(around.r, ms);
	recorded_whole(around.r, n > 1 ? p[1].events + (p[1].fd >= 0) : 0);
	around.now_s += part * ms * 1e-3;
	if (++u.sleeps > MOST_SLEEPS)
		_exit(3);
	happens();
	take_events();
	ready = ppoll(p, n, &none, NULL);
	recorded_whole(around.r, ready);
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

/* ---- a run ---- */

static void
recorded_file(const char *path)
{
	struct gv_error e = {0};
	size_t len;
	char *s;

	if (gv_file_read(path, &s, &len, 1 << 24, &e) != 0) {
		said("none", 0);
		return;
	}
	recorded_bytes(around.r, s, len);
	free(s);
}

/* As main does it. */
static void
make_parts(void)
{
	static const char *const policy[] = {NULL, "gv-alloc -p max-min", "other"};
	static char dir[] = "s", directory[] = "/d";
	struct settings *o = &u.d.o;
	struct gv_error e = {0};
	size_t m;

	o->cluster = "cluster.csv";
	o->policy = policy[below(3)];
	o->watch = one_in(2);
	o->quiet = one_in(4);
	o->verbose = one_in(2);
	o->resume = one_in(4);
	o->clean_env = one_in(2);
	o->launcher = one_in(3) ? LAUNCHER_SLURM : LAUNCHER_LOCAL;
	o->grace_s = (double)(1 + below(3));
	o->policy_timeout_s = 2;
	u.state = (struct state){.o = o,
	    .dir = dir,
	    .directory = directory,
	    .lock_fd = -1,
	    .workers_fd = 77,
	    .user_mask = one_in(2) ? 022 : 0};
	u.state.clock_fd = open("s/clock", O_RDWR | O_CREAT, 0600);
	if (policy_open(&u.policy, o, &u.state, &u.jobs, &e) != 0)
		gv_die_error(&e);
	u.policy.own = o->policy != NULL && strcmp(o->policy, "other") == 0;
	u.places = (struct places){
	    .o = o, .jobs = &u.jobs, .watch = &u.watch, .by = &launcher_drawn};
	if (work_open(&u.work, o, &u.state, &u.jobs, u.places.by, &e) != 0 ||
	    journal_open(&u.journal, "s", u.policy.pairs || u.d.pairs, &e) != 0)
		gv_die_error(&e);
	for (m = 0; m < u.work.n; m++)
		said(u.work.log[m], 0);
	u.loop = (struct loop){.o = o,
	    .state = &u.state,
	    .jobs = &u.jobs,
	    .journal = &u.journal,
	    .output = &u.output,
	    .policy = &u.policy,
	    .work = &u.work,
	    .control = &u.control,
	    .intake = &u.intake,
	    .watch = &u.watch,
	    .places = &u.places,
	    .zero_s = around.now_s};
	control_open(&u.control, "s");
	u.watch = (struct watch){.o = o,
	    .state = &u.state,
	    .jobs = &u.jobs,
	    .journal = &u.journal,
	    .policy = &u.policy,
	    .work = &u.work,
	    .allocation = &u.allocation};
	watch_open(&u.watch);
	u.intake = (struct intake){.o = o,
	    .state = &u.state,
	    .jobs = &u.jobs,
	    .journal = &u.journal,
	    .policy = &u.policy,
	    .work = &u.work};
}

/* The events go to a pipe that holds little, or to a file. */
static void
open_output(void)
{
	struct gv_error e = {0};
	struct gv_out *out = NULL;
	int to[2];

	u.reader = -1;
	if (one_in(2)) {
		if (pipe(to) != 0)
			gv_die_sys("a pipe");
		fcntl(to[1], F_SETPIPE_SZ, 4096);
		fcntl(to[0], F_SETFL, O_NONBLOCK);
		dup2(to[1], STDOUT_FILENO);
		close(to[1]);
		u.reader = to[0];
	} else if (gv_out_open(&out, "events", &e) != 0) {
		gv_die_error(&e);
	}
	output_open(&u.output, out, one_in(4), u.journal.fd, u.journal.size);
}

/* What is told of jobs after their launches, such as were never launched as well. */
static void
progress_afterwards(void)
{
	struct gv_error e = {0};
	size_t m;

	for (m = 0; m < u.work.n; m++) {
		rmdir(u.work.worker[m].files.progress);
		if (files_make(&u.work.worker[m].files, &e) == 0)
			scratch_file(u.work.worker[m].files.progress, "step 777\n", 9);
	}
	work_read_all_progress(&u.work);
}

static void
end(void)
{
	struct gv_error e = {0};
	char path[60];
	size_t i;

	said("over", u.loop.signal + 1000 * u.places.over);
	said("broken", loop_is_broken(&u.loop));
	recorded_whole(around.r, (long long)u.intake.n_done);
	recorded_whole(around.r, (long long)u.control.n);
	recorded_whole(around.r, (long long)u.work.n_up);
	recorded_double(around.r, around.now_s);
	recorded_bytes(around.r, u.events.s, u.events.len);
	if (u.output.file != NULL && gv_out_close(u.output.file, &e) != 0)
		gv_die_error(&e);
	recorded_file("events");
	recorded_file("s/events.csv");
	recorded_file("s/jobs.csv");
	recorded_file("s/cluster.csv");
	recorded_file("s/policy");
	recorded_file("s/policy.in.csv");
	recorded_file("s/policy.out.csv");
	recorded_file("s/clock");
	for (i = 0; i < u.entries; i++) {
		snprintf(path, sizeof(path), "s/submit/%03zu.1.refused", i);
		recorded_file(path);
	}
	recorded_jobs(around.r, &u.jobs);
	intake_close(&u.intake);
	watch_close(&u.watch);
	control_close(&u.control);
	output_close(&u.output);
	policy_close(&u.policy);
	work_close(&u.work);
	journal_close(&u.journal);
	recorded_whole(around.r, (long long)(u.intake.n_done + u.work.n + u.control.n));
	recorded_whole(around.r, u.watch.turns);
	jobs_free(&u.jobs);
	drawn_run_free(&u.d);
}

static void
live(void)
{
	struct gv_strbuf text = {0};
	struct gv_error e = {0};
	size_t m;

	memset(&u, 0, sizeof(u));
	u.lazy = one_in(3) ? 30 : 4;
	u.terminal = one_in(3);
	around.now_s = 1000;
	around.barren = one_in(5);
	strcpy(around.bad_node, "-");
	around.site =
	    (struct gv_launch_site){.left_s = HUGE_VAL, .reason = "it has ended"};
	draw_run(&u.d);
	if (around.barren)
		u.d.o.round_s = (double)(1 + below(9));
	if (drawn_begin(&u.d, &u.jobs, &e) != 0 || gv_mkdirs("s/control", &e) != 0 ||
	    gv_mkdirs("s/submit", &e) != 0)
		gv_die_error(&e);
	for (m = 0; m < u.jobs.table.n_jobs; m++) { /* of a table that a run has left */
		u.jobs.table.job[m].isolated_elapsed_s = (double)below(9);
		u.jobs.table.job[m].steps_remaining -= (double)below(9) - 1;
	}
	drawn_cluster_text(&u.d, &text);
	scratch_file("cluster.csv", text.s, text.len);
	gv_strbuf_free(&text);
	if (one_in(5)) { /* where a job's files cannot be made */
		gv_mkdirs("s/jobs", &e);
		scratch_file("s/jobs/a", "", 0);
	}
	if (one_in(4)) /* of a run before */
		scratch_file("s/policy", "kept", 4);
	if (one_in(4))
		enter_known();
	stderr_listen();
	make_parts();
	signals_catch(u.d.o.watch);
	open_output();
	loop_carry_out(&u.loop);
	gv_life_tell_pools(&u.jobs.life);
	gv_life_take_shares(&u.jobs.life, &u.jobs.table);
	intake_turn(&u.intake);
	policy_due(&u.policy);
	u.policy.answered = one_in(2);
	loop_run(&u.loop);
	progress_afterwards();
	stderr_said(around.r);
	end();
}

/* In a process of its own, since signals that have come stay known. */
static int
live_apart(uint64_t *sum)
{
	struct gv_error e = {0};
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		live();
		*sum = around.r->sum;
		_exit(0);
	}
	waitpid(pid, &status, 0);
	around.r->sum = *sum;
	if (gv_remove_tree("s", &e) != 0)
		gv_die_error(&e);
	unlinkat(AT_FDCWD, "events", 0);
	return status;
}

int
main(void)
{
	static const char *const made[] = {"said", "cluster.csv", NULL};
	struct recorded r;
	uint64_t *sum = mmap(NULL, sizeof(*sum), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint32_t i;
	int bad = 0;

	gv_init("gv-run");
	umask(077);
	setenv("TZ", "UTC0", 1);
	signal(SIGHUP, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	recorded_open(&r);
	around.r = &r;
	scratch_enter();
	for (i = 0; i < RUNS; i++) {
		draws_begin(113, i, 0);
		bad += live_apart(sum) != 0;
		if (i % PER_ANSWER == PER_ANSWER - 1)
			recorded_answer(&r, "%d runs", PER_ANSWER);
	}
	is_int(bad, 0, "each run ends");
	scratch_leave(made);
	recorded_close(&r);
	return done_testing();
}
