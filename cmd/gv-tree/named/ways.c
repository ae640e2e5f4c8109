#include "ways.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

size_t
ways_shortest(const struct fabric *f, size_t from, size_t to, bool direct, size_t *path)
{
	size_t *before = gv_xcalloc(f->n, sizeof(*before));
	size_t *queue = gv_xcalloc(f->n, sizeof(*queue));
	size_t head = 0, tail = 0, u, v, n = 0;

	for (v = 0; v < f->n; v++)
		before[v] = SIZE_MAX;
	before[from] = from;
	queue[tail++] = from;
	while (head < tail && before[to] == SIZE_MAX) {
		u = queue[head++];
		/* GPUs do not relay */
		for (v = 0; v < f->n && (u == from || u >= f->n_gpus); v++)
			if (before[v] == SIZE_MAX && fabric_cap(f, u, v) > 0 &&
			    (direct || u != from || v >= f->n_gpus)) {
				before[v] = u;
				queue[tail++] = v;
			}
	}
	if (before[to] != SIZE_MAX) {
		for (v = to; v != from; v = before[v])
			n++;
		path[0] = from;
		for (v = to, u = n++; v != from; v = before[v])
			path[u--] = v;
	}
	free(before);
	free(queue);
	return n;
}

/* Whether a/b < c/d, of positive numbers whose products may be too large. */
static bool
is_less(int64_t a, int64_t b, int64_t c, int64_t d)
{
	for (;;) {
		int64_t left = a % b, right = c % d;

		if (a / b != c / d)
			return a / b < c / d;
		if (left == 0 || right == 0)
			return right != 0;
		/* left / b < right / d where d / right < b / left */
		a = d;
		c = b;
		b = right;
		d = left;
	}
}

void
ways_fill(struct forest *t, const struct fabric *f, bool both_ways)
{
	int64_t *load = gv_xcalloc(f->n * f->n + 1, sizeof(*load));
	struct ratio w = {0, 0};
	size_t i, k, h;

	for (i = 0; i < t->n; i++)
		for (k = 0; k < t->tree[i].n_edges; k++) {
			const struct tree_edge *x = &t->tree[i].edge[k];

			for (h = 0; h + 1 < x->n_path; h++) {
				size_t u = x->path[h], v = x->path[h + 1];

				load[u * f->n + v] += t->tree[i].weight;
				load[v * f->n + u] += both_ways ? t->tree[i].weight : 0;
			}
		}
	for (i = 0; i < f->n * f->n; i++)
		if (load[i] > 0 &&
		    (w.under == 0 || is_less(f->cap[i], load[i], w.over, w.under)))
			w = (struct ratio){f->cap[i], load[i]};
	free(load);
	t->unit = (struct ratio){f->unit * w.over, w.under};
}

int
ways_none(
    const struct fabric *f, size_t u, size_t v, const char *what, struct gv_error *e)
{
	char q[2][GV_QUOTE_LEN];

	return gv_error_set(e, "%s from %s to %s", what,
	    gv_quote(q[0], f->name[u], strlen(f->name[u])),
	    gv_quote(q[1], f->name[v], strlen(f->name[v])));
}
