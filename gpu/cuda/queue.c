/*
 * What is launched goes into a list, and the list to the device when somebody waits
 * or copies.  Steps of training launch the same things again and again: a list that
 * was met before, byte for byte, becomes a graph, and its launches one.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cuda/parts.h"

enum kind { KERNEL, COPY, PRODUCT };

/* One launch; the kernel's arguments, or the product, follow. */
struct record {
	size_t size; /* of the record with what follows */
	enum kind kind;
	enum gv_cuda_kernel kernel;
	struct gv_cuda_grid grid;
	unsigned threads;
	gv_cu_ptr to, from;
	size_t bytes;
};

/* Shorter lists are not worth a graph. */
enum { WORTH_A_GRAPH = 3 };

/* ---- into the list ---- */

static void
add(struct gv_cuda *c, const struct record *r, const void *behind, size_t bytes)
{
	struct gv_cuda_list *l = &c->list;
	size_t size = sizeof(*r) + (bytes + 15) / 16 * 16;
	char *at;

	l->bytes = gv_xgrow(l->bytes, &l->cap, l->n + size, 1);
	at = l->bytes + l->n;
	memset(at, 0, size);
	memcpy(at, r, sizeof(*r));
	((struct record *)(void *)at)->size = size;
	if (bytes > 0)
		memcpy(at + sizeof(*r), behind, bytes);
	l->n += size;
	l->launches++;
}

static struct record
record_of(enum kind kind)
{
	struct record r;

	memset(&r, 0, sizeof(r)); /* holes too: lists are compared byte by byte */
	r.kind = kind;
	return r;
}

static int
queue_kernel(const struct gv_cuda_queue *q, enum gv_cuda_kernel kernel,
    struct gv_cuda_grid grid, unsigned threads, const void *args, size_t bytes)
{
	struct gv_cuda *c = q->ctx;
	struct record r = record_of(KERNEL);

	if (c->failed)
		return -1;
	r.kernel = kernel;
	r.grid = grid;
	r.threads = threads;
	r.bytes = bytes;
	add(c, &r, args, bytes);
	return 0;
}

int
gv_cuda_queue_copy(struct gv_cuda *c, void *to, const void *from, size_t bytes)
{
	struct record r = record_of(COPY);

	if (c->failed)
		return -1;
	r.to = (gv_cu_ptr)(uintptr_t)to;
	r.from = (gv_cu_ptr)(uintptr_t)from;
	r.bytes = bytes;
	if (bytes > 0)
		add(c, &r, NULL, 0);
	return 0;
}

int
gv_cuda_queue_product(struct gv_cuda *c, const struct gv_cuda_product *g)
{
	struct record r = record_of(PRODUCT);

	if (c->failed)
		return -1;
	r.bytes = sizeof(*g);
	add(c, &r, g, sizeof(*g));
	return 0;
}

/* ---- from the list to the device ---- */

static int
find_function(struct gv_cuda *c, enum gv_cuda_kernel kernel)
{
	if (c->function[kernel] != NULL)
		return 0;
	return gv_cuda_check(c,
	    c->d->module_function(
		&c->function[kernel], c->module, gv_cuda_kernel_name[kernel]),
	    gv_cuda_kernel_name[kernel]);
}

int
gv_cuda_launch_on(struct gv_cuda *c, gv_cu_stream stream, enum gv_cuda_kernel kernel,
    struct gv_cuda_grid grid, unsigned threads, const void *args)
{
	void *all[] = {(void *)(uintptr_t)args};

	if (find_function(c, kernel) != 0)
		return -1;
	return gv_cuda_check(c,
	    c->d->launch(c->function[kernel], grid.x, grid.y, grid.z, threads, 1, 1, 0,
		stream, all, NULL),
	    gv_cuda_kernel_name[kernel]);
}

static int
run_one(struct gv_cuda *c, struct record *r)
{
	void *behind = r + 1;

	switch (r->kind) {
	case COPY:
		return gv_cuda_check(
		    c, c->d->copy(r->to, r->from, r->bytes, c->stream), "a copy");
	case PRODUCT:
		return gv_cuda_blas_product(c, behind);
	case KERNEL:
		break;
	}
	return gv_cuda_launch_on(c, c->stream, r->kernel, r->grid, r->threads, behind);
}

static int
run_list(struct gv_cuda *c)
{
	size_t at;

	for (at = 0; at < c->list.n;) {
		struct record *r = (struct record *)(void *)(c->list.bytes + at);

		if (run_one(c, r) != 0)
			return -1;
		at += r->size;
	}
	return 0;
}

/* The graph of what was captured. */
static int
finish_capture(struct gv_cuda *c, gv_cu_graph_exec *x)
{
	gv_cu_graph g = NULL;
	int status;

	if (gv_cuda_check(c, c->d->captured(c->stream, &g), "a graph") != 0)
		return -1;
	status = gv_cuda_check(c, c->d->graph_instantiate(x, g, 0), "a graph");
	c->d->graph_destroy(g);
	return status;
}

static int
make_graph(struct gv_cuda *c, struct gv_cuda_known *k)
{
	if (gv_cuda_check(c, c->d->capture(c->stream, GV_CU_CAPTURE_THREAD), "a graph") !=
	    0)
		return -1;
	if (run_list(c) != 0) {
		gv_cu_graph g = NULL;

		if (c->d->captured(c->stream, &g) == 0 && g != NULL)
			c->d->graph_destroy(g);
		return -1;
	}
	return finish_capture(c, &k->graph);
}

static void
forget(struct gv_cuda *c, struct gv_cuda_known *k)
{
	if (k->graph != NULL)
		c->d->graph_exec_destroy(k->graph);
	free(k->bytes);
	*k = (struct gv_cuda_known){0};
}

/* The list that was met before; NULL = never, and now it was. */
static struct gv_cuda_known *
meet(struct gv_cuda *c)
{
	struct gv_cuda_known *oldest = &c->known[0];
	size_t i;

	for (i = 0; i < GV_CUDA_GRAPHS; i++) {
		struct gv_cuda_known *k = &c->known[i];

		if (k->bytes != NULL && k->n == c->list.n &&
		    memcmp(k->bytes, c->list.bytes, k->n) == 0) {
			k->used = ++c->clock;
			return k;
		}
		if (k->used < oldest->used)
			oldest = k;
	}
	forget(c, oldest);
	oldest->bytes = gv_xcalloc(c->list.n, 1);
	memcpy(oldest->bytes, c->list.bytes, c->list.n);
	oldest->n = c->list.n;
	oldest->used = ++c->clock;
	return NULL;
}

static int
launch_list(struct gv_cuda *c)
{
	struct gv_cuda_known *k;

	if (!c->graphs || c->capturing || c->times != NULL ||
	    c->list.launches < WORTH_A_GRAPH || (k = meet(c)) == NULL)
		return run_list(c);
	if (k->graph == NULL && make_graph(c, k) != 0)
		return -1;
	return gv_cuda_check(c, c->d->graph_launch(k->graph, c->stream), "a graph");
}

int
gv_cuda_flush(struct gv_cuda *c)
{
	int status;

	if (c->failed)
		return -1;
	status = c->list.n == 0 ? 0 : launch_list(c);
	c->list.n = c->list.launches = 0;
	c->list.reads = 0;
	c->index.next = c->index.bytes = c->key.next = c->key.bytes = 0;
	return status;
}

/* ---- graphs and events of the caller ---- */

int
gv_cuda_capture(struct gv_nn_backend *be, int stream)
{
	struct gv_cuda *c = (struct gv_cuda *)be;

	(void)stream;
	if (c->capturing || gv_cuda_flush(c) != 0 ||
	    gv_cuda_check(c, c->d->capture(c->stream, GV_CU_CAPTURE_THREAD), "a graph") !=
		0)
		return -1;
	c->capturing = true;
	return 0;
}

int
gv_cuda_captured(struct gv_nn_backend *be, int stream)
{
	struct gv_cuda *c = (struct gv_cuda *)be;
	int status = gv_cuda_flush(c);

	(void)stream;
	c->capturing = false;
	c->kept = gv_xgrow(c->kept, &c->kept_cap, c->kept_n + 1, sizeof(*c->kept));
	c->kept[c->kept_n] = NULL;
	if (status != 0 || finish_capture(c, &c->kept[c->kept_n]) != 0)
		return -1;
	return (int)c->kept_n++;
}

int
gv_cuda_replay(struct gv_nn_backend *be, int stream, int graph)
{
	struct gv_cuda *c = (struct gv_cuda *)be;

	(void)stream;
	if (graph < 0 || (size_t)graph >= c->kept_n || gv_cuda_flush(c) != 0)
		return -1;
	return gv_cuda_check(c, c->d->graph_launch(c->kept[graph], c->stream), "a graph");
}

static int
find_event(struct gv_cuda *c, int event)
{
	size_t n = (size_t)event + 1, i;

	if (n > c->events) {
		c->event = gv_xgrow(c->event, &c->events_cap, n, sizeof(*c->event));
		for (i = c->events; i < n; i++)
			c->event[i] = NULL;
		c->events = n;
	}
	if (c->event[event] != NULL)
		return 0;
	return gv_cuda_check(c,
	    c->d->event_create(
		&c->event[event], GV_CU_EVENT_BLOCKING | GV_CU_EVENT_NO_TIME),
	    "an event");
}

int
gv_cuda_record(struct gv_nn_backend *be, int stream, int event)
{
	struct gv_cuda *c = (struct gv_cuda *)be;

	(void)stream;
	if (gv_cuda_flush(c) != 0 || find_event(c, event) != 0)
		return -1;
	return gv_cuda_check(
	    c, c->d->event_record(c->event[event], c->stream), "an event");
}

int
gv_cuda_wait(struct gv_nn_backend *be, int stream, int event)
{
	struct gv_cuda *c = (struct gv_cuda *)be;

	(void)stream;
	if (gv_cuda_flush(c) != 0 || find_event(c, event) != 0)
		return -1;
	return gv_cuda_check(
	    c, c->d->stream_wait(c->stream, c->event[event], 0), "an event");
}

int
gv_cuda_await(struct gv_nn_backend *be, int event)
{
	struct gv_cuda *c = (struct gv_cuda *)be;

	if (c->failed)
		return -1;
	return gv_cuda_reach(c, c->event[event]);
}

void
gv_cuda_queue_open(struct gv_cuda *c)
{
	c->queue = (struct gv_cuda_queue){.run = queue_kernel, .ctx = c};
	c->function = gv_xcalloc(GV_CUDA_KERNELS, sizeof(*c->function));
}

void
gv_cuda_queue_close(struct gv_cuda *c)
{
	size_t i;

	for (i = 0; i < GV_CUDA_GRAPHS; i++)
		forget(c, &c->known[i]);
	for (i = 0; i < c->kept_n; i++)
		c->d->graph_exec_destroy(c->kept[i]);
	for (i = 0; i < c->events; i++)
		if (c->event[i] != NULL)
			c->d->event_destroy(c->event[i]);
	free(c->kept);
	free(c->event);
	free(c->function);
	free(c->list.bytes);
}
