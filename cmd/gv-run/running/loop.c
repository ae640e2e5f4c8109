#include "loop.h"

#include <math.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/stderr.h"
#include "base/strbuf.h"
#include "gv-run/core/signals.h"
#include "gv-run/state/clock.h"

/* How often progress files and requests are read and the clock is written down. */
static const double look_s = .5;

/* How often it is looked whether launches under way are up. */
static const double up_s = .05;

/* How long a run that was ended waits for who reads its events. */
static const double last_words_s = 1;

/* ---- what comes out of the jobs' life ---- */

/* Failures, in words. */
static void
say_row(const struct loop *l, const struct gv_life_row *row)
{
	char q[GV_QUOTE_LEN];

	if (row->kind == GV_EVENT_DROP)
		gv_warn("job %s is dropped: %s", jobs_name(l->jobs, (size_t)row->job, q),
		    row->reason);
	else if (row->kind == GV_EVENT_FAIL && !l->o->quiet &&
		 l->jobs->life.job[row->job].state != GV_LIFE_DROPPED)
		gv_warn("warning: job %s has failed: %s; see %s",
		    jobs_name(l->jobs, (size_t)row->job, q), row->reason,
		    l->work->worker[row->job].files.log);
}

static void
say_plan(const struct loop *l, const char *what)
{
	const struct gv_life *life = &l->jobs->life;
	struct gv_strbuf b = {0};
	char q[GV_QUOTE_LEN];
	size_t g;

	for (g = 0; g < life->rounds.n_gpus; g++) {
		size_t pool = life->rounds.gpu_pool[g];
		const size_t *member;

		if (life->plan[g] < 0)
			continue;
		member = life->rounds.job[life->plan[g]].member;
		gv_strbuf_fmt(&b, "%s %s %zu %s", b.len > 0 ? "," : "",
		    l->jobs->cluster.type[life->rounds.pool[pool].type].name,
		    g - life->rounds.pool[pool].first, jobs_name(l->jobs, member[0], q));
		if (member[0] != member[1])
			gv_strbuf_fmt(&b, " and %s", jobs_name(l->jobs, member[1], q));
	}
	gv_warn("%.3f s, round %lld%s:%s", life->now_s, (long long)life->round, what,
	    b.len > 0 ? b.s : " nothing runs");
	gv_strbuf_free(&b);
}

void
loop_carry_out(struct loop *l)
{
	struct gv_life_out out;

	while (gv_life_next(&l->jobs->life, &out)) {
		switch (out.kind) {
		case GV_LIFE_ROW:
			journal_row(l->journal, l->jobs, &out.row);
			say_row(l, &out.row);
			break;
		case GV_LIFE_ASK:
			policy_due(l->policy);
			break;
		case GV_LIFE_ROUND:
		case GV_LIFE_FILL:
			if (l->o->verbose > 0)
				say_plan(
				    l, out.kind == GV_LIFE_FILL ? ", GPUs filled" : "");
			break;
		default:
			work_do(l->work, &out);
		}
	}
}

/* ---- time ---- */

/* In whole milliseconds, so that it is what the journal says. */
static double
time_now(const struct loop *l)
{
	return floor((gv_clock_s() - l->zero_s) * 1000) / 1000;
}

bool
loop_is_broken(const struct loop *l)
{
	return l->journal->broken || l->policy->broken || l->intake->broken ||
	       l->watch->broken || (l->output->error != 0 && !l->output->gone);
}

static bool
ends_early(const struct loop *l)
{
	return l->signal != 0 || l->places->over || loop_is_broken(l);
}

/* When something is to be done, if nothing happens before. */
static double
wakes_s(const struct loop *l)
{
	const struct gv_life *life = &l->jobs->life;
	double t = policy_wakes_s(l->policy);

	if (life->n[GV_LIFE_STARTING] > 0)
		return life->now_s + up_s;
	if (ends_early(l))
		return l->read_s + look_s;
	t = fmin(t, gv_life_wakes_s(life, !policy_holds(l->policy)));
	/* progress, and what users want */
	return fmin(t, l->read_s + look_s);
}

/* Sleeps until a signal, or the output, or so long. */
static void
sleep_for(struct loop *l, double wait_s)
{
	struct pollfd fd[4] = {{.fd = signals_fd(), .events = POLLIN}, {.fd = -1}};
	size_t n = 2 + policy_fds(l->policy, fd + 2);

	fd[1].fd = output_poll_fd(l->output, &fd[1].events);
	/* a millisecond more, for time is counted in whole ones; an hour at most, for int */
	wait_s = fmin(fmax(wait_s, 0) + .001, 3600);
	if (poll(fd, (nfds_t)n, (int)ceil(wait_s * 1000)) > 0)
		output_polled(l->output, fd[1].revents);
	signals_clear();
}

static void
sleep_until_something(struct loop *l)
{
	sleep_for(l, wakes_s(l) - (gv_clock_s() - l->zero_s));
}

/* ---- the end ---- */

static void
look_at_signals(struct loop *l)
{
	if (l->signal == 0)
		l->signal = signals_first();
	if (l->signal == 0 && l->output->gone)
		l->signal = SIGPIPE;
}

/* Everybody is told to leave; another signal kills. */
static void
stop_all(struct loop *l)
{
	policy_stop(l->policy);
	gv_life_end(&l->jobs->life);
	work_end(l->work, signals_another());
	if (signals_another())
		gv_life_kill(&l->jobs->life);
}

static void
show_progress(const struct loop *l)
{
	const struct gv_life *life = &l->jobs->life;
	const size_t *n = life->n;

	if (l->o->quiet)
		return;
	gv_progress("round %lld: %zu running, %zu waiting, %zu to come, %zu of %zu done",
	    (long long)life->round, life->n_open,
	    n[GV_LIFE_WAITING] + n[GV_LIFE_STARTING] + n[GV_LIFE_HELD], n[GV_LIFE_LATER],
	    n[GV_LIFE_FINISHED] + n[GV_LIFE_DROPPED], life->n_jobs);
}

static void
write_clock(const struct loop *l)
{
	struct clock c = {gv_now_s() - (gv_clock_s() - l->zero_s), l->jobs->life.now_s,
	    l->jobs->life.round, (int64_t)l->journal->size};

	clock_write(l->state->clock_fd, &c);
}

/* To the journal, and what is there to the reader. */
static void
write_events(struct loop *l)
{
	journal_commit(l->journal);
	if (!l->journal->broken)
		control_written(l->control, l->jobs);
	output_turn(l->output, l->journal->size);
}

/*
 * Waits for a reader that has not taken all events, or messages, yet: until it has, or a signal; when
 * a signal has ended the run already, for a moment.
 */
static void
finish_output(struct loop *l)
{
	double until_s = ends_early(l) ? gv_clock_s() + last_words_s : HUGE_VAL;

	while ((output_lags(l->output) || gv_stderr_lags()) && gv_clock_s() < until_s &&
	       (until_s < HUGE_VAL || l->signal == 0)) {
		sleep_for(
		    l, fmin(until_s - gv_clock_s(), gv_stderr_lags() ? up_s : 3600));
		output_turn(l->output, l->journal->size);
		gv_stderr_turn();
		look_at_signals(l);
	}
	if (output_lags(l->output) && !l->o->quiet)
		gv_warn("warning: not all events were read; all are in %s/events.csv",
		    l->journal->dir);
}

static void
turn(struct loop *l)
{
	struct gv_life *life = &l->jobs->life;

	loop_carry_out(l); /* who has come or gone, before the policy is asked */
	policy_turn(l->policy);
	gv_life_turn(life, !policy_holds(l->policy));
}

void
loop_run(struct loop *l)
{
	struct gv_life *life = &l->jobs->life;

	for (;;) {
		gv_life_time(life, time_now(l));
		work_reap(l->work);
		if (life->now_s >= l->read_s + look_s) {
			l->read_s = life->now_s;
			work_read_progress(l->work);
			loop_carry_out(l);
			intake_turn(l->intake);
			watch_turn(l->watch, signals_hup());
			places_look(l->places);
			control_take(l->control, l->jobs);
		}
		look_at_signals(l);
		if (!ends_early(l))
			turn(l);
		if (gv_life_done(life))
			gv_life_tell(life, GV_EVENT_END);
		loop_carry_out(l);
		write_events(l);
		look_at_signals(l);
		if (ends_early(l))
			stop_all(l);
		loop_carry_out(l);
		if (gv_life_done(life) || (ends_early(l) && !gv_life_any_open(life)))
			break;
		write_clock(l);
		show_progress(l);
		gv_stderr_turn();
		sleep_until_something(l);
	}
	write_events(l);
	write_clock(l);
	finish_output(l);
	gv_progress(NULL);
}
