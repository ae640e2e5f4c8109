#include "sched/rounds_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

ptrdiff_t
gv_round_view_find(
    const struct gv_round_view *v, const struct gv_rounds *r, ptrdiff_t owner)
{
	size_t i;

	if (owner < 0)
		return owner;
	i = r->job[owner].place;
	if (i < v->n_live && v->number[i] == (size_t)owner)
		return (ptrdiff_t)i;
	for (i = v->n_live; i < v->r.n_jobs; i++)
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

void
gv_round_view_init(
    struct gv_round_view *v, const struct gv_rounds *r, const ptrdiff_t *owner)
{
	size_t i;

	*v = (struct gv_round_view){.r = *r, .n_live = r->n_live};
	v->r.n_jobs = v->r.cap_jobs = r->n_live;
	v->number = gv_xcalloc(r->n_live + 1, sizeof(*v->number));
	if (r->n_live > 0)
		memcpy(v->number, r->live, r->n_live * sizeof(*v->number));
	add_holders(v, r, owner);
	v->r.job = gv_xcalloc(v->r.n_jobs + 1, sizeof(*v->r.job));
	v->r.claim = gv_xcalloc(v->r.n_jobs * r->n_types + 1, sizeof(*v->r.claim));
	for (i = 0; i < v->r.n_jobs; i++) {
		const size_t *member = r->job[v->number[i]].member;

		v->r.job[i] = r->job[v->number[i]];
		v->r.job[i].member[0] =
		    (size_t)gv_round_view_find(v, r, (ptrdiff_t)member[0]);
		v->r.job[i].member[1] =
		    (size_t)gv_round_view_find(v, r, (ptrdiff_t)member[1]);
		memcpy(&v->r.claim[i * r->n_types], gv_rounds_claim(r, v->number[i], 0),
		    r->n_types * sizeof(*v->r.claim));
	}
}

void
gv_round_view_free(struct gv_round_view *v)
{
	free(v->r.job);
	free(v->r.claim);
	free(v->number);
}
