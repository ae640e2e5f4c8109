/* What a net does: samples, work items, evaluations.  Steps are in net_step.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "nn/net_private.h"

static struct gv_nn_call
call_of(struct gv_net *net, size_t slot, size_t version, bool training)
{
	return (struct gv_nn_call){.plan = &net->plan,
	    .w = &net->weights[version],
	    .f = &net->flight[slot],
	    .running = net->running,
	    .active = net->active,
	    .n = net->plan.n,
	    .training = training};
}

/* ---- samples ---- */

static void
count_samples(struct gv_net *net, size_t bytes)
{
	net->bytes.samples += bytes;
	net->bytes.total += bytes;
}

/* The slot's own room for samples. */
static int
own_samples(struct gv_net *net, struct gv_nn_flight *f)
{
	gv_error_clear(&net->error);
	if (f->own_target != NULL)
		return 0;
	if (gv_nn_flight_own(f, net->be, &net->sizes, &net->error) != 0)
		return -1;
	count_samples(net, net->sizes.samples + net->sizes.targets);
	return 0;
}

/* What the head of a flight compares with: of the kind that it is. */
static void
set_target(const struct gv_net *net, struct gv_nn_flight *f, const void *target)
{
	f->label = net->plan.target == GV_TARGET_LABELS ? target : NULL;
	f->number = net->plan.target == GV_TARGET_NUMBERS ? target : NULL;
}

/* n samples of the host for a slot. */
static int
load(struct gv_net *net, struct gv_nn_flight *f, const gv_real *x, const void *target,
    size_t n)
{
	struct gv_nn_backend *be = net->be;
	int status;

	f->x = x;
	set_target(net, f, target);
	if (be->host_memory)
		return 0;
	if (own_samples(net, f) != 0)
		return -1;
	f->x = f->own_x;
	status =
	    x == NULL ? 0 : be->put(be, f->own_x, x, n * net->plan.in_size * sizeof(*x));
	if (target == NULL || status != 0)
		return status;
	set_target(net, f, f->own_target);
	return be->put(be, f->own_target, target, n * gv_nn_target_bytes(&net->plan));
}

int
gv_net_load(struct gv_net *net, size_t slot, const gv_real *x, const void *target)
{
	return load(net, &net->flight[slot], x, target, net->plan.n);
}

void
gv_net_set_key(struct gv_net *net, size_t slot, size_t b, uint64_t k)
{
	net->flight[slot].key[b] = gv_random(net->seed[b], 0, 2, k);
}

void
gv_net_number(struct gv_net *net, size_t slot, uint64_t k)
{
	size_t b;

	for (b = 0; b < net->plan.B; b++)
		gv_net_set_key(net, slot, b, k);
}

int
gv_net_data(struct gv_net *net, const gv_real *x, const void *target, size_t n)
{
	struct gv_nn_backend *be = net->be;
	size_t bytes[2] = {
	    n * net->plan.in_size * sizeof(*x), n * gv_nn_target_bytes(&net->plan)};
	const void *from[2] = {x, target};
	size_t i;

	net->data_x = x;
	net->data_target = target;
	if (be->host_memory)
		return 0;
	gv_error_clear(&net->error);
	net->bytes.samples -= net->data_bytes;
	net->bytes.total -= net->data_bytes;
	net->data_bytes = bytes[0] + bytes[1];
	count_samples(net, net->data_bytes);
	for (i = 0; i < 2; i++) {
		be->release(be, GV_NN_ACTIVATIONS, net->data_copy[i]);
		net->data_copy[i] =
		    be->alloc(be, GV_NN_ACTIVATIONS, bytes[i], &net->error);
		if (net->data_copy[i] == NULL ||
		    be->put(be, net->data_copy[i], from[i], bytes[i]) != 0)
			return -1;
	}
	net->data_x = net->data_copy[0];
	net->data_target = net->data_copy[1];
	return 0;
}

/* Samples of the resident data set for a slot. */
static int
gather(struct gv_net *net, struct gv_nn_flight *f, const uint32_t *visit)
{
	struct gv_nn_backend *be = net->be;
	size_t n = net->plan.n, bytes = net->plan.in_size * sizeof(gv_real);

	if (own_samples(net, f) != 0)
		return -1;
	f->x = f->own_x;
	set_target(net, f, f->own_target);
	if (be->gather(be, f->stream, f->own_x, net->data_x, visit, n, bytes) != 0)
		return -1;
	return be->gather(be, f->stream, f->own_target, net->data_target, visit, n,
	    gv_nn_target_bytes(&net->plan));
}

/* Whether a row of the net reads the sample. */
static bool
reads_sample(const struct gv_nn_plan *p)
{
	size_t i, k;

	for (i = p->first_row; i < p->last_row; i++)
		for (k = 0; k < p->row[i].l.inputs; k++)
			if (p->row[i].l.from[k] == GV_FROM_INPUT)
				return true;
	return false;
}

int
gv_net_load_of(struct gv_net *net, size_t slot, const uint32_t *visit)
{
	if (!reads_sample(&net->plan) && net->plan.last_row < net->plan.rows)
		return 0;
	return gather(net, &net->flight[slot], visit);
}

/* ---- work items ---- */

/* The error that a slot's activations have made way for others'. */
static int
gone(struct gv_net *net, size_t slot)
{
	gv_error_clear(&net->error);
	return gv_error_set(&net->error,
	    "activations of slot %zu are gone: another slot was worked on", slot);
}

/* What a slot shares with the others is its own from here on; 0, or -1: it is too late. */
static int
claim(struct gv_net *net, const struct gv_net_work *w)
{
	if (!net->plan.recompute || net->there == w->slot)
		return 0;
	if (w->first > net->plan.first_row)
		return gone(net, w->slot);
	net->there = w->slot;
	return 0;
}

int
gv_net_forward(struct gv_net *net, const struct gv_net_work *w)
{
	struct gv_nn_call c = call_of(net, w->slot, w->version, !w->evaluate);

	if (claim(net, w) != 0)
		return -1;
	if (!w->evaluate)
		return gv_nn_stage_forward(net->be, &c, &net->ranks, w->first, w->last);
	if (net->be->pack(net->be, &c, w->first, w->last, GV_NN_FORWARD) != 0)
		return -1;
	return gv_nn_stage_evaluate(net->be, &c, w->first, w->last);
}

int
gv_net_prepare(struct gv_net *net, const struct gv_net_work *w)
{
	struct gv_nn_call c = call_of(net, w->slot, w->version, true);

	return net->be->pack(
	    net->be, &c, w->first, w->last, GV_NN_FORWARD | GV_NN_BACKWARD);
}

int
gv_net_backward(struct gv_net *net, const struct gv_net_work *w)
{
	struct gv_nn_call c = call_of(net, w->slot, w->version, true);
	struct gv_net_work again = *w;

	if (net->plan.recompute && net->there != w->slot) {
		again.first = net->plan.first_row;
		if (gv_net_forward(net, &again) != 0)
			return -1;
	}
	return gv_nn_stage_backward(net->be, &c, &net->ranks, w->first, w->last);
}

/* The micro-batch's statistics into the running ones that the update brings. */
static int
take_statistics(
    struct gv_net *net, const struct gv_net_work *w, struct gv_nn_call *c, bool first)
{
	gv_real *next = gv_net_running_next(net);
	size_t k;

	if (!first)
		c->running = next;
	for (k = w->first; k < w->last; k++)
		if (net->plan.row[k].l.op == GV_OP_BN &&
		    net->be->bn_update_running(net->be, c, k, next) != 0)
			return -1;
	return 0;
}

/* What comes behind the gradients of the weights. */
static int
losses_and_statistics(
    struct gv_net *net, const struct gv_net_work *w, struct gv_nn_call *c, bool first)
{
	int status = 0;

	if (w->last == net->plan.rows)
		status = net->be->losses(net->be, c, &net->grads, !first || w->beside);
	return status == 0 ? take_statistics(net, w, c, first) : status;
}

int
gv_net_gradients(struct gv_net *net, const struct gv_net_work *w, bool first)
{
	struct gv_nn_call c = call_of(net, w->slot, w->version, true);

	if (net->plan.recompute && net->there != w->slot)
		return gone(net, w->slot);
	if (gv_nn_stage_gradient(net->be, &c, w->first, w->last, &net->grads, !first) !=
	    0)
		return -1;
	return losses_and_statistics(net, w, &c, first);
}

int
gv_net_sum_ranks(struct gv_net *net)
{
	const struct gv_nn_plan *p = &net->plan;

	if (net->adding) {
		net->adding = false;
		return net->be->added(net->be);
	}
	return gv_nn_reduce(net->be, p, &net->ranks, net->grads.v, p->B * p->P + p->B);
}

int
gv_net_sum(struct gv_net *net, double *loss)
{
	const struct gv_nn_plan *p = &net->plan;
	size_t n = p->B * p->P, b;
	int status;

	if (gv_net_sum_ranks(net) != 0)
		return -1;
	status =
	    net->be->get(net->be, net->mean, net->grads.v + n, p->B * sizeof(*net->mean));
	for (b = 0; b < p->B; b++)
		loss[b] = net->active[b] && p->last_row == p->rows ? (double)net->mean[b]
								   : (double)NAN;
	return status;
}

/* What the models that do not train keep. */
static int
keep_inactive(struct gv_net *net, size_t from, size_t to)
{
	const struct gv_nn_plan *p = &net->plan;
	size_t b;
	int status = 0;

	for (b = 0; b < p->B && from != to && status == 0; b++)
		if (!net->active[b])
			status = net->be->copy(net->be,
			    net->weights[to].params + b * p->P,
			    net->weights[from].params + b * p->P, p->P * sizeof(gv_real));
	return status;
}

static int
keep_statistics(struct gv_net *net)
{
	const struct gv_nn_plan *p = &net->plan;
	size_t b;
	int status = 0;

	for (b = 0; b < p->B && p->Q > 0 && status == 0; b++)
		if (net->active[b])
			status = net->be->copy(net->be, net->running + b * p->Q,
			    gv_net_running_next(net) + b * p->Q, p->Q * sizeof(gv_real));
	return status;
}

static void
make_newest(struct gv_net *net, size_t version)
{
	size_t i = 0;

	while (net->order[i] != version)
		i++;
	memmove(net->order + 1, net->order, i * sizeof(*net->order));
	net->order[0] = version;
}

/* Counts a step from one version of the weights to another, which the backend is to take. */
static struct gv_nn_update
begin_update(struct gv_net *net, size_t from, size_t to)
{
	struct gv_nn_update u = {.optimiser = net->optimiser,
	    .momentum = net->momentum,
	    .coef = net->coef,
	    .steps = net->steps,
	    .active = net->active,
	    .from = net->weights[from].params,
	    .to = net->weights[to].params,
	    .into = &net->weights[to],
	    .grads = net->grads.v,
	    .state = net->state,
	    .last = net->plan.P};
	size_t b;

	for (b = 0; b < net->plan.B; b++)
		net->steps[b] += net->active[b];
	gv_nn_weights_changed(&net->weights[to], &net->plan);
	make_newest(net, to);
	return u;
}

int
gv_net_advance(struct gv_net *net, size_t from, size_t to)
{
	struct gv_nn_update u = begin_update(net, from, to);
	int status;

	status = net->be->update(net->be, &u);
	if (status == 0)
		status = keep_inactive(net, from, to);
	return status == 0 ? keep_statistics(net) : status;
}

bool
gv_net_learns(const struct gv_net *net)
{
	const struct gv_nn_plan *p = &net->plan;
	size_t i;

	if (!net->learns || net->ranks.joined || p->R > 1 || gv_net_clips(net) ||
	    p->first_row > 0 || p->last_row < p->rows)
		return false;
	for (i = 0; i < p->rows; i++)
		if (p->row[i].l.is_tied)
			return false;
	return true;
}

int
gv_net_learn(struct gv_net *net, bool first)
{
	struct gv_net_work w = {.last = net->plan.rows, .version = net->order[0]};
	struct gv_nn_call c = call_of(net, w.slot, w.version, true);
	struct gv_nn_update u = begin_update(net, w.version, w.version);

	if (net->be->learn(net->be, &c, &net->grads, !first, &u) != 0 ||
	    losses_and_statistics(net, &w, &c, first) != 0)
		return -1;
	return keep_statistics(net);
}

/* ---- evaluation ---- */

/* Samples [at, at + some) of n, which were evaluated. */
struct part {
	size_t at, some, n;
	gv_real *room; /* [plan.n] */
};

static int
count_part(struct gv_net *net, const struct gv_nn_call *c, const struct part *s, size_t b,
    size_t *correct, double *loss)
{
	const struct gv_nn_plan *p = &net->plan;
	size_t bytes = s->some * sizeof(gv_real), i;

	if (correct != NULL) {
		if (net->be->get(net->be, s->room, c->f->hit + b * p->n, bytes) != 0)
			return -1;
		for (i = 0; i < s->some; i++)
			correct[b] += (size_t)s->room[i];
	}
	if (loss != NULL) {
		if (net->be->get(net->be, s->room, c->f->loss + b * p->n, bytes) != 0)
			return -1;
		for (i = 0; i < s->some; i++)
			loss[b] += (double)s->room[i];
	}
	return 0;
}

static int
evaluate_part(struct gv_net *net, const struct gv_nn_call *c, const struct part *s,
    size_t *correct, double *loss, gv_real *outputs)
{
	const struct gv_nn_plan *p = &net->plan;
	const struct gv_nn_row *head = &p->row[p->rows - 1];
	size_t b;

	if (gv_nn_stage_evaluate(net->be, c, 0, p->rows) != 0)
		return -1;
	for (b = 0; b < p->B; b++) {
		if ((c->f->label != NULL || c->f->number != NULL) &&
		    count_part(net, c, s, b, correct, loss) != 0)
			return -1;
		if (outputs != NULL &&
		    gv_nn_get_stored(net->be, outputs + (b * s->n + s->at) * p->outputs,
			gv_nn_x(c, head, 0, b, 0), s->some * p->outputs,
			gv_nn_input(c, head, 0) == NULL ? sizeof(*outputs) : p->stored) !=
			0)
			return -1;
	}
	return 0;
}

int
gv_net_eval(struct gv_net *net, const gv_real *x, const void *target, size_t n,
    size_t *correct, double *loss, gv_real *outputs)
{
	const struct gv_nn_plan *p = &net->plan;
	struct gv_nn_call c = call_of(net, 0, net->order[0], false);
	struct part s = {.n = n};
	size_t bytes = gv_nn_target_bytes(p), b;
	int status;

	if (p->last_row - p->first_row < p->rows) {
		gv_error_clear(&net->error);
		return gv_error_set(&net->error,
		    "rows %zu to %zu of %zu cannot be evaluated alone", p->first_row,
		    p->last_row, p->rows);
	}
	net->there = SIZE_MAX;
	s.room = gv_xcalloc(p->n, sizeof(*s.room));
	for (b = 0; b < p->B; b++) {
		if (correct != NULL)
			correct[b] = 0;
		if (loss != NULL)
			loss[b] = 0;
	}
	status = net->be->pack(net->be, &c, 0, p->rows, GV_NN_FORWARD);
	for (; s.at < n && status == 0; s.at += s.some) {
		s.some = n - s.at < p->n ? n - s.at : p->n;
		c.n = s.some;
		status = load(net, c.f, x + s.at * p->in_size,
		    target == NULL ? NULL : (const char *)target + s.at * bytes, s.some);
		if (status == 0)
			status = evaluate_part(net, &c, &s, correct, loss, outputs);
	}
	for (b = 0; b < p->B && loss != NULL; b++)
		loss[b] /= (double)n;
	free(s.room);
	return status;
}
