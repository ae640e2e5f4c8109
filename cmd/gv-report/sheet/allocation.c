/*
 * An allocation, and the rates it is made from: jobs and GPU types side by side,
 * what each job comes to, and how many GPUs are given away.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/num.h"
#include "sched/rates.h"
#include "sheet.h"

/* Gangs on several nodes have rows of their own; their GPUs are of the type before it. */
static const char spread_suffix[] = "_unconsolidated";

/* A job on a type, all its rows there together. */
struct on_type {
	double rate;  /* alone; NAN = no row */
	double share; /* its pairs' included */
};

struct totals {
	double gpus; /* share times GPUs; of a pair a half for each */
	double steps_per_s;
	double usd_per_h; /* NAN: a price is not known */
};

struct table {
	struct gv_rates r;
	struct gv_hash types;                  /* names of GPU types, in their order */
	const struct gv_gpu_type **in_cluster; /* [types]; NULL = not there */
	struct on_type *on;                    /* [jobs][types] */
	struct totals *job;                    /* [jobs] */
	struct totals *type;                   /* [types] */
	struct totals all;
	const struct gv_cluster *cluster; /* NULL = not given */
	bool has_pairs, has_entities, has_gangs;
};

static struct gv_cell
type_cell(const struct table *t, size_t k)
{
	return (struct gv_cell){t->types.key[k].s, t->types.key[k].len};
}

/* The type of a row; rates show gangs on several nodes apart, shares do not. */
static size_t
type_of_row(struct table *t, size_t row)
{
	ptrdiff_t column = gv_frame_find(&t->r.frame, "gpu_type");
	struct gv_cell name = gv_frame_cell(&t->r.frame, row, column);
	size_t cut = sizeof(spread_suffix) - 1;

	if (t->r.has_share && name.len > cut &&
	    memcmp(name.s + name.len - cut, spread_suffix, cut) == 0)
		name.len -= cut;
	return gv_hash_add(&t->types, name.s, name.len);
}

static double
price_of(const struct table *t, size_t type)
{
	return t->in_cluster[type] != NULL ? t->in_cluster[type]->usd_per_h : NAN;
}

/* What job m has of a row: part 1, of a pair's GPUs a half. */
static void
count(struct table *t, size_t m, size_t type, double share, double rate, double part)
{
	double gpus = part * share * (double)t->r.job[m].scale_factor;
	double usd = gpus > 0 ? gpus * price_of(t, type) : 0;

	t->on[m * t->types.n + type].share += share;
	t->job[m].steps_per_s += share * rate;
	t->job[m].gpus += gpus;
	t->type[type].gpus += gpus;
	t->all.gpus += gpus;
	t->job[m].usd_per_h += usd;
	t->type[type].usd_per_h += usd;
	t->all.usd_per_h += usd;
}

static void
add_up(struct table *t, const size_t *type_of)
{
	size_t i, n = t->types.n;

	for (i = 0; i < t->r.n_jobs * n; i++)
		t->on[i].rate = NAN;
	for (i = 0; i < t->r.n_rates; i++) {
		const struct gv_rate *rate = &t->r.rate[i];
		size_t type = type_of[i];

		if (rate->with >= 0) {
			t->has_pairs = true;
			count(t, rate->job, type, rate->share, rate->steps_per_s, .5);
			count(t, (size_t)rate->with, type, rate->share,
			    rate->with_steps_per_s, .5);
		} else {
			t->on[rate->job * n + type].rate =
			    fmax(t->on[rate->job * n + type].rate, rate->steps_per_s);
			count(t, rate->job, type, rate->share, rate->steps_per_s, 1);
		}
	}
	for (i = 0; i < t->r.n_jobs; i++) {
		t->has_entities |= t->r.job[i].entity.len > 0;
		t->has_gangs |= t->r.job[i].scale_factor > 1;
	}
}

static int
table_read(struct table *t, struct gv_tab *tab, const struct gv_cluster *cluster,
    struct gv_error *e)
{
	struct gv_frame f;
	size_t *type_of;
	size_t i;

	*t = (struct table){.cluster = cluster};
	if (gv_frame_read(&f, tab, e) != 0 || gv_rates_from(&t->r, &f, NULL, e) != 0)
		return -1;
	type_of = gv_xcalloc(t->r.n_rates, sizeof(*type_of));
	for (i = 0; i < t->r.n_rates; i++)
		type_of[i] = type_of_row(t, i);
	t->in_cluster = gv_xcalloc(t->types.n, sizeof(struct gv_gpu_type *));
	for (i = 0; cluster != NULL && i < t->types.n; i++) {
		ptrdiff_t k = gv_cluster_find(cluster, type_cell(t, i));

		t->in_cluster[i] = k >= 0 ? &cluster->type[k] : NULL;
	}
	t->on = gv_xcalloc(t->r.n_jobs * t->types.n, sizeof(*t->on));
	t->job = gv_xcalloc(t->r.n_jobs, sizeof(*t->job));
	t->type = gv_xcalloc(t->types.n, sizeof(*t->type));
	add_up(t, type_of);
	free(type_of);
	return 0;
}

/* The view takes over the frame, to which its cells point. */
static void
table_free(struct table *t, struct view *v)
{
	v->frame = t->r.frame;
	t->r.frame = (struct gv_frame){0};
	gv_rates_free(&t->r);
	gv_hash_free(&t->types);
	free(t->in_cluster);
	free(t->on);
	free(t->job);
	free(t->type);
}

static bool
knows_prices(const struct table *t)
{
	size_t i;

	for (i = 0; i < t->types.n; i++)
		if (!isnan(price_of(t, i)))
			return true;
	return false;
}

/* Seconds until the job is done at this speed; NAN: not known, or never. */
static double
finish_s(const struct table *t, size_t m)
{
	double left = t->r.job[m].steps_remaining;

	return left == 0                   ? 0
	       : t->job[m].steps_per_s > 0 ? left / t->job[m].steps_per_s
					   : NAN;
}

/* ---- sheets of an allocation ---- */

static void
jobs_sheet(struct view *v, const struct table *t)
{
	struct sheet *s = view_sheet(v, "job", "jobs", true, t->types.n + 9);
	bool priced = knows_prices(t);
	size_t m, k;

	v->chart = CHART_SHARES;
	v->chart_column = 3;
	v->n_series = t->types.n;
	v->series = gv_arena_alloc(&v->arena, t->types.n, sizeof(*v->series));
	sheet_column(s, "job_id", "job", SHEET_TEXT);
	sheet_column(s, "entity", t->has_entities ? "entity" : NULL, SHEET_TEXT);
	sheet_column(s, "scale_factor", t->has_gangs ? "GPUs" : NULL, SHEET_COUNT);
	for (k = 0; k < t->types.n; k++) {
		v->series[k] = view_text(v, type_cell(t, k));
		sheet_column(s, NULL, v->series[k], SHEET_SHARE);
	}
	sheet_column(s, "share", "all", SHEET_SHARE);
	sheet_column(s, "used_gpus", "GPUs used", SHEET_NUMBER);
	sheet_column(s, "steps_per_s", "steps/s", SHEET_NUMBER);
	sheet_column(s, "steps_remaining", NULL, SHEET_NUMBER);
	sheet_column(s, "finish_s", "done in", SHEET_SECONDS);
	sheet_column(s, "usd_per_h", priced ? "USD/h" : NULL, SHEET_NUMBER);
	for (m = 0; m < t->r.n_jobs; m++) {
		const struct gv_job *j = &t->r.job[m];
		double share = 0, done = finish_s(t, m);

		sheet_text(s, j->id);
		sheet_text(s, j->entity);
		sheet_number(s, (double)j->scale_factor);
		for (k = 0; k < t->types.n; k++) {
			double x = t->on[m * t->types.n + k].share;

			sheet_number(s, x > 0 ? x : NAN);
			share += x;
		}
		sheet_number(s, share);
		sheet_number(s, t->job[m].gpus);
		sheet_number(s, t->job[m].steps_per_s);
		sheet_number(s, j->steps_remaining);
		sheet_number(s, done);
		sheet_number(s, t->job[m].usd_per_h);
		if (done > v->longest_s)
			v->longest_s = done;
	}
}

static double
gpus_of(const struct table *t, size_t type)
{
	return t->in_cluster[type] != NULL ? (double)t->in_cluster[type]->gpus : NAN;
}

static void
types_sheet(struct view *v, const struct table *t)
{
	struct sheet *s = view_sheet(v, "type", "types", true, 5);
	bool counted = t->cluster != NULL, priced = knows_prices(t);
	size_t k;

	sheet_column(s, "gpu_type", "GPU type", SHEET_TEXT);
	sheet_column(s, "gpus", counted ? "GPUs" : NULL, SHEET_COUNT);
	sheet_column(s, "used_gpus", "GPUs used", SHEET_NUMBER);
	sheet_column(s, "used_share", counted ? "used" : NULL, SHEET_SHARE);
	sheet_column(s, "usd_per_h", priced ? "USD/h" : NULL, SHEET_NUMBER);
	for (k = 0; k < t->types.n; k++) {
		const char *name = view_text(v, type_cell(t, k));

		sheet_text(s, (struct gv_cell){name, strlen(name)});
		sheet_number(s, gpus_of(t, k));
		sheet_number(s, t->type[k].gpus);
		sheet_number(
		    s, gpus_of(t, k) > 0 ? t->type[k].gpus / gpus_of(t, k) : NAN);
		sheet_number(s, t->type[k].usd_per_h);
	}
}

static void
entities_sheet(struct view *v, const struct table *t)
{
	struct sheet *s = view_sheet(v, "entity", "entities", t->has_entities, 5);
	struct gv_hash names = {0};
	struct totals *sum = gv_xcalloc(t->r.n_jobs, sizeof(*sum));
	size_t *jobs = gv_xcalloc(t->r.n_jobs, sizeof(*jobs));
	size_t i, k;

	for (i = 0; i < t->r.n_jobs; i++) {
		struct gv_cell name = t->r.job[i].entity;

		k = gv_hash_add(&names, name.s, name.len);
		jobs[k]++;
		sum[k].gpus += t->job[i].gpus;
		sum[k].usd_per_h += t->job[i].usd_per_h;
	}
	sheet_column(s, "entity", "entity", SHEET_TEXT);
	sheet_column(s, "jobs", "jobs", SHEET_COUNT);
	sheet_column(s, "used_gpus", "GPUs used", SHEET_NUMBER);
	sheet_column(s, "used_share", "of all used", SHEET_SHARE);
	sheet_column(s, "usd_per_h", knows_prices(t) ? "USD/h" : NULL, SHEET_NUMBER);
	for (k = 0; k < names.n; k++) {
		sheet_text(s, (struct gv_cell){names.key[k].s, names.key[k].len});
		sheet_number(s, (double)jobs[k]);
		sheet_number(s, sum[k].gpus);
		sheet_number(s, t->all.gpus > 0 ? sum[k].gpus / t->all.gpus : NAN);
		sheet_number(s, sum[k].usd_per_h);
	}
	gv_hash_free(&names);
	free(sum);
	free(jobs);
}

/* ---- lines ---- */

static void
add_counts(struct view *v, const struct table *t, const char *of)
{
	gv_strbuf_fmt(&v->title, "%s of %zu job%s on %zu GPU type%s", of, t->r.n_jobs,
	    t->r.n_jobs == 1 ? "" : "s", t->types.n, t->types.n == 1 ? "" : "s");
}

static void
add_policy(struct view *v, const struct table *t)
{
	ptrdiff_t column = gv_frame_find(&t->r.frame, "policy");

	if (column >= 0 && t->r.frame.n_rows > 0 &&
	    gv_frame_cell(&t->r.frame, 0, column).len > 0)
		gv_strbuf_fmt(
		    &v->title, ", policy %s", gv_frame_cell(&t->r.frame, 0, column).s);
}

static void
summary(struct view *v, const struct table *t)
{
	struct gv_strbuf *b = view_line(v, "GPUs");
	double there = 0, last = NAN;
	size_t i, waiting = 0;

	gv_strbuf_fmt(b, "%.2f used", t->all.gpus);
	for (i = 0; t->cluster != NULL && i < t->cluster->n_types; i++)
		there += (double)t->cluster->type[i].gpus;
	if (there > 0)
		gv_strbuf_fmt(b, " of %.0f (%.1f %%)", there, 100 * t->all.gpus / there);
	if (knows_prices(t) && !isnan(t->all.usd_per_h))
		gv_strbuf_fmt(view_line(v, "cost"), "%.2f USD/h", t->all.usd_per_h);
	for (i = 0; i < t->r.n_jobs; i++) {
		waiting += !(t->job[i].gpus > 0);
		last = fmax(last, finish_s(t, i));
	}
	if (waiting > 0)
		gv_strbuf_fmt(view_line(v, "no share"), "%zu job%s", waiting,
		    waiting == 1 ? "" : "s");
	if (!isnan(last))
		v->note = "Shares are of wall time.  Done in: if nothing changes.";
	else
		v->note = "Shares are of wall time.";
}

int
view_allocation(struct view *v, struct gv_tab *tab, const struct gv_cluster *cluster,
    struct gv_error *e)
{
	struct table t;

	if (table_read(&t, tab, cluster, e) != 0)
		return -1;
	add_counts(v, &t, "allocation");
	add_policy(v, &t);
	jobs_sheet(v, &t);
	types_sheet(v, &t);
	entities_sheet(v, &t);
	summary(v, &t);
	table_free(&t, v);
	return 0;
}

/* ---- rates ---- */

/* A job's fastest and slowest type, of those it can run on; types.n: none. */
static size_t
fastest(const struct table *t, size_t m, double *slowest)
{
	const struct on_type *on = &t->on[m * t->types.n];
	size_t k, best = t->types.n;

	*slowest = NAN;
	for (k = 0; k < t->types.n; k++) {
		if (!(on[k].rate > 0))
			continue;
		if (best == t->types.n || on[k].rate > on[best].rate)
			best = k;
		*slowest = fmin(*slowest, on[k].rate);
	}
	return best;
}

int
view_rates(struct view *v, struct gv_tab *tab, struct gv_error *e)
{
	struct sheet *s;
	struct table t;
	size_t m, k;

	if (table_read(&t, tab, NULL, e) != 0)
		return -1;
	add_counts(v, &t, "rates");
	s = view_sheet(v, "job", "jobs", true, t.types.n + 6);
	sheet_column(s, "job_id", "job", SHEET_TEXT);
	sheet_column(s, "entity", t.has_entities ? "entity" : NULL, SHEET_TEXT);
	sheet_column(s, "scale_factor", t.has_gangs ? "GPUs" : NULL, SHEET_COUNT);
	for (k = 0; k < t.types.n; k++)
		sheet_column(s, NULL, view_text(v, type_cell(&t, k)), SHEET_NUMBER);
	sheet_column(s, "fastest_gpu_type", "fastest", SHEET_TEXT);
	sheet_column(s, "steps_per_s", NULL, SHEET_NUMBER);
	sheet_column(s, "speedup", "speedup", SHEET_NUMBER);
	for (m = 0; m < t.r.n_jobs; m++) {
		const struct on_type *on = &t.on[m * t.types.n];
		double slowest;
		size_t best = fastest(&t, m, &slowest);
		const char *name =
		    best < t.types.n ? view_text(v, type_cell(&t, best)) : "";

		sheet_text(s, t.r.job[m].id);
		sheet_text(s, t.r.job[m].entity);
		sheet_number(s, (double)t.r.job[m].scale_factor);
		for (k = 0; k < t.types.n; k++)
			sheet_number(s, on[k].rate > 0 ? on[k].rate : NAN);
		sheet_text(s, (struct gv_cell){name, strlen(name)});
		sheet_number(s, best < t.types.n ? on[best].rate : NAN);
		sheet_number(s, best < t.types.n ? on[best].rate / slowest : NAN);
	}
	if (t.has_pairs)
		gv_strbuf_str(view_line(v, "pairs"), "not shown");
	v->note = "Steps per second of the whole job.  Speedup: of the fastest type over "
		  "the slowest.";
	table_free(&t, v);
	return 0;
}
