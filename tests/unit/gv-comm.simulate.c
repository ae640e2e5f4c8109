/*
 * gv-comm's rows, the links of its trees and what is predicted over them: chains against the
 * formula, links that are shared against what they carry.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "gv-comm/predict.h"
#include "gv-comm/simulate.h"
#include "tap.h"

static void
read_table(struct gv_frame *f, const char *name, const char *s)
{
	struct gv_error e = {0};

	if (gv_frame_parse(f, name, s, strlen(s), &e) != 0)
		gv_die("%s", e.text[0]);
}

static void
read_trees(struct gv_trees *t, const char *rows)
{
	struct gv_strbuf b = {0};
	struct gv_error e = {0};
	struct gv_frame f;

	gv_strbuf_fmt(&b, "tree,root,weight,phase,src,dst,path\n%s", rows);
	read_table(&f, "trees", b.s);
	if (gv_trees_read(t, &f, &e) != 0)
		gv_die("%s", e.text[0]);
	gv_frame_free(&f);
	gv_strbuf_free(&b);
}

/* The links of trees; what is wrong with them, "" = nothing. */
static const char *
read_links(struct ways *w, const struct gv_trees *t, const char *rows, double slower)
{
	static struct gv_error e;
	struct gv_strbuf b = {0};
	struct gv_frame f;

	gv_error_clear(&e);
	gv_strbuf_fmt(&b, "src,dst,gbytes_per_s\n%s", rows);
	read_table(&f, "links", b.s);
	ways_read(w, t, &f, slower, &e);
	gv_frame_free(&f);
	gv_strbuf_free(&b);
	return e.count > 0 ? e.text[0] : "";
}

/* ---- links ---- */

static void
refused(const struct gv_trees *t, const char *rows, const char *want)
{
	struct ways w;

	is_str(read_links(&w, t, rows, 1), want, "%s", want);
	ok(w.link == NULL && w.hop == NULL, "nothing is left");
	ways_free(&w);
}

static void
test_links(void)
{
	const struct way *at;
	struct gv_trees t;
	struct ways w;

	read_trees(&t, "0,a,1,broadcast,a,b,s1;s2\n0,a,1,broadcast,b,c,\n"
		       "0,a,1,reduce,b,a,s2\n0,a,1,reduce,c,b,\n");
	is_str(
	    read_links(&w, &t,
		"s2,b,5\ns1,s2,4\na,s1,3\nb,c,1\nb,c,1.5\ns2,a,7\nb,s2,6\nc,b,8\nx,y,0\n",
		4),
	    "", "links");
	is_int((long long)w.n_links, 8, "of one pair they are one");
	at = way_of(&w, 0, false, 1);
	ok(at->n == 3 && strcmp(w.link[w.hop[at->first]].src, "a") == 0 &&
		strcmp(w.link[w.hop[at->first + 1]].src, "s1") == 0 &&
		strcmp(w.link[w.hop[at->first + 2]].src, "s2") == 0 &&
		strcmp(w.link[w.hop[at->first + 2]].dst, "b") == 0,
	    "by way of switches");
	at = way_of(&w, 0, true, 1);
	ok(at->n == 2 && strcmp(w.link[w.hop[at->first]].src, "b") == 0 &&
		strcmp(w.link[w.hop[at->first + 1]].dst, "a") == 0,
	    "and up");
	at = way_of(&w, 0, false, 2);
	is_near(w.link[w.hop[at->first]].bytes_per_s, 2.5e9 / 4, 1,
	    "rows of a pair add up, so many times slower");
	ok(way_of(&w, 0, true, 0)->n == 0 && way_of(&w, 0, false, 0)->n == 0,
	    "the root has none above");
	ways_free(&w);
	refused(
	    &t, "a,s1,1\n", "the trees use a link from \"b\" to \"s2\": there is none");
	refused(&t, "b,s2,1\ns2,a,0\n",
	    "the trees use a link from \"s2\" to \"a\": there is none");
	refused(
	    &t, "b,s2,-1\n", "links:2: gbytes_per_s: expected 0 to 1000000 GB/s, got -1");
	refused(&t, "b,s2,1\nb,s2,1000001\n",
	    "links:3: gbytes_per_s: expected 0 to 1000000 GB/s, got 1e+06");
	gv_trees_free(&t);
}

/* ---- times ---- */

/* A chain of n, of a collective with these phases, against the formula. */
static void
chain(int n, bool up, bool down, size_t count, size_t chunk_bytes)
{
	struct gv_strbuf rows = {0}, links = {0};
	struct gv_coll_cost cost = {3e-6, 2};
	struct gv_trees t;
	struct ways w;
	double s, want;
	int r;

	for (r = 1; r < n; r++) {
		if (down)
			gv_strbuf_fmt(&rows, "0,g0,2,broadcast,g%d,g%d,\n", r - 1, r);
		if (up)
			gv_strbuf_fmt(&rows, "0,g0,2,reduce,g%d,g%d,\n", r, r - 1);
		gv_strbuf_fmt(&links, "g%d,g%d,2\ng%d,g%d,2\n", r - 1, r, r, r - 1);
	}
	read_trees(&t, rows.s);
	is_str(read_links(&w, &t, links.s, cost.slower), "", "a chain of %d", n);
	s = simulate_s(&w, &cost, count, 4, chunk_bytes);
	want = gv_coll_model_s(&t, &cost, 4 * (double)count, (double)chunk_bytes);
	is_near(s, want, 1e-9 * want + 1e-18, "%zu elements by %zu bytes", count,
	    chunk_bytes);
	ways_free(&w);
	gv_trees_free(&t);
	gv_strbuf_free(&rows);
	gv_strbuf_free(&links);
}

static void
test_chains(void)
{
	int n;

	for (n = 2; n <= 6; n++) {
		chain(n, false, true, 1000, 4000);
		chain(n, true, false, 1000, 400);
		chain(n, true, true, 12000, 400);
		chain(n, true, true, 0, 400);
	}
}

/* All of a star share the way out of its root, and then the way into it. */
static void
test_shared(void)
{
	struct gv_coll_cost cost = {1e-6, 1};
	struct gv_trees t;
	struct ways w;
	double s = 1000 / 1e9; /* of a chunk on the shared link */

	read_trees(
	    &t, "0,a,1,broadcast,a,b,s\n0,a,1,broadcast,a,c,s\n0,a,1,broadcast,a,d,s\n");
	read_links(&w, &t, "a,s,1\ns,b,9\ns,c,9\ns,d,9\n", 1);
	is_near(simulate_s(&w, &cost, 5000, 1, 1000), 15 * s + cost.chunk_s, 1e-12,
	    "five chunks for each of three over one link");
	is_near(simulate_s(&w, &cost, 4500, 1, 1000), 13.5 * s + cost.chunk_s, 1e-12,
	    "they are even");
	is_near(simulate_s(&w, &cost, 0, 1, 1000), 0, 0, "none take no time");
	is_near(simulate_s(&w, &cost, 3, 1, 1), 3.005e-6, 1e-15,
	    "small ones cost what each costs on its edge");
	ok(isinf(simulate_s(&w, &cost, 1000000, 1, 1)), "too many to be looked at");
	ok(isfinite(simulate_s(&w, &cost, 1000, 1, 1)), "not too many");
	ways_free(&w);
	gv_trees_free(&t);
	read_trees(&t, "0,a,1,reduce,b,a,s\n0,a,1,reduce,c,a,s\n0,a,1,reduce,d,c,\n");
	read_links(&w, &t, "s,a,1\nb,s,9\nc,s,9\nd,c,2\n", 1);
	/* b's second leaves 10/9 us after its first; c's wait for those of d, and for b's */
	is_near(simulate_s(&w, &cost, 2000, 1, 1000), 46e-6 / 9, 1e-15,
	    "sums wait for all below");
	ways_free(&w);
	gv_trees_free(&t);
}

/* Two trees on a link in turn. */
static void
test_trees_share(void)
{
	struct gv_coll_cost cost = {0, 1};
	struct gv_trees t;
	struct ways w;

	read_trees(&t, "0,a,3,broadcast,a,b,\n1,a,1,broadcast,a,b,\n");
	read_links(&w, &t, "a,b,4\n", 1);
	is_near(simulate_s(&w, &cost, 8000, 1, 600), 8000 / 4e9, 1e-15,
	    "a link is never idle while there is something to carry");
	ways_free(&w);
	gv_trees_free(&t);
}

/* ---- sizes ---- */

static void
test_sizes(void)
{
	struct options o = {.most_bytes = 1000, .factor = 3, .type = GV_COLL_DOUBLE};
	struct gv_trees t;

	is_int(row_next(&o, 5), 15, "three times as much");
	is_int(row_next(&o, 333), 999, "up to the last");
	is_int(row_next(&o, 334), -1, "and none more");
	is_int(row_next(&o, 0), 1000, "behind nothing the last");
	o.most_bytes = 1025;
	is_int(row_next(&o, 0), 1024, "or a KiB");
	o.most_bytes = 1024;
	is_int(row_next(&o, 0), 1024, "which may be the last");
	o.most_bytes = 0;
	is_int(row_next(&o, 0), -1, "nothing alone");
	read_trees(&t, "0,a,1,broadcast,a,b,\n1,b,1,broadcast,b,a,\n");
	is_int((long long)row_count(&t, &o, 100), 6, "whole elements of each block");
	is_near(row_bytes(&t, &o, 6), 96, 0, "so many bytes");
	o.type = GV_COLL_FLOAT;
	is_int((long long)row_count(&t, &o, 100), 12, "of four bytes");
	gv_trees_free(&t);
	read_trees(&t, "0,a,3,broadcast,a,b,\n1,a,1,broadcast,a,b,\n");
	is_int((long long)row_count(&t, &o, 100), 25, "without blocks");
	is_near(row_bytes(&t, &o, 25), 100, 0, "as many bytes");
	is_near(even_chunk(&t, 1000, 750), 750, 0, "a chunk of the largest part");
	is_near(even_chunk(&t, 1000, 9000), 750, 0, "is all of it");
	is_near(even_chunk(&t, 1000, 749), 375, 0, "or half");
	is_near(even_chunk(&t, 1000, 100), 94, 0, "or an eighth, rounded up");
	is_near(even_chunk(&t, 0, 100), 1, 0, "a byte at least");
	gv_trees_free(&t);
}

/* What a row says. */
static void
says(const struct gv_trees *t, const struct options *o, struct row r, const char *want)
{
	struct gv_error e = {0};
	struct gv_tabw w;
	struct gv_out *out;
	char *s = NULL, path[] = "/tmp/gv-row.XXXXXX";
	size_t len;
	int fd = mkstemp(path);

	if (fd == -1 || gv_out_open(&out, path, &e) != 0)
		gv_die("no file");
	gv_tabw_init(&w, out, false);
	row_write(&w, t, o, &r);
	if (gv_out_close(out, &e) != 0 || gv_file_read(path, &s, &len, 1000, &e) != 0)
		gv_die("%s", e.text[0]);
	is_str(s, want, "a row");
	free(s);
	remove(path);
}

static void
test_rows(void)
{
	struct options o = {.type = GV_COLL_FLOAT, .op = GV_COLL_MAX};
	struct gv_trees t;

	read_trees(&t, "0,b,1,reduce,a,b,\n");
	says(&t, &o, (struct row){250, 1e-6 / 3, 2, 64},
	    "reduce,1000,250,float,max,b,0.333333,3,3,2,64\n");
	says(&t, &o, (struct row){0, 0, NAN, 1}, "reduce,0,0,float,max,b,0,0,0,,1\n");
	says(&t, &o, (struct row){250, 1.23456789, 0, 1},
	    "reduce,1000,250,float,max,b,1234568,8.1e-07,8.1e-07,0,1\n");
	gv_trees_free(&t);
	read_trees(&t, "0,a,1,broadcast,a,b,\n0,a,1,reduce,b,a,\n");
	says(&t, &o, (struct row){250, 1e-6, 0, 1},
	    "allreduce,1000,250,float,max,,1,1,1,0,1\n");
	gv_trees_free(&t);
	read_trees(&t, "0,a,1,broadcast,a,b,\n1,b,1,broadcast,b,a,\n");
	says(&t, &o, (struct row){250, 1e-6, 0, 1},
	    "allgather,2000,250,float,,,1,2,1,0,1\n");
	gv_trees_free(&t);
}

int
main(void)
{
	test_links();
	test_chains();
	test_shared();
	test_trees_share();
	test_sizes();
	test_rows();
	return done_testing();
}
