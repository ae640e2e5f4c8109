/* The beginning and the end of a run. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "plan/plan.h"
#include "run.h"

/* ---- outputs ---- */

static uint64_t
steps_of(const struct run *r, size_t b)
{
	uint64_t all = r->array.steps[b];

	if (r->net != NULL)
		return gv_net_steps(r->net, b);
	return r->step < all ? r->step : all;
}

/* What each model has done, and the last step up to there that wrote a row. */
static struct record_past *
past_of(const struct run *r)
{
	struct record_past *past = gv_xcalloc(r->array.n, sizeof(*past));
	uint64_t log = (uint64_t)r->o->log_every;
	size_t b;

	for (b = 0; b < r->array.n; b++) {
		uint64_t done = steps_of(r, b);

		past[b].steps = done;
		past[b].last_row = done == r->array.steps[b] ? done : done / log * log;
	}
	return past;
}

static int
open_outputs(struct run *r, struct gv_error *e)
{
	struct record_past *past;
	bool short_of;
	int status;

	if (r->place.rank != 0)
		return 0;
	if (r->o->record != NULL)
		r->record_path = gv_xstrdup(r->o->record);
	else if (r->ckpt_path != NULL)
		r->record_path = run_path(r->o->checkpoint, "losses.csv");
	if (gv_out_open(&r->out, r->o->common.output, e) != 0)
		return -1;
	past = past_of(r);
	status = record_open(&r->record, r->out, r->o->common.tsv, r->record_path,
	    r->o->record == NULL, past, r->array.n, &short_of, e);
	free(past);
	if (status == 0 && short_of && !r->o->common.quiet)
		gv_warn("warning: %s: rows before step %llu are missing", r->record_path,
		    (unsigned long long)r->step);
	return status;
}

/* ---- the net ---- */

static int
reduce(void *ctx, gv_real *v, size_t n)
{
	struct run *r = ctx;
	unsigned flags = run_flags();

	if (r->coll != NULL) {
		if (run_trees_sum(r, v, n) != 0)
			return -1;
		n = 0; /* the flags are left */
	}
	if (gv_gang_sum(r->gang, v, n, &flags, &r->gang_error) != 0)
		return -1;
	r->agreed |= flags;
	return 0;
}

static int
build(struct run *r, struct gv_error *e)
{
	const struct options *o = r->o;
	struct gv_net_config c = {0};

	c.models = r->array.n;
	c.batch = o->batch / o->micro_batches;
	c.micro_batches = o->micro_batches;
	c.shards = o->shards;
	c.rank = (size_t)r->place.rank;
	c.ranks = (size_t)r->place.world;
	if (run_memory_check(r, r->model.parameters, e) != 0)
		return -1;
	c.backend = run_device(r, e);
	if (c.backend == NULL)
		return -1;
	c.optimiser = o->optimiser;
	c.seed = r->array.seed;
	c.coef = r->array.coef;
	c.reduce = r->place.world > 1 ? reduce : NULL;
	c.ctx = r;
	if (gv_net_new(&r->net, &r->model, &c, e) != 0)
		return -1;
	if (gv_net_data(r->net, r->data.x, gv_data_targets(&r->data), r->data.n) != 0)
		return gv_error_set(e, "%s", gv_net_error(r->net));
	gv_net_rows(r->net, &r->first, &r->rows);
	r->diverged = gv_xcalloc(r->array.n, sizeof(*r->diverged));
	r->loss = gv_xcalloc(r->array.n, sizeof(*r->loss));
	r->visit = gv_xcalloc(r->rows * o->micro_batches, sizeof(*r->visit));
	run_orders_make(r);
	return 0;
}

static void
say_what(const struct run *r)
{
	struct gv_net_bytes bytes;

	gv_net_bytes(r->net, &bytes);
	gv_warn("%zu models of %zu parameters, %" PRIu64
		" flops forward a sample; %zu samples; "
		"%zu bytes; step %" PRIu64 " of %" PRIu64,
	    r->array.n, r->model.parameters, r->model.flops, r->data.n, bytes.total,
	    r->step, r->last);
}

/* A model with the columns of a plan: what of it is not followed here. */
static void
warn_plan(const struct run *r)
{
	const struct gv_frame *f = &r->model.table;
	struct gv_plan_columns c = gv_plan_columns(f);
	int64_t last = -1, stages = 0, gpus = 0;
	struct gv_error ignored = {0};
	struct gv_plan_row row;
	size_t i;

	for (i = 0; c.stage >= 0 && i < f->n_rows; i++) {
		if (gv_plan_row(&row, f, &c, i, f->n_rows, &ignored) != 0 ||
		    row.stage <= last)
			continue;
		last = row.stage;
		stages++;
		gpus += row.replicas;
	}
	if (stages > 1 || gpus > r->place.world)
		gv_warn("warning: %s: a plan of stages=%lld on gpus=%lld: the whole "
			"model is trained here on workers=%d",
		    f->file, (long long)stages, (long long)gpus, r->place.world);
}

/* Somebody came to where the gang meets and does not belong to it. */
static void
say_stranger(void *ctx, const char *line)
{
	(void)ctx;
	gv_warn("warning: %s", line);
}

static void
say_link(void *ctx, const char *line)
{
	(void)ctx;
	gv_warn("%s", line);
}

int
run_open(struct run *r, struct gv_error *e)
{
	int status;

	r->lock = -1;
	r->record.fd = -1;
	r->saved_step = r->told_step = UINT64_MAX;
	r->last = array_last(&r->array);
	r->place.join_s = r->place.silence_s = r->o->timeout_s;
	r->place.log = r->o->common.quiet ? NULL : say_stranger;
	r->place.tell = r->o->common.verbose > 0 ? say_link : NULL;
	if (gv_gang_env(&r->place, e) != 0 || run_trees_read(r, e) != 0)
		return -1;
	gv_data_fit_scale(&r->data, &r->test, &r->model, &r->o->data);
	if ((r->o->pipeline != NULL ? run_pipeline_build : build)(r, e) != 0 ||
	    run_weights_take(r, e) != 0)
		return -1;
	run_describe(r);
	status = run_checkpoint_open(r, e);
	if (status != 0)
		return status;
	r->place.fingerprint = run_trees_key(r, run_gang_key(r));
	if (gv_gang_join(&r->gang, &r->place, e) != 0 ||
	    gv_gang_thread(r->gang, e) != 0 || open_outputs(r, e) != 0)
		return -1;
	run_trees_start(r);
	if (run_ranks_start(r, e) != 0)
		return -1;
	r->saved_s = gv_clock_s();
	if (!r->o->common.quiet && r->place.rank == 0 && r->pipeline == NULL)
		warn_plan(r);
	if (r->o->common.verbose > 0 && r->place.rank == 0 && r->pipeline == NULL) {
		say_what(r);
		run_losses_say(r);
	}
	return 0;
}

void
run_close(struct run *r)
{
	size_t b;

	for (b = 0; r->line != NULL && b < r->array.n; b++)
		free(r->line[b]);
	free(r->line);
	gv_strbuf_free(&r->config);
	run_ranks_end(r);
	gv_gang_leave(r->gang);
	gv_coll_free(r->coll);
	run_pipeline_close(r);
	gv_trees_free(&r->trees);
	gv_net_free(r->net);
	gv_model_free(&r->model);
	array_free(&r->array);
	gv_data_free(&r->data);
	gv_data_free(&r->test);
	for (b = 0; b < r->orders; b++)
		gv_data_order_free(&r->order[b]);
	free(r->order);
	free(r->order_of);
	run_losses_free(r);
	free(r->diverged);
	free(r->loss);
	free(r->visit);
	free(r->ckpt_path);
	free(r->old_path);
	free(r->set_path);
	free(r->record_path);
	if (r->lock > 2)
		close(r->lock);
}
