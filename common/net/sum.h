/*
 * Sums as lists of stages.  A stage of a member: it may send what it has, gets
 * the sum of the neighbouring block from somebody, may pass that on as it came,
 * and adds it below or above its own.
 */
#ifndef GV_NET_SUM_H
#define GV_NET_SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GV_STAGES_MAX = 10, GV_PASS_MAX = 10 };

struct gv_stage {
	uint32_t level; /* the same at all members of an exchange, below 16 */
	int to;         /* -1 = nobody needs what we have */
	int from;
	int pass[GV_PASS_MAX];
	int n_pass;
	bool above; /* what comes is of higher ranks: own + it */
};

struct gv_stages {
	struct gv_stage stage[GV_STAGES_MAX];
	size_t n;
};

/* The stages of a member in the tree of gang.h; world at most 2^GV_STAGES_MAX. */
void gv_stages_tree(struct gv_stages *s, int rank, int world);

struct gv_gang;
struct gv_sum;
struct gv_message;

/* What gv_gang_sum_begin does, for who has the gang already. */
void gv_sum_begin(
    struct gv_gang *g, struct gv_sum *s, float *x, size_t n, unsigned flags);

/* The messages of its stage that are on their way; returns their number. */
size_t gv_sum_pending(struct gv_sum *s, struct gv_message *m[GV_PASS_MAX + 2]);

/* Takes it out of the list of those on their way. */
void gv_sum_forget(struct gv_gang *g, struct gv_sum *s);

/* Does what can be done of the sums on their way; true when a stage went on. */
bool gv_sums_move(struct gv_gang *g);

#endif
