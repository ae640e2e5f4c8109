/* The linear program of spanning trees, by column generation. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lp/lp.h"
#include "packing.h"

#define ENOUGH 1e-10 /* a tree whose links cost less than 1 - this would still gain */

#define FINE 1e15 /* parts of the total, where no common denominator is found */

enum { ROUNDS = 20000, LARGEST = 100000 };

struct link {
	size_t u, v;
	int64_t cap;
};

struct program {
	const struct fabric *f;
	struct link *link;
	size_t n_links;
	struct gv_lp lp;
	struct gv_lp_basis basis;
	size_t *tree; /* [columns][n_gpus - 1] links */
	size_t cap_tree;
	double *price; /* [n_links] */
	size_t *by_price, *group;
};

static void
start(struct program *p, const struct fabric *f)
{
	size_t u, v, n = f->n_gpus;

	p->f = f;
	p->link = gv_xcalloc(n * n / 2 + 1, sizeof(*p->link));
	p->lp.maximise = true;
	for (u = 0; u < n; u++)
		for (v = u + 1; v < n; v++) {
			int64_t a = fabric_cap(f, u, v), b = fabric_cap(f, v, u);

			a = a < b ? a : b;
			if (a == 0)
				continue;
			p->link[p->n_links++] = (struct link){u, v, a};
			gv_lp_add_row(&p->lp, -INFINITY, (double)a);
		}
	p->price = gv_xcalloc(p->n_links + 1, sizeof(*p->price));
	p->by_price = gv_xcalloc(p->n_links + 1, sizeof(*p->by_price));
	p->group = gv_xcalloc(n + 1, sizeof(*p->group));
}

static void
end(struct program *p)
{
	free(p->link);
	gv_lp_free(&p->lp);
	gv_lp_basis_free(&p->basis);
	free(p->tree);
	free(p->price);
	free(p->by_price);
	free(p->group);
}

/* ---- the tree of least price (Kruskal) ---- */

static size_t
group_of(const struct program *p, size_t v)
{
	while (p->group[v] != v)
		v = p->group[v] = p->group[p->group[v]];
	return v;
}

/* Links by price; of the same, the one with more room first, then in their order. */
static bool
before(const struct program *p, size_t a, size_t b)
{
	if (p->price[a] != p->price[b])
		return p->price[a] < p->price[b];
	if (p->link[a].cap != p->link[b].cap)
		return p->link[a].cap > p->link[b].cap;
	return a < b;
}

static void
sort_links(const struct program *p, size_t *order, size_t n, size_t *room)
{
	size_t half = n / 2, a = 0, b = half, i = 0;

	if (n < 2)
		return;
	sort_links(p, order, half, room);
	sort_links(p, order + half, n - half, room);
	memcpy(room, order, n * sizeof(*order));
	while (a < half || b < n)
		order[i++] = b == n || (a < half && before(p, room[a], room[b]))
				 ? room[a++]
				 : room[b++];
}

/* Adds it as a column; its price. */
static double
add_tree(struct program *p)
{
	size_t n = p->f->n_gpus, i, k = 0, column = p->lp.n_cols;
	size_t *room = gv_xcalloc(p->n_links + 1, sizeof(*room)), *tree;
	double price = 0;

	for (i = 0; i < n; i++)
		p->group[i] = i;
	for (i = 0; i < p->n_links; i++)
		p->by_price[i] = i;
	sort_links(p, p->by_price, p->n_links, room);
	free(room);
	p->tree =
	    gv_xgrow(p->tree, &p->cap_tree, (column + 1) * (n - 1), sizeof(*p->tree));
	tree = &p->tree[column * (n - 1)];
	for (i = 0; i < p->n_links && k < n - 1; i++) {
		size_t l = p->by_price[i], u = group_of(p, p->link[l].u),
		       v = group_of(p, p->link[l].v);

		if (u == v)
			continue;
		p->group[u] = v;
		tree[k++] = l;
		price += p->price[l];
	}
	gv_lp_add_col(&p->lp, 0, INFINITY, 1);
	for (i = 0; i < k; i++)
		gv_lp_set(&p->lp, tree[i], column, 1);
	return price;
}

/* ---- weights in whole numbers ---- */

/*
 * Weights over the denominator under: exact, when all are near whole numbers there
 * and the loads and their sum are right; false otherwise.
 */
static bool
exact_weights(const struct program *p, const double *x, int64_t under,
    struct ratio strength, int64_t *weight)
{
	int64_t *load = gv_xcalloc(p->n_links + 1, sizeof(*load)), sum = 0;
	size_t n = p->f->n_gpus, i, k;
	bool good = true;

	for (i = 0; i < p->lp.n_cols; i++) {
		double w = x[i] * (double)under;

		weight[i] = llround(w);
		good = good && fabs(w - (double)weight[i]) < 1e-3;
		sum += weight[i];
		for (k = 0; k < n - 1; k++)
			load[p->tree[i * (n - 1) + k]] += weight[i];
	}
	for (i = 0; i < p->n_links; i++)
		good = good && load[i] <= p->link[i].cap * under;
	free(load);
	return good && sum * strength.under == strength.over * under;
}

/* The denominator of the simplest fraction within 10^-9 of x (continued fractions). */
static int64_t
denominator(double x)
{
	int64_t before = 0, under = 1;
	double rest = x - floor(x);

	while (under < LARGEST && fabs(x * (double)under - nearbyint(x * (double)under)) >
				      1e-9 * (double)under) {
		int64_t digit, next;

		rest = 1 / rest;
		digit = (int64_t)floor(rest);
		rest -= floor(rest);
		next = digit > LARGEST ? LARGEST : digit * under + before;
		before = under;
		under = next;
	}
	return under;
}

/* Weights in whole numbers; what one weight is divided by. */
static int64_t
to_whole(const struct program *p, const double *x, struct ratio strength, int64_t *weight)
{
	int64_t under = strength.under, most = (int64_t)LARGEST * LARGEST;
	double fine = floor(FINE * (double)strength.under / (double)strength.over);
	size_t i;

	for (i = 0; i < p->n_links; i++) /* loads are compared as whole numbers */
		if (INT64_MAX / 4 / p->link[i].cap < most)
			most = INT64_MAX / 4 / p->link[i].cap;
	for (i = 0; i < p->lp.n_cols && under < most; i++) {
		int64_t d = denominator(x[i]);

		under *= d / gcd64(under, d);
	}
	if (under < most && exact_weights(p, x, under, strength, weight))
		return under;
	under = fine < 1 ? 1 : (int64_t)fine;
	for (i = 0; i < p->lp.n_cols; i++) {
		/* what the simplex method calls feasible passes a bound by 10^-9 at most */
		double w = floor(x[i] * (double)under * (1 - 1e-9));

		weight[i] = w > 0 ? (int64_t)w : 0;
	}
	return under;
}

static void
take_weights(
    struct forest *t, const struct program *p, const double *x, struct ratio strength)
{
	int64_t *weight = gv_xcalloc(p->lp.n_cols + 1, sizeof(*weight));
	size_t n = p->f->n_gpus, i, k;
	size_t(*pair)[2] = gv_xcalloc(n, sizeof(*pair));

	t->unit = (struct ratio){p->f->unit, to_whole(p, x, strength, weight)};
	for (i = 0; i < p->lp.n_cols; i++) {
		for (k = 0; k < n - 1; k++) {
			pair[k][0] = p->link[p->tree[i * (n - 1) + k]].u;
			pair[k][1] = p->link[p->tree[i * (n - 1) + k]].v;
		}
		if (weight[i] > 0)
			packing_hang(t, n, (const size_t(*)[2])pair, weight[i]);
	}
	free(pair);
	free(weight);
}

int
packing_colgen(struct forest *t, const struct fabric *f, struct gv_error *e)
{
	struct program p = {0};
	struct gv_lp_solution s = {0};
	struct ratio strength = packing_strength(f, NULL);
	size_t i, round;
	int rc = 0;

	if (strength.over == 0)
		return gv_error_set(e, "direct links do not join all GPUs");
	*t = (struct forest){.unit = {f->unit, 1}};
	start(&p, f);
	for (i = 0; i < p.n_links; i++)
		p.price[i] = 1 / (double)p.link[i].cap;
	add_tree(&p);
	for (round = 0; rc == 0; round++) {
		gv_lp_solution_free(&s);
		s = (struct gv_lp_solution){0};
		rc = gv_lp_solve(&p.lp, NULL, &p.basis, &s, e);
		if (rc == 0 && s.status != GV_LP_OPTIMAL)
			rc = gv_error_set(e,
			    "the linear program of trees was not solved: %s",
			    gv_lp_status_name(s.status));
		if (rc != 0)
			break;
		memcpy(p.price, s.row_dual, p.n_links * sizeof(*p.price));
		if (round == ROUNDS || add_tree(&p) >= 1 - ENOUGH)
			break;
	}
	if (rc == 0) {
		p.lp.n_cols = round == ROUNDS ? p.lp.n_cols : p.lp.n_cols - 1;
		take_weights(t, &p, s.x, strength);
	}
	gv_lp_solution_free(&s);
	end(&p);
	return rc;
}
