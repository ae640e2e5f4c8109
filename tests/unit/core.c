/* A thread that stays on its core, and runs wherever it might again. */
#define _GNU_SOURCE /* sched_setaffinity */
#include "base/core.h"
#include "tap.h"

#ifdef __linux__
#include <sched.h>

static int
allowed(cpu_set_t *set)
{
	CPU_ZERO(set);
	return sched_getaffinity(0, sizeof(*set), set) == 0 ? CPU_COUNT(set) : 0;
}

/* a set of one core, the first of all or another one */
static cpu_set_t
one_of(const cpu_set_t *all, int but)
{
	cpu_set_t one;
	int i = 0;

	while (!CPU_ISSET(i, all) || i == but)
		i++;
	CPU_ZERO(&one);
	CPU_SET(i, &one);
	return one;
}

int
main(void)
{
	struct gv_core c;
	cpu_set_t all, now, one;
	int i, at, n = allowed(&all);

	for (i = 0; i < 3; i++) {
		gv_core_stay(&c);
		at = sched_getcpu();
		ok(allowed(&now) == 1 && CPU_ISSET(at, &now), "it stays where it is");
		gv_core_leave(&c);
		ok(allowed(&now) == n && CPU_EQUAL(&all, &now),
		    "and may go where it might");
	}
	gv_core_leave(&c);
	ok(allowed(&now) == n && CPU_EQUAL(&all, &now), "once more is nothing");

	/* whoever may run on one core only */
	one = one_of(&all, -1);
	sched_setaffinity(0, sizeof(one), &one);
	gv_core_stay(&c);
	gv_core_leave(&c);
	ok(allowed(&now) == 1 && CPU_EQUAL(&one, &now), "one of a core keeps it");

	/* what was said meanwhile counts */
	sched_setaffinity(0, sizeof(all), &all);
	gv_core_stay(&c);
	one = n > 1 ? one_of(&all, c.at) : all;
	sched_setaffinity(0, sizeof(one), &one);
	gv_core_leave(&c);
	ok(allowed(&now) > 0 && CPU_EQUAL(&one, &now),
	    "what others said meanwhile is kept");
	return done_testing();
}
#else
int
main(void)
{
	struct gv_core c;

	gv_core_stay(&c);
	gv_core_leave(&c);
	ok(c.at == -1, "nothing, where cores are not told");
	return done_testing();
}
#endif
