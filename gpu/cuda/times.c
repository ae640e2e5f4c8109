/* gv_net_time: an event behind every row; what lies between two is the row's. */
#include <stdlib.h>

#include "base/mem.h"
#include "cuda/parts.h"

static int
mark(struct gv_cuda *c, size_t row, int what)
{
	struct gv_cuda_lap *l;
	size_t i = c->laps, cap = c->laps_cap;

	c->lap = gv_xgrow(c->lap, &c->laps_cap, i + 1, sizeof(*c->lap));
	for (; cap < c->laps_cap; cap++)
		c->lap[cap].event = NULL;
	l = &c->lap[i];
	l->row = row;
	l->what = what;
	if (gv_cuda_flush(c) != 0)
		return -1;
	if (l->event == NULL &&
	    gv_cuda_check(c, c->d->event_create(&l->event, 0), "an event") != 0)
		return -1;
	c->laps++;
	return gv_cuda_check(c, c->d->event_record(l->event, c->stream), "an event");
}

int
gv_cuda_lap_start(struct gv_cuda *c)
{
	return c->times == NULL ? 0 : mark(c, 0, GV_CUDA_LAP_START);
}

int
gv_cuda_lap(struct gv_cuda *c, size_t row, int what)
{
	return c->times == NULL ? 0 : mark(c, row, what);
}

/* The update goes over all parameters at once: a row's part is that of its own. */
static void
share_update(struct gv_cuda *c, double s)
{
	const struct gv_nn_plan *p = c->plan;
	size_t k;

	for (k = p->first_row; k < p->last_row && p->P > 0; k++)
		c->times[k].update_s +=
		    s * (double)(p->row[k].l.weights + p->row[k].l.biases) / (double)p->P;
}

static void
take_lap(struct gv_cuda *c, const struct gv_cuda_lap *l, double s)
{
	switch (l->what) {
	case GV_CUDA_LAP_FORWARD:
		c->times[l->row].forward_s += s;
		break;
	case GV_CUDA_LAP_BACKWARD:
		c->times[l->row].backward_s += s;
		break;
	case GV_CUDA_LAP_UPDATE:
		share_update(c, s);
		break;
	default:
		break;
	}
}

int
gv_cuda_laps_read(struct gv_cuda *c)
{
	size_t i, n = c->laps;
	float ms;

	c->laps = 0;
	for (i = 1; i < n; i++) {
		if (c->lap[i].what == GV_CUDA_LAP_START)
			continue;
		if (gv_cuda_check(c,
			c->d->event_elapsed(&ms, c->lap[i - 1].event, c->lap[i].event),
			"an event") != 0)
			return -1;
		take_lap(c, &c->lap[i], (double)ms / 1000);
	}
	return 0;
}

void
gv_cuda_time(struct gv_nn_backend *be, struct gv_net_times *times)
{
	struct gv_cuda *c = (struct gv_cuda *)be;

	gv_cuda_sync(be); /* what was timed so far goes to those who asked */
	c->laps = 0;
	c->times = times;
}
