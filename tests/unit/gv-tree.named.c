/* Ways, rings and chains among few GPUs against all that there are. */
#include "tap.h"

#include "base/mem.h"
#include "draws.h"
#include "gv-tree/named/hamilton.h"
#include "gv-tree/named/named.h"
#include "gv-tree/named/ways.h"

enum { MOST = 8, ORDERS = 120 };

static void
draw_fabric(struct fabric *f, size_t gpus, size_t switches, size_t density, size_t most)
{
	size_t u, v;

	*f = (struct fabric){
	    .n = gpus + switches, .n_gpus = gpus, .unit = 1 + (int64_t)below(3)};
	f->name = gv_xcalloc(f->n, sizeof(*f->name));
	f->cap = gv_xcalloc(f->n * f->n, sizeof(*f->cap));
	for (u = 0; u < f->n; u++) {
		f->name[u] = gv_xstrdup("x");
		for (v = 0; v < f->n; v++)
			if (u != v && below(10) < density)
				fabric_cap(f, u, v) = 1 + (int64_t)below(most);
	}
}

/* ---- ways ---- */

/* Hops of the nearest way, by looking at all links again and again; SIZE_MAX: none. */
static size_t
hops_to(const struct fabric *f, size_t from, size_t to, bool direct)
{
	size_t away[MOST], turn, u, v;

	for (v = 0; v < f->n; v++)
		away[v] = v == from ? 0 : SIZE_MAX;
	for (turn = 0; turn < f->n; turn++)
		for (u = 0; u < f->n; u++)
			for (v = 0; v < f->n; v++)
				if (away[u] != SIZE_MAX && away[u] + 1 < away[v] &&
				    fabric_cap(f, u, v) > 0 &&
				    (u >= f->n_gpus ||
					(u == from && (direct || v >= f->n_gpus))))
					away[v] = away[u] + 1;
	return away[to];
}

static void
shortest(void)
{
	size_t trial, wrong = 0, broken = 0, none = 0, u, v, k, far = 0;

	for (trial = 0; trial < 1000; trial++) {
		struct fabric f;
		size_t path[MOST], n, hops;
		bool direct = trial % 2 == 0;

		draws_begin(1, (uint32_t)trial, 0);
		draw_fabric(&f, 2 + below(3), below(5), 1 + below(6), 3);
		for (u = 0; u < f.n_gpus; u++)
			for (v = 0; v < f.n_gpus; v++) {
				if (u == v)
					continue;
				n = ways_shortest(&f, u, v, direct, path);
				hops = hops_to(&f, u, v, direct);
				none += n == 0;
				far += n > 3;
				wrong += n != (hops == SIZE_MAX ? 0 : hops + 1);
				broken += n > 0 && (path[0] != u || path[n - 1] != v);
				for (k = 0; k + 1 < n; k++)
					broken +=
					    fabric_cap(&f, path[k], path[k + 1]) <= 0 ||
					    (k > 0 && path[k] < f.n_gpus);
				broken += n == 2 && !direct;
			}
		fabric_free(&f);
	}
	is_int(wrong, 0, "ways are as short as can be");
	is_int(broken, 0, "along links, over switches alone");
	ok(none > 500 && far > 100, "%zu without one, %zu over several switches", none,
	    far);
}

/* a / b against c / d by long division in base 2, digit by digit. */
static int
compare_ratios(int64_t a, int64_t b, int64_t c, int64_t d)
{
	int digit;

	for (digit = 0; digit < 200; digit++) {
		if (a / b != c / d)
			return a / b < c / d ? -1 : 1;
		a = a % b * 2;
		c = c % d * 2;
	}
	return 0;
}

/* Trees of given weights on their links: some link is full, and none fuller. */
static void
filled(void)
{
	static const int64_t weights[] = {1, 5, 1000000007, (int64_t)1 << 40};
	size_t trial, over = 0, slack = 0, u, v, i, k;

	for (trial = 0; trial < 1500; trial++) {
		bool both_ways = trial % 2 == 0, full = false;
		int64_t load[MOST * MOST] = {0};
		int64_t scale = (int64_t)1 << (trial % 3 * 20);
		struct fabric f;
		struct forest t = {0};

		draws_begin(2, (uint32_t)trial, 0);
		draw_fabric(&f, 2 + below(4), below(3), 10, 9);
		for (i = 0; i < f.n * f.n; i++)
			f.cap[i] =
			    f.cap[i] * scale + (f.cap[i] > 0 ? (int64_t)below(2) : 0);
		for (i = 0; i < 1 + trial % 3; i++) {
			int64_t w = weights[below(4)] + (int64_t)below(2);
			struct tree *x = forest_add(&t, 0, w, 2);

			for (k = 0; k < 2; k++) {
				size_t path[3], n = 2 + below(2);

				path[0] = below(f.n);
				path[1] = (path[0] + 1 + below(f.n - 1)) % f.n;
				path[2] = (path[1] + 1 + below(f.n - 1)) % f.n;
				tree_edge_set(&x->edge[k], path, n);
				for (u = 0; u + 1 < n; u++) {
					load[path[u] * f.n + path[u + 1]] += w;
					load[path[u + 1] * f.n + path[u]] +=
					    both_ways ? w : 0;
				}
			}
		}
		ways_fill(&t, &f, both_ways);
		for (v = 0; v < f.n * f.n; v++) {
			int c = load[v] == 0 ? 1
					     : compare_ratios(f.cap[v], load[v],
						   t.unit.over / f.unit, t.unit.under);

			over += c < 0;
			full = full || c == 0;
		}
		slack += !full || t.unit.over % f.unit != 0;
		forest_free(&t);
		fabric_free(&f);
	}
	is_int(over, 0, "no link carries more than it can");
	is_int(slack, 0, "and one is full");
}

/* ---- rings and chains ---- */

struct all {
	const struct fabric *f;
	enum hamilton_kind kind;
	size_t root, n;
	size_t order[ORDERS][MOST];
	int64_t left[MOST * MOST];
	int64_t most;
};

/* The GPU between two without a link, + 1; 0 = none. */
static size_t
between(const struct all *a, size_t u, size_t v)
{
	const struct fabric *f = a->f;
	int64_t widest = 0;
	size_t w, found = 0;

	if (a->kind != HAMILTON_RELAYED || fabric_cap(f, u, v) > 0)
		return 0;
	for (w = f->n_gpus; w-- > 0;) {
		int64_t one = fabric_cap(f, u, w), two = fabric_cap(f, w, v);
		int64_t least = one < two ? one : two;

		if (least > 0 && least >= widest) {
			widest = least;
			found = w + 1;
		}
	}
	return found;
}

static bool
meets(const struct all *a, size_t u, size_t v)
{
	if (a->kind == HAMILTON_CHAIN && fabric_cap(a->f, v, u) == 0)
		return false;
	return fabric_cap(a->f, u, v) > 0 || between(a, u, v) > 0;
}

static size_t
hops_of(const struct all *a)
{
	bool ring = a->kind == HAMILTON_RING || a->kind == HAMILTON_RELAYED;

	return a->f->n_gpus - (ring ? 0 : 1);
}

/* All orders: those of all numbers of which the hops are there. */
static void
all_orders(struct all *a)
{
	size_t n = a->f->n_gpus, numbers = 1, number, k;

	for (k = 0; k < n; k++)
		numbers *= n;
	for (number = 0; number < numbers; number++) {
		size_t at[MOST], rest = number, seen = 0;
		bool good = true;

		for (k = n; k-- > 0; rest /= n) {
			at[k] = rest % n;
			seen |= (size_t)1 << at[k];
		}
		if (seen + 1 != (size_t)1 << n)
			continue;
		good = a->kind == HAMILTON_CHAIN  ? at[0] <= at[n - 1]
		       : a->kind == HAMILTON_ROOT ? at[0] == a->root
						  : at[0] == 0;
		for (k = 0; k < hops_of(a) && good; k++)
			good = meets(a, at[k], at[(k + 1) % n]);
		if (good)
			memcpy(a->order[a->n++], at, sizeof(at));
	}
}

/* Takes an order off what is left, or gives it back; whether it fits. */
static bool
take(struct all *a, const size_t *order, int64_t times)
{
	size_t n = a->f->n_gpus, k;
	bool fits = true;

	for (k = 0; k < hops_of(a); k++) {
		size_t u = order[k], v = order[(k + 1) % n], w = between(a, u, v);
		int64_t *one = &a->left[u * n + (w > 0 ? w - 1 : v)];

		*one -= times;
		fits = fits && *one >= 0;
		one = w > 0 ? &a->left[(w - 1) * n + v] : &a->left[v * n + u];
		if (w > 0 || a->kind == HAMILTON_CHAIN) {
			*one -= times;
			fits = fits && *one >= 0;
		}
	}
	return fits;
}

static void
fit_all(struct all *a, size_t i, int64_t so_far)
{
	if (so_far > a->most)
		a->most = so_far;
	if (i == a->n)
		return;
	if (take(a, a->order[i], 1))
		fit_all(a, i, so_far + 1);
	take(a, a->order[i], -1);
	fit_all(a, i + 1, so_far);
}

/* Whether the hop's nodes are these two, with the GPU between them. */
static bool
hops_right(const struct all *a, const struct hamilton *h)
{
	size_t n = a->f->n_gpus, u, v, path[3], w;

	for (u = 0; u < n; u++)
		for (v = 0; v < n; v++) {
			if (u == v)
				continue;
			w = between(a, u, v);
			if (hamilton_hop(h, u, v, path) != (w > 0 ? 3u : 2u) ||
			    path[0] != u || path[w > 0 ? 2 : 1] != v ||
			    (w > 0 && path[1] != w - 1))
				return false;
		}
	return true;
}

static void
orders(void)
{
	static struct all a;
	size_t trial, count = 0, other = 0, few = 0, over = 0, hops = 0, packed = 0, i,
		      left = 0;
	struct gv_error e = {0};

	for (trial = 0; trial < 400; trial++) {
		struct fabric f;
		struct hamilton h;
		int64_t sum = 0;
		size_t n;

		draws_begin(3, (uint32_t)trial, 0);
		n = 2 + below(3);
		draw_fabric(&f, n, 0, 4 + below(7), n < 4 ? 4 : 2);
		a = (struct all){
		    .f = &f, .kind = (enum hamilton_kind)(trial % 4), .root = below(n)};
		memcpy(a.left, f.cap, n * n * sizeof(*f.cap));
		all_orders(&a);
		fit_all(&a, 0, 0);
		if (hamilton_pack(&h, &f, a.kind, a.root, &e) != 0)
			gv_die_error(&e);
		count += h.n_orders != a.n;
		hops += !hops_right(&a, &h);
		for (i = 0; i < h.n_orders && i < a.n; i++) {
			other += memcmp(&h.order[i * n], a.order[i],
				     n * sizeof(*h.order)) != 0;
			over += h.units[i] < 0 || !take(&a, a.order[i], h.units[i]);
			sum += h.units[i];
		}
		few += sum != a.most;
		packed += sum > 1;
		hamilton_free(&h);
		left += h.n != 0 || h.n_orders != 0 || h.order != NULL || h.units != NULL;
		fabric_free(&f);
	}
	is_int(count, 0, "all rings and chains are found");
	is_int(other, 0, "in the order of their GPUs");
	is_int(over, 0, "those taken fit together");
	is_int(few, 0, "and are as many as can");
	is_int(left, 0, "and nothing is left of them");
	is_int(hops, 0, "hops are links, or about the widest GPU between");
	ok(packed > 100, "%zu are of several", packed);
}

/* What links of one unit to the next GPUs hold, and how many rings. */
static const char *
rings_of(size_t gpus, size_t next, size_t *n)
{
	static char said[sizeof(((struct gv_error *)NULL)->text[0])];
	struct gv_error e = {0};
	struct hamilton h;
	struct fabric f;
	size_t u, v;

	draw_fabric(&f, gpus, 0, 0, 1);
	for (u = 0; u < gpus; u++)
		for (v = 1; v <= next; v++)
			fabric_cap(&f, u, (u + v) % gpus) = 1;
	said[0] = '\0';
	if (hamilton_pack(&h, &f, HAMILTON_RING, 0, &e) != 0)
		snprintf(said, sizeof(said), "%s", e.text[0]);
	*n = h.n_orders;
	gv_error_clear(&e);
	hamilton_free(&h);
	fabric_free(&f);
	return said;
}

static void
limits(void)
{
	size_t n;

	is_str(rings_of(10, 1, &n), "", "10 GPUs");
	is_int(n, 1, "one ring");
	is_str(rings_of(11, 1, &n),
	    "rings and chains are searched among at most 10 GPUs with direct links",
	    "11 are too many");
	is_str(rings_of(10, 9, &n),
	    "more than 100000 rings or chains: too many to choose from",
	    "as are all orders of 10");
	is_int(n, HAMILTON_ORDERS, "of which so many were found");
}

int
main(void)
{
	gv_init("gv-tree.named");
	shortest();
	filled();
	orders();
	limits();
	return done_testing();
}
