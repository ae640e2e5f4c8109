/* What a plan on GPUs of several types costs. */
#include "fleet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct gv_machine
fleet_machine(const struct gv_fleet *f)
{
	struct gv_machine m = {.n_levels = 1,
	    .bytes_per_s = {f->bytes_per_s},
	    .sum_bytes_per_s = {f->sum_bytes_per_s}};
	size_t t;

	for (t = 0; t < f->n; t++)
		m.gpus[0] += f->type[t].gpus;
	return m;
}

static int
check_types(const struct gv_plan *p, const struct gv_fleet *f, struct gv_error *e)
{
	size_t used[GV_FLEET_TYPES] = {0}, i, t;

	for (i = 0; i < p->n; i++) {
		t = p->stage[i].type;
		used[t] += p->stage[i].replicas[0];
		if (used[t] > f->type[t].gpus)
			return gv_error_set(e,
			    "stage %zu: %zu GPUs of type %s, of which there are %zu", i,
			    used[t], f->type[t].name, f->type[t].gpus);
	}
	return 0;
}

/* All layers on each type: the report's times for comparison. */
static void
compare_types(struct plan_report *r, const struct gv_graph *g, const struct gv_fleet *f,
    const struct cost_rules *rules)
{
	double parameter = 0, least = 0;
	size_t t, v;

	r->single_s = r->data_parallel_s = INFINITY;
	for (v = 0; v < g->n; v++) {
		double best = INFINITY;

		parameter += g->layer[v].parameter;
		for (t = 0; t < f->n; t++)
			best = fmin(best, f->type[t].time_s[v]);
		least += best;
	}
	r->idle_s = least / (double)fleet_machine(f).gpus[0];
	for (t = 0; t < f->n; t++) {
		struct gv_machine m = {
		    1, {f->type[t].gpus}, {f->bytes_per_s}, {f->sum_bytes_per_s}};
		double all = 0;

		for (v = 0; v < g->n; v++)
			all += f->type[t].time_s[v];
		r->single_s = fmin(r->single_s, all);
		r->data_parallel_s =
		    fmin(r->data_parallel_s, data_parallel(rules, &m, all, parameter));
	}
}

int
fleet_evaluate(struct plan_report *r, const struct gv_plan *p, const struct gv_graph *g,
    const struct gv_fleet *f, const struct cost_rules *rules, enum ideals_kind cut,
    struct gv_error *e)
{
	struct gv_machine m = fleet_machine(f);
	struct gv_graph as = *g; /* with the times that the layers have in this plan */
	size_t v;
	int rc = check_types(p, f, e);

	if (rc != 0) {
		memset(r, 0, sizeof(*r));
		return rc;
	}
	as.layer = gv_xcalloc(g->n, sizeof(*as.layer));
	for (v = 0; v < g->n; v++) {
		const struct gv_fleet_type *t = &f->type[p->stage[p->of[v]].type];

		as.layer[v] = g->layer[v];
		as.layer[v].time_s = t->time_s[v];
		as.layer[v].forward_s = t->forward_s[v];
	}
	rc = plan_evaluate(r, p, &as, &m, rules, cut, e);
	free(as.layer);
	if (rc == 0)
		compare_types(r, g, f, rules);
	return rc;
}
