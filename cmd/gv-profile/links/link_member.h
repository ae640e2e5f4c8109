/* One of the processes between which links are measured. */
#ifndef GV_PROFILE_LINK_MEMBER_H
#define GV_PROFILE_LINK_MEMBER_H

#include "link_times.h"
#include "link_trials.h"
#include "net/gang.h"

/* What one process has measured. */
struct link_report {
	enum link_what what;
	int from, to; /* to all others: to is the process, from -1 */
	double value; /* GB/s; LINK_LATENCY: seconds */
	double scatter;
	/* to all others: of the process, for 10^9 bytes that it sends or receives; LINK_BESIDE:
	 * by which its computing is longer */
	double cpu_s;
};

struct link_member {
	struct gv_gang *gang;
	int rank;
	const struct link_rule *rule;
	/* is told of what this process has measured, and of each measurement that has ended (r
	 * NULL) */
	void (*tell)(void *ctx, const struct link_report *r);
	void *ctx;
};

/* Takes part in all measurements.  0, or -1 with *e set: the gang broke. */
int link_member_run(
    struct link_member *m, const struct link_trials *p, struct gv_error *e);

#endif
