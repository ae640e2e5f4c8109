#include "nn/cpu/choice.h"

enum {
	STEPS = GV_CPU_CHOICE_STEPS,
	SETTLE = 3, /* caches take other items, threads wake */
	FIRST = 16,
	SOON = 128,
	LATE = 4096,
	LATE_ALONE = 512 /* to share costs less in vain than it may bring */
};
#define LONG_S 20e-3 /* steps of large loops, by which a trial would cost much */
/* For less nothing is changed; what is cut for threads takes one a little longer. */
#define GAIN_ALONE  .9
#define GAIN_SHARED .98

static double
median(const double *v)
{
	double sorted[STEPS] = {0};
	size_t i, k;

	for (i = 0; i < STEPS; i++) {
		for (k = i; k > 0 && sorted[k - 1] > v[i]; k--)
			sorted[k] = sorted[k - 1];
		sorted[k] = v[i];
	}
	return sorted[STEPS / 2];
}

static void
go_on(struct gv_cpu_choice *c, bool trying, bool alone)
{
	c->trying = trying;
	c->alone = alone;
	c->steps = 0;
}

static void
begin_trial(struct gv_cpu_choice *c)
{
	c->usual_s = median(c->last_s);
	go_on(c, true, !c->alone);
}

static void
end_trial(struct gv_cpu_choice *c)
{
	double gain = c->alone ? GAIN_ALONE : GAIN_SHARED;
	bool better = median(c->last_s) < gain * c->usual_s;
	size_t late;

	go_on(c, false, better ? c->alone : !c->alone);
	late = c->alone ? LATE_ALONE : LATE;
	c->pause = better || c->pause < SOON ? SOON
		   : c->pause < late         ? 2 * c->pause
					     : late;
}

void
gv_cpu_choice_step(struct gv_cpu_choice *c, double s)
{
	size_t pause = c->pause == 0 ? FIRST : c->pause;

	c->last_s[c->steps++ % STEPS] = s;
	if (!c->trying && !c->alone && s >= LONG_S)
		c->steps = 0;
	else if (c->trying && c->steps >= SETTLE + STEPS)
		end_trial(c);
	else if (!c->trying && c->steps >= pause)
		begin_trial(c);
}
