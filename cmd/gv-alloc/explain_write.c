/* The table of an explanation. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "answer_write.h"
#include "base/strbuf.h"
#include "lp/tolerance.h"

static const char *const columns[] = {"kind", "name", "binds", "bottleneck", "value",
    "used", "limit", "price", "need", "need_price", "one_more_gpu", "jobs_unlocked"};

static void
write_numbers(struct gv_tabw *w, const double *number, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		gv_tabw_double(w, number[i]);
}

static void
write_type(const struct gv_explained_type *t, const struct gv_gpu_type *type,
    const struct gv_one_more *more, struct gv_tabw *w)
{
	double gpus = (double)type->gpus;
	const double number[] = {NAN, t->used, gpus, t->price, NAN, NAN, more->change};

	gv_tabw_str(w, "gpu_type");
	gv_tabw_str(w, type->name);
	gv_tabw_str(w, t->used >= gpus * (1 - GV_TOL_BINDS) ? "capacity" : "nothing");
	gv_tabw_str(w, isnan(t->price) ? "" : t->price != 0 ? "yes" : "no");
	write_numbers(w, number, 7);
	gv_tabw_int(w, (int64_t)more->unlocked);
	gv_tabw_end(w);
}

/* The list of what binds a job. */
static void
write_binds(const struct gv_explained_job *job, struct gv_tabw *w)
{
	static const char *const names[] = {
	    "time", "capacity", "deadline", "budget", "minimum"};
	struct gv_strbuf list = {0};
	size_t k;

	for (k = 0; job != NULL && k < 5; k++)
		if (job->binds >> k & 1)
			gv_strbuf_fmt(&list, "%s%s", list.len > 0 ? ";" : "", names[k]);
	gv_tabw_str(w, job == NULL ? "never" : job->binds == 0 ? "nothing" : list.s);
	gv_strbuf_free(&list);
}

static void
write_budget(const struct gv_explanation *x, double budget, struct gv_tabw *w)
{
	const double number[] = {
	    NAN, x->cost, budget, x->budget_price, NAN, NAN, NAN, NAN};
	bool spent = x->cost >= budget * (1 - GV_TOL_BINDS);

	gv_tabw_str(w, "budget");
	gv_tabw_str(w, "usd_per_h");
	gv_tabw_str(w, spent ? "budget" : "nothing");
	gv_tabw_str(w, isnan(x->budget_price) ? "" : x->budget_price != 0 ? "yes" : "no");
	write_numbers(w, number, 8);
	gv_tabw_end(w);
}

static void
write_job(const struct gv_explanation *x, const struct gv_explained_job *job,
    const struct gv_job *of, struct gv_tabw *w)
{
	gv_tabw_str(w, "job");
	gv_tabw_cell(w, of->id);
	write_binds(job, w);
	gv_tabw_str(w, job == NULL || x->entities ? "" : job->bottleneck ? "yes" : "no");
	if (job != NULL) {
		const double number[] = {job->value, job->time, 1, job->time_price,
		    job->need, job->need_price, NAN, NAN};

		write_numbers(w, number, 8);
	} else {
		const double number[] = {NAN, 0, 1, NAN, NAN, NAN, NAN, NAN};

		write_numbers(w, number, 8);
	}
	gv_tabw_end(w);
}

void
explain_write(const struct gv_explanation *x, const struct gv_answer *a,
    const struct gv_rates *r, const struct gv_cluster *c, const char *policy,
    const struct gv_one_more *more, struct gv_tabw *w)
{
	size_t i;

	for (i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		gv_tabw_str(w, columns[i]);
	gv_tabw_end(w);
	gv_tabw_str(w, "policy");
	gv_tabw_str(w, policy);
	gv_tabw_empty(w);
	gv_tabw_empty(w);
	gv_tabw_double(w, a->p.n > 0 ? a->s.objective : NAN);
	for (i = 5; i < sizeof(columns) / sizeof(columns[0]); i++)
		gv_tabw_empty(w);
	gv_tabw_end(w);
	for (i = 0; i < c->n_types; i++)
		write_type(&x->type[a->type[i]], &c->type[i], &more[i], w);
	if (a->p.budget > 0)
		write_budget(x, a->p.budget, w);
	for (i = 0; i < r->n_jobs; i++)
		write_job(
		    x, a->row[i] != SIZE_MAX ? &x->job[a->row[i]] : NULL, &r->job[i], w);
}
