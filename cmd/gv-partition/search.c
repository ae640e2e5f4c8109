/*
 * The search, level by level.
 *
 * An arc is a stage between two prefixes with its replicas and its load; a
 * pipeline is a path of arcs, its time the largest load.  best[i * (n + 1) + w] is
 * the least time from prefix i to the end on exactly w components, a first stage
 * excepted, whose load is less (see stage_cost).
 *
 * What prunes: a whole plan on N GPUs of time U has U N GPU seconds for C of
 * work, so slack = U N - C may be wasted.  A part with work c that takes time t
 * on w components of g GPUs makes all of them take t at least, and is of no use
 * when g w t > c + slack.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "search.h"

static const double above = 1 + 1e-12; /* room for rounding */

static bool
limited(const struct search *x)
{
	return x->o->rules.memory > 0;
}

bool
search_whole(const struct search *x, size_t level)
{
	return x->o->use == USE_ALL || (limited(x) && level + 1 < x->m->n_levels);
}

static double
between(const double *sums, size_t i, size_t k)
{
	return sums[k] - sums[i];
}

struct stage_size
search_stage(const struct search *x, size_t i, size_t k)
{
	const struct ideals *s = x->s;
	struct stage_size size = {
	    between(s->time_s, i, k), between(s->parameter, i, k), s->out[i], s->out[k]};

	return size;
}

/* The most minibatches in flight for which the stage fits, at most all GPUs. */
static size_t
most_in_flight(const struct search *x, size_t i, size_t k, bool recompute)
{
	struct stage_size size = search_stage(x, i, k);
	double activation = between(x->s->activation, i, k);
	size_t low = 0, high = x->gpus;

	while (low < high) {
		size_t mid = (low + high + 1) / 2;

		if (stage_memory(&x->o->rules, &size, activation, mid, recompute) <=
		    x->o->rules.memory)
			low = mid;
		else
			high = mid - 1;
	}
	return low;
}

size_t
search_in_flight(const struct context *c, size_t w, size_t m)
{
	size_t gpus = c->copies * m;

	return (c->base + c->copies * w + gpus - 1) / gpus;
}

/* The context inside a component: m of them on this stage, w on it and behind. */
struct context
search_inside(
    const struct search *x, size_t level, const struct context *c, size_t w, size_t m)
{
	size_t g = machine_component(x->m, level);
	struct context inside = {c->base + c->copies * g * (w - m), c->copies * m};

	return inside;
}

/* No load on the outermost level is above this. */
double
search_limit(const struct search *x, size_t level)
{
	return level + 1 == x->m->n_levels ? x->limit_s * above : INFINITY;
}

/* ---- arcs ---- */

static void
arcs_add(struct arcs *a, const struct arc *arc)
{
	a->arc = gv_xgrow(a->arc, &a->cap, a->n + 1, sizeof(*a->arc));
	a->arc[a->n++] = *arc;
}

/* The arc for stages of this size on m components, unless it wastes too much. */
static void
arc_for(struct arcs *a, const struct search *x, size_t level,
    const struct stage_size *size, double work, struct arc arc)
{
	double g = (double)machine_component(x->m, level);

	if (!isfinite(size->time_s))
		return;
	arc.first = stage_cost(&x->o->rules, x->m, level, size, arc.m, true).load_s;
	if (g * arc.m * arc.first > (work + x->slack) * above ||
	    arc.first > search_limit(x, level))
		return;
	arc.next = stage_cost(&x->o->rules, x->m, level, size, arc.m, false).load_s;
	arc.reach_s = x->s->time_s[arc.to];
	arcs_add(a, &arc);
}

/* Innermost: the stage itself, with its activations kept or recomputed. */
static void
arcs_of_stage(struct arcs *a, const struct search *x, size_t i, size_t k, size_t m)
{
	struct stage_size size = search_stage(x, i, k);
	double work = size.time_s;
	struct arc arc = {.to = (uint32_t)k, .m = (uint16_t)m, .most = (uint32_t)x->gpus};
	enum recompute how = x->o->rules.recompute;

	if (how != RECOMPUTE_FULL) {
		if (limited(x))
			arc.most = (uint32_t)most_in_flight(x, i, k, false);
		if (arc.most > 0)
			arc_for(a, x, 0, &size, work, arc);
		if (how == RECOMPUTE_NONE || arc.most == x->gpus)
			return;
	}
	arc.recompute = true;
	arc.most = (uint32_t)x->gpus;
	size.time_s += between(x->s->forward_s, i, k);
	if (limited(x))
		arc.most = (uint32_t)most_in_flight(x, i, k, true);
	if (arc.most > 0)
		arc_for(a, x, 0, &size, work, arc);
}

/* Further out: a pipeline inside components, whose time can depend on what is behind. */
static void
arcs_of_component(struct arcs *a, const struct search *x, size_t level,
    const struct lower *lower, size_t i, size_t k, size_t m)
{
	size_t n = x->m->gpus[level], w;
	struct stage_size size = search_stage(x, i, k);
	double work = size.time_s;
	struct arc arc = {.to = (uint32_t)k, .m = (uint16_t)m, .most = (uint32_t)x->gpus};

	if (!limited(x)) {
		size.time_s = lower->time[0][i * x->s->n + k];
		arc_for(a, x, level, &size, work, arc);
		return;
	}
	for (w = m; w <= n; w++) {
		size.time_s = lower->time[w * (n + 1) + m][i * x->s->n + k];
		arc.only = (uint16_t)w;
		arc_for(a, x, level, &size, work, arc);
	}
}

/*
 * How many components of a level a part with this work can have before it wastes
 * too much for sure: each of their GPUs takes the time of the whole plan.
 */
static size_t
most_components(const struct search *x, size_t level, double work)
{
	double g = (double)machine_component(x->m, level);
	size_t n = x->m->gpus[level];
	double most;

	if (!(x->least_s > 0))
		return n;
	most = (work + x->slack) * above / (g * x->least_s);
	return most < (double)n ? (size_t)most : n;
}

void
search_arcs(struct arcs *a, const struct search *x, size_t level,
    const struct lower *lower, size_t i, size_t end, size_t most)
{
	const struct ideals *s = x->s;
	size_t at, n, m;

	for (at = s->sup_at[i]; at < s->sup_at[i + 1] && s->sup[at] <= end; at++) {
		size_t k = s->sup[at];

		if (k != end && end != s->n - 1 && !ideals_sub(s, k, end))
			continue;
		n = most_components(x, level, between(s->time_s, i, k));
		if (n > 1 && x->o->straight)
			n = 1;
		if (n > most)
			n = most;
		for (m = 1; m <= n; m++) {
			if (level == 0)
				arcs_of_stage(a, x, i, k, m);
			else
				arcs_of_component(a, x, level, lower, i, k, m);
		}
	}
}

bool
search_fits(
    const struct search *x, const struct context *c, const struct arc *arc, size_t w)
{
	if (!limited(x))
		return true;
	if (arc->only != 0)
		return arc->only == w;
	return search_in_flight(c, w, arc->m) <= arc->most;
}

/* ---- values ---- */

/* How many components a pipeline from i to end needs at least. */
static size_t
fewest(const struct search *x, size_t level, size_t i, size_t end)
{
	double limit = search_limit(x, level) * (double)machine_component(x->m, level);
	double n = ceil(between(x->s->time_s, i, end) / (limit * above) - 1e-9);

	return n > 1 ? (size_t)n : 1;
}

/*
 * Best times from i to end over the arcs that leave i, on up to n components; in
 * first [n + 1] where the stage is the first.
 */
void
search_relax(const struct search *x, size_t level, const struct context *c,
    const struct arcs *arcs, size_t n, size_t end, double *best, size_t i, double *first)
{
	size_t stride = x->m->gpus[level] + 1, k, w;
	double *row = best + i * stride;

	for (w = 0; w < stride; w++)
		row[w] = first[w] = INFINITY;
	for (k = 0; k < arcs->n; k++) {
		const struct arc *a = &arcs->arc[k];
		const double *rest = best + a->to * stride;

		if (a->to == end) {
			if (a->m > n || !search_fits(x, c, a, a->m))
				continue;
			if (a->next < row[a->m])
				row[a->m] = a->next;
			if (a->first < first[a->m])
				first[a->m] = a->first;
			continue;
		}
		for (w = a->m + fewest(x, level, a->to, end); w <= n; w++) {
			double t = rest[w - a->m];
			double next = a->next > t ? a->next : t;
			double as_first = a->first > t ? a->first : t;

			if ((as_first >= first[w] && next >= row[w]) ||
			    !search_fits(x, c, a, w))
				continue;
			if (next < row[w])
				row[w] = next;
			if (as_first < first[w])
				first[w] = as_first;
		}
	}
}

/* Forgets what wastes too much. */
void
search_prune(const struct search *x, size_t level, size_t n, double work, double *row)
{
	double g = (double)machine_component(x->m, level);
	size_t w;

	for (w = 1; w <= n; w++)
		if (row[w] * g * (double)w > (work + x->slack) * above)
			row[w] = INFINITY;
}

/* ---- components ---- */

/* All arcs of a level by where they start, their replicas, and how far they reach. */
struct sorted {
	struct arcs arcs;
	size_t *at; /* [prefixes * gpus + 1] those from i with m: at[i * gpus + m - 1] */
	size_t gpus;
	double *reach_s;   /* [arcs] */
	struct hint *hint; /* [arcs] */
	uint32_t
	    *index; /* [prefixes * gpus][PARTS] about where arcs that reach so far are */
	double *scale; /* [prefixes] parts of the work behind a prefix, per second */
};

enum { PARTS = 64 };

/* Of an arc what is looked at most, in little memory. */
struct hint {
	uint32_t to;
	float load; /* no more than first and next */
};

static int
by_reach(const void *p, const void *q)
{
	const struct arc *a = p, *b = q;

	if (a->m != b->m)
		return a->m < b->m ? -1 : 1;
	if (a->reach_s != b->reach_s)
		return a->reach_s < b->reach_s ? -1 : 1;
	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return a->only < b->only ? -1 : a->only > b->only;
}

static void
index_arcs(struct sorted *o, const struct ideals *s)
{
	size_t i, m, k, list;

	o->index = gv_xcalloc(s->n * o->gpus * PARTS, sizeof(*o->index));
	o->scale = gv_xcalloc(s->n, sizeof(*o->scale));
	for (i = 0; i < s->n; i++) {
		double behind = s->time_s[s->n - 1] - s->time_s[i];

		o->scale[i] = behind > 0 ? PARTS / behind : 0;
		for (m = 1; m <= o->gpus; m++) {
			size_t at = o->at[list = i * o->gpus + m - 1];

			for (k = 0; k < PARTS; k++) {
				double reach_s =
				    s->time_s[i] + (double)k * behind / PARTS;

				while (at < o->at[list + 1] && o->reach_s[at] < reach_s)
					at++;
				o->index[list * PARTS + k] = (uint32_t)at;
			}
		}
	}
}

static struct sorted
sort_arcs(const struct search *x, size_t level, const struct lower *lower)
{
	struct sorted o = {.gpus = x->m->gpus[level]};
	size_t most = o.gpus - (level == 0 && !limited(x)); /* see try_direct */
	size_t i, k, m;

	o.at = gv_xcalloc(x->s->n * o.gpus + 1, sizeof(*o.at));
	for (i = 0; i < x->s->n; i++) {
		size_t start = o.arcs.n;

		search_arcs(&o.arcs, x, level, lower, i, x->s->n - 1, most);
		if (o.arcs.n > start)
			qsort(o.arcs.arc + start, o.arcs.n - start, sizeof(*o.arcs.arc),
			    by_reach);
		for (m = 1, k = start; m <= o.gpus; m++) {
			o.at[i * o.gpus + m - 1] = k;
			while (k < o.arcs.n && o.arcs.arc[k].m == m)
				k++;
		}
	}
	o.at[x->s->n * o.gpus] = o.arcs.n;
	o.reach_s = gv_xcalloc(o.arcs.n, sizeof(*o.reach_s));
	o.hint = gv_xcalloc(o.arcs.n, sizeof(*o.hint));
	for (k = 0; k < o.arcs.n; k++) {
		o.reach_s[k] = o.arcs.arc[k].reach_s;
		o.hint[k].to = o.arcs.arc[k].to;
		o.hint[k].load = nextafterf((float)o.arcs.arc[k].first, 0);
	}
	index_arcs(&o, x->s);
	return o;
}

/* The pipelines to one prefix. */
struct column {
	const struct search *x;
	const struct context *c;
	const struct sorted *o;
	size_t level, end;
	double gpus;           /* of a component of the level below */
	unsigned char *inside; /* [prefixes] subsets of end */
	double *best;          /* [prefixes][n + 1] */
};

/* The least times so far from a prefix, as a later and as the first part of a pipeline. */
struct bounds {
	double next, first;
};

static void
try_arc(
    const struct column *k, const struct arc *a, size_t w, double rest, struct bounds *b)
{
	double next = a->next > rest ? a->next : rest;
	double first = a->first > rest ? a->first : rest;

	if ((next >= b->next && first >= b->first) || !search_fits(k->x, k->c, a, w))
		return;
	if (next < b->next)
		b->next = next;
	if (first < b->first)
		b->first = first;
}

/* The first arc from i with m, or the end of these, that reaches at least so far. */
static size_t
reaching(const struct sorted *o, const double *done, size_t i, size_t m, double wanted)
{
	size_t list = i * o->gpus + m - 1, start = o->at[list], stop = o->at[list + 1],
	       at;
	double part = (wanted - done[i]) * o->scale[i];

	at = o->index[list * PARTS +
		      (part > 0 ? part < PARTS - 1 ? (size_t)part : PARTS - 1 : 0)];
	while (at > start && o->reach_s[at - 1] >= wanted)
		at--;
	while (at < stop && o->reach_s[at] < wanted)
		at++;
	return at;
}

/* What crosses the cut at a prefix takes a stage on m components at least so long. */
static double
transfer(const struct column *k, size_t prefix, size_t m, bool sends)
{
	const struct cost_rules *r = &k->x->o->rules;
	double n = r->model == COST_PAPER ? 1 : (double)m;

	if (r->free_transfers || (sends && r->model == COST_PAPER))
		return 0;
	return 2 * k->x->s->out[prefix] / (k->x->m->bytes_per_s[k->level] * n);
}

/* The stage from i to the column's prefix on w components. */
static void
try_direct(const struct column *k, size_t i, size_t w, struct bounds *b)
{
	const double *done = k->x->s->time_s;
	const struct sorted *o = k->o;
	struct arc buf = {0};
	struct arcs one = {.cap = 1, .arc = &buf};
	size_t at, stop = o->at[i * o->gpus + w];

	if (k->level == 0 &&
	    !limited(k->x)) { /* computing it is faster than finding it */
		if (w == 1 || !k->x->o->straight)
			arcs_of_stage(&one, k->x, i, k->end, w);
		if (one.n > 0)
			try_arc(k, &buf, w, 0, b);
		return;
	}
	at = reaching(o, done, i, w, done[k->end]);
	for (; at < stop && o->reach_s[at] == done[k->end]; at++)
		if (o->hint[at].to == k->end)
			try_arc(k, &o->arcs.arc[at], w, 0, b);
}

/*
 * Arcs from i on m components, w - m behind them.  A time below b leaves neither
 * part more work than its components can do in it, so only arcs count that
 * reach neither too far nor too short.
 */
static void
try_arcs(const struct column *k, size_t i, size_t m, size_t w, struct bounds *b)
{
	const double *done = k->x->s->time_s;
	const struct arc *arc = k->o->arcs.arc;
	size_t n = k->o->gpus, at, stop;
	double slip = 1e-12 * done[k->x->s->n - 1], receives = transfer(k, i, m, false),
	       limit;

	if (m == w) {
		try_direct(k, i, w, b);
		return;
	}
	limit = b->next > receives && b->next > b->first ? b->next : b->first;
	if (limit <= transfer(k, k->end, w - m, true))
		return;
	at = reaching(
	    k->o, done, i, m, done[k->end] - k->gpus * (double)(w - m) * limit - slip);
	stop = reaching(k->o, done, i, m, done[i] + k->gpus * (double)m * limit + slip);
	for (; at < stop; at++) {
		struct hint h = k->o->hint[at];
		double rest;

		if (h.load >= limit || !k->inside[h.to])
			continue;
		rest = k->best[h.to * (n + 1) + w - m];
		if (rest >= limit)
			continue;
		try_arc(k, &arc[at], w, rest, b);
		limit = b->next > receives && b->next > b->first ? b->next : b->first;
	}
}

/* How many components a part with this work needs in the time under trial at least. */
static size_t
fewest_components(const struct column *k, double work)
{
	const struct machine *m = k->x->m;
	double upper = (double)(k->x->gpus / machine_component(m, k->level + 1));
	double least = ceil(work / (k->gpus * k->x->limit_s * upper * above) - 1e-9);

	return least > 1 ? (size_t)least : 1;
}

/* Times from i to the column's prefix; the result is that of a whole component. */
static double
best_from(struct column *k, size_t i)
{
	const struct search *x = k->x;
	double *row = k->best + i * (k->o->gpus + 1);
	double work = between(x->s->time_s, i, k->end), time = INFINITY;
	double useful = (work + x->slack) * above / k->gpus;
	size_t n = k->o->gpus, most = most_components(x, k->level, work), w, m;
	size_t fewest = fewest_components(k, work);

	for (w = 0; w <= n; w++)
		row[w] = INFINITY;
	for (w = most; w >= fewest && w > 0; w--) {
		bool counts = most == n && (w == n || !search_whole(x, k->level));
		double least = work / (k->gpus * (double)w),
		       least_next = transfer(k, i, w, false);
		struct bounds b = {-1, -1}, was;

		if (w < n)
			b.next = useful / (double)w;
		if (counts)
			b.first = time < useful / (double)n ? time : useful / (double)n;
		was = b;
		for (m = w; m > 0; m--) {
			if (b.next <= least || b.next <= least_next) {
				row[w] = b.next < was.next ? b.next : INFINITY;
				b.next = was.next = -1;
			}
			if (b.first <= least && b.next < 0)
				break;
			try_arcs(k, i, m, w, &b);
		}
		if (b.next < was.next)
			row[w] = b.next;
		if (b.first < was.first)
			time = b.first;
	}
	return time;
}

/* Times of one component on every pair of prefixes: [n][n], INFINITY where there is none. */
static double *
component_times(const struct search *x, size_t level, const struct context *c)
{
	const struct ideals *s = x->s;
	struct column k = {.x = x, .c = c, .level = level};
	struct lower lower = {0};
	struct sorted sorted;
	double *time = gv_xcalloc(s->n * s->n, sizeof(*time));
	size_t i;

	if (level > 0)
		search_lower(&lower, x, level, c);
	sorted = sort_arcs(x, level, &lower);
	search_lower_free(&lower);
	k.o = &sorted;
	k.gpus = (double)machine_component(x->m, level);
	k.inside = gv_xcalloc(s->n, 1);
	k.best = gv_xcalloc(s->n * (sorted.gpus + 1), sizeof(*k.best));
	for (k.end = 0; k.end < s->n; k.end++) {
		for (i = 0; i < k.end; i++)
			k.inside[i] = ideals_sub(s, i, k.end);
		for (i = k.end; i-- > 0;)
			time[i * s->n + k.end] =
			    k.inside[i] ? best_from(&k, i) : INFINITY;
	}
	free(k.inside);
	free(k.best);
	free(sorted.arcs.arc);
	free(sorted.reach_s);
	free(sorted.hint);
	free(sorted.index);
	free(sorted.scale);
	free(sorted.at);
	return time;
}

void
search_lower(
    struct lower *lower, const struct search *x, size_t level, const struct context *c)
{
	size_t n = x->m->gpus[level], w, m;

	lower->n = limited(x) ? (n + 1) * (n + 1) : 1;
	lower->time = gv_xcalloc(lower->n, sizeof(*lower->time));
	if (!limited(x)) {
		lower->time[0] = component_times(x, level - 1, c);
		return;
	}
	for (w = 1; w <= n; w++)
		for (m = 1; m <= (x->o->straight ? 1 : w); m++) {
			struct context inside = search_inside(x, level, c, w, m);

			lower->time[w * (n + 1) + m] =
			    component_times(x, level - 1, &inside);
		}
}

void
search_lower_free(struct lower *lower)
{
	size_t i;

	for (i = 0; i < lower->n; i++)
		free(lower->time[i]);
	free(lower->time);
	memset(lower, 0, sizeof(*lower));
}

/* ---- the whole ---- */

static double
time_of_all(const struct ideals *s)
{
	return s->time_s[s->n - 1];
}

/* Prefixes that part the work evenly, of those alike the ones that the fewest bytes cross. */
static size_t
pick_few(uint32_t *pick, const struct ideals *s, size_t parts)
{
	uint32_t *best = gv_xcalloc(parts, sizeof(*best)); /* 0 = none */
	unsigned char *picked = gv_xcalloc(s->n, 1);
	size_t i, n = 0;

	for (i = 1; i + 1 < s->n; i++) {
		double part = time_of_all(s) > 0 ? s->time_s[i] / time_of_all(s) : 0;
		size_t k = (size_t)(part * (double)(parts - 1));

		if (best[k] == 0 || s->out[i] < s->out[best[k]])
			best[k] = (uint32_t)i;
	}
	for (i = 0; i < parts; i++)
		picked[best[i]] = 1;
	picked[0] = picked[s->n - 1] = 1;
	for (i = 0; i < s->n; i++)
		if (picked[i])
			pick[n++] = (uint32_t)i;
	free(best);
	free(picked);
	return n;
}

/* The time of the best plan among few of the prefixes: the best of all is no slower. */
static double
coarse_time(
    const struct ideals *s, const struct machine *m, const struct search_options *o)
{
	enum { FEW = 80 };
	uint32_t *pick;
	struct ideals few;
	struct search x = {.s = &few,
	    .m = m,
	    .o = o,
	    .gpus = machine_component(m, m->n_levels),
	    .slack = INFINITY,
	    .limit_s = INFINITY};
	struct plan p = {0};
	double time;

	if (s->n <= FEW * 3 / 2)
		return INFINITY;
	pick = gv_xcalloc(s->n, sizeof(*pick));
	ideals_pick(&few, s, pick, pick_few(pick, s, FEW));
	time = search_path(&p, &x);
	plan_free(&p);
	ideals_free(&few);
	free(pick);
	return time;
}

enum search_result
plan_search(struct plan *p, const struct ideals *s, size_t n_layers,
    const struct machine *m, const struct search_options *o)
{
	static const double trial[] = {1.02, 1.1, 1.25, 1.5, 2, 3, 5, 10, 100, INFINITY};
	struct search x = {
	    .s = s, .m = m, .o = o, .gpus = machine_component(m, m->n_levels)};
	double least = time_of_all(s) / (double)x.gpus, found, limit;
	double known = coarse_time(s, m, o);
	size_t i;

	x.least_s = least;
	memset(p, 0, sizeof(*p));
	for (i = 0; i < sizeof(trial) / sizeof(trial[0]); i++) {
		limit = trial[i] * (least > 0 ? least : 1);
		if (isfinite(known)) /* there is a plan, and the best is no slower */
			limit = known * above;
		x.limit_s = limit;
		x.slack = limit * (double)x.gpus - time_of_all(s);
		found = search_path(p, &x);
		if (found <= limit * above && isfinite(found))
			break;
		plan_free(p);
		if (isfinite(
			found)) { /* found outside of the trial, so perhaps not the best */
			x.limit_s = found * above;
			x.slack = found * above * (double)x.gpus - time_of_all(s);
			search_path(p, &x);
			break;
		}
	}
	if (p->n == 0)
		return SEARCH_NONE;
	p->of = search_layers(s, p, n_layers);
	return SEARCH_FOUND;
}
