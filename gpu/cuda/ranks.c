/* Ranks whose GPUs reach each other by NCCL: met, waited for, left. */
#include "cuda/ranks.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

/* NCCL may know earlier than we that a rank is gone: one looks on for so much of silence_s. */
static const double AFTERWARDS = 1. / 100;

/* ---- while one waits ---- */

static void
abort_ranks(struct gv_cuda_ranks *r)
{
	if (r->comm != NULL)
		r->n.abort(r->comm);
	r->comm = NULL;
	gv_cuda_links_abort(r);
}

/* A rank is gone: whoever has joined knows which, so there is no sentence here. */
static int
lost(struct gv_cuda *c)
{
	abort_ranks(c->ranks);
	if (!c->failed)
		c->error[0] = '\0';
	c->failed = true;
	return -1;
}

int
gv_cuda_nccl_failed(struct gv_cuda *c, gv_nccl_comm comm, int result)
{
	struct gv_cuda_ranks *r = c->ranks;
	const char *more = comm != NULL ? r->n.last_error(comm) : "";
	double until = gv_clock_s() + AFTERWARDS * r->watch.silence_s;
	char text[300];

	snprintf(text, sizeof(text), "NCCL: %s%s%s", r->n.error_string(result),
	    more != NULL && more[0] != '\0' ? ": " : "", more != NULL ? more : "");
	while (gv_clock_s() < until) {
		if (r->watch.alive(r->watch.ctx) != 0)
			return lost(c);
		gv_sleep_s(0.01);
	}
	abort_ranks(r);
	return gv_cuda_fail(c, text);
}

/* What NCCL says of a communicator.  0, or -1. */
static int
look_at(struct gv_cuda *c, gv_nccl_comm comm)
{
	int state = GV_NCCL_SUCCESS, result;

	if (comm == NULL)
		return 0;
	result = c->ranks->n.state(comm, &state);
	if (result == GV_NCCL_SUCCESS && state != GV_NCCL_IN_PROGRESS)
		result = state;
	return result == GV_NCCL_SUCCESS ? 0 : gv_cuda_nccl_failed(c, comm, result);
}

static int
look_at_all(struct gv_cuda *c)
{
	struct gv_cuda_ranks *r = c->ranks;
	size_t i;

	if (look_at(c, r->comm) != 0)
		return -1;
	for (i = 0; i < r->links; i++)
		if (look_at(c, r->link[i].comm) != 0)
			return -1;
	return 0;
}

/* Called between two looks at something: 0, or -1 when it will not come. */
static int
still(struct gv_cuda *c, double since_s, unsigned looks)
{
	struct gv_cuda_ranks *r = c->ranks;
	char text[80];

	if (r->watch.alive(r->watch.ctx) != 0)
		return lost(c);
	if (c->failed || look_at_all(c) != 0)
		return -1;
	if (gv_clock_s() - since_s > r->watch.silence_s) {
		abort_ranks(r);
		snprintf(
		    text, sizeof(text), "NCCL: no end for %.0f s", r->watch.silence_s);
		return gv_cuda_fail(c, text);
	}
	gv_sleep_s(looks < 20 ? 10e-6 : 200e-6);
	return 0;
}

int
gv_cuda_reach(struct gv_cuda *c, gv_cu_event e)
{
	double since = gv_clock_s();
	unsigned looks;
	int result;

	if (c->ranks == NULL)
		return gv_cuda_check(c, c->d->event_sync(e), "the device");
	for (looks = 0; (result = c->d->event_query(e)) == GV_CU_NOT_READY; looks++)
		if (still(c, since, looks) != 0)
			return -1;
	return gv_cuda_check(c, result, "the device");
}

int
gv_cuda_reach_all(struct gv_cuda *c)
{
	struct gv_cuda_ranks *r = c->ranks;

	if (r == NULL)
		return gv_cuda_check(c, c->d->stream_sync(c->stream), "the device");
	if (gv_cuda_check(c, c->d->event_record(r->all, c->stream), "an event") != 0)
		return -1;
	return gv_cuda_reach(c, r->all);
}

int
gv_cuda_settle(struct gv_cuda *c, gv_nccl_comm comm, int result)
{
	double since = gv_clock_s();
	unsigned looks;
	int state;

	for (looks = 0; result == GV_NCCL_IN_PROGRESS; looks++) {
		if (still(c, since, looks) != 0)
			return -1;
		state = GV_NCCL_IN_PROGRESS;
		result = c->ranks->n.state(comm, &state);
		if (result == GV_NCCL_SUCCESS)
			result = state;
	}
	return result == GV_NCCL_SUCCESS ? 0 : gv_cuda_nccl_failed(c, comm, result);
}

/* ---- communicators ---- */

int
gv_cuda_ranks_open(struct gv_cuda *c, const struct gv_nn_watch *watch, struct gv_error *e)
{
	struct gv_cuda_ranks *r;

	if (c->ranks != NULL)
		return 0;
	r = gv_xcalloc(1, sizeof(*r));
	if (gv_cuda_ranks_load(c, &r->n, e) != 0) {
		free(r);
		return -1;
	}
	r->watch = *watch;
	c->ranks = r;
	if (gv_cuda_check(
		c, c->d->event_create(&r->all, GV_CU_EVENT_NO_TIME), "an event") != 0)
		return gv_error_set(e, "%s", c->error);
	return 0;
}

int
gv_cuda_ranks_meet(
    struct gv_cuda *c, gv_nccl_comm *comm, const unsigned char *id, int rank, int ranks)
{
	struct gv_nccl_config config = {sizeof(config), GV_NCCL_MAGIC, GV_NCCL_LEAST, 0,
	    INT_MIN, INT_MIN, INT_MIN, NULL, INT_MIN};
	struct gv_nccl_id all;
	int result;

	memcpy(all.bytes, id, GV_NN_ID);
	result = c->ranks->n.init(comm, ranks, all, rank, &config);
	return gv_cuda_settle(c, *comm, result);
}

void
gv_cuda_ranks_part(struct gv_cuda *c, gv_nccl_comm *comm)
{
	struct gv_cuda_ranks *r = c->ranks;

	/* where it fails all are aborted, this one, too */
	if (*comm != NULL && !c->failed)
		(void)gv_cuda_settle(c, *comm, r->n.finish(*comm));
	if (*comm != NULL && c->failed)
		r->n.abort(*comm);
	else if (*comm != NULL)
		r->n.destroy(*comm);
	*comm = NULL;
}

/* ---- joining ---- */

/* A launch on the stream of the sums. */
static int
run_beside(const struct gv_cuda_queue *q, enum gv_cuda_kernel kernel,
    struct gv_cuda_grid grid, unsigned threads, const void *args, size_t bytes)
{
	struct gv_cuda *c = q->ctx;

	(void)bytes;
	return gv_cuda_launch_on(c, c->ranks->stream, kernel, grid, threads, args);
}

static int
open_beside(struct gv_cuda *c)
{
	struct gv_cuda_ranks *r = c->ranks;
	const unsigned quiet = GV_CU_EVENT_NO_TIME;
	const struct gv_cuda_driver *d = c->d;

	r->queue = (struct gv_cuda_queue){
	    .run = run_beside, .ctx = c, .blocks = c->queue.blocks};
	return gv_cuda_check(c, d->stream_create(&r->stream, GV_CU_NON_BLOCKING),
		   "a stream") != 0 ||
		       gv_cuda_check(c, d->event_create(&r->begun, quiet), "an event") !=
			   0 ||
		       gv_cuda_check(c, d->event_create(&r->ended, quiet), "an event") !=
			   0
		   ? -1
		   : 0;
}

int
gv_cuda_join(struct gv_nn_backend *be, const struct gv_nn_join *join, struct gv_error *e)
{
	struct gv_cuda *c = (struct gv_cuda *)be;

	if (gv_cuda_ranks_open(c, &join->watch, e) != 0)
		return -1;
	c->ranks->join = *join;
	if (open_beside(c) == 0 &&
	    gv_cuda_ranks_meet(c, &c->ranks->comm, join->id, join->rank, join->ranks) ==
		0 &&
	    gv_cuda_sums_connect(c) == 0)
		return 0;
	return gv_error_set(e, "%s", c->error[0] != '\0' ? c->error : "a rank is gone");
}

void
gv_cuda_leave(struct gv_nn_backend *be)
{
	struct gv_cuda *c = (struct gv_cuda *)be;
	struct gv_cuda_ranks *r = c->ranks;

	if (r == NULL)
		return;
	if (c->failed || gv_cuda_sync(be) != 0)
		abort_ranks(r);
	gv_cuda_ranks_part(c, &r->comm);
	gv_cuda_links_close(c);
	if (r->stream != NULL)
		c->d->stream_destroy(r->stream);
	if (r->begun != NULL)
		c->d->event_destroy(r->begun);
	if (r->ended != NULL)
		c->d->event_destroy(r->ended);
	if (r->all != NULL)
		c->d->event_destroy(r->all);
	if (r->room != 0)
		c->d->release(r->room);
	free(r->link);
	free(r);
	c->ranks = NULL;
}

int
gv_cuda_look(struct gv_nn_backend *be)
{
	struct gv_cuda *c = (struct gv_cuda *)be;
	int result;

	if (c->ranks == NULL || c->failed)
		return c->failed ? -1 : 0;
	if (look_at_all(c) != 0 || gv_cuda_flush(c) != 0 || gv_cuda_links_look(c) != 0 ||
	    gv_cuda_check(c, c->d->event_record(c->ranks->all, c->stream), "an event") !=
		0)
		return -1;
	result = c->d->event_query(c->ranks->all);
	return result == GV_CU_NOT_READY ? 0 : gv_cuda_check(c, result, "the device");
}
