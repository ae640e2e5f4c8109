/* A process for each GPU, on this machine. */
#ifndef COMM_SPAWN_H
#define COMM_SPAWN_H

#include "rows.h"
#include "shape.h"

/*
 * Starts them, hands each row to tell as it comes, and waits until all have ended.  0,
 * or -1 with *e: a member died or failed; then all others have ended, too, within a second;
 * or without a message in *e: tell did not return 0.
 */
int spawn(const struct gv_trees *t, const struct options *o, struct shape *shape,
    int (*tell)(void *ctx, const struct row *r), void *ctx, struct gv_error *e);

#endif
