/* The colours of jobs and of GPU types in drawings: told apart, lighter on slower types. */
#include "tap.h"

#include <string.h>

#include "gv-report/write/colour.h"

enum { JOBS = 21, TYPES = 4 };

static void
parts_of(struct colour c, unsigned rgb[3])
{
	if (c.hex[0] != '#' || strlen(c.hex) != 7 ||
	    sscanf(c.hex + 1, "%2x%2x%2x", &rgb[0], &rgb[1], &rgb[2]) != 3)
		memset(rgb, 0, 3 * sizeof(*rgb));
}

/* No part is darker than before, and some are lighter. */
static bool
is_lighter(const unsigned *a, const unsigned *than)
{
	return a[0] >= than[0] && a[1] >= than[1] && a[2] >= than[2] &&
	       a[0] + a[1] + a[2] > than[0] + than[1] + than[2];
}

/* Whether white is read better on it than black, by what is seen of its parts. */
static bool
is_dark(const unsigned *rgb)
{
	return .299 * rgb[0] + .587 * rgb[1] + .114 * rgb[2] < 150;
}

static void
test_types(void)
{
	size_t job, type, other, wrong = 0, shades = 0, same = 0;

	for (job = 0; job <= JOBS; job++) /* the last: grey */
		for (type = 0; type < TYPES; type++) {
			struct colour c = job < JOBS ? job_colour(job, type) : grey(type);
			struct colour next =
			    job < JOBS ? job_colour(job, type + 1) : grey(type + 1);
			unsigned a[3], b[3];

			parts_of(c, a);
			parts_of(next, b);
			wrong += type + 1 < TYPES ? !is_lighter(b, a)
						  : strcmp(c.hex, next.hex) != 0;
			shades += c.dark != is_dark(a);
			for (other = 0; other < job && job < JOBS; other++)
				same += strcmp(c.hex, job_colour(other, type).hex) == 0;
		}
	is_int(
	    (long long)wrong, 0, "each type is lighter than the one before, up to four");
	is_int((long long)shades, 0, "what is dark takes white letters");
	is_int((long long)same, 0, "%d jobs have colours of their own", JOBS);
	/* by hand: that much of the way from white, 255 - (255 - v) * 60 / 100 */
	is_str(job_colour(0, 0).hex, "#0072b2", "the first colour");
	is_str(job_colour(0, 1).hex, "#66abd1", "and its second shade");
	is_str(job_colour(7, 0).hex, "#004c76", "darker the second time");
	is_str(job_colour(14, 0).hex, "#66aad0", "lighter the third");
	is_str(job_colour(21, 0).hex, "#0072b2", "then again");
	is_str(grey(0).hex, "#748091", "grey");
}

int
main(void)
{
	test_types();
	return done_testing();
}
