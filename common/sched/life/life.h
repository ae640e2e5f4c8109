/*
 * The life cycle of jobs: arrival, start, checkpoint, preemption, failure, retry,
 * finish.  One state machine for the real clock and launcher (gv-run), for a virtual
 * clock (gv-run --dry-run, gv-sim) and for the way back from a journal (replay).  It
 * has no clock, no I/O and no chance of its own: what has happened goes in, what is to
 * be done and what is to be written down comes out.
 *
 *   in    time passes; launched, not launched, reported, left, lost; shares have
 *         changed; hold, release, cancel; GPUs that go and come; the end
 *   out   start, stop, kill; ask the policy; rows for the journal
 *
 * The life of a job:
 *
 *   LATER -> WAITING -> STARTING -> RUNNING -> STOPPING -> KILLING
 *              ^  ^________|            |_________|__________|
 *              |________________________________| -> FINISHED, DROPPED
 *
 * and HELD, beside WAITING, while it shall not run.
 *
 * Journal first: whatever changes the state that has to survive is a row, and the state
 * is changed by applying the row, in gv_life_replay too.  So a replay of the rows gives
 * the state, but for what was never told: steps since the last row (the job's own
 * progress file has them), launches under way, waits after a refused launch, and a
 * cancellation of a job whose workers have not left yet.
 *
 * Times are seconds, and never fall.  Deterministic.  Cost: an input O(log jobs +
 * GPUs of the job); who starts on GPUs that have come free, O(jobs that wait); a round
 * pays for the mechanism (sched/rounds/rounds.h), O(active jobs + GPUs).
 */
#ifndef GV_SCHED_LIFE_H
#define GV_SCHED_LIFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "sched/events.h"
#include "sched/rates.h"
#include "sched/rounds/rounds.h"

enum gv_life_state {
	GV_LIFE_LATER,    /* has not arrived */
	GV_LIFE_WAITING,  /* has no GPUs, or waits for those it was given */
	GV_LIFE_HELD,     /* shall not run until it is released */
	GV_LIFE_STARTING, /* its workers are being launched; GPUs are taken */
	GV_LIFE_RUNNING,
	GV_LIFE_STOPPING, /* told to save itself and leave */
	GV_LIFE_KILLING,
	GV_LIFE_FINISHED,
	GV_LIFE_DROPPED,
	GV_LIFE_STATES
};

/* What a job is, said once. */
struct gv_life_spec {
	size_t gang;        /* GPUs at once */
	double total_steps; /* NAN = unknown */
	double arrival_s;   /* it is there from then on; HUGE_VAL = gv_life_arrive says */
	/* where more is told of its failures; NULL = nowhere; the caller's */
	const char *see;
};

struct gv_life_job {
	struct gv_life_spec spec;
	enum gv_life_state state;
	double arrived_s;
	double steps;      /* done in all, as it told last, -1 = nothing */
	double checkpoint; /* steps that are safe, -1 = none */
	int launches;
	double launched_s;  /* the last time */
	double launched_at; /* steps it had then, -1 = none */
	bool stepped;       /* it has done a step since */
	bool measured;      /* startup_s is */
	double startup_s; /* from launch to first step, the last one measured; 0 = none */
	int failures;     /* in a row without progress */
	double failed_at; /* the most steps it had when it failed, -1 = never */
	double retry_s;   /* not to be launched before */
	int refusals;     /* launches in a row that could not be made */
	int starved;      /* and whose shell could not go on, without progress */
	double starved_at; /* the steps it had then */
	bool held;         /* goes to HELD as soon as it can */
	bool cancelled;    /* is dropped as soon as it has left */
	bool unwanted;     /* STARTING: is to be stopped once it runs */
	size_t type;       /* of its GPUs now, or last */
	ptrdiff_t mate;    /* shares GPUs with it while both are there, -1 = nobody */
	size_t *gpu;       /* [n_gpus] held, ascending */
	size_t n_gpus;     /* 0 = none, or GPUs that this cluster does not have */
	size_t open_at;    /* its place in gv_life.open */
	size_t waiting_at; /* its place in gv_life.waiting */
	/* whose time it counts, its own or its pair's; -1 = it holds no GPUs */
	ptrdiff_t as;
};

/* A row of the journal, jobs and GPUs by number. */
struct gv_life_row {
	double time_s;
	enum gv_event_kind kind;
	ptrdiff_t job;  /* -1 = of none */
	ptrdiff_t with; /* allocate: of this pair; start, resume: is there already; -1 */
	ptrdiff_t type; /* of GPU, -1 = none */
	size_t pool;    /* of a pool row: which, whose GPUs that are not away gpu lists */
	const size_t *gpu; /* [n_gpus] */
	size_t n_gpus;
	double steps;  /* NAN = does not apply; of a checkpoint what is safe */
	int64_t round; /* -1 = does not apply */
	double share;  /* of an allocate event, else NAN */
	const char *reason;
};

enum gv_life_kind {
	GV_LIFE_ROW, /* is to be written down, before anybody is told */
	GV_LIFE_START, /* job, gpu: launch; answer: gv_life_started or gv_life_not_started */
	GV_LIFE_STOP, /* job: let it save itself and leave; gv_life_left tells when it has */
	GV_LIFE_KILL,  /* job: at once */
	GV_LIFE_ASK,   /* for new shares: the set of jobs has changed */
	GV_LIFE_ROUND, /* a round was planned */
	GV_LIFE_FILL   /* idle GPUs were given within the round */
};

struct gv_life_out {
	enum gv_life_kind kind;
	struct gv_life_row row; /* START, STOP, KILL: job, gpu, n_gpus */
};

/* Something that will be due. */
struct gv_life_timer {
	double time_s;
	size_t job; /* SIZE_MAX: launches may be tried again */
};

struct gv_life {
	struct gv_rounds rounds; /* rates are the caller's to set */
	size_t n_jobs;
	struct gv_life_job *job;
	size_t n[GV_LIFE_STATES]; /* jobs in each state */
	ptrdiff_t *holder; /* [rounds.n_gpus] whose workers are there: a job or a pair */
	ptrdiff_t *plan;   /* [rounds.n_gpus] whose workers shall be there; of nobody
	                      GV_GPU_AWAY where it is away */
	double now_s;
	int64_t round; /* the present one, -1 = none yet */
	double round_end_s;

	/* the machine's own */
	int max_failures;
	size_t cap_jobs;
	size_t n_active; /* those the mechanism knows, in order of numbers */
	size_t cap_active;
	size_t *active;
	size_t n_open; /* those whose workers are there */
	size_t cap_open;
	size_t *open;
	size_t n_waiting; /* those WAITING */
	size_t cap_waiting;
	size_t *waiting;
	double *told; /* [rounds.n_jobs][n_types] shares of the last allocate rows */
	size_t cap_told;
	size_t n_told;
	size_t n_away;   /* GPUs that are */
	bool *away;      /* [rounds.n_gpus] cannot be given out */
	bool settle_due; /* the set of jobs or the shares have changed */
	bool shares_due; /* some shares may not have been told: of these */
	size_t n_due;
	size_t cap_due;
	size_t *due;
	bool fill;        /* GPUs may have come free, or somebody can take them */
	bool startable;   /* somebody may start on the GPUs planned */
	size_t n_touched; /* or, if not, on these */
	size_t cap_touched;
	size_t *touched;
	bool asked; /* GV_LIFE_ASK is on its way */
	bool ending;
	bool replaying;
	int refusals;     /* launches in a row that could not be made, of all jobs */
	double pause_s;   /* no launch before */
	size_t n_planned; /* rounds.n_jobs, as it was */
	size_t cap_planned;
	size_t *planned; /* [n_planned] 1 + the first GPU of each in plan, 0 = none */
	size_t *next_planned; /* [rounds.n_gpus] 1 + the next one of the same */
	size_t *gpus;         /* [rounds.n_gpus] of one job, now and then */
	size_t *idle;         /* [rounds.n_pools] GPUs of nobody in plan */
	size_t n_timers;
	size_t cap_timers;
	struct gv_life_timer *timer; /* a heap */
	size_t n_out;
	size_t next_out;
	size_t cap_out;
	struct gv_life_queued *out;
	size_t n_out_gpus;
	size_t cap_out_gpus;
	size_t *out_gpus;
	struct gv_strbuf out_text;
};

/*
 * No jobs, all GPUs of the cluster idle, time 0.  round_s: length of a round; a job is
 * dropped after max_failures failures in a row without progress.  gv_life_free also
 * takes a zeroed one.
 */
void gv_life_init(
    struct gv_life *l, const struct gv_cluster *c, double round_s, int max_failures);
void gv_life_free(struct gv_life *l);

/* One more job, LATER: its number, which is that in rounds, too, as long as there are no pairs. */
size_t gv_life_add(struct gv_life *l, const struct gv_life_spec *spec);

/* ---- out ---- */

/*
 * The next thing to do or to write down, in the order in which they came up: false =
 * nothing more.  Texts and GPUs are good until the next call of any function here.
 */
bool gv_life_next(struct gv_life *l, struct gv_life_out *out);

/* ---- in ---- */

/* It is that late: jobs arrive, waits end. */
void gv_life_time(struct gv_life *l, double now_s);
/*
 * Decides, after what came in: with plan, who shall have which GPUs; in any case who
 * starts on GPUs that were planned for it and are free by now.  Without plan decisions
 * wait, for an answer of the policy say.
 */
void gv_life_turn(struct gv_life *l, bool plan);
/* When to come again if nothing happens before; HUGE_VAL = never.  plan as in gv_life_turn. */
double gv_life_wakes_s(const struct gv_life *l, bool plan);

/* A job LATER is there. */
void gv_life_arrive(struct gv_life *l, size_t m);
/* A job STARTING has its workers. */
void gv_life_started(struct gv_life *l, size_t m);
/*
 * A job STARTING could not be launched, by no fault of its own: it is tried again after
 * a wait that grows, and launches of others pause, too.  Never counted against it.
 */
void gv_life_not_started(struct gv_life *l, size_t m);
/* It has told: steps in all, and the steps that are safe; -1 = nothing of that kind. */
void gv_life_report(struct gv_life *l, size_t m, double steps, double checkpoint);
/*
 * Since it was launched it has reported a step, the first one: what a start costs is
 * known.  It counts when rounds are planned (GV_ROUND_LEASE), as does, where it is more,
 * the time so far of a later start.
 */
void gv_life_stepped(struct gv_life *l, size_t m);
/*
 * Its workers have left with that status, as sh(1) has it.  0: it is done, unless it was told
 * to stop and has done fewer than all steps.  143 when told to stop: preempted.  All
 * steps safe: done, whatever the status.  Anything else is a failure; once the run ends
 * none that was told to stop is counted.
 */
void gv_life_left(struct gv_life *l, size_t m, int status);
/*
 * It has left since its shell could not start a process for it, with the status: no failure
 * of its own, and tried again after a wait that grows; but the GV_LIFE_STARVED'th
 * time in a row without progress counts, since then it may be too much by itself.
 */
enum { GV_LIFE_STARVED = 20 };
void gv_life_starved(struct gv_life *l, size_t m, int status);
/* A job without workers is done, by means of its own. */
void gv_life_finish(struct gv_life *l, size_t m);
/* Its workers are gone by no fault of its own, with their node say. */
void gv_life_lost(struct gv_life *l, size_t m, const char *reason);
/*
 * A share of a job or a pair from now on.  gv_life_announce writes rows of all that have
 * changed and whose jobs are there, in the order of numbers; gv_life_turn does, too.
 */
void gv_life_set_share(struct gv_life *l, size_t m, size_t type, double share);
/*
 * The rates and shares of a whole table whose jobs are those of l, in the same order;
 * its pairs become pairs of the rounds.  O(rows).
 */
void gv_life_take_shares(struct gv_life *l, const struct gv_rates *table);
void gv_life_announce(struct gv_life *l);
/*
 * The shares are new, also those that are as before: Gavel's accounts of them begin anew
 * (GV_ROUND_GAVEL; elsewhere nothing happens).  No row tells of it.
 */
void gv_life_renew(struct gv_life *l);
/* A job shall not run, or may again; it is drained first. */
void gv_life_hold(struct gv_life *l, size_t m, const char *reason);
void gv_life_release(struct gv_life *l, size_t m);
/* A job shall not be done: it is dropped once its workers have left. */
void gv_life_cancel(struct gv_life *l, size_t m);
/* The GPUs of a pool cannot be given out, or can be again; new shares are asked for. */
void gv_life_pool_away(struct gv_life *l, size_t pool, bool away);
/* The same of one GPU.  Who has it leaves at the end of the round. */
void gv_life_gpu_away(struct gv_life *l, size_t gpu, bool away);
/* The GPUs of a type that are not away. */
size_t gv_life_available(const struct gv_life *l, size_t type);
/* What there is from now on: other GPUs, more jobs. */
struct gv_life_change {
	const struct gv_cluster *cluster;
	/* [rounds.n_types] its number there, -1 = none; NULL = the same */
	const ptrdiff_t *type;
	/* [rounds.n_gpus] likewise; nobody holds one that is gone */
	const ptrdiff_t *gpu;
	size_t n_jobs;
	const struct gv_life_spec *spec; /* [n_jobs] more jobs, LATER */
};
/*
 * Goes on with it.  Jobs keep their numbers and what they were promised, have received
 * and hold; those that are new come behind them, and pairs behind all jobs.  Rates on new
 * types are 0 (gv_life_take_shares sets them); who was promised time on a type that is
 * gone is not any more.  Jobs were all added before the first pair, and gv_life_next has
 * handed out everything.  O((jobs + pairs) types + GPUs).
 */
void gv_life_change(struct gv_life *l, const struct gv_life_change *c);
/* The run ends: everybody is told to leave, nobody starts.  gv_life_kill: at once. */
void gv_life_end(struct gv_life *l);
void gv_life_kill(struct gv_life *l);

/* The accounts of rounds are as of now: before claims are read. */
void gv_life_count(struct gv_life *l);

/* Rows of the run itself: its pools, one that has changed, and one of no job (GV_EVENT_END). */
void gv_life_tell_pools(struct gv_life *l);
void gv_life_tell_pool(struct gv_life *l, size_t pool);
void gv_life_tell(struct gv_life *l, enum gv_event_kind kind);

/* ---- back from a journal ---- */

/*
 * Applies a row of the journal of a run on a machine that has all of its jobs.  GPUs
 * that the cluster does not have any more may be left out; then the type counts.
 */
void gv_life_replay(struct gv_life *l, const struct gv_life_row *row);
/*
 * Goes on after a replay: who was there was there until alive_s and is preempted for
 * the reason; it is now_s, and nobody is owed anything for the time between.
 */
void gv_life_restart(struct gv_life *l, double alive_s, double now_s, const char *reason);

/* ---- asked ---- */

/* Whether workers of the job, or of any job, are there or on their way. */
bool gv_life_is_open(const struct gv_life *l, size_t m);
bool gv_life_any_open(const struct gv_life *l);
/* Steps/s at which a job that has GPUs gets on, alone or beside its mate. */
double gv_life_rate(const struct gv_life *l, size_t m);
/* Every job has finished or was dropped. */
bool gv_life_done(const struct gv_life *l);
/* Who else is there: holder's or plan's other member of m's pair on GPU gpu, -1 = nobody. */
ptrdiff_t gv_life_mate(
    const struct gv_life *l, const ptrdiff_t *owner, size_t m, size_t gpu);

#endif
