#include "sched/rounds/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sorted.h"

ptrdiff_t
gv_round_view_find(
    const struct gv_round_view *v, const struct gv_rounds *r, ptrdiff_t owner)
{
	size_t i;

	if (owner < 0)
		return owner;
	i = v->all ? r->job[owner].place
		   : gv_sorted_place(v->number, v->n_sorted, (size_t)owner);
	if (i < v->n_sorted && v->number[i] == (size_t)owner)
		return (ptrdiff_t)i;
	for (i = v->n_sorted; i < v->r.n_jobs; i++)
		if (v->number[i] == (size_t)owner)
			return (ptrdiff_t)i;
	return -1;
}

/* One more that is not active, unless it is there. */
static void
add(struct gv_round_view *v, const struct gv_rounds *r, size_t job)
{
	if (gv_round_view_find(v, r, (ptrdiff_t)job) >= 0)
		return;
	v->number =
	    gv_xgrow(v->number, &v->r.cap_jobs, v->r.n_jobs + 1, sizeof(*v->number));
	v->number[v->r.n_jobs++] = job;
}

static void
add_holders(struct gv_round_view *v, const struct gv_rounds *r, const ptrdiff_t *owner)
{
	size_t i;

	for (i = 0; i < r->n_gpus; i++) {
		const size_t *member;

		if (owner[i] < 0 || gv_rounds_is_active(r, (size_t)owner[i]))
			continue;
		member = r->job[owner[i]].member;
		add(v, r, (size_t)owner[i]);
		add(v, r, member[0]);
		add(v, r, member[1]);
	}
}

/* Jobs and claims, as they are now. */
static void
copy_jobs(struct gv_round_view *v, const struct gv_rounds *r)
{
	size_t i;
	size_t k;

	v->r.job = gv_xcalloc(v->r.n_jobs + 1, sizeof(*v->r.job));
	v->r.claim = gv_xcalloc(v->r.n_jobs * r->n_types + 1, sizeof(*v->r.claim));
	for (i = 0; i < v->r.n_jobs; i++) {
		struct gv_round_job *job = &v->r.job[i];
		struct gv_round_claim *claim = &v->r.claim[i * r->n_types];

		*job = r->job[v->number[i]];
		for (k = 0; k < 2; k++)
			job->member[k] = job->member[k] == v->number[i]
					     ? i
					     : (size_t)gv_round_view_find(
						   v, r, (ptrdiff_t)job->member[k]);
		memcpy(claim, gv_rounds_claim(r, v->number[i], 0),
		    r->n_types * sizeof(*claim));
		gv_rounds_count_claims(r, job, claim);
	}
}

void
gv_round_view_init(struct gv_round_view *v, struct gv_rounds *r, const ptrdiff_t *owner)
{
	if (r->n_live > 0) /* all know theirs then */
		gv_rounds_place(r, r->live[0]);
	*v = (struct gv_round_view){.r = *r, .n_sorted = r->n_live, .all = true};
	v->r.n_jobs = v->r.cap_jobs = r->n_live;
	v->number = gv_xcalloc(r->n_live + 1, sizeof(*v->number));
	if (r->n_live > 0)
		memcpy(v->number, r->live, r->n_live * sizeof(*v->number));
	add_holders(v, r, owner);
	copy_jobs(v, r);
}

void
gv_round_view_some(
    struct gv_round_view *v, const struct gv_rounds *r, size_t *number, size_t n)
{
	*v = (struct gv_round_view){.r = *r, .number = number, .n_sorted = n};
	v->r.n_jobs = v->r.cap_jobs = n;
	copy_jobs(v, r);
}

void
gv_round_view_free(struct gv_round_view *v)
{
	free(v->r.job);
	free(v->r.claim);
	free(v->number);
}
