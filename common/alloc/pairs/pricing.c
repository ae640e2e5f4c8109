#include "pricing.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"

void
gv_pricing_init(struct gv_pricing *g, const struct gv_problem *p)
{
	size_t kinds = p->together->n_kinds;
	size_t *at;
	size_t i;

	g->p = p;
	g->first = gv_xcalloc(kinds + 1, sizeof(*g->first));
	g->member = gv_xcalloc(p->n, sizeof(*g->member));
	g->side[0] = gv_xcalloc(p->n, sizeof(*g->side[0]));
	g->side[1] = gv_xcalloc(p->n, sizeof(*g->side[1]));
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
gv_pricing_free(struct gv_pricing *g)
{
	free(g->first);
	free(g->member);
	free(g->side[0]);
	free(g->side[1]);
}

/* Two kinds on a type. */
struct kind_pair {
	const struct gv_pricing *g;
	const struct gv_pair_prices *v;
	size_t pair, type;
	size_t a, b; /* kinds, a <= b */
	double rate_a, rate_b;
};

static double
worth(const struct kind_pair *t, size_t row, double rate)
{
	return t->v->worth[row * t->g->p->m + t->type] * rate;
}

/*
 * The reduced cost of the pair of two rows, rounding allowed for, into most of both;
 * candidate: also as their candidate.
 */
static void
price_rows(const struct kind_pair *t, size_t a, size_t b, bool candidate,
    struct gv_candidate *best)
{
	double gain_a = worth(t, a, t->rate_a), gain_b = worth(t, b, t->rate_b);
	double cost =
	    t->v->time[a] + t->v->time[b] + t->g->p->scale[a] * t->v->gpu[t->type];
	double reduced_cost = gain_a + gain_b - cost;

	reduced_cost += (fabs(gain_a) + fabs(gain_b) + fabs(cost)) * (8 * DBL_EPSILON);
	best[a].most = fmax(best[a].most, reduced_cost);
	best[b].most = fmax(best[b].most, reduced_cost);
	if (candidate && reduced_cost > best[a].reduced_cost)
		best[a] = (struct gv_candidate){
		    best[a].most, reduced_cost, a, b, t->pair, t->type};
	if (candidate && reduced_cost > best[b].reduced_cost)
		best[b] = (struct gv_candidate){
		    best[b].most, reduced_cost, a, b, t->pair, t->type};
}

static int
by_value(const void *a, const void *b)
{
	const struct gv_valued *x = a;
	const struct gv_valued *y = b;

	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

/* The rows of a kind by what they gain for themselves, the largest first.  How many. */
static size_t
sort_members(const struct kind_pair *t, size_t kind, double rate, struct gv_valued *side)
{
	const size_t *member = &t->g->member[t->g->first[kind]];
	size_t n = t->g->first[kind + 1] - t->g->first[kind];
	size_t k;

	for (k = 0; k < n; k++)
		side[k] = (struct gv_valued){
		    worth(t, member[k], rate) - t->v->time[member[k]], member[k]};
	qsort(side, n, sizeof(*side), by_value);
	return n;
}

/* Inside a kind the first with the second and so on; two of a row need two jobs. */
static void
price_within_kind(const struct kind_pair *t, struct gv_candidate *best)
{
	const struct gv_problem *p = t->g->p;
	const struct gv_valued *side = t->g->side[0];
	size_t n = sort_members(t, t->a, t->rate_a, t->g->side[0]);
	size_t k;

	for (k = 0; k < n; k++) {
		size_t i = side[k].row;

		if (n > 1)
			price_rows(t, i, side[k == 0].row, false, best);
		if (k + 1 < n)
			price_rows(t, i, side[k + 1].row, k % 2 == 0, best);
		if (p->count[i] >= 2)
			price_rows(t, i, i, true, best);
	}
}

/* The most that a row of a kind gains for itself, rounding of price_rows() allowed for. */
static double
most_of_kind(const struct kind_pair *t, size_t kind, double rate)
{
	static const double up = 1 + 8 * DBL_EPSILON, down = 1 - 8 * DBL_EPSILON;
	const struct gv_pricing *g = t->g;
	double most = -INFINITY;
	size_t k;

	for (k = g->first[kind]; k < g->first[kind + 1]; k++) {
		size_t i = g->member[k];
		double gains = worth(t, i, rate) * up - t->v->time[i] * down;

		most = gains > most ? gains : most;
	}
	return most;
}

/* Whether no two rows of the kinds have a reduced cost above 0. */
static bool
is_priced_out(const struct kind_pair *t)
{
	double scale = t->g->p->scale[t->g->member[t->g->first[t->a]]];

	return most_of_kind(t, t->a, t->rate_a) + most_of_kind(t, t->b, t->rate_b) <=
	       scale * t->v->gpu[t->type] * (1 - 8 * DBL_EPSILON);
}

/* Between kinds, each with who stands as far from the front. */
static void
price_kinds(const struct kind_pair *t, struct gv_candidate *best)
{
	const struct gv_valued *a = t->g->side[0], *b = t->g->side[1];
	size_t n_a, n_b, k;

	if (is_priced_out(t))
		return;
	if (t->a == t->b) {
		price_within_kind(t, best);
		return;
	}
	n_a = sort_members(t, t->a, t->rate_a, t->g->side[0]);
	n_b = sort_members(t, t->b, t->rate_b, t->g->side[1]);
	for (k = 0; k < n_a; k++) {
		price_rows(t, a[k].row, b[0].row, false, best);
		price_rows(t, a[k].row, b[k * n_b / n_a].row, true, best);
	}
	for (k = 0; k < n_b; k++) {
		price_rows(t, a[0].row, b[k].row, false, best);
		price_rows(t, a[k * n_a / n_b].row, b[k].row, true, best);
	}
}

/* Prices the pair of two kinds of one row each, on all types: where all jobs differ, nearly all there is to do. */
static void
price_two_rows(const struct gv_pricing *g, const struct gv_pair_prices *v, size_t pair,
    size_t a, size_t b, struct gv_candidate *best)
{
	size_t m = g->p->m;
	const double *rate = &g->p->together->rate[pair * m * 2];
	const double *worth_a = &v->worth[a * m], *worth_b = &v->worth[b * m];
	double time = v->time[a] + v->time[b], scale = g->p->scale[a];
	double most = -INFINITY;
	size_t j, type = 0;

	for (j = 0; j < m; j++) {
		double gain_a = worth_a[j] * rate[2 * j];
		double gain_b = worth_b[j] * rate[2 * j + 1];
		double cost = time + scale * v->gpu[j];
		double reduced_cost = gain_a + gain_b - cost;

		reduced_cost +=
		    (fabs(gain_a) + fabs(gain_b) + fabs(cost)) * (8 * DBL_EPSILON);
		if (rate[2 * j] > 0 && reduced_cost > most) {
			most = reduced_cost;
			type = j;
		}
	}
	if (most > best[a].reduced_cost)
		best[a] = (struct gv_candidate){most, most, a, b, pair, type};
	if (most > best[b].reduced_cost)
		best[b] = (struct gv_candidate){most, most, a, b, pair, type};
}

void
gv_pricing_pass(
    const struct gv_pricing *g, const struct gv_pair_prices *v, struct gv_candidate *best)
{
	const struct gv_together *with = g->p->together;
	struct kind_pair t = {.g = g, .v = v};
	size_t i;

	for (i = 0; i < g->p->n; i++)
		best[i] =
		    (struct gv_candidate){.most = -INFINITY, .reduced_cost = -INFINITY};
	for (t.a = 0; t.a < with->n_kinds; t.a++) {
		size_t n_a = g->first[t.a + 1] - g->first[t.a];

		if (n_a == 0)
			continue;
		for (t.pair = with->first[t.a]; t.pair < with->first[t.a + 1]; t.pair++) {
			size_t n_b;

			t.b = with->with[t.pair];
			n_b = g->first[t.b + 1] - g->first[t.b];
			if (n_a == 1 && n_b == 1 && t.a != t.b) {
				price_two_rows(g, v, t.pair, g->member[g->first[t.a]],
				    g->member[g->first[t.b]], best);
				continue;
			}
			for (t.type = 0; t.type < with->m && n_b > 0; t.type++) {
				const double *rate =
				    &with->rate[(t.pair * with->m + t.type) * 2];

				if (rate[0] == 0)
					continue;
				t.rate_a = rate[0];
				t.rate_b = rate[1];
				price_kinds(&t, best);
			}
		}
	}
}

void
gv_pricing_all(const struct gv_pricing *g,
    void (*use)(void *ctx, size_t a, size_t b, size_t pair, size_t type), void *ctx)
{
	const struct gv_problem *p = g->p;
	const struct gv_together *with = p->together;
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
