/* Outputs: buffered, errors stick, a path is replaced whole or not at all. */
#define _DEFAULT_SOURCE
#include "base/fileio.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/mem.h"
#include "base/strbuf.h"

enum { OUT_BUFFER = 64 * 1024 };

struct gv_out {
	char *path; /* the file to replace, NULL for a descriptor */
	char *temp; /* the file written meanwhile */
	char *name; /* for messages */
	struct gv_out *next;
	int fd;
	struct gv_strbuf *memory; /* appended to instead of fd, when set */
	int error;                /* errno of the first failure, 0 = none */
	bool private;             /* gv_out_private */
	bool owned;               /* fd is closed with the output */
	bool used;                /* something was written to fd */
	bool gzip;
	z_stream z;
	size_t len;
	char buf[OUT_BUFFER];
};

/* Outputs open to a path: a fatal signal must be able to find their temporary files. */
static struct gv_out *open_outputs;
static struct gv_out *standard_output;

static const int fatal_signals[] = {SIGHUP, SIGINT, SIGTERM, SIGPIPE, SIGXCPU, SIGXFSZ};
enum { N_FATAL = sizeof(fatal_signals) / sizeof(fatal_signals[0]) };

static void
remove_temporaries(int sig)
{
	const struct gv_out *o;

	for (o = open_outputs; o != NULL; o = o->next)
		unlink(o->temp);
	signal(sig, SIG_DFL);
	raise(sig);
}

/* Where the program has no handler of its own and does not ignore the signal. */
static void
catch_fatal_signals(void)
{
	int i;

	for (i = 0; i < N_FATAL; i++) {
		struct sigaction sa;

		if (sigaction(fatal_signals[i], NULL, &sa) != 0 ||
		    sa.sa_handler != SIG_DFL)
			continue;
		memset(&sa, 0, sizeof(sa));
		sa.sa_handler = remove_temporaries;
		sigemptyset(&sa.sa_mask);
		sigaction(fatal_signals[i], &sa, NULL);
	}
}

/* Holds back the fatal signals; the mask as it was goes to *before. */
static void
hold_signals(sigset_t *before)
{
	sigset_t set;
	int i;

	sigemptyset(&set);
	for (i = 0; i < N_FATAL; i++)
		sigaddset(&set, fatal_signals[i]);
	pthread_sigmask(SIG_BLOCK, &set, before);
}

static void
list_remove(struct gv_out *out)
{
	struct gv_out **p;

	for (p = &open_outputs; *p != NULL; p = &(*p)->next)
		if (*p == out) {
			*p = out->next;
			return;
		}
}

static void
free_out(struct gv_out *out)
{
	deflateEnd(&out->z); /* which refuses what is none of its streams */
	free(out->path);
	free(out->temp);
	free(out->name);
	free(out);
}

struct gv_out *
gv_out_fd(int fd, const char *name)
{
	struct gv_out *out = gv_xcalloc(1, sizeof(*out));

	out->fd = fd;
	out->name = gv_xstrdup(name);
	return out;
}

struct gv_out *
gv_out_memory(struct gv_strbuf *to)
{
	struct gv_out *out = gv_out_fd(-1, "memory");

	out->memory = to;
	return out;
}

/* The mode a new file would get, or that of the file to be replaced. */
static mode_t
mode_for(const char *path)
{
	struct stat st;
	mode_t mask;

	if (stat(path, &st) == 0)
		return st.st_mode & 07777;
	mask = umask(0);
	umask(mask);
	return 0666 & ~mask;
}

int
gv_out_open(struct gv_out **p, const char *path, struct gv_error *e)
{
	struct gv_out *out;
	struct stat st;
	sigset_t before;
	size_t len;
	char *target;

	if (path == NULL || strcmp(path, "-") == 0) {
		*p = gv_stdout();
		return 0;
	}
	*p = NULL;
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return gv_error_set(e, "%s: is a directory", path);
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		/* a device or pipe cannot be replaced, only written */
		int fd = open(path, O_WRONLY | O_CLOEXEC);

		if (fd == -1)
			return gv_error_sys(e, "%s: cannot open", path);
		*p = gv_out_fd(fd, path);
		(*p)->owned = true;
		return 0;
	}
	target = realpath(
	    path, NULL); /* replace what a symbolic link points to, not the link */
	out = gv_out_fd(-1, path);
	out->path = gv_xstrdup(target != NULL ? target : path);
	free(target);
	len = strlen(out->path) + 8;
	out->temp = gv_xcalloc(len, 1);
	snprintf(out->temp, len, "%s.XXXXXX", out->path);
	hold_signals(&before);
	out->fd = mkstemp(out->temp);
	if (out->fd != -1) {
		out->owned = true;
		out->next = open_outputs;
		open_outputs = out;
		gv_before_death(gv_out_discard_all);
	}
	catch_fatal_signals();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (out->fd == -1) {
		gv_error_sys(e, "%s: cannot create", path);
		free_out(out);
		return -1;
	}
	fcntl(out->fd, F_SETFD, FD_CLOEXEC);
	len = strlen(path);
	if (len > 3 && strcmp(path + len - 3, ".gz") == 0) {
		if (deflateInit2(
			&out->z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
			gv_out_discard(out);
			return gv_error_set(e, "%s: out of memory", path);
		}
		out->gzip = true;
	}
	*p = out;
	return 0;
}

static void
write_raw(struct gv_out *out, const char *s, size_t n)
{
	if (out->memory != NULL) {
		gv_strbuf_add(out->memory, s, n);
		return;
	}
	while (n > 0 && out->error == 0) {
		ssize_t w = write(out->fd, s, n);

		out->used = true;
		if (w == -1 && errno == EINTR)
			continue;
		if (w == -1) {
			out->error = errno;
		} else {
			s += w;
			n -= (size_t)w;
		}
	}
}

static void
deflate_into(struct gv_out *out, const void *s, size_t n, int flush)
{
	char buf[16 * 1024];

	out->z.next_in = (unsigned char *)(uintptr_t)s;
	out->z.avail_in = (uInt)n;
	do {
		out->z.next_out = (unsigned char *)buf;
		out->z.avail_out = sizeof(buf);
		deflate(&out->z, flush);
		write_raw(out, buf, sizeof(buf) - out->z.avail_out);
	} while (out->z.avail_out == 0 && out->error == 0);
}

bool
gv_out_is_terminal(const struct gv_out *out)
{
	return out->memory == NULL && out->path == NULL && isatty(out->fd) != 0;
}

int
gv_out_flush(struct gv_out *out)
{
	size_t n = out->len;

	out->len = 0;
	if (out->gzip)
		deflate_into(out, out->buf, n, Z_NO_FLUSH);
	else
		write_raw(out, out->buf, n);
	return out->error == 0 ? 0 : -1;
}

void
gv_out_write(struct gv_out *out, const void *s, size_t n)
{
	const char *p = s;

	if (n == 0) /* then s may be NULL, which memcpy does not take */
		return;
	if (n <= sizeof(out->buf) - out->len) {
		memcpy(out->buf + out->len, p, n);
		out->len += n;
		return;
	}
	while (n > 0) {
		size_t part = sizeof(out->buf) - out->len;

		if (part == 0) {
			gv_out_flush(out);
			part = sizeof(out->buf);
		}
		if (part > n)
			part = n;
		memcpy(out->buf + out->len, p, part);
		out->len += part;
		p += part;
		n -= part;
	}
}

void
gv_out_str(struct gv_out *out, const char *s)
{
	gv_out_write(out, s, strlen(s));
}

void
gv_out_char(struct gv_out *out, char c)
{
	if (out->len == sizeof(out->buf))
		gv_out_flush(out);
	out->buf[out->len++] = c;
}

void
gv_out_pad(struct gv_out *out, size_t n)
{
	while (n-- > 0)
		gv_out_char(out, ' ');
}

void
gv_out_fmt(struct gv_out *out, const char *fmt, ...)
{
	char small[512];
	char *s = small;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(small, sizeof(small), fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	if ((size_t)n >= sizeof(small)) {
		s = gv_xcalloc((size_t)n + 1, 1);
		va_start(ap, fmt);
		vsnprintf(s, (size_t)n + 1, fmt, ap);
		va_end(ap);
	}
	gv_out_write(out, s, (size_t)n);
	if (s != small)
		free(s);
}

/* fsync where the file can be synced: not a pipe or a device. */
static void
sync_fd(struct gv_out *out)
{
	if (out->error == 0 && fsync(out->fd) != 0 && errno != EINVAL && errno != EROFS)
		out->error = errno;
}

void
gv_out_private(struct gv_out *out)
{
	out->private = true;
}

int
gv_out_close(struct gv_out *out, struct gv_error *e)
{
	sigset_t before;
	int error;

	gv_out_flush(out);
	if (out == standard_output)
		return out->error == 0
			   ? 0
			   : (errno = out->error, gv_error_sys(e, "cannot write"));
	if (out->path == NULL) {
		error = out->error;
		errno = error;
		if (error != 0)
			gv_error_sys(e, "%s: cannot write", out->name);
		if (out->owned)
			close(out->fd);
		free_out(out);
		return error == 0 ? 0 : -1;
	}
	if (out->gzip)
		deflate_into(out, NULL, 0, Z_FINISH);
	sync_fd(out);
	if (out->error == 0 &&
	    fchmod(out->fd, out->private ? 0600 : mode_for(out->path)) != 0)
		out->error = errno;
	if (close(out->fd) != 0 && out->error == 0)
		out->error = errno;
	out->fd = -1;
	if (out->error == 0 && rename(out->temp, out->path) != 0)
		out->error = errno;
	if (out->error != 0) {
		errno = out->error;
		gv_error_sys(e, "%s: cannot write", out->name);
		gv_out_discard(out);
		return -1;
	}
	hold_signals(&before);
	list_remove(out);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	free_out(out);
	return 0;
}

void
gv_out_discard(struct gv_out *out)
{
	sigset_t before;

	if (out == NULL || out == standard_output)
		return;
	hold_signals(&before);
	list_remove(out);
	if (out->owned && out->fd != -1)
		close(out->fd);
	if (out->temp != NULL)
		unlink(out->temp);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	free_out(out);
}

void
gv_out_discard_all(void)
{
	while (open_outputs != NULL)
		gv_out_discard(open_outputs);
}

static void
flush_standard_output(void)
{
	if (standard_output != NULL)
		gv_out_flush(standard_output);
}

struct gv_out *
gv_stdout(void)
{
	if (standard_output == NULL) {
		standard_output = gv_out_fd(STDOUT_FILENO, "<stdout>");
		gv_before_message(flush_standard_output);
	}
	return standard_output;
}

int
gv_finish(void)
{
	int error = 0;

	gv_progress(NULL);
	if (standard_output != NULL) {
		bool used;

		gv_out_flush(standard_output);
		error = standard_output->error;
		used = standard_output->used;
		free_out(standard_output);
		standard_output = NULL;
		/* some file systems report a full disk only here */
		if (used && close(STDOUT_FILENO) != 0 && error == 0)
			error = errno;
	}
	if (error != 0) {
		errno = error;
		gv_die_sys("cannot write to standard output");
	}
	return GV_EXIT_OK;
}
