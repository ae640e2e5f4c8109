/*
 * Transformers, machines and ways to split them, drawn: what they cost, which ways there are,
 * and what is read and written of their tables, as before.
 */
#include "answers_help.h"
#include "base/fileio.h"
#include "gv-partition/export/ptd_export.h"
#include "gv-partition/transformer/gpus.h"
#include "gv-partition/transformer/ptd_parts.h"
#include "gv-partition/transformer/transformers.h"

/* ---- what is drawn ---- */

static bool
yes(void)
{
	return one_in(2);
}

static double
one_of(const double *v, size_t n)
{
	return v[below(n)];
}

#define ONE_OF(...)                           \
	one_of((const double[]){__VA_ARGS__}, \
	    sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

static void
draw_transformer(struct transformer *x)
{
	memset(x, 0, sizeof(*x));
	x->layers = (double)draw_number(12, 40);
	x->heads = ONE_OF(1, 2, 3, 4, 6, 8, 12, 16);
	x->kv_heads = one_in(3) ? 1 : x->heads;
	if (x->heads >= 4 && one_in(3))
		x->kv_heads = x->heads / 2;
	x->head_size = ONE_OF(1, 2, 16, 64, 128);
	x->hidden = one_in(4) ? (double)(1 + below(900)) : x->heads * x->head_size;
	x->ffn = one_in(3) ? (double)(8 * (1 + below(300))) : 4 * x->hidden;
	x->seq = ONE_OF(1, 12, 128, 2048, 8190, 8192, 16384);
	x->vocab = ONE_OF(1, 100, 1000, 51200);
	x->batch = ONE_OF(1, 2, 3, 4, 8, 12, 16, 24, 48);
	if (one_in(3)) {
		x->experts = ONE_OF(1, 2, 3, 4, 8);
		x->top = (double)(1 + below((size_t)x->experts));
		x->shared = yes() ? 0 : (double)(8 * (1 + below(100)));
	}
	x->gated = yes();
	x->rms_norm = yes();
	x->no_biases = yes();
	x->rotary = yes();
	x->qk_norm = yes();
	x->untied = yes();
}

static void
draw_gpu(struct gpu_type *g)
{
	memset(g, 0, sizeof(*g));
	g->name = "drawn";
	g->memory = ONE_OF(4e9, 16e9, 80e9);
	g->memory_bytes_per_s = ONE_OF(1e11, 2e12, 3.35e12);
	g->flops_per_s[PRECISION_BF16] = ONE_OF(1e13, 312e12, 989e12);
	g->flops_per_s[PRECISION_FP16] = ONE_OF(1e13, 125e12);
	g->flops_per_s[PRECISION_FP32] = ONE_OF(1e12, 19.5e12);
	g->gemm_share = ONE_OF(.5, .75, 1);
	g->memory_share = ONE_OF(.5, .8, 1);
	g->link_share = ONE_OF(.5, .7, 1);
}

static void
draw_machine(struct ptd_machine *m, struct gpu_type *g)
{
	size_t i;

	draw_gpu(g);
	memset(m, 0, sizeof(*m));
	m->gpu = g;
	m->name = g->name;
	m->gpus = draw_number(16, 64);
	m->node = (size_t)ONE_OF(1, 2, 4, 8, 6);
	m->link_bytes_per_s = ONE_OF(1e9, 5e10, 3e11, 4.5e11);
	m->network_bytes_per_s = ONE_OF(1e9, 2.5e10, 5e10);
	m->memory = ONE_OF(2.2e9, 3e9, 4e9, 16e9, 80e9);
	m->precision = (enum precision)below(PRECISIONS);
	for (i = 0; i < PTD_FEATURES; i++)
		m->can[i] = yes();
}

/* Whatever the search would look at or not: only what is divided holds. */
static void
draw_plan(struct ptd_plan *k, const struct transformer *x)
{
	size_t layers = (size_t)x->layers, batch = (size_t)x->batch, most;

	k->t = (size_t)ONE_OF(1, 2, 4, 8);
	k->p = 1 + below(layers < 6 ? layers : 6);
	k->c = (size_t)ONE_OF(1, 1, 2, 4);
	k->d = (size_t)ONE_OF(1, 2, 3, 4, 8);
	if (batch % k->d != 0)
		k->d = 1;
	k->e = x->experts > 1 && (k->c * k->d) % 2 == 0 && yes() ? 2 : 1;
	k->zero = below(k->p == 1 ? 4 : 2);
	most = (layers + k->p - 1) / k->p;
	k->last = k->p == 1 ? layers : 1 + below(most);
	k->b = batch / k->d % 2 == 0 && yes() ? 2 : 1;
	k->recompute = (enum ptd_recompute)below(PTD_RECOMPUTES);
	k->schedule = (enum ptd_schedule)below(PTD_SCHEDULES);
	k->v = k->schedule == PTD_INTERLEAVED ? 1 + below(3) : 1;
}

/* ---- formulas ---- */

static void
record_plan(struct recorded *r, const struct ptd_plan *k)
{
	const size_t v[] = {k->t, k->p, k->d, k->c, k->e, k->zero, k->last, k->v, k->b,
	    k->recompute, k->schedule};
	size_t i;

	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		recorded_whole(r, (long long)v[i]);
}

static void
record_time(struct recorded *r, const struct ptd_time *t)
{
	const double v[] = {t->compute_s, t->tensor_s, t->pipeline_s, t->data_s,
	    t->optimizer_s, t->bubble_s, t->iteration_s};

	recorded_doubles(r, v, sizeof(v) / sizeof(v[0]));
}

static void
record_sizes(struct recorded *r, const struct transformer *x)
{
	int i;

	recorded_double(r, transformer_expert_parameters(x));
	recorded_double(r, transformer_layer_parameters(x));
	recorded_double(r, transformer_norm_parameters(x));
	recorded_double(r, transformer_position_parameters(x));
	recorded_double(r, transformer_parameters(x));
	for (i = 0; i < PTD_RECOMPUTES; i++)
		recorded_double(r, transformer_flops(x, (enum ptd_recompute)i));
}

static void
record_links(struct recorded *r, const struct ptd_machine *m, const struct ptd_plan *k)
{
	size_t n = 1 + below(12), stride = 1 + below(12);

	recorded_double(r, ptd_stage_rate(m, k));
	recorded_whole(r, ptd_one_server(m, k));
	recorded_double(r, ptd_half_reduce_s(m, 1e9, n, stride));
	recorded_double(r, ptd_all_to_all_s(m, 1e9, n, stride));
}

/* Parts are no more than the whole, and nothing takes less than no time. */
static bool
ask_formulas(struct recorded *r)
{
	struct transformer x;
	struct ptd_machine m;
	struct ptd_plan k;
	struct ptd_layer l;
	struct ptd_time t;
	struct gpu_type g;
	struct gv_strbuf s = {0};

	draw_transformer(&x);
	draw_machine(&m, &g);
	draw_plan(&k, &x);
	l = ptd_layer_time(&x, &m, &k);
	t = ptd_time(&x, &m, &k);
	record_sizes(r, &x);
	record_time(r, &t);
	recorded_doubles(r,
	    (const double[]){l.forward_s, l.backward_s, l.weight_s, l.core_s, l.reduce_s,
		l.ring_s, l.ring_back_s},
	    7);
	recorded_double(r, ptd_memory(&x, &m, &k));
	recorded_double(r, ptd_saved_bytes(&x, &m, (double)k.t));
	record_links(r, &m, &k);
	ptd_export_megatron(&s, &x, &m, &k);
	recorded_text(r, s.s);
	gv_strbuf_free(&s);
	return l.core_s <= l.forward_s && l.weight_s <= l.backward_s && t.bubble_s >= 0 &&
	       t.data_s >= 0 && t.iteration_s >= t.compute_s;
}

static void
formulas(struct recorded *r)
{
	enum { ANSWERS = 60, EACH = 40 };
	size_t i, k, wrong = 0;

	for (i = 0; i < ANSWERS; i++) {
		draws_begin(1, (uint32_t)i, 0);
		for (k = 0; k < EACH; k++)
			wrong += !ask_formulas(r);
		recorded_answer(r, "what plans cost %zu", i);
	}
	is_int(wrong, 0, "no part takes less than nothing, or more than the whole");
}

/* ---- the search ---- */

static size_t
pin(size_t a, size_t b)
{
	return one_in(8) ? (yes() ? a : b) : 0;
}

static void
draw_pins(struct ptd_pins *p)
{
	memset(p, 0, sizeof(*p));
	p->t = pin(2, 4);
	p->p = pin(1, 3);
	p->d = pin(2, 4);
	p->c = pin(2, 1);
	p->e = pin(2, 1);
	p->v = pin(2, 1);
	p->b = pin(2, 1);
	p->last = pin(2, 1);
	p->zero = one_in(3) ? (int)below(PTD_ZERO_STAGES) : -1;
	p->recompute = one_in(3) ? (int)below(PTD_RECOMPUTES) : -1;
	p->schedule = one_in(3) ? (int)below(PTD_SCHEDULES) : -1;
	p->any_zero = one_in(3);
	p->any_memory = yes();
}

static void
record_rows(struct recorded *r, const struct ptd_rows *rows)
{
	size_t i;

	recorded_whole(r, (long long)rows->n);
	recorded_whole(r, (long long)rows->tried);
	for (i = 0; i < rows->n; i++) {
		record_plan(r, &rows->row[i].plan);
		recorded_double(r, rows->row[i].memory);
		record_time(r, &rows->row[i].time);
	}
	if (rows->tried > 0) {
		record_plan(r, &rows->least.plan);
		recorded_double(r, rows->least.memory);
	}
}

static size_t
ask_search(struct recorded *r)
{
	struct transformer x;
	struct ptd_machine m;
	struct ptd_pins pins;
	struct ptd_rows rows;
	struct gpu_type g;
	size_t n;

	draw_transformer(&x);
	x.seq = one_in(4) ? ONE_OF(8190, 8192, 12288) : ONE_OF(1, 8, 12, 128);
	draw_machine(&m, &g);
	m.gpus = one_in(6) ? 1 + below(3000) : draw_number(12, 30);
	draw_pins(&pins);
	if (yes())
		ptd_search(&rows, &x, &m, &pins);
	else
		ptd_search_part(&rows, &x, &m, &pins);
	record_rows(r, &rows);
	recorded_whole(r, (long long)m.gpus);
	n = rows.n;
	ptd_rows_free(&rows);
	return n;
}

static void
searches(struct recorded *r)
{
	enum { ANSWERS = 60, EACH = 20 };
	size_t i, k, found = 0;

	for (i = 0; i < ANSWERS; i++) {
		draws_begin(2, (uint32_t)i, 0);
		for (k = 0; k < EACH; k++)
			found += ask_search(r) > 0;
		recorded_answer(r, "searches %zu", i);
	}
	ok(found > ANSWERS * EACH / 4, "many find a plan: %zu", found);
}

/* ---- GPU types ---- */

static const char *const words[] = {"a100", "A100", "sxm4", "SXM", "80gb", "40GB", "gb",
    "hbm3", "8gb", "pcie", "h100", "nvidia", "x", "", "l4"};

static void
draw_name(struct gv_strbuf *s)
{
	size_t n = one_in(40) ? 17 + below(3) : 1 + below(4), i;

	for (i = 0; i < n; i++)
		gv_strbuf_fmt(s, "%s%s", i > 0 ? "-" : "", words[below(15)]);
}

static void
type_name(struct gv_strbuf *s, size_t row, const void *ctx)
{
	(void)row;
	(void)ctx;
	draw_name(s);
}

static void
rate(struct gv_strbuf *s, size_t row, const void *ctx)
{
	(void)row;
	(void)ctx;
	gv_strbuf_fmt(s, "%g", ONE_OF(1, 1e9, 3e11, 8e10, 1e18));
}

static void
maybe_rate(struct gv_strbuf *s, size_t row, const void *ctx)
{
	if (yes())
		rate(s, row, ctx);
}

static void
share(struct gv_strbuf *s, size_t row, const void *ctx)
{
	(void)row;
	(void)ctx;
	gv_strbuf_fmt(s, "%g", ONE_OF(1, .5, .25, .8));
}

static void
servers(struct gv_strbuf *s, size_t row, const void *ctx)
{
	(void)row;
	(void)ctx;
	gv_strbuf_str(s, (const char *const[]){"8", "4", "", "1000000"}[below(4)]);
}

static const struct drawn_column type_columns[] = {{"gpu_type", 0, type_name},
    {"memory_bytes", 0, rate}, {"memory_bytes_per_s", 0, rate},
    {"bf16_flops_per_s", 3, maybe_rate}, {"fp16_flops_per_s", 3, maybe_rate},
    {"fp32_flops_per_s", 3, maybe_rate}, {"node_gpus", 3, servers},
    {"link_bytes_per_s", 0, rate}, {"network_bytes_per_s", 0, rate},
    {"gemm_share", 0, share}, {"memory_share", 0, share}, {"link_share", 0, share},
    {"calibrated_on", 2, servers}};

static void
record_types(struct recorded *r, const struct gpu_types *g)
{
	size_t i, k;

	recorded_whole(r, (long long)g->n);
	for (i = 0; i < g->n; i++) {
		const struct gpu_type *t = &g->type[i];
		const double v[] = {t->memory, t->memory_bytes_per_s, t->flops_per_s[0],
		    t->flops_per_s[1], t->flops_per_s[2], t->node_gpus,
		    t->link_bytes_per_s, t->network_bytes_per_s, t->gemm_share,
		    t->memory_share, t->link_share, t->calibrated ? 1 : 0};

		recorded_text(r, t->name);
		recorded_doubles(r, v, sizeof(v) / sizeof(v[0]));
	}
	for (k = 0; k < 12; k++) {
		struct gv_strbuf s = {0};
		const struct gpu_type *found;

		draw_name(&s);
		found = gpu_types_find(g, s.s);
		recorded_whole(r, found != NULL ? found - g->type : -1);
		gv_strbuf_free(&s);
	}
}

static void
ask_types(struct recorded *r, const struct answers_file *file)
{
	struct gv_strbuf s = {0};
	struct gpu_types g;
	struct gv_error e = {0};
	size_t rows = below(7);
	int rc;

	draw_table(&s, type_columns, sizeof(type_columns) / sizeof(type_columns[0]), rows,
	    NULL, yes() ? 0 : 10 + below(60));
	answers_file_put(file, &s);
	rc = gpu_types_read(&g, file->path, &e);
	recorded_whole(r, rc);
	if (rc == 0)
		record_types(r, &g);
	recorded_errors(r, &e);
	gpu_types_free(&g);
	recorded_whole(r, g.type == NULL && g.n == 0 && g.rows.n_rows == 0);
	gv_strbuf_free(&s);
}

static void
types(struct recorded *r)
{
	enum { ANSWERS = 30, EACH = 25 };
	struct answers_file file;
	size_t i, k;

	answers_file_open(&file);
	for (i = 0; i < ANSWERS; i++) {
		draws_begin(3, (uint32_t)i, 0);
		for (k = 0; k < EACH; k++)
			ask_types(r, &file);
		recorded_answer(r, "GPU types %zu", i);
	}
	answers_file_close(&file);
}

/* ---- tables of transformers ---- */

/* Numbers that divide each other, more or less. */
static void
number(struct gv_strbuf *s, size_t row, const void *ctx)
{
	(void)row;
	(void)ctx;
	gv_strbuf_fmt(s, "%g", ONE_OF(1, 2, 4, 8, 16, 48, 1024));
}

static void
maybe_number(struct gv_strbuf *s, size_t row, const void *ctx)
{
	if (one_in(3))
		number(s, row, ctx);
}

static void
wide(struct gv_strbuf *s, size_t row, const void *ctx)
{
	(void)row;
	(void)ctx;
	gv_strbuf_fmt(s, "%g", ONE_OF(1024, 2048, 4096));
}

static void
few(struct gv_strbuf *s, size_t row, const void *ctx)
{
	(void)row;
	(void)ctx;
	gv_strbuf_fmt(s, "%g", ONE_OF(1, 2, 4));
}

static void
flag(struct gv_strbuf *s, size_t row, const void *ctx)
{
	(void)row;
	(void)ctx;
	gv_strbuf_str(s, (const char *const[]){"0", "1", ""}[below(3)]);
}

static void
zero(struct gv_strbuf *s, size_t row, const void *ctx)
{
	(void)row;
	(void)ctx;
	gv_strbuf_str(s, (const char *const[]){"0", "1", "2", "3", "", ""}[below(6)]);
}

static void
some_experts(struct gv_strbuf *s, size_t row, const void *ctx)
{
	(void)ctx;
	gv_strbuf_str(s, row % 2 == 0 ? "" : one_in(4) ? "0" : "4");
}

static void
top(struct gv_strbuf *s, size_t row, const void *ctx)
{
	(void)ctx;
	gv_strbuf_str(s, row % 2 == 0 || yes() ? "" : "1");
}

static void
word(struct gv_strbuf *s, size_t row, const void *ctx)
{
	static const char *const w[] = {"layernorm", "rmsnorm", "", "", ""};

	(void)row;
	(void)ctx;
	gv_strbuf_str(s, w[below(5)]);
}

static void
positions(struct gv_strbuf *s, size_t row, const void *ctx)
{
	(void)row;
	(void)ctx;
	gv_strbuf_str(s, (const char *const[]){"learned", "rotary", ""}[below(3)]);
}

static void
recompute(struct gv_strbuf *s, size_t row, const void *ctx)
{
	(void)row;
	(void)ctx;
	gv_strbuf_str(s, yes() ? "" : ptd_recompute_name[below(PTD_RECOMPUTES)]);
}

static void
schedule(struct gv_strbuf *s, size_t row, const void *ctx)
{
	(void)row;
	(void)ctx;
	gv_strbuf_str(s, yes() ? "" : ptd_schedule_name[below(PTD_SCHEDULES)]);
}

static void
model(struct gv_strbuf *s, size_t row, const void *ctx)
{
	(void)ctx;
	if (yes())
		gv_strbuf_fmt(s, "model %zu", row);
}

static const struct drawn_column model_columns[] = {{"model", 3, model},
    {"layers", 0, number}, {"hidden_size", 0, wide}, {"attention_heads", 0, few},
    {"seq_len", 0, wide}, {"vocab", 0, wide}, {"global_batch", 0, number},
    {"ffn_hidden_size", 2, maybe_number}, {"kv_heads", 3, flag},
    {"head_size", 2, maybe_number}, {"experts", 2, some_experts},
    {"experts_per_token", 2, top}, {"shared_ffn_hidden_size", 4, top},
    {"tied_embeddings", 2, flag}, {"biases", 2, flag}, {"gated_ffn", 2, flag},
    {"qk_norm", 2, flag}, {"gpus", 2, maybe_number}, {"tensor_parallel", 2, maybe_number},
    {"pipeline_parallel", 2, maybe_number}, {"data_parallel", 2, maybe_number},
    {"last_stage_layers", 2, maybe_number}, {"virtual_stages", 2, maybe_number},
    {"micro_batch", 2, maybe_number}, {"context_parallel", 2, maybe_number},
    {"expert_parallel", 2, maybe_number}, {"zero_stage", 2, zero}, {"norm", 2, word},
    {"positions", 2, positions}, {"recompute", 2, recompute}, {"schedule", 2, schedule},
    {"gpu_type", 2, model}, {"rank", 4, few}, {"memory_bytes", 4, few},
    {"iteration_s", 4, few}, {"bubble_share", 4, few}, {"note", 2, model}};

static void
record_model(struct recorded *r, const struct transformer_row *t)
{
	const struct transformer *x = &t->x;
	const struct ptd_pins *p = &t->pins;
	const double v[] = {x->layers, x->hidden, x->ffn, x->heads, x->kv_heads,
	    x->head_size, x->seq, x->vocab, x->batch, x->experts, x->top, x->shared,
	    x->gated, x->rms_norm, x->no_biases, x->rotary, x->qk_norm, x->untied,
	    (double)p->t, (double)p->p, (double)p->d, (double)p->c, (double)p->e,
	    (double)p->v, (double)p->b, (double)p->last, p->zero, p->recompute,
	    p->schedule, p->any_zero, p->any_memory, (double)t->gpus};

	recorded_doubles(r, v, sizeof(v) / sizeof(v[0]));
	recorded_text(r, t->gpu_type != NULL ? t->gpu_type : "none");
}

/* The table with a drawn plan for each row. */
static void
record_written(struct recorded *r, const struct transformers *t)
{
	struct gv_strbuf s = {0};
	struct gv_out *out = gv_out_memory(&s);
	struct gv_error e = {0};
	struct gv_tabw w;
	size_t i;

	gv_tabw_init(&w, out, yes());
	transformers_header(t, &w);
	for (i = 0; i < t->rows.n_rows; i++) {
		struct ptd_machine m;
		struct ptd_row row = {.memory = 1e9 + uniform()};
		struct gpu_type g;

		draw_machine(&m, &g);
		draw_plan(&row.plan, &t->row[i].x);
		row.time = ptd_time(&t->row[i].x, &m, &row.plan);
		transformers_write(t, i, &m, &row, 1 + below(5), &w);
	}
	gv_out_close(out, &e);
	recorded_text(r, s.s);
	gv_strbuf_free(&s);
}

static void
ask_models(struct recorded *r, const struct answers_file *file, size_t *good)
{
	struct gv_strbuf s = {0};
	struct transformers t;
	struct gv_error e = {0};
	size_t rows = below(5), i;
	char name[200];
	int rc;

	draw_table(&s, model_columns, sizeof(model_columns) / sizeof(model_columns[0]),
	    rows, NULL, yes() ? 0 : 20 + below(100));
	answers_file_put(file, &s);
	rc = transformers_read(&t, file->path, &e);
	recorded_whole(r, rc);
	if (rc == 0) {
		*good += rows > 0;
		for (i = 0; i < rows; i++) {
			record_model(r, &t.row[i]);
			transformers_name(&t, i, name, sizeof(name));
			recorded_text(r, name + strlen(file->path));
		}
		record_written(r, &t);
	}
	recorded_errors(r, &e);
	transformers_free(&t);
	recorded_whole(r, t.row == NULL && t.rows.n_rows == 0);
	gv_strbuf_free(&s);
}

static void
models(struct recorded *r)
{
	enum { ANSWERS = 40, EACH = 30 };
	struct answers_file file;
	size_t i, k, good = 0;

	answers_file_open(&file);
	for (i = 0; i < ANSWERS; i++) {
		draws_begin(4, (uint32_t)i, 0);
		for (k = 0; k < EACH; k++)
			ask_models(r, &file, &good);
		recorded_answer(r, "tables of transformers %zu", i);
	}
	answers_file_close(&file);
	ok(good > ANSWERS * EACH / 5, "many can be read: %zu", good);
}

int
main(void)
{
	struct recorded r;

	recorded_open(&r);
	formulas(&r);
	searches(&r);
	types(&r);
	models(&r);
	recorded_close(&r);
	return done_testing();
}
