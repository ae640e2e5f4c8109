/* Matrix products in double. */
#include "nn_gemm.h"
