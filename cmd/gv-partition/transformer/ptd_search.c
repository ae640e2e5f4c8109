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
		try_plan(s, k);
	}
}

/* Schedules of virtual stages, or of none. */
static void
try_schedules(const struct search *s, struct ptd_plan *k)
{
	int i, wanted = s->pins->schedule;

	for (i = 0; i < PTD_SCHEDULES; i++) {
		if ((i == PTD_INTERLEAVED) != (k->v > 1) || (wanted >= 0 && wanted != i))
			continue;
		if (wanted < 0 && i != PTD_FLUSH && i != PTD_INTERLEAVED)
			continue;
		k->schedule = (enum ptd_schedule)i;
		try_recomputes(s, k);
	}
}

static void
try_batches(const struct search *s, struct ptd_plan *k)
{
	size_t each, layers = ptd_stage_layers(s->x, k);

	if ((size_t)s->x->batch % k->d != 0)
		return;
	each = (size_t)s->x->batch / k->d;
	for (k->b = 1; k->b <= each; k->b++) {
		if (!part(k->b, each, s->pins->b))
			continue;
		for (k->v = 1; k->v <= layers; k->v++)
			if (part(k->v, layers, s->pins->v) &&
			    (k->v == 1 || (k->p > 1 && k->last == layers &&
					      each / k->b % k->p == 0)))
				try_schedules(s, k);
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
	if (x->plan.v != y->plan.v)
		return x->plan.v < y->plan.v ? -1 : 1;
	if (x->plan.last != y->plan.last)
		return x->plan.last > y->plan.last ? -1 : 1;
	if (x->plan.b != y->plan.b)
		return x->plan.b > y->plan.b ? -1 : 1;
	if (x->plan.recompute != y->plan.recompute)
		return x->plan.recompute < y->plan.recompute ? -1 : 1;
	return (x->plan.schedule > y->plan.schedule) -
	       (x->plan.schedule < y->plan.schedule);
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
		if (!part(k.t, heads, pins->t) || !part(k.t, (size_t)x->ffn, 0) ||
		    !part(k.t, m->gpus, 0) || (m->node % k.t != 0 && k.t % m->node != 0))
			continue;
		rest = m->gpus / k.t;
		for (k.p = 1; k.p <= layers && k.p <= rest; k.p++) {
			if (!part(k.p, rest, pins->p))
				continue;
			k.d = rest / k.p;
			if (pins->d == 0 || pins->d == k.d)
				try_lengths(&s, &k);
		}
	}
	if (r->n > 0)
		qsort(r->row, r->n, sizeof(*r->row), compare);
}

void
ptd_rows_free(struct ptd_rows *r)
{
	free(r->row);
	memset(r, 0, sizeof(*r));
}
