/*
 * zb-h1 against the best of all orders in which no stage ever holds more micro-batches than
 * 1f1b's first one: a breadth-first search over everything that the stages can do, tick by
 * tick.  Micro-batches are alike, so they keep their order.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "plan/simulate.h"
#include "tap.h"

enum { STAGES = 3, STATES = 1 << 22 };

struct stage_state {
	unsigned char begun[3]; /* forward, backward, weight passes */
	unsigned char op, left; /* the one that runs, and its ticks to go; left 0 none */
};

struct state {
	struct stage_state stage[STAGES];
};

struct search {
	size_t p, m;
	int ticks[3]; /* of a forward, a backward, a weight pass */
	size_t n, next_n;
	struct state *now, *next;
	unsigned *seen; /* [STATES] a hash table of next: index + 1 */
};

static size_t
done(const struct stage_state *s, size_t op)
{
	return s->begun[op] - (s->left > 0 && s->op == op);
}

static bool
can_begin(const struct search *x, const struct state *s, size_t k, size_t op)
{
	const struct stage_state *g = &s->stage[k];

	if (g->begun[op] == x->m)
		return false;
	if (op == 0)
		return (k == 0 || done(&s->stage[k - 1], 0) > g->begun[0]) &&
		       g->begun[0] - done(g, 2) < x->p;
	if (op == 1)
		return g->begun[1] < done(g, 0) &&
		       (k + 1 == x->p || done(&s->stage[k + 1], 1) > g->begun[1]);
	return g->begun[2] < done(g, 1);
}

static void
keep(struct search *x, const struct state *s)
{
	const unsigned char *bytes = (const unsigned char *)s;
	unsigned hash = 2166136261U;
	size_t i;

	for (i = 0; i < sizeof(*s); i++)
		hash = (hash ^ bytes[i]) * 16777619U;
	for (i = hash % STATES; x->seen[i] != 0; i = (i + 1) % STATES)
		if (memcmp(&x->next[x->seen[i] - 1], s, sizeof(*s)) == 0)
			return;
	x->next[x->next_n++] = *s;
	x->seen[i] = (unsigned)x->next_n;
}

/* All that the stages from k on can begin; then a tick passes. */
static void
begin(struct search *x, struct state *s, size_t k, const struct state *before)
{
	struct state later;
	size_t op, i;

	if (k == x->p) {
		later = *s;
		for (i = 0; i < x->p; i++)
			later.stage[i].left -= later.stage[i].left > 0;
		for (i = 0; i < x->p; i++)
			if (later.stage[i].left == 0)
				later.stage[i].op = 0;
		keep(x, &later);
		return;
	}
	begin(x, s, k + 1, before);
	if (s->stage[k].left > 0)
		return;
	for (op = 0; op < 3; op++) {
		struct stage_state old = s->stage[k];

		if (!can_begin(x, before, k, op))
			continue;
		s->stage[k].begun[op]++;
		s->stage[k].op = (unsigned char)op;
		s->stage[k].left = (unsigned char)x->ticks[op];
		begin(x, s, k + 1, before);
		s->stage[k] = old;
	}
}

static bool
finished(const struct search *x, const struct state *s)
{
	size_t k;

	for (k = 0; k < x->p; k++)
		if (done(&s->stage[k], 2) < x->m)
			return false;
	return true;
}

/* Ticks until all is done, at best. */
static int
best_of_all(size_t p, size_t m, const int ticks[3])
{
	struct search x = {.p = p, .m = m};
	struct state *swap;
	int t = 0;
	size_t i;

	memcpy(x.ticks, ticks, sizeof(x.ticks));
	x.now = gv_xcalloc(STATES, sizeof(*x.now));
	x.next = gv_xcalloc(STATES, sizeof(*x.next));
	x.seen = gv_xcalloc(STATES, sizeof(*x.seen));
	x.n = 1;
	for (;; t++) {
		for (i = 0; i < x.n && !finished(&x, &x.now[i]); i++)
			;
		if (i < x.n)
			break;
		memset(x.seen, 0, STATES * sizeof(*x.seen));
		x.next_n = 0;
		for (i = 0; i < x.n; i++) {
			struct state s = x.now[i];

			begin(&x, &s, 0, &x.now[i]);
		}
		swap = x.now;
		x.now = x.next;
		x.next = swap;
		x.n = x.next_n;
	}
	free(x.now);
	free(x.next);
	free(x.seen);
	return t;
}

static double
ours(size_t p, size_t m, const int ticks[3])
{
	struct gv_pipe_stage stage[STAGES];
	struct gv_pipe pipe = {.n = p,
	    .stage = stage,
	    .schedule = GV_SCHEDULE_ZB_H1,
	    .chunks = 1,
	    .micro_batches = m,
	    .batch = m};
	struct gv_timetable t;
	double end;
	size_t k;

	for (k = 0; k < p; k++)
		stage[k] = (struct gv_pipe_stage){.replicas = 1,
		    .forward_s = ticks[0],
		    .backward_s = ticks[1],
		    .weight_s = ticks[2]};
	gv_timetable_make(&t, &pipe);
	end = gv_simulate(&t, &pipe);
	gv_timetable_free(&t);
	return end;
}

/* ---- memory ---- */

/* The most that a GPU holds as it goes through its steps. */
static double
peak(const struct gv_pipe *p, const struct gv_lane *lane)
{
	const struct gv_pipe_stage *s = &p->stage[lane->place];
	double stashes = 0, working = 0, most = 0;
	size_t i;

	for (i = 0; i < lane->n; i++) {
		stashes += lane->step[i].op == GV_STEP_FORWARD;
		working += lane->step[i].op == GV_STEP_BACKWARD;
		most = fmax(most, stashes * s->stash + working * s->working);
		stashes -= lane->step[i].op == GV_STEP_WEIGHT;
		working -= lane->step[i].op == GV_STEP_WEIGHT;
	}
	return (2 + p->state) * s->parameter + most;
}

static bool
same_order(const struct gv_lane *a, const struct gv_lane *b)
{
	size_t i;

	if (a->n != b->n)
		return false;
	for (i = 0; i < a->n; i++)
		if (a->step[i].op != b->step[i].op ||
		    a->step[i].micro_batch != b->step[i].micro_batch)
			return false;
	return true;
}

/*
 * A GPU puts off as many gradients as fit: no limit that it can keep is passed, one more
 * would pass it, and a large one changes nothing; one that it cannot keep makes it hold the
 * least that it can.
 */
static void
test_memory(void)
{
	size_t k, i, passed = 0, idle = 0, changed = 0, more = 0, limited = 0;
	uint64_t n = 0;

	for (k = 0; k < 400; k++) {
		struct gv_pipe_stage stage[6];
		struct gv_pipe p = {.n = 2 + k % 5,
		    .stage = stage,
		    .schedule = GV_SCHEDULE_ZB_H1,
		    .chunks = 1,
		    .micro_batches = 1 + k / 5 % 12,
		    .state = (double)(k % 3)};
		struct gv_timetable none, tight, some, enough;

		p.batch = p.micro_batches;
		for (i = 0; i < p.n; i++) {
			stage[i] = (struct gv_pipe_stage){.replicas = 1,
			    .forward_s = 1,
			    .backward_s = 1,
			    .weight_s = 1};
			stage[i].parameter =
			    1 + floor(9 * gv_random_uniform(3, 0, 0, n++));
			stage[i].stash = 1 + floor(9 * gv_random_uniform(3, 0, 0, n++));
			stage[i].working = floor(9 * gv_random_uniform(3, 0, 0, n++));
		}
		gv_timetable_make(&none, &p);
		for (i = 0; i < p.n; i++)
			stage[i].memory = 1e-9; /* of any stage too little */
		gv_timetable_make(&tight, &p);
		for (i = 0; i < p.n; i++) {
			double low = peak(&p, &tight.lane[i]),
			       high = peak(&p, &none.lane[i]);

			more += low > high;
			limited += low < high;
			stage[i].memory =
			    low + floor((high - low) * gv_random_uniform(3, 0, 0, n++));
		}
		gv_timetable_make(&some, &p);
		for (i = 0; i < p.n; i++) {
			double held = peak(&p, &some.lane[i]);

			passed += held > stage[i].memory;
			idle +=
			    p.micro_batches > 2 * p.n &&
			    !same_order(&some.lane[i], &none.lane[i]) &&
			    held + stage[i].stash + stage[i].working <= stage[i].memory;
			stage[i].memory = 1e6;
		}
		gv_timetable_make(&enough, &p);
		for (i = 0; i < p.n; i++)
			changed += !same_order(&enough.lane[i], &none.lane[i]);
		gv_timetable_free(&none);
		gv_timetable_free(&tight);
		gv_timetable_free(&some);
		gv_timetable_free(&enough);
	}
	is_int(passed, 0, "zb-h1 keeps the memory that there is");
	is_int(idle, 0, "and leaves none that one more would fit into");
	is_int(changed, 0, "puts off all that it would where there is enough");
	ok(more == 0 && limited > 300, "and less where there is not (%zu)", limited);
}

int
main(void)
{
	static const struct {
		size_t p, m;
		int ticks[3];
	} row[] = {{2, 2, {1, 1, 1}}, {2, 4, {1, 1, 1}}, {2, 4, {2, 2, 1}},
	    {2, 4, {2, 3, 1}}, {2, 4, {3, 3, 2}}, {2, 4, {1, 1, 2}}, {2, 4, {2, 1, 1}},
	    {2, 5, {3, 2, 2}}, {3, 3, {1, 1, 1}}, {3, 5, {1, 1, 1}}, {3, 4, {2, 2, 1}},
	    {3, 4, {1, 1, 2}}, {3, 4, {1, 2, 1}}};
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		int best = best_of_all(row[i].p, row[i].m, row[i].ticks);
		double got = ours(row[i].p, row[i].m, row[i].ticks);

		ok(got == best,
		    "p=%zu m=%zu F=%d B=%d W=%d: zb-h1 %g, the best of all orders %d",
		    row[i].p, row[i].m, row[i].ticks[0], row[i].ticks[1], row[i].ticks[2],
		    got, best);
	}
	test_memory();
	return done_testing();
}
