/* Inputs: a file, standard input or memory; gzip is inflated. */
#include "base/fileio.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/mem.h"

enum { IN_BUFFER = 64 * 1024 };

struct gv_in {
	char *name;
	int fd; /* -1: memory[0..memory_len) */
	const char *memory;
	size_t memory_len;
	size_t piece; /* of memory to be read at once */
	bool gzip;
	bool eof;       /* of the descriptor */
	bool bad;       /* the gzip data; what was inflated before is given out first */
	bool in_member; /* inside a gzip member, whose end is still to come */
	size_t pos;     /* raw bytes not yet used: buf[pos..len) */
	size_t len;
	z_stream z;
	unsigned char buf[IN_BUFFER];
};

static ssize_t
read_raw(struct gv_in *in, void *buf, size_t n)
{
	ssize_t r;

	if (in->fd == -1) {
		n = n < in->piece ? n : in->piece;
		n = n < in->memory_len ? n : in->memory_len;
		if (n > 0)
			memcpy(buf, in->memory, n);
		in->memory += n;
		in->memory_len -= n;
		return (ssize_t)n;
	}
	do
		r = read(in->fd, buf, n);
	while (r == -1 && errno == EINTR);
	return r;
}

/* Reads more raw bytes behind those in buf; 0 or -1. */
static int
fill(struct gv_in *in, struct gv_error *e)
{
	ssize_t r;

	if (in->pos > 0) {
		memmove(in->buf, in->buf + in->pos, in->len - in->pos);
		in->len -= in->pos;
		in->pos = 0;
	}
	r = read_raw(in, in->buf + in->len, sizeof(in->buf) - in->len);
	if (r == -1)
		return gv_error_sys(e, "%s: cannot read", in->name);
	in->eof = r == 0;
	in->len += (size_t)r;
	return 0;
}

/* Sees whether it is gzip.  in is freed on an error. */
static int
start(struct gv_in **out, struct gv_in *in, struct gv_error *e)
{
	*out = NULL;
	/* the second byte may come late on a pipe; one byte is enough to rule gzip out */
	while (!in->eof && (in->len == 0 || (in->len == 1 && in->buf[0] == 0x1f)))
		if (fill(in, e) != 0)
			goto fail;
	in->gzip = in->len >= 2 && in->buf[0] == 0x1f && in->buf[1] == 0x8b;
	if (in->gzip && inflateInit2(&in->z, 15 + 16) != Z_OK) {
		in->gzip = false;
		gv_error_set(e, "%s: out of memory", in->name);
		goto fail;
	}
	*out = in;
	return 0;
fail:
	gv_in_close(in);
	return -1;
}

int
gv_in_open(struct gv_in **out, const char *path, struct gv_error *e)
{
	bool standard = path == NULL || strcmp(path, "-") == 0;
	int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	struct gv_in *in;
	struct stat st;

	*out = NULL;
	if (fd == -1)
		return gv_error_sys(e, "%s: cannot open", path);
	in = gv_xcalloc(1, sizeof(*in));
	in->fd = fd;
	in->name = gv_xstrdup(standard ? "<stdin>" : path);
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		gv_error_set(e, "%s: is a directory", in->name);
		gv_in_close(in);
		return -1;
	}
	return start(out, in, e);
}

int
gv_in_memory(struct gv_in **out, const char *name, const void *s, size_t len,
    size_t piece, struct gv_error *e)
{
	struct gv_in *in = gv_xcalloc(1, sizeof(*in));

	in->fd = -1;
	in->name = gv_xstrdup(name);
	in->memory = s;
	in->memory_len = len;
	in->piece = piece > 0 ? piece : len;
	return start(out, in, e);
}

static ssize_t
read_gzip(struct gv_in *in, void *buf, size_t n, struct gv_error *e)
{
	in->z.next_out = buf;
	in->z.avail_out = (uInt)n;
	while (in->z.avail_out == n) {
		int r;

		if (in->bad)
			return gv_error_set(e, "%s: bad gzip data", in->name);
		if (in->pos == in->len && !in->eof && fill(in, e) != 0)
			return -1;
		if (in->pos == in->len) {
			if (in->in_member)
				return gv_error_set(
				    e, "%s: gzip data ends too early", in->name);
			return 0;
		}
		in->in_member = true;
		in->z.next_in = in->buf + in->pos;
		in->z.avail_in = (uInt)(in->len - in->pos);
		r = inflate(&in->z, Z_NO_FLUSH);
		in->pos = in->len - in->z.avail_in;
		if (r == Z_STREAM_END) {
			in->in_member = false;
			inflateReset(&in->z);
		} else if (r != Z_OK && r != Z_BUF_ERROR) {
			in->bad = true;
		}
	}
	return (ssize_t)(n - in->z.avail_out);
}

ssize_t
gv_in_read(struct gv_in *in, void *buf, size_t n, struct gv_error *e)
{
	size_t have = in->len - in->pos;
	ssize_t r;

	if (n > INT32_MAX)
		n = INT32_MAX;
	if (in->gzip)
		return read_gzip(in, buf, n, e);
	if (have > 0) {
		if (n > have)
			n = have;
		memcpy(buf, in->buf + in->pos, n);
		in->pos += n;
		return (ssize_t)n;
	}
	if (in->eof)
		return 0;
	r = read_raw(in, buf, n);
	if (r == -1)
		return gv_error_sys(e, "%s: cannot read", in->name);
	in->eof = r == 0;
	return r;
}

const char *
gv_in_name(const struct gv_in *in)
{
	return in->name;
}

void
gv_in_close(struct gv_in *in)
{
	if (in == NULL)
		return;
	if (in->gzip)
		inflateEnd(&in->z);
	if (in->fd > STDERR_FILENO)
		close(in->fd);
	free(in->name);
	free(in);
}
