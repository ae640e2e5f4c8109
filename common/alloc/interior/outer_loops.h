/*
 * The loops of outer.c, for one kind of processor: NAME and TARGET are set.  A tile of
 * LINES x GV_INTERIOR_TILE numbers stays in registers.
 */
TARGET static void
NAME(outer)(
    double *c, size_t stride, size_t from, size_t end, const double *r, size_t n_rows)
{
	size_t i, j, k;

	for (i = from; i < end; i += LINES)
		for (j = from; j < i + LINES; j += GV_INTERIOR_TILE) {
			vector s0 = LOAD(&c[i * stride + j]);
			vector s1 = LOAD(&c[(i + 1) * stride + j]);
			vector s2 = LOAD(&c[(i + 2) * stride + j]);
			vector s3 = LOAD(&c[(i + 3) * stride + j]);

			for (k = 0; k < n_rows; k++) {
				const double *row = &r[k * stride];
				vector v = LOAD(&row[j]);

				s0 -= row[i] * v;
				s1 -= row[i + 1] * v;
				s2 -= row[i + 2] * v;
				s3 -= row[i + 3] * v;
			}
			STORE(&c[i * stride + j], s0);
			STORE(&c[(i + 1) * stride + j], s1);
			STORE(&c[(i + 2) * stride + j], s2);
			STORE(&c[(i + 3) * stride + j], s3);
		}
}

#undef NAME
#undef TARGET
