/* A device: opened, learnt, closed; and what of it is a line or two. */
#include "cuda/cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cuda/parts.h"
#include "nn/ops.h"

/* ---- errors ---- */

const char *
gv_cuda_result(const struct gv_cuda_driver *d, int result, char *buf, size_t size)
{
	const char *name = NULL, *text = NULL;

	if (d->error_name(result, &name) != 0 || d->error_string(result, &text) != 0 ||
	    name == NULL || text == NULL)
		snprintf(buf, size, "CUDA error %d", result);
	else
		snprintf(buf, size, "%s (%s)", text, name);
	return buf;
}

int
gv_cuda_fail(struct gv_cuda *c, const char *text)
{
	if (!c->failed)
		snprintf(c->error, sizeof(c->error), "%s (GPU %d): %s", c->name,
		    c->device, text);
	c->failed = true;
	return -1;
}

int
gv_cuda_check(struct gv_cuda *c, int result, const char *what)
{
	char text[200], all[300];

	if (result == GV_CU_SUCCESS)
		return 0;
	snprintf(all, sizeof(all), "%s: %s", what,
	    gv_cuda_result(c->d, result, text, sizeof(text)));
	return gv_cuda_fail(c, all);
}

static const char *
error_of(struct gv_nn_backend *be)
{
	struct gv_cuda *c = (struct gv_cuda *)be;

	return c->failed && c->error[0] != '\0' ? c->error : NULL;
}

/* ---- opening ---- */

enum { LEAST_MAJOR = 8 }; /* compute capability of GPUs that there are kernels for */

/* 0, or -1 with "no use of CUDA: what the driver says". */
static int
opened(const struct gv_cuda_driver *d, int result, const char *what, struct gv_error *e)
{
	char text[200];

	if (result == GV_CU_SUCCESS)
		return 0;
	return gv_error_set(
	    e, "%s: %s", what, gv_cuda_result(d, result, text, sizeof(text)));
}

int
gv_cuda_count(const struct gv_cuda_driver *d, struct gv_error *e)
{
	int version = 0, n = 0, r;

	if (opened(d, d->driver_version(&version), "the NVIDIA driver", e) != 0)
		return -1;
	if (version < GV_CUDA_LEAST_DRIVER)
		return gv_error_set(e,
		    "the NVIDIA driver is too old: it has CUDA %d.%d, at least %d.%d "
		    "is needed",
		    version / 1000, version % 1000 / 10, GV_CUDA_LEAST_DRIVER / 1000,
		    GV_CUDA_LEAST_DRIVER % 1000 / 10);
	r = d->init(0);
	if (r == GV_CU_NO_DEVICE)
		return 0;
	if (opened(d, r, "the NVIDIA driver", e) != 0 ||
	    opened(d, d->device_count(&n), "the NVIDIA driver", e) != 0)
		return -1;
	return n;
}

static int
load_module(struct gv_cuda *c, const struct gv_cuda_config *config, struct gv_error *e)
{
	int major = 0, minor = 0, r = c->d->module_load(&c->module, config->image);
	int version = config->built;

	if (r == GV_CU_SUCCESS)
		return 0;
	c->d->device_attribute(&major, GV_CU_MAJOR, c->device);
	c->d->device_attribute(&minor, GV_CU_MINOR, c->device);
	/* a driver takes what any CUDA of its major version made, and may take no newer one */
	c->d->driver_version(&version);
	if (version < config->built && major >= LEAST_MAJOR && r != GV_CU_OUT_OF_MEMORY)
		return gv_error_set(e,
		    "%s (GPU %d): the NVIDIA driver has CUDA %d.%d and does not take the "
		    "kernels, which CUDA %d.%d made: it is too old",
		    c->name, c->device, version / 1000, version % 1000 / 10,
		    config->built / 1000, config->built % 1000 / 10);
	if (r == GV_CU_NO_BINARY_FOR_GPU)
		return gv_error_set(e,
		    "%s (GPU %d): compute capability %d.%d is not one that the kernels "
		    "were built for (8.0 and up)",
		    c->name, c->device, major, minor);
	return opened(c->d, r, "the kernels", e);
}

static int
open_device(struct gv_cuda *c, const struct gv_cuda_config *config, struct gv_error *e)
{
	const struct gv_cuda_driver *d = c->d;
	int n = gv_cuda_count(d, e), handle = 0, processors = 0;
	char what[96];
	void *stage = NULL;

	if (n < 0)
		return -1;
	if (n == 0)
		return gv_error_set(e, "the NVIDIA driver sees no GPU");
	if (config->device < 0 || config->device >= n)
		return gv_error_set(
		    e, "there is no GPU %d: the driver sees %d", config->device, n);
	if (opened(d, d->device_get(&handle, config->device), "the GPU", e) != 0)
		return -1;
	c->device = handle;
	if (d->device_attribute(&processors, GV_CU_PROCESSORS, handle) == 0)
		c->queue.blocks = 2 * (unsigned)processors;
	if (d->device_name(c->name, sizeof(c->name), handle) != 0 || c->name[0] == '\0')
		strcpy(c->name, "GPU");
	snprintf(what, sizeof(what), "%s (GPU %d)", c->name, c->device);
	if (opened(d, d->context_retain(&c->context, handle), what, e) != 0 ||
	    opened(d, d->context_set(c->context), what, e) != 0 ||
	    opened(d, d->stream_create(&c->stream, GV_CU_NON_BLOCKING), what, e) != 0 ||
	    opened(d, d->host_alloc(&stage, GV_CUDA_STAGE, 0), what, e) != 0)
		return -1;
	c->stage = stage;
	return load_module(c, config, e) != 0 ? -1 : gv_cuda_blas_open(c, e);
}

static void
free_device(struct gv_nn_backend *be)
{
	struct gv_cuda *c = (struct gv_cuda *)be;
	size_t i;

	gv_cuda_leave(be);
	if (c->stream != NULL)
		c->d->stream_sync(c->stream);
	gv_cuda_queue_close(c);
	for (i = 0; i < c->laps_cap; i++)
		if (c->lap[i].event != NULL)
			c->d->event_destroy(c->lap[i].event);
	for (i = 0; i < GV_CUDA_STAGE_PARTS; i++)
		if (c->left[i] != NULL)
			c->d->event_destroy(c->left[i]);
	gv_cuda_blas_close(c);
	if (c->stage != NULL)
		c->d->host_free(c->stage);
	if (c->module != NULL)
		c->d->module_unload(c->module);
	if (c->stream != NULL)
		c->d->stream_destroy(c->stream);
	if (c->context != NULL)
		c->d->context_release(c->device);
	free(c->lap);
	free(c->coef_host);
	free(c->active_host);
	free(c->key.host);
	free(c->index.host);
	free(c);
}

/* ---- the plan ---- */

/* Behind the rows' scratch: coefficients, active, keys and the numbers of gathered samples. */
struct places {
	size_t coef, active, key, index, all; /* in numbers */
};

/* Micro-batches of a step. */
static size_t
rooms_of(const struct gv_nn_plan *p)
{
	return p->micro_batches > 0 ? p->micro_batches : 1;
}

static struct places
places_of(const struct gv_cuda *c)
{
	const struct gv_nn_plan *p = c->plan;
	struct places at = {.coef = (gv_cuda_rows_scratch(c) + 3) / 4 * 4};

	at.active = at.coef + p->B * (sizeof(struct gv_cuda_coef) / sizeof(gv_real));
	at.key = at.active + (p->B + 15) / 16 * 4;
	at.index = at.key + rooms_of(p) * 2 * p->B;
	at.all = at.index + rooms_of(p) * p->n;
	return at;
}

static void
open_rooms(struct gv_cuda_rooms *r, const struct gv_nn_plan *p, float *room, size_t each)
{
	*r = (struct gv_cuda_rooms){
	    .room = (char *)room, .rooms = rooms_of(p), .each = each};
	r->host = gv_xcalloc(each + 1, 1);
}

static void
learn_plan(
    struct gv_nn_backend *be, const struct gv_nn_plan *plan, struct gv_nn_room *room)
{
	struct gv_cuda *c = (struct gv_cuda *)be;

	c->plan = plan;
	*room = (struct gv_nn_room){.scratch = places_of(c).all};
	if (c->type == GV_CUDA_F32)
		return;
	/* a model's begin at 16 bytes */
	c->packed = (plan->P + 7) / 8 * 8;
	room->packed = c->packed / 2;
	room->stored = 2;
}

/* What of a row has no kernels. */
static const char *
what_of(const struct gv_nn_row *r)
{
	if (r->l.op == GV_OP_ATTENTION || r->l.op == GV_OP_CAUSAL)
		return " with heads of more than 256 channels";
	return r->l.act > GV_ACT_RELU ? " with this act" : "";
}
_Static_assert(GV_CUDA_HEAD == 256, "as what_of says");

static int
start(struct gv_nn_backend *be, gv_real *scratch, struct gv_error *e)
{
	struct gv_cuda *c = (struct gv_cuda *)be;
	struct places at = places_of(c);
	size_t k, B = c->plan->B;

	for (k = c->plan->first_row; k < c->plan->last_row; k++) {
		const struct gv_nn_row *r = &c->plan->row[k];

		if (!gv_cuda_has(r))
			return gv_error_set(e,
			    "row %lld of the model: %s%s has no kernels for GPUs yet",
			    (long long)r->l.id, gv_nn_ops[r->l.op].name, what_of(r));
	}
	c->scratch = scratch;
	c->coef = (struct gv_cuda_coef *)(void *)(scratch + at.coef);
	c->active = (unsigned char *)(scratch + at.active);
	open_rooms(&c->index, c->plan, scratch + at.index, c->plan->n * sizeof(uint32_t));
	open_rooms(&c->key, c->plan, scratch + at.key, B * sizeof(uint64_t));
	c->coef_host = gv_xcalloc(B, sizeof(*c->coef_host));
	c->active_host = gv_xcalloc(B, 1);
	return 0;
}

const unsigned char *
gv_cuda_active_of(struct gv_cuda *c, const struct gv_nn_call *call)
{
	size_t B = c->plan->B, b, active = 0;
	bool same = c->active_known;

	if (!call->training)
		return NULL;
	for (b = 0; b < B; b++) {
		active += call->active[b];
		same = same && c->active_host[b] == call->active[b];
	}
	if (active == B)
		return NULL;
	if (same) {
		c->list.reads |= GV_CUDA_READS_ACTIVE;
		return c->active;
	}
	for (b = 0; b < B; b++)
		c->active_host[b] = call->active[b];
	c->active_known = true;
	/* a failure is remembered */
	gv_cuda_send(c, GV_CUDA_READS_ACTIVE, c->active, c->active_host, B);
	c->list.reads |= GV_CUDA_READS_ACTIVE;
	return c->active;
}

/* ---- general tools ---- */

static int
gather(struct gv_nn_backend *be, int stream, void *to, const void *from,
    const uint32_t *index, size_t n, size_t bytes)
{
	struct gv_cuda *c = (struct gv_cuda *)be;
	struct gv_cuda_gather g = {to, from, NULL, n, bytes};

	(void)stream;
	g.index = gv_cuda_send_room(c, &c->index, index, n * sizeof(*index));
	return gv_cuda_gather(&c->queue, &g);
}

/* What lies between the first and the last row that is not packed, of all models. */
static int
pack(struct gv_nn_backend *be, const struct gv_nn_call *call, size_t first, size_t last,
    unsigned what)
{
	struct gv_cuda *c = (struct gv_cuda *)be;
	const struct gv_nn_plan *p = call->plan;
	struct gv_cuda_convert v = {.B = p->B, .to_apart = c->packed, .from_apart = p->P};
	size_t from, end, k;

	if (c->type == GV_CUDA_F32)
		return 0;
	while (first < last && call->w->is_packed[first])
		first++;
	while (first < last && call->w->is_packed[last - 1])
		last--;
	if (first == last)
		return 0;
	from = p->row[first].weight;
	end = last < p->last_row ? p->row[last].weight : p->P;
	v.n = end - from;
	v.to = gv_nn_plus(p, call->w->packed, from);
	v.from = call->w->params + from;
	for (k = first; k < last; k++)
		call->w->is_packed[k] = (unsigned char)what;
	return gv_cuda_convert(&c->queue, GV_CUDA_F32, &v);
}

static int
gemm(struct gv_nn_backend *be, int stream, const struct gv_nn_gemm *g)
{
	struct gv_cuda *c = (struct gv_cuda *)be;
	enum gv_cuda_type type = g->stored ? c->type : GV_CUDA_F32;
	struct gv_cuda_gemm v = {.a = g->a,
	    .b = g->b,
	    .c = g->c,
	    .bias = g->bias,
	    .batch = g->batch,
	    .m = g->m,
	    .n = g->n,
	    .k = g->k,
	    .lda = g->lda,
	    .ldb = g->ldb,
	    .ldc = g->ldc,
	    .a_batch = g->a_batch,
	    .b_batch = g->b_batch,
	    .c_batch = g->c_batch,
	    .bias_batch = g->bias_batch,
	    .a_transposed = g->a_transposed,
	    .b_transposed = g->b_transposed,
	    .add = g->add,
	    .relu = g->relu,
	    .c_type = type};

	(void)stream;
	if (c->math != GV_NN_FP32 && g->bias == NULL && !g->relu)
		return gv_cuda_queue_product(
		    c, &(struct gv_cuda_product){*g, type, type});
	return gv_cuda_gemm(&c->queue, type, &v);
}

static int
sum_tree(struct gv_nn_backend *be, int stream, gv_real *v, size_t parts, size_t n)
{
	struct gv_cuda *c = (struct gv_cuda *)be;
	struct gv_cuda_tree t = {
	    .B = 1, .parts = parts, .n = n, .v = v, .to = v, .part_apart = n};

	(void)stream;
	return gv_cuda_tree(&c->queue, &t);
}

struct gv_nn_backend *
gv_cuda_new(const struct gv_cuda_config *config, struct gv_error *e)
{
	struct gv_cuda *c = gv_xcalloc(1, sizeof(*c));

	c->d = config->driver;
	c->b = config->blas;
	c->math = config->math;
	c->load_nccl = config->load_nccl;
	c->type = c->math == GV_NN_BF16 ? GV_CUDA_BF16 : GV_CUDA_F32;
	c->graphs = !config->no_graphs;
	c->base = (struct gv_nn_backend){.name = "cuda",
	    .plan = learn_plan,
	    .start = start,
	    .free = free_device,
	    .alloc = gv_cuda_alloc,
	    .release = gv_cuda_release,
	    .put = gv_cuda_put,
	    .get = gv_cuda_get,
	    .copy = gv_cuda_copy,
	    .fetch = gv_cuda_fetch,
	    .gather = gather,
	    .pack = pack,
	    .forward = gv_cuda_rows_forward,
	    .backward = gv_cuda_rows_backward,
	    .act_back = gv_cuda_act_back,
	    .gradient = gv_cuda_rows_gradient,
	    .losses = gv_cuda_rows_losses,
	    .bn_sum = gv_cuda_bn_sum,
	    .bn_take = gv_cuda_bn_take,
	    .bn_use_running = gv_cuda_bn_use_running,
	    .bn_update_running = gv_cuda_bn_update_running,
	    .update = gv_cuda_optimise,
	    .gemm = gemm,
	    .sum_tree = sum_tree,
	    .record = gv_cuda_record,
	    .wait = gv_cuda_wait,
	    .await = gv_cuda_await,
	    .capture = gv_cuda_capture,
	    .captured = gv_cuda_captured,
	    .replay = gv_cuda_replay,
	    .sync = gv_cuda_sync,
	    .where = gv_cuda_where,
	    .make_id = gv_cuda_make_id,
	    .join = gv_cuda_join,
	    .leave = gv_cuda_leave,
	    .add_ranks = gv_cuda_add_ranks,
	    .added = gv_cuda_added,
	    .link = gv_cuda_link,
	    .send = gv_cuda_link_send,
	    .receive = gv_cuda_link_receive,
	    .take = gv_cuda_link_take,
	    .look = gv_cuda_look,
	    .time = gv_cuda_time,
	    .error = error_of};
	gv_cuda_queue_open(c);
	if (open_device(c, config, e) == 0)
		return &c->base;
	free_device(&c->base);
	return NULL;
}
