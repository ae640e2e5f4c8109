/* What is to be said of runs once all of their tables are there. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

static void
spread_measures(struct run *r, enum measure first, size_t offset)
{
	struct spread s;
	struct numbers of = run_numbers(r, offset, LENGTH_UNKNOWN, &s);

	measure_spread(r->value, first, &s);
	free(of.v);
}

static double
sum(const struct run *r, size_t offset)
{
	struct spread s;
	struct numbers of = run_numbers(r, offset, LENGTH_UNKNOWN, &s);

	free(of.v);
	return of.n > 0 ? s.sum : NAN;
}

static void
set(double *v, double to)
{
	if (isnan(*v))
		*v = to;
}

/* First arrival to last finish; NAN where a job is not done. */
static double
makespan(const struct run *r)
{
	double first = NAN, last = NAN;
	size_t i;

	for (i = 0; i < r->n_jobs; i++) {
		if (isnan(r->job[i].completion_s))
			return NAN;
		first = fmin(first, r->job[i].arrival_s);
		last = fmax(last, r->job[i].finish_s);
	}
	return last - first;
}

static void
deadlines(struct run *r)
{
	double n = 0, missed = 0;
	size_t i;

	for (i = 0; i < r->n_jobs; i++) {
		const struct outcome *o = &r->job[i];

		if (isnan(o->deadline_s))
			continue;
		n++;
		missed += !(o->finish_s <= o->deadline_s);
	}
	if (n > 0 && isnan(r->value[M_DEADLINES])) {
		r->value[M_DEADLINES] = n;
		r->value[M_DEADLINES_MISSED] = missed;
	}
}

static void
measure_jobs(struct run *r)
{
	double *v = r->value, finished = 0;
	size_t i;

	for (i = 0; i < r->n_jobs; i++)
		finished += !isnan(r->job[i].completion_s);
	if (r->n_jobs == 0 && r->from[RUN_JOBS] == NULL && r->from[RUN_EVENTS] == NULL)
		return;
	/* a summary of other jobs, those of a window, stays as it is */
	if (!isnan(v[M_JOBS]) && v[M_JOBS] != (double)r->n_jobs)
		return;
	set(&v[M_JOBS], (double)r->n_jobs);
	set(&v[M_FINISHED], finished);
	spread_measures(r, M_COMPLETION_MEAN, offsetof(struct outcome, completion_s));
	spread_measures(r, M_QUEUEING_MEAN, offsetof(struct outcome, queueing_s));
	spread_measures(r, M_FAIRNESS_MEAN, offsetof(struct outcome, fairness));
	set(&v[M_MAKESPAN], makespan(r));
	set(&v[M_BUSY_GPU_S], sum(r, offsetof(struct outcome, gpu_s)));
	set(&v[M_LAUNCHES], sum(r, offsetof(struct outcome, launches)));
	set(&v[M_PREEMPTIONS], sum(r, offsetof(struct outcome, preemptions)));
	deadlines(r);
}

/* Of what a summary tells by types only, and the other way round. */
static void
measure_types(struct run *r)
{
	double usd = 0;
	size_t i;

	for (i = 0; i < r->n_types; i++)
		usd += r->type[i].usd;
	if (r->n_types > 0)
		set(&r->value[M_USD], usd);
}

/* ---- short and long jobs ---- */

/* A job of all runs. */
struct length {
	double least_s; /* that it ran in any run */
	size_t finished;
};

static size_t
lengths(struct runs *r, struct gv_hash *ids, struct length *of)
{
	size_t i, k, n = 0;

	for (i = 0; i < r->n; i++) {
		for (k = 0; k < r->run[i].n_jobs; k++) {
			const struct outcome *o = &r->run[i].job[k];
			size_t m;

			if (isnan(o->completion_s) || isnan(o->running_s))
				continue;
			m = gv_hash_add(ids, o->id, o->id_len);
			if (m == n)
				of[n++].least_s = o->running_s;
			of[m].least_s = fmin(of[m].least_s, o->running_s);
			of[m].finished++;
		}
	}
	return n;
}

static void
tell_lengths(struct runs *r)
{
	size_t n = 0, most = 0, i, k;
	struct gv_hash ids = {0};
	struct length *of;
	struct spread s;
	double *least;

	for (i = 0; i < r->n; i++)
		most += r->run[i].n_jobs;
	of = gv_xcalloc(most + 1, sizeof(*of));
	least = gv_xcalloc(most + 1, sizeof(*least));
	most = lengths(r, &ids, of);
	for (i = 0; i < most; i++)
		if (of[i].finished == r->n)
			least[n++] = of[i].least_s;
	s = spread_of(least, n);
	r->short_s = s.median;
	for (i = 0; i < r->n && n > 1; i++) {
		for (k = 0; k < r->run[i].n_jobs; k++) {
			struct outcome *o = &r->run[i].job[k];
			ptrdiff_t m = gv_hash_find(&ids, o->id, o->id_len);

			if (m < 0 || of[m].finished != r->n)
				continue;
			o->length =
			    of[m].least_s <= s.median ? LENGTH_SHORT : LENGTH_LONG;
			if (i > 0)
				continue;
			r->n_short += o->length == LENGTH_SHORT;
			r->n_long += o->length == LENGTH_LONG;
		}
	}
	free(of);
	free(least);
	gv_hash_free(&ids);
}

static void
measure_length(struct run *r, enum measure m, enum job_length length)
{
	struct spread s;
	struct numbers of =
	    run_numbers(r, offsetof(struct outcome, completion_s), length, &s);

	r->value[m] = s.mean;
	free(of.v);
}

void
runs_finish(struct runs *r)
{
	size_t i, k;

	r->end_s = 0;
	r->short_s = NAN;
	tell_lengths(r);
	for (i = 0; i < r->n; i++) {
		struct run *run = &r->run[i];

		measure_jobs(run);
		measure_types(run);
		if (r->n_short > 0 && r->n_long > 0) {
			measure_length(run, M_SHORT_MEAN, LENGTH_SHORT);
			measure_length(run, M_LONG_MEAN, LENGTH_LONG);
		}
		for (k = 0; k < run->n_jobs; k++)
			run->end_s = fmax(run->end_s, run->job[k].finish_s);
		r->end_s = fmax(r->end_s, run->end_s);
	}
}
