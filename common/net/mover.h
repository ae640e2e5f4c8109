/*
 * The thread of a gang that moves messages while the others compute.
 *
 * One lock guards all of a gang.  The thread lets go of it to sleep in poll, and
 * between two turns; the caller's functions take it, move what they can themselves,
 * and keep it while they wait, so that a worker that waits is woken by its peer and
 * not by its own thread.  Neither can keep the other out: whoever wants the lock
 * first stops at a gate, and is the next.
 */
#ifndef GV_NET_MOVER_H
#define GV_NET_MOVER_H

#include "net/mesh.h"

struct gv_mover;

/* Takes the lock of a gang, and lets go of it; nothing where there is no thread. */
void gv_mover_enter(struct gv_gang *g);
void gv_mover_leave(struct gv_gang *g);

/* Ends the thread; before the gang's links are closed. */
void gv_mover_stop(struct gv_gang *g);

#endif
