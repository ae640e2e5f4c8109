#include "flow.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void
flow_free(struct flow *f)
{
	free(f->head);
	free(f->arc);
	free(f->level);
	free(f->at);
	free(f->queue);
	*f = (struct flow){0};
}

void
flow_start(struct flow *f, size_t n)
{
	size_t v;

	if (n > f->n) {
		flow_free(f);
		f->head = gv_xcalloc(n, sizeof(*f->head));
		f->level = gv_xcalloc(n, sizeof(*f->level));
		f->at = gv_xcalloc(n, sizeof(*f->at));
		f->queue = gv_xcalloc(n, sizeof(*f->queue));
	}
	f->n = n;
	f->n_arcs = 0;
	for (v = 0; v < n; v++)
		f->head[v] = SIZE_MAX;
}

static void
half(struct flow *f, size_t from, size_t to, int64_t capacity)
{
	f->arc = gv_xgrow(f->arc, &f->cap_arcs, f->n_arcs + 1, sizeof(*f->arc));
	f->arc[f->n_arcs] = (struct flow_arc){to, f->head[from], capacity, capacity};
	f->head[from] = f->n_arcs++;
}

void
flow_arc(struct flow *f, size_t from, size_t to, int64_t capacity)
{
	if (capacity <= 0 || from == to)
		return;
	half(f, from, to, capacity);
	half(f, to, from, 0);
}

/* Nodes by their distance from s over arcs with room; whether t is among them. */
static bool
layer(struct flow *f, size_t s, size_t t)
{
	size_t head = 0, tail = 0, v, a;

	for (v = 0; v < f->n; v++)
		f->level[v] = SIZE_MAX;
	f->level[s] = 0;
	f->queue[tail++] = s;
	while (head < tail) {
		v = f->queue[head++];
		for (a = f->head[v]; a != SIZE_MAX; a = f->arc[a].next)
			if (f->arc[a].left > 0 && f->level[f->arc[a].to] == SIZE_MAX) {
				f->level[f->arc[a].to] = f->level[v] + 1;
				f->queue[tail++] = f->arc[a].to;
			}
	}
	return f->level[t] != SIZE_MAX;
}

/* Pushes up to limit from v to t, each step one layer on. */
static int64_t
push(struct flow *f, size_t v, size_t t, int64_t limit)
{
	int64_t pushed = 0;

	if (v == t)
		return limit;
	for (; f->at[v] != SIZE_MAX; f->at[v] = f->arc[f->at[v]].next) {
		struct flow_arc *a = &f->arc[f->at[v]];
		int64_t room = limit - pushed < a->left ? limit - pushed : a->left, got;

		if (room <= 0 || f->level[a->to] != f->level[v] + 1)
			continue;
		got = push(f, a->to, t, room);
		a->left -= got;
		f->arc[f->at[v] ^ 1].left += got;
		pushed += got;
		if (pushed == limit)
			break;
	}
	return pushed;
}

int64_t
flow_run(struct flow *f, size_t s, size_t t, int64_t limit)
{
	int64_t total = 0;
	size_t a;

	for (a = 0; a < f->n_arcs; a++)
		f->arc[a].left = f->arc[a].capacity;
	while (total < limit && layer(f, s, t)) {
		memcpy(f->at, f->head, f->n * sizeof(*f->at));
		total += push(f, s, t, limit - total);
	}
	return total;
}

bool
flow_on_source_side(const struct flow *f, size_t v)
{
	return f->level[v] != SIZE_MAX;
}
