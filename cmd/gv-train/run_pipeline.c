/* A run as a worker of a pipeline. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "gv-train/pipeline/tie.h"
#include "run_pipeline.h"

/* ---- what the worker asks ---- */

static void
visit(void *ctx, size_t order, uint64_t micro_batch, uint32_t *sample)
{
	struct run *r = ctx;
	size_t n = r->pipeline->batch;

	gv_data_order_take(&r->order[order], micro_batch * n, n, sample);
}

static double
rate(void *ctx, size_t model, uint64_t step)
{
	struct run *r = ctx;

	return array_rate(&r->array, model, step);
}

static unsigned
flags(void *ctx)
{
	struct run *r = ctx;

	return run_flags() | r->wish;
}

static struct gv_nn_backend *
device(void *ctx, struct gv_error *e)
{
	return run_device(ctx, e);
}

/* ---- opening ---- */

static int
check(const struct run *r, struct gv_error *e)
{
	return stages_are(&r->model)
		   ? 0
		   : gv_error_set(e,
			 "%s: no plan: --schedule needs the columns stage and replicas, "
			 "as gv-partition writes them",
			 r->model.table.file);
}

/* The stages of this worker. */
static int
check_memory(const struct run *r, struct gv_error *e)
{
	const struct run_pipeline *p = r->pipeline;
	size_t rank = (size_t)r->place.rank, all = 0, k, i;

	for (k = 0; k < p->stages.n; k++) {
		const struct stage *at = &p->stages.stage[k];
		size_t first = p->route.rank[k];

		for (i = at->first;
		     rank >= first && rank < first + at->replicas && i < at->last; i++)
			all += r->model.layer[i].weights + r->model.layer[i].biases;
	}
	return run_memory_check(r, all, e);
}

/* What the route has to be for what is asked of the models. */
static int
check_route(const struct run *r, struct gv_error *e)
{
	const struct run_pipeline *p = r->pipeline;
	uint64_t unit = p->route.unit / p->route.micro_batches;
	size_t b, k, row, to;

	if (!p->route.flushes && tie_across(&r->model, &p->stages, &row, &to))
		return gv_error_set(e,
		    "rows %lld and %lld are tied and of two stages, whose weights %s "
		    "updates at different times: one stage for both, or flush, gpipe, "
		    "interleaved or zb-h1",
		    (long long)r->model.layer[row].id, (long long)r->model.layer[to].id,
		    gv_schedule_name[p->route.kind]);
	for (b = 0; b < r->array.n; b++)
		if (r->array.steps[b] % unit != 0)
			return gv_error_set(e,
			    "1f1b on this plan trains a multiple of %llu steps, got %llu",
			    (unsigned long long)unit,
			    (unsigned long long)r->array.steps[b]);
	for (b = 0; b < r->array.n; b++)
		for (k = 1; k < p->stages.n && r->array.coef[b].clip_norm > 0; k++)
			if (p->route.kind == GV_SCHEDULE_1F1B &&
			    p->stages.stage[k].replicas != p->stages.stage[0].replicas)
				return gv_error_set(e,
				    "--clip-norm: under 1f1b stages of different "
				    "replicas update at different times: no gradients "
				    "are those of the whole model");
	return 0;
}

/* Where the plan is looked at: whether it is of micro-batches like these. */
static void
check_samples(const struct run *r)
{
	size_t planned = stages_samples(&r->model);

	if (r->place.rank == 0 && planned > 0 && planned != r->pipeline->batch &&
	    !r->o->common.quiet && (r->o->common.verbose > 0 || r->o->stages != NULL))
		gv_warn("warning: %s: planned for micro-batches of %zu sample%s, these "
			"have %zu: "
			"its times and bytes are not those to be met",
		    r->model.table.file, planned, planned == 1 ? "" : "s",
		    (size_t)r->pipeline->batch);
}

int
run_pipeline_build(struct run *r, struct gv_error *e)
{
	const struct options *o = r->o;
	struct run_pipeline *p = gv_xcalloc(1, sizeof(*p));
	struct route_spec route = {.schedule = o->pipeline,
	    .chunks = (size_t)o->chunks,
	    .micro_batches = o->micro_batches,
	    .steps = r->last,
	    .vertical_sync = o->vertical_sync,
	    .workers = (size_t)r->place.world};
	struct worker_spec w = {.model = &r->model,
	    .stages = &p->stages,
	    .route = &p->route,
	    .rank = (size_t)r->place.rank,
	    .tests = r->test.n > 0,
	    .own_clock = (o->stages != NULL || o->common.verbose > 0) && o->threads == 1,
	    .x = r->data.x,
	    .target = gv_data_targets(&r->data),
	    .samples = r->data.n,
	    .steps = r->array.steps,
	    .ctx = r,
	    .visit = visit,
	    .rate = rate,
	    .device = device,
	    .flags = flags};

	r->pipeline = p;
	if (check(r, e) != 0 || stages_read(&p->stages, &r->model, e) != 0 ||
	    route_make(&p->route, &route, &p->stages, w.rank, e) != 0 ||
	    check_route(r, e) != 0 || check_memory(r, e) != 0)
		return -1;
	p->batch = o->batch / p->route.micro_batches;
	check_samples(r);
	w.net = (struct gv_net_config){.models = r->array.n,
	    .batch = p->batch,
	    .shards = o->shards,
	    .optimiser = o->optimiser,
	    .seed = r->array.seed,
	    .coef = r->array.coef};
	r->diverged = gv_xcalloc(r->array.n, sizeof(*r->diverged));
	r->loss = gv_xcalloc(r->array.n, sizeof(*r->loss));
	run_orders_make(r);
	w.orders = r->orders;
	w.order_of = r->order_of;
	if (!p->route.flushes)
		gv_strbuf_fmt(&r->config, "schedule %s%s\n",
		    gv_schedule_name[p->route.kind],
		    p->route.table != 0 ? " of a table"
		    : o->vertical_sync  ? " vertical-sync"
					: "");
	p->saved = gv_xcalloc(p->stages.n, sizeof(struct parcel *));
	return worker_new(&p->worker, &w, e);
}

void
run_pipeline_close(struct run *r)
{
	struct run_pipeline *p = r->pipeline;

	if (p == NULL)
		return;
	worker_free(p->worker);
	route_free(&p->route);
	stages_free(&p->stages);
	set_free(&p->set);
	free(p->saved);
	free(p);
	r->pipeline = NULL;
}

/* ---- steps ---- */

static bool
passes(uint64_t from, uint64_t step, int64_t every)
{
	return every > 0 && step / (uint64_t)every > from / (uint64_t)every;
}

/* A loss that is no number ends its model; when all have, the pipeline ends. */
static void
find_diverged(struct run *r, uint64_t step, bool *now)
{
	size_t b, left = 0;

	for (b = 0; b < r->array.n; b++) {
		if (step > r->array.steps[b])
			continue;
		now[b] = !r->diverged[b] && !isfinite(r->loss[b]);
		if (now[b])
			gv_warn("model %zu diverged: its loss at step %llu is no number",
			    b, (unsigned long long)step);
		left += !r->diverged[b] && !now[b];
	}
	if (left == 0)
		r->wish |= FLAG_END;
}

/* What the test behind the present step gave; NULL when there was none. */
struct tested {
	size_t *correct;
	double *loss;
};

/* Whether a model is tested behind the present step, the steps from which are behind it. */
static bool
test_due(const struct run *r, size_t b, uint64_t from)
{
	return r->step == r->array.steps[b] ||
	       (r->step < r->array.steps[b] && passes(from, r->step, r->o->test_every));
}

static void
log_step(struct run *r, uint64_t from, uint64_t step, const struct tested *t)
{
	bool *now = gv_xcalloc(r->array.n, sizeof(*now));
	size_t b;

	find_diverged(r, step, now);
	for (b = 0; b < r->array.n; b++) {
		struct row row = {step, b, r->loss[b], NAN, NAN};

		if (r->diverged[b] || step > r->array.steps[b])
			continue;
		r->diverged[b] = now[b];
		if (t != NULL && step == r->step && !now[b] && test_due(r, b, from)) {
			row.test_loss = t->loss[b];
			if (gv_model_counts_hits(&r->model))
				row.accuracy = (double)t->correct[b] /
					       (double)(r->test.n * r->test.targets);
		} else if (step % (uint64_t)r->o->log_every != 0 &&
			   step != r->array.steps[b] && !now[b]) {
			continue;
		}
		record_add(&r->record, &row);
	}
	free(now);
}

/* Rank 0: the rows of the steps up to the present one, or all whose losses are there. */
static int
log_steps(
    struct run *r, uint64_t from, const struct tested *t, bool all, struct gv_error *e)
{
	struct run_pipeline *p = r->pipeline;
	uint64_t late = all ? 0 : worker_late(p->worker);

	if (all && worker_losses(p->worker, e) != 0)
		return -1;
	if (r->place.rank != 0)
		return 0;
	for (; p->logged + late < r->step; p->logged++) {
		if (worker_loss(p->worker, p->logged, r->loss, e) != 0)
			return -1;
		log_step(r, from, p->logged + 1, t);
	}
	return run_tell_now_and_then(r, gv_clock_s(), e);
}

static int
test_and_log(struct run *r, uint64_t from, bool all, struct gv_error *e)
{
	struct tested t = {0};
	bool due = false;
	size_t b;
	int status;

	for (b = 0; b < r->array.n; b++)
		due |= r->test.n > 0 && test_due(r, b, from);
	if (!due)
		return log_steps(r, from, NULL, all, e);
	t.correct = gv_xcalloc(r->array.n, sizeof(*t.correct));
	t.loss = gv_xcalloc(r->array.n, sizeof(*t.loss));
	status = worker_rest(r->pipeline->worker, e);
	if (status == 0)
		status = worker_test(r->pipeline->worker, r->test.x,
		    gv_data_targets(&r->test), r->test.n, t.correct, t.loss, e);
	if (status == 0)
		status = log_steps(r, from, &t, true, e);
	free(t.correct);
	free(t.loss);
	return status;
}

/* ---- saving ---- */

static int
save(struct run *r, bool wait, struct gv_error *e)
{
	if (r->ckpt_path == NULL)
		return 0;
	if (run_slices_save(r, e) != 0)
		return -1;
	return r->place.rank == 0 ? run_slices_commit(r, wait, e) : 0;
}

/* What rank 0 wishes on its own: its clock decides for all. */
static void
wish(struct run *r)
{
	if (r->place.rank == 0 && r->ckpt_path != NULL &&
	    gv_clock_s() - r->saved_s >= r->o->checkpoint_s)
		r->wish |= FLAG_SAVE;
}

static int
after_unit(struct run *r, uint64_t from, unsigned heard, struct gv_error *e)
{
	const unsigned ends = FLAG_STOP | FLAG_INTERRUPT | FLAG_END;
	bool saves =
	    (heard & FLAG_SAVE) != 0 || passes(from, r->step, r->o->checkpoint_steps);

	/* what is saved has the rows of its steps; all workers find the same here */
	if (test_and_log(r, from, saves || r->step >= r->last || (heard & ends), e) != 0)
		return -1;
	if (heard & FLAG_SAVE) {
		r->wish &= ~(unsigned)FLAG_SAVE;
		run_forget_save();
	}
	wish(r);
	if (saves)
		return save(r, false, e);
	return r->place.rank == 0 ? run_slices_commit(r, false, e) : 0;
}

/* ---- the whole ---- */

static int
verdict(const struct run *r, unsigned heard)
{
	size_t b;

	if (heard & (FLAG_STOP | FLAG_INTERRUPT))
		return 128 + (heard & FLAG_STOP ? SIGTERM : SIGINT);
	if (heard & FLAG_END)
		return GV_EXIT_NO;
	for (b = 0; b < r->array.n; b++)
		if (!r->diverged[b])
			return GV_EXIT_OK;
	return GV_EXIT_NO;
}

/* Nobody leaves before rank 0 has made the set; what it says of the end holds for all. */
static int
part(struct run *r, unsigned heard, struct gv_error *e)
{
	unsigned said = 0;
	bool stopped = heard & (FLAG_STOP | FLAG_INTERRUPT) && r->step < r->last;

	if (worker_rest(r->pipeline->worker, e) != 0 || save(r, true, e) != 0 ||
	    run_gather_weights(r, e) != 0 || run_stages_write(r, e) != 0 ||
	    (r->place.rank == 0 && record_flush(&r->record, true, e) != 0))
		return -1;
	if (!stopped)
		heard = 0;
	if (verdict(r, 0) == GV_EXIT_NO && r->place.rank == 0)
		said = FLAG_END;
	run_tell(r, "step", r->step);
	if (worker_meet(r->pipeline->worker, &said, e) != 0)
		return -1;
	if (stopped && r->ckpt_path == NULL && r->place.rank == 0)
		gv_warn("stopped after step %llu of %llu; nothing is saved without "
			"--checkpoint",
		    (unsigned long long)r->step, (unsigned long long)r->last);
	return verdict(r, heard | said);
}

/* -v: what each stage took and holds, beside what the plan has for it. */
static void
say_times(const struct run *r)
{
	const struct run_pipeline *p = r->pipeline;
	size_t i, stage;

	for (i = 0; i < worker_stages(p->worker); i++) {
		struct worker_times t = worker_times(p->worker, i);
		double n = t.timed > 0 ? (double)t.timed : 1;
		const struct stage *at;
		char buckets[64] = "";

		worker_net(p->worker, i, &stage);
		at = &p->stages.stage[stage];
		if (at->replicas > 1)
			snprintf(buckets, sizeof(buckets),
			    "; gradients summed in %zu buckets", t.buckets);
		gv_warn("stage %zu, replica %zu: a micro-batch took %.4g ms forward (the "
			"plan: %.4g) and %.4g ms backward (%.4g); waited %.1f %% of the "
			"time; %zu versions and %zu micro-batches: %.0f bytes (the plan: "
			"%.0f), %zu with what it received, gradients of outputs, samples "
			"and scratch%s",
		    stage, (size_t)r->place.rank - worker_rank(p->worker, stage),
		    t.forward_s / n * 1e3, at->forward_s * 1e3, t.backward_s / n * 1e3,
		    at->backward_s * 1e3, 100 * t.waited_s / t.all_s, t.versions, t.slots,
		    t.held, t.planned, t.bytes.total, buckets);
	}
}

int
run_pipeline_train(struct run *r, struct gv_error *e)
{
	struct worker *w = r->pipeline->worker;
	const unsigned ends = FLAG_STOP | FLAG_INTERRUPT | FLAG_END;
	unsigned heard = 0;
	int status;

	r->pipeline->logged = r->step;
	r->progress = (struct progress){gv_clock_s(), r->step, 0};
	worker_begin(w, r->gang, r->step);
	while (r->step < r->last && !(heard & ends)) {
		uint64_t from = r->step;

		if (worker_go(w, &heard, e) != 0)
			return -1;
		r->step = worker_step(w);
		if (after_unit(r, from, heard, e) != 0)
			return worker_failed(w, e);
	}
	if (r->o->common.verbose > 0)
		say_times(r);
	status = part(r, heard, e);
	return status < 0 ? worker_failed(w, e) : status;
}
