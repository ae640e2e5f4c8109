/* Progressive filling: its stages, and lists of what rises in each. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "filling.h"
#include "lp/tolerance.h"

/* ---- stages ---- */

/*
 * While quotas of a depth are filled up to, their nodes rise by their quotas in one unit
 * of time; then all nodes at the top by their weights, for ever.
 */
static void
begin(struct gv_filling *f, bool quotas, size_t depth)
{
	size_t k;

	f->time = 0;
	f->limit = quotas ? 1 : INFINITY;
	for (k = 0; k < f->n_nodes; k++) {
		struct gv_filling_node *node = &f->node[k];

		node->root = quotas ? node->depth == depth && node->quota > 0
				    : node->parent == SIZE_MAX;
		node->speed = quotas ? node->quota : node->weight;
	}
}

bool
gv_filling_next(struct gv_filling *f)
{
	if (isinf(f->limit))
		return false;
	if (f->stage > 0) {
		f->stage--;
		begin(f, true, f->stage);
	} else {
		begin(f, false, 0);
	}
	return true;
}

static size_t
node_of(const struct gv_filling *f, size_t job)
{
	const double *entity = f->p->number[GV_NUMBER_ENTITY];

	return entity != NULL ? (size_t)entity[job] : 0;
}

/* [n_nodes] which nodes rise, by themselves or in another; the caller's. */
static bool *
rising_nodes(const struct gv_filling *f)
{
	bool *rises = gv_xcalloc(f->n_nodes, sizeof(*rises));
	size_t k;

	for (k = 0; k < f->n_nodes; k++) {
		const struct gv_filling_node *node = &f->node[f->order[k]];

		rises[f->order[k]] =
		    node->root || (node->parent != SIZE_MAX && rises[node->parent]);
	}
	return rises;
}

size_t
gv_filling_rising(const struct gv_filling *f)
{
	bool *rises = rising_nodes(f);
	size_t i, n = 0;

	for (i = 0; i < f->p->n; i++)
		n += !f->frozen[i] && rises[node_of(f, i)];
	free(rises);
	return n;
}

/* ---- lists ---- */

/* What nodes have, and what more they can have. */
static void
add_up(struct gv_filling *f, const bool *rises)
{
	const struct gv_problem *p = f->p;
	size_t i, k;

	for (k = 0; k < f->n_nodes; k++)
		f->node[k].have = f->node[k].room = 0;
	for (i = 0; i < p->n; i++) {
		struct gv_filling_node *node = &f->node[node_of(f, i)];

		node->have += p->count[i] * f->have[i];
		if (!f->frozen[i] && rises[node_of(f, i)])
			node->room += p->count[i] * (f->most[i] - f->have[i]);
	}
	for (k = f->n_nodes; k-- > 0;) {
		const struct gv_filling_node *node = &f->node[f->order[k]];

		if (node->parent == SIZE_MAX)
			continue;
		f->node[node->parent].have += node->have;
		f->node[node->parent].room += node->room;
	}
}

/* How much later than all that is at l now it rises which has so much. */
static double
later(double have, double weight, double l)
{
	double start = have / weight - l;

	return start > GV_TOL_DUST * l ? start : 0;
}

struct key {
	size_t list;
	double key;
	size_t id;
};

static int
by_list(const void *a, const void *b)
{
	const struct key *x = a;
	const struct key *y = b;

	if (x->list != y->list)
		return x->list < y->list ? -1 : 1;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static double
start_of_job(const struct gv_filling *f, size_t i)
{
	const struct gv_filling_node *node = &f->node[node_of(f, i)];

	return f->floor[i] > 0 && !f->fifo
		   ? later(f->have[i], f->p->weight[i], node->level)
		   : 0;
}

static double
start_of_node(const struct gv_filling *f, size_t k)
{
	const struct gv_filling_node *node = &f->node[k];

	return node->floors ? later(node->have, node->weight, f->node[node->parent].level)
			    : 0;
}

/* Keys of all that is active, in order; how many. */
static size_t
make_keys(const struct gv_filling *f, const bool *rises, struct key *key)
{
	const struct gv_problem *p = f->p;
	size_t i, k, n = 0;

	for (i = 0; i < p->n; i++)
		if (!f->frozen[i] && rises[node_of(f, i)])
			key[n++] = (struct key){node_of(f, i),
			    f->fifo ? p->number[GV_NUMBER_POSITION][i]
				    : start_of_job(f, i) +
					  (f->most[i] - f->have[i]) / p->weight[i],
			    i};
	for (k = 0; k < f->n_nodes; k++)
		if (rises[k] && !f->node[k].root && f->node[k].room > 0)
			key[n++] = (struct key){f->node[k].parent,
			    start_of_node(f, k) + f->node[k].room / f->node[k].weight,
			    p->n + k};
	qsort(key, n, sizeof(*key), by_list);
	return n;
}

static struct gv_active_item
make_item(const struct gv_filling *f, const struct key *key)
{
	const struct gv_problem *p = f->p;
	size_t i = key->id;

	if (i >= p->n)
		return (struct gv_active_item){.job = SIZE_MAX,
		    .node = i - p->n,
		    .most = f->node[i - p->n].room,
		    .weight = f->node[i - p->n].weight,
		    .count = 1,
		    .start = start_of_node(f, i - p->n),
		    .room = key->key,
		    .rest = f->node[i - p->n].weight};
	return (struct gv_active_item){.job = i,
	    .have = f->have[i],
	    .most = f->most[i],
	    .weight = p->weight[i],
	    .count = p->count[i],
	    .start = start_of_job(f, i),
	    .room = key->key,
	    .rest = p->count[i] * p->weight[i]};
}

static int
by_time(const void *a, const void *b)
{
	const struct gv_filling_event *x = a;
	const struct gv_filling_event *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* What begins and what stops in a node, in order. */
static void
list_events(struct gv_filling *f, const struct gv_filling_node *node)
{
	struct gv_filling_event *event = &f->event[2 * node->first];
	size_t k, n = 0;

	for (k = node->first; k < node->end; k++) {
		const struct gv_active_item *r = &f->active[k];
		double slope = r->count * r->weight;

		event[n++] = (struct gv_filling_event){r->start, slope};
		event[n++] = (struct gv_filling_event){r->room, -slope};
	}
	qsort(event, n, sizeof(*event), by_time);
}

void
gv_filling_sort(struct gv_filling *f)
{
	struct key *key = gv_xcalloc(f->p->n + f->n_nodes, sizeof(*key));
	bool *rises = rising_nodes(f);
	size_t k;

	add_up(f, rises);
	f->n_active = make_keys(f, rises, key);
	for (k = 0; k < f->n_nodes; k++) {
		struct gv_filling_node *node = &f->node[k];

		node->first = node->end = 0;
		node->waits = false;
		node->start = node->floors ? later(node->have, node->speed, f->time) : 0;
	}
	for (k = f->n_active; k-- > 0;) {
		struct gv_filling_node *node = &f->node[key[k].list];

		f->active[k] = make_item(f, &key[k]);
		if (node->end == 0)
			node->end = k + 1;
		else
			f->active[k].rest += f->active[k + 1].rest;
		node->first = k;
		node->waits = node->waits || f->active[k].start > 0;
	}
	for (k = 0; k < f->n_nodes; k++)
		if (f->node[k].waits)
			list_events(f, &f->node[k]);
	free(rises);
	free(key);
}
