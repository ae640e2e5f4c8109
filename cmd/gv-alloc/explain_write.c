/* The table of an explanation. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "answer_write.h"
#include "base/strbuf.h"
#include "lp/tolerance.h"

static const char *const columns[] = {"kind", "name", "binds", "bottleneck", "value",
    "used", "limit", "price", "need", "need_price", "one_more_gpu", "jobs_unlocked",
    "one_more_quota"};

/* The last column is of entities. */
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static void
end_row(const struct gv_entity_levels *l, struct gv_tabw *w)
{
	if (l->names.n > 0)
		gv_tabw_empty(w);
	gv_tabw_end(w);
}

static void
write_numbers(struct gv_tabw *w, const double *number, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		gv_tabw_double(w, number[i]);
}

static void
write_type(const struct gv_explained_type *t, const struct gv_gpu_type *type,
    const struct gv_one_more *more, const struct gv_entity_levels *l, struct gv_tabw *w)
{
	double gpus = (double)type->gpus;
	const double number[] = {NAN, t->used, gpus, t->price, NAN, NAN, more->change};

	gv_tabw_str(w, "gpu_type");
	gv_tabw_str(w, type->name);
	gv_tabw_str(w, t->used >= gpus * (1 - GV_TOL_BINDS) ? "capacity" : "nothing");
	gv_tabw_str(w, isnan(t->price) ? "" : t->price != 0 ? "yes" : "no");
	write_numbers(w, number, 7);
	gv_tabw_int(w, (int64_t)more->unlocked);
	end_row(l, w);
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
write_budget(const struct gv_explanation *x, double budget,
    const struct gv_entity_levels *l, struct gv_tabw *w)
{
	const double number[] = {
	    NAN, x->cost, budget, x->budget_price, NAN, NAN, NAN, NAN};
	bool spent = x->cost >= budget * (1 - GV_TOL_BINDS);

	gv_tabw_str(w, "budget");
	gv_tabw_str(w, "usd_per_h");
	gv_tabw_str(w, spent ? "budget" : "nothing");
	gv_tabw_str(w, isnan(x->budget_price) ? "" : x->budget_price != 0 ? "yes" : "no");
	write_numbers(w, number, 8);
	end_row(l, w);
}

/* objective: the least of those at the top. */
static void
write_entity(const struct gv_entity_level *of, const struct gv_hash_key *name,
    double objective, struct gv_tabw *w)
{
	bool low = of->value <= objective * (1 + GV_TOL_BINDS);
	const double number[] = {of->value, of->gpus, of->quota > 0 ? of->quota : NAN,
	    NAN, NAN, NAN, of->one_more_gpu, NAN, of->one_more_quota};

	gv_tabw_str(w, "entity");
	gv_tabw_cell(w, (struct gv_cell){.s = name->s, .len = name->len});
	gv_tabw_str(w, of->done ? "time" : "capacity");
	gv_tabw_str(w, !of->top ? "" : low ? "yes" : "no");
	write_numbers(w, number, 9);
	gv_tabw_end(w);
}

static void
write_job(const struct gv_explanation *x, const struct gv_explained_job *job,
    const struct gv_job *of, const struct gv_entity_levels *l, struct gv_tabw *w)
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
	end_row(l, w);
}

void
explain_write(const struct gv_explanation *x, const struct gv_answer *a,
    const struct gv_rates *r, const struct gv_cluster *c, const char *policy,
    const struct gv_one_more *more, const struct gv_entity_levels *l, struct gv_tabw *w)
{
	size_t i, n = l->names.n > 0 ? COLUMNS : COLUMNS - 1;

	for (i = 0; i < n; i++)
		gv_tabw_str(w, columns[i]);
	gv_tabw_end(w);
	gv_tabw_str(w, "policy");
	gv_tabw_str(w, policy);
	gv_tabw_empty(w);
	gv_tabw_empty(w);
	gv_tabw_double(w, a->p.n > 0 ? a->s.objective : NAN);
	for (i = 5; i < n; i++)
		gv_tabw_empty(w);
	gv_tabw_end(w);
	for (i = 0; i < c->n_types; i++)
		write_type(&x->type[a->type[i]], &c->type[i], &more[i], l, w);
	if (a->p.budget > 0)
		write_budget(x, a->p.budget, l, w);
	for (i = 0; i < l->names.n; i++)
		write_entity(&l->level[i], &l->names.key[i], a->s.objective, w);
	for (i = 0; i < r->n_jobs; i++)
		write_job(x, a->row[i] != SIZE_MAX ? &x->job[a->row[i]] : NULL,
		    &r->job[i], l, w);
}
