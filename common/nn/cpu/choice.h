/*
 * Whether loops are shared among threads or done by one: what was measured to take less time.
 * Private to common/nn/cpu.
 *
 * How far cores are from each other, and whether others keep them busy, changes from second
 * to second.  Where steps are short that decides which is faster, so now and then some steps
 * are done the other way.  No clock is read here; the bits of results do not depend on it.
 */
#ifndef GV_NN_CPU_CHOICE_H
#define GV_NN_CPU_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

enum { GV_CPU_CHOICE_STEPS = 7 }; /* whose median counts */

/* All zeros: shared, and nothing was measured yet. */
struct gv_cpu_choice {
	bool alone;   /* how loops of the next step are done */
	bool trying;  /* alone is not what was chosen but what is tried */
	size_t steps; /* since that began */
	size_t pause; /* steps between trials; 0 = the first one's */
	double usual_s;
	double last_s[GV_CPU_CHOICE_STEPS];
};

/*
 * A step's loops took s seconds in the way that alone tells; sets alone for the next step.
 * A trial is of ten steps; the next one follows 128 steps later, and twice as many each
 * time that nothing changes, up to 4,096, alone 512.  Steps of 20 ms and more are shared
 * without a trial.
 */
void gv_cpu_choice_step(struct gv_cpu_choice *c, double s);

#endif
