#include "unfinished.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void
gv_unfinished_find(struct gv_unfinished *w, const struct gv_problem *p)
{
	bool *keep = gv_xcalloc(p->n, sizeof(*keep));
	size_t i, n = 0;

	w->of = gv_xcalloc(p->n, sizeof(*w->of));
	for (i = 0; i < p->n; i++) {
		keep[i] = p->number[GV_NUMBER_STEPS][i] > 0;
		if (keep[i])
			w->of[n++] = i;
	}
	w->all = n == p->n;
	if (w->all)
		w->p = *p;
	else
		gv_problem_pick(&w->p, p, keep);
	free(keep);
}

double *
gv_unfinished_take(const struct gv_unfinished *w, const double *all, size_t width)
{
	double *own = gv_xcalloc(w->p.n, width * sizeof(*own));
	size_t i;

	for (i = 0; i < w->p.n; i++)
		memcpy(&own[i * width], &all[w->of[i] * width], width * sizeof(*own));
	return own;
}

void
gv_unfinished_scatter(const struct gv_unfinished *w, const double *x, double *all)
{
	size_t m = w->p.m;
	size_t i;

	for (i = 0; i < w->p.n; i++)
		memcpy(&all[w->of[i] * m], &x[i * m], m * sizeof(*x));
}

void
gv_unfinished_scatter_pairs(
    const struct gv_unfinished *w, struct gv_solution *s, struct gv_solution *all)
{
	size_t i;

	free(all->pair);
	all->pair = s->pair;
	all->n_pairs = s->n_pairs;
	all->n_made = s->n_made;
	s->pair = NULL;
	for (i = 0; i < all->n_pairs; i++) {
		all->pair[i].a = w->of[all->pair[i].a];
		all->pair[i].b = w->of[all->pair[i].b];
	}
}

void
gv_unfinished_free(struct gv_unfinished *w)
{
	if (!w->all)
		gv_problem_free(&w->p);
	free(w->of);
}
