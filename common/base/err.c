#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/stderr.h"
#include "base/utf8.h"

#undef gv_error_set
#undef gv_error_sys
#undef gv_error_at

static const char *progname = "gv"; /* the one global of the toolkit */

void
gv_error_clear(struct gv_error *e)
{
	e->count = 0;
}

/* Makes what would steer a terminal, but line feeds and tabs where they may be, a "?". */
static void
make_visible(char *s, const char *allowed)
{
	size_t len = strlen(s);
	size_t i = 0;
	size_t n;

	while (i < len) {
		if (gv_utf8_steers(s + i, len - i, &n) && strchr(allowed, s[i]) == NULL)
			memset(s + i, '?', n);
		i += n;
	}
}

static void GV_PRINTF(3, 0)
    add(struct gv_error *e, const char *where, const char *fmt, va_list ap, int err)
{
	char *text;
	size_t len = 0;

	if (e->count++ >= GV_ERROR_KEPT)
		return;
	text = e->text[e->count - 1];
	snprintf(text, GV_ERROR_LEN, "%s", where);
	len = strlen(text);
	vsnprintf(text + len, GV_ERROR_LEN - len, fmt, ap);
	len = strlen(text);
	if (err != 0)
		snprintf(text + len, GV_ERROR_LEN - len, ": %s", strerror(err));
	make_visible(text, ""); /* a file name or header cannot forge a second line */
}

int
gv_error_set(struct gv_error *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(e, "", fmt, ap, 0);
	va_end(ap);
	return -1;
}

int
gv_error_sys(struct gv_error *e, const char *fmt, ...)
{
	int err = errno;
	va_list ap;

	va_start(ap, fmt);
	add(e, "", fmt, ap, err);
	va_end(ap);
	return -1;
}

int
gv_error_at(struct gv_error *e, const char *file, long line, const char *column,
    const char *fmt, ...)
{
	char where[GV_ERROR_LEN];
	size_t len;
	va_list ap;

	if (file == NULL || strcmp(file, "-") == 0)
		file = "<stdin>";
	snprintf(where, sizeof(where) / 2, "%s:", file);
	len = strlen(where);
	if (line > 0)
		snprintf(where + len, sizeof(where) - len, "%ld: ", line);
	else
		snprintf(where + len, sizeof(where) - len, " ");
	len = strlen(where);
	if (column != NULL)
		snprintf(where + len, sizeof(where) / 4, "%s: ", column);
	va_start(ap, fmt);
	add(e, where, fmt, ap, 0);
	va_end(ap);
	return -1;
}

char *
gv_quote(char buf[GV_QUOTE_LEN], const char *s, size_t len)
{
	static const char hex[] = "0123456789abcdef";
	size_t cut = len > 64 ? 64 : len;
	size_t left = 0; /* bytes to come of a character */
	bool steers = false;
	size_t i;
	char *p = buf;

	while (cut < len && cut > 60 && ((unsigned char)s[cut] & 0xc0) == 0x80)
		cut--; /* never in the middle of a UTF-8 character */
	*p++ = '"';
	for (i = 0; i < cut; i++) {
		unsigned char c = (unsigned char)s[i];

		if (left == 0) /* its other bytes mean nothing by themselves */
			steers = gv_utf8_steers(s + i, cut - i, &left);
		left--;
		if (c == '"' || c == '\\') {
			*p++ = '\\';
			*p++ = (char)c;
		} else if (steers) {
			*p++ = '\\';
			*p++ = 'x';
			*p++ = hex[c >> 4];
			*p++ = hex[c & 15];
		} else {
			*p++ = (char)c;
		}
	}
	if (cut < len) {
		memcpy(p, "...", 3);
		p += 3;
	}
	*p++ = '"';
	*p = '\0';
	return buf;
}

void
gv_init(const char *name)
{
	int fd;

	progname = name;
	for (fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) == -1 && errno == EBADF &&
		    open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
			_exit(GV_EXIT_TROUBLE);
}

const char *
gv_progname(void)
{
	return progname;
}

static void (*flush_outputs)(void);
static void (*discard_outputs)(void);

void
gv_before_message(void (*flush)(void))
{
	flush_outputs = flush;
}

void
gv_before_death(void (*discard)(void))
{
	discard_outputs = discard;
}

static void GV_PRINTF(1, 0) say(const char *fmt, va_list ap, int err)
{
	/* one write per message, so that messages of several processes do not mix */
	char line[2048];
	size_t len;

	if (flush_outputs != NULL)
		flush_outputs();
	snprintf(line, 128, "%s: ", progname);
	len = strlen(line);
	vsnprintf(line + len, sizeof(line) - len - 1, fmt, ap);
	len = strlen(line);
	if (err != 0)
		snprintf(line + len, sizeof(line) - len - 1, ": %s", strerror(err));
	make_visible(line, "\n\t");
	len = strlen(line);
	line[len++] = '\n';
	gv_progress(NULL);
	gv_stderr_write(line, len);
}

void
gv_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap, 0);
	va_end(ap);
}

void
gv_warn_error(const struct gv_error *e)
{
	size_t i;

	for (i = 0; i < e->count && i < GV_ERROR_KEPT; i++)
		gv_warn("%s", e->text[i]);
	if (e->count > GV_ERROR_KEPT)
		gv_warn("%zu more error%s", e->count - GV_ERROR_KEPT,
		    e->count - GV_ERROR_KEPT == 1 ? "" : "s");
}

void
gv_warn_each(const struct gv_error *w)
{
	size_t i;

	for (i = 0; i < w->count && i < GV_ERROR_KEPT; i++)
		gv_warn("warning: %s", w->text[i]);
	if (w->count > GV_ERROR_KEPT)
		gv_warn("warning: %zu more warnings", w->count - GV_ERROR_KEPT);
}

static void (*on_die)(void);

void
gv_on_die(void (*clean)(void))
{
	on_die = clean;
}

static void GV_NORETURN
leave(void)
{
	void (*clean)(void) = on_die;

	on_die = NULL; /* should it die after all, then only once */
	if (clean != NULL)
		clean();
	if (discard_outputs != NULL)
		discard_outputs();
	gv_stderr_last();
	_exit(GV_EXIT_TROUBLE);
}

void
gv_die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap, 0);
	va_end(ap);
	leave();
}

void
gv_die_sys(const char *fmt, ...)
{
	int err = errno;
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap, err);
	va_end(ap);
	leave();
}

void
gv_die_error(const struct gv_error *e)
{
	gv_warn_error(e);
	leave();
}

void
gv_progress(const char *fmt, ...)
{
	static int shown; /* whether a line of progress stands on the terminal */
	va_list ap;

	if ((fmt == NULL && !shown) || !isatty(STDERR_FILENO))
		return;
	if (fmt == NULL) {
		gv_stderr_write_now("\r\033[K", 4);
		shown = 0;
		return;
	}
	{
		char line[256] = "\r\033[K";

		va_start(ap, fmt);
		vsnprintf(line + 4, sizeof(line) - 4, fmt, ap);
		va_end(ap);
		make_visible(line + 4, "");
		gv_stderr_write_now(line, strlen(line));
		shown = 1;
	}
}
