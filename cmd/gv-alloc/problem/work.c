#include "work.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void
work_find(struct work *w, const struct problem *p)
{
	bool *keep = gv_xcalloc(p->n, sizeof(*keep));
	size_t i, n = 0;

	w->of = gv_xcalloc(p->n, sizeof(*w->of));
	for (i = 0; i < p->n; i++) {
		keep[i] = p->number[NUMBER_STEPS][i] > 0;
		if (keep[i])
			w->of[n++] = i;
	}
	w->all = n == p->n;
	if (w->all)
		w->p = *p;
	else
		problem_pick(&w->p, p, keep);
	free(keep);
}

void
work_deal(const struct work *w, const double *x, double *all)
{
	size_t m = w->p.m;
	size_t i;

	for (i = 0; i < w->p.n; i++)
		memcpy(&all[w->of[i] * m], &x[i * m], m * sizeof(*x));
}

void
work_deal_pairs(const struct work *w, struct solution *s, struct solution *all)
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
work_free(struct work *w)
{
	if (!w->all)
		problem_free(&w->p);
	free(w->of);
}
