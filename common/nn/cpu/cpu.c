/* The CPU's functions in one struct, and those of them that are a line or two. */
#include "nn/cpu/cpu.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "nn/cpu/gemm.h"
#include "nn/cpu/parts.h"
#include "nn/cpu/times.h"

enum { CACHE = 1 << 20 };

/*
 * As many models as have their parameters, gradients, state and activations in the
 * second cache, for each thread; at least one.
 */
static size_t
models_together(const struct gv_cpu *cpu)
{
	const struct gv_nn_plan *p = cpu->plan;
	double bytes = sizeof(gv_real) *
		       (4 * (double)p->P + 2 * (double)p->activations * (double)p->n);
	double models = (double)CACHE / (bytes + 1);

	return cpu->threads * (models < 1 ? 1 : (size_t)models);
}

/*
 * Whether no loop of a step is worth sharing: threads that took part in some would only take
 * from each other's caches.
 */
static bool
is_for_one(const struct gv_cpu *cpu)
{
	enum { NUMBERS = 1 << 17 }; /* parameters that a second cache holds */
	const struct gv_nn_plan *p = cpu->plan;
	double sample = p->flops + 4 * (double)p->activations;

	return !cpu->relayed && p->B * p->P < NUMBERS &&
	       sample * (double)(p->B * p->n) < 2 * GV_CPU_WORTH;
}

static void
learn_plan(
    struct gv_nn_backend *be, const struct gv_nn_plan *plan, struct gv_nn_room *room)
{
	struct gv_cpu *cpu = (struct gv_cpu *)be;

	cpu->plan = plan;
	gv_cpu_lay_out(cpu);
	if (is_for_one(cpu)) {
		cpu->threads = 1;
		gv_cpu_lay_out(cpu);
	}
	room->packed = cpu->packed_size;
	room->scratch = cpu->threads * cpu->scratch_size + cpu->partial_size;
	room->together = models_together(cpu);
	room->learns = plan->B == 1;
}

static int
start(struct gv_nn_backend *be, gv_real *scratch, struct gv_error *e)
{
	struct gv_cpu *cpu = (struct gv_cpu *)be;

	cpu->scratch = scratch;
	cpu->partial = scratch + cpu->threads * cpu->scratch_size;
	gv_cpu_cut_pieces(cpu);
	gv_cpu_conv_list(cpu);
	cpu->pool = gv_cpu_threads_new(cpu->threads);
	if (cpu->pool == NULL)
		return gv_error_sys(e, "cannot start %zu threads", cpu->threads);
	return 0;
}

static void
free_cpu(struct gv_nn_backend *be)
{
	struct gv_cpu *cpu = (struct gv_cpu *)be;

	gv_cpu_threads_free(cpu->pool);
	gv_cpu_times_free(cpu->times);
	free(cpu->row);
	free(cpu->piece);
	free(cpu->order);
	free(cpu->elements);
	free(cpu->made);
	free(cpu->own);
	free(cpu->taps);
	free(cpu->area);
	free(cpu->area_begins);
	free(cpu->begins);
	free(cpu->pack_begins);
	free(cpu->baton);
	free(cpu);
}

/* ---- memory: on a cache line ---- */

static void *
alloc(struct gv_nn_backend *be, enum gv_nn_memory kind, size_t bytes, struct gv_error *e)
{
	size_t room = (bytes + 63) / 64 * 64 + 64;
	void *p = aligned_alloc(64, room);

	(void)be;
	(void)kind;
	if (p == NULL)
		gv_error_set(e, "out of memory: %zu bytes wanted", bytes);
	else {
		gv_large_pages(p, room);
		memset(p, 0, room);
	}
	return p;
}

static void
release(struct gv_nn_backend *be, enum gv_nn_memory kind, void *p)
{
	(void)be;
	(void)kind;
	free(p);
}

static int
copy(struct gv_nn_backend *be, void *to, const void *from, size_t bytes)
{
	(void)be;
	if (bytes > 0)
		memcpy(to, from, bytes);
	return 0;
}

static int
gather(struct gv_nn_backend *be, int stream, void *to, const void *from,
    const uint32_t *index, size_t n, size_t bytes)
{
	char *dst = to;
	size_t j;

	(void)be;
	(void)stream;
	for (j = 0; j < n; j++)
		memcpy(dst + j * bytes, (const char *)from + index[j] * bytes, bytes);
	return 0;
}

/* ---- general tools ---- */

static int
batched_gemm(struct gv_nn_backend *be, int stream, const struct gv_nn_gemm *g)
{
	gv_real *packed = gv_xcalloc(gv_cpu_gemm_packed(g->k, g->n), sizeof(*packed));
	size_t z;

	(void)be;
	(void)stream;
	for (z = 0; z < g->batch; z++) {
		struct gv_cpu_gemm one = {.m = g->m,
		    .n = g->n,
		    .k = g->k,
		    .a = g->a + z * g->a_batch,
		    .lda = g->lda,
		    .transposed = g->a_transposed,
		    .b = packed,
		    .c = g->c + z * g->c_batch,
		    .ldc = g->ldc,
		    .bias = g->bias == NULL ? NULL : g->bias + z * g->bias_batch,
		    .add = g->add,
		    .relu = g->relu};

		if (z == 0 || g->b_batch > 0)
			gv_cpu_gemm_pack(packed, g->b + z * g->b_batch,
			    g->b_transposed ? 1 : g->ldb, g->b_transposed ? g->ldb : 1,
			    g->k, g->n);
		gv_cpu_gemm(&one);
	}
	free(packed);
	return 0;
}

static int
sum_tree(struct gv_nn_backend *be, int stream, gv_real *v, size_t parts, size_t n)
{
	(void)be;
	(void)stream;
	gv_cpu_sum_tree(v, parts, n);
	return 0;
}

/* ---- one stream, which is the caller's own time ---- */

static int
at_once(struct gv_nn_backend *be, int stream, int event)
{
	(void)be;
	(void)stream;
	(void)event;
	return 0;
}

static int
there_already(struct gv_nn_backend *be, int event)
{
	(void)be;
	(void)event;
	return 0;
}

static int
no_graph(struct gv_nn_backend *be, int stream)
{
	(void)be;
	(void)stream;
	return -1;
}

static int
no_replay(struct gv_nn_backend *be, int stream, int graph)
{
	(void)graph;
	return no_graph(be, stream);
}

static int
sync_all(struct gv_nn_backend *be)
{
	(void)be;
	return 0;
}

static void
set_times(struct gv_nn_backend *be, struct gv_net_times *times)
{
	struct gv_cpu *cpu = (struct gv_cpu *)be;

	gv_cpu_times_free(cpu->times);
	cpu->times = gv_cpu_times_new(cpu->plan->rows, cpu->threads, times);
}

static const char *
no_error(struct gv_nn_backend *be)
{
	(void)be;
	return NULL;
}

struct gv_nn_backend *
gv_cpu_new(size_t threads)
{
	struct gv_cpu *cpu = gv_xcalloc(1, sizeof(*cpu));

	cpu->threads = threads == 0 ? 1 : threads;
	cpu->base = (struct gv_nn_backend){.name = "cpu",
	    .host_memory = true,
	    .plan = learn_plan,
	    .start = start,
	    .free = free_cpu,
	    .alloc = alloc,
	    .release = release,
	    .put = copy,
	    .get = copy,
	    .copy = copy,
	    .fetch = copy,
	    .gather = gather,
	    .pack = gv_cpu_pack,
	    .forward = gv_cpu_forward,
	    .backward = gv_cpu_backward,
	    .act_back = gv_cpu_act_back_row,
	    .gradient = gv_cpu_gradients,
	    .learn = gv_cpu_learn,
	    .losses = gv_cpu_losses,
	    .bn_sum = gv_cpu_bn_sum,
	    .bn_take = gv_cpu_bn_take,
	    .bn_use_running = gv_cpu_bn_use_running,
	    .bn_update_running = gv_cpu_bn_update_running,
	    .update = gv_cpu_update,
	    .gemm = batched_gemm,
	    .sum_tree = sum_tree,
	    .record = at_once,
	    .wait = at_once,
	    .await = there_already,
	    .capture = no_graph,
	    .captured = no_graph,
	    .replay = no_replay,
	    .sync = sync_all,
	    .time = set_times,
	    .error = no_error};
	return &cpu->base;
}
