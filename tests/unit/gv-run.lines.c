/*
 * Lines of gv-run's journal: every beginning of a last line is torn, and with any one
 * byte of it changed it is damaged; nothing before it is lost.  Lines in any other order
 * than they were written in, copied or taken out are found, against a count of our own.
 */
#include "tap.h"

#include <stdbool.h>
#include <stdlib.h>

#include "gv-run/state/lines.h"

static const char *const row[] = {
    "0.5,start,a,big,,0,,12345678,,",
    "1,fail,\"b, \"\"q\"\"\",big,,0,5,1,,\"status 3,deadbeef\"",
    "2,arrive,c,,,,100,,,\"two\nlines\"",
    "2,arrive,c,,,,100,,,\"two,abcde\nlines\"",
    "3,end,,,,,,2,,",
};
enum { N = sizeof(row) / sizeof(row[0]) };

static enum lines_form form; /* of what is tested */

static void
seal(struct gv_strbuf *b, size_t from, size_t number)
{
	if (form == LINES_SUMS)
		lines_seal(b, from);
	else
		lines_seal_row(b, from, (uint32_t)number);
}

/* A journal of all rows, the last being row[last]; *at: where that begins. */
static void
make(struct gv_strbuf *b, size_t last, size_t *at)
{
	size_t i;

	gv_strbuf_clear(b);
	for (i = 0; i <= N; i++) {
		size_t from = b->len;

		*at = from;
		gv_strbuf_str(b, row[i < N ? i : last]);
		seal(b, from, i + 1);
	}
}

static void
check(struct lines *l, const struct gv_strbuf *b, size_t len)
{
	lines_check(l, b->s, len, 0, form);
}

static void
test_torn(size_t last)
{
	struct gv_strbuf b = {0};
	struct lines l;
	int wrong = 0;
	size_t at, n;

	make(&b, last, &at);
	for (n = at; n < b.len; n++) {
		check(&l, &b, n);
		if (l.n_damaged != 0 || l.rows != N || l.torn_at != at) {
			wrong++;
			printf("# %zu of %zu bytes: %zu rows, %zu damaged\n", n - at,
			    b.len - at, l.rows, l.n_damaged);
		}
		lines_free(&l);
	}
	is_int(wrong, 0, "row %zu: each beginning of it is torn", last);
	gv_strbuf_free(&b);
}

static void
test_damaged(size_t last)
{
	static const char to[] = {'"', ',', '\n', 'x', '0', '\0'};
	struct gv_strbuf b = {0};
	struct lines l;
	int wrong = 0;
	size_t at, i, k;

	make(&b, last, &at);
	for (i = at; i < b.len; i++)
		for (k = 0; k < sizeof(to); k++) {
			char was = b.s[i];

			if (was == to[k])
				continue;
			b.s[i] = to[k];
			check(&l, &b, b.len);
			if (l.n_damaged == 0 || l.damaged[0].at != at || l.rows != N ||
			    l.torn_at != b.len) {
				wrong++;
				printf("# byte %zu of %zu, '%c' instead of '%c': "
				       "%zu damaged, torn %zu\n",
				    i - at, b.len - at, to[k], was, l.n_damaged,
				    b.len - l.torn_at);
			}
			lines_free(&l);
			b.s[i] = was;
		}
	is_int(wrong, 0, "row %zu: with one byte changed it is damaged", last);
	gv_strbuf_free(&b);
}

/* One that is damaged with whole ones behind it: it alone is lost, by its number. */
static void
test_middle(void)
{
	static const char header[] = "a header,of\n";
	struct gv_strbuf b = {0};
	size_t start[N + 2];
	long line[N + 2];
	int wrong = 0, way;
	struct lines l;
	size_t i, k;

	gv_strbuf_str(&b, header);
	line[0] = 2;
	for (i = 0; i <= N; i++) {
		start[i] = b.len;
		gv_strbuf_str(&b, row[i % N]);
		seal(&b, start[i], i + 1);
		line[i + 1] = line[i];
		for (k = start[i]; k < b.len; k++)
			line[i + 1] += b.s[k] == '\n';
	}
	start[N + 1] = b.len;
	for (i = 0; i < N; i++)
		for (k = start[i]; k + 1 < start[i + 1]; k++)
			for (way = 0; way < 2; way++) {
				char was = b.s[k];
				bool good;

				if (was == '\n') /* then there are two of them */
					continue;
				b.s[k] = way == 0 ? '"' : '#';
				if (b.s[k] == was)
					continue;
				lines_check(&l, b.s, b.len, sizeof(header) - 1, form);
				good =
				    l.n_damaged == 1 && l.damaged[0].at == start[i] &&
				    l.damaged[0].at + l.damaged[0].len == start[i + 1] &&
				    l.damaged[0].line == line[i] && l.rows == N &&
				    l.torn_at == b.len && l.n_damaged == 1;
				if (!good && wrong++ < 5)
					printf("# row %zu, byte %zu: %zu damaged, %zu "
					       "whole\n",
					    i, k - start[i], l.n_damaged, l.rows);
				lines_free(&l);
				b.s[k] = was;
			}
	is_int(wrong, 0, "one byte in the middle costs one line");
	b.s[start[2]]++;
	b.s[start[4]]++;
	lines_check(&l, b.s, b.len, sizeof(header) - 1, form);
	ok(l.n_damaged == 2 && l.damaged[1].line == line[4] &&
		l.damaged[1].at == start[4] && l.rows == N - 1,
	    "two of them, each with its number");
	lines_free(&l);
	lines_check(&l, "x\n", 2, 0, form);
	ok(l.n_damaged == 1 && l.damaged[0].line == 1, "without a header from line 1");
	lines_free(&l);
	gv_strbuf_free(&b);
}

/* A journal from before there were checksums: what has an end is whole. */
static void
test_unsealed(void)
{
	static const char text[] = "1,a\n\n2,\"b\nb\"\n3,c";
	struct lines l;

	lines_check(&l, text, sizeof(text) - 1, 0, LINES_BARE);
	ok(l.rows == 3 && l.n_damaged == 0 && l.torn_at == sizeof(text) - 4,
	    "without checksums lines with an end are whole: %zu, torn at %zu", l.rows,
	    l.torn_at);
	lines_free(&l);
}

/* ---- whole lines that are not where they were written ---- */

enum { ROWS = 6 };

/* A journal of rows by these numbers, each as it was written at its place. */
static void
make_of(struct gv_strbuf *b, const size_t *number, size_t n)
{
	size_t i;

	gv_strbuf_clear(b);
	for (i = 0; i < n; i++) {
		size_t from = b->len;

		gv_strbuf_fmt(b, "%zu,row", number[i]);
		lines_seal_row(b, from, (uint32_t)number[i]);
	}
}

/* Whether what is found is what a look at the numbers finds, pair by pair. */
static bool
is_found(const struct gv_strbuf *b, const size_t *number, size_t n)
{
	size_t moved = 0, twice = 0, lost = 0, most = 0, i, k, at = 0;
	size_t found[4] = {0}, missing = 0;
	struct lines l;
	bool good;

	for (i = 0; i < n; i++) {
		bool before = false, copy = false;

		for (k = 0; k < i; k++) {
			before = before || number[k] > number[i];
			copy = copy || number[k] == number[i];
		}
		twice += copy;
		moved += before && !copy;
		most = number[i] > most ? number[i] : most;
	}
	for (k = 1; k <= most; k++) {
		for (i = 0; i < n && number[i] != k; i++)
			;
		lost += i == n;
	}
	lines_check(&l, b->s, b->len, 0, LINES_ROWS);
	for (i = 0; i < l.n_damaged; i++) {
		found[l.damaged[i].fault]++;
		missing += l.damaged[i].count;
		good = i == 0 || l.damaged[i].at >= at;
		at = good ? l.damaged[i].at : b->len;
	}
	good = at < b->len && found[LINES_DAMAGED] == 0 && found[LINES_MOVED] == moved &&
	       found[LINES_TWICE] == twice && missing == lost && l.lost == lost &&
	       l.rows == n - twice;
	for (i = 0; good && i < l.rows; i++)
		good = (i == 0 || l.row[i].number > l.row[i - 1].number) &&
		       lines_number(b->s, l.row[i].at + l.row[i].len) == l.row[i].number;
	if (!good)
		printf("# moved %zu of %zu, twice %zu of %zu, missing %zu of %zu\n",
		    found[LINES_MOVED], moved, found[LINES_TWICE], twice, missing, lost);
	lines_free(&l);
	return good;
}

/* All journals of up to ROWS lines whose numbers are from 1 to ROWS. */
static void
test_order(void)
{
	struct gv_strbuf b = {0};
	size_t number[ROWS], n, i, all = 0;
	int wrong = 0;

	for (n = 1; n <= ROWS; n++) {
		for (i = 0; i < n; i++)
			number[i] = 1;
		for (i = 0; i < n;) {
			make_of(&b, number, n);
			wrong += !is_found(&b, number, n);
			all++;
			for (i = 0; i < n && number[i] == ROWS; i++)
				number[i] = 1;
			if (i < n)
				number[i]++;
		}
	}
	is_int(wrong, 0, "%zu orders of lines: what is moved, twice, missing", all);
	gv_strbuf_free(&b);
}

/* What damage hides is not missing as well. */
static void
test_hidden(void)
{
	static const size_t number[ROWS] = {1, 2, 3, 5, 6, 7};
	struct gv_strbuf b = {0};
	struct lines l;

	make_of(&b, number, ROWS);
	b.s[b.len / ROWS * 2 + 2]++; /* of row 3; 4 is missing */
	lines_check(&l, b.s, b.len, 0, LINES_ROWS);
	ok(l.n_damaged == 2 && l.damaged[0].fault == LINES_DAMAGED &&
		l.damaged[0].line == 3 && l.damaged[1].fault == LINES_MISSING &&
		l.damaged[1].count == 1 && l.damaged[1].line == 4 && l.lost == 2,
	    "a line is damaged, and the next one missing");
	lines_free(&l);
	gv_strbuf_free(&b);
}

/* ---- one line ---- */

static void
test_seal(void)
{
	struct gv_strbuf b = {0}, short_one = {0};
	char text[64];
	size_t n, i;
	int numbers = 0, whole = 0;

	lines_seal_row(&short_one, 0, 0x1f);
	is_int(lines_number(short_one.s, short_one.len), 0x1f, "a row of its seal alone");
	ok(lines_is_whole(short_one.s, short_one.len, LINES_ROWS), "is whole");
	gv_strbuf_str(&b, "1,end");
	lines_seal_row(&b, 0, 0xffffffff);
	n = b.len;
	is_int(lines_number(b.s, n), 0xffffffff, "the largest number");
	ok(lines_is_whole(b.s, n, LINES_ROWS) && !lines_is_whole(b.s, n, LINES_SUMS),
	    "a line of its form is whole, and of no other");
	for (i = 0; i < n; i++)
		whole += lines_is_whole(b.s, i, LINES_ROWS);
	is_int(whole, 0, "not where its end is missing");
	for (i = 0; i < lines_seal_len(LINES_ROWS); i++) {
		memcpy(text, b.s, n);
		text[n - 1 - i] = i == 0 ? ' ' : 'g';
		numbers += lines_number(text, n) != 0;
		whole += lines_is_whole(text, n, LINES_ROWS);
	}
	is_int(numbers, 0, "a seal with a wrong byte has no number");
	is_int(whole, 0, "and its line is not whole");
	memcpy(text, b.s, n);
	text[n - 3] = '\0';
	is_int(lines_number(text, n), 0, "a NUL is no digit");
	for (i = 0; i < lines_seal_len(LINES_ROWS); i++)
		numbers += lines_number(b.s + n - i, i) != 0;
	is_int(numbers, 0, "what is shorter than a seal has none");
	gv_strbuf_free(&b);
	gv_strbuf_free(&short_one);
}

int
main(void)
{
	struct gv_strbuf b = {0};
	struct lines l;
	size_t i, at;

	for (form = LINES_SUMS; form <= LINES_ROWS; form++) {
		for (i = 0; i < N; i++) {
			test_torn(i);
			test_damaged(i);
		}
		test_middle();
	}
	form = LINES_ROWS;
	test_order();
	test_hidden();
	test_unsealed();
	make(&b, 0, &at);
	gv_strbuf_add(&b, "\0\0\0\0\0\0\0\0\0\0\0\0", 12);
	check(&l, &b, b.len);
	ok(l.n_damaged == 0 && l.torn_at == b.len - 12,
	    "NULs, as of a file that grew without its bytes, are torn");
	lines_free(&l);
	gv_strbuf_free(&b);
	test_seal();
	return done_testing();
}
