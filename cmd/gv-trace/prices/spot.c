#include "spot.h"

#include <math.h>
#include <stdlib.h>

const char *const spot_policy_names[N_SPOT_POLICIES] = {[SPOT_ONE] = "one",
    [SPOT_GPU_TYPE] = "gpu-type",
    [SPOT_MULTI_GPU] = "multi-gpu",
    [SPOT_MULTI_CLOUD] = "multi-cloud",
    [SPOT_DYNAMIC] = "dynamic"};

double
spot_interval(const struct market *m, const struct spot_rules *r)
{
	return r->checkpoint_s > 0 && isfinite(m->mttp_s)
		   ? sqrt(2 * r->checkpoint_s * m->mttp_s)
		   : NAN;
}

double
spot_slowdown(const struct market *m, const struct spot_rules *r)
{
	return 1 + sqrt(2 * r->checkpoint_s / m->mttp_s) + r->restart_s / m->mttp_s;
}

static bool
allowed(const struct market *m, const struct spot_rules *r)
{
	switch (r->policy) {
	case SPOT_ONE:
		return gv_cell_equal(m->cloud, r->home) && m->gpus == 1 &&
		       gv_cell_equal(m->gpu_type, r->gpu_type);
	case SPOT_GPU_TYPE:
		return gv_cell_equal(m->cloud, r->home) && m->gpus == 1;
	case SPOT_MULTI_GPU:
		return gv_cell_equal(m->cloud, r->home);
	default:
		return true;
	}
}

/* What the rest of a job takes in a market. */
struct offer {
	double time_s;
	double usd_s; /* price of a GPU * time: what is compared */
	bool in_time;
};

/*
 * Whether the offer is to be taken instead of the best so far: in time before not,
 * then the cheaper one; when none is in time, the one that is done first.
 */
static bool
is_better(const struct offer *a, const struct offer *best)
{
	if (a->in_time != best->in_time)
		return a->in_time;
	if (!a->in_time && a->time_s != best->time_s)
		return a->time_s < best->time_s;
	return a->usd_s < best->usd_s;
}

/* What market k offers at time t to a job that is in market now (-1 = in none). */
static bool
ask(struct offer *o, size_t k, ptrdiff_t now, double t, double rest,
    const struct spot_job *job, const struct markets *m, const struct spot_rules *r)
{
	const struct market *market = &m->market[k];
	double price, move_s = now >= 0 && k != (size_t)now ? r->move_s : 0;

	if (!allowed(market, r) || !(job->rate[k] > 0))
		return false;
	price = market_price(market, t);
	if (isnan(price))
		return false;
	o->time_s = rest / job->rate[k] * spot_slowdown(market, r) + move_s;
	o->usd_s = price * o->time_s;
	o->in_time = isnan(job->deadline_s) || t + o->time_s <= job->deadline_s;
	return true;
}

/* The market to be in from time t on; -1 = there is none. */
static ptrdiff_t
choose(ptrdiff_t now, double t, double rest, const struct spot_job *job,
    const struct markets *m, const struct spot_rules *r)
{
	struct offer best, o;
	ptrdiff_t chosen = -1;
	size_t k;

	if (now >= 0 && ask(&best, (size_t)now, now, t, rest, job, m, r))
		chosen = now;
	for (k = 0; k < m->n; k++)
		if ((ptrdiff_t)k != now && ask(&o, k, now, t, rest, job, m, r) &&
		    (chosen < 0 || is_better(&o, &best))) {
			best = o;
			chosen = (ptrdiff_t)k;
		}
	return chosen;
}

/* Adds a time in a market; one at the same price goes on. */
static void
add_stay(struct spot_run *run, size_t market, double start_s, double end_s,
    double usd_per_h, int64_t gpus)
{
	struct spot_stay *last = run->n > 0 ? &run->stay[run->n - 1] : NULL;

	run->cost_usd += usd_per_h * (double)gpus * (end_s - start_s) / 3600;
	run->end_s = end_s;
	if (last != NULL && last->market == market && last->usd_per_h == usd_per_h) {
		last->end_s = end_s;
		return;
	}
	run->stay = gv_xgrow(run->stay, &run->cap, run->n + 1, sizeof(*run->stay));
	run->stay[run->n++] = (struct spot_stay){market, start_s, end_s, usd_per_h};
}

bool
spot_run(struct spot_run *run, const struct spot_job *job, const struct markets *m,
    const struct spot_rules *r)
{
	const double least =
	    1e-12; /* of the steps: what rounding leaves of a whole period */
	double rest = job->steps, moving_s = 0;
	ptrdiff_t now = -1;
	size_t period;

	run->n = run->moves = 0;
	run->cost_usd = 0;
	run->end_s = job->start_s;
	for (period = 0; rest > least * job->steps; period++) {
		double t = job->start_s + (double)period * r->every_s;
		double rate, need_s;

		if (now < 0 || r->policy == SPOT_DYNAMIC) {
			ptrdiff_t next = choose(now, t, rest, job, m, r);

			if (next < 0)
				return false;
			if (now >= 0 && next != now) {
				run->moves++;
				moving_s = r->move_s;
			}
			now = next;
		}
		rate = job->rate[now] / spot_slowdown(&m->market[now], r);
		need_s = moving_s + rest / rate;
		/* behind the last price nothing changes any more */
		if (need_s <= r->every_s || t >= m->end_s) {
			add_stay(run, (size_t)now, t, t + need_s,
			    market_price(&m->market[now], t), job->scale_factor);
			return true;
		}
		add_stay(run, (size_t)now, t, t + r->every_s,
		    market_price(&m->market[now], t), job->scale_factor);
		if (moving_s < r->every_s)
			rest -= rate * (r->every_s - moving_s);
		moving_s = moving_s > r->every_s ? moving_s - r->every_s : 0;
	}
	return true;
}

void
spot_run_free(struct spot_run *run)
{
	free(run->stay);
	*run = (struct spot_run){0};
}
