/* What a simulation came to, as tables. */
#ifndef RESULTS_H
#define RESULTS_H

#include "core/sim.h"
#include "tables.h"

/* The jobs as they were given, and what became of each.  isolated: that run, or NULL. */
void results_jobs(const struct tables *t, const struct sim *s, const struct sim *isolated,
    struct gv_tabw *w);

/* Measures of the measured jobs, and of the GPUs over the whole time. */
void results_summary(const struct sim *s, const struct sim *isolated, struct gv_tabw *w);

#endif
