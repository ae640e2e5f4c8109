/*
 * The interior-point method (alloc/interior) over drawn programs: where it ends, after how many
 * steps, and to which vertex it goes on from there, is what it was.
 */
#include "recorded.h"

#include <glpk.h>

#include "alloc/interior/interior.h"
#include "alloc/interior/vertex.h"
#include "alloc/simplex/simplex.h"
#include "program_draws.h"

/* Sifting begins with few columns already. */
#undef GV_INTERIOR_FEW
#undef GV_INTERIOR_MANY
#define GV_INTERIOR_FEW  60
#define GV_INTERIOR_MANY 150
#define gv_interior_sift sift_few
#include "../../common/alloc/interior/sift.c"
#undef gv_interior_sift

enum { DIGITS = 9 };

static void
record_point(struct recorded *r, const struct gv_interior_point *s, size_t n, size_t m)
{
	recorded_whole(r, s->steps);
	recorded_double(r, s->gap);
	if (!isfinite(s->gap))
		return;
	recorded_double(r, s->objective);
	recorded_whole(r, (long long)s->n_columns);
	recorded_doubles(r, s->x, s->n_columns);
	recorded_doubles(r, s->z, s->n_columns);
	recorded_doubles(r, s->size, s->n_columns);
	recorded_doubles(r, s->price, m);
	recorded_doubles(r, s->time, n);
	recorded_doubles(r, s->lambda, n);
	recorded_whole(r, s->middle != NULL);
	if (s->middle != NULL)
		recorded_doubles(r, s->middle, s->n_columns);
}

static void
record_vertex(struct recorded *r, const struct gv_interior_program *p,
    const struct gv_interior_point *at, const double *need, const double *also,
    double part)
{
	struct gv_interior_vertex v = {0};
	struct gv_error e = {0};
	size_t k;
	int rc;

	v.x = gv_xcalloc(p->n * p->m, sizeof(double));
	v.price = gv_xcalloc(p->m, sizeof(double));
	v.lambda = gv_xcalloc(p->n, sizeof(double));
	rc = gv_interior_to_vertex(p, at, need, also, part, &v, &e);
	recorded_whole(r, rc);
	recorded_text(r, rc < 0 ? e.text[0] : "");
	recorded_whole(r, (long long)v.n_free);
	for (k = 0; rc == 0 && k < p->n * p->m; k++)
		recorded_solved(r, v.x[k]);
	for (k = 0; rc == 0 && k < p->m; k++)
		recorded_solved(r, v.price[k]);
	for (k = 0; rc == 0 && k < p->n; k++)
		recorded_solved(r, v.lambda[k]);
	recorded_solved(r, rc == 0 ? v.level : 0);
	gv_error_clear(&e);
	free(v.x);
	free(v.price);
	free(v.lambda);
}

/* A level, a sum, a sum with needs; of all columns or some, from shares that are known. */
static void
ask(struct recorded *r, const struct drawn *d, size_t shape)
{
	double *start = gv_xcalloc(d->n * d->m, sizeof(double));
	bool *first = gv_xcalloc(d->n * d->m, sizeof(bool));
	size_t k, kind;

	for (k = 0; k < d->n * d->m; k++) {
		start[k] = d->a[k] > 0
			       ? uniform() * fmin(1 / (double)d->m,
						 d->capacity[k % d->m] /
						     ((double)d->n * d->use[k / d->m]))
			       : 0;
		first[k] = below(3) == 0;
	}
	for (kind = 0; kind < 6; kind++) {
		struct gv_interior_program p = {.n = d->n,
		    .m = d->m,
		    .level = d->a,
		    .use = d->use,
		    .capacity = d->capacity};
		struct gv_interior_point s = {0};

		p.gain = kind >= 2 ? d->gain : NULL;
		p.need = kind >= 4 ? d->need : NULL;
		p.column = shape % 4 == 3 ? d->column : NULL;
		p.start = shape % 3 == 1 ? start : NULL;
		p.first = shape % 3 == 2 ? first : NULL;
		p.narrow = shape % 2 == 1;
		if (kind % 2 == 0)
			gv_interior_solve(&p, &s);
		else
			sift_few(&p, &s);
		record_point(r, &s, d->n, d->m);
		if (s.gap < 1e-6) {
			record_vertex(r, &p, &s, NULL, NULL, 1e-7);
			record_vertex(r, &p, &s, p.need != NULL ? d->need : NULL, start,
			    ldexp(1, -(int)(4 * shape % 31)));
		}
		gv_interior_free(&s);
	}
	free(start);
	free(first);
}

int
main(void)
{
	static const size_t sizes[] = {1, 2, 3, 5, 9, 16, 30, 60};
	struct recorded r;
	size_t k, m, shape;

	recorded_open(&r);
	recorded_glpk(&r, glp_version());
	for (k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		for (m = 1; m <= 24; m += 1 + m / 3) {
			for (shape = 0; shape < 12; shape++) {
				struct drawn d;

				draws_begin(k, (uint32_t)m, (uint32_t)shape);
				d = draw_program(sizes[k], m, shape + 12 * (k + m));
				ask(&r, &d, shape);
				drawn_free(&d);
			}
			recorded_answer(&r, "%zu jobs, %zu types", sizes[k], m);
		}
	}
	for (m = 1; m < 300; m *= 2)
		for (k = 1; k < 1000000; k *= 9) {
			recorded_rounded(&r, gv_interior_level_effort(k, m), DIGITS);
			recorded_rounded(&r, gv_interior_sum_effort(k, m), DIGITS);
			recorded_rounded(&r, gv_simplex_level_effort(k, m), DIGITS);
			recorded_rounded(&r, gv_simplex_sum_effort(k, m), DIGITS);
			recorded_whole(&r, gv_simplex_most_steps(k));
		}
	recorded_answer(&r, "efforts");
	recorded_close(&r);
	return done_testing();
}
