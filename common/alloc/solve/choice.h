/*
 * Which solver is tried first, and how long: a rule drawn from the table that
 * tests/bench/gv-alloc.choice.c measures.
 */
#ifndef GV_ALLOC_CHOICE_H
#define GV_ALLOC_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether the linear program of all is solved whole, which takes about so many operations:
 * where those are few nothing takes long, and its answer is a vertex.
 */
bool gv_choice_whole(double program);

/*
 * How many operations the search for prices of n jobs on m types may take where the
 * interior-point method, which follows, takes so many.  Where there are few types the
 * search is much the faster; it then may take nine tenths of that, so that both together take
 * at most twice as long as the better one, whichever that is (the bound of every choice
 * between going on and changing over, Karlin et al. 1988).  Where there are many it is only
 * tried for a while, for GPUs may be plenty and prices 0, unless jobs are few.
 * sum: of a sum, not a level.  scarce: they are not.  many: programs like this one follow or
 * came before it; near known prices a search takes a fraction.
 */
double gv_choice_prices_effort(
    size_t n, size_t m, bool sum, double interior, bool scarce, bool many);

#endif
