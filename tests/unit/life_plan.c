/* sched/life/plan.c: who is told which shares, who is planned where, and who starts there. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "sched/life/core.h"
#include "sched/rounds/view.h"
#include "tap.h"

struct world {
	struct gv_gpu_type type[2];
	struct gv_pool pool[2];
	struct gv_cluster c;
	struct gv_life life;
};

/* Rounds of 10 s on so many GPUs of one type, and of another one where b > 0. */
static void
begin(struct world *w, size_t a, size_t b)
{
	*w = (struct world){.type = {{.name = "a", .gpus = a}, {.name = "b", .gpus = b}},
	    .pool = {
		{.type = 0, .gpus = a, .node = ""}, {.type = 1, .gpus = b, .node = ""}}};
	w->c = (struct gv_cluster){.n_types = b > 0 ? 2 : 1,
	    .type = w->type,
	    .n_pools = b > 0 ? 2 : 1,
	    .pool = w->pool};
	gv_life_init(&w->life, &w->c, 10, 3);
}

static void
add(struct world *w, size_t gang, double share)
{
	struct gv_life_spec spec = {
	    .gang = gang, .total_steps = 100, .arrival_s = HUGE_VAL};
	size_t m = gv_life_add(&w->life, &spec);
	size_t j;

	for (j = 0; j < w->c.n_types; j++)
		gv_rounds_claim(&w->life.rounds, m, j)->rate = 1;
	gv_life_set_share(&w->life, m, 0, share);
}

static void
add_row(struct gv_strbuf *b, const struct gv_life_row *row)
{
	size_t i;

	gv_strbuf_fmt(b, "%s %d", gv_event_name(row->kind), (int)row->job);
	if (row->with >= 0)
		gv_strbuf_fmt(b, "+%d", (int)row->with);
	if (row->kind == GV_EVENT_ALLOCATE)
		gv_strbuf_fmt(b, " %d:%g", (int)row->type, row->share);
	else if (row->kind != GV_EVENT_ARRIVE)
		for (i = 0; i < row->n_gpus; i++)
			gv_strbuf_fmt(b, " %zu", row->gpu[i]);
	gv_strbuf_str(b, row->with < -1 ? "?; " : "; ");
}

/* All that came up, with its GPUs and shares. */
static void
comes(struct gv_life *l, const char *want, const char *name)
{
	static const char *const kind[] = {[GV_LIFE_START] = "START",
	    [GV_LIFE_STOP] = "STOP",
	    [GV_LIFE_KILL] = "KILL",
	    [GV_LIFE_ASK] = "ASK",
	    [GV_LIFE_ROUND] = "ROUND",
	    [GV_LIFE_FILL] = "FILL"};
	struct gv_strbuf b = {0};
	struct gv_life_out out;
	size_t i;

	gv_strbuf_str(&b, "");
	while (gv_life_next(l, &out)) {
		if (out.kind == GV_LIFE_ROW) {
			add_row(&b, &out.row);
			continue;
		}
		gv_strbuf_str(&b, kind[out.kind]);
		if (out.row.job != -1)
			gv_strbuf_fmt(&b, " %d", (int)out.row.job);
		for (i = 0; out.kind == GV_LIFE_START && i < out.row.n_gpus; i++)
			gv_strbuf_fmt(&b, " %zu", out.row.gpu[i]);
		gv_strbuf_str(&b, "; ");
	}
	is_str(b.s, want, "%s", name);
	gv_strbuf_free(&b);
}

static void
turn(struct gv_life *l, double now_s)
{
	gv_life_time(l, now_s);
	gv_life_turn(l, true);
}

static void
forget(struct gv_life *l)
{
	struct gv_life_out out;

	while (gv_life_next(l, &out))
		;
}

/* ---- shares ---- */

static void
test_announce(void)
{
	struct world w;
	struct gv_life *l = &w.life;
	size_t pair;

	begin(&w, 2, 1);
	add(&w, 1, .5);
	add(&w, 1, 0);
	add(&w, 1, .25);
	pair = gv_rounds_pair(&l->rounds, 0, 1);
	gv_life_set_share(l, pair, 1, .125);
	gv_life_set_share(l, 2, 1, .75);
	gv_life_arrive(l, 2);
	gv_life_arrive(l, 0);
	forget(l);
	gv_life_announce(l);
	comes(l, "allocate 0 0:0.5; allocate 2 0:0.25; allocate 2 1:0.75; ",
	    "shares are told in the order of numbers, not of a pair of which one is "
	    "there");
	gv_life_announce(l);
	comes(l, "", "once");
	gv_life_arrive(l, 1);
	gv_life_set_share(l, 2, 0, .5);
	gv_life_set_share(l, 2, 0, .25);
	gv_life_set_share(l, 1, 1, 1);
	forget(l);
	gv_life_announce(l);
	comes(l, "allocate 1 1:1; allocate 0+1 1:0.125; ",
	    "those that have changed, and the pair once both are there");
	ok(!l->shares_due && l->n_due == 0, "then none is due");
	gv_life_set_share(l, pair, 1, 0);
	gv_life_set_share(l, 2, 0, 0);
	gv_life_announce(l);
	comes(l, "allocate 2 0:0; allocate 0+1 1:0; ", "jobs before pairs");
	gv_life_free(l);
}

static void
test_wakes(void)
{
	struct world w;
	struct gv_life *l = &w.life;

	begin(&w, 1, 0);
	add(&w, 1, .5);
	add(&w, 2, .5);
	ok(gv_life_wakes_s(l, true) == HUGE_VAL, "nothing to wait for");
	gv_life_arrive(l, 0);
	ok(gv_life_wakes_s(l, true) == 0 && gv_life_wakes_s(l, false) == HUGE_VAL,
	    "a job that comes is planned at once, where planning is possible");
	turn(l, 0);
	gv_life_started(l, 0);
	ok(gv_life_wakes_s(l, true) == 10 && gv_life_wakes_s(l, false) == HUGE_VAL,
	    "then the round ends");
	gv_life_time(l, 3);
	gv_life_set_share(l, 0, 0, .5);
	ok(gv_life_wakes_s(l, true) == 10, "a share that is as before is nothing new");
	gv_life_set_share(l, 1, 0, .75);
	ok(gv_life_wakes_s(l, true) == 10, "nor that of a job that is not there");
	gv_life_set_share(l, 0, 0, .25);
	ok(gv_life_wakes_s(l, true) == 3, "another share is planned with at once");
	turn(l, 3);
	gv_life_left(l, 0, 1);
	gv_life_left(l, 0, 1);
	turn(l, 3);
	gv_life_started(l, 0);
	gv_life_left(l, 0, 1);
	turn(l, 3);
	ok(gv_life_wakes_s(l, true) == 4 && gv_life_wakes_s(l, false) == 4,
	    "a failure is tried again after a second");
	gv_life_time(l, 3.5);
	gv_life_end(l);
	ok(gv_life_wakes_s(l, true) == HUGE_VAL, "at the end there is nothing to do");
	gv_life_free(l);
}

static void
test_renew(void)
{
	struct world w;
	struct gv_life *l = &w.life;

	begin(&w, 1, 0);
	add(&w, 1, .5);
	gv_life_arrive(l, 0);
	turn(l, 0);
	gv_life_started(l, 0);
	turn(l, 4);
	gv_life_renew(l);
	turn(l, 10);
	is_near(gv_rounds_counted(&l->rounds, 0, 0).promised_s, 5, 1e-12,
	    "what is owed counts from the last change");
	l->rounds.order = GV_ROUND_GAVEL;
	gv_life_time(l, 14);
	gv_life_renew(l);
	turn(l, 20);
	is_near(gv_rounds_counted(&l->rounds, 0, 0).promised_s, 3, 1e-12,
	    "Gavel's account from the last answer");
	is_near(gv_rounds_counted(&l->rounds, 0, 0).deficit_s, -7, 1e-12,
	    "and what was owed before is a deficit");
	gv_life_free(l);
}

/* ---- rounds ---- */

static void
test_grid(void)
{
	static const struct {
		double now_s, end_s;
	} at[] = {{3, 13}, {13.5, 23}, {23, 33}, {42.5, 43}, {43, 53}, {63, 73},
	    {82.75, 83}, {95, 105}, {104, 105}};
	struct world w;
	struct gv_life *l = &w.life;
	size_t i;

	begin(&w, 1, 0);
	add(&w, 1, 1);
	gv_life_arrive(l, 0);
	for (i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		turn(l, at[i].now_s);
		ok(l->round_end_s == at[i].end_s, "at %g s the round ends at %g s",
		    at[i].now_s, l->round_end_s);
	}
	is_int(l->round, 7, "late ones are left out");
	gv_life_free(l);
}

/* Two take turns: told to leave, and to start once the GPU is free. */
static void
test_turns(void)
{
	struct world w;
	struct gv_life *l = &w.life;

	begin(&w, 1, 0);
	add(&w, 1, .5);
	add(&w, 1, .5);
	gv_life_arrive(l, 0);
	gv_life_arrive(l, 1);
	turn(l, 0);
	comes(l,
	    "arrive 0; ASK; arrive 1; allocate 0 0:0.5; allocate 1 0:0.5; ROUND; "
	    "START 0 0; ",
	    "the first round");
	ok(!l->settle_due, "what was owed before is settled");
	gv_life_started(l, 0);
	turn(l, 10);
	comes(l, "start 0 0; ROUND; STOP 0; ", "the second round is the other's");
	turn(l, 11);
	comes(l, "", "who waits for the first to leave");
	gv_life_left(l, 0, 143);
	turn(l, 12);
	comes(l, "preempt 0 0; START 1 0; ", "and starts then");
	gv_life_set_share(l, 1, 0, 0);
	turn(l, 20);
	comes(l, "allocate 1 0:0; ROUND; ", "the third comes before it runs");
	gv_life_started(l, 1);
	turn(l, 20);
	comes(l, "start 1 0; STOP 1; FILL; ", "so it stops when it does");
	gv_life_left(l, 1, 143);
	turn(l, 21);
	gv_life_started(l, 0);
	gv_life_set_share(l, 0, 0, 0);
	gv_life_set_share(l, 1, 0, 1);
	turn(l, 30);
	gv_life_left(l, 0, 143);
	turn(l, 31);
	forget(l);
	ok(l->job[1].state == GV_LIFE_STARTING && !l->job[1].unwanted,
	    "and is wanted again in the fourth");
	gv_life_free(l);
}

/* A gang of which one GPU goes away gives up the other one, too, and so can have it again. */
static void
test_away(void)
{
	struct world w;
	struct gv_life *l = &w.life;

	begin(&w, 3, 0);
	add(&w, 2, 1);
	gv_life_arrive(l, 0);
	turn(l, 0);
	gv_life_started(l, 0);
	comes(l, "arrive 0; ASK; allocate 0 0:1; ROUND; START 0 0 1; start 0 0 1; ",
	    "a gang starts");
	gv_life_gpu_away(l, 1, true);
	turn(l, 10);
	comes(l, "ASK; ROUND; STOP 0; ", "a GPU goes away");
	ok(l->plan[0] == 0 && l->plan[1] == GV_GPU_AWAY && l->plan[2] == 0,
	    "it is planned on the others");
	is_int(l->idle[0], 0, "none idles");
	gv_life_left(l, 0, 143);
	turn(l, 11);
	comes(l, "preempt 0 0 1; START 0 0 2; ", "and starts there");
	gv_life_free(l);
}

/* ... and GPUs of others are left alone. */
static void
test_away_others(void)
{
	struct world w;
	struct gv_life *l = &w.life;
	size_t m;

	begin(&w, 4, 0);
	add(&w, 1, 1);
	add(&w, 2, .5);
	for (m = 0; m < 2; m++) {
		gv_life_arrive(l, m);
		turn(l, 0);
		gv_life_started(l, m);
	}
	forget(l);
	ok(l->holder[0] == 0 && l->holder[1] == 1 && l->holder[2] == 1,
	    "a job and a gang");
	gv_life_gpu_away(l, 2, true);
	turn(l, 10);
	comes(l, "ASK; ROUND; STOP 1; ", "the gang moves");
	ok(l->plan[0] == 0 && l->plan[1] == 1 && l->plan[2] == GV_GPU_AWAY &&
		l->plan[3] == 1,
	    "to what is left");
	gv_life_free(l);
}

/* Who is told to leave, and has not yet, stays where it is if it is wanted again. */
static void
test_stays(void)
{
	struct world w;
	struct gv_life *l = &w.life;

	begin(&w, 2, 0);
	add(&w, 1, 1);
	add(&w, 1, 1);
	gv_life_gpu_away(l, 0, true);
	gv_life_arrive(l, 0);
	turn(l, 0);
	gv_life_started(l, 0);
	gv_life_arrive(l, 1);
	gv_life_set_share(l, 0, 0, 0);
	turn(l, 10);
	ok(l->plan[1] == 1 && l->holder[1] == 0, "one leaves for another");
	gv_life_gpu_away(l, 0, false);
	turn(l, 20);
	ok(l->plan[1] == 0 && l->plan[0] == 1, "where there is room for both, it stays");
	gv_life_free(l);
}

/* What a start costs is what it took, or has taken so far; below half a second nothing. */
static void
test_costs(void)
{
	static const struct {
		double first_s, again_s, now_s, cost_s;
	} at[] = {{2, -1, 10, 2}, {.5, -1, 10, .5}, {.25, -1, 10, 0}, {-1, -1, 10, 0},
	    {2, 11, 20, 9}, {2, 19, 20, 2}};
	struct world w;
	struct gv_life *l = &w.life;
	size_t i;

	for (i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		begin(&w, 1, 0);
		add(&w, 1, 1);
		gv_life_arrive(l, 0);
		turn(l, 0);
		gv_life_started(l, 0);
		if (at[i].first_s >= 0) {
			gv_life_time(l, at[i].first_s);
			gv_life_stepped(l, 0);
		}
		turn(l, 10);
		if (at[i].again_s >= 0) {
			gv_life_lost(l, 0, "");
			turn(l, at[i].again_s);
			gv_life_started(l, 0);
			turn(l, at[i].now_s);
		}
		ok(l->rounds.job[0].move_s == at[i].cost_s, "to move it costs %g s",
		    l->rounds.job[0].move_s);
		gv_life_free(l);
	}
}

/* ---- within a round ---- */

/* Whoever leaves is given an idle GPU, also where nobody else waits. */
static void
test_leaving(bool waits)
{
	struct world w;
	struct gv_life *l = &w.life;

	begin(&w, 1, 0);
	add(&w, 1, .25);
	add(&w, 1, .5);
	add(&w, 2, 0);
	gv_life_arrive(l, 0);
	turn(l, 0);
	gv_life_started(l, 0);
	gv_life_arrive(l, 1);
	gv_rounds_claim(&l->rounds, 2, 0)->rate = 0;
	turn(l, 30);
	forget(l);
	ok(l->plan[0] == 1 && l->job[0].state == GV_LIFE_STOPPING,
	    "one leaves for another");
	if (waits)
		gv_life_enter(l, 2, GV_LIFE_WAITING);
	gv_life_cancel(l, 1);
	forget(l);
	turn(l, 31);
	comes(
	    l, "FILL; ", waits ? "who is cancelled, and one waits" : "who is cancelled");
	ok(l->plan[0] == 0, "the GPU is planned for the first again");
	gv_life_left(l, 0, 143);
	turn(l, 32);
	comes(l, "preempt 0 0; START 0 0; ", "and it starts as soon as it has left");
	gv_life_free(l);
}

/* Who leaves for good, or is held, is given none. */
static void
test_leaving_for_good(bool held)
{
	struct world w;
	struct gv_life *l = &w.life;

	begin(&w, 2, 0);
	add(&w, 1, 1);
	add(&w, 1, .5);
	gv_life_arrive(l, 0);
	turn(l, 0);
	gv_life_started(l, 0);
	gv_life_gpu_away(l, 0, true);
	gv_life_gpu_away(l, 1, true);
	turn(l, 20);
	forget(l);
	ok(l->job[0].state == GV_LIFE_STOPPING, "no GPU is left for a job");
	if (held)
		gv_life_hold(l, 0, "");
	else
		gv_life_cancel(l, 0);
	gv_life_arrive(l, 1);
	gv_life_gpu_away(l, 1, false);
	forget(l);
	turn(l, 20);
	comes(l, "allocate 1 0:0.5; FILL; START 1 1; ",
	    held ? "one that is held leaves a GPU to others"
		 : "one that is cancelled leaves a GPU to others");
	gv_life_free(l);
}

/* The GPU that one shall move to goes away before it has left: it has another one at once. */
static void
test_goes_away(void)
{
	struct world w;
	struct gv_life *l = &w.life;

	begin(&w, 1, 1);
	add(&w, 1, 1);
	gv_life_arrive(l, 0);
	turn(l, 0);
	gv_life_started(l, 0);
	gv_life_set_share(l, 0, 0, 0);
	gv_life_set_share(l, 0, 1, 1);
	turn(l, 10);
	forget(l);
	ok(l->plan[1] == 0 && l->job[0].state == GV_LIFE_STOPPING, "a job moves");
	gv_life_gpu_away(l, 1, true);
	turn(l, 11);
	gv_life_left(l, 0, 143);
	turn(l, 12);
	comes(l, "ASK; FILL; preempt 0 0; FILL; START 0 0; ", "and stays after all");
	gv_life_free(l);
}

/* A launch that could not be made lets others wait, too. */
static void
test_pause(void)
{
	struct world w;
	struct gv_life *l = &w.life;

	begin(&w, 2, 0);
	add(&w, 1, 1);
	add(&w, 1, 1);
	gv_life_arrive(l, 0);
	turn(l, 0);
	gv_life_not_started(l, 0);
	turn(l, .25);
	gv_life_not_started(l, 0);
	gv_life_arrive(l, 1);
	forget(l);
	turn(l, .5);
	comes(l, "allocate 1 0:1; FILL; ", "none is started soon after a refusal");
	turn(l, .75);
	comes(l, "FILL; START 1 0; START 0 1; ", "and then all are");
	gv_life_free(l);
}

/* ---- pairs ---- */

static void
test_pair(void)
{
	struct world w;
	struct gv_life *l = &w.life;
	struct gv_round_claim *c;
	size_t pair;

	begin(&w, 2, 0);
	add(&w, 2, 0);
	add(&w, 2, 0);
	pair = gv_rounds_pair(&l->rounds, 0, 1);
	c = gv_rounds_claim(&l->rounds, pair, 0);
	c->rate = c->with_rate = 1;
	gv_life_set_share(l, pair, 0, 1);
	gv_life_arrive(l, 0);
	gv_life_arrive(l, 1);
	turn(l, 0);
	comes(l,
	    "arrive 0; ASK; arrive 1; allocate 0+1 0:1; ROUND; START 0 0 1; START 1 0 "
	    "1; ",
	    "both of a pair start on the same GPUs");
	gv_life_started(l, 0);
	gv_life_started(l, 1);
	comes(l, "start 0 0 1; start 1+0 0 1; ", "one beside the other");
	gv_life_lost(l, 0, "");
	turn(l, 5);
	comes(l, "preempt 0 0 1; FILL; START 0 0 1; ", "and the first comes back to it");
	gv_life_started(l, 0);
	comes(l, "resume 0+1 0 1; ", "beside the second");
	gv_life_lost(l, 1, "");
	turn(l, 6);
	comes(l, "preempt 1 0 1; FILL; START 1 0 1; ", "as the second does");
	gv_life_free(l);
}

int
main(void)
{
	test_announce();
	test_wakes();
	test_renew();
	test_grid();
	test_turns();
	test_away();
	test_away_others();
	test_stays();
	test_costs();
	test_leaving(true);
	test_leaving(false);
	test_leaving_for_good(true);
	test_leaving_for_good(false);
	test_goes_away();
	test_pause();
	test_pair();
	return done_testing();
}
