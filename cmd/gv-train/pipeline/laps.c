#include "laps.h"

#include <stdlib.h>
#include <string.h>

void
passes_forget(struct passes *p)
{
	p->all.n = p->warm.n = 0;
}

static void
add(struct laps *l, double took_s)
{
	l->kept[l->n++ % LAPS_KEPT] = took_s;
}

void
passes_add(struct passes *p, double took_s, bool waited)
{
	add(&p->all, took_s);
	if (!waited)
		add(&p->warm, took_s);
}

static int
ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double
passes_typical_s(const struct passes *p)
{
	const struct laps *l = p->warm.n >= LAPS_LEAST ? &p->warm : &p->all;
	size_t n = l->n < LAPS_KEPT ? (size_t)l->n : LAPS_KEPT;
	double v[LAPS_KEPT];

	if (n == 0)
		return 0;
	memcpy(v, l->kept, n * sizeof(*v));
	qsort(v, n, sizeof(*v), ascending);
	return (v[n / 2] + v[(n - 1) / 2]) / 2 * (double)p->all.n;
}
