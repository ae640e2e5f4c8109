#include "expect.h"

#include <math.h>

#include "base/num.h"

/* What sums of times may differ by, in a share. */
#define ROUNDING 1e-9

int
expect_finished(const struct report *r, struct gv_error *e)
{
	char q[GV_QUOTE_LEN];
	size_t i, n = 0;

	for (i = 0; i < r->history.n_jobs; i++) {
		const struct job *j = &r->history.job[i];

		if (j->state == JOB_FINISHED)
			continue;
		gv_error_set(e, "job %s has not finished: %s",
		    gv_quote(q, j->id, j->id_len), job_state_name(j->state));
		n++;
	}
	return n > 0 ? -1 : 0;
}

static void
too_far(const struct report *r, const struct job *j, const struct use *u, double points,
    struct gv_error *e)
{
	const struct gpu_type *t = &r->history.type[u->type];
	char job[GV_QUOTE_LEN], type[GV_QUOTE_LEN], limit[GV_NUM_LEN];

	gv_format_double(limit, points);
	gv_error_set(e,
	    "job %s on %s received %.1f percent of its time, promised %.1f percent: "
	    "more than %s points apart",
	    gv_quote(job, j->id, j->id_len), gv_quote(type, t->name, t->name_len),
	    100 * use_received(&r->history, j, u), 100 * use_promised(&r->history, j, u),
	    limit);
}

int
expect_shares(const struct report *r, double points, struct gv_error *e)
{
	const struct history *h = &r->history;
	const struct use *u;
	size_t i, n = 0;

	for (i = 0; i < h->n_jobs; i++) {
		const struct job *j = &h->job[i];

		for (u = j->use; u != NULL; u = u->next) {
			double apart = use_received(h, j, u) - use_promised(h, j, u);

			if (fabs(apart) > points / 100 + ROUNDING) {
				too_far(r, j, u, points, e);
				n++;
			}
		}
	}
	return n > 0 ? -1 : 0;
}
