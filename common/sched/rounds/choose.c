/* Who runs next: those in debt, then the placement that serves most of what is owed, then the rest. */
#include "sched/rounds/choose.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sched/rounds/search.h"
#include "sched/rounds/view.h"

/* A wish to run, in the order of a queue. */
struct turn {
	ptrdiff_t rank; /* smaller first */
	double key;     /* larger first */
	double second;  /* larger first */
	double share;   /* larger first */
	size_t job;
	size_t type;
};

/* ---- what is chosen ---- */

void
gv_round_choice_init(struct gv_round_choice *c, const struct gv_rounds *r)
{
	size_t m;

	c->room = gv_xcalloc(r->n_types + 1, sizeof(*c->room));
	c->type = gv_xcalloc(r->n_jobs + 1, sizeof(*c->type));
	c->as = gv_xcalloc(r->n_jobs + 1, sizeof(*c->as));
	for (m = 0; m < r->n_jobs; m++)
		c->type[m] = c->as[m] = -1;
}

void
gv_round_choice_free(struct gv_round_choice *c)
{
	free(c->room);
	free(c->type);
	free(c->as);
}

static bool
may_run(const struct gv_rounds *r, size_t m)
{
	const size_t *member = r->job[m].member;

	return gv_rounds_is_active(r, m) && r->job[member[0]].ready &&
	       r->job[member[1]].ready;
}

static bool
can_run_on(const struct gv_rounds *r, size_t m, size_t type)
{
	const struct gv_round_claim *c = gv_rounds_claim(r, m, type);

	return c->rate > 0 && (!gv_rounds_is_pair(r, m) || c->with_rate > 0);
}

bool
gv_round_fits(
    const struct gv_rounds *r, const struct gv_round_choice *c, size_t m, size_t type)
{
	const size_t *member = r->job[m].member;

	return may_run(r, m) && c->as[member[0]] < 0 && c->as[member[1]] < 0 &&
	       can_run_on(r, m, type) && r->job[m].gang <= c->room[type];
}

void
gv_round_run(const struct gv_rounds *r, struct gv_round_choice *c, size_t m, size_t type)
{
	const size_t *member = r->job[m].member;

	c->type[m] = (ptrdiff_t)type;
	c->as[member[0]] = c->as[member[1]] = (ptrdiff_t)m;
}

void
gv_round_take(const struct gv_rounds *r, struct gv_round_choice *c, size_t m, size_t type)
{
	gv_round_run(r, c, m, type);
	c->room[type] -= r->job[m].gang;
}

/* ---- queues ---- */

static int
in_queue(const void *a, const void *b)
{
	const struct turn *x = a;
	const struct turn *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->key != y->key)
		return x->key > y->key ? -1 : 1;
	if (x->second != y->second)
		return x->second > y->second ? -1 : 1;
	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	if (x->job != y->job)
		return x->job < y->job ? -1 : 1;
	return x->type < y->type ? -1 : x->type > y->type;
}

/* Those that fit, one after another. */
static void
serve(const struct gv_rounds *r, struct gv_round_choice *c, struct turn *turn, size_t n)
{
	size_t i;

	qsort(turn, n, sizeof(*turn), in_queue);
	for (i = 0; i < n; i++)
		if (gv_round_fits(r, c, turn[i].job, turn[i].type))
			gv_round_take(r, c, turn[i].job, turn[i].type);
}

/* ---- by what is owed ---- */

/* L_mj + X_mj r in rounds: what is owed at the end of the round, and more; 0 = nothing. */
static double
owed_rounds(const struct gv_rounds *r, const struct gv_round_claim *k, double more)
{
	double owed = k->share > 0 ? k->lag_s / r->round_s + k->share + more : 0;

	return owed > 1e-9 ? owed : 0; /* less is rounding */
}

/* Who is owed GV_ROUND_DEBT rounds, the longest waiting first. */
static void
choose_debtors(const struct gv_rounds *r, struct gv_round_choice *c, struct turn *turn)
{
	size_t n = 0;
	size_t m;
	size_t j;

	for (m = 0; m < r->n_jobs; m++)
		for (j = 0; j < r->n_types; j++) {
			const struct gv_round_claim *k = gv_rounds_claim(r, m, j);

			if (owed_rounds(r, k, 0) >= GV_ROUND_DEBT &&
			    gv_round_fits(r, c, m, j))
				turn[n++] = (struct turn){.key = k->waited_s,
				    .share = k->share,
				    .job = m,
				    .type = j};
		}
	serve(r, c, turn, n);
}

/* What moving it from GPUs that it holds there counts, in rounds. */
static double
lease_rounds(const struct gv_rounds *r, size_t m, size_t j)
{
	const size_t *member = r->job[m].member;
	double cost_s = fmax(r->job[member[0]].move_s, r->job[member[1]].move_s);

	return r->job[m].held == (ptrdiff_t)j ? GV_ROUND_LEASE * cost_s / r->round_s : 0;
}

/*
 * MaxWeight, with the cube of what is owed: of 10,000 clusters the worst shortfall after 20
 * rounds is 12.9 points with the first power, 9.3 with the second, 8.8 with the third and
 * 9.2 with the fourth.
 */
static void
choose_owed(const struct gv_rounds *r, struct gv_round_choice *c)
{
	struct gv_round_wish *wish =
	    gv_xcalloc(r->n_jobs * r->n_types + 1, sizeof(*wish));
	bool *taken;
	size_t n = 0;
	size_t i;
	size_t m;
	size_t j;

	for (m = 0; m < r->n_jobs; m++)
		for (j = 0; j < r->n_types; j++) {
			double owed = owed_rounds(
			    r, gv_rounds_claim(r, m, j), lease_rounds(r, m, j));

			if (owed > 0 && gv_round_fits(r, c, m, j))
				wish[n++] =
				    (struct gv_round_wish){owed * owed * owed, m, j};
		}
	taken = gv_xcalloc(n + 1, sizeof(*taken));
	gv_round_search(r, c->room, wish, n, taken);
	for (i = 0; i < n; i++)
		if (taken[i])
			gv_round_take(r, c, wish[i].job, wish[i].type);
	free(wish);
	free(taken);
}

/* ---- by Gavel's priorities ---- */

/*
 * X_mj / f_mj, where f is the part that it has had of all time on the type since shares
 * were new.  The sum in f is the same for all on a type, so it does not change their order.
 */
static double
priority(const struct gv_rounds *r, const struct gv_round_claim *k)
{
	return k->share / (k->since_s + r->round_s / 2);
}

/*
 * Type after type: in falling order of priority, then of deficit.  Those without a
 * share come last, before the next type has its turn, and so may miss what it would
 * have given them: that is how the published curves were made.
 */
static void
choose_gavel(const struct gv_rounds *r, struct gv_round_choice *c, struct turn *turn)
{
	size_t m;
	size_t i;

	for (i = 0; i < r->n_types; i++) {
		size_t j = r->turn[i];
		size_t n = 0;

		for (m = 0; m < r->n_jobs; m++) {
			const struct gv_round_claim *k = gv_rounds_claim(r, m, j);

			if ((k->share > 0 || (!r->strict && !gv_rounds_is_pair(r, m))) &&
			    gv_round_fits(r, c, m, j))
				turn[n++] = (struct turn){.key = priority(r, k),
				    .second = k->deficit_s,
				    .share = k->share,
				    .job = m,
				    .type = j};
		}
		serve(r, c, turn, n);
	}
}

/* ---- what is left over ---- */

/* The largest rate of a job alone; 1 if it has none. */
static double
alone(const struct gv_rounds *r, size_t m)
{
	double best = 0;
	size_t j;

	for (j = 0; j < r->n_types; j++)
		if (gv_rounds_claim(r, m, j)->rate > best)
			best = gv_rounds_claim(r, m, j)->rate;
	return best > 0 ? best : 1;
}

/* How fast a type is to it; of a pair, as parts of what each has at best alone. */
static double
speed(const struct gv_rounds *r, size_t m, size_t j)
{
	const struct gv_round_claim *c = gv_rounds_claim(r, m, j);
	const size_t *member = r->job[m].member;

	if (!gv_rounds_is_pair(r, m))
		return c->rate;
	return c->rate / alone(r, member[0]) + c->with_rate / alone(r, member[1]);
}

static size_t
fastest(const struct gv_rounds *r, const struct gv_round_choice *c, size_t m)
{
	size_t best = r->n_types;
	size_t j;

	for (j = 0; j < r->n_types; j++)
		if (gv_round_fits(r, c, m, j) &&
		    (best == r->n_types || speed(r, m, j) > speed(r, m, best)))
			best = j;
	return best;
}

/* Pass 2: what is left over, to the least served job on its fastest type. */
static void
choose_rest(const struct gv_rounds *r, struct gv_round_choice *c, struct turn *turn)
{
	size_t n = 0;
	size_t m;
	size_t j;
	size_t i;

	for (m = 0; m < r->n_jobs; m++) {
		struct turn w = {.job = m};

		if (!may_run(r, m) || c->as[m] >= 0)
			continue;
		for (j = 0; j < r->n_types; j++) {
			const struct gv_round_claim *k = gv_rounds_claim(r, m, j);

			w.share += k->share;
			w.key += k->lag_s;
		}
		w.rank =
		    w.share > 0 ? 0 : 1; /* those that were promised nothing come last */
		if (w.share > 0 || (!r->strict && !gv_rounds_is_pair(r, m)))
			turn[n++] = w;
	}
	qsort(turn, n, sizeof(*turn), in_queue);
	for (i = 0; i < n; i++) {
		size_t best = fastest(r, c, turn[i].job);

		if (best < r->n_types)
			gv_round_take(r, c, turn[i].job, best);
	}
}

static struct turn *
turns(const struct gv_rounds *r)
{
	return gv_xcalloc(r->n_jobs * r->n_types + r->n_jobs + 1, sizeof(struct turn));
}

void
gv_round_choose_promised(const struct gv_rounds *r, struct gv_round_choice *c)
{
	struct turn *turn = turns(r);

	if (r->order == GV_ROUND_GAVEL) {
		choose_gavel(r, c, turn);
	} else {
		choose_debtors(r, c, turn);
		choose_owed(r, c);
	}
	free(turn);
}

void
gv_round_choose_rest(const struct gv_rounds *r, struct gv_round_choice *c)
{
	struct turn *turn = turns(r);

	choose_rest(r, c, turn);
	free(turn);
}

void
gv_round_choose(const struct gv_rounds *r, struct gv_round_choice *c)
{
	gv_round_choose_promised(r, c);
	gv_round_choose_rest(r, c);
}

/* ---- the order of one among many ---- */

bool
gv_round_rank_promised(
    const struct gv_rounds *r, size_t m, size_t type, struct gv_round_rank *rank)
{
	const struct gv_round_claim k = gv_rounds_counted(r, m, type);
	double owed = owed_rounds(r, &k, 0);

	if (r->order == GV_ROUND_GAVEL) {
		*rank = (struct gv_round_rank){{priority(r, &k), k.deficit_s, k.share}};
		return k.share > 0 || !r->strict;
	}
	if (owed >= GV_ROUND_DEBT) /* before all others, the longest waiting first */
		owed += k.waited_s;
	*rank = (struct gv_round_rank){{owed, k.share, 0}};
	return owed > 0;
}

bool
gv_round_rank_rest(const struct gv_rounds *r, size_t m, struct gv_round_rank *rank)
{
	double lag = 0;
	double share = 0;
	size_t j;

	for (j = 0; j < r->n_types; j++) {
		const struct gv_round_claim k = gv_rounds_counted(r, m, j);

		lag += k.lag_s;
		share += k.share;
	}
	*rank = (struct gv_round_rank){{share > 0, lag, share}};
	return share > 0 || !r->strict;
}
