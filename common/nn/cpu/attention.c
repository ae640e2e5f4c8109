/*
 * attention, causal: of every place's query, key and value, 3 C channels that the row
 * reads, in g heads of D = C / g channels (Vaswani et al., "Attention is all you need",
 * 2017):
 *
 *	s[i][j] = q[i] . k[j],  p[i] = softmax of s[i] / sqrt(D),  y[i] = sum of p[i][j] v[j]
 *
 * over all places j, causal: over j <= i.  No probability is kept: backward makes them
 * again.  Of one head ROWS queries at a time are worked on, so that what is between
 * stays in cache and, causal, little beyond the diagonal is computed.  Products are
 * chains in the order of channels, or of places; sums of a row as gv_cpu_sum makes them.
 */
#include <math.h>
#include <string.h>

#include "nn/cpu/exp.h"
#include "nn/cpu/gemm.h"
#include "nn/cpu/parts.h"
#include "nn/cpu/simd.h"

enum {
	ROWS = 48,
	PANELS = 32 /* columns of packed matrices: whole panels of any kernel */
};

/* One head of one sample. */
struct head {
	size_t T, C, D;
	/* rows of p and ds are so far apart: not all in one set of the cache */
	size_t ld;
	bool causal;
	gv_real scale;
	const gv_real *q, *k, *v;   /* [T][3 C], this head's channels first */
	gv_real *keys_t, *values_t; /* packed, [D][T]: for s and its gradient */
	gv_real *rows;              /* [T][D] values, for y; keys, for q's gradient */
	gv_real *p, *ds;            /* [ROWS][T] */
};

static size_t
row_of(size_t places)
{
	return (places + 15) / 16 * 16 + 16;
}

static struct head
head_of(const struct gv_nn_row *r, const gv_real *x, size_t number, gv_real *scratch)
{
	size_t T = r->l.in_shape.height * r->l.in_shape.width;
	size_t C = r->l.out_shape.channels, D = C / r->l.g;
	struct head h = {.T = T,
	    .C = C,
	    .D = D,
	    .ld = row_of(T),
	    .causal = r->l.op == GV_OP_CAUSAL,
	    .scale = (gv_real)(1 / sqrt((double)D))};

	h.q = x + number * D;
	h.k = h.q + C;
	h.v = h.k + C;
	h.keys_t = scratch;
	h.values_t = h.keys_t + gv_cpu_gemm_packed(D, T);
	h.rows = h.values_t + gv_cpu_gemm_packed(D, T);
	h.p = h.rows + T * D;
	h.ds = h.p + ROWS * h.ld;
	return h;
}

size_t
gv_cpu_attention_scratch(const struct gv_nn_row *r, const struct gv_cpu_row *packed)
{
	size_t T = r->l.in_shape.height * r->l.in_shape.width;
	size_t D = r->l.out_shape.channels / r->l.g;

	(void)packed;
	return 2 * gv_cpu_gemm_packed(D, T) + T * D + 2 * ROWS * row_of(T);
}

/* Places that queries [first, last) look at; and so many that are computed, whole panels. */
static size_t
seen(const struct head *h, size_t last)
{
	return h->causal ? last : h->T;
}

static size_t
computed(const struct head *h, size_t last)
{
	return gv_cpu_lesser((seen(h, last) + PANELS - 1) / PANELS * PANELS, h->T);
}

/* to[i][j] = a[i] . b[j], of rows [first, last) of a; b is packed. */
static void
products(const struct head *h, const gv_real *a, size_t lda, const gv_real *b,
    gv_real *to, size_t first, size_t last)
{
	struct gv_cpu_gemm g = {.m = last - first,
	    .n = computed(h, last),
	    .k = h->D,
	    .a = a + first * lda,
	    .lda = lda,
	    .b = b,
	    .c = to,
	    .ldc = h->ld};

	gv_cpu_gemm(&g);
}

/*
 * Rows of p and ds are worked on in whole vectors: what is behind the n numbers of one, up
 * to the end of a vector, which its room has, is filled with v before.
 */
static size_t
whole_vectors(gv_real *row, size_t n, gv_real v)
{
	enum { VECTOR = 16 };
	size_t end = (n + VECTOR - 1) / VECTOR * VECTOR, i;

	for (i = n; i < end; i++)
		row[i] = v;
	return end;
}

/* Probabilities of queries [first, last), in place of s; 0 where they do not look. */
static void
softmax(const struct head *h, size_t first, size_t last)
{
	size_t i, n, end = computed(h, last);
	gv_real *p = h->p, top;

	products(h, h->q, 3 * h->C, h->keys_t, p, first, last);
	for (i = first; i < last; i++, p += h->ld) {
		n = seen(h, i + 1);
		(void)gv_cpu_softmax(
		    p, whole_vectors(p, n, -(gv_real)INFINITY), h->scale, &top);
		memset(p + n, 0, (end - n) * sizeof(*p));
	}
}

static void
copy_rows(const struct head *h, const gv_real *from)
{
	size_t i;

	for (i = 0; i < h->T; i++)
		memcpy(h->rows + i * h->D, from + i * 3 * h->C, h->D * sizeof(*from));
}

/* to[i] = the sum of a[i][j] rows[j], of queries [first, last); to's rows are ldc apart. */
static void
gather(const struct head *h, const gv_real *a, gv_real *to, size_t ldc, bool add,
    size_t first, size_t last)
{
	struct gv_cpu_gemm g = {.m = last - first,
	    .n = h->D,
	    .k = seen(h, last),
	    .a = a,
	    .lda = h->ld,
	    .b = h->rows,
	    .ldb = h->D,
	    .c = to + first * ldc,
	    .ldc = ldc,
	    .add = add};

	gv_cpu_gemm(&g);
}

static void
forward_head(const struct head *h, gv_real *y)
{
	size_t first, last;

	gv_cpu_gemm_pack(h->keys_t, h->k, 1, 3 * h->C, h->D, h->T);
	copy_rows(h, h->v);
	for (first = 0; first < h->T; first = last) {
		last = gv_cpu_lesser(first + ROWS, h->T);
		softmax(h, first, last);
		gather(h, h->p, y, h->C, false, first, last);
	}
}

void
gv_cpu_attention_forward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	const gv_real *x = gv_cpu_x(c, r, s);
	gv_real *y = gv_cpu_y(c, r, s);
	size_t i, k;

	(void)cpu;
	for (i = 0; i < s->n; i++, x += r->in_size, y += r->out_size)
		for (k = 0; k < r->l.g; k++) {
			struct head h = head_of(r, x, k, s->scratch);

			forward_head(&h, y + k * h.D);
		}
}

/* ---- back ---- */

GV_HOT static void
slope(gv_real *restrict ds, const gv_real *restrict p, size_t n, gv_real mean, gv_real by)
{
	size_t i;

	for (i = 0; i < n; i++)
		ds[i] = p[i] * (ds[i] - mean) * by;
}

/* Gradients of s, of queries [first, last), whose probabilities are there. */
static void
softmax_back(const struct head *h, const gv_real *dy, size_t first, size_t last)
{
	size_t i, n, whole, end = computed(h, last);
	const gv_real *p = h->p;
	gv_real *ds = h->ds;

	products(h, dy, h->C, h->values_t, ds, first, last);
	for (i = first; i < last; i++, p += h->ld, ds += h->ld) {
		n = seen(h, i + 1);
		whole = whole_vectors(ds, n, 0);
		slope(ds, p, whole, gv_cpu_dot(p, ds, whole), h->scale);
		memset(ds + n, 0, (end - n) * sizeof(*ds));
	}
}

/* to[j] += or = the sum of a[i][j] b[i] over queries [first, last), for j in [from, end). */
static void
spread_to(const struct head *h, const gv_real *a, const gv_real *b, size_t ldb,
    gv_real *to, bool add, size_t first, size_t last, size_t from, size_t end)
{
	struct gv_cpu_gemm g = {.m = end - from,
	    .n = h->D,
	    .k = last - first,
	    .a = a + from,
	    .lda = h->ld,
	    .transposed = true,
	    .b = b + first * ldb,
	    .ldb = ldb,
	    .c = to + from * 3 * h->C,
	    .ldc = 3 * h->C,
	    .add = add};

	gv_cpu_gemm(&g);
}

/* The same for all that these look at; add: also for those that none before looked at. */
static void
spread(const struct head *h, const gv_real *a, const gv_real *b, size_t ldb, gv_real *to,
    bool add, size_t first, size_t last)
{
	size_t known = add ? seen(h, last) : first == 0 ? 0 : seen(h, first);

	if (known > 0)
		spread_to(h, a, b, ldb, to, true, first, last, 0, known);
	if (known < seen(h, last))
		spread_to(h, a, b, ldb, to, false, first, last, known, seen(h, last));
}

static void
backward_head(const struct head *h, const gv_real *dy, gv_real *dx, bool add)
{
	gv_real *dk = dx + h->C, *dv = dk + h->C;
	size_t first, last;

	gv_cpu_gemm_pack(h->keys_t, h->k, 1, 3 * h->C, h->D, h->T);
	gv_cpu_gemm_pack(h->values_t, h->v, 1, 3 * h->C, h->D, h->T);
	copy_rows(h, h->k);
	for (first = 0; first < h->T; first = last) {
		last = gv_cpu_lesser(first + ROWS, h->T);
		softmax(h, first, last);
		softmax_back(h, dy, first, last);
		gather(h, h->ds, dx, 3 * h->C, add, first, last);
		spread(h, h->ds, h->q, 3 * h->C, dk, add, first, last);
		spread(h, h->p, dy, h->C, dv, add, first, last);
	}
}

void
gv_cpu_attention_backward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	const gv_real *x = gv_cpu_x(c, r, s), *dy = gv_cpu_dy(c, r, s);
	gv_real *dx = gv_cpu_dx(c, r, s);
	size_t i, k, step = r->in_size;

	(void)cpu;
	for (i = 0; i < s->n; i++, x += step, dx += step, dy += r->out_size)
		for (k = 0; k < r->l.g; k++) {
			struct head h = head_of(r, x, k, s->scratch);

			backward_head(&h, dy + k * h.D, dx + k * h.D, r->adds[s->input]);
		}
}
