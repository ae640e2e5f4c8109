/* One level of the search: what may be of use, and the least times. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gv-partition/search/search.h"

static const double above = 1 + 1e-12; /* room for rounding */

/* Tells of a pass over the prefixes of the outermost level. */
void
column_tell(const struct column *k, size_t done)
{
	if (k->x->o->progress != NULL && k->level + 1 == k->x->m->n_levels)
		k->x->o->progress(done, k->size);
}

/* ---- which prefixes ---- */

static void
take_prefixes(struct column *k, const struct source *source, size_t n)
{
	const struct ideals *s = k->x->s;
	unsigned char *in = gv_xcalloc(s->n, 1);
	size_t i, at, size = 0;

	for (i = 0; i < n; i++) {
		uint32_t from = source[i].prefix;

		in[from] = 1;
		for (at = s->sup_at[from]; at < s->sup_at[from + 1]; at++)
			if (s->sup[at] < k->end)
				in[s->sup[at]] = 1;
	}
	for (i = source[0].prefix; i < k->end; i++)
		size += in[i] = in[i] && ideals_sub(s, i, k->end);
	in[k->end] = 1;
	k->size = size + 1;
	k->prefix = gv_xcalloc(k->size, sizeof(*k->prefix));
	k->at = gv_xcalloc(s->n, sizeof(*k->at));
	for (i = source[0].prefix, size = 0; i <= k->end; i++)
		if (in[i]) {
			k->prefix[size] = (uint32_t)i;
			k->at[i] = (uint32_t)++size;
		}
	free(in);
}

/* ---- how many components are needed ---- */

/* What a stage takes at least on one component. */
static struct stage_size
least_stage(const struct column *k, size_t i, size_t j)
{
	const struct ideals *s = k->x->s;
	struct stage_size size = search_stage(k->x, i, j);

	if (k->x->o->rules.recompute == RECOMPUTE_FULL)
		size.time_s += s->forward_s[j] - s->forward_s[i];
	size.time_s /= k->gpus;
	return size;
}

/*
 * The fewest replicas with which a stage between two prefixes can fit into memory, with
 * so many components behind it at least; more than there are: none.
 */
static size_t
fewest_to_fit(const struct column *k, size_t i, size_t j, size_t behind)
{
	const struct search *x = k->x;
	const struct ideals *s = x->s;
	size_t kept, recomputed, most, gpus = k->c.base + k->c.copies * behind;

	if (k->level > 0) {
		/* its stages have all weights and activations, once, on its GPUs */
		struct stage_size size = {.parameter = s->parameter[j] - s->parameter[i]};
		double activation = s->activation[j] - s->activation[i];
		bool recompute = x->o->rules.recompute != RECOMPUTE_NONE;

		return stage_memory(&x->o->rules, &size, activation, 1, recompute) <=
			       x->o->rules.memory * k->gpus
			   ? 1
			   : k->n + 1;
	}
	search_flights(x, i, j, &kept, &recomputed);
	most = kept > recomputed ? kept : recomputed;
	if (most == 0)
		return k->n + 1;
	gpus = stage_gpus_fewest(&x->o->rules, gpus, most);
	return gpus < SIZE_MAX ? (gpus + k->c.copies - 1) / k->c.copies : k->n + 1;
}

/* The fewest replicas up to most that a stage can have within the limit; more than most: none. */
static size_t
fewest(const struct column *k, size_t a, size_t b, size_t most)
{
	const struct search *x = k->x;
	size_t i = k->prefix[a], j = k->prefix[b], m, n;
	struct stage_size size = least_stage(k, i, j);
	bool first = k->source_s[a] >= 0;

	if (x->fewest != NULL)
		m = x->fewest(x->ctx, &size, first, k->limit_s, most);
	else
		m = stage_fewest(
		    &x->o->rules, x->m, k->level, &size, first, k->limit_s, 1, most);
	if (m > most || !search_limited(x))
		return m;
	n = fewest_to_fit(k, i, j, k->behind[b]);
	return n > m ? n : m;
}

static size_t
most_replicas(const struct column *k)
{
	size_t most = k->x->o->straight ? 1 : stage_replicas_most(&k->x->o->rules);

	return most < k->n ? most : k->n;
}

static void
count_behind(struct column *k)
{
	const struct ideals *s = k->x->s;
	size_t most = most_replicas(k), a, at;

	k->behind[k->size - 1] = 0;
	for (a = k->size - 1; a-- > 0;) {
		size_t i = k->prefix[a], best = k->n + 1;

		column_tell(k, k->size - a);

		for (at = s->sup_at[i]; at < s->sup_at[i + 1] && s->sup[at] <= k->end;
		     at++) {
			size_t j = s->sup[at], b = k->at[j], m, up;

			if (b-- == 0 || k->behind[b] + (size_t)1 >= best ||
			    !column_can(k, i, j, best - 1 - k->behind[b]))
				continue;
			up = best - 1 - k->behind[b];
			m = fewest(k, a, b, up < most ? up : most);
			if (m <= most && m <= up)
				best = m + k->behind[b];
		}
		k->behind[a] = (uint16_t)best;
	}
}

static void
count_before(struct column *k)
{
	const struct ideals *s = k->x->s;
	size_t most = most_replicas(k), a, at;

	for (a = 0; a < k->size; a++)
		k->before[a] = k->source_s[a] >= 0 ? 0 : (uint16_t)(k->n + 1);
	for (a = 0; a + 1 < k->size; a++) {
		size_t i = k->prefix[a];

		column_tell(k, a);
		if ((size_t)k->before[a] + k->behind[a] > k->n)
			continue;
		for (at = s->sup_at[i]; at < s->sup_at[i + 1] && s->sup[at] <= k->end;
		     at++) {
			size_t j = s->sup[at], b = k->at[j], m, up;

			if (b-- == 0 || k->before[a] + (size_t)1 >= k->before[b] ||
			    k->before[a] + (size_t)1 + k->behind[b] > k->n ||
			    !column_can(k, i, j, k->before[b] - 1U - k->before[a]))
				continue;
			up = k->before[b] - 1U - k->before[a];
			m = fewest(k, a, b, up < most ? up : most);
			if (m <= most && m <= up)
				k->before[b] = (uint16_t)(k->before[a] + m);
		}
	}
}

struct span
column_span(const struct column *k, size_t a, size_t b)
{
	size_t used = (size_t)k->before[a] + k->behind[b], most = most_replicas(k);
	struct span none = {1, 0}, span;

	if (used >= k->n)
		return none;
	span.high = k->n - used < most ? k->n - used : most;
	span.low = fewest(k, a, b, span.high);
	return span;
}

void
column_open(struct column *k, const struct search *x, size_t level,
    const struct context *c, uint32_t end, const struct source *source, size_t n)
{
	size_t i;

	memset(k, 0, sizeof(*k));
	k->x = x;
	k->level = level;
	k->n = x->m->gpus[level];
	k->c = *c;
	k->end = end;
	take_prefixes(k, source, n);
	k->source_s = gv_xcalloc(k->size, sizeof(*k->source_s));
	k->before = gv_xcalloc(k->size, sizeof(*k->before));
	k->behind = gv_xcalloc(k->size, sizeof(*k->behind));
	for (i = 0; i < k->size; i++)
		k->source_s[i] = -1;
	for (i = 0; i < n; i++) {
		double limit = source[i].limit_s * above;

		k->source_s[k->at[source[i].prefix] - 1] = limit;
		if (limit > k->limit_s)
			k->limit_s = limit;
	}
	k->gpus = (double)gv_machine_component(x->m, level);
	k->work_s = k->limit_s * k->gpus * (1 + 1e-9);
	count_behind(k);
	count_before(k);
	if (level > 0)
		times_below(k);
}

void
column_close(struct column *k)
{
	free(k->prefix);
	free(k->at);
	free(k->source_s);
	free(k->before);
	free(k->behind);
	memset(k, 0, sizeof(*k));
}

/* ---- values ---- */

/*
 * Least times from the a-th prefix to the end on w components each, over the arcs
 * that leave it; in first [n + 1] where the stage is the first.
 */
static void
relax(const struct column *k, const struct arcs *arcs, size_t a, double *best,
    double *first)
{
	size_t stride = k->n + 1, most = k->n - k->before[a], i, w;
	double *row = best + a * stride;

	for (w = 0; w < stride; w++)
		first[w] = INFINITY;
	for (i = 0; i < arcs->n; i++) {
		const struct arc *arc = &arcs->arc[i];
		size_t b = k->at[arc->to] - 1;
		const double *rest = best + b * stride;

		for (w = arc->m + k->behind[b]; w <= most; w++) {
			double t = rest[w - arc->m];
			double next = arc->next > t ? arc->next : t;
			double as_first = arc->first > t ? arc->first : t;

			if ((as_first >= first[w] && next >= row[w]) ||
			    !arc_fits(k, arc, w))
				continue;
			if (next < row[w])
				row[w] = next;
			if (as_first < first[w])
				first[w] = as_first;
		}
	}
}

void
column_times(const struct column *k, struct source *source, size_t n)
{
	size_t stride = k->n + 1, a, w;
	double *best = gv_xcalloc(k->size * stride, sizeof(*best));
	double *first = gv_xcalloc(stride, sizeof(*first));
	struct arcs arcs = {0};

	for (a = 0; a < k->size * stride; a++)
		best[a] = INFINITY;
	best[(k->size - 1) * stride] = 0; /* at the end nothing is left to do */
	for (a = k->size - 1; a-- > 0;) {
		column_tell(k, k->size - a);
		if ((size_t)k->before[a] + k->behind[a] <= k->n) {
			arcs.n = 0;
			arcs_from(&arcs, k, a);
			relax(k, &arcs, a, best, first);
		}
		if (k->source_s[a] < 0)
			continue;
		n--; /* they stand in the order of their prefixes */
		source[n].time_s = INFINITY;
		if ((size_t)k->before[a] + k->behind[a] > k->n)
			continue;
		for (w = search_whole(k->x, k->level) ? k->n : 1; w <= k->n; w++)
			if (first[w] < source[n].time_s)
				source[n].time_s = first[w];
	}
	free(arcs.arc);
	free(best);
	free(first);
}
