#include "filling.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lp/tolerance.h"

/* ---- the nodes ---- */

static void
take_tree(struct gv_filling *f, const struct gv_tree *t)
{
	size_t k, at;

	f->n_nodes = t->n;
	f->node = gv_xcalloc(t->n, sizeof(*f->node));
	for (k = 0; k < t->n; k++) {
		f->node[k] = (struct gv_filling_node){
		    .parent = t->parent[k], .weight = t->weight[k], .quota = t->quota[k]};
		for (at = k; t->parent[at] != SIZE_MAX; at = t->parent[at])
			f->node[k].depth++;
		if (t->quota[k] > 0 && f->node[k].depth >= f->stage)
			f->stage = f->node[k].depth + 1;
	}
}

/* Entities without a tree are all at the top; without entities there is one. */
static void
take_entities(struct gv_filling *f)
{
	const double *entity = f->p->number[GV_NUMBER_ENTITY];
	size_t i, k;

	f->n_nodes = 1;
	for (i = 0; entity != NULL && i < f->p->n; i++)
		if (entity[i] >= (double)f->n_nodes)
			f->n_nodes = (size_t)entity[i] + 1;
	f->node = gv_xcalloc(f->n_nodes, sizeof(*f->node));
	for (k = 0; k < f->n_nodes; k++)
		f->node[k] = (struct gv_filling_node){.parent = SIZE_MAX, .weight = 1};
	for (i = 0; entity != NULL && i < f->p->n; i++)
		f->node[(size_t)entity[i]].weight =
		    f->p->number[GV_NUMBER_ENTITY_WEIGHT][i];
}

/* Parents first: by depth. */
static void
order_nodes(struct gv_filling *f)
{
	size_t k, depth, n = 0;

	f->order = gv_xcalloc(f->n_nodes, sizeof(*f->order));
	for (depth = 0; n < f->n_nodes; depth++)
		for (k = 0; k < f->n_nodes; k++)
			if (f->node[k].depth == depth)
				f->order[n++] = k;
}

/* Which nodes have something in them that has a floor, or will. */
static void
mark_floors(struct gv_filling *f)
{
	const double *entity = f->p->number[GV_NUMBER_ENTITY];
	size_t i, k;

	for (i = 0; i < f->p->n; i++)
		if (f->floor[i] > 0)
			f->node[entity != NULL ? (size_t)entity[i] : 0].floors = true;
	for (k = f->n_nodes; k-- > 0;) {
		struct gv_filling_node *node = &f->node[f->order[k]];

		node->floors = node->floors || node->quota > 0;
		if (node->floors && node->parent != SIZE_MAX)
			f->node[node->parent].floors = true;
	}
}

void
gv_filling_init(
    struct gv_filling *f, const struct gv_problem *p, bool fifo, const double *need)
{
	double *equal = gv_xcalloc(p->n, sizeof(*equal));
	double *fastest = gv_xcalloc(p->n, sizeof(*fastest));
	size_t i, j;

	*f = (struct gv_filling){.p = p, .fifo = fifo};
	f->a = gv_xcalloc(p->n, p->m * sizeof(*f->a));
	f->most = gv_xcalloc(p->n, sizeof(*f->most));
	f->have = gv_xcalloc(p->n, sizeof(*f->have));
	f->frozen = gv_xcalloc(p->n, sizeof(*f->frozen));
	f->floor = gv_xcalloc(p->n, sizeof(*f->floor));
	gv_problem_equal_throughput(p, equal);
	gv_problem_fastest(p, fastest);
	for (i = 0; i < p->n; i++) {
		f->floor[i] = need[i] > 0 ? p->scale[i] * (need[i] / equal[i]) : 0;
		f->have[i] = f->floor[i];
		f->most[i] = p->scale[i] * (fastest[i] / equal[i]);
		for (j = 0; j < p->m; j++)
			f->a[i * p->m + j] =
			    p->scale[i] * (gv_problem_rate(p, i, j) / equal[i]);
	}
	free(equal);
	free(fastest);
	if (p->tree != NULL)
		take_tree(f, p->tree);
	else
		take_entities(f);
	order_nodes(f);
	mark_floors(f);
	f->active = gv_xcalloc(p->n + f->n_nodes, sizeof(*f->active));
	f->event = gv_xcalloc(p->n + f->n_nodes, 2 * sizeof(*f->event));
	gv_filling_next(f);
}

void
gv_filling_free(struct gv_filling *f)
{
	free(f->a);
	free(f->most);
	free(f->have);
	free(f->frozen);
	free(f->floor);
	free(f->node);
	free(f->order);
	free(f->active);
	free(f->event);
}

/* ---- who may use what ---- */

/* [kinds][m] the least of the rates that jobs of a kind have alone. */
static double *
least_alone(const struct gv_problem *p)
{
	size_t cells = p->together->n_kinds * p->m;
	double *least = gv_xcalloc(cells, sizeof(*least));
	size_t i, j;

	for (i = 0; i < cells; i++)
		least[i] = INFINITY;
	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			least[p->kind[i] * p->m + j] =
			    fmin(least[p->kind[i] * p->m + j], gv_problem_rate(p, i, j));
	return least;
}

/*
 * [kinds] the fastest rate in a pair that a job may have.  On a type that is
 * left to others only beside one that loses nothing by it.
 */
static double *
fastest_in_pairs(const struct gv_problem *p, const double *price, double none)
{
	const struct gv_together *t = p->together;
	double *alone = least_alone(p);
	double *fastest = gv_xcalloc(t->n_kinds, sizeof(*fastest));
	size_t k, i, j;

	for (k = 0; k < t->n_kinds; k++)
		for (i = t->first[k]; i < t->first[k + 1]; i++)
			for (j = 0; j < p->m; j++) {
				const double *r = &t->rate[(i * p->m + j) * 2];
				size_t other = t->with[i];
				bool open = !(price[j] > none);

				if (open ||
				    r[1] >= alone[other * p->m + j] * (1 - GV_TOL_LOSES))
					fastest[k] = fmax(fastest[k], r[0]);
				if (open ||
				    r[0] >= alone[k * p->m + j] * (1 - GV_TOL_LOSES))
					fastest[other] = fmax(fastest[other], r[1]);
			}
	free(alone);
	return fastest;
}

void
gv_filling_freeze_types(struct gv_filling *f, const double *price, double none)
{
	const struct gv_problem *p = f->p;
	double *pairs = p->together != NULL ? fastest_in_pairs(p, price, none) : NULL;
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		double most = 0;

		if (f->frozen[i])
			continue;
		for (j = 0; j < p->m; j++) {
			double *a = &f->a[i * p->m + j];

			if (pairs != NULL && gv_problem_rate(p, i, j) > 0)
				most = fmax(most,
				    pairs[p->kind[i]] * (*a / gv_problem_rate(p, i, j)));
			if (!(price[j] > none))
				most = fmax(most, *a);
			else if (pairs == NULL)
				*a = 0;
		}
		f->most[i] = fmin(f->most[i], most);
		if (f->most[i] <= f->have[i]) {
			f->most[i] = f->have[i];
			f->frozen[i] = true;
		}
	}
	free(pairs);
}
