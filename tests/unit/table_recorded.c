/* Drawn tables, whole and broken, are read, looked at and written as before. */
#include "tap.h"

#include <string.h>

#include "draws.h"
#include "recorded_frame.h"
#include "recorded_out.h"
#include "table/end.h"
#include "table/kind.h"
#include "table/names.h"
#include "table/sort.h"

static struct gv_error e;

/* ---- bytes ---- */

static const char *const cells[] = {"a", "", "1", "-2.5", "x y", "\"q\"", "\"a,b\"",
    "\"a\"\"b\"", "\"\"", "1e3", "\\t", "a\\\\b", "\"two\nlines\"", "\\", "7",
    "9223372036854775808", "\xc3\xbc", "gpu_type", "job_id", "0", "\"\"\"\"", "\\n\\r",
    "ab", "abc", "gpu", "\x1f\x8bz", "\xef\xbb\xbfz"};
static const char *const odd[] = {"\"", "\r", "\n", "\n\n", "\t", ",", "a\"b", "\"a\"b",
    "\xef\xbb\xbf", "\r\n\r\n", "\"\r\"", "\"open", "\r\n", "\n\r\n", ";"};

enum { CELLS = sizeof(cells) / sizeof(cells[0]), ODD = sizeof(odd) / sizeof(odd[0]) };

static void
put_row(struct gv_strbuf *s, size_t columns, char delimiter, size_t wrong, bool names)
{
	size_t n = columns, k;

	if (wrong > 0 && below(wrong) == 0)
		n = below(columns + 2);
	for (k = 0; k < n; k++) {
		if (k > 0)
			gv_strbuf_char(s, delimiter);
		if (wrong > 0 && below(2 * wrong) == 0)
			gv_strbuf_str(s, odd[below(ODD)]);
		else if (names && below(9) > 0)
			gv_strbuf_fmt(s, "%sn%zu%s", k % 3 == 2 ? "\"" : "", k,
			    k % 3 == 2 ? "\"" : "");
		else
			gv_strbuf_str(s, cells[below(CELLS)]);
	}
	if (wrong > 0 && below(9 * wrong) == 0)
		gv_strbuf_add(s, "", 1);
}

/* Tables behind each other. */
static void
draw_stream(struct gv_strbuf *s, size_t wrong)
{
	size_t tables = below(12) == 0 ? 0 : 1 + below(3), i, k;
	const char *end = below(3) == 0 ? "\r\n" : "\n";

	if (below(5) == 0)
		gv_strbuf_str(s, "\xef\xbb\xbf");
	for (i = 0; i < tables; i++) {
		size_t columns = 1 + below(5), rows = below(6);
		char delimiter = below(3) == 0 ? '\t' : ',';

		for (k = below(5); k > 3; k--)
			gv_strbuf_str(s, end);
		put_row(s, columns, delimiter, wrong, true);
		gv_strbuf_str(s, end);
		for (k = 0; k < rows; k++) {
			put_row(s, columns, delimiter, wrong, false);
			gv_strbuf_str(s, end);
		}
		if (below(6) > 0)
			gv_strbuf_str(s, end);
	}
	if (below(3) == 0 && s->len > 0)
		s->len--;
	if (below(9) == 0 && s->len > 0)
		s->len = below(s->len);
}

/* ---- row by row ---- */

/* What is read of it, and the same written. */
static void
record_rows(struct recorded *r, const struct gv_strbuf *s, size_t piece, bool only_libcsv,
    struct gv_out *out, bool tsv)
{
	struct gv_tabw w;
	struct gv_tab *t;
	struct gv_in *in;
	size_t k;
	int got, more;

	gv_error_clear(&e);
	gv_in_memory(&in, "bytes", s->s, s->len, piece, &e);
	t = gv_tab_from(in);
	if (only_libcsv)
		gv_tab_only_libcsv(t);
	gv_tabw_init(&w, out, tsv);
	while ((more = gv_tab_table(t, &e)) > 0) {
		recorded_whole(r, gv_tab_is_tsv(t));
		recorded_whole(r, gv_tab_line(t));
		recorded_whole(r, (long long)gv_tab_kind(t));
		for (k = 0; k < gv_tab_columns(t); k++) {
			recorded_cell(r, gv_tab_name(t, k));
			gv_tabw_cell(&w, gv_tab_name(t, k));
		}
		gv_tabw_end(&w);
		while ((got = gv_tab_next(t, &e)) != 0) {
			recorded_whole(r, got);
			recorded_whole(r, gv_tab_line(t));
			recorded_whole(r, gv_tab_cut(t));
			for (k = 0; got > 0 && k < gv_tab_columns(t); k++) {
				recorded_cell(r, gv_tab_cell(t, k));
				gv_tabw_cell(&w, gv_tab_cell(t, k));
			}
			if (got > 0)
				gv_tabw_end(&w);
		}
		recorded_whole(r, gv_tab_paused(t));
		gv_tabw_between(&w);
	}
	recorded_whole(r, more);
	recorded_error(r, &e);
	gv_tab_close(t);
}

static uint64_t
rows_sum(const struct gv_strbuf *s, size_t piece, bool only_libcsv, struct gv_out *out,
    bool tsv)
{
	struct recorded r = {.sum = 1};

	record_rows(&r, s, piece, only_libcsv, out, tsv);
	return r.sum;
}

/* In pieces, by splitting and by libcsv it is the same. */
static size_t
ask_rows(struct recorded *r, const struct gv_strbuf *s)
{
	bool tsv = below(2) == 0;
	size_t piece = 1 + below(9);
	uint64_t sum = rows_sum(s, 0, false, answer_begin(), tsv);

	recorded_whole(r, (long long)sum);
	answer_end(r);
	return (rows_sum(s, piece, true, answer_begin(), tsv) != sum) +
	       (gv_out_close(answer_.out, &e) != 0);
}

/* ---- where a table ends ---- */

static size_t
ask_end(struct recorded *r, const struct gv_strbuf *s)
{
	struct gv_table_end whole = {0}, parts = {0};
	size_t at = gv_table_end(&whole, s->s, s->len), i = 0, n, took, bad;

	recorded_whole(r, (long long)at);
	while (i < s->len && !parts.found) {
		n = 1 + below(12);
		n = n < s->len - i ? n : s->len - i;
		took = gv_table_end(&parts, s->s + i, n);
		recorded_whole(r, (long long)took);
		recorded_whole(r, parts.found + 2 * parts.header + 4 * parts.tsv);
		recorded_whole(r, parts.quoted + 2 * parts.inside + 4 * parts.bom);
		i += took;
	}
	bad = i != at || whole.found != parts.found;
	if (!whole.found)
		return bad;
	/* the next one begins behind it */
	whole = (struct gv_table_end){0};
	recorded_whole(r, (long long)gv_table_end(&whole, s->s + at, s->len - at));
	return bad;
}

/* ---- whole tables ---- */

static void
ask_cells(struct recorded *r, const struct gv_frame *f)
{
	size_t row = below(f->n_rows), other = below(f->n_rows);
	ptrdiff_t column = (ptrdiff_t)below(f->n_columns + 1) - 1;
	double v = 0;
	int64_t n = 0;

	recorded_whole(r, (long long)gv_frame_alike(f, row, other));
	recorded_whole(
	    r, gv_frame_double(f, row, column, below(2) == 0 ? NAN : 7, &v, &e));
	recorded_double(r, v);
	recorded_whole(r, gv_frame_not_negative(f, row, column, 3, &v, &e));
	recorded_double(r, v);
	recorded_whole(
	    r, gv_frame_int(f, row, column, below(2) == 0 ? INT64_MIN : 5, &n, &e));
	recorded_whole(r, n);
	gv_frame_expected(f, row, column, &e, "%s of %d", "so much", 7);
	recorded_error(r, &e);
	gv_error_clear(&e);
}

static void
ask_frame(struct recorded *r, const struct gv_strbuf *s)
{
	ptrdiff_t column = -7;
	struct gv_frame f;
	size_t i, k;
	int rc;

	gv_error_clear(&e);
	rc = gv_frame_parse(&f, "whole", s->s, s->len, &e);
	recorded_whole(r, rc);
	recorded_error(r, &e);
	gv_error_clear(&e);
	if (rc != 0)
		return;
	recorded_frame(r, &f);
	recorded_whole(r, gv_frame_find(&f, "n1"));
	recorded_whole(r, gv_frame_require(&f, "n2", &column, &e));
	recorded_whole(r, column);
	for (i = 0; i < 3 && f.n_rows > 0; i++)
		ask_cells(r, &f);
	if (f.n_rows > 1) {
		size_t *order = gv_xcalloc(f.n_rows, sizeof(*order));

		for (i = 0; i < f.n_rows; i++)
			order[i] = i;
		for (i = f.n_rows; i > 1; i--) {
			k = below(i);
			column = (ptrdiff_t)order[k];
			order[k] = order[i - 1];
			order[i - 1] = (size_t)column;
		}
		gv_frame_sort(&f, order);
		free(order);
		recorded_frame(r, &f);
	}
	gv_frame_free(&f);
}

/* ---- names ---- */

static const char *const known[] = {"job_id", "gpu_type", "steps_per_s", "share", "gpus",
    "time_s", "event", "stage", "load_s", "node_id", "forward_ms", "replicas", "src",
    "dst", "gbytes_per_s", "step", "loss", "entity", "weight", "measure", "value",
    "round", "arrival_s", "total_steps", "usd_per_h", "node", "op", "micro_batch",
    "start_ms", "tree", "root", "state", "run", "jobs", "completion_mean_s",
    "promised_share", "received_share"};

enum { KNOWN = sizeof(known) / sizeof(known[0]) };

enum { NAMES = 40 };

static void
put_name(struct gv_strbuf *s)
{
	const char *name = known[below(KNOWN)];
	size_t how = below(8), at = below(strlen(name));

	if (how == 0)
		gv_strbuf_fmt(s, "%.*s%s", (int)at, name, name + at + 1);
	else if (how == 1)
		gv_strbuf_fmt(s, "%.*sx%s", (int)at, name, name + at);
	else if (how == 2)
		gv_strbuf_fmt(s, "%c%s", name[0] - 32, name + 1);
	else
		gv_strbuf_str(s, name);
}

static void
ask_names(struct recorded *r)
{
	size_t n = 1 + below(below(9) == 0 ? NAMES : 7), i;
	struct gv_strbuf s[NAMES + 2] = {{0}};
	struct gv_cell name[NAMES + 2];
	char shown[GV_QUOTE_LEN];
	struct gv_frame f;

	gv_error_clear(&e);
	for (i = 0; i < n + 2; i++) { /* the last two are not told of */
		put_name(&s[i]);
		if (n == 1 && below(2) == 0)
			gv_strbuf_str(&s[i], ";gpus");
		name[i] = (struct gv_cell){s[i].s, s[i].len};
	}
	recorded_text(r, gv_kind_name(gv_kind_of(name, n)));
	recorded_whole(r, gv_header_fault(name, n) != NULL);
	for (i = 0; i < 3; i++) {
		gv_names_missing(name, n, known[below(KNOWN)], "file", 3, &e);
		gv_names_warn(name, n, known, KNOWN - i, "file", 4, &e);
		recorded_error(r, &e);
		gv_error_clear(&e);
	}
	recorded_text(r, gv_cell_shown(shown, name[n - 1]));
	gv_frame_start(&f, "made", false, name, n);
	for (i = 0; i < GV_KINDS; i++)
		recorded_whole(r, gv_frame_expect(&f, (enum gv_kind)i, &e));
	recorded_error(r, &e);
	gv_frame_free(&f);
	for (i = 0; i < n + 2; i++)
		gv_strbuf_free(&s[i]);
}

static void
test_no_file(void)
{
	struct gv_frame f = {.n_rows = 3, .n_columns = 7};

	gv_error_clear(&e);
	ok(gv_frame_load(&f, "tests/no such file", &e) == -1 && f.n_rows == 0 &&
		f.n_columns == 0,
	    "what cannot be opened is an empty table");
	gv_frame_free(&f);
}

int
main(void)
{
	size_t turn, i, bad = 0;
	struct recorded r;

	test_no_file();

	recorded_open(&r);
	for (turn = 0; turn < 60; turn++) {
		draws_begin(95, 0, (uint32_t)turn);
		for (i = 0; i < 30; i++) {
			struct gv_strbuf s = {0};

			draw_stream(&s, i % 3 == 0 ? 0 : 2 + below(40));
			gv_strbuf_str(&s, "");
			bad += ask_rows(&r, &s);
			bad += ask_end(&r, &s);
			ask_frame(&r, &s);
			gv_strbuf_free(&s);
		}
		recorded_answer(&r, "streams %zu", turn);
		for (i = 0; i < 30; i++)
			ask_names(&r);
		recorded_answer(&r, "names %zu", turn);
	}
	is_int(
	    (long long)bad, 0, "in pieces, by splitting and by libcsv all is the same");
	answer_free();
	recorded_close(&r);
	return done_testing();
}
