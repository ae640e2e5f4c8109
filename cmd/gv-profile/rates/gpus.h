/* Which GPUs measurements have, and which are free.  No I/O. */
#ifndef GV_PROFILE_GPUS_H
#define GV_PROFILE_GPUS_H

#include <stdbool.h>
#include <stddef.h>

struct gpu {
	size_t type, node; /* indices */
	int id;            /* on its node */
	bool busy;
	bool away; /* nothing can be started on it now */
};

/* Those of a node stand together in gpu[], ids ascending. */
struct gpus {
	size_t n;
	struct gpu *gpu; /* [n] */
	size_t n_nodes;
	size_t *group;    /* [n_nodes] a gang's nodes are of one group */
	size_t *runs;     /* [n_nodes] measurements that go on there */
	size_t most_runs; /* at once on a node */
};

/* Whether n GPUs of a type could be had if nothing ran; those that are away count or do not. */
bool gpus_fit(const struct gpus *g, size_t type, size_t n, bool count_away);

/*
 * Takes n free GPUs of a type, on as few nodes as they would need if nothing ran, into
 * gpu[n], those of a node together.  false: not now.  Cost: nodes x the nodes that it needs.
 */
bool gpus_take(struct gpus *g, size_t type, size_t n, size_t *gpu);
void gpus_give(struct gpus *g, const size_t *gpu, size_t n);

/*
 * How long measurements take at least: no GPU type and no node can be more than full, and
 * none is shorter than itself.  gpu_s[n_types]: seconds times GPUs on each type; all_s:
 * seconds of all; most_s: of the longest.
 */
double gpus_left_s(const struct gpus *g, const double *gpu_s, size_t n_types,
    double all_s, double most_s);

#endif
