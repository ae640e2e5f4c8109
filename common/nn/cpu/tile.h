/*
 * The inner loop of a matrix product, included once for each kind of vector by
 * kernels.c, which defines
 *	KERNEL      the name of the function
 *	TARGET      attributes of its functions
 *	V, LANES    a vector, numbers in it
 *	LOAD STORE SET1 FMA ADD RELU   what to do with it
 *	ROWS        rows of the largest tile: 12, 6 or 4
 *	LOW HIGH    numbers of two vectors in turn: of their lower halves, upper halves
 *	SHARDS CHAIN SPREAD SQUARE FMA1   names of more functions, and one number's FMA
 *
 * A tile is rows x vectors accumulators that stay in registers, while k runs.
 * Row i of A is reached from every third row on (as base, base + s, base + 2 s),
 * which x86 addresses without a register per row; a listed one has its own.
 */
/* clang-format off */
TARGET GV_INLINE static inline void
TILE(int rows, int vectors, enum gv_cpu_way way, const struct gv_cpu_tile *t)
{
	const gv_real *a[12], *b = t->b;
	V acc[12][2];
	size_t l, s = t->lda, step = way == GV_CPU_ROWS ? 1 : s;
	int i, j, bases = way == GV_CPU_LISTED ? rows : 4;

	UNROLL
	for (i = 0; i < rows; i++)
		UNROLL
		for (j = 0; j < vectors; j++)
			acc[i][j] = t->start == GV_CPU_START_C ? LOAD(t->c + (size_t)i * t->ldc + j * LANES)
			    : t->start == GV_CPU_START_BIAS    ? LOAD(t->bias + j * LANES)
							: SET1(0);
	UNROLL
	for (i = 0; i < bases; i++)
		a[i] = way == GV_CPU_LISTED ? t->a + t->row_at[i]
		    : way == GV_CPU_TRANSPOSED || i * 3 >= rows ? t->a
								: t->a + (size_t)i * 3 * s;
	for (l = 0; l < t->k; l++) {
		size_t at = way == GV_CPU_LISTED ? t->step_at[l] : 0;
		V bv[2];

		UNROLL
		for (j = 0; j < vectors; j++)
			bv[j] = LOAD(b + j * LANES);
		UNROLL
		for (i = 0; i < rows; i++) {
			V av = SET1(way == GV_CPU_LISTED      ? a[i][at]
				    : way == GV_CPU_TRANSPOSED ? a[0][i]
							       : a[i / 3][(size_t)(i % 3) * s]);

			UNROLL
			for (j = 0; j < vectors; j++)
				acc[i][j] = FMA(av, bv[j], acc[i][j]);
		}
		b += t->ldb;
		UNROLL
		for (i = 0; i < 4 && way != GV_CPU_LISTED; i++)
			a[i] += step;
	}
	UNROLL
	for (i = 0; i < rows; i++)
		UNROLL
		for (j = 0; j < vectors; j++)
			STORE(t->c + (size_t)i * t->ldc + j * LANES,
			    t->relu ? RELU(acc[i][j]) : acc[i][j]);
}

/*
 * The same of a^T b, shard by shard; the sums of shards are a stack, of which the
 * two topmost are added when they stand for equally many.
 */
TARGET GV_INLINE static inline void
SHARDS_TILE(int rows, int vectors, const struct gv_cpu_shards_tile *t)
{
	const gv_real *a = t->a, *b = t->b;
	V sum[GV_CPU_DEEPEST][8][2];
	size_t l = 0, shard, full, depth = 0;
	int i, j;

	for (shard = 0; shard < t->shards; shard++) {
		V acc[8][2];

		UNROLL
		for (i = 0; i < rows; i++)
			UNROLL
			for (j = 0; j < vectors; j++)
				acc[i][j] = SET1(0);
		for (; l < t->end[shard]; l++, a += t->lda, b += vectors * LANES)
			UNROLL
			for (i = 0; i < rows; i++)
				UNROLL
				for (j = 0; j < vectors; j++)
					acc[i][j] = FMA(SET1(a[i]), LOAD(b + j * LANES), acc[i][j]);
		for (full = shard + 1; full % 2 == 0; full /= 2) {
			depth--;
			UNROLL
			for (i = 0; i < rows; i++)
				UNROLL
				for (j = 0; j < vectors; j++)
					acc[i][j] = ADD(sum[depth][i][j], acc[i][j]);
		}
		UNROLL
		for (i = 0; i < rows; i++)
			UNROLL
			for (j = 0; j < vectors; j++) {
				gv_real *c = t->c + (size_t)i * t->ldc + j * LANES;

				if (shard + 1 < t->shards)
					sum[depth][i][j] = acc[i][j];
				else
					STORE(c, t->add ? ADD(LOAD(c), acc[i][j]) : acc[i][j]);
			}
		depth++;
	}
}

#define CASE(n)                                                       \
	case n:                                                       \
		vectors == 2 ? SHARDS_TILE(n, 2, t) : SHARDS_TILE(n, 1, t); \
		break;

TARGET static void
SHARDS(size_t rows, size_t vectors, const struct gv_cpu_shards_tile *t)
{
	switch (rows) {
	CASE(8)
	CASE(4)
	CASE(2)
	CASE(1)
	}
}
#undef CASE

#define CASE(n, way)                                              \
	case n:                                                   \
		vectors == 2 ? TILE(n, 2, way, t) : TILE(n, 1, way, t); \
		break;

TARGET GV_INLINE static inline void
SMALL_TILES(size_t rows, size_t vectors, enum gv_cpu_way way, const struct gv_cpu_tile *t)
{
	switch (rows) {
#if ROWS == 12
	CASE(8, way)
#endif
#if ROWS == 6
	CASE(6, way)
#endif
	CASE(4, way)
	CASE(2, way)
	CASE(1, way)
	}
}

TARGET static void
KERNEL(size_t rows, size_t vectors, enum gv_cpu_way way, const struct gv_cpu_tile *t)
{
	switch (way) {
	case GV_CPU_ROWS:
#if ROWS == 12
		switch (rows) { CASE(12, GV_CPU_ROWS) }
#endif
		SMALL_TILES(rows, vectors, GV_CPU_ROWS, t);
		break;
	case GV_CPU_TRANSPOSED:
#if ROWS == 12
		switch (rows) { CASE(12, GV_CPU_TRANSPOSED) }
#endif
		SMALL_TILES(rows, vectors, GV_CPU_TRANSPOSED, t);
		break;
	case GV_CPU_LISTED:
		SMALL_TILES(rows, vectors, GV_CPU_LISTED, t);
		break;
	}
}
#undef CASE

#if LANES > 1
/*
 * to[l * width + i] = from[i * apart + l] for l, i < LANES: rows taken in turn with
 * those half the square on move every number's index, row and column in one, round
 * by one bit, so that half of its bits' rounds change row and column.
 */
TARGET static void
SQUARE(gv_real *to, size_t width, const gv_real *from, size_t apart)
{
	V v[LANES];
	int i, round;

	UNROLL
	for (i = 0; i < LANES; i++)
		v[i] = LOAD(from + (size_t)i * apart);
	UNROLL
	for (round = 1; round < LANES; round *= 2) {
		V u[LANES];

		UNROLL
		for (i = 0; i < LANES / 2; i++) {
			u[2 * i] = LOW(v[i], v[i + LANES / 2]);
			u[2 * i + 1] = HIGH(v[i], v[i + LANES / 2]);
		}
		UNROLL
		for (i = 0; i < LANES; i++)
			v[i] = u[i];
	}
	UNROLL
	for (i = 0; i < LANES; i++)
		STORE(to + (size_t)i * width, v[i]);
}
#endif

/* gv_cpu_chain, and what gv_cpu_spread does, with these vectors. */
TARGET static void
CHAIN(const struct gv_cpu_chain *c)
{
	size_t j, t;

	for (j = 0; j + LANES <= c->n; j += LANES) {
		V acc = c->start != NULL ? LOAD(c->start + j) : SET1(0);

		for (t = 0; t < c->terms; t++)
			acc = FMA(LOAD(c->x[t] + j), LOAD(c->w[t] + j), acc);
		STORE(c->y + j, c->relu ? RELU(acc) : acc);
	}
	for (; j < c->n; j++) {
		gv_real acc = c->start != NULL ? c->start[j] : 0;

		for (t = 0; t < c->terms; t++)
			acc = FMA1(c->x[t][j], c->w[t][j], acc);
		c->y[j] = c->relu && 0 > acc ? 0 : acc;
	}
}

TARGET static void
SPREAD(size_t n, size_t terms, const gv_real *const *x, const gv_real *v, gv_real *const *acc)
{
	size_t j, t;

	for (t = 0; t < terms; t++) {
		for (j = 0; j + LANES <= n; j += LANES)
			STORE(acc[t] + j, FMA(LOAD(x[t] + j), LOAD(v + j), LOAD(acc[t] + j)));
		for (; j < n; j++)
			acc[t][j] = FMA1(x[t][j], v[j], acc[t][j]);
	}
}

#undef SMALL_TILES
#undef SQUARE
#undef LOW
#undef HIGH
#undef SHARDS
#undef SHARDS_TILE
#undef CHAIN
#undef SPREAD
#undef FMA1
#undef KERNEL
#undef TILE
#undef TARGET
#undef V
#undef LANES
#undef LOAD
#undef STORE
#undef SET1
#undef FMA
#undef ADD
#undef RELU
#undef ROWS
/* clang-format on */
