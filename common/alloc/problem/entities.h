/* Entities, whom jobs belong to, their weights and quotas: the table of --entities. */
#ifndef GV_ALLOC_ENTITIES_H
#define GV_ALLOC_ENTITIES_H

#include "base/hash.h"
#include "problem.h"

struct gv_entities {
	struct gv_frame frame;
	struct gv_hash names;
	double *weight; /* [names.n] */
	size_t *row;    /* [names.n] of the frame */
	size_t *parent; /* [names.n] SIZE_MAX: none */
	double *quota;  /* [names.n] GPUs; 0 = none */
	bool tree;      /* some have a parent or a quota */
};

/*
 * From the table: entity, weight, and parent and quota_gpus if it has them; takes the
 * frame over.  A parent must be an entity of the table, nobody its own ancestor, and
 * quotas inside an entity no more than its own, where it has one.  0, or -1 with *e set;
 * *w is freed then.
 */
int gv_entities_from(struct gv_entities *w, struct gv_frame *frame, struct gv_error *e);
void gv_entities_free(struct gv_entities *w); /* also of a zeroed one */

/*
 * Into *out what was probably meant otherwise: names of columns, and an entity of a job
 * that the table has under a name that differs in case or hyphens alone.
 */
void gv_entities_slips(
    const struct gv_entities *w, const struct gv_rates *r, struct gv_error *out);

/*
 * That the quotas of those at the top are no more than so many GPUs.  0, or -1 with *e
 * set.
 */
int gv_entities_fit(const struct gv_entities *w, double gpus, struct gv_error *e);

/*
 * GV_NUMBER_ENTITY and GV_NUMBER_ENTITY_WEIGHT of p's jobs: entities are numbered in
 * the order of their names, one without a weight in w (NULL: none has one) has 1.
 * row[] as of gv_problem_from_rates().  Where w has a tree, *t becomes that of the
 * entities with jobs and p->tree; jobs of an entity that has others in it are together
 * one more in it, of weight 1.  *t is the caller's and must outlive p.
 */
void gv_entities_number(struct gv_problem *p, struct gv_tree *t,
    const struct gv_entities *w, const struct gv_rates *r, const size_t *row);

/*
 * Their names in the order of their numbers, of those that have one; in a tree nodes of an
 * entity's own jobs come after them.  Into *names, empty at first, with strings of w and r.
 */
void gv_entities_named(struct gv_hash *names, const struct gv_entities *w,
    const struct gv_rates *r, const size_t *row);

#endif
