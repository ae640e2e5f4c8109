/* gv-report: drawn columns and notes on terminals of any width, and elsewhere, look as before. */
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#include "draws.h"
#include "gv-report/page/grid.h"
#include "recorded_out.h"
#include "scratch.h"

/* Whether standard output says that it is a terminal. */
static bool terminal;

int
isatty(int fd)
{
	(void)fd;
	return terminal;
}

static const char *const words[] = {"", "a", "finished", "running", "failed", "dropped",
    "never", "preempted", "waiting", "seventeen letters", "12.5", "0", "100000.25",
    "a text that is longer than what fits",
    "\xc3\xbc\xc3\xb6\xc3\xa4\xc3\xbc\xc3\xb6\xc3\xa4"
    "\xc3\xbc\xc3\xb6\xc3\xa4\xc3\xbc\xc3\xb6\xc3\xa4"
    "\xc3\xbc\xc3\xb6\xc3\xa4",
    "x\xffy\x1b[31m", "twelve chars", "thirteen char", "\xe6\x97\xa5\xe6\x9c\xac",
    "job1"};

enum { WORDS = sizeof(words) / sizeof(words[0]), COLUMNS = 9 };

static const char *
word(void)
{
	return words[below(WORDS)];
}

/* Most columns of a kind of texts. */
static void
draw_grid(struct grid *g, bool right[COLUMNS])
{
	size_t rows = below(6), kind[COLUMNS], i, k;

	*g = (struct grid){.n_columns = 1 + below(COLUMNS)};
	for (k = 0; k < g->n_columns; k++) {
		right[k] = below(2) == 0;
		kind[k] = below(3);
		grid_str(g, below(3) == 0 ? word() : "head");
	}
	for (i = 0; i < rows; i++)
		for (k = 0; k < g->n_columns; k++) {
			if (kind[k] == 0) {
				double v = 1e4 * uniform();

				grid_number(g, below(9) == 0 ? NAN : v, (int)(i % 4));
			} else {
				grid_str(g, kind[k] == 1 ? words[below(9)] : word());
			}
		}
}

static void
put_sentence(struct gv_strbuf *s)
{
	size_t n = below(12), i;

	for (i = 0; i < n; i++) {
		gv_strbuf_str(s, below(6) == 0 ? "  " : i > 0 ? " " : "");
		gv_strbuf_str(s, word());
	}
	gv_strbuf_str(s, "");
}

static void
draw_terminal(void)
{
	static const char *const term[] = {"xterm", "xterm", "xterm", "dumb", ""};
	char columns[24];

	terminal = below(9) > 0;
	snprintf(columns, sizeof(columns), "%zu", 1 + below(below(3) == 0 ? 30 : 150));
	setenv("COLUMNS", columns, 1);
	setenv("TERM", term[below(5)], 1);
	setenv("NO_COLOR", below(4) == 0 ? "1" : "", 1);
}

/* What goes to standard output is in the file. */
static void
record(struct recorded *r, int file)
{
	char buf[4096];
	ssize_t n;

	gv_out_flush(gv_stdout());
	lseek(file, 0, SEEK_SET);
	while ((n = read(file, buf, sizeof(buf))) > 0)
		recorded_bytes(r, buf, (size_t)n);
	recorded_whole(r, (long long)lseek(file, 0, SEEK_CUR));
	lseek(file, 0, SEEK_SET);
	if (ftruncate(file, 0) != 0)
		abort();
}

static void
ask(struct recorded *r, int file)
{
	struct gv_strbuf s = {0};
	bool right[COLUMNS];
	struct grid g;

	draw_terminal();
	draw_grid(&g, right);
	put_sentence(&s);
	grid_print(&g, right, gv_stdout());
	grid_note(s.s, below(9) == 0, gv_stdout());
	grid_line(below(2) == 0 ? "label" : "a long label of a line", s.s, gv_stdout());
	record(r, file);
	grid_print(&g, right, answer_begin());
	answer_end(r);
	grid_html(&g, right, answer_begin());
	answer_end(r);
	grid_note(s.s, false, answer_begin());
	answer_end(r);
	grid_line("label", s.s, answer_begin());
	answer_end(r);
	grid_free(&g);
	gv_strbuf_free(&s);
}

int
main(void)
{
	static const char *const files[] = {"out", NULL};
	int file, own = dup(STDOUT_FILENO);
	struct recorded r;
	size_t turn, i;

	recorded_open(&r);
	scratch_enter();
	file = open("out", O_RDWR | O_CREAT, 0600);
	for (turn = 0; turn < 60; turn++) {
		draws_begin(96, 0, (uint32_t)turn);
		fflush(stdout);
		dup2(file, STDOUT_FILENO);
		for (i = 0; i < 30; i++)
			ask(&r, file);
		dup2(own, STDOUT_FILENO);
		terminal = false;
		recorded_answer(&r, "grids %zu", turn);
	}
	close(file);
	scratch_leave(files);
	answer_free();
	recorded_close(&r);
	return done_testing();
}
