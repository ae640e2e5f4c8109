/*
 * For torch.distributed.pipelining, torchtitan and NeMo AutoModel.
 *
 * gv_layers.py names the calls of a module NAME, NAME#2, NAME#3: for torch they are
 * all NAME, where it can only be cut at a module that is called once.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "export.h"

/* What torch calls a schedule; NULL: none of its own, the CSV says it. */
static const char *const schedule_class[GV_SCHEDULES] = {[GV_SCHEDULE_FLUSH] = "1F1B",
    [GV_SCHEDULE_GPIPE] = "GPipe",
    [GV_SCHEDULE_INTERLEAVED] = "Interleaved1F1B"};

static void
json_cell(struct gv_json *j, struct gv_cell c)
{
	gv_json_str(j, c.s, c.len);
}

static bool
begins_stage(const struct export_plan *x, size_t i)
{
	return i > 0 && export_stage(x, i) != export_stage(x, i - 1);
}

static bool
same_cell(struct gv_cell a, struct gv_cell b)
{
	return a.len == b.len && memcmp(a.s, b.s, a.len) == 0;
}

/* The module whose call is the layer: its name without #2, if there is a layer of that name. */
static struct gv_cell
module_of(const struct export_plan *x, size_t i)
{
	struct gv_cell id = export_id(x, i), name = id;
	size_t v;

	while (name.len > 0 && name.s[name.len - 1] >= '0' && name.s[name.len - 1] <= '9')
		name.len--;
	if (name.len == id.len || name.len < 2 || name.s[name.len - 1] != '#')
		return id;
	name.len--;
	for (v = 0; v < x->l->g.n; v++)
		if (same_cell(export_id(x, v), name))
			return name;
	return id;
}

/* The first other layer from..to - 1 that is a call of the same module; to: none. */
static size_t
other_call(const struct export_plan *x, size_t i, size_t from, size_t to)
{
	struct gv_cell name = module_of(x, i);
	size_t v;

	for (v = from; v < to; v++)
		if (v != i && same_cell(module_of(x, v), name))
			return v;
	return to;
}

/* Each stage begins at a module that is called nowhere else. */
static int
check_splits(const struct export_plan *x, struct gv_error *e)
{
	size_t v, n = x->l->g.n;
	char q[GV_QUOTE_LEN];
	struct gv_cell name;

	for (v = 0; v < n; v++) {
		name = module_of(x, v);
		if (begins_stage(x, v) && other_call(x, v, 0, n) < n)
			return gv_error_set(e,
			    "--export=torch: stage %zu begins at a call of %s, which is "
			    "called several times; torch would cut at each",
			    export_stage(x, v), gv_quote(q, name.s, name.len));
	}
	return 0;
}

static void
modules_of_stages(struct gv_json *j, const struct export_plan *x)
{
	size_t v, first = 0;

	for (v = 0; v < x->l->g.n; v++) {
		if (begins_stage(x, v))
			gv_json_end(j);
		if (v == 0 || begins_stage(x, v)) {
			gv_json_array(j, true);
			first = v;
		}
		if (other_call(x, v, first, v) == v)
			json_cell(j, module_of(x, v));
	}
	gv_json_end(j);
}

int
export_torch(const struct export_plan *x, struct gv_out *out, struct gv_error *e)
{
	const char *schedule = schedule_class[x->pipe->schedule];
	struct gv_json j = {.out = out};
	size_t v;

	if (check_splits(x, e) != 0)
		return -1;
	gv_json_object(&j, false);
	gv_json_key(&j, "split_points");
	gv_json_array(&j, true);
	for (v = 0; v < x->l->g.n; v++)
		if (begins_stage(x, v))
			json_cell(&j, module_of(x, v));
	gv_json_end(&j);
	gv_json_key(&j, "module_fqns_per_model_part");
	gv_json_array(&j, false);
	modules_of_stages(&j, x);
	gv_json_end(&j);
	gv_json_key(&j, "pipeline_parallel_degree");
	gv_json_int(&j, (int64_t)gv_pipe_places(x->pipe));
	gv_json_key(&j, "data_parallel_degree");
	gv_json_int(&j, (int64_t)x->pipe->stage[0].replicas);
	gv_json_key(&j, "schedule");
	if (schedule != NULL)
		gv_json_str(&j, schedule, strlen(schedule));
	else
		gv_json_null(&j);
	gv_json_end(&j);
	return 0;
}

/* ---- the order of passes ---- */

/* One of the replicas' pipelines, with its part of the micro-batches. */
static int
one_pipeline(struct gv_pipe *one, const struct gv_pipe *p, struct gv_error *e)
{
	size_t replicas = p->stage[0].replicas, i;

	if (p->schedule == GV_SCHEDULE_1F1B || p->schedule == GV_SCHEDULE_2BW)
		return gv_error_set(e,
		    "--export=torch-schedule: torch keeps one version of the weights, %s "
		    "more; plan with --schedule=flush",
		    gv_schedule_name[p->schedule]);
	if (p->micro_batches % replicas != 0)
		return gv_error_set(e,
		    "--export=torch-schedule: %zu micro-batches for %zu pipelines",
		    p->micro_batches, replicas);
	*one = *p;
	one->micro_batches = p->micro_batches / replicas;
	one->stage = gv_xcalloc(p->n, sizeof(*one->stage));
	for (i = 0; i < p->n; i++) {
		one->stage[i] = p->stage[i];
		one->stage[i].replicas = 1;
	}
	return gv_timetable_check(one, e);
}

int
export_torch_schedule(const struct export_plan *x, struct gv_out *out, struct gv_error *e)
{
	/* torch: I the gradients of the input, W of the weights, B both */
	const char *backward = x->pipe->schedule == GV_SCHEDULE_ZB_H1 ? "I" : "B";
	const char *const letter[GV_STEP_OPS] = {[GV_STEP_FORWARD] = "F",
	    [GV_STEP_BACKWARD] = backward,
	    [GV_STEP_WEIGHT] = "W"};
	struct gv_pipe one = {0};
	struct gv_timetable t;
	size_t i, k, n;
	int rc = one_pipeline(&one, x->pipe, e);

	if (rc == 0) {
		gv_timetable_make(&t, &one);
		for (i = 0; i < t.n; i++) {
			for (n = 0, k = 0; k < t.lane[i].n; k++) {
				const struct gv_step *s = &t.lane[i].step[k];

				if (letter[s->op] != NULL)
					gv_out_fmt(out, "%s%u%s%u", n++ > 0 ? "," : "",
					    (unsigned)s->stage, letter[s->op],
					    (unsigned)s->micro_batch);
			}
			gv_out_char(out, '\n');
		}
		gv_timetable_free(&t);
	}
	free(one.stage);
	return rc;
}
