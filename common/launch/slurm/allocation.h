/*
 * What Slurm's commands say of an allocation, as numbers and names: pure readers of
 * their output.
 */
#ifndef GV_LAUNCH_SLURM_ALLOCATION_H
#define GV_LAUNCH_SLURM_ALLOCATION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/mem.h"

struct gv_slurm_gpu {
	const char *type; /* of the gres; "gpu" where it has none */
	int id;           /* for CUDA_VISIBLE_DEVICES of a task on the node */
};

struct gv_slurm_node {
	const char *name;
	const char *address; /* where other nodes reach it; name if it is not known */
	size_t group;        /* which job of the allocation it belongs to */
	size_t n_gpus;
	struct gv_slurm_gpu *gpu; /* [n_gpus] that are allocated there */
	bool seen;                /* its tasks have said which GPUs they see */
	bool mine;                /* it is in the allocation (still) */
	int bad;                  /* 1 = perhaps soon usable again, 2 = not usable */
	double bad_since_s;
	char why[GV_ERROR_LEN]; /* it cannot be used; "" = it can */
};

struct gv_slurm_allocation {
	size_t n_jobs;
	const char **job; /* [n_jobs] ids: one, of a heterogeneous job one a group */
	size_t n_nodes;
	size_t cap_nodes, cap_jobs;
	struct gv_slurm_node *node;
	struct gv_arena arena; /* the texts */
};

/*
 * The names that a list like "n[1-3,07],m" stands for, in its order: calls each with
 * them.  0, or -1: it is no such list, or one of more than a million names.
 */
int gv_slurm_hosts(
    const char *list, void (*each)(void *ctx, const char *name), void *ctx);

/*
 * Reads what "scontrol show -d -o job ID" says: the jobs, the nodes and their GPUs.  0, or
 * -1 with *e set: none of them runs, or it cannot be read.
 */
int gv_slurm_allocation_read(
    struct gv_slurm_allocation *a, const char *text, struct gv_error *e);
void gv_slurm_allocation_free(struct gv_slurm_allocation *a);

/* The node of that name, or NULL. */
struct gv_slurm_node *gv_slurm_find(
    const struct gv_slurm_allocation *a, const char *name, size_t len);

/* What squeue -o and sinfo -o are told, for what is taken below. */
#define GV_SLURM_QUEUE "%A|%T|%L|%N"
#define GV_SLURM_INFO  "%N|%o|%t"

/*
 * Takes "sinfo -h -N -o GV_SLURM_INFO": addresses and states.  A node that is down,
 * drained or failing is bad at once, one that does not answer ("*") when it has not for
 * some seconds, for a controller that restarts knows none of them.  now_s: of gv_clock_s.
 * Whether anything changed that gv_slurm_node.why tells.
 */
bool gv_slurm_take_nodes(struct gv_slurm_allocation *a, const char *text, double now_s);

enum gv_slurm_life { GV_SLURM_RUNS, GV_SLURM_PENDS, GV_SLURM_OVER };

/*
 * Takes "squeue -h -j IDS -o GV_SLURM_QUEUE": *left_s seconds are left, and which nodes are
 * in the allocation; *changed as above.  OVER: no job of it runs any more.
 */
enum gv_slurm_life gv_slurm_take_queue(
    struct gv_slurm_allocation *a, const char *text, double *left_s, bool *changed);

#endif
