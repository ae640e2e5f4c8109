#include "stages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "plan/plan.h"

const char *const stage_part_name[STAGE_PARTS] = {"compute", "sync", "transfer"};

static bool
is_plan(const struct gv_tab *t)
{
	return gv_tab_find(t, "stage") >= 0 && gv_tab_find(t, "node_id") >= 0 &&
	       gv_tab_find(t, "forward_ms") >= 0;
}

bool
stages_are(const struct gv_tab *t)
{
	return is_plan(t) ||
	       (gv_tab_find(t, "stage") >= 0 && gv_tab_find(t, "load_s") >= 0);
}

/* ---- reading ---- */

static int
number(const struct gv_frame *f, size_t row, const char *column, double *v,
    struct gv_error *e)
{
	ptrdiff_t at = gv_frame_find(f, column);
	struct gv_cell c = gv_frame_cell(f, row, at);

	*v = NAN;
	if (c.len == 0)
		return 0;
	if (gv_frame_double(f, row, at, NAN, v, e) != 0)
		return -1;
	if (*v >= 0)
		return 0;
	return gv_frame_expected(f, row, at, e, "a number from 0 on");
}

/* A whole number from min on; otherwise where it is not told. */
static int
count(const struct gv_frame *f, size_t row, const char *column, int64_t min,
    int64_t otherwise, int64_t *v, struct gv_error *e)
{
	ptrdiff_t at = gv_frame_find(f, column);

	if (gv_frame_int(f, row, at, otherwise, v, e) != 0)
		return -1;
	if (*v >= min && *v <= (int64_t)1 << 31)
		return 0;
	return gv_frame_error(f, row, at, e,
	    "expected a whole number from %d to 2147483648, got \"%lld\"", (int)min,
	    (long long)*v);
}

static struct gv_cell
text(const struct gv_frame *f, size_t row, const char *column)
{
	return gv_frame_cell(f, row, gv_frame_find(f, column));
}

static int
read_stage(struct stage *s, const struct gv_frame *f, size_t row, struct gv_error *e)
{
	int rc = 0;

	rc |= count(f, row, "level", 1, 1, &s->level, e);
	rc |= count(f, row, "stage", 0, INT64_MIN, &s->stage, e);
	rc |= count(f, row, "within", 0, 0, &s->within, e);
	rc |= count(f, row, "layers", 0, 0, &s->layers, e);
	rc |= count(f, row, "replicas", 1, 1, &s->replicas, e);
	rc |= count(f, row, "gpus", 1, s->replicas, &s->gpus, e);
	rc |= number(f, row, "compute_s", &s->part_s[PART_COMPUTE], e);
	rc |= number(f, row, "sync_s", &s->part_s[PART_SYNC], e);
	rc |= number(f, row, "transfer_s", &s->part_s[PART_TRANSFER], e);
	rc |= number(f, row, "load_s", &s->load_s, e);
	rc |= number(f, row, "parameter_bytes", &s->parameter, e);
	rc |= number(f, row, "activation_bytes", &s->activation, e);
	rc |= number(f, row, "in_flight", &s->in_flight, e);
	rc |= number(f, row, "memory_bytes", &s->memory, e);
	s->place = -1;
	if (gv_frame_cell(f, row, gv_frame_find(f, "place")).len > 0)
		rc |= count(f, row, "place", 0, 0, &s->place, e);
	if (rc == 0 && isnan(s->load_s))
		rc = gv_frame_error(
		    f, row, gv_frame_find(f, "load_s"), e, "expected a value");
	s->first = text(f, row, "first_layer");
	s->last = text(f, row, "last_layer");
	s->recompute = text(f, row, "recompute");
	s->limit = text(f, row, "limit");
	s->gpu_type = text(f, row, "gpu_type");
	return rc;
}

static int
read_rows(struct stages *s, struct gv_error *e)
{
	size_t i;
	int rc = 0;

	s->stage = gv_xcalloc(s->rows.n_rows, sizeof(*s->stage));
	s->n = s->rows.n_rows;
	s->whole = true;
	for (i = 0; i < s->n; i++)
		rc |= read_stage(&s->stage[i], &s->rows, i, e);
	return rc;
}

/* The rows of a stage's layers that run first and last. */
struct ends {
	size_t first, last;
};

/* A layer's part in its stage. */
static int
add_layer(struct stages *s, const struct gv_plan_columns *c, size_t row,
    const size_t *rank, struct ends *ends, struct gv_error *e)
{
	const struct gv_frame *f = &s->rows;
	double forward, backward, parameter, activation, kept;
	struct gv_cell layer = text(f, row, "layer");
	struct gv_plan_row cells;
	struct stage *stage;

	if (gv_plan_row(&cells, f, c, row, GV_PLAN_GPUS, e) != 0 ||
	    number(f, row, "forward_ms", &forward, e) != 0 ||
	    number(f, row, "backward_ms", &backward, e) != 0 ||
	    number(f, row, "parameter_bytes", &parameter, e) != 0 ||
	    number(f, row, "activation_bytes", &activation, e) != 0 ||
	    number(f, row, "kept_bytes", &kept, e) != 0)
		return -1;
	if (layer.len >= 5 && memcmp(layer.s, "Input", 5) == 0)
		return 0; /* data loading takes no part */
	if ((size_t)cells.stage >= s->n) {
		s->stage =
		    gv_xrealloc(s->stage, (size_t)cells.stage + 1, sizeof(*s->stage));
		memset(s->stage + s->n, 0,
		    ((size_t)cells.stage + 1 - s->n) * sizeof(*s->stage));
		s->n = (size_t)cells.stage + 1;
	}
	stage = &s->stage[cells.stage];
	if (stage->layers++ == 0)
		ends[cells.stage] = (struct ends){row, row};
	if (rank[row] < rank[ends[cells.stage].first])
		ends[cells.stage].first = row;
	if (rank[row] > rank[ends[cells.stage].last])
		ends[cells.stage].last = row;
	stage->recompute = text(f, row, "recompute");
	stage->gpu_type = cells.gpu_type;
	stage->replicas = stage->gpus = cells.replicas;
	stage->part_s[PART_COMPUTE] +=
	    ((cells.recompute ? 2 : 1) * (forward > 0 ? forward : 0) +
		(backward > 0 ? backward : 0)) /
	    1000 / (double)cells.replicas;
	stage->parameter += parameter > 0 ? parameter : 0;
	stage->activation += kept > 0 ? kept : activation > 0 ? activation : 0;
	return 0;
}

/* Stages with layers, in their order; what a plan's rows do not tell is NAN. */
static int
sum_layers(struct stages *s, const struct gv_frame *edges, struct gv_error *e)
{
	struct gv_plan_columns columns = gv_plan_columns(&s->rows);
	struct ends *ends = gv_xcalloc(GV_PLAN_GPUS, sizeof(*ends));
	size_t *rank = stages_ranks(&s->rows, edges), i, n = 0;
	int rc = 0;

	for (i = 0; i < s->rows.n_rows; i++)
		rc |= add_layer(s, &columns, i, rank, ends, e);
	for (i = 0; i < s->n; i++) {
		struct stage *stage = &s->stage[i];

		if (stage->layers == 0)
			continue;
		stage->level = 1;
		stage->place = -1;
		stage->first = text(&s->rows, ends[i].first, "node_id");
		stage->last = text(&s->rows, ends[i].last, "node_id");
		stage->stage = (int64_t)i;
		stage->load_s = stage->part_s[PART_COMPUTE];
		stage->part_s[PART_SYNC] = stage->part_s[PART_TRANSFER] = NAN;
		stage->in_flight = stage->memory = NAN;
		s->stage[n++] = *stage;
	}
	s->n = n;
	free(rank);
	free(ends);
	return rc;
}

/* Whether an earlier stage has the same place; and fills its time. */
static bool
place_known(const struct stages *s, struct stage *stage)
{
	const struct stage *other;
	bool known = false;

	stage->place_s = stage->load_s;
	for (other = s->stage; stage->place >= 0 && other < s->stage + s->n; other++) {
		if (other == stage || other->place != stage->place)
			continue;
		stage->place_s += other->load_s;
		known = known || other < stage;
	}
	return known;
}

static void
sum_up(struct stages *s)
{
	double busy = 0, slowest_s;
	size_t i;

	s->fullest = s->n;
	for (i = 0; i < s->n; i++)
		if (!place_known(s, &s->stage[i]) && s->stage[i].level == 1)
			s->gpus += s->stage[i].gpus;
	for (i = 0; i < s->n; i++) {
		const struct stage *stage = &s->stage[i];

		s->typed = s->typed || stage->gpu_type.len > 0;
		if (stage->level > s->levels) {
			s->levels = stage->level;
			s->slowest = i;
		}
		if (stage->level == s->levels &&
		    stage->place_s > s->stage[s->slowest].place_s)
			s->slowest = i;
		if (stage->level > 1)
			continue;
		s->n_stages++;
		if (!isnan(stage->memory) &&
		    (s->fullest == s->n || stage->memory > s->stage[s->fullest].memory))
			s->fullest = i;
	}
	stages_nest(s);
	slowest_s = s->n > 0 ? s->stage[s->slowest].place_s : 0;
	for (i = 0; i < s->n; i++)
		if (s->stage[i].level == 1 && slowest_s > 0)
			busy += stage_busy(s, &s->stage[i]) * (double)s->stage[i].gpus;
	s->busy_share = s->gpus > 0 ? busy / (double)s->gpus : 0;
}

double
stage_busy(const struct stages *s, const struct stage *stage)
{
	/* replicas of outer levels share the minibatches, too */
	double share = (double)stage->replicas / (double)stage->gpus;
	double slowest_s = s->stage[s->slowest].place_s;

	return slowest_s > 0 ? stage->part_s[PART_COMPUTE] * share / slowest_s : 0;
}

/* What may follow a plan. */
static int
read_edges(struct gv_frame *edges, struct gv_tab *t, struct gv_error *e)
{
	int more = gv_tab_table(t, e);

	if (more == 1 && (gv_tab_find(t, "src") < 0 || gv_tab_find(t, "dst") < 0))
		return gv_error_at(e, gv_tab_file(t), gv_tab_line(t), NULL,
		    "expected edges behind a plan: src, dst");
	if (more == 1)
		more = gv_frame_read(edges, t, e) != 0 ? -1 : gv_tab_last(t, e);
	return more;
}

int
stages_read(struct stages *s, struct gv_tab *t, struct gv_error *e)
{
	bool plan = is_plan(t);
	struct gv_frame edges = {0};
	int rc;

	memset(s, 0, sizeof(*s));
	rc = gv_frame_read(&s->rows, t, e);
	if (rc == 0 && plan)
		rc = read_edges(&edges, t, e);
	if (rc == 0)
		rc = plan ? sum_layers(s, &edges, e) : read_rows(s, e);
	if (rc == 0 && !plan)
		rc = gv_tab_last(t, e);
	gv_frame_free(&edges);
	if (rc != 0) {
		stages_free(s);
		return -1;
	}
	sum_up(s);
	return 0;
}

void
stages_free(struct stages *s)
{
	free(s->stage);
	gv_frame_free(&s->rows);
	memset(s, 0, sizeof(*s));
}

struct stages_unit
stages_unit(const struct stages *s)
{
	double most = 0;
	size_t i;

	for (i = 0; i < s->n; i++)
		most = s->stage[i].load_s > most ? s->stage[i].load_s : most;
	return most < 1e-3 ? (struct stages_unit){"us", 1e-6}
	       : most < 10 ? (struct stages_unit){"ms", 1e-3}
			   : (struct stages_unit){"s", 1};
}
