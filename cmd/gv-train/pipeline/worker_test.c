/* Samples that are tested on, through all stages; and losses on their way to rank 0. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "worker_private.h"

static size_t
head_of(const struct worker *w)
{
	return w->s.stages->n - 1;
}

/* ---- losses of steps ---- */

/* The losses of a step that a replica of the last stage has sent. */
static int
take_loss(struct worker *w, size_t rank, uint64_t step, gv_real *v)
{
	struct parcel *p =
	    post_ask(&w->post, w->s.net.models, rank, post_tag(POST_LOSS, rank, step));

	if (post_take(&w->post, p) != 0)
		return -1;
	memcpy(v, p->v, w->s.net.models * sizeof(*v));
	post_back(&w->post, p);
	return 0;
}

int
worker_loss(struct worker *w, uint64_t step, double *loss, struct gv_error *e)
{
	const struct route *r = w->s.route;
	size_t replicas = w->s.stages->stage[head_of(w)].replicas,
	       models = w->s.net.models;
	size_t first = r->rank[head_of(w)], i, b;
	bool one =
	    route_together(r, replicas) > r->micro_batches; /* has the whole step */
	gv_real *v = gv_xcalloc(models, sizeof(*v));
	gv_real *sum = gv_xcalloc(models, sizeof(*sum));
	int status = 0;

	for (i = 0; i < replicas && status == 0; i++) {
		if (one && i != step % replicas)
			continue;
		status = take_loss(w, first + i, step, v);
		for (b = 0; b < models; b++)
			sum[b] = i == 0 || one ? v[b] : sum[b] + v[b];
	}
	for (b = 0; b < models; b++)
		loss[b] = (double)sum[b] * (one ? (double)replicas : 1);
	free(v);
	free(sum);
	return status == 0 ? 0 : worker_lost(w, e);
}

/* ---- tests ---- */

struct test {
	const gv_real *x; /* [n][size] */
	const char *target;
	size_t n, batch, size, bytes; /* of a sample; of its targets */
	gv_real *last_x; /* the last batch, filled up with its first sample */
	char *last_target;
};

static void
begin_test(struct test *t, const struct worker *w, const gv_real *x, const void *target,
    size_t n)
{
	const struct gv_model *m = w->s.model;
	size_t batch = w->s.net.batch, first = n / batch * batch, i;

	*t = (struct test){.x = x,
	    .target = target,
	    .n = n,
	    .batch = batch,
	    .size = gv_shape_size(m->input),
	    .bytes = m->targets * (m->target == GV_TARGET_NUMBERS ? sizeof(gv_real)
								  : sizeof(int32_t))};
	t->last_x = gv_xcalloc(batch * t->size, sizeof(*x));
	t->last_target = gv_xcalloc(batch * t->bytes, 1);
	for (i = 0; i < batch && first < n; i++) {
		size_t from = first + i < n ? first + i : first;

		memcpy(t->last_x + i * t->size, x + from * t->size, t->size * sizeof(*x));
		memcpy(
		    t->last_target + i * t->bytes, t->target + from * t->bytes, t->bytes);
	}
}

static void
load(const struct test *t, size_t j, const gv_real **x, const char **target)
{
	bool whole = (j + 1) * t->batch <= t->n;

	*x = whole ? t->x + j * t->batch * t->size : t->last_x;
	*target = whole ? t->target + j * t->batch * t->bytes : t->last_target;
}

/* What came of a batch, to rank 0. */
static int
send_scores(struct worker *w, struct chunk *c, size_t slot, size_t j)
{
	size_t n = w->s.net.models * w->s.net.batch;
	struct parcel *p = post_blank(&w->post, 2 * n);

	if (gv_net_scores(c->net, slot, p->v, p->v + n) != 0) {
		post_back(&w->post, p);
		return -1;
	}
	post_send(&w->post, p, 0, post_tag(POST_SCORES, w->s.rank, j));
	return 0;
}

/* Batch j through a stage that is this worker's. */
static int
evaluate(
    struct worker *w, struct chunk *c, const struct test *t, size_t j, struct gv_error *e)
{
	struct gv_net_work work = {.first = c->at->first,
	    .last = c->at->last,
	    .slot = chunk_take(c, UINT64_MAX - 1),
	    .version = gv_net_version(c->net, 0),
	    .evaluate = true};
	struct parcel *in;
	const gv_real *x;
	const char *target;
	int status = 0;

	if (work.slot == SIZE_MAX)
		return gv_error_set(e, "stage %zu: no room to test in", c->stage);
	chunk_settle(c, work.slot, GV_NET_OUTPUT);
	if (c->stage > 0) {
		in = post_ask(&w->post, c->in.numbers, worker_rank_of(w, c->stage - 1, j),
		    post_tag(POST_TEST, c->stage, j));
		if (post_take(&w->post, in) != 0)
			return worker_lost(w, e);
		status = chunk_put(c, &c->in, work.slot, GV_NET_OUTPUT, in);
	}
	load(t, j, &x, &target);
	if (status != 0 || gv_net_load(c->net, work.slot, x, target) != 0 ||
	    gv_net_forward(c->net, &work) != 0 ||
	    (c->is_last ? send_scores(w, c, work.slot, j)
			: worker_send_rows(w, c, &c->out, work.slot, GV_NET_OUTPUT,
			      worker_rank_of(w, c->stage + 1, j),
			      post_tag(POST_TEST, c->stage + 1, j))) != 0)
		return worker_net_failed(c, e);
	chunk_drop(c, work.slot);
	return 0;
}

/* Rank 0: adds what came of batch j. */
static int
add_scores(struct worker *w, const struct test *t, size_t j, size_t *correct,
    double *loss, struct gv_error *e)
{
	size_t n = w->s.net.models * t->batch, rank = worker_rank_of(w, head_of(w), j);
	size_t some = t->n - j * t->batch < t->batch ? t->n - j * t->batch : t->batch;
	struct parcel *p =
	    post_ask(&w->post, 2 * n, rank, post_tag(POST_SCORES, rank, j));
	size_t b, i;

	if (post_take(&w->post, p) != 0)
		return worker_lost(w, e);
	for (b = 0; b < w->s.net.models; b++)
		for (i = 0; i < some; i++) {
			loss[b] += (double)p->v[b * t->batch + i];
			correct[b] += (size_t)p->v[n + b * t->batch + i];
		}
	post_back(&w->post, p);
	return 0;
}

/* Batches j < until through the stages of this worker. */
static int
pass(struct worker *w, const struct test *t, struct gv_error *e)
{
	size_t j, i;

	for (j = 0; j * t->batch < t->n; j++)
		for (i = 0; i < w->chunks; i++) {
			struct chunk *c = &w->chunk[i];

			if (worker_rank_of(w, c->stage, j) == w->s.rank &&
			    evaluate(w, c, t, j, e) != 0)
				return -1;
		}
	return 0;
}

int
worker_test(struct worker *w, const gv_real *x, const void *target, size_t n,
    size_t *correct, double *loss, struct gv_error *e)
{
	size_t models = w->s.net.models, j, b;
	struct test t;
	int status;

	begin_test(&t, w, x, target, n);
	for (b = 0; b < models; b++) {
		correct[b] = 0;
		loss[b] = 0;
	}
	status = pass(w, &t, e);
	for (j = 0; j * t.batch < n && w->s.rank == 0 && status == 0; j++)
		status = add_scores(w, &t, j, correct, loss, e);
	for (b = 0; b < models; b++)
		loss[b] /= (double)n;
	free(t.last_x);
	free(t.last_target);
	return status;
}
