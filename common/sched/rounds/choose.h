/* Who runs on which type in the next round; private to common/sched. */
#ifndef GV_SCHED_ROUNDS_CHOOSE_H
#define GV_SCHED_ROUNDS_CHOOSE_H

#include "sched/rounds/rounds.h"

struct gv_round_choice {
	size_t *room;    /* [n_types] GPUs not given yet */
	ptrdiff_t *type; /* [n_jobs] where it shall run, -1 = nowhere */
	ptrdiff_t *as;   /* [n_jobs] itself or its pair that shall run, -1 = none */
};

/* Nobody runs, no GPU is there. */
void gv_round_choice_init(struct gv_round_choice *c, const struct gv_rounds *r);
void gv_round_choice_free(struct gv_round_choice *c);

/* Whether m may run, is not placed, nor a member of it, and fits on a type. */
bool gv_round_fits(
    const struct gv_rounds *r, const struct gv_round_choice *c, size_t m, size_t type);

/* m runs on a type; gv_round_take also takes its GPUs from room. */
void gv_round_run(
    const struct gv_rounds *r, struct gv_round_choice *c, size_t m, size_t type);
void gv_round_take(
    const struct gv_rounds *r, struct gv_round_choice *c, size_t m, size_t type);

/*
 * Chooses among those that are not placed, by r->order, until no GPU idles in vain: by
 * what was promised, then what is left over.
 */
void gv_round_choose(const struct gv_rounds *r, struct gv_round_choice *c);
void gv_round_choose_promised(const struct gv_rounds *r, struct gv_round_choice *c);
void gv_round_choose_rest(const struct gv_rounds *r, struct gv_round_choice *c);

/*
 * The order in which a job, no pair, is looked at, the largest first, then the smaller
 * number.  Of those of equal gangs on a type only the first can be chosen.
 */
struct gv_round_rank {
	double key[3];
};

/* By what was promised on a type; false: it has no turn there. */
bool gv_round_rank_promised(
    const struct gv_rounds *r, size_t m, size_t type, struct gv_round_rank *rank);
/* By what is left over. */
bool gv_round_rank_rest(const struct gv_rounds *r, size_t m, struct gv_round_rank *rank);

#endif
