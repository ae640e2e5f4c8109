/* The table of stages. */
#include "explain.h"

#include <stdlib.h>

#include "base/mem.h"

static const char *const names[] = {"level", "stage", "within", "layers", "first_layer",
    "last_layer", "replicas", "gpus", "recompute", "compute_s", "sync_s", "transfer_s",
    "load_s", "limit", "parameter_bytes", "activation_bytes", "in_flight",
    "memory_bytes"};

const char *
explain_limit(const struct stage_terms *t, enum cost_model model)
{
	if (t->transfer_s >= t->load_s && t->load_s > 0)
		return "transfer";
	if (model == COST_COMPAT)
		return t->sync_s > t->compute_s ? "sync" : "compute";
	return t->sync_s >= t->load_s && t->load_s > t->compute_s ? "sync" : "compute";
}

static void
write_layers(struct gv_tabw *w, const struct stage_report *s, const struct gv_plan *p,
    const struct gv_layers *l, const uint32_t *order)
{
	ptrdiff_t id = gv_frame_find(&l->rows, "node_id");
	size_t i, n = 0, first = 0, last = 0;

	for (i = 0; i < l->g.n; i++) {
		size_t v = order[i];

		if (p->of[v] < s->first || p->of[v] > s->last)
			continue;
		if (n++ == 0)
			first = v;
		last = v;
	}
	gv_tabw_int(w, (int64_t)n);
	gv_tabw_cell(w, gv_frame_cell(&l->rows, l->row[first], id));
	gv_tabw_cell(w, gv_frame_cell(&l->rows, l->row[last], id));
}

void
explain_write(const struct plan_report *r, const struct gv_plan *p,
    const struct gv_layers *l, const struct cost_rules *rules, struct gv_out *out,
    bool tsv)
{
	bool chunks = rules->schedule == GV_SCHEDULE_INTERLEAVED;
	size_t places = chunks ? r->n / rules->chunks : 0, i;
	uint32_t *order = gv_xcalloc(l->g.n, sizeof(*order));
	struct gv_tabw w;

	gv_graph_order(&l->g, order); /* there is one: gv_layers_read looked */

	gv_tabw_init(&w, out, tsv);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		gv_tabw_str(&w, names[i]);
	if (p->fleet != NULL)
		gv_tabw_str(&w, "gpu_type");
	if (places > 0)
		gv_tabw_str(&w, "place");
	gv_tabw_end(&w);
	for (i = 0; i < r->n; i++) {
		const struct stage_report *s = &r->row[i];

		gv_tabw_int(&w, (int64_t)s->level + 1);
		gv_tabw_int(&w, (int64_t)s->stage);
		gv_tabw_int(&w, (int64_t)s->within);
		write_layers(&w, s, p, l, order);
		gv_tabw_int(&w, (int64_t)s->replicas);
		gv_tabw_int(&w, (int64_t)s->gpus);
		if (s->level == 0)
			gv_tabw_str(&w, s->recompute ? "full" : "none");
		else
			gv_tabw_empty(&w);
		gv_tabw_double(&w, s->terms.compute_s);
		gv_tabw_double(&w, s->terms.sync_s);
		gv_tabw_double(&w, s->terms.transfer_s);
		gv_tabw_double(&w, s->terms.load_s);
		gv_tabw_str(&w, explain_limit(&s->terms, rules->model));
		gv_tabw_double(&w, s->size.parameter);
		gv_tabw_double(&w, s->activation);
		if (s->level == 0) {
			gv_tabw_int(&w, (int64_t)s->in_flight);
			gv_tabw_double(&w, s->memory);
		} else {
			gv_tabw_empty(&w);
			gv_tabw_empty(&w);
		}
		if (p->fleet != NULL)
			gv_tabw_str(&w, p->fleet->type[p->stage[s->first].type].name);
		if (places > 0)
			gv_tabw_int(&w, (int64_t)(s->stage % places));
		gv_tabw_end(&w);
	}
	free(order);
}
