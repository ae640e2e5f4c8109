/*
 * Lines of gv-run's journal: every beginning of a last line is torn, and with any one
 * byte of it changed it is damaged; nothing before it is lost.
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
		lines_seal(b, from);
	}
}

static void
check(struct lines *l, const struct gv_strbuf *b, size_t len)
{
	lines_check(l, b->s, len, 0, true);
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
		lines_seal(&b, start[i]);
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
				lines_check(&l, b.s, b.len, sizeof(header) - 1, true);
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
	lines_check(&l, b.s, b.len, sizeof(header) - 1, true);
	ok(l.n_damaged == 2 && l.damaged[1].line == line[4] &&
		l.damaged[1].at == start[4] && l.rows == N - 1,
	    "two of them, each with its number");
	lines_free(&l);
	lines_check(&l, "x\n", 2, 0, true);
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

	lines_check(&l, text, sizeof(text) - 1, 0, false);
	ok(l.rows == 3 && l.n_damaged == 0 && l.torn_at == sizeof(text) - 4,
	    "without checksums lines with an end are whole: %zu, torn at %zu", l.rows,
	    l.torn_at);
	lines_free(&l);
}

int
main(void)
{
	struct gv_strbuf b = {0};
	struct lines l;
	size_t i, at;

	for (i = 0; i < N; i++) {
		test_torn(i);
		test_damaged(i);
	}
	test_middle();
	test_unsealed();
	make(&b, 0, &at);
	gv_strbuf_add(&b, "\0\0\0\0\0\0\0\0\0\0\0\0", 12);
	check(&l, &b, b.len);
	ok(l.n_damaged == 0 && l.torn_at == b.len - 12,
	    "NULs, as of a file that grew without its bytes, are torn");
	lines_free(&l);
	gv_strbuf_free(&b);
	return done_testing();
}
