/*
 * Sums among the replicas of a stage, in the order of the replicas: ((x0 + x1) + x2) + ...
 * Each replica adds up one piece of the vector and gives the others the sum of it, so that
 * as few bytes move as around a ring, and the bits are those of one process that
 * accumulates replica after replica.  Several may be on their way.
 */
#ifndef GV_TRAIN_REDUCE_H
#define GV_TRAIN_REDUCE_H

#include "post.h"

/* Who sums. */
struct group {
	struct post *post;
	size_t first, n, own; /* ranks [first, first + n); this one is first + own */
	size_t stage;
	uint64_t sequence; /* sums begun */
};

struct reduce {
	struct group *group;
	gv_real *v; /* [n] the caller's, until it is done */
	size_t n;
	uint64_t sequence;
	struct parcel **piece;      /* [group.n] of the others, of the own piece */
	struct gv_message *message; /* [2][group.n] sums that come, and all that goes */
	struct gv_message *out;
	bool added;
};

void reduce_begin(struct reduce *r, struct group *g, gv_real *v, size_t n);
/* Goes on as far as it can, without waiting. */
void reduce_move(struct reduce *r);
/* Until v is the sum.  0, or -1: group->post->error.  Then it is to be freed. */
int reduce_end(struct reduce *r);
void reduce_free(struct reduce *r);

#endif
