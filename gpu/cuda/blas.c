/* Products by cuBLAS, whose matrices are column-major: c' = b' a'. */
#include <stdio.h>

#include "cuda/parts.h"

/* What graphs may not allocate by themselves. */
enum { WORKSPACE = 32 << 20 };

static int
check(struct gv_cuda *c, int result)
{
	char text[200];

	if (result == 0)
		return 0;
	snprintf(text, sizeof(text), "cuBLAS: %s", c->b->status_string(result));
	return gv_cuda_fail(c, text);
}

int
gv_cuda_blas_open(struct gv_cuda *c, struct gv_error *e)
{
	if (c->math == GV_NN_FP32)
		return 0;
	if (c->b->create(&c->blas) != 0)
		return gv_error_set(e,
		    "%s (GPU %d): cuBLAS does not start; is memory left?", c->name,
		    c->device);
	if (c->d->alloc(&c->blas_room, WORKSPACE) != GV_CU_SUCCESS) {
		c->blas_room = 0;
		return gv_error_set(e,
		    "too little memory on %s (GPU %d): %d bytes wanted for cuBLAS",
		    c->name, c->device, WORKSPACE);
	}
	if (c->b->set_stream(c->blas, c->stream) != 0 ||
	    c->b->set_workspace(c->blas, (void *)(uintptr_t)c->blas_room, WORKSPACE) != 0)
		return gv_error_set(
		    e, "%s (GPU %d): cuBLAS does not take a stream", c->name, c->device);
	return 0;
}

void
gv_cuda_blas_close(struct gv_cuda *c)
{
	if (c->blas != NULL)
		c->b->destroy(c->blas);
	if (c->blas_room != 0)
		c->d->release(c->blas_room);
}

/* Without bias and relu, which are launches behind it. */
int
gv_cuda_blas_product(struct gv_cuda *c, const struct gv_cuda_product *p)
{
	const struct gv_nn_gemm *g = &p->g;
	static const float one = 1, zero = 0;
	int type = p->type == GV_CUDA_F32 ? GV_CU_R_32F : GV_CU_R_16BF;
	int c_type = p->c_type == GV_CUDA_F32 ? GV_CU_R_32F : GV_CU_R_16BF;
	int compute = p->type == GV_CUDA_BF16 ? GV_CU_COMPUTE_32F
		      : c->math == GV_NN_TF32 ? GV_CU_COMPUTE_32F_FAST_TF32
					      : GV_CU_COMPUTE_32F_FAST_16BF;

	return check(
	    c, c->b->gemm(c->blas, g->b_transposed ? GV_CU_BLAS_T : GV_CU_BLAS_N,
		   g->a_transposed ? GV_CU_BLAS_T : GV_CU_BLAS_N, (int)g->n, (int)g->m,
		   (int)g->k, &one, g->b, type, (int)g->ldb, (long long)g->b_batch, g->a,
		   type, (int)g->lda, (long long)g->a_batch, g->add ? &one : &zero, g->c,
		   c_type, (int)g->ldc, (long long)g->c_batch, (int)g->batch, compute,
		   GV_CU_BLAS_DEFAULT));
}
