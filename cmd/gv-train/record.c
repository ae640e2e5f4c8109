#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/num.h"
#include "table/tab.h"

static const char *const columns[] = {"step", "model", "loss", "test_loss", "accuracy"};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };
static const char header[] = "step,model,loss,test_loss,accuracy\n";

/* ---- what is already there ---- */

/* The step of a row, or UINT64_MAX when the line is no row. */
static uint64_t
row_step(const char *line, size_t len)
{
	const char *comma = memchr(line, ',', len);
	int64_t step;

	if (comma == NULL || gv_parse_int(line, (size_t)(comma - line), &step) != 0 ||
	    step < 0)
		return UINT64_MAX;
	return (uint64_t)step;
}

/* Bytes of s to keep: the header and the whole rows of steps <= step; *last is the last's step. */
static size_t
kept(const char *s, size_t len, uint64_t step, uint64_t *last)
{
	size_t at = sizeof(header) - 1;

	*last = 0;
	while (at < len) {
		const char *nl = memchr(s + at, '\n', len - at);
		uint64_t row;

		if (nl == NULL)
			break;
		row = row_step(s + at, (size_t)(nl - (s + at)));
		if (row > step)
			break;
		*last = row;
		at = (size_t)(nl - s) + 1;
	}
	return at;
}

static int
cut(struct record *r, uint64_t step, uint64_t last_row, bool *short_of,
    struct gv_error *e)
{
	char *s;
	size_t len, keep = 0, known;
	uint64_t last = 0;

	if (gv_file_read(r->path, &s, &len, SIZE_MAX / 4, e) != 0)
		return -1;
	/* a write that was cut short may have left a part of the header */
	known = len < sizeof(header) - 1 ? len : sizeof(header) - 1;
	if (memcmp(s, header, known) != 0) {
		free(s);
		return gv_error_set(e, "%s: is there, and no record of losses", r->path);
	}
	if (known == sizeof(header) - 1)
		keep = kept(s, len, step, &last);
	free(s);
	*short_of = last < last_row;
	if (ftruncate(r->fd, (off_t)keep) != 0 || lseek(r->fd, 0, SEEK_END) == -1)
		return gv_error_sys(e, "%s: cannot write", r->path);
	if (keep == 0)
		gv_strbuf_str(&r->pending, header);
	return 0;
}

/* ---- rows ---- */

static void
write_header(struct record *r)
{
	struct gv_tabw w;
	size_t i;

	gv_tabw_init(&w, r->out, r->tsv);
	for (i = 0; i < COLUMNS; i++)
		gv_tabw_str(&w, columns[i]);
	gv_tabw_end(&w);
}

int
record_open(struct record *r, struct gv_out *out, bool tsv, const char *path, bool own,
    uint64_t step, uint64_t last_row, bool *short_of, struct gv_error *e)
{
	memset(r, 0, sizeof(*r));
	r->out = out;
	r->tsv = tsv;
	r->fd = -1;
	*short_of = false;
	if (path != NULL) {
		r->path = path;
		r->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, own ? 0600 : 0666);
		if (r->fd == -1)
			return gv_error_sys(e, "%s: cannot open", path);
		if (cut(r, step, last_row, short_of, e) != 0) {
			close(r->fd);
			r->fd = -1;
			return -1;
		}
	}
	if (out != NULL)
		write_header(r);
	return 0;
}

static void
add_number(struct gv_strbuf *s, double v)
{
	char buf[GV_NUM_LEN];

	gv_strbuf_char(s, ',');
	if (isfinite(v)) {
		gv_format_double(buf, v);
		gv_strbuf_str(s, buf);
	}
}

void
record_add(struct record *r, const struct row *row)
{
	if (r->fd != -1) {
		gv_strbuf_fmt(&r->pending, "%" PRIu64 ",%zu", row->step, row->model);
		add_number(&r->pending, row->loss);
		add_number(&r->pending, row->test_loss);
		add_number(&r->pending, row->accuracy);
		gv_strbuf_char(&r->pending, '\n');
	}
	if (r->out != NULL) {
		struct gv_tabw w;

		gv_tabw_init(&w, r->out, r->tsv);
		gv_tabw_int(&w, (int64_t)row->step);
		gv_tabw_int(&w, (int64_t)row->model);
		gv_tabw_double(&w, row->loss);
		gv_tabw_double(&w, row->test_loss);
		gv_tabw_double(&w, row->accuracy);
		gv_tabw_end(&w);
	}
}

int
record_flush(struct record *r, bool durable, struct gv_error *e)
{
	size_t done = 0;

	gv_progress(NULL); /* rows may go to the same terminal */
	if (r->out != NULL)
		gv_out_flush(r->out); /* a failure shows when it is closed */
	if (r->fd == -1)
		return 0;
	while (done < r->pending.len) {
		ssize_t n = write(r->fd, r->pending.s + done, r->pending.len - done);

		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return gv_error_sys(e, "%s: cannot write", r->path);
		done += (size_t)n;
	}
	gv_strbuf_clear(&r->pending);
	if (durable && fsync(r->fd) != 0 && errno != EINVAL)
		return gv_error_sys(e, "%s: cannot write", r->path);
	return 0;
}

int
record_close(struct record *r, struct gv_error *e)
{
	int status = 0;

	if (r->path == NULL)
		return 0;
	if (r->fd != -1) {
		status = record_flush(r, true, e);
		close(r->fd);
	}
	gv_strbuf_free(&r->pending);
	memset(r, 0, sizeof(*r));
	r->fd = -1;
	return status;
}
