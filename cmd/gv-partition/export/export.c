#include "export.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"

const char *const export_name[EXPORTS] = {
    "megatron", "deepspeed", "torch", "torch-schedule", "pipedream", "alpa"};

/* The rows, if that is an order in which layers can run; else by stages. */
static uint32_t *
order_layers(const struct gv_graph *g, const struct gv_plan *p)
{
	uint32_t *order = gv_xcalloc(g->n, sizeof(*order)), *by_stage;
	size_t i, k, n = 0;

	for (i = 0; i < g->n; i++)
		order[i] = (uint32_t)i;
	for (i = 0; i < g->n_edges && g->edge[i].src < g->edge[i].dst; i++)
		;
	if (i == g->n_edges)
		return order;
	gv_graph_order(g, order); /* there is one: gv_layers_read looked */
	by_stage = gv_xcalloc(g->n, sizeof(*by_stage));
	for (k = 0; k < p->n; k++)
		for (i = 0; i < g->n; i++)
			if (p->of[order[i]] == k)
				by_stage[n++] = order[i];
	free(order);
	return by_stage;
}

/* ---- what the programs can do ---- */

static int
check_sequence(const char *name, const struct export_plan *x, struct gv_error *e)
{
	struct gv_cell a, b;
	char qa[GV_QUOTE_LEN], qb[GV_QUOTE_LEN];
	size_t i;

	for (i = 1; i < x->l->g.n; i++) {
		if (export_stage(x, i) >= export_stage(x, i - 1))
			continue;
		a = export_id(x, i - 1);
		b = export_id(x, i);
		return gv_error_set(e,
		    "--export=%s needs stages in the order of the rows: layer %s is in "
		    "stage %zu, %s behind it in stage %zu",
		    name, gv_quote(qa, a.s, a.len), export_stage(x, i - 1),
		    gv_quote(qb, b.s, b.len), export_stage(x, i));
	}
	return 0;
}

static int
check_replicas(const char *name, const struct export_plan *x, struct gv_error *e)
{
	size_t i;

	for (i = 1; i < x->pipe->n; i++)
		if (x->pipe->stage[i].replicas != x->pipe->stage[0].replicas)
			return gv_error_set(e,
			    "--export=%s needs the same replicas on every stage: stage "
			    "0 has %zu, stage %zu has %zu; plan with --straight",
			    name, x->pipe->stage[0].replicas, i,
			    x->pipe->stage[i].replicas);
	return 0;
}

/* ---- PipeDream's runtime ---- */

static void
ranks_of_stages(struct gv_json *j, const struct gv_pipe *p)
{
	char key[32];
	size_t i, k, rank = 0;

	for (i = 0; i < p->n; i++) {
		snprintf(key, sizeof(key), "%zu", i);
		gv_json_key(j, key);
		gv_json_array(j, true);
		for (k = 0; k < p->stage[i].replicas; k++)
			gv_json_int(j, (int64_t)rank++);
		gv_json_end(j);
	}
}

/* Forward passes in front of the first backward pass: versions of the weights but one. */
static void
depths_of_stages(struct gv_json *j, const struct gv_pipe *p)
{
	char key[32];
	size_t i, gpus = 0;

	for (i = 0; i < p->n; i++)
		gpus += p->stage[i].replicas;
	for (i = 0; i < p->n; i++) {
		snprintf(key, sizeof(key), "%zu", i);
		gv_json_key(j, key);
		gv_json_int(j, (int64_t)((gpus - 1) / p->stage[i].replicas));
		gpus -= p->stage[i].replicas;
	}
}

static int
export_pipedream(const struct export_plan *x, struct gv_out *out, struct gv_error *e)
{
	struct gv_json j = {.out = out};
	size_t i;

	(void)e;
	gv_json_object(&j, false);
	gv_json_key(&j, "module_to_stage_map");
	gv_json_array(&j, true);
	for (i = 0; i < x->pipe->n; i++)
		gv_json_int(&j, (int64_t)i);
	gv_json_int(&j, (int64_t)x->pipe->n - 1); /* the loss, a module of its own */
	gv_json_end(&j);
	gv_json_key(&j, "stage_to_rank_map");
	gv_json_object(&j, false);
	ranks_of_stages(&j, x->pipe);
	gv_json_end(&j);
	gv_json_key(&j, "stage_to_depth_map");
	gv_json_object(&j, false);
	depths_of_stages(&j, x->pipe);
	gv_json_end(&j);
	gv_json_end(&j);
	return 0;
}

/* ---- Alpa ---- */

static void
alpa_shapes(struct gv_out *out, const struct export_plan *x, bool physical)
{
	size_t i, l, all;

	for (i = 0; i < x->p->n; i++) {
		const struct gv_stage *s = &x->p->stage[i];

		for (all = 1, l = 0; l < x->m->n_levels; l++)
			all *= s->replicas[l];
		/* the innermost level is a host */
		gv_out_fmt(out, "%s(%zu, %zu)", i > 0 ? ", " : "",
		    physical ? all / s->replicas[0] : all, physical ? s->replicas[0] : 1);
	}
}

static int
export_alpa(const struct export_plan *x, struct gv_out *out, struct gv_error *e)
{
	size_t i, v, n;

	(void)e;
	gv_out_str(out, "ManualStageOption(forward_stage_layer_ids=[");
	for (i = 0; i < x->p->n; i++) {
		gv_out_str(out, i > 0 ? ", [" : "[");
		for (n = 0, v = 0; v < x->l->g.n; v++)
			if (export_stage(x, v) == i)
				gv_out_fmt(out, "%s%zu", n++ > 0 ? ", " : "", v);
		gv_out_char(out, ']');
	}
	gv_out_str(out, "], submesh_physical_shapes=[");
	alpa_shapes(out, x, true);
	gv_out_str(out, "], submesh_logical_shapes=[");
	alpa_shapes(out, x, false);
	gv_out_str(out, "], submesh_autosharding_option_dicts=[");
	for (i = 0; i < x->p->n; i++)
		gv_out_str(out, i > 0 ? ", {}" : "{}");
	gv_out_str(out, "])\n");
	return 0;
}

/* ---- all ---- */

static const struct {
	bool sequence; /* it cuts a sequence of layers */
	bool equal;    /* as many replicas of each stage */
	bool chunks;   /* a GPU may have several stages */
	int (*write)(const struct export_plan *x, struct gv_out *out, struct gv_error *e);
} formats[EXPORTS] = {
    [EXPORT_MEGATRON] = {true, true, true, export_megatron},
    [EXPORT_DEEPSPEED] = {true, true, false, export_deepspeed},
    [EXPORT_TORCH] = {true, true, true, export_torch},
    [EXPORT_TORCH_SCHEDULE] = {false, true, true, export_torch_schedule},
    [EXPORT_PIPEDREAM] = {false, false, false, export_pipedream},
    [EXPORT_ALPA] = {true, false, false, export_alpa},
};

int
export_write(enum export format, const struct export_plan *x, struct gv_out *out,
    struct gv_error *e)
{
	const char *name = export_name[format];
	struct export_plan ordered = *x;
	uint32_t *order = order_layers(&x->l->g, x->p);
	int rc = 0;

	ordered.order = order;
	if (!formats[format].chunks && x->pipe->chunks > 1)
		rc = gv_error_set(e, "--export=%s: a GPU has one stage there", name);
	if (rc == 0 && formats[format].sequence)
		rc = check_sequence(name, &ordered, e);
	if (rc == 0 && formats[format].equal)
		rc = check_replicas(name, &ordered, e);
	if (rc == 0)
		rc = formats[format].write(&ordered, out, e);
	free(order);
	return rc;
}
