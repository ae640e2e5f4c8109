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

/* ---- against the definition ---- */

/* A character in UTF-8; its length. */
static size_t
encode(char *to, uint32_t c)
{
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4, i;

	for (i = n - 1; i > 0; i--, c >>= 6)
		to[i] = (char)(0x80 | (c & 0x3f));
	to[0] = (char)(n == 1 ? c : (0xf00u >> n & 0xff) | c);
	return n;
}

/* Ends of the ranges of characters of a width, and what lies beside them. */
static void
test_widths(void)
{
	static const struct {
		uint32_t c;
		double px;
	} of[] = {{1, 6.3}, {0x24f, 6.3}, {0x250, 7}, {0x2ff, 7}, {0x300, 0}, {0x36f, 0},
	    {0x370, 7}, {0x10ff, 7}, {0x1100, 11}, {0x115f, 11}, {0x1160, 7}, {0x200a, 7},
	    {0x200b, 0}, {0x200f, 0}, {0x2010, 7}, {0x20cf, 7}, {0x20d0, 0}, {0x20ff, 0},
	    {0x2100, 7}, {0x2025, 7}, {0x2026, 6.3}, {0x2027, 7}, {0x2e7f, 7},
	    {0x2e80, 11}, {0xa4cf, 11}, {0xa4d0, 7}, {0xabff, 7}, {0xac00, 11},
	    {0xd7a3, 11}, {0xd7a4, 7}, {0xf8ff, 7}, {0xf900, 11}, {0xfaff, 11},
	    {0xfb00, 7}, {0xfdff, 7}, {0xfe00, 0}, {0xfe0f, 0}, {0xfe10, 7}, {0xfe2f, 7},
	    {0xfe30, 11}, {0xfe6f, 11}, {0xfe70, 7}, {0xfeff, 7}, {0xff00, 11},
	    {0xff60, 11}, {0xff61, 7}, {0xffdf, 7}, {0xffe0, 11}, {0xffe6, 11},
	    {0xffe7, 7}, {0x1f2ff, 7}, {0x1f300, 14}, {0x1faff, 14}, {0x1fb00, 7},
	    {0x1ffff, 7}, {0x20000, 11}, {0x3fffd, 11}, {0x3fffe, 7}};
	char s[4];
	size_t i;

	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		ok(gv_text_px(s, encode(s, of[i].c)) == of[i].px, "the width of U+%04x",
		    (unsigned)of[i].c);
}

/* The ends of n characters, px[i] wide each, that fit: the shorter one grows. */
static void
ends_that_fit(const double *px, size_t n, double room, size_t *head, size_t *tail)
{
	double first, last;
	size_t i;

	*head = 1;
	*tail = n;
	room = room - 6.3 - px[0];
	for (;;) {
		for (first = 0, i = 0; i < *head; i++)
			first += px[i];
		for (last = 0, i = *tail; i < n; i++)
			last += px[i];
		if (*tail == *head)
			return;
		room -= last < first ? px[*tail - 1] : px[*head];
		if (room < 0)
			return;
		if (last < first)
			--*tail;
		else
			++*head;
	}
}

/* Texts of widths that add up to just the room, and bytes that are no characters. */
static void
test_ends(void)
{
	static const char *const letter[] = {"a", "\xd0\xb6", "\xcc\x81", "\xe5\xb1\x82",
	    "\xf0\x9f\x98\x80", "\xbf", "\xff", "\xe5"};
	size_t wrong = 0, cut = 0, i, k;

	draws_begin(4, 1, 4);
	for (i = 0; i < 20000; i++) {
		struct gv_strbuf s = {0}, b = {0}, want = {0};
		size_t at[21], n, head = 0, tail = 0, kinds = 1 + below(8);
		double px[20], room = 0;
		uint32_t c;

		for (k = 1 + below(20); k > 0; k--)
			gv_strbuf_str(&s, letter[below(kinds)]);
		for (n = 0, at[0] = 0; at[n] < s.len && n < 20; n++) {
			at[n + 1] = at[n] + gv_utf8_next(s.s + at[n], s.len - at[n], &c);
			px[n] = gv_text_px(s.s + at[n], at[n + 1] - at[n]);
		}
		/* some of its characters and the mark, or all of it */
		for (k = below(n + 1); k > 0; k--)
			room += px[below(n)];
		room = below(4) == 0 ? gv_text_px(s.s, s.len)
		       : room < 1    ? 6.3 + px[0]
				     : room + 6.3;
		gv_text_fit(&b, s.s, s.len, room);
		if (gv_text_px(s.s, s.len) <= room) {
			gv_strbuf_add(&want, s.s, s.len);
		} else {
			ends_that_fit(px, n, room, &head, &tail);
			gv_strbuf_add(&want, s.s, at[head]);
			gv_strbuf_str(&want, "\xe2\x80\xa6");
			gv_strbuf_add(&want, s.s + at[tail], s.len - at[tail]);
			cut++;
		}
		wrong += b.len != want.len || memcmp(b.s, want.s, b.len) != 0;
		gv_strbuf_free(&s);
		gv_strbuf_free(&b);
		gv_strbuf_free(&want);
	}
	is_int(wrong, 0, "the shorter end grows while there is room");
	ok(cut > 5000, "%zu of them were cut", cut);
}

int
main(void)
{
	struct gv_strbuf b = {0};

	ok(gv_text_px("abc", 3) > 18 && gv_text_px("abc", 3) < 20, "Latin letters");
	ok(gv_text_px("\xe5\xb1\x82", 3) == 11, "an ideograph is as wide as high");
	ok(gv_text_px("\xf0\xa0\x80\x80", 4) == 11 &&
		gv_text_px("\xe3\x90\x80", 3) == 11 &&
		gv_text_px("\xef\xa4\x80", 3) == 11,
	    "those of other blocks as well");
	ok(gv_text_px("e\xcc\x81", 3) == gv_text_px("e", 1), "an accent adds nothing");
	ok(gv_text_px("", 0) == 0, "nothing has no width");
	ok(gv_text_px("\xe5\xb1\x82", 1) == 7, "what lies behind the end has none");
	gv_text_fit(&b, "", 0, 10);
	ok(b.s != NULL && b.len == 0, "what fits of nothing is a text");
	gv_strbuf_free(&b);
	fits("short", 100, "short");
	fits("transformer.layer.17", 63, "trans\xe2\x80\xa6r.17");
	fits("\xe5\xb1\x82\xe5\xbd\x92\xe4\xb8\x80\xe5\x8c\x96\xe6\xb3\xa8", 42,
	    "\xe5\xb1\x82\xe5\xbd\x92\xe2\x80\xa6\xe6\xb3\xa8");
	fits("abc", 1, "a\xe2\x80\xa6");
	fits("", 10, "");
	test_random();
	test_widths();
	test_ends();
	return done_testing();
}
