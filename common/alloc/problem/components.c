#include "components.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"

/* ---- who belongs together ---- */

static size_t
root_of(size_t *to, size_t j)
{
	while (to[j] != j)
		j = to[j] = to[to[j]];
	return j;
}

/* [m] for each type the lowest of its group; SIZE_MAX: no job runs there. */
static size_t *
lowest_types(const struct gv_problem *p, const double *a)
{
	size_t *to = gv_xcalloc(p->m, sizeof(*to));
	bool *used = gv_xcalloc(p->m, sizeof(*used));
	size_t i, j;

	for (j = 0; j < p->m; j++)
		to[j] = j;
	for (i = 0; i < p->n; i++) {
		size_t own = SIZE_MAX;

		for (j = 0; j < p->m; j++) {
			size_t x, y;

			if (!(a[i * p->m + j] > 0))
				continue;
			used[j] = true;
			if (own == SIZE_MAX) {
				own = j;
				continue;
			}
			x = root_of(to, own);
			y = root_of(to, j);
			to[x > y ? x : y] = x < y ? x : y;
		}
	}
	for (j = 0; j < p->m; j++)
		to[j] = used[j] ? root_of(to, j) : SIZE_MAX;
	free(used);
	return to;
}

/* Some type of a row, which has one. */
static size_t
type_of_row(const struct gv_problem *p, const double *a, size_t i)
{
	size_t j = 0;

	while (j + 1 < p->m && !(a[i * p->m + j] > 0))
		j++;
	return j;
}

/* Places in a list for counts that are in first[1..n]: each group's begin. */
static void
add_up(size_t *first, size_t n)
{
	size_t k;

	for (k = 0; k < n; k++)
		first[k + 1] += first[k];
}

void
gv_components_make(struct gv_components *g, const struct gv_problem *p, const double *a)
{
	size_t *lowest = lowest_types(p, a);
	size_t *of_type = gv_xcalloc(p->m, sizeof(*of_type));
	size_t *of_row = gv_xcalloc(p->n, sizeof(*of_row));
	size_t *at_type, *at_row;
	size_t i, j;

	*g = (struct gv_components){.m = p->m};
	for (j = 0; j < p->m; j++)
		if (lowest[j] != SIZE_MAX)
			of_type[j] = lowest[j] == j ? g->n++ : of_type[lowest[j]];
	g->first_type = gv_xcalloc(g->n + 1, sizeof(*g->first_type));
	g->first_row = gv_xcalloc(g->n + 1, sizeof(*g->first_row));
	for (j = 0; j < p->m; j++)
		if (lowest[j] != SIZE_MAX)
			g->first_type[of_type[j] + 1]++;
	for (i = 0; i < p->n; i++) {
		of_row[i] = of_type[type_of_row(p, a, i)];
		g->first_row[of_row[i] + 1]++;
	}
	add_up(g->first_type, g->n);
	add_up(g->first_row, g->n);
	g->type = gv_xcalloc(p->m, sizeof(*g->type));
	g->row = gv_xcalloc(p->n, sizeof(*g->row));
	at_type = gv_xcalloc(g->n + 1, sizeof(*at_type));
	at_row = gv_xcalloc(g->n + 1, sizeof(*at_row));
	for (j = 0; j < p->m; j++)
		if (lowest[j] != SIZE_MAX)
			g->type[g->first_type[of_type[j]] + at_type[of_type[j]]++] = j;
	for (i = 0; i < p->n; i++)
		g->row[g->first_row[of_row[i]] + at_row[of_row[i]]++] = i;
	free(lowest);
	free(of_type);
	free(of_row);
	free(at_type);
	free(at_row);
}

void
gv_components_free(struct gv_components *g)
{
	free(g->first_type);
	free(g->first_row);
	free(g->type);
	free(g->row);
}

bool
gv_components_pay(const struct gv_components *g, const struct gv_problem *p)
{
	double sum = 0;
	size_t k;

	for (k = 0; k < g->n; k++)
		sum += (double)(g->first_row[k + 1] - g->first_row[k]) *
		       (double)(g->first_type[k + 1] - g->first_type[k]);
	return g->n > 1 && sum <= .5 * (double)p->n * (double)p->m;
}

/* ---- a group's part ---- */

double *
gv_components_types(const struct gv_components *g, size_t k, const double *from)
{
	size_t first = g->first_type[k], n = g->first_type[k + 1] - first, j;
	double *to = from != NULL ? gv_xcalloc(n, sizeof(*to)) : NULL;

	for (j = 0; to != NULL && j < n; j++)
		to[j] = from[g->type[first + j]];
	return to;
}

double *
gv_components_rows(const struct gv_components *g, size_t k, const double *from)
{
	size_t first = g->first_row[k], n = g->first_row[k + 1] - first, i;
	double *to = from != NULL ? gv_xcalloc(n, sizeof(*to)) : NULL;

	for (i = 0; to != NULL && i < n; i++)
		to[i] = from[g->row[first + i]];
	return to;
}

double *
gv_components_cells(const struct gv_components *g, size_t k, const double *from)
{
	const size_t *row = &g->row[g->first_row[k]], *type = &g->type[g->first_type[k]];
	size_t n = g->first_row[k + 1] - g->first_row[k];
	size_t m = g->first_type[k + 1] - g->first_type[k], i, j;
	double *to = from != NULL ? gv_xcalloc(n, m * sizeof(*to)) : NULL;

	for (i = 0; to != NULL && i < n; i++)
		for (j = 0; j < m; j++)
			to[i * m + j] = from[row[i] * g->m + type[j]];
	return to;
}

void
gv_components_put_cells(
    const struct gv_components *g, size_t k, const double *from, double *to)
{
	const size_t *row = &g->row[g->first_row[k]], *type = &g->type[g->first_type[k]];
	size_t n = g->first_row[k + 1] - g->first_row[k];
	size_t m = g->first_type[k + 1] - g->first_type[k], i, j;

	for (i = 0; i < n; i++)
		for (j = 0; j < m; j++)
			to[row[i] * g->m + type[j]] = from[i * m + j];
}

void
gv_components_put_rows(
    const struct gv_components *g, size_t k, const double *from, double *to)
{
	size_t i;

	for (i = g->first_row[k]; i < g->first_row[k + 1]; i++)
		to[g->row[i]] = from[i - g->first_row[k]];
}

void
gv_components_put_types(
    const struct gv_components *g, size_t k, const double *from, double *to)
{
	size_t j;

	for (j = g->first_type[k]; j < g->first_type[k + 1]; j++)
		to[g->type[j]] = from[j - g->first_type[k]];
}

void
gv_components_problem(struct gv_problem *to, const struct gv_components *g, size_t k,
    const struct gv_problem *p)
{
	size_t number;

	*to = (struct gv_problem){.n = g->first_row[k + 1] - g->first_row[k],
	    .m = g->first_type[k + 1] - g->first_type[k],
	    .rate = gv_components_cells(g, k, p->rate),
	    .scale = gv_components_rows(g, k, p->scale),
	    .weight = gv_components_rows(g, k, p->weight),
	    .count = gv_components_rows(g, k, p->count),
	    .capacity = gv_components_types(g, k, p->capacity),
	    .reference = gv_components_types(g, k, p->reference),
	    .price = gv_components_types(g, k, p->price)};
	for (number = 0; number < GV_N_NUMBERS; number++)
		to->number[number] = gv_components_rows(g, k, p->number[number]);
}
