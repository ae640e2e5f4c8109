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

/* The GPUs of a pool go, and whoever is on them loses what is not safe; or they come back. */
void sim_change_pool(struct sim *s, const struct sim_change *c);

/* ---- sim_account.c ---- */

/* GPUs have been busy until now. */
void sim_count(struct sim *s);
/* More or fewer GPUs of a type are busy from now on. */
void sim_busy(struct sim *s, size_t type, double gpus);

/* ---- sim.c ---- */

/* The policy is asked, if it is to be and may be.  0 or -1. */
int sim_ask(struct sim *s, struct gv_error *e);
/* Whether it is over: *end says how. */
bool sim_is_over(struct sim *s);

/* ---- sim_ideal.c: for sim_run ---- */

/* The whole run, without rounds. */
enum sim_end sim_run_ideal(struct sim *s, struct gv_error *e);

#endif
