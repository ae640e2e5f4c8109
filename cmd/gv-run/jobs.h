/*
 * The jobs of a run, on the GPUs of this machine: what their table says of them, and
 * their life.  A job has the same number everywhere: in the order of its table.
 */
#ifndef JOBS_H
#define JOBS_H

#include "base/err.h"
#include "sched/cluster.h"
#include "sched/life.h"
#include "sched/life_events.h"
#include "sched/rates.h"
#include "settings.h"

struct jobs {
	struct gv_cluster cluster;
	struct gv_rates table;
	struct gv_life_names names;
	struct gv_life life;
};

/*
 * Makes names and life out of cluster and table.  log[m] is where the words of job m
 * are, the caller's; log NULL = nowhere.
 */
void jobs_make(struct jobs *j, const struct settings *o, char *const *log);
void jobs_free(struct jobs *j);

/* Its id in quotes, for messages. */
const char *jobs_name(const struct jobs *j, size_t m, char q[GV_QUOTE_LEN]);

#endif
