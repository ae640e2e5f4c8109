/* common/draw: scales, ticks, curves and bars of charts. */
#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fileio.h"
#include "base/strbuf.h"
#include "draw/chart.h"

static bool
near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

/* Every scale holds what it was made for, begins and ends at round numbers, and has ticks. */
static void
test_scales(void)
{
	struct gv_tick tick[GV_TICKS];
	int i, bad = 0;

	for (i = 0; i < 4000; i++) {
		double least = pow(10, (i % 89) / 9.0 - 5),
		       most = least * pow(1.37, i % 61);
		struct gv_scale linear = gv_scale_linear(most);
		struct gv_scale ratio = gv_scale_log(least, most);
		size_t n, k;

		bad += !(linear.max >= most * (1 - 1e-9)) || !(linear.max <= 2.5 * most);
		bad += !(ratio.min <= least * (1 + 1e-9)) ||
		       !(ratio.max >= most * (1 - 1e-9));
		bad += !(ratio.min >= least / 2.6) || !(ratio.max <= most * 2.6);
		n = gv_scale_ticks(&linear, 5, tick);
		bad += n < 2 || n > 12;
		for (k = 1; k < n; k++)
			bad += !(tick[k].value > tick[k - 1].value) || !tick[k].named;
		n = gv_scale_ticks(&ratio, 6, tick);
		if (ratio.max / ratio.min < 1e5)
			bad += n < 2 || fabs(tick[0].value / ratio.min - 1) > 1e-6 ||
			       fabs(tick[n - 1].value / ratio.max - 1) > 1e-6;
		bad += n < 1 || n > GV_TICKS;
		for (k = 1; k < n; k++)
			bad += !(tick[k].value > tick[k - 1].value);
	}
	is_int(bad, 0, "scales hold their numbers, with round ends and rising ticks");
}

/* There is no half a job. */
static void
test_counts(void)
{
	struct gv_tick tick[GV_TICKS];
	int most, about, bad = 0;

	for (most = 1; most < 300; most++)
		for (about = 3; about < 10; about++) {
			struct gv_scale s = gv_scale_count(most);
			size_t n = gv_scale_ticks(&s, about, tick), k;

			bad += !(s.max >= most) || n < 2 || n > 25;
			for (k = 0; k < n; k++)
				bad += tick[k].value != floor(tick[k].value) ||
				       strchr(tick[k].name, '.') != NULL;
		}
	is_int(bad, 0, "what is counted has ticks at whole numbers");
}

static void
test_places(void)
{
	struct gv_tick tick[GV_TICKS];
	struct gv_scale s = {
	    .min = 1, .max = 100, .log = true, .from_px = 10, .to_px = 30};

	ok(near(gv_scale_px(&s, 10), 20), "by ratio");
	ok(near(gv_scale_px(&s, 0), 10) && near(gv_scale_px(&s, 1e9), 30),
	    "outside: the nearer end");
	ok(near(gv_scale_px(&s, NAN), 10), "no number: the beginning");
	s = (struct gv_scale){.min = -0.0004, .max = 1};
	gv_scale_ticks(&s, 5, tick);
	is_str(tick[0].name, "0.0", "a tick just above the beginning is 0, not -0");
	s = (struct gv_scale){.max = 4, .from_px = 30, .to_px = 10};
	ok(near(gv_scale_px(&s, 1), 25), "in proportion, upwards");
	s = gv_scale_linear(NAN);
	ok(s.max == 1, "a scale of no numbers");
	s = gv_scale_log(NAN, NAN);
	ok(s.min == 1 && s.max == 10, "by ratio, a scale of no numbers");
	s = gv_scale_log(5, 5);
	ok(s.max > s.min, "a scale of a single number");
}

static void
test_names(void)
{
	static const struct {
		double v;
		const char *name;
	} of[] = {{0, "0"}, {9999, "9999"}, {10000, "10k"}, {12345, "12.35k"},
	    {-2.5e6, "-2.5M"}, {0.001, "0.001"}, {3e15, "3000T"}, {9999.4, "9999"},
	    {9999.6, "10k"}, {999940, "999.9k"}, {999960, "1M"}, {999.96e6, "1G"},
	    {1e12, "1T"}, {-1, "-1"}};
	char buf[GV_TICK_LEN];
	struct gv_scale s = {.max = 1};
	struct gv_tick tick[GV_TICKS];
	size_t i;

	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		is_str(gv_show_number(buf, of[i].v), of[i].name, "%s", of[i].name);
	gv_scale_ticks(&s, 5, tick);
	is_str(tick[0].name, "0.0", "ticks have as many digits as they need");
}

/* Ends of what lies between such numbers. */
static void
test_ends(void)
{
	struct gv_scale s;
	int v, exponent, bad = 0;

	s = gv_scale_linear(HUGE_VAL);
	ok(s.max == 1, "a scale up to no number");
	ok(near(gv_scale_linear(0).max, 1) && near(gv_scale_linear(-5).max, 1),
	    "nor are those one has a length of");
	ok(near(gv_scale_linear(1 + 1e-12).max, 1), "rounding is no further tick");
	ok(near(gv_scale_linear(1 + 1e-6).max, 1.2), "a millionth is");
	ok(gv_scale_count(0.25).max == 1 && gv_scale_count(3).max == 3,
	    "whole numbers are ends");
	for (exponent = -3; exponent <= 3; exponent++)
		for (v = 1; v < 100; v++) {
			int unit = v < 10 ? 1 : 10;
			int down = v >= 5 * unit ? 5 : v >= 2 * unit ? 2 : 1;
			int up = v <= unit       ? 1
				 : v <= 2 * unit ? 2
				 : v <= 5 * unit ? 5
						 : 10;
			double power = pow(10, exponent);

			s = gv_scale_log(v * power, 100 * power);
			bad += !near(s.min, down * unit * power) ||
			       !near(s.max, 100 * power);
			s = gv_scale_log(power / 10, v * power);
			bad +=
			    !near(s.min, power / 10) || !near(s.max, up * unit * power);
		}
	is_int(bad, 0, "by ratio the next of 1, 2, 5 times powers of ten");
	ok(near(gv_scale_log(1, 2.000001).max, 5), "a millionth is beyond");
	ok(near(gv_scale_log(5, 5).max, 10) && near(gv_scale_log(2, 2).max, 4),
	    "of a single number twice that, where it is an end");
	ok(near(gv_scale_log(1e-297, 1).min, 1e-297), "very small ones");
	ok(near(gv_scale_log(1, 9e299).max, 1e300), "very large ones");
	s = gv_scale_log(1e-300, 100);
	ok(s.min == 1 && s.max == 10, "too small");
	s = gv_scale_log(2, 1e300);
	ok(s.min == 1 && s.max == 10, "too large");
	s = gv_scale_log(5, 2);
	ok(s.min == 1 && s.max == 10, "none");
	s = (struct gv_scale){.min = 2, .max = 6, .from_px = 10, .to_px = 30};
	ok(near(gv_scale_px(&s, 3), 15), "in proportion, not from 0 on");
	ok(gv_scale_px(&s, 2) == 10 && gv_scale_px(&s, 6) == 30, "both ends");
	ok(gv_scale_px(&s, 1) == 10 && gv_scale_px(&s, 7) == 30, "and beyond them");
}

/* Names of ticks; strokes without one are dots. */
static void
ticks_are(struct gv_scale s, int about, const char *want)
{
	struct gv_tick tick[GV_TICKS];
	size_t n = gv_scale_ticks(&s, about, tick), i;
	struct gv_strbuf b = {0};

	for (i = 0; i < n; i++)
		gv_strbuf_fmt(&b, "%s%s", i > 0 && tick[i].named ? " " : "",
		    tick[i].named ? tick[i].name : ".");
	is_str(
	    n > 0 ? b.s : "", want, "about %d ticks from %g to %g", about, s.min, s.max);
	gv_strbuf_free(&b);
}

static void
test_ticks(void)
{
	struct gv_tick tick[GV_TICKS];
	struct gv_scale many = {.min = .001, .max = 1000};

	ticks_are(gv_scale_linear(1), 5, "0.0 0.2 0.4 0.6 0.8 1.0");
	ticks_are(gv_scale_linear(3), 3, "0 1 2 3");
	ticks_are(gv_scale_linear(12000), 4, "0 5000 10k");
	ticks_are(gv_scale_count(.5), 5, "0 1");
	ticks_are(gv_scale_count(3), 10, "0 1 2 3");
	ticks_are((struct gv_scale){.max = 4, .whole = true}, 3, "0 2 4");
	ticks_are((struct gv_scale){.max = 3, .whole = true}, 3, "0 1 2 3");
	ticks_are(
	    (struct gv_scale){.min = 9998.5, .max = 9999.5}, 2, "9998.5 9999.0 9999.5");
	ticks_are((struct gv_scale){.min = 1.0001, .max = 19.999, .log = true}, 5,
	    "2.. 5.... 10");
	ticks_are((struct gv_scale){.min = -3, .max = 5}, 4, "-2 0 2 4");
	ticks_are((struct gv_scale){.min = .3, .max = 1}, 4, "0.4 0.6 0.8 1.0");
	ticks_are(gv_scale_log(1, 10), 0, "1 2.. 5.....");
	ticks_are(gv_scale_log(1, 10), 1, "1 2.. 5.....");
	ticks_are(gv_scale_log(1, 10), 2, "1 2.. 5.... 10");
	ticks_are(gv_scale_log(2, 50), 6, "2.. 5.... 10 20.. 50");
	ticks_are(gv_scale_log(1, 1000), 6,
	    "1 2.. 5.... 10 20.. 50.... 100 200.. 500.... 1000");
	/* from four powers on no others are named, but each has its stroke */
	ticks_are(gv_scale_log(1, 1e4), 4, "1................. 100................. 10k");
	ticks_are(gv_scale_log(1, 1e7), 2,
	    "1................................... 10k"
	    "...........................");
	ticks_are(gv_scale_log(1, 1e8), 4, "1 1000 1M");
	ticks_are(gv_scale_log(1e-3, 1e9), 6, "0.001 1 1000 1M 1G");
	is_int(gv_scale_ticks(&many, 200, tick), GV_TICKS, "no more than there is room");
	ok(near(tick[0].value, 5) && near(tick[GV_TICKS - 1].value, 5 * GV_TICKS),
	    "the first ones");
	many = (struct gv_scale){.min = 1e-50, .max = 1e50, .log = true};
	is_int(gv_scale_ticks(&many, 200, tick), GV_TICKS, "by ratio neither");
}

/* A million points become no more than the pixels hold. */
static void
test_curves(void)
{
	struct gv_strbuf b = {0};
	struct gv_svg s = {.out = gv_out_memory(&b)};
	struct gv_panel p = {
	    .s = &s, .box = {0, 0, 600, 300}, .x = {.max = 1e6}, .y = {.max = 1}};
	struct gv_curve c = {.p = &p, .steps = true};
	struct gv_error e = {0};
	char cls[GV_CLASS_LEN];
	size_t before;
	int i;

	gv_svg_begin(&s, 600, 300, "a chart");
	gv_panel_begin(&p);
	gv_out_flush(s.out);
	before = b.len;
	for (i = 0; i < 1000000; i++)
		gv_curve_point(&c, i, i % 7 / 1e7 + i / 1e6);
	gv_curve_draw(&c, gv_line_class(cls, 9), "<it>");
	gv_svg_close(&s);
	gv_out_close(s.out, &e);
	ok(b.len - before < 40000, "a curve of a million points is short");
	ok(strstr(b.s, "class=\"l2 d3\"") != NULL && strstr(b.s, "&lt;it&gt;") != NULL,
	    "the tenth series has its colour and dashes, titles are escaped");
	gv_strbuf_free(&b);
}

/* Whether one point leaves something to see, as a line or as steps. */
static void
test_dot(bool steps)
{
	struct gv_strbuf b = {0};
	struct gv_svg s = {.out = gv_out_memory(&b)};
	struct gv_panel p = {
	    .s = &s, .box = {0, 0, 600, 300}, .x = {.max = 10}, .y = {.max = 1}};
	struct gv_curve c = {.p = &p, .steps = steps};
	struct gv_error e = {0};
	char cls[GV_CLASS_LEN];
	double x = 0, y = 0, to = 0;
	const char *d;

	gv_svg_begin(&s, 600, 300, "a dot");
	gv_panel_begin(&p);
	gv_curve_point(&c, 5, .5);
	gv_curve_draw(&c, gv_line_class(cls, 0), NULL);
	gv_svg_close(&s);
	gv_out_close(s.out, &e);
	d = strstr(b.s, " d=\"M");
	ok(d != NULL && sscanf(d, " d=\"M%lf %lfH%lf\"", &x, &y, &to) == 3 &&
		to > x + 1 && to < x + 4 && fabs(x - gv_scale_px(&p.x, 5)) < .1 &&
		fabs(y - gv_scale_px(&p.y, .5)) < .1,
	    "a single point is a dot");
	gv_strbuf_free(&b);
}

/* A million points of noise, and one peak that is seen. */
static void
test_noise(void)
{
	struct gv_strbuf b = {0};
	struct gv_svg s = {.out = gv_out_memory(&b)};
	struct gv_panel p = {
	    .s = &s, .box = {0, 0, 600, 300}, .x = {.max = 1e6}, .y = {.max = 1}};
	struct gv_curve c = {.p = &p};
	struct gv_error e = {0};
	char cls[GV_CLASS_LEN];
	char top[32];
	size_t before;
	int i;

	gv_svg_begin(&s, 600, 300, "noise");
	gv_panel_begin(&p);
	gv_out_flush(s.out);
	before = b.len;
	for (i = 0; i < 1000000; i++)
		gv_curve_point(&c, i, i == 777777 ? 1 : .3 + i * 37 % 1000 / 5000.0);
	gv_curve_draw(&c, gv_line_class(cls, 0), NULL);
	gv_svg_close(&s);
	gv_out_close(s.out, &e);
	ok(b.len - before < 100000, "noise of a million points is short");
	snprintf(top, sizeof(top), " %.0fL", p.plot.y);
	ok(strstr(b.s + before, top) != NULL, "and its peak is there");
	gv_strbuf_free(&b);
}

/* Pixels within a path of M, H, V and Z, to the right of least. */
static double
pixels(const char *d, double least)
{
	double x = 0, y = 0, sum = 0;
	char *end;

	for (; *d != 'Z' && *d != '\0'; d = end) {
		double was = x, v = strtod(d + 1, &end);

		if (*d == 'V' || *d == ' ')
			y = v;
		else
			x = v;
		if (*d == 'H')
			sum += y * (fmax(x, least) - fmax(was, least));
	}
	return fabs(sum);
}

/* Every strip of an area is as large as it says, and the path returns to where it began. */
static void
test_area(void)
{
	static const double x[] = {0, 10, 20, 40, 70, 75, 100},
			    low[] = {0, .1, .3, 0, .2, .5},
			    high[] = {.2, .6, .4, 1, .25, .9};
	struct gv_strbuf b = {0};
	struct gv_svg s = {.out = gv_out_memory(&b)};
	struct gv_panel p = {
	    .s = &s, .box = {0, 0, 600, 300}, .x = {.max = 100}, .y = {.max = 1}};
	struct gv_error e = {0};
	double want = 0;
	const char *d;
	int i, bad = 0;

	gv_svg_begin(&s, 600, 300, "an area");
	gv_panel_begin(&p);
	gv_area(&p, "it", NULL, x, low, high, 6);
	gv_area(&p, "none", NULL, x, low, high, 0);
	gv_svg_close(&s);
	gv_out_close(s.out, &e);
	ok(strstr(b.s, "none") == NULL, "no area, no path");
	d = strstr(b.s, "class=\"it\" d=\"");
	if (d != NULL)
		d += strlen("class=\"it\" d=\"");
	for (i = 5; d != NULL && i >= 0; i--) {
		want +=
		    (x[i + 1] - x[i]) * (high[i] - low[i]) / 100 * p.plot.w * p.plot.h;
		bad += fabs(pixels(d, gv_scale_px(&p.x, x[i])) / want - 1) > .02;
	}
	ok(d != NULL && bad == 0, "an area is as large as it says, from right to left");
	ok(d != NULL && d[strcspn(d, "Z\"")] == 'Z', "and closed");
	gv_strbuf_free(&b);
}

static void
test_classes(void)
{
	char cls[49][GV_CLASS_LEN];
	int i, k, same = 0;

	for (i = 0; i < 49; i++)
		for (gv_line_class(cls[i], (size_t)i), k = 0; k < i; k++)
			same += strcmp(cls[i], cls[k]) == 0;
	is_int(same, 0, "49 lines differ");
}

static void
test_legend(void)
{
	struct gv_legend l[40];
	size_t i;

	for (i = 0; i < 40; i++)
		l[i] = (struct gv_legend){"a name of some length", 21, i, i % 2};
	ok(gv_legend(NULL, l, 0, 0, 0, 500) == 0, "no legend, no height");
	ok(gv_legend(NULL, l, 2, 0, 0, 500) == gv_legend(NULL, l, 1, 0, 0, 500),
	    "two names in a line");
	ok(gv_legend(NULL, l, 40, 0, 0, 500) > 5 * gv_legend(NULL, l, 1, 0, 0, 500),
	    "many names take several lines");
}

/* The numbers of an attribute, one after the other; returns how many. */
static size_t
numbers_of(const char *svg, const char *name, double *v, size_t most)
{
	size_t n = 0;

	for (; (svg = strstr(svg, name)) != NULL && n < most; svg++)
		v[n++] = atof(svg + strlen(name));
	return n;
}

/* Names stand beside their samples, a bit below their middle, in each line of the legend. */
static void
test_legend_lines(void)
{
	struct gv_strbuf b = {0};
	struct gv_error e = {0};
	struct gv_svg s = {.out = gv_out_memory(&b)};
	struct gv_legend l[12];
	double at[12], text[12];
	size_t n, i, wrong = 0;

	for (i = 0; i < 12; i++)
		l[i] = (struct gv_legend){"a name of some length", 21, i, false};
	gv_legend(&s, l, 12, 10, 50, 500);
	ok(gv_out_close(s.out, &e) == 0, "a legend is drawn");
	n = numbers_of(b.s, " y1=\"", at, 12);
	is_int(n, 12, "with a sample each");
	is_int(numbers_of(b.s, " y=\"", text, 12), 12, "and a name");
	for (i = 0; i < n; i++)
		wrong += text[i] != at[i] + 4;
	is_int(wrong, 0, "each at the height of its sample");
	ok(at[0] == 50 && at[11] > 50, "from the top on, in lines");
	gv_strbuf_free(&b);
}

int
main(void)
{
	test_scales();
	test_counts();
	test_places();
	test_names();
	test_ends();
	test_ticks();
	test_curves();
	test_dot(false);
	test_dot(true);
	test_noise();
	test_area();
	test_classes();
	test_legend();
	test_legend_lines();
	return done_testing();
}
