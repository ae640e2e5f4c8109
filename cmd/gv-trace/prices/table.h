/* Markets as rows of a price table (gv-tables(5)). */
#ifndef TRACE_PRICES_TABLE_H
#define TRACE_PRICES_TABLE_H

#include "markets.h"

/*
 * Writes gpu_type, usd_per_h, time_s, source: a row where a market's price changes, in
 * the order of time, then of markets.  Times count from start_s; what a market cost
 * just then stands at 0, what was before is left out.  Returns the number of rows.
 */
size_t price_table_write(struct gv_tabw *w, const struct markets *m, double start_s);

#endif
