/* The best pipeline on GPUs of several types. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gv-partition/search/balance.h"
#include "base/mem.h"
#include "fleet_trial.h"
#include "gv-partition/search/search.h"

static const double above = 1 + 1e-12; /* room for rounding */

/* ---- the plan ---- */

/* Where a pipeline goes on from: a prefix, and the combination used from there on. */
struct at {
	size_t prefix, combination;
};

/*
 * How many replicas of a choice are in the best pipeline from here when it is the
 * first stage, and the rest of it is that of *rest, of which the combination
 * is set; 0 = it is not.
 */
static size_t
replicas_here(
    const struct trial *x, const struct choice *c, struct at here, struct at *rest)
{
	const int16_t *behind = x->need + rest->prefix * x->n;
	int need = x->need[here.prefix * x->n + here.combination];
	size_t gpus = x->f->type[c->type].gpus, k, m, least = c->fewest, most = least;

	for (k = 0; x->order[k] != c->type; k++)
		;
	if (k + 1 == x->f->n) {
		if (behind[here.combination] >= need)
			return 0;
		least = most = (size_t)(need - behind[here.combination]);
		need = behind[here.combination];
	} else if (x->limited) {
		most = gpus;
	}
	for (m = least; m <= most; m++) {
		rest->combination = here.combination;
		if (k + 1 < x->f->n) {
			if (here.combination / x->stride[k] % (gpus + 1) < m)
				break;
			rest->combination -= m * x->stride[k];
		}
		if (behind[rest->combination] == need &&
		    m == (x->limited
				 ? trial_replicas(x, c, here.prefix,
				       (size_t)x->sum[rest->combination] + (size_t)need)
				 : c->fewest))
			return m;
	}
	return 0;
}

/* The first stage of the best pipeline from here; where the rest is. */
static struct gv_stage
first_stage(const struct trial *x, struct at *here, double *load_s)
{
	const struct ideals *s = x->s;
	size_t up, t, c, n, m;

	for (up = s->sup_at[here->prefix]; up < s->sup_at[here->prefix + 1]; up++)
		for (t = 0; t < x->f->n; t++) {
			struct choice choice[2];

			n = trial_choices(choice, x, here->prefix, s->sup[up], t);
			for (c = 0; c < n; c++) {
				struct at rest = {s->sup[up], 0};

				m = replicas_here(x, &choice[c], *here, &rest);
				if (m == 0)
					continue;
				*load_s = trial_load(x, &choice[c], here->prefix, m);
				*here = rest;
				return (struct gv_stage){.replicas = {m},
				    .within = {rest.prefix},
				    .recompute = choice[c].recompute,
				    .type = t};
			}
		}
	return (struct gv_stage){0};
}

/* The pipeline on the fewest GPUs within the limit; its time. */
static double
follow(const struct trial *x, struct gv_plan *p)
{
	size_t fewest_gpus = SIZE_MAX, at, k;
	size_t most = x->f->type[x->order[x->f->n - 1]].gpus;
	struct at here = {0, 0};
	double time = 0, load_s = 0;

	for (at = 0; at < x->n; at++) {
		size_t gpus = (size_t)x->need[at];

		if (gpus > most)
			continue;
		for (k = 0; k + 1 < x->f->n; k++)
			gpus += at / x->stride[k] % (x->f->type[x->order[k]].gpus + 1);
		if (gpus < fewest_gpus) {
			fewest_gpus = gpus;
			here.combination = at;
		}
	}
	p->n = 0;
	while (here.prefix + 1 < x->s->n) {
		struct gv_stage stage = first_stage(x, &here, &load_s);

		p->stage = gv_xrealloc(p->stage, p->n + 1, sizeof(*p->stage));
		p->stage[p->n++] = stage;
		time = stage_larger(time, load_s);
	}
	return time;
}

/* For balance(). */
static double
load_of(const void *ctx, const struct gv_plan *p, size_t j, size_t i, size_t k,
    bool *recompute)
{
	const struct trial *x = ctx;
	size_t m = p->stage[j].replicas[0], in_flight, gpus = 0, c, n;
	struct choice choice[2];

	for (c = j; c < p->n; c++)
		gpus += p->stage[c].replicas[0];
	in_flight = stage_in_flight(&x->o->rules, m, gpus);
	n = trial_choices(choice, x, i, k, p->stage[j].type);
	for (c = 0; c < n; c++)
		if (in_flight <= choice[c].most) { /* the faster choice is the first */
			*recompute = choice[c].recompute;
			return trial_load(x, &choice[c], i, m);
		}
	return INFINITY;
}

/* ---- the least time ---- */

/* Times at which something changes. */
struct steps {
	size_t n, cap;
	double *load;
};

/* No plan is faster: each layer on its best type, spread over all GPUs. */
static double
bound(const struct trial *x, size_t n_layers)
{
	double sum = 0;
	size_t v, t;

	for (v = 0; v < n_layers; v++) {
		double best = INFINITY;

		for (t = 0; t < x->f->n; t++)
			best = fmin(best, x->f->type[t].time_s[v]);
		sum += best;
	}
	return sum / (double)x->m.gpus[0] / above;
}

/* Adds the loads between low and high at which a stage from i to k needs fewer replicas. */
static void
add_steps(struct steps *steps, const struct trial *x, size_t i, size_t k, size_t type,
    double low, double high)
{
	size_t most = trial_replicas_most(x, type), first, m;
	struct choice c[2];

	if (trial_choices(c, x, i, k, type) == 0)
		return;
	first = stage_fewest(&x->o->rules, &x->m, 0, &c->size, i == 0, low, 1, most);
	for (m = c->fewest; m < first; m++) {
		double load = trial_load(x, c, i, m);

		if (load <= low || load >= high)
			continue;
		steps->load = gv_xgrow(
		    steps->load, &steps->cap, steps->n + 1, sizeof(*steps->load));
		steps->load[steps->n++] = load;
	}
}

static int
ascending(const void *p, const void *q)
{
	const double *a = p, *b = q;

	return *a < *b ? -1 : *a > *b;
}

/*
 * The least time from low, for which there is no plan, to high, for which there is.
 * Without limits of memory only some loads come into question.
 */
static double
least_step(struct trial *x, double low, double high)
{
	const struct ideals *s = x->s;
	struct steps steps = {0};
	size_t i, at, t, first = 0, last;
	double least = high;

	x->limit_s = high;
	for (i = 0; i + 1 < s->n; i++)
		for (at = s->sup_at[i]; at < s->sup_at[i + 1]; at++)
			for (t = 0; t < x->f->n; t++)
				add_steps(&steps, x, i, s->sup[at], t, low, high);
	if (steps.n > 1)
		qsort(steps.load, steps.n, sizeof(*steps.load), ascending);
	for (last = steps.n; first < last;) {
		size_t middle = first + (last - first) / 2;

		if (trial_run(x, steps.load[middle])) {
			least = steps.load[middle];
			last = middle;
		} else {
			first = middle + 1;
		}
	}
	free(steps.load);
	return least;
}

/* The best plan and its time; INFINITY when none is within known. */
static double
search(struct trial *x, size_t n_layers, struct gv_plan *p, double known)
{
	double low = bound(x, n_layers), high, enough = x->limited ? 1e-13 : 1e-3;

	if (!trial_run(x, known))
		return INFINITY;
	high = follow(x, p);
	while (high - low > enough * high) {
		double middle = low + (high - low) / 2;

		if (trial_run(x, middle))
			high = follow(x, p);
		else
			low = middle;
	}
	if (!x->limited)
		high = least_step(x, low, high);
	trial_run(x, high * above);
	return follow(x, p);
}

/* The time of the best plan among few of the prefixes, or INFINITY. */
static double
coarse_time(const struct ideals *s, size_t n_layers, const struct gv_fleet *f,
    const struct search_options *o, size_t parts, double known)
{
	uint32_t *pick = gv_xcalloc(s->n, sizeof(*pick));
	struct ideals few;
	struct trial x;
	struct gv_plan p = {0};

	ideals_pick(&few, s, pick, search_few(pick, s, parts));
	if (trial_open(&x, &few, n_layers, f, o))
		known = fmin(known, search(&x, n_layers, &p, known));
	trial_close(&x);
	gv_plan_free(&p);
	ideals_free(&few);
	free(pick);
	return known;
}

enum fleet_result
fleet_search(struct gv_plan *p, const struct ideals *s, size_t n_layers,
    const struct gv_fleet *f, const struct search_options *o)
{
	static const size_t parts[] = {24, 96};
	struct trial x;
	enum fleet_result result = FLEET_LARGE;
	double known = INFINITY;
	size_t i;

	memset(p, 0, sizeof(*p));
	if (trial_open(&x, s, n_layers, f, o)) {
		for (i = 0; i < 2 && s->n > parts[i] * 3 / 2; i++)
			known = above * coarse_time(s, n_layers, f, o, parts[i], known);
		known = search(&x, n_layers, p, known);
		result = isfinite(known) ? FLEET_FOUND : FLEET_NONE;
		if (result == FLEET_FOUND) {
			balance(s, p, x.limit_s, load_of, &x);
			p->of = search_layers(s, p, n_layers);
		}
	}
	trial_close(&x);
	return result;
}
