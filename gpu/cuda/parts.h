/* Inside the CUDA backend.  Private to gpu/cuda/. */
#ifndef GV_CUDA_PARTS_H
#define GV_CUDA_PARTS_H

#include "cuda/cuda.h"
#include "cuda/kernels.h"

struct gv_cuda_nccl;
struct gv_cuda_ranks;

enum { GV_CUDA_GRAPHS = 16, GV_CUDA_STAGE = 1 << 20, GV_CUDA_STAGE_PARTS = 4 };

/* Launches that wait: records one behind the other, each as long as it says. */
struct gv_cuda_list {
	char *bytes;
	size_t n, cap;
	size_t launches;
	unsigned reads; /* GV_CUDA_READS_*: of what the backend sends by itself */
};
enum { GV_CUDA_READS_COEF = 1, GV_CUDA_READS_ACTIVE = 2 };

/*
 * What every micro-batch brings, on the device: room for those of a step, so that a step
 * stays one list.  Rooms are taken in order, from the first on in every list.
 */
struct gv_cuda_rooms {
	char *room; /* [rooms][each] */
	size_t rooms, each, next;
	void *last;   /* the room that was taken last, */
	char *host;   /* [each] and what is there, */
	size_t bytes; /* so many; 0: none is this list's */
};

/* A product of cuBLAS: what a and b hold, what c does; pointers are to numbers of these. */
struct gv_cuda_product {
	struct gv_nn_gemm g;
	enum gv_cuda_type type, c_type;
};

/* A list that was met before. */
struct gv_cuda_known {
	char *bytes; /* NULL = free */
	size_t n;
	gv_cu_graph_exec graph; /* NULL: met once */
	unsigned long used;     /* when last */
};

/* A lap of gv_net_time: from the event before it to its own. */
struct gv_cuda_lap {
	gv_cu_event event;
	size_t row;
	int what; /* GV_CUDA_LAP_* */
};
enum { GV_CUDA_LAP_START, GV_CUDA_LAP_FORWARD, GV_CUDA_LAP_BACKWARD, GV_CUDA_LAP_UPDATE };

struct gv_cuda {
	struct gv_nn_backend base;
	const struct gv_cuda_driver *d;
	const struct gv_cuda_blas *b;
	enum gv_nn_math math;
	enum gv_cuda_type type; /* of activations, and of weights in products */
	size_t packed;          /* BF16: numbers of a model's weights in that type */
	bool graphs;

	int device;
	char name[64];
	gv_cu_context context;
	gv_cu_module module;
	gv_cu_function *function; /* [GV_CUDA_KERNELS], NULL = not asked for yet */
	gv_cu_stream stream;
	gv_cu_blas blas;
	gv_cu_ptr blas_room;

	struct gv_cuda_queue queue;
	struct gv_cuda_list list;
	struct gv_cuda_known known[GV_CUDA_GRAPHS];
	unsigned long clock;
	bool capturing;         /* between capture and captured */
	gv_cu_graph_exec *kept; /* captured's graphs */
	size_t kept_n, kept_cap;
	gv_cu_event *event; /* record's, by number; NULL = not made yet */
	size_t events, events_cap;

	/*
	 * Pinned: what is on its way to the device, part by part.  A part that is full
	 * is left behind an event, and is free again once that has passed.
	 */
	char *stage;
	size_t part, staged; /* the present one; bytes of it */
	gv_cu_event left[GV_CUDA_STAGE_PARTS];
	bool on_its_way[GV_CUDA_STAGE_PARTS];

	const struct gv_nn_plan *plan;
	float *scratch;
	struct gv_cuda_coef *coef, *coef_host; /* [B] on the device; as it has them */
	unsigned char *active, *active_host;   /* [B] the same */
	bool coef_known, active_known;
	struct gv_cuda_rooms index; /* uint32_t [n] of gather */
	struct gv_cuda_rooms key;   /* uint64_t [B] of dropout */

	int (*load_nccl)(struct gv_cuda_nccl *n, struct gv_error *e);
	struct gv_cuda_ranks *ranks; /* NULL: not joined */

	struct gv_net_times *times;
	struct gv_cuda_lap *lap;
	size_t laps, laps_cap;

	bool failed;
	char error[GV_ERROR_LEN];
};

/* 0; or -1, and the first failure is what error() tells from then on. */
int gv_cuda_check(struct gv_cuda *c, int result, const char *what);
int gv_cuda_fail(struct gv_cuda *c, const char *text);
/* "NAME: description" of a result, to buf. */
const char *gv_cuda_result(
    const struct gv_cuda_driver *d, int result, char *buf, size_t size);

/* memory.c */
void *gv_cuda_alloc(
    struct gv_nn_backend *, enum gv_nn_memory, size_t bytes, struct gv_error *e);
void gv_cuda_release(struct gv_nn_backend *, enum gv_nn_memory, void *);
int gv_cuda_put(struct gv_nn_backend *, void *to, const void *from, size_t bytes);
int gv_cuda_get(struct gv_nn_backend *, void *to, const void *from, size_t bytes);
int gv_cuda_copy(struct gv_nn_backend *, void *to, const void *from, size_t bytes);
int gv_cuda_fetch(struct gv_nn_backend *, void *to, const void *from, size_t bytes);
/*
 * As put, up to GV_CUDA_STAGE / GV_CUDA_STAGE_PARTS bytes, but ahead of what is in the
 * list, unless that reads it (GV_CUDA_READS_*).  What is to read it says so in list.reads.
 */
int gv_cuda_send(
    struct gv_cuda *c, unsigned reads, void *to, const void *from, size_t bytes);
/* Into a room, unless the last one has the same; where it is.  A failure is remembered. */
const void *gv_cuda_send_room(
    struct gv_cuda *c, struct gv_cuda_rooms *r, const void *from, size_t bytes);
int gv_cuda_sync(struct gv_nn_backend *);

/* queue.c: a launch, a copy, a product of cuBLAS into the list; the list to the device */
void gv_cuda_queue_open(struct gv_cuda *c);
void gv_cuda_queue_close(struct gv_cuda *c);
int gv_cuda_queue_copy(struct gv_cuda *c, void *to, const void *from, size_t bytes);
int gv_cuda_queue_product(struct gv_cuda *c, const struct gv_cuda_product *g);
int gv_cuda_flush(struct gv_cuda *c);
int gv_cuda_record(struct gv_nn_backend *, int stream, int event);
int gv_cuda_wait(struct gv_nn_backend *, int stream, int event);
int gv_cuda_await(struct gv_nn_backend *, int event);
int gv_cuda_capture(struct gv_nn_backend *, int stream);
int gv_cuda_captured(struct gv_nn_backend *, int stream);
int gv_cuda_replay(struct gv_nn_backend *, int stream, int graph);

/* A launch on a stream, at once. */
int gv_cuda_launch_on(struct gv_cuda *c, gv_cu_stream stream, enum gv_cuda_kernel kernel,
    struct gv_cuda_grid grid, unsigned threads, const void *args);

/* ranks*.c */
int gv_cuda_where(struct gv_nn_backend *, struct gv_nn_where *, struct gv_error *e);
int gv_cuda_make_id(
    struct gv_nn_backend *, unsigned char id[GV_NN_ID], struct gv_error *e);
int gv_cuda_join(struct gv_nn_backend *, const struct gv_nn_join *, struct gv_error *e);
void gv_cuda_leave(struct gv_nn_backend *);
int gv_cuda_add_ranks(struct gv_nn_backend *, const struct gv_nn_piece *, size_t pieces);
int gv_cuda_added(struct gv_nn_backend *);
int gv_cuda_link(struct gv_nn_backend *, const struct gv_nn_link *, struct gv_error *e);
int gv_cuda_link_send(
    struct gv_nn_backend *, int link, const struct gv_nn_span *, size_t spans);
int gv_cuda_link_receive(struct gv_nn_backend *, int link);
int gv_cuda_link_take(struct gv_nn_backend *, int link, int message,
    const struct gv_nn_span *, size_t spans);
int gv_cuda_look(struct gv_nn_backend *);
/* The host waits for an event that was recorded, for all that was queued, and, joined, for nobody who is gone. */
int gv_cuda_reach(struct gv_cuda *c, gv_cu_event e);
int gv_cuda_reach_all(struct gv_cuda *c);

/* blas.c */
int gv_cuda_blas_open(struct gv_cuda *c, struct gv_error *e);
void gv_cuda_blas_close(struct gv_cuda *c);
int gv_cuda_blas_product(struct gv_cuda *c, const struct gv_cuda_product *g);

/* times.c */
void gv_cuda_time(struct gv_nn_backend *, struct gv_net_times *);
int gv_cuda_lap(struct gv_cuda *c, size_t row, int what);
int gv_cuda_lap_start(struct gv_cuda *c);
int gv_cuda_laps_read(struct gv_cuda *c); /* the stream is through */

/* rows.c, sums.c: what backend.h has of these names */
int gv_cuda_rows_forward(
    struct gv_nn_backend *, const struct gv_nn_call *, size_t first, size_t last);
int gv_cuda_rows_backward(
    struct gv_nn_backend *, const struct gv_nn_call *, size_t first, size_t last);
int gv_cuda_act_back(struct gv_nn_backend *, const struct gv_nn_call *, size_t row);
int gv_cuda_rows_gradient(struct gv_nn_backend *, const struct gv_nn_call *, size_t first,
    size_t last, const struct gv_nn_grads *, bool add);
int gv_cuda_rows_losses(struct gv_nn_backend *, const struct gv_nn_call *,
    const struct gv_nn_grads *, bool add);
int gv_cuda_bn_sum(
    struct gv_nn_backend *, const struct gv_nn_call *, size_t row, enum gv_nn_sum);
int gv_cuda_bn_take(
    struct gv_nn_backend *, const struct gv_nn_call *, size_t row, enum gv_nn_sum);
int gv_cuda_bn_use_running(struct gv_nn_backend *, const struct gv_nn_call *, size_t row);
int gv_cuda_bn_update_running(
    struct gv_nn_backend *, const struct gv_nn_call *, size_t row, gv_real *to);
int gv_cuda_optimise(struct gv_nn_backend *, const struct gv_nn_update *);
/* Numbers of scratch that the plan's rows want. */
size_t gv_cuda_rows_scratch(const struct gv_cuda *c);
/* Whether there are kernels for a row. */
bool gv_cuda_has(const struct gv_nn_row *r);

/* Samples as rows read them, where row is the first that does. */
int gv_cuda_store_sample(struct gv_cuda *c, const struct gv_nn_call *call, size_t row);

/* The call as rows see it. */
const unsigned char *gv_cuda_active_of(struct gv_cuda *c, const struct gv_nn_call *call);
struct gv_cuda_shards gv_cuda_shards_of(const struct gv_nn_plan *p);

#endif
