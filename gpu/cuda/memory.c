/* Memory of the device, of the host for copies, and the copies. */
#include <stdlib.h>
#include <string.h>

#include "cuda/parts.h"

static struct gv_cuda *
of(struct gv_nn_backend *be)
{
	return (struct gv_cuda *)be;
}

static gv_cu_ptr
ptr(const void *p)
{
	return (gv_cu_ptr)(uintptr_t)p;
}

/* Why there is no memory. */
static void *
no_memory(struct gv_cuda *c, int result, size_t bytes, struct gv_error *e)
{
	char text[160];
	size_t left = 0, total = 0;

	if (result == GV_CU_OUT_OF_MEMORY && c->d->memory_info(&left, &total) == 0)
		gv_error_set(e,
		    "too little memory on %s (GPU %d): %zu bytes wanted, %zu of %zu are "
		    "free",
		    c->name, c->device, bytes, left, total);
	else
		gv_error_set(e, "%s (GPU %d): no memory: %s", c->name, c->device,
		    gv_cuda_result(c->d, result, text, sizeof(text)));
	return NULL;
}

void *
gv_cuda_alloc(
    struct gv_nn_backend *be, enum gv_nn_memory kind, size_t bytes, struct gv_error *e)
{
	struct gv_cuda *c = of(be);
	size_t room = bytes > 0 ? bytes : 1; /* the driver gives nothing for nothing */
	gv_cu_ptr p = 0;
	void *host = NULL;
	int r;

	if (kind == GV_NN_PINNED) {
		r = c->d->host_alloc(&host, room, 0);
		if (r != GV_CU_SUCCESS)
			return no_memory(c, r, bytes, e);
		return memset(host, 0, room);
	}
	r = c->d->alloc(&p, room);
	if (r != GV_CU_SUCCESS)
		return no_memory(c, r, bytes, e);
	r = c->d->fill(p, 0, room, c->stream);
	if (r == GV_CU_SUCCESS)
		return (void *)(uintptr_t)p;
	c->d->release(p);
	return no_memory(c, r, bytes, e);
}

void
gv_cuda_release(struct gv_nn_backend *be, enum gv_nn_memory kind, void *p)
{
	struct gv_cuda *c = of(be);

	if (p == NULL)
		return;
	if (kind == GV_NN_PINNED) {
		c->d->host_free(p);
		return;
	}
	gv_cuda_flush(c); /* what waits may use it; the driver waits for what runs */
	c->d->release(ptr(p));
}

/* The stream is through: what was on its way has gone. */
static int
wait_for_all(struct gv_cuda *c)
{
	if (gv_cuda_reach_all(c) != 0)
		return -1;
	c->staged = 0;
	memset(c->on_its_way, 0, sizeof(c->on_its_way));
	return c->times == NULL ? 0 : gv_cuda_laps_read(c);
}

enum { PART = GV_CUDA_STAGE / GV_CUDA_STAGE_PARTS };

/* The next part of the stage, once what was there is with the device. */
static int
next_part(struct gv_cuda *c)
{
	gv_cu_event *left = &c->left[c->part];

	if (*left == NULL &&
	    gv_cuda_check(c,
		c->d->event_create(left, GV_CU_EVENT_BLOCKING | GV_CU_EVENT_NO_TIME),
		"an event") != 0)
		return -1;
	if (gv_cuda_check(c, c->d->event_record(*left, c->stream), "an event") != 0)
		return -1;
	c->on_its_way[c->part] = true;
	c->part = (c->part + 1) % GV_CUDA_STAGE_PARTS;
	c->staged = 0;
	if (!c->on_its_way[c->part])
		return 0;
	c->on_its_way[c->part] = false;
	return gv_cuda_reach(c, c->left[c->part]);
}

/*
 * Small things go through memory of our own, so that from may change at once and
 * nobody waits; large ones by the driver, which comes back when it has read them.
 */
static int
put_now(struct gv_cuda *c, void *to, const void *from, size_t bytes)
{
	if (bytes == 0)
		return 0;
	/* the driver may wait for what is queued before it reads */
	if (bytes > PART && c->ranks != NULL && wait_for_all(c) != 0)
		return -1;
	if (bytes <= PART) {
		if (c->staged + bytes > PART && next_part(c) != 0)
			return -1;
		from = memcpy(c->stage + c->part * PART + c->staged, from, bytes);
		c->staged += (bytes + 63) / 64 * 64;
	}
	return gv_cuda_check(
	    c, c->d->put(ptr(to), from, bytes, c->stream), "a copy to the device");
}

int
gv_cuda_put(struct gv_nn_backend *be, void *to, const void *from, size_t bytes)
{
	struct gv_cuda *c = of(be);

	return gv_cuda_flush(c) != 0 ? -1 : put_now(c, to, from, bytes);
}

int
gv_cuda_send(struct gv_cuda *c, unsigned reads, void *to, const void *from, size_t bytes)
{
	if (c->failed || ((c->list.reads & reads) && gv_cuda_flush(c) != 0))
		return -1;
	return put_now(c, to, from, bytes);
}

const void *
gv_cuda_send_room(
    struct gv_cuda *c, struct gv_cuda_rooms *r, const void *from, size_t bytes)
{
	if (bytes == r->bytes && memcmp(r->host, from, bytes) == 0)
		return r->last;
	if (r->next == r->rooms)
		gv_cuda_flush(c);
	r->last = r->room + r->next++ * r->each;
	r->bytes = bytes;
	gv_cuda_send(c, 0, r->last, memcpy(r->host, from, bytes), bytes);
	return r->last;
}

int
gv_cuda_fetch(struct gv_nn_backend *be, void *to, const void *from, size_t bytes)
{
	struct gv_cuda *c = of(be);

	if (gv_cuda_flush(c) != 0)
		return -1;
	return bytes == 0 ? 0
			  : gv_cuda_check(c, c->d->get(to, ptr(from), bytes, c->stream),
				"a copy from the device");
}

int
gv_cuda_get(struct gv_nn_backend *be, void *to, const void *from, size_t bytes)
{
	struct gv_cuda *c = of(be);

	if (gv_cuda_flush(c) != 0)
		return -1;
	if (bytes > 0 && gv_cuda_check(c, c->d->get(to, ptr(from), bytes, c->stream),
			     "a copy from the device") != 0)
		return -1;
	return wait_for_all(c);
}

int
gv_cuda_copy(struct gv_nn_backend *be, void *to, const void *from, size_t bytes)
{
	return gv_cuda_queue_copy(of(be), to, from, bytes);
}

int
gv_cuda_sync(struct gv_nn_backend *be)
{
	struct gv_cuda *c = of(be);

	return gv_cuda_flush(c) != 0 ? -1 : wait_for_all(c);
}
