/* Progressive filling: levels over time. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "filling.h"
#include "lp/tolerance.h"

static bool
in_queue(const struct gv_filling *f, const struct gv_filling_node *node)
{
	return f->fifo && f->active[node->first].job != SIZE_MAX;
}

/* The l at which a node's items, of which some start later, have risen by that. */
static double
filled_later(
    const struct gv_filling *f, const struct gv_filling_node *node, double amount)
{
	const struct gv_filling_event *event = &f->event[2 * node->first];
	size_t k, rising = 0;
	double l = 0, slope = 0;

	for (k = 0; k < 2 * (node->end - node->first); k++) {
		double takes = (event[k].at - l) * slope;

		if (amount < takes)
			return l + amount / slope;
		amount -= takes;
		l = event[k].at;
		rising += event[k].slope > 0 ? 1 : (size_t)-1;
		slope = rising > 0 ? slope + event[k].slope : 0;
	}
	return INFINITY;
}

/*
 * A node fills its items with amount; those before *at have all by then.  Of fairness
 * the others have risen by w_i times what is returned,
 * which solves sum_i n_i min(w_i l, most_i - have_i) = amount for l; in a queue the next one
 * by that, and nobody else.
 */
static double
filled(const struct gv_filling *f, const struct gv_filling_node *e, double amount,
    size_t *at)
{
	const struct gv_active_item *r = f->active;
	bool fifo = in_queue(f, e);
	double level = 0;
	size_t k, end = e->end;

	*at = e->first;
	if (e->waits)
		return filled_later(f, e, amount);
	for (k = e->first; k < end; k++) {
		double takes = fifo ? r[k].count * (r[k].most - r[k].have)
				    : (r[k].room - level) * r[k].rest;

		if (amount < takes)
			break;
		amount -= takes;
		level = r[k].room;
	}
	*at = k;
	if (k == end)
		return 0;
	if (!fifo)
		return level + amount / r[k].rest;
	amount /= r[k].count;
	return amount > GV_TOL_LEFT_OVER * r[k].most ? amount
						     : 0; /* else it is rounding */
}

/* The level of active[k], of a node of which filled() says at and by. */
static double
level_of(const struct gv_filling *f, const struct gv_filling_node *e, size_t k, size_t at,
    double by)
{
	const struct gv_active_item *r = &f->active[k];

	if (k < at)
		return r->most;
	if (in_queue(f, e))
		return k == at ? fmin(r->have + by, r->most) : r->have;
	if (e->waits)
		by = fmax(0, by - r->start);
	return fmin(r->have + r->weight * by, r->most);
}

/* What is done with each node's filling. */
typedef void node_use(void *ctx, size_t node, size_t at, double by);

/* The nodes after a further time c, parents first. */
static void
walk(const struct gv_filling *f, double c, node_use *use, void *ctx)
{
	double *amount = gv_xcalloc(f->n_nodes, sizeof(*amount));
	size_t i, k, at;

	for (i = 0; i < f->n_nodes; i++) {
		size_t id = f->order[i];
		const struct gv_filling_node *node = &f->node[id];
		double by;

		if (node->first == node->end)
			continue;
		if (node->root)
			amount[id] = fmax(0, c - node->start) * node->speed;
		by = filled(f, node, amount[id], &at);
		for (k = node->first; k < node->end; k++)
			if (f->active[k].job == SIZE_MAX)
				amount[f->active[k].node] = level_of(f, node, k, at, by);
		use(ctx, id, at, by);
	}
	free(amount);
}

struct levels {
	const struct gv_filling *f;
	double *v;
};

static void
set_levels(void *ctx, size_t id, size_t at, double by)
{
	const struct levels *l = ctx;
	const struct gv_filling_node *node = &l->f->node[id];
	size_t k;

	for (k = node->first; k < node->end; k++)
		if (l->f->active[k].job != SIZE_MAX)
			l->v[l->f->active[k].job] = level_of(l->f, node, k, at, by);
}

void
gv_filling_levels(const struct gv_filling *f, double c, double *v)
{
	struct levels l = {f, v};

	memcpy(v, f->have, f->p->n * sizeof(*v));
	walk(f, c, set_levels, &l);
}

struct weighted {
	const struct gv_filling *f;
	const double *lambda;
	double sum, block;
};

static void
add_weighted(void *ctx, size_t id, size_t at, double by)
{
	enum { BLOCK = 1024 };
	struct weighted *w = ctx;
	const struct gv_filling_node *node = &w->f->node[id];
	size_t k;

	for (k = node->first; k < node->end; k++) {
		if (w->f->active[k].job != SIZE_MAX)
			w->block += w->lambda[k] * level_of(w->f, node, k, at, by);
		if (k % BLOCK == BLOCK - 1) {
			w->sum += w->block;
			w->block = 0;
		}
	}
}

double
gv_filling_weighted(const struct gv_filling *f, const double *lambda, double c)
{
	struct weighted w = {.f = f, .lambda = lambda};

	walk(f, c, add_weighted, &w);
	return w.sum + w.block;
}

/* l rises by that in a unit of time, as node's items have amount together; *until: no longer. */
static double
speed_of(const struct gv_filling *f, const struct gv_filling_node *node, double amount,
    double *begin, double *until)
{
	const struct gv_filling_event *event = &f->event[2 * node->first];
	const struct gv_active_item *first = &f->active[node->first];
	size_t k, n = 2 * (node->end - node->first);
	double slope = 0;

	*begin = 0;
	if (in_queue(f, node)) {
		*until = first->count * (first->most - first->have) / amount;
		return amount / first->count;
	}
	if (!node->waits) {
		*until = first->room * first->rest / amount;
		return amount / first->rest;
	}
	*begin = event[0].at;
	for (k = 0; k < n && event[k].at <= *begin; k++)
		slope += event[k].slope;
	*until = (event[k].at - *begin) * slope / amount;
	return amount / slope;
}

double
gv_filling_slopes(const struct gv_filling *f, double *slope)
{
	double *amount = gv_xcalloc(f->n_nodes, sizeof(*amount));
	double least = f->limit - f->time;
	size_t i, k;

	memset(slope, 0, f->p->n * sizeof(*slope));
	for (i = 0; i < f->n_nodes; i++) {
		const struct gv_filling_node *node = &f->node[f->order[i]];
		double rises = node->root ? node->speed : amount[f->order[i]];
		double begin, until, by;

		if (node->first == node->end || !(rises > 0))
			continue;
		if (node->root && node->start > 0) {
			least = fmin(least, node->start);
			continue;
		}
		by = speed_of(f, node, rises, &begin, &until);
		least = fmin(least, until);
		for (k = node->first; k < node->end; k++) {
			const struct gv_active_item *r = &f->active[k];
			bool queue = in_queue(f, node);
			double own = queue ? by : by * r->weight;

			if (queue ? k > node->first : r->start > begin)
				continue;
			*(r->job != SIZE_MAX ? &slope[r->job] : &amount[r->node]) = own;
		}
	}
	free(amount);
	return least;
}

double
gv_filling_time(const struct gv_filling *f)
{
	double longest = 0;
	size_t i, k;

	for (i = 0; i < f->n_nodes; i++) {
		const struct gv_filling_node *node = &f->node[i];
		double sum = 0;

		for (k = node->first; k < node->end && node->root; k++)
			sum +=
			    f->active[k].count * (f->active[k].most - f->active[k].have);
		longest = fmax(longest, node->start + sum / node->speed);
	}
	return fmin(longest * (1 + GV_TOL_LATER), f->limit - f->time);
}

static void
raise_level(void *ctx, size_t id, size_t at, double by)
{
	struct gv_filling *f = ctx;
	struct gv_filling_node *node = &f->node[id];

	if (at < node->end && isfinite(by) && !in_queue(f, node))
		node->level += by;
}

void
gv_filling_go_on(struct gv_filling *f, double c)
{
	walk(f, c, raise_level, f);
	f->time += c;
}
