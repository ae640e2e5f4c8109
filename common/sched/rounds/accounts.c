/* What jobs are owed and have received: counted for each when somebody asks, not for all at each moment. */

#include "sched/rounds/view.h"

static double
most_lag_s(const struct gv_rounds *r)
{
	return GV_ROUND_DEBT * r->round_s;
}

/* At a settling: what is forgotten of a lag. */
static double
settled(const struct gv_rounds *r, const struct gv_round_claim *c, double lag_s)
{
	if (c->share == 0 || lag_s < 0)
		return 0;
	return lag_s < r->round_s ? lag_s : r->round_s;
}

/*
 * Between two settlings a lag is a straight line.  Of one that was settled before, later
 * settlings count as one, the last: along a line that does not turn, to cut it several
 * times is to cut it at the end.
 */
static void
count_claim(const struct gv_rounds *r, struct gv_round_claim *c, double from_s, bool held)
{
	double settled_s = r->settled_s > from_s ? r->settled_s : from_s;
	double before = settled_s - from_s;
	double after = r->now_s - settled_s;
	double slope = c->share - (held ? 1 : 0);

	if (r->settled_s > from_s) { /* it was settled, and has been since */
		c->deficit_s += before * slope;
		c->lag_s = settled(r, c, c->lag_s + before * slope);
		c->promised_s = c->since_s = 0;
	}
	c->lag_s += after * slope;
	if (c->lag_s > most_lag_s(r))
		c->lag_s = most_lag_s(r);
	c->promised_s += after * c->share;
	if (held) {
		c->received_s += before + after;
		c->since_s += after;
		c->waited_s = 0;
	} else {
		c->waited_s += before + after;
	}
}

void
gv_rounds_count_claims(
    const struct gv_rounds *r, const struct gv_round_job *job, struct gv_round_claim *c)
{
	size_t j;

	if (!job->live || job->counted_s == r->now_s)
		return;
	for (j = 0; j < r->n_types; j++)
		count_claim(r, &c[j], job->counted_s, job->held == (ptrdiff_t)j);
}

struct gv_round_claim
gv_rounds_counted(const struct gv_rounds *r, size_t m, size_t type)
{
	const struct gv_round_job *job = &r->job[m];
	struct gv_round_claim c = *gv_rounds_claim(r, m, type);

	if (job->live && job->counted_s != r->now_s)
		count_claim(r, &c, job->counted_s, job->held == (ptrdiff_t)type);
	return c;
}

void
gv_rounds_touch(struct gv_rounds *r, size_t m)
{
	struct gv_round_job *job = &r->job[m];

	gv_rounds_count_claims(r, job, gv_rounds_claim(r, m, 0));
	job->counted_s = r->now_s;
	if (job->fresh)
		return;
	job->fresh = true;
	r->fresh = gv_xgrow(r->fresh, &r->cap_fresh, r->n_fresh + 1, sizeof(*r->fresh));
	r->fresh[r->n_fresh++] = m;
}

void
gv_rounds_at(struct gv_rounds *r, double now_s)
{
	if (now_s > r->now_s)
		r->now_s = now_s;
}

void
gv_rounds_count(struct gv_rounds *r)
{
	size_t i;

	for (i = 0; i < r->n_live; i++)
		gv_rounds_touch(r, r->live[i]);
}

void
gv_rounds_pause(struct gv_rounds *r, double now_s)
{
	size_t i;

	gv_rounds_count(r);
	gv_rounds_at(r, now_s);
	for (i = 0; i < r->n_live; i++)
		r->job[r->live[i]].counted_s = r->now_s;
}

void
gv_rounds_set_share(struct gv_rounds *r, size_t job, size_t type, double share)
{
	struct gv_round_claim *c = gv_rounds_claim(r, job, type);

	if (c->share == share)
		return;
	gv_rounds_touch(r, job);
	c->share = share;
}

void
gv_rounds_set_held(struct gv_rounds *r, size_t job, ptrdiff_t type)
{
	if (r->job[job].held == type)
		return;
	gv_rounds_touch(r, job);
	r->job[job].held = type;
}

/* ---- time that is counted at once ---- */

void
gv_rounds_pass(struct gv_rounds *r, double seconds)
{
	gv_rounds_at(r, r->now_s + seconds);
	gv_rounds_count(r);
}

void
gv_rounds_credit(struct gv_rounds *r, size_t job, size_t type, double seconds)
{
	struct gv_round_claim *c = gv_rounds_claim(r, job, type);

	gv_rounds_touch(r, job);
	c->received_s += seconds;
	c->since_s += seconds;
	c->lag_s -= seconds;
	c->waited_s = 0;
}

/* ---- settling ---- */

static void
settle_job(struct gv_rounds *r, size_t m)
{
	size_t j;

	gv_rounds_count_claims(r, &r->job[m], gv_rounds_claim(r, m, 0));
	r->job[m].counted_s = r->now_s;
	for (j = 0; j < r->n_types; j++) {
		struct gv_round_claim *c = gv_rounds_claim(r, m, j);

		c->deficit_s += c->promised_s - c->since_s;
		c->promised_s = c->since_s = 0;
		c->lag_s = settled(r, c, c->lag_s);
	}
}

void
gv_rounds_settle(struct gv_rounds *r)
{
	size_t i;

	for (i = 0; i < r->n_fresh; i++) {
		size_t m = r->fresh[i];

		r->job[m].fresh = false;
		if (r->job[m].live)
			settle_job(r, m);
	}
	r->n_fresh = 0;
	r->settled_s = r->now_s;
}
