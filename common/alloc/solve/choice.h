/*
 * Which solver is tried first, and how long: a rule drawn from the table that
 * tests/bench/gv-alloc.choice.c measures.
 */
#ifndef GV_ALLOC_CHOICE_H
#define GV_ALLOC_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether prices are tried before the program of all, n rows of jobs. */
bool gv_prices_first(size_t n);

/*
 * How many operations the search for prices may take where the program takes that many:
 * half of them.  It either ends much sooner or takes much longer; then the program
 * follows, and both together take half as long again as that alone.
 */
double gv_prices_effort(double program);

#endif
