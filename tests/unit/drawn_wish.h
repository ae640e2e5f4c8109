/* What is asked of gv-tree, drawn.  Behind draws.h. */
#ifndef DRAWN_WISH_H
#define DRAWN_WISH_H

#include "draws.h"
#include "gv-tree/plan/plan.h"

/* Whether the integer programs of orders and trees are small ones: they end soon. */
static inline bool
is_simple(const struct fabric *f)
{
	int64_t most = 0;
	size_t i;

	for (i = 0; i < f->n * f->n; i++)
		most = f->cap[i] > most ? f->cap[i] : most;
	return f->n_gpus <= 3 || (f->n_gpus <= 5 && most <= 8);
}

/* Some of them do not go together. */
static inline void
draw_wish(struct wish *w, const struct fabric *f)
{
	*w = (struct wish){.root = 0};
	w->collective = (enum collective)below(COLLECTIVES);
	w->method = (enum method)below(METHODS);
	if (below(3) == 0)
		w->method = below(2) == 0 ? AUTO : FOREST;
	if ((w->method == COLGEN || w->method == PHASES) && below(4) > 0)
		w->collective = ALL_REDUCE;
	if ((w->method == CHAIN || w->method == BLINK) && w->collective >= ALL_GATHER &&
	    below(4) > 0)
		w->collective = BROADCAST;
	if (!is_simple(f) && w->method >= BLINK && w->method <= CHAIN)
		w->method = ONE_HOP;
	if (w->method <= COLGEN ? below(3) == 0 : below(20) == 0)
		w->trees = 1 + below(3);
	if ((w->collective == BROADCAST || w->collective == REDUCE) && below(2) == 0)
		w->root = below(f->n_gpus);
}

#endif
