#include "follow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "gv-run/state/journal.h"
#include "gv-run/state/lines.h"
#include "gv-run/state/output.h"
#include "gv-run/state/state.h"

/* How often the journal is looked at. */
static const double look_s = .1;

struct follow {
	char *path;
	int fd;
	struct gv_strbuf header;
	off_t size; /* of the lines that are whole */
	bool over;  /* the last of them ends the run */
	bool told;  /* that no gv-run is there */
};

/* All of the journal from a place on; the caller's. */
static char *
read_from(const struct follow *f, off_t at, size_t *len)
{
	struct stat st;
	char *s;
	size_t room;

	*len = 0;
	if (fstat(f->fd, &st) != 0 || st.st_size <= at)
		return NULL;
	room = (size_t)(st.st_size - at);
	s = gv_xcalloc(room + 1, 1);
	while (*len < room) {
		ssize_t n = pread(f->fd, s + *len, room - *len, at + (off_t)*len);

		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		*len += (size_t)n;
	}
	return s;
}

/* Which lines are whole, and what the last one says. */
static void
look(struct follow *f)
{
	size_t len, n, at = 0;
	char *s = read_from(f, f->size, &len);

	while ((n = lines_next(s + at, len - at)) > 0 &&
	       lines_is_whole(s + at, n, LINES_ROWS)) {
		const char *event = memchr(s + at, ',', n);

		f->over = event != NULL && strncmp(event, ",end,", 5) == 0;
		at += n;
	}
	f->size += (off_t)at;
	free(s);
}

/* The header is there: 1, 0 = not yet, -1 with *e set. */
static int
begin(struct follow *f, struct gv_error *e)
{
	enum lines_form form;
	size_t len, header;
	bool pairs;
	char *s;

	f->fd = open(f->path, O_RDONLY | O_CLOEXEC);
	if (f->fd == -1)
		return errno == ENOENT ? 0 : gv_error_sys(e, "%s: cannot open", f->path);
	s = read_from(f, 0, &len);
	header = s != NULL ? journal_find_header(s, len, &pairs, &form) : 0;
	if (header > 0 && form != LINES_ROWS)
		gv_error_set(
		    e, "%s: is of an earlier build; --resume writes it anew", f->path);
	if (header == 0 && s != NULL && len > 0 && memchr(s, '\n', len) != NULL)
		gv_error_set(e, "%s: no journal of gv-run", f->path);
	gv_strbuf_add(&f->header, s, header);
	f->size = (off_t)header;
	free(s);
	if (header > 0 && e->count == 0)
		return 1;
	close(f->fd);
	f->fd = -1;
	return e->count > 0 ? -1 : 0;
}

/* That what was handed on stands in the file that is there now, open as fd.  0 or -1. */
static int
check_anew(const struct follow *f, int fd, struct gv_error *e)
{
	struct follow now = {.fd = fd};
	size_t len, was_len, size = (size_t)f->size;
	char *s = read_from(&now, 0, &len), *was = read_from(f, 0, &was_len);
	int rc = 0;

	if (len < f->header.len || memcmp(s, f->header.s, f->header.len) != 0)
		rc = gv_error_set(e, "%s: was written anew, with other columns", f->path);
	else if (len < size || was_len < size || memcmp(s, was, size) != 0)
		rc = gv_error_set(e, "%s: was written anew, with other lines", f->path);
	free(s);
	free(was);
	return rc;
}

/* A journal that was written anew is gone on with where it begins as the one before. */
static int
follow_file(struct follow *f, struct output *out, struct gv_error *e)
{
	struct stat there, ours;
	int fd, rc;

	if (stat(f->path, &there) != 0 || fstat(f->fd, &ours) != 0 ||
	    (there.st_ino == ours.st_ino && there.st_dev == ours.st_dev))
		return 0;
	fd = open(f->path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return 0;
	rc = check_anew(f, fd, e);
	close(f->fd);
	f->fd = out->journal_fd = fd;
	return rc;
}

static void
say_if_dead(struct follow *f, const struct state *s)
{
	bool alive = state_is_alive(s);

	if (!alive && !f->told && !s->o->quiet)
		gv_warn("%s: no gv-run runs here: events come when one goes on with it",
		    s->dir);
	f->told = !alive;
}

static int
run(struct follow *f, const struct state *s, struct gv_out *file, struct gv_error *e)
{
	struct output out;
	int rc = 0, began;

	while ((began = begin(f, e)) == 0) {
		say_if_dead(f, s);
		gv_sleep_s(look_s);
	}
	if (began < 0)
		return -1;
	output_open(&out, file, s->o->tsv, f->fd, f->size);
	while (rc == 0 && !out.gone && out.error == 0) {
		look(f);
		output_turn(&out, f->size);
		if (f->over && !output_lags(&out))
			break;
		if (!f->over)
			say_if_dead(f, s);
		gv_sleep_s(look_s);
		rc = follow_file(f, &out, e);
	}
	if (out.error != 0 && !out.gone && file == NULL)
		rc = gv_error_set(
		    e, "cannot write to standard output: %s", strerror(out.error));
	output_close(&out);
	return rc;
}

int
follow(const struct settings *o, struct gv_out *out, struct gv_error *e)
{
	struct state s = STATE_NONE;
	struct follow f = {.fd = -1};
	int rc;

	s.o = o;
	s.dir = gv_xstrdup(o->state);
	f.path = state_path(&s, "events.csv");
	if (state_has(&s, "jobs.csv"))
		rc = run(&f, &s, out, e);
	else
		rc = gv_error_set(e, "%s: holds no run", o->state);
	if (f.fd != -1)
		close(f.fd);
	gv_strbuf_free(&f.header);
	free(f.path);
	free(s.dir);
	return rc;
}
