/*
 * Cutting planes (price/kelley.c) alone: what they call answers as drawn here, with many values
 * that are just at a limit; what is called, how often, and which end it takes, is what it was.
 */
#include "recorded.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/mem.h"
#include "draws.h"
#include "alloc/price/dual_state.h"
#include "lp/tolerance.h"

static struct gv_cut *next_cut(struct gv_dual_state *w, const double *capacity_price);
static double evaluate(struct gv_dual_state *w, const struct gv_cut *cut);
static void note_bound(struct gv_dual_state *w, const struct gv_cut *cut, double bound);
static void note_mixture(struct gv_dual_state *w);
static bool has_to_end(struct gv_dual_state *w);
static bool spent(const struct gv_dual_state *w);
static double tolerance(const struct gv_dual_state *w);
static bool shrink(struct gv_dual_state *w, int *rc);
static const struct gv_oracle_jobs *free_jobs(const struct gv_dual_state *w);
static void forget_cuts(struct gv_dual *d);
static void master_init(
    struct gv_price_master *p, size_t m, bool gains, const double *lo, const double *hi);
static void master_add(struct gv_price_master *p, const double *used, double gain);
static int master_solve(struct gv_price_master *p);
static void master_free(struct gv_price_master *p);

#define gv_dual_next_cut      next_cut
#define gv_dual_evaluate      evaluate
#define gv_dual_note_bound    note_bound
#define gv_dual_note_mixture  note_mixture
#define gv_dual_has_to_end    has_to_end
#define gv_dual_spent         spent
#define gv_dual_tolerance     tolerance
#define gv_dual_shrink        shrink
#define gv_dual_free_jobs     free_jobs
#define gv_dual_forget_cuts   forget_cuts
#define gv_price_master_init  master_init
#define gv_price_master_add   master_add
#define gv_price_master_solve master_solve
#define gv_price_master_free  master_free
#include "../../common/alloc/price/kelley.c"

enum { TYPES = 3 };

/* How it goes on. */
enum course {
	COURSE_ANY,
	COURSE_STILL, /* nothing moves */
	COURSE_LOWER, /* the bound goes down */
	COURSE_UP,    /* the level goes up */
	COURSE_TURNS, /* the master's objective goes up and down by next to nothing */
	COURSES
};

static struct {
	struct recorded *r;
	enum course course;
	size_t n_jobs, steps;
	double tolerance, turn;
	size_t end_at, spent_at, fails_at; /* steps */
	size_t shrinks;                    /* once in so many times; 0: never */
} at;

static struct gv_cut *
next_cut(struct gv_dual_state *w, const double *capacity_price)
{
	static struct gv_cut cut;

	recorded_text(at.r, "cut");
	recorded_doubles(at.r, capacity_price, TYPES);
	recorded_double(at.r, w->d->level);
	at.steps++;
	return &cut;
}

static double
evaluate(struct gv_dual_state *w, const struct gv_cut *cut)
{
	recorded_whole(at.r, cut != NULL);
	w->demand.gain = (double)below(4);
	return (double)below(4);
}

static void
note_bound(struct gv_dual_state *w, const struct gv_cut *cut, double bound)
{
	recorded_whole(at.r, cut != NULL);
	recorded_double(at.r, bound);
	if (at.course == COURSE_LOWER)
		w->d->bound = 2 + ldexp(1, -(int)at.steps);
	else if (at.course == COURSE_ANY && below(4) == 0)
		w->d->bound = (double)below(3);
}

/* Prices at a border, just as near as counts, or between. */
static void
draw_prices(struct gv_dual_state *w)
{
	const struct gv_price_box *b = &w->box;
	size_t j;

	for (j = 0; j < TYPES; j++) {
		const double near = GV_TOL_BORDER * (b->hi[j] - b->lo[j]);
		const double q[] = {b->lo[j] + near, b->hi[j] - near,
		    b->lo[j] + 1.5 * near, b->hi[j] - 1.5 * near};

		w->master.price[j] =
		    below(3) == 0 ? q[below(4)] : (b->hi[j] + b->lo[j]) / 2;
	}
}

static void
note_mixture(struct gv_dual_state *w)
{
	static const double times[] = {0, 1, 1.5, 2, 100, 101, 128, 4096};
	struct gv_dual *d = w->d;

	if (at.course == COURSE_ANY)
		d->level = d->bound - times[below(8)] * at.tolerance;
	if (at.course == COURSE_UP)
		d->level = -1 - ldexp(1, -(int)at.steps);
}

static bool
has_to_end(struct gv_dual_state *w)
{
	recorded_whole(at.r, w->near_end);
	return at.steps >= at.end_at;
}

static bool
spent(const struct gv_dual_state *w)
{
	recorded_double(at.r, w->d->level);
	return at.steps >= at.spent_at;
}

static double
tolerance(const struct gv_dual_state *w)
{
	return at.course == COURSE_ANY && w->d->bound > 0 ? at.tolerance : -1;
}

static bool
shrink(struct gv_dual_state *w, int *rc)
{
	recorded_text(at.r, "shrink");
	if (at.shrinks == 0 || at.steps % at.shrinks != 0 || at.steps > 20)
		return false;
	draw_prices(w);
	*rc = below(20) == 0;
	return true;
}

static const struct gv_oracle_jobs *
free_jobs(const struct gv_dual_state *w)
{
	static struct gv_oracle_jobs jobs;

	jobs.m = w->d->m;
	jobs.n = at.n_jobs;
	return &jobs;
}

static void
forget_cuts(struct gv_dual *d)
{
	recorded_text(at.r, "forget");
	d->n_cuts = 0;
}

static void
master_init(
    struct gv_price_master *p, size_t m, bool gains, const double *lo, const double *hi)
{
	recorded_whole(at.r, gains);
	recorded_doubles(at.r, lo, m);
	recorded_doubles(at.r, hi, m);
	p->effort = NULL;
}

static void
master_add(struct gv_price_master *p, const double *used, double gain)
{
	recorded_text(at.r, p != NULL ? "add" : "");
	recorded_doubles(at.r, used, TYPES);
	recorded_double(at.r, gain);
}

static int
master_solve(struct gv_price_master *p)
{
	static const double excess[] = {0, GV_TOL_BEYOND, 2 * GV_TOL_BEYOND};
	struct gv_dual_state *w =
	    (struct gv_dual_state *)(void *)((char *)p -
					     offsetof(struct gv_dual_state, master));

	recorded_text(at.r, "solve");
	draw_prices(w);
	p->excess = excess[below(8) % 3];
	if (at.course == COURSE_ANY && below(3) == 0)
		p->objective = -1 / (1 + (double)below(3));
	if (at.course == COURSE_TURNS)
		p->objective = -4 + (at.steps % 2 == 0 ? 0 : at.turn);
	return at.steps >= at.fails_at && below(2) == 0;
}

static void
master_free(struct gv_price_master *p)
{
	recorded_text(at.r, p != NULL ? "free" : "");
}

/* Used, and capacities, of a solution that is known. */
static void
draw_incumbent(double *used, double *capacity)
{
	size_t j;

	for (j = 0; j < TYPES; j++) {
		capacity[j] = (double)below(3);
		used[j] = (double)below(4);
	}
}

static void
ask(struct recorded *r, size_t k)
{
	static const size_t jobs[] = {511, 512, 513, 4000};
	double lo[TYPES], hi[TYPES], price[TYPES], part[TYPES] = {0}, used[TYPES],
						   capacity[TYPES], effort = 1;
	struct gv_dual d = {.m = TYPES, .bound = (double)below(3)};
	const struct gv_dual_problem problem = {.capacity = capacity,
	    .gains = k % 2 == 1,
	    .gap = below(2) == 0 ? 0 : ldexp(1, -20),
	    .incumbent_used = below(2) == 0 ? used : NULL,
	    .incumbent_gain = 3,
	    .effort = &effort};
	struct gv_dual_state w = {.d = &d,
	    .problem = &problem,
	    .box = {lo, NULL, hi, below(4) == 0},
	    .has_master = below(2) == 0,
	    .part = part};
	size_t j;

	draw_incumbent(used, capacity);
	for (j = 0; j < TYPES; j++) {
		lo[j] = below(2) == 0 ? 0 : .25;
		hi[j] = 1 + (double)below(2);
	}
	w.master.price = price;
	w.least_level = (double)below(3);
	at.course = (enum course)(k / 2 % COURSES);
	at.n_jobs = jobs[below(4)];
	at.steps = 0;
	at.tolerance = ldexp(1, -20);
	at.end_at = below(3) == 0 ? below(40) : SIZE_MAX;
	at.spent_at = below(3) == 0 ? below(40) : SIZE_MAX;
	at.fails_at = below(3) == 0 ? below(40) : SIZE_MAX;
	at.shrinks = below(5);
	at.turn = ldexp(1e-12, (int)below(5));
	w.master.objective = -2 * (double)below(2);
	draw_prices(&w);
	if (below(8) == 0)
		d.bound = d.level = w.master.objective = 0;
	gv_dual_start_master(&w);
	recorded_whole(r, w.has_master);
	recorded_whole(r, w.master.effort == &effort);
	recorded_whole(r, gv_dual_kelley(&w, hi));
	recorded_whole(r, w.near_end);
	recorded_whole(r, (long long)at.steps);
}

int
main(void)
{
	struct recorded r;
	size_t k, part;

	recorded_open(&r);
	at.r = &r;
	for (part = 0; part < 40; part++) {
		draws_begin(7, (uint32_t)part, 0);
		for (k = 0; k < 200; k++)
			ask(&r, k);
		recorded_answer(&r, "searches %zu", part);
	}
	recorded_close(&r);
	return done_testing();
}
