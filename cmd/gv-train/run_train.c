/* The steps of a run: batches, losses, signals, checkpoints, progress. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "launch/progress.h"
#include "run.h"

/* ---- a step ---- */

/*
 * The step that comes next: the first that a model has still to do.  Models of a joined
 * array may have gone further than others; they wait.
 */
static void
find_step(struct run *r)
{
	uint64_t next = UINT64_MAX;
	size_t b;

	for (b = 0; b < r->array.n; b++) {
		uint64_t done = gv_net_steps(r->net, b);

		if (!r->diverged[b] && done < r->array.steps[b] && done < next)
			next = done;
	}
	if (next == UINT64_MAX)
		return;
	/* what is on disk is of another step than this one will be */
	if (next < r->step)
		r->saved_step = r->told_step = UINT64_MAX;
	r->step = next;
}

/* Which models take part in the next step, and at what rate; how many. */
static size_t
choose(struct run *r)
{
	size_t b, active = 0;

	find_step(r);
	for (b = 0; b < r->array.n; b++) {
		uint64_t done = gv_net_steps(r->net, b);
		bool on = !r->diverged[b] && done < r->array.steps[b] && done == r->step;

		struct gv_net_coef coef = gv_net_coef(r->net, b);

		coef.lr = array_rate(&r->array, b, r->step);
		gv_net_set_active(r->net, b, on);
		gv_net_set_coef(r->net, b, &coef);
		active += on;
	}
	return active;
}

/* This rank's samples of the step's batch, in one of the orders. */
static void
visit(struct run *r, struct gv_data_order *order)
{
	uint64_t parts = r->o->micro_batches, size = r->o->batch / parts, m;

	for (m = 0; m < parts; m++)
		gv_data_order_take(order, r->step * r->o->batch + m * size + r->first,
		    r->rows, r->visit + m * r->rows);
}

/*
 * The step of the models that visit samples in one order, which go together; the others
 * stand still.  on [B]: who trains at all.
 */
static int
step_in_order(struct run *r, size_t k, const bool *on, double *loss)
{
	size_t b, active = 0;

	for (b = 0; b < r->array.n; b++) {
		bool goes = on[b] && r->order_of[b] == k;

		gv_net_set_active(r->net, b, goes);
		active += goes;
	}
	if (active == 0)
		return 0;
	visit(r, &r->order[k]);
	if (gv_net_step_of(r->net, r->visit, loss) != 0)
		return -1;
	for (b = 0; b < r->array.n; b++)
		if (gv_net_active(r->net, b))
			r->loss[b] = loss[b];
	return 0;
}

static int
step_in_orders(struct run *r)
{
	size_t n = r->array.n, b, k;
	double *loss = gv_xcalloc(n, sizeof(*loss));
	bool *on = gv_xcalloc(n, sizeof(*on));
	int status = 0;

	for (b = 0; b < n; b++) {
		on[b] = gv_net_active(r->net, b);
		r->loss[b] = (double)NAN;
	}
	for (k = 0; k < r->orders && status == 0; k++)
		status = step_in_order(r, k, on, loss);
	for (b = 0; b < n; b++)
		gv_net_set_active(r->net, b, on[b]);
	free(loss);
	free(on);
	return status;
}

/* A step, whose losses come now or later. */
static int
step(struct run *r)
{
	if (r->orders > 1)
		return step_in_orders(r);
	visit(r, &r->order[0]);
	return gv_net_step_begin(r->net, r->visit);
}

static int
take_step(struct run *r, struct gv_error *e)
{
	r->agreed = 0;
	if (step(r) != 0 || (r->joined && run_ranks_say(r) != 0))
		return run_step_failed(r, r->step, e);
	r->step++;
	run_losses_add(r);
	if (r->place.world == 1)
		r->agreed = run_flags();
	return 0;
}

/* ---- telling and saving ---- */

static int
save(struct run *r, struct gv_error *e)
{
	struct gv_ckpt_key key = {r->config.s, r->array.n, (const char *const *)r->line};

	if (r->place.rank != 0)
		return 0;
	if (record_flush(&r->record, true, e) != 0)
		return -1;
	if (r->told_step == r->step)
		return 0;
	run_tell(r, "step", r->step);
	if (r->ckpt_path == NULL)
		return 0;
	if (r->saved_step != r->step &&
	    gv_ckpt_write(r->ckpt_path, r->net, &key, r->diverged, e) != 0)
		return -1;
	run_slices_forget(r);
	run_tell(r, "checkpoint", r->step);
	r->saved_s = gv_clock_s();
	r->saved_step = r->told_step = r->step;
	return 0;
}

static bool
told_to_stop(const struct run *r)
{
	return (r->agreed & (FLAG_STOP | FLAG_INTERRUPT)) != 0;
}

static bool
save_due(const struct run *r, double now)
{
	if (r->agreed & FLAG_SAVE)
		return true;
	if (r->o->checkpoint_steps > 0 && r->step % (uint64_t)r->o->checkpoint_steps == 0)
		return true;
	/* all ranks read losses at the same steps: rank 0's clock is heard by all */
	return !r->joined && now - r->saved_s >= r->o->checkpoint_s;
}

static int
stopped_status(const struct run *r)
{
	return 128 + (r->agreed & FLAG_STOP ? SIGTERM : SIGINT);
}

/*
 * A partner is gone.  What was done before this step is whole, so it is saved;
 * and if this worker was told to stop, so was the partner.
 */
static int
broken(struct run *r, struct gv_error *e)
{
	struct gv_error at_saving = {0};
	/* GPUs that sum by themselves may have gone on with what was half a sum */
	bool saved = !r->joined && save(r, &at_saving) == 0;

	r->agreed = run_flags();
	if (saved && told_to_stop(r)) {
		gv_error_clear(e);
		return stopped_status(r);
	}
	gv_warn_error(&r->gang_error);
	if (!saved && !r->joined)
		gv_warn_error(&at_saving);
	return -1;
}

/* Nobody leaves before rank 0 has saved: if it fails, all fail. */
static int
save_and_part(struct run *r, struct gv_error *e)
{
	unsigned flags = 0;

	if (r->joined && run_ranks_hush(r) != 0)
		return broken(r, e);
	if (save(r, e) != 0 || run_weights_write(r, e) != 0)
		return -1;
	return r->place.world == 1 ? 0 : gv_gang_sum(r->gang, NULL, 0, &flags, e);
}

static int
after_step(struct run *r, struct gv_error *e)
{
	double now = gv_clock_s();
	bool due = save_due(r, now);
	bool saves = r->place.rank == 0 && r->ckpt_path != NULL && due;

	if (run_losses_take(r, (r->joined ? due : saves) || told_to_stop(r), e) != 0)
		return -1;
	if (r->joined && r->place.rank == 0 && r->ckpt_path != NULL &&
	    now - r->saved_s >= r->o->checkpoint_s)
		r->wish |= FLAG_SAVE;
	if (r->place.rank == 0 && run_tell_now_and_then(r, now, e) != 0)
		return -1;
	if (r->agreed & FLAG_SAVE) {
		run_forget_save();
		r->wish &= ~(unsigned)FLAG_SAVE;
	}
	return saves ? save(r, e) : 0;
}

/* ---- the whole ---- */

static int
verdict(const struct run *r)
{
	size_t b;

	for (b = 0; b < r->array.n; b++)
		if (!r->diverged[b])
			return GV_EXIT_OK;
	return GV_EXIT_NO;
}

static int
stop(struct run *r, struct gv_error *e)
{
	if (save_and_part(r, e) != 0)
		return -1;
	if (r->ckpt_path == NULL && r->place.rank == 0)
		gv_warn("stopped after step %llu of %llu; nothing is saved without "
			"--checkpoint",
		    (unsigned long long)r->step, (unsigned long long)r->last);
	return stopped_status(r);
}

int
run_train(struct run *r, struct gv_error *e)
{
	r->progress = (struct progress){gv_clock_s(), r->step, 0};
	if (verdict(r) != GV_EXIT_OK && r->place.rank == 0)
		gv_warn("nothing is left to train: every model had diverged by step %llu",
		    (unsigned long long)r->step);
	while (choose(r) > 0) {
		if (take_step(r, e) != 0)
			return broken(r, e);
		if (after_step(r, e) != 0)
			return r->gang_error.count > 0 ? broken(r, e) : -1;
		if (told_to_stop(r) && choose(r) > 0)
			return stop(r, e);
	}
	if (run_losses_take(r, true, e) != 0)
		return r->gang_error.count > 0 ? broken(r, e) : -1;
	if (save_and_part(r, e) != 0)
		return -1;
	return verdict(r);
}
