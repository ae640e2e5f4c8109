/*
 * What crosses the cuts of a plan, from GPU to GPU (NCCL): of each cut, two replicas and
 * direction a way of its own; and the sums of a stage's replicas, which join as ranks do.
 *
 * NCCL has no tags, and what it was asked for it waits for.  So a sender says through the
 * gang, in the order of its sends, of which micro-batch the next one is, and only then
 * the receiver asks for it, whatever it does meanwhile (links_move): the order in which
 * stages need what was sent is free, and no schedule makes devices wait for each other.
 */
#ifndef GV_TRAIN_LINKS_H
#define GV_TRAIN_LINKS_H

#include "chunk.h"
#include "nn/backend.h"

/* A message that was asked for and not taken yet. */
struct came {
	uint32_t micro_batch;
	int message;
};

struct way {
	struct chunk *chunk; /* this end's */
	enum gv_net_side side;
	size_t peer; /* rank */
	bool sends;
	int link;
	struct gv_tag tag;      /* of what is said of it */
	struct gv_message said; /* receiving: posted */
	struct came *came;
	size_t n, cap;
};

/* = {0}: there are none, everything goes through the hosts. */
struct links {
	const struct worker_spec *spec;
	struct post *post;
	struct way *way;
	size_t n, cap;
	bool moving;
	bool open; /* all, also where this worker has none: no devices go by the hosts */
};

/*
 * Opens all ways of this worker, and joins the replicas of its stages for their sums; all
 * workers at once.  chunk [chunks].  0, or -1 with *e, or the post's error where that is set.
 */
int links_open(struct links *l, const struct worker_spec *spec, struct post *post,
    struct chunk *chunk, size_t chunks, const struct gv_nn_watch *watch,
    struct gv_error *e);
void links_free(struct links *l);

/* The way of a stage's outputs or gradients to or from a rank; NULL: there is none. */
struct way *links_find(const struct links *l, const struct chunk *c,
    enum gv_net_side side, bool sends, size_t peer);

/* Whether links_take would find it: that it was sent is known. */
bool links_have(struct links *l, const struct way *w, uint64_t micro_batch);
/* 0, or -1: gv_net_error; take: or *lost and the post's error. */
int links_send(struct links *l, struct way *w, size_t slot, uint64_t micro_batch);
int links_take(
    struct links *l, struct way *w, size_t slot, uint64_t micro_batch, bool *lost);

/* Asks for what was said to be sent; a failure is the net's, and shows there. */
void links_move(struct links *l);

#endif
