/*
 * Sums over ranks whose GPUs reach each other: NCCL, on a stream of its own beside the
 * computing one, with events between the two.
 *
 * In any order: ncclAllReduce, whose order of sums is NCCL's own, the same at all ranks
 * and, while ranks, topology and NCCL stay, from run to run.  In the order of the ranks:
 * every rank gets all ranks' numbers of its own part, adds them with our kernel as the
 * tree of gv_net_reduce does, and gives the sums to all; as many bytes as around a ring.
 *
 * Nothing waits in a call that does not come back when a rank dies: the communicator does
 * not block, events are asked for, and meanwhile whoever has joined is asked whether all
 * ranks are alive.  If not, the communicator is aborted.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cuda/nccl.h"
#include "cuda/parts.h"

/* NCCL may know earlier than we that a rank is gone: one looks on for so much of silence_s. */
static const double AFTERWARDS = 1. / 100;

struct gv_cuda_ranks {
	struct gv_cuda_nccl n;
	gv_nccl_comm comm;
	gv_cu_stream stream;
	gv_cu_event begun, ended, all;
	struct gv_nn_join join;
	struct gv_cuda_queue queue; /* of the stream, at once */
	gv_cu_ptr room;             /* other ranks' numbers */
	size_t room_n;
	bool open; /* sums that the computing stream does not wait for yet */
};

/* ---- while one waits ---- */

static void
abort_ranks(struct gv_cuda_ranks *r)
{
	if (r->comm != NULL)
		r->n.abort(r->comm);
	r->comm = NULL;
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

static int
nccl_failed(struct gv_cuda *c, int result)
{
	struct gv_cuda_ranks *r = c->ranks;
	const char *more = r->comm != NULL ? r->n.last_error(r->comm) : "";
	double until = gv_clock_s() + AFTERWARDS * r->join.silence_s;
	char text[300];

	snprintf(text, sizeof(text), "NCCL: %s%s%s", r->n.error_string(result),
	    more != NULL && more[0] != '\0' ? ": " : "", more != NULL ? more : "");
	while (gv_clock_s() < until) {
		if (r->join.alive(r->join.ctx) != 0)
			return lost(c);
		gv_sleep_s(0.01);
	}
	abort_ranks(r);
	return gv_cuda_fail(c, text);
}

/* Called between two looks at something: 0, or -1 when it will not come. */
static int
still(struct gv_cuda *c, double since_s, unsigned looks)
{
	struct gv_cuda_ranks *r = c->ranks;
	char text[80];
	int state = GV_NCCL_SUCCESS, result;

	if (r->join.alive(r->join.ctx) != 0)
		return lost(c);
	result = r->comm == NULL ? 0 : r->n.state(r->comm, &state);
	if (result == GV_NCCL_SUCCESS && state != GV_NCCL_IN_PROGRESS)
		result = state;
	if (result != GV_NCCL_SUCCESS)
		return nccl_failed(c, result);
	if (gv_clock_s() - since_s > r->join.silence_s) {
		abort_ranks(r);
		snprintf(
		    text, sizeof(text), "NCCL: no end for %.0f s", r->join.silence_s);
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

/* A call of NCCL has been answered: until what it began is done. */
static int
settle(struct gv_cuda *c, int result)
{
	struct gv_cuda_ranks *r = c->ranks;
	double since = gv_clock_s();
	unsigned looks;
	int state;

	for (looks = 0; result == GV_NCCL_IN_PROGRESS; looks++) {
		if (still(c, since, looks) != 0)
			return -1;
		state = GV_NCCL_IN_PROGRESS;
		result = r->n.state(r->comm, &state);
		if (result == GV_NCCL_SUCCESS)
			result = state;
	}
	return result == GV_NCCL_SUCCESS ? 0 : nccl_failed(c, result);
}

/* ---- joining ---- */

static int
load(struct gv_cuda *c, struct gv_cuda_nccl *n, struct gv_error *e)
{
	if (c->load_nccl == NULL)
		return gv_error_set(e, "no NCCL");
	return c->load_nccl(n, e);
}

/* The host as NCCL tells it: by its name and the time it was started, or as told to. */
static void
host_of(char *to, size_t size)
{
	const char *told = getenv("NCCL_HOSTID");
	char boot[40] = "";
	size_t at;
	FILE *f;

	if (told != NULL && told[0] != '\0') {
		snprintf(to, size, "%s", told);
		return;
	}
	if (gethostname(to, size) != 0)
		to[0] = '\0';
	to[size - 1] = '\0';
	at = strlen(to);
	f = fopen("/proc/sys/kernel/random/boot_id", "re");
	if (f != NULL && fgets(boot, sizeof(boot), f) == NULL)
		boot[0] = '\0';
	if (f != NULL)
		fclose(f);
	boot[strcspn(boot, "\n")] = '\0';
	snprintf(to + at, size - at, " %s", boot);
}

int
gv_cuda_where(struct gv_nn_backend *be, struct gv_nn_where *w, struct gv_error *e)
{
	struct gv_cuda *c = (struct gv_cuda *)be;
	struct gv_cuda_nccl n;
	char bus[24] = "";

	memset(w, 0, sizeof(*w));
	if (load(c, &n, e) != 0)
		return -1;
	if (n.version(&w->version) != GV_NCCL_SUCCESS ||
	    c->d->device_bus(bus, sizeof(bus), c->device) != GV_CU_SUCCESS)
		return gv_error_set(
		    e, "%s (GPU %d): it does not say where it is", c->name, c->device);
	host_of(w->host, sizeof(w->host));
	snprintf(w->bus, sizeof(w->bus), "%s", bus);
	return 0;
}

int
gv_cuda_make_id(struct gv_nn_backend *be, unsigned char id[GV_NN_ID], struct gv_error *e)
{
	struct gv_cuda_nccl n;
	struct gv_nccl_id made;
	int result;

	if (load((struct gv_cuda *)be, &n, e) != 0)
		return -1;
	result = n.make_id(&made);
	if (result != GV_NCCL_SUCCESS)
		return gv_error_set(e, "NCCL: %s", n.error_string(result));
	memcpy(id, made.bytes, GV_NN_ID);
	return 0;
}

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
			   0 ||
		       gv_cuda_check(c, d->event_create(&r->all, quiet), "an event") != 0
		   ? -1
		   : 0;
}

int
gv_cuda_join(struct gv_nn_backend *be, const struct gv_nn_join *join, struct gv_error *e)
{
	struct gv_cuda *c = (struct gv_cuda *)be;
	struct gv_cuda_ranks *r = gv_xcalloc(1, sizeof(*r));
	struct gv_nccl_config config = {sizeof(config), GV_NCCL_MAGIC, GV_NCCL_LEAST, 0,
	    INT_MIN, INT_MIN, INT_MIN, NULL, INT_MIN};
	struct gv_nccl_id id;

	if (load(c, &r->n, e) != 0) {
		free(r);
		return -1;
	}
	r->join = *join;
	c->ranks = r;
	memcpy(id.bytes, join->id, GV_NN_ID);
	if (open_beside(c) == 0 &&
	    settle(c, r->n.init(&r->comm, join->ranks, id, join->rank, &config)) == 0)
		return 0;
	gv_error_set(e, "%s", c->error[0] != '\0' ? c->error : "a rank is gone");
	return -1;
}

void
gv_cuda_leave(struct gv_nn_backend *be)
{
	struct gv_cuda *c = (struct gv_cuda *)be;
	struct gv_cuda_ranks *r = c->ranks;

	if (r == NULL)
		return;
	if (c->failed || gv_cuda_sync(be) != 0 || r->comm == NULL ||
	    settle(c, r->n.finish(r->comm)) != 0)
		abort_ranks(r);
	if (r->comm != NULL)
		r->n.destroy(r->comm);
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
	free(r);
	c->ranks = NULL;
}

/* ---- sums ---- */

/* Part k of n numbers: [*at, *at + its size) */
static size_t
part_of(const struct gv_cuda_ranks *r, size_t n, size_t k, size_t *at)
{
	size_t ranks = (size_t)r->join.ranks;

	*at = n * k / ranks;
	return n * (k + 1) / ranks - *at;
}

/* The result of a group, of whose calls one may have failed. */
static int
end_group(struct gv_cuda *c, int result)
{
	int end = c->ranks->n.group_end();

	return settle(
	    c, result != GV_NCCL_SUCCESS && result != GV_NCCL_IN_PROGRESS ? result : end);
}

static int
sum_any(struct gv_cuda *c, const struct gv_nn_piece *piece, size_t pieces)
{
	struct gv_cuda_ranks *r = c->ranks;
	int result = r->n.group_start();
	size_t i;

	if (result != GV_NCCL_SUCCESS)
		return nccl_failed(c, result);
	for (i = 0;
	     i < pieces && (result == GV_NCCL_SUCCESS || result == GV_NCCL_IN_PROGRESS);
	     i++)
		result = r->n.all_reduce(piece[i].v, piece[i].v, piece[i].n,
		    GV_NCCL_FLOAT, GV_NCCL_SUM, r->comm, r->stream);
	return end_group(c, result);
}

/* Room for the own parts of all ranks. */
static int
find_room(struct gv_cuda *c, size_t n)
{
	struct gv_cuda_ranks *r = c->ranks;

	if (n <= r->room_n)
		return 0;
	if (r->room != 0 && (gv_cuda_reach_all(c) != 0 ||
				gv_cuda_check(c, c->d->release(r->room), "memory") != 0))
		return -1;
	r->room = 0;
	r->room_n = 0;
	if (gv_cuda_check(c, c->d->alloc(&r->room, n * sizeof(float)), "memory") != 0)
		return -1;
	r->room_n = n;
	return 0;
}

/* To rank k goes its part of v, or the own one, and here comes .. */
static int
exchange(struct gv_cuda *c, const struct gv_nn_piece *p, float *room, int k, bool sums)
{
	struct gv_cuda_ranks *r = c->ranks;
	size_t own_at, at, own = part_of(r, p->n, (size_t)r->join.rank, &own_at);
	size_t n = part_of(r, p->n, (size_t)k, &at);
	const float *from = sums ? p->v + own_at : p->v + at;
	float *to = sums ? p->v + at : room + (size_t)k * own;
	size_t n_from = sums ? own : n, n_to = sums ? n : own;
	int result = GV_NCCL_SUCCESS;

	if (n_from > 0)
		result = r->n.send(from, n_from, GV_NCCL_FLOAT, k, r->comm, r->stream);
	if (n_to > 0 && (result == GV_NCCL_SUCCESS || result == GV_NCCL_IN_PROGRESS))
		result = r->n.recv(to, n_to, GV_NCCL_FLOAT, k, r->comm, r->stream);
	return result;
}

/* The numbers of the ranks' parts (sums: their sums) of all pieces, in one group. */
static int
exchange_all(struct gv_cuda *c, const struct gv_nn_piece *piece, size_t pieces, bool sums)
{
	struct gv_cuda_ranks *r = c->ranks;
	float *room = (float *)(uintptr_t)r->room;
	int result = r->n.group_start(), k;
	size_t i, at;

	if (result != GV_NCCL_SUCCESS)
		return nccl_failed(c, result);
	for (i = 0; i < pieces; i++) {
		for (k = 0; k < r->join.ranks &&
			    (result == GV_NCCL_SUCCESS || result == GV_NCCL_IN_PROGRESS);
		     k++)
			if (k != r->join.rank)
				result = exchange(c, &piece[i], room, k, sums);
		room += (size_t)r->join.ranks *
			part_of(r, piece[i].n, (size_t)r->join.rank, &at);
	}
	return end_group(c, result);
}

/* The own part of a piece: all ranks' numbers as a tree over the ranks. */
static int
add_up(struct gv_cuda *c, const struct gv_nn_piece *p, float *room)
{
	struct gv_cuda_ranks *r = c->ranks;
	size_t at, n = part_of(r, p->n, (size_t)r->join.rank, &at);
	struct gv_cuda_tree t = {.B = 1,
	    .parts = (size_t)r->join.ranks,
	    .n = n,
	    .v = room,
	    .to = p->v + at,
	    .part_apart = n};
	int status;

	if (n == 0)
		return 0;
	status = gv_cuda_check(c,
	    c->d->copy((gv_cu_ptr)(uintptr_t)(room + (size_t)r->join.rank * n),
		(gv_cu_ptr)(uintptr_t)(p->v + at), n * sizeof(float), r->stream),
	    "a copy");
	return status != 0 ? -1 : gv_cuda_tree(&r->queue, &t) != 0 ? -1 : 0;
}

static int
sum_ordered(struct gv_cuda *c, const struct gv_nn_piece *piece, size_t pieces)
{
	struct gv_cuda_ranks *r = c->ranks;
	size_t i, at, n = 0;
	float *room;

	for (i = 0; i < pieces; i++)
		n += (size_t)r->join.ranks *
		     part_of(r, piece[i].n, (size_t)r->join.rank, &at);
	if (find_room(c, n) != 0 || exchange_all(c, piece, pieces, false) != 0)
		return -1;
	room = (float *)(uintptr_t)r->room;
	for (i = 0; i < pieces; i++) {
		if (add_up(c, &piece[i], room) != 0)
			return -1;
		room += (size_t)r->join.ranks *
			part_of(r, piece[i].n, (size_t)r->join.rank, &at);
	}
	return exchange_all(c, piece, pieces, true);
}

int
gv_cuda_add_ranks(
    struct gv_nn_backend *be, const struct gv_nn_piece *piece, size_t pieces)
{
	struct gv_cuda *c = (struct gv_cuda *)be;
	struct gv_cuda_ranks *r = c->ranks;

	if (gv_cuda_flush(c) != 0 || r->comm == NULL ||
	    gv_cuda_check(c, c->d->event_record(r->begun, c->stream), "an event") != 0 ||
	    gv_cuda_check(c, c->d->stream_wait(r->stream, r->begun, 0), "an event") != 0)
		return -1;
	r->open = true;
	return r->join.ordered ? sum_ordered(c, piece, pieces)
			       : sum_any(c, piece, pieces);
}

int
gv_cuda_added(struct gv_nn_backend *be)
{
	struct gv_cuda *c = (struct gv_cuda *)be;
	struct gv_cuda_ranks *r = c->ranks;

	if (gv_cuda_flush(c) != 0)
		return -1;
	if (!r->open)
		return 0;
	r->open = false;
	return gv_cuda_check(c, c->d->event_record(r->ended, r->stream), "an event") !=
			   0 ||
		       gv_cuda_check(
			   c, c->d->stream_wait(c->stream, r->ended, 0), "an event") != 0
		   ? -1
		   : 0;
}
