/*
 * What of NCCL the backend calls: a table of functions, as driver.h's, from libnccl.so.2,
 * opened at run time.  These are NCCL's declarations as of 2.18, which all later ones
 * keep: a configuration says its size and version, and what it lacks is as ever.
 */
#ifndef GV_CUDA_NCCL_H
#define GV_CUDA_NCCL_H

#include <stddef.h>

#include "cuda/driver.h"

typedef struct ncclComm *gv_nccl_comm;

enum {
	GV_NCCL_ID = 128, /* bytes of an identifier */
	GV_NCCL_LEAST = 21800,
	GV_NCCL_SUCCESS = 0,
	GV_NCCL_INVALID_ARGUMENT = 4,
	GV_NCCL_INVALID_USAGE = 5,
	GV_NCCL_REMOTE_ERROR = 6,
	GV_NCCL_IN_PROGRESS = 7,
	GV_NCCL_FLOAT = 7, /* ncclFloat32 */
	GV_NCCL_SUM = 0
};

struct gv_nccl_id {
	char bytes[GV_NCCL_ID];
};

/* ncclConfig_t of 2.18; INT_MIN and NULL: NCCL's choice. */
struct gv_nccl_config {
	size_t size;
	unsigned magic; /* GV_NCCL_MAGIC */
	unsigned version;
	int blocking, cluster, least_blocks, most_blocks;
	const char *net;
	int split_share;
};
#define GV_NCCL_MAGIC 0xcafebeefu

/* field, its name in libnccl.so.2, parameters; all of them return an ncclResult_t */
#define GV_CUDA_NCCL(X)                                                              \
	X(version, ncclGetVersion, (int *version))                                   \
	X(make_id, ncclGetUniqueId, (struct gv_nccl_id * id))                        \
	X(init, ncclCommInitRankConfig,                                              \
	    (gv_nccl_comm * c, int ranks, struct gv_nccl_id id, int rank,            \
		struct gv_nccl_config *config))                                      \
	X(state, ncclCommGetAsyncError, (gv_nccl_comm c, int *state))                \
	X(finish, ncclCommFinalize, (gv_nccl_comm c))                                \
	X(destroy, ncclCommDestroy, (gv_nccl_comm c))                                \
	X(abort, ncclCommAbort, (gv_nccl_comm c))                                    \
	X(group_start, ncclGroupStart, (void))                                       \
	X(group_end, ncclGroupEnd, (void))                                           \
	X(all_reduce, ncclAllReduce,                                                 \
	    (const void *from, void *to, size_t n, int type, int op, gv_nccl_comm c, \
		gv_cu_stream s))                                                     \
	X(send, ncclSend,                                                            \
	    (const void *from, size_t n, int type, int peer, gv_nccl_comm c,         \
		gv_cu_stream s))                                                     \
	X(recv, ncclRecv,                                                            \
	    (void *to, size_t n, int type, int peer, gv_nccl_comm c, gv_cu_stream s))

struct gv_cuda_nccl {
#define X(field, name, args) int(*field) args;
	GV_CUDA_NCCL(X)
#undef X
	const char *(*error_string)(int r);
	const char *(*last_error)(gv_nccl_comm c); /* what was told of it; may be "" */
};

/* Fills the table; 0, or -1 with *e: no NCCL, or one older than GV_NCCL_LEAST. */
int gv_cuda_load_nccl(struct gv_cuda_nccl *n, struct gv_error *e);

#endif
