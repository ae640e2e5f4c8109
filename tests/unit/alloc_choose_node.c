/*
 * Nodes for jobs (alloc/problem/choose_node), against what its header says, done plainly over
 * all nodes; and that nobody would rather be on another one.
 */
#include "tap.h"

#include <math.h>
#include <stdlib.h>

#include "alloc/problem/choose_node.h"
#include "draws.h"

enum { JOBS = 16, TYPES = 3, NODES = 5 };

static char names[NODES + 1][4] = {"a", "n1", "n2", "n3", "n4", "far"};

/* What is drawn: a cluster, jobs, and what they should have. */
struct world {
	struct gv_gpu_type type[TYPES];
	struct gv_pool pool[NODES * TYPES];
	struct gv_cluster c;
	struct gv_job job[JOBS];
	struct gv_rate row[JOBS * (TYPES + 2)];
	struct gv_rates r;
	double rate[JOBS][TYPES], share[JOBS * TYPES];
};

static struct gv_cell
cell(const char *s)
{
	return (struct gv_cell){.s = s, .len = strlen(s)};
}

static void
draw_pools(struct world *w, size_t m)
{
	size_t i, j, k, n = 1 + below(NODES);
	bool alike = uniform() < .5;

	w->c = (struct gv_cluster){.n_types = m, .type = w->type, .pool = w->pool};
	for (i = 0; i < n; i++)
		for (j = 0; j < m; j++) {
			if (m > 1 && j != i % m && uniform() < .6)
				continue;
			w->pool[w->c.n_pools++] = (struct gv_pool){
			    .type = j, .gpus = alike ? 2 : below(5), .node = names[i]};
		}
	for (i = 0; i < w->c.n_pools; i++) {
		struct gv_pool swap = w->pool[i];

		k = below(i + 1);
		w->pool[i] = w->pool[k];
		w->pool[k] = swap;
	}
}

static void
draw_world(struct world *w)
{
	size_t i, j, m = 1 + below(TYPES), n = 1 + below(JOBS);
	bool round = uniform() < .5; /* numbers, of which many are equal */

	memset(w, 0, sizeof(*w));
	draw_pools(w, m);
	w->r = (struct gv_rates){.n_jobs = n, .job = w->job, .rate = w->row};
	for (i = 0; i < n; i++) {
		double left = uniform() < .1 ? 0 : uniform();

		w->job[i].id = cell("job");
		w->job[i].scale_factor = 1 + (int64_t)below(3);
		if (uniform() < .2)
			w->job[i].node = cell(names[below(NODES + 1)]);
		for (j = 0; j < m; j++) {
			double share = left * uniform();

			if (round)
				share = floor(share * 8) / 8;

			if (uniform() < .25)
				continue;
			w->rate[i][j] =
			    round ? (double)(1 << below(2)) : .2 + 2 * uniform();
			w->row[w->r.n_rates++] = (struct gv_rate){.job = i,
			    .type = (ptrdiff_t)j,
			    .with = -1,
			    .steps_per_s = w->rate[i][j]};
			w->share[i * m + j] = share;
			left -= share;
		}
		/* in a pair; of a type that is not there */
		w->row[w->r.n_rates++] =
		    (struct gv_rate){.job = i, .type = 0, .with = 0, .steps_per_s = 9};
		w->row[w->r.n_rates++] =
		    (struct gv_rate){.job = i, .type = -1, .with = -1, .steps_per_s = 9};
	}
}

/* ---- plainly ---- */

struct plan {
	const struct world *w;
	size_t m, n; /* types, nodes */
	const char *name[NODES];
	double gpus[NODES][TYPES], asked[NODES][TYPES];
	size_t node[JOBS]; /* n: none */
	double has[JOBS][TYPES];
};

static size_t
find(const struct plan *p, const char *name)
{
	size_t i = 0;

	while (i < p->n && strcmp(p->name[i], name) != 0)
		i++;
	return i;
}

static double
gang(const struct plan *p, size_t i)
{
	return (double)p->w->job[i].scale_factor;
}

static bool
fits(const struct plan *p, size_t i, size_t node, size_t j)
{
	return p->w->rate[i][j] > 0 && p->gpus[node][j] >= gang(p, i);
}

/* The square of the GPU time asked for, over the GPUs, grows by so much. */
static double
crowd(const struct plan *p, size_t node, size_t j, double more)
{
	double asked = p->asked[node][j];

	return ((asked + more) * (asked + more) - asked * asked) / p->gpus[node][j];
}

/* What makes up for steps that are missed: so long on the type where that costs least. */
static void
make_up(const struct plan *p, size_t i, size_t node, double steps, double time,
    double *has, double *done)
{
	double least = INFINITY, best_x = 0;
	size_t j, best = p->m;

	for (j = 0; j < p->m; j++) {
		double x = fmin(steps / p->w->rate[i][j], time), cost;

		if (!fits(p, i, node, j))
			continue;
		cost = crowd(p, node, j, has[j] + gang(p, i) * x) +
		       8 * gang(p, i) * (1 - x * p->w->rate[i][j] / steps);
		if (cost < least) {
			least = cost;
			best = j;
			best_x = x;
		}
	}
	if (best == p->m)
		return;
	has[best] += gang(p, i) * best_x;
	*done += best_x * p->w->rate[i][best];
}

static double
cost_of(const struct plan *p, size_t i, size_t node, double *has)
{
	const double *share = &p->w->share[i * p->m], *rate = p->w->rate[i];
	double all = 0, done = 0, time = 1, cost = 0;
	size_t j;

	for (j = 0; j < p->m; j++) {
		all += share[j] * rate[j];
		has[j] = 0;
		if (!fits(p, i, node, j))
			continue;
		has[j] = gang(p, i) * share[j];
		done += share[j] * rate[j];
		time -= share[j];
	}
	if (all - done > 1e-9 * all)
		make_up(p, i, node, all - done, time, has, &done);
	for (j = 0; j < p->m; j++)
		cost += has[j] > 0 ? crowd(p, node, j, has[j]) : 0;
	return cost + (all > 0 ? 8 * gang(p, i) * fmax(0, 1 - done / all) : 0);
}

/* The type of all GPUs of a node; m: there are several types, or none. */
static size_t
only(const struct plan *p, size_t node)
{
	size_t j, type = p->m, several = 0;

	for (j = 0; j < p->m; j++)
		if (p->gpus[node][j] > 0) {
			type = j;
			several++;
		}
	return several == 1 ? type : p->m;
}

/* Whether two nodes have as many GPUs of one type, and no others. */
static bool
same(const struct plan *p, size_t a, size_t b)
{
	size_t type = only(p, a);

	return a == b || (type < p->m && type == only(p, b) &&
			     p->gpus[a][type] == p->gpus[b][type]);
}

/* Of the nodes of a kind, that of which least is asked; p->n where this is not the first. */
static size_t
of_kind(const struct plan *p, size_t node)
{
	size_t k, best = node, type = only(p, node);

	for (k = 0; k < node; k++)
		if (same(p, k, node))
			return p->n;
	for (k = node + 1; k < p->n; k++)
		if (same(p, k, node) && p->asked[k][type] < p->asked[best][type])
			best = k;
	return best;
}

static void
put(struct plan *p, size_t i, size_t node, double sign)
{
	size_t j;

	if (node == p->n)
		return;
	if (sign > 0)
		cost_of(p, i, node, p->has[i]);
	for (j = 0; j < p->m; j++)
		p->asked[node][j] += sign * p->has[i][j];
	p->node[i] = node;
}

static bool
can_be(const struct plan *p, size_t i, size_t node)
{
	size_t j;

	for (j = 0; j < p->m; j++)
		if (fits(p, i, node, j))
			return true;
	return false;
}

/* Whether it moved. */
static bool
settle(struct plan *p, size_t i)
{
	size_t before = p->node[i], best = before, k, node;
	double least = INFINITY, has[TYPES];

	put(p, i, before, -1);
	if (before < p->n)
		least = cost_of(p, i, before, has) * (1 - 1e-9);
	for (k = 0; k < p->n; k++) {
		double cost;

		node = of_kind(p, k);
		if (node == p->n || node == before || !can_be(p, i, node))
			continue;
		cost = cost_of(p, i, node, has);
		if (cost < least) {
			least = cost;
			best = node;
		}
	}
	put(p, i, best, 1);
	return best != before;
}

/* Gangs first, then who asks for most. */
static bool
is_before(const struct plan *p, size_t a, size_t b)
{
	double at_a = 0, at_b = 0;
	size_t j;

	for (j = 0; j < p->m; j++) {
		at_a += gang(p, a) * p->w->share[a * p->m + j];
		at_b += gang(p, b) * p->w->share[b * p->m + j];
	}
	if (gang(p, a) != gang(p, b))
		return gang(p, a) > gang(p, b);
	return at_a != at_b ? at_a > at_b : a < b;
}

static void
start(struct plan *p, const struct world *w)
{
	size_t i;

	*p = (struct plan){.w = w, .m = w->c.n_types};
	for (i = 0; i < w->c.n_pools; i++) {
		size_t node = find(p, w->pool[i].node);

		if (node == p->n)
			p->name[p->n++] = w->pool[i].node;
		p->gpus[node][w->pool[i].type] += (double)w->pool[i].gpus;
	}
	for (i = 0; i < w->r.n_jobs; i++)
		p->node[i] = p->n;
	for (i = 0; i < w->r.n_jobs; i++)
		if (w->job[i].node.len > 0)
			put(p, i, find(p, w->job[i].node.s), 1);
}

/* Passes until nobody moves. */
static int
pack(struct plan *p)
{
	size_t turn[JOBS], n = p->w->r.n_jobs, i, k;
	bool moved = true;
	int passes;

	for (i = 0; i < n; i++) {
		for (k = i; k > 0 && is_before(p, i, turn[k - 1]); k--)
			turn[k] = turn[k - 1];
		turn[k] = i;
	}
	for (passes = 0; moved && passes < 10; passes++) {
		moved = false;
		for (i = 0; i < n; i++)
			if (p->w->job[turn[i]].node.len == 0)
				moved |= settle(p, turn[i]);
	}
	return passes;
}

static const char *
name_of(const struct plan *p, size_t i)
{
	const struct gv_cluster *c = &p->w->c;
	size_t k;

	if (p->w->job[i].node.len > 0)
		return p->w->job[i].node.s;
	if (p->node[i] < p->n)
		return p->name[p->node[i]];
	for (k = 0; k < c->n_pools; k++)
		if (p->w->rate[i][c->pool[k].type] > 0)
			return c->pool[k].node;
	return c->pool[0].node;
}

static void
test_plans(void)
{
	size_t k, i, differ = 0, homeless = 0, cramped = 0, again = 0;

	for (k = 0; k < 5000; k++) {
		static struct world w;
		struct plan p;
		const char **got;

		draw_world(&w);
		start(&p, &w);
		again += pack(&p) > 2;
		got = gv_nodes_choose(&w.r, &w.c, w.share);
		for (i = 0; i < w.r.n_jobs; i++) {
			double has[TYPES];
			size_t node = p.node[i], other;

			differ += strcmp(got[i], name_of(&p, i)) != 0;
			homeless += node == p.n;
			if (node == p.n || w.job[i].node.len > 0)
				continue;
			put(&p, i, node, -1);
			for (other = 0; other < p.n; other++)
				cramped += can_be(&p, i, other) &&
					   cost_of(&p, i, other, has) <
					       cost_of(&p, i, node, has) * (1 - 1e-8);
			put(&p, i, node, 1);
		}
		free(got);
	}
	ok(homeless > 100 && again > 300, "%zu can be on no node, %zu times jobs move",
	    homeless, again);
	is_int(differ, 0, "each job has the node that it has plainly");
	is_int(cramped, 0, "nobody would be better on another one");
}

int
main(void)
{
	draws_begin(44, 0, 0);
	test_plans();
	return done_testing();
}
