/*
 * Which GPU is busy since when (a lane of it), and the runs of jobs on them, which are kept
 * for drawing only.
 */
#ifndef GV_REPORT_LANES_H
#define GV_REPORT_LANES_H

#include "history.h"

/* Ids in a list "0;1". */
size_t history_count_gpus(struct gv_cell list);
/* For every GPU of the event's list: its lane, and for a job (or NULL) its run. */
void history_lanes(
    struct history *h, const struct gv_event *ev, size_t type, struct job *j);
/* GPUs of a type were busy for a time: the GPU-seconds. */
double history_were_busy(
    struct history *h, size_t type, double from_s, double to_s, double gpus);
/*
 * The job leaves its GPUs: the GPU-seconds in which they were busy, as far as nobody
 * else is there to tell them later.
 */
double history_leave_lanes(struct history *h, struct job *j, double now);

#endif
