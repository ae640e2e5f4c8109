#include "table/kind.h"

#include <stdio.h>
#include <string.h>

#include "base/near.h"
#include "table/names.h"

enum { MOST = 5 };

static const struct {
	const char *name;
	const char *column[MOST]; /* NULL after the last one */
} kinds[GV_KINDS] = {
    [GV_KIND_EVENTS] = {"an events table", {"time_s", "event", "job_id"}},
    [GV_KIND_CHANGES] = {"a table of changes", {"time_s", "gpu_type", "event"}},
    [GV_KIND_STATUS] = {"a status", {"job_id", "state", "received_share", "eta_s"}},
    [GV_KIND_SCHEDULE] = {"a schedule", {"op", "stage", "micro_batch", "start_ms"}},
    [GV_KIND_STAGES] = {"a table of stages", {"stage", "load_s"}},
    [GV_KIND_STAGE_TIMES] = {"a table of stage times", {"stage", "replica", "wait_ms"}},
    [GV_KIND_PLAN] = {"a plan", {"node_id", "forward_ms", "stage", "replicas"}},
    [GV_KIND_LAYERS] = {"a table of layers", {"node_id", "forward_ms"}},
    [GV_KIND_TREES] = {"a table of trees", {"tree", "root", "weight", "src", "dst"}},
    [GV_KIND_LINKS] = {"a table of links", {"src", "dst", "gbytes_per_s"}},
    [GV_KIND_SCORES] = {"a ranking of GPUs", {"gpus", "gbytes_per_s", "class"}},
    [GV_KIND_COLLECTIVES] = {"a table of collectives", {"collective", "size", "time_us"}},
    [GV_KIND_EDGES] = {"a table of edges", {"src", "dst"}},
    [GV_KIND_ROUNDS] = {"a dry run", {"round", "job_id", "gpu_type", "gpus"}},
    [GV_KIND_EXPLANATION] = {"an explanation", {"kind", "name", "binds", "bottleneck"}},
    [GV_KIND_REPORT] = {"a report", {"promised_share", "received_share"}},
    [GV_KIND_REPORT_SUMMARY] = {"a report's summary", {"jobs", "ended", "makespan_s"}},
    [GV_KIND_REPORT_RUNS] = {"a report of runs", {"run", "jobs", "completion_mean_s"}},
    [GV_KIND_REPORT_CURVES] = {"a report's curves", {"chart", "series", "x", "y"}},
    [GV_KIND_REPORT_TYPES] = {"a report of GPU types", {"gpu_type", "busy_gpu_s"}},
    [GV_KIND_REPORT_ALLOCATION] = {"a report of an allocation",
	{"used_gpus", "usd_per_h"}},
    [GV_KIND_REPORT_RATES] = {"a report of rates", {"job_id", "fastest_gpu_type"}},
    [GV_KIND_REPORT_ROUNDS] = {"a report of rounds", {"job_id", "rounds", "first_round"}},
    [GV_KIND_REPORT_EXPLANATION] = {"a report of an explanation",
	{"name", "binds", "bottleneck"}},
    [GV_KIND_REPORT_TREES] = {"a report of trees", {"tree", "root", "depth"}},
    [GV_KIND_REPORT_SCHEDULE] = {"a report of a schedule",
	{"stages", "reduce_ms", "bubble_share"}},
    [GV_KIND_PAIRS] = {"a table of pairs", {"job_a", "job_b", "steps_per_s_a"}},
    [GV_KIND_ALLOCATION] = {"an allocation table",
	{"job_id", "gpu_type", "steps_per_s", "share"}},
    [GV_KIND_SHARES] = {"a table of shares", {"job_id", "gpu_type", "share"}},
    [GV_KIND_RATE_CHANGES] = {"a table of changes of rates",
	{"change", "place", "job_id", "steps_per_s"}},
    [GV_KIND_RATES] = {"a table of rates", {"job_id", "gpu_type", "steps_per_s"}},
    [GV_KIND_THROUGHPUTS] = {"a table of throughputs",
	{"job_type", "scale_factor", "gpu_type", "steps_per_s"}},
    [GV_KIND_SPOT_COSTS] = {"a table of costs", {"job_id", "cost_usd", "end_s", "moves"}},
    [GV_KIND_JOBS] = {"a jobs table", {"job_id", "command"}},
    [GV_KIND_TRACE] = {"a trace of jobs", {"job_id", "arrival_s", "total_steps"}},
    [GV_KIND_JOB_TYPES] = {"a table of job types", {"job_type", "weight"}},
    [GV_KIND_PRICES] = {"a table of prices", {"gpu_type", "usd_per_h", "time_s"}},
    [GV_KIND_SPOT_SERIES] = {"a spot series", {"timestamp", "cloud", "price_usd_h"}},
    [GV_KIND_SPOT_SCHEDULE] = {"a schedule of markets",
	{"job_id", "start_s", "source", "usd_per_h"}},
    [GV_KIND_PROBLEMS] = {"a list of problems", {"job_id", "problem", "clip_to"}},
    [GV_KIND_GPU_TYPES] = {"a table of GPU types", {"gpu_type", "memory_bytes_per_s"}},
    [GV_KIND_DEVICES] = {"a list of devices", {"gpu_type", "index", "uuid"}},
    [GV_KIND_TRANSFORMER_PLANS] = {"a ranking of plans of transformers",
	{"model", "gpu_type", "tensor_parallel", "pipeline_parallel"}},
    [GV_KIND_CLUSTER] = {"a cluster", {"gpu_type", "gpus"}},
    [GV_KIND_ENTITIES] = {"a table of entities", {"entity", "weight"}},
    [GV_KIND_LEVELS] = {"a table of levels", {"level", "gpus", "gbytes_per_s"}},
    [GV_KIND_TRANSFORMERS] = {"a table of transformers", {"hidden_size", "seq_len"}},
    [GV_KIND_MODEL] = {"a model", {"id", "op"}},
    [GV_KIND_LOSSES] = {"a table of losses", {"step", "loss"}},
    [GV_KIND_RANKING] = {"a ranking of plans", {"rank", "step_s", "stages"}},
    [GV_KIND_COMPARISON] = {"a comparison of plans", {"plan", "slowest_s"}},
    [GV_KIND_CONFIGURATIONS] = {"a list of configurations",
	{"width", "depth", "micro_batch", "execution"}},
    [GV_KIND_MICRO_BATCHES] = {"a table of speeds", {"micro_batch", "speed"}},
    [GV_KIND_REMEMBERED] = {"remembered prices", {"gpu_type", "price", "gain_price"}},
    [GV_KIND_SIMULATION] = {"a summary of a simulation", {"measure", "value"}},
    [GV_KIND_LIFETIMES] = {"a table of lifetimes", {"cloud", "start", "end", "outcome"}},
    [GV_KIND_MOVES] = {"a table of moves", {"node_id", "stage", "new_stage"}},
    [GV_KIND_MEMORY] = {"a table of memory", {"time_ms", "change_bytes", "tensor"}},
    [GV_KIND_ARRAYS] = {"a table of arrays", {"models", "step_ms", "per_model_ms"}},
    [GV_KIND_SHAPES] = {"a table of shapes", {"id", "in_channels", "out_channels"}},
    [GV_KIND_FINDINGS] = {"a list of findings", {"line", "level", "message"}},
    [GV_KIND_SAMPLES] = {"a table of samples", {"label", "p0"}},
    [GV_KIND_ARRAY] = {"an array of models", {"seed", "lr"}},
};

static bool
has_all(const struct gv_cell *names, size_t n, enum gv_kind kind)
{
	size_t i;

	for (i = 0; i < MOST && kinds[kind].column[i] != NULL; i++)
		if (gv_names_find(names, n, kinds[kind].column[i]) < 0)
			return false;
	return true;
}

enum gv_kind
gv_kind_of(const struct gv_cell *names, size_t n)
{
	size_t kind = 0;

	while (kind < GV_KINDS && !has_all(names, n, (enum gv_kind)kind))
		kind++;
	return (enum gv_kind)kind;
}

enum gv_kind
gv_tab_kind(const struct gv_tab *t)
{
	return gv_kind_of(gv_tab_names(t), gv_tab_columns(t));
}

const char *
gv_kind_name(enum gv_kind kind)
{
	return kind < GV_KINDS ? kinds[kind].name : "a table of another program";
}

/* Whether each of the kind's columns is there, but for the spelling of its name. */
static bool
is_misspelt(const struct gv_cell *names, size_t n, enum gv_kind kind)
{
	size_t i, k;

	for (i = 0; i < MOST && kinds[kind].column[i] != NULL; i++) {
		bool near = gv_names_find(names, n, kinds[kind].column[i]) >= 0;

		for (k = 0; k < n && !near; k++)
			near = gv_near(names[k].s, names[k].len, &kinds[kind].column[i],
				   1) != NULL;
		if (!near)
			return false;
	}
	return true;
}

/* Tables that have the columns of another, and are never meant as it. */
static bool
is_another(enum gv_kind is, enum gv_kind wanted)
{
	return (wanted == GV_KIND_CLUSTER && is == GV_KIND_EVENTS) ||
	       (wanted == GV_KIND_EDGES && (is == GV_KIND_LINKS || is == GV_KIND_TREES));
}

static int
expect(const struct gv_cell *names, size_t n, const char *file, long line,
    enum gv_kind kind, struct gv_error *e)
{
	enum gv_kind is = gv_kind_of(names, n);
	char columns[200] = "";
	size_t i, len = 0;

	if (gv_header_fault(names, n) != NULL)
		return gv_error_at(e, file, line, NULL, "%s", gv_header_fault(names, n));
	if (!is_another(is, kind) && (is == GV_KIND_NONE || has_all(names, n, kind) ||
					 is_misspelt(names, n, kind)))
		return 0;
	for (i = 0; i < MOST && kinds[kind].column[i] != NULL; i++)
		len += (size_t)snprintf(columns + len, sizeof(columns) - len, "%s%s",
		    i > 0 ? ", " : "", kinds[kind].column[i]);
	return gv_error_at(e, file, line, NULL, "this is %s; expected %s (%s)",
	    gv_kind_name(is), gv_kind_name(kind), columns);
}

int
gv_frame_expect(const struct gv_frame *f, enum gv_kind kind, struct gv_error *e)
{
	return expect(f->name, f->n_columns, f->file, f->header_line, kind, e);
}

int
gv_tab_expect(const struct gv_tab *t, enum gv_kind kind, struct gv_error *e)
{
	return expect(
	    gv_tab_names(t), gv_tab_columns(t), gv_tab_file(t), gv_tab_line(t), kind, e);
}
