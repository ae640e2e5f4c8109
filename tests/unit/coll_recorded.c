/* Drawn tables of trees: what is read of them, their parts, chunks and times are what they were. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coll/coll.h"
#include "coll/model.h"
#include "drawn_trees.h"
#include "recorded_tree_table.h"

static struct gv_error e;

static bool
read_trees(struct gv_trees *t, const struct gv_strbuf *s)
{
	struct gv_frame f;
	bool good;

	gv_error_clear(&e);
	good = gv_frame_parse(&f, "trees.csv", s->s, s->len, &e) == 0 &&
	       gv_trees_read(t, &f, &e) == 0;
	gv_frame_free(&f);
	return good;
}

/* Parts begin where others end, and make up the whole of each root. */
static size_t
ask_parts(struct recorded *r, const struct gv_trees *t, size_t count)
{
	size_t all = 0, k, first, chunk, bytes;

	for (k = 0; k < t->n_trees; k++) {
		size_t n = gv_trees_part(t, k, count, &first);

		all += n;
		recorded_whole(r, (long long)n);
		recorded_whole(r, (long long)first);
		for (bytes = 1; bytes < 100000; bytes = bytes * 7 + 1) {
			size_t most = gv_trees_chunk(t, k, bytes % 2 == 0 ? 4 : 8, bytes);

			recorded_whole(r, (long long)most);
			recorded_whole(r, (long long)gv_trees_cut(n, most, &chunk));
			recorded_whole(r, (long long)chunk);
		}
	}
	return all !=
	       count * (gv_collective_has_blocks(t->collective) ? (size_t)t->n : 1);
}

static void
ask_model(struct recorded *r, const struct gv_trees *t)
{
	static const double bytes[] = {0, 1, 1000, 1e6, 3e8};
	struct gv_coll_cost c;
	size_t i;

	c.chunk_s = 1e-6 * (1 + (double)below(20));
	c.slower = 1 + (double)below(3);
	recorded_double(r, gv_coll_bus_factor(t));
	for (i = 0; i < 5; i++) {
		double chunk =
		    gv_coll_model_chunk(t, &c, bytes[i] + 1, below(2) == 0 ? 4 : 4096);

		recorded_double(r, chunk);
		recorded_double(r, gv_coll_model_s(t, &c, bytes[i], chunk));
		recorded_double(r, gv_coll_model_s(t, &c, bytes[i], 777));
	}
}

static size_t
ask_trees(struct recorded *r, bool wrong)
{
	struct gv_strbuf trees = {0}, links = {0};
	struct trees_drawn d;
	struct gv_trees t = {0};
	size_t bad = 0;
	bool good;

	draw_trees(&d, &trees, &links, below(4) == 0 ? 14 : 5, wrong);
	good = read_trees(&t, &trees);
	recorded_whole(r, good);
	recorded_error(r, &e);
	if (good) {
		recorded_trees(r, &t);
		recorded_whole(r, (long long)gv_trees_crc(&t));
		bad = ask_parts(r, &t, below(2) == 0 ? below(10) : below(100000));
		ask_model(r, &t);
	}
	gv_trees_free(&t);
	gv_strbuf_free(&trees);
	gv_strbuf_free(&links);
	return bad + (!good && !wrong);
}

/* A search by times of which each chunk size has its own, which are drawn or have a least. */
static void
ask_tune(struct recorded *r)
{
	struct gv_tune t;
	size_t least = 1 + below(5000), most = 1 + below(3000000), kind = below(3), n = 0;
	double best = 1000 * (double)(1 + below(2000)), noise = .1 * uniform();
	bool more = true;

	gv_tune_start(&t, least, most);
	for (; more && n < 200; n++) {
		double x = (double)t.chunk, s = x / best + best / x;

		if (kind == 0)
			s = uniform();
		else if (kind == 1)
			s *= 1 + noise * uniform();
		recorded_whole(r, (long long)t.chunk);
		more = gv_tune_next(&t, s);
		recorded_whole(r, more);
	}
	recorded_whole(r, (long long)t.chunk);
	recorded_double(r, t.best_s);
}

static void
ask_combined(struct recorded *r)
{
	float f[3][9];
	double d[3][9];
	enum gv_coll_op op = (enum gv_coll_op)below(GV_COLL_OPS);
	size_t n = 1 + below(9), i, k;

	for (k = 0; k < 2; k++)
		for (i = 0; i < n; i++) {
			d[k][i] = below(6) == 0 ? NAN : 10 * uniform() - 5;
			f[k][i] = (float)d[k][i];
		}
	gv_coll_combine(GV_COLL_FLOAT, op, f[2], f[0], f[1], n);
	gv_coll_combine(GV_COLL_DOUBLE, op, d[2], d[0], d[1], n);
	for (i = 0; i < n; i++) {
		recorded_double(r, f[2][i]);
		recorded_double(r, d[2][i]);
	}
	gv_coll_combine(GV_COLL_DOUBLE, op, d[0], d[0], d[1], n);
	recorded_doubles(r, d[0], n);
	recorded_text(r, gv_coll_op_name[op]);
	recorded_whole(r, (long long)(gv_coll_type_size(GV_COLL_FLOAT) * 100 +
				      gv_coll_type_size(GV_COLL_DOUBLE)));
}

/* One GPU less and more than there may be, one tree less and more. */
static void
ask_many(struct recorded *r, size_t ranks, size_t n_trees)
{
	struct gv_strbuf s = {0};
	struct gv_trees t = {0};
	size_t i, k;

	gv_strbuf_str(&s, "tree,root,weight,phase,src,dst\n");
	for (k = 0; k < n_trees; k++)
		for (i = 1; i < ranks; i++)
			gv_strbuf_fmt(
			    &s, "%zu,gpu0,1,reduce,gpu%zu,gpu%zu\n", k, i, i / 2);
	recorded_whole(r, read_trees(&t, &s));
	recorded_error(r, &e);
	recorded_whole(r, (long long)t.n_trees);
	recorded_whole(r, (long long)t.depth);
	recorded_answer(r, "%zu trees of %zu", n_trees, ranks);
	gv_trees_free(&t);
	gv_strbuf_free(&s);
}

int
main(void)
{
	struct recorded r;
	size_t turn, i, wrong = 0;

	recorded_open(&r);
	for (turn = 0; turn < 60; turn++) {
		draws_begin(76, 0, (uint32_t)turn);
		for (i = 0; i < 20; i++)
			wrong += ask_trees(&r, false);
		recorded_answer(&r, "trees %zu", turn);
		for (i = 0; i < 40; i++)
			wrong += ask_trees(&r, true);
		recorded_answer(&r, "odd trees %zu", turn);
		for (i = 0; i < 20; i++)
			ask_tune(&r);
		recorded_answer(&r, "searches %zu", turn);
		for (i = 0; i < 20; i++)
			ask_combined(&r);
		recorded_answer(&r, "sums %zu", turn);
	}
	for (i = 1; i < 4; i++)
		ask_many(&r, i, 1);
	for (i = 9999; i < 10002; i++)
		ask_many(&r, 2, i);
	for (i = 1022; i < 1027; i++)
		ask_many(&r, i, 1);
	is_int(wrong, 0, "trees that are right are read, their parts make up the whole");
	recorded_close(&r);
	return done_testing();
}
