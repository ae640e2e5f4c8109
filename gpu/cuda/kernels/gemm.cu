/* Batched products: struct gv_cuda_gemm. */
#include "tensor.h"

namespace gv_gemm {
/* Element (i, l) of a matrix whose rows (ALONG: neighbours in k are neighbours), or columns, are apart. */
template <class T, bool ALONG> struct strided {
	typedef const T *outer_type;
	const T *v;
	size_t ld;
	unsigned n, k;

	GV_MEMBER bool
	along_k() const
	{
		return ALONG;
	}
	GV_MEMBER outer_type
	outer(unsigned i) const
	{
		return i < n ? v + i * (ALONG ? ld : 1) : NULL;
	}
	GV_MEMBER size_t
	inner(unsigned l) const
	{
		return l * (ALONG ? 1 : ld);
	}
	GV_MEMBER float
	get(outer_type row, size_t at) const
	{
		return row != NULL ? gv_get(row + at) : 0;
	}
	/* of a matrix that lies along the other way, rows come in as many, all there or none */
	GV_MEMBER bool
	whole() const
	{
		return ((size_t)v | ((ALONG ? k : n) | ld) * sizeof(T)) % 16 == 0;
	}
	GV_MEMBER const T *
	chunk(outer_type row, size_t at) const
	{
		return row != NULL ? row + at : NULL;
	}
};

template <class T, class C, class PRODUCT, bool A_ALONG, bool B_ALONG>
GV_DEVICE void
one_tile(const struct gv_cuda_gemm &g, typename PRODUCT::shared &s, size_t z)
{
	unsigned m = (unsigned)g.m, n = (unsigned)g.n;
	gv_tile t(gv_block_x, n, PRODUCT::SIZE);
	strided<T, A_ALONG> a = {(const T *)g.a + z * g.a_batch, g.lda, m, (unsigned)g.k};
	strided<T, B_ALONG> b = {(const T *)g.b + z * g.b_batch, g.ldb, n, (unsigned)g.k};
	C *c = (C *)g.c + z * g.c_batch;
	const C *mask = g.mask == NULL ? NULL : (const C *)g.mask + z * g.mask_batch;
	PRODUCT p;

	GV_UNROLL
	for (unsigned i = 0; i < p.DOWN; i++)
		GV_UNROLL
	for (unsigned j = 0; j < p.ACROSS; j++) {
		unsigned row = t.row + p.row(i), column = t.column + p.column(j);
		bool there = row < m && column < n;

		p.v[i][j] = there && g.add            ? gv_get(c + row * g.ldc + column)
			    : there && g.bias != NULL ? g.bias[z * g.bias_batch + column]
						      : 0;
	}
	p.run(s, a, b, t.row, t.column, 0, (unsigned)g.k);
	GV_UNROLL
	for (unsigned i = 0; i < p.DOWN; i++)
		GV_UNROLL
	for (unsigned j = 0; j < p.ACROSS; j++) {
		unsigned row = t.row + p.row(i), column = t.column + p.column(j);
		size_t at = row * g.ldc + column;
		float v = p.v[i][j];

		if (row < m && column < n)
			gv_put(c + at, gv_masked(mask, at, g.relu ? gv_relu(v) : v));
	}
}

template <class T, class C, class PRODUCT>
GV_DEVICE void
gemm(const struct gv_cuda_gemm &g)
{
	GV_SHARED(typename PRODUCT::shared, s);

	for (size_t z = gv_block_y; z < g.batch; z += gv_grid_y) {
		if (!gv_active(g.active, z))
			continue;
		if (!g.a_transposed && !g.b_transposed)
			one_tile<T, C, PRODUCT, true, false>(g, s, z);
		else if (!g.a_transposed)
			one_tile<T, C, PRODUCT, true, true>(g, s, z);
		else if (!g.b_transposed)
			one_tile<T, C, PRODUCT, false, false>(g, s, z);
		else
			one_tile<T, C, PRODUCT, false, true>(g, s, z);
	}
}

GV_KERNEL(gemm_128_f32, gv_cuda_gemm)
{
	gemm<float, float, gv_product_for<float, 128>::type>(a);
}
GV_KERNEL_OF(2, gemm_64_f32, gv_cuda_gemm)
{
	gemm<float, float, gv_product_for<float, 64>::type>(a);
}
GV_KERNEL_OF(2, gemm_32_f32, gv_cuda_gemm)
{
	gemm<float, float, gv_product_for<float, 32>::type>(a);
}
GV_KERNEL(gemm_64_bf16, gv_cuda_gemm)
{
	gemm<gv_bf16, gv_bf16, gv_product_for<gv_bf16, 64>::type>(a);
}
GV_KERNEL(gemm_64_mixed, gv_cuda_gemm)
{
	gemm<gv_bf16, float, gv_product_for<gv_bf16, 64>::type>(a);
}
} // namespace gv_gemm
