/*
 * Something to compute beside messages, in pieces that take equally long; and what replicas that
 * sum gradients do with these messages.
 */
#ifndef GV_PROFILE_LINK_COMPUTE_H
#define GV_PROFILE_LINK_COMPUTE_H

#include <stddef.h>

struct link_compute {
	float *v;
	size_t rounds; /* of a piece */
	double alone;  /* pieces a second with nothing on its way */
	float *gradient;
	size_t at, came; /* the next number of it; messages that have come */
};

/* Finds out what a piece is: about 1 ms of a core. */
void link_compute_make(struct link_compute *c);
void link_compute_free(struct link_compute *c);

void link_compute_piece(struct link_compute *c);

/* Computes for about that long, and sets alone. */
void link_compute_alone(struct link_compute *c, double window_s);

/*
 * As much work as with so many bytes of gradients: what goes is copied for the way, of what comes
 * every other message is added, else copied back.
 */
void link_compute_give(struct link_compute *c, size_t bytes);
void link_compute_take(struct link_compute *c, size_t bytes);

#endif
