/* Matrix products in float. */
#include "nn_gemm.h"
