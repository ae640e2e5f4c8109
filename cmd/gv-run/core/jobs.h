/*
 * The jobs of a run, on the GPUs of this machine: what their table says of them, and
 * their life.  A job has the same number everywhere: in the order of its table.
 */
#ifndef JOBS_H
#define JOBS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "sched/cluster.h"
#include "sched/life/events.h"
#include "sched/life/life.h"
#include "sched/rates.h"
#include "settings.h"

struct jobs {
	struct gv_cluster cluster;
	struct gv_rates table;
	struct gv_life_names names;
	struct gv_life life;
	struct gv_hash taken; /* submissions that the journal has */
	/* the cluster is an allocation's: a policy may know of GPUs that it does not have */
	bool allocated;
	struct gv_arena arena;
};

/*
 * Makes names and life out of cluster and table.  log[m] is where the words of job m
 * are, the caller's; log NULL = nowhere.
 */
void jobs_make(struct jobs *j, const struct settings *o, char *const *log);
void jobs_free(struct jobs *j);

/*
 * Goes on with another table, which begins with the jobs there are and is taken over
 * (also on error), and another cluster, likewise, or the same (NULL).  log as in
 * jobs_make, of all jobs.  Nobody holds a GPU that the cluster does not have.  0 or -1.
 */
int jobs_change(struct jobs *j, struct gv_frame *table, struct gv_cluster *cluster,
    char *const *log, struct gv_error *e);
/* The number that a GPU of the run has in another cluster, -1 = none. */
ptrdiff_t jobs_gpu_in(const struct jobs *j, size_t gpu, const struct gv_cluster *to);
/* The journal has a submission of that id. */
void jobs_taken(struct jobs *j, const char *id, size_t len);

/* Its id in quotes, for messages. */
const char *jobs_name(const struct jobs *j, size_t m, char q[GV_QUOTE_LEN]);

#endif
