/*
 * common/coll/trees.h: trees read from their table, what is no such table, and which elements
 * each tree carries.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "coll/trees.h"
#include "draws.h"
#include "net/gang.h"
#include "tap.h"

static const char head[] = "tree,root,weight,phase,src,dst\n";

/* Reads rows; what is wrong with them, "" = nothing. */
static const char *
read_rows(struct gv_trees *t, const char *columns, const char *rows)
{
	static struct gv_error e;
	struct gv_strbuf b = {0};
	struct gv_frame f;

	gv_error_clear(&e);
	*t = (struct gv_trees){0};
	gv_strbuf_fmt(&b, "%s%s", columns, rows);
	if (gv_frame_parse(&f, "t", b.s, b.len, &e) == 0) {
		gv_trees_read(t, &f, &e);
		gv_frame_free(&f);
	}
	gv_strbuf_free(&b);
	return e.count > 0 ? e.text[0] : "";
}

static void
refused(const char *rows, const char *want)
{
	struct gv_trees t;

	is_str(read_rows(&t, head, rows), want, "%s", want);
	ok(t.n == 0 && t.tree == NULL, "nothing is left of them");
	gv_trees_free(&t);
}

static void
collective(const char *rows, enum gv_collective want, size_t depth, double weight)
{
	struct gv_trees t;

	is_str(read_rows(&t, head, rows), "", "%s is read", gv_collective_name[want]);
	is_int(t.collective, want, "for what it is");
	is_int((long long)t.depth, (long long)depth, "its depth");
	is_near(t.weight, weight, 1e-12, "its weight");
	gv_trees_free(&t);
}

static void
test_collectives(void)
{
	collective("0,a,2,broadcast,a,b\n0,a,2,broadcast,b,c\n", GV_BROADCAST, 2, 2);
	collective(
	    "0,a,2,reduce,b,a\n0,a,2,reduce,c,a\n1,a,.5,reduce,c,a\n1,a,.5,reduce,b,"
	    "c\n",
	    GV_REDUCE, 2, 2.5);
	collective("5,b,1e6,broadcast,b,a\n5,b,1e6,reduce,a,b\n", GV_ALL_REDUCE, 2, 1e6);
	collective(
	    "0,a,1,broadcast,a,b\n0,a,1,reduce,b,a\n1,b,1,broadcast,b,a\n1,b,1,reduce,"
	    "a,b\n",
	    GV_ALL_REDUCE, 2, 2);
	collective("0,a,1,broadcast,a,b\n-7,b,3,broadcast,b,a\n", GV_ALL_GATHER, 1, 4);
	collective("0,a,1,reduce,b,a\n1,b,1,reduce,a,b\n", GV_REDUCE_SCATTER, 1, 2);
	ok(gv_collective_has_root(GV_BROADCAST) && gv_collective_has_root(GV_REDUCE) &&
		!gv_collective_has_root(GV_ALL_REDUCE) &&
		!gv_collective_has_root(GV_ALL_GATHER) &&
		!gv_collective_has_root(GV_REDUCE_SCATTER),
	    "which have a root");
	ok(!gv_collective_has_blocks(GV_BROADCAST) &&
		!gv_collective_has_blocks(GV_REDUCE) &&
		!gv_collective_has_blocks(GV_ALL_REDUCE) &&
		gv_collective_has_blocks(GV_ALL_GATHER) &&
		gv_collective_has_blocks(GV_REDUCE_SCATTER),
	    "and which have blocks");
}

static void
test_neighbours(void)
{
	struct gv_trees t;
	const struct gv_tree_phase *up, *down;

	is_str(read_rows(&t, "path,dst,src,phase,weight,root,tree\n",
		   "s1;s2,b,a,broadcast,1,a,9\n,c,b,broadcast,1,a,9\n"
		   "x,c,b,reduce,1,a,9\n,a,c,reduce,1,a,9\n"),
	    "", "columns in another order, with paths");
	up = &t.tree[0].up;
	down = &t.tree[0].down;
	ok(t.n == 3 && t.n_trees == 1 && t.tree[0].id == 9 && t.tree[0].root == 0,
	    "a tree over three");
	ok(down->above[0] == -1 && down->above[1] == 0 && down->above[2] == 1,
	    "each gets from the one above");
	ok(up->above[0] == -1 && up->above[1] == 2 && up->above[2] == 0,
	    "and sends to it");
	ok(up->depth == 2 && down->depth == 2 && t.depth == 4, "as deep as its ways");
	ok(strcmp(down->path[1], "s1;s2") == 0 && down->path[2][0] == '\0' &&
		down->path[0][0] == '\0' && strcmp(up->path[1], "x") == 0 &&
		up->path[2][0] == '\0',
	    "by way of switches");
	gv_trees_free(&t);
	read_rows(&t, head, "0,a,1,broadcast,a,b\n");
	ok(t.n == 2 && t.tree[0].up.above == NULL && t.tree[0].down.path[1][0] == '\0',
	    "without paths");
	gv_trees_free(&t);
}

static void
test_refused(void)
{
	struct gv_trees t;

	refused("", "t: trees over 0 GPUs; a collective has 2 to 1024");
	refused(
	    "0,a,1,broadcast,a,a\n", "t: trees over 1 GPUs; a collective has 2 to 1024");
	refused("0,a,0,broadcast,a,b\n", "t:2: weight: expected GB/s above 0, got 0");
	refused("0,a,-1,broadcast,a,b\n", "t:2: weight: expected GB/s above 0, got -1");
	refused("0,a,1000001,broadcast,a,b\n",
	    "t:2: weight: expected GB/s above 0, got 1e+06");
	refused("0,a,,broadcast,a,b\n", "t:2: weight: expected a number, got nothing");
	refused(",a,1,broadcast,a,b\n", "t:2: tree: expected an integer, got nothing");
	refused("0,c,1,broadcast,a,b\n", "t:2: root: \"c\" is no GPU of these trees");
	refused("0,,1,broadcast,a,b\n", "t:2: root: \"\" is no GPU of these trees");
	refused("0,a,1,broadcast,a,b\n0,a,2,broadcast,a,c\n",
	    "t:3: weight: tree 0 has another one above");
	refused("0,a,1,broadcast,a,b\n1,a,2,broadcast,a,b\n0,b,1,broadcast,a,c\n",
	    "t:4: root: tree 0 has another one above");
	refused(
	    "0,a,1,send,a,b\n", "t:2: phase: expected reduce or broadcast, got \"send\"");
	refused("0,a,1,broadcast,a,b\n0,a,1,broadcast,c,c\n",
	    "t:3: dst: tree 0: \"c\" is linked to itself");
	refused("0,a,1,reduce,b,a\n0,a,1,reduce,c,c\n",
	    "t:3: src: tree 0: \"c\" is linked to itself");
	refused("0,a,1,reduce,a,b\n", "t:2: src: tree 0: \"a\" is the root and sends");
	refused(
	    "0,a,1,broadcast,b,a\n", "t:2: dst: tree 0: \"a\" is the root and receives");
	refused("3,a,1,reduce,b,a\n3,a,1,reduce,b,c\n",
	    "t:3: src: tree 3: \"b\" sends twice");
	refused("3,a,1,broadcast,a,b\n3,a,1,broadcast,a,b\n",
	    "t:3: dst: tree 3: \"b\" receives twice");
	refused("0,a,1,broadcast,a,b\n0,a,1,broadcast,d,c\n",
	    "t: tree 0: no way between \"c\" and its root \"a\" in phase broadcast");
	refused("0,a,1,reduce,b,c\n0,a,1,reduce,c,b\n0,a,1,reduce,d,a\n",
	    "t: tree 0: no way between \"b\" and its root \"a\" in phase reduce");
	refused("0,a,1,broadcast,a,b\n1,a,1,reduce,b,a\n",
	    "t: tree 1 has other phases than tree 0: trees of one collective are alike");
	refused("0,a,1,broadcast,a,b\n1,a,1,broadcast,a,b\n1,a,1,reduce,b,a\n",
	    "t: tree 1 has other phases than tree 0: trees of one collective are alike");
	refused("0,a,1,broadcast,a,b\n0,a,1,broadcast,a,c\n1,b,1,broadcast,b,a\n"
		"1,b,1,broadcast,b,c\n",
	    "t: 2 of 3 GPUs are roots; expected one (broadcast) or all (allgather)");
	refused("0,a,1,reduce,b,a\n0,a,1,reduce,c,a\n1,b,1,reduce,a,b\n"
		"1,b,1,reduce,c,b\n",
	    "t: 2 of 3 GPUs are roots; expected one (reduce) or all (reducescatter)");
	is_str(read_rows(&t, "src,dst,gbytes_per_s\n", "a,b,1\n"),
	    "t:1: this is a table of links; expected a table of trees (tree, root, "
	    "weight, "
	    "src, dst)",
	    "another table");
	gv_trees_free(&t);
}

/* As many GPUs, and trees, as there may be, and one more. */
static void
test_most(void)
{
	struct gv_strbuf b = {0};
	struct gv_trees t;
	int n, i;

	for (n = GV_GANG_MAX; n <= GV_GANG_MAX + 1; n++) {
		gv_strbuf_clear(&b);
		for (i = 1; i < n; i++)
			gv_strbuf_fmt(&b, "0,g0,1,broadcast,g%d,g%d\n", i - 1, i);
		is_str(read_rows(&t, head, b.s),
		    n == GV_GANG_MAX
			? ""
			: "t: trees over 1025 GPUs; a collective has 2 to 1024",
		    "a chain of %d", n);
		if (n == GV_GANG_MAX)
			is_int((long long)t.depth, n - 1, "which is as long");
		gv_trees_free(&t);
	}
	gv_strbuf_clear(&b);
	for (i = 0; i < 10000; i++)
		gv_strbuf_fmt(&b, "%d,a,1,broadcast,a,b\n", i);
	is_str(read_rows(&t, head, b.s), "", "10,000 trees");
	is_int((long long)t.n_trees, 10000, "are read");
	gv_trees_free(&t);
	gv_strbuf_str(&b, "10000,a,1,broadcast,a,b\n");
	is_str(read_rows(&t, head, b.s), "t:10002: tree: more than 10000 trees",
	    "and none more");
	gv_trees_free(&t);
	gv_strbuf_free(&b);
}

/* Names in any order of rows are ranks in this one. */
static void
test_names(void)
{
	static const char *const name[] = {"-", "0", "00", "1-", "01a", "1a", "2", "9",
	    "010", "10", "10b2", "10b10", "Z", "a", "a-1", "a0", "a000", "a1", "a1-x",
	    "a1b", "a2", "a9", "a10", "a11", "a19", "a20", "a100", "ab", "b", "n1g10",
	    "n2g1", "n2g3", "n10g2", "z", "\xc3\xa9"};
	enum { N = sizeof(name) / sizeof(name[0]) };
	int trial, wrong = 0, order[N], i, k;

	draws_begin(11, 3, 5);
	for (trial = 0; trial < 20; trial++) {
		struct gv_strbuf b = {0};
		struct gv_trees t;

		for (i = 0; i < N; i++)
			order[i] = i;
		for (i = N - 1; i > 0; i--) {
			int at = (int)below((size_t)i + 1), other = order[i];

			order[i] = order[at];
			order[at] = other;
		}
		for (i = 1; i < N; i++)
			gv_strbuf_fmt(&b, "0,%s,1,broadcast,%s,%s\n", name[order[0]],
			    name[order[i / 2]], name[order[i]]);
		wrong += *read_rows(&t, head, b.s) != '\0' || t.n != N ||
			 t.tree[0].root != order[0];
		for (i = 0; i < t.n; i++)
			wrong += strcmp(t.name[i], name[i]) != 0;
		for (k = 1; t.n == N && k < N; k++)
			wrong += t.tree[0].down.above[order[k]] != order[k / 2];
		gv_trees_free(&t);
		gv_strbuf_free(&b);
	}
	is_int(wrong, 0, "numbers in names are in order of numbers, all else of bytes");
}

/* What members must agree on is in the checksum, and no more. */
static void
test_crc(void)
{
	static const char *const rows[] = {"0,a,1,broadcast,a,b\n0,a,1,broadcast,a,c\n",
	    "0,a,1,broadcast,a,b\n0,a,1,broadcast,b,c\n",
	    "0,a,2,broadcast,a,b\n0,a,2,broadcast,a,c\n",
	    "0,a,1,broadcast,a,b\n0,a,1,broadcast,a,d\n",
	    "0,b,1,broadcast,b,a\n0,b,1,broadcast,b,c\n",
	    "0,a,1,reduce,b,a\n0,a,1,reduce,c,a\n",
	    "0,ab,1,broadcast,ab,c\n0,ab,1,broadcast,ab,d\n",
	    "0,a,1,broadcast,a,bc\n0,a,1,broadcast,a,d\n",
	    "0,a,1,broadcast,a,b\n0,a,1,broadcast,a,c\n1,a,1,broadcast,a,b\n1,a,1,"
	    "broadcast,a,"
	    "c\n",
	    "0,a,1,broadcast,a,b\n0,a,1,broadcast,a,c\n0,a,1,reduce,b,a\n0,a,1,reduce,c,"
	    "a\n"};
	enum { N = sizeof(rows) / sizeof(rows[0]) };
	uint32_t crc[N];
	struct gv_trees t;
	int i, k, same = 0;

	for (i = 0; i < N; i++) {
		is_str(read_rows(&t, head, rows[i]), "", "trees");
		crc[i] = gv_trees_crc(&t);
		gv_trees_free(&t);
		for (k = 0; k < i; k++)
			same += crc[i] == crc[k];
	}
	is_int(same, 0, "other trees, another checksum");
	read_rows(&t, "tree,root,weight,phase,src,dst,path\n",
	    "7,a,1,broadcast,a,c,x\n7,a,1,broadcast,a,b,\n");
	ok(gv_trees_crc(&t) == crc[0],
	    "the same for other ids, paths and orders of rows");
	gv_trees_free(&t);
}

/* ---- parts ---- */

/* Trees of one root, or some of each of n. */
static size_t
draw_trees(struct gv_trees *t, struct gv_tree *tree, size_t per_root)
{
	bool blocks = gv_collective_has_blocks(t->collective);
	size_t roots = blocks ? (size_t)t->n : 1, k;

	t->tree = tree;
	t->n_trees = roots * per_root;
	for (k = 0; k < t->n_trees; k++)
		tree[k] = (struct gv_tree){.root = blocks ? (int)(k % roots) : 2,
		    .weight = below(3) == 0 ? 1 : .001 + uniform()};
	return roots;
}

static double
weight_of_root(const struct gv_trees *t, int root)
{
	double all = 0;
	size_t k;

	for (k = 0; k < t->n_trees; k++)
		if (t->tree[k].root == root)
			all += t->tree[k].weight;
	return all;
}

static void
test_parts(void)
{
	struct gv_tree tree[64];
	struct gv_trees t = {.n = 4};
	int trial, gaps = 0, unfair = 0, root;

	draws_begin(12, 3, 5);
	for (trial = 0; trial < 3000; trial++) {
		size_t count = below(3) == 0 ? below(6) : below(100000), k, first, n,
		       roots;

		t.collective = (enum gv_collective)below(GV_COLLECTIVES);
		roots = draw_trees(&t, tree, 1 + below(6));
		for (root = 0; root < t.n; root++) {
			size_t at = roots > 1 ? (size_t)root * count : 0, before = at;
			double all = weight_of_root(&t, root);

			for (k = 0; k < t.n_trees; k++) {
				if (tree[k].root != root)
					continue;
				n = gv_trees_part(&t, k, count, &first);
				gaps += first != at;
				at += n;
				unfair +=
				    fabs((double)n - (double)count * tree[k].weight /
							 all) >= 1 + 1e-6;
			}
			gaps += all > 0 && at != before + count;
		}
	}
	is_int(gaps, 0, "parts of a root are neighbours, and all of it");
	is_int(unfair, 0, "by their weights, to an element");
}

static void
test_chunks(void)
{
	struct gv_tree tree[3] = {{.weight = 2}, {.weight = 4}, {.weight = .001}};
	struct gv_trees t = {.n = 2, .tree = tree, .n_trees = 3};
	size_t n, most, chunk, chunks, wrong = 0;

	is_int((long long)gv_trees_chunk(&t, 1, 4, 400), 100, "of the largest");
	is_int((long long)gv_trees_chunk(&t, 0, 4, 400), 50, "of half of it");
	is_int((long long)gv_trees_chunk(&t, 0, 4, 404), 51, "rounded");
	is_int((long long)gv_trees_chunk(&t, 0, 4, 402), 50, "to the nearest");
	is_int((long long)gv_trees_chunk(&t, 2, 4, 400), 1, "one at least");
	is_int((long long)gv_trees_chunk(&t, 1, 8, 4), 1, "of what is larger");
	is_int((long long)gv_trees_chunk(&t, 1, 4, 4), 1, "just one");
	tree[0].weight = 8;
	is_int((long long)gv_trees_chunk(&t, 1, 4, 400), 50, "the first is the largest");
	for (n = 0; n <= 60; n++)
		for (most = 1; most <= 70; most++) {
			size_t fewest = n / most + (n % most > 0);

			chunks = gv_trees_cut(n, most, &chunk);
			if (n == 0)
				wrong += chunks != 0 || chunk != 0;
			else
				wrong += chunk > most ||
					 chunks != fewest - (fewest > chunks) ||
					 chunks < n / most || (chunks - 1) * chunk >= n ||
					 chunks * chunk < n || (chunk - 1) * fewest >= n;
		}
	is_int((long long)wrong, 0, "chunks are the fewest, and as even as can be");
}

int
main(void)
{
	test_collectives();
	test_neighbours();
	test_refused();
	test_most();
	test_names();
	test_crc();
	test_parts();
	test_chunks();
	return done_testing();
}
