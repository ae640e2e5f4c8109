/* What each configuration costs, and which is best. */
#include "two_bw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void
two_bw_speeds_even(struct two_bw_speeds *v, size_t most)
{
	size_t b;

	memset(v, 0, sizeof(*v));
	v->b = gv_xcalloc(64, sizeof(*v->b));
	v->speed = gv_xcalloc(64, sizeof(*v->speed));
	for (b = 1; b <= most && v->n < 63; b *= 2) {
		v->b[v->n] = b;
		v->speed[v->n++] = 1;
	}
}

void
two_bw_speeds_free(struct two_bw_speeds *v)
{
	free(v->b);
	free(v->speed);
	memset(v, 0, sizeof(*v));
}

struct search {
	struct two_bw_rows *r;
	const struct ideals *s;
	const struct two_bw_machine *m;
};

/* What a stage between two prefixes adds to the row; speed is that of row->b. */
static void
add_stage(
    const struct search *x, struct two_bw_row *row, size_t from, size_t to, double speed)
{
	const struct ideals *s = x->s;
	const struct two_bw_machine *m = x->m;
	double w = (double)row->w, d = (double)row->d, b = (double)row->b;
	double weights = s->parameter[to] - s->parameter[from];
	double activation = b * (s->activation[to] - s->activation[from]);
	double time_s = s->time_s[to] - s->time_s[from];
	double again = row->recompute ? s->forward_s[to] - s->forward_s[from] : 0;
	double micro = (double)row->g * (row->pipelined ? d : 1), took, bytes;
	double compute = b * (time_s + again) / speed, transfer, sync;

	transfer = 2 * b * (s->out[from] + s->out[to]) /
		   (row->w * row->d <= m->server ? m->fast : m->slow);
	sync =
	    2 * (w - 1) / w * weights / (row->w <= m->server ? m->fast_sum : m->slow_sum);
	took = fmax(compute + transfer, sync / micro);
	bytes = (1 + m->state + (row->pipelined ? 2 : 1)) * weights + activation;
	if (row->pipelined)
		bytes +=
		    (row->recompute ? 0 : (d - 1) * activation) + d * b * s->out[from];
	row->memory = fmax(row->memory, bytes);
	if (!row->pipelined) {
		row->micro_s += took;
		row->compute_s += compute;
		row->transfer_s += transfer;
		row->sync_s += sync / micro;
	} else if (took > row->micro_s) {
		row->micro_s = took;
		row->compute_s = compute;
		row->transfer_s = transfer;
		row->sync_s = sync / micro;
	}
}

static void
try_row(const struct search *x, struct two_bw_row row, const size_t *at, double speed)
{
	struct two_bw_rows *r = x->r;
	size_t i;

	for (i = 0; i < row.d; i++)
		add_stage(x, &row, at[i], at[i + 1], speed);
	row.minibatches_per_s = (double)(row.w * row.b) / row.micro_s;
	if (r->tried++ == 0 || row.memory < r->least.memory)
		r->least = row;
	if (x->m->memory > 0 && row.memory > x->m->memory)
		return;
	r->row = gv_xgrow(r->row, &r->cap, r->n + 1, sizeof(*r->row));
	r->row[r->n++] = row;
}

/* Of one width, depth and micro-batch: serial; pipelined; with recomputation. */
static void
try_kinds(
    const struct search *x, size_t w, size_t d, size_t b, const size_t *at, double speed)
{
	const struct two_bw_machine *m = x->m;
	struct two_bw_row row = {.w = w, .d = d, .b = b};

	row.g = m->batch / (w * b);
	if (row.g > 0 && m->recompute != TWO_BW_FULL)
		try_row(x, row, at, speed);
	row.pipelined = true;
	row.g = m->batch / (w * d * b);
	if (d == 1 || row.g == 0)
		return;
	if (m->recompute != TWO_BW_FULL)
		try_row(x, row, at, speed);
	row.recompute = true;
	if (m->recompute != TWO_BW_NONE)
		try_row(x, row, at, speed);
}

static int
compare(const void *a, const void *b)
{
	const struct two_bw_row *x = a, *y = b;
	double p = x->minibatches_per_s, q = y->minibatches_per_s;

	if (p != q)
		return p > q ? -1 : 1;
	if (x->d != y->d)
		return x->d < y->d ? -1 : 1;
	if (x->recompute != y->recompute)
		return x->recompute ? 1 : -1;
	if (x->memory != y->memory)
		return x->memory < y->memory ? -1 : 1;
	if (x->w != y->w)
		return x->w < y->w ? -1 : 1;
	if (x->b != y->b)
		return x->b < y->b ? -1 : 1;
	return (int)x->pipelined - (int)y->pipelined;
}

void
two_bw_search(struct two_bw_rows *r, const struct ideals *s, const struct two_bw_cuts *c,
    const struct two_bw_machine *m, const struct two_bw_speeds *v)
{
	const struct search x = {.r = r, .s = s, .m = m};
	size_t w, d, i;

	memset(r, 0, sizeof(*r));
	for (d = 1; d <= c->deepest && d <= m->gpus; d++)
		for (w = 1; w <= m->gpus / d; w++)
			for (i = 0; i < v->n && v->b[i] <= m->batch; i++)
				try_kinds(&x, w, d, v->b[i], c->at[d], v->speed[i]);
	if (r->n > 0)
		qsort(r->row, r->n, sizeof(*r->row), compare);
}

void
two_bw_rows_free(struct two_bw_rows *r)
{
	free(r->row);
	memset(r, 0, sizeof(*r));
}
