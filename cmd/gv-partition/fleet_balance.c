/* The same stages, cut so that their loads are the lowest. */
#include <stdlib.h>

#include "base/mem.h"
#include "fleet_trial.h"
#include "words.h"

/* The best pipeline of the last stages from a prefix. */
struct state {
	struct word word;
	uint32_t to;
	bool recompute;
};

/* The j-th stage from i, gpus behind it, and the rest that is known. */
static void
cut_best(const struct trial *x, const struct stage *stage, size_t behind, size_t i,
    struct state *to, const struct state *rest, struct gv_arena *arena)
{
	static const struct word nothing = {0};
	const struct ideals *s = x->s;
	const struct word *best = NULL;
	size_t m = stage->replicas[0], up, c, n;
	int64_t best_units = 0;

	for (up = s->sup_at[i]; up < s->sup_at[i + 1]; up++) {
		const struct word *word =
		    rest != NULL ? &rest[s->sup[up]].word : &nothing;
		struct choice choice[2];

		if (rest == NULL ? s->sup[up] + 1 != s->n : word->n == 0)
			continue;
		n = trial_choices(choice, x, i, s->sup[up], stage->type);
		for (c = 0; c < n; c++) {
			double t = trial_load(x, &choice[c], i, m);
			int64_t units = word_units(t, x->limit_s);

			if (t > x->limit_s || (behind + m - 1) / m + 1 > choice[c].most ||
			    (best != NULL &&
				word_compare(units, word, best_units, best) >= 0))
				continue;
			best = word;
			best_units = units;
			to->to = s->sup[up];
			to->recompute = choice[c].recompute;
		}
	}
	if (best != NULL)
		word_join(&to->word, best_units, best, arena);
}

void
fleet_balance(const struct trial *x, struct plan *p)
{
	const struct ideals *s = x->s;
	struct state *state = gv_xcalloc(p->n * s->n, sizeof(*state));
	struct gv_arena arena = {0};
	size_t behind = 0, i, j;

	for (j = p->n; j-- > 0; behind += p->stage[j].replicas[0])
		for (i = j > 0 ? s->n - 1 : 1; i-- > 0;)
			cut_best(x, &p->stage[j], behind, i, &state[j * s->n + i],
			    j + 1 < p->n ? state + (j + 1) * s->n : NULL, &arena);
	for (i = j = 0; j < p->n; j++) {
		const struct state *at = &state[j * s->n + i];

		p->stage[j].recompute = at->recompute;
		p->stage[j].within[0] = i = at->to;
	}
	gv_arena_free(&arena);
	free(state);
}
