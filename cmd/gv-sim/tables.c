#include "tables.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

/* Jobs whose type was measured nowhere do not take part. */
static void
warn_of_missing(const struct gv_rates *jobs, const size_t *missing, size_t n,
    const char *throughputs, struct gv_error *w)
{
	const struct gv_job *j;
	char q[GV_QUOTE_LEN];

	if (n == 0)
		return;
	j = &jobs->job[missing[0]];
	gv_error_set(w,
	    "%zu job%s in %s %s left out: no such job_type and scale_factor in %s, "
	    "the first is %s",
	    n, n == 1 ? "" : "s", jobs->frame.file, n == 1 ? "is" : "are", throughputs,
	    gv_quote(q, j->id.s, j->id.len));
}

static int
join(struct gv_frame *out, struct tables *t, struct gv_frame *given,
    const struct options *o, struct gv_error *w, struct gv_error *e)
{
	struct gv_frame throughputs = {0};
	size_t *missing;
	size_t n = 0;
	int rc;

	if (gv_jobs_from(&t->jobs, given, e) != 0 ||
	    gv_frame_load(&throughputs, o->throughputs, e) != 0)
		return -1;
	missing = gv_xcalloc(t->jobs.n_jobs + 1, sizeof(*missing));
	rc = gv_rates_join(out, &t->jobs, &throughputs, missing, &n, e);
	if (rc == 0)
		warn_of_missing(&t->jobs, missing, n, o->throughputs, w);
	free(missing);
	gv_frame_free(&throughputs);
	return rc;
}

/* What a simulation asks of jobs beyond what every table of them keeps. */
static int
check(const struct gv_rates *r, const struct options *o, struct gv_error *e)
{
	ptrdiff_t column;
	size_t m;
	int rc = 0;

	if (gv_frame_require(&r->frame, "total_steps", &column, e) != 0)
		return -1;
	for (m = 0; m < r->n_jobs; m++)
		if (!(r->job[m].total_steps > 0))
			rc = gv_frame_error(&r->frame, r->job[m].row, column, e,
			    "expected a number above 0");
	if (o->policy == NULL && !r->has_share)
		rc = gv_error_at(e, r->frame.file, r->frame.header_line, NULL,
		    "missing column \"share\"; -p names a policy that says shares");
	return rc;
}

int
tables_read(
    struct tables *t, const struct options *o, struct gv_error *w, struct gv_error *e)
{
	struct gv_frame given = {0};
	struct gv_frame f = {0};

	if (gv_cluster_read(&t->cluster, o->cluster, e) != 0 ||
	    gv_frame_load(&given, o->input, e) != 0)
		return -1;
	if (o->throughputs == NULL)
		f = given;
	else if (join(&f, t, &given, o, w, e) != 0)
		return -1;
	if (gv_rates_from(&t->rates, &f, &t->cluster, e) != 0 ||
	    gv_rates_check_types(&t->rates, &t->cluster, e) != 0 ||
	    check(&t->rates, o, e) != 0)
		return -1;
	gv_rates_spread(&t->rates, &t->cluster);
	gv_rates_slips(&t->rates, &t->cluster, w);
	return 0;
}

void
tables_free(struct tables *t)
{
	gv_rates_free(&t->jobs);
	gv_rates_free(&t->rates);
	gv_cluster_free(&t->cluster);
}

const struct gv_rates *
tables_given(const struct tables *t)
{
	return t->jobs.n_jobs > 0 ? &t->jobs : &t->rates;
}
