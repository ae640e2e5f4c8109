#include "interleave.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "plan/simulate.h"
#include "pipe.h"

int
interleave_evaluate(struct plan_report *r, const struct gv_plan *p,
    const struct gv_graph *g, const struct gv_machine *m, const struct cost_rules *rules,
    enum ideals_kind cut, struct gv_error *e)
{
	struct gv_machine chunks = *m;
	struct gv_timetable t;
	struct gv_pipe pipe;
	double parameter = 0;
	size_t i, places;

	chunks.gpus[0] *= rules->chunks;
	if (plan_evaluate(r, p, g, &chunks, rules, cut, e) != 0)
		return -1;
	for (i = 0; i < g->n; i++)
		parameter += g->layer[i].parameter;
	r->gpus /= rules->chunks;
	r->data_parallel_s = data_parallel(rules, m, r->single_s, parameter);
	r->idle_s = r->single_s / (double)gv_machine_component(m, m->n_levels);
	if (pipe_make(&pipe, p, r, g, m, rules, e) != 0 ||
	    gv_timetable_check(&pipe, e) != 0) {
		gv_pipe_free(&pipe);
		plan_report_free(r);
		return -1;
	}
	gv_timetable_make(&t, &pipe);
	places = gv_pipe_places(&pipe);
	r->bottleneck_s = -1;
	for (i = 0; i < places; i++) {
		struct gv_holding h = gv_timetable_holding(&t.lane[t.first[i]], &pipe);
		double sum = 0;
		size_t k;

		for (k = i; k < r->n; k += places) {
			r->row[k].in_flight = h.in_flight;
			r->row[k].memory = h.bytes;
			sum += r->row[k].terms.load_s;
		}
		if (sum > r->bottleneck_s) {
			r->bottleneck_s = sum;
			r->slowest = i;
		}
	}
	gv_timetable_free(&t);
	gv_pipe_free(&pipe);
	return 0;
}

/* ---- the search ---- */

static double
largest(const struct plan_report *r)
{
	double most = 0;
	size_t i;

	for (i = 0; i < r->n; i++)
		most = fmax(most, r->row[i].memory);
	return most;
}

/*
 * Cuts into so many stages, each within limit by itself, into *p: the time of a batch.
 * NAN when no cut is within the limit, INFINITY when a GPU does not fit.
 */
static double
cut_within(const struct interleaving *x, size_t places, size_t replicas, double limit,
    struct gv_plan *p)
{
	struct search_options o = *x->o;
	struct gv_machine m = *x->m;
	struct plan_report r = {0};
	struct gv_error e = {0};
	struct gv_simulation s = {0};
	struct gv_timetable t = {0};
	struct gv_pipe pipe = {0};
	double end_s = INFINITY;
	size_t k;

	m.gpus[0] = places * o.rules.chunks;
	o.straight = true;
	o.use = USE_ALL;
	o.rules.memory = limit;
	memset(p, 0, sizeof(*p));
	if (plan_search(p, x->s, x->g->n, &m, &o) != SEARCH_FOUND)
		return NAN;
	for (k = 0; k < p->n; k++)
		p->stage[k].replicas[0] = replicas;
	if (interleave_evaluate(&r, p, x->g, x->m, &x->o->rules, x->cut, &e) == 0 &&
	    (x->o->rules.memory <= 0 || largest(&r) <= x->o->rules.memory) &&
	    pipe_make(&pipe, p, &r, x->g, x->m, &x->o->rules, &e) == 0 &&
	    gv_simulation_run(&s, &t, &pipe, &e) == 0)
		end_s = s.end_s;
	gv_timetable_free(&t);
	gv_simulation_free(&s);
	gv_pipe_free(&pipe);
	plan_report_free(&r);
	if (isinf(end_s))
		gv_plan_free(p);
	return end_s;
}

double
interleave_cut(
    const struct interleaving *x, size_t places, size_t replicas, struct gv_plan *p)
{
	enum { TRIES = 12 }; /* to one part in a few thousand */
	double end_s = cut_within(x, places, replicas, 0, p), try_s;
	double low = 0, high = x->o->rules.memory;
	struct gv_plan better;
	int i;

	if (!isinf(end_s) || x->o->rules.memory <= 0)
		return end_s;
	for (i = 0; i < TRIES; i++) {
		double limit = (low + high) / 2;

		try_s = cut_within(x, places, replicas, limit, &better);
		if (isinf(try_s))
			high = limit;
		else
			low = limit;
		if (isfinite(try_s)) {
			gv_plan_free(p);
			*p = better;
			end_s = try_s;
		}
	}
	return end_s;
}

size_t
interleave_replicas(const struct interleaving *x, size_t places)
{
	size_t gpus = x->m->gpus[0], w = x->o->straight ? 1 : gpus / places;

	if (x->o->use == USE_ALL && (w * places != gpus))
		return 0;
	while (w > 0 && x->o->rules.micro_batches % (places * w) != 0)
		w = x->o->use == USE_ALL ? 0 : w - 1;
	return w;
}

enum search_result
interleave_search(struct gv_plan *p, const struct interleaving *x)
{
	size_t gpus = x->m->gpus[0], places, w;
	double all_s = x->s->time_s[x->s->n - 1] * (double)x->o->rules.micro_batches;
	double best_s = INFINITY, end_s;
	struct gv_plan better;

	memset(p, 0, sizeof(*p));
	for (places = gpus > 1 ? 2 : 1; places <= gpus; places++) {
		w = interleave_replicas(x, places);
		if (w == 0 || all_s >= best_s * (double)(places * w))
			continue;
		end_s = interleave_cut(x, places, w, &better);
		if (end_s < best_s) {
			gv_plan_free(p);
			*p = better;
			best_s = end_s;
		} else if (isfinite(end_s)) {
			gv_plan_free(&better);
		}
	}
	return isfinite(best_s) ? SEARCH_FOUND : SEARCH_NONE;
}
