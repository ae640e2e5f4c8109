#include "tables.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "table/kind.h"

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

/* The pool of a type on a node. */
static int
find_pool(const struct gv_cluster *c, const struct gv_frame *f, size_t row,
    ptrdiff_t type, ptrdiff_t node, size_t *pool, struct gv_error *e)
{
	struct gv_cell where = gv_frame_cell(f, row, node);
	ptrdiff_t t = gv_cluster_find(c, gv_frame_cell(f, row, type));

	if (t < 0)
		return gv_frame_error(
		    f, row, type, e, "expected a GPU type of the cluster");
	for (*pool = 0; *pool < c->n_pools; ++*pool)
		if (c->pool[*pool].type == (size_t)t &&
		    gv_cell_is(where, c->pool[*pool].node))
			return 0;
	return gv_frame_error(f, row, node >= 0 ? node : type, e,
	    "the cluster has no such GPUs on this node");
}

static int
by_time(const void *a, const void *b)
{
	const struct sim_change *x = a;
	const struct sim_change *y = b;

	if (x->time_s != y->time_s)
		return x->time_s < y->time_s ? -1 : 1;
	if (x->pool != y->pool)
		return x->pool < y->pool ? -1 : 1;
	return (int)x->away - (int)y->away; /* back before away: of both, away holds */
}

static int
take_changes(struct tables *t, const struct gv_frame *f, struct gv_error *e)
{
	ptrdiff_t time, type, event, node = gv_frame_find(f, "node");
	size_t i;
	int rc = 0;

	if (gv_frame_expect(f, GV_KIND_CHANGES, e) != 0 ||
	    gv_frame_require(f, "time_s", &time, e) != 0 ||
	    gv_frame_require(f, "gpu_type", &type, e) != 0 ||
	    gv_frame_require(f, "event", &event, e) != 0)
		return -1;
	t->change = gv_xcalloc(f->n_rows + 1, sizeof(*t->change));
	for (i = 0; i < f->n_rows; i++) {
		struct sim_change *c = &t->change[t->n_changes++];
		struct gv_cell what = gv_frame_cell(f, i, event);

		rc |= gv_frame_double(f, i, time, NAN, &c->time_s, e);
		rc |= find_pool(&t->cluster, f, i, type, node, &c->pool, e);
		c->away = gv_cell_is(what, "away");
		if (!c->away && !gv_cell_is(what, "back"))
			rc = gv_frame_error(f, i, event, e, "expected away or back");
	}
	qsort(t->change, t->n_changes, sizeof(*t->change), by_time);
	return rc;
}

static int
read_changes(struct tables *t, const char *path, struct gv_error *e)
{
	struct gv_frame f = {0};
	int rc;

	if (path == NULL)
		return 0;
	if (gv_frame_load(&f, path, e) != 0)
		return -1;
	rc = take_changes(t, &f, e);
	gv_frame_free(&f);
	return rc;
}

static int
read_prices(struct tables *t, const struct options *o, struct gv_error *e)
{
	if (o->prices != NULL && offers_read(&t->offers, &t->cluster, o->prices, e) != 0)
		return -1;
	return o->bids != NULL ? offers_bids(&t->offers, &t->cluster, o->bids, e) : 0;
}

int
tables_read(
    struct tables *t, const struct options *o, struct gv_error *w, struct gv_error *e)
{
	struct gv_frame given = {0};
	struct gv_frame f = {0};

	if (gv_cluster_read(&t->cluster, o->cluster, e) != 0 ||
	    read_changes(t, o->changes, e) != 0 || read_prices(t, o, e) != 0 ||
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
	offers_free(&t->offers);
	free(t->change);
}

const struct gv_rates *
tables_given(const struct tables *t)
{
	return t->jobs.n_jobs > 0 ? &t->jobs : &t->rates;
}
