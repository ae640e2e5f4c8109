/*
 * Where the time of a step goes.  Private to common/nn/cpu.
 *
 * A step is loops over items that threads share; an item works on several rows
 * one after another, and a lap is what passed since the item's last one.  When
 * the loop is over the time that the caller waited for it is divided among the
 * rows as their laps are.
 */
#ifndef GV_NN_CPU_TIMES_H
#define GV_NN_CPU_TIMES_H

#include "nn/cpu/parts.h"

/* Weights are packed once an update, however many micro-batches it is of: packing is of it. */
enum gv_cpu_phase { GV_CPU_FORWARD, GV_CPU_BACKWARD, GV_CPU_UPDATE, GV_CPU_PHASES };

/* One that adds to result [rows]; NULL is no one, and all of these accept it. */
struct gv_cpu_times *gv_cpu_times_new(
    size_t rows, size_t threads, struct gv_net_times *result);
void gv_cpu_times_free(struct gv_cpu_times *t);

/* Around a loop, on the thread that calls it. */
void gv_cpu_times_loop(struct gv_cpu_times *t);
void gv_cpu_times_loop_end(struct gv_cpu_times *t);

/* On any thread: an item begins; what passed since was for row. */
void gv_cpu_times_item(struct gv_cpu_times *t, size_t thread);
void gv_cpu_times_lap(
    struct gv_cpu_times *t, size_t thread, size_t row, enum gv_cpu_phase phase);

/* Around the update, which is divided as the rows' parameters are. */
void gv_cpu_times_update_end(struct gv_cpu_times *t, const struct gv_nn_plan *plan);

#endif
