/* The numbers of jobs that only some policies ask for. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "problem.h"

/* The cell that should have said how many steps a job has to do. */
static int
no_steps(const struct gv_frame *f, size_t row, struct gv_error *e)
{
	ptrdiff_t column = gv_frame_find(f, "steps_remaining");

	if (column < 0)
		column = gv_frame_find(f, "total_steps");
	return gv_frame_error(f, row, column, e, "expected a number, got \"\"");
}

static int
check_steps(const struct gv_rates *r, struct gv_error *e)
{
	const struct gv_frame *f = &r->frame;
	ptrdiff_t column;
	size_t i;
	int rc = 0;

	if (gv_frame_find(f, "steps_remaining") < 0 &&
	    gv_frame_require(f, "total_steps", &column, e) != 0)
		return -1;
	for (i = 0; i < r->n_jobs; i++)
		if (isnan(r->job[i].steps_remaining))
			rc = no_steps(f, r->job[i].row, e);
	return rc;
}

struct arrival {
	double at_s;
	size_t job;
};

static int
by_arrival(const void *a, const void *b)
{
	const struct arrival *x = a;
	const struct arrival *y = b;

	if (x->at_s != y->at_s)
		return x->at_s < y->at_s ? -1 : 1;
	return (x->job > y->job) - (x->job < y->job);
}

/* Only jobs that can run stand in the queue. */
static void
number_positions(const struct gv_rates *r, const size_t *row, double *position)
{
	struct arrival *queue = gv_xcalloc(r->n_jobs, sizeof(*queue));
	size_t i, n = 0;

	for (i = 0; i < r->n_jobs; i++)
		if (row[i] != SIZE_MAX)
			queue[n++] = (struct arrival){r->job[i].arrival_s, i};
	qsort(queue, n, sizeof(*queue), by_arrival);
	for (i = 0; i < n; i++)
		position[row[queue[i].job]] = (double)i;
	free(queue);
}

/*
 * Steps per second that get the job done by its deadline: deadline_s, or arrival +
 * slo_factor times what it takes alone on its fastest type; the earlier.  The time
 * is arrival_s + elapsed_s.
 */
static double
need(const struct gv_problem *p, size_t i, const struct gv_job *job)
{
	double total = isnan(job->total_steps) ? job->steps_remaining : job->total_steps;
	double left = INFINITY;
	double fastest = gv_row_max(&p->rate[i * p->m], p->m);

	if (!isnan(job->deadline_s))
		left = job->deadline_s - job->arrival_s;
	if (!isnan(job->slo_factor))
		left = fmin(left, job->slo_factor * (total / fastest));
	if (isinf(left) || !(job->steps_remaining > 0))
		return 0;
	left -= job->elapsed_s;
	return left > 0 ? job->steps_remaining / left : INFINITY;
}

/* Whether any job has a deadline or a minimum. */
static bool
any_needs(const struct gv_rates *r)
{
	size_t i;

	for (i = 0; i < r->n_jobs; i++)
		if (!isnan(r->job[i].deadline_s) || !isnan(r->job[i].slo_factor) ||
		    r->job[i].min_steps_per_s > 0)
			return true;
	return false;
}

/* A job with a deadline must say how many steps it has to do. */
static int
check_deadlines(const struct gv_rates *r, struct gv_error *e)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < r->n_jobs; i++) {
		const struct gv_job *job = &r->job[i];

		if ((isnan(job->deadline_s) && isnan(job->slo_factor)) ||
		    !isnan(job->steps_remaining))
			continue;
		if (gv_frame_find(&r->frame, "steps_remaining") < 0 &&
		    gv_frame_find(&r->frame, "total_steps") < 0)
			return check_steps(r, e);
		rc = no_steps(&r->frame, job->row, e);
	}
	return rc;
}

int
gv_problem_numbers(struct gv_problem *p, const struct gv_rates *r, unsigned numbers,
    const size_t *row, struct gv_error *e)
{
	size_t i;

	if (!any_needs(r))
		numbers &= ~(unsigned)GV_NEEDS;
	gv_problem_ask(p, numbers);
	if (p->number[GV_NUMBER_STEPS] != NULL && check_steps(r, e) != 0)
		return -1;
	if (p->number[GV_NUMBER_NEED] != NULL && check_deadlines(r, e) != 0)
		return -1;
	if (p->number[GV_NUMBER_POSITION] != NULL)
		number_positions(r, row, p->number[GV_NUMBER_POSITION]);
	for (i = 0; i < r->n_jobs; i++) {
		const struct gv_job *job = &r->job[i];

		if (row[i] == SIZE_MAX)
			continue;
		if (p->number[GV_NUMBER_STEPS] != NULL)
			p->number[GV_NUMBER_STEPS][row[i]] = job->steps_remaining;
		if (p->number[GV_NUMBER_ELAPSED] != NULL)
			p->number[GV_NUMBER_ELAPSED][row[i]] = job->elapsed_s;
		if (p->number[GV_NUMBER_ISOLATED] != NULL)
			p->number[GV_NUMBER_ISOLATED][row[i]] = job->isolated_elapsed_s;
		if (p->number[GV_NUMBER_NEED] != NULL)
			p->number[GV_NUMBER_NEED][row[i]] = need(p, row[i], job);
		if (p->number[GV_NUMBER_MINIMUM] != NULL && !(job->steps_remaining <= 0))
			p->number[GV_NUMBER_MINIMUM][row[i]] = job->min_steps_per_s;
	}
	return 0;
}
