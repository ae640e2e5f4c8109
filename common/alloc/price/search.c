#include "search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "mixture.h"

enum { MAX_STEPS = 600, STALLED = 25, SAMPLED = 4096, PART = 8, FEW = 512, TRIES = 6 };

static const double everything = INFINITY; /* a box without borders */
static const double acceptable = 100; /* times the gap to end at, where it ends above */

/* Prices per pool (of a level: parts that sum to 1), between lo and hi. */
struct box {
	double *lo, *middle, *hi; /* [m] each */
	bool whole;               /* all prices */
};

/* One try: the jobs looked at, and what the others take. */
struct gv_work {
	struct gv_search *s;
	const struct gv_crowd *all;
	const struct gv_aim *aim;
	struct box box;
	struct gv_mixture mixture;
	bool has_mixture;
	struct gv_taken taken; /* of the last step */
	/* by jobs left aside, at level 0 and for each of level more */
	double *used, *grows;
	double gain;
	/* left aside are jobs that do not change up to that part below fold_level */
	double window;
	double fold_level;  /* 0 = none was left aside */
	double least_level; /* what was left aside holds down to it */
	double start_level; /* about where the level will be */
	bool sample;        /* of these jobs only prices are wanted */
	bool quick;         /* what is found need not hold: it is looked at again */
	double *part;       /* [m] of the pools, for the mixture */
};

enum end { FOUND, AT_BORDER, STUCK };

/* ---- prices per pool and per GPU ---- */

static void
price_gpus(const struct gv_aim *aim, const double *pool, size_t m, double *price)
{
	size_t j;

	for (j = 0; j < m; j++)
		price[j] = aim->capacity[j] > 0 ? fmax(0, pool[j]) / aim->capacity[j] : 0;
}

static double
worth(const double *price, const double *gpus, size_t m)
{
	double sum = 0;
	size_t j;

	for (j = 0; j < m; j++)
		sum += price[j] * gpus[j];
	return sum;
}

static const struct gv_crowd *
looked_at(const struct gv_work *w)
{
	return w->s->all_open ? w->all : &w->s->open;
}

/* ---- steps ---- */

static void
forget_steps(struct gv_search *s)
{
	while (s->n_steps > 0)
		free(s->step[--s->n_steps].price);
}

static struct gv_search_step *
next_step(struct gv_work *w, const double *pool)
{
	struct gv_search *s = w->s;
	struct gv_search_step *step;

	s->step = gv_xgrow(s->step, &s->cap_steps, s->n_steps + 1, sizeof(*s->step));
	step = &s->step[s->n_steps++];
	step->price = gv_xcalloc(s->m, sizeof(*step->price));
	price_gpus(w->aim, pool, s->m, step->price);
	step->level = w->aim->gains ? w->aim->level : s->bound;
	step->weight = 0;
	s->steps++;
	return step;
}

/* What all take in the step, into w->taken and w->part; the bound there. */
static double
take(struct gv_work *w, const struct gv_search_step *step)
{
	const struct gv_aim *aim = w->aim;
	struct gv_taken *t = &w->taken;
	const struct gv_offer o = {step->price, aim->face, step->level, aim->gains};
	size_t j, m = w->s->m;
	double left;

	gv_crowd_take(looked_at(w), &o, t);
	for (j = 0; j < m; j++) {
		t->used[j] += w->used[j] + w->grows[j] * step->level;
		w->part[j] = aim->capacity[j] > 0 ? t->used[j] / aim->capacity[j] : 0;
		if (!aim->gains)
			w->part[j] /= step->level;
	}
	t->gain += w->gain;
	t->lambda += worth(step->price, w->grows, m);
	left = worth(step->price, aim->capacity, m) - worth(step->price, t->used, m);
	if (aim->gains)
		return t->gain + left;
	return t->lambda > 0 ? step->level + left / t->lambda : INFINITY;
}

static void
note_bound(struct gv_work *w, const struct gv_search_step *step, double bound)
{
	struct gv_search *s = w->s;

	if (!(bound < s->bound))
		return;
	s->bound = bound;
	s->price_level = step->level;
	memcpy(s->price, step->price, s->m * sizeof(*s->price));
}

/* The mixture's mixture, if it is better than what there is (of levels). */
static void
note_level(struct gv_work *w)
{
	struct gv_search *s = w->s;
	const struct gv_mixture *p = &w->mixture;
	double level, most = 0, weight = 0;
	size_t j, k;

	for (j = 0; j < s->m; j++) {
		double part = 0;

		for (k = 0; k < s->n_steps; k++)
			part +=
			    p->weight[k] * p->column[(2 * s->m + 1 + k) * (s->m + 1) + j];
		most = fmax(most, part);
	}
	level = 1 / most;
	for (k = 0; k < s->n_steps; k++)
		if (p->weight[k] > 1e-15)
			level = fmin(
			    level, s->step[k].level); /* all the time is used there */
	if (!(level > s->level))
		return;
	s->level = level;
	for (k = 0; k < s->n_steps; k++) {
		s->step[k].weight = p->weight[k] * level / s->step[k].level;
		weight += s->step[k].weight;
	}
	s->weight = weight;
}

/* The same of gains: a mixture within the pools. */
static void
note_gains(struct gv_work *w)
{
	struct gv_search *s = w->s;
	size_t k;

	s->level = w->mixture.sum;
	for (k = 0; k < s->n_steps; k++)
		s->step[k].weight = w->mixture.weight[k + (w->aim->first != NULL)];
	s->weight = 1;
}

static double
tolerance(const struct gv_work *w)
{
	return w->aim->near_enough *
	       (w->aim->gains ? fmax(fabs(w->s->bound), w->aim->least) : w->s->bound);
}

/* Whether the price of a type stands at a border that is not one of all prices. */
static bool
at_border(const struct gv_work *w)
{
	const struct box *b = &w->box;
	size_t j;

	if (w->aim->gains && w->mixture.over > 1e-12)
		return true;
	for (j = 0; !b->whole && j < w->s->m; j++) {
		double q = w->mixture.price[j], near = 1e-9 * (b->hi[j] - b->lo[j]);

		if (q >= b->hi[j] - near || (b->lo[j] > 0 && q <= b->lo[j] + near))
			return true;
	}
	return false;
}

static void
start_mixture(struct gv_work *w)
{
	size_t j;

	if (w->has_mixture)
		gv_mixture_free(&w->mixture);
	forget_steps(w->s);
	gv_mixture_init(&w->mixture, w->s->m, w->aim->gains, w->box.lo, w->box.hi);
	w->has_mixture = true;
	for (j = 0; w->aim->first != NULL && j < w->s->m; j++)
		w->part[j] = w->aim->capacity[j] > 0
				 ? fmin(1, w->aim->first[j] / w->aim->capacity[j])
				 : 0;
	if (w->aim->first != NULL)
		gv_mixture_add(&w->mixture, w->part, w->aim->first_gain);
}

/* ---- boxes ---- */

static void
box_init(struct box *b, size_t m)
{
	b->lo = gv_xcalloc(3 * m, sizeof(*b->lo));
	b->middle = b->lo + m;
	b->hi = b->middle + m;
}

/* All prices; of gains up to most. */
static void
box_all(struct box *b, size_t m, double most)
{
	size_t j;

	b->whole = true;
	for (j = 0; j < m; j++) {
		b->lo[j] = 0;
		b->hi[j] = most;
	}
}

/* Around the middle: a part of each price and of the largest one. */
static void
box_around(struct gv_work *w, double part, double least)
{
	struct box *b = &w->box;
	double most = least;
	size_t j;

	b->whole = false;
	for (j = 0; j < w->s->m; j++)
		most = fmax(most, b->middle[j]);
	for (j = 0; j < w->s->m; j++) {
		double reach = part * (b->middle[j] + .25 * most);

		b->lo[j] = fmax(0, b->middle[j] - reach);
		b->hi[j] = b->middle[j] + reach;
		if (w->aim->face != NULL && w->aim->face[j] > 0) {
			b->lo[j] = 0;
			b->hi[j] = b->middle[j] + 4 * most;
		}
	}
}

/*
 * Leaves jobs aside that take the same in the whole box, at levels up to a part
 * below the bound; false when there are few of them.
 */
static bool
fold(struct gv_work *w, double window)
{
	struct gv_search *s = w->s;
	const struct gv_aim *aim = w->aim;
	const struct gv_crowd *from = looked_at(w);
	double *price = gv_xcalloc(3 * s->m, sizeof(*price));
	double *lo = price + s->m, *hi = lo + s->m;
	size_t *open = gv_xrealloc(NULL, from->n, sizeof(*open));
	struct gv_crowd few;
	struct gv_offer o = {
	    price, aim->face, aim->gains ? aim->level : s->bound, aim->gains};
	size_t j, n;

	price_gpus(aim, w->box.middle, s->m, price);
	price_gpus(aim, w->box.lo, s->m, lo);
	price_gpus(aim, w->box.hi, s->m, hi);
	n = gv_crowd_fold(from, &o, lo, hi, window, &w->taken, open);
	if (n > from->n / 8 * 7) {
		free(open);
		free(price);
		return false;
	}
	for (j = 0; j < s->m; j++) {
		if (!aim->gains)
			w->taken.used[j] -= w->taken.grows[j] * o.level;
		w->used[j] += w->taken.used[j];
		w->grows[j] += aim->gains ? 0 : w->taken.grows[j];
	}
	w->gain += w->taken.gain;
	w->window = window;
	w->fold_level = o.level;
	w->least_level = fmax(w->least_level, o.level * (1 - window));
	gv_crowd_pick(&few, from, open, n);
	gv_crowd_free(&s->open);
	s->open = few;
	s->all_open = false;
	free(price);
	return true;
}

/*
 * Goes on in a box that holds the prices of the mixture's steps a few times over, if
 * it is small and leaves most jobs aside.
 */
static bool
shrink(struct gv_work *w)
{
	struct gv_search *s = w->s;
	struct box *b = &w->box;
	size_t off = w->aim->first != NULL;
	const struct box before = w->box;
	double *reach = gv_xcalloc(4 * s->m, sizeof(*reach));
	double *kept = reach + s->m;
	double most = 0, dearest = 0;
	double window = w->aim->gains ? 0 : 2 * (s->bound - s->level) / s->bound;
	bool small = true;
	size_t j, k;

	memcpy(kept, b->lo, 3 * s->m * sizeof(*kept));
	for (j = 0; j < s->m; j++) {
		dearest = fmax(dearest, w->mixture.price[j]);
		for (k = 0; k < s->n_steps; k++)
			if (w->mixture.weight[k + off] > 1e-9)
				reach[j] = fmax(reach[j],
				    4 * fabs(s->step[k].price[j] * w->aim->capacity[j] -
					     w->mixture.price[j]));
		most = fmax(most, reach[j]);
	}
	small = most > 0;
	for (j = 0; j < s->m; j++) {
		double q = w->mixture.price[j];

		reach[j] = fmax(reach[j], .25 * most);
		small = small && reach[j] < (b->whole ? .1 * dearest
						      : .25 * (b->hi[j] - b->lo[j]));
		b->middle[j] = q;
		b->lo[j] = fmax(b->lo[j], q - reach[j]);
		b->hi[j] = fmin(b->hi[j], q + reach[j]);
	}
	b->whole = false;
	for (k = 0; k < s->n_steps && !w->aim->gains; k++)
		if (w->mixture.weight[k] > 1e-9)
			window = fmax(window, s->step[k].level / s->bound - 1);
	if (!small || !fold(w, window)) {
		*b = before;
		memcpy(b->lo, kept, 3 * s->m * sizeof(*kept));
		small = false;
	}
	free(reach);
	return small;
}

/*
 * In a smaller box, the steps that are inside; the others took what jobs that were
 * left aside may not take.
 */
static int
keep_steps(struct gv_work *w)
{
	struct gv_search *s = w->s;
	const struct box *b = &w->box;
	size_t off = w->aim->first != NULL;
	bool *keep = gv_xcalloc(s->n_steps + 1, sizeof(*keep));
	size_t j, k, n = 0;
	int rc;

	keep[0] = true; /* what was there first, if it was */
	for (k = 0; k < s->n_steps; k++) {
		struct gv_search_step *step = &s->step[k];
		bool inside =
		    w->aim->gains || step->level <= w->fold_level * (1 + w->window);

		for (j = 0; j < s->m; j++) {
			double q = step->price[j] * w->aim->capacity[j];

			inside = inside && q >= b->lo[j] && q <= b->hi[j];
		}
		keep[k + off] = inside;
		if (inside)
			s->step[n++] = *step;
		else
			free(step->price);
	}
	s->n_steps = n;
	gv_mixture_keep(&w->mixture, keep, b->lo, b->hi);
	free(keep);
	s->level = w->aim->gains ? -INFINITY : 0;
	if (w->mixture.n == 0) {
		memcpy(w->mixture.price, b->middle, s->m * sizeof(*b->middle));
		return 0;
	}
	rc = gv_mixture_solve(&w->mixture);
	if (rc == 0 && w->aim->gains)
		note_gains(w);
	else if (rc == 0)
		note_level(w);
	return rc;
}

/* ---- the search ---- */

/* Whether the mixture is as good as one in the box can be (of levels). */
static bool
in_box(const struct gv_work *w)
{
	return -w->mixture.sum * w->s->bound - 1 <= w->aim->near_enough;
}

/* Steps until bound and level meet. */
static enum end
take_steps(struct gv_work *w, const double *pool)
{
	struct gv_search *s = w->s;
	double *q = gv_xcalloc(s->m, sizeof(*q));
	enum end end = STUCK;
	int k, since = 0;

	memcpy(q, pool, s->m * sizeof(*q));
	for (k = 0; k < MAX_STEPS && since++ < STALLED; k++) {
		struct gv_search_step *step = next_step(w, q);
		double gap = s->bound - s->level, sum = w->mixture.sum, own;

		own = take(w, step);
		note_bound(w, step, own);
		gv_mixture_add(&w->mixture, w->part, w->taken.gain);
		if (gv_mixture_solve(&w->mixture) != 0)
			break;
		if (w->aim->gains)
			note_gains(w);
		else
			note_level(w);
		memcpy(q, w->mixture.price, s->m * sizeof(*q));
		if (s->bound - s->level <= tolerance(w)) {
			end = w->aim->gains && at_border(w) ? AT_BORDER : FOUND;
			break;
		}
		/* of levels: as good as it gets in the box */
		if (!w->aim->gains &&
		    (s->bound < w->least_level || (in_box(w) && at_border(w)))) {
			end = AT_BORDER;
			break;
		}
		if (s->bound - s->level < gap ||
		    fabs(w->mixture.sum - sum) > 1e-12 * fabs(sum))
			since = 0;
		if (looked_at(w)->n > FEW && k >= (int)s->m + 2 && shrink(w)) {
			if (keep_steps(w) != 0)
				break;
			memcpy(q, w->mixture.price, s->m * sizeof(*q));
			since = 0;
		}
	}
	free(q);
	if (end == STUCK && s->bound - s->level <= tolerance(w) * acceptable &&
	    !(w->aim->gains && at_border(w)))
		end = FOUND;
	return end;
}

/* Whether what was left aside is as it was taken for: all jobs at the best prices. */
static bool
holds(struct gv_work *w)
{
	struct gv_search *s = w->s;
	struct gv_search_step step = {
	    s->price, w->aim->gains ? w->aim->level : s->price_level, 0};
	double bound = s->bound, real;

	if (s->all_open || (!w->aim->gains && s->price_level == 0))
		return true;
	if (!w->aim->gains && s->level < w->least_level)
		return false;
	memset(w->used, 0, s->m * sizeof(*w->used));
	memset(w->grows, 0, s->m * sizeof(*w->grows));
	w->gain = 0;
	s->all_open = true;
	real = take(w, &step);
	s->all_open = false;
	s->bound = real;
	return fabs(real - bound) <= fmax(10 * tolerance(w), 1e-13 * fabs(bound));
}

static void
start_over(struct gv_work *w, double bound)
{
	struct gv_search *s = w->s;

	gv_crowd_free(&s->open);
	s->all_open = true;
	s->level = w->aim->gains ? -INFINITY : 0;
	s->bound = bound;
	s->price_level = 0;
	s->weight = 1;
	memset(s->price, 0, s->m * sizeof(*s->price));
	memset(w->used, 0, s->m * sizeof(*w->used));
	memset(w->grows, 0, s->m * sizeof(*w->grows));
	w->gain = 0;
	w->fold_level = w->least_level = 0;
}

static double
use_of_all(const struct gv_crowd *c)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < c->n; i++)
		sum += c->use[i];
	return sum;
}

static void
work_init(struct gv_work *w)
{
	size_t m = w->s->m;

	box_init(&w->box, m);
	w->taken.used = gv_xcalloc(5 * m, sizeof(double));
	w->taken.grows = w->taken.used + m;
	w->used = w->taken.grows + m;
	w->grows = w->used + m;
	w->part = w->grows + m;
	w->s->price = gv_xcalloc(m, sizeof(*w->s->price));
}

static void
gv_work_free(struct gv_work *w)
{
	if (w->has_mixture)
		gv_mixture_free(&w->mixture);
	free(w->box.lo);
	free(w->taken.used);
}

static enum end search(struct gv_work *w);

/* Prices of every PART-th job, into the middle of the box; *least for box_around. */
static void
try_sample(struct gv_work *w, double *least)
{
	struct gv_search s = {.m = w->s->m};
	struct gv_aim aim = *w->aim;
	struct gv_work part = {.s = &s, .aim = &aim, .sample = true};
	double *capacity = gv_xcalloc(s.m, sizeof(*capacity));
	struct gv_crowd c;
	double share;
	size_t j;

	gv_crowd_sample(&c, w->all, PART / 2, PART);
	share = use_of_all(&c) / use_of_all(w->all);
	for (j = 0; j < s.m; j++)
		capacity[j] = w->aim->capacity[j] * share;
	aim.capacity = capacity;
	aim.first = NULL;
	aim.near_enough = fmax(aim.near_enough, .02 / (double)c.n);
	part.all = &c;
	work_init(&part);
	search(&part);
	gv_work_free(&part);
	for (j = 0; j < s.m; j++)
		w->box.middle[j] =
		    s.price[j] * (aim.gains ? w->aim->capacity[j] : capacity[j]);
	*least = aim.gains ? 1e-3 * fabs(s.bound) / share : 1. / (double)s.m;
	w->s->steps += s.steps;
	w->start_level = s.bound;
	if (!aim.gains && s.price_level == 0) /* time bounds: any prices */
		for (j = 0; j < s.m; j++)
			w->box.middle[j] = 1. / (double)s.m;
	gv_search_free(&s);
	gv_crowd_free(&c);
	free(capacity);
}

/* Prices to start at where nothing is known: of levels equal ones, of gains none. */
static void
start_prices(struct gv_work *w)
{
	double pools = 0;
	size_t j;

	for (j = 0; j < w->s->m; j++)
		pools += w->aim->capacity[j] > 0;
	for (j = 0; j < w->s->m; j++)
		w->box.middle[j] =
		    w->aim->gains || w->aim->capacity[j] == 0 ? 0 : 1 / pools;
}

/* Steps of all jobs at the middle of the box, until the level is about right (of levels). */
static void
look_at_all(struct gv_work *w, double part)
{
	struct gv_search *s = w->s;
	double level = fmin(w->start_level, s->bound);
	int k;

	for (k = 0; k < 3; k++) {
		struct gv_search_step *step = next_step(w, w->box.middle);

		step->level = level;
		note_bound(w, step, take(w, step));
		gv_mixture_add(&w->mixture, w->part, 0);
		if (fabs(s->bound / level - 1) <= .5 * part)
			break; /* Newton's method squares that */
		level = s->bound;
	}
}

/* One try in the box of a part around the middle. */
static enum end
try_box(struct gv_work *w, double part, double least, double most)
{
	struct gv_search *s = w->s;
	double bound = w->aim->gains ? INFINITY : w->aim->level;
	enum end end;

	start_over(w, bound);
	if (part < 1)
		box_around(w, part, least);
	else
		box_all(&w->box, s->m, most);
	start_mixture(w);
	if (part < 1 && !w->aim->gains) {
		look_at_all(w, part);
		if (gv_mixture_solve(&w->mixture) == 0)
			note_level(w);
		if (s->bound - s->level <= tolerance(w))
			return FOUND;
		s->level = 0;
		start_mixture(w);
	}
	if (part < 1)
		fold(w, w->aim->gains ? 0 : fmin(.5, part * part));
	end = take_steps(w, w->box.middle);
	if (end == FOUND && !w->quick && !holds(w))
		end = AT_BORDER;
	return end;
}

/* Tries boxes, larger and larger ones. */
static enum end
try_boxes(struct gv_work *w, double part, double least)
{
	double most = w->aim->gains ? 16 : 1e300;
	enum end end = STUCK;
	int k;

	for (k = 0; k < TRIES; k++) {
		end = try_box(w, part, least, most);
		if (end == FOUND || (part >= 1 && !w->aim->gains))
			break;
		if (part >= 1) {
			most *= 1e3;
			continue;
		}
		memcpy(w->box.middle, w->mixture.price, w->s->m * sizeof(*w->box.middle));
		part = k == 2 || end == STUCK ? everything : part * 4;
		if (part >= 1)
			start_prices(w);
	}
	return end;
}

/*
 * Prices and a level on a grid, near those found; false where one is so near to the
 * middle between two points that another search might have found the other, or where
 * other prices might be as good.
 */
static bool
go_to_grid(struct gv_work *w, double *level)
{
	const double grid = ldexp(1, -20);
	struct gv_search *s = w->s;
	double unit, points;
	size_t j;
	int exponent;

	if (!gv_mixture_unique(&w->mixture))
		return false;
	for (j = 0; j < s->m; j++) {
		double q = w->mixture.price[j] / grid;

		w->box.middle[j] = grid * round(q);
		if (fabs(q - round(q)) > .495)
			return false;
		w->box.lo[j] = fmax(0, w->box.middle[j] - 3 * grid);
		w->box.hi[j] = w->box.middle[j] + 3 * grid;
	}
	w->box.whole = false;
	frexp(s->bound, &exponent);
	unit = ldexp(grid, exponent);
	points = s->bound / unit;
	*level = fmin(w->aim->level, unit * (floor(points) + 2));
	return w->aim->gains || fabs(points - floor(points) - .5) < .495;
}

/*
 * The end again, from a point of a grid near it: what comes out depends on the jobs
 * alone, not on the way here.
 */
static enum end
settle(struct gv_work *w)
{
	const double window = ldexp(8, -20);
	double level;
	enum end end;

	if (!go_to_grid(w, &level))
		return STUCK;
	start_over(w, w->aim->gains ? INFINITY : level);
	fold(w, w->aim->gains ? 0 : window);
	start_mixture(w);
	end = take_steps(w, w->box.middle);
	return end == FOUND && !holds(w) ? STUCK : end;
}

static enum end
search(struct gv_work *w)
{
	struct gv_search *s = w->s;
	double part = everything, least = 0;
	enum end end;

	start_prices(w);
	if (w->all->n > SAMPLED) {
		try_sample(w, &least);
		/* levels' prices are nearer to the sample's */
		part = (w->aim->gains ? 1 : .5) / sqrt((double)w->all->n / PART);
	}
	w->quick = !w->sample;
	end = try_boxes(w, part, least);
	w->quick = false;
	if (end != FOUND || w->sample || (!w->aim->gains && s->price_level == 0))
		return end;
	end = settle(w);
	s->settled = end == FOUND;
	if (s->settled)
		return end;
	start_prices(w);
	if (w->all->n > SAMPLED)
		try_sample(w, &least);
	return try_boxes(w, part, least);
}

/* The search from prices that were right for nearly the same jobs. */
static enum end
search_from(struct gv_work *w, const struct gv_search_start *start)
{
	struct gv_search *s = w->s;

	memcpy(w->box.middle, start->price, s->m * sizeof(*start->price));
	w->start_level = start->level > 0 ? start->level : INFINITY;
	w->quick = true;
	if (try_boxes(w, 2e-3, w->aim->gains ? 1e-3 : 1. / (double)s->m) != FOUND)
		return STUCK;
	w->quick = false;
	if (!w->aim->gains && s->price_level == 0)
		return STUCK; /* any prices will do: none are the right ones */
	s->settled = settle(w) == FOUND;
	return s->settled ? FOUND : STUCK;
}

int
gv_search_prices(struct gv_search *s, const struct gv_crowd *c, const struct gv_aim *aim,
    const struct gv_search_start *start)
{
	struct gv_work w = {.s = s, .all = c, .aim = aim};
	enum end end = STUCK;

	*s = (struct gv_search){.m = c->m};
	work_init(&w);
	if (start != NULL)
		end = search_from(&w, start);
	if (end != FOUND)
		end = search(&w);
	gv_work_free(&w);
	return end == FOUND ? 0 : 1;
}

void
gv_search_free(struct gv_search *s)
{
	forget_steps(s);
	free(s->step);
	free(s->price);
	gv_crowd_free(&s->open);
	*s = (struct gv_search){0};
}
