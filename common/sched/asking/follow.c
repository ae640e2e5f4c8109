#include "sched/asking/follow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/num.h"

static double *
shares_of(const struct gv_follow *f, size_t job)
{
	return &f->share[job * f->n_types];
}

static void
clear(struct gv_follow *f, size_t job)
{
	memset(shares_of(f, job), 0, f->n_types * sizeof(*f->share));
}

/* There may be more jobs than before. */
static void
make_room(struct gv_follow *f, size_t n_jobs)
{
	if (n_jobs <= f->n_jobs)
		return;
	f->share = gv_xgrow(f->share, &f->cap, n_jobs, f->n_types * sizeof(*f->share));
	for (; f->n_jobs < n_jobs; f->n_jobs++)
		clear(f, f->n_jobs);
}

void
gv_follow_begin(struct gv_follow *f, const struct gv_reply *whole,
    const struct gv_asked *asked, size_t n_jobs, size_t n_types)
{
	size_t i;

	if (f->n_types != n_types) /* of another cluster: rows are of another length */
		gv_follow_free(f);
	f->n_types = n_types;
	make_room(f, n_jobs);
	for (i = 0; i < asked->n; i++)
		clear(f, asked->job[i]);
	for (i = 0; i < whole->n; i++)
		shares_of(f, asked->job[whole->share[i].job])[whole->share[i].type] =
		    whole->share[i].share;
}

void
gv_follow_new(struct gv_follow *f, size_t job)
{
	make_room(f, job + 1);
	clear(f, job);
}

struct columns {
	ptrdiff_t job_id, gpu_type, share;
};

static int
take_row(struct gv_follow *f, const struct gv_frame *t, size_t row,
    const struct columns *at, const struct gv_cluster *c, const struct gv_asked *asked,
    const struct gv_hash *ids, struct gv_error *e)
{
	struct gv_cell id = gv_frame_cell(t, row, at->job_id);
	struct gv_cell name = gv_frame_cell(t, row, at->gpu_type);
	ptrdiff_t job = gv_hash_find(ids, id.s, id.len);
	ptrdiff_t type = gv_cluster_find(c, name);
	char q[GV_QUOTE_LEN];
	double share;

	if (job < 0)
		return gv_frame_error(t, row, at->job_id, e,
		    "the policy was not asked about job %s", gv_quote(q, id.s, id.len));
	if (type < 0)
		return gv_frame_expected(
		    t, row, at->gpu_type, e, "a GPU type of the cluster");
	if (gv_frame_double(t, row, at->share, NAN, &share, e) != 0)
		return -1;
	if (!(share >= 0 && share <= 1))
		return gv_frame_expected(t, row, at->share, e, "a number from 0 to 1");
	shares_of(f, asked->job[job])[type] = share;
	return 0;
}

static int
take_rows(struct gv_follow *f, const struct gv_frame *t, const struct gv_cluster *c,
    const struct gv_asked *asked, struct gv_error *e)
{
	struct gv_hash ids = {0};
	struct columns at;
	size_t i;
	int rc = gv_frame_require(t, "job_id", &at.job_id, e);

	rc |= gv_frame_require(t, "gpu_type", &at.gpu_type, e);
	rc |= gv_frame_require(t, "share", &at.share, e);
	if (rc != 0 || t->n_rows == 0)
		return rc;
	for (i = 0; i < asked->n; i++) {
		struct gv_cell id = asked->all[asked->job[i]].id;

		gv_hash_add(&ids, id.s, id.len);
	}
	for (i = 0; i < t->n_rows; i++)
		rc |= take_row(f, t, i, &at, c, asked, &ids, e);
	gv_hash_free(&ids);
	return rc;
}

/* All shares that are not 0. */
static int
make_reply(const struct gv_follow *f, struct gv_reply *r, const char *file,
    const struct gv_asked *asked, struct gv_error *e)
{
	int rc = 0;
	size_t i;
	size_t j;

	for (i = 0; i < asked->n; i++) {
		const double *share = shares_of(f, asked->job[i]);
		struct gv_cell id = asked->all[asked->job[i]].id;
		double sum = 0;

		for (j = 0; j < f->n_types; j++) {
			sum += share[j];
			if (share[j] > 0)
				gv_reply_add(r, &(struct gv_reply_share){.job = i,
						    .with = -1,
						    .type = j,
						    .share = share[j]});
		}
		if (sum > 1 + gv_share_tolerance) {
			char q[GV_QUOTE_LEN];

			rc = gv_error_set(e, "%s: shares of job %s add up to more than 1",
			    file, gv_quote(q, id.s, id.len));
		}
	}
	return rc;
}

int
gv_follow_reply(struct gv_follow *f, struct gv_reply *r, struct gv_frame *answer,
    const struct gv_cluster *c, const struct gv_asked *asked, struct gv_error *e)
{
	int rc = take_rows(f, answer, c, asked, e);

	*r = (struct gv_reply){0};
	if (rc == 0)
		rc = make_reply(f, r, answer->file, asked, e);
	gv_frame_free(answer);
	if (rc != 0)
		gv_reply_free(r);
	return rc == 0 ? 0 : -1;
}

void
gv_follow_free(struct gv_follow *f)
{
	free(f->share);
	*f = (struct gv_follow){0};
}
