/*
 * What the parts of the search share: search.c, column.c, arcs.c, times.c, path.c
 * and least.c.
 */
#ifndef GV_PARTITION_SEARCH_H
#define GV_PARTITION_SEARCH_H

#include "plan.h"
#include "gv-partition/search/words.h"

struct search {
	const struct ideals *s;
	const struct gv_machine *m;
	const struct search_options *o;
	size_t gpus;    /* of the machine */
	double limit_s; /* no slower plan is looked for */
	struct times *times;
	/* [prefixes][prefixes] what search_flights found; NULL: not kept */
	uint32_t *flights;

	/* as stage_fewest from 1 replica on, where bandwidths depend on them; NULL: not */
	size_t (*fewest)(const void *ctx, const struct stage_size *size, bool first,
	    double limit_s, size_t most);
	const void *ctx;
};

/*
 * Where a component is in the whole pipeline, which matters to memory: GPUs
 * behind its stage, and how many components do the same.
 */
struct context {
	size_t base;
	size_t copies;
};

/* A stage between two prefixes with its replicas and its load. */
struct arc {
	uint32_t to;
	uint32_t most; /* minibatches in flight for which it fits */
	uint16_t m;    /* components: replicas */
	uint16_t only; /* for exactly so many components on it and behind; 0 = any */
	bool recompute;
	double first, next; /* load as the first stage of a pipeline, as a later one */
};

struct arcs {
	size_t n, cap;
	struct arc *arc;
};

/*
 * The pipelines of one level, from some prefixes, its sources, to one, its end.
 * A pipeline is a path of arcs, its time the largest load.
 *
 * What prunes: in a pipeline no slower than a limit each stage has a load within
 * it, and so a fewest number of components.  before[a] and behind[a] are how many
 * a pipeline needs in front of a prefix and from it on at least; an arc is of use
 * where these and its own are no more than there are.
 */
struct column {
	const struct search *x;
	size_t level;
	size_t n; /* components */
	struct context c;
	uint32_t end;
	double limit_s; /* the largest of the sources' */
	double gpus;    /* of a component */
	double work_s;  /* that a component can do in this time, a little more */

	size_t size;      /* prefixes between a source and the end, both included */
	uint32_t *prefix; /* [size] ascending, the last is the end */
	uint32_t *at;     /* [prefixes] 1 + where it is among these, 0 = not there */
	double *source_s; /* [size] the limit of a source, or -1 */
	uint16_t *before, *behind; /* [size] components; more than n: no pipeline */
};

/* What is between two prefixes. */
static inline struct stage_size
search_stage(const struct search *x, size_t i, size_t k)
{
	const struct ideals *s = x->s;
	struct stage_size size = {s->time_s[k] - s->time_s[i],
	    s->parameter[k] - s->parameter[i], s->out[i], s->out[k]};

	return size;
}

/* ---- column.c ---- */

struct source {
	uint32_t prefix;
	double limit_s; /* no slower pipeline from it is looked for */
	double time_s;  /* out: the best one's, INFINITY when there is none */
};

/* Sources ascending, all subsets of end; at least one. */
void column_open(struct column *k, const struct search *x, size_t level,
    const struct context *c, uint32_t end, const struct source *source, size_t n);
void column_close(struct column *k);

/* Which replicas of a stage between the a-th and the b-th of its prefixes may be of use. */
struct span {
	size_t low, high; /* none when low > high */
};
/* Quickly, whether so many components can do the work between two prefixes. */
static inline bool
column_can(const struct column *k, size_t i, size_t j, size_t n)
{
	const double *time_s = k->x->s->time_s;

	return time_s[j] - time_s[i] <= k->work_s * (double)n;
}

struct span column_span(const struct column *k, size_t a, size_t b);

/* Tells who listens that a pass over its prefixes is so far. */
void column_tell(const struct column *k, size_t done);

/* Fills the times of the sources. */
void column_times(const struct column *k, struct source *source, size_t n);

/* ---- arcs.c ---- */

/* Adds the arcs from the a-th prefix that may be of use, by where they end and their replicas. */
void arcs_from(struct arcs *arcs, const struct column *k, size_t a);
/*
 * The most minibatches in flight, of what there can be, for which a stage from prefix i to k
 * fits with its activations kept, and recomputed; 0 where this is not to be.
 */
void search_flights(
    const struct search *x, size_t i, size_t k, size_t *kept, size_t *recomputed);
/* Room to keep them, where each would be found often; to be freed. */
uint32_t *search_flights_new(const struct search *x);
/* Whether the arc's stage fits, w components on it and behind. */
bool arc_fits(const struct column *k, const struct arc *arc, size_t w);

/* ---- times.c: the times of components, found once ---- */

struct times *times_new(void);
void times_free(struct times *t);
/* Finds the times of all components of the level below that arcs of the column are made of. */
void times_below(const struct column *k);
/* The time of a component that is in there, or INFINITY. */
double times_get(const struct search *x, size_t level, const struct context *c,
    uint32_t from, uint32_t to);

/* ---- search.c ---- */

/* Whether there is a limit of memory. */
bool search_limited(const struct search *x);
/* Whether all components of this level must be used. */
bool search_whole(const struct search *x, size_t level);
size_t search_in_flight(
    const struct search *x, const struct context *c, size_t w, size_t m);
struct context search_inside(
    const struct search *x, size_t level, const struct context *c, size_t w, size_t m);

/* The time of the best plan, limit_s and times aside; INFINITY when there is none. */
double search_time(const struct search *x);

/* Prefixes that part the work evenly, about so many, into pick; how many. */
size_t search_few(uint32_t *pick, const struct ideals *s, size_t parts);

/* ---- path.c ---- */

/* The best plan within the limit, ties resolved, into the zeroed *p; its time, or INFINITY. */
double search_path(struct gv_plan *p, const struct search *x);
/* Fills the stage of each layer; p->stage[i].within[0] holds the prefix it ends at until then. */
uint32_t *search_layers(const struct ideals *s, struct gv_plan *p, size_t n_layers);

#endif
