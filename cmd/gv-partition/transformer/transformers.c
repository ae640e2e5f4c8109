#include "transformers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "table/kind.h"

/* ---- reading ---- */

enum column {
	LAYERS, /* those up to BATCH must be there */
	HIDDEN,
	HEADS,
	SEQ,
	VOCAB,
	BATCH,
	FFN,
	KV_HEADS,
	HEAD_SIZE,
	EXPERTS,
	TOP,
	SHARED,
	FLAGS, /* 0 or 1 */
	TIED = FLAGS,
	BIASES,
	GATED,
	QK_NORM,
	GPUS_OF,
	TENSOR,
	PIPELINE,
	DATA,
	LAST,
	VIRTUAL,
	MICRO,
	CONTEXT,
	EXPERT,
	ZERO,
	NUMBERS, /* those behind are words */
	NORM = NUMBERS,
	POSITIONS,
	RECOMPUTE,
	SCHEDULE,
	TYPE,
	COLUMNS
};

static const char *const name[COLUMNS] = {"layers", "hidden_size", "attention_heads",
    "seq_len", "vocab", "global_batch", "ffn_hidden_size", "kv_heads", "head_size",
    "experts", "experts_per_token", "shared_ffn_hidden_size", "tied_embeddings", "biases",
    "gated_ffn", "qk_norm", "gpus", "tensor_parallel", "pipeline_parallel",
    "data_parallel", "last_stage_layers", "virtual_stages", "micro_batch",
    "context_parallel", "expert_parallel", "zero_stage", "norm", "positions", "recompute",
    "schedule", "gpu_type"};

static const char *const norm_name[] = {"layernorm", "rmsnorm"};
static const char *const positions_name[] = {"learned", "rotary"};

static bool
is_flag(size_t column)
{
	return column >= FLAGS && column <= QK_NORM;
}

/* Of a column that is there; a part that has no experts may say so by 0. */
static int64_t
least(size_t column)
{
	return is_flag(column) || column == ZERO || column == EXPERTS || column == TOP ||
		       column == SHARED
		   ? 0
		   : 1;
}

static int64_t
most(size_t column)
{
	return is_flag(column)                       ? 1
	       : column == ZERO                      ? PTD_ZERO_STAGES - 1
	       : column == SEQ || column == VOCAB    ? 1000000000
	       : column == LAYERS || column == HEADS ? 100000
						     : PTD_GPUS;
}

/* What holds where a cell is empty. */
static int64_t
otherwise(size_t column, const int64_t *v)
{
	switch (column) {
	case FFN:
		return 4 * v[HIDDEN];
	case KV_HEADS:
		return v[HEADS];
	case HEAD_SIZE:
		return v[HIDDEN] / v[HEADS];
	case TOP:
		return v[EXPERTS] > 0;
	case TIED:
	case BIASES:
		return 1;
	case ZERO:
		return -1;
	default:
		return 0;
	}
}

/* What numbers have to be to each other. */
static int
check_numbers(const struct transformers *t, size_t row, const ptrdiff_t *at,
    const int64_t *v, struct gv_error *e)
{
	if (gv_frame_cell(&t->rows, row, at[HEAD_SIZE]).len == 0 &&
	    v[HIDDEN] % v[HEADS] != 0)
		return gv_frame_error(&t->rows, row, at[HIDDEN], e,
		    "expected a multiple of the %d attention heads, got %d",
		    (int)v[HEADS], (int)v[HIDDEN]);
	if (v[HEADS] % v[KV_HEADS] != 0)
		return gv_frame_error(&t->rows, row, at[KV_HEADS], e,
		    "expected a part of the %d attention heads, got %d", (int)v[HEADS],
		    (int)v[KV_HEADS]);
	if (v[EXPERTS] > 0 ? v[TOP] < 1 || v[TOP] > v[EXPERTS] : v[TOP] > 0)
		return gv_frame_error(&t->rows, row, at[TOP], e,
		    "expected a number of the %d experts, got %d", (int)v[EXPERTS],
		    (int)v[TOP]);
	if (v[EXPERTS] == 0 && v[SHARED] > 0)
		return gv_frame_error(&t->rows, row, at[SHARED], e,
		    "a part for all tokens is beside experts, of which there are none");
	return 0;
}

/* The numbers of a row, 0 where there is none. */
static int
read_numbers(const struct transformers *t, size_t row, const ptrdiff_t *at, int64_t *v,
    struct gv_error *e)
{
	struct gv_cell c;
	size_t i;

	for (i = 0; i < NUMBERS; i++) {
		if (gv_frame_int(
			&t->rows, row, at[i], i <= BATCH ? INT64_MIN : 0, &v[i], e) != 0)
			return -1;
		c = gv_frame_cell(&t->rows, row, at[i]);
		if (c.len > 0 && (v[i] < least(i) || v[i] > most(i)))
			return gv_frame_error(&t->rows, row, at[i], e,
			    "expected a whole number from %d to %d, got \"%s\"",
			    (int)least(i), (int)most(i), c.s);
		if (c.len == 0)
			v[i] = otherwise(i, v);
	}
	return check_numbers(t, row, at, v, e);
}

/* The number of the word in a cell, -1 for none. */
static int
read_word(const struct transformers *t, size_t row, ptrdiff_t column,
    const char *const *words, int n, int *word, struct gv_error *e)
{
	struct gv_cell c = gv_frame_cell(&t->rows, row, column);
	char known[128] = "";
	size_t len = 0;
	int i;

	*word = -1;
	if (c.len == 0)
		return 0;
	for (i = 0; i < n; i++) {
		if (gv_cell_is(c, words[i])) {
			*word = i;
			return 0;
		}
		len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%s",
		    i > 0 ? ", " : "", words[i]);
	}
	return gv_frame_expected(&t->rows, row, column, e, "one of %s", known);
}

static int
read_row(struct transformers *t, size_t row, const ptrdiff_t *at, struct gv_error *e)
{
	struct transformer_row *r = &t->row[row];
	int64_t v[NUMBERS];
	int norm, positions;
	struct gv_cell type = gv_frame_cell(&t->rows, row, at[TYPE]);

	if (read_numbers(t, row, at, v, e) != 0 ||
	    read_word(t, row, at[NORM], norm_name, 2, &norm, e) != 0 ||
	    read_word(t, row, at[POSITIONS], positions_name, 2, &positions, e) != 0 ||
	    read_word(t, row, at[RECOMPUTE], ptd_recompute_name, PTD_RECOMPUTES,
		&r->pins.recompute, e) != 0 ||
	    read_word(t, row, at[SCHEDULE], ptd_schedule_name, PTD_SCHEDULES,
		&r->pins.schedule, e) != 0)
		return -1;
	r->x = (struct transformer){.layers = (double)v[LAYERS],
	    .hidden = (double)v[HIDDEN],
	    .ffn = (double)v[FFN],
	    .heads = (double)v[HEADS],
	    .seq = (double)v[SEQ],
	    .vocab = (double)v[VOCAB],
	    .batch = (double)v[BATCH],
	    .kv_heads = (double)v[KV_HEADS],
	    .head_size = (double)v[HEAD_SIZE],
	    .experts = (double)v[EXPERTS],
	    .top = (double)v[TOP],
	    .shared = (double)v[SHARED],
	    .gated = v[GATED] == 1,
	    .rms_norm = norm == 1,
	    .no_biases = v[BIASES] == 0,
	    .qk_norm = v[QK_NORM] == 1,
	    .rotary = positions == 1,
	    .untied = v[TIED] == 0};
	r->pins.t = (size_t)v[TENSOR];
	r->pins.p = (size_t)v[PIPELINE];
	r->pins.d = (size_t)v[DATA];
	r->pins.last = (size_t)v[LAST];
	r->pins.v = (size_t)v[VIRTUAL];
	r->pins.b = (size_t)v[MICRO];
	r->pins.c = (size_t)v[CONTEXT];
	r->pins.e = (size_t)v[EXPERT];
	r->pins.zero = (int)v[ZERO];
	r->gpu_type = type.len > 0 ? type.s : NULL;
	r->gpus = (size_t)v[GPUS_OF];
	return 0;
}

int
transformers_read(struct transformers *t, const char *path, struct gv_error *e)
{
	ptrdiff_t at[COLUMNS];
	size_t i;
	int rc;

	memset(t, 0, sizeof(*t));
	if (gv_frame_load(&t->rows, path, e) != 0)
		return -1;
	rc = gv_frame_expect(&t->rows, GV_KIND_TRANSFORMERS, e);
	for (i = 0; i < COLUMNS && rc == 0; i++) {
		at[i] = gv_frame_find(&t->rows, name[i]);
		if (i <= BATCH)
			rc = gv_frame_require(&t->rows, name[i], &at[i], e);
	}
	t->row = gv_xcalloc(t->rows.n_rows + 1, sizeof(*t->row));
	for (i = 0; i < t->rows.n_rows && rc == 0; i++)
		rc = read_row(t, i, at, e);
	if (rc != 0)
		transformers_free(t);
	return rc;
}

void
transformers_free(struct transformers *t)
{
	free(t->row);
	gv_frame_free(&t->rows);
	memset(t, 0, sizeof(*t));
}

void
transformers_name(const struct transformers *t, size_t row, char *buf, size_t size)
{
	struct gv_cell model =
	    gv_frame_cell(&t->rows, row, gv_frame_find(&t->rows, "model"));
	char q[GV_QUOTE_LEN];

	snprintf(buf, size, "%s:%ld%s%s", t->rows.file, t->rows.line[row],
	    model.len > 0 ? ": " : "",
	    model.len > 0 ? gv_quote(q, model.s, model.len) : "");
}

/* ---- writing ---- */

enum answer {
	HAS_TYPE,
	HAS_GPUS,
	HAS_RANK,
	HAS_TENSOR,
	HAS_PIPELINE,
	HAS_DATA,
	HAS_LAST,
	HAS_VIRTUAL,
	HAS_MICRO,
	HAS_RECOMPUTE,
	HAS_SCHEDULE,
	HAS_CONTEXT,
	HAS_EXPERT,
	HAS_ZERO,
	CHOICES /* costs are behind them */
};

static const char *const answer[] = {"gpu_type", "gpus", "rank", "tensor_parallel",
    "pipeline_parallel", "data_parallel", "last_stage_layers", "virtual_stages",
    "micro_batch", "recompute", "schedule", "context_parallel", "expert_parallel",
    "zero_stage", "parameters", "memory_bytes", "iteration_s", "tokens_per_s",
    "model_flops_per_s", "mfu_share", "hardware_flops_per_s", "hfu_share",
    "compute_share", "tensor_share", "pipeline_share", "data_share", "optimizer_share",
    "bubble_share"};

enum { ANSWERS = sizeof(answer) / sizeof(answer[0]) };

static void
write_choice(struct gv_tabw *w, const struct ptd_machine *m, const struct ptd_plan *k,
    size_t rank, size_t column)
{
	const size_t number[CHOICES] = {[HAS_GPUS] = m->gpus,
	    [HAS_RANK] = rank,
	    [HAS_TENSOR] = k->t,
	    [HAS_PIPELINE] = k->p,
	    [HAS_DATA] = k->d,
	    [HAS_LAST] = k->last,
	    [HAS_VIRTUAL] = k->v,
	    [HAS_MICRO] = k->b,
	    [HAS_CONTEXT] = k->c,
	    [HAS_EXPERT] = k->e,
	    [HAS_ZERO] = k->zero};

	if (column == HAS_TYPE)
		gv_tabw_str(w, m->name);
	else if (column == HAS_RECOMPUTE)
		gv_tabw_str(w, ptd_recompute_name[k->recompute]);
	else if (column == HAS_SCHEDULE)
		gv_tabw_str(w, ptd_schedule_name[k->schedule]);
	else
		gv_tabw_int(w, (int64_t)number[column]);
}

/* What the plan costs, in the order of the names. */
static void
costs(double value[ANSWERS], const struct transformer *x, const struct ptd_machine *m,
    const struct ptd_row *r)
{
	const struct ptd_time *s = &r->time;
	double each = s->iteration_s * (double)m->gpus;
	double peak = m->gpu->flops_per_s[m->precision];
	double model = transformer_flops(x, PTD_NONE) / each;
	double hardware = transformer_flops(x, r->plan.recompute) / each;
	const double list[] = {transformer_parameters(x), ceil(r->memory), s->iteration_s,
	    x->batch * x->seq / s->iteration_s, model, model / peak, hardware,
	    hardware / peak, s->compute_s / s->iteration_s, s->tensor_s / s->iteration_s,
	    s->pipeline_s / s->iteration_s, s->data_s / s->iteration_s,
	    s->optimizer_s / s->iteration_s, s->bubble_s / s->iteration_s};

	memcpy(value + CHOICES, list, sizeof(list));
}

void
transformers_header(const struct transformers *t, struct gv_tabw *w)
{
	size_t i;

	for (i = 0; i < t->rows.n_columns; i++)
		gv_tabw_cell(w, t->rows.name[i]);
	for (i = 0; i < ANSWERS; i++)
		if (gv_frame_find(&t->rows, answer[i]) < 0)
			gv_tabw_str(w, answer[i]);
	gv_tabw_end(w);
}

void
transformers_write(const struct transformers *t, size_t row, const struct ptd_machine *m,
    const struct ptd_row *plan, size_t rank, struct gv_tabw *w)
{
	double value[ANSWERS];
	ptrdiff_t at[ANSWERS];
	size_t i, k;

	costs(value, &t->row[row].x, m, plan);
	for (i = 0; i < ANSWERS; i++)
		at[i] = gv_frame_find(&t->rows, answer[i]);
	for (k = 0; k < t->rows.n_columns + ANSWERS; k++) {
		for (i = 0; i < ANSWERS && at[i] != (ptrdiff_t)k; i++)
			;
		if (i == ANSWERS && k < t->rows.n_columns) {
			gv_tabw_cell(w, gv_frame_cell(&t->rows, row, (ptrdiff_t)k));
			continue;
		}
		if (k >= t->rows.n_columns) {
			i = k - t->rows.n_columns;
			if (at[i] >= 0)
				continue;
		}
		if (i < CHOICES)
			write_choice(w, m, &plan->plan, rank, i);
		else
			gv_tabw_double(w, value[i]);
	}
	gv_tabw_end(w);
}
