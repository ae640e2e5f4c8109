/* Drawn panels, curves, legends, bars and texts are drawn as before. */
#include "tap.h"

#include <string.h>

#include "draw/chart.h"
#include "draw/palette.h"
#include "draw/text.h"
#include "draws.h"
#include "recorded_out.h"

static const char *const words[] = {"a", "", "first run", "<&>\"'", "\xc3\xbc\xc3\xb6",
    "x\xff\xfey", "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", "e\xcc\x81", "\x01\x7f\t\n",
    "a name that is longer than there is room for in most of the places, and that ends",
    "\xf0\x9f\x98\x80 smiles", "\xef\xbf\xbe", "wwwwiiii", "\xe2\x80\x8b", "\xed\xa0\x80",
    "0123456789012345678901234567890123456789"};

enum { WORDS = sizeof(words) / sizeof(words[0]), POINTS = 400 };

static const char *
word(void)
{
	return words[below(WORDS)];
}

/* Of many sizes, often round. */
static double
drawn_size(void)
{
	static const double round_[] = {
	    0, 1, .5, 2, 5, 10, 9999, 10000, 999.95, 1e16, .001, 3};
	size_t kind = below(4);
	double part = uniform();
	int power = (int)below(40) - 20;

	return kind == 0   ? round_[below(12)]
	       : kind == 1 ? ldexp(1 + part, power)
	       : kind == 2 ? 100 * part
			   : (double)below(3000);
}

static struct gv_scale
drawn_scale(void)
{
	double a = drawn_size(), b = drawn_size();
	size_t kind = below(7);

	return kind == 0   ? gv_scale_linear(below(9) == 0 ? NAN : a)
	       : kind == 1 ? gv_scale_count(a)
	       : kind == 2 ? gv_scale_log(a * 1e-3, b)
	       : kind == 3 ? gv_scale_log(fmin(a, b), fmax(a, b))
	       : kind == 4 ? gv_scale_log(a, a * (double)(1 + below(2000)))
	       : kind == 5 ? (struct gv_scale){.max = (double)(1 + below(30)) - 4e-4}
			   : (struct gv_scale){.min = fmin(a, b),
				 .max = fmax(a, b) + 1,
				 .whole = below(2) == 0};
}

/* ---- scales ---- */

static void
ask_scales(struct recorded *r)
{
	struct gv_scale s = drawn_scale();
	struct gv_tick tick[GV_TICKS];
	size_t n = gv_scale_ticks(&s, (int)below(14), tick), i;
	char buf[GV_TICK_LEN];
	int digits, k;
	double v;

	recorded_rounded(r, s.min, 12);
	recorded_rounded(r, s.max, 12);
	recorded_whole(r, (long long)n);
	for (i = 0; i < n; i++) {
		recorded_rounded(r, tick[i].value, 9);
		recorded_whole(r, tick[i].named);
		recorded_text(r, tick[i].name);
	}
	s.from_px = (double)below(90);
	s.to_px = (double)below(900);
	for (k = 0; k < 4; k++) {
		v = drawn_size();
		recorded_rounded(r, gv_scale_px(&s, k == 0 ? -v : v), 9);
		v = drawn_size();
		recorded_text(r, gv_show_number(buf, k == 1 ? -v : v * 1000));
		v = drawn_size();
		recorded_rounded(r, gv_ticks(v, 1 + (int)below(12), &digits), 9);
		recorded_whole(r, digits);
	}
}

/* ---- panels ---- */

static void
put_curve(const struct gv_panel *p, size_t series)
{
	struct gv_curve c = {.p = p, .steps = below(2) == 0};
	size_t n = below(3) == 0 ? below(3) : below(POINTS), i;
	double x = p->x.min, most = p->y.max * (below(4) == 0 ? 1.2 : 1);
	char cls[GV_CLASS_LEN];

	for (i = 0; i < n; i++) {
		double step = uniform(), y = below(3) == 0 ? .5 : uniform();

		if (p->x.log)
			x *= 1 + step / 10;
		else
			x += (p->x.max - p->x.min) * 2 * step / (double)n;
		if (below(6) > 0)
			gv_curve_point(&c, x, y * most);
		else
			gv_curve_point(&c, x, y * y * y * most);
	}
	gv_curve_draw(&c, gv_line_class(cls, series), below(3) == 0 ? NULL : word());
}

static void
put_area(const struct gv_panel *p, size_t series)
{
	double x[POINTS + 1], low[POINTS], high[POINTS];
	size_t n = below(3) == 0 ? below(4) : below(POINTS), i;
	const double steps[] = {0, .2, .7, 1};

	for (i = 0; i <= n; i++)
		x[i] = p->x.min + (p->x.max - p->x.min) * (double)i / (double)(n + 1);
	for (i = 0; i < n; i++) {
		low[i] = p->y.max / 4 * steps[below(4)];
		high[i] = low[i] + p->y.max / 2 * steps[below(4)];
	}
	gv_area(p, gv_fill_class(series), word(), x, low, high, n);
}

static void
ask_panel(struct recorded *r)
{
	struct gv_svg s = {.out = answer_begin()};
	struct gv_panel p = {.s = &s};
	bool in_page = below(4) > 0, plain = below(2) == 0;
	size_t n = below(3), i;

	gv_chart_begin(&s, 400, 300, word(), in_page, plain ? NULL : ".a{b:c}");
	p.x = drawn_scale();
	p.y = drawn_scale();
	p.box.x = (double)below(50);
	p.box.y = (double)below(50);
	p.box.w = 80 + (double)below(900);
	p.box.h = 60 + (double)below(300);
	p.title = below(3) == 0 ? NULL : word();
	p.note = below(3) == 0 ? "a note" : NULL;
	if (p.note != NULL && below(2) == 0)
		p.title = words[9];
	p.x_name = below(3) == 0 ? NULL : word();
	p.y_name = below(3) == 0 ? NULL : word();
	gv_panel_begin(&p);
	for (i = 0; i < n; i++)
		put_curve(&p, below(60));
	if (!p.x.log && below(2) == 0)
		put_area(&p, below(20));
	if (below(3) == 0)
		gv_rule_x(&p, below(2) == 0 ? .7 * p.x.max : drawn_size(), "a rule");
	gv_chart_end(&s);
	answer_end(r);
}

static void
ask_legend(struct recorded *r)
{
	struct gv_svg s = {.out = answer_begin()};
	struct gv_legend l[9];
	size_t n = below(10), i;
	double w = 100 + (double)below(900), height;

	for (i = 0; i < n; i++) {
		l[i] = (struct gv_legend){.name = word()};
		l[i].series = below(60);
		l[i].area = below(3) == 0;
		l[i].len = strlen(l[i].name);
	}
	height = gv_legend(&s, l, n, 7, 9, w);
	recorded_double(r, height);
	recorded_double(r, gv_legend(NULL, l, n, 7, 9, w));
	answer_end(r);
}

static void
ask_bars(struct recorded *r)
{
	struct gv_svg s = {.out = answer_begin()};
	struct gv_box box = {3, 4, 200 + (double)below(500), 100};
	struct gv_bar bar[6];
	double most = below(6) == 0 ? 0 : drawn_size(), w = 40 + (double)below(80);
	size_t n = below(7), i;

	for (i = 0; i < n; i++) {
		bar[i] = (struct gv_bar){.name = word(), .text = "text"};
		bar[i].series = below(9);
		bar[i].value = below(4) == 0 ? NAN : most * uniform() * 1.2;
		if (below(6) == 0)
			bar[i].value = most * 1e-4;
		bar[i].len = strlen(bar[i].name);
	}
	recorded_double(r, gv_bars(&s, box, word(), w, most, bar, n));
	answer_end(r);
}

/* ---- texts, elements ---- */

static void
ask_text(struct recorded *r)
{
	struct gv_strbuf name = {0}, b = {0};
	size_t parts = 1 + below(4);
	double px = (double)below(300);

	for (; parts > 0; parts--)
		gv_strbuf_str(&name, word());
	if (below(4) == 0 && name.len > 0)
		name.len = below(name.len);
	recorded_rounded(r, gv_text_px(name.s, name.len), 9);
	gv_text_fit(&b, name.s, name.len, px);
	recorded_whole(r, (long long)b.len);
	recorded_text(r, b.s);
	gv_strbuf_free(&name);
	gv_strbuf_free(&b);
}

/* The end of a text may be within a character, more of which follows. */
static void
put_cut(struct gv_svg *s)
{
	const char *text = word();

	gv_svg_label(s, "l", 1.25, 3, text, below(strlen(text) + 1));
}

static void
ask_elements(struct recorded *r)
{
	static const char *const name[] = {"g", "text", "title", "path", "td"};
	struct gv_svg s = {.out = answer_begin()};
	double w = drawn_size();
	size_t n = below(30), depth = 0;

	gv_svg_begin(&s, w, 5, word());
	for (; n > 0; n--) {
		switch (below(7)) {
		case 0:
			if (depth < 9) {
				gv_svg_open(&s, name[below(5)]);
				depth++;
				if (below(2) == 0)
					gv_svg_attr(&s, "class", word());
				if (below(2) == 0)
					gv_svg_num(&s, "x",
					    below(2) == 0 ? -drawn_size() : drawn_size());
			}
			break;
		case 1:
			if (depth > 0) {
				gv_svg_close(&s);
				depth--;
			}
			break;
		case 2:
			gv_svg_str(&s, word());
			break;
		case 3:
			w = uniform();
			gv_svg_rect(
			    &s, below(2) == 0 ? NULL : "r", .125, -.004, 1e9 * w, 7);
			break;
		case 4:
			gv_svg_line(&s, NULL, 1, -.005, 99.995, uniform());
			break;
		default:
			put_cut(&s);
		}
	}
	for (; depth > 0; depth--)
		gv_svg_close(&s);
	gv_svg_close(&s);
	answer_end(r);
}

/* How wide each character is. */
static void
ask_widths(struct recorded *r)
{
	uint32_t c;

	for (c = 0x80; c < 0x110000; c++) {
		const bool two = c < 0x800, three = c < 0x10000;
		const char s[4] = {(char)(two     ? 0xc0 | c >> 6
					  : three ? 0xe0 | c >> 12
						  : 0xf0 | c >> 18),
		    (char)(0x80 | (c >> (two        ? 0
					    : three ? 6
						    : 12) &
				      63)),
		    (char)(0x80 | (c >> (three ? 0 : 6) & 63)), (char)(0x80 | (c & 63))};

		recorded_double(r, gv_text_px(s, two ? 2 : three ? 3 : 4));
	}
	recorded_answer(r, "widths");
}

/* What is as small, as large or as narrow as can be. */
static void
ask_limits(struct recorded *r)
{
	static const double v[] = {0, 9e-301, 1e-300, 2e-300, 1, 5, 9.999995, 999.94,
	    999.95, 9999.4, 9999.5, 999940, 999950, 9.9994e8, 9.9995e8, 1e15, 1e18, 9e299,
	    1e300, INFINITY};
	static const double w[] = {0, 10, 16, 20, 36, 50, 54};
	enum { N = sizeof(v) / sizeof(v[0]) };
	char buf[GV_TICK_LEN];
	size_t i, k;
	int digits;

	for (i = 0; i < N; i++) {
		recorded_rounded(r, gv_ticks(v[i], 1, &digits), 9);
		recorded_whole(r, digits);
		recorded_rounded(r, gv_scale_linear(v[i]).max, 9);
		recorded_rounded(r, gv_scale_linear(-v[i]).max, 9);
		recorded_text(r, gv_show_number(buf, v[i]));
		for (k = 0; k < N; k++) {
			struct gv_scale s = gv_scale_log(v[i], v[k]);

			recorded_rounded(r, s.min, 9);
			recorded_rounded(r, s.max, 9);
		}
	}
	recorded_answer(r, "numbers at limits");
	for (i = 0; i < 2 * sizeof(w) / sizeof(w[0]); i++) {
		struct gv_legend l[] = {{.name = words[12], .len = 8, .area = i % 2 == 0},
		    {.name = words[12], .len = 8, .area = i % 2 == 0}};

		recorded_double(r, gv_legend(NULL, l, 2, 7, 9, w[i / 2]));
	}
	recorded_answer(r, "narrow legends");
	gv_chart_style(answer_begin(), false);
	answer_end(r);
	gv_chart_style(answer_begin(), true);
	answer_end(r);
	recorded_answer(r, "styles");
}

int
main(void)
{
	struct recorded r;
	size_t turn, i;

	recorded_open(&r);
	ask_widths(&r);
	for (turn = 0; turn < 40; turn++) {
		draws_begin(94, 0, (uint32_t)turn);
		for (i = 0; i < 40; i++)
			ask_scales(&r);
		recorded_answer(&r, "scales %zu", turn);
		for (i = 0; i < 20; i++)
			ask_panel(&r);
		recorded_answer(&r, "panels %zu", turn);
		for (i = 0; i < 20; i++) {
			ask_legend(&r);
			ask_bars(&r);
		}
		recorded_answer(&r, "legends and bars %zu", turn);
		for (i = 0; i < 60; i++)
			ask_text(&r);
		for (i = 0; i < 10; i++)
			ask_elements(&r);
		recorded_answer(&r, "texts and elements %zu", turn);
	}
	ask_limits(&r);
	answer_free();
	recorded_close(&r);
	return done_testing();
}
