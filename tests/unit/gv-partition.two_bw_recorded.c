/*
 * 2BW's planner on drawn models and machines, and its tables, good ones and others, as
 * before.
 */
#include "answers_help.h"
#include "base/fileio.h"
#include "gv-partition/two_bw/two_bw.h"
#include "gv-partition/two_bw/two_bw_table.h"

enum { LAYERS = 8 };

/* ---- the planner ---- */

struct world {
	struct gv_graph g;
	struct gv_graph_layer layer[LAYERS];
	struct gv_graph_edge edge[LAYERS * LAYERS];
	struct ideals s;
	struct two_bw_machine m;
};

static void
draw_model(struct world *w)
{
	enum values time = draw_values(), bytes = draw_values();
	size_t n = 1 + below(LAYERS), v, k;
	bool chain = one_in(2);

	w->g = (struct gv_graph){.n = n, .layer = w->layer, .edge = w->edge};
	for (v = 0; v < n; v++) {
		w->layer[v].forward_s = draw_value(time);
		w->layer[v].time_s = w->layer[v].forward_s + draw_value(time);
		w->layer[v].activation = w->layer[v].kept = draw_value(bytes);
		w->layer[v].parameter = draw_value(bytes);
		for (k = 0; k < v; k++)
			if (chain ? k + 1 == v : one_in(3))
				w->edge[w->g.n_edges++] =
				    (struct gv_graph_edge){(uint32_t)k, (uint32_t)v};
	}
	ideals_make(&w->s, &w->g, IDEALS_ALL, NULL, 0, 1000);
}

static void
draw_machine(struct two_bw_machine *m)
{
	memset(m, 0, sizeof(*m));
	m->gpus = draw_number(8, 30);
	m->server = 1 + below(8);
	m->fast = 1 + draw_value(SMALL);
	m->slow = 1 + draw_value(SMALL);
	m->fast_sum = 1 + draw_value(SMALL);
	m->slow_sum = 1 + draw_value(SMALL);
	m->memory = one_in(2) ? 0 : (double)(1 + below(200));
	m->state = (double)below(3);
	m->batch = draw_number(12, 100);
	m->recompute = (enum two_bw_recompute)below(3);
}

static void
record_row(struct recorded *r, const struct two_bw_row *w)
{
	const double v[] = {(double)w->w, (double)w->d, (double)w->b, (double)w->g,
	    w->pipelined, w->recompute, w->micro_s, w->minibatches_per_s, w->memory,
	    w->compute_s, w->transfer_s, w->sync_s};

	recorded_doubles(r, v, sizeof(v) / sizeof(v[0]));
}

static void
record_table(struct recorded *r, const struct two_bw_rows *rows)
{
	struct gv_strbuf s = {0};
	struct gv_out *out = gv_out_memory(&s);
	struct gv_error e = {0};
	size_t top = one_in(2) ? 0 : below(9);

	two_bw_write(rows, top, out, one_in(2));
	gv_out_close(out, &e);
	recorded_text(r, s.s);
	gv_strbuf_free(&s);
}

static struct recorded *told;

static void
progress(size_t done, size_t of)
{
	recorded_whole(told, (long long)done);
	recorded_whole(told, (long long)of);
}

static void
ask_plans(struct recorded *r)
{
	struct world w;
	struct two_bw_cuts c;
	struct two_bw_speeds v;
	struct two_bw_rows rows;
	size_t most = one_in(9) ? 100 : 1 + below(9), d, i;

	memset(&w, 0, sizeof(w));
	draw_model(&w);
	draw_machine(&w.m);
	told = r;
	two_bw_cuts_make(&c, &w.s, most, one_in(2) ? progress : NULL);
	for (d = 1; d <= c.deepest; d++)
		for (i = 0; i <= d; i++)
			recorded_whole(r, (long long)c.at[d][i]);
	two_bw_speeds_even(&v, draw_number(8, 200));
	for (i = 0; i < v.n; i++)
		v.speed[i] = one_in(2) ? 1 : draw_value(QUARTERS);
	two_bw_search(&rows, &w.s, &c, &w.m, &v);
	recorded_whole(r, (long long)rows.tried);
	for (i = 0; i < rows.n; i++)
		record_row(r, &rows.row[i]);
	if (rows.tried > 0)
		record_row(r, &rows.least);
	record_table(r, &rows);
	two_bw_rows_free(&rows);
	two_bw_speeds_free(&v);
	two_bw_cuts_free(&c);
	recorded_whole(r, rows.n == 0 && v.b == NULL && c.at == NULL && c.deepest == 0);
	ideals_free(&w.s);
}

/* ---- tables of speeds ---- */

static void
micro_batch(struct gv_strbuf *s, size_t row, const void *ctx)
{
	const size_t *twice = ctx;

	(void)row;
	gv_strbuf_fmt(s, "%zu", one_in(20) ? 1000000 : 1 + below(*twice));
}

static void
speed(struct gv_strbuf *s, size_t row, const void *ctx)
{
	(void)row;
	(void)ctx;
	gv_strbuf_fmt(s, "%.17g", one_in(20) ? 1e6 : draw_value(QUARTERS));
}

static void
ask_speeds(struct recorded *r, const struct answers_file *file, size_t *good)
{
	static const struct drawn_column column[] = {
	    {"micro_batch", 20, micro_batch}, {"speed", 20, speed}, {"note", 2, speed}};
	size_t numbers = one_in(4) ? 6 : 1000, rows = below(9), i;
	struct gv_strbuf s = {0};
	struct two_bw_speeds v;
	struct gv_error e = {0};
	int rc;

	draw_table(&s, column, 3, rows, &numbers, one_in(2) ? 0 : 8);
	answers_file_put(file, &s);
	rc = two_bw_speeds_read(&v, file->path, &e);
	recorded_whole(r, rc);
	recorded_errors(r, &e);
	recorded_whole(r, (long long)v.n);
	for (i = 0; i < v.n && rc == 0; i++) {
		recorded_whole(r, (long long)v.b[i]);
		recorded_double(r, v.speed[i]);
	}
	*good += rc == 0;
	two_bw_speeds_free(&v);
	gv_strbuf_free(&s);
}

int
main(void)
{
	enum { ANSWERS = 40, EACH = 20 };
	struct answers_file file;
	size_t good = 0, i, k;
	struct recorded r;

	answers_file_open(&file);
	recorded_open(&r);
	for (i = 0; i < ANSWERS; i++) {
		draws_begin(1, (uint32_t)i, 0);
		for (k = 0; k < EACH; k++)
			ask_plans(&r);
		recorded_answer(&r, "plans %zu", i);
		for (k = 0; k < EACH; k++)
			ask_speeds(&r, &file, &good);
		recorded_answer(&r, "speeds %zu", i);
	}
	ok(good > ANSWERS * EACH / 4, "many tables of speeds can be read: %zu", good);
	recorded_close(&r);
	answers_file_close(&file);
	return done_testing();
}
