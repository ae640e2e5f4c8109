#include "score.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "table/tab.h"

/* ---- the same up to names ---- */

struct match {
	const struct fabric *a, *b;
	size_t *to; /* [n] nodes of b */
	bool *taken;
};

static bool
is_relay(const struct fabric *f, size_t v)
{
	return v >= f->n_gpus;
}

/* Whether nodes v, v + 1, ... of a can be named as nodes of b, given those before. */
static bool
match_on(struct match *m, size_t v)
{
	size_t w, u, n = m->a->n;

	if (v == n)
		return true;
	for (w = 0; w < n; w++) {
		if (m->taken[w] || is_relay(m->a, v) != is_relay(m->b, w))
			continue;
		for (u = 0; u < v; u++)
			if (fabric_cap(m->a, u, v) != fabric_cap(m->b, m->to[u], w) ||
			    fabric_cap(m->a, v, u) != fabric_cap(m->b, w, m->to[u]))
				break;
		if (u < v)
			continue;
		m->taken[w] = true;
		m->to[v] = w;
		if (match_on(m, v + 1))
			return true;
		m->taken[w] = false;
	}
	return false;
}

static int
by_value(const void *x, const void *y)
{
	const int64_t *a = x, *b = y;

	return *a < *b ? -1 : *a > *b;
}

/* Capacities in order: what equal fabrics agree in. */
static int64_t *
census(const struct fabric *f)
{
	int64_t *c = gv_xcalloc(f->n * f->n, sizeof(*c));

	memcpy(c, f->cap, f->n * f->n * sizeof(*c));
	qsort(c, f->n * f->n, sizeof(*c), by_value);
	return c;
}

static bool
same_but_names(const struct fabric *a, const struct fabric *b)
{
	struct match m = {.a = a, .b = b};
	int64_t *x, *y;
	bool same;

	if (a->n != b->n || a->n_gpus != b->n_gpus)
		return false;
	x = census(a);
	y = census(b);
	same = memcmp(x, y, a->n * a->n * sizeof(*x)) == 0;
	free(x);
	free(y);
	m.to = gv_xcalloc(a->n, sizeof(*m.to));
	m.taken = gv_xcalloc(a->n, sizeof(*m.taken));
	same = same && match_on(&m, 0);
	free(m.to);
	free(m.taken);
	return same;
}

/* ---- all sets ---- */

/* The fabric of some GPUs and the switches that still have links to two nodes. */
static void
restrict_to(struct fabric *to, const struct fabric *f, const size_t *gpu, size_t k)
{
	size_t n = f->n, *node = gv_xcalloc(n, sizeof(*node)), m = k, u, v;
	bool *left = gv_xcalloc(n, sizeof(*left)), again = true;

	for (u = 0; u < k; u++)
		left[gpu[u]] = true;
	for (u = f->n_gpus; u < n; u++)
		left[u] = true;
	while (again)
		for (u = f->n_gpus, again = false; u < n; u++) {
			size_t around = 0;

			for (v = 0; v < n; v++)
				around += left[v] && (fabric_cap(f, u, v) > 0 ||
							 fabric_cap(f, v, u) > 0);
			if (left[u] && around < 2) {
				left[u] = false;
				again = true;
			}
		}
	memcpy(node, gpu, k * sizeof(*node));
	for (u = f->n_gpus; u < n; u++)
		if (left[u])
			node[m++] = u;
	*to = (struct fabric){.n = m, .n_gpus = k, .unit = f->unit};
	to->name = gv_xcalloc(m, sizeof(*to->name));
	to->cap = gv_xcalloc(m * m, sizeof(*to->cap));
	for (u = 0; u < m; u++) {
		to->name[u] = gv_xstrdup(f->name[node[u]]);
		for (v = 0; v < m; v++)
			fabric_cap(to, u, v) = fabric_cap(f, node[u], node[v]);
	}
	free(node);
	free(left);
}

static double
rate_of(const struct fabric *f, enum collective c)
{
	double least = plan_optimum(f, c, 0);
	size_t root;

	for (root = 1; root < f->n_gpus && (c == BROADCAST || c == REDUCE); root++) {
		double rate = plan_optimum(f, c, root);

		least = rate < least ? rate : least;
	}
	return least;
}

static double
sets(size_t n, size_t k)
{
	double count = 1;
	size_t i;

	for (i = 0; i < k; i++)
		count = count * (double)(n - i) / (double)(i + 1);
	return count;
}

/* The next set in order; false behind the last. */
static bool
next_set(size_t *gpu, size_t k, size_t n)
{
	size_t i = k;

	while (i > 0 && gpu[i - 1] == n - k + i - 1)
		i--;
	if (i == 0)
		return false;
	for (gpu[i - 1]++; i < k; i++)
		gpu[i] = gpu[i - 1] + 1;
	return true;
}

static int
fastest_first(const void *x, const void *y)
{
	const struct score *a = x, *b = y;
	size_t i;

	if (a->gbytes_per_s != b->gbytes_per_s)
		return a->gbytes_per_s > b->gbytes_per_s ? -1 : 1;
	if (a->class != b->class)
		return a->class < b->class ? -1 : 1;
	for (i = 0; a->gpu[i] == b->gpu[i]; i++)
		;
	return a->gpu[i] < b->gpu[i] ? -1 : 1;
}

/* One fabric of each class seen so far, and what it comes to. */
struct classes {
	struct fabric *f;
	double *rate;
	size_t n, cap_f, cap_rate;
};

static size_t
class_of(struct classes *c, struct fabric *f, enum collective collective)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		if (same_but_names(&c->f[i], f)) {
			fabric_free(f);
			return i;
		}
	c->f = gv_xgrow(c->f, &c->cap_f, c->n + 1, sizeof(*c->f));
	c->rate = gv_xgrow(c->rate, &c->cap_rate, c->n + 1, sizeof(*c->rate));
	c->f[c->n] = *f;
	c->rate[c->n] = rate_of(f, collective);
	return c->n++;
}

int
scores_find(struct scores *s, const struct fabric *f, size_t k, enum collective c,
    void (*tell)(size_t done, size_t of), struct gv_error *e)
{
	struct classes seen = {0};
	size_t *gpu, i;
	bool more = true;

	*s = (struct scores){.k = k};
	if (k > f->n_gpus)
		return gv_error_set(e, "no set of %zu of %zu GPUs", k, f->n_gpus);
	if (sets(f->n_gpus, k) > SCORE_SETS)
		return gv_error_set(e,
		    "%.0f sets of %zu of %zu GPUs; at most %d are ranked",
		    sets(f->n_gpus, k), k, f->n_gpus, SCORE_SETS);
	s->score = gv_xcalloc((size_t)sets(f->n_gpus, k) + 1, sizeof(*s->score));
	gpu = gv_xcalloc(k, sizeof(*gpu));
	for (i = 0; i < k; i++)
		gpu[i] = i;
	for (; more; more = next_set(gpu, k, f->n_gpus)) {
		struct score *x = &s->score[s->n++];
		struct fabric part;

		if (tell != NULL)
			tell(s->n, (size_t)sets(f->n_gpus, k));
		x->gpu = gv_xcalloc(k, sizeof(*gpu));
		memcpy(x->gpu, gpu, k * sizeof(*gpu));
		restrict_to(&part, f, gpu, k);
		i = class_of(&seen, &part, c);
		x->class = i + 1;
		x->gbytes_per_s = seen.rate[i];
	}
	qsort(s->score, s->n, sizeof(*s->score), fastest_first);
	for (i = 0; i < seen.n; i++)
		fabric_free(&seen.f[i]);
	free(seen.f);
	free(seen.rate);
	free(gpu);
	return 0;
}

void
scores_free(struct scores *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		free(s->score[i].gpu);
	free(s->score);
	*s = (struct scores){0};
}

void
scores_write(struct gv_out *out, const struct scores *s, const struct fabric *f, bool tsv)
{
	struct gv_tabw w;
	struct gv_strbuf names = {0};
	size_t i, k;

	gv_tabw_init(&w, out, tsv);
	gv_tabw_str(&w, "gpus");
	gv_tabw_str(&w, "gbytes_per_s");
	gv_tabw_str(&w, "class");
	gv_tabw_end(&w);
	for (i = 0; i < s->n; i++) {
		gv_strbuf_clear(&names);
		for (k = 0; k < s->k; k++) {
			gv_strbuf_str(&names, k > 0 ? ";" : "");
			gv_strbuf_str(&names, f->name[s->score[i].gpu[k]]);
		}
		gv_tabw_cell(&w, (struct gv_cell){names.s, names.len});
		gv_tabw_double(&w, s->score[i].gbytes_per_s);
		gv_tabw_int(&w, (int64_t)s->score[i].class);
		gv_tabw_end(&w);
	}
	gv_strbuf_free(&names);
}
