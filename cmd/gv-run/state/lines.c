#include "lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/mem.h"

const char lines_column[] = "crc32";

enum { NEAR = 64 * 1024 }; /* in damage, a line is no longer */

static void
checksum(const char *s, size_t len, char digits[9])
{
	uLong crc = crc32(0, NULL, 0);

	while (len > 0) { /* zlib counts in unsigned int */
		uInt part = len < (1U << 30) ? (uInt)len : 1U << 30;

		crc = crc32(crc, (const Bytef *)s, part);
		s += part;
		len -= part;
	}
	snprintf(digits, 9, "%08lx", crc & 0xffffffffUL);
}

void
lines_seal(struct gv_strbuf *b, size_t from)
{
	char digits[9];

	checksum(b->s + from, b->len - from, digits);
	gv_strbuf_fmt(b, ",%s\n", digits);
}

size_t
lines_next(const char *s, size_t len)
{
	bool quoted = false;
	size_t i;

	for (i = 0; i < len; i++) {
		quoted = quoted != (s[i] == '"');
		if (s[i] == '\n' && !quoted)
			return i + 1;
	}
	return 0;
}

bool
lines_is_whole(const char *s, size_t len)
{
	char digits[9];
	size_t end = len - LINES_SEAL;

	if (len < LINES_SEAL || s[end] != ',' || s[len - 1] != '\n')
		return false;
	checksum(s, end, digits);
	return memcmp(s + end + 1, digits, 8) == 0;
}

/* The length of the whole line at s, 0 = there is none. */
static size_t
whole_line(const char *s, size_t len)
{
	size_t n = lines_next(s, len);

	return n > 0 && lines_is_whole(s, n) ? n : 0;
}

/* The next beginning of a line from which one is whole, or len. */
static size_t
next_whole(const char *s, size_t len, size_t at)
{
	while (at < len) {
		const char *end = memchr(s + at, '\n', len - at);

		if (end == NULL)
			return len;
		at = (size_t)(end - s) + 1;
		if (whole_line(s + at, len - at < NEAR ? len - at : NEAR) > 0)
			return at;
	}
	return len;
}

/* Whether s[0..len) ends as lines do, but for one byte at most. */
static bool
ends_as_line(const char *s, size_t len)
{
	size_t wrong;
	size_t i;

	if (len < LINES_SEAL || s[len - 1] != '\n')
		return false;
	s += len - LINES_SEAL;
	wrong = s[0] != ',';
	for (i = 1; i < LINES_SEAL - 1; i++)
		wrong += strchr("0123456789abcdef", s[i]) == NULL || s[i] == '\0';
	return wrong <= 1;
}

/*
 * A torn line is the beginning of one (or NULs): it has no end.  One that was damaged
 * in its quotes has none either, as quotes have it, but ends as a line does; one whose
 * line feed was damaged has its checksum.
 */
static bool
is_torn(const char *s, size_t len)
{
	char digits[9];
	size_t i;

	for (i = 0; i < len && s[i] == '\0'; i++)
		;
	if (i == len)
		return true;
	for (i = 0; i < len; i++)
		if (s[i] == '\n' && ends_as_line(s, i + 1))
			return false;
	if (lines_next(s, len) > 0)
		return false;
	if (len < LINES_SEAL || s[len - LINES_SEAL] != ',')
		return true;
	checksum(s, len - LINES_SEAL, digits);
	return memcmp(s + len - LINES_SEAL + 1, digits, 8) != 0;
}

static long
count_lines(const char *s, size_t len)
{
	long n = 0;
	size_t i;

	for (i = 0; i < len; i++)
		n += s[i] == '\n';
	return n;
}

static void
add_damage(struct lines *l, size_t at, size_t len, long line)
{
	l->damaged =
	    gv_xgrow(l->damaged, &l->cap_damaged, l->n_damaged + 1, sizeof(*l->damaged));
	l->damaged[l->n_damaged++] = (struct lines_damage){at, len, line};
}

/* Lines without checksums: what has an end is whole. */
static void
check_ends(struct lines *l, const char *s, size_t len, size_t at)
{
	size_t n;

	for (; (n = lines_next(s + at, len - at)) > 0; at += n)
		l->rows++;
	l->torn_at = at;
}

void
lines_check(struct lines *l, const char *s, size_t len, size_t header, bool sealed)
{
	size_t at = header;
	long line = header > 0 ? 2 : 1;

	*l = (struct lines){.torn_at = len};
	if (!sealed) {
		check_ends(l, s, len, at);
		return;
	}
	while (at < len) {
		size_t n = whole_line(s + at, len - at);

		if (n > 0) {
			l->rows++;
		} else {
			n = next_whole(s, len, at) - at;
			if (at + n == len && is_torn(s + at, n)) {
				l->torn_at = at;
				return;
			}
			add_damage(l, at, n, line);
		}
		line += count_lines(s + at, n);
		at += n;
	}
}

void
lines_free(struct lines *l)
{
	free(l->damaged);
	*l = (struct lines){0};
}
