#include "output.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "lines.h"

enum { PIECE = 64 * 1024 };

/* ---- from the journal ---- */

/* A line of the journal without its seal, as TSV: cells are unquoted, and escaped. */
static void
add_tsv(struct gv_strbuf *b, const char *s, size_t len)
{
	bool quoted = false;
	size_t i;

	for (i = 0; i < len; i++) {
		if (s[i] == '"') {
			if (quoted && i + 1 < len && s[i + 1] == '"')
				gv_strbuf_char(b, s[i++]);
			else
				quoted = !quoted;
		} else if (s[i] == ',' && !quoted) {
			gv_strbuf_char(b, '\t');
		} else if (s[i] == '\t' || s[i] == '\n' || s[i] == '\r' || s[i] == '\\') {
			gv_strbuf_char(b, '\\');
			gv_strbuf_char(b, s[i] == '\t'   ? 't'
					  : s[i] == '\n' ? 'n'
					  : s[i] == '\r' ? 'r'
							 : '\\');
		} else {
			gv_strbuf_char(b, s[i]);
		}
	}
}

/* Takes over a line of the journal, its seal (or its name) taken off. */
static void
add_line(struct output *o, const char *s, size_t len, size_t seal)
{
	if (len < seal)
		return;
	if (o->tsv)
		add_tsv(&o->buf, s, len - seal);
	else
		gv_strbuf_add(&o->buf, s, len - seal);
	gv_strbuf_char(&o->buf, '\n');
}

/* Reads up to size bytes of the journal; how many. */
static size_t
read_piece(const struct output *o, char *s, size_t size)
{
	size_t n = 0;

	while (n < size) {
		ssize_t got = pread(o->journal_fd, s + n, size - n, o->sent + (off_t)n);

		if (got == -1 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	return n;
}

/* Formats the next lines of the journal, at least one. */
static void
refill(struct output *o)
{
	size_t left = (size_t)(o->end - o->sent);
	size_t size = left < PIECE ? left : PIECE;
	size_t at = 0;
	size_t n;
	char *s = NULL;

	gv_strbuf_clear(&o->buf);
	o->written = 0;
	while (at == 0 && size > 0) {
		size_t got;

		s = gv_xrealloc(s, size, 1);
		got = read_piece(o, s, size);
		while ((n = lines_next(s + at, got - at)) > 0) {
			add_line(o, s + at, n, lines_seal_len(LINES_ROWS));
			at += n;
		}
		if (at == 0 && (got < size || size == left))
			at = left; /* not lines: nothing to hand on */
		size = size < left / 2 ? 2 * size : left; /* a line longer than that */
	}
	free(s);
	o->sent += (off_t)at;
}

/* ---- to the reader ---- */

void
output_open(struct output *o, struct gv_out *file, bool tsv, int journal_fd, off_t size)
{
	size_t n;
	char header[1024];

	*o = (struct output){.file = file,
	    .tsv = tsv,
	    .to = {.fd = STDOUT_FILENO},
	    .journal_fd = journal_fd};
	n = read_piece(o, header, sizeof(header));
	o->sent = o->end = size;
	n = lines_next(header, n);
	add_line(o, header, n, strlen(lines_column(LINES_ROWS)) + 2);
	if (file != NULL)
		return;
	gv_nowait_open(&o->to, STDOUT_FILENO);
	o->gone = o->to.gone;
}

static void
failed(struct output *o, int error)
{
	o->gone = error == EPIPE;
	o->error = error;
	o->sent = o->end;
	gv_strbuf_clear(&o->buf);
	o->written = 0;
}

static void
write_file(struct output *o)
{
	gv_out_write(o->file, o->buf.s, o->buf.len);
	o->written = o->buf.len;
	errno = 0;
	if (gv_out_flush(o->file) != 0)
		failed(o, errno != 0 ? errno : EIO);
}

void
output_turn(struct output *o, off_t size)
{
	o->end = size;
	while (o->error == 0 && !o->gone && output_lags(o)) {
		ssize_t n;

		if (o->written == o->buf.len) {
			refill(o);
			continue;
		}
		if (o->file != NULL) {
			write_file(o);
			continue;
		}
		n = gv_nowait_write(
		    &o->to, o->buf.s + o->written, o->buf.len - o->written);
		if (n >= 0)
			o->written += (size_t)n;
		else if (errno == EAGAIN || errno == EWOULDBLOCK)
			return;
		else if (errno != EINTR)
			failed(o, errno);
	}
}

bool
output_lags(const struct output *o)
{
	return o->error == 0 && !o->gone && (o->written < o->buf.len || o->sent < o->end);
}

int
output_poll_fd(const struct output *o, short *events)
{
	struct stat st;
	bool lags = output_lags(o);

	*events = lags ? POLLOUT : 0;
	if (o->file != NULL || o->error != 0 || o->gone || fstat(o->to.fd, &st) != 0)
		return -1;
	/* the reader of a pipe may leave without our writing */
	return lags || S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) ? o->to.fd : -1;
}

void
output_polled(struct output *o, short revents)
{
	if ((revents & (POLLERR | POLLHUP)) != 0)
		failed(o, EPIPE);
}

void
output_close(struct output *o)
{
	gv_nowait_close(&o->to);
	gv_strbuf_free(&o->buf);
	*o = (struct output){.to = {.fd = -1}};
}
