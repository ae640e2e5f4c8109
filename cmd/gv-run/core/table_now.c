/* The table as it stands now: written whole, as a question, or as what has changed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fileio.h"
#include "base/mem.h"
#include "table.h"
#include "table/tab.h"
#include "table_columns.h"

/* What is written, and what is known of its jobs. */
struct now {
	const struct jobs *jobs;
	const double *isolated_s; /* [n_jobs] */
	bool everything; /* all jobs and their shares, else what a policy is asked */
};

static double
steps_remaining(const struct gv_life_job *j)
{
	double done = j->steps > 0 ? j->steps : 0;

	return j->state == GV_LIFE_FINISHED ? 0 : fmax(0, j->spec.total_steps - done);
}

static double
elapsed(const struct gv_life *l, const struct gv_life_job *j)
{
	return j->state == GV_LIFE_LATER ? 0 : fmax(0, l->now_s - j->arrived_s);
}

/* The share that a row of the table has now. */
static double
share_now(const struct now *now, const struct gv_rate *rate)
{
	ptrdiff_t m = (ptrdiff_t)rate->job;

	if (rate->with >= 0)
		m = gv_rounds_find_pair(
		    &now->jobs->life.rounds, rate->job, (size_t)rate->with);
	if (m < 0 || rate->type < 0)
		return 0;
	return gv_rounds_claim(&now->jobs->life.rounds, (size_t)m, (size_t)rate->type)
	    ->share;
}

/* ---- pairs that only the policy knows ---- */

/* Which pairs on which type the table has a row of, [rounds.n_jobs][n_types]; the caller's. */
static bool *
pairs_of_table(const struct now *now)
{
	size_t n = now->jobs->life.rounds.n_types;
	bool *has = gv_xcalloc(now->jobs->life.rounds.n_jobs * n + 1, sizeof(*has));
	size_t i;

	for (i = 0; i < now->jobs->table.n_rates; i++) {
		const struct gv_rate *rate = &now->jobs->table.rate[i];
		ptrdiff_t m;

		if (rate->with < 0 || rate->type < 0)
			continue;
		m = gv_rounds_find_pair(
		    &now->jobs->life.rounds, rate->job, (size_t)rate->with);
		if (m >= 0)
			has[(size_t)m * n + (size_t)rate->type] = true;
	}
	return has;
}

/* The columns of the table for a pair on a type. */
static void
write_pair(struct gv_tabw *w, const struct table_columns *c, const struct now *now,
    size_t pair, size_t type)
{
	const struct gv_round_claim *claim =
	    gv_rounds_claim(&now->jobs->life.rounds, pair, type);
	const size_t *member = now->jobs->life.rounds.job[pair].member;
	const struct gv_frame *f = &now->jobs->table.frame;
	size_t i;

	for (i = 0; i < c->n; i++) {
		struct gv_cell name = {c->name[i], strlen(c->name[i])};

		if (gv_cell_is(name, "gpu_type"))
			gv_tabw_str(w, now->jobs->cluster.type[type].name);
		else if (gv_cell_is(name, "steps_per_s"))
			gv_tabw_double(w, claim->rate);
		else if (gv_cell_is(name, "with_job_id"))
			gv_tabw_cell(w, now->jobs->table.job[member[1]].id);
		else if (gv_cell_is(name, "with_steps_per_s"))
			gv_tabw_double(w, claim->with_rate);
		else
			gv_tabw_cell(
			    w, gv_frame_cell(f, now->jobs->table.job[member[0]].row,
				   gv_frame_find(f, c->name[i])));
	}
}

/* Columns that pairs need, where the table has none. */
static void
add_pair_columns(struct table_columns *c, const struct now *now)
{
	if (now->jobs->life.rounds.pairs.n == 0 ||
	    gv_frame_find(&now->jobs->table.frame, "with_job_id") >= 0)
		return;
	c->name = gv_xrealloc(c->name, c->n + 2, sizeof(*c->name));
	c->name[c->n++] = "with_job_id";
	if (gv_frame_find(&now->jobs->table.frame, "with_steps_per_s") < 0)
		c->name[c->n++] = "with_steps_per_s";
}

/* A policy that is asked while GPUs are away, or may be, hears how many are there. */
static bool
tells_away(const struct now *now)
{
	return !now->everything && (now->jobs->life.n_away > 0 || now->jobs->allocated);
}

static void
write_available(struct gv_tabw *w, const struct now *now, ptrdiff_t type)
{
	if (tells_away(now) && type < 0)
		gv_tabw_str(w, now->jobs->allocated ? "0" : "");
	else if (tells_away(now))
		gv_tabw_int(
		    w, (int64_t)gv_life_available(&now->jobs->life, (size_t)type));
}

/* What has been done of a job, and how long it took. */
static void
write_progress(struct gv_tabw *w, const struct now *now, size_t m)
{
	const struct gv_life_job *j = &now->jobs->life.job[m];

	gv_tabw_double(w, isnan(j->spec.total_steps) ? NAN : steps_remaining(j));
	gv_tabw_double(w, elapsed(&now->jobs->life, j));
	gv_tabw_double(w, now->isolated_s[m]);
}

static void
write_pairs(struct gv_tabw *w, const struct table_columns *c, const struct now *now,
    ptrdiff_t policy)
{
	size_t n = now->jobs->life.rounds.n_types;
	bool *has = pairs_of_table(now);
	size_t i;

	for (i = now->jobs->table.n_jobs * n; i < now->jobs->life.rounds.n_jobs * n;
	     i++) {
		const struct gv_round_claim *claim = &now->jobs->life.rounds.claim[i];
		size_t m = now->jobs->life.rounds.job[i / n].member[0];

		if (has[i] || (claim->rate == 0 && claim->with_rate == 0) ||
		    (!now->everything &&
			!gv_rounds_is_active(&now->jobs->life.rounds, i / n)))
			continue;
		write_pair(w, c, now, i / n, i % n);
		write_progress(w, now, m);
		if (now->everything)
			gv_tabw_double(w, claim->share);
		if (policy >= 0)
			gv_tabw_cell(w, gv_frame_cell(&now->jobs->table.frame,
					    now->jobs->table.job[m].row, policy));
		write_available(w, now, (ptrdiff_t)(i % n));
		gv_tabw_end(w);
	}
	free(has);
}

static void
write_now(const struct now *now, struct gv_out *out)
{
	const struct gv_rates *t = &now->jobs->table;
	ptrdiff_t policy = now->everything ? gv_frame_find(&t->frame, "policy") : -1;
	struct table_columns c = {0};
	struct gv_tabw w;
	size_t i;

	table_add_columns(&c, &t->frame, NULL);
	add_pair_columns(&c, now);
	gv_tabw_init(&w, out, false);
	table_write_header(&w, &c, now->everything, policy >= 0, tells_away(now));
	for (i = 0; i < t->n_rates; i++) {
		const struct gv_rate *rate = &t->rate[i];

		if (!now->everything &&
		    (!now->jobs->life.rounds.job[rate->job].active ||
			(rate->with >= 0 &&
			    !now->jobs->life.rounds.job[rate->with].active)))
			continue;
		table_write_carried(&w, &c, &t->frame, rate->row);
		write_progress(&w, now, rate->job);
		if (now->everything)
			gv_tabw_double(&w, share_now(now, rate));
		if (policy >= 0)
			gv_tabw_cell(&w, gv_frame_cell(&t->frame, rate->row, policy));
		write_available(&w, now, rate->type);
		gv_tabw_end(&w);
	}
	write_pairs(&w, &c, now, policy);
	free(c.name);
}

void
table_write_to(const struct jobs *j, const double *isolated_s, struct gv_out *out)
{
	write_now(&(struct now){j, isolated_s, true}, out);
}

int
table_write(
    const struct jobs *j, const double *isolated_s, const char *path, struct gv_error *e)
{
	struct gv_out *out;

	if (gv_out_open(&out, path, e) != 0)
		return -1;
	table_write_to(j, isolated_s, out);
	return gv_out_close(out, e);
}

void
table_write_rates(const struct jobs *j, const double *isolated_s, struct gv_out *out)
{
	write_now(&(struct now){j, isolated_s, false}, out);
}

/* ---- as changes ---- */

void
table_told(const struct jobs *j, const double *isolated_s, const size_t *asked, size_t n,
    struct gv_told_job *now)
{
	size_t i;

	for (i = 0; i < n; i++) {
		const struct gv_life_job *job = &j->life.job[asked[i]];

		now[i] = (struct gv_told_job){
		    asked[i], {isnan(job->spec.total_steps) ? NAN : steps_remaining(job),
				  elapsed(&j->life, job), isolated_s[asked[i]]}};
	}
}

bool
table_can_change(const struct jobs *j)
{
	return j->life.n_away == 0 && j->life.rounds.pairs.n == 0 &&
	       gv_frame_find(&j->table.frame, "with_job_id") < 0;
}

/* The rows of new jobs, [n_jobs] of change[] + 1. */
static void
write_new(struct gv_told_writer *w, const struct table_columns *c, const struct now *now,
    const struct gv_told_change *change, const size_t *of)
{
	const struct gv_rates *t = &now->jobs->table;
	size_t i;

	for (i = 0; i < t->n_rates; i++) {
		const struct gv_rate *rate = &t->rate[i];

		if (of[rate->job] == 0)
			continue;
		gv_told_new(w, &change[of[rate->job] - 1]);
		table_write_carried(&w->w, c, &t->frame, rate->row);
		write_progress(&w->w, now, rate->job);
		gv_tabw_end(&w->w);
	}
}

void
table_write_changes(const struct jobs *j, const double *isolated_s,
    const struct gv_told *told, const struct gv_told_job *now,
    const struct gv_told_change *change, size_t n, struct gv_out *out)
{
	const struct now what = {j, isolated_s, false};
	size_t *of = gv_xcalloc(j->table.n_jobs + 1, sizeof(*of));
	struct gv_cell *name;
	struct table_columns c = {0};
	struct gv_told_writer w;
	size_t i;

	table_add_columns(&c, &j->table.frame, NULL);
	name = gv_xcalloc(c.n + 3, sizeof(*name));
	for (i = 0; i < c.n + 3; i++) {
		const char *s = i < c.n ? c.name[i] : table_computed[i - c.n];

		name[i] = (struct gv_cell){s, strlen(s)};
	}
	gv_told_begin(&w, out, name, c.n + 3);
	for (i = 0; i < n; i++) {
		const struct gv_told_change *x = &change[i];
		size_t m =
		    x->kind == GV_TOLD_GONE ? told->job[x->at].job : now[x->at].job;

		if (x->kind == GV_TOLD_NEW)
			of[m] = i + 1;
		else
			gv_told_row(&w, told, x, j->table.job[m].id, &now[x->at]);
	}
	write_new(&w, &c, &what, change, of);
	gv_told_end(&w);
	free(name);
	free(c.name);
	free(of);
}
