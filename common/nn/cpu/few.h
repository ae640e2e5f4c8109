/* maxpool of fewer channels than a vector has numbers.  Private to common/nn/cpu. */
#ifndef GV_NN_CPU_FEW_H
#define GV_NN_CPU_FEW_H

#include "nn/model.h"
#include "nn/real.h"

/* Whether these are for such a maxpool: no window reaches over the input's ends. */
bool gv_cpu_is_few(const struct gv_layer *l);

/* n samples; back adds to dx.  The bits are those of window.c. */
void gv_cpu_few_maxpool(const struct gv_layer *l, size_t n, const gv_real *x, gv_real *y);
void gv_cpu_few_maxpool_back(const struct gv_layer *l, size_t n, const gv_real *x,
    gv_real *dx, const gv_real *y, const gv_real *dy);

#endif
