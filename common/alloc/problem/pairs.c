#include "pairs.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "table/kind.h"

/* ---- the table ---- */

struct columns {
	ptrdiff_t a, b, scale, type, rate_a, rate_b;
};

static int
find_columns(struct columns *c, const struct gv_frame *f, struct gv_error *e)
{
	int rc;

	if (gv_frame_expect(f, GV_KIND_PAIRS, e) != 0)
		return -1;
	rc = gv_frame_require(f, "job_a", &c->a, e);
	rc |= gv_frame_require(f, "job_b", &c->b, e);
	rc |= gv_frame_require(f, "scale_factor", &c->scale, e);
	rc |= gv_frame_require(f, "gpu_type", &c->type, e);
	rc |= gv_frame_require(f, "steps_per_s_a", &c->rate_a, e);
	rc |= gv_frame_require(f, "steps_per_s_b", &c->rate_b, e);
	return rc;
}

static int
read_name(
    struct gv_pairs *t, size_t row, ptrdiff_t column, size_t *name, struct gv_error *e)
{
	struct gv_cell cell = gv_frame_cell(&t->frame, row, column);

	*name = gv_hash_add(&t->names, cell.s, cell.len);
	if (cell.len > 0)
		return 0;
	return gv_frame_error(&t->frame, row, column, e,
	    "expected the name of a job or of a type of jobs, got \"\"");
}

static int
read_row(struct gv_pairs *t, size_t row, const struct columns *c, struct gv_error *e)
{
	const struct gv_frame *f = &t->frame;
	struct gv_pairs_row *p = &t->row[row];
	int rc = read_name(t, row, c->a, &p->a, e);

	rc |= read_name(t, row, c->b, &p->b, e);
	p->type = gv_frame_cell(f, row, c->type);
	if (p->type.len == 0)
		rc |= gv_frame_error(
		    f, row, c->type, e, "expected the name of a GPU type, got \"\"");
	if (gv_frame_int(f, row, c->scale, INT64_MIN, &p->scale, e) != 0)
		rc = -1;
	else if (p->scale < 1)
		rc = gv_frame_expected(f, row, c->scale, e, "a whole number > 0");
	rc |= gv_frame_not_negative(f, row, c->rate_a, NAN, &p->rate_a, e);
	rc |= gv_frame_not_negative(f, row, c->rate_b, NAN, &p->rate_b, e);
	return rc;
}

/* What makes two rows the same: the lower name, the other, scale, type. */
struct row_key {
	uint64_t a, b, scale, type;
};

static int
check_repeated(const struct gv_pairs *t, ptrdiff_t column, struct gv_error *e)
{
	struct row_key *key = gv_xcalloc(t->frame.n_rows, sizeof(*key));
	size_t *first = gv_xcalloc(t->frame.n_rows, sizeof(*first));
	struct gv_hash types = {0}, rows = {0};
	size_t i, known, k;
	int rc = 0;

	for (i = 0; i < t->frame.n_rows; i++) {
		const struct gv_pairs_row *p = &t->row[i];

		key[i] =
		    (struct row_key){p->a < p->b ? p->a : p->b, p->a < p->b ? p->b : p->a,
			(uint64_t)p->scale, gv_hash_add(&types, p->type.s, p->type.len)};
		known = rows.n;
		k = gv_hash_add(&rows, (const char *)&key[i], sizeof(key[i]));
		if (k == known)
			first[k] = i;
		else
			rc = gv_frame_error(&t->frame, i, column, e,
			    "repeated pair on this type, first at line %ld",
			    t->frame.line[first[k]]);
	}
	gv_hash_free(&types);
	gv_hash_free(&rows);
	free(key);
	free(first);
	return rc;
}

int
gv_pairs_from(struct gv_pairs *t, struct gv_frame *frame, struct gv_error *e)
{
	struct columns c;
	size_t i;
	int rc;

	*t = (struct gv_pairs){.frame = *frame};
	*frame = (struct gv_frame){0};
	rc = find_columns(&c, &t->frame, e);
	if (rc == 0) {
		t->row = gv_xcalloc(t->frame.n_rows, sizeof(*t->row));
		for (i = 0; i < t->frame.n_rows; i++)
			rc |= read_row(t, i, &c, e);
	}
	if (rc == 0)
		rc = check_repeated(t, c.a, e);
	if (rc != 0)
		gv_pairs_free(t);
	return rc == 0 ? 0 : -1;
}

void
gv_pairs_free(struct gv_pairs *t)
{
	gv_frame_free(&t->frame);
	gv_hash_free(&t->names);
	free(t->row);
	*t = (struct gv_pairs){0};
}

/* ---- kinds ---- */

/* What a job is for those it shares with: itself, or one of its type and scale, or of no interest. */
enum sort { NOBODY, OF_TYPE, ITSELF };

struct kind {
	enum sort sort;
	struct gv_cell name; /* of the type, or of the job */
	int64_t scale;
	size_t name_number; /* of the type in the table, SIZE_MAX = it is not there */
	size_t job;         /* number of a job of it */
};

static int
by_name(const void *a, const void *b)
{
	const struct kind *x = a;
	const struct kind *y = b;
	size_t len = x->name.len < y->name.len ? x->name.len : y->name.len;
	int order = 0;

	if (x->sort != y->sort)
		return x->sort < y->sort ? -1 : 1;
	if (x->scale != y->scale && x->sort != NOBODY)
		return x->scale < y->scale ? -1 : 1;
	if (x->sort != NOBODY && len > 0)
		order = memcmp(x->name.s, y->name.s, len);
	if (order != 0 || x->sort == NOBODY)
		return order;
	return (x->name.len > y->name.len) - (x->name.len < y->name.len);
}

struct finder {
	const struct gv_pairs *t;
	const struct gv_rates *r;
	const struct gv_cluster *c;
	const size_t *type, *row;
	struct gv_hash ids;   /* of the jobs of r */
	ptrdiff_t *job_named; /* [names] the job of that name, -1 = none */
	struct kind *of;      /* [jobs] */
	size_t n_kinds;
	struct kind *kind; /* [n_kinds], in order */
	size_t *number;    /* [jobs] */
	size_t n, cap;
	struct gv_together_entry *entry;
};

static bool
runs(const struct finder *f, size_t job)
{
	return f->row[job] != SIZE_MAX;
}

/* The job that a name of the table is, if the row has its scale. */
static ptrdiff_t
named_job(const struct finder *f, size_t name, int64_t scale)
{
	ptrdiff_t job = f->job_named[name];

	return job >= 0 && f->r->job[job].scale_factor == scale ? job : -1;
}

/* Which jobs are themselves, because a row speaks of them. */
static void
find_named(struct finder *f)
{
	size_t names = f->t != NULL ? f->t->names.n : 0;
	size_t i;

	f->job_named = gv_xcalloc(names, sizeof(*f->job_named));
	for (i = 0; i < f->r->n_jobs; i++)
		gv_hash_add(&f->ids, f->r->job[i].id.s, f->r->job[i].id.len);
	for (i = 0; i < names; i++)
		f->job_named[i] =
		    gv_hash_find(&f->ids, f->t->names.key[i].s, f->t->names.key[i].len);
	for (i = 0; f->t != NULL && i < f->t->frame.n_rows; i++) {
		const struct gv_pairs_row *p = &f->t->row[i];
		ptrdiff_t a = named_job(f, p->a, p->scale);
		ptrdiff_t b = named_job(f, p->b, p->scale);

		if (a >= 0)
			f->of[a].sort = ITSELF;
		if (b >= 0)
			f->of[b].sort = ITSELF;
	}
	for (i = 0; i < f->r->n_rates; i++)
		if (f->r->rate[i].with >= 0)
			f->of[f->r->rate[i].job].sort = f->of[f->r->rate[i].with].sort =
			    ITSELF;
}

/* The kind of each job, and all kinds in the order of their names. */
static void
find_kinds(struct finder *f)
{
	struct kind *all = gv_xcalloc(f->r->n_jobs, sizeof(*all));
	size_t i, n = 0;

	for (i = 0; i < f->r->n_jobs; i++) {
		const struct gv_job *job = &f->r->job[i];
		struct kind *k = &f->of[i];
		ptrdiff_t name = -1;

		if (f->t != NULL && job->job_type.len > 0)
			name = gv_hash_find(
			    &f->t->names, job->job_type.s, job->job_type.len);
		if (name >= 0 && f->job_named[name] >= 0 &&
		    named_job(f, (size_t)name, job->scale_factor) >= 0)
			name = -1; /* the name is that of a job */
		k->name_number = name >= 0 ? (size_t)name : SIZE_MAX;
		k->scale = job->scale_factor;
		k->job = i;
		if (k->sort == NOBODY && name >= 0)
			k->sort = OF_TYPE;
		k->name = k->sort == ITSELF ? job->id : job->job_type;
		if (runs(f, i))
			all[n++] = *k;
	}
	qsort(all, n, sizeof(*all), by_name);
	for (i = 0; i < n; i++) {
		if (i == 0 || by_name(&all[i], &all[i - 1]) != 0)
			f->n_kinds++;
		f->number[all[i].job] = f->n_kinds - 1;
		all[f->n_kinds - 1] = all[i];
	}
	f->kind = all;
}

/* ---- their pairs ---- */

static void
add_entry(struct finder *f, size_t a, size_t b, struct gv_cell type, int64_t scale,
    double rate_a, double rate_b)
{
	ptrdiff_t j = gv_cluster_find(f->c, type);

	if (j < 0 || (uint64_t)scale > f->c->type[j].gpus)
		return;
	f->entry = gv_xgrow(f->entry, &f->cap, f->n + 1, sizeof(*f->entry));
	f->entry[f->n++] = (struct gv_together_entry){
	    (uint32_t)a, (uint32_t)b, (uint32_t)f->type[j], 0, rate_a, rate_b};
}

/* The kinds that a name means: [n_kinds], how many. */
static size_t
meant(const struct finder *f, size_t name, int64_t scale, size_t *kind)
{
	ptrdiff_t job = named_job(f, name, scale);
	size_t k, n = 0;

	if (job >= 0 && runs(f, (size_t)job))
		kind[n++] = f->number[job];
	for (k = 0; job < 0 && k < f->n_kinds; k++)
		if (f->kind[k].name_number == name && f->kind[k].scale == scale)
			kind[n++] = k;
	return n;
}

/* Those rows of the table that name so many jobs. */
static void
add_rows(struct finder *f, int jobs)
{
	size_t *a = gv_xcalloc(f->n_kinds, sizeof(*a));
	size_t *b = gv_xcalloc(f->n_kinds, sizeof(*b));
	size_t i, k, l, n_a, n_b;

	for (i = 0; i < f->t->frame.n_rows; i++) {
		const struct gv_pairs_row *p = &f->t->row[i];
		double rate_a = p->rate_a, rate_b = p->rate_b;

		if ((named_job(f, p->a, p->scale) >= 0) +
			(named_job(f, p->b, p->scale) >= 0) !=
		    jobs)
			continue;
		if (p->a == p->b) /* who is who of one type is not known */
			rate_a = rate_b = rate_a / 2 + rate_b / 2;
		n_a = meant(f, p->a, p->scale, a);
		n_b = meant(f, p->b, p->scale, b);
		for (k = 0; k < n_a; k++)
			for (l = p->a == p->b ? k : 0; l < n_b; l++)
				add_entry(
				    f, a[k], b[l], p->type, p->scale, rate_a, rate_b);
	}
	free(a);
	free(b);
}

static void
add_rates(struct finder *f)
{
	size_t i;

	for (i = 0; i < f->r->n_rates; i++) {
		const struct gv_rate *rate = &f->r->rate[i];

		if (rate->with < 0 || rate->type < 0 || !runs(f, rate->job) ||
		    !runs(f, (size_t)rate->with))
			continue;
		add_entry(f, f->number[rate->job], f->number[rate->with],
		    (struct gv_cell){
			f->c->type[rate->type].name, strlen(f->c->type[rate->type].name)},
		    f->r->job[rate->job].scale_factor, rate->steps_per_s,
		    rate->with_steps_per_s);
	}
}

void
gv_pairs_find(struct gv_problem *p, struct gv_together *with, const struct gv_pairs *t,
    const struct gv_rates *r, const struct gv_cluster *c, const size_t *type,
    const size_t *row)
{
	struct finder f = {.t = t, .r = r, .c = c, .type = type, .row = row};
	int jobs;
	size_t i;

	f.of = gv_xcalloc(r->n_jobs, sizeof(*f.of));
	f.number = gv_xcalloc(r->n_jobs, sizeof(*f.number));
	find_named(&f);
	find_kinds(&f);
	add_rates(&f);
	for (jobs = 2; jobs >= 0 && t != NULL; jobs--)
		add_rows(&f, jobs);
	if (f.n > 0) {
		gv_together_make(with, f.n_kinds, p->m, f.entry, f.n);
		p->together = with;
		p->kind = gv_xcalloc(p->n, sizeof(*p->kind));
		for (i = 0; i < r->n_jobs; i++)
			if (row[i] != SIZE_MAX)
				p->kind[row[i]] = f.number[i];
	}
	gv_hash_free(&f.ids);
	free(f.job_named);
	free(f.of);
	free(f.kind);
	free(f.number);
	free(f.entry);
}
