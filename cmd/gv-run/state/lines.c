#include "lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/mem.h"

enum {
	NEAR = 64 * 1024, /* in damage, a line is no longer */
	DIGITS = 8        /* of a number, and of a checksum */
};

static const struct {
	const char *column;
	size_t len;
} seals[] = {[LINES_BARE] = {"", 0},
    [LINES_SUMS] = {"crc32", 1 + DIGITS + 1},
    [LINES_ROWS] = {"row_crc32", 1 + 2 * DIGITS + 1}};

const char *
lines_column(enum lines_form form)
{
	return seals[form].column;
}

size_t
lines_seal_len(enum lines_form form)
{
	return seals[form].len;
}

static void
checksum(const char *s, size_t len, char digits[DIGITS + 1])
{
	uLong crc = crc32(0, NULL, 0);

	while (len > 0) { /* zlib counts in unsigned int */
		uInt part = len < (1U << 30) ? (uInt)len : 1U << 30;

		crc = crc32(crc, (const Bytef *)s, part);
		s += part;
		len -= part;
	}
	snprintf(digits, DIGITS + 1, "%08lx", crc & 0xffffffffUL);
}

void
lines_seal(struct gv_strbuf *b, size_t from)
{
	char digits[DIGITS + 1];

	checksum(b->s + from, b->len - from, digits);
	gv_strbuf_fmt(b, ",%s\n", digits);
}

void
lines_seal_row(struct gv_strbuf *b, size_t from, uint32_t number)
{
	char digits[DIGITS + 1];

	gv_strbuf_fmt(b, ",%08lx", (unsigned long)number);
	checksum(b->s + from, b->len - from, digits);
	gv_strbuf_fmt(b, "%s\n", digits);
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

/* Whether s[0..len), a line without its line feed, ends with its checksum. */
static bool
has_sum(const char *s, size_t len, enum lines_form form)
{
	size_t seal = seals[form].len - 1;
	char digits[DIGITS + 1];

	if (len < seal || s[len - seal] != ',')
		return false;
	checksum(s, form == LINES_SUMS ? len - seal : len - DIGITS, digits);
	return memcmp(s + len - DIGITS, digits, DIGITS) == 0;
}

bool
lines_is_whole(const char *s, size_t len, enum lines_form form)
{
	return len > 0 && s[len - 1] == '\n' && has_sum(s, len - 1, form);
}

uint32_t
lines_number(const char *s, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	size_t seal = seals[LINES_ROWS].len, i;
	uint32_t number = 0;

	if (len < seal || s[len - seal] != ',' || s[len - 1] != '\n')
		return 0;
	for (i = 1; i < seal - 1; i++) {
		char c = s[len - seal + i];
		const char *digit = c != '\0' ? strchr(digits, c) : NULL;

		if (digit == NULL)
			return 0;
		if (i <= DIGITS)
			number = 16 * number + (uint32_t)(digit - digits);
	}
	return number;
}

/* The length of the whole line at s, 0 = there is none. */
static size_t
whole_line(const char *s, size_t len, enum lines_form form)
{
	size_t n = lines_next(s, len);

	return n > 0 && lines_is_whole(s, n, form) ? n : 0;
}

/* The next beginning of a line from which one is whole, or len. */
static size_t
next_whole(const char *s, size_t len, size_t at, enum lines_form form)
{
	while (at < len) {
		const char *end = memchr(s + at, '\n', len - at);

		if (end == NULL)
			return len;
		at = (size_t)(end - s) + 1;
		if (whole_line(s + at, len - at < NEAR ? len - at : NEAR, form) > 0)
			return at;
	}
	return len;
}

/* Whether s[0..len) ends as lines do, but for one byte at most. */
static bool
ends_as_line(const char *s, size_t len, enum lines_form form)
{
	size_t seal = seals[form].len;
	size_t wrong;
	size_t i;

	if (len < seal || s[len - 1] != '\n')
		return false;
	s += len - seal;
	wrong = s[0] != ',';
	for (i = 1; i < seal - 1; i++)
		wrong += strchr("0123456789abcdef", s[i]) == NULL || s[i] == '\0';
	return wrong <= 1;
}

/*
 * A torn line is the beginning of one (or NULs): it has no end.  One that was damaged
 * in its quotes has none either, as quotes have it, but ends as a line does; one whose
 * line feed was damaged has its checksum.
 */
static bool
is_torn(const char *s, size_t len, enum lines_form form)
{
	size_t i;

	for (i = 0; i < len && s[i] == '\0'; i++)
		;
	if (i == len)
		return true;
	for (i = 0; i < len; i++)
		if (s[i] == '\n' && ends_as_line(s, i + 1, form))
			return false;
	return lines_next(s, len) == 0 && (len == 0 || !has_sum(s, len - 1, form));
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
add_damage(struct lines *l, struct lines_damage d)
{
	l->damaged =
	    gv_xgrow(l->damaged, &l->cap_damaged, l->n_damaged + 1, sizeof(*l->damaged));
	l->damaged[l->n_damaged++] = d;
}

static void
add_row(struct lines *l, struct lines_row row)
{
	l->row = gv_xgrow(l->row, &l->cap_row, l->rows + 1, sizeof(*l->row));
	l->row[l->rows++] = row;
}

/* ---- the order of rows ---- */

static int
by_number(const void *a, const void *b)
{
	const struct lines_row *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static int
by_place(const void *a, const void *b)
{
	const struct lines_damage *x = a, *y = b; /* one at a place */

	return x->at < y->at ? -1 : x->at > y->at;
}

/* The first of sorted[0..n) whose number is not below. */
static size_t
first_from(const struct lines_row *sorted, size_t n, size_t number)
{
	size_t low = 0;

	while (low < n) {
		size_t middle = low + (n - low) / 2;

		if (sorted[middle].number < number)
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

/* Each number once, the first that stands in the text. */
static size_t
once_each(struct lines_row *sorted, size_t n)
{
	size_t i, kept = 0;

	for (i = 0; i < n; i++)
		if (kept == 0 || sorted[kept - 1].number != sorted[i].number)
			sorted[kept++] = sorted[i];
	return kept;
}

/* Rows that do not stand where their numbers say. */
static void
check_order(struct lines *l)
{
	struct lines_row *sorted;
	size_t i, n, next = 1;

	for (i = 0; i < l->rows && l->row[i].number == i + 1; i++)
		;
	if (i == l->rows)
		return;
	sorted = gv_xcalloc(l->rows, sizeof(*sorted));
	for (i = 0; i < l->rows; i++)
		sorted[i] = l->row[i];
	qsort(sorted, l->rows, sizeof(*sorted), by_number);
	n = once_each(sorted, l->rows);
	for (i = 0; i < l->rows; i++) {
		const struct lines_row *r = &l->row[i];
		size_t at = first_from(sorted, n, r->number), gap;

		if (r->number < next) {
			bool twice = sorted[at].at != r->at;

			add_damage(
			    l, (struct lines_damage){twice ? LINES_TWICE : LINES_MOVED,
				   r->at, r->len, 0, r->line});
			continue;
		}
		gap = r->number - next - (at - first_from(sorted, n, next));
		if (gap > r->hidden) {
			add_damage(l, (struct lines_damage){LINES_MISSING, r->at, 0,
					  gap - r->hidden, r->line});
			l->lost += gap - r->hidden;
		}
		next = r->number + 1;
	}
	free(l->row);
	l->row = sorted;
	l->rows = n;
	qsort(l->damaged, l->n_damaged, sizeof(*l->damaged), by_place);
}

/* ---- all lines ---- */

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
lines_check(
    struct lines *l, const char *s, size_t len, size_t header, enum lines_form form)
{
	long line = header > 0 ? 2 : 1;
	size_t at = header, hidden = 0, n;

	*l = (struct lines){.torn_at = len};
	if (form == LINES_BARE) {
		check_ends(l, s, len, at);
		return;
	}
	for (; at < len; at += n) {
		long feeds;

		n = whole_line(s + at, len - at, form);
		if (n > 0) {
			size_t number =
			    form == LINES_ROWS ? lines_number(s + at, n) : l->rows + 1;

			add_row(l, (struct lines_row){at, n, number, hidden, line});
			hidden = 0;
			line += count_lines(s + at, n);
			continue;
		}
		n = next_whole(s, len, at, form) - at;
		if (at + n == len && is_torn(s + at, n, form)) {
			l->torn_at = at;
			break;
		}
		feeds = count_lines(s + at, n);
		add_damage(l, (struct lines_damage){LINES_DAMAGED, at, n, 0, line});
		l->lost++;
		hidden += feeds > 0 ? (size_t)feeds : 1;
		line += feeds;
	}
	if (form == LINES_ROWS)
		check_order(l);
}

void
lines_free(struct lines *l)
{
	free(l->damaged);
	free(l->row);
	*l = (struct lines){0};
}
