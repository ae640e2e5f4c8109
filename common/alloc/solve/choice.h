/*
 * Which solver is tried first, and how long: a rule drawn from the table that
 * tests/bench/gv-alloc.choice.c measures.
 */
#ifndef GV_ALLOC_CHOICE_H
#define GV_ALLOC_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether prices are tried before the program of all, which takes about so many operations:
 * where those are few neither takes long, and the program's answer is a vertex.
 */
bool gv_prices_first(double program);

/*
 * How many operations the search for prices may take where the program takes that many: nine
 * tenths of them.  Then, if it has not ended, the program follows, and both together take at
 * most twice as long as the better one: whichever that is, about as much was needed (the
 * bound of every choice between going on and changing over, Karlin et al. 1988).
 */
double gv_prices_effort(double program);

#endif
