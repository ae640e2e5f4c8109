/*
 * DIR/clock: where a run is, beside its journal.  One line of fixed length with a checksum,
 * overwritten in place by one write: a kill leaves the old or the new one.  It need not survive
 * a loss of power: what it says may be old, and without it time goes on from the last event.
 */
#ifndef GV_RUN_CLOCK_H
#define GV_RUN_CLOCK_H

#include <stdint.h>

struct clock {
	double epoch_s; /* of time 0 */
	double now_s;
	int64_t round;
	int64_t journal_bytes; /* that were on disk: it has no fewer; 0 = nobody knows */
};

void clock_write(int fd, const struct clock *c);
/* 0, or -1 when there is nothing (good). */
int clock_read(int fd, struct clock *c);
/* Of the state in dir. */
int clock_read_in(const char *dir, struct clock *c);

#endif
