/* Losses of steps, which may come later than the steps; their rows, and tests. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "run.h"

/* A step that was begun and whose losses were not looked at. */
struct run_late {
	uint64_t step;
	bool *on; /* [B] the models that take part */
	/* [B] those that were there at once; NULL: the net has them still */
	double *loss;
};

struct run_losses {
	struct run_late late[GV_NET_LATE];
	size_t n;
};

/* Steps that may be ahead of their losses. */
static size_t
most_late(const struct run *r)
{
	/* ranks must find out at the same step that a model has diverged; sums that go
	   through the hosts have waited already */
	return gv_net_is_beside(r->net) && (r->place.world == 1 || r->joined)
		   ? GV_NET_LATE - 1
		   : 0;
}

void
run_losses_add(struct run *r)
{
	size_t n = r->array.n, b;
	struct run_late *l;

	if (r->losses == NULL)
		r->losses = gv_xcalloc(1, sizeof(*r->losses));
	l = &r->losses->late[r->losses->n++];
	*l = (struct run_late){.step = r->step, .on = gv_xcalloc(n, sizeof(*l->on))};
	for (b = 0; b < n; b++)
		l->on[b] = gv_net_active(r->net, b);
	if (gv_net_late(r->net) > 0)
		return;
	l->loss = gv_xcalloc(n, sizeof(*l->loss));
	memcpy(l->loss, r->loss, n * sizeof(*l->loss));
}

void
run_losses_say(const struct run *r)
{
	if (!gv_net_is_beside(r->net) || r->place.rank != 0)
		return;
	if (gv_net_clips(r->net))
		gv_warn("the GPU is waited for in every step: gradients are clipped on "
			"the CPU");
	else if (r->orders > 1)
		gv_warn("the GPU is waited for in every step: models visit samples in "
			"orders of their own");
	else if (most_late(r) == 0)
		gv_warn("the GPU is waited for in every step: sums go through the hosts");
}

static void
free_late(struct run_late *l)
{
	free(l->on);
	free(l->loss);
}

void
run_losses_free(struct run *r)
{
	size_t i;

	for (i = 0; r->losses != NULL && i < r->losses->n; i++)
		free_late(&r->losses->late[i]);
	free(r->losses);
	r->losses = NULL;
}

/* ---- rows ---- */

static bool
model_ends(const struct run *r, const struct run_late *l, size_t b)
{
	return l->step == r->array.steps[b];
}

static bool
test_due(const struct run *r, const struct run_late *l, size_t b)
{
	if (r->test.n == 0 || r->diverged[b] || !l->on[b])
		return false;
	return model_ends(r, l, b) ||
	       (r->o->test_every > 0 && l->step % (uint64_t)r->o->test_every == 0);
}

static bool
any_test_due(const struct run *r, const struct run_late *l)
{
	size_t b;

	for (b = 0; b < r->array.n; b++)
		if (test_due(r, l, b))
			return true;
	return false;
}

/* Tests once for all models that are due.  0, or -1: gv_net_error. */
static int
test(struct run *r, const struct run_late *l, double *loss, double *accuracy)
{
	size_t *correct = gv_xcalloc(r->array.n, sizeof(*correct));
	size_t b;
	int status = 0;

	for (b = 0; b < r->array.n; b++)
		loss[b] = accuracy[b] = NAN;
	if (any_test_due(r, l)) {
		status = gv_net_eval(r->net, r->test.x, gv_data_targets(&r->test),
		    r->test.n, correct, loss, NULL);
		for (b = 0; b < r->array.n && gv_model_counts_hits(&r->model); b++)
			accuracy[b] =
			    (double)correct[b] / (double)(r->test.n * r->test.targets);
	}
	free(correct);
	return status;
}

/*
 * A loss that is no number ends its model; every rank sees the same losses.  What the
 * model did in steps that were begun since does not count.
 */
static void
find_diverged(struct run *r, const struct run_late *l)
{
	size_t b, i;

	for (b = 0; b < r->array.n; b++) {
		if (!l->on[b] || isfinite(r->loss[b]))
			continue;
		r->diverged[b] = true;
		gv_net_set_steps(r->net, b, l->step);
		for (i = 1; i < r->losses->n; i++)
			r->losses->late[i].on[b] = false;
		if (r->place.rank == 0)
			gv_warn("model %zu diverged: its loss at step %llu is no number",
			    b, (unsigned long long)l->step);
	}
}

static int
log_step(struct run *r, const struct run_late *l, struct gv_error *e)
{
	size_t n = r->array.n, b;
	double *loss, *accuracy;
	int status;

	if (r->place.rank != 0)
		return 0;
	loss = gv_xcalloc(2 * n, sizeof(*loss));
	accuracy = loss + n;
	status = test(r, l, loss, accuracy);
	if (status != 0)
		gv_error_set(e, "testing after step %llu: %s",
		    (unsigned long long)l->step, gv_net_error(r->net));
	for (b = 0; b < n && status == 0; b++) {
		struct row row = {l->step, b, r->loss[b], NAN, NAN};

		if (!l->on[b])
			continue;
		if (test_due(r, l, b)) {
			row.test_loss = loss[b];
			row.accuracy = accuracy[b];
		} else if (l->step % (uint64_t)r->o->log_every != 0 &&
			   !model_ends(r, l, b) && !r->diverged[b]) {
			continue;
		}
		record_add(&r->record, &row);
	}
	free(loss);
	return status;
}

/* ---- in their order ---- */

int
run_step_failed(const struct run *r, uint64_t step, struct gv_error *e)
{
	const char *why = gv_net_error(r->net);

	return gv_error_set(e, "stopped after step %llu of %llu%s%s",
	    (unsigned long long)step, (unsigned long long)r->last,
	    why != NULL ? ": " : "", why != NULL ? why : "");
}

/* Whether no model took part in the steps behind the first. */
static bool
rest_is_void(const struct run *r)
{
	size_t i, b;

	for (i = 1; i < r->losses->n; i++)
		for (b = 0; b < r->array.n; b++)
			if (r->losses->late[i].on[b])
				return false;
	return true;
}

/* The oldest step that was not looked at. */
static int
take_one(struct run *r, struct gv_error *e)
{
	struct run_losses *all = r->losses;
	struct run_late l = all->late[0];
	int status = 0;

	if (l.loss != NULL)
		memcpy(r->loss, l.loss, r->array.n * sizeof(*r->loss));
	else if (gv_net_step_losses(r->net, r->loss) != 0)
		status = run_step_failed(r, l.step - 1, e);
	if (status == 0) {
		find_diverged(r, &l);
		if (rest_is_void(r))
			r->step = l.step;
		status = log_step(r, &l, e);
	}
	free_late(&l);
	memmove(all->late, all->late + 1, --all->n * sizeof(*all->late));
	return status;
}

int
run_losses_take(struct run *r, bool all, struct gv_error *e)
{
	size_t n = r->losses == NULL ? 0 : r->losses->n;
	size_t most =
	    n == 0 || all || any_test_due(r, &r->losses->late[n - 1]) ? 0 : most_late(r);

	while (n > 0 && r->losses->n > most)
		if (take_one(r, e) != 0)
			return -1;
	return 0;
}
