/* The same jobs, accounts and pairs on other GPUs and beside more jobs. */
#include "sched/rounds/rounds.h"

#include <string.h>

#include "sched/rounds/view.h"

static ptrdiff_t
mapped(const ptrdiff_t *number, ptrdiff_t i)
{
	return i < 0 || number == NULL ? i : number[i];
}

/* What is known of a job or pair that was number m is that of number k now. */
static void
take_over(struct gv_rounds *to, size_t k, const struct gv_rounds *from, size_t m,
    const ptrdiff_t *type)
{
	size_t j;

	to->job[k].ready = from->job[m].ready;
	to->job[k].move_s = from->job[m].move_s;
	to->job[k].held = mapped(type, from->job[m].held);
	for (j = 0; j < from->n_types; j++) {
		ptrdiff_t now = mapped(type, (ptrdiff_t)j);

		if (now >= 0)
			*gv_rounds_claim(to, k, (size_t)now) =
			    *gv_rounds_claim(from, m, j);
	}
}

void
gv_rounds_change(struct gv_rounds *r, const struct gv_cluster *c, const ptrdiff_t *type,
    const size_t *gang, size_t n)
{
	struct gv_rounds now;
	size_t m, k;

	gv_rounds_count(r);
	gv_rounds_init(&now, c, r->round_s);
	now.order = r->order;
	now.strict = r->strict;
	now.now_s = r->now_s;
	now.settled_s = r->settled_s;
	for (m = 0; m < r->n_jobs && !gv_rounds_is_pair(r, m); m++) {
		gv_rounds_add(&now, r->job[m].gang);
		if (r->job[m].active)
			gv_rounds_set_active(&now, m, true);
		take_over(&now, m, r, m, type);
	}
	for (k = 0; k < n; k++)
		gv_rounds_add(&now, gang[k]);
	for (; m < r->n_jobs; m++) {
		const size_t *member = r->job[m].member;

		k = gv_rounds_pair(&now, member[0], member[1]);
		take_over(&now, k, r, m, type);
	}
	gv_rounds_free(r);
	*r = now;
}
