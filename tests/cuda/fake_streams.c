/* Streams, graphs and events of the fake driver. */
#include "parts.h"

/* ---- streams: queues ---- */

static struct CUstream_st *streams;
static float now_ms; /* of the device: something more with every operation */

void
gv_fake_append(struct ops *o, const struct op *op)
{
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

	for (i = 0; i < o->n; i++)
		free(o->op[i].kept);
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

static void
run_op(const struct op *op)
{
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
		op->event->recorded = 1;
	}
}

static void
run_stream(struct CUstream_st *s)
{
	size_t i;

	if (s->queue.n == 0)
		return;
	gv_fake_open_memory(1);
	for (i = 0; i < s->queue.n && gv_fake_broken == 0; i++)
		run_op(&s->queue.op[i]);
	gv_fake_open_memory(0);
	gv_fake_empty(&s->queue);
}

void
gv_fake_run_streams(void)
{
	struct CUstream_st *s;

	for (s = streams; s != NULL; s = s->next)
		run_stream(s);
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
	(void)s;
	(void)e;
	(void)flags;
	ENTER(cuStreamWaitEvent);
	return 0;
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
	free(e);
	ENTER(cuEventDestroy_v2);
	return 0;
}

int
cuEventRecord(gv_cu_event e, gv_cu_stream s)
{
	ENTER(cuEventRecord);
	e->recorded = 0;
	return gv_fake_submit(s, &(struct op){.kind = RECORD, .event = e});
}

int
cuEventSynchronize(gv_cu_event e)
{
	ENTER(cuEventSynchronize);
	gv_fake_run_streams();
	return e->recorded ? 0 : 400;
}

int
cuEventElapsedTime(float *ms, gv_cu_event from, gv_cu_event to)
{
	ENTER(cuEventElapsedTime);
	if (!from->recorded || !to->recorded)
		return 600;
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
