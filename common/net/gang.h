/*
 * A gang: the processes of one job, numbered 0 .. world-1, that sum a vector
 * after each step.
 *
 * Members meet at rank 0's address (MASTER_ADDR, MASTER_PORT), learn where the
 * others listen, and connect to the log2(world) partners with which they will
 * exchange.  TCP, no threads, no signals; a member never blocks for ever.
 *
 * Order of the sum.  At level k = 0, 1, ... member r exchanges with r ^ 2^k and
 * both add (lower rank's half) + (upper rank's half), so all members hold the
 * same bits, those of a binary tree over the ranks:
 *
 *	world 4:  (x0 + x1) + (x2 + x3)
 *
 * One process that sums the shards of its batch by such a tree gets the same
 * bits as 2, 4, ... processes that each hold an equal run of its shards.  So
 * world must be a power of two.
 */
#ifndef GV_NET_GANG_H
#define GV_NET_GANG_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { GV_GANG_MAX = 1024 };

struct gv_gang_spec {
	int rank;
	int world;        /* 1 = alone: nothing is opened, sums are what they are */
	const char *addr; /* where rank 0 listens: a name or an address */
	int port;
	double join_s;    /* time for all to arrive */
	double silence_s; /* how long a partner may send nothing during an exchange */
	uint32_t key;     /* must be the same for all: a checksum of what is computed */
};

/*
 * Fills rank, world, addr and port from RANK, WORLD_SIZE, MASTER_ADDR and
 * MASTER_PORT, as launchers set them; without WORLD_SIZE world is 1.  join_s,
 * silence_s and key are left alone.  The strings belong to the environment.
 * 0, or -1 with *e set: malformed, out of range, not a power of two.
 */
int gv_gang_env(struct gv_gang_spec *s, struct gv_error *e);

struct gv_gang;

/*
 * Joins.  0, or -1 with *e set: nobody listens, somebody is missing after
 * join_s, two members of one rank, another world or key.  Ends with gv_gang_leave.
 */
int gv_gang_join(struct gv_gang **g, const struct gv_gang_spec *s, struct gv_error *e);

/*
 * x[0..n) becomes its sum over the members, in the order above; *flags the OR of
 * all members' flags.  All must call it with the same n.  0, or -1 with *e set:
 * "rank 3 is gone", "rank 3 is silent for 60 s", "rank 3 is out of step"; then
 * x is undefined and the gang cannot be used any more.  Cost: log2(world)
 * exchanges of n values, both directions at once.
 */
int gv_gang_sum(
    struct gv_gang *g, float *x, size_t n, unsigned *flags, struct gv_error *e);

void gv_gang_leave(struct gv_gang *g); /* NULL is allowed */

#endif
