/*
 * The round-based mechanism: who runs on which GPUs in the next round, so that
 * over time every job receives the share of time it was promised.  gv-run calls
 * it with the real clock, gv-sim with a virtual one; it has no clock, no I/O
 * and no chance of its own.
 *
 * State, per job m and GPU type j: the share promised X_mj (fraction of wall
 * time on its whole gang of s_m GPUs), the time received, and the lag
 *
 *   L_mj = integral of X_mj dt - time received          (seconds; > 0: it is owed)
 *
 * while the job is active.  Time is that of the gang, not of its GPUs: a gang of
 * 4 that holds 4 GPUs for 10 s has received 10 s (and 40 GPU-seconds).
 *
 * A round of r seconds is planned in three passes.
 *
 *   1. Who is owed GV_ROUND_DEBT rounds goes before all others, the longest waiting
 *      first; a lag grows no further than that.
 *   2. What is owed by the end of the round: of all placements of jobs on types, one
 *      with a large sum of weights w_mj = (L_mj + X_mj r)^3 where that is positive
 *      (ties: larger X, then order of rows, then of types).  It is searched, not
 *      found for certain: search.h.
 *   3. What is left over goes to the jobs not placed, so that no GPU idles that
 *      a runnable job could use: first jobs that were promised anything, in
 *      falling order of their summed lag, each on the fastest type with room.
 *
 * Why 2: MaxWeight (Tassiulas and Ephremides, IEEE Transactions on Automatic Control
 * 37(12), 1992) keeps every attainable rate vector stable.  X is a mixture of placements, so
 * one of them serves at least sum w X; then the sum of L^4 is held down by the placement
 * of largest weight, whatever the promises.  A queue in order of lag has no such bound: a
 * large gang at its front can block a placement that serves more in all.  Any power above
 * 0 will do (Stolyar, Annals of Applied Probability 14(1), 2004); a higher one lets single
 * lags grow less.
 *
 * A gang lies within one type.  At the start of a round every GPU is free to be
 * given, so the first of those in debt always fits, however large its gang.
 *
 * Two jobs of equal gangs can share GPUs (Gavel's space sharing, section 3.1):
 * such a pair is promised time, receives it and is owed it as a job is,
 * and has a number as if it were one more job.  What follows of "jobs" goes for
 * pairs, too, and: a round never places two that share a job, the GPUs of a pair
 * count once, and in the third pass only pairs that were promised something take
 * part, for to share what need not be shared helps nobody.  What a job receives
 * alone and what it receives in each of its pairs are told apart, as promises are.
 *
 * Differs: Gavel (Narayanan et al., OSDI 2020, section 5) orders by X_mj over
 * the fraction of all received time, type after type, from a seed value of half
 * a round.  That ratio lets many jobs of small share overtake one of large share
 * for as many rounds, and taking the types in order gives a job to the first
 * type where it was promised anything, whatever the second one owes it: the worst
 * shortfall of 200 random clusters after 20 rounds is 20 rounds that way.  Time received
 * here is what was really held, not a seed value.  GV_ROUND_GAVEL has Gavel's order
 * as it is, for curves that were published with it; nothing below holds for it.
 *
 * Bounds, where moving costs nothing, tested (tests/unit/rounds.c).  Where shares are attainable (a mixture of
 * placements) and the jobs stay the same, no job of 10,000 random clusters with gangs has
 * received less than its share on a type by more than 10 points after K >= 20
 * rounds, 5 after 100, 3 after 400 (seen: 8.8, 3.1, 1.4; in 1,500 of them after 2000: .5);
 * a lag may grow with the root of K, and did not reach GV_ROUND_DEBT within 400 rounds.
 * More than its share a job receives only on GPUs that were owed to nobody who could
 * use them.
 * Whatever was promised (the policies' linear programs may promise to gangs what
 * no placement can give, and to pairs: of three jobs no two pairs run at once), a
 * job waits for a type at most GV_ROUND_DEBT / X_mj rounds and one for each job and
 * type: nobody starves.
 */
#ifndef GV_SCHED_ROUNDS_H
#define GV_SCHED_ROUNDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/hash.h"
#include "base/mem.h"
#include "sched/cluster.h"

enum {
	GV_GPU_IDLE = -1, /* in place of a job: nobody has it */
	GV_GPU_AWAY = -2  /* it cannot be given out */
};

/*
 * Rounds of lag that are remembered.  Attainable shares hardly ever cause so much; more
 * says that shares cannot be attained, and then the smallest would be left out for good.
 */
enum { GV_ROUND_DEBT = 8 };

/*
 * Leases.  To move a job costs the time that it needs to start again (move_s), in which
 * its GPUs do nothing.  Who holds GPUs counts in the second pass as if it were owed so
 * many times that cost more, so it is moved only for somebody who is owed that much more
 * than it.  Two jobs that take turns then keep their GPUs for LEASE costs and a round,
 * and at most a fifth of the time goes into starting; a lag grows by half of that, and
 * by GV_ROUND_DEBT rounds at most, since who is owed these goes before all leases.
 */
enum { GV_ROUND_LEASE = 4 };

struct gv_round_job {
	size_t gang;       /* s_m, GPUs at once */
	bool active;       /* gv_rounds_set_active */
	bool ready;        /* may be placed */
	size_t member[2];  /* the jobs; of a job alone twice itself, of a pair active and
	                     ready mean nothing, theirs count */
	size_t place;      /* gv_rounds_place */
	ptrdiff_t pairs;   /* the last pair that it is in, -1 = none */
	ptrdiff_t next[2]; /* of a pair: the one before that its members are in */
	ptrdiff_t held;    /* the type that it holds GPUs of, -1 = none */
	double counted_s;  /* its claims are as they were then */
	bool live;         /* it is in gv_rounds.live */
	bool fresh;        /* counted since the last settling */
	double move_s; /* what starting it anew costs, gang time; the caller's to set */
};

/* A job on a GPU type.  What time changes is as it was at counted_s: gv_rounds_count. */
struct gv_round_claim {
	double rate;      /* T_mj, steps/s; 0 = cannot run there; of a pair member[0]'s */
	double with_rate; /* of a pair member[1]'s */
	double share;     /* X_mj, [0,1] */
	double received_s; /* gang time held, ever */
	double lag_s;      /* L_mj */
	double waited_s;   /* since it last held GPUs there, while active */
	double
	    promised_s;   /* since shares were new (gv_rounds_settle), integral of X dt */
	double since_s;   /* since then, received */
	double deficit_s; /* before that, promised less received */
};

/* Equal GPUs on one node; GPU numbers count through the pools in order. */
struct gv_round_pool {
	size_t type;
	size_t first; /* its first GPU */
	size_t gpus;
};

enum gv_round_order {
	GV_ROUND_OWED, /* what is owed, as above */
	GV_ROUND_GAVEL /* Gavel's priorities, for comparison with what was published */
};

struct gv_rounds {
	enum gv_round_order order; /* may be changed at any time */
	size_t *
	    turn; /* [n_types] GV_ROUND_GAVEL: types in this order; the caller's to change */
	bool strict; /* who was promised nothing does not run, also where GPUs idle */
	size_t n_types;
	size_t n_pools;
	size_t n_gpus;
	double round_s;             /* r */
	struct gv_round_pool *pool; /* [n_pools] */
	size_t *gpu_pool;           /* [n_gpus] */
	size_t n_jobs;              /* and pairs */
	size_t cap_jobs;
	size_t cap_claims;
	struct gv_round_job *job;     /* [n_jobs] */
	struct gv_round_claim *claim; /* [n_jobs][n_types] */
	size_t n_live; /* active jobs, and pairs of two of them, in order of numbers */
	size_t cap_live;
	size_t *live;
	size_t n_placed; /* of these know their place */
	double now_s;
	double settled_s; /* gv_rounds_settle was called last */
	size_t n_fresh;
	size_t cap_fresh;
	size_t *fresh;
	size_t *pair; /* [pairs.n] their numbers */
	size_t cap_pairs;
	struct gv_hash pairs; /* by their members */
	struct gv_arena arena;
};

/* The GPUs of a cluster, no jobs, rounds of round_s.  gv_rounds_free also takes a zeroed one. */
void gv_rounds_init(struct gv_rounds *r, const struct gv_cluster *c, double round_s);
void gv_rounds_free(struct gv_rounds *r);

/* Adds a job that is not active, ready, without rates and shares: its index. */
size_t gv_rounds_add(struct gv_rounds *r, size_t gang);

/*
 * Goes on on the GPUs of another cluster, with n more jobs of these gangs: number of a
 * type there by its old one, -1 = none, NULL = the same.  Jobs, which were all added
 * before the first pair, keep their numbers and their accounts; the new ones come
 * behind them, and the pairs, in their order, behind all jobs.  O((jobs + pairs) types).
 */
void gv_rounds_change(struct gv_rounds *r, const struct gv_cluster *c,
    const ptrdiff_t *type, const size_t *gang, size_t n);

/*
 * Whether it has arrived and is not done: what it was promised accrues, and it may be
 * placed.  Cost: O(active jobs) and its pairs.
 */
void gv_rounds_set_active(struct gv_rounds *r, size_t job, bool active);

/*
 * The number of the pair of two jobs of equal gangs, in any order; it is added,
 * without rates and shares, if it is new.  gv_rounds_find_pair: -1 = no such pair.
 */
size_t gv_rounds_pair(struct gv_rounds *r, size_t a, size_t b);
ptrdiff_t gv_rounds_find_pair(const struct gv_rounds *r, size_t a, size_t b);

static inline bool
gv_rounds_is_pair(const struct gv_rounds *r, size_t job)
{
	return r->job[job].member[0] != r->job[job].member[1];
}

/* Whether a job is the owner of a GPU (owner as in gv_rounds_plan), or of the pair that is. */
static inline bool
gv_rounds_has(const struct gv_rounds *r, ptrdiff_t owner, size_t job)
{
	return owner >= 0 &&
	       (r->job[owner].member[0] == job || r->job[owner].member[1] == job);
}

static inline bool
gv_rounds_is_active(const struct gv_rounds *r, size_t job)
{
	const size_t *member = r->job[job].member;

	return r->job[member[0]].active && r->job[member[1]].active;
}

/*
 * The owner of a GPU once a job has come to it, or has left it.  Where a job comes
 * there is nobody or one it has a pair with.
 */
ptrdiff_t gv_rounds_join(const struct gv_rounds *r, ptrdiff_t owner, size_t job);
ptrdiff_t gv_rounds_leave(const struct gv_rounds *r, ptrdiff_t owner, size_t job);

static inline struct gv_round_claim *
gv_rounds_claim(const struct gv_rounds *r, size_t job, size_t type)
{
	return &r->claim[job * r->n_types + type];
}

/* The type of a GPU. */
size_t gv_rounds_type(const struct gv_rounds *r, size_t gpu);

/* Whether the job can ever run: some type has a rate and GPUs enough for the gang. */
bool gv_rounds_possible(const struct gv_rounds *r, size_t job);

/* Where in gv_rounds.live a job or pair is that is there. */
size_t gv_rounds_place(struct gv_rounds *r, size_t job);

/*
 * Accounts.  Time passes for all at once, in O(1); what it has brought to a job is
 * counted when its share, what it holds or whether it is active changes, and where a
 * round is planned.  gv_rounds_count does it for all, before claims are read.
 */

/* It is so late: active jobs are owed their shares, and receive what they hold.  O(1). */
void gv_rounds_at(struct gv_rounds *r, double now_s);
/* It is so late, but nobody is owed anything for the time since. */
void gv_rounds_pause(struct gv_rounds *r, double now_s);
/* What was promised and what is held from now on; type -1 = none.  O(types). */
void gv_rounds_set_share(struct gv_rounds *r, size_t job, size_t type, double share);
void gv_rounds_set_held(struct gv_rounds *r, size_t job, ptrdiff_t type);
/* All claims of active jobs are as of now. */
void gv_rounds_count(struct gv_rounds *r);

/* For who counts by himself: time passes, and all claims are counted. */
void gv_rounds_pass(struct gv_rounds *r, double seconds);

/* The job has held GPUs of the type for so long. */
void gv_rounds_credit(struct gv_rounds *r, size_t job, size_t type, double seconds);

/* Credits all that hold GPUs now with so long; owner as in gv_rounds_plan(). */
void gv_rounds_hold(struct gv_rounds *r, const ptrdiff_t *owner, double seconds);

/*
 * Must be called when shares have changed or jobs have come or gone: what was
 * owed before is kept up to one round, which is what rounding can have caused;
 * beyond it the promise was not attainable and is forgotten, as is time that
 * was received beyond the promise on GPUs nobody else could use.  Without this
 * a newcomer would wait for the debts of the past.  Of active jobs only: of others it is
 * as it was when they left.  Cost: those that were counted since it was called last.
 */
void gv_rounds_settle(struct gv_rounds *r);

enum gv_round_mode {
	GV_ROUND_NEW, /* all GPUs but those away are given anew */
	GV_ROUND_FILL /* within a round: jobs keep their GPUs, only idle ones are given */
};

/*
 * Plans a round.
 *
 *   owner  [n_gpus] the job or pair on each GPU, GV_GPU_IDLE or GV_GPU_AWAY; a job
 *          is alone on all of its GPUs or in the same pair on all; who has fewer than
 *          its gang, since one is away say, keeps none
 *   next   [n_gpus] out: who holds each in the coming round; may be owner itself
 *
 * A job that stays on its type keeps its GPUs (its lease is extended), also when
 * it goes from alone to a pair, back, or to another pair: the GPUs are those of one
 * of the two, the other one comes to them.  Where a pair parts and both stay on the
 * type, the first in the order of numbers keeps them.  The
 * others, largest gang first, take the fullest node where the gang fits whole,
 * else the emptiest nodes, so that it lies on as few as possible.
 * Deterministic.  Cost: O(m n log(m n) + GPUs) for m active jobs, O(gang sizes) per job and type that is
 * owed something, and O(pools) per job moved; 10,000 jobs on 2,000 GPUs of 3 types 5 to
 * 25 ms (tests/bench/rounds.c).
 */
void gv_rounds_plan(struct gv_rounds *r, enum gv_round_mode mode, const ptrdiff_t *owner,
    ptrdiff_t *next);

/* Idle GPUs within a round. */
struct gv_round_fill {
	/* [n] active jobs without a place, and no pairs, in any order */
	const size_t *job;
	size_t n;
	size_t *
	    idle; /* [n_pools] GPUs that can be given; those that are given are taken off */
	ptrdiff_t *next; /* [n_gpus] GV_GPU_IDLE, and whose they are then */
	/* [n_given] these, ascending; the caller's to free, NULL at first */
	size_t *given;
	size_t n_given;
};

/*
 * gv_rounds_plan with GV_ROUND_FILL, for who knows what idles and who waits: cost O(n)
 * and, for as many as there are idle GPUs, as a plan of them.
 */
void gv_rounds_fill(struct gv_rounds *r, struct gv_round_fill *f);

#endif
