/* The tables that are read. */
#ifndef TABLES_H
#define TABLES_H

#include "offers.h"
#include "options.h"

struct tables {
	struct gv_cluster cluster;
	struct gv_rates jobs; /* as they were given, where throughputs are */
	size_t n_changes;
	struct sim_change *change; /* by time */
	struct offers offers;
	struct gv_rates rates; /* with rates: what is simulated */
};

/* 0, or -1 with *e set.  *w: what looks like a slip, and jobs that have no rate. */
int tables_read(
    struct tables *t, const struct options *o, struct gv_error *w, struct gv_error *e);
void tables_free(struct tables *t);

/* The table that was given: jobs, or rates. */
const struct gv_rates *tables_given(const struct tables *t);

#endif
