/* What a pass takes: the middle one of those for which nothing was waited for. */
#include "tap.h"

#include <math.h>

#include "gv-train/pipeline/laps.h"

static void
is_typical(const struct passes *p, double want, const char *name)
{
	double got = passes_typical_s(p);

	ok(fabs(got - want) <= 1e-12 * want, "%s: %g, not %g", name, got, want);
}

int
main(void)
{
	static struct passes p;
	int i;

	is_typical(&p, 0, "none");
	passes_add(&p, 3, false);
	is_typical(&p, 3, "one");
	passes_add(&p, 1, true);
	is_typical(&p, 2 * 2, "two, of which one was waited for: few");
	passes_add(&p, 100, true);
	is_typical(&p, 3 * 3, "the middle one of three");
	for (i = 0; i < 14; i++)
		passes_add(&p, 3, false);
	for (i = 0; i < 40; i++)
		passes_add(&p, 5, true);
	is_typical(&p, 57 * 5, "15 without a wait are too few");
	passes_add(&p, 4, false);
	is_typical(&p, 58 * 3, "16 are not: all as long as the middle one of these");
	passes_forget(&p);
	is_typical(&p, 0, "forgotten");
	for (i = 0; i < 2 * LAPS_KEPT; i++)
		passes_add(&p, i < LAPS_KEPT ? 9 : 1 + i % 3, i % 2 == 0);
	is_typical(&p, 2 * LAPS_KEPT * 6, "the last 1,024 of them, 512 of each half");
	for (i = 0; i < 512; i++)
		passes_add(&p, 2, false);
	is_typical(&p, (2 * LAPS_KEPT + 512) * 2, "are kept");
	return done_testing();
}
