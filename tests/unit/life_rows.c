/* sched/life/life.h: what is written of a job that cannot run, is tried again, fails, is done. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "sched/life/life.h"
#include "tap.h"

struct world {
	struct gv_gpu_type type[1];
	struct gv_pool pool[1];
	struct gv_cluster c;
	struct gv_life life;
};

static void
begin(struct world *w, int max_failures)
{
	*w = (struct world){.type = {{.name = "a", .gpus = 2}},
	    .pool = {{.type = 0, .gpus = 2, .node = ""}}};
	w->c = (struct gv_cluster){
	    .n_types = 1, .type = w->type, .n_pools = 1, .pool = w->pool};
	gv_life_init(&w->life, &w->c, 10, max_failures);
}

static size_t
add(struct world *w, size_t gang, double rate, double total_steps)
{
	struct gv_life_spec spec = {
	    .gang = gang, .total_steps = total_steps, .see = "x.log"};
	size_t m = gv_life_add(&w->life, &spec);

	gv_rounds_claim(&w->life.rounds, m, 0)->rate = rate;
	gv_life_set_share(&w->life, m, 0, 1);
	return m;
}

/* What came up: rows by their names, jobs and reasons; who starts and stops. */
static void
comes(struct gv_life *l, const char *want)
{
	static const char *const kind[] = {
	    [GV_LIFE_START] = "START", [GV_LIFE_STOP] = "STOP", [GV_LIFE_KILL] = "KILL"};
	struct gv_strbuf b = {0};
	struct gv_life_out out;

	gv_strbuf_str(&b, "");
	while (gv_life_next(l, &out)) {
		const struct gv_life_row *row = &out.row;

		if (out.kind > GV_LIFE_KILL ||
		    (out.kind == GV_LIFE_ROW && (row->kind == GV_EVENT_ALLOCATE ||
						    row->kind == GV_EVENT_RELEASE)))
			continue;
		gv_strbuf_fmt(&b, "%s %d%s%s\n",
		    out.kind == GV_LIFE_ROW ? gv_event_name(row->kind) : kind[out.kind],
		    (int)row->job, *row->reason != '\0' ? " " : "", row->reason);
	}
	is_str(b.s, want, "what comes up");
	gv_strbuf_free(&b);
}

static void
test_never(void)
{
	struct world w;

	begin(&w, 2);
	add(&w, 3, .5, NAN);
	add(&w, 1, 0, NAN);
	gv_life_time(&w.life, 0);
	comes(&w.life, "arrive 0\n"
		       "drop 0 no GPU type it runs on has as many GPUs as it needs\n"
		       "arrive 1\n"
		       "drop 1 it has no rate above 0 on a GPU type of the cluster\n");
	gv_life_free(&w.life);
}

static void
turn(struct gv_life *l, double now_s)
{
	gv_life_time(l, now_s);
	gv_life_turn(l, true);
}

/* Launches that cannot be made wait twice as long each time, a round at most. */
static void
test_refused(void)
{
	static const double wait_s[] = {.25, .5, 1, 2, 4, 8, 10, 10};
	struct world w;
	double now_s = 0;
	size_t m, i;

	begin(&w, 2);
	m = add(&w, 1, 1, NAN);
	turn(&w.life, 0);
	comes(&w.life, "arrive 0\nSTART 0\n");
	for (i = 0; i < sizeof(wait_s) / sizeof(wait_s[0]); i++) {
		gv_life_not_started(&w.life, m);
		ok(w.life.job[m].retry_s == now_s + wait_s[i] &&
			w.life.pause_s == now_s + wait_s[i],
		    "waits %g s", wait_s[i]);
		turn(&w.life, now_s + wait_s[i] * .99);
		comes(&w.life, "");
		now_s += wait_s[i];
		turn(&w.life, now_s);
		comes(&w.life, "START 0\n");
	}
	gv_life_cancel(&w.life, m);
	comes(&w.life, "");
	gv_life_not_started(&w.life, m);
	comes(&w.life, "drop 0 cancelled\n");
	gv_life_free(&w.life);
}

static void
test_failures(int most)
{
	struct world w;
	char want[200];
	size_t m;
	int i;

	begin(&w, most);
	m = add(&w, 1, 1, NAN);
	turn(&w.life, 0);
	comes(&w.life, "arrive 0\nSTART 0\n");
	for (i = 1; i <= most; i++) {
		gv_life_started(&w.life, m);
		comes(&w.life, i == 1 ? "start 0\n" : "resume 0\n");
		gv_life_left(&w.life, m, i);
		if (i < most) {
			turn(&w.life, 10 * i);
			snprintf(want, sizeof(want), "fail 0 status %d\nSTART 0\n", i);
			comes(&w.life, want);
		}
	}
	snprintf(want, sizeof(want),
	    "fail 0 status %d\ndrop 0 %d failure%s in a row without progress, the last: "
	    "status %d; see x.log\n",
	    most, most, most > 1 ? "s" : "", most);
	comes(&w.life, want);
	gv_life_free(&w.life);
}

/* When it came, how long it took to start, and what is said of a pair, whichever comes first. */
static void
test_told_of(void)
{
	struct gv_life_row row = {.time_s = 14,
	    .kind = GV_EVENT_ALLOCATE,
	    .job = 1,
	    .with = -1,
	    .type = 0,
	    .steps = NAN,
	    .round = -1,
	    .share = .5,
	    .reason = ""};
	struct world w;
	size_t pair;

	begin(&w, 9);
	add(&w, 1, 2, 100);
	add(&w, 1, 2, 100);
	pair = gv_rounds_pair(&w.life.rounds, 0, 1);
	turn(&w.life, 3);
	is_near(w.life.job[0].arrived_s, 3, 0, "when it came");
	gv_life_started(&w.life, 0);
	gv_life_report(&w.life, 0, 13, -1);
	gv_life_time(&w.life, 13);
	gv_life_stepped(&w.life, 0);
	is_near(w.life.job[0].startup_s, 4, 1e-12,
	    "12 more steps, 2 a second, are no part of its start");
	gv_life_replay(&w.life, &row);
	is_near(gv_rounds_claim(&w.life.rounds, pair, 0)->share, 0, 0, "the second's");
	row.share = .25;
	row.with = 0;
	gv_life_replay(&w.life, &row);
	is_near(gv_rounds_claim(&w.life.rounds, 1, 0)->share, .5, 0, "is its own");
	is_near(gv_rounds_claim(&w.life.rounds, pair, 0)->share, .25, 0, "or its pair's");
	gv_life_free(&w.life);
}

/* Steps done or safe that are more than at the last failure are progress. */
static void
test_progress(void)
{
	static const struct {
		double steps, safe;
		int failures;
	} at[] = {{10, -1, 1}, {20, -1, 1}, {20, -1, 2}, {20, 15, 3}, {20, 25, 1},
	    {25, 25, 2}, {26, 25, 1}};
	struct world w;
	size_t m, i;

	begin(&w, 9);
	m = add(&w, 1, 1, 100);
	for (i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		turn(&w.life, 20 * (double)i);
		gv_life_started(&w.life, m);
		gv_life_report(&w.life, m, at[i].steps, at[i].safe);
		gv_life_left(&w.life, m, 1);
		is_int(w.life.job[m].failures, at[i].failures,
		    "fails at %g steps, %g of them safe", at[i].steps, at[i].safe);
	}
	gv_life_free(&w.life);
}

/* One that is done, or whose steps are all safe, is done however it leaves. */
static void
test_done(int status, double safe, const char *want)
{
	struct world w;
	size_t m;

	begin(&w, 1);
	m = add(&w, 1, 1, 100);
	turn(&w.life, 0);
	gv_life_stepped(&w.life, m);
	comes(&w.life, "arrive 0\nSTART 0\n");
	gv_life_started(&w.life, m);
	gv_life_stepped(&w.life, m);
	gv_life_stepped(&w.life, m);
	gv_life_report(&w.life, m, 100, safe);
	comes(&w.life, safe >= 0 ? "start 0\nfirst_step 0\ncheckpoint 0\n"
				 : "start 0\nfirst_step 0\n");
	gv_life_report(&w.life, m, 100, safe); /* nothing new */
	gv_life_left(&w.life, m, status);
	comes(&w.life, want);
	gv_life_left(&w.life, m, status);
	comes(&w.life, "");
	gv_life_free(&w.life);
}

/* One that is told to stop, and leaves so; it is never wanted again. */
static void
test_told(double steps, int status, const char *want)
{
	struct world w;
	size_t m;

	begin(&w, 5);
	m = add(&w, 1, 1, 100);
	turn(&w.life, 0);
	gv_life_started(&w.life, m);
	gv_life_report(&w.life, m, steps, 0);
	comes(&w.life, "arrive 0\nSTART 0\nstart 0\ncheckpoint 0\n");
	gv_life_cancel(&w.life, m);
	comes(&w.life, "STOP 0\n");
	gv_life_left(&w.life, m, status);
	comes(&w.life, want);
	gv_life_free(&w.life);
}

int
main(void)
{
	test_told(50, 0, "preempt 0\ndrop 0 cancelled\n");
	test_told(50, 143, "preempt 0\ndrop 0 cancelled\n");
	test_told(50, 144, "fail 0 status 144 when told to stop\ndrop 0 cancelled\n");
	test_told(50, 1, "fail 0 status 1 when told to stop\ndrop 0 cancelled\n");
	test_told(100, 0, "finish 0\n");
	test_never();
	test_refused();
	test_failures(1);
	test_failures(2);
	test_failures(3);
	test_progress();
	test_told_of();
	test_done(0, -1, "finish 0\n");
	test_done(0, 50, "finish 0\n");
	test_done(1, 100, "finish 0 status 1\n");
	test_done(5, 100, "finish 0 status 5\n");
	test_done(5, 99,
	    "fail 0 status 5\ndrop 0 1 failure in a row without progress, the "
	    "last: status 5; see x.log\n");
	return done_testing();
}
