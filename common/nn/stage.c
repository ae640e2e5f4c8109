#include "nn/stage.h"

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
	size_t k, from = first;

	if (be->pack(be, c, first, last, GV_NN_FORWARD | GV_NN_BACKWARD) != 0)
		return -1;
	for (k = first; k < last; k++) {
		if (c->plan->row[k].l.op != GV_OP_BN)
			continue;
		if (be->forward(be, c, from, k) != 0 ||
		    sum(be, c, ranks, k, GV_NN_SUM_X) != 0 ||
		    sum(be, c, ranks, k, GV_NN_SUM_SQUARES) != 0)
			return -1;
		from = k;
	}
	return be->forward(be, c, from, last);
}

int
gv_nn_stage_backward(struct gv_nn_backend *be, const struct gv_nn_call *c,
    const struct gv_nn_ranks *ranks, size_t first, size_t last)
{
	size_t k, to = last;

	for (k = first; k < last; k++)
		if (c->plan->row[k].late && c->plan->row[k].l.act != GV_ACT_NONE &&
		    be->act_back(be, c, k) != 0)
			return -1;
	for (k = last; k-- > first;) {
		if (c->plan->row[k].l.op != GV_OP_BN)
			continue;
		if (be->backward(be, c, k + 1, to) != 0 ||
		    sum(be, c, ranks, k, GV_NN_SUM_DY) != 0)
			return -1;
		to = k + 1;
	}
	return be->backward(be, c, first, to);
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
