/*
 * Progressive filling (Bertsekas and Gallager 1992, section 6.5.2): the levels v_i = s_i
 * thr_i / P_i of all active jobs rise with time, until a job is frozen; how they rise
 * where there are GPUs enough.  See policy/water_filling.c.
 *
 * Entities are nodes of a tree, of any depth.  In time c each node at the top has
 * W_e c to give to what is in it: jobs, or nodes, which give it on.  Inside a node all
 * rise to w l for one l, as far as they can; in a queue one job after another.
 *
 * Some have a floor: they begin with more, and rise when the others have come as far, so
 * that each has max(floor, w l).  Quotas are filled up to first, from the lowest
 * nodes up, and are floors from then on (stages).
 */
#ifndef GV_ALLOC_FILLING_H
#define GV_ALLOC_FILLING_H

#include "alloc/problem/problem.h"
#include "alloc/problem/tree.h"

/* What rises: a job, or a node in another one. */
struct gv_active_item {
	size_t job;  /* SIZE_MAX: a node, ... */
	size_t node; /* ... this one */
	double have, most, weight, count;
	double start; /* of fairness: l from which it rises, counted from now */
	double room;  /* of fairness: l at which it has all */
	double rest;  /* of fairness: sum of n_i w_i from here to the node's last */
};

/* An item begins or stops to rise. */
struct gv_filling_event {
	double at, slope;
};

struct gv_filling_node {
	size_t parent; /* SIZE_MAX: at the top */
	size_t depth;
	double weight, quota;
	bool floors;       /* something in it has a floor */
	bool root;         /* of this stage; it rises by itself ... */
	double speed;      /* ... by that in a unit of time, ... */
	double start;      /* ... from that time on */
	double level;      /* l so far */
	double have;       /* of all in it; where some have floors */
	double room;       /* what more it can have */
	bool waits;        /* some items start later */
	size_t first, end; /* its active items */
};

struct gv_filling {
	const struct gv_problem *p;
	bool fifo; /* inside an entity one job after another */
	double *a; /* [n][m] v_i per share, 0 on types that are not the job's any more */
	double *most;  /* [n] v_i with all the time on the best type */
	double *floor; /* [n] v_i that it has in any case */
	double *have;  /* [n] v_i so far */
	bool *frozen;  /* [n] */

	size_t n_nodes;
	struct gv_filling_node *node;
	size_t *order; /* [n_nodes] parents first */
	size_t stage;  /* stages to come: that many quotas' depths, then all */
	double time;   /* since the stage began */
	double limit;  /* its end; INFINITY = none */

	/* what can rise, node by node, each in the order in which it has all */
	size_t n_active;
	struct gv_active_item *active;  /* [n_active] */
	struct gv_filling_event *event; /* [2 n_active], of nodes that wait */
};

/* need [n]: steps/s that jobs have in any case. */
void gv_filling_init(
    struct gv_filling *f, const struct gv_problem *p, bool fifo, const double *need);
void gv_filling_free(struct gv_filling *f);

/*
 * Types whose price is above none belong to jobs that are frozen: most becomes what the
 * others can have without them, and who has that is frozen, too.  price [m]
 */
void gv_filling_freeze_types(struct gv_filling *f, const double *price, double none);

/* ---- stages and lists, filling_lists.c ---- */

/* The next stage; the first one is after gv_filling_init().  False: it was the last. */
bool gv_filling_next(struct gv_filling *f);
/* Sorts what is active, whose levels rise from have on; the functions below go by that. */
void gv_filling_sort(struct gv_filling *f);
/* Jobs that can still rise in this stage. */
size_t gv_filling_rising(const struct gv_filling *f);

/* ---- over time, filling_time.c ---- */

/* Into v [n]: the levels after a further time c. */
void gv_filling_levels(const struct gv_filling *f, double c, double *v);
/* sum lambda_k v_k of the active jobs at time c; lambda [n_active] in their order. */
double gv_filling_weighted(const struct gv_filling *f, const double *lambda, double c);
/* A time after which all have all the time there is, or the stage is at its end. */
double gv_filling_time(const struct gv_filling *f);
/*
 * Into slope [n]: how fast the levels rise from now on; the time until the first of the
 * active has all, or one more begins to rise, or the stage is at its end.
 */
double gv_filling_slopes(const struct gv_filling *f, double *slope);
/* Lets the time c go by; have is the caller's to set. */
void gv_filling_go_on(struct gv_filling *f, double c);

#endif
