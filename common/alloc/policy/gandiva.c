/*
 * gandiva: two random jobs share GPUs where that does no harm.  Xiao et al., OSDI
 * 2018, as in Gavel, OSDI 2020, section 7.
 *
 * When all jobs have GPUs at once nobody shares, and every job has its n-th part of
 * every type (isolated).  Else each job, in a random order, is put together with the
 * next one of equal scale with which
 *
 *	sum over types, and over both jobs, of (rate together / rate alone) >= 1
 *
 * and each of the M' pairs and jobs that stay alone has N_j / (M' s) of each type, the
 * row divided by its sum where that is over 1.
 *
 * The criterion is the published program's; as it sums over types it lets nearly
 * everybody share.  Differs: a type on which a pair cannot run takes none of its
 * time; Gavel's program tries one pair after another over many allocations until each
 * is good, here that is done at once.  The order is drawn for each job from the seed
 * and its name alone, so most pairs stay together when jobs come and go.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "policy.h"

struct drawn {
	double at;
	size_t row;
};

static int
by_draw(const void *a, const void *b)
{
	const struct drawn *x = a;
	const struct drawn *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

/* The rates of two jobs, the one of lower kind first, or NULL.  [m][2] */
static const double *
together(const struct gv_problem *p, size_t a, size_t b)
{
	size_t pair = SIZE_MAX;

	if (p->scale[a] == p->scale[b])
		pair = gv_together_find(p->together, p->kind[a], p->kind[b]);
	return pair == SIZE_MAX ? NULL : &p->together->rate[pair * p->m * 2];
}

/* a is of lower kind. */
static bool
harmless(const struct gv_problem *p, size_t a, size_t b)
{
	const double *rate = together(p, a, b);
	double sum = 0;
	size_t j;

	for (j = 0; j < p->m && rate != NULL; j++) {
		if (gv_problem_rate(p, a, j) > 0)
			sum += rate[2 * j] / gv_problem_rate(p, a, j);
		if (gv_problem_rate(p, b, j) > 0)
			sum += rate[2 * j + 1] / gv_problem_rate(p, b, j);
	}
	return sum >= 1;
}

/*
 * with[i] = whom i shares with, or i.  The number of pairs and of jobs alone.  Every
 * job is a row, for each has a number of its own; rows of several stay alone.
 */
static double
put_together(const struct gv_problem *p, size_t *with)
{
	struct drawn *order = gv_xcalloc(p->n, sizeof(*order));
	double n = 0;
	size_t i, k;

	for (i = 0; i < p->n; i++) {
		with[i] = i;
		n += p->count[i];
		order[i] = (struct drawn){p->number[GV_NUMBER_DRAW][i], i};
	}
	qsort(order, p->n, sizeof(*order), by_draw);
	for (i = 0; i < p->n && p->together != NULL; i++) {
		size_t a = order[i].row;

		for (k = i + 1; k < p->n && with[a] == a; k++) {
			size_t b = order[k].row;
			bool turned = p->kind[a] > p->kind[b];

			if (with[b] != b || p->count[a] + p->count[b] > 2 ||
			    !harmless(p, turned ? b : a, turned ? a : b))
				continue;
			with[a] = b;
			with[b] = a;
			n--;
		}
	}
	free(order);
	return n;
}

/* Part of each type for a combination that can use those that can[] says. */
static void
split(const struct gv_problem *p, double combinations, double scale, const bool *can,
    double *x)
{
	double sum = 0;
	size_t j;

	for (j = 0; j < p->m; j++) {
		x[j] = can[j] ? p->capacity[j] / (combinations * scale) : 0;
		sum += x[j];
	}
	for (j = 0; j < p->m && sum > 1; j++)
		x[j] /= sum;
}

/* Whether job a is the first of a pair with b. */
static bool
before(const struct gv_problem *p, size_t a, size_t b)
{
	return p->kind[a] != p->kind[b] ? p->kind[a] < p->kind[b] : a < b;
}

static void
share_all(const struct gv_problem *p, struct gv_solution *s)
{
	size_t *with = gv_xcalloc(p->n, sizeof(*with));
	double n = put_together(p, with);
	bool *can = gv_xcalloc(p->m, sizeof(*can));
	double *x = gv_xcalloc(p->m, sizeof(*x));
	size_t i, j;

	s->pair = gv_xcalloc(p->n, p->m * sizeof(*s->pair));
	for (i = 0; i < p->n; i++) {
		size_t k = with[i];
		const double *rate;

		if (k == i) {
			for (j = 0; j < p->m; j++)
				can[j] = gv_problem_rate(p, i, j) > 0;
			split(p, n, p->scale[i], can, &s->x[i * p->m]);
			continue;
		}
		rate = together(p, i, k);
		/* once for each pair, the lower kind first */
		if (rate == NULL || before(p, k, i))
			continue;
		for (j = 0; j < p->m; j++)
			can[j] = rate[2 * j] > 0;
		split(p, n, p->scale[i], can, x);
		for (j = 0; j < p->m; j++)
			if (x[j] > 0)
				s->pair[s->n_pairs++] = (struct gv_pair){
				    i, k, j, rate[2 * j], rate[2 * j + 1], x[j]};
	}
	gv_solution_clean(p, s);
	free(with);
	free(can);
	free(x);
}

static double
lowest_level(const struct gv_problem *p, const struct gv_solution *s)
{
	double *equal = gv_xcalloc(p->n, sizeof(*equal));
	double *throughput = gv_xcalloc(p->n, sizeof(*throughput));
	double level = INFINITY;
	size_t i;

	gv_problem_equal_throughput(p, equal);
	gv_solution_throughput(p, s, throughput);
	for (i = 0; i < p->n; i++)
		level =
		    fmin(level, p->scale[i] / p->weight[i] * (throughput[i] / equal[i]));
	free(equal);
	free(throughput);
	return level;
}

static int
solve(const struct gv_problem *p, const struct gv_policy_options *opt,
    struct gv_solution *s, struct gv_error *e)
{
	double wanted = 0, gpus = 0;
	size_t i;

	(void)opt;
	(void)e;
	for (i = 0; i < p->n; i++)
		wanted += p->count[i] * p->scale[i];
	for (i = 0; i < p->m; i++)
		gpus += p->capacity[i];
	if (wanted <= gpus)
		gv_problem_isolated(p, s->x);
	else
		share_all(p, s);
	s->objective = lowest_level(p, s);
	return 0;
}

const struct gv_policy gv_policy_gandiva = {
    .name = "gandiva",
    .solve = solve,
    .numbers = 1u << GV_NUMBER_DRAW,
    .shares = true,
};
