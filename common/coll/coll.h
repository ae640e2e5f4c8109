/*
 * Collectives over trees: reduce on the way up to each tree's root, broadcast on the
 * way down, in chunks, so that all links work at once.
 *
 * Each tree carries its part of the buffer (gv_trees_part).  A member adds, chunk by
 * chunk, what comes from below to its own, in the order of ranks, and sends the sum
 * on; so the sums are the same in every run and at all members.  On the way down a
 * chunk goes on as soon as it is there.  A chunk is received straight to where it
 * shall be, or, on the way up, into a window of a few chunks for each neighbour
 * below: the memory needed does not grow with the buffer.
 *
 * Messages are those of a gang (net/gang.h), whose links may be any: a member needs
 * one only to its neighbours in the trees.  Nothing here blocks but gv_coll_wait.
 */
#ifndef GV_COLL_COLL_H
#define GV_COLL_COLL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "coll/trees.h"
#include "net/gang.h"

enum gv_coll_type { GV_COLL_FLOAT, GV_COLL_DOUBLE, GV_COLL_TYPES };
enum gv_coll_op { GV_COLL_SUM, GV_COLL_MAX, GV_COLL_MIN, GV_COLL_OPS };

/* float, double; sum, max, min: as nccl-tests names them */
extern const char *const gv_coll_type_name[GV_COLL_TYPES];
extern const char *const gv_coll_op_name[GV_COLL_OPS];
size_t gv_coll_type_size(enum gv_coll_type t);

/* to[i] = a[i] op b[i]; to may be a or b.  Of max and min a NaN gives way. */
void gv_coll_combine(enum gv_coll_type t, enum gv_coll_op op, void *to, const void *a,
    const void *b, size_t n);

/*
 * When a chunk is at the other end of an edge (gv_clock_s), where links are slower than
 * what carries the messages: it is not handed over before.  Asked once for each, in
 * the order in which they go over the edge; ready is when it could leave, by the same
 * clock of links, which runs behind the caller's own where the processor is late.  The
 * edge is that between rank below and the one above it in the phase.
 */
struct gv_coll_pace {
	double (*due)(
	    void *ctx, size_t tree, bool up, int below, size_t bytes, double ready);
	void *ctx;
};

enum {
	GV_COLL_WINDOW = 4,   /* chunks of an edge on their way */
	GV_COLL_IDS = 1 << 10 /* collectives of one gang at the same time */
};

struct gv_coll_spec {
	const struct gv_trees *trees; /* must outlive it; the same at all members */
	int rank;                     /* in the trees and in the gang */
	uint32_t id; /* of what is on its way at the same time, each another */
	enum gv_coll_type type;
	enum gv_coll_op op;
	/*
	 * Bytes of a chunk of the tree of the largest weight, at most; those of the others
	 * are in proportion, so that all have equally many.  A tree's chunks are equal but for
	 * rounding to elements.
	 */
	size_t chunk_bytes;
	struct gv_coll_pace pace; /* due NULL = at once */
};

struct gv_coll;

/*
 * One collective after another over the same trees.  Takes memory for the windows.
 * The gang must outlive it.
 */
struct gv_coll *gv_coll_new(struct gv_gang *g, const struct gv_coll_spec *s);
void gv_coll_free(struct gv_coll *c); /* NULL is allowed; nothing may be on its way */

/*
 * Begins one, of count elements, as nccl-tests counts:
 *
 *	broadcast       in [count] at the root, out [count] everywhere
 *	reduce          in [count], out [count] at the root (else not used, may be NULL)
 *	allreduce       in [count], out [count]; out may be in
 *	allgather       in [count], out [ranks][count]; in may be its own block there
 *	reducescatter   in [ranks][count], out [count]; out may be its own block there
 *
 * Both stay where they are until it is done; in is not changed.  All members begin the
 * same ones in the same order.
 */
void gv_coll_begin(struct gv_coll *c, const void *in, void *out, size_t count);

/* Goes on as far as it can without waiting; true when it is done. */
bool gv_coll_move(struct gv_coll *c);

/* Waits until it is done.  0, or -1 with *e (gang.h, Failure). */
int gv_coll_wait(struct gv_coll *c, struct gv_error *e);

#endif
