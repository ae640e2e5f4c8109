/* How fast bytes pass between processes, measured pair by pair, and all at once. */
#ifndef GV_PROFILE_LINK_TIMES_H
#define GV_PROFILE_LINK_TIMES_H

#include <stddef.h>

#include "base/err.h"
#include "net/local.h"

struct link_rule {
	int n; /* processes */
	enum gv_local_kind kind;
	size_t bytes;    /* of a message */
	double window_s; /* each measurement sends for so long */
	size_t repeats;  /* and is made so often: the median counts */
	/* is told of each measurement that ends; NULL = nobody */
	void (*tell)(size_t done, size_t of);
};

/* From one process to another. */
struct link_time {
	double alone;      /* GB/s with nothing else on its way */
	double both;       /* while as much comes back */
	double concurrent; /* while all others send in pairs, too */
	double sum;        /* of the row in all, while each sends to all others at once */
	/* of the row's computing then, for 10^9 bytes that it sends or receives */
	double cpu_s;
	double latency_s; /* half of a round trip of 8 bytes */
	double scatter;   /* of the repeats of any of these: the most over the least */
};

/*
 * Fills t[n][n], from row to column.  n processes are forked, live for all
 * measurements, and take them in turn.  0, or -1 with *e set: no process or link can
 * be made, or one was killed; all are gone then.
 */
int link_times(struct link_time *t, const struct link_rule *rule, struct gv_error *e);

struct link_report;

/* Puts what one process has measured into t[n][n]. */
void link_times_take(struct link_time *t, int n, const struct link_report *r);

#endif
