#include "linear.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "price.h"

enum { small = 256 }; /* rows up to which the program of all is fast enough */

/* Reduced costs and prices below that, of gains of at most 1, are 0 but for rounding. */
static const double nothing = 1e-11;

/* The program in numbers of about 1: shares x_ij = unit_i z_ij. */
struct scaled {
	const struct linear *l;
	double *unit; /* [n] */
	double *pool; /* [m] of the type's GPUs */
	double gain;  /* of the sum */
	double less;  /* needs are lower by that part */
	struct gv_lp lp;
	size_t *col;  /* [n][m], SIZE_MAX where the job cannot run */
	size_t *need; /* [n] row, SIZE_MAX where the job needs nothing */
	size_t *time; /* [n] row */
};

void
linear_init(struct linear *l, const struct problem *p, struct solution *s)
{
	*l = (struct linear){.p = p, .s = s};
	l->mu = gv_xcalloc(p->n, sizeof(*l->mu));
	l->price = gv_xcalloc(p->m, sizeof(*l->price));
}

void
linear_free(struct linear *l)
{
	free(l->mu);
	free(l->price);
}

double *
linear_normalised(const struct problem *p)
{
	double *equal = gv_xcalloc(p->n, sizeof(*equal));
	double *g = gv_xcalloc(p->n, p->m * sizeof(*g));
	size_t i, j;

	problem_equal_throughput(p, equal);
	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			g[i * p->m + j] =
			    p->scale[i] * (problem_rate(p, i, j) / equal[i]);
	free(equal);
	return g;
}

static void
scale(struct scaled *s, const struct linear *l)
{
	const struct problem *p = l->p;
	double largest = 0;
	const double *size = l->size != NULL ? l->size : l->gain;
	size_t i, j;

	*s = (struct scaled){.l = l};
	s->unit = gv_xcalloc(p->n, sizeof(*s->unit));
	s->pool = gv_xcalloc(p->m, sizeof(*s->pool));
	for (j = 0; j < p->m; j++) {
		s->pool[j] = fmax(1, p->capacity[j]);
		largest = fmax(largest, p->capacity[j]);
	}
	for (i = 0; i < p->n; i++) {
		s->unit[i] = 1;
		if (largest > 0)
			s->unit[i] = fmin(1, largest / (p->count[i] * p->scale[i]));
		for (j = 0; j < p->m; j++)
			s->gain = fmax(s->gain, p->count[i] * s->unit[i] *
						    fabs(size[i * p->m + j]));
	}
	if (!(s->gain > 0))
		s->gain = 1;
}

static void
scaled_free(struct scaled *s)
{
	free(s->unit);
	free(s->pool);
	free(s->col);
	free(s->need);
	free(s->time);
	gv_lp_free(&s->lp);
}

/* The columns of job i. */
static void
build_job(struct scaled *s, size_t i)
{
	const struct linear *l = s->l;
	const struct problem *p = l->p;
	double need = l->need != NULL ? l->need[i] : 0;
	size_t j;

	s->time[i] = gv_lp_add_row(&s->lp, -INFINITY, 1 / s->unit[i]);
	s->need[i] = need > 0 ? gv_lp_add_row(&s->lp, 1 - s->less, INFINITY) : SIZE_MAX;
	for (j = 0; j < p->m; j++) {
		double rate = problem_rate(p, i, j);
		size_t col = SIZE_MAX;

		if (rate > 0) {
			col = gv_lp_add_col(&s->lp, 0, INFINITY,
			    p->count[i] * s->unit[i] * l->gain[i * p->m + j] / s->gain);
			gv_lp_set(&s->lp, j, col,
			    p->count[i] * p->scale[i] * s->unit[i] / s->pool[j]);
			gv_lp_set(&s->lp, s->time[i], col, 1);
			if (need > 0)
				gv_lp_set(&s->lp, s->need[i], col,
				    rate * s->unit[i] / need);
		}
		s->col[i * p->m + j] = col;
	}
}

static void
build(struct scaled *s)
{
	const struct problem *p = s->l->p;
	size_t i, j;

	s->col = gv_xcalloc(p->n, p->m * sizeof(*s->col));
	s->need = gv_xcalloc(p->n, sizeof(*s->need));
	s->time = gv_xcalloc(p->n, sizeof(*s->time));
	s->lp.maximise = true;
	for (j = 0; j < p->m; j++)
		gv_lp_add_row(&s->lp, -INFINITY, p->capacity[j] / s->pool[j]);
	for (i = 0; i < p->n; i++)
		build_job(s, i);
}

static void
take_shares(const struct scaled *s, const double *z, double *x)
{
	const struct problem *p = s->l->p;
	size_t i, j;

	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++) {
			size_t col = s->col[i * p->m + j];

			x[i * p->m + j] = col == SIZE_MAX ? 0 : z[col] * s->unit[i];
		}
	problem_clean(p, x);
}

static double
sum_of(const struct problem *p, const double *gain, const double *x)
{
	double sum = 0;
	size_t i, j;

	for (i = 0; i < p->n; i++) {
		double own = 0;

		for (j = 0; j < p->m; j++)
			own += gain[i * p->m + j] * x[i * p->m + j];
		sum += p->count[i] * own;
	}
	return sum;
}

/* Whether x still gives all what they need. */
static bool
keeps_needs(const struct linear *l, const double *x)
{
	size_t i;

	for (i = 0; l->need != NULL && i < l->p->n; i++)
		if (problem_throughput(l->p, x, i) < l->need[i] * (1 - 1e-9))
			return false;
	return true;
}

/* The bound that the multipliers prove, from the problem's numbers, rounding allowed for. */
static double
sum_bound(const struct linear *l)
{
	const struct problem *p = l->p;
	const double *gain = l->gain;
	double sum = 0;
	double magnitude = 0; /* of all that is added or subtracted */
	size_t i, j;

	for (j = 0; j < p->m; j++)
		sum += l->price[j] * p->capacity[j];
	magnitude = sum;
	for (i = 0; i < p->n; i++) {
		double most = 0, large = 0;

		for (j = 0; j < p->m; j++) {
			double more = l->mu[i] * problem_rate(p, i, j);
			double less = l->price[j] * p->scale[i];
			double net = gain[i * p->m + j] + more - less;

			if (problem_rate(p, i, j) == 0)
				continue;
			most = fmax(most, net);
			if (net > -(fabs(gain[i * p->m + j]) + more) * 1e-12)
				large = fmax(
				    large, fabs(gain[i * p->m + j]) + more + less);
		}
		sum += p->count[i] * most;
		magnitude += p->count[i] * large;
		if (l->need != NULL && l->need[i] > 0) {
			sum -= p->count[i] * l->mu[i] * l->need[i];
			magnitude += p->count[i] * l->mu[i] * l->need[i];
		}
	}
	return sum +
	       magnitude * DBL_EPSILON * (16 + (double)p->m + sqrt((double)p->n));
}

/*
 * The second program, from the basis and duals of the first: 0 x holds its shares,
 * 1 it failed, -1 with *e set.
 */
static int
solve_second(struct scaled *s, const double *row_dual, const struct gv_lp_basis *from,
    double *x, struct gv_error *e)
{
	const struct linear *l = s->l;
	const struct problem *p = l->p;
	struct gv_lp *lp = &s->lp;
	struct gv_lp_basis basis = {0};
	struct gv_lp_solution sol = {0};
	double *d = gv_xcalloc(lp->n_cols, sizeof(*d));
	double largest = 0;
	size_t i, j;
	int rc;

	memcpy(d, lp->cost, lp->n_cols * sizeof(*d));
	for (i = 0; i < lp->n_entries; i++)
		d[lp->entry[i].col] -= row_dual[lp->entry[i].row] * lp->entry[i].value;
	for (i = 0; i < lp->n_cols; i++)
		if (d[i] < -nothing)
			lp->col_hi[i] = 0;
	for (i = 0; i < lp->n_rows; i++) {
		if (row_dual[i] > nothing && isfinite(lp->row_hi[i]))
			lp->row_lo[i] = lp->row_hi[i];
		if (row_dual[i] < -nothing && isfinite(lp->row_lo[i]))
			lp->row_hi[i] = lp->row_lo[i];
	}
	for (i = 0; i < p->n * p->m; i++)
		if (s->col[i] != SIZE_MAX)
			largest = fmax(largest, l->second[i] * p->count[i / p->m] *
						    s->unit[i / p->m]);
	for (i = 0; i < p->n; i++)
		for (j = 0; j < p->m; j++)
			if (s->col[i * p->m + j] != SIZE_MAX)
				lp->cost[s->col[i * p->m + j]] =
				    l->second[i * p->m + j] * p->count[i] * s->unit[i] /
				    largest;
	gv_lp_basis_copy(&basis, from);
	rc = gv_lp_solve(lp, NULL, &basis, &sol, e);
	if (rc == 0 && sol.status == GV_LP_OPTIMAL)
		take_shares(s, sol.x, x);
	else if (rc == 0)
		rc = 1;
	free(d);
	gv_lp_solution_free(&sol);
	gv_lp_basis_free(&basis);
	return rc;
}

/* The same into l->s->x, if the first sum does not suffer. */
static int
raise_second(struct scaled *s, const double *row_dual, const struct gv_lp_basis *from,
    struct gv_error *e)
{
	const struct linear *l = s->l;
	const struct problem *p = l->p;
	double *x = gv_xcalloc(p->n, p->m * sizeof(*x));
	int rc = solve_second(s, row_dual, from, x, e);

	if (rc == 0 && keeps_needs(l, x) &&
	    sum_of(p, l->gain, x) >=
		l->s->objective - 1e-12 * fmax(fabs(l->s->objective), s->gain)) {
		memcpy(l->s->x, x, p->n * p->m * sizeof(*x));
		l->s->objective = sum_of(p, l->gain, x);
	}
	free(x);
	return rc < 0 ? -1 : 0;
}

/* The first program.  What meets all needs may be a thin set: then a hair less will do. */
static int
solve_first(struct scaled *s, const struct solve_options *opt, struct gv_lp_basis *basis,
    struct gv_lp_solution *sol, struct gv_error *e)
{
	static const double less[] = {0, 1e-12, 1e-11, 1e-10};
	const struct gv_lp_options lp_opt = {.exact = opt->certify};
	size_t k;
	int rc = 0;

	for (k = 0; k < 4; k++) {
		const struct linear *l = s->l;

		gv_lp_solution_free(sol);
		gv_lp_basis_free(basis);
		scaled_free(s);
		scale(s, l);
		s->less = less[k];
		build(s);
		rc = gv_lp_solve(&s->lp, &lp_opt, basis, sol, e);
		if (rc != 0 || sol->status == GV_LP_OPTIMAL)
			break;
	}
	return rc;
}

static void
set_bound(struct linear *l)
{
	struct solution *s = l->s;

	s->bound = sum_bound(l);
	s->gap = (s->bound - s->objective) / fmax(fabs(s->bound), DBL_MIN);
}

static int
solve_program(struct linear *l, const struct solve_options *opt, const char *name,
    struct gv_error *e)
{
	const struct problem *p = l->p;
	struct gv_lp_basis basis = {0};
	struct gv_lp_solution sol = {0};
	struct scaled s = {.l = l};
	size_t i, j;
	int rc;

	rc = solve_first(&s, opt, &basis, &sol, e);
	if (rc == 0 && sol.status != GV_LP_OPTIMAL)
		rc = gv_error_set(e, "the linear program of %s: %s", name,
		    gv_lp_status_name(sol.status));
	if (rc == 0) {
		take_shares(&s, sol.x, l->s->x);
		l->s->objective = sum_of(p, l->gain, l->s->x);
		l->s->exact = sol.exact;
		l->s->has_bound = true;
		for (j = 0; j < p->m; j++)
			l->price[j] = fmax(0, sol.row_dual[j]) * s.gain / s.pool[j];
		for (i = 0; i < p->n; i++)
			l->mu[i] = s.need[i] == SIZE_MAX
				       ? 0
				       : fmax(0, -sol.row_dual[s.need[i]]) * s.gain /
					     (l->need[i] * p->count[i]);
		if (l->second != NULL)
			rc = raise_second(&s, sol.row_dual, &basis, e);
		set_bound(l);
	}
	gv_lp_solution_free(&sol);
	gv_lp_basis_free(&basis);
	scaled_free(&s);
	return rc;
}

/* ---- by prices ---- */

/* Types on which a share is worth as much as the best, but for a part of its size. */
static void
keep_best(const struct linear *l, const double *price, double part, size_t i,
    bool *undecided, bool *good)
{
	const struct problem *p = l->p;
	const double *size = l->size != NULL ? l->size : l->gain;
	double best = 0, magnitude = 0;
	size_t j, n = 0;

	for (j = 0; j < p->m; j++)
		if (problem_rate(p, i, j) > 0) {
			double cost = price[j] * p->scale[i];

			best = fmax(best, l->gain[i * p->m + j] - cost);
			magnitude = fmax(magnitude, fabs(size[i * p->m + j]) + cost);
		}
	for (j = 0; j < p->m; j++) {
		double net = l->gain[i * p->m + j] - price[j] * p->scale[i];

		good[j] = problem_rate(p, i, j) > 0 && net >= best - part * magnitude;
		n += good[j];
	}
	*undecided = n > 1 || (n == 1 && best <= part * magnitude);
}

/*
 * The jobs that the prices leave a choice, with only the types they may choose; the
 * others take theirs.  False: they take more than there is.
 */
static bool
decide(const struct linear *l, const double *price, double part, struct problem *q,
    bool *undecided)
{
	const struct problem *p = l->p;
	bool *good = gv_xcalloc(p->n, p->m * sizeof(*good));
	bool fits = true;
	size_t i, j, k = 0;

	memset(l->s->x, 0, p->n * p->m * sizeof(*l->s->x));
	for (i = 0; i < p->n; i++)
		keep_best(l, price, part, i, &undecided[i], &good[i * p->m]);
	problem_pick(q, p, undecided);
	for (i = 0; i < p->n; i++) {
		for (j = 0; j < p->m; j++) {
			if (undecided[i] && !good[i * p->m + j])
				q->rate[k * p->m + j] = 0;
			if (undecided[i] || !good[i * p->m + j])
				continue;
			l->s->x[i * p->m + j] = 1;
			q->capacity[j] -= p->count[i] * p->scale[i];
		}
		k += undecided[i];
	}
	for (j = 0; j < p->m; j++) {
		fits = fits && q->capacity[j] >= 0;
		q->capacity[j] = fmax(0, q->capacity[j]);
	}
	free(good);
	return fits;
}

/* The rows of jobs that are kept. */
static double *
pick_rows(const double *from, const bool *keep, size_t n, size_t m)
{
	double *to = gv_xcalloc(n, m * sizeof(*to));
	size_t i, k = 0;

	for (i = 0; from != NULL && i < n; i++)
		if (keep[i])
			memcpy(&to[k++ * m], &from[i * m], m * sizeof(*to));
	return to;
}

/* The program of the undecided jobs.  0; 1 it does not prove the whole; -1 with *e set. */
static int
solve_undecided(struct linear *l, const struct problem *q, const bool *undecided,
    const struct solve_options *opt, const char *name, struct gv_error *e)
{
	const struct problem *p = l->p;
	struct solution s = {.x = gv_xcalloc(q->n, q->m * sizeof(*s.x))};
	double *gain = pick_rows(l->gain, undecided, p->n, p->m);
	double *size = pick_rows(l->size, undecided, p->n, p->m);
	double *second = pick_rows(l->second, undecided, p->n, p->m);
	struct linear part;
	size_t i, k = 0;
	int rc = 0;

	linear_init(&part, q, &s);
	part.gain = gain;
	part.size = l->size != NULL ? size : NULL;
	part.second = l->second != NULL ? second : NULL;
	rc = solve_program(&part, opt, name, e);
	for (i = 0; i < p->n && rc == 0; i++)
		if (undecided[i])
			memcpy(&l->s->x[i * p->m], &s.x[k++ * p->m],
			    p->m * sizeof(*s.x));
	memcpy(l->price, part.price, p->m * sizeof(*l->price));
	linear_free(&part);
	free(gain);
	free(size);
	free(second);
	free(s.x);
	return rc;
}

/* The gains in numbers whose best sum is about 1: what they are divided by. */
static double
sum_size(const struct linear *l)
{
	const struct problem *p = l->p;
	const double *size = l->size != NULL ? l->size : l->gain;
	double sum = 0;
	size_t i, j;

	for (j = 0; j < p->m; j++) {
		double most = 0;

		for (i = 0; i < p->n; i++)
			most = fmax(most, fabs(size[i * p->m + j]) / p->scale[i]);
		sum += most * p->capacity[j];
	}
	return sum;
}

/* Into price: prices of nearly the best sum.  As price_sum. */
static int
find_prices(const struct linear *l, double *price, struct gv_error *e)
{
	const struct problem *p = l->p;
	double *use = gv_xcalloc(p->n, sizeof(*use));
	double *gain = gv_xcalloc(p->n, p->m * sizeof(*gain));
	struct price_problem q = {p->n, p->m, p->rate, use, gain, p->capacity};
	double size = sum_size(l);
	size_t i, j;
	int rc;

	for (i = 0; i < p->n; i++) {
		use[i] = p->count[i] * p->scale[i];
		for (j = 0; j < p->m; j++)
			gain[i * p->m + j] = p->count[i] * (l->gain[i * p->m + j] / size);
	}
	rc = price_sum(&q, NULL, 0, price, e);
	for (j = 0; j < p->m; j++)
		price[j] *= size;
	free(use);
	free(gain);
	return rc;
}

/*
 * Most jobs see at nearly the right prices what is best for them; the program of
 * the others gives the right prices and the rest of the shares.  0 and it is
 * proved, 1 it is not, -1 with *e set.
 */
static int
solve_prices(struct linear *l, const struct solve_options *opt, const char *name,
    struct gv_error *e)
{
	static const double part[] = {1e-7, 1e-5, 1e-3};
	const struct problem *p = l->p;
	double *price = gv_xcalloc(p->m, sizeof(*price));
	bool *undecided = gv_xcalloc(p->n, sizeof(*undecided));
	int rc = find_prices(l, price, e);
	size_t k;

	for (k = 0; k < 3 && rc >= 0; k++) {
		struct problem q;

		rc = decide(l, price, part[k], &q, undecided) ? 0 : 1;
		memcpy(l->price, price, p->m * sizeof(*price));
		if (rc == 0 && q.n > 0)
			rc = solve_undecided(l, &q, undecided, opt, name, e);
		problem_free(&q);
		if (rc != 0)
			continue;
		l->s->has_bound = true;
		l->s->objective = sum_of(p, l->gain, l->s->x);
		set_bound(l);
		if (l->s->gap <= 1e-10)
			break;
		rc = 1;
	}
	free(price);
	free(undecided);
	return rc;
}

int
linear_solve(struct linear *l, const struct solve_options *opt, const char *name,
    struct gv_error *e)
{
	bool by_prices =
	    opt->solver == SOLVER_PRICE || (opt->solver == SOLVER_AUTO && l->p->n > small);
	size_t i;
	int rc = 1;

	for (i = 0; l->need != NULL && i < l->p->n; i++)
		by_prices = by_prices && l->need[i] == 0;
	if (by_prices && !opt->certify)
		rc = solve_prices(l, opt, name, e);
	if (rc == 1) {
		memset(l->s->x, 0, l->p->n * l->p->m * sizeof(*l->s->x));
		rc = solve_program(l, opt, name, e);
	}
	return rc;
}

/* ---- --dump-lp ---- */

/* What a row or column is called. */
struct program_names {
	char (*row)[GV_LP_NAME_LEN];
	char (*col)[GV_LP_NAME_LEN];
};

static void
row_name(void *ctx, size_t row, char buf[GV_LP_NAME_LEN])
{
	const struct program_names *names = ctx;

	memcpy(buf, names->row[row], GV_LP_NAME_LEN);
}

static void
col_name(void *ctx, size_t col, char buf[GV_LP_NAME_LEN])
{
	const struct program_names *names = ctx;

	memcpy(buf, names->col[col], GV_LP_NAME_LEN);
}

/* One piece of memory, which free() frees. */
static struct program_names *
name_program(const struct scaled *s)
{
	const struct problem *p = s->l->p;
	size_t rows = s->lp.n_rows, cols = s->lp.n_cols;
	struct program_names *names =
	    gv_xcalloc(1, sizeof(*names) + (rows + cols) * GV_LP_NAME_LEN);
	size_t i, j;

	names->row = (void *)(names + 1);
	names->col = names->row + rows;
	for (j = 0; j < p->m; j++)
		snprintf(names->row[j], GV_LP_NAME_LEN, "gpus(%zu)", j + 1);
	for (i = 0; i < p->n; i++) {
		snprintf(names->row[s->time[i]], GV_LP_NAME_LEN, "time(%zu)", i + 1);
		if (s->need[i] != SIZE_MAX)
			snprintf(
			    names->row[s->need[i]], GV_LP_NAME_LEN, "need(%zu)", i + 1);
		for (j = 0; j < p->m; j++)
			if (s->col[i * p->m + j] != SIZE_MAX)
				snprintf(names->col[s->col[i * p->m + j]],
				    GV_LP_NAME_LEN, "x(%zu,%zu)", i + 1, j + 1);
	}
	return names;
}

void
linear_program(const struct problem *p, const double *gain, const double *need,
    struct gv_lp *lp, struct gv_lp_names *names)
{
	struct linear l = {.p = p, .gain = gain, .need = need};
	struct scaled s;
	size_t i, j;

	scale(&s, &l);
	s.gain = 1;
	for (i = 0; i < p->n; i++)
		s.unit[i] = 1;
	for (j = 0; j < p->m; j++)
		s.pool[j] = 1;
	build(&s);
	*names =
	    (struct gv_lp_names){row_name, col_name, name_program(&s), NULL};
	*lp = s.lp;
	s.lp = (struct gv_lp){0};
	scaled_free(&s);
}
