/* Shares of an allocation table, checked. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/num.h"
#include "sched/rates.h"

const double gv_share_tolerance = 1e-6; /* many policies do not solve to the last digit */

int
gv_rates_check_shares(const struct gv_rates *t, struct gv_error *e)
{
	ptrdiff_t column = gv_frame_find(&t->frame, "share");
	double *sum = gv_xcalloc(t->n_jobs + 1, sizeof(*sum));
	char q[GV_QUOTE_LEN];
	char number[GV_NUM_LEN];
	size_t i;
	int rc = 0;

	for (i = 0; i < t->n_rates; i++) {
		sum[t->rate[i].job] += t->rate[i].share;
		if (t->rate[i].with >= 0)
			sum[t->rate[i].with] += t->rate[i].share;
	}
	for (i = 0; i < t->n_jobs; i++)
		if (sum[i] > 1 + gv_share_tolerance) {
			gv_format_double(number, sum[i]);
			rc = gv_frame_error(&t->frame, t->job[i].row, column, e,
			    "expected shares of job %s that add up to at most 1, got %s",
			    gv_quote(q, t->job[i].id.s, t->job[i].id.len), number);
		}
	free(sum);
	return rc;
}
