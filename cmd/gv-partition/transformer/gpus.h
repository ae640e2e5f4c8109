/* GPU types: what they can do at most, and how much of it training reaches. */
#ifndef GV_PARTITION_GPUS_H
#define GV_PARTITION_GPUS_H

#include "base/err.h"
#include "table/tab.h"

enum precision { PRECISION_BF16, PRECISION_FP16, PRECISION_FP32, PRECISIONS };
extern const char *const precision_name[PRECISIONS];

struct gpu_type {
	const char *name;
	double memory;                  /* bytes */
	double memory_bytes_per_s;      /* of its memory */
	double flops_per_s[PRECISIONS]; /* dense matrix products; 0: it cannot */
	double node_gpus;               /* usual in a server */
	double link_bytes_per_s;        /* in the server, one direction, a GPU */
	double network_bytes_per_s;     /* between servers, one direction, a GPU */
	/* shares of the above that are reached, 0 to 1 */
	double gemm_share;
	double memory_share;
	double link_share; /* also of the network */
	bool calibrated;   /* the shares were fitted to this type */
};

/* = {0} is empty. */
struct gpu_types {
	struct gv_frame rows;
	size_t n;
	struct gpu_type *type; /* [n] names point into rows */
};

/* Reads a table of GPU types, gv-tables(5).  0, or -1 with *e set. */
int gpu_types_read(struct gpu_types *g, const char *path, struct gv_error *e);
void gpu_types_free(struct gpu_types *g);

/*
 * The type of that name; or, as gv-profile names devices, the one that has most of its
 * words, case ignored, where all others are of its socket or memory: sxm, hbm, gb.
 * NULL when there is none or several.
 */
const struct gpu_type *gpu_types_find(const struct gpu_types *g, const char *name);

#endif
