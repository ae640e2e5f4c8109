/*
 * common/coll: every collective over random trees, by forked processes, element by
 * element against a plain reference; counts that do not divide, windows that wrap.
 */
#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "coll/coll.h"
#include "net/local.h"
#include "net/mesh.h"
#include "tap.h"

static uint64_t draws;

static size_t
draw(size_t n)
{
	return (size_t)(gv_random_uniform(17, 3, 1, draws++) * (double)n) % n;
}

/* ---- random trees, by way of their table ---- */

static void
add_row(
    struct gv_frame *f, size_t tree, int root, double weight, bool up, int src, int dst)
{
	char text[6][32];
	struct gv_cell cell[7];
	size_t i;

	snprintf(text[0], 32, "%zu", tree);
	snprintf(text[1], 32, "gpu%d", root);
	snprintf(text[2], 32, "%.17g", weight);
	snprintf(text[3], 32, "%s", up ? "reduce" : "broadcast");
	snprintf(text[4], 32, "gpu%d", src);
	snprintf(text[5], 32, "gpu%d", dst);
	for (i = 0; i < 6; i++)
		cell[i] = (struct gv_cell){text[i], strlen(text[i])};
	cell[6] = (struct gv_cell){"", 0};
	gv_frame_add(f, cell, 2);
}

/* A random tree over n: each joins one of those before it in a random order. */
static void
random_tree(int n, int root, int *above)
{
	int order[64], i, k;

	for (i = 0; i < n; i++)
		order[i] = i;
	order[0] = root;
	order[root] = 0;
	for (i = n - 1; i > 1; i--) {
		int at = 1 + (int)draw((size_t)i), was = order[i];

		order[i] = order[at];
		order[at] = was;
	}
	above[root] = -1;
	k = draw(3) == 0; /* a chain now and then */
	for (i = 1; i < n; i++)
		above[order[i]] = order[k ? (size_t)i - 1 : draw((size_t)i)];
}

/* Chunks of half the largest weight have half as many elements, to the nearest. */
static bool
chunks_are_right(const struct gv_trees *t)
{
	double largest = 0;
	size_t k, elements, bad = 0;

	for (k = 0; k < t->n_trees; k++)
		largest = fmax(largest, t->tree[k].weight);
	for (k = 0; k < t->n_trees; k++)
		for (elements = 1; elements < 40; elements++) {
			double exact = (double)elements * t->tree[k].weight / largest;
			size_t n = gv_trees_chunk(t, k, 8, 8 * elements);

			bad += n < 1 || (exact >= 1 && fabs((double)n - exact) > .5) ||
			       (exact < 1 && n != 1);
		}
	return bad == 0;
}

static void
random_trees(struct gv_trees *t, int n, size_t per_root, enum gv_collective of)
{
	static const char *const names[] = {
	    "tree", "root", "weight", "phase", "src", "dst", "path"};
	struct gv_cell head[7];
	struct gv_frame f = {0};
	struct gv_error e = {0};
	bool blocks = gv_collective_has_blocks(of);
	size_t n_trees = blocks ? (size_t)n * per_root : per_root, k;
	int above[64], r, one_root = (int)draw((size_t)n);
	double all = 0;

	for (k = 0; k < 7; k++)
		head[k] = (struct gv_cell){names[k], strlen(names[k])};
	gv_frame_start(&f, "trees", false, head, 7);
	for (k = 0; k < n_trees; k++) {
		double weight = (double)(1 + draw(9)) / 3;
		int root = blocks                ? (int)(k % (size_t)n)
			   : of == GV_ALL_REDUCE ? (int)draw((size_t)n)
						 : one_root;

		all += weight;
		if (of == GV_ALL_REDUCE || of == GV_REDUCE || of == GV_REDUCE_SCATTER) {
			random_tree(n, root, above);
			for (r = 0; r < n; r++)
				if (r != root)
					add_row(&f, k, root, weight, true, r, above[r]);
		}
		if (of == GV_ALL_REDUCE || of == GV_BROADCAST || of == GV_ALL_GATHER) {
			random_tree(n, root, above);
			for (r = 0; r < n; r++)
				if (r != root)
					add_row(&f, k, root, weight, false, above[r], r);
		}
	}
	ok(gv_trees_read(t, &f, &e) == 0 && t->collective == of && t->n == n &&
		t->n_trees == n_trees && fabs(t->weight - all) < 1e-9 * all,
	    "%zu trees of %s over %d are read%s%s", n_trees, gv_collective_name[of], n,
	    e.count > 0 ? ": " : "", e.text[0]);
	ok(chunks_are_right(t), "and chunks are as the weights, of an element at least");
	gv_frame_free(&f);
}

/* ---- one member ---- */

/* Whole numbers, so that sums in any order are exact. */
static double
value(int rank, size_t i)
{
	return (double)((i * 7 + (size_t)rank * 13 + i / 1021) % 61) - 20;
}

static double
wanted(enum gv_coll_op op, int n, size_t i)
{
	double x = value(0, i);
	int r;

	for (r = 1; r < n; r++) {
		double y = value(r, i);

		if (op == GV_COLL_SUM)
			x += y;
		else if (op == GV_COLL_MAX ? y > x : y < x)
			x = y;
	}
	return x;
}

static void
put(void *b, enum gv_coll_type type, size_t i, double v)
{
	if (type == GV_COLL_FLOAT)
		((float *)b)[i] = (float)v;
	else
		((double *)b)[i] = v;
}

static double
get(const void *b, enum gv_coll_type type, size_t i)
{
	return type == GV_COLL_FLOAT ? (double)((const float *)b)[i]
				     : ((const double *)b)[i];
}

struct trial {
	const struct gv_trees *t;
	enum gv_coll_type type;
	enum gv_coll_op op;
	size_t chunk_bytes;
	const size_t *count;
	size_t n_counts;
	bool in_place;
	enum gv_local_kind kind;
};

/* Elements of what a member has to begin with, and where they are counted from. */
static size_t
given(const struct trial *x, int rank, size_t count, size_t *from)
{
	*from = x->t->collective == GV_ALL_GATHER ? (size_t)rank * count : 0;
	return x->t->collective == GV_REDUCE_SCATTER ? count * (size_t)x->t->n : count;
}

static size_t
wrong(const struct trial *x, int rank, size_t count, const void *out)
{
	enum gv_collective of = x->t->collective;
	int n = x->t->n, root = x->t->tree[0].root;
	size_t i, bad = 0, from = of == GV_REDUCE_SCATTER ? (size_t)rank * count : 0;
	size_t end = of == GV_ALL_GATHER ? count * (size_t)n : count;

	if (of == GV_REDUCE && rank != root)
		return 0;
	for (i = 0; i < end; i++) {
		double want = of == GV_BROADCAST    ? value(root, i)
			      : of == GV_ALL_GATHER ? value((int)(i / count), i)
						    : wanted(x->op, n, from + i);

		bad += get(out, x->type, i) != want;
	}
	return bad;
}

static int
one(const struct trial *x, int rank, struct gv_coll *c, size_t count)
{
	size_t size = gv_coll_type_size(x->type), whole = count * (size_t)x->t->n + 1, i;
	size_t from, n = given(x, rank, count, &from), bad;
	unsigned char *in = gv_xcalloc(whole, size), *out = gv_xcalloc(whole, size);
	unsigned char *to = out;
	struct gv_error e = {0};

	memset(out, 0x5a, whole * size);
	if (x->in_place && x->t->collective == GV_ALL_GATHER)
		to = out;
	if (x->in_place) { /* in is a part of out, or out of in */
		free(in);
		in =
		    out +
		    (x->t->collective == GV_ALL_GATHER ? (size_t)rank * count : 0) * size;
		if (x->t->collective == GV_REDUCE_SCATTER)
			to = out + (size_t)rank * count * size;
	}
	for (i = 0; i < n; i++)
		put(in, x->type, i, value(rank, from + i));
	gv_coll_begin(c, in, to, count);
	if (gv_coll_wait(c, &e) != 0) {
		fprintf(stderr, "# rank %d: %s\n", rank, e.text[0]);
		return 1;
	}
	bad = wrong(x, rank, count, to);
	/* what was given is as it was */
	for (i = 0; !x->in_place && i < n; i++)
		bad += get(in, x->type, i) != value(rank, from + i);
	if (bad > 0)
		fprintf(stderr, "# rank %d: %zu wrong of %zu\n", rank, bad, count);
	if (!x->in_place)
		free(in);
	free(out);
	return bad > 0;
}

static int
member(const struct trial *x, struct gv_local *l, int rank)
{
	struct gv_link **link = gv_xcalloc((size_t)x->t->n, sizeof(struct gv_link *));
	struct gv_coll_spec s = {.trees = x->t,
	    .rank = rank,
	    .type = x->type,
	    .op = x->op,
	    .chunk_bytes = x->chunk_bytes};
	struct gv_gang *g;
	struct gv_coll *c;
	size_t i;
	int rc = 0;

	gv_local_take(l, rank, link);
	g = gv_mesh_new(rank, x->t->n, link, 20);
	free(link);
	c = gv_coll_new(g, &s);
	for (i = 0; rc == 0 && i < x->n_counts; i++)
		rc = one(x, rank, c, x->count[i]);
	gv_coll_free(c);
	gv_gang_leave(g);
	return rc;
}

/* Members that are neighbours in some tree. */
static bool
joined(const void *ctx, int a, int b)
{
	const struct gv_trees *t = ctx;
	size_t k;

	for (k = 0; k < t->n_trees; k++) {
		const struct gv_tree_phase *p = &t->tree[k].up, *q = &t->tree[k].down;

		if (p->above != NULL && (p->above[a] == b || p->above[b] == a))
			return true;
		if (q->above != NULL && (q->above[a] == b || q->above[b] == a))
			return true;
	}
	return false;
}

/* Descriptors that are open. */
static int
descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d != NULL && readdir(d) != NULL)
		n++;
	if (d != NULL)
		closedir(d);
	return n;
}

static bool
any_two(const void *ctx, int a, int b)
{
	(void)ctx;
	return a != b;
}

static void
test_descriptors(enum gv_local_kind kind)
{
	int before = descriptors();
	struct gv_local *l;
	struct gv_error e = {0};

	if (gv_local_open(&l, 4, kind, any_two, NULL, &e) != 0)
		gv_die_error(&e);
	if (kind == GV_LOCAL_TCP)
		is_int(descriptors(), before + 12, "%s: two descriptors a link",
		    gv_local_name[kind]);
	gv_local_close(l);
	is_int(descriptors(), before, "%s: none stays open", gv_local_name[kind]);
}

static int
run(const struct trial *x)
{
	struct gv_local *l;
	struct gv_error e = {0};
	int r, bad = 0, status;

	if (gv_local_open(&l, x->t->n, x->kind, joined, x->t, &e) != 0) {
		printf("# %s\n", e.text[0]);
		return -1;
	}
	fflush(stdout);
	for (r = 0; r < x->t->n; r++)
		if (fork() == 0)
			_exit(member(x, l, r));
	gv_local_close(l);
	for (r = 0; r < x->t->n; r++) {
		wait(&status);
		bad += status != 0;
	}
	return bad;
}

static void
try_all(enum gv_local_kind kind)
{
	size_t round;

	for (round = 0; round < 40; round++) {
		enum gv_collective of = (enum gv_collective)(round % GV_COLLECTIVES);
		int n = 2 + (int)draw(7);
		size_t big = draw(60000), count[] = {0, 1, (size_t)n - 1, (size_t)n,
					      (size_t)n + 1, 97, 1000 + draw(1000), big};
		struct gv_trees t;
		struct trial x = {.t = &t,
		    .type = draw(2) ? GV_COLL_FLOAT : GV_COLL_DOUBLE,
		    .op = (enum gv_coll_op)draw(3),
		    .count = count,
		    .n_counts = 8,
		    .in_place = draw(2),
		    .kind = kind};

		random_trees(&t, n, 1 + draw(4), of);
		/* from far less than an element (one each) to far more than all */
		x.chunk_bytes = (size_t)1 << (draw(18) + 4);
		if (x.chunk_bytes < 256)
			count[7] = 5000;
		is_int(run(&x), 0,
		    "%s, %s: %s over %d, %zu trees, %s of %s, chunks of %zu%s",
		    gv_local_name[kind], "right", gv_collective_name[of], n, t.n_trees,
		    gv_coll_op_name[x.op], gv_coll_type_name[x.type], x.chunk_bytes,
		    x.in_place ? ", in place" : "");
		gv_trees_free(&t);
	}
}

int
main(void)
{
	test_descriptors(GV_LOCAL_TCP);
	test_descriptors(GV_LOCAL_MEMORY);
	try_all(GV_LOCAL_TCP);
	try_all(GV_LOCAL_MEMORY);
	gv_coll_free(NULL); /* nothing */
	return done_testing();
}
