#include "coll/trees.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "net/gang.h"
#include "table/kind.h"

enum { TREES_MAX = 10000 };

const char *const gv_collective_name[GV_COLLECTIVES] = {
    "broadcast", "reduce", "allreduce", "allgather", "reducescatter"};

bool
gv_collective_has_root(enum gv_collective c)
{
	return c == GV_BROADCAST || c == GV_REDUCE;
}

bool
gv_collective_has_blocks(enum gv_collective c)
{
	return c == GV_ALL_GATHER || c == GV_REDUCE_SCATTER;
}

/* ---- names ---- */

static int
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Digits as numbers, everything else as bytes. */
static int
in_order(const char *a, const char *b)
{
	const char *whole_a = a, *whole_b = b;

	while (*a != '\0' && *b != '\0') {
		if (is_digit(*a) && is_digit(*b)) {
			size_t n, m;

			while (*a == '0' && is_digit(a[1]))
				a++;
			while (*b == '0' && is_digit(b[1]))
				b++;
			for (n = 0; is_digit(a[n]); n++)
				;
			for (m = 0; is_digit(b[m]); m++)
				;
			if (n != m)
				return n < m ? -1 : 1;
			if (strncmp(a, b, n) != 0)
				return strncmp(a, b, n);
			a += n;
			b += n;
		} else if (*a != *b) {
			return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
		} else {
			a++;
			b++;
		}
	}
	if (*a != *b)
		return *a == '\0' ? -1 : 1;
	return strcmp(whole_a, whole_b);
}

static int
compare_names(const void *a, const void *b)
{
	return in_order(*(const char *const *)a, *(const char *const *)b);
}

static int
rank_of(const struct gv_trees *t, struct gv_cell c)
{
	int low = 0, high = t->n;

	while (low < high) {
		int mid = (low + high) / 2;
		int order = in_order(t->name[mid], c.s);

		if (order == 0)
			return mid;
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return -1;
}

/* ---- reading ---- */

struct columns {
	ptrdiff_t tree, root, weight, phase, src, dst, path;
};

static int
find_columns(struct columns *c, const struct gv_frame *f, struct gv_error *e)
{
	c->path = gv_frame_find(f, "path");
	if (gv_frame_expect(f, GV_KIND_TREES, e) != 0 ||
	    gv_frame_require(f, "tree", &c->tree, e) != 0 ||
	    gv_frame_require(f, "root", &c->root, e) != 0 ||
	    gv_frame_require(f, "weight", &c->weight, e) != 0 ||
	    gv_frame_require(f, "phase", &c->phase, e) != 0 ||
	    gv_frame_require(f, "src", &c->src, e) != 0 ||
	    gv_frame_require(f, "dst", &c->dst, e) != 0)
		return -1;
	return 0;
}

/* Every GPU of a tree but its root sends or receives: the names of the ends are all. */
static int
read_names(struct gv_trees *t, const struct gv_frame *f, const struct columns *c,
    struct gv_error *e)
{
	const char **all = gv_xcalloc(2 * f->n_rows + 1, sizeof(*all));
	size_t i, n = 0, kept = 0;

	for (i = 0; i < f->n_rows; i++) {
		all[n++] = gv_frame_cell(f, i, c->src).s;
		all[n++] = gv_frame_cell(f, i, c->dst).s;
	}
	qsort(all, n, sizeof(*all), compare_names);
	for (i = 0; i < n; i++)
		if (kept == 0 || strcmp(all[i], all[kept - 1]) != 0)
			all[kept++] = all[i];
	if (kept < 2 || kept > GV_GANG_MAX) {
		free(all);
		return gv_error_at(e, f->file, 0, NULL,
		    "trees over %zu GPUs; a collective has 2 to %d", kept, GV_GANG_MAX);
	}
	t->n = (int)kept;
	t->name = gv_arena_alloc(&t->arena, kept, sizeof(*t->name));
	for (i = 0; i < kept; i++)
		t->name[i] = gv_arena_strndup(&t->arena, all[i], strlen(all[i]));
	free(all);
	return 0;
}

static void
start_phase(struct gv_trees *t, struct gv_tree_phase *p)
{
	int r;

	p->above = gv_arena_alloc(&t->arena, (size_t)t->n, sizeof(*p->above));
	p->path = gv_arena_alloc(&t->arena, (size_t)t->n, sizeof(*p->path));
	for (r = 0; r < t->n; r++) {
		p->above[r] = -1;
		p->path[r] = "";
	}
}

/* The tree of a row, a new one where it is the first; NULL with *e. */
static struct gv_tree *
tree_of_row(struct gv_trees *t, size_t *cap, const struct gv_frame *f,
    const struct columns *c, size_t row, struct gv_error *e)
{
	struct gv_tree *x = NULL;
	struct gv_cell name = gv_frame_cell(f, row, c->root);
	int root = rank_of(t, name);
	char q[GV_QUOTE_LEN];
	double weight;
	int64_t id;
	size_t k;

	if (gv_frame_int(f, row, c->tree, INT64_MIN, &id, e) != 0 ||
	    gv_frame_double(f, row, c->weight, NAN, &weight, e) != 0)
		return NULL;
	if (!(weight > 0 && weight <= 1e6)) {
		gv_frame_error(
		    f, row, c->weight, e, "expected GB/s above 0, got %g", weight);
		return NULL;
	}
	if (root < 0) {
		gv_frame_error(f, row, c->root, e, "%s is no GPU of these trees",
		    gv_quote(q, name.s, name.len));
		return NULL;
	}
	for (k = t->n_trees; x == NULL && k > 0; k--)
		if (t->tree[k - 1].id == id)
			x = &t->tree[k - 1];
	if (x != NULL && (x->root != root || x->weight != weight)) {
		gv_frame_error(f, row, x->root != root ? c->root : c->weight, e,
		    "tree %ld has another one above", x->id);
		return NULL;
	}
	if (x == NULL && t->n_trees == TREES_MAX) {
		gv_frame_error(f, row, c->tree, e, "more than %d trees", TREES_MAX);
		return NULL;
	}
	if (x == NULL) {
		t->tree = gv_xgrow(t->tree, cap, t->n_trees + 1, sizeof(*t->tree));
		x = &t->tree[t->n_trees++];
		*x = (struct gv_tree){.id = (long)id, .root = root, .weight = weight};
	}
	return x;
}

static int
read_row(struct gv_trees *t, size_t *cap, const struct gv_frame *f,
    const struct columns *c, size_t row, struct gv_error *e)
{
	struct gv_tree *x = tree_of_row(t, cap, f, c, row, e);
	struct gv_cell phase = gv_frame_cell(f, row, c->phase);
	struct gv_cell path = gv_frame_cell(f, row, c->path);
	int src = rank_of(t, gv_frame_cell(f, row, c->src));
	int dst = rank_of(t, gv_frame_cell(f, row, c->dst));
	bool up = gv_cell_is(phase, "reduce");
	struct gv_tree_phase *p;
	int below = up ? src : dst, above = up ? dst : src;

	if (x == NULL)
		return -1;
	if (!up && !gv_cell_is(phase, "broadcast"))
		return gv_frame_expected(f, row, c->phase, e, "reduce or broadcast");
	p = up ? &x->up : &x->down;
	if (p->above == NULL)
		start_phase(t, p);
	if (src == dst || below == x->root || p->above[below] != -1)
		return gv_frame_error(f, row, up ? c->src : c->dst, e,
		    "tree %ld: \"%s\" %s", x->id, t->name[below],
		    src == dst               ? "is linked to itself"
		    : below == x->root && up ? "is the root and sends"
		    : below == x->root       ? "is the root and receives"
		    : up                     ? "sends twice"
					     : "receives twice");
	p->above[below] = above;
	p->path[below] = gv_arena_strndup(&t->arena, path.s, path.len);
	return 0;
}

/* ---- what the rows make ---- */

/* Whether all ways lead to the root; then the depth. */
static int
check_phase(const struct gv_trees *t, const struct gv_tree *x, struct gv_tree_phase *p,
    const char *file, struct gv_error *e)
{
	int r;

	for (r = 0; r < t->n; r++) {
		size_t steps = 0;
		int at = r;

		while (at != x->root && p->above[at] != -1 && steps <= (size_t)t->n) {
			at = p->above[at];
			steps++;
		}
		if (at != x->root)
			return gv_error_at(e, file, 0, NULL,
			    "tree %ld: no way between \"%s\" and its root \"%s\" in "
			    "phase %s",
			    x->id, t->name[r], t->name[x->root],
			    p == &x->up ? "reduce" : "broadcast");
		p->depth = steps > p->depth ? steps : p->depth;
	}
	return 0;
}

static int
check_tree(struct gv_trees *t, struct gv_tree *x, const char *file, struct gv_error *e)
{
	const struct gv_tree *first = &t->tree[0];

	if ((x->up.above == NULL) != (first->up.above == NULL) ||
	    (x->down.above == NULL) != (first->down.above == NULL))
		return gv_error_at(e, file, 0, NULL,
		    "tree %ld has other phases than tree %ld: trees of one collective "
		    "are alike",
		    x->id, first->id);
	if (x->up.above != NULL && check_phase(t, x, &x->up, file, e) != 0)
		return -1;
	if (x->down.above != NULL && check_phase(t, x, &x->down, file, e) != 0)
		return -1;
	if (x->up.depth + x->down.depth > t->depth)
		t->depth = x->up.depth + x->down.depth;
	t->weight += x->weight;
	return 0;
}

static int
find_collective(struct gv_trees *t, const char *file, struct gv_error *e)
{
	bool up = t->tree[0].up.above != NULL, down = t->tree[0].down.above != NULL;
	bool *is_root = gv_xcalloc((size_t)t->n, sizeof(*is_root));
	int roots = 0;
	size_t k;

	for (k = 0; k < t->n_trees; k++) {
		roots += !is_root[t->tree[k].root];
		is_root[t->tree[k].root] = true;
	}
	free(is_root);
	if (up && down)
		t->collective = GV_ALL_REDUCE;
	else if (roots == 1)
		t->collective = up ? GV_REDUCE : GV_BROADCAST;
	else if (roots == t->n)
		t->collective = up ? GV_REDUCE_SCATTER : GV_ALL_GATHER;
	else
		return gv_error_at(e, file, 0, NULL,
		    "%d of %d GPUs are roots; expected one (%s) or all (%s)", roots, t->n,
		    gv_collective_name[up ? GV_REDUCE : GV_BROADCAST],
		    gv_collective_name[up ? GV_REDUCE_SCATTER : GV_ALL_GATHER]);
	return 0;
}

static int
read_all(struct gv_trees *t, const struct gv_frame *f, struct gv_error *e)
{
	struct columns c;
	size_t i, k, cap = 0;

	if (find_columns(&c, f, e) != 0 || read_names(t, f, &c, e) != 0)
		return -1;
	for (i = 0; i < f->n_rows; i++)
		if (read_row(t, &cap, f, &c, i, e) != 0)
			return -1;
	for (k = 0; k < t->n_trees; k++)
		if (check_tree(t, &t->tree[k], f->file, e) != 0)
			return -1;
	return find_collective(t, f->file, e);
}

int
gv_trees_read(struct gv_trees *t, const struct gv_frame *f, struct gv_error *e)
{
	*t = (struct gv_trees){0};
	if (read_all(t, f, e) == 0)
		return 0;
	gv_trees_free(t);
	return -1;
}

void
gv_trees_free(struct gv_trees *t)
{
	free(t->tree);
	gv_arena_free(&t->arena);
	*t = (struct gv_trees){0};
}

static uLong
add_phase(uLong crc, const struct gv_tree_phase *p, int n)
{
	if (p->above == NULL)
		return crc32_z(crc, (const Bytef *)"", 1);
	return crc32_z(crc, (const Bytef *)p->above, (size_t)n * sizeof(*p->above));
}

uint32_t
gv_trees_crc(const struct gv_trees *t)
{
	uLong crc = crc32(0, NULL, 0);
	size_t k;
	int r;

	for (r = 0; r < t->n; r++)
		crc = crc32_z(crc, (const Bytef *)t->name[r], strlen(t->name[r]) + 1);
	for (k = 0; k < t->n_trees; k++) {
		const struct gv_tree *x = &t->tree[k];

		crc = crc32_z(crc, (const Bytef *)&x->root, sizeof(x->root));
		crc = crc32_z(crc, (const Bytef *)&x->weight, sizeof(x->weight));
		crc = add_phase(add_phase(crc, &x->up, t->n), &x->down, t->n);
	}
	return (uint32_t)crc;
}

/* ---- parts ---- */

size_t
gv_trees_part(const struct gv_trees *t, size_t k, size_t count, size_t *first)
{
	bool blocks = gv_collective_has_blocks(t->collective);
	int root = t->tree[k].root;
	double all = 0, before = 0;
	size_t i, from, to;

	for (i = 0; i < t->n_trees; i++) {
		if (blocks && t->tree[i].root != root)
			continue;
		all += t->tree[i].weight;
		if (i < k)
			before += t->tree[i].weight;
	}
	/* sums in one order: where one ends the next one begins, and the last ends with the part */
	from = (size_t)((double)count * (before / all));
	to = (size_t)((double)count * ((before + t->tree[k].weight) / all));
	*first = from + (blocks ? (size_t)root * count : 0);
	return to - from;
}

size_t
gv_trees_chunk(const struct gv_trees *t, size_t k, size_t size, size_t chunk_bytes)
{
	double largest = 0, elements;
	size_t i;

	for (i = 0; i < t->n_trees; i++)
		if (t->tree[i].weight > largest)
			largest = t->tree[i].weight;
	elements = (double)chunk_bytes / (double)size * t->tree[k].weight / largest;
	return elements < 1 ? 1 : (size_t)(elements + .5);
}

size_t
gv_trees_cut(size_t n, size_t most, size_t *chunk)
{
	size_t chunks = (n + most - 1) / most;

	*chunk = chunks > 0 ? (n + chunks - 1) / chunks : 0;
	/* rounding up may leave none for the last */
	return chunks > 0 ? (n + *chunk - 1) / *chunk : 0;
}
