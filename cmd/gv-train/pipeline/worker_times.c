/* What a worker has spent its time on, and what it holds. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "worker_private.h"

/*
 * Weights in all versions, gradients, what the optimiser keeps, and what waits of all
 * micro-batches in flight, or of a stage that recomputes what it receives and once that:
 * timetable.h's holding.
 */
static double
planned(const struct chunk *c)
{
	struct gv_net_bytes b;
	double state, in = (double)(c->in.numbers * sizeof(gv_real));

	gv_net_bytes(c->net, &b);
	state =
	    b.params > 0 ? (double)b.state * (double)c->versions / (double)b.params : 0;
	if (!(c->at->kept > 0))
		return 0;
	return ((double)c->versions + 1 + state) * c->at->parameter +
	       (c->at->recompute ? (double)c->slots * in + c->at->kept
				 : (double)c->slots * c->at->kept);
}

/* The same of what the net has: all that waits has room for a gradient, too, and there is a hit. */
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

void
worker_times_begin(struct worker *w)
{
	size_t i;

	w->behind_first_s = gv_clock_s();
	for (i = 0; i < w->chunks; i++) {
		struct chunk *c = &w->chunk[i];

		c->first = c->times;
		passes_forget(&c->forward);
		passes_forget(&c->backward);
		passes_forget(&c->weights);
	}
}

static void
leave_out(struct worker_times *t, const struct worker_times *first)
{
	t->timed = t->micro_batches - first->micro_batches;
	if (t->timed == 0) {
		t->timed = t->micro_batches;
		return;
	}
	t->forward_s -= first->forward_s;
	t->backward_s -= first->backward_s;
	t->update_s -= first->update_s;
	t->other_s -= first->other_s;
	t->send_s -= first->send_s;
	t->waited_s -= first->waited_s;
}

/* As a profile has them: what a pass took for once is not of the passes. */
static void
take_middle(struct worker_times *t, const struct chunk *c)
{
	double forward_s = passes_typical_s(&c->forward),
	       backward_s =
		   passes_typical_s(&c->backward) + passes_typical_s(&c->weights),
	       rest;

	t->passes_s = t->forward_s + t->backward_s;
	if (c->forward.all.n == 0 || c->backward.all.n == 0)
		return;
	rest = t->passes_s - forward_s - backward_s;
	t->other_s += rest > 0 ? rest : 0;
	t->forward_s = forward_s;
	t->backward_s = backward_s;
}

struct worker_times
worker_times(const struct worker *w, size_t i)
{
	struct worker_times t = w->chunk[i].times;

	leave_out(&t, &w->chunk[i].first);
	take_middle(&t, &w->chunk[i]);
	t.all_s =
	    gv_clock_s() - (t.timed < t.micro_batches ? w->behind_first_s : w->began_s);
	t.slots = w->chunk[i].slots;
	t.versions = w->chunk[i].versions;
	t.held = held(w, &w->chunk[i]);
	t.planned = planned(&w->chunk[i]);
	gv_net_bytes(w->chunk[i].net, &t.bytes);
	return t;
}
