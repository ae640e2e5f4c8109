/*
 * Where the time of a step goes.  Private to common/nn.
 *
 * A step is loops over items that threads share; an item works on several rows
 * one after another, and a lap is what passed since the item's last one.  When
 * the loop is over the time that the caller waited for it is divided among the
 * rows as their laps are.
 */
#ifndef GV_NN_TIMES_H
#define GV_NN_TIMES_H

#include "nn/impl.h"

enum times_phase { TIMES_FORWARD, TIMES_BACKWARD };

/* One that adds to result [rows]; NULL is no one, and all of these accept it. */
struct times *times_new(size_t rows, size_t threads, struct gv_net_times *result);
void times_free(struct times *t);

/* Around a loop, on the thread that calls it. */
void times_loop(struct times *t);
void times_loop_end(struct times *t);

/* On any thread: an item begins; what passed since was for row. */
void times_item(struct times *t, size_t thread);
void times_lap(struct times *t, size_t thread, size_t row, enum times_phase phase);

/* Around the update, which is divided as the rows' parameters are. */
void times_update_end(struct times *t, const struct gv_net *net);

#endif
