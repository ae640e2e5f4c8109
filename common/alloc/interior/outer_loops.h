/*
 * The loops of outer.c, for one kind of processor: NAME, TARGET and LINES are set.  A tile of
 * LINES x GV_INTERIOR_TILE numbers stays in registers.
 */
#define EACH_OF_4(DO) DO(0) DO(1) DO(2) DO(3)
#define EACH_OF_8(DO) EACH_OF_4(DO) DO(4) DO(5) DO(6) DO(7)
#if LINES == 8
#define EACH EACH_OF_8
#else
#define EACH EACH_OF_4
#endif
#define FETCH(l) vector s##l = LOAD(&c[(i + (l)) * stride + j]);
#define TAKE(l)  s##l -= row[i + (l)] * v;
#define KEEP(l)  STORE(&c[(i + (l)) * stride + j], s##l);

TARGET static void
NAME(outer)(
    double *c, size_t stride, size_t from, size_t end, const double *r, size_t n_rows)
{
	size_t i, j, k;

	for (i = from; i < end; i += LINES)
		for (j = from; j < i + LINES; j += GV_INTERIOR_TILE) {
			EACH(FETCH)
			for (k = 0; k < n_rows; k++) {
				const double *row = &r[k * stride];
				vector v = LOAD(&row[j]);

				EACH(TAKE)
			}
			EACH(KEEP)
		}
}

#undef FETCH
#undef TAKE
#undef KEEP
#undef EACH
#undef EACH_OF_4
#undef EACH_OF_8
#undef NAME
#undef TARGET
#undef LINES
