#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void
write_header(const struct journal *l, struct gv_tabw *w)
{
	if (l->pairs)
		gv_events_write_header_with(w);
	else
		gv_events_write_header(w);
}

int
journal_open(struct journal *l, const char *dir, struct gv_out *out, bool tsv, bool pairs,
    struct gv_error *e)
{
	struct gv_strbuf path = {0};
	struct stat st;

	*l = (struct journal){.dir = dir, .out = out, .pairs = pairs, .pending = true};
	gv_strbuf_fmt(&path, "%s/events.csv", dir);
	l->fd = open(path.s, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	if (l->fd == -1 || fstat(l->fd, &st) != 0) {
		gv_error_sys(e, "%s: cannot open", path.s);
		gv_strbuf_free(&path);
		return -1;
	}
	l->file = gv_out_fd(l->fd, path.s);
	gv_strbuf_free(&path);
	gv_tabw_init(&l->file_w, l->file, false);
	if (st.st_size == 0) {
		write_header(l, &l->file_w);
		if (gv_sync_dir(dir, e) != 0)
			return -1;
	}
	gv_tabw_init(&l->out_w, l->out, tsv);
	write_header(l, &l->out_w);
	return 0;
}

static void
write_event(const struct journal *l, struct gv_tabw *w, const struct gv_event *ev)
{
	if (l->pairs)
		gv_events_write_with(w, ev);
	else
		gv_events_write(w, ev);
}

void
journal_row(struct journal *l, const struct jobs *jobs, const struct gv_life_row *row)
{
	struct gv_event ev;

	gv_life_event(&jobs->names, &jobs->life, row, &l->gpus, &ev);
	write_event(l, &l->file_w, &ev);
	if (l->out != NULL)
		write_event(l, &l->out_w, &ev);
	l->pending = true;
}

static void
output_failed(struct journal *l, int error)
{
	if (error == EPIPE)
		l->out_gone = true;
	else
		l->broken = true;
	l->out_errno = error;
	l->out = NULL;
}

void
journal_output_gone(struct journal *l)
{
	output_failed(l, EPIPE);
}

void
journal_commit(struct journal *l)
{
	if (!l->pending)
		return;
	l->pending = false;
	if (!l->broken && (gv_out_flush(l->file) != 0 || fsync(l->fd) != 0)) {
		gv_warn("%s/events.csv: cannot write: %s", l->dir, strerror(errno));
		l->broken = true;
	}
	errno = 0;
	if (l->out != NULL && gv_out_flush(l->out) != 0)
		output_failed(l, errno);
}

void
journal_close(struct journal *l)
{
	struct gv_error e = {0};

	journal_commit(l);
	gv_strbuf_free(&l->gpus);
	if (l->file == NULL)
		return;
	gv_out_close(l->file, &e); /* a failure was told when it happened */
	close(l->fd);
	l->file = NULL;
}
