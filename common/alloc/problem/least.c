#include "least.h"

#include <stdlib.h>

#include "base/mem.h"

static size_t
winner(const struct gv_least *l, size_t a, size_t b)
{
	if (l->key[a] < l->key[b] || l->key[b] < l->key[a])
		return l->key[a] < l->key[b] ? a : b;
	return a < b ? a : b;
}

void
gv_least_open(struct gv_least *l, size_t n)
{
	size_t i;

	*l = (struct gv_least){.n = n};
	l->key = gv_xcalloc(n, sizeof(*l->key));
	l->first = gv_xcalloc(2 * n, sizeof(*l->first));
	for (i = 0; i < n; i++)
		l->first[n + i] = i;
	for (i = n - 1; i > 0; i--)
		l->first[i] = winner(l, l->first[2 * i], l->first[2 * i + 1]);
}

void
gv_least_close(struct gv_least *l)
{
	free(l->key);
	free(l->first);
	*l = (struct gv_least){0};
}

void
gv_least_set(struct gv_least *l, size_t at, double key)
{
	size_t i;

	l->key[at] = key;
	for (i = (l->n + at) / 2; i > 0; i /= 2)
		l->first[i] = winner(l, l->first[2 * i], l->first[2 * i + 1]);
}

size_t
gv_least_first(const struct gv_least *l)
{
	return l->first[1];
}
