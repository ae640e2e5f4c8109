/* The linear program of spanning trees, by column generation. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lp/lp.h"
#include "packing.h"

#define ENOUGH 1e-10 /* a tree whose links cost less than 1 - this would still gain */

#define GOOD 1e-9 /* a part of the total that whole numbers may lose */

#define FINE 1e15 /* parts of the total, where no common denominator is found */

enum { ROUNDS = 20000, LARGEST = 100000 };

struct link {
	size_t u, v;
	int64_t cap;
};

/* From one GPU to another: a link, or several about switches. */
struct way {
	size_t u, v;  /* GPUs, u < v */
	size_t *node; /* [n] u and v included; NULL = the link of u and v */
	size_t n;
	double price;
	int64_t room; /* the least of its links */
};

struct program {
	const struct fabric *f;
	struct link *link;
	size_t *link_of; /* [f->n][f->n] number + 1, 0 = none */
	size_t n_links;
	struct gv_lp lp;
	struct gv_lp_basis basis;
	struct way *tree; /* [columns][n_gpus - 1] */
	size_t cap_tree;
	double *price; /* [n_links] */
	struct way *way;
	size_t n_ways, *by_price, *group;
	struct gv_arena arena; /* nodes of ways that trees took */
};

static void
start(struct program *p, const struct fabric *f)
{
	size_t u, v, n = f->n, gpus = f->n_gpus;

	p->f = f;
	p->link = gv_xcalloc(n * n / 2 + 1, sizeof(*p->link));
	p->link_of = gv_xcalloc(n * n + 1, sizeof(*p->link_of));
	p->lp.maximise = true;
	for (u = 0; u < n; u++)
		for (v = u + 1; v < n; v++) {
			int64_t a = fabric_cap(f, u, v), b = fabric_cap(f, v, u);

			a = a < b ? a : b;
			if (a == 0)
				continue;
			p->link[p->n_links++] = (struct link){u, v, a};
			p->link_of[u * n + v] = p->link_of[v * n + u] = p->n_links;
			gv_lp_add_row(&p->lp, -INFINITY, (double)a);
		}
	p->price = gv_xcalloc(p->n_links + 1, sizeof(*p->price));
	p->way = gv_xcalloc(gpus * gpus / 2 + 1, sizeof(*p->way));
	p->by_price = gv_xcalloc(gpus * gpus / 2 + 1, sizeof(*p->by_price));
	p->group = gv_xcalloc(gpus + 1, sizeof(*p->group));
}

static void
end(struct program *p)
{
	free(p->link);
	free(p->link_of);
	gv_lp_free(&p->lp);
	gv_lp_basis_free(&p->basis);
	free(p->tree);
	free(p->price);
	free(p->way);
	free(p->by_price);
	free(p->group);
	gv_arena_free(&p->arena);
}

/* The number of the link between the i-th node of a way and the next. */
static size_t
link_on(const struct program *p, const struct way *w, size_t i)
{
	size_t u = w->node != NULL ? w->node[i] : w->u,
	       v = w->node != NULL ? w->node[i + 1] : w->v;

	return p->link_of[u * p->f->n + v] - 1;
}

/* ---- the ways of least price ---- */

struct distances {
	double *price;
	size_t *hops, *from;
	bool *done;
};

static bool
is_nearer(double price, size_t hops, double than, size_t than_hops)
{
	return price != than ? price < than : hops < than_hops;
}

/* From one GPU over switches to all (Dijkstra); GPUs do not relay. */
static void
measure(const struct program *p, size_t from, struct distances *d)
{
	const struct fabric *f = p->f;
	size_t round, v;

	for (v = 0; v < f->n; v++) {
		d->price[v] = v == from ? 0 : INFINITY;
		d->hops[v] = 0;
		d->from[v] = from;
		d->done[v] = false;
	}
	for (round = 0; round < f->n; round++) {
		size_t u = SIZE_MAX;

		for (v = 0; v < f->n; v++)
			if (!d->done[v] && isfinite(d->price[v]) &&
			    (u == SIZE_MAX || is_nearer(d->price[v], d->hops[v],
						  d->price[u], d->hops[u])))
				u = v;
		if (u == SIZE_MAX)
			return;
		d->done[u] = true;
		if (u != from && u < f->n_gpus)
			continue;
		for (v = 0; v < f->n; v++) {
			size_t l = p->link_of[u * f->n + v];
			double price = l > 0 ? d->price[u] + p->price[l - 1] : INFINITY;

			if (l > 0 && !d->done[v] &&
			    is_nearer(price, d->hops[u] + 1, d->price[v], d->hops[v])) {
				d->price[v] = price;
				d->hops[v] = d->hops[u] + 1;
				d->from[v] = u;
			}
		}
	}
}

/* The way that was found to v; its nodes from the arena. */
static void
trace(struct program *p, const struct distances *d, size_t u, size_t v)
{
	struct way *w = &p->way[p->n_ways++];
	size_t at, i;

	*w = (struct way){
	    .u = u, .v = v, .price = d->price[v], .room = INT64_MAX, .n = d->hops[v] + 1};
	w->node = gv_arena_alloc(&p->arena, w->n, sizeof(*w->node));
	for (at = v, i = w->n; i-- > 0; at = d->from[at])
		w->node[i] = at;
	for (i = 0; i + 1 < w->n; i++) {
		int64_t cap = p->link[link_on(p, w, i)].cap;

		w->room = cap < w->room ? cap : w->room;
	}
}

static void
find_ways(struct program *p)
{
	size_t n = p->f->n, u, v, i;
	struct distances d;

	p->n_ways = 0;
	if (!fabric_has_switches(p->f)) {
		for (i = 0; i < p->n_links; i++)
			p->way[p->n_ways++] = (struct way){.u = p->link[i].u,
			    .v = p->link[i].v,
			    .n = 2,
			    .price = p->price[i],
			    .room = p->link[i].cap};
		return;
	}
	d = (struct distances){gv_xcalloc(n, sizeof(double)),
	    gv_xcalloc(n, sizeof(size_t)), gv_xcalloc(n, sizeof(size_t)),
	    gv_xcalloc(n, sizeof(bool))};
	for (u = 0; u < p->f->n_gpus; u++) {
		measure(p, u, &d);
		for (v = u + 1; v < p->f->n_gpus; v++)
			if (isfinite(d.price[v]))
				trace(p, &d, u, v);
	}
	free(d.price);
	free(d.hops);
	free(d.from);
	free(d.done);
}

/* ---- the tree of least price (Kruskal) ---- */

static size_t
group_of(const struct program *p, size_t v)
{
	while (p->group[v] != v)
		v = p->group[v] = p->group[p->group[v]];
	return v;
}

/* Ways by price; of the same, the one with more room first, then in their order. */
static bool
before(const struct program *p, size_t a, size_t b)
{
	if (p->way[a].price != p->way[b].price)
		return p->way[a].price < p->way[b].price;
	if (p->way[a].room != p->way[b].room)
		return p->way[a].room > p->way[b].room;
	return a < b;
}

static void
sort_ways(const struct program *p, size_t *order, size_t n, size_t *room)
{
	size_t half = n / 2, a = 0, b = half, i = 0;

	if (n < 2)
		return;
	sort_ways(p, order, half, room);
	sort_ways(p, order + half, n - half, room);
	memcpy(room, order, n * sizeof(*order));
	while (a < half || b < n)
		order[i++] = b == n || (a < half && before(p, room[a], room[b]))
				 ? room[a++]
				 : room[b++];
}

/* Adds a column: once for each time that the tree passes a link. */
static void
add_column(struct program *p, const struct way *tree)
{
	size_t column = p->lp.n_cols, i, k;
	double *times = gv_xcalloc(p->n_links + 1, sizeof(*times));

	gv_lp_add_col(&p->lp, 0, INFINITY, 1);
	for (i = 0; i + 1 < p->f->n_gpus; i++)
		for (k = 0; k + 1 < tree[i].n; k++)
			times[link_on(p, &tree[i], k)]++;
	for (i = 0; i + 1 < p->f->n_gpus; i++)
		for (k = 0; k + 1 < tree[i].n; k++) {
			size_t l = link_on(p, &tree[i], k);

			if (times[l] > 0)
				gv_lp_set(&p->lp, l, column, times[l]);
			times[l] = 0;
		}
	free(times);
}

/* Adds it; its price, infinite where ways do not join all GPUs. */
static double
add_tree(struct program *p)
{
	size_t n = p->f->n_gpus, i, k = 0, column = p->lp.n_cols;
	size_t *room;
	struct way *tree;
	double price = 0;

	find_ways(p);
	room = gv_xcalloc(p->n_ways + 1, sizeof(*room));
	for (i = 0; i < n; i++)
		p->group[i] = i;
	for (i = 0; i < p->n_ways; i++)
		p->by_price[i] = i;
	sort_ways(p, p->by_price, p->n_ways, room);
	free(room);
	p->tree =
	    gv_xgrow(p->tree, &p->cap_tree, (column + 1) * (n - 1), sizeof(*p->tree));
	tree = &p->tree[column * (n - 1)];
	for (i = 0; i < p->n_ways && k < n - 1; i++) {
		const struct way *w = &p->way[p->by_price[i]];
		size_t u = group_of(p, w->u), v = group_of(p, w->v);

		if (u == v)
			continue;
		p->group[u] = v;
		tree[k++] = *w;
		price += w->price;
	}
	if (k < n - 1)
		return INFINITY;
	add_column(p, tree);
	return price;
}

/* ---- weights in whole numbers ---- */

/*
 * The weights nearest to x over the denominator under; false where they are not what was
 * asked for: links carry too much, or the sum is not the strength, or, where that is not
 * known, is less than the total by more than GOOD.
 */
static bool
exact_weights(const struct program *p, const double *x, int64_t under,
    struct ratio strength, double total, int64_t *weight)
{
	int64_t *load = gv_xcalloc(p->n_links + 1, sizeof(*load)), sum = 0;
	size_t n = p->f->n_gpus, i, k, h;
	bool good = true;

	for (i = 0; i < p->lp.n_cols; i++) {
		weight[i] = llround(x[i] * (double)under);
		sum += weight[i];
		for (k = 0; k < n - 1; k++) {
			const struct way *way = &p->tree[i * (n - 1) + k];

			for (h = 0; h + 1 < way->n; h++)
				load[link_on(p, way, h)] += weight[i];
		}
	}
	for (i = 0; i < p->n_links; i++)
		good = good && load[i] <= p->link[i].cap * under;
	free(load);
	if (strength.over == 0)
		return good && (double)sum >= total * (double)under * (1 - GOOD);
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
	int64_t under = strength.under, most = (int64_t)LARGEST * LARGEST, caps = 1;
	double sum = 0, fine;
	size_t i;

	for (i = 0; i < p->lp.n_cols; i++)
		sum += x[i];
	fine = floor(FINE / sum);
	/* loads and sums are compared as whole numbers */
	for (i = 0; i < p->n_links; i++)
		caps +=
		    p->link[i].cap < INT64_MAX - caps ? p->link[i].cap : INT64_MAX - caps;
	if (INT64_MAX / 4 / caps < most)
		most = INT64_MAX / 4 / caps;
	for (i = 0; i < p->lp.n_cols && under < most; i++) {
		int64_t d = denominator(x[i]);

		under *= d / gcd64(under, d);
	}
	if (under < most && exact_weights(p, x, under, strength, sum, weight))
		return under;
	under = fine < 1 ? 1 : (int64_t)fine;
	for (i = 0; i < p->lp.n_cols; i++) {
		/* what the simplex method calls feasible passes a bound by 10^-9 at most */
		double w = floor(x[i] * (double)under * (1 - 1e-9));

		weight[i] = w > 0 ? (int64_t)w : 0;
	}
	return under;
}

/* The switches that the edges of a tree pass. */
static void
take_ways(struct tree *t, const struct way *way, size_t n)
{
	size_t i, k, h;

	for (i = 0; i < t->n_edges; i++) {
		struct tree_edge *x = &t->edge[i];
		size_t *turned;

		for (k = 0; k < n; k++)
			if ((way[k].u == x->from && way[k].v == x->to) ||
			    (way[k].u == x->to && way[k].v == x->from))
				break;
		GV_HOLDS(k < n);
		turned = gv_xcalloc(way[k].n, sizeof(*turned));
		for (h = 0; h < way[k].n; h++)
			turned[h] =
			    way[k].node[way[k].u == x->from ? h : way[k].n - 1 - h];
		free(x->path);
		tree_edge_set(x, turned, way[k].n);
		free(turned);
	}
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
		const struct way *tree = &p->tree[i * (n - 1)];

		for (k = 0; k < n - 1; k++) {
			pair[k][0] = tree[k].u;
			pair[k][1] = tree[k].v;
		}
		if (weight[i] == 0)
			continue;
		packing_hang(t, n, (const size_t(*)[2])pair, weight[i]);
		if (fabric_has_switches(p->f))
			take_ways(&t->tree[t->n - 1], tree, n - 1);
	}
	free(pair);
	free(weight);
}

/* Trees that gain, until there is none; the shares of them in *s, the last one has none. */
static int
generate(struct program *p, struct gv_lp_solution *s, struct gv_error *e)
{
	size_t i, round;
	int rc = 0;

	for (i = 0; i < p->n_links; i++)
		p->price[i] = 1 / (double)p->link[i].cap;
	if (!isfinite(add_tree(p)))
		return gv_error_set(e, "links do not join all GPUs");
	for (round = 0;; round++) {
		gv_lp_solution_free(s);
		*s = (struct gv_lp_solution){0};
		rc = gv_lp_solve(&p->lp, NULL, &p->basis, s, e);
		if (rc == 0 && s->status != GV_LP_OPTIMAL)
			rc = gv_error_set(e,
			    "the linear program of trees was not solved: %s",
			    gv_lp_status_name(s->status));
		if (rc != 0 || round == ROUNDS)
			return rc;
		memcpy(p->price, s->row_dual, p->n_links * sizeof(*p->price));
		for (i = 0; i < p->n_links; i++)
			p->price[i] = p->price[i] > 0 ? p->price[i] : 0;
		if (add_tree(p) >= 1 - ENOUGH)
			break;
	}
	p->lp.n_cols--;
	return 0;
}

/* The program over f's links; strength 0/1: not known. */
static int
pack(struct forest *t, const struct fabric *f, struct ratio strength, struct gv_error *e)
{
	struct program p = {0};
	struct gv_lp_solution s = {0};
	int rc;

	*t = (struct forest){.unit = {f->unit, 1}};
	start(&p, f);
	rc = generate(&p, &s, e);
	if (rc == 0)
		take_weights(t, &p, s.x, strength);
	gv_lp_solution_free(&s);
	end(&p);
	return rc;
}

int
packing_colgen(struct forest *t, const struct fabric *f, struct gv_error *e)
{
	struct ratio strength = packing_strength(f, NULL);

	if (strength.over == 0)
		return gv_error_set(e, "direct links do not join all GPUs");
	return pack(t, f, strength, e);
}

int
packing_relayed(struct forest *t, const struct fabric *f, struct gv_error *e)
{
	return pack(t, f, (struct ratio){0, 1}, e);
}
