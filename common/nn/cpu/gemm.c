#include "nn/cpu/gemm.h"

#include <string.h>

#include "nn/cpu/kernels.h"

/*
 * Packed b: panels of two vectors' width one after another, each [k][width];
 * the last one is as wide as it must be, in whole vectors, filled with zeros.
 */
static size_t
panel_width(const struct gv_cpu_kernel *ch, size_t left)
{
	return left > ch->lanes ? 2 * ch->lanes : ch->lanes;
}

size_t
gv_cpu_gemm_packed(size_t k, size_t n)
{
	size_t lanes = gv_cpu_kernel()->lanes;

	return k * ((n + lanes - 1) / lanes * lanes);
}

/* Columns [0, used) of one panel, from rows that lie apart: through cache lines of both sides. */
static void
pack_across(gv_real *restrict packed, const gv_real *restrict b, size_t cs, size_t rs,
    size_t k, size_t width, size_t used)
{
	enum { SQUARE = 16 };
	size_t l0, i0, l, i, l1, i1;

	for (l0 = 0; l0 < k; l0 = l1) {
		l1 = k - l0 < SQUARE ? k : l0 + SQUARE;
		for (i0 = 0; i0 < used; i0 = i1) {
			i1 = used - i0 < SQUARE ? used : i0 + SQUARE;
			for (l = l0; l < l1; l++)
				for (i = i0; i < i1; i++)
					packed[l * width + i] = b[l * rs + i * cs];
		}
	}
}

/* The same where columns are next to each other: in squares, and what is left. */
static void
pack_columns(const struct gv_cpu_kernel *ch, gv_real *restrict packed,
    const gv_real *restrict b, size_t cs, size_t k, size_t width, size_t used)
{
	size_t side = ch->lanes, l, i;
	size_t down = k / side * side, across = used / side * side;

	for (i = 0; i < across; i += side)
		for (l = 0; l < down; l += side)
			ch->square(packed + l * width + i, width, b + i * cs + l, cs);
	pack_across(packed + across, b + across * cs, cs, 1, down, width, used - across);
	pack_across(packed + down * width, b + down, cs, 1, k - down, width, used);
}

void
gv_cpu_gemm_pack_rows(gv_real *packed, const gv_real *b, size_t rs, size_t cs,
    size_t rows, size_t row, size_t k, size_t n)
{
	const struct gv_cpu_kernel *ch = gv_cpu_kernel();
	size_t j, i, l, width, used;

	for (j = 0; j < n; j += width, packed += rows * width) {
		gv_real *dst;

		width = panel_width(ch, n - j);
		used = width < n - j ? width : n - j;
		dst = packed + row * width;
		if (cs == 1)
			for (l = 0; l < k; l++)
				memcpy(
				    dst + l * width, b + l * rs + j, used * sizeof(*b));
		else if (rs == 1 && ch->square != NULL)
			pack_columns(ch, dst, b + j * cs, cs, k, width, used);
		else
			pack_across(dst, b + j * cs, cs, rs, k, width, used);
		for (l = 0; l < k && used < width; l++)
			for (i = used; i < width; i++)
				dst[l * width + i] = 0;
	}
}

void
gv_cpu_gemm_pack(
    gv_real *packed, const gv_real *b, size_t rs, size_t cs, size_t k, size_t n)
{
	gv_cpu_gemm_pack_rows(packed, b, rs, cs, k, 0, k, n);
}

enum { PIECE = 256, WIDEST = 32 }; /* of k, so that a panel's piece stays in L1 */

/* Tiles of one panel's piece, rows 0..m; edge: the panel is wider than c. */
static void
panel(const struct gv_cpu_kernel *ch, const struct gv_cpu_gemm *g, struct gv_cpu_tile t,
    size_t width, size_t used)
{
	gv_real edge[12 * WIDEST];
	gv_real *c = t.c;
	size_t i, r, rows, vectors = width / ch->lanes;

	for (i = 0; i < g->m; i += rows) {
		rows = ch->rows;
		while (rows > g->m - i)
			rows = rows > 4 ? rows == 12 ? 8 : 4 : rows / 2;
		t.a = g->a;
		if (used < width) {
			t.c = edge;
			t.ldc = width;
			for (r = 0; r < rows && t.start == GV_CPU_START_C; r++)
				memcpy(edge + r * width, c + (i + r) * g->ldc,
				    used * sizeof(*c));
		} else {
			t.c = c + i * g->ldc;
		}
		t.a += g->transposed ? i : i * g->lda;
		ch->run(rows, vectors, g->transposed, &t);
		for (r = 0; r < rows && used < width; r++)
			memcpy(c + (i + r) * g->ldc, edge + r * width, used * sizeof(*c));
	}
}

/* Columns of b as it lies, a piece of k, as one panel. */
static void
pack_rest(
    gv_real *packed, const gv_real *b, size_t ldb, size_t k, size_t width, size_t used)
{
	size_t l;

	for (l = 0; l < k; l++, packed += width, b += ldb) {
		memset(packed, 0, width * sizeof(*b));
		memcpy(packed, b, used * sizeof(*b));
	}
}

/* A piece of k of one panel of columns; b is where the panel begins. */
static void
piece_of(const struct gv_cpu_kernel *ch, const struct gv_cpu_gemm *g,
    struct gv_cpu_tile t, const gv_real *b, size_t l, size_t width, size_t used)
{
	gv_real rest[PIECE * WIDEST];
	struct gv_cpu_gemm piece = *g;

	t.k = g->k - l < PIECE ? g->k - l : PIECE;
	t.start = l > 0 || g->add   ? GV_CPU_START_C
		  : g->bias != NULL ? GV_CPU_START_BIAS
				    : GV_CPU_START_0;
	t.relu = g->relu && l + t.k == g->k;
	t.ldb = g->ldb > 0 ? g->ldb : width;
	t.b = b + l * t.ldb;
	if (g->ldb > 0 && used < width) {
		pack_rest(rest, t.b, g->ldb, t.k, width, used);
		t.b = rest;
		t.ldb = width;
	}
	piece.a = g->a + (g->transposed ? l * g->lda : l);
	panel(ch, &piece, t, width, used);
}

void
gv_cpu_gemm(const struct gv_cpu_gemm *g)
{
	const struct gv_cpu_kernel *ch = gv_cpu_kernel();
	gv_real bias[WIDEST] = {0};
	size_t j, l, width, used;

	for (j = 0; j < g->n; j += width) {
		struct gv_cpu_tile t = {
		    .lda = g->lda, .ldc = g->ldc, .bias = bias, .c = g->c + j};
		const gv_real *b = g->b + (g->ldb > 0 ? j : j * g->k);

		width = panel_width(ch, g->n - j);
		used = width < g->n - j ? width : g->n - j;
		if (g->bias != NULL)
			memcpy(bias, g->bias + j, used * sizeof(*bias));
		for (l = 0; l == 0 || l < g->k; l += PIECE)
			piece_of(ch, g, t, b, l, width, used);
	}
}

/* Rows of one panel of columns. */
static void
shards_panel(const struct gv_cpu_kernel *ch, const struct gv_cpu_shards *g,
    struct gv_cpu_shards_tile t, size_t width, size_t used)
{
	gv_real edge[8 * WIDEST];
	gv_real *c = t.c;
	size_t i, r, rows;

	for (i = 0; i < g->m; i += rows, t.a += rows, c += rows * g->ldc) {
		for (rows = ch->shard_rows; rows > g->m - i;)
			rows /= 2;
		t.c = c;
		if (used < width) {
			t.c = edge;
			t.ldc = width;
		}
		for (r = 0; r < rows && used < width && t.add; r++)
			memcpy(edge + r * width, c + r * g->ldc, used * sizeof(*c));
		ch->shards(rows, width / ch->lanes, &t);
		for (r = 0; r < rows && used < width; r++)
			memcpy(c + r * g->ldc, edge + r * width, used * sizeof(*c));
	}
}

void
gv_cpu_shards(const struct gv_cpu_shards *g)
{
	const struct gv_cpu_kernel *ch = gv_cpu_kernel();
	size_t j, width, used, k = g->end[g->shards - 1];

	for (j = 0; j < g->n; j += width) {
		struct gv_cpu_shards_tile t = {.lda = g->lda,
		    .ldc = g->ldc,
		    .shards = g->shards,
		    .end = g->end,
		    .a = g->a,
		    .b = g->b + j * k,
		    .c = g->c + j,
		    .add = g->add};

		width = panel_width(ch, g->n - j);
		used = width < g->n - j ? width : g->n - j;
		shards_panel(ch, g, t, width, used);
	}
}

void
gv_cpu_chain(const struct gv_cpu_chain *c)
{
	gv_cpu_kernel()->chain(c);
}

void
gv_cpu_spread(size_t n, size_t terms, const gv_real *const *x, const gv_real *v,
    gv_real *const *acc)
{
	gv_cpu_kernel()->spread(n, terms, x, v, acc);
}
