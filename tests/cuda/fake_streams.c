/* Streams, graphs and events of the fake driver. */
#include "parts.h"

#include <time.h>

/* ---- streams: queues ---- */

static struct CUstream_st *streams;
static float now_ms; /* of the device: something more with every operation */

void
gv_fake_append(struct ops *o, const struct op *op)
{
	if (o->n == o->cap && o->first > o->n / 2) {
		memmove(o->op, o->op + o->first, (o->n - o->first) * sizeof(*o->op));
		o->n -= o->first;
		o->first = 0;
	}
	if (o->n == o->cap) {
		o->cap = o->cap == 0 ? 64 : 2 * o->cap;
		o->op = realloc(o->op, o->cap * sizeof(*o->op));
		if (o->op == NULL)
			abort();
	}
	o->op[o->n++] = *op;
}

void
gv_fake_empty(struct ops *o)
{
	size_t i;

	for (i = o->first; i < o->n; i++) {
		free(o->op[i].kept);
		if (o->op[i].kind == EXCHANGE)
			gv_fake_exchange_drop(o->op[i].with);
	}
	free(o->op);
	*o = (struct ops){0};
}

void *
gv_fake_keep(const void *from, size_t bytes)
{
	void *p = malloc(bytes + 1);

	if (p == NULL)
		abort();
	return memcpy(p, from, bytes);
}

int
gv_fake_submit(struct CUstream_st *s, const struct op *op)
{
	if (s == NULL)
		return 400; /* the default stream, which nothing here uses */
	gv_fake_append(s->capturing ? &s->graph : &s->queue, op);
	return 0;
}

/* To 10 bits behind the point (TF32), or 7 (bfloat16); nearest, ties to even. */
static float
rounded(float v, int compute)
{
	unsigned drop = compute == GV_CU_COMPUTE_32F_FAST_TF32   ? 13
			: compute == GV_CU_COMPUTE_32F_FAST_16BF ? 16
								 : 0;
	uint32_t bits;

	if (drop == 0 || v != v)
		return v;
	memcpy(&bits, &v, sizeof(bits));
	bits += (1u << (drop - 1)) - 1 + (bits >> drop & 1);
	bits &= ~((1u << drop) - 1);
	memcpy(&v, &bits, sizeof(v));
	return v;
}

static float
bf16_at(const void *v, long long i)
{
	uint32_t bits = (uint32_t)((const uint16_t *)v)[i] << 16;
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

static float
factor(const struct product *p, const void *v, long long i)
{
	return p->type == GV_CU_R_16BF ? bf16_at(v, i)
				       : rounded(((const float *)v)[i], p->compute);
}

/* One number of c, which cuBLAS does not read where beta is 0. */
static void
store(const struct product *p, long long i, float sum)
{
	float *c = (float *)p->c + i, v = p->alpha * sum;
	uint16_t *s = (uint16_t *)p->c + i;
	uint32_t bits;

	if (p->c_type == GV_CU_R_32F) {
		*c = v + (p->beta != 0 ? p->beta * *c : 0);
		return;
	}
	v += p->beta != 0 ? p->beta * bf16_at(p->c, i) : 0;
	v = rounded(v, GV_CU_COMPUTE_32F_FAST_16BF);
	memcpy(&bits, &v, sizeof(bits));
	*s = (uint16_t)(bits >> 16);
}

/* Column-major: element (i, l) of a is a[l * lda + i], transposed a[i * lda + l]. */
static void
multiply(const struct product *p)
{
	long long z, i, j, l;

	for (z = 0; z < p->batch; z++)
		for (j = 0; j < p->n; j++)
			for (i = 0; i < p->m; i++) {
				float sum = 0;

				for (l = 0; l < p->k; l++)
					sum += factor(p, p->a,
						   z * p->a_stride +
						       (p->ta ? i * p->lda + l
							      : l * p->lda + i)) *
					       factor(p, p->b,
						   z * p->b_stride +
						       (p->tb ? l * p->ldb + j
							      : j * p->ldb + l));
				store(p, z * p->c_stride + j * p->ldc + i, sum);
			}
}

/* Whether it has ended: it may wait for another stream, or process. */
static int
run_op(const struct op *op)
{
	if (op->kind == WAIT)
		return op->event->done >= op->number;
	if (op->kind == EXCHANGE && !gv_fake_exchange(op->with))
		return 0;
	now_ms += 0.001f;
	switch (op->kind) {
	case KERNEL:
		if (emulator.run(&emulator, op->kernel, op->grid, op->threads, op->kept,
			op->bytes) != 0) {
			fprintf(stderr, "fake CUDA: %s: %s\n",
			    gv_cuda_kernel_name[op->kernel], emulator_error);
			gv_fake_broken = GV_CU_LAUNCH_FAILED;
		}
		break;
	case PRODUCT:
		multiply(&op->product);
		break;
	case FILL:
		memset(op->to, (int)(uintptr_t)op->from, op->bytes);
		break;
	case COPY:
		memcpy(op->to, op->kept != NULL ? op->kept : op->from, op->bytes);
		break;
	case RECORD:
		op->event->ms = now_ms;
		op->event->done = op->number;
		break;
	case WAIT:
	case EXCHANGE:
	case NOTHING:
		break;
	}
	return 1;
}

/* The first of a queue; 0: there is none, or it waits. */
static int
run_first(struct CUstream_st *s)
{
	struct ops *o = &s->queue;
	struct op *op = &o->op[o->first];

	if (o->first == o->n || !run_op(op))
		return 0;
	free(op->kept);
	if (op->kind == EXCHANGE)
		gv_fake_exchange_drop(op->with);
	if (++o->first == o->n)
		o->first = o->n = 0;
	return 1;
}

/* What the first of a stream waits for, of another one; else of any: the last made first. */
static int
run_others(const struct CUstream_st *s)
{
	struct CUstream_st *other;

	for (other = streams; other != NULL; other = other->next)
		if (other != s && run_first(other))
			return 1;
	return 0;
}

static void
nap(void)
{
	const struct timespec t = {0, 50000};

	nanosleep(&t, NULL);
}

/*
 * A device that is as lazy as can be: of s nothing more than until is done, of other
 * streams only what s waits for.
 */
static void
run_until(struct CUstream_st *s, const struct CUevent_st *until)
{
	unsigned long number = until != NULL ? until->records : 0;

	gv_fake_open_memory(1);
	while (gv_fake_broken == 0 && s->queue.n > 0 &&
	       (until == NULL || until->done < number))
		if (!run_first(s) && !run_others(s))
			nap();
	gv_fake_open_memory(0);
}

static void
run_stream(struct CUstream_st *s)
{
	run_until(s, NULL);
	if (gv_fake_broken != 0)
		gv_fake_empty(&s->queue);
}

void
gv_fake_run_streams(void)
{
	struct CUstream_st *s;

	for (s = streams; s != NULL; s = s->next)
		run_stream(s);
}

/* The stream that has the event's last record. */
static struct CUstream_st *
stream_of(const struct CUevent_st *e)
{
	struct CUstream_st *s;
	size_t i;

	for (s = streams; s != NULL; s = s->next)
		for (i = s->queue.first; i < s->queue.n; i++)
			if (s->queue.op[i].kind == RECORD && s->queue.op[i].event == e)
				return s;
	return NULL;
}

int
cuStreamCreate(gv_cu_stream *s, unsigned flags)
{
	(void)flags;
	ENTER(cuStreamCreate);
	if ((*s = calloc(1, sizeof(**s))) == NULL)
		return GV_CU_OUT_OF_MEMORY;
	(*s)->next = streams;
	streams = *s;
	return 0;
}

int
cuStreamDestroy_v2(gv_cu_stream s)
{
	struct CUstream_st **at = &streams;
	int failure = gv_fake_enter(N_cuStreamDestroy_v2);

	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	if (failure == 0)
		run_stream(s);
	gv_fake_empty(&s->queue);
	gv_fake_empty(&s->graph);
	free(s);
	return failure;
}

int
cuStreamSynchronize(gv_cu_stream s)
{
	ENTER(cuStreamSynchronize);
	if (s->capturing)
		return 900;
	run_stream(s);
	return gv_fake_broken;
}

int
cuStreamWaitEvent(gv_cu_stream s, gv_cu_event e, unsigned flags)
{
	(void)flags;
	ENTER(cuStreamWaitEvent);
	return gv_fake_submit(
	    s, &(struct op){.kind = WAIT, .event = e, .number = e->records});
}

int
cuMemsetD8Async(gv_cu_ptr p, unsigned char v, size_t n, gv_cu_stream s)
{
	ENTER(cuMemsetD8Async);
	return gv_fake_submit(s, &(struct op){.kind = FILL,
				     .to = (void *)(uintptr_t)p,
				     .from = (void *)(uintptr_t)v,
				     .bytes = n});
}

int
cuMemcpyHtoDAsync_v2(gv_cu_ptr to, const void *from, size_t bytes, gv_cu_stream s)
{
	ENTER(cuMemcpyHtoDAsync_v2);
	if (s != NULL && s->capturing && !gv_fake_is_pinned(from))
		return 900;
	return gv_fake_submit(
	    s, &(struct op){.kind = COPY,
		   .to = (void *)(uintptr_t)to,
		   .from = from,
		   /* pinned memory is read when its turn comes */
		   .kept = gv_fake_is_pinned(from) ? NULL : gv_fake_keep(from, bytes),
		   .bytes = bytes});
}

int
cuMemcpyDtoHAsync_v2(void *to, gv_cu_ptr from, size_t bytes, gv_cu_stream s)
{
	ENTER(cuMemcpyDtoHAsync_v2);
	return gv_fake_submit(s,
	    &(struct op){
		.kind = COPY, .to = to, .from = (void *)(uintptr_t)from, .bytes = bytes});
}

int
cuMemcpyDtoDAsync_v2(gv_cu_ptr to, gv_cu_ptr from, size_t bytes, gv_cu_stream s)
{
	ENTER(cuMemcpyDtoDAsync_v2);
	return gv_fake_submit(s, &(struct op){.kind = COPY,
				     .to = (void *)(uintptr_t)to,
				     .from = (void *)(uintptr_t)from,
				     .bytes = bytes});
}

/* ---- graphs and events ---- */

int
cuStreamBeginCapture_v2(gv_cu_stream s, int mode)
{
	(void)mode;
	ENTER(cuStreamBeginCapture_v2);
	if (s->capturing)
		return 901;
	s->capturing = 1;
	return 0;
}

int
cuStreamEndCapture(gv_cu_stream s, gv_cu_graph *g)
{
	ENTER(cuStreamEndCapture);
	if (!s->capturing || (*g = calloc(1, sizeof(**g))) == NULL)
		return 901;
	(*g)->ops = s->graph;
	s->graph = (struct ops){0};
	s->capturing = 0;
	return 0;
}

/* A copy with what its kernels were given. */
static void
append_copy(struct ops *to, const struct op *op)
{
	struct op one = *op;

	if (op->kept != NULL)
		one.kept = gv_fake_keep(op->kept, op->bytes);
	gv_fake_append(to, &one);
}

int
cuGraphInstantiateWithFlags(gv_cu_graph_exec *x, gv_cu_graph g, unsigned long long flags)
{
	size_t i;

	(void)flags;
	ENTER(cuGraphInstantiateWithFlags);
	if ((*x = calloc(1, sizeof(**x))) == NULL)
		return GV_CU_OUT_OF_MEMORY;
	for (i = 0; i < g->ops.n; i++)
		append_copy(&(*x)->ops, &g->ops.op[i]);
	return 0;
}

int
cuGraphLaunch(gv_cu_graph_exec x, gv_cu_stream s)
{
	size_t i;

	ENTER(cuGraphLaunch);
	for (i = 0; i < x->ops.n; i++)
		append_copy(s->capturing ? &s->graph : &s->queue, &x->ops.op[i]);
	return 0;
}

int
cuGraphDestroy(gv_cu_graph g)
{
	gv_fake_empty(&g->ops);
	free(g);
	ENTER(cuGraphDestroy);
	return 0;
}

int
cuGraphExecDestroy(gv_cu_graph_exec x)
{
	gv_fake_empty(&x->ops);
	free(x);
	ENTER(cuGraphExecDestroy);
	return 0;
}

int
cuEventCreate(gv_cu_event *e, unsigned flags)
{
	(void)flags;
	ENTER(cuEventCreate);
	return (*e = calloc(1, sizeof(**e))) == NULL ? GV_CU_OUT_OF_MEMORY : 0;
}

int
cuEventDestroy_v2(gv_cu_event e)
{
	struct CUstream_st *s;
	size_t i;

	/* what is queued of it goes on without it */
	for (s = streams; s != NULL; s = s->next)
		for (i = s->queue.first; i < s->queue.n; i++)
			if (s->queue.op[i].event == e)
				s->queue.op[i] = (struct op){.kind = NOTHING};
	free(e);
	ENTER(cuEventDestroy_v2);
	return 0;
}

int
cuEventRecord(gv_cu_event e, gv_cu_stream s)
{
	ENTER(cuEventRecord);
	return gv_fake_submit(
	    s, &(struct op){.kind = RECORD, .event = e, .number = ++e->records});
}

int
cuEventSynchronize(gv_cu_event e)
{
	struct CUstream_st *s = stream_of(e);

	ENTER(cuEventSynchronize);
	if (s != NULL)
		run_until(s, e);
	if (gv_fake_broken != 0)
		return gv_fake_broken;
	return e->records > 0 ? 0 : 400;
}

/* The device does a little between two questions. */
int
cuEventQuery(gv_cu_event e)
{
	struct CUstream_st *s = stream_of(e);
	int some = 16;

	ENTER(cuEventQuery);
	gv_fake_open_memory(1);
	while (s != NULL && e->done < e->records && gv_fake_broken == 0 && some-- > 0 &&
	       (run_first(s) || run_others(s)))
		;
	gv_fake_open_memory(0);
	if (gv_fake_broken != 0)
		return gv_fake_broken;
	return e->done == e->records ? 0 : GV_CU_NOT_READY;
}

int
cuEventElapsedTime(float *ms, gv_cu_event from, gv_cu_event to)
{
	ENTER(cuEventElapsedTime);
	if (from->done == 0 || to->done != to->records)
		return GV_CU_NOT_READY;
	*ms = to->ms - from->ms;
	return 0;
}

void
gv_fake_forget_streams(void)
{
	for (; streams != NULL; streams = streams->next) {
		gv_fake_empty(&streams->queue);
		gv_fake_empty(&streams->graph);
	}
}
