/* Sums over samples, what becomes of bn's, and the update. */
#include <string.h>

#include "cuda/rows.h"

struct gv_cuda_shards
gv_cuda_shards_of(const struct gv_nn_plan *p)
{
	return (struct gv_cuda_shards){.N = p->N,
	    .S = p->S,
	    .before = p->rank * p->shards,
	    .first = p->first,
	    .shards = p->shards};
}

int
gv_cuda_rows_losses(struct gv_nn_backend *be, const struct gv_nn_call *call,
    const struct gv_nn_grads *g, bool add)
{
	struct gv_cuda *c = (struct gv_cuda *)be;
	const struct gv_nn_plan *p = call->plan;
	struct gv_cuda_losses v = {.B = p->B,
	    .loss = call->f->loss,
	    .to = g->v + p->B * p->P,
	    .active = gv_cuda_active_of(c, call),
	    .shards = gv_cuda_shards_of(p),
	    .samples = gv_nn_samples(p),
	    .add = add,
	    .loss_apart = p->n};

	return gv_cuda_losses(&c->queue, &v);
}

/* ---- bn ---- */

int
gv_cuda_bn_sum(struct gv_nn_backend *be, const struct gv_nn_call *call, size_t row,
    enum gv_nn_sum what)
{
	static const enum gv_cuda_sum kinds[] = {[GV_NN_SUM_X] = GV_CUDA_SUM,
	    [GV_NN_SUM_SQUARES] = GV_CUDA_SQUARES,
	    [GV_NN_SUM_DY] = GV_CUDA_PRODUCTS};
	struct gv_cuda *c = (struct gv_cuda *)be;
	const struct gv_nn_plan *p = call->plan;
	const struct gv_nn_row *r = &p->row[row];
	bool dy = what == GV_NN_SUM_DY, sample = gv_nn_input(call, r, 0) == NULL;
	struct gv_cuda_at at = {.c = c, .call = call, .r = r};
	struct gv_shape s = r->l.in_shape;
	struct gv_cuda_sums v = {.B = p->B,
	    .n = s.channels,
	    .places = s.height * s.width,
	    .active = gv_cuda_active_of(c, call),
	    .x = gv_cuda_x(&at, 0),
	    .x_apart = sample ? 0 : p->n * r->in_size,
	    .mean = gv_nn_stats(call, r, 0),
	    .rstd = gv_nn_stats(call, r, 0) + s.channels,
	    .stat_apart = p->stat_size,
	    .shards = gv_cuda_shards_of(p),
	    .scratch = c->scratch,
	    .to = call->f->sums,
	    .to_apart = dy ? 2 * s.channels : s.channels,
	    .zero = true};

	v.v = dy ? gv_nn_dy(call, r, 0, 0) : v.x;
	v.v_apart = dy ? p->n * r->out_size : v.x_apart;
	if (dy) { /* the gradients of gamma and beta go through the reduce of all gradients */
		v.also = gv_nn_stats(call, r, 0) + 4 * s.channels;
		v.also_apart = p->stat_size;
	}
	if (gv_cuda_lap_start(c) != 0 ||
	    (what == GV_NN_SUM_X && gv_cuda_store_sample(c, call, row) != 0) ||
	    gv_cuda_sums(&c->queue, c->type, kinds[what], &v) != 0)
		return -1;
	return gv_cuda_lap(c, row, dy ? GV_CUDA_LAP_BACKWARD : GV_CUDA_LAP_FORWARD);
}

static struct gv_cuda_stat
stat_of(const struct gv_nn_call *call, const struct gv_nn_row *r)
{
	const struct gv_nn_plan *p = call->plan;

	return (struct gv_cuda_stat){.B = p->B,
	    .n = r->l.in_shape.channels,
	    .stats = gv_nn_stats(call, r, 0),
	    .running = call->running + r->running,
	    .count = gv_nn_count(call, r),
	    .stat_apart = p->stat_size,
	    .running_apart = p->Q};
}

int
gv_cuda_bn_take(struct gv_nn_backend *be, const struct gv_nn_call *call, size_t row,
    enum gv_nn_sum what)
{
	static const enum gv_cuda_stats kinds[] = {[GV_NN_SUM_X] = GV_CUDA_TAKE_X,
	    [GV_NN_SUM_SQUARES] = GV_CUDA_TAKE_SQUARES,
	    [GV_NN_SUM_DY] = GV_CUDA_TAKE_DY};
	struct gv_cuda *c = (struct gv_cuda *)be;
	struct gv_cuda_stat v = stat_of(call, &call->plan->row[row]);

	v.active = gv_cuda_active_of(c, call);
	v.sums = call->f->sums;
	v.sum_apart = what == GV_NN_SUM_DY ? 2 * v.n : v.n;
	return gv_cuda_stats(&c->queue, kinds[what], &v);
}

int
gv_cuda_bn_use_running(
    struct gv_nn_backend *be, const struct gv_nn_call *call, size_t row)
{
	struct gv_cuda *c = (struct gv_cuda *)be;
	struct gv_cuda_stat v = stat_of(call, &call->plan->row[row]);

	return gv_cuda_stats(&c->queue, GV_CUDA_USE_RUNNING, &v);
}

int
gv_cuda_bn_update_running(
    struct gv_nn_backend *be, const struct gv_nn_call *call, size_t row, gv_real *to)
{
	struct gv_cuda *c = (struct gv_cuda *)be;
	const struct gv_nn_row *r = &call->plan->row[row];
	struct gv_cuda_stat v = stat_of(call, r);

	v.active = gv_cuda_active_of(c, call);
	v.to = to + r->running;
	return gv_cuda_stats(&c->queue, GV_CUDA_UPDATE_RUNNING, &v);
}

/* ---- the update ---- */

/* Products read these parameters, too: where all of them are new they are packed at once. */
static void *
rounded_to(const struct gv_cuda *c, const struct gv_nn_update *u)
{
	size_t b;

	if (c->type == GV_CUDA_F32 || u->first > 0 || u->last < c->plan->P)
		return NULL;
	for (b = 0; b < c->plan->B; b++)
		if (!u->active[b])
			return NULL;
	memset(u->into->is_packed, GV_NN_FORWARD | GV_NN_BACKWARD, c->plan->rows);
	return u->into->packed;
}

/* The device's coefficients are these: sent when they change. */
static int
send_coef(struct gv_cuda *c, const struct gv_nn_update *u)
{
	size_t B = c->plan->B, b;
	bool same = c->coef_known;

	for (b = 0; b < B; b++) {
		struct gv_cuda_coef v = {0};

		gv_cuda_coef_of(u, b, &v);
		/* its members have no holes; Adam's change in every step */
		if (memcmp(&v, &c->coef_host[b], sizeof(v)) != 0)
			same = false;
		c->coef_host[b] = v;
	}
	if (same)
		return 0;
	c->coef_known = true;
	return gv_cuda_send(
	    c, GV_CUDA_READS_COEF, c->coef, c->coef_host, B * sizeof(*c->coef));
}

int
gv_cuda_optimise(struct gv_nn_backend *be, const struct gv_nn_update *u)
{
	struct gv_cuda *c = (struct gv_cuda *)be;
	size_t n = c->plan->B * c->plan->P;
	bool adam = u->optimiser != GV_SGD;
	struct gv_cuda_update v = {.B = c->plan->B,
	    .first = u->first,
	    .last = u->last,
	    .coef = c->coef,
	    .from = u->from,
	    .grads = u->grads,
	    .to = u->to,
	    .state = adam || u->momentum ? u->state : NULL,
	    .second = adam ? u->state + n : NULL,
	    .apart = c->plan->P,
	    .rounded = rounded_to(c, u),
	    .rounded_apart = c->packed};

	if (send_coef(c, u) != 0 || gv_cuda_lap_start(c) != 0 ||
	    gv_cuda_update(&c->queue, adam ? GV_CUDA_ADAM : GV_CUDA_SGD, &v) != 0)
		return -1;
	c->list.reads |= GV_CUDA_READS_COEF;
	return gv_cuda_lap(c, 0, GV_CUDA_LAP_UPDATE);
}
