/*
 * The machine a plan is for: GPUs in groups of groups, or GPUs of several types.
 *
 * A machine is a tree: gpus[0] GPUs that talk at bytes_per_s[0] make a
 * component, gpus[1] such components that talk at bytes_per_s[1] the next, and
 * so on.  Level 0 is innermost.  Where all of a group send to all others at once, as
 * replicas do that sum their gradients, each may send less: sum_bytes_per_s.
 */
#ifndef GV_PLAN_MACHINE_H
#define GV_PLAN_MACHINE_H

#include <stddef.h>

#include "base/err.h"

enum { GV_PLAN_LEVELS = 4, GV_PLAN_GPUS = 4096 }; /* at most; GPUs of the machine */

struct gv_machine {
	size_t n_levels;
	size_t gpus[GV_PLAN_LEVELS];
	double bytes_per_s[GV_PLAN_LEVELS];
	double sum_bytes_per_s[GV_PLAN_LEVELS]; /* 0 = as bytes_per_s */
};

/* What each of a group's sends while all send to all others at once. */
static inline double
gv_machine_sum_rate(const struct gv_machine *m, size_t level)
{
	double rate = m->sum_bytes_per_s[level];

	return rate > 0 ? rate : m->bytes_per_s[level];
}

/* GPUs of one component of the level, counting all below: product of gpus[0..level). */
size_t gv_machine_component(const struct gv_machine *m, size_t level);

/* One level of all GPUs, which talk as slowly as the slowest. */
void gv_machine_flatten(struct gv_machine *m);

/*
 * Reads a table of levels, gv-tables(5): level (from 1, innermost), gpus (or components
 * of the level below), gbytes_per_s and, where it is there and not empty,
 * sum_gbytes_per_s.  Rows may be in any order.  0, or -1 with *e set.
 */
int gv_machine_read(struct gv_machine *m, const char *path, struct gv_error *e);

/*
 * Takes so many of its GPUs: whole components of a level, and none of the levels
 * above it.  0, or the GPUs of a component when they are no whole ones.  Not more than
 * there are.
 */
size_t gv_machine_take(struct gv_machine *m, size_t gpus);

/* ---- GPUs of several types, which all talk at the same bandwidth ---- */

enum { GV_FLEET_TYPES = 4 };

struct gv_fleet_type {
	const char *name;
	size_t gpus;
	double memory;              /* bytes of a GPU; 0 = no limit */
	double *time_s, *forward_s; /* [n_layers] of one minibatch on one GPU */
};

/* = {0} is empty. */
struct gv_fleet {
	size_t n;
	struct gv_fleet_type type[GV_FLEET_TYPES];
	double bytes_per_s;
	double sum_bytes_per_s; /* 0 = as bytes_per_s */
};

void gv_fleet_free(struct gv_fleet *f); /* the times; names are not its own */

#endif
