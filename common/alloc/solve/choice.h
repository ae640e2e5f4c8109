/*
 * Which solver is tried first, and how long: a rule drawn from the table that
 * tests/bench/gv-alloc.choice.c measures.
 */
#ifndef GV_ALLOC_CHOICE_H
#define GV_ALLOC_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

#include "alloc/problem/problem.h"

/*
 * Whether the linear program of all is solved whole, which takes about so many operations:
 * where those are few nothing takes long, and its answer is a vertex.
 */
bool gv_choice_whole(double program);

/* What runs short where jobs take what they would rather have. */
struct gv_choice_short {
	size_t types;
	double
	    part; /* of what all take: it is not of the type that is worth most to them */
};

/*
 * The jobs in turn take what is left of the type that is worth most to them, and what they miss
 * of the next: about as many types as run short have a price.
 *
 *	worth  [n][m] of a share; <= 0 = none is taken
 *	level  what a job takes is worth so much; INFINITY = it takes all its time
 */
struct gv_choice_short gv_choice_short(
    const struct gv_problem *p, const double *worth, double level);

/*
 * Whether GLPK follows the search for prices of n jobs on m types, and not the interior-point
 * method: what they take, about, is program and interior.  Of jobs that are few it has few
 * rows, however many the types.
 */
bool gv_choice_simplex_second(size_t n, size_t m, double program, double interior);

/*
 * How many operations the search for prices of n jobs on m types may take where the method
 * that follows takes next.  Where there are few types, or few of them run short, the
 * search is much the faster; it then may take nine tenths of that, so that both together take
 * at most twice as long as the better one, whichever that is (the bound of every choice
 * between going on and changing over, Karlin et al. 1988).  Otherwise it is only tried for a
 * while, for prices may be 0 all the same; for longer where the search of a sum of many types may
 * be quick.  Near its end a search takes a quarter more, and both then up to 2.1 times as long.
 * sum: of a sum, not a level.  missing: of gv_choice_short(), NULL = not known.  many: programs
 * like this one follow or came before it, near known prices a search takes a fraction; or no
 * second program follows.
 */
double gv_choice_prices_effort(size_t n, size_t m, bool sum, double next,
    const struct gv_choice_short *missing, bool many);

#endif
