#include "arborescence.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"

/* A node of a cycle of the links from[], SIZE_MAX = there is none. */
static size_t
cycle(size_t n, size_t root, const size_t *from)
{
	size_t *seen = gv_xcalloc(n, sizeof(*seen)), v, u, found = SIZE_MAX;

	for (v = 0; v < n && found == SIZE_MAX; v++) {
		for (u = v; u != root && seen[u] == 0; u = from[u])
			seen[u] = v + 1;
		if (u != root && seen[u] == v + 1)
			found = u;
	}
	free(seen);
	return found;
}

static void
nearest(size_t n, size_t root, const double *length, size_t *from)
{
	size_t u, v;

	for (v = 0; v < n; v++) {
		from[v] = v == root ? SIZE_MAX : v == 0 ? (n > 1 ? 1 : 0) : 0;
		for (u = 0; v != root && u < n; u++)
			if (u != v && length[u * n + v] < length[from[v] * n + v])
				from[v] = u;
	}
}

/*
 * A cycle of nearest links becomes one node, entered at what it costs more than
 * the link that is given up there; what solves the rest solves the whole.  Whether it
 * can be solved.
 */
static bool
contract(size_t n, size_t root, const double *length, size_t on, size_t *from)
{
	size_t *name = gv_xcalloc(n, sizeof(*name)), *best = gv_xcalloc(n, sizeof(*best));
	size_t m = 0, u, v, one;
	bool *in = gv_xcalloc(n, sizeof(*in)), possible;
	double *less;
	size_t *tail, *head, *inner;

	for (v = on; !in[v]; v = from[v])
		in[v] = true;
	for (v = 0; v < n; v++) {
		best[v] = from[v];
		if (!in[v])
			name[v] = m++;
	}
	one = m++;
	for (v = 0; v < n; v++)
		if (in[v])
			name[v] = one;
	less = gv_xcalloc(m * m, sizeof(*less));
	tail = gv_xcalloc(m * m, sizeof(*tail));
	head = gv_xcalloc(m * m, sizeof(*head));
	inner = gv_xcalloc(m, sizeof(*inner));
	for (u = 0; u < m * m; u++)
		less[u] = INFINITY;
	for (u = 0; u < n; u++)
		for (v = 0; v < n; v++) {
			size_t at = name[u] * m + name[v];
			double l = u == v ? INFINITY : length[u * n + v];

			if (in[v] && isfinite(l))
				l -= length[best[v] * n + v];
			if (name[u] == name[v] || !(l < less[at]))
				continue;
			less[at] = l;
			tail[at] = u;
			head[at] = v;
		}
	possible = isfinite(arborescence(m, name[root], less, inner));
	for (v = 0; v < m && possible; v++)
		if (inner[v] != SIZE_MAX)
			best[head[inner[v] * m + v]] = tail[inner[v] * m + v];
	for (v = 0; v < n; v++)
		from[v] = best[v];
	free(name);
	free(best);
	free(in);
	free(less);
	free(tail);
	free(head);
	free(inner);
	return possible;
}

double
arborescence(size_t n, size_t root, const double *length, size_t *from)
{
	size_t v, on;
	double sum = 0;

	nearest(n, root, length, from);
	for (v = 0; v < n; v++)
		if (v != root)
			sum += length[from[v] * n + v];
	if (!isfinite(sum))
		return INFINITY;
	on = cycle(n, root, from);
	if (on == SIZE_MAX)
		return sum;
	if (!contract(n, root, length, on, from))
		return INFINITY;
	for (v = 0, sum = 0; v < n; v++)
		if (v != root)
			sum += length[from[v] * n + v];
	return sum;
}
