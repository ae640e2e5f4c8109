#include "assign.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/price/price.h"
#include "alloc/problem/choose_node.h"
#include "alloc/problem/nodes.h"
#include "base/mem.h"

/* Whether one objective can be held against another: it is not of what jobs have alone on a node. */
static bool
compares(const struct gv_policy *policy)
{
	return policy->measure != GV_MEASURE_QUEUE;
}

/* What jobs should have if all GPUs were on one node: [jobs][types] for free(), or NULL. */
static double *
shares_together(const struct gv_rates *r, const struct options *o,
    const struct gv_cluster *c, double *objective, struct gv_error *e)
{
	struct gv_answer_options opt = o->answer;
	struct gv_price_memory memory = {0};
	struct gv_answer a = {0};
	double *share = NULL;
	size_t i;

	opt.policy.solve.memory = &memory;
	opt.policy.solve.certify = false;
	opt.multipliers = false;
	if (gv_answer_make(&a, r, c, o->policy, &opt, e) == 0) {
		share = gv_xcalloc(r->n_jobs * c->n_types + 1, sizeof(*share));
		*objective = a.p.n > 0 && compares(o->policy) ? a.s.objective : NAN;
		for (i = 0; i < r->n_rates; i++) {
			const struct gv_rate *rate = &r->rate[i];

			if (rate->type >= 0 && rate->with < 0)
				share[rate->job * c->n_types + (size_t)rate->type] =
				    gv_answer_share(&a, rate);
		}
	}
	gv_answer_free(&a);
	gv_price_forget(&memory);
	return share;
}

/* The table of r with nodes in the column of that name. */
static void
set_nodes(struct gv_frame *out, const struct gv_rates *r, const char *const *node)
{
	const struct gv_frame *f = &r->frame;
	ptrdiff_t at = gv_frame_find(f, "node");
	size_t column = at >= 0 ? (size_t)at : f->n_columns;
	size_t n = f->n_columns + (at < 0);
	struct gv_cell *cell = gv_xcalloc(n, sizeof(*cell));
	size_t i, k;

	for (k = 0; k < f->n_columns; k++)
		cell[k] = f->name[k];
	cell[column] = (struct gv_cell){.s = "node", .len = 4};
	gv_frame_start(out, f->file, f->tsv, cell, n);
	out->header_line = f->header_line;
	for (i = 0; i < r->n_rates; i++) {
		const struct gv_rate *rate = &r->rate[i];

		for (k = 0; k < f->n_columns; k++)
			cell[k] = gv_frame_cell(f, rate->row, (ptrdiff_t)k);
		cell[column].s = node[rate->job];
		cell[column].len = strlen(node[rate->job]);
		gv_frame_add(out, cell, f->line[rate->row]);
	}
	free(cell);
}

/* That all GPUs are of some node. */
static int
check_cluster(const struct options *o, const struct gv_cluster *c, struct gv_error *e)
{
	size_t i;

	for (i = 0; i < c->n_pools; i++)
		if (c->pool[i].node[0] == '\0')
			return gv_error_set(e,
			    "%s: --nodes: GPUs of type \"%s\" have no node", o->cluster,
			    c->type[c->pool[i].type].name);
	return 0;
}

int
assign_nodes(struct gv_rates *r, const struct options *o, const struct gv_cluster *c,
    double *together, struct gv_error *e)
{
	struct gv_frame with = {0};
	const char **node;
	double *share;

	*together = NAN;
	if (!o->nodes)
		return 0;
	if (check_cluster(o, c, e) != 0)
		return -1;
	if (!gv_nodes_several(c))
		return 0;
	share = shares_together(r, o, c, together, e);
	if (share == NULL)
		return -1;
	node = gv_nodes_choose(r, c, share);
	set_nodes(&with, r, node);
	free(node);
	free(share);
	gv_rates_free(r);
	return gv_rates_from(r, &with, c, e);
}
