/*
 * The plan within a limit, ties resolved: dynamic programming over words of loads
 * (words.h).  So that a stage's load is known before there is a stage in front of
 * it, the level between the two is a part of the state.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "placed_trial.h"

enum { STATES = 2 * GV_PLAN_LEVELS };

/*
 * The best pipeline from a prefix on so many GPUs, when the level between its first
 * stage and the one in front is l: number 2 l where the first stage and
 * the GPU in front reach over it themselves, so that the stage in front may be within
 * l; 2 l + 1 where that stage itself has to reach over l.
 */
struct state {
	struct word word; /* empty: none */
	uint32_t b;       /* where the rest of it starts */
	uint16_t m;
	uint8_t rest; /* state of the rest */
	bool recompute;
};

struct table {
	const struct placed_trial *x;
	struct state *state; /* [k.size][GPUs + 1][STATES] */
	struct gv_arena arena;
};

static struct state *
state_of(const struct table *t, size_t a, size_t w, size_t number)
{
	return &t->state[(a * (t->x->links.n + 1) + w) * STATES + number];
}

/* Whether a stage whose replicas reach over a level can stand in front of the state. */
static bool
stands(size_t number, size_t level)
{
	return number % 2 == 0 ? level <= number / 2 : level == number / 2;
}

/* Keeps the pipeline of a stage and a rest if its word is the lower. */
static void
keep(struct table *t, struct state *to, double load, const struct word *rest,
    struct state how)
{
	int64_t units = word_units(load, t->x->limit_s);
	static const struct word nothing = {0};
	struct word word;

	if (to->word.n > 0) {
		int64_t first = to->word.load[0];
		struct word others = {to->word.load + 1, to->word.n - 1};

		if (word_compare(units, rest, first, &others) >= 0)
			return;
	}
	word_join(&word, units, rest != NULL ? rest : &nothing, &t->arena);
	*to = how;
	to->word = word;
}

/* The stage on the first m of w GPUs with one state of the rest: all states that it makes. */
static void
add_rest(struct table *t, const struct part *p, const struct part_load *load, size_t w,
    size_t m, size_t rest)
{
	static const struct word nothing = {0};
	const struct placed_trial *x = t->x;
	size_t first = x->links.n - w, level = placed_level(x, first, m), l,
	       flight = part_flight(load->fits, w);
	bool last = p->b + 1 == x->k.size;
	const struct word *word = last ? &nothing : &state_of(t, p->b, w - m, rest)->word;
	struct state how = {.b = (uint32_t)p->b,
	    .m = (uint16_t)m,
	    .rest = (uint8_t)rest,
	    .recompute = flight == 1};
	double own = load->own[flight][level];

	if (!last) {
		if (word->n == 0 || !stands(rest, level) ||
		    !(load->out[rest / 2] <= x->limit_s))
			return;
		own = stage_larger(own, load->out[rest / 2]);
	}
	if (p->a == 0) {
		keep(t, state_of(t, 0, w, 0), own, word, how);
		return;
	}
	if (first == 0)
		return;
	level = placed_level(x, first - 1, m + 1);
	for (l = level; l < load->n_in; l++)
		keep(t, state_of(t, p->a, w, 2 * l + (l > level)),
		    stage_larger(own, load->in[l]), word, how);
}

static void
add_part(struct table *t, const struct part *p, size_t m)
{
	const struct placed_trial *x = t->x;
	size_t n = x->links.n, w = m + x->k.behind[p->b], flight, rest;
	bool last = p->b + 1 == x->k.size;
	struct part_load load;

	part_loads(&load, x, p, m);
	for (; w + x->k.before[p->a] <= n && (!last || w == m); w++) {
		if (x->kinds[p->b * (n + 1) + w - m] == 0 ||
		    x->kinds[p->a * (n + 1) + w] == 0)
			continue;
		flight = part_flight(load.fits, w);
		if (flight > 1 || placed_level(x, n - w, m) >= load.n_own[flight])
			continue;
		for (rest = 0; rest < (last ? 1U : 2 * x->links.n_levels); rest++)
			add_rest(t, p, &load, w, m, rest);
	}
}

static void
fill(struct table *t)
{
	const struct placed_trial *x = t->x;
	const struct ideals *s = x->s;
	size_t a, at, m;

	for (a = x->k.size - 1; a-- > 0;) {
		column_tell(&x->k, x->k.size - a);
		for (at = s->sup_at[x->k.prefix[a]]; at < s->sup_at[x->k.prefix[a] + 1];
		     at++) {
			size_t b = x->k.at[s->sup[at]] - 1;
			struct span span = column_span(&x->k, a, b);
			struct part p;

			if (span.low > span.high)
				continue;
			p = part_of(x, a, b);
			for (m = span.low; m <= span.high; m++)
				add_part(t, &p, m);
		}
	}
}

/* On how many GPUs: those with the lowest word, then the fewest. */
static size_t
gpus_of_plan(const struct table *t)
{
	const struct placed_trial *x = t->x;
	size_t w, best = 0;

	for (w = x->o->use == USE_ALL ? x->links.n : 1; w <= x->links.n; w++) {
		const struct word *word = &state_of(t, 0, w, 0)->word;

		if (word->n > 0 && (best == 0 || word_compare(0, word, 0,
						     &state_of(t, 0, best, 0)->word) < 0))
			best = w;
		if (best > 0 && x->o->use == USE_FEWEST)
			break;
	}
	return best;
}

double
placed_path(const struct placed_trial *x, struct gv_plan *p)
{
	struct table t = {.x = x};
	size_t a = 0, number = 0, w;
	double time;

	t.state = gv_xcalloc(x->k.size * (x->links.n + 1) * STATES, sizeof(*t.state));
	fill(&t);
	w = gpus_of_plan(&t);
	time = (double)state_of(&t, 0, w, 0)->word.load[0] * 0x1p-40 * x->limit_s;
	for (p->n = 0; a + 1 < x->k.size;) {
		const struct state *at = state_of(&t, a, w, number);

		p->stage = gv_xrealloc(p->stage, p->n + 1, sizeof(*p->stage));
		p->stage[p->n++] = (struct gv_stage){.replicas = {at->m},
		    .within = {x->k.prefix[at->b]},
		    .recompute = at->recompute};
		a = at->b;
		w -= at->m;
		number = at->rest;
	}
	gv_arena_free(&t.arena);
	free(t.state);
	return time;
}
