/* common/table as a library: what programs rely on beside the bytes. */
#include "tap.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "draws.h"
#include "table/end.h"
#include "table/kind.h"
#include "table/names.h"
#include "table/rows.h"
#include "table/sort.h"
#include "table/tab.h"

static struct gv_tab *
tab_of(const char *s)
{
	struct gv_error e = {0};
	struct gv_in *in;

	ok(gv_in_memory(&in, "t.csv", s, strlen(s), 3, &e) == 0, "an input in memory");
	return gv_tab_from(in);
}

static bool
cell_is(const struct gv_frame *f, size_t row, ptrdiff_t column, const char *s)
{
	return gv_cell_is(gv_frame_cell(f, row, column), s);
}

static void
test_rows(void)
{
	struct gv_error e = {0};
	struct gv_tab *t = tab_of("name,n,x\na,1,0.5\n\"b\nc\",,2\nd,-7,1e3\n");
	size_t n = 9, x = 9;
	int64_t i = 5;
	double v = 5;

	ok(gv_tab_next(t, &e) == 0 && gv_tab_line(t) == 0, "no row before a table");
	is_int(gv_tab_table(t, &e), 1, "a table");
	is_int(gv_tab_columns(t), 3, "three columns");
	is_str(gv_tab_name(t, 2).s, "x", "names end in NUL");
	is_int(gv_tab_find(t, "n"), 1, "find");
	is_int(gv_tab_find(t, "N"), -1, "names are bytes");
	is_int(gv_tab_find(t, ""), -1, "no column has no name");
	ok(gv_tab_require(t, "n", &n, &e) == 0 && n == 1, "require");
	ok(gv_tab_require(t, "x", &x, &e) == 0 && x == 2, "require another");
	ok(!gv_tab_is_tsv(t), "CSV");
	is_int(gv_tab_line(t), 1, "the header's line");
	is_int(gv_tab_next(t, &e), 1, "row 1");
	is_int(gv_tab_line(t), 2, "line 2");
	ok(gv_tab_int(t, n, &i, &e) == 0 && i == 1, "an int");
	ok(gv_tab_double(t, x, &v, &e) == 0 && v == 0.5, "a double");
	is_int(gv_tab_next(t, &e), 1, "row 2");
	is_int(gv_tab_line(t), 3, "line 3");
	ok(gv_cell_is(gv_tab_cell(t, 0), "b\nc"), "a cell of two lines");
	is_int(gv_tab_int(t, n, &i, &e), -1, "an empty cell is no int");
	is_str(e.text[0], "t.csv:3: n: expected an integer, got nothing", "and says so");
	is_int(gv_tab_next(t, &e), 1, "row 3");
	is_int(gv_tab_line(t), 5, "line 5: a cell had a line feed");
	is_int(gv_tab_int(t, x, &i, &e), -1, "1e3 is no int");
	is_str(e.text[1], "t.csv:5: x: expected an integer, got \"1e3\"", "and says so");
	is_int(
	    gv_tab_error(t, n, &e, "expected %s", "more"), -1, "an error of one's own");
	is_str(e.text[2], "t.csv:5: n: expected more", "is located");
	is_int(gv_tab_next(t, &e), 0, "the end");
	is_int(gv_tab_next(t, &e), 0, "the end again");
	is_int(gv_tab_table(t, &e), 0, "no further table");
	is_int(gv_tab_table(t, &e), 0, "still none");
	is_int(e.count, 3, "three errors");
	gv_tab_close(t);
	gv_tab_close(NULL);
}

static void
test_several(void)
{
	struct gv_error e = {0};
	struct gv_tab *t = tab_of("a,b\n1,2\n3,4\n\nb\tc\n5\t6\n\nd\n\"1\"2\n\ne\n");

	is_int(gv_tab_table(t, &e), 1, "table 1");
	is_int(gv_tab_next(t, &e), 1, "its first row");
	is_int(gv_tab_table(t, &e), 1, "table 2: the rest of 1 is passed");
	ok(gv_tab_is_tsv(t), "each table has its own dialect");
	is_int(gv_tab_find(t, "a"), -1, "and names");
	is_int(gv_tab_next(t, &e), 1, "its row");
	ok(gv_cell_is(gv_tab_cell(t, 1), "6"), "its cell");
	is_int(gv_tab_next(t, &e), 0, "its end");
	is_int(gv_tab_table(t, &e), 1, "table 3");
	is_int(e.count, 0, "no error yet");
	is_int(gv_tab_next(t, &e), -1, "bad quoting");
	is_int(gv_tab_next(t, &e), 0, "ends the table");
	is_int(gv_tab_table(t, &e), 0, "and the stream");
	is_int(e.count, 1, "with one error");
	gv_tab_close(t);

	t = tab_of("a,b\n1,2\n3\n4,5\n\nc\n");
	gv_error_clear(&e);
	is_int(gv_tab_table(t, &e), 1, "a table");
	is_int(gv_tab_table(t, &e), -1, "a bad row that is passed is an error, too");
	is_str(e.text[0], "t.csv:3: expected 2 cells, got 1", "of that row");
	is_int(gv_tab_table(t, &e), 1, "and the next table is there");
	gv_tab_close(t);

	t = tab_of("a,b\n1,2\n3\n4,5\n6\n\nc\n");
	gv_error_clear(&e);
	is_int(gv_tab_table(t, &e), 1, "a table");
	is_int(gv_tab_table(t, &e), -1, "two bad rows that are passed");
	is_int(e.count, 2, "are two errors");
	gv_tab_close(t);

	t = tab_of("a,a\n1,2\n\nc\n");
	is_int(gv_tab_table(t, &e), -1, "a bad header");
	is_int(gv_tab_columns(t), 0, "leaves no columns");
	is_int(gv_tab_next(t, &e), 0, "no rows");
	is_int(gv_tab_table(t, &e), 0, "and no further table");
	gv_tab_close(t);

	t = tab_of("a\n1\n\nc\n2\n");
	gv_error_clear(&e);
	is_int(gv_tab_table(t, &e), 1, "the table");
	is_int(gv_tab_last(t, &e), -1, "is not the last");
	is_str(e.text[0],
	    "t.csv:4: expected one table, got a second one after an empty line",
	    "says where");
	gv_tab_close(t);
	t = tab_of("a\n1\n2\n\n\n");
	is_int(gv_tab_table(t, &e), 1, "the table");
	is_int(gv_tab_last(t, &e), 0, "is the last");
	gv_tab_close(t);
}

/* From a file, which must hold one table. */
static void
test_load(void)
{
	static const struct {
		const char *text, *error;
	} cases[] = {{"a,b\n1,2\n\n\n", NULL},
	    {"a,b\n1,2\n\nc\n3\n",
		":4: expected one table, got a second one after an empty line"},
	    {"a,b\n1,2\n\n,,\n3\n",
		":4: expected one table, got a second one after an empty line"},
	    {"a,b\n1,2\n\n\"", ":4: unterminated quote"},
	    {"a,b\n1\n", ":2: expected 2 cells, got 1"},
	    {"", ": expected a table with a header line, got nothing"}};
	char path[] = "/tmp/gv-table.XXXXXX";
	int fd = mkstemp(path);
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gv_error e = {0};
		struct gv_frame f;
		int r;

		if (ftruncate(fd, 0) != 0 ||
		    pwrite(fd, cases[i].text, strlen(cases[i].text), 0) < 0)
			abort();
		r = gv_frame_load(&f, path, &e);
		if (cases[i].error == NULL)
			ok(r == 0 && f.n_rows == 1 && e.count == 0, "load");
		else
			ok(r == -1 && f.n_rows == 0 && e.count == 1 &&
				strcmp(e.text[0] + strlen(path), cases[i].error) == 0,
			    "load: %s", cases[i].error);
		gv_frame_free(&f);
	}
	close(fd);
	unlink(path);
}

static void
test_frame(void)
{
	static const struct gv_cell names[] = {{"p", 1}, {"qq", 2}};
	static const struct gv_cell cells[] = {{"xyz", 2}, {"", 0}};
	struct gv_error e = {0};
	struct gv_frame f = {0};
	struct gv_tab *t = tab_of("name,n,x\na,1,0.5\n\"b\nc\",,\nd,x,nan\n");
	ptrdiff_t name, n, x;
	int64_t i;
	double v;

	gv_frame_free(&f); /* a zeroed one */
	is_int(gv_tab_table(t, &e), 1, "a table");
	is_int(gv_frame_read(&f, t, &e), 0, "read whole");
	gv_tab_close(t);
	is_int(f.n_rows, 3, "rows");
	is_int(f.n_columns, 3, "columns");
	is_str(f.file, "t.csv", "its file");
	is_int(f.line[2], 5, "the line of a row");
	ok(gv_frame_require(&f, "name", &name, &e) == 0 && name == 0, "require");
	ok(gv_frame_require(&f, "n", &n, &e) == 0 && n == 1, "require n");
	x = gv_frame_find(&f, "x");
	is_int(x, 2, "find");
	is_int(gv_frame_require(&f, "y", &i, &e), -1, "a missing column");
	is_int(i, -1, "is -1");
	is_str(e.text[0], "t.csv:1: missing column \"y\" (found: name, n, x)",
	    "says what is there");
	ok(cell_is(&f, 1, name, "b\nc") && cell_is(&f, 1, n, "") &&
		cell_is(&f, 2, n, "x"),
	    "cells");
	is_str(gv_frame_cell(&f, 0, x).s, "0.5", "cells end in NUL");
	is_str(gv_frame_cell(&f, 1, -1).s, "", "a column that is not there is empty");
	ok(gv_frame_int(&f, 0, n, INT64_MIN, &i, &e) == 0 && i == 1, "an int");
	ok(gv_frame_int(&f, 1, n, 7, &i, &e) == 0 && i == 7,
	    "an absent one has a default");
	ok(gv_frame_double(&f, 0, x, NAN, &v, &e) == 0 && v == .5, "a double");
	ok(gv_frame_double(&f, 0, -1, 2.5, &v, &e) == 0 && v == 2.5,
	    "the default of no column");
	is_int(e.count, 1, "no errors so far");
	is_int(gv_frame_int(&f, 1, n, INT64_MIN, &i, &e), -1, "an int is needed");
	is_int(gv_frame_int(&f, 2, n, 7, &i, &e), -1, "x is none, default or not");
	is_int(gv_frame_double(&f, 1, x, NAN, &v, &e), -1, "a double is needed");
	is_int(gv_frame_double(&f, 2, x, 1, &v, &e), -1, "nan is none");
	is_int(gv_frame_double(&f, 2, -1, NAN, &v, &e), -1, "nor is no column");
	is_int(gv_frame_error(&f, 1, name, &e, "duplicate"), -1, "an error of one's own");
	is_str(e.text[1], "t.csv:3: n: expected an integer, got nothing", "message");
	is_str(e.text[2], "t.csv:5: n: expected an integer, got \"x\"", "message");
	is_str(e.text[3], "t.csv:3: x: expected a number, got nothing", "message");
	is_str(e.text[4], "t.csv:5: x: expected a number, got \"nan\"", "message");
	is_str(e.text[5], "t.csv:5: expected a number, got nothing", "message");
	is_str(e.text[6], "t.csv:3: name: duplicate", "message");
	gv_frame_free(&f);
	gv_frame_free(&f);

	gv_frame_start(&f, "made", true, names, 2);
	for (i = 0; i < 1000; i++)
		gv_frame_add(&f, cells, (long)i);
	is_int(f.n_rows, 1000, "a made table");
	ok(f.tsv && f.line[999] == 999 && cell_is(&f, 999, 0, "xy") &&
		cell_is(&f, 0, 1, ""),
	    "has what was put in");
	is_str(f.name[1].s, "qq", "its names");
	gv_frame_free(&f);

	test_load();
	gv_error_clear(&e);
	is_int(gv_frame_load(&f, "/nonexistent/table", &e), -1,
	    "load a file that is not there");
	is_str(e.text[0], "/nonexistent/table: cannot open: No such file or directory",
	    "message");
	is_int(f.n_rows, 0, "leaves an empty table");
	gv_frame_free(&f);
}

/* A cell of a drawn table: few kinds, the more alike the further to the left. */
static const char *
drawn_cell(uint32_t draw, uint32_t row, uint32_t column)
{
	static const char *const text[] = {
	    "", "a", "b", "aa", "a longer cell, with a comma"};
	uint32_t block = 1 + gv_random(3, draw, column, 0) % 4;

	return text[gv_random(4, draw, row / block, column) % 5];
}

/* Cells that rows have in common at their start are kept once, and are what was put in. */
static void
test_alike(void)
{
	enum { COLUMNS = 4, ROWS = 40, DRAWS = 60 };
	struct gv_cell cell[COLUMNS];
	bool same = true, alike = true, once = false;
	struct gv_frame f;
	uint32_t draw, i, k, c;

	for (draw = 0; draw < DRAWS; draw++) {
		for (c = 0; c < COLUMNS; c++)
			cell[c] = (struct gv_cell){"n", 1};
		gv_frame_start(&f, "drawn", false, cell, COLUMNS);
		for (i = 0; i < ROWS; i++) {
			for (c = 0; c < COLUMNS; c++) {
				cell[c].s = drawn_cell(draw, i, c);
				cell[c].len = strlen(cell[c].s);
			}
			gv_frame_add(&f, cell, (long)i);
		}
		for (i = 0; i < ROWS; i++)
			for (c = 0; c < COLUMNS; c++) {
				const struct gv_cell is = gv_frame_cell(&f, i, c);

				same = same &&
				       strcmp(is.s, drawn_cell(draw, i, c)) == 0 &&
				       is.len == strlen(is.s);
			}
		for (i = 0; i < ROWS; i++)
			for (k = 0; k < ROWS; k++)
				for (c = 0; c < gv_frame_alike(&f, i, k); c++) {
					alike = alike &&
						gv_cell_equal(gv_frame_cell(&f, i, c),
						    gv_frame_cell(&f, k, c));
					once = once || i != k;
				}
		gv_frame_free(&f);
	}
	ok(same, "cells of rows that begin alike are what was put in");
	ok(alike && once, "those that are known to be alike are");
	for (c = 0; c < COLUMNS; c++)
		cell[c] = (struct gv_cell){"same", 4};
	gv_frame_start(&f, "made", false, cell, COLUMNS);
	for (i = 0; i < 9; i++) {
		cell[1].s = i < 4 ? "job1" : "job2";
		cell[2].len = i % 4;
		gv_frame_add(&f, cell, 1);
	}
	ok(gv_frame_cell(&f, 1, 1).s == gv_frame_cell(&f, 3, 1).s &&
		gv_frame_cell(&f, 5, 1).s == gv_frame_cell(&f, 8, 1).s &&
		gv_frame_alike(&f, 1, 3) == 2 && gv_frame_alike(&f, 5, 8) == 2,
	    "what a job's rows have in common is there once, also behind what all have");
	gv_frame_free(&f);
}

/* What is written, then read by the reader: the same. */
static void
test_write(void)
{
	struct gv_strbuf s = {0};
	struct gv_error e = {0};
	struct gv_out *out = gv_out_memory(&s);
	struct gv_tabw w;

	gv_tabw_init(&w, out, false);
	gv_tabw_str(&w, "a");
	gv_tabw_str(&w, "b c");
	gv_tabw_str(&w, "d\te");
	gv_tabw_end(&w);
	gv_tabw_double(&w, 0.1);
	gv_tabw_double(&w, NAN);
	gv_tabw_double(&w, -0.0);
	gv_tabw_end(&w);
	gv_tabw_int(&w, INT64_MIN);
	gv_tabw_double(&w, -INFINITY);
	gv_tabw_empty(&w);
	gv_tabw_end(&w);
	gv_tabw_str(&w, "x,\"y\"");
	gv_tabw_str(&w, " \t;'\\");
	gv_tabw_str(&w, "\n");
	gv_tabw_end(&w);
	is_int(gv_out_close(out, &e), 0, "close");
	is_str(s.s,
	    "a,b c,\"d\te\"\n0.1,,0\n-9223372036854775808,,\n\"x,\"\"y\"\"\", "
	    "\t;'\\,\"\n\"\n",
	    "CSV");
	gv_strbuf_clear(&s);

	out = gv_out_memory(&s);
	gv_tabw_init(&w, out, true);
	gv_tabw_str(&w, "a");
	gv_tabw_str(&w, "b\tc");
	gv_tabw_end(&w);
	gv_tabw_str(&w, "\"x\", \r\n");
	gv_tabw_str(&w, "\\n");
	gv_tabw_end(&w);
	ok(s.len == 0, "nothing is there while a table is being written");
	gv_tabw_between(&w);
	ok(s.len > 0 && s.s[s.len - 1] == '\n', "but behind it");
	gv_tabw_str(&w, "one");
	gv_tabw_end(&w);
	gv_tabw_empty(&w);
	gv_tabw_end(&w);
	gv_tabw_str(&w, "x,");
	gv_tabw_end(&w);
	gv_tabw_between(&w);
	gv_tabw_str(&w, "p");
	gv_tabw_str(&w, "q");
	gv_tabw_end(&w);
	gv_tabw_empty(&w);
	gv_tabw_empty(&w);
	gv_tabw_end(&w);
	is_int(gv_out_close(out, &e), 0, "close");
	is_str(s.s, "a\tb\\tc\n\"x\", \\r\\n\t\\\\n\n\none\n\"\"\n\"x,\"\n\np\tq\n\t\n",
	    "TSV; a table of one column in it is CSV");
	gv_strbuf_free(&s);
}

/* The rows of a table of two columns, -1 when it is refused; who splits them is asked. */
static int
rows_of(const char *s, bool only_libcsv, struct gv_error *e)
{
	static struct gv_rows r;
	struct gv_in *in;
	enum gv_rows_result result;
	int n = 0;

	gv_error_clear(e);
	if (gv_in_memory(&in, "t.csv", s, strlen(s), 3, e) != 0)
		return -1;
	r.in = in;
	r.only_libcsv = only_libcsv;
	gv_rows_init(&r);
	result = gv_rows_header(&r, e);
	while (result == GV_ROWS_ROW || result == GV_ROWS_BLANK) {
		n += result == GV_ROWS_ROW;
		result = gv_rows_next(&r, e);
	}
	gv_rows_free(&r);
	gv_in_close(in);
	return result == GV_ROWS_ERROR ? -1 : n;
}

/* A carriage return belongs to a line feed, or stands within quotes: at the end, too. */
static void
test_carriage_returns(void)
{
	static const struct {
		const char *text;
		int rows;
	} of[] = {
	    {"a,b\r\n1,2\r\n", 2},
	    {"a,b\n1,2", 2},
	    {"a,b\n1,2\r", -1},
	    {"a,b\n1,2\r\r", -1},
	    {"a,b\n1,2\r\r\n", -1},
	    {"a,b\n1,\"2\"\r", -1},
	    {"a,b\n1,\"2\"\r\n", 2},
	    {"a,b\n1,\"2\r\"", 2},
	    {"a,b\n1,\r", -1},
	    {"a,b\n\r", -1},
	    {"a,b\r", -1},
	    {"\r", -1},
	    {"a,b\n1,2\r3,4\n", -1},
	    {"a,b\n1,2\n\r\n", 2},
	    {"a\tb\n1\t2\r", -1},
	    {"a\tb\n1\t2\r\n", 2},
	    {"a,b\n1,\"x\r\ny\"\r\n3,4\n", 3},
	};
	size_t k;

	for (k = 0; k < 2 * sizeof(of) / sizeof(of[0]); k++) {
		struct gv_error e = {0};
		int n = rows_of(of[k / 2].text, k % 2, &e);

		is_int(n, of[k / 2].rows, "carriage returns: table %zu%s", k / 2,
		    k % 2 ? " by libcsv" : "");
		if (of[k / 2].rows < 0)
			ok(e.count == 1 &&
				strstr(e.text[0],
				    "carriage return without a line feed") != NULL,
			    "it is said");
	}
}

/* The bytes up to the end of the first table, by the reader of tables. */
static bool
ends_by_reader(const char *s, size_t len)
{
	struct gv_error e = {0};
	struct gv_in *in;
	struct gv_tab *t;
	bool paused = false;

	if (gv_in_memory(&in, "m", s, len, 0, &e) != 0)
		return false;
	t = gv_tab_from(in);
	if (gv_tab_table(t, &e) == 1) {
		while (gv_tab_next(t, &e) == 1)
			;
		paused = e.count == 0 && gv_tab_paused(t);
	}
	gv_tab_close(t);
	return paused;
}

static void
test_end(void)
{
	static const char *const piece[] = {"a", "\"", "\"\"", ",", "\t", "\n", "\r\n",
	    "\n\n", "b,c", "\"x\ny\"", "\"\n\"", "\\"};
	long ended = 0;
	long wrong = 0;
	int trial;

	for (trial = 0; trial < 50000; trial++) {
		struct gv_table_end whole = {0};
		struct gv_table_end parts = {0};
		char s[128] = "";
		size_t n = 1 + below(14);
		size_t len, at, i;

		draws_begin((uint64_t)trial, 7, 7);
		if (below(20) == 0)
			strcat(s, "\xef\xbb\xbf");
		for (i = 0; i < n; i++)
			strcat(s, piece[below(sizeof(piece) / sizeof(piece[0]))]);
		len = strlen(s);
		at = gv_table_end(&whole, s, len);
		for (i = 0; i < len && !parts.found; i++)
			gv_table_end(&parts, s + i, 1);
		wrong += parts.found != whole.found || (whole.found && i != at);
		/* the reader sees the end behind these bytes and not a byte before; what is
		   no table, it need not see */
		if (whole.found && ends_by_reader(s, at)) {
			ended++;
			wrong += ends_by_reader(s, at - 1);
		} else {
			wrong += !whole.found && ends_by_reader(s, len);
		}
	}
	is_int(wrong, 0, "tables end where the reader says, byte by byte too");
	ok(ended > 1250, "and many did (%ld)", ended);
}

/* The names of a list "a, b, c" that ends at end, as cells; how many. */
static size_t
listed(struct gv_cell *name, const char *s, const char *end)
{
	size_t n = 0;

	while (s < end) {
		const char *comma = strchr(s, ',');
		const char *to = comma == NULL || comma > end ? end : comma;

		name[n++] = (struct gv_cell){s, (size_t)(to - s)};
		s = to + 2;
	}
	return n;
}

/*
 * What is said to be expected of a kind of table is a table of that kind, which is
 * taken for no other; one column less is not.
 */
static void
test_kinds(void)
{
	static const struct gv_cell trees[] = {
	    {"dst", 3}, {"src", 3}, {"weight", 6}, {"root", 4}, {"tree", 4}};
	static const struct gv_cell loss[] = {{"loss", 4}, {"step", 4}};
	static const struct gv_cell lines[] = {{"src;dst", 7}};
	static const struct gv_cell own[] = {{"src;x", 5}, {"b", 1}};
	int kind;

	for (kind = 0; kind < GV_KINDS; kind++) {
		bool tree = kind == GV_KIND_TREES;
		struct gv_frame f = {0};
		struct gv_error e = {0};
		struct gv_cell name[8];
		char end[100], *columns;
		size_t n;

		gv_frame_start(&f, "x", false, tree ? loss : trees, tree ? 2 : 5);
		is_int(gv_frame_expect(&f, kind, &e), -1, "another table");
		snprintf(end, sizeof(end), "x: this is %s; expected %s (",
		    gv_kind_name(tree ? GV_KIND_LOSSES : GV_KIND_TREES),
		    gv_kind_name(kind));
		ok(e.count == 1 && strncmp(e.text[0], end, strlen(end)) == 0, "%s...",
		    end);
		columns = e.text[0] + strlen(end);
		n = listed(name, columns, strchr(columns, ')'));
		ok(n >= 2, "its columns");
		is_int(gv_kind_of(name, n), kind, "%s is what it is", gv_kind_name(kind));
		ok((int)gv_kind_of(name, n - 1) != kind, "and is not without the last");
		ok((int)gv_kind_of(name + 1, n - 1) != kind, "nor without the first");
		gv_frame_free(&f);
	}
	is_str(gv_kind_name(GV_KIND_NONE), "a table of another program", "of another");
	for (kind = 0; kind < 2; kind++) {
		struct gv_frame f = {0};
		struct gv_error e = {0};

		gv_frame_start(
		    &f, "x", false, kind == 0 ? lines : own, kind == 0 ? 1 : 2);
		is_int(gv_frame_expect(&f, GV_KIND_EDGES, &e), kind == 0 ? -1 : 0,
		    "one column of names with semicolons is no table");
		gv_frame_free(&f);
	}
}

/* A missing column: as many of those found as the message has room for. */
static void
test_missing(void)
{
	size_t n, len;

	for (n = 1; n < 60; n++)
		for (len = 1; len < 8; len += 3) {
			char header[1000] = "",
			     want[1000] = "t.csv:1: missing column \"zq\" (found: ";
			struct gv_error e = {0};
			struct gv_tab *t;
			size_t i, used = 0, column;
			bool cut = false;

			for (i = 0; i < n; i++) {
				char name[64];
				int k = snprintf(name, sizeof(name), "%s%.*s%02zu",
				    i > 0 ? ", " : "", (int)len, "kwjkwjkwj", i);

				strcat(header, i > 0 ? "," : "");
				strcat(header, name + (i > 0 ? 2 : 0));
				cut = cut || used + (size_t)k + 5 + 1 > 200;
				if (!cut)
					strcat(want, name);
				used += (size_t)k;
			}
			strcat(header, "\n");
			strcat(want, cut ? ", ...)" : ")");
			t = tab_of(header);
			gv_tab_table(t, &e);
			is_int(
			    gv_tab_require(t, "zq", &column, &e), -1, "a missing column");
			is_str(e.text[0], want, "the names found");
			gv_tab_close(t);
		}
}

/* None of them has room. */
static void
test_missing_long(void)
{
	struct gv_error e = {0};
	char header[400];
	size_t column;
	struct gv_tab *t;

	memset(header, 'k', sizeof(header));
	header[sizeof(header) - 2] = '\n';
	header[sizeof(header) - 1] = '\0';
	t = tab_of(header);
	gv_tab_table(t, &e);
	gv_tab_require(t, "zq", &column, &e);
	is_str(e.text[0], "t.csv:1: missing column \"zq\" (found: ...)",
	    "a name that is too long");
	gv_tab_close(t);
}

/* Columns that are probably a misspelling of a known one that is not there. */
static void
test_names(void)
{
	static const char *const known[] = {"gpu_type", "steps_per_s", "job_id"};
	static const struct {
		const char *header;
		size_t warnings;
		const char *first;
	} row[] = {
	    {"gpu_type,steps_per_s,job_id,other", 0, ""},
	    {"gpu_typ,steps_per_s", 1,
		"t.csv:3: column \"gpu_typ\" is not known; is \"gpu_type\" meant?"},
	    {"gpu_type,gpu_typ", 0, ""},
	    {"gpu_typ,gpu_type", 0, ""},
	    {"a,Job-ID,step_per_s,gpu_types", 3,
		"t.csv:3: column \"Job-ID\" is not known; is \"job_id\" meant?"},
	    {"x,y,z", 0, ""},
	};
	size_t i, n;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct gv_cell name[8];
		struct gv_error w = {0};
		const char *s = row[i].header;

		for (n = 0; *s != '\0'; n++) {
			name[n] = (struct gv_cell){.s = s, .len = strcspn(s, ",")};
			s += name[n].len;
			s += *s == ',';
		}
		gv_names_warn(name, n, known, 3, "t.csv", 3, &w);
		is_int(w.count, row[i].warnings, "%s: columns that are looked at twice",
		    row[i].header);
		is_str(w.text[0], row[i].first, "which one is meant");
		gv_names_warn(name, n, known, 0, "t.csv", 3, &w);
		is_int(w.count, row[i].warnings, "none where none is known");
	}
}

/* Rows in any other order, with their lines; also of none. */
static void
test_sort(void)
{
	static const size_t order[][4] = {
	    {0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}, {2, 2, 2, 0}};
	size_t i, k;

	for (k = 0; k < 4; k++) {
		struct gv_tab *t = tab_of("n,x\n0,a\n1,b\n2,\"c\nd\"\n3,e\n");
		struct gv_error e = {0};
		struct gv_frame f = {0};
		struct gv_frame_row *row[4];
		size_t rows = 0, lines = 0;
		long line[4];

		is_int(gv_tab_table(t, &e), 1, "a table");
		is_int(gv_frame_read(&f, t, &e), 0, "four rows");
		memcpy(row, f.row, sizeof(row));
		memcpy(line, f.line, sizeof(line));
		gv_frame_sort(&f, order[k]);
		for (i = 0; i < 4; i++) {
			rows += f.row[i] == row[order[k][i]];
			lines += f.line[i] == line[order[k][i]];
		}
		is_int(f.n_rows, 4, "as many");
		is_int(rows, 4, "in the order %zu %zu %zu %zu", order[k][0], order[k][1],
		    order[k][2], order[k][3]);
		is_int(lines, 4, "with their lines");
		memcpy(f.row, row, sizeof(row));
		gv_frame_free(&f);
		gv_tab_close(t);
	}
	{
		struct gv_frame none = {0};

		gv_frame_sort(&none, order[0]);
		is_int(none.n_rows, 0, "no rows");
	}
}

int
main(void)
{
	void *dirt[20], *guard;
	int i;

	/* memory to be given out again: what is never set then shows */
	for (i = 0; i < 20; i++)
		dirt[i] = memset(gv_xrealloc(NULL, 100000, 1), 0xa5, 100000);
	guard = gv_xrealloc(NULL, 1, 1);
	while (i > 0)
		free(dirt[--i]);
	test_rows();
	test_carriage_returns();
	test_several();
	test_frame();
	test_alike();
	test_write();
	test_end();
	test_kinds();
	test_missing();
	test_missing_long();
	test_names();
	test_sort();
	free(guard);
	return done_testing();
}
