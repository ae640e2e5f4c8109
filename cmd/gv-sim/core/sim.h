/*
 * Jobs that live through the machine of sched/life/life.h on a virtual clock: the same life
 * and the same rounds as in gv-run, where launching takes no time and jobs are exactly
 * as fast as their rates say.
 *
 * Time goes from one thing that happens to the next: a job arrives, ends, has saved
 * itself; a round ends; the policy may be asked again.  In step (sim_settings.in_step,
 * as Gavel's simulator does it) jobs come and go at the ends of rounds only.
 *
 * What a job costs beside its work: load_s from each launch until it trains, save_s from
 * being told to stop until its GPUs are free.
 *
 * Pure: no I/O, no chance.  Cost: O(log jobs) for whatever happens to a job, and what
 * the life and the rounds cost.
 */
#ifndef SIM_H
#define SIM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "sched/cluster.h"
#include "sched/life/life.h"
#include "sched/rates.h"

struct sim_settings {
	double round_s;
	enum gv_round_order order;
	bool shuffle; /* the order of types anew in each round, of GV_ROUND_GAVEL */
	uint64_t seed;
	bool strict;       /* who was promised nothing does not run */
	bool in_step;      /* jobs come and go at the ends of rounds */
	bool ask_first;    /* a new job waits for the next answer of the policy */
	bool ideal;        /* no rounds: each job has exactly its shares (sim_ideal.h) */
	double interval_s; /* at least, from one question to the policy to the next */
	double load_s, save_s;
	size_t first,
	    last; /* jobs first <= m < last are measured; ends when these are done */
	/* from one checkpoint to the next, 0 = only when told to stop */
	double checkpoint_s;
	/* mean time from repair to failure of a node; 0 = none fails */
	double node_mtbf_s;
	double repair_s; /* mean time from failure to repair */
	/* mean time of training to a failure of a job; 0 = none fails */
	double job_mtbf_s;
	uint64_t fault_seed;
	int max_failures; /* in a row without progress, then it is dropped */
	/* the policy, also when nobody comes or goes; 0 = only then */
	double ask_every_s;
	double until_s;      /* ends then at the latest; HUGE_VAL = never */
	size_t most_waiting; /* more than that without GPUs: saturated; SIZE_MAX = any */
};

/* GPUs of a pool go, with whoever is on them, or are there again. */
struct sim_change {
	double time_s;
	size_t pool; /* of the cluster */
	bool away;
};

/* Why GPUs are away; they may be for several reasons at once. */
enum {
	SIM_AWAY_CHANGED = 1, /* sim.change */
	SIM_AWAY_FAILED = 2,
	SIM_AWAY_DEAR = 4 /* their price is above the bid */
};

/* GPUs of a type that are offered at one price. */
struct sim_offer {
	size_t type;
	double usd_per_h; /* of one; NAN = unknown */
	double busy;      /* somebody holds */
};

/* The price of an offer from then on. */
struct sim_price {
	double time_s;
	size_t offer;
	double usd_per_h;
};

/* GPUs that fail together. */
struct sim_node {
	bool down;
	double next_s; /* it fails, or is repaired */
	uint64_t drawn;
};

/* How a simulation ended: the first of these that was the case. */
enum sim_end {
	SIM_GOING,     /* it has not */
	SIM_DONE,      /* the measured jobs are done */
	SIM_UNTIL,     /* until_s was reached */
	SIM_SATURATED, /* more jobs wait than may */
	SIM_STUCK, /* nothing can happen any more: nobody who waits was promised anything */
	SIM_FAILED /* the policy did; *e says how */
};

struct sim_job {
	double launch_s; /* it has trained since then */
	double safe;     /* steps that are not lost with its GPUs */
	double lost;     /* steps that were */
	double steps;    /* done, at from_s */
	double from_s;   /* it trains from then on at rate, maybe after now */
	double rate;     /* steps/s, 0 = it has no GPUs, or saves itself */
	double due_s;    /* when it ends or has saved itself, if nothing happens before */
	bool there;      /* it has been launched, and has not left */
	double fails_s;  /* when it fails, if it is not done or stopped before */
	size_t failures;
	bool unasked;   /* it waits for the policy to be asked (ask_first) */
	unsigned stamp; /* of the entry in the heap that counts */
	double start_s; /* first, NAN = not yet */
	/* its last step, in step before the end of a round; NAN = not yet */
	double finish_s;
	double held_s;    /* since it has its GPUs */
	double gpu_s;     /* GPU time held, shared or not */
	double running_s; /* time that it held GPUs */
	double loading_s; /* of that, loading and saving */
	size_t launches;
	size_t preemptions;
};

struct sim_type {
	double available_gpu_s; /* until counted_s */
	double gpus;            /* there are */
	double busy;            /* somebody holds; in ideal mode parts of one, too */
	double busy_gpu_s;      /* until counted_s */
	double usd;             /* what those cost; NAN where there is no price */
};

struct sim_due {
	double time_s;
	size_t job;
	unsigned stamp;
};

struct sim {
	const struct sim_settings *o;
	const struct gv_cluster *cluster;
	const struct gv_rates *table; /* jobs have its numbers */
	struct gv_life life;
	struct sim_job *job;             /* [table->n_jobs] */
	struct sim_type *type;           /* [cluster->n_types] */
	double counted_s;                /* until then busy is counted */
	const struct sim_change *change; /* [n_changes] by time; the caller's to set */
	size_t n_changes;
	size_t next_change;
	struct sim_offer *offer; /* [n_offers] */
	size_t n_offers;
	size_t *offer_of;              /* [cluster->n_pools] */
	const struct sim_price *price; /* [n_prices] by time; the caller's to set */
	size_t n_prices;
	size_t next_price;
	/* [cluster->n_types] most that is paid; NULL = whatever it is */
	const double *bid;
	unsigned *away_why; /* [cluster->n_pools] */
	size_t n_nodes;
	struct sim_node *node;
	size_t *node_of;   /* [cluster->n_pools] */
	size_t first_node; /* to which something happens */
	size_t node_failures;
	size_t job_failures;
	size_t n_due; /* a heap, the earliest first */
	size_t cap_due;
	struct sim_due *due;
	bool asks; /* the policy is to be asked */
	double asked_s;
	double again_s; /* it is asked again, ask_every_s */
	size_t questions;
	size_t left;      /* measured jobs that are not done */
	double rates_sum; /* ideal: of all jobs */
	double waited_s;  /* the most jobs that waited at once, and when */
	size_t most_waited;
	enum sim_end end;

	/* The caller's: sets shares (gv_life_set_share); 0, or -1 with *e set.  NULL = they stay. */
	int (*ask)(void *ctx, struct sim *s, struct gv_error *e);
	/* Is told every row; NULL = nobody is. */
	void (*row)(void *ctx, const struct sim *s, const struct gv_life_row *row);
	/* Is told how far it is, now and then; NULL = nobody is. */
	void (*progress)(void *ctx, const struct sim *s);
	void *ctx;
};

/*
 * Jobs, rates and shares of a table whose rows have types of the cluster; every job must
 * have total_steps.  All of it must outlive s.  The caller sets ask and row.
 */
void sim_init(struct sim *s, const struct sim_settings *o,
    const struct gv_cluster *cluster, const struct gv_rates *table);
/* Pools have these offers; at first each type is one, at its price in the cluster. */
void sim_offers(struct sim *s, const size_t *offer_of, size_t n_offers);
void sim_free(struct sim *s);

/* Runs to the end: s->end; *e is set where it is SIM_FAILED. */
enum sim_end sim_run(struct sim *s, struct gv_error *e);

/* Steps that a job has done by now. */
double sim_steps(const struct sim *s, size_t m);

/*
 * That nothing was lost and nothing came from nowhere: GPU time held, counted by type, is
 * what the rounds have credited; steps done are what rates and time credited give; who has
 * finished has done all steps.  0, or -1 with *e set.
 */
int sim_check(const struct sim *s, struct gv_error *e);

#endif
