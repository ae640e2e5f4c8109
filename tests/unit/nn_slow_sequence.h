/* The slow backend's operators of sequences: layer norm, embedding, attention. */
#ifndef NN_SLOW_SEQUENCE_H
#define NN_SLOW_SEQUENCE_H

/* v[i] * w[i] (w NULL: v[i]), i < n: number i to lane i % 16, then a tree of lanes. */
static inline gv_real
slow_lanes(const gv_real *v, const gv_real *w, size_t n)
{
	gv_real lane[16] = {0};
	size_t i, step;

	for (i = 0; i < n; i++)
		lane[i % 16] += w == NULL ? v[i] : v[i] * w[i];
	for (step = 8; step > 0; step /= 2)
		for (i = 0; i < step; i++)
			lane[i] += lane[i + step];
	return lane[0];
}

/* ---- ln ---- */

/* xhat of the place of n channels at x; 1 / deviation. */
static inline gv_real
slow_xhat(const gv_real *x, size_t n, gv_real *xhat)
{
	gv_real mean = slow_lanes(x, NULL, n) / (gv_real)n, rstd;
	size_t j;

	for (j = 0; j < n; j++)
		xhat[j] = x[j] - mean;
	rstd =
	    (gv_real)(1 / sqrt((double)(slow_lanes(xhat, xhat, n) / (gv_real)n) + 1e-5));
	for (j = 0; j < n; j++)
		xhat[j] *= rstd;
	return rstd;
}

static inline void
slow_ln(const struct slow_at *a)
{
	size_t n = a->l->in_shape.channels, j, k;

	for (j = 0; j < a->r->out_size; j += n) {
		(void)slow_xhat(a->x + j, n, a->y + j);
		for (k = 0; k < n; k++) {
			gv_real v = a->y[j + k] * a->w[k];

			a->y[j + k] = a->bias == NULL ? v : v + a->bias[k];
		}
	}
}

static inline void
slow_ln_back(const struct slow_at *a, gv_real *dx, bool adds)
{
	size_t n = a->l->in_shape.channels, j, k;
	gv_real *xhat = gv_xcalloc(2 * n, sizeof(*xhat)), *g = xhat + n;

	for (j = 0; j < a->r->in_size; j += n) {
		gv_real rstd = slow_xhat(a->x + j, n, xhat), mean, slope;

		for (k = 0; k < n; k++)
			g[k] = a->dy[j + k] * a->w[k];
		mean = slow_lanes(g, NULL, n) / (gv_real)n;
		slope = slow_lanes(g, xhat, n) / (gv_real)n;
		for (k = 0; k < n; k++) {
			gv_real v = rstd * (g[k] - mean - xhat[k] * slope);

			dx[j + k] = adds ? dx[j + k] + v : v;
		}
	}
	free(xhat);
}

/* ---- embed ---- */

static inline size_t
slow_token(const struct slow_at *a, size_t place)
{
	gv_real v = a->x[place];

	return v >= 0 && v < (gv_real)a->r->matrix_rows ? (size_t)v : 0;
}

static inline void
slow_embed(const struct slow_at *a)
{
	size_t n = a->r->columns, t, j;

	for (t = 0; t < a->r->in_size; t++)
		for (j = 0; j < n; j++) {
			gv_real v = a->w[slow_token(a, t) * n + j];

			a->y[t * n + j] = a->bias == NULL ? v : v + a->bias[t * n + j];
		}
}

/* ---- attention ---- */

/* One head: s = q k^T and its like; all of T x T, 0 where a place does not look. */
struct slow_head {
	size_t T, C, D;
	bool causal;
	gv_real scale;
	const gv_real *q, *k, *v; /* rows 3 C apart */
	gv_real *p, *ds;
};

static inline size_t
slow_seen(const struct slow_head *h, size_t i)
{
	return h->causal ? i + 1 : h->T;
}

static inline struct slow_head
slow_head_of(const struct slow_at *a, size_t number)
{
	struct slow_head h = {.T = a->l->in_shape.height * a->l->in_shape.width,
	    .C = a->l->out_shape.channels,
	    .causal = a->l->op == GV_OP_CAUSAL};
	size_t i, j, d;

	h.D = h.C / a->l->g;
	h.scale = (gv_real)(1 / sqrt((double)h.D));
	h.q = a->x + number * h.D;
	h.k = h.q + h.C;
	h.v = h.k + h.C;
	h.p = gv_xcalloc(2 * h.T * h.T, sizeof(*h.p));
	h.ds = h.p + h.T * h.T;
	for (i = 0; i < h.T; i++) {
		gv_real *p = h.p + i * h.T, top = 0;
		size_t n = slow_seen(&h, i);

		for (j = 0; j < n; j++)
			for (d = 0; d < h.D; d++)
				p[j] = slow_fma(
				    h.q[i * 3 * h.C + d], h.k[j * 3 * h.C + d], p[j]);
		for (j = 0; j < n; j++)
			top = j == 0 || p[j] > top ? p[j] : top;
		for (j = 0; j < n; j++) {
			p[j] = (p[j] - top) * h.scale;
			gv_cpu_exp(&p[j], 1);
		}
		top = 1 / slow_lanes(p, NULL, n);
		for (j = 0; j < n; j++)
			p[j] *= top;
	}
	return h;
}

static inline void
slow_attention(const struct slow_at *a)
{
	size_t g, i, j, d;

	for (g = 0; g < a->l->g; g++) {
		struct slow_head h = slow_head_of(a, g);

		for (i = 0; i < h.T; i++)
			for (d = 0; d < h.D; d++) {
				gv_real acc = 0;

				for (j = 0; j < h.T; j++)
					acc = slow_fma(
					    h.p[i * h.T + j], h.v[j * 3 * h.C + d], acc);
				a->y[i * h.C + g * h.D + d] = acc;
			}
		free(h.p);
	}
}

/* The gradient of s, from that of y. */
static inline void
slow_attention_slope(const struct slow_head *h, const gv_real *dy)
{
	size_t i, j, d;

	for (i = 0; i < h->T; i++) {
		const gv_real *p = h->p + i * h->T;
		gv_real *ds = h->ds + i * h->T, mean;
		size_t n = slow_seen(h, i);

		for (j = 0; j < n; j++)
			for (d = 0; d < h->D; d++)
				ds[j] = slow_fma(
				    dy[i * h->C + d], h->v[j * 3 * h->C + d], ds[j]);
		mean = slow_lanes(p, ds, n);
		for (j = 0; j < n; j++)
			ds[j] = p[j] * (ds[j] - mean) * h->scale;
	}
}

static inline void
slow_attention_back(const struct slow_at *a, gv_real *dx, bool adds)
{
	size_t g, i, j, d, apart = a->l->in_shape.channels;

	for (j = 0; j < a->r->in_size && !adds; j++)
		dx[j] = 0;
	for (g = 0; g < a->l->g; g++) {
		struct slow_head h = slow_head_of(a, g);
		const gv_real *dy = a->dy + g * h.D;
		gv_real *to = dx + g * h.D;

		slow_attention_slope(&h, dy);
		for (i = 0; i < h.T; i++)
			for (j = 0; j < h.T; j++)
				for (d = 0; d < h.D; d++) {
					gv_real *dq = to + i * apart + d;
					gv_real *dk = to + j * apart + h.C + d;
					gv_real *dv = dk + h.C;
					gv_real ds = h.ds[i * h.T + j];

					*dq = slow_fma(ds, h.k[j * apart + d], *dq);
					*dk = slow_fma(ds, h.q[i * apart + d], *dk);
					*dv = slow_fma(
					    h.p[i * h.T + j], dy[i * h.C + d], *dv);
				}
		free(h.p);
	}
}

#endif
