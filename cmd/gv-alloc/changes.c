#include "changes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/num.h"

/* ---- columns ---- */

static const struct {
	const char *name;
	size_t at; /* in struct gv_job */
} numbers[] = {
    {"steps_remaining", offsetof(struct gv_job, steps_remaining)},
    {"elapsed_s", offsetof(struct gv_job, elapsed_s)},
    {"isolated_elapsed_s", offsetof(struct gv_job, isolated_elapsed_s)},
};

enum { N_NUMBERS = sizeof(numbers) / sizeof(numbers[0]) };

/* What the rows say while they are read. */
struct reader {
	struct gv_rates *before;
	struct gv_frame f;
	ptrdiff_t change, place, job_id;
	ptrdiff_t number[N_NUMBERS];
	ptrdiff_t *whole;     /* [columns of the whole table] */
	struct gv_frame rows; /* of new jobs, as in a whole table */
	size_t *row_place;    /* [rows] from 0 */
	size_t cap;
};

static int
find_columns(struct reader *r, struct gv_error *e)
{
	const struct gv_frame *whole = &r->before->frame;
	int rc = gv_frame_require(&r->f, "change", &r->change, e);
	size_t k;

	rc |= gv_frame_require(&r->f, "place", &r->place, e);
	rc |= gv_frame_require(&r->f, "job_id", &r->job_id, e);
	for (k = 0; k < N_NUMBERS; k++)
		r->number[k] = gv_frame_find(&r->f, numbers[k].name);
	r->whole = gv_xcalloc(whole->n_columns, sizeof(*r->whole));
	for (k = 0; k < whole->n_columns; k++)
		rc |= gv_frame_require(&r->f, whole->name[k].s, &r->whole[k], e);
	return rc;
}

/* ---- rows ---- */

/* The place of a row, from 1 to most, into *place as from 0.  0 or -1. */
static int
read_place(
    const struct reader *r, size_t row, size_t most, size_t *place, struct gv_error *e)
{
	int64_t v;

	if (gv_frame_int(&r->f, row, r->place, INT64_MIN, &v, e) != 0)
		return -1;
	if (v < 1 || v > (int64_t)most)
		return gv_frame_error(&r->f, row, r->place, e,
		    "expected a place from 1 to %zu, got %lld", most, (long long)v);
	*place = (size_t)v - 1;
	return 0;
}

/* The job of before that a row is about into *job.  0 or -1. */
static int
find_job(const struct reader *r, size_t row, size_t *job, struct gv_error *e)
{
	struct gv_cell id = gv_frame_cell(&r->f, row, r->job_id);
	struct gv_cell there;
	char q[2][GV_QUOTE_LEN];

	if (read_place(r, row, r->before->n_jobs, job, e) != 0)
		return -1;
	there = r->before->job[*job].id;
	if (gv_cell_equal(id, there))
		return 0;
	return gv_frame_error(&r->f, row, r->job_id, e,
	    "expected job %s at place %zu, got %s", gv_quote(q[0], there.s, there.len),
	    *job + 1, gv_quote(q[1], id.s, id.len));
}

/* A job that stays has other numbers; an empty cell is one that is as it was. */
static int
take_numbers(struct gv_job *j, const struct reader *r, size_t row, struct gv_error *e)
{
	size_t k;
	int rc = 0;

	for (k = 0; k < N_NUMBERS; k++) {
		struct gv_cell cell = gv_frame_cell(&r->f, row, r->number[k]);
		double *number = (double *)(void *)((char *)j + numbers[k].at);

		if (cell.len > 0)
			rc |= gv_frame_not_negative(
			    &r->f, row, r->number[k], NAN, number, e);
	}
	return rc;
}

static int
take_new(struct reader *r, size_t row, struct gv_error *e)
{
	size_t n = r->before->frame.n_columns;
	struct gv_cell *cell;
	size_t place, k;

	if (read_place(r, row, r->before->n_jobs + r->f.n_rows, &place, e) != 0)
		return -1;
	cell = gv_xcalloc(n, sizeof(*cell));
	for (k = 0; k < n; k++)
		cell[k] = gv_frame_cell(&r->f, row, r->whole[k]);
	r->row_place =
	    gv_xgrow(r->row_place, &r->cap, r->rows.n_rows + 1, sizeof(*r->row_place));
	r->row_place[r->rows.n_rows] = place;
	gv_frame_add(&r->rows, cell, r->f.line[row]);
	free(cell);
	return 0;
}

static int
take_row(struct changes *x, struct reader *r, size_t row, struct gv_error *e)
{
	struct gv_cell cell = gv_frame_cell(&r->f, row, r->change);
	size_t job = 0;

	if (gv_cell_is(cell, "new"))
		return take_new(r, row, e);
	if (!gv_cell_is(cell, "gone") && !gv_cell_is(cell, "now"))
		return gv_frame_expected(&r->f, row, r->change, e, "new, now or gone");
	if (find_job(r, row, &job, e) != 0)
		return -1;
	if (gv_cell_is(cell, "now"))
		return take_numbers(&r->before->job[job], r, row, e);
	x->n_gone += !x->gone[job];
	x->gone[job] = true;
	return 0;
}

/* ---- those who come ---- */

/* None has the name of one that stays. */
static int
check_names(const struct changes *x, const struct gv_rates *before, struct gv_error *e)
{
	const struct gv_rates *new = &x->new;
	struct gv_hash ids = {0};
	char q[GV_QUOTE_LEN];
	size_t i;
	int rc = 0;

	for (i = 0; i < new->n_jobs; i++)
		gv_hash_add(&ids, new->job[i].id.s, new->job[i].id.len);
	for (i = 0; new->n_jobs > 0 && i < before->n_jobs; i++) {
		struct gv_cell id = before->job[i].id;
		ptrdiff_t k = x->gone[i] ? -1 : gv_hash_find(&ids, id.s, id.len);

		if (k >= 0)
			rc = gv_frame_error(&new->frame, new->job[k].row,
			    gv_frame_find(&new->frame, "job_id"), e,
			    "job %s is in the table already", gv_quote(q, id.s, id.len));
	}
	gv_hash_free(&ids);
	return rc;
}

/* Their places ascend, and leave no hole in the table. */
static int
take_places(struct changes *x, const struct reader *r, struct gv_error *e)
{
	size_t n = r->before->n_jobs - x->n_gone;
	size_t i;

	x->place = gv_xcalloc(x->new.n_jobs + 1, sizeof(*x->place));
	for (i = 0; i < x->new.n_jobs; i++) {
		size_t row = x->new.job[i].row;
		size_t least = i > 0 ? x->place[i - 1] + 1 : 0;

		x->place[i] = r->row_place[row];
		if (x->place[i] < least || x->place[i] > n + i)
			return gv_frame_error(&x->new.frame, row,
			    gv_frame_find(&x->new.frame, "job_id"), e,
			    "expected its place from %zu to %zu, got %zu", least + 1,
			    n + i + 1, x->place[i] + 1);
	}
	return 0;
}

static int
take_rows(
    struct changes *x, struct reader *r, const struct gv_cluster *c, struct gv_error *e)
{
	size_t row;
	int rc = find_columns(r, e);

	gv_frame_start(&r->rows, r->f.file, r->f.tsv, r->before->frame.name,
	    r->before->frame.n_columns);
	for (row = 0; rc == 0 && row < r->f.n_rows; row++)
		rc = take_row(x, r, row, e);
	if (rc != 0 || gv_rates_from(&x->new, &r->rows, c, e) != 0)
		return -1;
	gv_rates_spread(&x->new, c);
	rc = check_names(x, r->before, e);
	return rc == 0 ? take_places(x, r, e) : rc;
}

int
changes_read(struct changes *x, struct gv_rates *before, struct gv_tab *t,
    const struct gv_cluster *c, struct gv_error *e)
{
	struct reader r = {.before = before};
	int rc;

	*x = (struct changes){0};
	if (gv_frame_read(&r.f, t, e) != 0)
		return -1;
	x->gone = gv_xcalloc(before->n_jobs + 1, sizeof(*x->gone));
	rc = take_rows(x, &r, c, e);
	gv_frame_free(&r.rows);
	gv_frame_free(&r.f);
	free(r.row_place);
	free(r.whole);
	return rc;
}

void
changes_free(struct changes *x)
{
	gv_rates_free(&x->new);
	free(x->gone);
	free(x->place);
	*x = (struct changes){0};
}
