/* The same as nn_gemm.c, in double. */
#include "nn_gemm.c"
