/* Links and trees, reported. */
#ifndef GV_REPORT_REPORT_TOPOLOGY_H
#define GV_REPORT_REPORT_TOPOLOGY_H

#include "gv-report/topology/topology.h"
#include "name.h"
#include "options.h"

/* Whether a table, alone or with others, is reported so in that format. */
bool report_topology_takes(const struct gv_tab *t, const struct options *o);

/* Reads the tables of the inputs, of the first of which tab is at its first, and reports them. */
void report_topology(
    const struct options *o, struct gv_tab *tab, char **further, size_t n);

#endif
