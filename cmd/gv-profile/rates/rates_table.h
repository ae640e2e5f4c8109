/* Writing what was measured. */
#ifndef GV_PROFILE_RATES_TABLE_H
#define GV_PROFILE_RATES_TABLE_H

#include "plan.h"

/*
 * The jobs' rows, each once per GPU type of the cluster, with all their columns
 * byte for byte, then gpu_type and steps_per_s (in place of columns of these
 * names); none where it was not measured.  usage: gpu_utilization and gpu_memory_bytes
 * behind them.
 */
void write_rates(struct gv_tabw *w, const struct plan *p, const struct gv_rates *jobs,
    const struct gv_cluster *cluster, bool usage);

/*
 * A row for each pair and GPU type where it was measured: job_a and job_b (their types, or
 * ids of jobs without one), scale_factor, gpu_type, the rates together and alone, and what
 * both together do over taking turns.  usage: as above.
 */
void write_pairs(struct gv_tabw *w, const struct plan *p, const struct gv_rates *jobs,
    const struct gv_cluster *cluster, bool usage);

/* job_type, scale_factor, gpu_type, steps_per_s of every class that has a job_type. */
void write_throughputs(struct gv_tabw *w, const struct plan *p,
    const struct gv_rates *jobs, const struct gv_cluster *cluster);

#endif
