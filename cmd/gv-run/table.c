/* The allocation table of a run: checked, merged with the one kept, written. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/num.h"
#include "run.h"

/* Columns that are written anew, not carried through. */
static const char *const computed[] = {
    "steps_remaining", "elapsed_s", "isolated_elapsed_s", "share", "policy"};

static const double sum_tolerance = 1e-6;

/* ---- reading ---- */

static int
check_commands(const struct gv_rates *t, struct gv_error *e)
{
	ptrdiff_t column;
	size_t m;
	int r = 0;

	if (gv_frame_require(&t->frame, "command", &column, e) != 0)
		return -1;
	for (m = 0; m < t->n_jobs; m++)
		if (t->job[m].command.len == 0)
			r = gv_frame_error(&t->frame, t->job[m].row, column, e,
			    "expected a command, got nothing");
	return r;
}

int
table_check_sums(const struct gv_rates *t, struct gv_error *e)
{
	ptrdiff_t column = gv_frame_find(&t->frame, "share");
	double *sum = gv_xcalloc(t->n_jobs + 1, sizeof(*sum));
	char q[GV_QUOTE_LEN];
	char number[GV_NUM_LEN];
	size_t i;
	int r = 0;

	for (i = 0; i < t->n_rates; i++) {
		sum[t->rate[i].job] += t->rate[i].share;
		if (t->rate[i].with >= 0)
			sum[t->rate[i].with] += t->rate[i].share;
	}
	for (i = 0; i < t->n_jobs; i++)
		if (sum[i] > 1 + sum_tolerance) {
			gv_format_double(number, sum[i]);
			r = gv_frame_error(&t->frame, t->job[i].row, column, e,
			    "expected shares of job %s that add up to at most 1, got %s",
			    gv_quote(q, t->job[i].id.s, t->job[i].id.len), number);
		}
	free(sum);
	return r;
}

int
table_read(struct gv_rates *t, const char *path, const struct gv_cluster *c,
    const struct settings *o, struct gv_error *e)
{
	struct gv_frame f = {0};
	struct gv_error w = {0};

	if (gv_frame_load(&f, path, e) != 0 || gv_rates_from(t, &f, c, e) != 0)
		return -1;
	gv_rates_spread(t, c);
	gv_rates_slips(t, c, &w);
	if (!o->quiet)
		gv_warn_each(&w);
	if (!t->has_share && o->policy == NULL)
		gv_error_at(e, t->frame.file, t->frame.header_line, NULL,
		    "missing column \"share\"; gv-alloc adds it, or -p names a command "
		    "that does");
	check_commands(t, e);
	table_check_sums(t, e);
	if (e->count == 0)
		return 0;
	gv_rates_free(t);
	return -1;
}

int
table_policy(const struct gv_rates *t, const char **name, struct gv_error *e)
{
	ptrdiff_t column = gv_frame_find(&t->frame, "policy");
	char q[2][GV_QUOTE_LEN];
	struct gv_cell first;
	size_t row;

	*name = NULL;
	if (column < 0 || t->frame.n_rows == 0)
		return 0;
	first = gv_frame_cell(&t->frame, 0, column);
	for (row = 1; row < t->frame.n_rows; row++) {
		struct gv_cell c = gv_frame_cell(&t->frame, row, column);

		if (!gv_cell_equal(c, first))
			return gv_frame_error(&t->frame, row, column, e,
			    "expected %s as in the first row, got %s",
			    gv_quote(q[0], first.s, first.len),
			    gv_quote(q[1], c.s, c.len));
	}
	if (first.len > 0)
		*name = first.s;
	return 0;
}

/* ---- writing ---- */

static bool
is_computed(struct gv_cell name)
{
	size_t i;

	for (i = 0; i < sizeof(computed) / sizeof(computed[0]); i++)
		if (gv_cell_is(name, computed[i]))
			return true;
	return false;
}

/* Names carried through, of up to two tables. */
struct columns {
	size_t n;
	const char **name;
};

static void
add_columns(struct columns *c, const struct gv_frame *f, const struct gv_frame *unless_in)
{
	size_t i;

	c->name = gv_xrealloc(c->name, c->n + f->n_columns + 1, sizeof(*c->name));
	for (i = 0; i < f->n_columns; i++)
		if (!is_computed(f->name[i]) &&
		    (unless_in == NULL || gv_frame_find(unless_in, f->name[i].s) < 0))
			c->name[c->n++] = f->name[i].s;
}

static void
write_header(struct gv_tabw *w, const struct columns *c, bool shares, bool policy)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		gv_tabw_str(w, c->name[i]);
	for (i = 0; i < 3 + (size_t)shares + (size_t)policy; i++)
		gv_tabw_str(w, computed[i]);
	gv_tabw_end(w);
}

static void
write_carried(
    struct gv_tabw *w, const struct columns *c, const struct gv_frame *f, size_t row)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		gv_tabw_cell(w, gv_frame_cell(f, row, gv_frame_find(f, c->name[i])));
}

static bool
holds(const struct gv_hash *ids, struct gv_cell id)
{
	return ids != NULL && gv_hash_find(ids, id.s, id.len) >= 0;
}

/* The rows of one table; those of jobs that skip holds are left out, and of pairs with them. */
static void
merge_rows(struct gv_tabw *w, const struct columns *c, const struct gv_rates *t,
    const struct gv_hash *skip, const struct gv_rates *known,
    const struct gv_hash *known_ids, const char *policy)
{
	size_t i;

	for (i = 0; i < t->n_rates; i++) {
		const struct gv_rate *rate = &t->rate[i];
		const struct gv_job *job = &t->job[rate->job];
		ptrdiff_t old =
		    known == NULL ? -1 : gv_hash_find(known_ids, job->id.s, job->id.len);

		if (holds(skip, job->id) ||
		    (rate->with >= 0 && holds(skip, t->job[rate->with].id)))
			continue;
		write_carried(w, c, &t->frame, rate->row);
		gv_tabw_double(
		    w, old >= 0 ? known->job[old].steps_remaining : job->total_steps);
		gv_tabw_double(w, old >= 0 ? known->job[old].elapsed_s : 0);
		gv_tabw_double(w, old >= 0 ? known->job[old].isolated_elapsed_s : 0);
		gv_tabw_double(w, rate->share);
		if (policy != NULL)
			gv_tabw_str(w, policy);
		gv_tabw_end(w);
	}
}

static void
hash_ids(struct gv_hash *h, const struct gv_rates *t)
{
	size_t m;

	for (m = 0; t != NULL && m < t->n_jobs; m++)
		gv_hash_add(h, t->job[m].id.s, t->job[m].id.len);
}

int
table_merge(const struct gv_rates *known, const struct gv_rates *fresh, const char *path,
    struct gv_error *e)
{
	struct gv_hash known_ids = {0};
	struct gv_hash fresh_ids = {0};
	struct columns c = {0};
	const char *policy;
	struct gv_out *out;
	struct gv_tabw w;

	if (table_policy(fresh, &policy, e) != 0 || gv_out_open(&out, path, e) != 0)
		return -1;
	hash_ids(&known_ids, known);
	hash_ids(&fresh_ids, fresh);
	add_columns(&c, &fresh->frame, NULL);
	if (known != NULL)
		add_columns(&c, &known->frame, &fresh->frame);
	gv_tabw_init(&w, out, false);
	write_header(&w, &c, true, policy != NULL);
	if (known != NULL)
		merge_rows(&w, &c, known, &fresh_ids, known, &known_ids, policy);
	merge_rows(&w, &c, fresh, NULL, known, &known_ids, policy);
	gv_hash_free(&known_ids);
	gv_hash_free(&fresh_ids);
	free(c.name);
	return gv_out_close(out, e);
}

static double
steps_remaining(const struct job *j)
{
	double done = j->report.steps > 0 ? j->report.steps : 0;

	return j->state == JOB_FINISHED ? 0 : fmax(0, j->spec->total_steps - done);
}

static double
elapsed(const struct run *r, const struct job *j)
{
	return j->state == JOB_LATER ? 0 : fmax(0, r->now_s - j->arrived_s);
}

/* The share that a row of the table has now. */
static double
share_now(const struct run *r, const struct gv_rate *rate)
{
	ptrdiff_t m = (ptrdiff_t)rate->job;

	if (rate->with >= 0)
		m = gv_rounds_find_pair(&r->rounds, rate->job, (size_t)rate->with);
	if (m < 0 || rate->type < 0)
		return 0;
	return gv_rounds_claim(&r->rounds, (size_t)m, (size_t)rate->type)->share;
}

/* ---- pairs that only the policy knows ---- */

/* Which pairs on which type the table has a row of, [rounds.n_jobs][n_types]; the caller's. */
static bool *
pairs_of_table(const struct run *r)
{
	size_t n = r->rounds.n_types;
	bool *has = gv_xcalloc(r->rounds.n_jobs * n + 1, sizeof(*has));
	size_t i;

	for (i = 0; i < r->table.n_rates; i++) {
		const struct gv_rate *rate = &r->table.rate[i];
		ptrdiff_t m;

		if (rate->with < 0 || rate->type < 0)
			continue;
		m = gv_rounds_find_pair(&r->rounds, rate->job, (size_t)rate->with);
		if (m >= 0)
			has[(size_t)m * n + (size_t)rate->type] = true;
	}
	return has;
}

/* The columns of the table for a pair on a type. */
static void
write_pair(struct gv_tabw *w, const struct columns *c, const struct run *r, size_t pair,
    size_t type)
{
	const struct gv_round_claim *claim = gv_rounds_claim(&r->rounds, pair, type);
	const size_t *member = r->rounds.job[pair].member;
	const struct gv_frame *f = &r->table.frame;
	size_t i;

	for (i = 0; i < c->n; i++) {
		struct gv_cell name = {c->name[i], strlen(c->name[i])};

		if (gv_cell_is(name, "gpu_type"))
			gv_tabw_str(w, r->cluster.type[type].name);
		else if (gv_cell_is(name, "steps_per_s"))
			gv_tabw_double(w, claim->rate);
		else if (gv_cell_is(name, "with_job_id"))
			gv_tabw_cell(w, r->job[member[1]].spec->id);
		else if (gv_cell_is(name, "with_steps_per_s"))
			gv_tabw_double(w, claim->with_rate);
		else
			gv_tabw_cell(w, gv_frame_cell(f, r->job[member[0]].spec->row,
					    gv_frame_find(f, c->name[i])));
	}
}

/* Columns that pairs need, where the table has none. */
static void
add_pair_columns(struct columns *c, const struct run *r)
{
	if (r->rounds.pairs.n == 0 || gv_frame_find(&r->table.frame, "with_job_id") >= 0)
		return;
	c->name = gv_xrealloc(c->name, c->n + 2, sizeof(*c->name));
	c->name[c->n++] = "with_job_id";
	if (gv_frame_find(&r->table.frame, "with_steps_per_s") < 0)
		c->name[c->n++] = "with_steps_per_s";
}

/* What has been done of a job, and how long it took. */
static void
write_state(struct gv_tabw *w, const struct run *r, const struct job *j)
{
	gv_tabw_double(w, isnan(j->spec->total_steps) ? NAN : steps_remaining(j));
	gv_tabw_double(w, elapsed(r, j));
	gv_tabw_double(w, j->isolated_s);
}

static void
write_pairs(struct gv_tabw *w, const struct columns *c, const struct run *r,
    bool everything, ptrdiff_t policy)
{
	size_t n = r->rounds.n_types;
	bool *has = pairs_of_table(r);
	size_t i;

	for (i = r->n_jobs * n; i < r->rounds.n_jobs * n; i++) {
		const struct gv_round_claim *claim = &r->rounds.claim[i];
		const struct job *j = &r->job[r->rounds.job[i / n].member[0]];

		if (has[i] || (claim->rate == 0 && claim->with_rate == 0) ||
		    (!everything && !gv_rounds_is_active(&r->rounds, i / n)))
			continue;
		write_pair(w, c, r, i / n, i % n);
		write_state(w, r, j);
		if (everything)
			gv_tabw_double(w, claim->share);
		if (policy >= 0)
			gv_tabw_cell(
			    w, gv_frame_cell(&r->table.frame, j->spec->row, policy));
		gv_tabw_end(w);
	}
	free(has);
}

static int
write_now(const struct run *r, const char *path, bool everything, struct gv_error *e)
{
	const struct gv_rates *t = &r->table;
	ptrdiff_t policy = everything ? gv_frame_find(&t->frame, "policy") : -1;
	struct columns c = {0};
	struct gv_out *out;
	struct gv_tabw w;
	size_t i;

	if (gv_out_open(&out, path, e) != 0)
		return -1;
	add_columns(&c, &t->frame, NULL);
	add_pair_columns(&c, r);
	gv_tabw_init(&w, out, false);
	write_header(&w, &c, everything, policy >= 0);
	for (i = 0; i < t->n_rates; i++) {
		const struct gv_rate *rate = &t->rate[i];
		const struct job *j = &r->job[rate->job];

		if (!everything &&
		    (!r->rounds.job[rate->job].active ||
			(rate->with >= 0 && !r->rounds.job[rate->with].active)))
			continue;
		write_carried(&w, &c, &t->frame, rate->row);
		write_state(&w, r, j);
		if (everything)
			gv_tabw_double(&w, share_now(r, rate));
		if (policy >= 0)
			gv_tabw_cell(&w, gv_frame_cell(&t->frame, rate->row, policy));
		gv_tabw_end(&w);
	}
	write_pairs(&w, &c, r, everything, policy);
	free(c.name);
	return gv_out_close(out, e);
}

int
table_write(const struct run *r, const char *path, struct gv_error *e)
{
	return write_now(r, path, true, e);
}

int
table_write_rates(const struct run *r, const char *path, struct gv_error *e)
{
	return write_now(r, path, false, e);
}
