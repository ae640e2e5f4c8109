/* The cost models. */
#include "cost.h"

const char *const schedule_name[SCHEDULES] = {
    "1f1b", "2bw", "flush", "gpipe", "interleaved", "zb-h1"};

size_t
machine_component(const struct machine *m, size_t level)
{
	size_t n = 1, l;

	for (l = 0; l < level; l++)
		n *= m->gpus[l];
	return n;
}

size_t
stage_fewest(const struct cost_rules *r, const struct machine *m, size_t level,
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
data_parallel(
    const struct cost_rules *r, const struct machine *m, double time_s, double parameter)
{
	struct stage_size s = {.time_s = time_s, .parameter = parameter};
	size_t l;

	for (l = 0; l < m->n_levels; l++)
		s.time_s = stage_cost(r, m, l, &s, m->gpus[l], true).load_s;
	return s.time_s;
}

double
stage_memory(const struct cost_rules *r, const struct stage_size *s, double activation,
    size_t in_flight, bool recompute)
{
	double flight = (double)in_flight, batches = (double)r->micro_batches;
	double versions = 1, stashes = flight, stash = recompute ? s->in : activation;

	if (r->schedule == SCHEDULE_1F1B)
		versions = flight;
	else if (r->schedule == SCHEDULE_2BW)
		versions = 2;
	else if (r->schedule == SCHEDULE_GPIPE || stashes > batches)
		stashes = batches;
	return versions * s->parameter + stashes * stash + (recompute ? activation : 0) +
	       (1 + r->state) * s->parameter;
}

void
machine_flatten(struct machine *m)
{
	size_t l;

	for (l = 1; l < m->n_levels; l++) {
		m->gpus[0] *= m->gpus[l];
		if (m->bytes_per_s[l] < m->bytes_per_s[0])
			m->bytes_per_s[0] = m->bytes_per_s[l];
	}
	m->n_levels = 1;
}
