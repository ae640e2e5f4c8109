/*
 * Drawn programs of jobs and GPU types in the numbers that solvers see: rates, GPUs, gains.
 * Of many shapes, and without a function of the C library, so that they are the same
 * everywhere to the last bit.
 */
#ifndef PROGRAM_DRAWS_H
#define PROGRAM_DRAWS_H

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "draws.h"

struct drawn {
	size_t n, m;
	double *a, *gain, *second;  /* [n][m] */
	double *use, *need;         /* [n] */
	double *capacity, *dollars; /* [m] */
	bool *column;               /* [n][m] */
};

/* What numbers are like. */
enum drawn_kind {
	DRAWN_SMOOTH, /* .5 to 8 */
	DRAWN_TIES,   /* 1 to 3 */
	DRAWN_HOLES,  /* 1 to 7, every third 0 */
	DRAWN_WIDE,   /* six decades */
	DRAWN_FAR,    /* fifteen */
	DRAWN_EQUAL,  /* jobs alike, but for a factor of a power of 2 */
	DRAWN_TYPES,  /* types alike, but for a factor */
	DRAWN_KINDS
};

static inline double
drawn_rate(enum drawn_kind kind, size_t i, size_t j)
{
	/* one after another: a compiler may evaluate arguments in any order */
	const double draw = uniform(), other = uniform();

	switch (kind) {
	case DRAWN_TIES:
		return 1 + floor(3 * draw);
	case DRAWN_HOLES:
		return draw < 1. / 3 ? 0 : 1 + floor(7 * other);
	case DRAWN_WIDE:
		return ldexp(1 + draw, (int)(20 * other) - 10);
	case DRAWN_FAR:
		return ldexp(1 + draw, (int)(50 * other) - 25);
	case DRAWN_EQUAL:
		return ldexp((double)(1 + j % 3), (int)(i % 4));
	case DRAWN_TYPES:
		return (1 + draw / 64) * (double)(1 + j);
	default:
		return .5 + 7.5 * draw * other;
	}
}

/* Every job can run somewhere where there are GPUs. */
static inline void
drawn_runnable(struct drawn *d)
{
	size_t i, j;

	for (i = 0; i < d->n; i++) {
		double most = 0;

		for (j = 0; j < d->m; j++)
			if (d->capacity[j] > 0)
				most = fmax(most, d->a[i * d->m + j]);
		for (j = 0; most == 0 && j < d->m; j++)
			if (d->capacity[j] > 0)
				d->a[i * d->m + j] = 1;
	}
}

static inline void
drawn_capacities(struct drawn *d, size_t shape)
{
	double all = 0;
	size_t i, j;

	for (i = 0; i < d->n; i++)
		all += d->use[i];
	for (j = 0; j < d->m; j++) {
		double part = shape % 5 == 0 ? .05 : shape % 5 == 1 ? 1.2 : .3;

		d->capacity[j] =
		    floor(1 + all * part * (.2 + uniform()) / (double)d->m * 2);
		d->dollars[j] = (double)(1 + below(4)) / 2;
	}
	if (shape % 4 == 0 && d->m > 1)
		d->capacity[d->m - 1] = 0;
	if (shape % 6 == 5)
		d->capacity[0] = 2 * all;
}

/* n jobs on m types; of equal shapes numbers are alike. */
static inline struct drawn
draw_program(size_t n, size_t m, size_t shape)
{
	const enum drawn_kind kind = (enum drawn_kind)(shape % DRAWN_KINDS);
	struct drawn d = {.n = n, .m = m};
	size_t i, j, k;

	d.a = gv_xcalloc(n * m, sizeof(double));
	d.gain = gv_xcalloc(n * m, sizeof(double));
	d.second = gv_xcalloc(n * m, sizeof(double));
	d.use = gv_xcalloc(n, sizeof(double));
	d.need = gv_xcalloc(n, sizeof(double));
	d.capacity = gv_xcalloc(m, sizeof(double));
	d.dollars = gv_xcalloc(m, sizeof(double));
	d.column = gv_xcalloc(n * m, sizeof(bool));
	for (i = 0; i < n; i++) {
		d.use[i] = shape % 3 == 0 ? 1 : (double)(1 << below(4));
		for (j = 0; j < m; j++)
			d.a[i * m + j] = drawn_rate(kind, i, j);
	}
	drawn_capacities(&d, shape / DRAWN_KINDS);
	drawn_runnable(&d);
	for (k = 0; k < n * m; k++) {
		double a = d.a[k], worth = shape % 2 == 0 ? 1 : .5 + uniform();

		d.gain[k] = a > 0 ? a * worth / (double)n * d.use[k / m] : 0;
		d.second[k] = a > 0 ? uniform() : 0;
		d.column[k] = a > 0 && below(8) != 0;
	}
	for (i = 0; i < n; i++)
		d.need[i] = below(3) == 0 ? .05 * uniform() * d.a[i * m] : 0;
	return d;
}

static inline void
drawn_free(struct drawn *d)
{
	free(d->a);
	free(d->gain);
	free(d->second);
	free(d->use);
	free(d->need);
	free(d->capacity);
	free(d->dollars);
	free(d->column);
}

#endif
