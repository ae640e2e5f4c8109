/*
 * All tolerances of common/lp and common/alloc, and why each is what it is.
 *
 * Doubles are exact to 1.1e-16.  The simplex method keeps rows and reduced costs to
 * 1e-9; its solutions, cleaned (gv_problem_clean()), and the prices' are usually right to
 * some 1e-12, which is what is aimed for.  What is wrong by more than 1e-9 is a failure.
 * Nothing here is needed for a proof to hold: bounds allow for rounding by counting it, in
 * units of DBL_EPSILON, and certificates are without rounding.
 *
 * Relative to the size of what is compared, in programs of numbers of about 1, where
 * nothing else is said.
 */
#ifndef GV_LP_TOLERANCE_H
#define GV_LP_TOLERANCE_H

/* ---- common/lp ---- */

/*
 * GLPK's for rows and reduced costs: its default, 1e-7, would show in the shares that
 * are printed.
 */
#define GV_TOL_SIMPLEX 1e-9
/* For reduced costs again, where those below it have added up to a gap. */
#define GV_TOL_SHARPEN 1e-12
/* A bound that rows imply is wider by that, 10^4 roundings, so that it holds. */
#define GV_TOL_IMPLIED 1e-12
/*
 * A reduced cost of a column without a bound that is 0 but for GLPK's tolerance; the one
 * step of the check that is not rigorous.
 */
#define GV_TOL_UNBOUNDED 1e-8
/*
 * A column without a bound that shall vanish from a sum of rows: what is left of its terms, that
 * part of them, is rounding of the multipliers.
 */
#define GV_TOL_CANCELLED 1e-13

/* ---- problems and shares ---- */

/*
 * The smallest rate that counts, absolute: sums of products with it are above the
 * smallest normal double, 2.2e-308.
 */
#define GV_SMALLEST_RATE 1e-290
/* A share below that part of its job's largest is what rounding left; it becomes 0. */
#define GV_TOL_DUST 1e-13
/* How far shares may be over a constraint, or below a need: as sure as the simplex method. */
#define GV_TOL_FEASIBLE 1e-9
/* A gap that counts as proved; of mixtures of placements, whose bounds are of integer programs. */
#define GV_TOL_PROVED        1e-9
#define GV_TOL_PROVED_PLACED 1e-7

/* ---- a first program and a second one among its best ---- */

/*
 * What keeps the best of the first is a thin set, which the simplex method may not find:
 * then by that less, and less, from next to rounding to what is still much below
 * GV_TOL_PROVED.
 */
#define GV_TOL_LESS_1 1e-12
#define GV_TOL_LESS_2 1e-11
#define GV_TOL_LESS_3 1e-10
/* What the second may cost the first beside that: rounding of sums of many shares. */
#define GV_TOL_KEPT 1e-11
/*
 * A price or reduced cost above that keeps its constraint tight; GLPK's for a basis that
 * it leaves are smaller.
 */
#define GV_TOL_TIGHT 1e-11
/* A first sum that is lower by that is the same: it is summed in another order. */
#define GV_TOL_SAME_SUM 1e-12
/* A level by other prices may be lower by that and still count as as good. */
#define GV_TOL_AS_GOOD 1e-10
/*
 * All the time on the best type is asked for but for that, where time and GPUs would
 * bound a level alike.
 */
#define GV_TOL_ALL_TIME 5e-11
/* A level of needs that is lower than 1 by that meets them, but for rounding. */
#define GV_TOL_MET 1e-12

/* ---- price/ ---- */

/*
 * The gap at which the dual counts as solved: 1e4 roundings, which a demand of many jobs
 * may have.
 */
#define GV_TOL_DUAL_GAP 1e-12
/*
 * Where a level or a sum by prices is farther from its bound another method is tried:
 * below GV_TOL_PROVED.
 */
#define GV_TOL_LEVEL_PROVED 5e-10
#define GV_TOL_SUM_PROVED   1e-10
/* Where no method comes nearer than that, what is missing is said, and taken. */
#define GV_TOL_LEVEL_SAID 1e-6
/*
 * A price of a type's whole capacity, of a level in [0, 1], below that is none: the type
 * is not scarce.
 */
#define GV_TOL_PRICED 1e-7
/*
 * What a vertex may cost more than the cheapest and still be on the face of the first
 * program's best.
 */
#define GV_TOL_FACE 1e-9
/* A cut of that weight is not in the mixture: too little to bind a level; to size a box. */
#define GV_TOL_WEIGHT     1e-15
#define GV_TOL_IN_MIXTURE 1e-9
/* A price so near to the border of its box, of its width, is at it. */
#define GV_TOL_BORDER 1e-9
/* GPUs beyond a capacity, a part of it, that are none. */
#define GV_TOL_BEYOND 1e-12
/* The master's optimum has moved by that, so its cuts still tell something new. */
#define GV_TOL_PROGRESS 1e-12
/*
 * What fixed jobs demand is as fixed when the bound of all is, but for rounding of a sum
 * over all.
 */
#define GV_TOL_HOLDS 1e-13
/* A pivot of the master's basis that is none: it is singular. */
#define GV_TOL_PIVOT 1e-13
/*
 * A reduced cost of the master, a part of its terms, that is below 0 only by rounding;
 * it grows where the method does not end.
 */
#define GV_TOL_REDUCED 1e-15
/* An element of the entering column too small to divide by. */
#define GV_TOL_ENTERING 1e-11
/* A basic column at that or below is at 0: other prices may prove the mixture as well. */
#define GV_TOL_DEGENERATE 1e-7
/* A need that is missed by that is kept. */
#define GV_TOL_NEED 1e-11
/*
 * Reduced costs, a part of gain and cost, up to which a vertex leaves its job free: as
 * sure as prices are, then less sure.
 */
#define GV_TOL_FREE_1 1e-7
#define GV_TOL_FREE_2 1e-5
#define GV_TOL_FREE_3 1e-3
/*
 * Differences of gains that may sum to about 0 are compared with that part of what they
 * are made of.
 */
#define GV_TOL_DIFFERENCE 1e-4

/* The Eisenberg-Gale market: mu of the barrier for prices that fix most jobs, ... */
#define GV_TOL_EG_ROUGH 1e-9
/* ... and at the end: slacks of about 1e-14 are still told from 0. */
#define GV_TOL_EG_LAST 1e-14
/* Shares below are those that the last mu leaves to types that are not used. */
#define GV_TOL_EG_SHARE 1e-11
/* Newton's decrement at the last mu: quadratic convergence leaves its square. */
#define GV_TOL_EG_NEWTON 1e-5
/* A part of a step that is too short to be tried. */
#define GV_TOL_EG_STEP 1e-6

/* ---- interior/ ---- */

/* The gap to end at; where rounding keeps it above, the best point counts. */
#define GV_TOL_INTERIOR 1e-11
/* Below that few steps more will do, or rounding is in the way; above it is no solution. */
#define GV_TOL_INTERIOR_NEAR 1e-6
/* A bound so many times equal shares' level at the start: those say little about the best. */
#define GV_TOL_INTERIOR_START 10
/* A job's time begins at so many times what its best share gains: a little above, not on it. */
#define GV_TOL_INTERIOR_ABOVE 1.1
/* A gap on the way, with all shares well inside: where a program like this one may begin. */
#define GV_TOL_INTERIOR_MIDDLE .1
/* A bound by multipliers of which some are 0, where that counts, may be so much above. */
#define GV_TOL_SHARP 1e-11
/* A pivot, in a matrix of numbers of about 1 and more, that is rounding. */
#define GV_TOL_INTERIOR_PIVOT 1e-30
/* Gains that are differences may sum to 0: a sum counts as not smaller than that part of them. */
#define GV_TOL_INTERIOR_SUM 1e-3
/*
 * At the first gap columns are left out whose reduced costs are more than the second part of
 * what they are made of, and shares less than the third part of their job's largest: of those
 * that count they are about the gap, or less.
 */
#define GV_TOL_INTERIOR_NARROW   .03
#define GV_TOL_INTERIOR_LEFT_OUT .2
#define GV_TOL_INTERIOR_SMALL    .05
/* A reduced cost at the best level, a part of what it is made of, that may be 0. */
#define GV_TOL_INTERIOR_CHEAP 1e-2
/* A reduced cost below 0 by that part of what it is made of: its column is missing. */
#define GV_TOL_INTERIOR_MISSING 1e-9
/* ... and by that part of what a job adds to the bound: if all lacked one, it would be no more. */
#define GV_TOL_INTERIOR_UNFELT 1e-12
/*
 * The second program needs room between the shares that keep the level: it is given that
 * much less to keep, and if its best is another vertex then, less.
 */
#define GV_TOL_INTERIOR_ROOM_1 1e-6
#define GV_TOL_INTERIOR_ROOM_2 1e-8
/*
 * A type that is so full of jobs without choice leaves the others nothing; one of them that
 * takes that part of it gives way, for those that take less may be what is too much.
 */
#define GV_TOL_CROWDED 1e-6
#define GV_TOL_MUCH    1e-3

/* ---- pairs/ ---- */

/*
 * A pair comes in when its share of about 1 would add more than that to an optimum of
 * about 1: below GLPK's, so that none is missed.
 */
#define GV_TOL_PAIR_HELPS 1e-10
/*
 * Where columns that GLPK lets be would add more than that, a first sum is magnified for
 * some more rounds.
 */
#define GV_TOL_PAIR_FINE 1e-13
/* The check of programs on the way, which need no proof of their own. */
#define GV_TOL_PAIR_QUICK 1e-6
/*
 * What programs that go on from each other may be beyond a bound; and by what part floors are
 * lower, at first and at most, for what that adds up to: hundreds of times it may show in
 * the level of a job whose GPUs are next to free.
 */
#define GV_TOL_CLIMB       1e-13
#define GV_TOL_CLIMB_SLACK 1e-14
#define GV_TOL_CLIMB_MOST  1e-9

/* ---- place/ ---- */

/* What integer programs are sure to: their values are sums of a few 100 numbers. */
#define GV_TOL_PLACEMENT 2e-9
/*
 * Branch and cut looks for placements that are worth more by that: above the tolerance of
 * rows, within which there are many.
 */
#define GV_TOL_CUTOFF 1e-8
/* How near to the best mixture is enough; and where what it proves is not said. */
#define GV_TOL_HULL        1e-9
#define GV_TOL_HULL_SECOND 1e-7
/* A program that comes so near to the one without a constraint is at its end. */
#define GV_TOL_RELAXED 1e-12
/* A column whose reduced cost is 0 but for that may add rounding to the bound ... */
#define GV_TOL_NEAR 1e-9
/* ... which is at most that part of the terms, 100 roundings. */
#define GV_TOL_TERMS 1e-14

/* ---- policy/ ---- */

/* finish-time: ratio and bound that close are one; rounding of a sum of terms, times sqrt(n). */
#define GV_TOL_RATIO 1e-12
#define GV_TOL_SUM   1e-15
/*
 * Floors that leave others less than that part of the level without them leave nothing;
 * where they leave less than the larger one, a gap is relative to that.
 */
#define GV_TOL_NOTHING_LEFT 1e-9
#define GV_TOL_LITTLE_LEFT  1e-3
/* water-filling: an inequality that is broken by less is kept: its limit is as sure as the dual. */
#define GV_TOL_BROKEN 1e-12
/* A lambda or price below that part of the largest is none: GLPK's reduced costs are as sure. */
#define GV_TOL_PRICE 1e-9
/*
 * A reduced cost in the inequality that is clearly above 0: a part of what it is made of, and so
 * much that what the inequality is not sure of leaves no more than that share.
 */
#define GV_TOL_LEAVE_OUT       1e-3
#define GV_TOL_LEAVE_OUT_SHARE 1e-6
/* What settled jobs leave of a type to others is a difference: that part of it at least. */
#define GV_TOL_LEFT_TO_OTHERS 1e-3
/* By more than that no solver is wrong: levels do not come down farther. */
#define GV_TOL_COME_DOWN 1e-9
/* So much at least: ten times what an inequality may be broken by. */
#define GV_TOL_COME_DOWN_LEAST 1e-11
/* A job that loses less than that beside another one loses nothing. */
#define GV_TOL_LOSES 1e-9
/* What of a job's level is left over after those before it, and is rounding. */
#define GV_TOL_LEFT_OVER 1e-10
/* A time after the last job has all: above what rounding of the sum may hide. */
#define GV_TOL_LATER 1e-6
/* sjf: GPUs of a type left, a part of them, that are none: many subtractions. */
#define GV_TOL_LEFT 1e-12
/*
 * min-cost: ratios above the best one at which the sum is tried for a proof; the last
 * two for placements.
 */
#define GV_TOL_ABOVE_1 1e-12
#define GV_TOL_ABOVE_2 1e-11
#define GV_TOL_ABOVE_3 1e-10
#define GV_TOL_ABOVE_4 9e-10
#define GV_TOL_ABOVE_5 1e-8
#define GV_TOL_ABOVE_6 9e-8
/*
 * Where the search for a ratio starts, below the best share's: a single job alone is not
 * cut off.
 */
#define GV_TOL_START 1e-6

/* ---- prove/ and answer/ ---- */

/*
 * Distances of the objective at which a bound is tried: from below rounding to where
 * nothing is proved.
 */
#define GV_TOL_CLOSEST_LOW  1e-16
#define GV_TOL_CLOSEST_HIGH 4e-16
#define GV_TOL_CLOSEST_END  1e-14
#define GV_TOL_CLOSEST_NONE 1e-5
/*
 * What is below 0 by that part of its terms, 1e4 roundings, is so without rounding, too:
 * it adds nothing to a bound, and no exact arithmetic is needed to see it.
 */
#define GV_TOL_CLEARLY 1e-12
/* That much below a limit is at it, in what --explain says. */
#define GV_TOL_BINDS 1e-9
/*
 * A change of the objective by one GPU more that is none: two solutions, each right to
 * GV_TOL_DUAL_GAP or so.
 */
#define GV_TOL_CHANGE 1e-10

#endif
