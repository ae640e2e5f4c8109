/* What a worker has spent its time on, and what it holds. */
#include "base/clock.h"
#include "worker_private.h"

/*
 * Weights in all versions, gradients, what the optimiser keeps, and outputs of all
 * micro-batches in flight, or of a stage that recomputes what it receives and once its
 * outputs: timetable.h's holding.
 */
static double
planned(const struct chunk *c)
{
	struct gv_net_bytes b;
	double state, in = (double)(c->in.numbers * sizeof(gv_real));

	gv_net_bytes(c->net, &b);
	state =
	    b.params > 0 ? (double)b.state * (double)c->versions / (double)b.params : 0;
	if (!(c->at->activation > 0))
		return 0;
	return ((double)c->versions + 1 + state) * c->at->parameter +
	       (c->at->recompute ? (double)c->slots * in + c->at->activation
				 : (double)c->slots * c->at->activation);
}

/* The same of what the net has: of each output there is its gradient, too, and a hit. */
static double
held(const struct worker *w, const struct chunk *c)
{
	double in = (double)(c->in.numbers * sizeof(gv_real));
	double models = (double)w->s.net.models * sizeof(gv_real), outputs;
	size_t slots = c->recompute ? 1 : c->slots;
	struct gv_net_bytes b;

	gv_net_bytes(c->net, &b);
	outputs =
	    ((double)b.activations - (double)slots * models * (double)w->s.net.batch) / 2;
	if (!c->recompute)
		outputs -= (double)c->slots * in;
	return (double)(b.params + b.gradients + b.state) - models + outputs;
}

struct worker_times
worker_times(const struct worker *w, size_t i)
{
	struct worker_times t = w->chunk[i].times;

	t.all_s = gv_clock_s() - w->began_s;
	t.slots = w->chunk[i].slots;
	t.versions = w->chunk[i].versions;
	t.held = held(w, &w->chunk[i]);
	t.planned = planned(&w->chunk[i]);
	gv_net_bytes(w->chunk[i].net, &t.bytes);
	return t;
}
