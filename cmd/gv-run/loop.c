/* Rounds, and what wakes them: time, leaving workers, signals, the policy. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "run.h"

/* How often progress files are read and the clock is written down. */
static const double look_s = .5;

/*
 * Signals wake the loop through a pipe: whenever one comes between looking and
 * sleeping, the sleep ends at once.
 */
static int wake[2] = {-1, -1};
static volatile sig_atomic_t last_signal;
static volatile sig_atomic_t n_signals;

static void
on_signal(int sig)
{
	int error = errno;

	if (sig != SIGCHLD) {
		last_signal = sig;
		n_signals++;
	}
	(void)!write(wake[1], "", 1);
	errno = error;
}

void
loop_signals(void)
{
	static const int caught[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP};
	struct sigaction sa;
	size_t i;

	if (pipe(wake) != 0)
		gv_die_sys("cannot make a pipe");
	for (i = 0; i < 2; i++)
		if (fcntl(wake[i], F_SETFD, FD_CLOEXEC) == -1 ||
		    fcntl(wake[i], F_SETFL, O_NONBLOCK) == -1)
			gv_die_sys("cannot make a pipe");
	for (i = 0; i < sizeof(caught) / sizeof(caught[0]); i++) {
		if (sigaction(caught[i], NULL, &sa) == 0 && sa.sa_handler == SIG_IGN &&
		    caught[i] != SIGCHLD)
			continue; /* nohup */
		memset(&sa, 0, sizeof(sa));
		sa.sa_handler = on_signal;
		sa.sa_flags = SA_RESTART;
		sigemptyset(&sa.sa_mask);
		sigaction(caught[i], &sa, NULL);
	}
	signal(SIGPIPE,
	    SIG_IGN); /* the output tells, and the workers must be stopped first */
}

bool
loop_signalled(void)
{
	return n_signals > 0;
}

/* ---- time ---- */

static void
tick(struct run *r)
{
	double now_s = floor((gv_clock_s() - r->zero_s) * 1000) / 1000;
	double dt = now_s - r->now_s;

	if (!(dt > 0))
		return;
	r->now_s = now_s;
	gv_rounds_pass(&r->rounds, dt);
	gv_rounds_hold(&r->rounds, r->holder, dt);
}

static bool
ends_early(const struct run *r)
{
	return r->signal != 0 || r->broken;
}

/* When something is to be done, if nothing happens before. */
static double
wakes_s(const struct run *r)
{
	double t = policy_wakes_s(r);
	bool active = false;
	size_t m;

	if (ends_early(r))
		return r->read_s + look_s;
	if (r->fill && !policy_holds(r))
		return r->now_s;
	for (m = 0; m < r->n_jobs; m++) {
		const struct job *j = &r->job[m];

		active = active || r->rounds.job[m].active;
		if (j->state == JOB_LATER)
			t = fmin(t, j->spec->arrival_s);
		else if (j->state == JOB_WAITING && j->retry_s > r->now_s)
			t = fmin(t, j->retry_s);
		else if (j->state == JOB_RUNNING || j->state == JOB_STOPPING)
			t = fmin(t, r->read_s + look_s);
	}
	if (active && !policy_holds(r))
		t = fmin(t, r->round_end_s);
	return t;
}

/* Whether a descriptor is a pipe: its reader may leave without our writing. */
static bool
is_pipe(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

static void
sleep_until_something(struct run *r)
{
	struct pollfd fd[2] = {{.fd = wake[0], .events = POLLIN}, {.fd = -1}};
	double wait_s = wakes_s(r) - (gv_clock_s() - r->zero_s);
	char buf[256];

	if (r->journal.out == gv_stdout() && is_pipe(STDOUT_FILENO))
		fd[1].fd = STDOUT_FILENO;
	/* a millisecond more, for time is counted in whole ones; an hour at most, for int */
	wait_s = fmin(fmax(wait_s, 0) + .001, 3600);
	if (poll(fd, 2, (int)ceil(wait_s * 1000)) > 0 &&
	    (fd[1].revents & (POLLERR | POLLHUP)) != 0)
		journal_output_gone(r);
	while (read(wake[0], buf, sizeof(buf)) > 0)
		;
}

/* ---- rounds ---- */

static bool
any_active(const struct run *r)
{
	size_t m;

	for (m = 0; m < r->n_jobs; m++)
		if (r->rounds.job[m].active)
			return true;
	return false;
}

/* Whether the job's GPUs are not those it is planned on. */
static bool
must_move(const struct run *r, size_t m)
{
	size_t g;

	for (g = 0; g < r->rounds.n_gpus; g++)
		if (gv_rounds_has(&r->rounds, r->holder[g], m) !=
		    gv_rounds_has(&r->rounds, r->plan[g], m))
			return true;
	return false;
}

static void
say_plan(const struct run *r, const char *what)
{
	struct gv_strbuf b = {0};
	char q[GV_QUOTE_LEN];
	size_t g;

	for (g = 0; g < r->rounds.n_gpus; g++) {
		const struct gv_round_pool *p = &r->rounds.pool[r->rounds.gpu_pool[g]];
		const size_t *member;

		if (r->plan[g] < 0)
			continue;
		member = r->rounds.job[r->plan[g]].member;
		gv_strbuf_fmt(&b, "%s %s %zu %s", b.len > 0 ? "," : "",
		    r->cluster.type[p->type].name, g - p->first,
		    job_name(r, member[0], q));
		if (member[0] != member[1])
			gv_strbuf_fmt(&b, " and %s", job_name(r, member[1], q));
	}
	gv_warn("%.3f s, round %lld%s:%s", r->now_s, (long long)r->round, what,
	    b.len > 0 ? b.s : " nothing runs");
	gv_strbuf_free(&b);
}

static void
new_round(struct run *r)
{
	double end_s = r->round_end_s + r->o->round_s;
	size_t m;

	/* on a grid, unless we are a whole round late or it is the first one */
	r->round_end_s =
	    end_s <= r->now_s || r->round < 0 ? r->now_s + r->o->round_s : end_s;
	r->round++;
	gv_rounds_plan(&r->rounds, GV_ROUND_NEW, r->holder, r->plan);
	if (r->o->verbose > 0)
		say_plan(r, "");
	for (m = 0; m < r->n_jobs; m++)
		if (r->job[m].state == JOB_RUNNING && must_move(r, m))
			work_stop(r, m);
}

static void
decide(struct run *r)
{
	if (policy_holds(r))
		return;
	policy_announce(r);
	if (r->now_s >= r->round_end_s && any_active(r)) {
		new_round(r);
	} else if (r->fill) {
		gv_rounds_plan(&r->rounds, GV_ROUND_FILL, r->plan, r->plan);
		if (r->o->verbose > 0)
			say_plan(r, ", GPUs filled");
	}
	r->fill = false;
}

static void
arrivals(struct run *r)
{
	bool all = true;
	size_t m;

	for (m = 0; m < r->n_jobs; m++) {
		struct job *j = &r->job[m];

		if (j->state == JOB_LATER && j->spec->arrival_s <= r->now_s)
			work_arrive(r, m);
		if (!r->rounds.job[m].ready && j->retry_s <= r->now_s)
			r->rounds.job[m].ready = r->fill = true;
		all = all && r->rounds.job[m].active;
	}
	if (r->policy.answered && all)
		r->policy.due = false;
	r->policy.answered = false;
}

/* ---- the end ---- */

static void
look_at_signals(struct run *r)
{
	if (n_signals > 0 && r->signal == 0)
		r->signal = last_signal;
	r->killed = n_signals > 1;
}

/* Everybody is told to leave; a second signal kills. */
static void
stop_all(struct run *r)
{
	size_t m;

	policy_stop(r);
	for (m = 0; m < r->n_jobs; m++) {
		if (r->job[m].state == JOB_RUNNING)
			work_stop(r, m);
		if (r->job[m].state == JOB_STOPPING && r->killed)
			gv_launch_kill(r->job[m].launch);
	}
}

static bool
all_done(const struct run *r)
{
	size_t m;

	for (m = 0; m < r->n_jobs; m++)
		if (r->job[m].state != JOB_FINISHED && r->job[m].state != JOB_DROPPED)
			return false;
	return true;
}

static void
show_progress(const struct run *r)
{
	size_t n[JOB_DROPPED + 1] = {0};
	size_t m;

	if (r->o->quiet)
		return;
	for (m = 0; m < r->n_jobs; m++)
		n[r->job[m].state]++;
	gv_progress("round %lld: %zu running, %zu waiting, %zu to come, %zu of %zu done",
	    (long long)r->round, n[JOB_RUNNING] + n[JOB_STOPPING], n[JOB_WAITING],
	    n[JOB_LATER], n[JOB_FINISHED] + n[JOB_DROPPED], r->n_jobs);
}

static void
work_turn(struct run *r)
{
	arrivals(r);
	policy_turn(r);
	decide(r);
	work_start_planned(r);
}

void
loop(struct run *r)
{
	for (;;) {
		tick(r);
		work_reap(r);
		if (r->now_s >= r->read_s + look_s)
			work_read_progress(r);
		look_at_signals(r);
		if (!ends_early(r))
			work_turn(r);
		if (all_done(r))
			journal_event(r, GV_EVENT_END, -1, "");
		journal_commit(r);
		look_at_signals(r);
		if (ends_early(r))
			stop_all(r);
		if (all_done(r) || (ends_early(r) && !work_any(r)))
			break;
		state_clock(r);
		show_progress(r);
		sleep_until_something(r);
	}
	journal_commit(r);
	state_clock(r);
	gv_progress(NULL);
}
