#include "colour.h"

#include <stdio.h>

enum { CYCLE = 7 };

/*
 * A colour as painted on a type: the first type strongly, later ones mixed
 * with more white.
 */
static struct colour
on_type(const unsigned char rgb[3], size_t type)
{
	static const unsigned strength[] = {100, 60, 36, 22};
	unsigned c[3], i;
	struct colour r;

	for (i = 0; i < 3; i++)
		c[i] = 255 - (255u - rgb[i]) * strength[type < 3 ? type : 3] / 100;
	snprintf(
	    r.hex, sizeof(r.hex), "#%02x%02x%02x", c[0] & 255, c[1] & 255, c[2] & 255);
	r.dark = 299 * c[0] + 587 * c[1] + 114 * c[2] < 150000;
	return r;
}

struct colour
job_colour(size_t job, size_t type)
{
	/* those of draw/palette.h */
	static const unsigned char base[CYCLE][3] = {{0, 114, 178}, {213, 94, 0},
	    {0, 158, 115}, {204, 121, 167}, {230, 159, 0}, {86, 180, 233},
	    {108, 117, 125}};
	const unsigned char *b = base[job % CYCLE];
	unsigned char rgb[3];
	int i;

	/* further jobs take the same colours, darker, then lighter */
	for (i = 0; i < 3; i++)
		rgb[i] =
		    (unsigned char)(job / CYCLE % 3 == 0   ? b[i]
				    : job / CYCLE % 3 == 1 ? b[i] * 2 / 3
							   : b[i] + (255 - b[i]) * 2 / 5);
	return on_type(rgb, type);
}

struct colour
grey(size_t type)
{
	static const unsigned char rgb[3] = {116, 128, 145};

	return on_type(rgb, type);
}
