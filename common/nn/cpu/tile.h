/*
 * The inner loop of a matrix product, included once for each kind of vector by
 * kernels.c, which defines
 *	KERNEL      the name of the function
 *	TARGET      attributes of its functions
 *	V, LANES    a vector, numbers in it
 *	LOAD STORE SET1 FMA ADD RELU   what to do with it
 *	SOME FIRST LOAD_SOME STORE_SOME   some of its numbers, the first n; what to do with these
 *	SOME_IS_SLOW   where that takes longer than asking whether it is all of them
 *	ROWS        rows of the largest tile: 12, 6 or 4
 *	LOW HIGH    numbers of two vectors in turn: of their lower halves, upper halves
 *	SHARDS CHAIN CHAINS SPREAD SPREADS SQUARE   names of more functions
 *	HALF HALF_OF WHOLE_OF HALF_LOAD HALF_FMA    half a vector, where it takes half the time;
 *	            of a whole one the lower half, and back with anything in the upper one
 *
 * A tile is rows x vectors accumulators that stay in registers, while k runs; the second
 * vector of a row may be half a one.
 * What comes next is fetched a line at a time, but not where rows have registers of their
 * own: none is left for that, and numbers that wait in memory made it 1.4 times as slow.
 * Row i of A is reached from every third row on (as base, base + s, base + 2 s),
 * which x86 addresses without a register per row; a listed one has its own.
 */
/* clang-format off */
/* of c, whose last vector may have numbers that are not its own */
#define LOAD_C(p, j)     ((j) + 1 < vectors || all ? LOAD(p) : LOAD_SOME(p, own))
#define STORE_C(p, j, v) ((j) + 1 < vectors || all ? STORE(p, v) : STORE_SOME(p, own, v))
#ifdef SOME_IS_SLOW
#define IS_ALL(t) ((t)->last == LANES)
#else
#define IS_ALL(t) false
#endif

#ifdef HALF
#define IS_HALF(t) ((t)->last <= LANES / 2)
#else
#define IS_HALF(t)         false
#define HALF               V
#define HALF_OF(v)         (v)
#define WHOLE_OF(h)        (h)
#define HALF_LOAD(p)       LOAD(p)
#define HALF_FMA(x, y, z)  FMA(x, y, z)
#endif

TARGET GV_INLINE static inline void
TILE(int rows, int whole, bool half, enum gv_cpu_way way, const struct gv_cpu_tile *t)
{
	const gv_real *a[12], *b = t->b;
	V acc[12][2];
	HALF rest[12];
	int vectors = whole + half;
	SOME own = FIRST(t->last);
	bool all = IS_ALL(t);
	size_t l, s = t->lda, step = way == GV_CPU_ROWS ? 1 : s;
	int i, j, bases = way == GV_CPU_LISTED ? rows : 4;

	UNROLL
	for (i = 0; i < rows; i++)
		UNROLL
		for (j = 0; j < whole; j++)
			acc[i][j] = t->start == GV_CPU_START_C
			    ? LOAD_C(t->c + (size_t)i * t->ldc + j * LANES, j)
			    : t->start == GV_CPU_START_BIAS ? LOAD(t->bias + j * LANES)
							    : SET1(0);
	UNROLL
	for (i = 0; i < rows && half; i++)
		rest[i] = HALF_OF(t->start == GV_CPU_START_C
			? LOAD_SOME(t->c + (size_t)i * t->ldc + whole * LANES, own)
			: t->start == GV_CPU_START_BIAS ? LOAD(t->bias + whole * LANES)
							: SET1(0));
	UNROLL
	for (i = 0; i < bases; i++)
		a[i] = way == GV_CPU_LISTED ? t->a + t->row_at[i]
		    : way == GV_CPU_TRANSPOSED || i * 3 >= rows ? t->a
								: t->a + (size_t)i * 3 * s;
	for (l = 0; l < t->lines && way == GV_CPU_LISTED; l++)
		PREFETCH(t->ahead + l * t->apart);
	for (l = 0; l < t->k;) {
		size_t end = way == GV_CPU_LISTED || t->k - l < STEPS ? t->k : l + STEPS;
		size_t fetched = l / STEPS;

		if (way != GV_CPU_LISTED && fetched < t->lines)
			PREFETCH(t->ahead + fetched * t->apart);
		if (way != GV_CPU_LISTED && fetched < (size_t)rows)
			UNROLL
			for (j = 0; j < vectors; j++)
				OWN(t->next_c + fetched * t->ldc + j * LANES);
		for (; l < end; l++) {
			size_t at = way == GV_CPU_LISTED ? t->step_at[l] : 0;
			V bv[2];
			HALF bh = HALF_OF(SET1(0));

			UNROLL
			for (j = 0; j < whole; j++)
				bv[j] = LOAD(b + j * LANES);
			if (half)
				bh = HALF_LOAD(b + whole * LANES);
			UNROLL
			for (i = 0; i < rows; i++) {
				V av = SET1(way == GV_CPU_LISTED      ? a[i][at]
					    : way == GV_CPU_TRANSPOSED ? a[0][i]
								       : a[i / 3][(size_t)(i % 3) * s]);

				UNROLL
				for (j = 0; j < whole; j++)
					acc[i][j] = FMA(av, bv[j], acc[i][j]);
				if (half)
					rest[i] = HALF_FMA(HALF_OF(av), bh, rest[i]);
			}
			b += t->ldb;
			UNROLL
			for (i = 0; i < 4 && way != GV_CPU_LISTED; i++)
				a[i] += step;
		}
	}
	UNROLL
	for (i = 0; i < rows; i++)
		UNROLL
		for (j = 0; j < whole; j++)
			STORE_C(t->c + (size_t)i * t->ldc + j * LANES, j,
			    t->relu ? RELU(acc[i][j]) : acc[i][j]);
	UNROLL
	for (i = 0; i < rows && half; i++)
		STORE_SOME(t->c + (size_t)i * t->ldc + whole * LANES, own,
		    t->relu ? RELU(WHOLE_OF(rest[i])) : WHOLE_OF(rest[i]));
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
	SOME own = FIRST(t->last);
	bool all = IS_ALL(t);
	size_t l = 0, shard, full, depth = 0;
	int i, j;

	for (i = 0; i < rows; i++)
		UNROLL
		for (j = 0; j < vectors; j++)
			OWN(t->c + (size_t)i * t->ldc + j * LANES);
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
					STORE_C(c, j, t->add ? ADD(LOAD_C(c, j), acc[i][j]) : acc[i][j]);
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

#define CASE(n, way)                                \
	case n:                                     \
		if (vectors == 1)                   \
			TILE(n, 1, false, way, t);  \
		else if (IS_HALF(t))                \
			TILE(n, 1, true, way, t);   \
		else                                \
			TILE(n, 2, false, way, t);  \
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

/* of n numbers, the last of which may be fewer than a vector has */
#define LOAD_N(p)     (whole ? LOAD(p) : LOAD_SOME(p, own))
#define STORE_N(p, v) (whole ? STORE(p, v) : STORE_SOME(p, own, v))

/* A vector of gv_cpu_chain at some places at once: their chains do not wait for each other. */
TARGET GV_INLINE static inline void
CHAINS(int places, bool whole, const struct gv_cpu_chain *c, size_t place, size_t j, SOME own)
{
	const gv_real *start = c->start == NULL ? NULL : c->start + place * c->start_step + j;
	gv_real *y = c->y + place * c->y_step + j;
	V acc[SOME_PLACES];
	size_t t;
	int i;

	(void)own;
	UNROLL
	for (i = 0; i < places; i++)
		acc[i] = start == NULL ? SET1(0) : LOAD_N(start + (size_t)i * c->start_step);
	for (t = 0; t < c->terms; t++) {
		const gv_real *x = c->x[t] + place * c->x_step + j;
		V w = LOAD_N(c->w[t] + j);

		UNROLL
		for (i = 0; i < places; i++)
			acc[i] = FMA(LOAD_N(x + (size_t)i * c->x_step), w, acc[i]);
	}
	UNROLL
	for (i = 0; i < places; i++)
		STORE_N(y + (size_t)i * c->y_step, c->relu ? RELU(acc[i]) : acc[i]);
}

TARGET static void
CHAIN(const struct gv_cpu_chain *c)
{
	size_t rest = c->n % LANES, j, at;
	SOME own = FIRST(rest);

	for (at = 0; at + SOME_PLACES <= c->places; at += SOME_PLACES) {
		for (j = 0; j + LANES <= c->n; j += LANES)
			CHAINS(SOME_PLACES, true, c, at, j, own);
		if (rest > 0)
			CHAINS(SOME_PLACES, false, c, at, j, own);
	}
	for (; at < c->places; at++) {
		for (j = 0; j + LANES <= c->n; j += LANES)
			CHAINS(1, true, c, at, j, own);
		if (rest > 0)
			CHAINS(1, false, c, at, j, own);
	}
}

/* A vector of gv_cpu_spread, of some places in turn. */
TARGET GV_INLINE static inline void
SPREADS(int places, bool whole, const struct gv_cpu_spread *s, size_t place, size_t j, SOME own)
{
	V v[SOME_PLACES];
	size_t t;
	int i;

	(void)own;
	UNROLL
	for (i = 0; i < places; i++)
		v[i] = LOAD_N(s->v + (place + (size_t)i) * s->v_step + j);
	for (t = 0; t < s->terms; t++) {
		const gv_real *x = s->x[t] + place * s->x_step + j;
		V acc = LOAD(s->acc[t] + j);

		UNROLL
		for (i = 0; i < places; i++)
			acc = FMA(LOAD_N(x + (size_t)i * s->x_step), v[i], acc);
		STORE(s->acc[t] + j, acc);
	}
}

TARGET static void
SPREAD(const struct gv_cpu_spread *s)
{
	size_t rest = s->n % LANES, j, at;
	SOME own = FIRST(rest);

	for (at = 0; at + SOME_PLACES <= s->places; at += SOME_PLACES) {
		for (j = 0; j + LANES <= s->n; j += LANES)
			SPREADS(SOME_PLACES, true, s, at, j, own);
		if (rest > 0)
			SPREADS(SOME_PLACES, false, s, at, j, own);
	}
	for (; at < s->places; at++) {
		for (j = 0; j + LANES <= s->n; j += LANES)
			SPREADS(1, true, s, at, j, own);
		if (rest > 0)
			SPREADS(1, false, s, at, j, own);
	}
}

#undef IS_HALF
#undef HALF
#undef HALF_OF
#undef WHOLE_OF
#undef HALF_LOAD
#undef HALF_FMA
#undef LOAD_N
#undef STORE_N
#undef CHAINS
#undef SPREADS
#undef LOAD_C
#undef STORE_C
#undef SMALL_TILES
#undef SQUARE
#undef LOW
#undef HIGH
#undef SHARDS
#undef SHARDS_TILE
#undef CHAIN
#undef SPREAD
#undef KERNEL
#undef TILE
#undef TARGET
#undef V
#undef LANES
#undef LOAD
#undef STORE
#undef SOME
#undef FIRST
#undef LOAD_SOME
#undef STORE_SOME
#undef SOME_IS_SLOW
#undef IS_ALL
#undef SET1
#undef FMA
#undef ADD
#undef RELU
#undef ROWS
/* clang-format on */
