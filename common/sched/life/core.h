/* Private to common/sched/life*.c: what the parts of the state machine share. */
#ifndef GV_SCHED_LIFE_CORE_H
#define GV_SCHED_LIFE_CORE_H

#include "sched/life/life.h"

struct gv_life_queued {
	struct gv_life_out out; /* without pointers */
	size_t gpu_at;          /* in out_gpus */
	size_t text_at;         /* in out_text */
};

/* ---- out.c: the queue ---- */

/* Puts it at the end, with copies of what it points to. */
void gv_life_queue(struct gv_life *l, const struct gv_life_out *what);
/* Puts something at the end that is no row. */
void gv_life_put(struct gv_life *l, enum gv_life_kind kind, ptrdiff_t m);
/* A row of the job (-1 = of none), as it stands. */
struct gv_life_row gv_life_row_of(
    const struct gv_life *l, enum gv_event_kind kind, ptrdiff_t m, const char *reason);

/* ---- state.c: jobs, GPUs, accounts ---- */

/* Counts the time since it was counted last: what is owed and received. */
void gv_life_account(struct gv_life *l);
/*
 * gv_rounds_settle, if the set of jobs or the shares have changed: once for all changes
 * of a moment, before time is counted or a round is planned.
 */
void gv_life_settle(struct gv_life *l);
/* There is a job of that number, LATER; it has a place in job and in the rounds. */
void gv_life_begin_job(struct gv_life *l, size_t m, const struct gv_life_spec *spec);
/* A job goes over into a state; the lists and the mechanism hear of it. */
void gv_life_enter(struct gv_life *l, size_t m, enum gv_life_state state);
/* GPUs become the job's, or nobody's. */
void gv_life_take_gpus(struct gv_life *l, size_t m, const size_t *gpu, size_t n);
void gv_life_free_gpus(struct gv_life *l, size_t m);
/* A job that runs is told to stop; one that is being launched, when it runs. */
void gv_life_stop(struct gv_life *l, size_t m);
/* New shares are asked for. */
void gv_life_ask(struct gv_life *l);
/* The set of jobs or the shares have changed. */
void gv_life_changed(struct gv_life *l);
void gv_life_timer_add(struct gv_life *l, double time_s, size_t m);
void gv_life_timer_drop_first(struct gv_life *l);
/* The share of the last allocate row. */
double *gv_life_told(struct gv_life *l, size_t m, size_t type);

/* Its shares are to be told, when it is active. */
void gv_life_share_due(struct gv_life *l, size_t m);

/* ---- planned.c: which GPUs are whose in the plan ---- */

/* A plan has been made, of all GPUs; in one that was filled these were given. */
void gv_life_link(struct gv_life *l);
void gv_life_link_given(struct gv_life *l, const size_t *gpu, size_t n);
/* The GPUs of an owner in the plan, ascending; their number. */
size_t gv_life_planned(const struct gv_life *l, size_t owner, size_t *gpu);
/* Whether a job has GPUs in the plan, alone or in a pair. */
bool gv_life_is_planned(const struct gv_life *l, size_t m);
/* Whether some of them cannot be given out in this round. */
bool gv_life_planned_away(const struct gv_life *l, size_t m);
/* It has none any more. */
void gv_life_unplan(struct gv_life *l, size_t m);

/* Somebody may start on a GPU; on those of m, or where m is planned. */
void gv_life_touch_gpu(struct gv_life *l, size_t g);
void gv_life_touch(struct gv_life *l, size_t m);

/* ---- rows.c: rows, applied ---- */

/* Writes it down and applies it. */
void gv_life_emit(struct gv_life *l, const struct gv_life_row *row);
/* Writes down and applies a row of the job, as it stands. */
void gv_life_write(
    struct gv_life *l, enum gv_event_kind kind, size_t m, const char *reason);

#endif
