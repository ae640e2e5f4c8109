/*
 * Water-filling's levels v_i = s_i thr_i / P_i, and how they rise with time
 * where there are GPUs enough; see policy/water_filling.c.
 */
#ifndef GV_ALLOC_FILL_H
#define GV_ALLOC_FILL_H

#include "alloc/problem/problem.h"

struct gv_riser {
	size_t job;
	double have, most, weight, count; /* of the job */
	double room;                      /* of fairness: (most - have) / w */
	double rest; /* of fairness: sum of n w from here to the entity's last */
};

struct gv_fill {
	const struct gv_problem *p;
	bool fifo; /* inside an entity one job after another */
	double *a; /* [n][m] v_i per share, 0 on types that are not the job's any more */
	double *most;  /* [n] v_i with all the time on the best type */
	double *have;  /* [n] v_i so far */
	bool *stopped; /* [n] */

	/* those that can rise, entity by entity, each in the order in which they have all their time */
	size_t n_rising;
	struct gv_riser *rising; /* [n_rising] */
	size_t n_entities;       /* of those, and where each is */
	struct entity {
		size_t first, end;
		double weight;
	} * entity;
};

void gv_fill_init(struct gv_fill *f, const struct gv_problem *p, bool fifo);
void gv_fill_free(struct gv_fill *f);

/*
 * Types whose price is above none belong to jobs that have stopped: most
 * becomes what the others can have without them, and who has that stops.  price
 * [m]
 */
void gv_fill_leave_types(struct gv_fill *f, const double *price, double none);

/* Lines up those that have not stopped, from have on; the two below go by that.
 */
void gv_fill_line_up(struct gv_fill *f);
/* Into v [n]: the levels after a further time c. */
void gv_fill_pour(const struct gv_fill *f, double c, double *v);
/* The sum of lambda v of those lined up, at that time; lambda [n_rising] in line. */
double gv_fill_weigh(const struct gv_fill *f, const double *lambda, double c);
/* A time after which all have all the time there is. */
double gv_fill_time(const struct gv_fill *f);

#endif
