/* How little memory the least demanding pipeline needs. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "search.h"

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

static void
from_prefix(struct need *need, const struct search *x, size_t i, double *bytes)
{
	const struct context c = {.base = 0, .copies = 1};
	const struct ideals *s = x->s;
	/* gpipe's, of which there can be more than GPUs, depend on the stage's own alone */
	bool by_gpus = x->o->rules.schedule == SCHEDULE_GPIPE;
	size_t n = x->gpus, at, m, w, f;

	for (w = 0; w <= n; w++)
		need[i * (n + 1) + w].bytes = INFINITY;
	for (at = s->sup_at[i]; at < s->sup_at[i + 1]; at++) {
		size_t k = s->sup[at];

		for (f = 1; f <= n; f++)
			bytes[f] = bytes_of(x, i, k,
			    by_gpus ? search_in_flight(x, &c, f, f) : f);
		for (w = 1; w <= n; w++)
			for (m = k + 1 == s->n ? w : 1; m <= (x->o->straight ? 1 : w);
			     m++) {
				struct need *best = &need[i * (n + 1) + w];
				double most = bytes[by_gpus ? m : search_in_flight(x, &c, w, m)];

				if (k + 1 < s->n &&
				    need[k * (n + 1) + w - m].bytes > most)
					most = need[k * (n + 1) + w - m].bytes;
				if (most < best->bytes)
					*best =
					    (struct need){most, (uint32_t)k, (uint16_t)m};
			}
	}
}

struct least_memory
plan_least_memory(
    const struct ideals *s, const struct machine *m, const struct search_options *o)
{
	struct search x = {
	    .s = s, .m = m, .o = o, .gpus = machine_component(m, m->n_levels)};
	const struct context c = {.base = 0, .copies = 1};
	size_t n = x.gpus, i, w, best;
	struct need *need = gv_xcalloc(s->n * (n + 1), sizeof(*need));
	double *bytes = gv_xcalloc(n + 1, sizeof(*bytes));
	struct least_memory least = {.bytes = INFINITY};

	for (i = s->n - 1; i-- > 0;)
		from_prefix(need, &x, i, bytes);
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
