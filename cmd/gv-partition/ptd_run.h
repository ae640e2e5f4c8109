/* gv-partition --planner=ptd-p: from the command line to the table. */
#ifndef GV_PARTITION_PTD_RUN_H
#define GV_PARTITION_PTD_RUN_H

#include "options.h"

/* Reads, plans, writes; the exit status, before gv_finish. */
int ptd_run(const struct options *o);

#endif
