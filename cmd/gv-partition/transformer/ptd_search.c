/* All ways to split a transformer, best first. */
#include "ptd.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct search {
	struct ptd_rows *r;
	const struct transformer *x;
	const struct ptd_machine *m;
	const struct ptd_pins *pins;
};

/* Whether k may be part of n, and is not pinned to another number. */
static bool
part(size_t k, size_t n, size_t pin)
{
	return n % k == 0 && (pin == 0 || pin == k);
}

static void
try_plan(const struct search *s, const struct ptd_plan *k)
{
	struct ptd_rows *r = s->r;
	struct ptd_row row = {.plan = *k};

	row.memory = ptd_memory(s->x, s->m, k);
	if (r->tried++ == 0 || row.memory < r->least.memory)
		r->least = row;
	if (row.memory > s->m->memory && !s->pins->any_memory)
		return;
	row.time = ptd_time(s->x, s->m, k);
	r->row = gv_xgrow(r->row, &r->cap, r->n + 1, sizeof(*r->row));
	r->row[r->n++] = row;
}

static void
try_zeros(const struct search *s, struct ptd_plan *k)
{
	const struct ptd_pins *pins = s->pins;
	size_t usual = s->m->can[PTD_DISTRIBUTED_OPTIMIZER] ? 1 : 0, zero;

	for (zero = 0; zero < PTD_ZERO_STAGES; zero++) {
		if (pins->zero >= 0 ? zero != (size_t)pins->zero
				    : !pins->any_zero && zero != usual)
			continue;
		if (zero > 1 && k->p > 1)
			break;
		/* there is nothing to split */
		if (k->c * k->d == 1 && pins->zero < 0 && zero != usual)
			continue;
		k->zero = zero;
		try_plan(s, k);
	}
}

static void
try_recomputes(const struct search *s, struct ptd_plan *k)
{
	int i;

	for (i = 0; i < PTD_RECOMPUTES; i++) {
		/* nothing would be left to compute again */
		if (i == PTD_SELECTIVE && s->m->can[PTD_FLASH_ATTENTION] &&
		    s->pins->recompute != i)
			continue;
		if (s->pins->recompute >= 0 && s->pins->recompute != i)
			continue;
		k->recompute = (enum ptd_recompute)i;
		try_zeros(s, k);
	}
}

/* Schedules of virtual stages, or of none. */
static void
try_schedules(const struct search *s, struct ptd_plan *k)
{
	int i, wanted = s->pins->schedule;

	for (i = 0; i < PTD_SCHEDULES; i++) {
		bool is_wanted =
		    wanted >= 0 ? i == wanted : i == PTD_FLUSH || i == PTD_INTERLEAVED;

		if (!is_wanted || (i == PTD_INTERLEAVED) != (k->v > 1))
			continue;
		k->schedule = (enum ptd_schedule)i;
		try_recomputes(s, k);
	}
}

static void
try_batches(const struct search *s, struct ptd_plan *k)
{
	size_t b, v, each, layers = ptd_stage_layers(s->x, k);

	if ((size_t)s->x->batch % k->d != 0)
		return;
	each = (size_t)s->x->batch / k->d;
	for (b = 1; b <= each; b++) {
		if (!part(b, each, s->pins->b))
			continue;
		k->b = b;
		for (v = 1; v <= layers; v++)
			if (part(v, layers, s->pins->v) &&
			    (v == 1 ||
				(k->p > 1 && k->last % v == 0 && each / b % k->p == 0))) {
				k->v = v;
				try_schedules(s, k);
			}
	}
}

/* Layers of the stages: equal, or fewer in the last. */
static void
try_lengths(const struct search *s, struct ptd_plan *k)
{
	size_t layers = (size_t)s->x->layers, each = (layers + k->p - 1) / k->p;

	for (; each * (k->p - 1) < layers; each++) {
		k->last = layers - each * (k->p - 1);
		if ((k->last == each || s->m->can[PTD_SHORT_LAST]) &&
		    (s->pins->last == 0 || s->pins->last == k->last))
			try_batches(s, k);
		if (k->p == 1)
			break;
	}
}

/* Whether c GPUs may share a sequence, whatever the rest. */
static bool
may_cut(const struct search *s, size_t c)
{
	bool can = s->m->can[PTD_CONTEXT_PARALLEL] && s->x->seq >= PTD_LONG;

	return c == 1 || ((can || s->pins->c > 0) && (size_t)s->x->seq % (2 * c) == 0);
}

/* How many GPUs share experts at most. */
static size_t
most_experts(const struct search *s)
{
	bool can = s->m->can[PTD_EXPERT_PARALLEL] || s->pins->e > 0;

	return can && s->x->experts > 0 ? (size_t)s->x->experts : 1;
}

/* Parts of a sequence, and GPUs that share experts, of rest copies of the layers. */
static void
try_copies(const struct search *s, struct ptd_plan *k, size_t rest)
{
	const struct ptd_pins *pins = s->pins;
	size_t most = most_experts(s);

	for (k->c = 1; k->c <= rest && k->c <= (size_t)s->x->seq; k->c++) {
		if (!part(k->c, rest, pins->c) || !may_cut(s, k->c))
			continue;
		k->d = rest / k->c;
		if (pins->d != 0 && pins->d != k->d)
			continue;
		for (k->e = 1; k->e <= rest && k->e <= most; k->e++)
			if (part(k->e, rest, pins->e) && part(k->e, most, 0))
				try_lengths(s, k);
	}
}

/* The order of the table. */
static int
compare(const void *a, const void *b)
{
	const struct ptd_row *x = a, *y = b;

	if (x->time.iteration_s != y->time.iteration_s)
		return x->time.iteration_s < y->time.iteration_s ? -1 : 1;
	if (x->memory != y->memory)
		return x->memory < y->memory ? -1 : 1;
	if (x->plan.t != y->plan.t)
		return x->plan.t < y->plan.t ? -1 : 1;
	if (x->plan.p != y->plan.p)
		return x->plan.p < y->plan.p ? -1 : 1;
	if (x->plan.c != y->plan.c)
		return x->plan.c < y->plan.c ? -1 : 1;
	if (x->plan.e != y->plan.e)
		return x->plan.e < y->plan.e ? -1 : 1;
	if (x->plan.v != y->plan.v)
		return x->plan.v < y->plan.v ? -1 : 1;
	if (x->plan.last != y->plan.last)
		return x->plan.last > y->plan.last ? -1 : 1;
	if (x->plan.b != y->plan.b)
		return x->plan.b > y->plan.b ? -1 : 1;
	if (x->plan.zero != y->plan.zero)
		return x->plan.zero < y->plan.zero ? -1 : 1;
	return (x->plan.recompute > y->plan.recompute) -
	       (x->plan.recompute < y->plan.recompute);
}

/* Whether t GPUs may share a layer, whatever the rest. */
static bool
may_slice(const struct search *s, size_t t)
{
	const struct transformer *x = s->x;
	size_t node = s->m->node;

	return part(t, (size_t)x->heads, s->pins->t) && part(t, (size_t)x->kv_heads, 0) &&
	       part(t, (size_t)x->ffn, 0) && part(t, (size_t)x->shared, 0) &&
	       (node % t == 0 || t % node == 0);
}

void
ptd_search(struct ptd_rows *r, const struct transformer *x, const struct ptd_machine *m,
    const struct ptd_pins *pins)
{
	const struct search s = {.r = r, .x = x, .m = m, .pins = pins};
	size_t heads = (size_t)x->heads, layers = (size_t)x->layers, rest;
	struct ptd_plan k;

	memset(r, 0, sizeof(*r));
	for (k.t = 1; k.t <= heads && k.t <= m->gpus; k.t++) {
		if (!part(k.t, m->gpus, 0) || !may_slice(&s, k.t))
			continue;
		rest = m->gpus / k.t;
		for (k.p = 1; k.p <= layers && k.p <= rest; k.p++)
			if (part(k.p, rest, pins->p))
				try_copies(&s, &k, rest / k.p);
	}
	if (r->n > 0)
		qsort(r->row, r->n, sizeof(*r->row), compare);
}

/* ---- a part of the GPUs ---- */

/* Whether p stages may have lengths. */
static bool
may_cut_layers(const struct search *s, size_t p)
{
	size_t layers = (size_t)s->x->layers, each = (layers + p - 1) / p;

	return (s->pins->p == 0 || s->pins->p == p) && each * (p - 1) < layers &&
	       (layers % p == 0 || s->m->can[PTD_SHORT_LAST]);
}

/* The largest c d up to most, 0 for none. */
static size_t
most_copies(const struct search *s, size_t most)
{
	size_t batch = (size_t)s->x->batch, best = 0, c, d;

	for (c = 1; c <= most && c <= (size_t)s->x->seq; c++) {
		if (!may_cut(s, c) || (s->pins->c != 0 && s->pins->c != c))
			continue;
		for (d = most / c < batch ? most / c : batch; c * d > best; d--)
			if (part(d, batch, s->pins->d))
				best = c * d;
	}
	return best;
}

/* The largest t c p d up to most, 0 for none. */
static size_t
largest(const struct search *s, size_t most)
{
	size_t best = 0, t, p, n;

	for (t = 1; t <= (size_t)s->x->heads && t <= most; t++) {
		if (!may_slice(s, t))
			continue;
		for (p = 1; p <= (size_t)s->x->layers && p <= most / t; p++) {
			if (!may_cut_layers(s, p))
				continue;
			n = t * p * most_copies(s, most / t / p);
			best = n > best ? n : best;
		}
	}
	return best;
}

void
ptd_search_part(struct ptd_rows *r, const struct transformer *x, struct ptd_machine *m,
    const struct ptd_pins *pins)
{
	const struct search s = {.r = r, .x = x, .m = m, .pins = pins};
	size_t all = m->gpus, i, n = all;

	ptd_search(r, x, m, pins);
	/* pins of less than degrees may leave nothing there, but not a hundred times */
	for (i = 0; i < 100 && r->tried == 0; i++) {
		n = n > 1 ? largest(&s, n - 1) : 0;
		if (n == 0)
			break;
		ptd_rows_free(r);
		m->gpus = n;
		ptd_search(r, x, m, pins);
	}
	if (r->tried == 0)
		m->gpus = all;
}

void
ptd_rows_free(struct ptd_rows *r)
{
	free(r->row);
	memset(r, 0, sizeof(*r));
}
