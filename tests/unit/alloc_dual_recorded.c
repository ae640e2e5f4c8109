/*
 * The order of steps of a search for prices (price/dual.c) alone: boxes, cutting planes and fixed
 * jobs answer as drawn here, with many values just at a limit; what is asked of them, and which
 * way it goes, is what it was.
 */
#include "recorded.h"

#include <stdlib.h>

#include "base/mem.h"
#include "draws.h"
#include "alloc/price/dual_state.h"

static enum gv_dual_end boxstep(struct gv_dual_state *w, double part, double least);
static enum gv_dual_end kelley(struct gv_dual_state *w, const double *capacity_price);
static void start_prices(struct gv_dual_state *w);
static void restart(struct gv_dual_state *w, double bound);
static void start_master(struct gv_dual_state *w);
static bool fix(struct gv_dual_state *w, double window);
static bool holds(struct gv_dual_state *w);
static bool spent(const struct gv_dual_state *w);
static bool unique(const struct gv_price_master *p);

#define gv_dual_boxstep        boxstep
#define gv_dual_kelley         kelley
#define gv_dual_start_prices   start_prices
#define gv_dual_restart        restart
#define gv_dual_start_master   start_master
#define gv_dual_fix            fix
#define gv_dual_holds          holds
#define gv_dual_spent          spent
#define gv_price_master_unique unique
#include "../../common/alloc/price/dual.c"

enum { TYPES = 3 };

static struct {
	struct recorded *r;
	double price[TYPES];
} at;

static void
record_state(const struct gv_dual_state *w)
{
	struct recorded *r = at.r;

	recorded_whole(r, (long long)w->all->n);
	recorded_doubles(r, w->problem->capacity, TYPES);
	recorded_double(r, w->problem->gap);
	recorded_whole(r, w->problem->incumbent_used != NULL);
	recorded_doubles(r, w->box.centre, TYPES);
	recorded_double(r, w->start_level);
	recorded_double(r, w->grant);
	recorded_whole(r, w->sample);
	recorded_whole(r, w->rough);
	recorded_whole(r, w->d->n_evaluations);
}

static enum gv_dual_end
draw_end(void)
{
	return below(2) == 0 ? GV_DUAL_CONVERGED : (enum gv_dual_end)below(4);
}

static enum gv_dual_end
boxstep(struct gv_dual_state *w, double part, double least)
{
	const double grid = ldexp(1, -20);
	const double off[] = {.495, .5, .25, 0, 1, 2.25, 7.625, 3.375};
	size_t j;

	recorded_text(at.r, "boxes");
	record_state(w);
	recorded_double(at.r, part);
	recorded_double(at.r, least);
	w->master.price = at.price;
	for (j = 0; j < TYPES; j++) {
		w->d->price[j] = (double)below(8) / 4;
		at.price[j] = grid * off[below(4) == 0 ? below(8) : 2 + below(6)];
	}
	w->d->bound = (double)(1 + below(1 << 20));
	w->d->bound = ldexp(w->d->bound, (int)below(8) - 20);
	w->d->bound -= below(4) == 0 ? 1 : 0;
	if (below(3) == 0)
		w->d->bound = ldexp((double)((1 << 20) + below(1 << 20)) + .5, -18);
	w->d->price_level = (double)below(3);
	w->d->n_evaluations += 3;
	return draw_end();
}

static enum gv_dual_end
kelley(struct gv_dual_state *w, const double *capacity_price)
{
	recorded_text(at.r, "cutting planes");
	record_state(w);
	recorded_doubles(at.r, capacity_price, TYPES);
	recorded_doubles(at.r, w->box.lo, TYPES);
	recorded_doubles(at.r, w->box.hi, TYPES);
	recorded_whole(at.r, w->box.everything);
	return draw_end();
}

static void
start_prices(struct gv_dual_state *w)
{
	size_t j;

	recorded_text(at.r, "start prices");
	for (j = 0; j < TYPES; j++)
		w->box.centre[j] = (double)j;
}

static void
restart(struct gv_dual_state *w, double bound)
{
	recorded_text(at.r, w != NULL ? "restart" : "");
	recorded_double(at.r, bound);
}

static void
start_master(struct gv_dual_state *w)
{
	recorded_text(at.r, w != NULL ? "master" : "");
}

static bool
fix(struct gv_dual_state *w, double window)
{
	recorded_text(at.r, w != NULL ? "fix" : "");
	recorded_double(at.r, window);
	return true;
}

static bool
holds(struct gv_dual_state *w)
{
	recorded_text(at.r, w != NULL ? "holds" : "");
	return below(3) != 0;
}

static bool
spent(const struct gv_dual_state *w)
{
	recorded_text(at.r, w != NULL ? "spent" : "");
	return below(3) == 0;
}

static bool
unique(const struct gv_price_master *p)
{
	recorded_text(at.r, p != NULL ? "unique" : "");
	return below(5) != 0;
}

static struct gv_oracle_jobs
draw_jobs(size_t n)
{
	struct gv_oracle_jobs c;
	size_t i;

	gv_oracle_jobs_alloc(&c, n, TYPES, true);
	memset(c.a, 0, c.stride * TYPES * sizeof(*c.a));
	memset(c.gain, 0, c.stride * TYPES * sizeof(*c.gain));
	for (i = 0; i < n; i++)
		c.use[i] = (double)(1 + i % 5);
	return c;
}

static void
ask(struct recorded *r, const struct gv_oracle_jobs *jobs, size_t k)
{
	static const double parts[] = {0, -1, 1e-6, 1e-4, 1e-2};
	double capacity[TYPES] = {1, 2, 0}, dollars[TYPES] = {.5, .25, 0};
	double effort = 64, known[TYPES];
	const struct gv_dual_problem problem = {.capacity = capacity,
	    .dollars = below(3) == 0 ? dollars : NULL,
	    .gains = k % 2 == 1,
	    .level = below(2) == 0 ? INFINITY : 3,
	    .gap = below(2) == 0 ? 1e-12 : .5,
	    .incumbent_used = below(2) == 0 ? capacity : NULL,
	    .effort = below(2) == 0 ? &effort : NULL};
	struct gv_dual_start start = {known, (double)below(3), parts[below(5)]};
	struct gv_dual d;
	size_t j;

	for (j = 0; j < TYPES; j++) {
		capacity[j] = (double)below(3);
		known[j] = (double)below(8);
	}
	at.r = r;
	recorded_whole(
	    r, gv_dual_minimise(&d, jobs, &problem, below(2) == 0 ? &start : NULL));
	recorded_whole(r, d.canonical);
	recorded_whole(r, d.n_evaluations);
	recorded_whole(r, (long long)d.m);
	gv_dual_free(&d);
	recorded_whole(r, (long long)(d.m + d.n_cuts));
}

int
main(void)
{
	static const size_t sizes[] = {5, 4096, 4097};
	struct recorded r;
	size_t k, part;

	recorded_open(&r);
	for (part = 0; part < 30; part++) {
		struct gv_oracle_jobs jobs = draw_jobs(sizes[part % 3]);

		draws_begin(9, (uint32_t)part, 0);
		for (k = 0; k < 200; k++)
			ask(&r, &jobs, k);
		recorded_answer(&r, "searches %zu of %zu jobs", part, jobs.n);
		gv_oracle_jobs_free(&jobs);
	}
	recorded_close(&r);
	return done_testing();
}
