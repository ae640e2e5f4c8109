#include "net/sign.h"

#include <math.h>

/* What two clocks read one after the other can seem to have computed, in ticks. */
enum { NOISE = 1 };

/* Parts of the silence: it was asked at a quarter of it, and answers at once if it can. */
static const double owes = .5, rests = .625;

void
gv_sign_take(
    struct gv_sign *s, int waits_for, double waited_s, uint32_t ticks, double now)
{
	bool works = waits_for < 0;

	if (works && (!s->worked || ticks - s->ticks > NOISE)) {
		s->ticks = ticks;
		s->worked_s = now;
	}
	s->worked = works;
	s->waits_for = works ? -1 : waits_for;
	s->waited_s = waited_s;
	s->asked_s = 0;
}

void
gv_sign_forgive(struct gv_sign *s, double now)
{
	if (s->asked_s > 0)
		s->asked_s = now;
	if (s->worked)
		s->worked_s = now;
}

enum gv_blame
gv_sign_judge(const struct gv_sign *sign, int world, int own, int peer, double silence_s,
    double now, int *culprit)
{
	bool long_ago = true, twice = true;
	int x = peer, steps;

	for (steps = 0; x != own && steps < world; steps++) {
		const struct gv_sign *s = &sign[x];

		*culprit = x;
		if (s->unknown)
			break;
		if (s->asked_s > 0 &&
		    now - fmax(s->asked_s, s->heard_s) >= owes * silence_s)
			return GV_BLAME_SILENT;
		if (s->asked_s > 0 || (s->waits_for < 0 && !s->worked))
			return GV_BLAME_NONE;
		if (s->waits_for < 0)
			return now - s->worked_s >= rests * silence_s ? GV_BLAME_HUNG
								      : GV_BLAME_NONE;
		long_ago = long_ago && s->waited_s >= silence_s;
		twice = twice && s->waited_s >= 2 * silence_s;
		x = s->waits_for;
	}
	*culprit = peer;
	return twice || (long_ago && !sign[x].unknown) ? GV_BLAME_CIRCLE : GV_BLAME_NONE;
}
