/* The kernels, as nvcc made them; in tests there are none. */
#include "cuda/cuda.h"

#ifndef GV_CUDA_BUILT
#define GV_CUDA_BUILT 0
#endif
__attribute__((visibility("hidden"))) const int gv_cuda_image_built = GV_CUDA_BUILT;

#ifdef GV_CUDA_IMAGE
__asm__(".section .rodata\n"
	".balign 16\n"
	".globl gv_cuda_image\n"
	".hidden gv_cuda_image\n"
	"gv_cuda_image:\n"
	".incbin \"" GV_CUDA_IMAGE "\"\n"
	".byte 0\n"
	".previous\n");
#else
const char gv_cuda_image[] = "";
#endif
