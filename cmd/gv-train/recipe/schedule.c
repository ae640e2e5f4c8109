#include "gv-train/recipe/schedule.h"

#include <inttypes.h>
#include <math.h>

#include "base/num.h"

const char *const schedule_names[SCHEDULES] = {
    "constant", "step", "linear", "polynomial", "cosine", "one-cycle"};

static const double CYCLE_UP = 0.3;
static const double CYCLE_START = 1.0 / 25, CYCLE_END = 1.0 / 25 / 1e4;

static bool
has_total(const struct schedule *s)
{
	return s->kind != SCHEDULE_CONSTANT && s->kind != SCHEDULE_STEP;
}

int
schedule_complete(
    struct schedule *s, uint64_t steps, const char *what, struct gv_error *e)
{
	bool cycle;

	if (s->kind == SCHEDULE_CONSTANT && s->step > 0)
		s->kind = SCHEDULE_STEP;
	cycle = s->kind == SCHEDULE_ONE_CYCLE;
	if (s->kind == SCHEDULE_STEP && s->step == 0)
		return gv_error_set(
		    e, "%s: the schedule \"step\" needs lr-step, its steps", what);
	if (s->total == 0)
		s->total = steps;
	if (has_total(s) && s->warmup > s->total)
		return gv_error_set(e,
		    "%s: a warm-up of %llu steps, the schedule has %llu", what,
		    (unsigned long long)s->warmup, (unsigned long long)s->total);
	if (isnan(s->start))
		s->start =
		    cycle ? CYCLE_START : 1 / (double)(s->warmup > 0 ? s->warmup : 1);
	if (isnan(s->end))
		s->end = cycle ? CYCLE_END : 0;
	return 0;
}

/* ---- functions of one number, the same bits with every library ---- */

/* sin(x) and cos(x) for x from 0 to pi / 4, to the last digit but one */
static double
small_sine(double x)
{
	double term = x, sum = x;
	int k;

	for (k = 3; k < 20; k += 2) {
		term *= -x * x / (k * (k - 1));
		sum += term;
	}
	return sum;
}

static double
small_cosine(double x)
{
	double term = 1, sum = 1;
	int k;

	for (k = 2; k < 20; k += 2) {
		term *= -x * x / (k * (k - 1));
		sum += term;
	}
	return sum;
}

/* cos(pi x), x from 0 to 1 */
static double
cosine(double x)
{
	static const double pi = 3.14159265358979323846;

	if (x > 0.5)
		return -cosine(1 - x);
	return x > 0.25 ? small_sine(pi * (0.5 - x)) : small_cosine(pi * x);
}

/* base^n */
static double
power_of(double base, uint64_t n)
{
	double v = 1;

	for (; n > 0; n >>= 1) {
		if (n & 1)
			v *= base;
		base *= base;
	}
	return v;
}

static double
power(double base, double exponent)
{
	if (exponent == floor(exponent) && exponent <= 0x1p20)
		return power_of(base, (uint64_t)exponent);
	return pow(base, exponent);
}

/* ---- rates ---- */

/* From one factor to another by half a cosine, at done of 0..1 */
static double
anneal(double from, double to, double done)
{
	return to + (from - to) / 2 * (1 + cosine(done));
}

static double
cycle(const struct schedule *s, uint64_t t)
{
	double total = (double)s->total;
	double top = (s->warmup > 0 ? (double)s->warmup : CYCLE_UP * total) - 1;
	double last = total - 1, at = (double)t;

	if (at <= top)
		return top > 0 ? anneal(s->start, 1, at / top) : 1;
	if (at >= last)
		return s->end;
	return anneal(1, s->end, (at - top) / (last - top));
}

/* Behind the warm-up: the factor at update t of total. */
static double
decay(const struct schedule *s, uint64_t t, uint64_t total)
{
	double left;

	if (s->kind == SCHEDULE_CONSTANT)
		return 1;
	if (s->kind == SCHEDULE_STEP)
		return power_of(s->gamma, t / s->step);
	if (t >= total)
		return s->end;
	left = 1 - (double)t / (double)total;
	if (s->kind == SCHEDULE_COSINE)
		return anneal(1, s->end, (double)t / (double)total);
	return s->end +
	       (1 - s->end) * (s->kind == SCHEDULE_LINEAR ? left : power(left, s->power));
}

double
schedule_rate(const struct schedule *s, double lr, uint64_t t)
{
	if (s->kind == SCHEDULE_ONE_CYCLE)
		return lr * cycle(s, t);
	if (t < s->warmup)
		return lr * (s->start + (1 - s->start) * (double)t / (double)s->warmup);
	return lr * decay(s, t - s->warmup, s->total - s->warmup);
}

/* ---- what a checkpoint must agree with ---- */

static void
add(struct gv_strbuf *text, const char *name, double v)
{
	char buf[GV_NUM_LEN];

	gv_format_double(buf, v);
	gv_strbuf_fmt(text, " %s=%s", name, buf);
}

void
schedule_describe(const struct schedule *s, struct gv_strbuf *text)
{
	bool cycles = s->kind == SCHEDULE_ONE_CYCLE;

	if (s->kind == SCHEDULE_STEP) {
		gv_strbuf_fmt(text, " lr_step=%" PRIu64, s->step);
		add(text, "lr_gamma", s->gamma);
	} else if (s->kind != SCHEDULE_CONSTANT) {
		gv_strbuf_fmt(text, " lr_schedule=%s lr_total=%" PRIu64,
		    schedule_names[s->kind], s->total);
		add(text, "lr_end", s->end);
		if (s->kind == SCHEDULE_POLYNOMIAL)
			add(text, "lr_power", s->power);
	}
	if (s->warmup > 0)
		gv_strbuf_fmt(text, " lr_warmup=%" PRIu64, s->warmup);
	if (s->warmup > 0 || cycles)
		add(text, "lr_start", s->start);
}
