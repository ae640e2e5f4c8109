#include "progress.h"

#include <math.h>
#include <stdio.h>

static const double WINDOW_S = 5;

/* Rates of short times count as much as they last. */
static void
look(struct progress *p, const struct progress_now *now)
{
	double passed = now->now_s - p->at_s, rate, part;

	if (p->at_s > 0 && passed > 0 && now->step > p->step) {
		rate = (double)(now->step - p->step) / passed;
		part = p->steps_per_s > 0 && passed < WINDOW_S ? passed / WINDOW_S : 1;
		p->steps_per_s += part * (rate - p->steps_per_s);
	}
	p->at_s = now->now_s;
	p->step = now->step;
}

static void
duration(char *s, size_t len, double seconds)
{
	unsigned long long all = (unsigned long long)seconds;

	if (seconds < 60)
		snprintf(s, len, "%llu s", all);
	else if (seconds < 3600)
		snprintf(s, len, "%llu min %llu s", all / 60, all % 60);
	else if (seconds < 86400)
		snprintf(s, len, "%llu h %llu min", all / 3600, all / 60 % 60);
	else
		snprintf(s, len, "%llu d %llu h", all / 86400, all / 3600 % 24);
}

void
progress_text(char *line, struct progress *p, const struct progress_now *now)
{
	double least = (double)INFINITY, most = -(double)INFINITY, left, rate;
	size_t at, b, active = 0, room = PROGRESS_LEN;
	char time[40];

	look(p, now);
	for (b = 0; b < now->models; b++) {
		if (!isfinite(now->loss[b]))
			continue;
		active++;
		least = fmin(least, now->loss[b]);
		most = fmax(most, now->loss[b]);
	}
	at = (size_t)snprintf(line, room, "step %llu of %llu",
	    (unsigned long long)now->step, (unsigned long long)now->last);
	if (active == 1)
		at += (size_t)snprintf(line + at, room - at, ", loss %.4g", least);
	else if (active > 1)
		at += (size_t)snprintf(line + at, room - at,
		    ", losses %.4g to %.4g of %zu models", least, most, active);
	if (!(p->steps_per_s > 0) || now->last < now->step)
		return;
	left = (double)(now->last - now->step) / p->steps_per_s;
	duration(time, sizeof(time), left < 1e9 ? left : 1e9);
	rate = p->steps_per_s * (double)now->batch * (double)active;
	snprintf(line + at, room - at,
	    rate < 100 ? ", %.3g samples/s, %s left" : ", %.0f samples/s, %s left", rate,
	    time);
}
