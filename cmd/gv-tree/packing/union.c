/* k spanning trees that share no edge: a union of k graphic matroids. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gv-tree/forest/few.h"
#include "packing.h"

struct edge {
	size_t u, v;
	int64_t copies; /* that are in no forest */
};

/* An edge that would leave a forest for another that wants to enter. */
struct label {
	size_t edge, forest; /* forest = k: a copy that is in none, the start */
	size_t parent;       /* label of the one that enters in its place */
};

struct matroids {
	size_t n, k;
	struct edge *edge;
	size_t n_edges;
	bool *in;            /* [k][n_edges] */
	struct label *label; /* [n_labels], as found */
	size_t n_labels, cap_labels;
	bool *labelled; /* [k][n_edges] */
	size_t *way;    /* [n] edge towards the start of a search in one forest */
	size_t *queue;  /* [n] */
};

static size_t
other_end(const struct edge *e, size_t u)
{
	return e->u == u ? e->v : e->u;
}

/* Searches forest i from u; whether v is in the same tree.  way [..] leads back. */
static bool
connected(struct matroids *m, size_t i, size_t u, size_t v)
{
	size_t head = 0, tail = 0, k, at;

	for (at = 0; at < m->n; at++)
		m->way[at] = SIZE_MAX;
	m->queue[tail++] = u;
	while (head < tail && m->way[v] == SIZE_MAX) {
		at = m->queue[head++];
		for (k = 0; k < m->n_edges; k++) {
			const struct edge *e = &m->edge[k];
			size_t to;

			if (!m->in[i * m->n_edges + k] || (e->u != at && e->v != at))
				continue;
			to = other_end(e, at);
			if (to == u || m->way[to] != SIZE_MAX)
				continue;
			m->way[to] = k;
			m->queue[tail++] = to;
		}
	}
	return m->way[v] != SIZE_MAX;
}

static void
put_label(struct matroids *m, size_t edge, size_t forest, size_t parent)
{
	m->label = gv_xgrow(m->label, &m->cap_labels, m->n_labels + 1, sizeof(*m->label));
	m->label[m->n_labels++] = (struct label){edge, forest, parent};
	if (forest < m->k)
		m->labelled[forest * m->n_edges + edge] = true;
}

/* The edge of label l enters forest i, what it leaves is entered by its parent, and so on. */
static void
augment(struct matroids *m, size_t l, size_t i)
{
	for (;;) {
		const struct label *x = &m->label[l];

		m->in[i * m->n_edges + x->edge] = true;
		if (x->forest == m->k) {
			m->edge[x->edge].copies--;
			return;
		}
		m->in[x->forest * m->n_edges + x->edge] = false;
		i = x->forest;
		l = x->parent;
	}
}

/* One more copy of an edge into some forest, by a shortest row of exchanges. */
static bool
enter(struct matroids *m, size_t edge)
{
	size_t l, i, at;

	memset(m->labelled, 0, m->k * m->n_edges * sizeof(*m->labelled));
	m->n_labels = 0;
	put_label(m, edge, m->k, SIZE_MAX);
	for (l = 0; l < m->n_labels; l++) {
		size_t a = m->label[l].edge;
		const struct edge *e = &m->edge[a];

		for (i = 0; i < m->k; i++) {
			if (i == m->label[l].forest || m->in[i * m->n_edges + a])
				continue;
			if (!connected(m, i, e->u, e->v)) {
				augment(m, l, i);
				return true;
			}
			for (at = e->v; at != e->u;
			     at = other_end(&m->edge[m->way[at]], at))
				if (!m->labelled[i * m->n_edges + m->way[at]])
					put_label(m, m->way[at], i, l);
		}
	}
	return false;
}

static void
start(struct matroids *m, const struct fabric *f, size_t k)
{
	size_t u, v, n = f->n_gpus;

	*m = (struct matroids){.n = n, .k = k};
	m->edge = gv_xcalloc(n * n, sizeof(*m->edge));
	for (u = 0; u < n; u++)
		for (v = u + 1; v < n; v++) {
			int64_t a = fabric_cap(f, u, v), b = fabric_cap(f, v, u);

			a = a < b ? a : b;
			if (a > 0)
				m->edge[m->n_edges++] =
				    (struct edge){u, v, a < (int64_t)k ? a : (int64_t)k};
		}
	m->in = gv_xcalloc(k * m->n_edges + 1, sizeof(*m->in));
	m->labelled = gv_xcalloc(k * m->n_edges + 1, sizeof(*m->labelled));
	m->way = gv_xcalloc(n, sizeof(*m->way));
	m->queue = gv_xcalloc(n, sizeof(*m->queue));
}

static void
end(struct matroids *m)
{
	free(m->edge);
	free(m->in);
	free(m->label);
	free(m->labelled);
	free(m->way);
	free(m->queue);
}

static bool
trees_fit(void *ctx, const struct fabric *f, size_t k)
{
	struct ratio s = packing_strength(f, NULL);

	(void)ctx;
	return s.over >= (int64_t)k * s.under;
}

int
packing_few(struct forest *t, const struct fabric *f, size_t most, struct gv_error *e)
{
	struct matroids m;
	struct fabric counted;
	size_t n = f->n_gpus, k, i, at;
	struct ratio w = few_weight(f, most, 1, trees_fit, NULL, &k);
	size_t(*pair)[2];

	*t = (struct forest){.unit = {f->unit * w.over, w.under}};
	if (k == 0)
		return gv_error_set(e, "direct links do not join all GPUs");
	few_fabric(&counted, f, w);
	start(&m, &counted, k);
	for (i = 0; i < m.n_edges; i++)
		while (m.edge[i].copies > 0 && enter(&m, i))
			;
	pair = gv_xcalloc(n, sizeof(*pair));
	for (i = 0; i < k; i++) {
		size_t found = 0;

		for (at = 0; at < m.n_edges; at++)
			if (m.in[i * m.n_edges + at]) {
				pair[found][0] = m.edge[at].u;
				pair[found++][1] = m.edge[at].v;
			}
		packing_hang(t, n, (const size_t(*)[2])pair, 1);
	}
	free(pair);
	end(&m);
	fabric_free(&counted);
	return 0;
}
