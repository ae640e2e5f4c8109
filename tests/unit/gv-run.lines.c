/*
 * Lines of gv-run's journal: every beginning of a last line is torn, and with any one
 * byte of it changed it is damaged; nothing before it is lost.
 */
#include "tap.h"

#include <stdlib.h>

#include "gv-run/lines.h"

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
	make(&b, 0, &at);
	gv_strbuf_add(&b, "\0\0\0\0\0\0\0\0\0\0\0\0", 12);
	check(&l, &b, b.len);
	ok(l.n_damaged == 0 && l.torn_at == b.len - 12,
	    "NULs, as of a file that grew without its bytes, are torn");
	lines_free(&l);
	gv_strbuf_free(&b);
	return done_testing();
}
