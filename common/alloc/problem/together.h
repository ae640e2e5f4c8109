/*
 * What two jobs make of the same GPUs (space sharing), by kinds of jobs: a job
 * shares with others as its kind does, so that a table of types serves any number
 * of jobs.  Gavel, OSDI 2020, section 3.1.
 *
 * Two jobs of one kind are alike, also in what they make of each other: where a
 * table gives them different rates, each has the mean.
 */
#ifndef GV_ALLOC_TOGETHER_H
#define GV_ALLOC_TOGETHER_H

#include <stddef.h>
#include <stdint.h>

/* Two kinds on a GPU type: steps/s of a job of kind a, and of its partner of kind b. */
struct gv_together_entry {
	uint32_t a, b;
	uint32_t type;
	uint32_t rank; /* private: among those of the table */
	double rate_a, rate_b;
};

/*
 * The pairs of kinds, each once, the lower kind first; those of lower kind k are
 * first[k] .. first[k + 1].  16 m + 4 bytes a pair.
 */
struct gv_together {
	size_t n_kinds, m, n;
	size_t *first;  /* [n_kinds + 1] */
	uint32_t *with; /* [n] the other kind, ascending */

	double *rate;
};

/*
 * From n entries, in any order, which it sorts; of several for the same kinds and
 * type the first counts.  One with a rate of 0 says that the two cannot share.
 */
void gv_together_make(struct gv_together *t, size_t n_kinds, size_t m,
    struct gv_together_entry *entry, size_t n);
void gv_together_free(struct gv_together *t); /* also of a zeroed one */

/* The pair of two kinds, or SIZE_MAX. */
size_t gv_together_find(const struct gv_together *t, size_t a, size_t b);

/*
 * What a scheduler that does not know GPU types assumes: the rates of a pair are
 * the means over the GPUs where it can run.  capacity [m].
 */
void gv_together_agnostic(struct gv_together *t, const double *capacity);

#endif
