/* What units of recorded answers share: drawn values, messages, tables in files. */
#ifndef ANSWERS_HELP_H
#define ANSWERS_HELP_H

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "draws.h"
#include "recorded.h"

/* How the values of a question are to each other. */
enum values { EQUAL, SMALL, QUARTERS, ANY, FAR_APART, MANY_ZEROS, VALUES };

static inline double
draw_value(enum values how)
{
	double part;

	switch (how) {
	case EQUAL:
		return 2;
	case SMALL:
		return (double)below(5);
	case QUARTERS:
		return (double)(1 + below(40)) / 4;
	case FAR_APART:
		part =
		    1 + uniform(); /* one draw after the other, whatever the compiler */
		return ldexp(part, (int)below(40) - 20);
	case MANY_ZEROS:
		return below(2) == 0 ? 0 : (double)(1 + below(9)) / 10;
	default:
		return uniform() * 10;
	}
}

static inline enum values
draw_values(void)
{
	return (enum values)below(VALUES);
}

/* Small for the most part, large now and then. */
static inline size_t
draw_number(size_t usual, size_t most)
{
	return 1 + (below(6) == 0 ? below(most) : below(usual));
}

static inline bool
one_in(size_t n)
{
	return below(n) == 0;
}

#define ANSWERS_PATH "/tmp/gv-answers.XXXXXX"

/* All messages, without the paths of the files that they are about; *e is empty then. */
static inline void
recorded_errors(struct recorded *r, struct gv_error *e)
{
	const char *known = "/tmp/gv-answers.", *s, *path;
	size_t i;

	recorded_whole(r, (long long)e->count);
	for (i = 0; i < e->count && i < GV_ERROR_KEPT; i++) {
		for (s = e->text[i]; (path = strstr(s, known)) != NULL;
		     s = path + strlen(ANSWERS_PATH))
			recorded_bytes(r, s, (size_t)(path - s));
		recorded_text(r, s);
	}
	gv_error_clear(e);
}

/* A file of the test's own, whose path does not matter. */
struct answers_file {
	char path[64];
};

static inline void
answers_file_open(struct answers_file *f)
{
	const struct rlimit few = {
	    64, 64}; /* whoever leaves files open runs out of them */
	int fd;

	setrlimit(RLIMIT_NOFILE, &few);
	snprintf(f->path, sizeof f->path, ANSWERS_PATH);
	fd = mkstemp(f->path);
	if (fd < 0 || close(fd) != 0)
		perror(f->path);
}

static inline void
answers_file_put(const struct answers_file *f, const struct gv_strbuf *s)
{
	/* emptied first, some file systems would wait for the disk */
	FILE *out = fopen(f->path, "r+");

	if (out == NULL || (s->len > 0 && fwrite(s->s, 1, s->len, out) != s->len) ||
	    fflush(out) != 0 || ftruncate(fileno(out), (off_t)s->len) != 0 ||
	    fclose(out) != 0)
		perror(f->path);
}

static inline void
answers_file_close(const struct answers_file *f)
{
	unlink(f->path);
}

/* ---- tables ---- */

/* Writes the cell of a row, an empty one by nothing. */
struct drawn_column {
	const char *name;
	size_t left_out; /* the column, one time in so many; 0: never */
	void (*cell)(struct gv_strbuf *s, size_t row, const void *ctx);
};

/* What stands in a cell where something else should. */
static inline void
draw_odd_cell(struct gv_strbuf *s)
{
	static const char *const odd[] = {"", "0", "-1", "1", "2", "x", "1e30", "-0.5",
	    "3.5", "nan", "inf", "4096", "4097", "100001", "1000000", "1000001", "1e9",
	    "1000000001", "9223372036854775807", "9223372036854775808", "1e18", "1.1e18",
	    "5", "none", "full", " 7", "0x1", "1x0", "0x1;0x1", "yes", "a"};

	gv_strbuf_str(s, odd[below(sizeof(odd) / sizeof(odd[0]))]);
}

/* A table of these columns, one in odd cells of which holds anything; odd 0: none. */
static inline void
draw_table(struct gv_strbuf *s, const struct drawn_column *c, size_t n, size_t rows,
    const void *ctx, size_t odd)
{
	size_t order[64], used = 0, i, k;
	char between = one_in(4) ? '\t' : ',';

	for (i = 0; i < n; i++)
		if (c[i].left_out == 0 || !one_in(c[i].left_out))
			order[used++] = i;
	if (odd > 0 && used > 1 && one_in(8)) {
		used--;
		order[below(used)] = order[used];
	}
	for (i = used; i > 1 && one_in(2); i--) {
		size_t other = below(i), was = order[i - 1];

		order[i - 1] = order[other];
		order[other] = was;
	}
	for (i = 0; i < used; i++)
		gv_strbuf_fmt(s, "%s%.1s", c[order[i]].name,
		    i + 1 < used ? (char[]){between, 0} : "\n");
	for (k = 0; k < rows; k++)
		for (i = 0; i < used; i++) {
			if (odd > 0 && one_in(odd))
				draw_odd_cell(s);
			else
				c[order[i]].cell(s, k, ctx);
			gv_strbuf_char(s, i + 1 < used ? between : '\n');
		}
	if (odd > 0 && one_in(20))
		gv_strbuf_fmt(s, "%c%c%c%c\n", between, between, between, between);
}

#endif
