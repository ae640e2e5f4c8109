/*
 * What is asked for, a collective by a method, and what comes of it: trees, how
 * fast they are, and what could be reached at most.
 */
#ifndef TREE_PLAN_H
#define TREE_PLAN_H

#include "base/err.h"
#include "gv-tree/fabric/fabric.h"
#include "gv-tree/forest/forest.h"

enum collective {
	BROADCAST,
	REDUCE,
	ALL_REDUCE,
	ALL_GATHER,
	REDUCE_SCATTER,
	COLLECTIVES
};

enum method {
	AUTO,
	FOREST,
	COLGEN,
	BLINK,
	ONE_HOP,
	RING,
	RELAYED_RING,
	CHAIN,
	PHASES,
	METHODS
};

extern const char *const collective_name[COLLECTIVES];
extern const char *const method_name[METHODS];

struct wish {
	enum collective collective;
	enum method method;
	size_t root;  /* of broadcast and reduce */
	size_t trees; /* at most so many (of each root); 0 = as many as it takes */
};

struct plan {
	struct wish wish; /* its method is the one that was taken */
	struct fabric f;  /* as it was planned on */
	struct forest forest;
	/* bytes of the whole buffer over time (nccl-tests' algbw), GB/s */
	double optimum, achieved;
	double busiest; /* used part of the link that is used most */
	size_t busiest_from, busiest_to;
	bool *side; /* [f.n] what the cut that binds leaves; NULL = it is no cut */
};

/* Whether method and collective go together: 0, or -1 with *e. */
int plan_check(const struct wish *w, struct gv_error *e);

/*
 * Only the optimum of a collective on f, GB/s; 0 where some GPU is not reached.
 */
double plan_optimum(const struct fabric *f, enum collective c, size_t root);

/*
 * Makes the plan, and tells how much any plan could carry: of broadcast and reduce, x* of
 * one root; of allgather and reducescatter, n x* of all roots; of an allreduce what
 * packing_bound says.  AUTO is the forest; of an allreduce the trees of colgen.  Both reach the
 * optimum, but for allreduces of a bounded number of trees.
 * *f is used up.  0, or -1 with *e.
 */
int plan_make(struct plan *p, struct fabric *f, const struct wish *w, struct gv_error *e);
void plan_free(struct plan *p);

#endif
