/*
 * The record of losses: what a file that is there keeps of its rows when a run goes on, what it
 * lacks, in which order it ends; what is no record is left alone.
 */
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fileio.h"
#include "gv-train/record.h"

#define HEADER "step,model,loss,test_loss,accuracy\n"

static char path[] = "/tmp/gv-record-XXXXXX";

static void
put(const char *text)
{
	struct gv_error e = {0};

	if (gv_file_write(path, text, strlen(text), &e) != 0)
		gv_die_error(&e);
}

static void
is_file(const char *want, const char *name)
{
	struct gv_error e = {0};
	char *s = NULL;
	size_t len;

	if (gv_file_read(path, &s, &len, 1 << 20, &e) != 0)
		gv_die_error(&e);
	s = realloc(s, len + 1);
	if (s == NULL)
		gv_die("no memory");
	s[len] = '\0';
	is_str(s, want, "%s", name);
	free(s);
}

/* ---- what stays ---- */

/* Going on from a past of two models: the file before, when it is opened, and when it ends. */
static void
goes_on(const char *name, const char *before, const struct record_past past[2],
    bool want_short, const char *opened, const char *closed)
{
	struct gv_error e = {0};
	struct record r;
	bool is_short = !want_short;

	put(before);
	ok(record_open(&r, NULL, false, path, false, past, 2, &is_short, &e) == 0 &&
		e.count == 0,
	    "%s", name);
	is_int(is_short, want_short, "whether rows are missing");
	ok(record_flush(&r, false, &e) == 0, "flushed");
	is_file(opened, "what stays");
	is_int(record_close(&r, &e), 0, "closed");
	ok(r.fd == -1 && r.path == NULL && r.pending.s == NULL, "and nothing is left");
	is_file(closed, "what is there in the end");
}

static void
test_kept(void)
{
	static const struct record_past none[2] = {{0, 0}, {0, 0}};
	static const struct record_past two[2] = {{2, 2}, {2, 2}};
	static const struct record_past apart[2] = {{4, 4}, {2, 2}};
	static const struct record_past far[2] = {{9, 2}, {9, 3}};
	static const char rows[] = HEADER "1,0,3,,\n1,1,4,,\n2,0,2,,\n2,1,3,.5,1\n";
	static const char cut[] = HEADER "1,0,3,,\n1,1,4,,\n2,0,2,,\n2,1,3";
	static const char first[] = HEADER "1,0,3,,\n1,1,4,,\n2,0,2,,\n";
	static const char longer[] =
	    HEADER "1,0,3,,\n1,1,4,,\n2,0,2,,\n2,1,3,.5,1\n3,0,1,,\n3,1,1,,\n";
	static const char further[] =
	    HEADER "2,0,2,,\n4,0,1,,\n2,1,3,,\n3,1,9,,\n5,0,0,,\n";

	goes_on("no file", "", none, false, HEADER, HEADER);
	goes_on("a file cut in its header", "step,mod", none, false, HEADER, HEADER);
	goes_on("its header alone", HEADER, none, false, HEADER, HEADER);
	goes_on("its header, where rows were", HEADER, two, true, HEADER, HEADER);
	goes_on("nothing, where rows were", "", two, true, HEADER, HEADER);
	goes_on("all rows", rows, two, false, rows, rows);
	goes_on("rows of later steps", longer, two, false, rows, rows);
	goes_on("a last row cut short", cut, two, true, first, first);
	goes_on("of one model alone", first, far, true, first, first);
	goes_on("of steps that were no rows", rows, far, true, rows, rows);
	goes_on("of the other model alone", HEADER "1,0,3,,\n2,1,3,,\n", two, true,
	    HEADER "1,0,3,,\n2,1,3,,\n", HEADER "1,0,3,,\n2,1,3,,\n");
	goes_on("from the beginning", rows, none, false, HEADER, HEADER);
	goes_on("rows of other models", HEADER "1,0,3,,\n1,2,4,,\n1,1,5,,\n",
	    (const struct record_past[2]){{1, 1}, {1, 1}}, false,
	    HEADER "1,0,3,,\n1,1,5,,\n", HEADER "1,0,3,,\n1,1,5,,\n");
	goes_on("models that have gone further", further, apart, false,
	    HEADER "2,0,2,,\n4,0,1,,\n2,1,3,,\n", HEADER "2,0,2,,\n2,1,3,,\n4,0,1,,\n");
}

/* A row that is none ends what is true. */
static void
test_damaged(void)
{
	static const struct record_past past[2] = {{9, 1}, {9, 1}};
	static const char *const line[] = {"x,0,3,,", "2", "2,", "2,1", "-2,1,3,,",
	    "2,-1,3,,", "2.5,1,3,,", "2 ,1,3,,", "", ",,", "2,x,3,,"};
	char before[300];
	size_t i;

	for (i = 0; i < sizeof(line) / sizeof(line[0]); i++) {
		snprintf(before, sizeof(before), HEADER "1,0,3,,\n1,1,3,,\n%s\n3,0,3,,\n",
		    line[i]);
		goes_on(line[i], before, past, false, HEADER "1,0,3,,\n1,1,3,,\n",
		    HEADER "1,0,3,,\n1,1,3,,\n");
	}
}

/* Rows of one step and model stay in their order; a file that is written anew keeps its mode. */
static void
test_order(void)
{
	static const struct record_past past[2] = {{2, 2}, {3, 3}};
	static const char before[] =
	    HEADER "3,1,1,,\n2,1,7,,\n2,1,6,,\n2,0,5,,\n9,0,1,,\n1,0,4,,\n";
	static const char opened[] =
	    HEADER "3,1,1,,\n2,1,7,,\n2,1,6,,\n2,0,5,,\n1,0,4,,\n";
	static const char closed[] =
	    HEADER "1,0,4,,\n2,0,5,,\n2,1,7,,\n2,1,6,,\n3,1,1,,\n";
	static const mode_t mode[] = {0600, 0644};
	struct stat st;
	size_t i;

	for (i = 0; i < 2; i++) {
		chmod(path, mode[i]);
		goes_on("mixed rows", before, past, true, opened, closed);
		ok(stat(path, &st) == 0 && (st.st_mode & 077) == (mode[i] & 077),
		    "of the same mode");
	}
	goes_on("two in the wrong order", HEADER "2,0,1,,\n1,1,2,,\n",
	    (const struct record_past[2]){{2, 2}, {2, 1}}, false,
	    HEADER "2,0,1,,\n1,1,2,,\n", HEADER "1,1,2,,\n2,0,1,,\n");
	goes_on("as far as each other, but for the last", HEADER "1,0,1,,\n",
	    (const struct record_past[2]){{2, 0}, {1, 0}}, false, HEADER "1,0,1,,\n",
	    HEADER "1,0,1,,\n");
	goes_on("in order, which it stays", closed, past, false, closed, closed);
}

/* ---- what is added ---- */

static void
test_added(void)
{
	static const struct record_past past[1] = {{3, 3}};
	static const struct row row[] = {{4, 0, 0.25, NAN, NAN}, {5, 0, NAN, 1e-300, 0.5},
	    {6, 0, INFINITY, 3, -INFINITY}};
	struct gv_error e = {0};
	struct record r;
	bool is_short;
	size_t i;

	put(HEADER "3,0,1,,\n");
	ok(record_open(&r, NULL, false, path, false, past, 1, &is_short, &e) == 0,
	    "opened");
	for (i = 0; i < 3; i++)
		record_add(&r, &row[i]);
	is_file(HEADER "3,0,1,,\n", "rows wait");
	is_int(record_flush(&r, true, &e), 0, "until they are flushed");
	is_file(HEADER "3,0,1,,\n4,0,0.25,,\n5,0,,1e-300,0.5\n6,0,,3,\n",
	    "and what is no number is empty");
	is_int(record_flush(&r, true, &e), 0, "once");
	is_int(record_close(&r, &e), 0, "closed");
	is_file(HEADER "3,0,1,,\n4,0,0.25,,\n5,0,,1e-300,0.5\n6,0,,3,\n", "as they were");
}

/* To an output alone, in either format. */
static void
test_out(void)
{
	static const char *const want[] = {HEADER "4,0,0.25,,0.5\n",
	    "step\tmodel\tloss\ttest_loss\taccuracy\n"
	    "4\t0\t0.25\t\t0.5\n"};
	const struct row row = {4, 0, 0.25, NAN, 0.5};
	size_t i;

	for (i = 0; i < 2; i++) {
		struct gv_error e = {0};
		struct gv_out *out;
		struct record r;
		bool is_short = true;

		if (gv_out_open(&out, path, &e) != 0)
			gv_die_error(&e);
		ok(record_open(&r, out, i > 0, NULL, false, NULL, 0, &is_short, &e) ==
			    0 &&
			!is_short,
		    "no record");
		record_add(&r, &row);
		is_int(record_flush(&r, true, &e), 0, "flushed");
		is_int(record_close(&r, &e), 0, "closed");
		gv_out_close(out, &e);
		is_file(want[i], "its rows");
	}
}

/* ---- what is no record ---- */

static void
refused(const char *at, const char *want)
{
	static const struct record_past past[1] = {{0, 0}};
	struct gv_error e = {0};
	struct record r;
	char text[200];
	bool is_short;

	ok(record_open(&r, NULL, false, at, false, past, 1, &is_short, &e) == -1 &&
		e.count == 1 && r.fd == -1,
	    "refused");
	snprintf(text, sizeof(text), "%s: %s", at, want);
	is_str(e.text[0], text, "%s", want);
	is_int(record_close(&r, &e), 0, "and closed");
}

static void
test_refused(void)
{
	struct record zero = {0};
	struct gv_error e = {0};
	char fifo[80];

	put("step,model,loss\n1,0,2\n");
	refused(path, "is there, and no record of losses");
	is_file("step,model,loss\n1,0,2\n", "it is left alone");
	put("x");
	refused(path, "is there, and no record of losses");
	refused("/nowhere/record", "cannot open: No such file or directory");
	refused("/dev/null", "no regular file, so no record");
	snprintf(fifo, sizeof(fifo), "%s.fifo", path);
	mkfifo(fifo, 0600);
	refused(fifo, "no regular file, so no record");
	unlink(fifo);
	is_int(record_close(&zero, &e), 0, "a zeroed one is closed");
}

/* One that is made is its owner's alone, or as others are. */
static void
test_made(void)
{
	static const struct record_past past[1] = {{0, 0}};
	struct stat st;
	int own;

	for (own = 0; own < 2; own++) {
		struct gv_error e = {0};
		struct record r;
		bool is_short;

		unlink(path);
		ok(record_open(&r, NULL, false, path, own, past, 1, &is_short, &e) == 0 &&
			record_close(&r, &e) == 0,
		    "made");
		ok(stat(path, &st) == 0 && (st.st_mode & 0777) == (own ? 0600 : 0644),
		    "of its mode");
		is_file(HEADER, "with its header");
	}
}

int
main(void)
{
	gv_init("gv-train.record");
	umask(022);
	close(mkstemp(path));
	test_kept();
	test_damaged();
	test_order();
	test_added();
	test_out();
	test_refused();
	test_made();
	unlink(path);
	return done_testing();
}
