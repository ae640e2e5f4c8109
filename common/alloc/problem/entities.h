/* Entities, whom jobs belong to, and their weights: the table of --entities. */
#ifndef GV_ALLOC_ENTITIES_H
#define GV_ALLOC_ENTITIES_H

#include "base/hash.h"
#include "problem.h"

struct gv_entities {
	struct gv_frame frame;
	struct gv_hash names;
	double *weight; /* [names.n] */
};

/*
 * From the table: entity, weight; takes the frame over.  0, or -1 with *e set; *w is
 * freed then.
 */
int gv_entities_from(struct gv_entities *w, struct gv_frame *frame, struct gv_error *e);
void gv_entities_free(struct gv_entities *w); /* also of a zeroed one */

/*
 * GV_NUMBER_ENTITY and GV_NUMBER_ENTITY_WEIGHT of p's jobs: entities are numbered in
 * the order of their names, one without a weight in w (NULL: none has one) has 1.
 * row[] as of gv_problem_from_rates().
 */
void gv_entities_number(struct gv_problem *p, const struct gv_entities *w,
    const struct gv_rates *r, const size_t *row);

#endif
