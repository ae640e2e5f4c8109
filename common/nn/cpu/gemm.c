#include "nn/cpu/gemm.h"

#include <string.h>

#include "nn/cpu/kernels.h"
#include "nn/cpu/simd.h"

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

/* A few numbers: of constant sizes copies are no calls. */
GV_INLINE static inline void
copy_few(gv_real *restrict to, const gv_real *restrict from, size_t n)
{
	enum { SOME = 4 };
	size_t i;

	for (i = 0; i + SOME <= n; i += SOME)
		memcpy(to + i, from + i, SOME * sizeof(*to));
	for (; i < n; i++)
		to[i] = from[i];
}

/* Columns [0, used) of one panel, from rows that are next to each other. */
GV_HOT static void
pack_lines(gv_real *restrict packed, const gv_real *restrict b, size_t rs, size_t k,
    size_t width, size_t used)
{
	enum { VECTOR = 64 / sizeof(*b) };
	size_t l;

	if (used == 2 * VECTOR)
		for (l = 0; l < k; l++)
			memcpy(packed + l * width, b + l * rs, 2 * VECTOR * sizeof(*b));
	else if (used == VECTOR)
		for (l = 0; l < k; l++)
			memcpy(packed + l * width, b + l * rs, VECTOR * sizeof(*b));
	else
		for (l = 0; l < k; l++)
			copy_few(packed + l * width, b + l * rs, used);
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
			pack_lines(dst, b + j, rs, k, width, used);
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

/*
 * Blocks of the product: a panel's piece of b stays in L1, the rows of a that go with it
 * and the columns of c in L2 while k goes on.
 */
enum { PIECE = 256, WIDEST = 32, ROWS = 264, COLUMNS = 1024, APART = 16 };
_Static_assert(
    ROWS % 12 == 0, "blocks are whole tiles of any height, and so many rows at most");

enum { LARGE = 1 << 16 }; /* numbers of b that are not in L2 from the last time */
enum { FAR = 2048 }; /* bytes between rows of b, from which on they push each other out */

/* Rows [i, i + m) of a, and c; a piece of k. */
struct block {
	const struct gv_cpu_gemm *g;
	size_t i, m, l, k;
	const gv_real *a; /* of row i and piece l */
	size_t lda;
};

/* Cache lines that the next panel is made from: runs of lines equally far apart. */
struct ahead {
	const gv_real *at;
	size_t runs, run;   /* and lines of each */
	size_t step, apart; /* numbers between lines, and between runs */
	size_t done, in_run;
};

/* What a tile fetches of them, so that with it n are; of one run. */
static void
take_lines(struct ahead *h, size_t n, struct gv_cpu_tile *t)
{
	size_t lines = t->k / GV_CPU_STEPS, left = h->run - h->in_run;

	lines = lines < n - h->done ? lines : n - h->done;
	lines = lines < left ? lines : left;
	t->ahead = h->at + h->in_run * h->step;
	t->apart = h->step;
	t->lines = lines;
	h->done += lines;
	h->in_run += lines;
	if (h->in_run == h->run) {
		h->in_run = 0;
		h->at += h->apart;
	}
}

/* Tiles of one panel's piece and a block's rows. */
static void
panel(const struct gv_cpu_kernel *ch, const struct block *b, struct gv_cpu_tile t,
    size_t width, size_t used, struct ahead next)
{
	const struct gv_cpu_gemm *g = b->g;
	gv_real *c = t.c;
	enum gv_cpu_way way = g->row_at != NULL ? GV_CPU_LISTED
			      : g->transposed   ? GV_CPU_TRANSPOSED
						: GV_CPU_ROWS;
	size_t i, rows, vectors = width / ch->lanes;

	t.last = used + ch->lanes - width;
	for (i = 0; i < b->m; i += rows) {
		rows = way == GV_CPU_LISTED ? ch->listed_rows : ch->rows;
		while (rows > b->m - i)
			rows = rows > 4 ? rows == 12 ? 8 : 4 : rows / 2;
		t.next_c = i + rows < b->m ? c + (i + rows) * g->ldc : c + width;
		take_lines(&next, next.runs * next.run * (i + rows) / b->m, &t);
		t.c = c + i * g->ldc;
		if (way == GV_CPU_LISTED)
			t.row_at = g->row_at + b->i + i;
		else
			t.a = b->a + (g->transposed ? i : i * b->lda);
		ch->run(rows, vectors, way, &t);
	}
}

/* The same of a piece of b that lies in its matrix, packed first. */
static void
packed_panel(const struct gv_cpu_kernel *ch, const struct block *b, struct gv_cpu_tile t,
    size_t width, size_t used, struct ahead next)
{
	_Alignas(64) gv_real packed[PIECE * WIDEST];
	size_t rs = b->g->turned ? 1 : b->g->ldb, cs = b->g->turned ? b->g->ldb : 1;

	gv_cpu_gemm_pack(packed, t.b, rs, cs, t.k, used);
	t.b = packed;
	t.ldb = width;
	panel(ch, b, t, width, used, next);
}

/* Where the piece of b from column j on begins. */
static const gv_real *
piece_at(const struct block *b, size_t j, size_t width)
{
	const struct gv_cpu_gemm *g = b->g;

	if (g->ldb == 0)
		return g->b + j * g->k + b->l * width;
	return g->b + (g->turned ? j * g->ldb + b->l : b->l * g->ldb + j);
}

/* What the piece from column j on is made from. */
static struct ahead
lines_of(const struct block *b, size_t j, size_t width)
{
	enum { LINE = 64 / sizeof(*b->a) };
	const struct gv_cpu_gemm *g = b->g;
	size_t across = (width + LINE - 1) / LINE, down = (b->k + LINE - 1) / LINE;
	struct ahead h = {.at = piece_at(b, j, width), .step = LINE};

	if (g->ldb == 0) {
		h.runs = 1;
		h.run = (b->k * width + LINE - 1) / LINE;
	} else if (g->turned) {
		h.runs = width;
		h.run = down;
		h.apart = g->ldb;
	} else {
		h.runs = across;
		h.run = b->k;
		h.step = g->ldb;
		h.apart = LINE;
	}
	return h;
}

/* A block and one panel of columns, from column j on; the next one is fetched. */
static void
piece_of(const struct gv_cpu_kernel *ch, const struct block *b, size_t j, size_t width,
    size_t used, size_t end)
{
	const struct gv_cpu_gemm *g = b->g;
	gv_real bias[WIDEST] = {0};
	struct gv_cpu_tile t = {.k = b->k,
	    .a = b->a,
	    .step_at = g->step_at == NULL ? NULL : g->step_at + b->l,
	    .lda = b->lda,
	    .ldb = g->ldb > 0 ? g->ldb : width,
	    .ldc = g->ldc,
	    .b = piece_at(b, j, width),
	    .bias = bias,
	    .c = g->c + b->i * g->ldc + j,
	    .start = b->l > 0 || g->add ? GV_CPU_START_C
		     : g->bias != NULL  ? GV_CPU_START_BIAS
					: GV_CPU_START_0,
	    .relu = g->relu && b->l + b->k == g->k};
	struct ahead next = {.runs = 0};

	if (g->bias != NULL)
		memcpy(bias, g->bias + j, used * sizeof(*bias));
	if (b->k > 0 && j + 2 * width <= end && g->k * g->n >= LARGE)
		next = lines_of(b, j + width, width);
	if (g->ldb > 0 && (g->turned || used < width ||
			      (b->m > ch->rows && g->ldb * sizeof(*g->b) >= FAR)))
		packed_panel(ch, b, t, width, used, next);
	else
		panel(ch, b, t, width, used, next);
}

/* A block's rows and columns [j, end). */
static void
block_of(const struct gv_cpu_kernel *ch, const struct block *b, size_t j, size_t end)
{
	size_t width, n = b->g->n;

	for (; j < end; j += width) {
		width = panel_width(ch, n - j);
		piece_of(ch, b, j, width, width < n - j ? width : n - j, end);
	}
}

/* The same with a's rows copied to where they do not push each other out. */
static void
copied_block(const struct gv_cpu_kernel *ch, struct block b, size_t j, size_t end)
{
	gv_real copy[PIECE * ROWS + APART * (PIECE > ROWS ? PIECE : ROWS)];
	size_t lines = b.g->transposed ? b.k : b.m, n = b.g->transposed ? b.m : b.k, i;

	for (i = 0; i < lines; i++)
		memcpy(copy + i * (n + APART), b.a + i * b.lda, n * sizeof(*copy));
	b.a = copy;
	b.lda = n + APART;
	block_of(ch, &b, j, end);
}

/* Lines that are so far apart that few sets of a cache have them all. */
static bool
is_copied(const struct gv_cpu_gemm *g)
{
	size_t apart = g->lda * sizeof(*g->a);

	return g->row_at == NULL && g->m > 4 && g->k > 64 && g->n > 2 * WIDEST &&
	       apart >= FAR && apart % (g->transposed ? FAR / 2 : FAR) == 0;
}

void
gv_cpu_gemm(const struct gv_cpu_gemm *g)
{
	const struct gv_cpu_kernel *ch = gv_cpu_kernel();
	struct block b = {.g = g, .lda = g->lda};
	bool copied = is_copied(g);
	size_t j, end, each;

	/* rows in even blocks, of whole tiles */
	each = (g->m + ROWS - 1) / ROWS;
	each = each > 0 ? (g->m / each + ch->rows - 1) / ch->rows * ch->rows : 0;
	for (j = 0; j < g->n; j = end) {
		end = g->n - j < COLUMNS ? g->n : j + COLUMNS;
		for (b.i = 0; b.i < g->m; b.i += b.m) {
			b.m = g->m - b.i < each ? g->m - b.i : each;
			for (b.l = 0; b.l == 0 || b.l < g->k; b.l += PIECE) {
				b.k = g->k - b.l < PIECE ? g->k - b.l : PIECE;
				b.a = g->row_at != NULL ? g->a
				      : g->transposed   ? g->a + b.l * g->lda + b.i
							: g->a + b.i * g->lda + b.l;
				if (copied)
					copied_block(ch, b, j, end);
				else
					block_of(ch, &b, j, end);
			}
		}
	}
}

/* Rows [i, end) of one panel of columns. */
static void
shards_panel(const struct gv_cpu_kernel *ch, struct gv_cpu_shards_tile t, size_t width,
    size_t used, size_t i, size_t end)
{
	size_t rows;

	t.last = used + ch->lanes - width;
	for (t.a += i, t.c += i * t.ldc; i < end;
	     i += rows, t.a += rows, t.c += rows * t.ldc) {
		for (rows = ch->shard_rows; rows > end - i;)
			rows /= 2;
		ch->shards(rows, width / ch->lanes, &t);
	}
}

static void
shards_rows(
    const struct gv_cpu_kernel *ch, const struct gv_cpu_shards *g, size_t i, size_t end)
{
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
		shards_panel(ch, t, width, used, i, end);
	}
}

void
gv_cpu_shards(const struct gv_cpu_shards *g)
{
	enum { FEW = 16, LONG = 512 };
	const struct gv_cpu_kernel *ch = gv_cpu_kernel();
	size_t i, each = g->m;

	/* what is written faster than it is made goes line by line, as caches foresee it */
	if (g->end[g->shards - 1] <= FEW && g->n >= LONG)
		each = ch->shard_rows;
	for (i = 0; i < g->m; i += each)
		shards_rows(ch, g, i, each < g->m - i ? i + each : g->m);
}

void
gv_cpu_chain(const struct gv_cpu_chain *c)
{
	gv_cpu_kernel()->chain(c);
}

void
gv_cpu_spread(const struct gv_cpu_spread *s)
{
	gv_cpu_kernel()->spread(s);
}
