/*
 * Rows of a life cycle (sched/life/life.h), which know jobs and GPUs by number, as events
 * of the table (sched/events.h), which has their names; and back.
 */
#ifndef GV_SCHED_LIFE_EVENTS_H
#define GV_SCHED_LIFE_EVENTS_H

#include "base/hash.h"
#include "base/strbuf.h"
#include "sched/cluster.h"
#include "sched/events.h"
#include "sched/life/life.h"
#include "sched/rates.h"

/* The names; both are the caller's, and jobs have the numbers that they have in life. */
struct gv_life_names {
	const struct gv_cluster *cluster;
	const struct gv_job *job; /* [n_jobs] */
	size_t n_jobs;
	struct gv_hash ids;
};

void gv_life_names_init(struct gv_life_names *n, const struct gv_cluster *c,
    const struct gv_job *job, size_t n_jobs);
void gv_life_names_free(struct gv_life_names *n); /* also of a zeroed one */

/*
 * The event of a row; the reason of an arrival is the job's entity.  Texts are those of
 * the names and of the row, and gpus, whose contents are replaced.
 */
void gv_life_event(const struct gv_life_names *n, const struct gv_life *l,
    const struct gv_life_row *row, struct gv_strbuf *gpus, struct gv_event *ev);

/*
 * The row of an event of a run on these jobs, or on fewer or more: of no job when it is
 * about one that is not known.  Types and GPUs that the cluster does not have are left
 * out; the reason is empty.  gpu: room for [rounds.n_gpus] numbers, where row points.
 */
void gv_life_row(const struct gv_life_names *n, const struct gv_life *l,
    const struct gv_event *ev, size_t *gpu, struct gv_life_row *row);

/*
 * Appends where GPUs are, at least one: the node, or, if there are several, that of each
 * ("n1;n1;n2").
 */
void gv_life_nodes(const struct gv_life_names *n, const struct gv_life *l,
    const size_t *gpu, size_t n_gpus, struct gv_strbuf *nodes);

/* The number by which its node knows a GPU. */
int gv_life_gpu_id(const struct gv_life_names *n, const struct gv_life *l, size_t gpu);
/* The pool in which it is. */
const struct gv_pool *gv_life_gpu_pool(
    const struct gv_life_names *n, const struct gv_life *l, size_t gpu);

#endif
