/* How little memory the least demanding pipeline needs. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "search.h"

enum { FEW = 100 };

/* The first stage of the best pipeline from a prefix on w GPUs, and the fullest of all its GPUs. */
struct need {
	double bytes;
	uint32_t to;
	uint16_t m;
};

static double
bytes_of(const struct search *x, size_t i, size_t k, size_t in_flight)
{
	struct stage_size size = search_stage(x, i, k);
	double activation = x->s->activation[k] - x->s->activation[i];
	double none = stage_memory(&x->o->rules, &size, activation, in_flight, false);
	double full = stage_memory(&x->o->rules, &size, activation, in_flight, true);

	if (x->o->rules.recompute == RECOMPUTE_NONE)
		return none;
	return x->o->rules.recompute == RECOMPUTE_FULL || full < none ? full : none;
}

/* Fullest of its GPUs: the least there can be, whatever the stage's replicas. */
static double
least_of(const struct search *x, size_t i, size_t k)
{
	return bytes_of(x, i, k, stage_in_flight(&x->o->rules, x->gpus, x->gpus));
}

/* Stages that need more than limit do not count. */
static void
from_prefix(
    struct need *need, const struct search *x, size_t i, double limit, double *bytes)
{
	const struct context c = {.base = 0, .copies = 1};
	const struct ideals *s = x->s;
	/* gpipe's, of which there can be more than GPUs, depend on the stage's own alone */
	bool by_gpus = x->o->rules.schedule == GV_SCHEDULE_GPIPE;
	size_t most_replicas = x->o->straight ? 1 : stage_replicas_most(&x->o->rules);
	size_t n = x->gpus, at, m, w, f;

	for (w = 0; w <= n; w++)
		need[i * (n + 1) + w].bytes = INFINITY;
	for (at = s->sup_at[i]; at < s->sup_at[i + 1]; at++) {
		size_t k = s->sup[at];

		if (least_of(x, i, k) > limit)
			continue;
		for (f = 1; f <= n; f++)
			bytes[f] = bytes_of(
			    x, i, k, by_gpus ? search_in_flight(x, &c, f, f) : f);
		for (w = 1; w <= n; w++)
			for (m = k + 1 == s->n ? w : 1; m <= w && m <= most_replicas;
			     m++) {
				struct need *best = &need[i * (n + 1) + w];
				double most =
				    bytes[by_gpus ? m : search_in_flight(x, &c, w, m)];

				if (k + 1 < s->n &&
				    need[k * (n + 1) + w - m].bytes > most)
					most = need[k * (n + 1) + w - m].bytes;
				if (most < best->bytes)
					*best =
					    (struct need){most, (uint32_t)k, (uint16_t)m};
			}
	}
}

static struct least_memory
least_within(const struct ideals *s, const struct gv_machine *m,
    const struct search_options *o, double limit)
{
	struct search x = {
	    .s = s, .m = m, .o = o, .gpus = gv_machine_component(m, m->n_levels)};
	const struct context c = {.base = 0, .copies = 1};
	size_t n = x.gpus, i, w, best;
	struct need *need = gv_xcalloc(s->n * (n + 1), sizeof(*need));
	double *bytes = gv_xcalloc(n + 1, sizeof(*bytes));
	struct least_memory least = {.bytes = INFINITY};

	for (i = s->n - 1; i-- > 0;)
		from_prefix(need, &x, i, limit, bytes);
	for (w = best = o->use == USE_ALL ? n : 1; w <= n; w++)
		if (need[w].bytes < need[best].bytes)
			best = w;
	if (isfinite(need[best].bytes))
		for (i = 0, w = best; i + 1 < s->n;) {
			const struct need *at = &need[i * (n + 1) + w];
			size_t in_flight = search_in_flight(&x, &c, w, at->m);

			if (bytes_of(&x, i, at->to, in_flight) == need[best].bytes) {
				least = (struct least_memory){
				    need[best].bytes, i, at->to, at->m, in_flight};
				break;
			}
			w -= at->m;
			i = at->to;
		}
	free(need);
	free(bytes);
	return least;
}

struct least_memory
plan_least_memory(
    const struct ideals *s, const struct gv_machine *m, const struct search_options *o)
{
	struct least_memory least = {.bytes = INFINITY};
	struct ideals few;
	uint32_t *pick;

	/* what is possible among few prefixes limits the stages that are looked at */
	if (s->n > 2 * FEW) {
		pick = gv_xcalloc(s->n, sizeof(*pick));
		ideals_pick(&few, s, pick, search_few(pick, s, FEW));
		least = least_within(&few, m, o, INFINITY);
		ideals_free(&few);
		free(pick);
	}
	return least_within(s, m, o, least.bytes * (1 + 1e-9));
}
