/* What each entity has, for an explanation. */
#ifndef GV_ALLOC_ENTITY_LEVELS_H
#define GV_ALLOC_ENTITY_LEVELS_H

#include "answer.h"

struct gv_entity_level {
	double value; /* sum of s_i thr_i / P_i of all jobs in it, over its weight */
	double gpus;  /* that they have; of GPUs that two share a half each */
	double quota; /* 0 = none */
	bool top;     /* it is in no other */
	bool done;    /* all its jobs have all the time there is */
	/* what the value changes with a GPU more of the type that helps most, and of quota; NAN = not known */
	double one_more_gpu, one_more_quota;
};

struct gv_entity_levels {
	struct gv_hash names;          /* in the order of their names */
	struct gv_entity_level *level; /* [names.n] */
};

/* Of a's shares; names.n is 0 where the policy looked at no entities.  Strings of w and r. */
void gv_entity_levels_make(struct gv_entity_levels *l, const struct gv_answer *a,
    const struct gv_rates *r, const struct gv_entities *w);
void gv_entity_levels_free(struct gv_entity_levels *l); /* also of a zeroed one */

#endif
