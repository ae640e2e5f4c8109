/*
 * Links that carry what a table of links says: processes of one machine that move
 * bytes faster than that keep to it together.
 *
 * Each direction of each link has a time until which it is taken, in memory that all
 * share.  A chunk is given its time on every link of its way, one behind the other, the
 * head of it passing on at once (cut-through); it is handed over when its last byte is
 * through the slowest.  Times follow from each other, not from when a process was
 * scheduled, so a link loses nothing to a busy processor as long as that is less than
 * SHAPE_LATE_S behind; no link ever carries more than its rate.
 */
#ifndef COMM_SHAPE_H
#define COMM_SHAPE_H

#include "coll/coll.h"
#include "ways.h"

#define SHAPE_LATE_S .1

struct shape;

/* Over these links.  Must be made before members are forked.  0, or -1 with *e. */
int shape_new(struct shape **s, const struct ways *ways, struct gv_error *e);
void shape_free(struct shape *s); /* NULL is allowed */

/* Of NULL: no pace. */
struct gv_coll_pace shape_pace(struct shape *s);

#endif
