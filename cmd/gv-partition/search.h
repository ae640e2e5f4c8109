/* What the parts of the search share; private to search.c, path.c and least.c. */
#ifndef GV_PARTITION_SEARCH_H
#define GV_PARTITION_SEARCH_H

#include "plan.h"

struct search {
	const struct ideals *s;
	const struct machine *m;
	const struct search_options *o;
	size_t gpus;    /* of the machine */
	double slack;   /* GPU seconds that a plan under trial may waste */
	double least_s; /* no plan is faster */
	double limit_s; /* no slower one is looked for */
};

/*
 * Where a component is in the whole pipeline, which matters to memory: GPUs
 * behind its stage, and how many components do the same.
 */
struct context {
	size_t base;
	size_t copies;
};

struct arc {
	uint32_t to;
	uint32_t most; /* minibatches in flight for which it fits */
	uint16_t m;    /* components: replicas */
	uint16_t only; /* for exactly so many components on it and behind; 0 = any */
	bool recompute;
	double first, next; /* load as the first stage of a pipeline, as a later one */
	double reach_s;     /* work of all up to prefix to */
};

struct arcs {
	size_t n, cap;
	struct arc *arc;
};

/* Times of the next lower level's components, [n][n] for pairs of prefixes. */
struct lower {
	size_t n;
	double **time; /* [0], or with a memory limit [w * (gpus + 1) + m]; may be NULL */
};

void search_lower(
    struct lower *lower, const struct search *x, size_t level, const struct context *c);
void search_lower_free(struct lower *lower); /* also of a zeroed one */

/* Adds the arcs from prefix i to those up to end, ascending, with at most so many replicas. */
void search_arcs(struct arcs *a, const struct search *x, size_t level,
    const struct lower *lower, size_t i, size_t end, size_t most);
bool search_fits(
    const struct search *x, const struct context *c, const struct arc *arc, size_t w);
void search_relax(const struct search *x, size_t level, const struct context *c,
    const struct arcs *arcs, size_t n, size_t end, double *best, size_t i, double *first);
void search_prune(
    const struct search *x, size_t level, size_t n, double work, double *row);

/* What limit_s is for the stages of a level. */
double search_limit(const struct search *x, size_t level);
/* Whether all components of this level must be used. */
bool search_whole(const struct search *x, size_t level);
struct stage_size search_stage(const struct search *x, size_t i, size_t k);
size_t search_in_flight(const struct context *c, size_t w, size_t m);
struct context search_inside(
    const struct search *x, size_t level, const struct context *c, size_t w, size_t m);

/* The best plan within the slack, ties resolved, into the zeroed *p; its time, or INFINITY. */
double search_path(struct plan *p, const struct search *x);
/* Fills the stage of each layer; p->stage[i].within[0] holds the prefix it ends at until then. */
uint32_t *search_layers(const struct ideals *s, struct plan *p, size_t n_layers);

#endif
