/* The cost models. */
#include "cost.h"

#include <stdint.h>

size_t
stage_fewest(const struct cost_rules *r, const struct gv_machine *m, size_t level,
    const struct stage_size *s, bool first, double limit, size_t low, size_t most)
{
	double least = limit > 0 ? s->time_s / limit : 0;
	size_t n = low, high = most + 1;

	if (!(least < (double)most + 1))
		return most + 1;
	if (least > (double)low)
		n = (size_t)least;
	for (; n <= most; n++) {
		struct stage_terms t = stage_cost(r, m, level, s, n, first);

		if (t.load_s <= limit)
			return n;
		if (r->model == COST_PAPER && (t.sync_s > limit || t.transfer_s > limit))
			return most + 1; /* more replicas do not lessen these */
		if (r->model == COST_COMPAT && n > 1)
			break;
	}
	for (n++; n < high;) { /* from 2 replicas on, compat's loads only fall */
		size_t middle = n + (high - n) / 2;

		if (stage_cost(r, m, level, s, middle, first).load_s <= limit)
			high = middle;
		else
			n = middle + 1;
	}
	return high;
}

double
data_parallel(const struct cost_rules *r, const struct gv_machine *m, double time_s,
    double parameter)
{
	struct stage_size s = {.time_s = time_s, .parameter = parameter};
	size_t l;

	for (l = 0; l < m->n_levels; l++)
		s.time_s = stage_cost(r, m, l, &s, m->gpus[l], true).load_s;
	return s.time_s;
}

/* a / b, rounded up */
static size_t
parts(size_t a, size_t b)
{
	return a / b + (a % b > 0);
}

/* Whether there is a last micro-batch, so that no GPU holds more than its part of them. */
static bool
ends(const struct cost_rules *r)
{
	return r->schedule != GV_SCHEDULE_1F1B && r->schedule != GV_SCHEDULE_2BW;
}

size_t
stage_in_flight(const struct cost_rules *r, size_t gpus, size_t behind)
{
	size_t full = parts(behind, gpus), own = parts(r->micro_batches, gpus);

	if (r->schedule == GV_SCHEDULE_GPIPE || (ends(r) && own < full))
		return own;
	return full;
}

size_t
stage_replicas_most(const struct cost_rules *r)
{
	bool any = r->schedule == GV_SCHEDULE_1F1B || r->micro_batches == 0;

	return any ? SIZE_MAX : r->micro_batches;
}

size_t
stage_in_flight_most(const struct cost_rules *r, size_t gpus)
{
	return r->schedule == GV_SCHEDULE_GPIPE ? r->micro_batches : gpus;
}

size_t
stage_behind_most(const struct cost_rules *r, size_t gpus, size_t in_flight)
{
	if (ends(r) && parts(r->micro_batches, gpus) <= in_flight)
		return SIZE_MAX;
	return r->schedule == GV_SCHEDULE_GPIPE ? 0 : in_flight * gpus;
}

size_t
stage_gpus_fewest(const struct cost_rules *r, size_t others, size_t in_flight)
{
	size_t own = parts(r->micro_batches, in_flight), full = 1;

	if (others > 0) /* others + gpus <= in_flight gpus */
		full = in_flight > 1 ? parts(others, in_flight - 1) : SIZE_MAX;
	if (r->schedule == GV_SCHEDULE_GPIPE || (ends(r) && own < full))
		return own;
	return full;
}

double
stage_memory(const struct cost_rules *r, const struct stage_size *s, double activation,
    size_t in_flight, bool recompute)
{
	double flight = (double)in_flight, stash = recompute ? s->in : activation;
	double versions = r->schedule == GV_SCHEDULE_1F1B  ? flight
			  : r->schedule == GV_SCHEDULE_2BW ? 2
							   : 1;

	return versions * s->parameter + flight * stash + (recompute ? activation : 0) +
	       (1 + r->state) * s->parameter;
}
