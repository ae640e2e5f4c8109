/* The table that comes out: what came in, and the answer. */
#include <stdint.h>
#include <stdlib.h>

#include "answer_write.h"
#include "base/hash.h"
#include "base/mem.h"

/* ---- columns ---- */

/* Where the new columns go: an old one stays where it is; SIZE_MAX: there is none. */
struct columns {
	size_t n_columns;
	ptrdiff_t type, rate;
	size_t with, with_rate, share, policy, relaxation, reads;
};

static size_t
column(const struct gv_frame *f, const char *name, struct columns *at)
{
	ptrdiff_t column = gv_frame_find(f, name);

	return column >= 0 ? (size_t)column : at->n_columns++;
}

static struct columns
find_columns(const struct gv_frame *f, bool sharing, const struct answer_columns *every)
{
	struct columns at = {.n_columns = f->n_columns,
	    .with = SIZE_MAX,
	    .with_rate = SIZE_MAX,
	    .relaxation = SIZE_MAX,
	    .reads = SIZE_MAX};

	at.type = gv_frame_find(f, "gpu_type");
	at.rate = gv_frame_find(f, "steps_per_s");
	if (sharing) {
		at.with = column(f, "with_job_id", &at);
		at.with_rate = column(f, "with_steps_per_s", &at);
	}
	if (every->relaxation != NULL)
		at.relaxation = column(f, "relaxation", &at);
	at.share = column(f, "share", &at);
	at.policy = column(f, "policy", &at);
	if (every->reads != NULL)
		at.reads = column(f, "reads", &at);
	return at;
}

static void
write_header(const struct columns *at, const struct gv_frame *f, struct gv_tabw *w)
{
	size_t k;

	for (k = 0; k < at->n_columns; k++) {
		if (k == at->with)
			gv_tabw_str(w, "with_job_id");
		else if (k == at->with_rate)
			gv_tabw_str(w, "with_steps_per_s");
		else if (k == at->share)
			gv_tabw_str(w, "share");
		else if (k == at->policy)
			gv_tabw_str(w, "policy");
		else if (k == at->relaxation)
			gv_tabw_str(w, "relaxation");
		else if (k == at->reads)
			gv_tabw_str(w, "reads");
		else
			gv_tabw_cell(w, f->name[k]);
	}
	gv_tabw_end(w);
}

/* A cell of the input; columns that it has not are empty. */
static void
write_cell(const struct gv_frame *f, size_t row, size_t column, struct gv_tabw *w)
{
	if (column < f->n_columns)
		gv_tabw_cell(w, gv_frame_cell(f, row, (ptrdiff_t)column));
	else
		gv_tabw_empty(w);
}

/* ---- rows of two jobs ---- */

/* Two jobs of the table on a type. */
struct shared_row {
	size_t job, with; /* of the table, in the order of their names */
	size_t type;      /* column of the problem */
	double rate, with_rate;
	double share;
	bool written;
};

struct shared_rows {
	size_t n;
	struct shared_row *row;
	/* to find them by, where the table has such rows */
	size_t (*key)[3]; /* the lower job, the other one, type */
	struct gv_hash of_key;
};

static int
by_place(const void *a, const void *b)
{
	const struct shared_row *x = a;
	const struct shared_row *y = b;

	if (x->job != y->job)
		return x->job < y->job ? -1 : 1;
	if (x->with != y->with)
		return x->with < y->with ? -1 : 1;
	return (x->type > y->type) - (x->type < y->type);
}

static void
set_key(size_t key[3], size_t a, size_t b, size_t type)
{
	key[0] = a < b ? a : b;
	key[1] = a < b ? b : a;
	key[2] = type;
}

static void
shared_rows_make(
    struct shared_rows *s, const struct gv_answer *a, const struct gv_rates *r)
{
	size_t *job = gv_xcalloc(a->p.n, sizeof(*job));
	size_t i;

	*s = (struct shared_rows){.n = a->s.n_pairs};
	s->row = gv_xcalloc(s->n, sizeof(*s->row));
	for (i = 0; i < r->n_jobs; i++)
		if (a->row[i] != SIZE_MAX)
			job[a->row[i]] = i;
	for (i = 0; i < s->n; i++) {
		const struct gv_pair *p = &a->s.pair[i];

		s->row[i] = a->rank[p->a] < a->rank[p->b]
				? (struct shared_row){job[p->a], job[p->b], p->type,
				      p->rate_a, p->rate_b, p->x, false}
				: (struct shared_row){job[p->b], job[p->a], p->type,
				      p->rate_b, p->rate_a, p->x, false};
	}
	qsort(s->row, s->n, sizeof(*s->row), by_place);
	free(job);
	for (i = 0; i < r->n_rates && r->rate[i].with < 0;)
		i++;
	if (i == r->n_rates)
		return;
	s->key = gv_xcalloc(s->n, sizeof(*s->key));
	for (i = 0; i < s->n; i++) {
		set_key(s->key[i], s->row[i].job, s->row[i].with, s->row[i].type);
		gv_hash_add(&s->of_key, (const char *)s->key[i], sizeof(s->key[i]));
	}
}

static void
shared_rows_free(struct shared_rows *s)
{
	free(s->row);
	free(s->key);
	gv_hash_free(&s->of_key);
}

/* The share of a row of two jobs of the table. */
static double
share_of(struct shared_rows *s, const struct gv_answer *a, const struct gv_rate *rate)
{
	size_t key[3];
	ptrdiff_t at;

	if (rate->type < 0 || s->n == 0)
		return 0;
	set_key(key, rate->job, (size_t)rate->with, a->type[rate->type]);
	at = gv_hash_find(&s->of_key, (const char *)key, sizeof(key));
	if (at < 0)
		return 0;
	s->row[at].written = true;
	return s->row[at].share;
}

/* The row of each job alone on each type of the problem, or its first one.  [jobs][m] */
static size_t *
rows_alone(const struct gv_answer *a, const struct gv_rates *r)
{
	size_t m = a->p.m;
	size_t *row = gv_xcalloc(r->n_jobs, m * sizeof(*row));
	size_t i;

	for (i = 0; i < r->n_jobs * m; i++)
		row[i] = r->job[i / m].row;
	for (i = 0; i < r->n_rates; i++)
		if (r->rate[i].with < 0 && r->rate[i].type >= 0)
			row[r->rate[i].job * m + a->type[r->rate[i].type]] =
			    r->rate[i].row;
	return row;
}

/* What is shared without having a row: as the row of the first job alone there. */
static void
write_shared(const struct shared_rows *s, const struct gv_answer *a,
    const struct gv_rates *r, const struct gv_cluster *c, const struct columns *at,
    const struct answer_columns *every, struct gv_tabw *w)
{
	const struct gv_frame *f = &r->frame;
	size_t *alone = rows_alone(a, r);
	const char **type = gv_xcalloc(a->p.m, sizeof(*type));
	size_t i, k;

	for (i = 0; i < c->n_types; i++)
		type[a->type[i]] = c->type[i].name;
	for (i = 0; i < s->n; i++) {
		const struct shared_row *q = &s->row[i];

		if (q->written)
			continue;
		for (k = 0; k < at->n_columns; k++) {
			if (k == at->with)
				gv_tabw_cell(w, r->job[q->with].id);
			else if (k == at->with_rate)
				gv_tabw_double(w, q->with_rate);
			else if (k == at->share)
				gv_tabw_double(w, q->share);
			else if (k == at->policy)
				gv_tabw_str(w, every->policy);
			else if (k == at->relaxation)
				gv_tabw_str(w, every->relaxation);
			else if ((ptrdiff_t)k == at->rate)
				gv_tabw_double(w, q->rate);
			else if ((ptrdiff_t)k == at->type)
				gv_tabw_str(w, type[q->type]);
			else
				write_cell(f, alone[q->job * a->p.m + q->type], k, w);
		}
		gv_tabw_end(w);
	}
	free(type);
	free(alone);
}

void
answer_write(const struct gv_answer *a, const struct gv_rates *r,
    const struct gv_cluster *c, const struct answer_columns *every, bool sharing,
    struct gv_tabw *w)
{
	const struct gv_frame *f = &r->frame;
	struct columns at = find_columns(f, sharing, every);
	struct shared_rows s = {0};
	size_t i, k;

	if (a->s.n_pairs > 0)
		shared_rows_make(&s, a, r);
	write_header(&at, f, w);
	for (i = 0; i < r->n_rates; i++) {
		const struct gv_rate *rate = &r->rate[i];

		for (k = 0; k < at.n_columns; k++) {
			if (k == at.share)
				gv_tabw_double(w, rate->with < 0
						      ? gv_answer_share(a, rate)
						      : share_of(&s, a, rate));
			else if (k == at.policy)
				gv_tabw_str(w, every->policy);
			else if (k == at.relaxation)
				gv_tabw_str(w, every->relaxation);
			else if (k == at.reads)
				gv_tabw_str(w, every->reads);
			else
				write_cell(f, i, k, w);
		}
		gv_tabw_end(w);
	}
	if (a->s.n_pairs > 0)
		write_shared(&s, a, r, c, &at, every, w);
	shared_rows_free(&s);
}
