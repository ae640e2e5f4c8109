/*
 * allox: whole jobs on whole GPUs, so that the average time to completion is the
 * least (queues.h).  The job that is first on a GPU gets it all the time, the others
 * wait.  How long they have waited already adds the same to every assignment and
 * does not count.  Le et al., EuroSys 2020; section 7.3 of Gavel, OSDI 2020.
 *
 * A job that has the share 1 of a type in the table is started: it keeps its GPU until
 * it is done, and nobody queues behind it.  Of the others the first alpha of all in
 * order of arrival, but not fewer than there are GPUs left, are looked at; the others
 * wait for the next time.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "policy.h"
#include "queues.h"

static const double most_steps = 1e12; /* of queues.h: some minutes */

/* Jobs by their position in the table of arrivals. */
struct waiting {
	double position;
	size_t row;
};

static int
by_position(const void *a, const void *b)
{
	const struct waiting *x = a;
	const struct waiting *y = b;

	return (x->position > y->position) - (x->position < y->position);
}

static int
check(const struct gv_problem *p, struct gv_error *e)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (p->scale[i] > 1)
			return gv_error_set(e,
			    "allox: only jobs of one GPU; a job here needs %.0f at once",
			    p->scale[i]);
	return 0;
}

/* Started jobs have their GPUs; those that wait for one of the others come into line. */
static size_t
line_up(const struct gv_problem *p, double alpha, size_t *gpus, struct waiting *line,
    struct gv_solution *s, size_t *started)
{
	size_t i, j, n = 0, left = 0;
	double most;

	*started = 0;
	for (j = 0; j < p->m; j++)
		gpus[j] = (size_t)fmin(p->capacity[j], (double)p->n);
	for (i = 0; i < p->n; i++) {
		size_t type = (size_t)p->number[GV_NUMBER_STARTED][i];
		bool works = p->number[GV_NUMBER_STEPS][i] > 0;

		if (works && type > 0 && gpus[type - 1] > 0) {
			gpus[type - 1]--;
			(*started)++;
			s->x[i * p->m + type - 1] = 1;
			s->objective += p->number[GV_NUMBER_STEPS][i] /
					gv_problem_rate(p, i, type - 1);
		} else if (works) {
			line[n++] = (struct waiting){p->number[GV_NUMBER_POSITION][i], i};
		}
	}
	qsort(line, n, sizeof(*line), by_position);
	for (j = 0; j < p->m; j++)
		left += gpus[j];
	most = fmax(floor(alpha * (double)n), (double)left);
	return most < (double)n ? (size_t)most : n;
}

/* Times of the jobs in line that can run on what is left; those come first, their number. */
static size_t
find_times(const struct gv_problem *p, const size_t *gpus, struct waiting *line, size_t n,
    double *time_s)
{
	size_t i, j, found = 0;

	for (i = 0; i < n; i++) {
		double *t = &time_s[found * p->m];
		bool can = false;

		for (j = 0; j < p->m; j++) {
			double rate = gv_problem_rate(p, line[i].row, j);

			t[j] = rate > 0 && gpus[j] > 0
				   ? p->number[GV_NUMBER_STEPS][line[i].row] / rate
				   : INFINITY;
			can = can || isfinite(t[j]);
		}
		if (can)
			line[found++] = line[i];
	}
	return found;
}

/*
 * On as many GPUs of a type as have a job at the last position, it is first; on the
 * others one of the position before it, who came first of those.
 */
static void
take_firsts(const struct gv_problem *p, const struct gv_queues *q,
    const struct waiting *line, double *x)
{
	size_t j, i, position;

	for (j = 0; j < p->m; j++) {
		size_t idle = q->gpus[j];

		for (position = q->length[j]; position > 0 && idle > 0; position--)
			for (i = 0; i < q->n && idle > 0; i++)
				if (q->type[i] == j && q->last[i] == position) {
					x[line[i].row * p->m + j] = 1;
					idle--;
				}
	}
}

/* Who waits is put into queues; 0, or -1 with *e set: that would take too long. */
static int
queue_up(const struct gv_problem *p, struct gv_queues *q, const struct waiting *line,
    struct gv_solution *s, struct gv_error *e)
{
	double gpus = 0;
	size_t j;

	for (j = 0; j < p->m; j++)
		gpus += (double)q->gpus[j];
	if ((double)q->n * (double)q->n * ((double)q->n / gpus + 1) * (double)p->m >
	    most_steps)
		return gv_error_set(e,
		    "allox: too many jobs: %zu wait for %.0f GPUs; --alpha=A looks at "
		    "fewer",
		    q->n, gpus);
	gv_queues_fill(q);
	take_firsts(p, q, line, s->x);
	s->objective += q->sum_s;
	s->bound += q->least_s;
	return 0;
}

static int
solve(const struct gv_problem *p, const struct gv_policy_options *opt,
    struct gv_solution *s, struct gv_error *e)
{
	size_t *gpus = gv_xcalloc(p->m, sizeof(*gpus));
	struct waiting *line = gv_xcalloc(p->n, sizeof(*line));
	double *time_s = gv_xcalloc(p->n, p->m * sizeof(*time_s));
	struct gv_queues q = {.m = p->m, .time_s = time_s, .gpus = gpus};
	size_t started, n;
	int rc = check(p, e);

	if (rc == 0) {
		n = line_up(p, opt->alpha > 0 ? opt->alpha : 1, gpus, line, s, &started);
		s->bound = s->objective;
		q.n = find_times(p, gpus, line, n, time_s);
		if (q.n > 0)
			rc = queue_up(p, &q, line, s, e);
		s->objective /= (double)(started + q.n);
		s->bound /= (double)(started + q.n);
	}
	if (rc == 0 && started + q.n == 0) /* nothing is left to do, in 0 s */
		s->objective = s->bound = 0;
	s->has_bound = true;
	s->gap = s->objective > 0 ? (s->objective - s->bound) / s->objective : 0;
	gv_queues_free(&q);
	free(gpus);
	free(line);
	free(time_s);
	return rc;
}

const struct gv_policy gv_policy_allox = {
    .name = "allox",
    .solve = solve,
    .numbers = 1u << GV_NUMBER_STEPS | 1u << GV_NUMBER_POSITION | 1u << GV_NUMBER_STARTED,
    .minimises = true,
};
