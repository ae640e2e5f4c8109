/*
 * Water-filling's levels v_i = s_i thr_i / P_i, and how they rise with time
 * where there are GPUs enough; see policy/water_filling.c.
 */
#ifndef GV_ALLOC_FILL_H
#define GV_ALLOC_FILL_H

#include "gv-alloc/problem/problem.h"

struct riser {
	size_t job;
	double have, most, weight, count; /* of the job */
	double room;                      /* of fairness: (most - have) / w */
	double rest; /* of fairness: sum of n w from here to the entity's last */
};

struct fill {
	const struct problem *p;
	bool fifo; /* inside an entity one job after another */
	double *a; /* [n][m] v_i per share, 0 on types that are not the job's any more */
	double *most;  /* [n] v_i with all the time on the best type */
	double *have;  /* [n] v_i so far */
	bool *stopped; /* [n] */

	/* those that can rise, entity by entity, each in the order in which they have all their time */
	size_t n_rising;
	struct riser *rising; /* [n_rising] */
	size_t n_entities;    /* of those, and where each is */
	struct entity {
		size_t first, end;
		double weight;
	} * entity;
};

void fill_init(struct fill *f, const struct problem *p, bool fifo);
void fill_free(struct fill *f);

/*
 * Types whose price is above none belong to jobs that have stopped: most
 * becomes what the others can have without them, and who has that stops.  price
 * [m]
 */
void fill_leave_types(struct fill *f, const double *price, double none);

/* Lines up those that have not stopped, from have on; the two below go by that.
 */
void fill_line_up(struct fill *f);
/* Into v [n]: the levels after a further time c. */
void fill_pour(const struct fill *f, double c, double *v);
/* The sum of lambda v of those lined up, at that time; lambda [n_rising] in line. */
double fill_weigh(const struct fill *f, const double *lambda, double c);
/* A time after which all have all the time there is. */
double fill_time(const struct fill *f);

#endif
