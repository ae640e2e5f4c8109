/* What gv-run's clock and journal say to who reads them: also where they are damaged, or long. */
#define _XOPEN_SOURCE 700
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fileio.h"
#include "base/strbuf.h"
#include "gv-run/state/clock.h"
#include "gv-run/state/journal.h"
#include "gv-run/state/lines.h"
#include "gv-run/state/output.h"

static char dir[] = "/tmp/gv-output.XXXXXX";
static char path[64];

/* A file with that, open to be read. */
static int
file_of(const char *s, size_t len)
{
	struct gv_error e = {0};
	int fd;

	if (gv_file_write(path, s, len, &e) != 0)
		gv_die_error(&e);
	fd = open(path, O_RDWR);
	if (fd == -1)
		gv_die_sys("%s", path);
	return fd;
}

/* ---- the clock ---- */

/* What is read of a clock that holds these words, sealed. */
static int
clock_of(const char *words, struct clock *c)
{
	struct gv_strbuf line = {0};
	int fd, rc;

	gv_strbuf_str(&line, words);
	while (line.len < 90)
		gv_strbuf_char(&line, ' ');
	lines_seal(&line, 0);
	fd = file_of(line.s, line.len);
	rc = clock_read(fd, c);
	close(fd);
	gv_strbuf_free(&line);
	return rc;
}

static void
test_clock(void)
{
	const struct clock was = {1234567.25, 89.5, 7, 4096};
	struct clock c;
	int fd = file_of("", 0);

	ok(clock_read(fd, &c) == -1, "an empty clock says nothing");
	clock_write(fd, &was);
	ok(clock_read(fd, &c) == 0 && c.epoch_s == was.epoch_s && c.now_s == was.now_s &&
		c.round == 7 && c.journal_bytes == 4096,
	    "what was written is read");
	ok(pwrite(fd, "2", 1, 0) == 1 && clock_read(fd, &c) == -1,
	    "but not where it was damaged");
	close(fd);
	ok(clock_of("1.5 2.5 3 4", &c) == 0 && c.journal_bytes == 4, "four words");
	ok(clock_of("1.5 2.5 3", &c) == 0 && c.round == 3 && c.journal_bytes == 0,
	    "one of before has three: the journal's bytes are not known");
	ok(clock_of("1.5 0 0 x", &c) == 0 && c.now_s == 0 && c.journal_bytes == 0,
	    "nor where they are no number");
	ok(clock_of("x 2.5 3 4", &c) == -1, "a time that is none");
	ok(clock_of("1.5 x 3 4", &c) == -1, "nor the run's own");
	ok(clock_of("1.5 -0.5 3 4", &c) == -1, "which is before the run");
	ok(clock_of("1.5 2.5 x 4", &c) == -1, "a round that is none");
	ok(clock_of("1.5 2.5 9223372036854775807 4", &c) == -1, "or too late");
	ok(clock_of("", &c) == -1, "no word");
	ok(clock_read_in("/nonexistent", &c) == -1, "no clock");
}

/* ---- the journal's reader ---- */

struct text {
	struct gv_strbuf b;
	uint32_t rows;
};

static void
add_row(struct text *t, const char *row)
{
	size_t from = t->b.len;

	gv_strbuf_str(&t->b, row);
	lines_seal_row(&t->b, from, ++t->rows);
}

/* What the reader gets of the rows behind the header, in two turns that meet at a row's end. */
static void
hand_on(
    const struct text *t, size_t first_turn, size_t size, bool tsv, struct gv_strbuf *got)
{
	struct gv_out *file = gv_out_memory(got);
	struct output o;
	struct gv_error e = {0};
	int fd = file_of(t->b.s, t->b.len);
	short events;

	output_open(&o, file, tsv, fd, (off_t)lines_next(t->b.s, t->b.len));
	output_turn(&o, (off_t)first_turn);
	output_turn(&o, (off_t)size);
	ok(!output_lags(&o) && o.error == 0 && output_poll_fd(&o, &events) == -1 &&
		events == 0,
	    "the reader has it all, and nothing is polled");
	output_close(&o);
	gv_out_close(file, &e);
	close(fd);
}

static void
test_cells(void)
{
	static const char *const row[] = {"1,fail,\"b, \"\"q\"\"\",,,,,,,\"x\ty\"",
	    "2,fail,\"\"\"\",,,,,,,\"two\nlines\"", "3,fail,a\\b,,,,,,,\"c\rd\""};
	struct text t = {0};
	struct gv_strbuf got = {0};
	size_t i, half;

	journal_header(&t.b, false, LINES_ROWS);
	add_row(&t, row[0]);
	half = t.b.len;
	for (i = 1; i < 3; i++)
		add_row(&t, row[i]);
	hand_on(&t, half, t.b.len, true, &got);
	is_str(got.s,
	    "time_s\tevent\tjob_id\tgpu_type\tnode\tgpus\tsteps\tround\tshare\treason\n"
	    "1\tfail\tb, \"q\"\t\t\t\t\t\t\tx\\ty\n"
	    "2\tfail\t\"\t\t\t\t\t\t\ttwo\\nlines\n"
	    "3\tfail\ta\\\\b\t\t\t\t\t\t\tc\\rd\n",
	    "TSV: no quotes, and escapes");
	gv_strbuf_free(&got);
	hand_on(&t, half, t.b.len, false, &got);
	is_str(got.s,
	    "time_s,event,job_id,gpu_type,node,gpus,steps,round,share,reason\n"
	    "1,fail,\"b, \"\"q\"\"\",,,,,,,\"x\ty\"\n"
	    "2,fail,\"\"\"\",,,,,,,\"two\nlines\"\n3,fail,a\\b,,,,,,,\"c\rd\"\n",
	    "CSV: as it is, without the seals");
	gv_strbuf_free(&got);
	gv_strbuf_free(&t.b);
}

/* Rows of so many bytes: longer than what is read at once. */
static void
test_long(void)
{
	static const size_t len[] = {10, 65536, 200000, 3, 131072, 500000, 1};
	struct text t = {0};
	struct gv_strbuf got = {0}, want = {0}, row = {0};
	size_t i, k, half = 0;

	journal_header(&t.b, false, LINES_ROWS);
	gv_strbuf_str(
	    &want, "time_s,event,job_id,gpu_type,node,gpus,steps,round,share,reason\n");
	for (i = 0; i < sizeof(len) / sizeof(len[0]); i++) {
		gv_strbuf_clear(&row);
		for (k = 0; k < len[i]; k++)
			gv_strbuf_char(&row, (char)('a' + (i + k) % 26));
		add_row(&t, row.s);
		gv_strbuf_fmt(&want, "%s\n", row.s);
		if (i == 3)
			half = t.b.len;
	}
	hand_on(&t, half, t.b.len, false, &got);
	ok(got.len == want.len && strcmp(got.s, want.s) == 0,
	    "rows that are longer than what is read at once");
	gv_strbuf_free(&got);

	i = t.b.len;
	gv_strbuf_str(&t.b, "9,torn");
	hand_on(&t, i, t.b.len, false, &got);
	ok(got.len == want.len && strcmp(got.s, want.s) == 0,
	    "an end that is no line is not handed on");
	gv_strbuf_free(&got);
	hand_on(&t, i, t.b.len + 100, false, &got);
	ok(got.len == want.len && strcmp(got.s, want.s) == 0,
	    "nor one that is not there");
	gv_strbuf_free(&got);
	gv_strbuf_free(&t.b);
	gv_strbuf_free(&want);
	gv_strbuf_free(&row);

	gv_strbuf_str(&t.b, "no line");
	hand_on(&t, 7, 7, false, &got);
	is_int(got.len, 0, "of what has no line at all there is nothing");
	gv_strbuf_free(&got);
	gv_strbuf_free(&t.b);
}

static void
test_gone(void)
{
	struct text t = {0};
	struct output o;
	struct gv_out *full;
	struct gv_error e = {0};
	size_t header;
	int fd;

	journal_header(&t.b, false, LINES_ROWS);
	header = t.b.len;
	add_row(&t, "1,end");
	fd = file_of(t.b.s, t.b.len);
	if (gv_out_open(&full, "/dev/full", &e) != 0)
		gv_die_error(&e);
	output_open(&o, full, false, fd, (off_t)header);
	ok(output_lags(&o), "the header is to be written");
	output_turn(&o, (off_t)t.b.len);
	ok(o.error == ENOSPC && !o.gone && !output_lags(&o),
	    "to a full device: nothing more is");
	output_close(&o);
	gv_out_discard(full);

	output_open(&o, NULL, false, fd, (off_t)header);
	output_polled(&o, POLLOUT);
	ok(o.error == 0 && output_lags(&o), "a reader that can take it is there");
	output_polled(&o, POLLHUP);
	ok(o.error == EPIPE && o.gone && !output_lags(&o), "one that hangs up is gone");
	output_turn(&o, (off_t)t.b.len);
	ok(!output_lags(&o), "and gets nothing more");
	output_close(&o);
	close(fd);
	gv_strbuf_free(&t.b);
}

int
main(void)
{
	struct gv_error e = {0};

	gv_init("gv-run");
	if (mkdtemp(dir) == NULL)
		gv_die_sys("%s", dir);
	snprintf(path, sizeof(path), "%s/file", dir);
	test_clock();
	test_cells();
	test_long();
	test_gone();
	gv_remove_tree(dir, &e);
	return done_testing();
}
