#include "nn/stage.h"

#include <stdlib.h>

#include "base/mem.h"

/* What is done to rows [first, last). */
struct rows_call {
	enum { FORWARD, BACKWARD, GRADIENT } what;
	const struct gv_nn_grads *grads;
	bool add;
};

static int
call(struct gv_nn_backend *be, const struct gv_nn_call *c, size_t first, size_t last,
    const struct rows_call *r)
{
	switch (r->what) {
	case FORWARD:
		return be->forward(be, c, first, last);
	case BACKWARD:
		return be->backward(be, c, first, last);
	default:
		return be->gradient(be, c, first, last, r->grads, r->add);
	}
}

/* One model of the array after the other. */
static int
call_serially(struct gv_nn_backend *be, const struct gv_nn_call *c, size_t first,
    size_t last, const struct rows_call *r)
{
	bool *one = gv_xcalloc(c->plan->B, sizeof(*one));
	struct gv_nn_call own = *c;
	size_t b;
	int status = 0;

	own.active = one;
	for (b = 0; b < c->plan->B && status == 0; b++) {
		one[b] = c->active[b];
		if (one[b])
			status = call(be, &own, first, last, r);
		one[b] = false;
	}
	free(one);
	return status;
}

/* Rows [first, last), in parts: those that are fused, and those that are not. */
static int
call_rows(struct gv_nn_backend *be, const struct gv_nn_call *c, size_t first, size_t last,
    const struct rows_call *r)
{
	const struct gv_nn_row *row = c->plan->row;
	size_t from, to, end, start;
	int status = 0;

	for (from = first; from < last && !row[from].l.serial; from++)
		continue;
	if (from >= last || c->plan->B == 1)
		return call(be, c, first, last, r);
	for (start = first, end = last; start < end && status == 0;) {
		from = start;
		to = end;
		if (r->what == BACKWARD) {
			for (from = end - 1; from > start && row[from - 1].l.serial ==
								 row[end - 1].l.serial;)
				from--;
			end = from;
		} else {
			for (to = start + 1;
			     to < end && row[to].l.serial == row[start].l.serial;)
				to++;
			start = to;
		}
		status = row[from].l.serial ? call_serially(be, c, from, to, r)
					    : call(be, c, from, to, r);
	}
	return status;
}

int
gv_nn_reduce(struct gv_nn_backend *be, const struct gv_nn_plan *p,
    const struct gv_nn_ranks *ranks, gv_real *v, size_t n)
{
	size_t bytes = n * sizeof(*v);

	if (p->R == 1)
		return 0;
	if (ranks->joined) {
		const struct gv_nn_piece all = {v, n, 0, 0};

		return be->add_ranks(be, &all, 1) != 0 || be->added(be) != 0 ? -1 : 0;
	}
	if (ranks->host == NULL)
		return be->sync(be) != 0 || ranks->reduce(ranks->ctx, v, n) != 0 ? -1 : 0;
	if (be->get(be, ranks->host, v, bytes) != 0 ||
	    ranks->reduce(ranks->ctx, ranks->host, n) != 0)
		return -1;
	return be->put(be, v, ranks->host, bytes);
}

/* A sum of bn over the micro-batch, all ranks. */
static int
sum(struct gv_nn_backend *be, const struct gv_nn_call *c, const struct gv_nn_ranks *ranks,
    size_t row, enum gv_nn_sum what)
{
	size_t width = c->plan->row[row].l.in_shape.channels;

	if (what == GV_NN_SUM_DY)
		width *= 2;
	if (be->bn_sum(be, c, row, what) != 0 ||
	    gv_nn_reduce(be, c->plan, ranks, c->f->sums, c->plan->B * width) != 0)
		return -1;
	return be->bn_take(be, c, row, what);
}

int
gv_nn_stage_forward(struct gv_nn_backend *be, const struct gv_nn_call *c,
    const struct gv_nn_ranks *ranks, size_t first, size_t last)
{
	const struct rows_call forward = {.what = FORWARD};
	size_t k, from = first;

	if (be->pack(be, c, first, last, GV_NN_FORWARD | GV_NN_BACKWARD) != 0)
		return -1;
	for (k = first; k < last; k++) {
		if (c->plan->row[k].l.op != GV_OP_BN)
			continue;
		if (call_rows(be, c, from, k, &forward) != 0 ||
		    sum(be, c, ranks, k, GV_NN_SUM_X) != 0 ||
		    sum(be, c, ranks, k, GV_NN_SUM_SQUARES) != 0)
			return -1;
		from = k;
	}
	return call_rows(be, c, from, last, &forward);
}

int
gv_nn_stage_backward(struct gv_nn_backend *be, const struct gv_nn_call *c,
    const struct gv_nn_ranks *ranks, size_t first, size_t last)
{
	const struct rows_call backward = {.what = BACKWARD};
	size_t k, to = last;

	for (k = first; k < last; k++)
		if (c->plan->row[k].late && c->plan->row[k].l.act != GV_ACT_NONE &&
		    be->act_back(be, c, k) != 0)
			return -1;
	for (k = last; k-- > first;) {
		if (c->plan->row[k].l.op != GV_OP_BN)
			continue;
		if (call_rows(be, c, k + 1, to, &backward) != 0 ||
		    sum(be, c, ranks, k, GV_NN_SUM_DY) != 0)
			return -1;
		to = k + 1;
	}
	return call_rows(be, c, first, to, &backward);
}

int
gv_nn_stage_evaluate(
    struct gv_nn_backend *be, const struct gv_nn_call *c, size_t first, size_t last)
{
	size_t k;

	for (k = first; k < last; k++)
		if (c->plan->row[k].l.op == GV_OP_BN && be->bn_use_running(be, c, k) != 0)
			return -1;
	return be->forward(be, c, first, last);
}

int
gv_nn_stage_gradient(struct gv_nn_backend *be, const struct gv_nn_call *c, size_t first,
    size_t last, const struct gv_nn_grads *grads, bool add)
{
	const struct rows_call gradient = {GRADIENT, grads, add};

	return call_rows(be, c, first, last, &gradient);
}
