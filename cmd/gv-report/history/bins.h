/*
 * A level over time, such as how many GPUs are busy, in memory that does not grow:
 * its mean in each of so many equal parts of the time.
 */
#ifndef GV_REPORT_BINS_H
#define GV_REPORT_BINS_H

#include <stddef.h>
#include <stdint.h>

enum { BINS = 512 };

/* = {0} is a level of 0.  The parts become twice as long whenever the time has outgrown them. */
struct bins {
	double width_s;   /* a power of two; 0: nothing was added yet */
	double sum[BINS]; /* the integral over each part */
};

/* The level is higher by that much from from_s to to_s.  Costs the parts it touches. */
void bins_add(struct bins *b, double from_s, double to_s, double level);
/* Makes the parts at least that long, a width of others. */
void bins_widen(struct bins *b, double width_s);
/* The parts that the time up to end_s has, at most BINS. */
size_t bins_n(const struct bins *b, double end_s);
/* The mean level in the i-th part, of which only what is before end_s counts. */
double bins_mean(const struct bins *b, size_t i, double end_s);

/*
 * Who holds each GPU at equally distant moments, the first at 0, in memory that
 * grows with the GPUs alone; further apart whenever the time has outgrown them.
 */
struct moments {
	double width_s; /* a power of two; 0: nothing was added yet */
	size_t n_gpus;
	uint32_t (*who)[BINS]; /* [n_gpus] number + 1; 0 = nobody */
	size_t cap;
};

/* GPU gpu belongs to who from from_s until before to_s. */
void moments_add(struct moments *m, size_t gpu, uint32_t who, double from_s, double to_s);
/* Room for so many GPUs, those that are new nobody's. */
void moments_room(struct moments *m, size_t n_gpus);
void moments_free(struct moments *m);

#endif
