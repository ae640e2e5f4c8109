/*
 * How long passes take, from how long each of them took.
 *
 * While a worker waits, others have its caches, and its core slows down; the pass behind
 * takes longer.  Whoever waits has that time: what a plan's time depends on is the stage that
 * never does.  So passes for which nothing was waited for say how long a pass takes, where there are
 * some.
 */
#ifndef GV_TRAIN_PIPELINE_LAPS_H
#define GV_TRAIN_PIPELINE_LAPS_H

#include <stdbool.h>
#include <stdint.h>

/* Of how many the seconds are kept, the last ones; of how many the middle one says something. */
enum { LAPS_KEPT = 1024, LAPS_LEAST = 16 };

struct laps {
	double kept[LAPS_KEPT];
	uint64_t n; /* that there were */
};

/* Of a kind; = {0} is none. */
struct passes {
	struct laps all, warm; /* warm: of those for which nothing was waited for */
};

void passes_forget(struct passes *p);
void passes_add(struct passes *p, double took_s, bool waited);

/*
 * Seconds of all of them if each had taken the middle one's time: of the warm ones kept, if there
 * were LAPS_LEAST or more, else of all kept; 0: there are none.  Cost: sorting them.
 */
double passes_typical_s(const struct passes *p);

#endif
