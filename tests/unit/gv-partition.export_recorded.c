/* Drawn plans as other programs take them, or why they cannot, as before. */
#include "answers_help.h"
#include "base/mem.h"
#include "gv-partition/export/export.h"

enum { LAYERS = 16, STAGES = 8 };

struct world {
	struct gv_layers l;
	struct gv_graph_layer layer[LAYERS];
	struct gv_graph_edge edge[LAYERS * LAYERS];
	size_t row[LAYERS];
	struct gv_machine m;
	struct gv_stage stage[STAGES];
	uint32_t of[LAYERS];
	struct gv_plan p;
	struct gv_pipe_stage pipe_stage[STAGES];
	struct gv_pipe pipe;
};

/* ---- names ---- */

/* Of layers of one net for the most part, of which programs know some. */
static void
draw_id(char id[64], size_t v, size_t style)
{
	static const char *const begin[] = {
	    "h", "model.layers", "encoder.layer.", "Block"};
	static const char *const odd[] = {"wte", "model.embed_tokens", "WPE",
	    "transformer.Embed", "mtp", "h.MTP.1", "ln_norm", "final.Norm", "dropout",
	    "Dropout3", "loss", "a.CrossEntropyLoss", "xent", "x.logits", "lm_head",
	    "y.output", "head", "overhead", "classifier", "b.Classifier", "output.dense",
	    "lm", "out", "emb", "", "a#2", "#2", "a\"b", "los", "sun.", "a"};

	if (style == 0 || !one_in(style)) {
		snprintf(id, 64, "%s%zu", begin[style % 4], v);
		return;
	}
	snprintf(id, 64, "%s", odd[below(sizeof(odd) / sizeof(odd[0]))]);
}

/* A further call of a layer in front: NAME#2. */
static void
draw_call(char id[64], size_t v)
{
	size_t a = below(v + 1), n = below(12);

	snprintf(id, 64, "h%zu#%zu", a, n);
	if (one_in(6))
		snprintf(id, 64, "h%zu#", a);
	if (one_in(6))
		snprintf(id, 64, "h%zu%zu", a, n);
}

static void
draw_kind(char kind[64], size_t style)
{
	static const char *const names[] = {"Linear(in_features=8)", "Linear 8",
	    "Conv2d(3, 4)", "attention", "block", "Embedding(9)", "LayerNorm((8,))",
	    "Dropout(p=0.1)", "CrossEntropyLoss()", "LogitsHead", "Relu", "", "Linear-1",
	    "MTPBlock", "Lin", "_a1"};

	snprintf(kind, 64, "%s", names[style % 3 == 0 ? below(4) : below(16)]);
}

/* A row for each layer, and others between them. */
static void
draw_rows(struct world *w, size_t n, bool kinds)
{
	struct gv_cell name[] = {{"node_id", 7}, {"layer", 5}}, cell[2];
	size_t first = kinds && one_in(3) ? 1 : 0; /* the column of ids */
	size_t style = below(9), calls = one_in(3) ? 3 : 0, row = 0, v;
	char id[64], kind[64];

	if (first == 1) {
		name[1] = name[0];
		name[0] = (struct gv_cell){"layer", 5};
	}
	gv_frame_start(&w->l.rows, "drawn", false, name, kinds ? 2 : 1);
	for (v = 0; v < n; v++) {
		size_t more = one_in(5) ? 2 : 1;

		for (; more > 0; more--) {
			if (calls > 0 && v > 0 && one_in(calls))
				draw_call(id, v);
			else
				draw_id(id, v, calls > 0 ? 0 : style);
			draw_kind(kind, style);
			cell[first] = (struct gv_cell){id, strlen(id)};
			cell[1 - first] = (struct gv_cell){kind, strlen(kind)};
			gv_frame_add(&w->l.rows, cell, (long)row + 2);
			w->row[v] = row++;
		}
	}
}

/* ---- the plan ---- */

static void
draw_graph(struct world *w, size_t n)
{
	size_t i, k, turned = below(3); /* 0: rows as they run; 2: some the other way */
	struct gv_graph *g = &w->l.g;

	g->n = n;
	g->layer = w->layer;
	g->edge = w->edge;
	for (i = 0; i < n; i++)
		for (k = i + 1; k < n; k++)
			if (k == i + 1 ? turned == 0 : one_in(3))
				g->edge[g->n_edges++] =
				    turned == 1 && n % 2 == 0
					? (struct gv_graph_edge){(uint32_t)k, (uint32_t)i}
					: (struct gv_graph_edge){
					      (uint32_t)i, (uint32_t)k};
	if (g->n_edges < LAYERS * LAYERS) /* nobody is to look at it */
		g->edge[g->n_edges] = (struct gv_graph_edge){0, 1};
}

static size_t
stage_at(size_t i, size_t n, size_t stages)
{
	return i * stages / n;
}

/* Equal stages, or not; in the order of the rows, or not quite. */
static void
draw_plan(struct world *w, size_t n, size_t stages)
{
	bool equal = one_in(2), turned = one_in(12);
	size_t v, k, l, at = 0;

	w->p = (struct gv_plan){.n = stages, .stage = w->stage, .of = w->of};
	for (v = 0; v < n; v++) {
		if (equal) {
			at = stage_at(v, n, stages);
		} else if (v > 0 && at + 1 < stages &&
			   (n - v <= stages - 1 - at || one_in(2))) {
			at++;
		}
		w->of[v] = (uint32_t)at;
	}
	if (turned && n > 1) {
		k = below(n);
		w->of[k] = (uint32_t)below(w->of[n - 1] + 1);
	}
	w->m = (struct gv_machine){.n_levels = 1 + below(3)};
	for (k = 0; k < stages; k++) {
		w->stage[k].recompute = one_in(5);
		for (l = 0; l < w->m.n_levels; l++)
			w->stage[k].replicas[l] = 1 + below(3);
	}
}

static void
draw_pipe(struct world *w, size_t stages, size_t chunks)
{
	size_t k, replicas = one_in(2) ? 1 : 1 + below(3);

	w->pipe = (struct gv_pipe){.n = stages, .stage = w->pipe_stage, .chunks = chunks};
	w->pipe.schedule = chunks > 1 ? GV_SCHEDULE_INTERLEAVED
				      : (enum gv_schedule_kind)below(GV_SCHEDULES);
	for (k = 0; k < stages; k++) {
		w->pipe_stage[k].replicas = replicas;
		w->pipe_stage[k].stash = 1;
	}
	if (one_in(5))
		w->pipe_stage[below(stages)].replicas += below(3);
	w->pipe.micro_batches = 1 + below(12);
	if (!one_in(4))
		w->pipe.micro_batches = stages / chunks * replicas * (1 + below(3));
	w->pipe.batch = w->pipe.micro_batches;
}

static void
ask(struct recorded *r, size_t *good)
{
	size_t n = 1 + below(LAYERS), chunks = one_in(4) ? 2 : 1, stages;
	struct world w;
	enum export format;

	memset(&w, 0, sizeof(w));
	stages = 1 + below(n < STAGES ? n : STAGES);
	if (stages % chunks != 0)
		stages = chunks = 1;
	draw_rows(&w, n, !one_in(3));
	draw_graph(&w, n);
	draw_plan(&w, n, stages);
	draw_pipe(&w, stages, chunks);
	w.l.row = w.row;
	for (format = 0; format < EXPORTS; format++) {
		const struct export_plan x = {
		    .l = &w.l, .p = &w.p, .m = &w.m, .pipe = &w.pipe};
		struct gv_strbuf s = {0};
		struct gv_out *out = gv_out_memory(&s);
		struct gv_error e = {0}, unused = {0};
		int rc = export_write(format, &x, out, &e);

		gv_out_close(out, &unused);
		recorded_whole(r, rc);
		recorded_text(r, s.s != NULL ? s.s : "");
		recorded_errors(r, &e);
		good[format] += rc == 0;
		gv_strbuf_free(&s);
	}
	gv_frame_free(&w.l.rows);
}

int
main(void)
{
	enum { ANSWERS = 80, EACH = 25 };
	size_t good[EXPORTS] = {0}, i, k;
	struct recorded r;

	recorded_open(&r);
	for (i = 0; i < ANSWERS; i++) {
		draws_begin(1, (uint32_t)i, 0);
		for (k = 0; k < EACH; k++)
			ask(&r, good);
		recorded_answer(&r, "plans %zu", i);
	}
	for (i = 0; i < EXPORTS; i++)
		ok(good[i] > ANSWERS * EACH / 8, "%s takes many: %zu", export_name[i],
		    good[i]);
	recorded_close(&r);
	return done_testing();
}
