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
 * How many operations the search for prices may take where the program takes that many:
 * half of them.  It either ends much sooner or takes much longer; then the program
 * follows, and both together take half as long again as that alone.
 */
double gv_prices_effort(double program);

#endif
