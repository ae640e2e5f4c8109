/* Dynamic programming over stages and prefixes. */
#include "balance.h"

#include <stdlib.h>

#include "base/mem.h"
#include "gv-partition/search/words.h"

/* The best pipeline of the last stages from a prefix. */
struct state {
	struct word word; /* empty: none */
	uint32_t to;
	bool recompute;
};

struct table {
	const struct ideals *s;
	const struct gv_plan *p;
	double slowest_s;
	balance_load *load;
	const void *ctx;
	struct state *state; /* [stages][prefixes] */
	struct gv_arena arena;
};

static void
cut_best(struct table *t, size_t j, size_t i)
{
	static const struct word nothing = {0};
	const struct ideals *s = t->s;
	struct state *to = &t->state[j * s->n + i];
	const struct word *best = NULL;
	int64_t best_units = 0;
	size_t up;

	for (up = s->sup_at[i]; up < s->sup_at[i + 1]; up++) {
		size_t k = s->sup[up];
		bool last = j + 1 == t->p->n, recompute = false;
		const struct word *rest =
		    last ? &nothing : &t->state[(j + 1) * s->n + k].word;
		double load;
		int64_t units;

		if (last ? k + 1 != s->n : rest->n == 0)
			continue;
		load = t->load(t->ctx, t->p, j, i, k, &recompute);
		if (!(load <= t->slowest_s))
			continue;
		units = word_units(load, t->slowest_s);
		if (best != NULL && word_compare(units, rest, best_units, best) >= 0)
			continue;
		best = rest;
		best_units = units;
		to->to = (uint32_t)k;
		to->recompute = recompute;
	}
	if (best != NULL)
		word_join(&to->word, best_units, best, &t->arena);
}

void
balance(const struct ideals *s, struct gv_plan *p, double slowest_s, balance_load *load,
    const void *ctx)
{
	struct table t = {
	    .s = s, .p = p, .slowest_s = slowest_s, .load = load, .ctx = ctx};
	size_t i, j;

	t.state = gv_xcalloc(p->n * s->n, sizeof(*t.state));
	for (j = p->n; j-- > 0;)
		for (i = j > 0 ? s->n - 1 : 1; i-- > 0;)
			cut_best(&t, j, i);
	for (i = j = 0; j < p->n; j++) {
		const struct state *at = &t.state[j * s->n + i];

		p->stage[j].recompute = at->recompute;
		p->stage[j].within[0] = i = at->to;
	}
	gv_arena_free(&t.arena);
	free(t.state);
}
