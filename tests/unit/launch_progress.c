/*
 * The progress channel: files that grow piece by piece are read as if each whole line had been
 * looked at once; what is no report, and no file, is told apart.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "draws.h"
#include "launch/progress.h"
#include "tap.h"

static char path[64];

static void
put(const char *mode, const char *s, size_t n)
{
	FILE *f = fopen(path, mode);

	if (f == NULL || fwrite(s, 1, n, f) != n || fclose(f) != 0)
		abort();
}

/* ---- lines ---- */

static void
line(const char *text, double steps, double checkpoint)
{
	struct gv_progress_report p = GV_PROGRESS_NONE;
	struct gv_error e = {0};

	put("w", text, strlen(text));
	ok(gv_progress_read(path, &p, &e) == 0 && p.steps >= steps && p.steps <= steps &&
		p.checkpoint >= checkpoint && p.checkpoint <= checkpoint,
	    "\"%s\": %g steps, %g at a checkpoint", text, p.steps, p.checkpoint);
}

static void
test_lines(void)
{
	line("", -1, -1);
	line("\n\n", -1, -1);
	line("step 1\n", 1, -1);
	line("step 0\n", 0, -1);
	line("step 2.5\nstep 1e3\n", 1000, -1);
	line("step 7", -1, -1);
	line("step 7\nstep 8", 7, -1);
	line("step 7\ncheckpoint 5\nstep 8\n", 8, 5);
	line("checkpoint 0\n", -1, 0);
	line("checkpoint 9\ncheckpoint 3\n", -1, 3);
	line("step\nstep \nstep x\nstep -1\nstep 1 \nstep  1\nstep1\n", -1, -1);
	line(" step 1\nSTEP 1\nsteps 1\nstep 1x\n", -1, -1);
	line("checkpoint\ncheckpoint \ncheckpoint -2\ncheckpoints 1\ncheckpoint1\n", -1,
	    -1);
	line("step 3\r\n", -1, -1);
	line("noise\nstep 4\nnoise\n", 4, -1);
}

/* ---- pieces ---- */

static void
draw_line(struct gv_strbuf *b)
{
	size_t kind = below(9), n;

	if (kind < 3) {
		gv_strbuf_fmt(b, "step %zu", below(100000));
	} else if (kind < 5) {
		gv_strbuf_fmt(b, "checkpoint %zu", below(100000));
	} else if (kind < 8) {
		gv_strbuf_fmt(b, "%s",
		    kind == 5   ? ""
		    : kind == 6 ? "loss 1"
				: "step one");
	} else {
		n = below(4) == 0 ? 60000 + below(90000) : 200 + below(400);
		while (n-- > 0)
			gv_strbuf_char(b, "xstep 1"[below(7)]);
		gv_strbuf_char(b, 'x');
	}
	gv_strbuf_char(b, '\n');
}

/* What the whole lines among the first n bytes report. */
static struct gv_progress_report
by_lines(const char *s, size_t n)
{
	struct gv_progress_report p = GV_PROGRESS_NONE;
	const char *end;

	for (; (end = memchr(s, '\n', n)) != NULL;
	     n -= (size_t)(end + 1 - s), s = end + 1) {
		char text[32] = "", *rest;
		size_t len = (size_t)(end - s);
		double v;

		if (len < sizeof(text))
			memcpy(text, s, len);
		v = strtod(text + strcspn(text, " "), &rest);
		if (*rest == '\0' && strncmp(text, "step ", 5) == 0 && rest > text + 5)
			p.steps = v;
		if (*rest == '\0' && strncmp(text, "checkpoint ", 11) == 0)
			p.checkpoint = v;
	}
	return p;
}

static void
test_pieces(void)
{
	int trial, wrong = 0, k;

	draws_begin(77, 1, 2);
	for (trial = 0; trial < 150; trial++) {
		struct gv_progress_report p = GV_PROGRESS_NONE;
		struct gv_strbuf b = {0};
		struct gv_error e = {0};
		size_t at = 0;

		for (k = (int)below(30); k >= 0; k--)
			draw_line(&b);
		put("w", "", 0);
		while (at < b.len) {
			static const size_t most[] = {8, 600, 40000};
			size_t n = 1 + below(most[below(3)]);
			struct gv_progress_report want;

			n = n < b.len - at ? n : b.len - at;
			put("a", b.s + at, n);
			at += n;
			if (below(4) == 0 && at < b.len)
				continue;
			want = by_lines(b.s, at);
			wrong += gv_progress_read(path, &p, &e) != 0 ||
				 p.steps < want.steps || p.steps > want.steps ||
				 p.checkpoint < want.checkpoint ||
				 p.checkpoint > want.checkpoint || p.offset > (int64_t)at;
		}
		wrong += p.offset != (int64_t)b.len;
		gv_strbuf_free(&b);
	}
	is_int(wrong, 0, "files in pieces report what their lines do");
}

static void
test_anew(void)
{
	struct gv_progress_report p = GV_PROGRESS_NONE;
	struct gv_error e = {0};

	put("w", "step 100\ncheckpoint 90\n", 23);
	gv_progress_read(path, &p, &e);
	is_int((long long)p.offset, 23, "all of it is read");
	put("w", "step 5\n", 7);
	ok(gv_progress_read(path, &p, &e) == 0 && p.steps == 5 && p.checkpoint == 90 &&
		p.offset == 7,
	    "a file that is shorter is read from its start");
	put("w", "", 0);
	ok(gv_progress_read(path, &p, &e) == 0 && p.steps == 5 && p.offset == 0,
	    "an empty one says nothing");
	put("a", "step 6", 6);
	ok(gv_progress_read(path, &p, &e) == 0 && p.steps == 5 && p.offset == 0,
	    "half a line waits");
	put("a", "1\n", 2);
	ok(gv_progress_read(path, &p, &e) == 0 && p.steps == 61 && p.offset == 8,
	    "for its other half");
}

/* A line of so many bytes, whose end comes later. */
static void
long_line(size_t len, bool taken)
{
	struct gv_progress_report p = GV_PROGRESS_NONE;
	struct gv_error e = {0};
	char text[300];

	memset(text, '0', sizeof(text));
	memcpy(text, "step ", 5);
	text[len - 1] = '7';
	put("w", text, len);
	gv_progress_read(path, &p, &e);
	is_int((long long)p.offset, taken ? 0 : (long long)len,
	    "%zu bytes without an end", len);
	put("a", "\n", 1);
	gv_progress_read(path, &p, &e);
	is_int((long long)p.steps, taken ? 7 : -1, "and with it");
	put("a", "step 9\n", 7);
	gv_progress_read(path, &p, &e);
	is_int((long long)p.steps, 9, "the next is one of its own");
}

/* ---- no files ---- */

static void
test_no_file(void)
{
	struct gv_progress_report p = GV_PROGRESS_NONE;
	struct gv_error e = {0};

	remove(path);
	ok(gv_progress_read(path, &p, &e) == 0 && p.steps == -1 && p.offset == 0,
	    "a missing file is an empty one");
	if (mkfifo(path, 0600) != 0)
		abort();
	ok(gv_progress_read(path, &p, &e) == -1 && e.count == 1 &&
		strstr(e.text[0], "must be a regular file") != NULL,
	    "a pipe is none: %s", e.text[0]);
	remove(path);
}

static void
test_write(void)
{
	struct gv_progress_report p = GV_PROGRESS_NONE;
	struct gv_error e = {0};

	unsetenv("GV_PROGRESS");
	is_int(gv_progress_write("step", 1, &e), 0, "nobody wants to know");
	setenv("GV_PROGRESS", "", 1);
	is_int(gv_progress_write("step", 1, &e), 0, "nor without a name");
	setenv("GV_PROGRESS", path, 1);
	ok(gv_progress_read(path, &p, &e) == 0 && p.steps == -1, "nothing was written");
	ok(gv_progress_write("step", INT64_C(1234567890123), &e) == 0 &&
		gv_progress_write("checkpoint", 0, &e) == 0,
	    "two lines");
	ok(gv_progress_read(path, &p, &e) == 0 && p.steps == 1234567890123 &&
		p.checkpoint == 0 && p.offset == 32,
	    "are read");
	setenv("GV_PROGRESS", "/", 1);
	ok(gv_progress_write("step", 1, &e) == -1 &&
		strncmp(e.text[0], "/: cannot open", 14) == 0,
	    "where none can be");
	if (access("/dev/full", W_OK) == 0) {
		gv_error_clear(&e);
		setenv("GV_PROGRESS", "/dev/full", 1);
		ok(gv_progress_write("step", 1, &e) == -1 &&
			strncmp(e.text[0], "/dev/full: cannot write", 23) == 0,
		    "where no room is left");
	}
}

int
main(void)
{
	char dir[] = "/tmp/gv-progress.XXXXXX";

	if (mkdtemp(dir) == NULL)
		abort();
	snprintf(path, sizeof(path), "%s/p", dir);
	test_lines();
	test_pieces();
	test_anew();
	long_line(256, true);
	long_line(257, false);
	test_no_file();
	test_write();
	remove(path);
	rmdir(dir);
	return done_testing();
}
