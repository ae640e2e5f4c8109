/* relu, as a row and as the act of another row. */
#include "nn/passes.h"
#include "nn/simd.h"

const char *
same_shape(struct gv_layer *l, const char **column, char text[200])
{
	(void)column;
	(void)text;
	l->out_shape = l->in_shape;
	return NULL;
}

/* y is 0 where x < 0; a NaN stays and lets its gradient through, as in PyTorch. */
GV_HOT static void
relu(gv_real *restrict y, const gv_real *restrict x, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		y[i] = 0 > x[i] ? 0 : x[i];
}

GV_HOT static void
relu_back(
    gv_real *restrict dx, const gv_real *restrict dy, const gv_real *restrict y, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		dx[i] = y[i] <= 0 ? 0 : dy[i];
}

GV_HOT void
relu_mask(gv_real *restrict dy, const gv_real *restrict y, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		dy[i] = y[i] <= 0 ? 0 : dy[i];
}

void
relu_forward(struct gv_net *net, const struct row *r, size_t b, size_t i, size_t n,
    gv_real *scratch)
{
	(void)scratch;
	relu(row_y(net, r, b, i), row_x(net, r, b, i), n * r->out_size);
}

void
relu_backward(struct gv_net *net, const struct row *r, size_t b, size_t i, size_t n,
    gv_real *scratch)
{
	(void)scratch;
	relu_back(row_dx(net, r, b, i), row_dy(net, r, b, i), row_y(net, r, b, i),
	    n * r->out_size);
}
