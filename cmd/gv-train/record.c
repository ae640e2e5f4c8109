#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/num.h"
#include "table/tab.h"

static const char *const columns[] = {"step", "model", "loss", "test_loss", "accuracy"};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };
static const char header[] = "step,model,loss,test_loss,accuracy\n";

/* ---- what is already there ---- */

struct line {
	const char *s;
	size_t len; /* with its line feed */
	uint64_t step, model;
};

static bool
parse_number(const char **at, const char *end, uint64_t *v)
{
	const char *comma = memchr(*at, ',', (size_t)(end - *at));
	int64_t n;

	if (comma == NULL || gv_parse_int(*at, (size_t)(comma - *at), &n) != 0 || n < 0)
		return false;
	*v = (uint64_t)n;
	*at = comma + 1;
	return true;
}

/* The row at s, or false: there is no whole one. */
static bool
parse_line(struct line *l, const char *s, size_t len)
{
	const char *nl = memchr(s, '\n', len), *at = s;

	if (nl == NULL)
		return false;
	l->s = s;
	l->len = (size_t)(nl - s) + 1;
	return parse_number(&at, nl, &l->step) && parse_number(&at, nl, &l->model);
}

/* The rows of a record in memory that past has (NULL: all); those of a damaged end are lost. */
static struct line *
kept(const char *s, size_t len, const struct record_past *past, size_t models, size_t *n)
{
	size_t at = sizeof(header) - 1, cap = 0;
	struct line *line = NULL, l;

	*n = 0;
	for (; at < len && parse_line(&l, s + at, len - at); at += l.len) {
		if (past != NULL && (l.model >= models || l.step > past[l.model].steps))
			continue;
		line = gv_xgrow(line, &cap, *n + 1, sizeof(*line));
		line[(*n)++] = l;
	}
	return line;
}

static int
by_step(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	if (x->model != y->model)
		return x->model < y->model ? -1 : 1;
	return x->s < y->s ? -1 : x->s > y->s;
}

static bool
in_order(const struct line *line, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++)
		if (by_step(&line[i - 1], &line[i]) > 0)
			return false;
	return true;
}

/* Whether every model's last row is there. */
static bool
complete(const struct line *line, size_t n, const struct record_past *past, size_t models)
{
	uint64_t *last = gv_xcalloc(models, sizeof(*last));
	size_t i;
	bool all = true;

	for (i = 0; i < n; i++)
		last[line[i].model] = line[i].step;
	for (i = 0; i < models; i++)
		all = all && last[i] >= past[i].last_row;
	free(last);
	return all;
}

/* The first rows that are one behind the other in the file. */
static size_t
in_front(const struct line *line, size_t n, const char *s)
{
	size_t i;

	s += sizeof(header) - 1;
	for (i = 0; i < n && line[i].s == s; i++)
		s += line[i].len;
	return i;
}

/* The record anew, atomically, of these rows; its mode stays. */
static int
rewrite_rows(struct record *r, const struct line *line, size_t n, struct gv_error *e)
{
	struct gv_out *out;
	size_t i;
	int fd;

	if (gv_out_open(&out, r->path, e) != 0)
		return -1;
	gv_out_str(out, header);
	for (i = 0; i < n; i++)
		gv_out_write(out, line[i].s, line[i].len);
	if (gv_out_close(out, e) != 0)
		return -1;
	fd = open(r->path, O_RDWR | O_CLOEXEC);
	if (fd == -1)
		return gv_error_sys(e, "%s: cannot open", r->path);
	close(r->fd);
	r->fd = fd;
	return lseek(fd, 0, SEEK_END) == -1 ? gv_error_sys(e, "%s: cannot write", r->path)
					    : 0;
}

static int
cut_at(struct record *r, size_t keep, struct gv_error *e)
{
	if (ftruncate(r->fd, (off_t)keep) != 0 || lseek(r->fd, 0, SEEK_END) == -1)
		return gv_error_sys(e, "%s: cannot write", r->path);
	if (keep == 0)
		gv_strbuf_str(&r->pending, header);
	return 0;
}

/* The rows of the past stay. */
static int
keep_rows(struct record *r, const char *s, size_t len, const struct record_past *past,
    size_t models, bool *short_of, struct gv_error *e)
{
	size_t n, front, i;
	struct line *line = kept(s, len, past, models, &n);
	int status;

	*short_of = !complete(line, n, past, models);
	front = in_front(line, n, s);
	if (front == n)
		status = cut_at(r,
		    n == 0 ? sizeof(header) - 1
			   : (size_t)(line[n - 1].s - s) + line[n - 1].len,
		    e);
	else
		status = rewrite_rows(r, line, n, e);
	r->mixed = !in_order(line, n);
	for (i = 0; i < models; i++)
		r->mixed |= past[i].steps != past[0].steps;
	free(line);
	return status;
}

static int
cut(struct record *r, const struct record_past *past, size_t models, bool *short_of,
    struct gv_error *e)
{
	struct stat st;
	char *s;
	size_t len, known;
	int status;

	/* a device or a pipe may have no end */
	if (fstat(r->fd, &st) != 0 || !S_ISREG(st.st_mode))
		return gv_error_set(e, "%s: no regular file, so no record", r->path);
	if (gv_file_read(r->path, &s, &len, SIZE_MAX / 4, e) != 0)
		return -1;
	/* a write that was cut short may have left a part of the header */
	known = len < sizeof(header) - 1 ? len : sizeof(header) - 1;
	if (memcmp(s, header, known) != 0) {
		free(s);
		return gv_error_set(e, "%s: is there, and no record of losses", r->path);
	}
	if (known == sizeof(header) - 1) {
		status = keep_rows(r, s, len, past, models, short_of, e);
	} else {
		*short_of = !complete(NULL, 0, past, models);
		status = cut_at(r, 0, e);
	}
	free(s);
	return status;
}

/* All rows by their steps, when the last one is there. */
static int
put_in_order(struct record *r, struct gv_error *e)
{
	struct line *line;
	size_t len, n;
	char *s;
	int status = 0;

	if (gv_file_read(r->path, &s, &len, SIZE_MAX / 4, e) != 0)
		return -1;
	line = kept(s, len, NULL, 0, &n);
	if (!in_order(line, n)) {
		qsort(line, n, sizeof(*line), by_step);
		status = rewrite_rows(r, line, n, e);
	}
	free(line);
	free(s);
	return status;
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
    const struct record_past *past, size_t models, bool *short_of, struct gv_error *e)
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
		if (cut(r, past, models, short_of, e) != 0) {
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
		if (status == 0 && r->mixed)
			status = put_in_order(r, e);
		close(r->fd);
	}
	gv_strbuf_free(&r->pending);
	memset(r, 0, sizeof(*r));
	r->fd = -1;
	return status;
}
