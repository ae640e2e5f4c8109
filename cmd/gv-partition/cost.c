/* The cost models. */
#include "cost.h"

const char *const schedule_name[SCHEDULES] = {"1f1b", "2bw", "flush", "gpipe"};

size_t
machine_component(const struct machine *m, size_t level)
{
	size_t n = 1, l;

	for (l = 0; l < level; l++)
		n *= m->gpus[l];
	return n;
}

static double
larger(double a, double b)
{
	return a > b ? a : b;
}

struct stage_terms
stage_cost(const struct cost_rules *r, const struct machine *m, size_t level,
    const struct stage_size *s, size_t replicas, bool first)
{
	struct stage_terms t = {0};
	double n = (double)replicas, bandwidth = m->bytes_per_s[level];

	t.compute_s = s->time_s / n;
	if (r->model == COST_PAPER) {
		t.sync_s = 2 * (n - 1) * s->parameter / bandwidth / n;
		t.load_s = larger(t.compute_s, t.sync_s);
		t.transfer_s = 2 * s->in / bandwidth;
	} else {
		t.sync_s = 4 * (n - 1) * s->parameter / (bandwidth * n) / n;
		if (first && level > 0)
			t.sync_s /= (double)m->gpus[level - 1];
		t.load_s = t.compute_s + t.sync_s;
		t.transfer_s = 2 * larger(s->in, s->out) / (bandwidth * n);
	}
	if (first || r->free_transfers)
		t.transfer_s = 0;
	t.load_s = larger(t.load_s, t.transfer_s);
	return t;
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
