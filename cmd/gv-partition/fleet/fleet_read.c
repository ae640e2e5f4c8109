/* Reading GPU types and how fast they are. */
#include "fleet_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

/* The type of that name that has GPUs, or f->n. */
static size_t
find_type(const struct gv_fleet *f, struct gv_cell name)
{
	size_t t;

	for (t = 0; t < f->n && !gv_cell_is(name, f->type[t].name); t++)
		;
	return t;
}

/* ---- the cluster ---- */

static int
take_types(struct fleet_tables *t, const char *file, double memory, struct gv_error *e)
{
	struct gv_fleet *f = &t->fleet;
	size_t i, all = 0;

	for (i = 0; i < t->cluster.n_types; i++) {
		const struct gv_gpu_type *type = &t->cluster.type[i];
		double has = (double)type->memory_bytes;

		if (type->gpus == 0)
			continue;
		if (f->n == GV_FLEET_TYPES)
			return gv_error_at(e, file, 0, NULL,
			    "more than %d GPU types, which is too many to plan with",
			    GV_FLEET_TYPES);
		f->type[f->n++] = (struct gv_fleet_type){.name = type->name,
		    .gpus = type->gpus,
		    .memory = memory > 0 && (has <= 0 || memory < has) ? memory : has};
		all += type->gpus;
	}
	if (f->n == 0)
		return gv_error_at(e, file, 0, NULL, "no GPUs");
	if (all > GV_PLAN_GPUS)
		return gv_error_at(e, file, 0, NULL,
		    "%zu GPUs, of which %d can be planned", all, GV_PLAN_GPUS);
	return 0;
}

/* ---- times ---- */

static int
expect(const struct gv_frame *f, size_t row, ptrdiff_t column, double least, double *v,
    struct gv_error *e)
{
	if (gv_frame_double(f, row, column, NAN, v, e) != 0)
		return -1;
	if (*v >= least && *v <= 1e18)
		return 0;
	return gv_frame_expected(f, row, column, e, "a number from %g to 1e18", least);
}

/* All layers of the table take 1 / factor. */
static void
scale(struct gv_fleet_type *t, const struct gv_graph *g, double factor)
{
	size_t v;

	for (v = 0; v < g->n; v++) {
		t->time_s[v] = g->layer[v].time_s / factor;
		t->forward_s[v] = g->layer[v].forward_s / factor;
	}
}

/* Rows of whole models; sets known[] of the types found. */
static int
read_rates(struct gv_fleet *f, bool *known, const struct gv_frame *rows,
    const struct gv_graph *g, struct gv_error *e)
{
	ptrdiff_t type = gv_frame_find(rows, "gpu_type"), rate;
	ptrdiff_t job = gv_frame_find(rows, "job_type");
	ptrdiff_t together = gv_frame_find(rows, "scale_factor");
	double all = 0, one, steps_per_s;
	char q[2][GV_QUOTE_LEN];
	size_t i, t, v, first = rows->n_rows;

	if (gv_frame_require(rows, "steps_per_s", &rate, e) != 0)
		return -1;
	for (v = 0; v < g->n; v++)
		all += g->layer[v].time_s;
	for (i = 0; i < rows->n_rows; i++) {
		struct gv_cell name = gv_frame_cell(rows, i, job), was;

		if (gv_frame_double(rows, i, together, 1, &one, e) != 0)
			return -1;
		t = find_type(f, gv_frame_cell(rows, i, type));
		if (one != 1 || t == f->n)
			continue;
		first = first == rows->n_rows ? i : first;
		was = gv_frame_cell(rows, first, job);
		if (!gv_cell_equal(was, name))
			return gv_frame_error(rows, i, job, e,
			    "expected rows of one model, got %s and %s",
			    gv_quote(q[0], was.s, was.len),
			    gv_quote(q[1], name.s, name.len));
		if (known[t])
			return gv_frame_error(
			    rows, i, type, e, "a second row for this type");
		if (expect(rows, i, rate, 1e-12, &steps_per_s, e) != 0)
			return -1;
		scale(&f->type[t], g, all > 0 ? all * steps_per_s : 1);
		known[t] = true;
	}
	return 0;
}

/* Rows of layers. */
static int
read_layers(struct gv_fleet *f, const struct gv_frame *rows, const struct gv_layers *l,
    struct gv_error *e)
{
	ptrdiff_t type = gv_frame_find(rows, "gpu_type"),
		  id = gv_frame_find(rows, "node_id"), forward, backward;
	ptrdiff_t of = gv_frame_find(&l->rows, "node_id");
	struct gv_hash ids = {0};
	size_t i, t;
	int rc = 0;

	rc |= gv_frame_require(rows, "forward_ms", &forward, e);
	rc |= gv_frame_require(rows, "backward_ms", &backward, e);
	for (i = 0; i < l->rows.n_rows; i++) {
		struct gv_cell name = gv_frame_cell(&l->rows, i, of);

		gv_hash_add(&ids, name.s, name.len);
	}
	for (i = 0; i < rows->n_rows && rc == 0; i++) {
		struct gv_cell name = gv_frame_cell(rows, i, id);
		ptrdiff_t row = gv_hash_find(&ids, name.s, name.len), v;
		double ms[2] = {0};

		if (row < 0) {
			rc = gv_frame_expected(rows, i, id, e, "the node_id of a layer");
			break;
		}
		t = find_type(f, gv_frame_cell(rows, i, type));
		v = l->layer[row];
		if (t == f->n || v < 0 || l->row[v] != (size_t)row)
			continue;
		if (!isnan(f->type[t].time_s[v]))
			rc = gv_frame_error(
			    rows, i, id, e, "a second row for this layer and type");
		rc |= expect(rows, i, forward, 0, &ms[0], e);
		rc |= expect(rows, i, backward, 0, &ms[1], e);
		f->type[t].forward_s[v] = ms[0] / 1000;
		f->type[t].time_s[v] = (ms[0] + ms[1]) / 1000;
	}
	gv_hash_free(&ids);
	return rc;
}

/* Types that have rows must have them for all layers; the others are not known. */
static int
check_layers(const struct gv_fleet *f, bool *known, const struct gv_layers *l,
    const char *file, struct gv_error *e)
{
	ptrdiff_t id = gv_frame_find(&l->rows, "node_id");
	size_t t, v, n;
	char q[2][GV_QUOTE_LEN];
	int rc = 0;

	for (t = 0; t < f->n; t++) {
		const struct gv_fleet_type *type = &f->type[t];
		size_t missing = 0;

		for (v = n = 0; v < l->g.n; v++) {
			if (!isnan(type->time_s[v]))
				n++;
			else if (v == n)
				missing = v; /* the first */
		}
		known[t] = n == l->g.n;
		if (n > 0 && n < l->g.n) {
			struct gv_cell c = gv_frame_cell(&l->rows, l->row[missing], id);

			rc = gv_error_at(e, file, 0, NULL,
			    "no row for node_id %s and gpu_type %s",
			    gv_quote(q[0], c.s, c.len),
			    gv_quote(q[1], type->name, strlen(type->name)));
		}
	}
	return rc;
}

static int
read_times(struct gv_fleet *f, bool *known, const char *file, const struct gv_layers *l,
    struct gv_error *e)
{
	struct gv_frame rows = {0};
	ptrdiff_t type;
	int rc;

	if (gv_frame_load(&rows, file, e) != 0)
		return -1;
	rc = gv_frame_require(&rows, "gpu_type", &type, e);
	if (rc == 0 && gv_frame_find(&rows, "node_id") < 0) {
		rc = read_rates(f, known, &rows, &l->g, e);
	} else if (rc == 0) {
		rc = read_layers(f, &rows, l, e);
		if (rc == 0)
			rc = check_layers(f, known, l, file, e);
	}
	gv_frame_free(&rows);
	return rc;
}

static int
find_times(struct gv_fleet *f, const struct fleet_times *how, const struct gv_layers *l,
    struct gv_error *e)
{
	bool known[GV_FLEET_TYPES] = {false}, given[GV_FLEET_TYPES] = {false};
	char q[GV_QUOTE_LEN];
	size_t i, t, v;
	int rc = 0;

	for (t = 0; t < f->n; t++) {
		f->type[t].time_s = gv_xcalloc(l->g.n, sizeof(double));
		f->type[t].forward_s = gv_xcalloc(l->g.n, sizeof(double));
		for (v = 0; v < l->g.n; v++)
			f->type[t].time_s[v] = NAN;
	}
	if (how->file != NULL && read_times(f, known, how->file, l, e) != 0)
		return -1;
	for (i = 0; i < how->n_speeds; i++) {
		struct gv_cell name = {how->speed[i].type, how->speed[i].len};

		gv_quote(q, name.s, name.len);
		t = find_type(f, name);
		if (t == f->n)
			return gv_error_set(
			    e, "--gpu-speed: the cluster has no GPUs of type %s", q);
		if (given[t])
			return gv_error_set(e, "--gpu-speed: type %s twice", q);
		scale(&f->type[t], &l->g, how->speed[i].factor);
		known[t] = given[t] = true;
	}
	if (f->n == 1 && !known[0] && how->file == NULL) {
		scale(&f->type[0], &l->g, 1);
		known[0] = true;
	}
	for (t = 0; t < f->n; t++)
		if (!known[t])
			rc = gv_error_set(e,
			    "no times of layers on GPUs of type %s: --times or "
			    "--gpu-speed",
			    gv_quote(q, f->type[t].name, strlen(f->type[t].name)));
	return rc;
}

int
fleet_read(struct fleet_tables *t, const char *cluster, const struct fleet_times *how,
    double memory, const struct gv_machine *m, const struct gv_layers *l,
    struct gv_error *e)
{
	memset(t, 0, sizeof(*t));
	t->fleet.bytes_per_s = m->bytes_per_s[0];
	t->fleet.sum_bytes_per_s = m->sum_bytes_per_s[0];
	if (gv_cluster_read(&t->cluster, cluster, e) != 0 ||
	    take_types(t, cluster, memory, e) != 0)
		return -1;
	return find_times(&t->fleet, how, l, e);
}

void
fleet_tables_free(struct fleet_tables *t)
{
	gv_fleet_free(&t->fleet);
	gv_cluster_free(&t->cluster);
}

/* ---- a plan ---- */

int
fleet_read_plan(struct gv_plan *p, const struct gv_fleet *f, const struct gv_layers *l,
    struct gv_error *e)
{
	size_t *first = gv_xcalloc(p->n, sizeof(*first)); /* 1 + a layer of each stage */
	ptrdiff_t column;
	size_t v, t;
	int rc = gv_frame_require(&l->rows, "gpu_type", &column, e);

	for (v = 0; v < l->g.n && rc == 0; v++) {
		struct gv_cell name = gv_frame_cell(&l->rows, l->row[v], column);
		struct gv_stage *stage = &p->stage[p->of[v]];

		t = find_type(f, name);
		if (t == f->n)
			rc = gv_frame_expected(
			    &l->rows, l->row[v], column, e, "a GPU type of the cluster");
		else if (first[p->of[v]] > 0 && stage->type != t)
			rc = gv_frame_error(&l->rows, l->row[v], column, e,
			    "other rows of stage %u have another gpu_type",
			    (unsigned)p->of[v]);
		first[p->of[v]] = v + 1;
		stage->type = t;
	}
	free(first);
	return rc;
}

void
fleet_apply(struct gv_graph *g, const struct gv_plan *p, const struct gv_fleet *f)
{
	size_t v;

	for (v = 0; v < g->n; v++) {
		size_t type = p != NULL ? p->stage[p->of[v]].type : 0;
		const struct gv_fleet_type *t = &f->type[type];

		g->layer[v].time_s = t->time_s[v];
		g->layer[v].forward_s = t->forward_s[v];
	}
}
