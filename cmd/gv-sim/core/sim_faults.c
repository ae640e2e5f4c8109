/* Nodes that fail at random, and are repaired. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim_parts.h"

/* When the next thing happens to a node. */
static void
draw(struct sim *s, struct sim_node *n, double from_s)
{
	double mean = n->down ? s->o->repair_s : s->o->node_mtbf_s;

	n->next_s = from_s + sim_exponential(s, SIM_OF_NODES, (size_t)(n - s->node),
				 n->drawn++, mean);
}

static void
find_first(struct sim *s)
{
	size_t i;

	s->first_node = 0;
	for (i = 1; i < s->n_nodes; i++)
		if (s->node[i].next_s < s->node[s->first_node].next_s)
			s->first_node = i;
}

/* Pools of the same name are one node, those without a name one each. */
void
sim_faults_init(struct sim *s)
{
	const struct gv_cluster *c = s->cluster;
	size_t p;

	if (!(s->o->node_mtbf_s > 0))
		return;
	s->node = gv_xcalloc(c->n_pools + 1, sizeof(*s->node));
	s->node_of = gv_xcalloc(c->n_pools + 1, sizeof(*s->node_of));
	for (p = 0; p < c->n_pools; p++) {
		size_t q = c->pool[p].node[0] == '\0' ? p : 0;

		while (q < p && strcmp(c->pool[q].node, c->pool[p].node) != 0)
			q++;
		s->node_of[p] = q < p ? s->node_of[q] : s->n_nodes++;
	}
	for (p = 0; p < s->n_nodes; p++)
		draw(s, &s->node[p], 0);
	find_first(s);
}

double
sim_fault_s(const struct sim *s)
{
	return s->n_nodes > 0 ? s->node[s->first_node].next_s : HUGE_VAL;
}

void
sim_faults_due(struct sim *s)
{
	while (sim_fault_s(s) <= s->life.now_s) {
		struct sim_node *n = &s->node[s->first_node];
		size_t p;

		n->down = !n->down;
		s->node_failures += n->down;
		for (p = 0; p < s->cluster->n_pools; p++)
			if (s->node_of[p] == s->first_node)
				sim_set_away(s, p, SIM_AWAY_FAILED, n->down);
		draw(s, n, n->next_s);
		find_first(s);
	}
}

bool
sim_any_down(const struct sim *s)
{
	size_t i;

	for (i = 0; i < s->n_nodes; i++)
		if (s->node[i].down)
			return true;
	return false;
}
