/* How numbers lie: mean, quantiles. */
#ifndef GV_REPORT_SPREAD_H
#define GV_REPORT_SPREAD_H

#include <stddef.h>

/*
 * Median: of an even number, the mean of the middle two.  p95, p99: the least number
 * that so many percent of them are not above.  All but sum are NAN of nothing.
 */
struct spread {
	size_t n;
	double sum, mean, median, p95, p99, max;
};

/* Of v[0..n), none of them NAN, which it sorts. */
struct spread spread_of(double *v, size_t n);

#endif
