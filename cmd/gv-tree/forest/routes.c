#include "routes.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

static struct route_list *
list_of(const struct routes *r, size_t u, size_t v)
{
	return &r->pair[u * r->f.n + v];
}

/* The nodes of a, then those of b behind its first. */
static void
append(struct route_list *l, int64_t amount, const struct route *a, const struct route *b)
{
	struct route *x;

	l->route = gv_xgrow(l->route, &l->cap, l->n + 1, sizeof(*l->route));
	x = &l->route[l->n++];
	*x = (struct route){.amount = amount, .n = a->n + b->n - 1};
	x->node = gv_xcalloc(x->n, sizeof(*x->node));
	memcpy(x->node, a->node, a->n * sizeof(*x->node));
	memcpy(x->node + a->n, b->node + 1, (b->n - 1) * sizeof(*x->node));
}

void
routes_start(struct routes *r, const struct fabric *f)
{
	size_t u, v;

	fabric_copy(&r->f, f);
	r->pair = gv_xcalloc(f->n * f->n + 1, sizeof(*r->pair));
	for (u = 0; u < f->n; u++)
		for (v = 0; v < f->n; v++) {
			struct route a = {.node = &u, .n = 1};
			size_t two[2] = {u, v};
			struct route b = {.node = two, .n = 2};

			if (fabric_cap(f, u, v) > 0)
				append(list_of(r, u, v), fabric_cap(f, u, v), &a, &b);
		}
}

void
routes_free(struct routes *r)
{
	size_t i, k;

	for (i = 0; i < r->f.n * r->f.n; i++) {
		for (k = 0; k < r->pair[i].n; k++)
			free(r->pair[i].route[k].node);
		free(r->pair[i].route);
	}
	free(r->pair);
	fabric_free(&r->f);
	*r = (struct routes){0};
}

const struct route *
routes_front(const struct routes *r, size_t u, size_t t)
{
	const struct route_list *l = list_of(r, u, t);

	return l->used < l->n ? &l->route[l->used] : NULL;
}

void
routes_take(struct routes *r, size_t u, size_t t, int64_t amount)
{
	struct route_list *l = list_of(r, u, t);

	l->route[l->used].amount -= amount;
	if (l->route[l->used].amount == 0)
		l->used++;
}

void
routes_join(struct routes *r, size_t u, size_t w, size_t t, int64_t amount)
{
	fabric_cap(&r->f, u, w) -= amount;
	fabric_cap(&r->f, w, t) -= amount;
	if (u != t)
		fabric_cap(&r->f, u, t) += amount;
	while (amount > 0) {
		const struct route *in = routes_front(r, u, w),
				   *on = routes_front(r, w, t);
		int64_t some = amount;

		GV_HOLDS(
		    in != NULL && on != NULL); /* routes come to what a pair carries */
		some = in->amount < some ? in->amount : some;
		some = on->amount < some ? on->amount : some;
		if (u != t)
			append(list_of(r, u, t), some, in, on);
		routes_take(r, u, w, some);
		routes_take(r, w, t, some);
		amount -= some;
	}
}
