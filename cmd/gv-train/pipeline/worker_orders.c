/* Models that see the samples in orders of their own, in stages that look at samples. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "worker_private.h"

bool
worker_passes_apart(const struct worker_spec *s, const struct chunk *c)
{
	return s->orders > 1 && (c->is_last || c->reads_sample);
}

static int
load(struct worker *w, struct chunk *c, const struct gv_course_step *s, size_t slot,
    size_t order)
{
	double from = gv_clock_s();
	int status;

	w->s.visit(w->s.ctx, order, s->micro_batch, w->visit);
	status = gv_net_load_of(c->net, slot, w->visit);
	c->times.other_s += gv_clock_s() - from;
	return status;
}

/* Lets the models of an order go, of those that train.  Whether there are any. */
static bool
choose(struct worker *w, struct chunk *c, size_t order, const bool *on)
{
	bool any = false;
	size_t b;

	for (b = 0; b < c->models; b++) {
		bool goes = on[b] && w->s.order_of[b] == order;

		gv_net_set_active(c->net, b, goes);
		any |= goes;
	}
	return any;
}

int
worker_pass(struct worker *w, struct chunk *c, const struct gv_course_step *s,
    size_t slot, bool load_it,
    int (*pass)(struct chunk *c, const struct gv_course_step *s, size_t slot))
{
	bool *on;
	size_t b, k;
	int status = 0;

	if (!worker_passes_apart(&w->s, c)) {
		if (load_it && (c->is_last || c->reads_sample) &&
		    load(w, c, s, slot, 0) != 0)
			return -1;
		return pass(c, s, slot);
	}
	on = gv_xcalloc(c->models, sizeof(*on));
	for (b = 0; b < c->models; b++)
		on[b] = gv_net_active(c->net, b);
	for (k = 0; k < w->s.orders && status == 0; k++)
		if (choose(w, c, k, on)) {
			/* what an order has left in the slot has made way for the next */
			status = load(w, c, s, slot, k);
			if (status == 0)
				status = pass(c, s, slot);
			c->beside = true;
		}
	c->beside = false;
	for (b = 0; b < c->models; b++)
		gv_net_set_active(c->net, b, on[b]);
	free(on);
	return status;
}
