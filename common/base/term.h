/* The terminal that standard output may be. */
#ifndef GV_BASE_TERM_H
#define GV_BASE_TERM_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Columns of the terminal on standard output: COLUMNS where that is a number,
 * else what the terminal says, else 80.  0 where it is no terminal: then nothing
 * is fitted.
 */
size_t gv_term_width(void);

/* Whether colour may be used there: a terminal, without NO_COLOR, not TERM=dumb. */
bool gv_term_colour(void);

#endif
