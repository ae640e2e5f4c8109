#include "draw/text.h"

#include <stdint.h>

#include "base/utf8.h"

static const struct {
	uint32_t first, last;
	double px;
} widths[] = {{0, 0x24f, 6.3}, {0x300, 0x36f, 0}, {0x1100, 0x115f, 11},
    {0x200b, 0x200f, 0}, {0x20d0, 0x20ff, 0}, {0x2026, 0x2026, 6.3}, {0x2e80, 0xa4cf, 11},
    {0xac00, 0xd7a3, 11}, {0xf900, 0xfaff, 11}, {0xfe00, 0xfe0f, 0}, {0xfe30, 0xfe6f, 11},
    {0xff00, 0xff60, 11}, {0xffe0, 0xffe6, 11}, {0x1f300, 0x1faff, 14},
    {0x20000, 0x3fffd, 11}};

static double
character_px(uint32_t c)
{
	size_t i;

	for (i = 0; i < sizeof(widths) / sizeof(widths[0]); i++)
		if (c >= widths[i].first && c <= widths[i].last)
			return widths[i].px;
	return 7; /* scripts with letters wider than Latin ones, on average */
}

double
gv_text_px(const char *s, size_t len)
{
	double px = 0;
	uint32_t c;
	size_t i;

	for (i = 0; i < len;) {
		i += gv_utf8_next(s + i, len - i, &c);
		px += character_px(c);
	}
	return px;
}

/* Where the character before the i-th byte begins. */
static size_t
before(const char *s, size_t i)
{
	size_t from = i > 4 ? i - 4 : 0;
	uint32_t c;

	for (; from + 1 < i; from++)
		if (from + gv_utf8_next(s + from, i - from, &c) == i && c != GV_UTF8_BAD)
			break;
	return from;
}

void
gv_text_fit(struct gv_strbuf *b, const char *s, size_t len, double px)
{
	size_t head = 0, tail = len;
	uint32_t c;

	gv_strbuf_clear(b);
	gv_strbuf_str(b, "");
	if (gv_text_px(s, len) <= px) {
		gv_strbuf_add(b, s, len);
		return;
	}
	px -= character_px(0x2026);
	head = gv_utf8_next(s, len, &c);
	px -= character_px(c);
	for (;;) { /* the shorter end grows, as long as there is room */
		size_t next = before(s, tail);
		double first = gv_text_px(s, head),
		       last = gv_text_px(s + tail, len - tail);

		if (last < first) {
			px -= gv_text_px(s + next, tail - next);
			if (px < 0 || next < head)
				break;
			tail = next;
		} else {
			next = head + gv_utf8_next(s + head, tail - head, &c);
			px -= character_px(c);
			if (px < 0 || next > tail)
				break;
			head = next;
		}
	}
	gv_strbuf_add(b, s, head);
	gv_strbuf_str(b, "\xe2\x80\xa6");
	gv_strbuf_add(b, s + tail, len - tail);
}
