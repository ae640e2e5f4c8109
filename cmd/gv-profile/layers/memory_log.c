#include "memory_log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

enum { SIDES = 2 }; /* y, dy */

/* When an output is first made and last read, -1 = never. */
struct life {
	double from_s, to_s;
	bool made;
};

static struct {
	struct memory_log *log;
	bool samples;               /* memory_log_samples */
	struct gv_nn_backend real;  /* the functions that be had */
	const struct gv_model *m;   /* a step is logged */
	struct life (*life)[SIDES]; /* [rows] */
	int64_t *bytes;             /* [rows] of an output, all models and samples */
	double start_s, now_s;
} here;

static void
add(double time_s, int64_t bytes, const char *tensor)
{
	struct memory_log *l = here.log;

	l->event = gv_xgrow(l->event, &l->cap, l->n + 1, sizeof(*l->event));
	l->event[l->n] = (struct memory_event){.time_s = time_s, .bytes = bytes};
	snprintf(l->event[l->n].tensor, sizeof(l->event[l->n].tensor), "%s", tensor);
	l->n++;
}

/* ---- what is allocated: all but the room of activations, of which rows take parts ---- */

static void *
alloc(struct gv_nn_backend *be, enum gv_nn_memory kind, size_t bytes, struct gv_error *e)
{
	static const char *const names[] = {[GV_NN_PARAMS] = "parameters",
	    [GV_NN_GRADIENTS] = "gradients",
	    [GV_NN_STATE] = "state",
	    [GV_NN_ACTIVATIONS] = "samples",
	    [GV_NN_SCRATCH] = "scratch",
	    [GV_NN_PINNED] = "pinned"};
	void *p = here.real.alloc(be, kind, bytes, e);

	if (p != NULL && bytes > 0 && (here.samples || kind != GV_NN_ACTIVATIONS))
		add(0, (int64_t)bytes, names[kind]);
	return p;
}

/* ---- a step ---- */

static void
now(struct gv_nn_backend *be)
{
	here.real.sync(be);
	here.now_s = gv_clock_s() - here.start_s;
}

static void
touch(const struct gv_nn_call *c, const struct gv_nn_row *r, int side)
{
	size_t k = (size_t)(r - c->plan->row);
	struct life *l = &here.life[k][side];

	if (!l->made)
		l->from_s = here.now_s;
	l->made = true;
	l->to_s = here.now_s;
	here.bytes[k] = (int64_t)(c->plan->B * c->plan->n * (r->out_size + r->l.kept)) *
			(int64_t)c->plan->stored;
}

/* Rows one by one: what each reads and makes. */
static void
touch_inputs(const struct gv_nn_call *c, const struct gv_nn_row *r, int side)
{
	size_t k;

	for (k = 0; k < r->l.inputs; k++)
		if (gv_nn_input(c, r, k) != NULL)
			touch(c, gv_nn_input(c, r, k), side);
}

static int
forward(struct gv_nn_backend *be, const struct gv_nn_call *c, size_t first, size_t last)
{
	size_t k;

	if (here.m == NULL)
		return here.real.forward(be, c, first, last);
	for (k = first; k < last; k++) {
		touch(c, &c->plan->row[k], 0);
		if (here.real.forward(be, c, k, k + 1) != 0)
			return -1;
		now(be);
		touch_inputs(c, &c->plan->row[k], 0);
		touch(c, &c->plan->row[k], 0);
	}
	return 0;
}

static int
backward(struct gv_nn_backend *be, const struct gv_nn_call *c, size_t first, size_t last)
{
	size_t k;

	if (here.m == NULL)
		return here.real.backward(be, c, first, last);
	for (k = last; k-- > first;) {
		/* what it reads is in use until its own turn, which comes later; the head has
		   made the gradient of that before */
		touch_inputs(c, &c->plan->row[k], 1);
		if (here.real.backward(be, c, k, k + 1) != 0)
			return -1;
		now(be);
		touch(c, &c->plan->row[k], 0);
		if (k + 1 < c->plan->rows)
			touch(c, &c->plan->row[k], 1);
	}
	return 0;
}

static int
gradient(struct gv_nn_backend *be, const struct gv_nn_call *c, size_t first, size_t last,
    const struct gv_nn_grads *g, bool more)
{
	size_t k;

	if (here.m == NULL)
		return here.real.gradient(be, c, first, last, g, more);
	for (k = first; k < last; k++) {
		if (here.real.gradient(be, c, k, k + 1, g, more) != 0)
			return -1;
		now(be);
		if (c->plan->row[k].l.weights == 0)
			continue;
		touch_inputs(c, &c->plan->row[k], 0);
		touch(c, &c->plan->row[k], 1);
	}
	return 0;
}

static int
losses(struct gv_nn_backend *be, const struct gv_nn_call *c, const struct gv_nn_grads *g,
    bool more)
{
	int status = here.real.losses(be, c, g, more);

	if (here.m == NULL)
		return status;
	now(be);
	touch(c, &c->plan->row[c->plan->rows - 1], 0);
	return status;
}

/* ---- beginning and end ---- */

void
memory_log_begin(struct memory_log *log, struct gv_nn_backend *be)
{
	here.log = log;
	here.m = NULL;
	here.samples = false;
	here.real = *be;
	be->alloc = alloc;
	be->forward = forward;
	be->backward = backward;
	be->gradient = gradient;
	be->losses = losses;
}

void
memory_log_samples(void)
{
	here.samples = true;
}

void
memory_log_step(const struct gv_model *m)
{
	here.m = m;
	here.life = gv_xcalloc(m->n, sizeof(*here.life));
	here.bytes = gv_xcalloc(m->n, sizeof(*here.bytes));
	here.start_s = gv_clock_s();
	here.now_s = 0;
}

/* By time; what ends first, so that a peak is never more than was in use. */
static int
by_time(const void *a, const void *b)
{
	const struct memory_event *x = a, *y = b;

	if (x->time_s != y->time_s)
		return x->time_s < y->time_s ? -1 : 1;
	if ((x->bytes < 0) != (y->bytes < 0))
		return x->bytes < 0 ? 1 : -1;
	return strcmp(x->tensor, y->tensor);
}

void
memory_log_end(void)
{
	static const char *const sides[SIDES] = {"y", "dy"};
	struct memory_log *l = here.log;
	size_t first = l->n, k, side;
	char name[48];

	for (k = 0; k < here.m->n; k++)
		for (side = 0; side < SIDES; side++) {
			struct life *f = &here.life[k][side];

			if (!f->made)
				continue;
			snprintf(name, sizeof(name), "%s.%" PRId64, sides[side],
			    here.m->layer[k].id);
			add(f->from_s, here.bytes[k], name);
			add(f->to_s, -here.bytes[k], name);
		}
	qsort(l->event + first, l->n - first, sizeof(*l->event), by_time);
	here.m = NULL;
	free(here.life);
	free(here.bytes);
}

void
memory_log_free(struct memory_log *log)
{
	free(log->event);
}
