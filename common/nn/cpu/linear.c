/* linear: y = x W + bias, W [in][out]; of every sample, or of every place. */
#include <string.h>

#include "nn/cpu/gemm.h"
#include "nn/cpu/parts.h"

void
gv_cpu_linear_forward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	bool raw = cpu->row[r - cpu->plan->row].raw;
	size_t in = r->in_size / r->places, out = r->out_size / r->places;
	struct gv_cpu_gemm g = {.m = s->n * r->places,
	    .n = out,
	    .k = in,
	    .a = gv_cpu_x(c, r, s),
	    .lda = in,
	    .b = raw ? gv_nn_weight(c, r, s->b) : gv_cpu_packed(cpu, c, r, s->b, 0),
	    .ldb = raw ? out : 0,
	    .c = gv_cpu_y(c, r, s),
	    .ldc = out,
	    .bias = gv_nn_bias(c, r, s->b),
	    .relu = r->l.act == GV_ACT_RELU};
	size_t column = s->parts == 0 ? 0 : s->part * cpu->row[r - cpu->plan->row].strip;

	if (s->parts > 0)
		g.n = cpu->row[r - cpu->plan->row].strip;
	g.b += raw ? column : column * in;
	g.c += column;
	g.bias += g.bias == NULL ? 0 : column;
	gv_cpu_gemm(&g);
}

void
gv_cpu_linear_backward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	bool raw = cpu->row[r - cpu->plan->row].raw_back;
	size_t in = r->in_size / r->places, out = r->out_size / r->places;
	struct gv_cpu_gemm g = {.m = s->n * r->places,
	    .n = in,
	    .k = out,
	    .a = gv_cpu_dy(c, r, s),
	    .lda = out,
	    .b = raw ? gv_nn_weight(c, r, s->b) : gv_cpu_packed_t(cpu, c, r, s->b, 0),
	    .ldb = raw ? out : 0,
	    .turned = raw,
	    .c = gv_cpu_dx(c, r, s),
	    .ldc = in,
	    .add = r->adds[s->input]};
	size_t width = cpu->row[r - cpu->plan->row].strip_back, column = s->part * width;

	if (s->parts > 0) {
		g.n = gv_cpu_lesser(width, in - column);
		g.b += column * out;
		g.c += column;
	}
	gv_cpu_gemm(&g);
}

enum { SAMPLES = GV_CPU_SHARD_SAMPLES, APART = 16 }; /* that are packed at a time */

size_t
gv_cpu_linear_scratch(const struct gv_nn_row *r, const struct gv_cpu_row *packed)
{
	(void)packed;
	return gv_cpu_gemm_packed(
		   SAMPLES, gv_cpu_lesser(r->columns, GV_CPU_LINEAR_COLUMNS)) +
	       SAMPLES *
		   (gv_cpu_lesser(r->matrix_rows + 11, GV_CPU_LINEAR_ROWS + 12) + APART);
}

/* dW = x^T dy, sample by sample, place by place */
void
gv_cpu_linear_gradient(const struct gv_nn_call *c, const struct gv_nn_row *r,
    const struct gv_cpu_piece *p, const struct gv_cpu_block *s, gv_real *dw, size_t ldw)
{
	size_t at, some, columns = p->last_column - p->column;
	size_t in = r->in_size / r->places, out = r->out_size / r->places;
	size_t n = s->n * r->places;
	const gv_real *x = gv_cpu_x(c, r, s) + p->first;
	const gv_real *dy = gv_cpu_dy(c, r, s) + p->column;

	for (at = 0; at < n; at += some) {
		struct gv_cpu_gemm g = {.m = p->last - p->first,
		    .n = columns,
		    .lda = in,
		    .transposed = true,
		    .a = x + at * in,
		    .b = s->scratch,
		    .c = dw,
		    .ldc = ldw,
		    .add = at > 0};

		some = gv_cpu_lesser(n - at, SAMPLES);
		g.k = some;
		gv_cpu_gemm_pack(s->scratch, dy + at * out, out, 1, some, columns);
		gv_cpu_gemm(&g);
	}
}

/*
 * Lines of x of a piece; copied to scratch where they are so far apart that few sets of a
 * cache have them all.
 */
static const gv_real *
lines_of(const gv_real *x, size_t *lda, size_t lines, size_t n, gv_real *scratch)
{
	enum { FAR = 1024 };
	size_t i;

	if (*lda * sizeof(*x) % FAR != 0)
		return x;
	for (i = 0; i < lines; i++)
		memcpy(scratch + i * (n + APART), x + i * *lda, n * sizeof(*x));
	*lda = n + APART;
	return scratch;
}

bool
gv_cpu_linear_shards(const struct gv_nn_call *c, const struct gv_nn_row *r,
    const struct gv_cpu_piece *p, const struct gv_cpu_block *s, size_t shard,
    size_t shards, gv_real *dw, size_t ldw, bool add)
{
	size_t end[SAMPLES], k, first, last, columns = p->last_column - p->column;
	size_t in = r->in_size / r->places, out = r->out_size / r->places;
	struct gv_cpu_block some = *s;
	struct gv_cpu_shards g = {.m = p->last - p->first,
	    .n = columns,
	    .shards = shards,
	    .end = end,
	    .lda = in,
	    .b = s->scratch,
	    .c = dw,
	    .ldc = ldw,
	    .add = add};

	gv_nn_shard(c->plan, shard, &some.i, &last);
	gv_nn_shard(c->plan, shard + shards - 1, &first, &last);
	some.n = (last - some.i) * r->places;
	if (some.n > SAMPLES || shards > SAMPLES)
		return false;
	for (k = 0; k < shards; k++) {
		gv_nn_shard(c->plan, shard + k, &first, &last);
		end[k] = (last - some.i) * r->places;
	}
	gv_cpu_gemm_pack(
	    s->scratch, gv_cpu_dy(c, r, &some) + p->column, out, 1, some.n, columns);
	g.a = lines_of(gv_cpu_x(c, r, &some) + p->first, &g.lda, some.n, g.m,
	    s->scratch + gv_cpu_gemm_packed(SAMPLES, columns));
	gv_cpu_shards(&g);
	return true;
}
