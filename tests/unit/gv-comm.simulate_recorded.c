/* gv-comm over drawn trees and links: ways, predictions, rows and checks are what they were. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "drawn_trees.h"
#include "gv-comm/check.h"
#include "gv-comm/predict.h"
#include "gv-comm/simulate.h"
#include "recorded_frame.h"

static struct gv_error e;

static void
recorded_ways(struct recorded *r, const struct ways *w)
{
	size_t i, k, up;
	int v;

	recorded_whole(r, (long long)w->n_links);
	for (i = 0; i < w->n_links; i++) {
		recorded_text(r, w->link[i].src);
		recorded_text(r, w->link[i].dst);
		recorded_double(r, w->link[i].bytes_per_s);
	}
	for (k = 0; k < w->t->n_trees; k++)
		for (up = 0; up < 2; up++)
			for (v = 0; v < w->t->n; v++) {
				const struct way *x = way_of(w, k, up == 1, v);

				recorded_whole(r, (long long)x->n);
				for (i = 0; i < x->n; i++)
					recorded_whole(
					    r, (long long)w->hop[x->first + i]);
			}
}

/* Times of buffers of many sizes by many chunks: none is shorter than the largest part takes. */
static void
ask_times(struct recorded *r, const struct ways *w)
{
	static const double cost[] = {0, 1e-6, 1e-3};
	size_t turn;

	for (turn = 0; turn < 6; turn++) {
		struct gv_coll_cost c = {.slower = 1};
		size_t count = below(3) == 0 ? below(20) : below(20000);
		size_t chunk = below(3) == 0 ? 1 + below(64) : 64 + below(100000);
		size_t size = below(2) == 0 ? 4 : 8;

		c.chunk_s = cost[below(3)];
		if (count > 30 * chunk)
			chunk = count / 30 + 1;
		recorded_double(r, simulate_s(w, &c, count, size, chunk));
	}
}

/* log and pow say how many digits a row has: where they stand is the same on all processors. */
static void
ask_rows(struct recorded *r, const struct gv_trees *t, const struct ways *w)
{
	static const int64_t bytes[] = {0, 1, 7, 1000, 30000, 1000000};
	struct options o = {.most_bytes = 1000000, .factor = 2};
	struct gv_strbuf s = {0};
	struct gv_out *out = gv_out_memory(&s);
	struct gv_tabw rows;
	size_t i;

	o.cost.chunk_s = 1e-5 * (1 + uniform());
	o.cost.slower = 1;
	o.type = (enum gv_coll_type)below(GV_COLL_TYPES);
	o.op = (enum gv_coll_op)below(GV_COLL_OPS);
	o.chunk_by = (enum chunk_by)below(3);
	o.chunk_bytes = 50000 + (int64_t)below(100000);
	rows_start(&rows, out, below(2) == 0);
	for (i = 0; i < 6; i++) {
		struct row x;

		predict(&x, t, &o, below(2) == 0 ? w : NULL, bytes[i]);
		recorded_whole(r, (long long)x.count);
		recorded_double(r, x.time_s);
		recorded_double(r, x.chunk_bytes);
		row_write(&rows, t, &o, &x);
	}
	recorded_whole(r, gv_out_close(out, &e));
	recorded_text(r, s.s);
	gv_strbuf_free(&s);
}

static void
ask_next(struct recorded *r)
{
	struct options o = {.factor = 2 + (int64_t)below(3)};
	int64_t bytes = (int64_t)below(10);

	o.most_bytes = (int64_t)below(5000);
	while (bytes >= 0) {
		bytes = row_next(&o, bytes);
		recorded_whole(r, bytes);
	}
}

/* What each rank is given and must have; of what is changed so much is wrong. */
static size_t
ask_check(struct recorded *r, const struct gv_trees *t)
{
	struct check_what w = {.trees = t};
	size_t wrong = 0, n, i;
	double *b;

	w.type = (enum gv_coll_type)below(GV_COLL_TYPES);
	w.op = (enum gv_coll_op)below(GV_COLL_OPS);
	w.count = below(3) == 0 ? below(3000) : below(40);
	w.rank = (int)below((size_t)t->n);
	n = check_given(&w);
	recorded_whole(r, (long long)n);
	recorded_whole(r, (long long)check_wanted(&w));
	b = calloc((n > check_wanted(&w) ? n : check_wanted(&w)) + 1, sizeof(*b));
	if (b == NULL)
		return 1;
	check_fill(&w, b);
	if (w.type == GV_COLL_DOUBLE)
		recorded_doubles(r, b, n);
	else
		for (i = 0; i < n; i++)
			recorded_double(r, ((float *)b)[i]);
	recorded_whole(r, (long long)check_wrong(&w, b));
	check_spoil(&w, b);
	wrong = check_wrong(&w, b) != check_wanted(&w);
	free(b);
	return wrong;
}

static size_t
ask(struct recorded *r, bool odd)
{
	static const char *const rate[] = {"-1", "1000001", "0", "1e6", "x", "1"};
	struct gv_strbuf rows = {0}, links = {0};
	struct trees_drawn d;
	struct gv_frame f, of_links;
	struct gv_trees t = {0};
	struct ways w = {0};
	double slower = 1 + (double)below(2);
	size_t wrong = 0;

	draw_trees(&d, &rows, &links, below(4) == 0 ? 12 : 5, false);
	if (odd)
		gv_strbuf_fmt(&links, "gpu0,gpu1,%s\n", rate[below(6)]);
	if (odd && below(4) == 0) /* a column has another name */
		links.s[below(2) * 8] = 'x';
	gv_error_clear(&e);
	if (gv_frame_parse(&f, "trees.csv", rows.s, rows.len, &e) == 0 &&
	    gv_trees_read(&t, &f, &e) == 0) {
		wrong += ask_check(r, &t);
		if (below(5) == 0) /* the first links are missing */
			memset(strchr(links.s, '\n') + 1, 'z', 3);
		if (gv_frame_parse(&of_links, "links.csv", links.s, links.len, &e) == 0 &&
		    ways_read(&w, &t, &of_links, slower, &e) == 0) {
			recorded_ways(r, &w);
			ask_times(r, &w);
			if (below(4) == 0)
				ask_rows(r, &t, &w);
		}
		gv_frame_free(&of_links);
	}
	recorded_error(r, &e);
	ways_free(&w);
	gv_trees_free(&t);
	gv_frame_free(&f);
	gv_strbuf_free(&rows);
	gv_strbuf_free(&links);
	return wrong;
}

int
main(void)
{
	struct recorded r;
	size_t turn, i, wrong = 0;

	recorded_open(&r);
	for (turn = 0; turn < 60; turn++) {
		draws_begin(77, 0, (uint32_t)turn);
		for (i = 0; i < 8; i++)
			wrong += ask(&r, i >= 6);
		for (i = 0; i < 5; i++)
			ask_next(&r);
		recorded_answer(&r, "trees %zu", turn);
	}
	is_int(wrong, 0, "all that is spoilt is wrong");
	recorded_close(&r);
	return done_testing();
}
