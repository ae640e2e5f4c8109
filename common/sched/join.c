/* gv_rates_join: a jobs table and a throughputs table make a rates table. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "table/kind.h"
#include "base/hash.h"
#include "sched/rates.h"

/* Which measurements belong to one (job_type, scale_factor): a list through next[]. */
struct group {
	size_t head,
	    tail; /* rows of the throughputs + 1, 0 = end; in order of gpu_type */
};

/* The throughputs table, by what jobs are looked up with. */
struct index {
	struct gv_hash types;    /* gpu_type, in order of first appearance */
	struct gv_hash groups;   /* (job_type number, scale_factor) */
	struct gv_hash names;    /* job_type */
	struct gv_hash cells;    /* (group, gpu_type): a measurement */
	int64_t (*group_key)[2]; /* [rows] */
	size_t (*cell_key)[2];   /* [rows] */
	size_t *cell_row;        /* [cells] where first seen */
	size_t *row_type;        /* [rows] */
	size_t *next;            /* [rows] */
	struct group *group;     /* [groups], room for rows */
	ptrdiff_t job_type, scale_factor, gpu_type, steps_per_s;
};

static int
find_columns(struct index *x, const struct gv_frame *f, struct gv_error *e)
{
	int rc = 0;

	if (gv_frame_expect(f, GV_KIND_THROUGHPUTS, e) != 0)
		return -1;
	rc |= gv_frame_require(f, "job_type", &x->job_type, e);
	rc |= gv_frame_require(f, "scale_factor", &x->scale_factor, e);
	rc |= gv_frame_require(f, "gpu_type", &x->gpu_type, e);
	rc |= gv_frame_require(f, "steps_per_s", &x->steps_per_s, e);
	return rc;
}

static int
check_row(const struct index *x, const struct gv_frame *f, size_t row, int64_t *scale,
    struct gv_error *e)
{
	double rate = 0;
	int rc = 0;

	if (gv_frame_int(f, row, x->scale_factor, INT64_MIN, scale, e) != 0)
		rc = -1;
	else if (*scale < 1)
		rc = gv_frame_expected(f, row, x->scale_factor, e, "a whole number >= 1");
	rc |= gv_frame_not_negative(f, row, x->steps_per_s, NAN, &rate, e);
	if (gv_frame_cell(f, row, x->gpu_type).len == 0)
		rc = gv_frame_expected(f, row, x->gpu_type, e, "the name of a GPU type");
	return rc;
}

/* Puts a row into its group's list, behind those of earlier types. */
static void
list_row(struct index *x, struct group *g, size_t row)
{
	size_t *at = &g->head;

	if (g->tail != 0 && x->row_type[g->tail - 1] < x->row_type[row])
		at = &x->next[g->tail -
			      1]; /* the usual case: rows come in order of type */
	else
		while (*at != 0 && x->row_type[*at - 1] < x->row_type[row])
			at = &x->next[*at - 1];
	x->next[row] = *at;
	if (*at == 0)
		g->tail = row + 1;
	*at = row + 1;
}

static int
index_row(struct index *x, const struct gv_frame *f, size_t row, struct gv_error *e)
{
	struct gv_cell name = gv_frame_cell(f, row, x->job_type);
	struct gv_cell type = gv_frame_cell(f, row, x->gpu_type);
	size_t group, known, cell;

	if (check_row(x, f, row, &x->group_key[row][1], e) != 0)
		return -1;
	x->row_type[row] = gv_hash_add(&x->types, type.s, type.len);
	x->group_key[row][0] = (int64_t)gv_hash_add(&x->names, name.s, name.len);
	group = gv_hash_add(
	    &x->groups, (const char *)x->group_key[row], sizeof(x->group_key[row]));
	x->cell_key[row][0] = group;
	x->cell_key[row][1] = x->row_type[row];
	known = x->cells.n;
	cell = gv_hash_add(
	    &x->cells, (const char *)x->cell_key[row], sizeof(x->cell_key[row]));
	if (cell < known) {
		char q[GV_QUOTE_LEN];

		return gv_frame_error(f, row, x->gpu_type, e,
		    "repeated row of job type %s at this scale_factor, first at line %ld",
		    gv_quote(q, name.s, name.len), f->line[x->cell_row[cell]]);
	}
	x->cell_row[cell] = row;
	list_row(x, &x->group[group], row);
	return 0;
}

static int
index_make(struct index *x, const struct gv_frame *f, struct gv_error *e)
{
	size_t row;
	int rc = 0;

	*x = (struct index){0};
	if (find_columns(x, f, e) != 0)
		return -1;
	x->group_key = gv_xcalloc(f->n_rows, sizeof(*x->group_key));
	x->cell_key = gv_xcalloc(f->n_rows, sizeof(*x->cell_key));
	x->cell_row = gv_xcalloc(f->n_rows, sizeof(*x->cell_row));
	x->row_type = gv_xcalloc(f->n_rows, sizeof(*x->row_type));
	x->next = gv_xcalloc(f->n_rows, sizeof(*x->next));
	x->group = gv_xcalloc(f->n_rows, sizeof(*x->group));
	for (row = 0; row < f->n_rows; row++)
		rc |= index_row(x, f, row, e);
	return rc;
}

static void
index_free(struct index *x)
{
	gv_hash_free(&x->types);
	gv_hash_free(&x->groups);
	gv_hash_free(&x->names);
	gv_hash_free(&x->cells);
	free(x->group_key);
	free(x->cell_key);
	free(x->cell_row);
	free(x->row_type);
	free(x->next);
	free(x->group);
}

/* The first measurement of a job, as a row + 1; 0 = there is none. */
static size_t
index_find(const struct index *x, const struct gv_job *job)
{
	ptrdiff_t name = gv_hash_find(&x->names, job->job_type.s, job->job_type.len);
	int64_t key[2] = {(int64_t)name, job->scale_factor};
	ptrdiff_t group;

	if (name < 0)
		return 0;
	group = gv_hash_find(&x->groups, (const char *)key, sizeof(key));
	return group < 0 ? 0 : x->group[group].head;
}

/* ---- the joined table ---- */

/* The jobs' columns but gpu_type and steps_per_s, then those two; from[] are the jobs' columns. */
static void
start_table(struct gv_frame *out, const struct gv_frame *jobs, ptrdiff_t *from,
    struct gv_cell *cell)
{
	static const char *const added[] = {"gpu_type", "steps_per_s"};
	size_t i, n = 0;

	for (i = 0; i < jobs->n_columns; i++) {
		if (gv_cell_is(jobs->name[i], added[0]) ||
		    gv_cell_is(jobs->name[i], added[1]))
			continue;
		from[n] = (ptrdiff_t)i;
		cell[n++] = jobs->name[i];
	}
	for (i = 0; i < 2; i++)
		cell[n++] = (struct gv_cell){added[i], strlen(added[i])};
	gv_frame_start(out, jobs->file, jobs->tsv, cell, n);
	out->header_line = jobs->header_line;
}

int
gv_rates_join(struct gv_frame *out, const struct gv_rates *jobs,
    const struct gv_frame *throughputs, size_t *missing, size_t *n_missing,
    struct gv_error *e)
{
	const struct gv_frame *f = &jobs->frame;
	struct index x;
	struct gv_cell *cell;
	ptrdiff_t *from;
	size_t i, k, n, at;

	*out = (struct gv_frame){0};
	*n_missing = 0;
	if (index_make(&x, throughputs, e) != 0) {
		index_free(&x);
		return -1;
	}
	from = gv_xcalloc(f->n_columns, sizeof(*from));
	cell = gv_xcalloc(f->n_columns + 2, sizeof(*cell));
	start_table(out, f, from, cell);
	n = out->n_columns - 2;
	for (i = 0; i < jobs->n_jobs; i++) {
		at = index_find(&x, &jobs->job[i]);
		if (at == 0)
			missing[(*n_missing)++] = i;
		for (k = 0; at != 0 && k < n; k++)
			cell[k] = gv_frame_cell(f, jobs->job[i].row, from[k]);
		for (; at != 0; at = x.next[at - 1]) {
			cell[n] = gv_frame_cell(throughputs, at - 1, x.gpu_type);
			cell[n + 1] = gv_frame_cell(throughputs, at - 1, x.steps_per_s);
			gv_frame_add(out, cell, f->line[jobs->job[i].row]);
		}
	}
	free(cell);
	free(from);
	index_free(&x);
	return 0;
}
