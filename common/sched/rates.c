#include "sched/rates.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "table/kind.h"

/* ---- the columns that describe a job ---- */

static const struct {
	const char *name;
	size_t at; /* in struct gv_job */
} texts[] = {
    {"job_type", offsetof(struct gv_job, job_type)},
    {"entity", offsetof(struct gv_job, entity)},
    {"node", offsetof(struct gv_job, node)},
    {"command", offsetof(struct gv_job, command)},
    {"working_directory", offsetof(struct gv_job, working_directory)},
};

enum range { ANY, NOT_NEGATIVE, POSITIVE };

static const struct {
	const char *name;
	size_t at;
	double otherwise; /* NAN: stays absent */
	enum range range;
} numbers[] = {
    {"priority_weight", offsetof(struct gv_job, priority_weight), 1, POSITIVE},
    {"total_steps", offsetof(struct gv_job, total_steps), NAN, NOT_NEGATIVE},
    {"arrival_s", offsetof(struct gv_job, arrival_s), 0, ANY},
    {"deadline_s", offsetof(struct gv_job, deadline_s), NAN, ANY},
    {"slo_factor", offsetof(struct gv_job, slo_factor), NAN, POSITIVE},
    {"min_steps_per_s", offsetof(struct gv_job, min_steps_per_s), 0, NOT_NEGATIVE},
    {"steps_remaining", offsetof(struct gv_job, steps_remaining), NAN, NOT_NEGATIVE},
    {"elapsed_s", offsetof(struct gv_job, elapsed_s), 0, NOT_NEGATIVE},
    {"isolated_elapsed_s", offsetof(struct gv_job, isolated_elapsed_s), 0, NOT_NEGATIVE},
    {"move_cost", offsetof(struct gv_job, move_cost), 1, NOT_NEGATIVE},
};

enum {
	N_TEXTS = sizeof(texts) / sizeof(texts[0]),
	N_NUMBERS = sizeof(numbers) / sizeof(numbers[0]),
	MAX_SCALE = 1000000
};

struct job_columns {
	ptrdiff_t id, scale_factor;
	ptrdiff_t text[N_TEXTS];
	ptrdiff_t number[N_NUMBERS];
};

static int
find_job_columns(struct job_columns *c, const struct gv_frame *f, struct gv_error *e)
{
	size_t i;

	c->scale_factor = gv_frame_find(f, "scale_factor");
	for (i = 0; i < N_TEXTS; i++)
		c->text[i] = gv_frame_find(f, texts[i].name);
	for (i = 0; i < N_NUMBERS; i++)
		c->number[i] = gv_frame_find(f, numbers[i].name);
	return gv_frame_require(f, "job_id", &c->id, e);
}

/* ---- cells ---- */

static int
read_number(const struct gv_frame *f, size_t row, ptrdiff_t column, double otherwise,
    enum range range, double *v, struct gv_error *e)
{
	if (gv_frame_double(f, row, column, otherwise, v, e) != 0)
		return -1;
	if (range == NOT_NEGATIVE && *v < 0)
		return gv_frame_expected(f, row, column, e, "a number >= 0");
	if (range == POSITIVE && *v <= 0)
		return gv_frame_expected(f, row, column, e, "a number > 0");
	/* it has lost digits, and what it is divided by is infinite */
	if (range == POSITIVE && *v < DBL_MIN)
		return gv_frame_expected(
		    f, row, column, e, "a number > 0, no smaller than 2.3e-308");
	return 0;
}

static int
read_scale(const struct gv_frame *f, size_t row, ptrdiff_t column, int64_t otherwise,
    int64_t *v, struct gv_error *e)
{
	if (gv_frame_int(f, row, column, otherwise, v, e) != 0)
		return -1;
	if (*v < 1 || *v > MAX_SCALE)
		return gv_frame_expected(
		    f, row, column, e, "a whole number from 1 to 1000000");
	return 0;
}

static int
repeated(const struct gv_frame *f, size_t row, ptrdiff_t column, const char *what,
    size_t first, struct gv_error *e)
{
	struct gv_cell cell = gv_frame_cell(f, row, column);
	char q[GV_QUOTE_LEN];

	return gv_frame_error(f, row, column, e, "repeated %s %s, first at line %ld",
	    what, gv_quote(q, cell.s, cell.len), f->line[first]);
}

/* ---- jobs ---- */

static int
read_job(struct gv_job *j, const struct gv_frame *f, size_t row,
    const struct job_columns *c, struct gv_error *e)
{
	size_t i;
	int rc = 0;

	*j = (struct gv_job){.id = gv_frame_cell(f, row, c->id), .row = row};
	rc |= read_scale(f, row, c->scale_factor, 1, &j->scale_factor, e);
	for (i = 0; i < N_TEXTS; i++)
		*(struct gv_cell *)(void *)((char *)j + texts[i].at) =
		    gv_frame_cell(f, row, c->text[i]);
	for (i = 0; i < N_NUMBERS; i++) {
		double *v = (double *)(void *)((char *)j + numbers[i].at);

		if (isnan(numbers[i].otherwise) &&
		    gv_frame_cell(f, row, c->number[i]).len == 0)
			*v = NAN;
		else
			rc |= read_number(f, row, c->number[i], numbers[i].otherwise,
			    numbers[i].range, v, e);
	}
	if (isnan(j->steps_remaining))
		j->steps_remaining = j->total_steps;
	return rc;
}

static int
check_same(const struct gv_frame *f, size_t row, size_t first, ptrdiff_t column,
    struct gv_error *e)
{
	struct gv_cell was, now;
	char q[GV_QUOTE_LEN];

	if (column < 0)
		return 0;
	was = gv_frame_cell(f, first, column);
	now = gv_frame_cell(f, row, column);
	if (gv_cell_equal(was, now))
		return 0;
	return gv_frame_expected(f, row, column, e, "%s as at line %ld",
	    gv_quote(q, was.s, was.len), f->line[first]);
}

void
gv_job_move(struct gv_job *j, const struct gv_frame *f, size_t row)
{
	size_t i;

	j->row = row;
	j->id = gv_frame_cell(f, row, gv_frame_find(f, "job_id"));
	for (i = 0; i < N_TEXTS; i++)
		*(struct gv_cell *)(void *)((char *)j + texts[i].at) =
		    gv_frame_cell(f, row, gv_frame_find(f, texts[i].name));
}

/* A further row of a job: it must describe the job as the first one did. */
static int
check_job(const struct gv_job *j, const struct gv_frame *f, size_t row,
    const struct job_columns *c, struct gv_error *e)
{
	ptrdiff_t alike = (ptrdiff_t)gv_frame_alike(f, row, j->row);
	size_t i;
	int rc = 0;

	if (c->scale_factor >= alike)
		rc |= check_same(f, row, j->row, c->scale_factor, e);
	for (i = 0; i < N_TEXTS; i++)
		if (c->text[i] >= alike)
			rc |= check_same(f, row, j->row, c->text[i], e);
	for (i = 0; i < N_NUMBERS; i++)
		if (c->number[i] >= alike)
			rc |= check_same(f, row, j->row, c->number[i], e);
	return rc;
}

/* The job of a row into *job; a new one is read and added.  1 it is new, 0 it is known, -1 error. */
static int
job_of_row(struct gv_rates *r, struct gv_hash *ids, size_t *cap, size_t row,
    const struct job_columns *c, size_t *job, struct gv_error *e)
{
	struct gv_cell id = gv_frame_cell(&r->frame, row, c->id);

	if (id.len == 0)
		return gv_frame_expected(&r->frame, row, c->id, e, "the name of a job");
	*job = r->n_jobs - 1; /* a job's rows mostly stand together */
	if (r->n_jobs > 0 && gv_cell_equal(id, r->job[*job].id))
		return 0;
	*job = gv_hash_add(ids, id.s, id.len);
	if (*job < r->n_jobs)
		return 0;
	r->job = gv_xgrow(r->job, cap, r->n_jobs + 1, sizeof(*r->job));
	r->n_jobs++;
	return read_job(&r->job[*job], &r->frame, row, c, e) == 0 ? 1 : -1;
}

static void
take_frame(struct gv_rates *r, struct gv_frame *frame)
{
	*r = (struct gv_rates){.frame = *frame};
	*frame = (struct gv_frame){0};
}

int
gv_jobs_from(struct gv_rates *r, struct gv_frame *frame, struct gv_error *e)
{
	struct gv_hash ids = {0};
	struct job_columns c;
	size_t cap = 0;
	size_t row, rows, job = 0;
	int rc;

	take_frame(r, frame);
	rc = gv_frame_find(&r->frame, "job_id") >= 0 &&
		     gv_kind_of(r->frame.name, r->frame.n_columns) != GV_KIND_EVENTS
		 ? 0
		 : gv_frame_expect(&r->frame, GV_KIND_JOBS, e);
	rc = rc == 0 ? find_job_columns(&c, &r->frame, e) : -1;
	rows = rc == 0 ? r->frame.n_rows : 0;
	for (row = 0; row < rows; row++) {
		switch (job_of_row(r, &ids, &cap, row, &c, &job, e)) {
		case 0:
			rc = repeated(&r->frame, row, c.id, "job_id", r->job[job].row, e);
			break;
		case -1:
			rc = -1;
			break;
		}
	}
	gv_hash_free(&ids);
	if (rc != 0)
		gv_rates_free(r);
	return rc;
}

/* ---- rates ---- */

struct rate_columns {
	struct job_columns job;
	ptrdiff_t gpu_type, steps_per_s, share, with_job_id, with_steps_per_s;
};

static int
find_rate_columns(struct rate_columns *c, const struct gv_frame *f, struct gv_error *e)
{
	static const char with[] = "with_steps_per_s";
	int rc = find_job_columns(&c->job, f, e);

	rc |= gv_frame_require(f, "gpu_type", &c->gpu_type, e);
	rc |= gv_frame_require(f, "steps_per_s", &c->steps_per_s, e);
	c->share = gv_frame_find(f, "share");
	c->with_job_id = gv_frame_find(f, "with_job_id");
	c->with_steps_per_s = gv_frame_find(f, "with_steps_per_s");
	if (c->with_job_id >= 0 && c->with_steps_per_s < 0) /* one needs the other */
		rc |= gv_frame_require(f, with, &c->with_steps_per_s, e);
	return rc;
}

/* What is remembered while the rows of a rates table go by. */
struct seen {
	struct gv_hash ids;   /* job_id: its number is the job's index */
	struct gv_hash types; /* gpu_type: all names of the table */
	ptrdiff_t *type;      /* [names] index in the cluster, or -1 */
	size_t last_type;     /* the name of the row before */
	uint64_t *few;        /* [jobs] bit t: there is a row of type name t < 64 */
	struct gv_hash many;  /* (job, type name) of the other rows */
	size_t (*pair)[2];    /* [rows] what many knows */
	size_t cap_jobs, cap_types, cap_few;
};

/* The number of a row's type name; looked up in the cluster when it is new. */
static size_t
type_name(struct seen *s, const struct gv_cluster *cluster, struct gv_cell name)
{
	size_t known = s->types.n;
	size_t i = s->last_type + 1 < known ? s->last_type + 1 : 0;

	/* jobs mostly have the same types in the same order */
	if (known == 0 || !gv_cell_equal(name,
			      (struct gv_cell){s->types.key[i].s, s->types.key[i].len}))
		i = gv_hash_add(&s->types, name.s, name.len);
	if (i == known) {
		s->type = gv_xgrow(s->type, &s->cap_types, i + 1, sizeof(*s->type));
		s->type[i] = cluster != NULL ? gv_cluster_find(cluster, name) : -1;
	}
	s->last_type = i;
	return i;
}

/* Whether an earlier row has this job and type name; remembers that one has it now. */
static bool
seen_pair(struct seen *s, size_t n_jobs, size_t row, size_t job, size_t type)
{
	size_t known = s->many.n;
	size_t cap = s->cap_few;
	bool seen;

	if (type < 64) {
		s->few = gv_xgrow(s->few, &s->cap_few, n_jobs, sizeof(*s->few));
		if (cap < s->cap_few)
			memset(s->few + cap, 0, (s->cap_few - cap) * sizeof(*s->few));
		seen = s->few[job] >> type & 1;
		s->few[job] |= UINT64_C(1) << type;
		return seen;
	}
	s->pair[row][0] = job;
	s->pair[row][1] = type;
	return gv_hash_add(&s->many, (const char *)s->pair[row], sizeof(s->pair[row])) <
	       known;
}

static int
repeated_pair(const struct gv_rates *r, size_t row, ptrdiff_t column, struct gv_error *e)
{
	const struct gv_frame *f = &r->frame;
	struct gv_cell id = r->job[r->rate[row].job].id;
	struct gv_cell type = gv_frame_cell(f, row, column);
	char q[GV_QUOTE_LEN];
	size_t first = row;

	if (e->count < GV_ERROR_KEPT) /* else nobody will read it */
		for (first = 0;
		     r->rate[first].job != r->rate[row].job || r->rate[first].with >= 0 ||
		     !gv_cell_equal(gv_frame_cell(f, first, column), type);
		     first++)
			continue;
	return gv_frame_error(f, row, column, e,
	    "repeated row of job %s on this type, first at line %ld",
	    gv_quote(q, id.s, id.len), f->line[first]);
}

static int
read_rate(struct gv_rates *r, size_t row, const struct rate_columns *c, struct seen *s,
    const struct gv_cluster *cluster, struct gv_error *e)
{
	const struct gv_frame *f = &r->frame;
	struct gv_rate *rate = &r->rate[row];
	struct gv_cell name = gv_frame_cell(f, row, c->gpu_type);
	size_t type;
	int rc = 0;
	int new;

	rate->row = row;
	rate->job = SIZE_MAX; /* no good row */
	rate->with = -1;
	rc |=
	    read_number(f, row, c->steps_per_s, NAN, NOT_NEGATIVE, &rate->steps_per_s, e);
	if (read_number(f, row, c->share, 0, ANY, &rate->share, e) != 0)
		rc = -1;
	else if (!(rate->share >= 0 && rate->share <= 1))
		rc = gv_frame_expected(f, row, c->share, e, "a number from 0 to 1");
	if (name.len == 0)
		rc = gv_frame_expected(f, row, c->gpu_type, e, "the name of a GPU type");
	new = job_of_row(r, &s->ids, &s->cap_jobs, row, &c->job, &rate->job, e);
	if (new == 0)
		rc |= check_job(&r->job[rate->job], f, row, &c->job, e);
	if (new == -1 || rc != 0)
		return -1;
	type = type_name(s, cluster, name);
	rate->type = s->type[type];
	if (gv_frame_cell(f, row, c->with_job_id).len > 0) {
		rate->with = 0; /* read_partner says whom */
		return read_number(f, row, c->with_steps_per_s, NAN, NOT_NEGATIVE,
		    &rate->with_steps_per_s, e);
	}
	if (seen_pair(s, r->n_jobs, row, rate->job, type))
		return repeated_pair(r, row, c->gpu_type, e);
	return 0;
}

/* Whom a job shares with, when all jobs are known. */
static int
read_partner(struct gv_rates *r, struct gv_rate *rate, const struct rate_columns *c,
    const struct seen *s, struct gv_error *e)
{
	const struct gv_frame *f = &r->frame;
	struct gv_cell id = gv_frame_cell(f, rate->row, c->with_job_id);
	char q[2][GV_QUOTE_LEN];

	rate->with = gv_hash_find(&s->ids, id.s, id.len);
	if (rate->with < 0 || (size_t)rate->with == rate->job)
		return gv_frame_expected(
		    f, rate->row, c->with_job_id, e, "another job of the table");
	if (r->job[rate->with].scale_factor == r->job[rate->job].scale_factor ||
	    r->job[rate->with].scale_factor < 1) /* a bad one, as was said */
		return 0;
	return gv_frame_error(f, rate->row, c->with_job_id, e,
	    "jobs %s and %s cannot share GPUs: they need %lld and %lld",
	    gv_quote(q[0], r->job[rate->job].id.s, r->job[rate->job].id.len),
	    gv_quote(q[1], id.s, id.len), (long long)r->job[rate->job].scale_factor,
	    (long long)r->job[rate->with].scale_factor);
}

static int
read_partners(
    struct gv_rates *r, const struct rate_columns *c, struct seen *s, struct gv_error *e)
{
	const struct gv_frame *f = &r->frame;
	struct gv_hash pairs = {0};
	size_t(*key)[3] = gv_xcalloc(r->n_rates, sizeof(*key));
	size_t *first = gv_xcalloc(r->n_rates, sizeof(*first));
	size_t i;
	int rc = 0;

	for (i = 0; i < r->n_rates; i++) {
		struct gv_rate *rate = &r->rate[i];
		struct gv_cell type = gv_frame_cell(f, i, c->gpu_type);
		size_t with, known, pair;

		if (rate->with < 0 || rate->job == SIZE_MAX)
			continue;
		if (read_partner(r, rate, c, s, e) != 0) {
			rc = -1;
			continue;
		}
		with = (size_t)rate->with;
		key[i][0] = rate->job < with ? rate->job : with;
		key[i][1] = rate->job < with ? with : rate->job;
		key[i][2] = (size_t)gv_hash_find(&s->types, type.s, type.len);
		known = pairs.n;
		pair = gv_hash_add(&pairs, (const char *)key[i], sizeof(key[i]));
		if (pair == known)
			first[pair] = i;
		else
			rc = gv_frame_error(f, i, c->with_job_id, e,
			    "repeated row of the two jobs on this type, first at line "
			    "%ld",
			    f->line[first[pair]]);
	}
	gv_hash_free(&pairs);
	free(key);
	free(first);
	return rc;
}

size_t
gv_rates_columns(const char *names[GV_RATES_COLUMNS])
{
	static const char *const others[] = {"job_id", "scale_factor", "gpu_type",
	    "steps_per_s", "share", "with_job_id", "with_steps_per_s", "policy",
	    "gpus_available"};
	size_t i, n = 0;

	for (i = 0; i < N_TEXTS; i++)
		names[n++] = texts[i].name;
	for (i = 0; i < N_NUMBERS; i++)
		names[n++] = numbers[i].name;
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		names[n++] = others[i];
	return n;
}

int
gv_rates_from(struct gv_rates *r, struct gv_frame *frame,
    const struct gv_cluster *cluster, struct gv_error *e)
{
	struct rate_columns c;
	struct seen s = {0};
	size_t row;
	int rc;

	take_frame(r, frame);
	rc = gv_frame_expect(&r->frame, GV_KIND_RATES, e);
	rc = rc == 0 ? find_rate_columns(&c, &r->frame, e) : -1;
	if (rc == 0) {
		r->has_share = c.share >= 0;
		r->n_rates = r->frame.n_rows;
		r->rate = gv_xcalloc(r->n_rates, sizeof(*r->rate));
		s.pair = gv_xcalloc(r->n_rates, sizeof(*s.pair));
		for (row = 0; row < r->n_rates; row++)
			rc |= read_rate(r, row, &c, &s, cluster, e);
		if (c.with_job_id >= 0)
			rc |= read_partners(r, &c, &s, e);
	}
	gv_hash_free(&s.ids);
	gv_hash_free(&s.types);
	gv_hash_free(&s.many);
	free(s.type);
	free(s.few);
	free(s.pair);
	if (rc != 0)
		gv_rates_free(r);
	return rc == 0 ? 0 : -1;
}

void
gv_rates_free(struct gv_rates *r)
{
	gv_frame_free(&r->frame);
	free(r->job);
	free(r->rate);
	*r = (struct gv_rates){0};
}
