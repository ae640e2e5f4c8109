/* Which GPUs of a machine are best taken together. */
#ifndef TREE_SCORE_H
#define TREE_SCORE_H

#include "base/fileio.h"
#include "gv-tree/plan/plan.h"

/* A set of GPUs. */
struct score {
	size_t *gpu; /* [k], ascending */
	double gbytes_per_s;
	size_t class; /* sets of one class are equal but for the names of their GPUs */
};

struct scores {
	struct score *score;
	size_t n, k;
};

enum { SCORE_SETS = 100000 };

/*
 * The optimum of the collective on every set of k GPUs, switches kept, the fastest
 * first, then by class, then in order.  Classes: sets with the same direct links up
 * to a change of names, numbered from 1 as they are first seen; with switches a set is
 * its own class unless its rows of the fabric agree.  Of broadcast and reduce the
 * least over all roots.  tell, when not NULL, is called before each set.  0, or -1 with *e: more than SCORE_SETS sets.
 */
int scores_find(struct scores *s, const struct fabric *f, size_t k, enum collective c,
    void (*tell)(size_t done, size_t of), struct gv_error *e);
void scores_free(struct scores *s);

/* gpus, gbytes_per_s, class */
void scores_write(
    struct gv_out *out, const struct scores *s, const struct fabric *f, bool tsv);

#endif
