/* GPUs of several types, from tables. */
#ifndef GV_PARTITION_FLEET_READ_H
#define GV_PARTITION_FLEET_READ_H

#include "fleet.h"
#include "plan/layers.h"
#include "sched/cluster.h"

/* What --gpu-speed says: GPUs of this type take 1 / factor of the times of the layers' table. */
struct fleet_speed {
	const char *type; /* [len] */
	size_t len;
	double factor;
};

/* How fast the types are. */
struct fleet_times {
	const char *file; /* --times; NULL = none */
	size_t n_speeds;
	struct fleet_speed speed[GV_FLEET_TYPES];
};

/* = {0} is empty. */
struct fleet_tables {
	struct gv_cluster cluster; /* owns the names */
	struct gv_fleet fleet;
};

/*
 * The types of a cluster that have GPUs, in the order of its table, each with the
 * time of each layer of l: that of --gpu-speed; or of the file's rows, which are
 *
 *   node_id, gpu_type, forward_ms, backward_ms   of one layer, or
 *   gpu_type, steps_per_s                        of the model: the times of the
 *           layers' table, scaled so that all together take 1 / steps_per_s;
 *           rows whose scale_factor is not 1 do not count
 *
 * or when the cluster has one type and nothing else is known, as the table of
 * layers says.  memory: bytes of a GPU, where it is less than the cluster's
 * memory_bytes or these are not given; 0 = no limit.  They talk as m's first level does.
 * 0, or -1 with *e set.
 */
int fleet_read(struct fleet_tables *t, const char *cluster, const struct fleet_times *how,
    double memory, const struct gv_machine *m, const struct gv_layers *l,
    struct gv_error *e);
void fleet_tables_free(struct fleet_tables *t);

/* Fills plan.stage[].type from the column gpu_type of the rows.  0, or -1 with *e set. */
int fleet_read_plan(struct gv_plan *p, const struct gv_fleet *f,
    const struct gv_layers *l, struct gv_error *e);

/* Gives the layers the times that they have in this plan; p NULL: on the first type. */
void fleet_apply(struct gv_graph *g, const struct gv_plan *p, const struct gv_fleet *f);

#endif
