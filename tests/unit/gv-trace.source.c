/*
 * Rows of traces in columns under any of their names (source/source.h): random tables,
 * written in all the ways in which they may come, read back as they were; what is too long
 * or too wide to the byte; numbers and dates; and what instances lived (prices/markets.h)
 * beside sums by hand.
 */
#include "tap.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fileio.h"
#include "base/strbuf.h"
#include "draws.h"
#include "gv-trace/convert/formats.h"
#include "gv-trace/prices/markets.h"
#include "gv-trace/source/source.h"

enum { COLUMNS = 6, OTHERS = 5, ROWS = 12, TRIALS = 600 };
enum how { TABLE, TSV, LINES, BARE, WAYS };

static char path[] = "/tmp/gv-source.XXXXXX";

static const struct wanted wanted[COLUMNS] = {
    {{"a", "a1", "a2", "a3"}, true},
    {{"b", "b1"}, false},
    {{"c"}, true},
    {{"d", "d1", "d2"}, false},
    {{"e"}, false},
    {{"f", "f1"}, false},
};

static void
put(const struct gv_strbuf *b)
{
	struct gv_error e = {0};

	if (gv_file_write(path, b->len > 0 ? b->s : "", b->len, &e) != 0)
		gv_die_error(&e);
}

static int
open_as(struct source *s, enum how how, char delimiter, struct gv_error *e)
{
	return how == LINES  ? source_lines(s, path, delimiter, wanted, COLUMNS, e)
	       : how == BARE ? source_bare(s, path, delimiter, wanted, COLUMNS, e)
			     : source_table(s, path, wanted, COLUMNS, e);
}

/* ---- tables that are read back ---- */

struct drawn {
	enum how how;
	char delimiter;
	size_t n_rows, n_columns;
	ptrdiff_t which[COLUMNS + OTHERS]; /* of wanted; -1 = another one */
	size_t name[COLUMNS + OTHERS];
	char cell[ROWS][COLUMNS + OTHERS][12];
	size_t n_cells[ROWS]; /* n_columns, but for bare lines */
	long line[ROWS];
};

static void
draw_columns(struct drawn *t)
{
	size_t k, i;

	t->n_columns = 0;
	for (k = 0; k < COLUMNS; k++) {
		size_t names = 0;

		while (names < SOURCE_NAMES && wanted[k].name[names] != NULL)
			names++;
		if (t->how != BARE && !wanted[k].must && below(3) == 0)
			continue;
		t->which[t->n_columns] = (ptrdiff_t)k;
		t->name[t->n_columns++] = below(names);
	}
	if (t->how == BARE)
		return;
	for (k = below(OTHERS); k-- > 0;)
		t->which[t->n_columns++] = -1;
	for (i = t->n_columns; i-- > 1;) {
		size_t j = below(i + 1), name = t->name[i];
		ptrdiff_t which = t->which[i];

		t->which[i] = t->which[j];
		t->name[i] = t->name[j];
		t->which[j] = which;
		t->name[j] = name;
	}
}

static void
end_line(struct gv_strbuf *b, long *line, bool last)
{
	if (!last || below(2) == 0)
		gv_strbuf_str(b, below(3) == 0 ? "\r\n" : "\n");
	++*line;
}

/* Draws a table and writes it. */
static void
draw_table(struct drawn *t, struct gv_strbuf *b)
{
	bool header;
	long line = 1;
	size_t i, k;

	t->how = (enum how)below(WAYS);
	t->delimiter = t->how == TABLE ? ',' : t->how == TSV ? '\t' : "|,\t;"[below(4)];
	header = t->how != BARE || below(2) == 0;
	t->n_rows = below(ROWS) + (header ? 0 : 1);
	if (t->n_rows > ROWS)
		t->n_rows = ROWS;
	draw_columns(t);
	gv_strbuf_clear(b);
	for (k = 0; header && k < t->n_columns; k++) {
		if (t->how == BARE)
			t->name[k] = 0;
		gv_strbuf_fmt(b, "%.*s", k > 0, &t->delimiter);
		if (t->which[k] >= 0)
			gv_strbuf_str(b, wanted[t->which[k]].name[t->name[k]]);
		else
			gv_strbuf_fmt(b, "other%zu", k);
	}
	if (header)
		end_line(b, &line, t->n_rows == 0);
	for (i = 0; i < t->n_rows; i++) {
		while (t->how >= LINES && below(4) == 0)
			end_line(b, &line, false); /* an empty one */
		t->line[i] = line;
		t->n_cells[i] = t->how == BARE ? 1 + below(t->n_columns) : t->n_columns;
		for (k = 0; k < t->n_cells[i]; k++) {
			/* never an empty line, nor one that looks like the header */
			snprintf(t->cell[i][k], sizeof(t->cell[i][k]), "%.*s",
			    k == 0 ? 3 + (int)below(5) : (int)below(9),
			    &"x y\"zuvw"[t->how < LINES ? 4 : 0]);
			if (k == 0)
				t->cell[i][k][0] = 'r';
			gv_strbuf_fmt(b, "%.*s%s", k > 0, &t->delimiter, t->cell[i][k]);
		}
		end_line(b, &line, i + 1 == t->n_rows);
	}
}

/* In how many things what is read differs. */
static long
read_back(const struct drawn *t)
{
	struct gv_error e = {0};
	struct source s;
	long wrong = 0;
	size_t i, k, c;

	if (open_as(&s, t->how, t->delimiter, &e) != 0) {
		printf("# %s\n", e.text[0]);
		return 1;
	}
	for (i = 0; i < t->n_rows; i++) {
		wrong += source_next(&s, &e) != 1 || s.line != t->line[i] ||
			 s.n_cells != t->n_cells[i];
		for (k = 0; k < COLUMNS; k++) {
			const char *want = "";

			for (c = 0; c < t->n_cells[i] && t->which[c] != (ptrdiff_t)k; c++)
				;
			if (c < t->n_cells[i])
				want = t->cell[i][c];
			wrong += source_has(&s, k) != (c < t->n_cells[i]) ||
				 !gv_cell_is(source_cell(&s, k), want);
		}
	}
	for (i = 0; i < 3; i++)
		wrong += source_next(&s, &e) != 0;
	for (c = 0; c < t->n_columns; c++)
		if (t->which[c] >= 0 && t->how != BARE) {
			char want[64];

			gv_error_clear(&e);
			wrong +=
			    source_error(&s, (size_t)t->which[c], &e, "no %d", 7) != -1;
			snprintf(want, sizeof(want), ": %s: no 7",
			    wanted[t->which[c]].name[t->name[c]]);
			wrong += strstr(e.text[0], want) == NULL;
		}
	gv_error_clear(&e);
	source_close(&s);
	return wrong + (long)e.count;
}

static void
test_tables(void)
{
	struct gv_strbuf b = {0};
	long wrong = 0;
	int trial;

	for (trial = 0; trial < TRIALS; trial++) {
		static struct drawn t;

		draws_begin((uint64_t)trial, 1, 0);
		draw_table(&t, &b);
		put(&b);
		if (read_back(&t) > 0 && wrong++ == 0)
			printf("# table %d, way %d, differs:\n# %s\n", trial, t.how, b.s);
	}
	is_int(wrong, 0, "%d tables are read as they were written", TRIALS);
	gv_strbuf_free(&b);
}

/* ---- limits ---- */

/* So many bytes of a cell in front of ",2,3" in a line of its own. */
static void
long_line(struct gv_strbuf *b, size_t len, const char *end)
{
	while (len-- > 4)
		gv_strbuf_char(b, 'x');
	gv_strbuf_fmt(b, ",2,3%s", end);
}

static void
test_long(void)
{
	static const struct {
		size_t first, second;
		const char *end;
		int rows;
	} t[] = {{SOURCE_LINE, 10, "\n", 2}, {10, SOURCE_LINE, "\n", 2},
	    {10, SOURCE_LINE, "", 2}, {SOURCE_LINE, SOURCE_LINE, "\r\n", 2},
	    {SOURCE_LINE + (1 << 17), 10, "\n", -1},
	    {10, SOURCE_LINE + (1 << 17), "", 1}};
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct gv_strbuf b = {0};
		struct gv_error e = {0};
		struct source s;
		int rows = 0;

		long_line(&b, t[i].first, "\n");
		long_line(&b, t[i].second, t[i].end);
		put(&b);
		if (open_as(&s, BARE, ',', &e) != 0) {
			rows = -1;
		} else {
			while (source_next(&s, &e) == 1)
				rows += gv_cell_is(source_cell(&s, 2), "3");
			source_close(&s);
		}
		is_int(rows, t[i].rows, "lines of %zu and %zu bytes", t[i].first,
		    t[i].second);
		if (t[i].rows < 2)
			ok(e.count == 1 &&
				strstr(e.text[0], ": a line over 1 MiB") != NULL &&
				strstr(e.text[0], t[i].rows == 1 ? ":2:" : ":1:") != NULL,
			    "say so");
		else
			is_int(e.count, 0, "are no error");
		gv_strbuf_free(&b);
	}
}

static void
test_wide(void)
{
	enum how how;
	size_t n, k, row;

	for (how = TABLE; how < WAYS; how++)
		for (n = SOURCE_COLUMNS - 1; n <= SOURCE_COLUMNS + 1; n++) {
			char c = how == TSV ? '\t' : ',';
			struct gv_strbuf b = {0};
			struct gv_error e = {0};
			struct source s;
			bool fits = n <= SOURCE_COLUMNS;
			int rc;

			for (row = 0; row < 2; row++)
				for (k = 0; k < n; k++) {
					gv_strbuf_fmt(&b, "%.*s", k > 0, &c);
					if (k == 0 || k == n - 1)
						gv_strbuf_str(&b, k == 0 ? "a" : "c");
					else
						gv_strbuf_fmt(&b, "n%zu", k);
					gv_strbuf_str(&b, k == n - 1 ? "\n" : "");
				}
			put(&b);
			rc = open_as(&s, how, c, &e);
			is_int(rc, fits ? 0 : -1, "way %d, %zu columns", (int)how, n);
			if (rc == 0) {
				ok(source_next(&s, &e) == 1 && s.n_cells == n &&
					(how == BARE ||
					    gv_cell_is(source_cell(&s, 2), "c")),
				    "are read");
				source_close(&s);
			} else {
				ok(strstr(e.text[0], "more than 512 columns") != NULL,
				    "say so");
			}
			gv_strbuf_free(&b);
		}
}

/* What is wrong is said once, with its line. */
static void
bad(enum how how, const char *text, const char *sentence)
{
	struct gv_strbuf b = {0};
	struct gv_error e = {0};
	struct source s;
	char want[256];
	int row, n = 0;

	gv_strbuf_str(&b, text);
	put(&b);
	gv_strbuf_free(&b);
	if (open_as(&s, how, '|', &e) == 0) {
		/* as its callers do */
		while (e.count < GV_ERROR_KEPT && (row = source_next(&s, &e)) != 0)
			n++;
		source_close(&s);
	}
	snprintf(want, sizeof(want), "%s%s", path, sentence);
	is_int(e.count, 1, "one error");
	is_str(e.text[0], want, "says so");
}

static void
test_bad(void)
{
	bad(LINES, "", ": the trace is empty");
	bad(BARE, "\n\n", ": the trace is empty");
	bad(LINES, "a|c\n1|2\n\n1\n", ":4: expected 2 cells as in the header, got 1");
	bad(LINES, "a|c\n1|2|\n", ":2: expected 2 cells as in the header, got 3");
	bad(LINES, "a|x\n", ":1: missing column \"c\" (found: a, x)");
	bad(LINES, "x|c|y\n",
	    ":1: missing column \"a\" or \"a1\" or \"a2\" or \"a3\" (found: x, c, y)");
	bad(TABLE, "a,x\n", ":1: missing column \"c\" (found: a, x)");
	bad(TABLE, "a,c\n1,2\n3\n", ":3: expected 2 cells, got 1");
}

static void
test_values(void)
{
	static const struct {
		const char *cell;
		double number, time; /* HUGE_VAL = an error */
	} t[] = {{"", NAN, NAN}, {"None", NAN, NAN}, {"Unknown", NAN, NAN},
	    {"nan", NAN, NAN}, {"NaN", NAN, NAN}, {"NaT", NAN, NAN}, {"null", NAN, NAN},
	    {"none", HUGE_VAL, HUGE_VAL}, {"12.5", 12.5, 12.5}, {"1e3", 1000, 1000},
	    {"x", HUGE_VAL, HUGE_VAL}, {"1970-01-02T00:00:01", HUGE_VAL, 86401},
	    {"1970-01-02 00:00:01", HUGE_VAL, 86401},
	    {"1970-01-02T00:00:01.75", HUGE_VAL, 86401},
	    {"1970-01-02T00:00:01Z", HUGE_VAL, 86401},
	    {"2000-02-29T12:00:00", HUGE_VAL, 951825600},
	    {"2000-02-30T12:00:00", HUGE_VAL, HUGE_VAL},
	    {"1970-01-02T00:00:01.000000000000000000", HUGE_VAL, 86401},
	    {"1970-01-02T00:00:01.0000000000000000000", HUGE_VAL, 86401},
	    {"1970-01-02T00:00:01.00000000000000000000", HUGE_VAL, HUGE_VAL}};
	size_t i;
	int ways;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		for (ways = 0; ways < 2; ways++) {
			double want = ways == 0 ? t[i].number : t[i].time;
			struct gv_strbuf b = {0};
			struct gv_error e = {0};
			struct source s;
			double v = 0;
			int rc;

			gv_strbuf_fmt(&b, "a|c|e1\n1|2|3\n%s|y|z\n", t[i].cell);
			put(&b);
			gv_strbuf_free(&b);
			if (open_as(&s, LINES, '|', &e) != 0 ||
			    source_next(&s, &e) != 1 || source_next(&s, &e) != 1)
				printf("Bail out!\n");
			rc = ways == 0 ? source_number(&s, 0, &v, &e)
				       : source_time(&s, 0, &v, &e);
			source_close(&s);
			ok(want == HUGE_VAL
				? rc == -1 && e.count == 1 &&
				      strstr(e.text[0], ":3: a: expected a ") != NULL
				: rc == 0 && e.count == 0 &&
				      (isnan(want) ? isnan(v) : v == want),
			    "\"%s\" as a %s: %g", t[i].cell,
			    ways == 0 ? "number" : "time", v);
		}
}

/* ---- lives ---- */

static void
test_lives(void)
{
	static const char *const cloud[] = {"aws", "gcp"}, *const gpu[] = {
							       "K80", "V100", "t4"};
	static const char *const small[] = {"k80", "v100", "t4"};
	long wrong = 0;
	size_t once = 0;
	int trial;

	for (trial = 0; trial < 300; trial++) {
		double lived[2][3][2] = {{{0}}};
		size_t ended[2][3][2] = {{{0}}}, n[2][3][2] = {{{0}}};
		struct gv_strbuf b = {0};
		struct gv_error e = {0};
		struct market list[12];
		struct markets m = {.n = 12, .market = list};
		size_t i, rows;

		draws_begin((uint64_t)trial, 2, 0);
		gv_strbuf_str(&b, "cloud,gpu,gpus,start,end,outcome\n");
		rows = below(30);
		for (i = 0; i < rows; i++) {
			size_t c = below(2), g = below(3), k = below(2);
			double start = (double)below(1000), life = (double)below(500);
			bool preempted = below(2) == 0;

			gv_strbuf_fmt(&b, "%s,%s,%d,%.0f,%.0f,%s\n", cloud[c], gpu[g],
			    k == 0 ? 1 : 8, start, start + life,
			    preempted ? "preempted" : "alive_at_end");
			n[c][g][k]++;
			lived[c][g][k] += life;
			ended[c][g][k] += preempted;
		}
		put(&b);
		gv_strbuf_free(&b);
		for (i = 0; i < 12; i++)
			list[i] = (struct market){.cloud = {cloud[i / 6], 3},
			    .gpu_type = {small[i / 2 % 3], strlen(small[i / 2 % 3])},
			    .gpus = i % 2 == 0 ? 1 : 8,
			    .mttp_s = INFINITY};
		wrong += markets_lifetimes(&m, path, 77, &e) != 0;
		for (i = 0; i < 12; i++) {
			size_t c = i / 6, g = i / 2 % 3, k = i % 2;
			double want = n[c][g][k] == 0 ? 77
				      : ended[c][g][k] == 0
					  ? INFINITY
					  : lived[c][g][k] / (double)ended[c][g][k];

			wrong += list[i].mttp_s != want;
			once += ended[c][g][k] == 1;
		}
		wrong += markets_lifetimes(&m, NULL, 5, &e) != 0 || list[3].mttp_s != 5;
	}
	is_int(wrong, 0, "300 tables of lives: times to preemption");
	ok(once > 300, "%zu kinds of which one was preempted", once);
}

/* Of files that are not there nothing comes but one error. */
static void
test_no_file(void)
{
	static const char none[] = "/no/such/trace";
	size_t i;

	for (i = 0; i < 6; i++) {
		struct traced_list l = {0};
		struct gv_error e = {0};
		int rc = i == 0   ? philly_json_read(&l, none, &e)
			 : i == 1 ? philly_csv_read(&l, none, &e)
			 : i == 2 ? slurm_read(&l, none, &e)
			 : i == 3 ? alibaba_2020_read(&l, none, none, &e)
			 : i == 4 ? alibaba_2020_read(&l, path, none, &e)
				  : alibaba_2023_read(&l, none, &e);

		ok(rc == -1 && e.count == 1 && l.n == 0 &&
			strstr(e.text[0], none) == e.text[0],
		    "format %zu: no file", i);
		traced_free(&l);
	}
}

static int
open_descriptors(void)
{
	int n = 0;
	int fd;

	for (fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) != -1;
	return n;
}

int
main(void)
{
	int fd = mkstemp(path);
	int before;

	if (fd == -1)
		return 2;
	close(fd);
	before = open_descriptors();
	test_tables();
	test_long();
	test_wide();
	test_bad();
	test_values();
	test_lives();
	test_no_file();
	is_int(open_descriptors(), before, "all files are closed, also after errors");
	unlink(path);
	return done_testing();
}
