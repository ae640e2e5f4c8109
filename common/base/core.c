#define _GNU_SOURCE /* sched_setaffinity */
#include "base/core.h"

#ifdef __linux__
#include <sched.h>
#include <stdbool.h>
#include <string.h>

static bool
allowed(uint64_t *set)
{
	memset(set, 0, GV_CORE_WORDS * sizeof(*set));
	return sched_getaffinity(0, GV_CORE_WORDS * sizeof(*set), (cpu_set_t *)set) == 0;
}

static void
allow(const uint64_t *set)
{
	(void)sched_setaffinity(0, GV_CORE_WORDS * sizeof(*set), (const cpu_set_t *)set);
}

/* Whether a set has no other core. */
static bool
is_alone(const uint64_t *set, int at)
{
	uint64_t rest = set[at / 64] & ~(UINT64_C(1) << at % 64);
	int i;

	for (i = 0; i < GV_CORE_WORDS; i++)
		if (i != at / 64)
			rest |= set[i];
	return rest == 0;
}

void
gv_core_stay(struct gv_core *c)
{
	uint64_t own[GV_CORE_WORDS] = {0};
	int at = sched_getcpu();

	c->at = -1;
	if (at < 0 || at >= 64 * GV_CORE_WORDS || !allowed(c->allowed) ||
	    is_alone(c->allowed, at))
		return;
	own[at / 64] = UINT64_C(1) << at % 64;
	allow(own);
	c->at = at;
}

void
gv_core_leave(struct gv_core *c)
{
	uint64_t now[GV_CORE_WORDS];

	if (c->at != -1 && allowed(now) && is_alone(now, c->at))
		allow(c->allowed);
	c->at = -1;
}
#else
void
gv_core_stay(struct gv_core *c)
{
	c->at = -1;
}

void
gv_core_leave(struct gv_core *c)
{
	c->at = -1;
}
#endif
