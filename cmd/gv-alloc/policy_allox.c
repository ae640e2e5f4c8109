/*
 * allox: the least average time to completion, whole GPUs one job at a time.  Le
 * et al., EuroSys 2020; section 7.3 of Gavel, OSDI 2020.
 *
 * Jobs run one after another on each GPU.  A job that is the k-th last on its GPU
 * delays k jobs, itself included, by steps_i / T_ij, so the sum of all times to
 * completion is that of an assignment of jobs to places (j, g, k) with the costs
 * k steps_i / T_ij.  GPUs of a type are equal, so the place (j, k) is there as often
 * as the type has GPUs.  The job that is first on a GPU gets it all the time, the
 * others wait.  How long they have waited already adds the same to every
 * assignment and does not count.
 *
 * Solved by shortest augmenting paths (Jonker and Volgenant 1987), exact; n^2 times
 * places.  Of n jobs none is later than the n-th last.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "policy.h"

static const double most_places = 200000; /* beyond that it would take hours */

/* A place: the k-th last on one of the GPUs of a type. */
struct place {
	size_t type;
	double k;
};

struct matching {
	size_t n, m; /* jobs, places; m >= n */
	size_t gpus; /* place k is on GPU k % gpus */
	const struct problem *p;
	struct place *place;
	size_t *job_of;   /* [m] job + 1, 0 = free */
	double *job_dual; /* [n + 1] */
	double *dual;     /* [m] */
};

static double
cost(const struct matching *a, size_t job, size_t place)
{
	const struct place *at = &a->place[place];
	double rate = problem_rate(a->p, job, at->type);

	return rate > 0 ? at->k * (a->p->number[NUMBER_STEPS][job] / rate) : INFINITY;
}

/*
 * Adds a job: the cheapest path over jobs that move to its free end, by Dijkstra's
 * method on reduced costs.
 */
static void
add(struct matching *a, size_t job, double *dist, size_t *from, bool *done)
{
	size_t at = SIZE_MAX, now = job, k;
	double so_far = 0;

	for (k = 0; k < a->m; k++) {
		dist[k] = INFINITY;
		done[k] = false;
	}
	for (;;) {
		size_t next = SIZE_MAX;

		for (k = 0; k < a->m; k++) {
			double d;

			if (done[k])
				continue;
			d = so_far + (cost(a, now, k) - a->job_dual[now] - a->dual[k]);
			if (d < dist[k]) {
				dist[k] = d;
				from[k] = at;
			}
			if (next == SIZE_MAX || dist[k] < dist[next])
				next = k;
		}
		at = next;
		so_far = dist[at];
		done[at] = true;
		if (a->job_of[at] == 0)
			break;
		now = a->job_of[at] - 1;
	}
	a->job_dual[job] += so_far;
	for (k = 0; k < a->m; k++)
		if (done[k] && k != at) {
			a->job_dual[a->job_of[k] - 1] += so_far - dist[k];
			a->dual[k] -= so_far - dist[k];
		}
	while (from[at] != SIZE_MAX) {
		a->job_of[at] = a->job_of[from[at]];
		at = from[at];
	}
	a->job_of[at] = job + 1;
}

/* GPUs of a type beyond the number of jobs stay empty, and so do places that far back. */
static void
make_places(struct matching *a)
{
	const struct problem *p = a->p;
	size_t j, k, g;

	for (j = 0; j < p->m; j++)
		a->gpus += (size_t)fmin(p->capacity[j], (double)a->n);
	a->place = gv_xcalloc(a->gpus, a->n * sizeof(*a->place));
	for (k = 1; k <= a->n; k++)
		for (j = 0; j < p->m; j++)
			for (g = 0; g < (size_t)fmin(p->capacity[j], (double)a->n); g++)
				a->place[a->m++] = (struct place){j, (double)k};
}

/* Who is first on a GPU, the furthest from the back, has it. */
static void
take_firsts(const struct matching *a, struct solution *s)
{
	size_t m = a->p->m;
	bool *taken = gv_xcalloc(a->gpus, sizeof(*taken));
	size_t k;

	for (k = a->m; k-- > 0;) {
		size_t job = a->job_of[k] - 1;

		if (a->job_of[k] == 0)
			continue;
		s->objective += cost(a, job, k);
		if (!taken[k % a->gpus])
			s->x[job * m + a->place[k].type] = 1;
		taken[k % a->gpus] = true;
	}
	s->objective /= (double)a->n;
	free(taken);
}

static int
check(const struct problem *p, struct gv_error *e)
{
	size_t places = 0;
	size_t i, j;

	for (i = 0; i < p->n; i++)
		if (p->scale[i] > 1)
			return gv_error_set(e,
			    "allox: only jobs of one GPU; a job here needs %.0f at once",
			    p->scale[i]);
	for (j = 0; j < p->m; j++)
		places += (size_t)fmin(p->capacity[j], (double)p->n);
	if ((double)places * (double)p->n > most_places)
		return gv_error_set(
		    e, "allox: too many jobs: %zu on %zu GPUs", p->n, places);
	return 0;
}

static int
solve(const struct problem *p, const struct solve_options *opt, struct solution *s,
    struct gv_error *e)
{
	struct matching a = {.n = p->n, .p = p};
	double *dist, upper = 0;
	size_t *from;
	bool *done;
	size_t i;

	(void)opt;
	if (check(p, e) != 0)
		return -1;
	make_places(&a);
	a.job_of = gv_xcalloc(a.m, sizeof(*a.job_of));
	a.job_dual = gv_xcalloc(a.n + 1, sizeof(*a.job_dual));
	a.dual = gv_xcalloc(a.m, sizeof(*a.dual));
	dist = gv_xcalloc(a.m, sizeof(*dist));
	from = gv_xcalloc(a.m, sizeof(*from));
	done = gv_xcalloc(a.m, sizeof(*done));
	for (i = 0; i < a.n; i++)
		add(&a, i, dist, from, done);
	take_firsts(&a, s);
	for (i = 0; i < a.n; i++)
		upper += a.job_dual[i];
	for (i = 0; i < a.m; i++)
		upper += a.dual[i];
	s->bound = fmin(s->objective, upper / (double)a.n);
	s->gap = s->objective > 0 ? (s->objective - s->bound) / s->objective : 0;
	s->has_bound = true;
	free(a.place);
	free(a.job_of);
	free(a.job_dual);
	free(a.dual);
	free(dist);
	free(from);
	free(done);
	return 0;
}

const struct policy policy_allox = {
    .name = "allox",
    .solve = solve,
    .numbers = 1u << NUMBER_STEPS | 1u << NUMBER_PLACE,
    .minimises = true,
};
