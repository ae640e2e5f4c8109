#include "base/utf8.h"

size_t
gv_utf8_next(const char *s, size_t len, uint32_t *c)
{
	static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned char first = (unsigned char)s[0];
	size_t i, n;

	if (first < 0x80) {
		*c = first;
		return 1;
	}
	n = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
	*c = first & (0xffu >> (n + 1));
	for (i = 1; i < n && i < len && ((unsigned char)s[i] & 0xc0) == 0x80; i++)
		*c = *c << 6 | ((unsigned char)s[i] & 0x3f);
	if (first < 0xc2 || first > 0xf4 || i < n || *c < least[n] || *c > 0x10ffff ||
	    (*c >= 0xd800 && *c <= 0xdfff)) {
		*c = GV_UTF8_BAD;
		return 1;
	}
	return n;
}

bool
gv_utf8_steers(const char *s, size_t len, size_t *n)
{
	unsigned char byte = (unsigned char)s[0];
	uint32_t c;

	*n = gv_utf8_next(s, len, &c);
	if (*n == 1 && byte >= 0x80)
		c = byte; /* not UTF-8: as a terminal of one-byte characters sees it */
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c || c == 0x200e ||
	       c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

size_t
gv_utf8_count(const char *s)
{
	size_t n = 0;

	for (; *s != '\0'; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}
