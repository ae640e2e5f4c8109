#include "pricing.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"

void
pricing_init(struct pricing *g, const struct problem *p)
{
	size_t kinds = p->together->n_kinds;
	size_t *at;
	size_t i;

	g->p = p;
	g->first = gv_xcalloc(kinds + 1, sizeof(*g->first));
	g->member = gv_xcalloc(p->n, sizeof(*g->member));
	for (i = 0; i < p->n; i++)
		g->first[p->kind[i] + 1]++;
	for (i = 0; i < kinds; i++)
		g->first[i + 1] += g->first[i];
	at = gv_xcalloc(kinds, sizeof(*at));
	for (i = 0; i < p->n; i++)
		g->member[g->first[p->kind[i]] + at[p->kind[i]]++] = i;
	free(at);
}

void
pricing_free(struct pricing *g)
{
	free(g->first);
	free(g->member);
}

/* Two kinds on a type. */
struct meeting {
	const struct pricing *g;
	const struct pair_prices *v;
	size_t pair, type;
	size_t a, b; /* kinds, a <= b */
	double rate_a, rate_b;
};

static double
worth(const struct meeting *t, size_t row, double rate)
{
	return t->v->worth[row * t->g->p->m + t->type] * rate;
}

/* What the pair of two rows exceeds its cost by, rounding allowed for, for each of the two. */
static void
consider(const struct meeting *t, size_t a, size_t b, struct candidate *best)
{
	double gain_a = worth(t, a, t->rate_a), gain_b = worth(t, b, t->rate_b);
	double cost =
	    t->v->time[a] + t->v->time[b] + t->g->p->scale[a] * t->v->gpu[t->type];
	double excess = gain_a + gain_b - cost;

	excess += (fabs(gain_a) + fabs(gain_b) + fabs(cost)) * (8 * DBL_EPSILON);
	if (excess > best[a].excess)
		best[a] = (struct candidate){excess, a, b, t->pair, t->type};
	if (excess > best[b].excess)
		best[b] = (struct candidate){excess, a, b, t->pair, t->type};
}

/* The row of a kind that gains most by itself, but not row except. */
static size_t
best_member(const struct meeting *t, size_t kind, double rate, size_t except)
{
	const size_t *member = t->g->member;
	size_t best = SIZE_MAX;
	double most = -INFINITY;
	size_t k;

	for (k = t->g->first[kind]; k < t->g->first[kind + 1]; k++) {
		double gain = worth(t, member[k], rate) - t->v->time[member[k]];

		if (member[k] != except && gain > most) {
			most = gain;
			best = member[k];
		}
	}
	return best;
}

/* Every row of a kind with the best of its own kind; two of a row need two jobs. */
static void
meet_own(const struct meeting *t, struct candidate *best)
{
	const struct problem *p = t->g->p;
	size_t one = best_member(t, t->a, t->rate_a, SIZE_MAX);
	size_t two = best_member(t, t->a, t->rate_a, one);
	size_t k;

	for (k = t->g->first[t->a]; k < t->g->first[t->a + 1]; k++) {
		size_t i = t->g->member[k];

		if (i != one)
			consider(t, i, one, best);
		else if (two != SIZE_MAX)
			consider(t, i, two, best);
		if (p->count[i] >= 2)
			consider(t, i, i, best);
	}
}

static void
meet(const struct meeting *t, struct candidate *best)
{
	const struct pricing *g = t->g;
	size_t a, b, k;

	if (t->a == t->b) {
		meet_own(t, best);
		return;
	}
	a = best_member(t, t->a, t->rate_a, SIZE_MAX);
	b = best_member(t, t->b, t->rate_b, SIZE_MAX);
	for (k = g->first[t->a]; k < g->first[t->a + 1]; k++)
		consider(t, g->member[k], b, best);
	for (k = g->first[t->b]; k < g->first[t->b + 1]; k++)
		consider(t, a, g->member[k], best);
}

void
pricing_pass(const struct pricing *g, const struct pair_prices *v, struct candidate *best)
{
	const struct together *with = g->p->together;
	struct meeting t = {.g = g, .v = v};
	size_t i;

	for (i = 0; i < g->p->n; i++)
		best[i] = (struct candidate){.excess = -INFINITY};
	for (t.a = 0; t.a < with->n_kinds; t.a++) {
		size_t n_a = g->first[t.a + 1] - g->first[t.a];

		if (n_a == 0)
			continue;
		for (t.pair = with->first[t.a]; t.pair < with->first[t.a + 1]; t.pair++) {
			size_t n_b;

			t.b = with->with[t.pair];
			n_b = g->first[t.b + 1] - g->first[t.b];
			for (t.type = 0; t.type < with->m && n_b > 0; t.type++) {
				const double *rate =
				    &with->rate[(t.pair * with->m + t.type) * 2];

				if (rate[0] == 0)
					continue;
				t.rate_a = rate[0];
				t.rate_b = rate[1];
				if (n_a == 1 && n_b == 1 && t.a != t.b)
					consider(&t, g->member[g->first[t.a]],
					    g->member[g->first[t.b]], best);
				else
					meet(&t, best);
			}
		}
	}
}

void
pricing_all(const struct pricing *g,
    void (*use)(void *ctx, size_t a, size_t b, size_t pair, size_t type), void *ctx)
{
	const struct problem *p = g->p;
	const struct together *with = p->together;
	size_t kind, pair, type, i, k;

	for (kind = 0; kind < with->n_kinds; kind++)
		for (pair = with->first[kind]; pair < with->first[kind + 1]; pair++) {
			size_t other = with->with[pair];

			for (i = g->first[kind]; i < g->first[kind + 1]; i++) {
				size_t a = g->member[i];

				k = other == kind ? i : g->first[other];
				for (; k < g->first[other + 1]; k++)
					for (type = 0; type < p->m; type++)
						if (with->rate[(pair * p->m + type) * 2] >
							0 &&
						    (a != g->member[k] ||
							p->count[a] >= 2))
							use(ctx, a, g->member[k], pair,
							    type);
			}
		}
}
