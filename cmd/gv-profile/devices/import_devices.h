/*
 * Devices as other programs list them: Slurm's nodes (scontrol show node, sinfo) and
 * nvidia-smi's CSV, which is told by its header.
 */
#ifndef IMPORT_DEVICES_H
#define IMPORT_DEVICES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"

/* GPUs of one type on a node. */
struct import_pool {
	const char *node; /* "" = not told */
	const char *name; /* of the type, as it stands there */
	size_t gpus;
	int64_t memory_bytes; /* of the smallest, -1 = not told */
	const char *ids;      /* "0;1", "" = not told */
};

struct import_devices {
	size_t n;
	size_t cap;
	struct import_pool *pool; /* [n] in the order of the list */
	struct gv_arena arena;
	struct gv_error left_out; /* nodes that cannot be used, and why */
};

/*
 * Reads a list, path "-": standard input.  0, or -1 with *e set: it is none of these, or
 * no GPU is in it.
 */
int import_devices(struct import_devices *d, const char *path, struct gv_error *e);
void import_devices_free(struct import_devices *d);

#endif
