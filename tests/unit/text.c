/* Widths of texts in drawings, and texts that are cut to fit: whole characters, both ends. */
#include "draw/text.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "draws.h"
#include "tap.h"

static void
fits(const char *s, double px, const char *want)
{
	struct gv_strbuf b = {0};

	gv_strbuf_str(&b, "before");
	gv_text_fit(&b, s, strlen(s), px);
	is_str(b.s, want, "%s", s);
	gv_strbuf_free(&b);
}

/* Random texts at random widths: valid, as wide as allowed, ends of the text, and nothing cut in vain. */
static void
test_random(void)
{
	static const char *const letter[] = {"a", "M", "\xc3\xa4", "\xd0\xb6",
	    "e\xcc\x81", "\xe5\xb1\x82", "\xed\x95\x9c", "\xf0\x9f\x98\x80",
	    "\xf0\xa0\x80\x80"};
	size_t bad = 0, wide = 0, ends = 0, vain = 0, i, k;

	draws_begin(3, 1, 4);
	for (i = 0; i < 20000; i++) {
		struct gv_strbuf s = {0}, b = {0};
		double px = 40 + 120 * uniform();
		size_t n = 1 + below(30), cut;
		const char *mark;
		uint32_t c;

		for (k = 0; k < n; k++)
			gv_strbuf_str(&s, letter[below(9)]);
		gv_text_fit(&b, s.s, s.len, px);
		wide += gv_text_px(b.s, b.len) > px;
		for (k = 0; k < b.len;) {
			k += gv_utf8_next(b.s + k, b.len - k, &c);
			bad += c == GV_UTF8_BAD;
		}
		mark = strstr(b.s, "\xe2\x80\xa6");
		vain += (mark == NULL) != (gv_text_px(s.s, s.len) <= px);
		if (mark != NULL) {
			cut = (size_t)(mark - b.s);
			ends += strncmp(b.s, s.s, cut) != 0 ||
				strcmp(s.s + s.len - (b.len - cut - 3), mark + 3) != 0;
			vain += gv_text_px(b.s, b.len) < px - 2 * 14;
		}
		gv_strbuf_free(&s);
		gv_strbuf_free(&b);
	}
	is_int(bad, 0, "no character is cut");
	is_int(wide, 0, "none is too wide");
	is_int(ends, 0, "what is left are its ends");
	is_int(vain, 0, "no more is cut than needed");
}

int
main(void)
{
	ok(gv_text_px("abc", 3) > 18 && gv_text_px("abc", 3) < 20, "Latin letters");
	ok(gv_text_px("\xe5\xb1\x82", 3) == 11, "an ideograph is as wide as high");
	ok(gv_text_px("\xf0\xa0\x80\x80", 4) == 11 &&
		gv_text_px("\xe3\x90\x80", 3) == 11 &&
		gv_text_px("\xef\xa4\x80", 3) == 11,
	    "those of other blocks as well");
	ok(gv_text_px("e\xcc\x81", 3) == gv_text_px("e", 1), "an accent adds nothing");
	ok(gv_text_px("", 0) == 0, "nothing has no width");
	fits("short", 100, "short");
	fits("transformer.layer.17", 63, "trans\xe2\x80\xa6r.17");
	fits("\xe5\xb1\x82\xe5\xbd\x92\xe4\xb8\x80\xe5\x8c\x96\xe6\xb3\xa8", 42,
	    "\xe5\xb1\x82\xe5\xbd\x92\xe2\x80\xa6\xe6\xb3\xa8");
	fits("abc", 1, "a\xe2\x80\xa6");
	fits("", 10, "");
	test_random();
	return done_testing();
}
