#include "choose_node.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "least.h"

enum { MOST_PASSES = 10 };

/* What GPU time that nobody can have counts, beside GPU time in a crowd (2 where it is full). */
static const double lost_weight = 8;

/*
 * Nodes with as many GPUs of one type and none of others, which cost a job the less the
 * less is asked of them: of a group only the first needs to be looked at.  A node of
 * several types is a group of its own.
 */
struct group {
	size_t n;
	size_t *node;          /* [n] */
	struct gv_least asked; /* [n] of their GPUs */
};

struct packing {
	const struct gv_rates *r;
	const struct gv_cluster *c;
	const double *share; /* [jobs][m] */
	size_t m;            /* types */
	size_t n;            /* nodes */
	const char **name;   /* [n] */
	struct gv_hash names;
	size_t n_groups;
	struct group *group; /* [n_groups] */
	size_t *of, *at;     /* [n] its group, its place there */
	size_t *only;        /* [n] the type of its GPUs; SIZE_MAX: several, or none */
	double *gpus;        /* [n][m] */
	double *asked;       /* [n][m] GPU time that jobs there ask for */
	double *rate;        /* [jobs][m] */
	size_t *node;        /* [jobs] SIZE_MAX = none yet */
	bool *fixed;         /* [jobs] it names its node */
	double *demand;      /* [jobs][m] GPU time on its node */
	double *try;         /* [m] */
};

/* ---- what there is ---- */

static size_t
find_node(const struct packing *p, const char *name, size_t len)
{
	return (size_t)gv_hash_find(&p->names, name, len); /* -1 is SIZE_MAX */
}

/* The type of a node's GPUs; SIZE_MAX: there are several, or none. */
static size_t
only_type(const struct packing *p, size_t node)
{
	size_t only = SIZE_MAX, j;

	for (j = 0; j < p->m; j++) {
		if (p->gpus[node * p->m + j] > 0 && only != SIZE_MAX)
			return SIZE_MAX;
		if (p->gpus[node * p->m + j] > 0)
			only = j;
	}
	return only;
}

static void
list_groups(struct packing *p)
{
	struct gv_hash alike = {0};
	double(*key)[2] = gv_xcalloc(p->n + 1, sizeof(*key));
	size_t i;

	p->group = gv_xcalloc(p->n + 1, sizeof(*p->group));
	p->of = gv_xcalloc(p->n + 1, sizeof(*p->of));
	p->at = gv_xcalloc(p->n + 1, sizeof(*p->at));
	p->only = gv_xcalloc(p->n + 1, sizeof(*p->only));
	for (i = 0; i < p->n; i++) {
		size_t type = p->only[i] = only_type(p, i);

		key[i][0] = type == SIZE_MAX ? -1 - (double)i : (double)type;
		key[i][1] = type == SIZE_MAX ? 0 : p->gpus[i * p->m + type];
		p->of[i] = gv_hash_add(&alike, (const char *)key[i], sizeof(key[i]));
		p->at[i] = p->group[p->of[i]].n++;
	}
	p->n_groups = alike.n;
	for (i = 0; i < p->n_groups; i++) {
		p->group[i].node = gv_xcalloc(p->group[i].n, sizeof(*p->group[i].node));
		gv_least_open(&p->group[i].asked, p->group[i].n);
	}
	for (i = 0; i < p->n; i++)
		p->group[p->of[i]].node[p->at[i]] = i;
	gv_hash_free(&alike);
	free(key);
}

static void
free_groups(struct packing *p)
{
	size_t i;

	for (i = 0; i < p->n_groups; i++) {
		free(p->group[i].node);
		gv_least_close(&p->group[i].asked);
	}
	free(p->group);
	free(p->of);
	free(p->at);
	free(p->only);
}

/* What is asked of a node has changed. */
static void
tell_group(struct packing *p, size_t node)
{
	if (p->only[node] != SIZE_MAX)
		gv_least_set(&p->group[p->of[node]].asked, p->at[node],
		    p->asked[node * p->m + p->only[node]]);
}

static void
list_nodes(struct packing *p)
{
	size_t i;

	p->name = gv_xcalloc(p->c->n_pools + 1, sizeof(*p->name));
	for (i = 0; i < p->c->n_pools; i++) {
		const char *name = p->c->pool[i].node;

		if (gv_hash_add(&p->names, name, strlen(name)) == p->n)
			p->name[p->n++] = name;
	}
	p->gpus = gv_xcalloc(p->n * p->m + 1, sizeof(*p->gpus));
	p->asked = gv_xcalloc(p->n * p->m + 1, sizeof(*p->asked));
	for (i = 0; i < p->c->n_pools; i++) {
		const struct gv_pool *pool = &p->c->pool[i];

		p->gpus[find_node(p, pool->node, strlen(pool->node)) * p->m +
			pool->type] += (double)pool->gpus;
	}
}

static void
list_rates(struct packing *p)
{
	size_t i;

	p->rate = gv_xcalloc(p->r->n_jobs * p->m + 1, sizeof(*p->rate));
	for (i = 0; i < p->r->n_rates; i++) {
		const struct gv_rate *rate = &p->r->rate[i];

		if (rate->type >= 0 && rate->with < 0)
			p->rate[rate->job * p->m + (size_t)rate->type] =
			    rate->steps_per_s;
	}
}

/* ---- a job on a node ---- */

static bool
fits(const struct packing *p, size_t job, size_t node, size_t type)
{
	return p->rate[job * p->m + type] > 0 &&
	       p->gpus[node * p->m + type] >= (double)p->r->job[job].scale_factor;
}

/* How much more crowded a pool is with that GPU time. */
static double
crowding(const struct packing *p, size_t node, size_t type, double more)
{
	double asked = p->asked[node * p->m + type];

	return more * (2 * asked + more) / p->gpus[node * p->m + type];
}

/* The type on which a job gets so much done with the smallest crowd; SIZE_MAX: none. */
static size_t
best_type(const struct packing *p, size_t job, size_t node, double steps, double time)
{
	double gang = (double)p->r->job[job].scale_factor, least = HUGE_VAL;
	size_t best = SIZE_MAX, j;

	for (j = 0; j < p->m; j++) {
		double rate = p->rate[job * p->m + j], x, cost;

		if (!fits(p, job, node, j))
			continue;
		x = fmin(steps / rate, time);
		cost = crowding(p, node, j, p->try[j] + gang * x) +
		       lost_weight * gang * (1 - x * rate / steps);
		if (cost < least) {
			least = cost;
			best = j;
		}
	}
	return best;
}

/*
 * What it costs to have a job on a node: p->try gets its GPU time there, first as it
 * should have it, then what else makes up for the types that the node has not.
 */
static double
cost_of(const struct packing *p, size_t job, size_t node)
{
	double gang = (double)p->r->job[job].scale_factor, steps = 0, all, time = 1;
	double cost = 0;
	size_t j;

	for (j = 0; j < p->m; j++)
		steps += p->share[job * p->m + j] * p->rate[job * p->m + j];
	all = steps;
	for (j = 0; j < p->m; j++) {
		double x = fits(p, job, node, j) ? p->share[job * p->m + j] : 0;

		p->try[j] = gang * x;
		steps -= x * p->rate[job * p->m + j];
		time -= x;
	}
	if (steps > 1e-9 * all && time > 0) {
		double x;

		j = best_type(p, job, node, steps, time);
		if (j != SIZE_MAX) {
			x = fmin(steps / p->rate[job * p->m + j], time);
			p->try[j] += gang * x;
			steps -= x * p->rate[job * p->m + j];
		}
	}
	for (j = 0; j < p->m; j++)
		if (p->try[j] > 0)
			cost += crowding(p, node, j, p->try[j]);
	return all > 0 ? cost + lost_weight * gang * fmax(0, steps / all) : cost;
}

static bool
can_be_on(const struct packing *p, size_t job, size_t node)
{
	size_t j;

	for (j = 0; j < p->m; j++)
		if (fits(p, job, node, j))
			return true;
	return false;
}

static void
take_off(struct packing *p, size_t job)
{
	size_t j;

	if (p->node[job] == SIZE_MAX)
		return;
	for (j = 0; j < p->m; j++)
		p->asked[p->node[job] * p->m + j] -= p->demand[job * p->m + j];
	tell_group(p, p->node[job]);
}

static void
put_on(struct packing *p, size_t job, size_t node)
{
	size_t j;

	cost_of(p, job, node);
	p->node[job] = node;
	for (j = 0; j < p->m; j++) {
		p->demand[job * p->m + j] = p->try[j];
		p->asked[node * p->m + j] += p->try[j];
	}
	tell_group(p, node);
}

/* Puts a job where it costs least; it stays where that is as good.  Whether it moved. */
static bool
settle(struct packing *p, size_t job)
{
	size_t before = p->node[job], best = before, i;
	double least = HUGE_VAL;

	take_off(p, job);
	if (before != SIZE_MAX)
		least = cost_of(p, job, before) * (1 - 1e-9);
	for (i = 0; i < p->n_groups; i++) {
		size_t node = p->group[i].node[gv_least_first(&p->group[i].asked)];
		double cost;

		if (node == before || !can_be_on(p, job, node))
			continue;
		cost = cost_of(p, job, node);
		if (cost < least) {
			least = cost;
			best = node;
		}
	}
	if (best != SIZE_MAX)
		put_on(p, job, best);
	return best != before;
}

/* ---- all of them ---- */

struct turn {
	size_t job;
	double gang, demand;
};

/* Gangs first, then who asks for most. */
static int
by_size(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;

	if (x->gang != y->gang)
		return x->gang > y->gang ? -1 : 1;
	if (x->demand != y->demand)
		return x->demand > y->demand ? -1 : 1;
	return x->job < y->job ? -1 : 1;
}

static struct turn *
turns(const struct packing *p)
{
	struct turn *turn = gv_xcalloc(p->r->n_jobs + 1, sizeof(*turn));
	size_t i, j;

	for (i = 0; i < p->r->n_jobs; i++) {
		turn[i].job = i;
		turn[i].gang = (double)p->r->job[i].scale_factor;
		for (j = 0; j < p->m; j++)
			turn[i].demand += turn[i].gang * p->share[i * p->m + j];
	}
	qsort(turn, p->r->n_jobs, sizeof(*turn), by_size);
	return turn;
}

static void
pack(struct packing *p)
{
	struct turn *turn = turns(p);
	bool moved = true;
	size_t i;
	int pass;

	for (i = 0; i < p->r->n_jobs; i++) {
		struct gv_cell name = p->r->job[i].node;

		p->fixed[i] = name.len > 0;
		p->node[i] = SIZE_MAX;
		if (p->fixed[i] && find_node(p, name.s, name.len) != SIZE_MAX)
			put_on(p, i, find_node(p, name.s, name.len));
	}
	for (pass = 0; pass < MOST_PASSES && moved; pass++) {
		moved = false;
		for (i = 0; i < p->r->n_jobs; i++)
			if (!p->fixed[turn[i].job])
				moved |= settle(p, turn[i].job);
	}
	free(turn);
}

/* A node that has GPUs of a type of the job's, though too few. */
static const char *
any_node(const struct packing *p, size_t job)
{
	size_t i;

	for (i = 0; i < p->c->n_pools; i++)
		if (p->rate[job * p->m + p->c->pool[i].type] > 0)
			return p->c->pool[i].node;
	return p->c->pool[0].node;
}

const char **
gv_nodes_choose(const struct gv_rates *r, const struct gv_cluster *c, const double *share)
{
	struct packing p = {.r = r, .c = c, .share = share, .m = c->n_types};
	const char **node = gv_xcalloc(r->n_jobs + 1, sizeof(*node));
	size_t i;

	list_nodes(&p);
	list_groups(&p);
	list_rates(&p);
	p.node = gv_xcalloc(r->n_jobs + 1, sizeof(*p.node));
	p.fixed = gv_xcalloc(r->n_jobs + 1, sizeof(*p.fixed));
	p.demand = gv_xcalloc(r->n_jobs * p.m + 1, sizeof(*p.demand));
	p.try = gv_xcalloc(p.m + 1, sizeof(*p.try));
	pack(&p);
	for (i = 0; i < r->n_jobs; i++)
		node[i] = p.fixed[i]              ? r->job[i].node.s
			  : p.node[i] == SIZE_MAX ? any_node(&p, i)
						  : p.name[p.node[i]];
	free_groups(&p);
	gv_hash_free(&p.names);
	free(p.name);
	free(p.gpus);
	free(p.asked);
	free(p.rate);
	free(p.node);
	free(p.fixed);
	free(p.demand);
	free(p.try);
	return node;
}
