#include "ways.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "table/kind.h"

static int
in_order(const void *x, const void *y)
{
	const struct link *a = x, *b = y;
	int c = strcmp(a->src, b->src);

	return c != 0 ? c : strcmp(a->dst, b->dst);
}

/* Those of a pair by rate, so that they add up alike in whatever order the sort leaves them. */
static int
in_order_of_rates(const void *x, const void *y)
{
	const struct link *a = x, *b = y;
	int c = in_order(x, y);

	if (c != 0)
		return c;
	return a->bytes_per_s < b->bytes_per_s ? -1 : a->bytes_per_s > b->bytes_per_s;
}

static char *
text(struct ways *s, struct gv_cell c)
{
	return gv_arena_strndup(&s->arena, c.s, c.len);
}

static int
read_links(struct ways *s, const struct gv_frame *f, double slower, struct gv_error *e)
{
	ptrdiff_t src, dst, rate;
	size_t i, n = 0;

	if (gv_frame_expect(f, GV_KIND_LINKS, e) != 0 ||
	    gv_frame_require(f, "src", &src, e) != 0 ||
	    gv_frame_require(f, "dst", &dst, e) != 0 ||
	    gv_frame_require(f, "gbytes_per_s", &rate, e) != 0)
		return -1;
	s->link = gv_xcalloc(f->n_rows + 1, sizeof(*s->link));
	for (i = 0; i < f->n_rows; i++) {
		double v;

		if (gv_frame_double(f, i, rate, NAN, &v, e) != 0)
			return -1;
		if (!(v >= 0 && v <= 1e6))
			return gv_frame_error(
			    f, i, rate, e, "expected 0 to 1000000 GB/s, got %g", v);
		s->link[i] = (struct link){text(s, gv_frame_cell(f, i, src)),
		    text(s, gv_frame_cell(f, i, dst)), v * 1e9 / slower};
	}
	qsort(s->link, f->n_rows, sizeof(*s->link), in_order_of_rates);
	for (i = 0; i < f->n_rows; i++)
		if (n > 0 && in_order(&s->link[n - 1], &s->link[i]) == 0)
			s->link[n - 1].bytes_per_s += s->link[i].bytes_per_s;
		else
			s->link[n++] = s->link[i];
	s->n_links = n;
	return 0;
}

static int
add_hop(struct ways *s, const char *src, const char *dst, struct gv_error *e)
{
	struct link want = {src, dst, 0}, *found;

	found = bsearch(&want, s->link, s->n_links, sizeof(*s->link), in_order);
	if (found == NULL || found->bytes_per_s <= 0)
		return gv_error_set(e,
		    "the trees use a link from \"%s\" to \"%s\": there is none", src,
		    dst);
	s->hop = gv_xgrow(s->hop, &s->cap_hops, s->n_hops + 1, sizeof(*s->hop));
	s->hop[s->n_hops++] = (size_t)(found - s->link);
	return 0;
}

/* The hops from one GPU to another by the switches of path. */
static int
add_way(struct ways *s, struct way *w, const char *src, const char *dst, const char *path,
    struct gv_error *e)
{
	w->first = s->n_hops;
	while (*path != '\0') {
		size_t len = strcspn(path, ";");
		const char *next = gv_arena_strndup(&s->arena, path, len);

		if (add_hop(s, src, next, e) != 0)
			return -1;
		src = next;
		path += len + (path[len] == ';');
	}
	if (add_hop(s, src, dst, e) != 0)
		return -1;
	w->n = s->n_hops - w->first;
	return 0;
}

static struct way *
slot_of(const struct ways *s, size_t tree, bool up, int below)
{
	return &s->way[(2 * tree + !up) * (size_t)s->t->n + (size_t)below];
}

const struct way *
way_of(const struct ways *s, size_t tree, bool up, int below)
{
	return slot_of(s, tree, up, below);
}

static int
add_ways(struct ways *s, size_t tree, bool up, struct gv_error *e)
{
	const struct gv_tree *x = &s->t->tree[tree];
	const struct gv_tree_phase *p = up ? &x->up : &x->down;
	int r;

	for (r = 0; p->above != NULL && r < s->t->n; r++) {
		const char *below = s->t->name[r], *above;

		if (p->above[r] == -1)
			continue;
		above = s->t->name[p->above[r]];
		if (add_way(s, slot_of(s, tree, up, r), up ? below : above,
			up ? above : below, p->path[r], e) != 0)
			return -1;
	}
	return 0;
}

int
ways_read(struct ways *s, const struct gv_trees *t, const struct gv_frame *frame,
    double slower, struct gv_error *e)
{
	size_t k;
	int rc;

	*s = (struct ways){.t = t};
	s->way = gv_xcalloc(2 * t->n_trees * (size_t)t->n, sizeof(*s->way));
	rc = read_links(s, frame, slower, e);
	for (k = 0; rc == 0 && k < t->n_trees; k++)
		if (add_ways(s, k, true, e) != 0 || add_ways(s, k, false, e) != 0)
			rc = -1;
	if (rc != 0)
		ways_free(s);
	return rc;
}

void
ways_free(struct ways *s)
{
	free(s->link);
	free(s->hop);
	free(s->way);
	gv_arena_free(&s->arena);
	*s = (struct ways){0};
}
