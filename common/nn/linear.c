/* linear: y = x W + bias, W [in][out]. */
#include "nn/gemm.h"
#include "nn/passes.h"

const char *
linear_shape(struct gv_layer *l, const char **column, char text[200])
{
	size_t in = gv_shape_size(l->in_shape);

	(void)column;
	(void)text;
	l->out_shape = (struct gv_shape){l->out, 1, 1};
	l->weights = in * l->out;
	l->biases = l->bias ? l->out : 0;
	l->flops = 2 * (uint64_t)in * l->out;
	return NULL;
}

void
linear_forward(struct gv_net *net, const struct row *r, size_t b, size_t i, size_t n,
    gv_real *scratch)
{
	struct gv_gemm g = {.m = n,
	    .n = r->out_size,
	    .k = r->in_size,
	    .a = row_x(net, r, b, i),
	    .lda = r->in_size,
	    .b = row_packed(net, r, b, 0),
	    .c = row_y(net, r, b, i),
	    .ldc = r->out_size,
	    .bias = row_bias(net, r, b),
	    .relu = r->l.relu};

	(void)scratch;
	gv_gemm(&g);
}

void
linear_backward(struct gv_net *net, const struct row *r, size_t b, size_t i, size_t n,
    gv_real *scratch)
{
	struct gv_gemm g = {.m = n,
	    .n = r->in_size,
	    .k = r->out_size,
	    .a = row_dy(net, r, b, i),
	    .lda = r->out_size,
	    .b = row_packed_t(net, r, b, 0),
	    .c = row_dx(net, r, b, i),
	    .ldc = r->in_size};

	(void)scratch;
	gv_gemm(&g);
}

enum { SAMPLES = 256 }; /* that are packed at a time */

size_t
linear_scratch(const struct row *r)
{
	return gv_gemm_packed(SAMPLES, lesser(r->grad_columns, PIECE_COLUMNS));
}

/* dW = x^T dy, sample by sample */
void
linear_gradient(struct gv_net *net, const struct row *r, const struct piece *p, size_t b,
    size_t i, size_t n, gv_real *dw, size_t ldw, gv_real *scratch)
{
	size_t at, some, columns = p->last_column - p->column;

	for (at = 0; at < n; at += some) {
		struct gv_gemm g = {.m = p->last - p->first,
		    .n = columns,
		    .lda = r->in_size,
		    .transposed = true,
		    .a = row_x(net, r, b, i + at) + p->first,
		    .b = scratch,
		    .c = dw,
		    .ldc = ldw,
		    .add = at > 0};

		some = lesser(n - at, SAMPLES);
		g.k = some;
		gv_gemm_pack(scratch, row_dy(net, r, b, i + at) + p->column, r->out_size,
		    1, some, columns);
		gv_gemm(&g);
	}
}
