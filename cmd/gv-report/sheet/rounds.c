/* A dry run: who runs in which of the next rounds, and where. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "sheet.h"

enum { MOST_DRAWN = 64, MOST_ROUNDS = 10000000 };

/* A job on a GPU type. */
struct stay {
	size_t job, type;
	size_t rounds;
	int64_t first, last;
};

struct rounds {
	struct gv_hash jobs, types, stays;
	size_t (*key)[2];              /* [rows] what stays knows */
	struct stay *stay;             /* [stays.n] */
	int64_t n;                     /* rounds */
	char (*drawn)[MOST_DRAWN + 1]; /* [jobs.n] a letter for each round */
};

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

static int
read_row(struct rounds *r, const struct gv_frame *f, size_t row, const ptrdiff_t *column,
    struct gv_error *e)
{
	struct gv_cell job = gv_frame_cell(f, row, column[1]);
	struct gv_cell type = gv_frame_cell(f, row, column[2]);
	size_t known = r->stays.n, k;
	int64_t round;
	struct stay *s;

	if (gv_frame_int(f, row, column[0], INT64_MIN, &round, e) != 0)
		return -1;
	if (round < 0 || round > MOST_ROUNDS)
		return gv_frame_error(f, row, column[0], e,
		    "expected a whole number from 0 to %d, got \"%lld\"", MOST_ROUNDS,
		    (long long)round);
	r->key[row][0] = gv_hash_add(&r->jobs, job.s, job.len);
	r->key[row][1] = gv_hash_add(&r->types, type.s, type.len);
	k = gv_hash_add(&r->stays, (const char *)r->key[row], sizeof(r->key[row]));
	s = &r->stay[k];
	if (k == known)
		*s = (struct stay){
		    .job = r->key[row][0], .type = r->key[row][1], .first = round};
	if (k == known || s->last != round) /* several nodes have several rows */
		s->rounds++;
	s->last = round;
	if (round + 1 > r->n)
		r->n = round + 1;
	if (round < MOST_DRAWN)
		r->drawn[s->job][round] = letters[s->type % (sizeof(letters) - 1)];
	return 0;
}

static int
read_rounds(struct rounds *r, const struct gv_frame *f, struct gv_error *e)
{
	static const char *const name[] = {"round", "job_id", "gpu_type"};
	ptrdiff_t column[3];
	size_t i;
	int rc = 0;

	*r = (struct rounds){0};
	for (i = 0; i < 3; i++)
		rc |= gv_frame_require(f, name[i], &column[i], e);
	if (rc != 0)
		return -1;
	r->key = gv_xcalloc(f->n_rows, sizeof(*r->key));
	r->stay = gv_xcalloc(f->n_rows, sizeof(*r->stay));
	r->drawn = gv_xcalloc(f->n_rows, sizeof(*r->drawn));
	for (i = 0; i < f->n_rows; i++)
		memset(r->drawn[i], '.', MOST_DRAWN);
	for (i = 0; i < f->n_rows; i++)
		rc |= read_row(r, f, i, column, e);
	for (i = 0; i < f->n_rows; i++)
		r->drawn[i][r->n < MOST_DRAWN ? r->n : MOST_DRAWN] = '\0';
	return rc;
}

static void
rounds_free(struct rounds *r)
{
	gv_hash_free(&r->jobs);
	gv_hash_free(&r->types);
	gv_hash_free(&r->stays);
	free(r->key);
	free(r->stay);
	free(r->drawn);
}

static struct gv_cell
name_of(const struct gv_hash *h, size_t i)
{
	GV_HOLDS(i < h->n && h->key != NULL);
	return (struct gv_cell){h->key[i].s, h->key[i].len};
}

/* Jobs, and beside them a letter for each round. */
static void
drawn_sheet(struct view *v, const struct rounds *r)
{
	struct sheet *s = view_sheet(v, NULL, NULL, true, 2);
	size_t i;

	v->chart = CHART_ROUNDS;
	v->chart_column = 1;
	v->n_series = r->types.n < sizeof(letters) - 1 ? r->types.n : sizeof(letters) - 1;
	v->series = gv_arena_alloc(&v->arena, v->n_series, sizeof(*v->series));
	for (i = 0; i < v->n_series; i++)
		v->series[i] = view_text(v, name_of(&r->types, i));
	sheet_column(s, NULL, "job", SHEET_TEXT);
	sheet_column(s, NULL, r->n > MOST_DRAWN ? "first rounds" : "rounds", SHEET_TEXT);
	for (i = 0; i < r->jobs.n; i++) {
		const char *row =
		    view_text(v, (struct gv_cell){r->drawn[i], strlen(r->drawn[i])});

		sheet_text(s, name_of(&r->jobs, i));
		sheet_text(s, (struct gv_cell){row, strlen(row)});
	}
}

static void
jobs_sheet(struct view *v, const struct rounds *r)
{
	struct sheet *s = view_sheet(v, "job", "jobs", true, 6);
	size_t i;

	sheet_column(s, "job_id", "job", SHEET_TEXT);
	sheet_column(s, "gpu_type", "GPU type", SHEET_TEXT);
	sheet_column(s, "rounds", "rounds", SHEET_COUNT);
	sheet_column(s, "share", "of all", SHEET_SHARE);
	sheet_column(s, "first_round", "first", SHEET_COUNT);
	sheet_column(s, "last_round", "last", SHEET_COUNT);
	for (i = 0; i < r->stays.n; i++) {
		const struct stay *t = &r->stay[i];

		sheet_text(s, name_of(&r->jobs, t->job));
		sheet_text(s, name_of(&r->types, t->type));
		sheet_number(s, (double)t->rounds);
		sheet_number(s, (double)t->rounds / (double)r->n);
		sheet_number(s, (double)t->first);
		sheet_number(s, (double)t->last);
	}
}

int
view_rounds(struct view *v, struct gv_tab *t, struct gv_error *e)
{
	struct rounds r;
	size_t i;

	if (gv_frame_read(&v->frame, t, e) != 0)
		return -1;
	if (read_rounds(&r, &v->frame, e) != 0) {
		rounds_free(&r);
		return -1;
	}
	gv_strbuf_fmt(&v->title, "%lld round%s of %zu job%s", (long long)r.n,
	    r.n == 1 ? "" : "s", r.jobs.n, r.jobs.n == 1 ? "" : "s");
	if (r.types.n > 0) {
		struct gv_strbuf *b = view_line(v, "types");

		for (i = 0; i < r.types.n && i < sizeof(letters) - 1; i++)
			gv_strbuf_fmt(b, "%s%c %s", i > 0 ? ", " : "", letters[i],
			    name_of(&r.types, i).s);
		gv_strbuf_str(b, ", . waits");
	}
	drawn_sheet(v, &r);
	jobs_sheet(v, &r);
	rounds_free(&r);
	return 0;
}
