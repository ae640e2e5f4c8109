#include "timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gv-partition/fleet/fleet.h"
#include "gv-partition/placed/placed_cost.h"
#include "table/tab.h"

/* ---- the pipeline of a plan ---- */

/* The outermost level on which the stage and the one before it are in different stages. */
static size_t
level_between(const struct plan *p, const struct machine *m, size_t stage)
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
reduce_s(const struct stage *s, const struct machine *m, const struct cost_rules *rules,
    double parameter)
{
	double sum = 0;
	size_t l;

	for (l = 0; l < m->n_levels; l++)
		sum += ring_s(rules, s->replicas[l], parameter, m->bytes_per_s[l]);
	return sum;
}

/* Adds what the layers of each stage compute. */
static void
add_layers(struct pipe *pipe, const struct plan *p, const struct graph *g)
{
	size_t v;

	for (v = 0; v < g->n; v++) {
		const struct layer *layer = &g->layer[v];
		struct pipe_stage *s = &pipe->stage[p->of[v]];
		double forward = layer->forward_s, backward = layer->time_s - forward;
		double weight = 0;

		if (p->fleet != NULL) {
			const struct fleet_type *t =
			    &p->fleet->type[p->stage[p->of[v]].type];

			forward = t->forward_s[v];
			backward = t->time_s[v] - forward;
		}
		if (pipe->schedule == SCHEDULE_ZB_H1 && layer->parameter > 0)
			weight = backward / 2;
		s->forward_s += forward;
		s->backward_s += backward - weight;
		s->weight_s += weight;
		if (p->stage[p->of[v]].recompute)
			s->backward_s += forward;
	}
}

static void
set_batches(struct pipe *p, const struct cost_rules *rules, size_t gpus)
{
	size_t round = pipe_round(p);

	p->batch = p->micro_batches = rules->micro_batches;
	if (p->schedule == SCHEDULE_2BW) {
		if (p->batch == 0)
			p->batch = ((gpus - 1) / round + 1) * round;
		p->micro_batches = 3 * p->batch;
	} else if (p->batch == 0) {
		gpus = gpus < 4 ? 8 : 2 * gpus;
		p->batch = p->micro_batches = ((gpus - 1) / round + 1) * round;
	}
}

int
pipe_make(struct pipe *pipe, const struct plan *p, const struct plan_report *r,
    const struct graph *g, const struct machine *m, const struct cost_rules *rules,
    struct gv_error *e)
{
	bool interleaved = rules->schedule == SCHEDULE_INTERLEAVED;
	size_t gpus = 0, i, l;

	*pipe = (struct pipe){.n = p->n,
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
		const struct stage *stage = &p->stage[row->first];
		struct pipe_stage *s = &pipe->stage[row->first];

		if (row->level > 0)
			continue;
		for (s->replicas = 1, l = 0; l < m->n_levels; l++)
			s->replicas *= stage->replicas[l];
		if (row->first > 0 && !rules->free_transfers)
			s->receive_s = row->size.in /
				       m->bytes_per_s[level_between(p, m, row->first)];
		s->reduce_s = reduce_s(stage, m, rules, row->size.parameter);
		s->parameter = row->size.parameter;
		s->memory =
		    p->fleet != NULL ? p->fleet->type[stage->type].memory : rules->memory;
		s->stash = row->recompute ? row->size.in : row->activation;
		s->working = row->recompute ? row->activation : 0;
		gpus += row->first < pipe_places(pipe) ? s->replicas : 0;
	}
	set_batches(pipe, rules, gpus);
	return 0;
}

/* Bytes per second of the slowest link among n GPUs from first on. */
static double
link_of(const struct links *x, size_t first, size_t n)
{
	return x->at[links_level(x, first, n)].bytes_per_s[0];
}

void
pipe_place(struct pipe *pipe, const struct plan *p, const struct plan_report *r,
    const struct machine *m, const struct cost_rules *rules)
{
	const struct links x = links_of(m);
	size_t end = x.n, first, i;

	for (i = p->n; i-- > 0; end = first) {
		struct pipe_stage *s = &pipe->stage[i];

		first = end - s->replicas;
		s->reduce_s = ring_s(
		    rules, s->replicas, s->parameter, link_of(&x, first, s->replicas));
		if (i > 0 && !rules->free_transfers) {
			size_t before = pipe->stage[i - 1].replicas;

			s->receive_s = r->row[i].size.in /
				       link_of(&x, first - before, before + s->replicas);
		}
	}
}

void
pipe_free(struct pipe *p)
{
	free(p->stage);
	memset(p, 0, sizeof(*p));
}

/* ---- the table ---- */

/* In ms, without the noise of sums. */
static void
write_ms(struct gv_tabw *w, double s)
{
	gv_tabw_double(w, round(s * 1e12) / 1e9);
}

static void
write_step(
    struct gv_tabw *w, const struct pipe *p, const struct lane *l, size_t gpu, size_t k)
{
	const struct step *s = &l->step[k];

	gv_tabw_int(w, (int64_t)gpu);
	gv_tabw_int(w, (int64_t)s->stage);
	gv_tabw_int(w, (int64_t)l->replica);
	if (p->chunks > 1)
		gv_tabw_int(w, (int64_t)(s->stage / pipe_places(p)));
	gv_tabw_int(w, (int64_t)k);
	gv_tabw_str(w, op_name[s->op]);
	gv_tabw_int(w, (int64_t)s->micro_batch);
	gv_tabw_int(w, (int64_t)s->version);
	write_ms(w, s->start_s);
	write_ms(w, s->end_s);
	gv_tabw_end(w);
}

void
timeline_write(
    const struct timetable *t, const struct pipe *p, struct gv_out *out, bool tsv)
{
	static const char *const name[] = {"gpu", "stage", "replica", "chunk", "step",
	    "op", "micro_batch", "version", "start_ms", "end_ms"};
	struct gv_tabw w;
	size_t i, k;

	gv_tabw_init(&w, out, tsv);
	for (i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		if (p->chunks > 1 || strcmp(name[i], "chunk") != 0)
			gv_tabw_str(&w, name[i]);
	gv_tabw_end(&w);
	for (i = 0; i < t->n; i++)
		for (k = 0; k < t->lane[i].n; k++)
			write_step(&w, p, &t->lane[i], i, k);
}
