/* Blink's plan over several servers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gv-tree/packing/packing.h"
#include "named.h"
#include "ways.h"

/* Fractions of the buffer are counted in this many parts where they have no small ratios. */
#define FINE 1000000

/* A tree within one server: its links, and what part of the buffer it has. */
struct local_tree {
	size_t (*link)[2]; /* [n - 1] GPUs of the fabric */
	int64_t until;     /* parts up to the end of its own */
};

struct server {
	size_t *gpu, n; /* of the fabric */
	struct local_tree *tree;
	size_t n_trees;
	int64_t sum; /* of the weights; the buffer */
};

struct phases {
	const struct fabric *f;
	struct server *server;
	size_t n;
	double *load; /* [f->n][f->n] parts that use a way out */
	size_t *path, *order;
};

/* ---- servers ---- */

static size_t
host_len(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot != NULL ? (size_t)(dot - name) : 0;
}

static bool
same_host(const struct fabric *f, size_t u, size_t v)
{
	size_t len = host_len(f->name[u]);

	return len == host_len(f->name[v]) && memcmp(f->name[u], f->name[v], len) == 0;
}

static void
find_servers(struct phases *p)
{
	size_t v, s;

	p->server = gv_xcalloc(p->f->n_gpus + 1, sizeof(*p->server));
	for (v = 0; v < p->f->n_gpus; v++) {
		for (s = 0; s < p->n && !same_host(p->f, p->server[s].gpu[0], v); s++)
			;
		if (s == p->n)
			p->server[p->n++].gpu =
			    gv_xcalloc(p->f->n_gpus, sizeof(*p->server[0].gpu));
		p->server[s].gpu[p->server[s].n++] = v;
	}
}

/* ---- trees within a server ---- */

static struct local_tree *
add_tree(struct server *s, size_t *cap, int64_t weight)
{
	struct local_tree *t;

	s->tree = gv_xgrow(s->tree, cap, s->n_trees + 1, sizeof(*s->tree));
	t = &s->tree[s->n_trees++];
	s->sum += weight;
	*t = (struct local_tree){
	    .link = gv_xcalloc(s->n, sizeof(*t->link)), .until = s->sum};
	return t;
}

/* A star about each GPU, over switches. */
static void
stars(struct server *s)
{
	size_t i, k, cap = 0;

	for (i = 0; i < s->n; i++) {
		struct local_tree *t = add_tree(s, &cap, 1);
		size_t at = 0;

		for (k = 0; k < s->n; k++)
			if (k != i) {
				t->link[at][0] = s->gpu[i];
				t->link[at++][1] = s->gpu[k];
			}
	}
}

/* What direct links hold, or stars where they do not lead everywhere. */
static int
plan_server(const struct fabric *f, struct server *s, struct gv_error *e)
{
	struct fabric part = {.n = s->n, .n_gpus = s->n, .unit = f->unit};
	struct forest t = {0};
	struct gv_error none = {0};
	size_t i, k, cap = 0;
	int rc = 0;

	part.name = gv_xcalloc(s->n + 1, sizeof(*part.name));
	part.cap = gv_xcalloc(s->n * s->n + 1, sizeof(*part.cap));
	for (i = 0; i < s->n; i++) {
		part.name[i] = gv_xstrdup(f->name[s->gpu[i]]);
		for (k = 0; k < s->n; k++)
			fabric_cap(&part, i, k) = fabric_cap(f, s->gpu[i], s->gpu[k]);
	}
	if (s->n == 1 || packing_strength(&part, NULL).over == 0) {
		stars(s);
	} else if (packing_colgen(&t, &part, &none) != 0) {
		rc = gv_error_set(e, "%s", none.text[0]);
	} else {
		for (i = 0; i < t.n; i++) {
			struct local_tree *to = add_tree(s, &cap, t.tree[i].weight);

			for (k = 0; k < t.tree[i].n_edges; k++) {
				to->link[k][0] = s->gpu[t.tree[i].edge[k].from];
				to->link[k][1] = s->gpu[t.tree[i].edge[k].to];
			}
		}
	}
	forest_free(&t);
	fabric_free(&part);
	return rc;
}

/* All servers' fractions in the same parts; their number. */
static int64_t
align(struct phases *p)
{
	int64_t parts = 1;
	size_t s, i;

	for (s = 0; s < p->n && parts > 0; s++) {
		int64_t more = p->server[s].sum / gcd64(parts, p->server[s].sum);

		parts = parts <= ((int64_t)1 << 32) / more ? parts * more : 0;
	}
	if (parts == 0)
		parts = FINE;
	for (s = 0; s < p->n; s++)
		for (i = 0; i < p->server[s].n_trees; i++) {
			struct local_tree *t = &p->server[s].tree[i];

			t->until = (int64_t)((double)t->until / (double)p->server[s].sum *
						 (double)parts +
					     .5);
		}
	return parts;
}

/* ---- across servers ---- */

/* What a way out costs: links that are full already, and slow ones, count more. */
static double
cost_of(struct phases *p, size_t gpu, size_t to, double parts)
{
	size_t n = ways_shortest(p->f, gpu, to, false, p->path), h;
	double sum = n == 0 ? HUGE_VAL : 0;

	for (h = 0; h + 1 < n; h++) {
		size_t at = p->path[h] * p->f->n + p->path[h + 1];
		double full = (p->load[at] + parts) / (double)p->f->cap[at];

		sum += full * full;
	}
	return sum;
}

static void
use(struct phases *p, size_t from, size_t to, double parts)
{
	size_t n = ways_shortest(p->f, from, to, false, p->path), h;

	for (h = 0; h + 1 < n; h++) {
		p->load[p->path[h] * p->f->n + p->path[h + 1]] += parts;
		p->load[p->path[h + 1] * p->f->n + p->path[h]] += parts;
	}
}

/* Roots of some parts, of each server the GPU whose way to the first one's is least used. */
static void
pick_roots(struct phases *p, double parts, size_t *root)
{
	const struct server *s = p->server;
	size_t i, k, o;
	double least = HUGE_VAL;

	root[0] = s[0].gpu[0];
	for (i = 0; i < s[0].n; i++)
		for (k = 0; k < s[1].n; k++) {
			double cost = cost_of(p, s[0].gpu[i], s[1].gpu[k], parts);

			if (cost < least * (1 - 1e-12)) {
				least = cost;
				root[0] = s[0].gpu[i];
			}
		}
	for (o = 1; o < p->n; o++) {
		root[o] = s[o].gpu[0];
		least = HUGE_VAL;
		for (k = 0; k < s[o].n; k++) {
			double cost = cost_of(p, root[0], s[o].gpu[k], parts);

			if (cost < least * (1 - 1e-12)) {
				least = cost;
				root[o] = s[o].gpu[k];
			}
		}
		use(p, root[0], root[o], parts);
	}
}

static int
add_edge(struct phases *p, struct tree *t, size_t *k, size_t u, size_t v, bool direct,
    struct gv_error *e)
{
	size_t n = ways_shortest(p->f, u, v, direct, p->path);

	if (n == 0)
		return ways_none(p->f, u, v, "no switches lead", e);
	tree_edge_set(&t->edge[(*k)++], p->path, n);
	return 0;
}

/* Hangs a server's tree up at its root. */
static int
hang(struct phases *p, struct tree *t, size_t *k, const struct server *s,
    const struct local_tree *local, size_t root, struct gv_error *e)
{
	size_t head = 0, tail = 0, i;
	bool *used = gv_xcalloc(s->n + 1, sizeof(*used));
	int rc = 0;

	p->order[tail++] = root;
	for (; head < tail && rc == 0; head++)
		for (i = 0; i + 1 < s->n && rc == 0; i++) {
			size_t u = p->order[head], a = local->link[i][0],
			       b = local->link[i][1];

			if (used[i] || (a != u && b != u))
				continue;
			used[i] = true;
			p->order[tail++] = a == u ? b : a;
			rc = add_edge(p, t, k, u, p->order[tail - 1],
			    fabric_cap(p->f, u, p->order[tail - 1]) > 0, e);
		}
	free(used);
	return rc;
}

/* Some parts: each server's root has its share of them, and a tree of everything. */
static int
add_parts(struct phases *p, struct forest *t, const size_t *local, int64_t parts,
    struct gv_error *e)
{
	size_t s, o, *root = gv_xcalloc(p->n, sizeof(*root));
	int rc = 0;

	pick_roots(p, (double)parts, root);
	for (s = 0; s < p->n && rc == 0; s++) {
		struct tree *tree = forest_add(t, root[s], parts, p->f->n_gpus - 1);
		size_t k = 0;

		for (o = 0; o < p->n && rc == 0; o++)
			if (o != s)
				rc = add_edge(p, tree, &k, root[s], root[o], false, e);
		for (o = 0; o < p->n && rc == 0; o++)
			rc = hang(p, tree, &k, &p->server[o],
			    &p->server[o].tree[local[o]], root[o], e);
	}
	free(root);
	return rc;
}

static int
lay(struct phases *p, struct forest *t, struct gv_error *e)
{
	int64_t at = 0, parts = align(p);
	size_t s, *local = gv_xcalloc(p->n, sizeof(*local));
	int rc = 0;

	while (at < parts && rc == 0) {
		int64_t until = parts;

		for (s = 0; s < p->n; s++) {
			while (local[s] + 1 < p->server[s].n_trees &&
			       p->server[s].tree[local[s]].until <= at)
				local[s]++;
			if (p->server[s].tree[local[s]].until > at &&
			    p->server[s].tree[local[s]].until < until)
				until = p->server[s].tree[local[s]].until;
		}
		rc = add_parts(p, t, local, until - at, e);
		at = until;
	}
	free(local);
	return rc;
}

int
named_phases(struct forest *t, const struct fabric *f, struct gv_error *e)
{
	struct phases p = {.f = f};
	size_t s, i;
	int rc = 0;

	*t = (struct forest){.unit = {f->unit, 1}};
	find_servers(&p);
	p.load = gv_xcalloc(f->n * f->n + 1, sizeof(*p.load));
	p.path = gv_xcalloc(f->n, sizeof(*p.path));
	p.order = gv_xcalloc(f->n, sizeof(*p.order));
	if (p.n < 2)
		rc = gv_error_set(e, "phases are for several servers (GPUs named "
				     "SERVER.gpuN); there is one");
	for (s = 0; s < p.n && rc == 0; s++)
		rc = plan_server(f, &p.server[s], e);
	if (rc == 0)
		rc = lay(&p, t, e);
	if (rc == 0)
		ways_fill(t, f, true);
	for (s = 0; s < p.n; s++) {
		for (i = 0; i < p.server[s].n_trees; i++)
			free(p.server[s].tree[i].link);
		free(p.server[s].tree);
		free(p.server[s].gpu);
	}
	free(p.server);
	free(p.load);
	free(p.path);
	free(p.order);
	return rc;
}
