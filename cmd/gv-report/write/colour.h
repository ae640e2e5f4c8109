/* The colours of a drawing. */
#ifndef GV_REPORT_COLOUR_H
#define GV_REPORT_COLOUR_H

#include <stdbool.h>
#include <stddef.h>

struct colour {
	char hex[8]; /* "#4e79a7" */
	bool dark;   /* white can be read on it */
};

/*
 * A job's colour, and grey, as painted on a GPU type: strongly on the first
 * type, later ones mixed with more white.  Seven jobs have colours of their own;
 * the next seven take them darker, the next lighter, then they repeat.
 */
struct colour job_colour(size_t job, size_t type);
struct colour grey(size_t type);

#endif
