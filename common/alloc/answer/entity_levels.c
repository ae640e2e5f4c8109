#include "entity_levels.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "lp/tolerance.h"

/* What each job has. */
struct had {
	double *throughput, *equal, *time, *gpus; /* [n] */
};

static void
had_make(struct had *h, const struct gv_problem *p, const struct gv_solution *s)
{
	size_t i, j;

	h->throughput = gv_xcalloc(p->n, sizeof(*h->throughput));
	h->equal = gv_xcalloc(p->n, sizeof(*h->equal));
	h->time = gv_xcalloc(p->n, sizeof(*h->time));
	h->gpus = gv_xcalloc(p->n, sizeof(*h->gpus));
	gv_solution_throughput(p, s, h->throughput);
	gv_problem_equal_throughput(p, h->equal);
	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++) {
			h->time[i] += s->x[i * p->m + j];
			h->gpus[i] += p->scale[i] * s->x[i * p->m + j];
		}
	for (i = 0; i < s->n_pairs; i++) {
		const struct gv_pair *q = &s->pair[i];
		double gpus = p->scale[q->a] * q->x / 2;

		h->time[q->a] += q->x;
		h->time[q->b] += q->x;
		h->gpus[q->a] += gpus;
		h->gpus[q->b] += gpus;
	}
}

static void
had_free(struct had *h)
{
	free(h->throughput);
	free(h->equal);
	free(h->time);
	free(h->gpus);
}

/* Adds job i to its entity and to all that this one is in; weights are not looked at yet. */
static void
add_job(
    struct gv_entity_levels *l, const struct gv_problem *p, const struct had *h, size_t i)
{
	size_t k = (size_t)p->number[GV_NUMBER_ENTITY][i];

	while (k != SIZE_MAX) {
		if (k < l->names.n) { /* else a node of its entity's own jobs */
			struct gv_entity_level *v = &l->level[k];

			v->value += p->scale[i] * (h->throughput[i] / h->equal[i]);
			v->gpus += h->gpus[i];
			v->done = v->done && h->time[i] >= 1 - GV_TOL_BINDS;
		}
		k = p->tree != NULL ? p->tree->parent[k] : SIZE_MAX;
	}
}

void
gv_entity_levels_make(struct gv_entity_levels *l, const struct gv_answer *a,
    const struct gv_rates *r, const struct gv_entities *w)
{
	const struct gv_problem *p = &a->p;
	struct had h;
	size_t i, k;

	*l = (struct gv_entity_levels){0};
	if (p->number[GV_NUMBER_ENTITY] == NULL)
		return;
	gv_entities_named(&l->names, w, r, a->row);
	l->level = gv_xcalloc(l->names.n, sizeof(*l->level));
	for (k = 0; k < l->names.n; k++)
		l->level[k] = (struct gv_entity_level){.done = true,
		    .top = p->tree == NULL || p->tree->parent[k] == SIZE_MAX,
		    .quota = p->tree != NULL ? p->tree->quota[k] : 0,
		    .one_more_gpu = NAN,
		    .one_more_quota = NAN};
	had_make(&h, p, &a->s);
	for (i = 0; i < p->n; i++)
		add_job(l, p, &h, i);
	had_free(&h);
	for (k = 0; k < l->names.n; k++) {
		const struct gv_hash_key *name = &l->names.key[k];
		ptrdiff_t at =
		    w == NULL ? -1 : gv_hash_find(&w->names, name->s, name->len);

		l->level[k].value /= at < 0 ? 1 : w->weight[at];
	}
}

void
gv_entity_levels_free(struct gv_entity_levels *l)
{
	gv_hash_free(&l->names);
	free(l->level);
	*l = (struct gv_entity_levels){0};
}
