/* Numbers too small for a full significand: below 1.2e-38 as float, 2.2e-308 as double. */
#ifndef GV_SUBNORMAL_H
#define GV_SUBNORMAL_H

/*
 * From now on this thread, and those it makes, take subnormal numbers for 0 and make none,
 * where the processor can (x86-64 and AArch64; elsewhere nothing happens).  Momentum of
 * weights whose gradients stay 0 decays into such numbers and never leaves them; arithmetic with
 * them is up to a hundred times as slow.  For programs that train: what is said
 * of results to the bit holds where all who compute have asked for it.
 */
void gv_subnormal_flush(void);

#endif
