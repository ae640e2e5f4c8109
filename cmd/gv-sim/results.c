#include "results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"

/* ---- of a job ---- */

static double
completion_s(const struct sim *s, size_t m)
{
	return s->job[m].finish_s - s->table->job[m].arrival_s;
}

/* Finish-time fairness: the time it took over the time of the isolated run. */
static double
fairness(const struct sim *s, const struct sim *isolated, size_t m)
{
	return completion_s(s, m) / completion_s(isolated, m);
}

/* When it shall be done; NAN = whenever. */
static double
deadline_s(const struct sim *s, size_t m)
{
	const struct gv_job *j = &s->table->job[m];
	const struct gv_rounds *r = &s->life.rounds;
	double best = 0;
	size_t k;

	for (k = 0; k < r->n_types; k++)
		best = fmax(best, gv_rounds_claim(r, m, k)->rate);
	if (isnan(j->slo_factor) || !(best > 0))
		return j->deadline_s;
	return fmin(isnan(j->deadline_s) ? HUGE_VAL : j->deadline_s,
	    j->arrival_s + j->slo_factor * j->total_steps / best);
}

static bool
is_late(const struct sim *s, size_t m)
{
	return !isnan(deadline_s(s, m)) && !(s->job[m].finish_s <= deadline_s(s, m));
}

static void
write_job(const struct sim *s, const struct sim *isolated, size_t m, struct gv_tabw *w)
{
	const struct sim_job *j = &s->job[m];

	gv_tabw_double(w, j->start_s);
	gv_tabw_double(w, j->finish_s);
	gv_tabw_double(w, completion_s(s, m));
	gv_tabw_double(w, j->running_s);
	gv_tabw_double(w, j->gpu_s);
	gv_tabw_int(w, (int64_t)j->launches);
	gv_tabw_int(w, (int64_t)j->preemptions);
	if (isolated != NULL) {
		gv_tabw_double(w, completion_s(isolated, m));
		gv_tabw_double(w, fairness(s, isolated, m));
	}
	if (s->o->job_mtbf_s > 0)
		gv_tabw_int(w, (int64_t)j->failures);
}

/* The columns of results; how many. */
static size_t
columns(const struct sim *s, const struct sim *isolated, const char *name[12])
{
	static const char *const always[] = {"start_s", "finish_s", "completion_s",
	    "running_s", "gpu_s", "launches", "preemptions"};
	size_t n;

	for (n = 0; n < sizeof(always) / sizeof(always[0]); n++)
		name[n] = always[n];
	if (isolated != NULL) {
		name[n++] = "isolated_completion_s";
		name[n++] = "fairness";
	}
	if (s->o->job_mtbf_s > 0)
		name[n++] = "failures";
	return n;
}

void
results_jobs(const struct tables *t, const struct sim *s, const struct sim *isolated,
    struct gv_tabw *w)
{
	const char *name[12];
	const size_t n_names = columns(s, isolated, name);
	const struct gv_frame *f = &tables_given(t)->frame;
	ptrdiff_t id_column = gv_frame_find(f, "job_id");
	struct gv_hash ids = {0};
	bool *is_new = gv_xcalloc(f->n_columns + 1, sizeof(*is_new));
	size_t i;
	size_t k;

	for (i = 0; i < s->table->n_jobs; i++)
		gv_hash_add(&ids, s->table->job[i].id.s, s->table->job[i].id.len);
	for (k = 0; k < n_names; k++) {
		ptrdiff_t c = gv_frame_find(f, name[k]);

		if (c >= 0)
			is_new[c] = true;
	}
	for (k = 0; k < f->n_columns; k++)
		if (!is_new[k])
			gv_tabw_cell(w, f->name[k]);
	for (k = 0; k < n_names; k++)
		gv_tabw_str(w, name[k]);
	gv_tabw_end(w);
	for (i = 0; i < f->n_rows; i++) {
		struct gv_cell id = gv_frame_cell(f, i, id_column);
		ptrdiff_t m = gv_hash_find(&ids, id.s, id.len);

		for (k = 0; k < f->n_columns; k++)
			if (!is_new[k])
				gv_tabw_cell(w, gv_frame_cell(f, i, (ptrdiff_t)k));
		if (m >= 0)
			write_job(s, isolated, (size_t)m, w);
		for (k = 0; m < 0 && k < n_names; k++)
			gv_tabw_empty(w);
		gv_tabw_end(w);
	}
	gv_hash_free(&ids);
	free(is_new);
}

/* ---- of all ---- */

static void
measure(struct gv_tabw *w, const char *name, const char *type, double value)
{
	gv_tabw_str(w, name);
	gv_tabw_str(w, type);
	gv_tabw_double(w, value);
	gv_tabw_end(w);
}

static int
by_value(const void *a, const void *b)
{
	const double *x = a;
	const double *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Mean, median, 99th percentile and largest of v[0..n), which is sorted. */
static void
spread(struct gv_tabw *w, const char *what, const char *unit, double *v, size_t n)
{
	char name[64];
	double sum = 0;
	size_t i;

	qsort(v, n, sizeof(*v), by_value);
	for (i = 0; i < n; i++)
		sum += v[i];
	snprintf(name, sizeof(name), "%s_mean%s", what, unit);
	measure(w, name, "", sum / (double)n);
	snprintf(name, sizeof(name), "%s_median%s", what, unit);
	measure(w, name, "", n > 0 ? (v[(n - 1) / 2] + v[n / 2]) / 2 : NAN);
	snprintf(name, sizeof(name), "%s_p99%s", what, unit);
	measure(w, name, "", n > 0 ? v[(size_t)ceil(.99 * (double)n) - 1] : NAN);
	snprintf(name, sizeof(name), "%s_max%s", what, unit);
	measure(w, name, "", n > 0 ? v[n - 1] : NAN);
}

/* The measured jobs. */
struct counts {
	size_t jobs, finished, with_deadline, late, launches, preemptions;
	double first_s, last_s;
	double *completion_s, *queueing_s; /* [finished] */
};

static void
count(const struct sim *s, struct counts *c)
{
	size_t n = s->table->n_jobs;
	size_t m;

	*c = (struct counts){.first_s = HUGE_VAL, .last_s = -HUGE_VAL};
	c->completion_s = gv_xcalloc(n + 1, sizeof(*c->completion_s));
	c->queueing_s = gv_xcalloc(n + 1, sizeof(*c->queueing_s));
	for (m = s->o->first; m < s->o->last && m < n; m++) {
		const struct sim_job *j = &s->job[m];

		c->jobs++;
		c->launches += j->launches;
		c->preemptions += j->preemptions;
		c->with_deadline += !isnan(deadline_s(s, m));
		c->late += is_late(s, m);
		c->first_s = fmin(c->first_s, s->table->job[m].arrival_s);
		if (isnan(j->finish_s))
			continue;
		c->last_s = fmax(c->last_s, j->finish_s);
		c->queueing_s[c->finished] = j->start_s - s->table->job[m].arrival_s;
		c->completion_s[c->finished++] = completion_s(s, m);
	}
}

static void
write_counts(const struct sim *s, struct gv_tabw *w)
{
	struct counts c;

	count(s, &c);
	measure(w, "jobs", "", (double)c.jobs);
	measure(w, "finished", "", (double)c.finished);
	spread(w, "completion", "_s", c.completion_s, c.finished);
	spread(w, "queueing", "_s", c.queueing_s, c.finished);
	measure(w, "makespan_s", "",
	    c.finished == c.jobs && c.jobs > 0 ? c.last_s - c.first_s : NAN);
	measure(w, "launches", "", (double)c.launches);
	measure(w, "preemptions", "", (double)c.preemptions);
	measure(w, "deadlines", "", (double)c.with_deadline);
	measure(w, "deadlines_missed", "", (double)c.late);
	free(c.completion_s);
	free(c.queueing_s);
}

static void
write_fairness(const struct sim *s, const struct sim *isolated, struct gv_tabw *w)
{
	double *v = gv_xcalloc(s->table->n_jobs + 1, sizeof(*v));
	size_t n = 0;
	size_t m;

	for (m = s->o->first; m < s->o->last && m < s->table->n_jobs; m++)
		if (!isnan(fairness(s, isolated, m)))
			v[n++] = fairness(s, isolated, m);
	spread(w, "fairness", "", v, n);
	free(v);
}

static void
write_gpus(const struct sim *s, struct gv_tabw *w)
{
	struct sim_type all = {0};
	double loading = 0;
	double lost = 0;
	size_t j;
	size_t m;

	for (j = 0; j < s->cluster->n_types; j++) {
		const struct sim_type *t = &s->type[j];
		const char *name = s->cluster->type[j].name;

		measure(w, "gpus", name, t->gpus);
		measure(w, "busy_gpu_s", name, t->busy_gpu_s);
		measure(w, "utilisation", name, t->busy_gpu_s / t->available_gpu_s);
		measure(w, "usd", name, t->usd);
		all.gpus += t->gpus;
		all.available_gpu_s += t->available_gpu_s;
		all.busy_gpu_s += t->busy_gpu_s;
		all.usd += t->usd;
	}
	for (m = 0; m < s->table->n_jobs; m++) {
		loading += s->job[m].loading_s * (double)s->table->job[m].scale_factor;
		lost += s->job[m].lost;
	}
	measure(w, "gpus", "", all.gpus);
	measure(w, "busy_gpu_s", "", all.busy_gpu_s);
	measure(w, "utilisation", "", all.busy_gpu_s / all.available_gpu_s);
	measure(w, "usd", "", all.usd);
	measure(w, "loading_gpu_s", "", loading);
	measure(w, "steps_lost", "", lost);
}

void
results_summary(const struct sim *s, const struct sim *isolated, struct gv_tabw *w)
{
	gv_tabw_str(w, "measure");
	gv_tabw_str(w, "gpu_type");
	gv_tabw_str(w, "value");
	gv_tabw_end(w);
	write_counts(s, w);
	if (isolated != NULL)
		write_fairness(s, isolated, w);
	write_gpus(s, w);
	measure(w, "end_s", "", s->life.now_s);
	measure(w, "rounds", "", (double)(s->life.round + 1));
	measure(w, "questions", "", (double)s->questions);
	measure(w, "most_waiting", "", (double)s->most_waited);
	measure(w, "job_failures", "", (double)s->job_failures);
	measure(w, "node_failures", "", (double)s->node_failures);
}
