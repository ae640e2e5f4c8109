/* The progress channel: a file of lines "step N" and "checkpoint N". */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/num.h"
#include "launch/progress.h"

enum { CHUNK = 64 * 1024, LONGEST_LINE = 256 };

/* A line without its line feed; what is no report is passed over. */
static void
take_line(struct gv_progress_report *p, const char *s, size_t len)
{
	double v;

	if (len > 5 && memcmp(s, "step ", 5) == 0 &&
	    gv_parse_double(s + 5, len - 5, &v) == 0 && v >= 0)
		p->steps = v;
	else if (len > 11 && memcmp(s, "checkpoint ", 11) == 0 &&
		 gv_parse_double(s + 11, len - 11, &v) == 0 && v >= 0)
		p->checkpoint = v;
}

static ssize_t
read_at(int fd, char *buf, size_t n, int64_t offset)
{
	ssize_t r;

	do
		r = pread(fd, buf, n, (off_t)offset);
	while (r == -1 && errno == EINTR);
	return r;
}

/*
 * Takes the whole lines of buf[0..n), returns how much of it is done with.  An
 * endless line is dropped piece by piece; skip says that buf begins within one.
 */
static size_t
take_lines(struct gv_progress_report *p, const char *buf, size_t n, bool skip)
{
	size_t done = 0;

	while (done < n) {
		const char *end = memchr(buf + done, '\n', n - done);

		if (end == NULL)
			return n - done > LONGEST_LINE ? n : done;
		if (!skip)
			take_line(p, buf + done, (size_t)(end - buf) - done);
		skip = false;
		done = (size_t)(end - buf) + 1;
	}
	return done;
}

/* What was read of the file ends before size: reads on. */
static int
read_new(int fd, const char *path, struct gv_progress_report *p, int64_t size,
    struct gv_error *e)
{
	/* a byte that was read before, which tells whether a line begins, as the first does */
	char buf[1 + CHUNK];

	buf[0] = '\n';
	if (size < p->offset)
		p->offset = 0; /* somebody has emptied it: it is a new file */
	while (p->offset < size) {
		int64_t known = p->offset > 0;
		ssize_t n = read_at(
		    fd, buf + 1 - known, CHUNK + (size_t)known, p->offset - known);
		size_t done;

		if (n < known)
			return gv_error_sys(e, "%s: cannot read", path);
		done = take_lines(p, buf + 1, (size_t)(n - known), buf[0] != '\n');
		p->offset += (int64_t)done;
		if (done == 0)
			return 0;
	}
	return 0;
}

/* 0 = there is nothing new, 1 = there may be, -1 with *e set. */
static int
look(const char *path, int64_t offset, struct gv_error *e)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return errno == ENOENT ? 0 : gv_error_sys(e, "%s: cannot open", path);
	if (!S_ISREG(st.st_mode))
		return gv_error_set(
		    e, "%s: a progress file must be a regular file", path);
	return st.st_size != offset;
}

int
gv_progress_read(const char *path, struct gv_progress_report *p, struct gv_error *e)
{
	int r = look(path, p->offset, e); /* mostly all: hundreds of jobs are looked at */
	struct stat st;
	int fd;

	if (r <= 0)
		return r;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd == -1 && errno == ENOENT)
		return 0;
	if (fd == -1)
		return gv_error_sys(e, "%s: cannot open", path);
	if (fstat(fd, &st) != 0)
		r = gv_error_sys(e, "%s: cannot read", path);
	else if (!S_ISREG(st.st_mode))
		r = gv_error_set(e, "%s: a progress file must be a regular file", path);
	else
		r = read_new(fd, path, p, st.st_size, e);
	close(fd);
	return r;
}

int
gv_progress_write(const char *kind, int64_t steps, struct gv_error *e)
{
	const char *path = getenv("GV_PROGRESS");
	char line[64 + GV_NUM_LEN];
	ssize_t n;
	int len;
	int fd;

	if (path == NULL || path[0] == '\0')
		return 0;
	len = snprintf(line, sizeof(line), "%.60s %lld\n", kind, (long long)steps);
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	if (fd == -1)
		return gv_error_sys(e, "%s: cannot open", path);
	do
		n = write(fd, line, (size_t)len);
	while (n == -1 && errno == EINTR);
	if (n != len) {
		if (n >= 0)
			errno = ENOSPC;
		gv_error_sys(e, "%s: cannot write", path);
		close(fd);
		return -1;
	}
	close(fd);
	return 0;
}
