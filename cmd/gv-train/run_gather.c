/* Parameters of all stages of a pipeline, into one file a model. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "nn/cpu/cpu.h"
#include "nn/weights_file.h"
#include "run_pipeline.h"

/* Numbers of a model in a net that a file of tensors has: its arrays of these names. */
static const char *const arrays[] = {"params", "running"};

static size_t
numbers(const struct gv_net *net)
{
	size_t all = 0, n, k;

	for (k = 0; k < 2; k++) {
		gv_net_find_array(net, arrays[k], &n);
		all += n;
	}
	return all;
}

/* Between a net's model b and v [numbers]. */
static int
copy(struct gv_net *net, size_t b, gv_real *v, bool in)
{
	size_t n, k, i;

	for (k = 0; k < 2; k++) {
		i = gv_net_find_array(net, arrays[k], &n);
		if (i != SIZE_MAX &&
		    (in ? gv_net_put(net, i, b, v) : gv_net_get(net, i, b, v)) != 0)
			return -1;
		v += n;
	}
	return 0;
}

/* ---- a worker that has a stage ---- */

static int
send_all(struct run *r, struct gv_error *e)
{
	struct worker *w = r->pipeline->worker;
	struct post *post = worker_post(w);
	size_t i, b, stage;

	for (i = 0; i < worker_stages(w); i++)
		for (b = 0; b < r->array.n; b++) {
			struct gv_net *net = worker_net(w, i, &stage);
			struct parcel *p = post_blank(post, numbers(net));

			if (copy(net, b, p->v, false) != 0) {
				post_back(post, p);
				return gv_error_set(
				    e, "stage %zu: %s", stage, gv_net_error(net));
			}
			post_send(post, p, 0, post_tag(POST_WEIGHTS, stage, b));
		}
	if (post_flush(post) != 0)
		return gv_error_set(e, "%s", post->error.text[0]);
	return 0;
}

/* ---- rank 0 ---- */

/* A net of a stage's rows for one model, that holds what is received. */
static struct gv_net *
stage_net(const struct run *r, size_t stage, size_t b, struct gv_error *e)
{
	const struct stage *at = &r->pipeline->stages.stage[stage];
	struct gv_net_config c = {.models = 1,
	    .batch = 1,
	    .first_row = at->first,
	    .last_row = at->last,
	    .seed = &r->array.seed[b],
	    .coef = &r->array.coef[b],
	    .backend = gv_cpu_new(1)};
	struct gv_net *net = NULL;

	if (gv_net_new(&net, &r->model, &c, e) != 0)
		return NULL;
	return net;
}

/* Updates of a stage that model b has had. */
static uint64_t
updates(const struct run *r, size_t stage, size_t b)
{
	const struct run_pipeline *p = r->pipeline;
	uint64_t step = r->step < r->array.steps[b] ? r->step : r->array.steps[b];

	return step * p->route.micro_batches /
	       route_together(&p->route, p->stages.stage[stage].replicas);
}

static int
take_stage(struct run *r, size_t stage, size_t b, struct gv_weights_parts *all,
    struct gv_error *e)
{
	struct worker *w = r->pipeline->worker;
	struct post *post = worker_post(w);
	struct gv_net *net = stage_net(r, stage, b, e);
	struct parcel *p;
	int status;

	if (net == NULL)
		return -1;
	p = post_ask(
	    post, numbers(net), worker_rank(w, stage), post_tag(POST_WEIGHTS, stage, b));
	status = post_take(post, p);
	if (status != 0)
		gv_error_set(e, "%s", post->error.text[0]);
	if (status == 0 && copy(net, 0, p->v, true) != 0)
		status = gv_error_set(e, "stage %zu: %s", stage, gv_net_error(net));
	gv_net_set_steps(net, 0, updates(r, stage, b));
	if (status == 0)
		status = gv_weights_collect(all, net, &r->model, 0, e);
	if (status == 0)
		post_back(post, p);
	gv_net_free(net);
	return status;
}

static int
write_model(struct run *r, size_t b, struct gv_error *e)
{
	struct gv_weights_parts all = {0};
	char *path = run_weights_path(r, b);
	size_t stage;
	int status = 0;

	for (stage = 0; stage < r->pipeline->stages.n && status == 0; stage++)
		status = take_stage(r, stage, b, &all, e);
	if (status == 0)
		status = gv_weights_write_parts(path, &all, e);
	gv_weights_parts_free(&all);
	free(path);
	return status;
}

int
run_gather_weights(struct run *r, struct gv_error *e)
{
	size_t b;

	if (r->o->weights == NULL)
		return 0;
	if (worker_saves(r->pipeline->worker) && send_all(r, e) != 0)
		return -1;
	for (b = 0; b < r->array.n && r->place.rank == 0; b++)
		if (write_model(r, b, e) != 0)
			return -1;
	return 0;
}
