#include "pipe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gv-partition/placed/placed_cost.h"

/* ---- the pipeline of a plan ---- */

/* The outermost level on which the stage and the one before it are in different stages. */
static size_t
level_between(const struct gv_plan *p, const struct gv_machine *m, size_t stage)
{
	size_t l;

	for (l = m->n_levels - 1; l > 0; l--)
		if (p->stage[stage].within[l] != p->stage[stage - 1].within[l])
			break;
	return l;
}

/* A ring of n GPUs. */
static double
ring_s(const struct cost_rules *rules, size_t n, double parameter, double bytes_per_s)
{
	double times = rules->model == COST_COMPAT ? 4 : 2;

	return times * (double)(n - 1) / (double)n * parameter / bytes_per_s;
}

static double
reduce_s(const struct gv_stage *s, const struct gv_machine *m,
    const struct cost_rules *rules, double parameter)
{
	double sum = 0;
	size_t l;

	for (l = 0; l < m->n_levels; l++)
		sum +=
		    ring_s(rules, s->replicas[l], parameter, gv_machine_sum_rate(m, l));
	return sum;
}

/* Seconds of a layer's passes on a GPU of its stage. */
struct passes {
	double forward, backward, weight;
};

static struct passes
passes_of(const struct gv_pipe *pipe, const struct gv_plan *p, const struct gv_graph *g,
    size_t v)
{
	const struct gv_graph_layer *layer = &g->layer[v];
	double forward = layer->forward_s, backward = layer->time_s - forward, weight = 0;

	if (p->fleet != NULL) {
		const struct gv_fleet_type *t = &p->fleet->type[p->stage[p->of[v]].type];

		forward = t->forward_s[v];
		backward = t->time_s[v] - forward;
	}
	if (pipe->schedule == GV_SCHEDULE_ZB_H1 && layer->parameter > 0)
		weight = backward / 2;
	return (struct passes){forward, backward - weight, weight};
}

/* Adds what the layers of each stage compute. */
static void
add_layers(struct gv_pipe *pipe, const struct gv_plan *p, const struct gv_graph *g)
{
	size_t v;

	for (v = 0; v < g->n; v++) {
		struct gv_pipe_stage *s = &pipe->stage[p->of[v]];
		struct passes x = passes_of(pipe, p, g, v);

		s->forward_s += x.forward;
		s->backward_s += x.backward;
		s->weight_s += x.weight;
		s->update_s += g->layer[v].update_s;
		if (p->stage[p->of[v]].recompute)
			s->backward_s += x.forward;
	}
}

/* ---- all-reduces beside a pass ---- */

/*
 * A GPU that moves bytes itself, moving_s for all of an all-reduce, moves as much beside the
 * pass as goes over the links until that ends.
 */
static void
set_beside(struct gv_pipe_stage *s, double pass_s, double moving_s)
{
	double rest_s = s->reduce_s - moving_s;

	s->beside_s = moving_s;
	if (rest_s > 0 && pass_s * moving_s / rest_s < moving_s)
		s->beside_s = pass_s * moving_s / rest_s;
}

/* The last pass before an all-reduce makes the gradients of a stage's rows, the last row's first. */
struct making {
	double pass_s, made_s; /* the whole pass, and how far it is */
	double bytes, left;    /* of all gradients, and of those that are not made yet */
};

static void
make_gradients(
    struct gv_pipe_stage *s, struct making *m, const struct passes *x, double bytes)
{
	double longer = m->pass_s > 0 ? 1 + s->beside_s / m->pass_s : 1;

	m->made_s += s->weight_s > 0 ? x->weight : x->backward;
	if (!(bytes > 0) || !(m->bytes > 0))
		return;
	s->ready_s =
	    fmax(s->ready_s, m->made_s * longer + m->left / m->bytes * s->reduce_s);
	m->left -= bytes;
}

static void
set_sums(struct gv_pipe *pipe, const struct gv_plan *p, const struct gv_graph *g,
    const struct cost_rules *rules)
{
	struct making *m = gv_xcalloc(pipe->n, sizeof(*m));
	uint32_t *order = gv_xcalloc(g->n + 1, sizeof(*order));
	size_t i;

	for (i = 0; i < g->n; i++) {
		struct passes x = passes_of(pipe, p, g, i);

		m[p->of[i]].bytes += g->layer[i].parameter;
		if (p->stage[p->of[i]].recompute)
			m[p->of[i]].made_s += x.forward;
	}
	for (i = 0; i < pipe->n; i++) {
		struct gv_pipe_stage *s = &pipe->stage[i];

		m[i].pass_s = s->weight_s > 0 ? s->weight_s : s->backward_s;
		m[i].left = m[i].bytes;
		s->beside_s = s->ready_s = 0;
		if (rules->moving > 0)
			set_beside(s, m[i].pass_s, s->sum_bytes / rules->moving);
	}
	gv_graph_order(g, order);
	for (i = g->n; i-- > 0;) {
		struct passes x = passes_of(pipe, p, g, order[i]);
		size_t k = p->of[order[i]];

		make_gradients(&pipe->stage[k], &m[k], &x, g->layer[order[i]].parameter);
	}
	free(order);
	free(m);
}

/* ---- all of it ---- */

/* What a GPU of a stage sends and receives in an all-reduce. */
static double
sum_bytes(const struct gv_stage *s, const struct gv_machine *m,
    const struct cost_rules *rules, double parameter)
{
	double sum = 0;
	size_t l;

	for (l = 0; l < m->n_levels; l++)
		sum += 2 * ring_s(rules, s->replicas[l], parameter, 1);
	return sum;
}

static void
set_batches(struct gv_pipe *p, const struct cost_rules *rules, size_t gpus)
{
	size_t round = gv_pipe_round(p);

	p->batch = p->micro_batches = rules->micro_batches;
	if (p->schedule == GV_SCHEDULE_2BW) {
		if (p->batch == 0)
			p->batch = ((gpus - 1) / round + 1) * round;
		p->micro_batches = 3 * p->batch;
	} else if (p->batch == 0) {
		gpus = gpus < 4 ? 8 : 2 * gpus;
		p->batch = p->micro_batches = ((gpus - 1) / round + 1) * round;
	}
}

int
pipe_make(struct gv_pipe *pipe, const struct gv_plan *p, const struct plan_report *r,
    const struct gv_graph *g, const struct gv_machine *m, const struct cost_rules *rules,
    struct gv_error *e)
{
	bool interleaved = rules->schedule == GV_SCHEDULE_INTERLEAVED;
	size_t gpus = 0, i, l;

	*pipe = (struct gv_pipe){.n = p->n,
	    .schedule = rules->schedule,
	    .chunks = interleaved ? rules->chunks : 1,
	    .overlap = rules->model == COST_PAPER,
	    .state = rules->state};
	if (p->n % pipe->chunks != 0)
		return gv_error_set(e,
		    "interleaved needs a multiple of %zu chunks as stages, got %zu",
		    pipe->chunks, p->n);
	pipe->stage = gv_xcalloc(p->n, sizeof(*pipe->stage));
	add_layers(pipe, p, g);
	for (i = 0; i < r->n; i++) {
		const struct stage_report *row = &r->row[i];
		const struct gv_stage *stage = &p->stage[row->first];
		struct gv_pipe_stage *s = &pipe->stage[row->first];

		if (row->level > 0)
			continue;
		for (s->replicas = 1, l = 0; l < m->n_levels; l++)
			s->replicas *= stage->replicas[l];
		if (row->first > 0 && !rules->free_transfers)
			s->receive_s = row->size.in /
				       m->bytes_per_s[level_between(p, m, row->first)];
		s->reduce_s = reduce_s(stage, m, rules, row->size.parameter);
		s->parameter = row->size.parameter;
		s->sum_bytes = sum_bytes(stage, m, rules, row->size.parameter);
		if (rules->moving > 0 && !rules->free_transfers) {
			s->forward_s += (row->size.in + row->size.out) / rules->moving;
			s->backward_s += (row->size.in + row->size.out) / rules->moving;
		}
		s->memory =
		    p->fleet != NULL ? p->fleet->type[stage->type].memory : rules->memory;
		s->stash = row->recompute ? row->size.in : row->activation;
		s->working = row->recompute ? row->activation : 0;
		gpus += row->first < gv_pipe_places(pipe) ? s->replicas : 0;
	}
	if (pipe->overlap)
		set_sums(pipe, p, g, rules);
	set_batches(pipe, rules, gpus);
	return 0;
}

/* The slowest links among n GPUs from first on. */
static const struct gv_machine *
links_among(const struct links *x, size_t first, size_t n)
{
	return &x->at[links_level(x, first, n)];
}

void
pipe_place(struct gv_pipe *pipe, const struct gv_plan *p, const struct plan_report *r,
    const struct gv_graph *g, const struct gv_machine *m, const struct cost_rules *rules)
{
	const struct links x = links_of(m);
	size_t end = x.n, first, i;

	for (i = p->n; i-- > 0; end = first) {
		struct gv_pipe_stage *s = &pipe->stage[i];

		first = end - s->replicas;
		s->reduce_s = ring_s(rules, s->replicas, s->parameter,
		    gv_machine_sum_rate(links_among(&x, first, s->replicas), 0));
		s->sum_bytes = 2 * ring_s(rules, s->replicas, s->parameter, 1);
		if (i > 0 && !rules->free_transfers) {
			size_t before = pipe->stage[i - 1].replicas;

			s->receive_s = r->row[i].size.in / links_among(&x, first - before,
							       before + s->replicas)
							       ->bytes_per_s[0];
		}
	}
	if (pipe->overlap)
		set_sums(pipe, p, g, rules);
}
