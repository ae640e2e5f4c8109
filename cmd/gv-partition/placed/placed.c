/* The search for the best placed pipeline. */
#include "placed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "placed_trial.h"

static const double above = 1 + 1e-12; /* room for rounding */

/* The time of the best plan on all GPUs at one bandwidth; INFINITY when there is none. */
static double
time_at(
    const struct ideals *s, const struct gv_machine *m, const struct search_options *o)
{
	struct search x = {.s = s, .m = m, .o = o, .gpus = m->gpus[0]};

	return search_time(&x);
}

/* The best plan no slower than high into *p; its time, or INFINITY. */
static double
best_plan(struct placed_trial *x, struct gv_plan *p, double low, double high)
{
	if (placed_try(x, low * above))
		return placed_path(x, p); /* nothing is faster */
	while (high - low > 0.01 * high) {
		double middle = low + (high - low) / 2;

		if (placed_try(x, middle))
			high = middle;
		else
			low = middle;
	}
	return placed_try(x, high * above) ? placed_path(x, p) : INFINITY;
}

/* The least time among few of the prefixes, if that is below high. */
static double
coarse_time(const struct ideals *s, const struct gv_machine *m,
    const struct search_options *o, size_t parts, double low, double high)
{
	uint32_t *pick = gv_xcalloc(s->n, sizeof(*pick));
	struct ideals few;
	struct placed_trial x;
	struct gv_plan p = {0};

	ideals_pick(&few, s, pick, search_few(pick, s, parts));
	placed_open(&x, &few, m, o);
	high = fmin(high, best_plan(&x, &p, low, high));
	gv_plan_free(&p);
	placed_close(&x);
	ideals_free(&few);
	free(pick);
	return high;
}

enum search_result
placed_search(struct gv_plan *p, const struct ideals *s, size_t n_layers,
    const struct gv_machine *m, const struct search_options *o)
{
	static const size_t parts[] = {24, 96, 384};
	struct placed_trial x;
	double low, high;
	size_t i;

	memset(p, 0, sizeof(*p));
	placed_open(&x, s, m, o);
	high = time_at(s, &x.links.at[x.links.n_levels - 1], o);
	if (isfinite(high)) {
		low = time_at(s, &x.links.at[0], o);
		for (i = 0; i < 3 && s->n > parts[i] * 3 / 2; i++)
			high = coarse_time(s, m, o, parts[i], low, high);
		best_plan(&x, p, low, high);
	}
	placed_close(&x);
	if (p->n == 0)
		return SEARCH_NONE;
	p->of = search_layers(s, p, n_layers);
	return SEARCH_FOUND;
}
