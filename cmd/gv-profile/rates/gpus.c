#include "gpus.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"

enum which { ALL, USABLE, FREE };

static bool
counts(const struct gpus *g, const struct gpu *gpu, enum which which)
{
	switch (which) {
	case ALL:
		return true;
	case USABLE:
		return !gpu->away;
	default:
		return !gpu->away && !gpu->busy && g->runs[gpu->node] < g->most_runs;
	}
}

/* GPUs of a type by node, of which a gang of one group can have some; others are 0. */
static void
count(const struct gpus *g, size_t type, size_t group, enum which which, size_t *n)
{
	size_t i;

	for (i = 0; i < g->n_nodes; i++)
		n[i] = 0;
	for (i = 0; i < g->n; i++)
		if (g->gpu[i].type == type && g->group[g->gpu[i].node] == group &&
		    counts(g, &g->gpu[i], which))
			n[g->gpu[i].node]++;
}

/*
 * The node that is asked next for wanted GPUs: the fullest that has them all, so that large
 * gangs find room elsewhere, or else the one with most.
 */
static size_t
next_node(const struct gpus *g, const size_t *n, size_t wanted)
{
	size_t best = 0, i;

	for (i = 1; i < g->n_nodes; i++)
		if (n[best] >= wanted ? n[i] >= wanted && n[i] < n[best] : n[i] > n[best])
			best = i;
	return best;
}

/* How many nodes a gang needs for wanted GPUs, SIZE_MAX = it cannot have them; n is used up. */
static size_t
nodes_for(const struct gpus *g, size_t *n, size_t wanted)
{
	size_t nodes = 0;

	while (wanted > 0) {
		size_t node = next_node(g, n, wanted);

		if (n[node] == 0)
			return SIZE_MAX;
		wanted -= n[node] < wanted ? n[node] : wanted;
		n[node] = 0;
		nodes++;
	}
	return nodes;
}

/* The fewest nodes over all groups, SIZE_MAX = none; *group is the first that has it. */
static size_t
fewest_nodes(
    const struct gpus *g, size_t type, size_t wanted, enum which which, size_t *group)
{
	size_t *n = gv_xcalloc(g->n_nodes, sizeof(*n));
	size_t fewest = SIZE_MAX, i;

	for (i = 0; i < g->n_nodes; i++) {
		size_t nodes;

		count(g, type, g->group[i], which, n);
		nodes = nodes_for(g, n, wanted);
		if (nodes < fewest) {
			fewest = nodes;
			*group = g->group[i];
		}
	}
	free(n);
	return fewest;
}

bool
gpus_fit(const struct gpus *g, size_t type, size_t n, bool count_away)
{
	size_t group;

	return fewest_nodes(g, type, n, count_away ? ALL : USABLE, &group) != SIZE_MAX;
}

/* Takes wanted of a node's free GPUs of the type into gpu[]. */
static void
take_on(struct gpus *g, size_t type, size_t node, size_t wanted, size_t *gpu)
{
	size_t at = 0, i;

	for (i = 0; at < wanted; i++)
		if (g->gpu[i].node == node && g->gpu[i].type == type &&
		    counts(g, &g->gpu[i], FREE)) {
			g->gpu[i].busy = true;
			gpu[at++] = i;
		}
}

/* A run more, or less, on each node of gpu[n]. */
static void
count_runs(struct gpus *g, const size_t *gpu, size_t n, bool more)
{
	size_t i;

	for (i = 0; i < n; i++) {
		size_t node = g->gpu[gpu[i]].node;

		if (i == 0 || node != g->gpu[gpu[i - 1]].node)
			g->runs[node] += more ? 1 : (size_t)-1;
	}
}

bool
gpus_take(struct gpus *g, size_t type, size_t n, size_t *gpu)
{
	size_t group = 0, any, at = 0;
	size_t least = fewest_nodes(g, type, n, USABLE, &any);
	size_t *room;

	if (least == SIZE_MAX || fewest_nodes(g, type, n, FREE, &group) != least)
		return false;
	room = gv_xcalloc(g->n_nodes, sizeof(*room));
	count(g, type, group, FREE, room);
	while (at < n) {
		size_t node = next_node(g, room, n - at);
		size_t some = room[node] < n - at ? room[node] : n - at;

		take_on(g, type, node, some, gpu + at);
		at += some;
		room[node] = 0;
	}
	free(room);
	count_runs(g, gpu, n, true);
	return true;
}

void
gpus_give(struct gpus *g, const size_t *gpu, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		g->gpu[gpu[i]].busy = false;
	count_runs(g, gpu, n, false);
}

double
gpus_left_s(const struct gpus *g, const double *gpu_s, size_t n_types, double all_s,
    double most_s)
{
	double room = (double)g->n_nodes * (double)g->most_runs;
	double left_s = most_s;
	size_t type, i;

	for (type = 0; type < n_types; type++) {
		double n = 0;

		for (i = 0; i < g->n; i++)
			n += g->gpu[i].type == type && !g->gpu[i].away;
		if (n > 0)
			left_s = fmax(left_s, gpu_s[type] / n);
	}
	return room > 0 ? fmax(left_s, all_s / room) : left_s;
}
