/* PipeDream's graphs: the two tables that come of them, and what is no graph. */
#include "tap.h"

#include <unistd.h>

#include "base/fileio.h"
#include "base/strbuf.h"
#include "gv-profile/layers/import_graph.h"

#define N(f, b, a, p)                                                                 \
	"forward_compute_time=" f ", backward_compute_time=" b ", activation_size=" a \
	", parameter_size=" p
#define A "a -- A -- " N("1", "2", "3", "4")
#define B "b -- B -- " N("1", "2", "3", "4")

static char path[] = "/tmp/gv-graph.XXXXXX";

static int
read_graph(const char *text, size_t len, struct gv_frame *layers, struct gv_frame *edges,
    struct gv_error *e)
{
	*layers = *edges = (struct gv_frame){0};
	gv_file_write(path, text, len, e);
	return import_graph(layers, edges, path, e);
}

/* A table in one text: cells with commas, rows with bars between them. */
static void
is_table(const struct gv_frame *f, const char *want)
{
	struct gv_strbuf s = {0};
	size_t i, j;

	for (j = 0; j < f->n_columns; j++)
		gv_strbuf_fmt(
		    &s, "%s%.*s", j > 0 ? "," : "", (int)f->name[j].len, f->name[j].s);
	for (i = 0; i < f->n_rows; i++)
		for (j = 0; j < f->n_columns; j++) {
			struct gv_cell c = gv_frame_cell(f, i, (ptrdiff_t)j);

			gv_strbuf_fmt(&s, "%c%.*s", j > 0 ? ',' : '|', (int)c.len, c.s);
		}
	is_str(s.s, want, "its table");
	gv_strbuf_free(&s);
}

static void
is_graph(const char *name, const char *text, const char *layers, const char *edges)
{
	struct gv_frame l, d;
	struct gv_error e = {0};

	ok(read_graph(text, strlen(text), &l, &d, &e) == 0 && e.count == 0, "%s", name);
	is_table(&l, layers);
	is_table(&d, edges);
	gv_frame_free(&l);
	gv_frame_free(&d);
}

static void
is_none(const char *text, size_t len, const char *why)
{
	struct gv_frame l, d;
	struct gv_error e = {0};

	ok(read_graph(text, len, &l, &d, &e) == -1 && e.count == 1, "refused");
	is_str(e.count > 0 ? e.text[0] + strlen(path) : "", why, "%s", why);
	gv_error_clear(&e);
	gv_frame_free(&l);
	gv_frame_free(&d);
}

static void
refused(const char *text, const char *why)
{
	is_none(text, strlen(text), why);
}

#define HEAD "node_id,layer,forward_ms,backward_ms,activation_bytes,parameter_bytes"

static void
test_graphs(void)
{
	is_graph("one node", A, HEAD "|a,A,1,2,3,4", "src,dst");
	is_graph("edges in front and behind, ends of lines, blank lines",
	    "\xef\xbb\xbf\ta -- b \r\n\r\n \t \na -- A, b -- c -- " N("1", "0", "3",
		"4") " \r\nb -- B -- " N("1.5", "2", "[3]", "0") "\n\t \tb -- a",
	    HEAD "|a,A, b -- c,1,0,3,4|b,B,1.5,2,3,0", "src,dst|a,b|b,a");
	is_graph("lists are summed",
	    "a -- A -- " N("1", "2", "[1; 2.5;3]", "4") "\nb -- B -- " N(
		"1", "2", "[10;20]", "4"),
	    HEAD "|a,A,1,2,6.5,4|b,B,1,2,30,4", "src,dst");
	is_graph("stages of all", A " -- stage_id=0\n" B " -- stage_id=1\n",
	    HEAD ",stage|a,A,1,2,3,4,0|b,B,1,2,3,4,1", "src,dst");
	is_graph("stages of some are none", A " -- stage_id=0\n" B "\n",
	    HEAD "|a,A,1,2,3,4|b,B,1,2,3,4", "src,dst");
}

static void
test_lines(void)
{
	static const char nul[] = A "\n\n\0\n";

	refused("", ": has no nodes");
	refused("\n \n", ": has no nodes");
	refused("\ta -- b\n", ": has no nodes");
	is_none(nul, sizeof(nul) - 1, ":3: a NUL byte");
	refused("\na -- A\n",
	    ":2: expected ID -- LAYER -- forward_compute_time=..., got \"a -- A\"");
	refused("a\n", ":1: expected ID -- LAYER -- forward_compute_time=..., got \"a\"");
	refused(A "\n\ta\n", ":2: expected ID -- ID, got \"a\"");
	refused(A "\n\ta -- b\n", ":2: there is no node \"b\"");
	refused(A "\n\n\tb -- a\n", ":3: there is no node \"b\"");
	refused(A "\n" A "\n", ":2: node_id: another node is called \"a\" too");
}

static void
test_numbers(void)
{
#define FROM_0 "expected a number from 0 up, got "
	refused("a -- A -- " N("-1", "2", "3", "4"), ":1: forward_ms: " FROM_0 "\"-1\"");
	refused("a -- A -- " N("1", "x", "3", "4"), ":1: backward_ms: " FROM_0 "\"x\"");
	refused("a -- A -- " N("1", "2", "[3; -1]", "4"),
	    ":1: activation_bytes: " FROM_0 "\"[3; -1]\"");
	refused("a -- A -- " N("1", "2", "[]", "4"),
	    ":1: activation_bytes: " FROM_0 "\"[]\"");
	refused("a -- A -- " N("1", "2", "[3;]", "4"),
	    ":1: activation_bytes: " FROM_0 "\"[3;]\"");
	refused("a -- A -- " N("1", "2", "[3", "4"),
	    ":1: activation_bytes: " FROM_0 "\"[3\"");
	refused("a -- A -- " N("1", "2", "[33", "4"),
	    ":1: activation_bytes: " FROM_0 "\"[33\"");
	refused("a -- A -- " N("1", "2", "33]", "4"),
	    ":1: activation_bytes: " FROM_0 "\"33]\"");
	refused("a -- A -- " N("1", "2", "3", ""), ":1: parameter_bytes: " FROM_0 "\"\"");
	refused("a -- A -- forward_compute_time=1, parameter_size=3",
	    ":1: expected backward_compute_time=NUMBER, got \"parameter_size=3\"");
	refused(A ", 5", ":1: expected nothing after the numbers, got \", 5\"");
	refused(A " -- stage=1", ":1: expected stage_id=NUMBER, got \"stage=1\"");
	refused(A " -- stage_id=-1", ":1: stage: " FROM_0 "\"-1\"");
	refused(
	    A " -- stage_id=1,2", ":1: expected nothing after the numbers, got \",2\"");
}

/* As long as one reads at a time and a byte, which is the last digit. */
static void
test_long(void)
{
	static const char line[] = A;
	static char text[(1 << 16) + 2];
	size_t len = sizeof(text) - 1, n = sizeof(line) - 1;

	memset(text, '\n', len);
	memcpy(text + len - n, line, n);
	is_graph("long", text, HEAD "|a,A,1,2,3,4", "src,dst");
}

int
main(void)
{
	struct gv_frame l = {0}, d = {0};
	struct gv_error e = {0};

	close(mkstemp(path));
	test_graphs();
	test_lines();
	test_numbers();
	test_long();
	unlink(path);
	ok(import_graph(&l, &d, "/", &e) == -1 && e.count == 1, "a folder");
	gv_error_clear(&e);
	ok(import_graph(&l, &d, path, &e) == -1 && e.count == 1, "no file");
	gv_error_clear(&e);
	return done_testing();
}
