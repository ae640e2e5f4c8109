#include "draw/scale.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "draw/svg.h"

double
gv_scale_px(const struct gv_scale *s, double v)
{
	double part;

	v = v > s->min ? fmin(v, s->max) : s->min;
	part = s->log ? log(v / s->min) / log(s->max / s->min)
		      : (v - s->min) / (s->max - s->min);
	return s->from_px + part * (s->to_px - s->from_px);
}

struct gv_scale
gv_scale_linear(double most)
{
	int digits;
	double step;

	if (!(most > 0) || !isfinite(most))
		most = 1;
	step = gv_ticks(most, 10, &digits);
	return (struct gv_scale){
	    .max = fmax(step * ceil(most / step * (1 - 1e-9)), step)};
}

struct gv_scale
gv_scale_count(double most)
{
	struct gv_scale s = gv_scale_linear(most);

	s.max = ceil(s.max);
	s.whole = true;
	return s;
}

/* The next of 1, 2, 5 times a power of ten that is not above v, or (up) not below. */
static double
round_to(double v, bool up)
{
	static const double nice[] = {1, 2, 5, 10};
	double unit = pow(10, floor(log10(v) + 1e-12));
	int i;

	if (up) {
		for (i = 0; i < 3 && nice[i] * unit < v * (1 - 1e-12); i++)
			continue;
	} else {
		for (i = 2; i > 0 && nice[i] * unit > v * (1 + 1e-12); i--)
			continue;
	}
	return nice[i] * unit;
}

struct gv_scale
gv_scale_log(double least, double most)
{
	struct gv_scale s = {.min = 1, .max = 10, .log = true};

	if (!(least > 1e-300) || !(most >= least) || !(most < 1e300))
		return s;
	s.min = round_to(least, false);
	s.max = round_to(most, true);
	if (s.min == s.max)
		s.max *= 2;
	return s;
}

char *
gv_show_number(char buf[GV_TICK_LEN], double v)
{
	static const char unit[] = " kMGT";
	double size = fabs(v);
	int i = 0;

	if (size >= 9999.5)
		for (; size >= 999.95 && i < 4; i++)
			size /= 1000;
	snprintf(buf, GV_TICK_LEN, "%s%.4g", v < 0 ? "-" : "", size);
	if (i > 0) {
		size_t len = strlen(buf);

		buf[len] = unit[i];
		buf[len + 1] = '\0';
	}
	return buf;
}

static void
add(struct gv_tick *tick, size_t *n, double value, bool named)
{
	if (*n == GV_TICKS)
		return;
	tick[*n] = (struct gv_tick){.value = value, .named = named};
	gv_show_number(tick[*n].name, value);
	++*n;
}

static size_t
linear_ticks(const struct gv_scale *s, int about, struct gv_tick *tick)
{
	int digits;
	double step = gv_ticks(s->max - s->min, about, &digits);
	double first;
	size_t n = 0;

	if (s->whole && step < 1) {
		step = 1;
		digits = 0;
	}
	first = ceil(s->min / step - 1e-9);
	while ((first + (double)n) * step <= s->max + 1e-9 * step && n < GV_TICKS) {
		double v = (first + (double)n) * step;

		add(tick, &n, v, true);
		if (digits > 0 && s->max < 1e4)
			snprintf(tick[n - 1].name, GV_TICK_LEN, "%.*f", digits, v);
	}
	return n;
}

/* Powers of ten; where these are few, twice and five times them as well. */
static size_t
log_ticks(const struct gv_scale *s, int about, struct gv_tick *tick)
{
	int first = (int)floor(log10(s->min) + 1e-9),
	    last = (int)ceil(log10(s->max) - 1e-9);
	int decades = last - first, every = decades / (about > 0 ? about : 1) + 1, p, m;
	size_t n = 0;

	for (p = first; p <= last; p++) {
		for (m = 1; m < 10; m++) {
			double v = m * pow(10, p);
			bool named = m == 1        ? (p - first) % every == 0
				     : decades < 4 ? m == 2 || m == 5
						   : false;

			if (v < s->min * (1 - 1e-9) || v > s->max * (1 + 1e-9))
				continue;
			if (named || decades <= 7)
				add(tick, &n, v, named);
		}
	}
	return n;
}

size_t
gv_scale_ticks(const struct gv_scale *s, int about, struct gv_tick *tick)
{
	return s->log ? log_ticks(s, about, tick) : linear_ticks(s, about, tick);
}
