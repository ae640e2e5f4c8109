/* Private to the simulator: what its files share. */
#ifndef SIM_PARTS_H
#define SIM_PARTS_H

#include "sim.h"

/* ---- sim_work.c: what jobs do ---- */

/* Carries out what the life wants: rows are told, jobs start and stop. */
void sim_obey(struct sim *s);
/* Those whose time has come end, or have saved themselves. */
void sim_come_due(struct sim *s);
/* When the next one is due; HUGE_VAL = none. */
double sim_due_s(struct sim *s);

/*
 * The GPUs of a pool are away, or not any more, for one of the reasons: when they go,
 * whoever is on them loses what is not safe.
 */
void sim_set_away(struct sim *s, size_t pool, unsigned why, bool away);

/* ---- sim_faults.c ---- */

void sim_faults_init(struct sim *s);
/* When a node fails or is repaired next; HUGE_VAL = never. */
double sim_fault_s(const struct sim *s);
/* Those whose time has come do. */
void sim_faults_due(struct sim *s);
bool sim_any_down(const struct sim *s);

/* ---- sim_draws.c ---- */

enum sim_stream { SIM_OF_NODES = 1, SIM_OF_JOBS };

/* A time of that mean, exponentially distributed: number i of a node or job. */
double sim_exponential(
    const struct sim *s, enum sim_stream of, size_t who, uint64_t i, double mean);
/* When a job that is launched now will fail. */
double sim_job_fails_s(const struct sim *s, size_t m);

/* ---- sim_account.c ---- */

/* GPUs have been busy until now. */
void sim_count(struct sim *s);
/* The GPUs of a job are busy from now on, or are no longer. */
void sim_busy(struct sim *s, size_t m, bool busy);

/* ---- sim_market.c ---- */

/* The prices that hold by now; GPUs whose price is above the bid go. */
void sim_prices_due(struct sim *s);
/* When the next price changes; HUGE_VAL = never. */
double sim_price_s(const struct sim *s);

/* ---- sim.c ---- */

/* The policy is asked, if it is to be and may be.  0 or -1. */
int sim_ask(struct sim *s, struct gv_error *e);
/* Whether it is over: *end says how. */
bool sim_is_over(struct sim *s);

/* ---- sim_ideal.c: for sim_run ---- */

/* The whole run, without rounds. */
enum sim_end sim_run_ideal(struct sim *s, struct gv_error *e);

#endif
