/*
 * Searches for prices (alloc/price) over drawn programs: what they find, and which way they
 * went to it, is what it was.
 */
#include "recorded.h"

#include "alloc/price/dual.h"
#include "alloc/price/master.h"
#include "alloc/price/price.h"
#include "program_draws.h"

static const size_t sizes[] = {1, 2, 3, 5, 8, 13, 22, 40, 75};

enum { N_SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static void
record_solution(
    struct recorded *r, const struct gv_price_solution *s, int rc, size_t n, size_t m)
{
	recorded_whole(r, rc);
	recorded_whole(r, s->n_evaluations);
	recorded_whole(r, s->second_done);
	recorded_double(r, s->level);
	recorded_double(r, s->bound);
	recorded_doubles(r, s->price, m);
	recorded_doubles(r, s->lambda, n);
	recorded_doubles(r, s->x, n * m);
}

/* A level and its second objective; and again, warm, after a few jobs have changed. */
static void
ask_level(struct recorded *r, struct drawn *d, size_t shape)
{
	struct gv_price_memory memory = {0};
	struct gv_price_solution s = {0};
	int turn;

	s.x = gv_xcalloc(d->n * d->m, sizeof(double));
	s.lambda = gv_xcalloc(d->n, sizeof(double));
	s.price = gv_xcalloc(d->m, sizeof(double));
	for (turn = 0; turn < 4; turn++) {
		struct gv_oracle_jobs jobs = {0};
		double effort = ldexp(1, 10 + (int)below(16)),
		       *left = shape % 3 == 2 ? &effort : NULL;

		gv_oracle_jobs_fill(&jobs, d->n, d->m, d->a, d->use, d->gain);
		s.second_done = turn % 2 == 0;
		s.effort = left;
		s.second_effort = effort / 4;
		s.n_evaluations = 0;
		memory.change = turn < 2 ? 0 : ldexp(1, -6);
		memory.first_of_many = turn == 0 && shape % 2 == 1;
		record_solution(
		    r, &s, gv_price_level(&jobs, d->capacity, &s, &memory), d->n, d->m);
		recorded_double(r, effort);
		recorded_double(r, memory.level);
		if (memory.capacity_price != NULL)
			recorded_doubles(r, memory.capacity_price, d->m);
		if (memory.gain_capacity_price != NULL)
			recorded_doubles(r, memory.gain_capacity_price, d->m);
		gv_oracle_jobs_free(&jobs);
		d->a[below(d->n) * d->m] *= 1 + ldexp(1, -6);
	}
	gv_price_forget(&memory);
	free(s.x);
	free(s.lambda);
	free(s.price);
}

/* Both at once, from rows. */
static void
ask_rows(struct recorded *r, const struct drawn *d)
{
	const struct gv_price_problem p = {
	    d->n, d->m, d->a, d->use, d->gain, d->capacity};
	struct gv_price_solution s = {0};

	s.x = gv_xcalloc(d->n * d->m, sizeof(double));
	s.lambda = gv_xcalloc(d->n, sizeof(double));
	s.price = gv_xcalloc(d->m, sizeof(double));
	record_solution(r, &s, gv_price_solve(&p, &s), d->n, d->m);
	free(s.x);
	free(s.lambda);
	free(s.price);
}

/* Prices of sums, at a level that all reach with nothing, or with less than their slowest. */
static void
ask_sum(struct recorded *r, const struct drawn *d, size_t shape)
{
	struct gv_price_memory memory = {0};
	double *price = gv_xcalloc(d->m, sizeof(double)),
	       *used = gv_xcalloc(d->m, sizeof(double));
	double least = INFINITY, effort = ldexp(1, 12 + (int)below(9));
	struct gv_oracle_jobs jobs = {0};
	size_t k;

	for (k = 0; k < d->n * d->m; k++)
		least = d->a[k] > 0 ? fmin(least, d->a[k]) : least;
	gv_oracle_jobs_fill(&jobs, d->n, d->m, d->a, d->use, d->gain);
	for (k = 0; k < 3; k++) {
		double level = shape % 2 == 0 ? 0 : least / (double)(d->n * (4 + k));
		const double *dollars = shape % 4 >= 2 && d->m > 1 ? d->dollars : NULL;

		recorded_whole(
		    r, gv_price_sum(&jobs, d->capacity, k == 1 ? used : NULL, 0, level,
			   dollars, price, &effort, k == 0 ? NULL : &memory));
		recorded_doubles(r, price, d->m);
		recorded_double(r, effort);
	}
	gv_oracle_jobs_free(&jobs);
	gv_price_forget(&memory);
	free(price);
	free(used);
}

/* What equal parts of all types use, into used [m], and gain. */
static double
equal_parts(const struct drawn *d, double *used)
{
	double gain = 0;
	size_t i, j;

	for (j = 0; j < d->m; j++) {
		used[j] = 0;
		for (i = 0; i < d->n; i++) {
			double x = fmin(1 / (double)d->m,
			    d->capacity[j] / ((double)d->n * d->use[i]));

			used[j] += d->use[i] * x;
			gain += d->gain[i * d->m + j] * x;
		}
	}
	return gain;
}

static void
record_dual(struct recorded *r, const struct gv_dual *d)
{
	size_t i;

	recorded_whole(r, d->n_evaluations);
	recorded_whole(r, d->canonical);
	recorded_whole(r, d->all_free);
	recorded_double(r, d->level);
	recorded_double(r, d->bound);
	recorded_double(r, d->price_level);
	recorded_double(r, d->weight);
	recorded_doubles(r, d->price, d->m);
	recorded_whole(r, (long long)d->free_jobs.n);
	for (i = 0; i < d->n_cuts; i++) {
		recorded_double(r, d->cut[i].weight);
		recorded_double(r, d->cut[i].level);
		recorded_doubles(r, d->cut[i].price, d->m);
	}
}

/*
 * One dual by itself: from prices that are known more or less, with money, with a solution
 * that is known, of what costs least at other prices alone.
 */
static void
ask_dual(struct recorded *r, const struct drawn *d)
{
	double *known = gv_xcalloc(d->m, sizeof(double)),
	       *used = gv_xcalloc(d->m, sizeof(double));
	double *face = gv_xcalloc(d->m, sizeof(double)), gain = equal_parts(d, used);
	double effort = ldexp(1, 12 + (int)below(9));
	struct gv_oracle_jobs jobs = {0};
	size_t j, k;

	gv_oracle_jobs_fill(&jobs, d->n, d->m, d->a, d->use, d->gain);
	for (k = 0; k < 8; k++) {
		struct gv_dual_problem problem = {.capacity = d->capacity,
		    .gains = k % 2 == 1,
		    .gap = ldexp(1, -30),
		    .gap_floor = ldexp(1, -40)};
		struct gv_dual_start start = {
		    known, .1 + uniform(), k == 3 ? ldexp(1, -4) : 0};
		struct gv_dual dual = {0};

		problem.effort = k == 4 ? NULL : &effort;
		if (k == 5) {
			problem.incumbent_used = used;
			problem.incumbent_gain = gain;
		}
		if (k >= 6 && d->m > 1)
			problem.dollars = d->dollars;
		if (k == 7)
			problem.face = face;
		for (j = 0; j < d->m; j++) {
			known[j] = uniform() / (double)d->m;
			face[j] = (double)below(4);
		}
		recorded_whole(r, gv_dual_minimise(&dual, &jobs, &problem,
				      k == 2 || k == 3 ? &start : NULL));
		record_dual(r, &dual);
		gv_dual_free(&dual);
	}
	recorded_double(r, effort);
	gv_oracle_jobs_free(&jobs);
	free(known);
	free(used);
	free(face);
}

/* The oracle at drawn prices: demands, what is fixed in a box, shares. */
static void
ask_oracle(struct recorded *r, const struct drawn *d)
{
	double *room = gv_xcalloc(d->m, 6 * sizeof(double)),
	       *x = gv_xcalloc(d->n * d->m, sizeof(double));
	double *price = room + 2 * d->m, *face = price + d->m, *lo = face + d->m,
	       *hi = lo + d->m;
	double *lambda = gv_xcalloc(d->n, sizeof(double));
	size_t *unfixed = gv_xcalloc(d->n, sizeof(size_t)), j, k, job, n;
	struct gv_oracle_jobs jobs = {0};

	gv_oracle_jobs_fill(&jobs, d->n, d->m, d->a, d->use, d->gain);
	recorded_double(r, gv_oracle_time_bound(&jobs, &job));
	recorded_whole(r, (long long)job);
	for (k = 0; k < 8; k++) {
		struct gv_dual_point o = {.price = price, .gains = k % 2 == 1};
		struct gv_demand t = {.used = room, .used_slope = room + d->m};

		for (j = 0; j < d->m; j++) {
			price[j] = k < 2 ? (double)below(3) : uniform() / 4;
			face[j] = uniform();
			lo[j] = price[j] * (1 - ldexp(1, -(int)k));
			hi[j] = price[j] * (1 + ldexp(1, -(int)k));
		}
		o.level = (1 + (double)below(8)) / 8 * d->a[below(d->n * d->m)];
		o.face = k % 4 == 3 ? face : NULL;
		recorded_double(r, gv_oracle_effort(&jobs, &o));
		gv_oracle_demand(&jobs, &o, &t);
		recorded_doubles(r, room, 2 * d->m);
		recorded_double(r, t.gain);
		recorded_double(r, t.lambda);
		gv_oracle_add_shares(&jobs, &o, .5, x, lambda);
		recorded_doubles(r, x, d->n * d->m);
		recorded_doubles(r, lambda, d->n);
		n = gv_oracle_fix(
		    &jobs, &o, lo, hi, k % 3 == 0 ? 0 : ldexp(1, -6), &t, unfixed);
		recorded_doubles(r, room, 2 * d->m);
		recorded_double(r, t.gain);
		for (j = 0; j < n; j++)
			recorded_whole(r, (long long)unfixed[j]);
		gv_oracle_set_shares(&jobs, &o, 2, x, k % 2 == 0 ? NULL : lambda);
	}
	gv_oracle_jobs_free(&jobs);
	free(room);
	free(x);
	free(lambda);
	free(unfixed);
}

/* The master by itself: cuts come one by one, some are forgotten, borders change. */
static void
ask_master(struct recorded *r, const struct drawn *d, size_t shape)
{
	double *part = gv_xcalloc(d->m, 3 * sizeof(double)), *lo = part + d->m,
	       *hi = lo + d->m;
	struct gv_price_master p;
	bool keep[24];
	size_t j, k;

	for (j = 0; j < d->m; j++) {
		lo[j] = shape % 3 == 0 ? 0 : uniform() / 8 / (double)d->m;
		hi[j] = shape % 4 == 0 ? 2 : (1 + uniform()) / (double)d->m;
	}
	gv_price_master_init(&p, d->m, shape % 2 == 1, lo, hi);
	for (k = 0; k < 24; k++) {
		for (j = 0; j < d->m; j++)
			part[j] = below(3) == 0 ? (double)below(3) : 2 * uniform();
		gv_price_master_add(&p, part, shape % 2 == 1 ? uniform() : 0);
		if (k == 16) {
			for (j = 0; j <= k; j++)
				keep[j] = below(3) != 0 || p.weight[j] > 0;
			for (j = 0; j < d->m; j++)
				hi[j] *= 1.5;
			gv_price_master_keep(&p, keep, lo, hi);
		}
		recorded_whole(r, gv_price_master_solve(&p));
		recorded_whole(r, gv_price_master_unique(&p));
		recorded_double(r, p.excess);
		recorded_double(r, p.objective);
		recorded_doubles(r, p.weight, p.n);
		recorded_doubles(r, p.price, d->m);
		recorded_doubles(r, gv_price_master_used(&p, p.n - 1), d->m);
	}
	gv_price_master_free(&p);
	free(part);
}

static void
test_searches(struct recorded *r)
{
	size_t k, m, shape;

	for (k = 0; k < N_SIZES; k++) {
		for (m = 1; m <= 16; m += 1 + m / 4) {
			for (shape = 0; shape < 12; shape++) {
				struct drawn d;

				draws_begin(k, (uint32_t)m, (uint32_t)shape);
				d = draw_program(sizes[k], m, shape + 12 * (k + m));
				ask_rows(r, &d);
				ask_sum(r, &d, shape);
				ask_dual(r, &d);
				ask_oracle(r, &d);
				ask_master(r, &d, shape);
				ask_level(r, &d, shape);
				drawn_free(&d);
			}
			recorded_answer(r, "%zu jobs, %zu types", sizes[k], m);
		}
	}
}

int
main(void)
{
	struct recorded r;

	recorded_open(&r);
	test_searches(&r);
	recorded_close(&r);
	return done_testing();
}
