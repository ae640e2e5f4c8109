/* Steps: the plainest schedule of work items.  Their losses may be read later. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "nn/net_private.h"

/*
 * Gradients of micro-batch m of an update, which is in slot 0; learn: and the update, with
 * the last one.
 */
static int
micro_batch(struct gv_net *net, size_t m, bool learn)
{
	const struct gv_nn_plan *p = &net->plan;
	struct gv_net_work all = {
	    .first = p->first_row, .last = p->last_row, .version = net->order[0]};
	size_t b;

	for (b = 0; b < p->B; b++)
		gv_net_set_key(net, 0, b, net->steps[b] * p->micro_batches + m);
	if (net->ranks.joined && m + 1 == p->micro_batches) {
		net->adding = true;
		return gv_net_forward(net, &all) != 0 ||
			       gv_net_back_and_sum(net, all, m == 0) != 0
			   ? -1
			   : 0;
	}
	if (gv_net_forward(net, &all) != 0 || gv_net_backward(net, &all) != 0)
		return -1;
	return learn && m + 1 == p->micro_batches ? gv_net_learn(net, m == 0)
						  : gv_net_gradients(net, &all, m == 0);
}

/* The update's micro-batches, one behind another in x and target. */
static int
all_micro_batches(struct gv_net *net, const gv_real *x, const void *target, bool learn)
{
	const struct gv_nn_plan *p = &net->plan;
	size_t bytes = p->n * gv_nn_target_bytes(p), m;

	for (m = 0; m < p->micro_batches; m++)
		if (gv_net_load(net, 0, x + m * p->n * p->in_size,
			(const char *)target + m * bytes) != 0 ||
		    micro_batch(net, m, learn) != 0)
			return -1;
	return 0;
}

int
gv_net_gradient(struct gv_net *net, const gv_real *x, const void *target, double *loss)
{
	if (all_micro_batches(net, x, target, false) != 0)
		return -1;
	return gv_net_sum(net, loss) != 0 ? -1 : gv_net_tie(net);
}

/* Both halves of the clipping, where all rows are here. */
static int
clip(struct gv_net *net)
{
	double *sq;
	int status;

	if (!gv_net_clips(net))
		return 0;
	sq = gv_xcalloc(net->plan.B * net->plan.rows, sizeof(*sq));
	status = gv_net_squares(net, sq);
	if (status == 0)
		status = gv_net_clip(net, sq);
	free(sq);
	return status;
}

int
gv_net_update(struct gv_net *net)
{
	if (clip(net) != 0)
		return -1;
	return gv_net_advance(net, net->order[0], net->order[0]);
}

int
gv_net_step(struct gv_net *net, const gv_real *x, const void *target, double *loss)
{
	if (gv_net_learns(net))
		return all_micro_batches(net, x, target, true) != 0
			   ? -1
			   : gv_net_sum(net, loss);
	if (gv_net_gradient(net, x, target, loss) != 0)
		return -1;
	return gv_net_update(net);
}

/* ---- losses that are read later ---- */

/* Where the losses of the k-th step that was not taken yet are on their way to. */
static size_t
late_place(const struct gv_net *net, size_t k)
{
	return (net->late_first + k) % GV_NET_LATE;
}

size_t
gv_net_late(const struct gv_net *net)
{
	return net->late_n;
}

int
gv_net_step_losses(struct gv_net *net, double *loss)
{
	size_t B = net->plan.B, place = late_place(net, 0), b;

	net->late_first = late_place(net, 1);
	net->late_n--;
	if (net->be->await(net->be, (int)place) != 0)
		return -1;
	for (b = 0; b < B; b++)
		loss[b] = net->late_of[place * B + b] ? (double)net->late[place * B + b]
						      : (double)NAN;
	return 0;
}

/*
 * A step of the models that are active now, of first to end; loaded: the batch is in
 * slot 0 already.  Their losses are on their way then.
 */
static int
step_active(
    struct gv_net *net, const uint32_t *visit, bool loaded, size_t first, size_t end)
{
	const struct gv_nn_plan *p = &net->plan;
	size_t at = late_place(net, net->late_n) * p->B + first, m, b;
	bool learn = gv_net_learns(net);

	for (m = 0; m < p->micro_batches; m++)
		if ((!loaded && gv_net_load_of(net, 0, visit + m * p->n) != 0) ||
		    micro_batch(net, m, learn) != 0)
			return -1;
	if (!learn && (gv_net_sum_ranks(net) != 0 || gv_net_tie(net) != 0 ||
			  gv_net_update(net) != 0))
		return -1;
	for (b = first; b < end; b++)
		net->late_of[at + b - first] = net->active[b];
	return net->be->fetch(net->be, net->late + at, net->grads.v + p->B * p->P + first,
	    (end - first) * sizeof(gv_real));
}

/* Steps of together models at a time, which so stay in the caches. */
static int
step_in_groups(struct gv_net *net, const uint32_t *visit)
{
	const struct gv_nn_plan *p = &net->plan;
	size_t b = 0, end, on;
	bool loaded = false;
	int status = 0;

	memcpy(net->chosen, net->active, p->B * sizeof(*net->chosen));
	for (; b < p->B && status == 0; b = end) {
		memset(net->active, 0, p->B * sizeof(*net->active));
		for (end = b, on = 0; end < p->B && on < net->together; end++)
			on += net->active[end] = net->chosen[end];
		if (on == 0)
			continue;
		status = step_active(net, visit, loaded, b, end);
		loaded = p->micro_batches == 1;
	}
	memcpy(net->active, net->chosen, p->B * sizeof(*net->active));
	return status;
}

int
gv_net_step_begin(struct gv_net *net, const uint32_t *visit)
{
	const struct gv_nn_plan *p = &net->plan;
	size_t place = late_place(net, net->late_n);
	int status;

	memset(net->late_of + place * p->B, 0, p->B * sizeof(*net->late_of));
	/* sums over ranks are of all models at once, and what fails fails for all */
	if (net->together < p->B && p->R == 1)
		status = step_in_groups(net, visit);
	else
		status = step_active(net, visit, false, 0, p->B);
	if (status != 0 || net->be->record(net->be, 0, (int)place) != 0)
		return -1;
	net->late_n++;
	return 0;
}

int
gv_net_losses_begin(struct gv_net *net)
{
	const struct gv_nn_plan *p = &net->plan;
	size_t place = late_place(net, net->late_n), at = place * p->B, b;

	for (b = 0; b < p->B; b++)
		net->late_of[at + b] = net->active[b] && p->last_row == p->rows;
	if (net->be->fetch(net->be, net->late + at, net->grads.v + p->B * p->P,
		p->B * sizeof(gv_real)) != 0 ||
	    net->be->record(net->be, 0, (int)place) != 0)
		return -1;
	net->late_n++;
	return 0;
}

int
gv_net_step_of(struct gv_net *net, const uint32_t *visit, double *loss)
{
	if (gv_net_step_begin(net, visit) != 0)
		return -1;
	return gv_net_step_losses(net, loss);
}
