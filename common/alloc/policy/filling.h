/*
 * Progressive filling (Bertsekas and Gallager 1992, section 6.5.2): the levels v_i = s_i
 * thr_i / P_i of all active jobs rise with time, until a job is frozen; how they rise
 * where there are GPUs enough.  See policy/water_filling.c.
 */
#ifndef GV_ALLOC_FILLING_H
#define GV_ALLOC_FILLING_H

#include "alloc/problem/problem.h"

struct gv_active_job {
	size_t job;
	double have, most, weight, count; /* of the job */
	double room; /* of fairness: (most - have) / w_i, time until it has all */
	double rest; /* of fairness: sum of n_i w_i from here to the entity's last */
};

struct gv_filling {
	const struct gv_problem *p;
	bool fifo; /* inside an entity one job after another */
	double *a; /* [n][m] v_i per share, 0 on types that are not the job's any more */
	double *most; /* [n] v_i with all the time on the best type */
	double *have; /* [n] v_i so far */
	bool *frozen; /* [n] */

	/* jobs that can rise, entity by entity, each in the order in which they have all their time */
	size_t n_active;
	struct gv_active_job *active; /* [n_active] */
	size_t n_entities;            /* of those, and where each is */
	struct gv_filling_entity {
		size_t first, end;
		double weight;
	} * entity;
};

void gv_filling_init(struct gv_filling *f, const struct gv_problem *p, bool fifo);
void gv_filling_free(struct gv_filling *f);

/*
 * Types whose price is above none belong to jobs that are frozen: most becomes what the
 * others can have without them, and who has that is frozen, too.  price [m]
 */
void gv_filling_freeze_types(struct gv_filling *f, const double *price, double none);

/* Sorts the active jobs, whose levels rise from have on; the functions below go by that. */
void gv_filling_sort(struct gv_filling *f);
/* Into v [n]: the levels after a further time c. */
void gv_filling_levels(const struct gv_filling *f, double c, double *v);
/* sum lambda_k v_k of the active jobs at time c; lambda [n_active] in their order. */
double gv_filling_weighted(const struct gv_filling *f, const double *lambda, double c);
/* A time after which all have all the time there is. */
double gv_filling_time(const struct gv_filling *f);

#endif
