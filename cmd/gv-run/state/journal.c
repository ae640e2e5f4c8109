#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lines.h"

/* ---- lines ---- */

void
journal_header(struct gv_strbuf *b, bool pairs, enum lines_form form)
{
	struct gv_strbuf text = {0};
	struct gv_out *out = gv_out_memory(&text);
	struct gv_error e = {0};
	struct gv_tabw w;

	gv_tabw_init(&w, out, false);
	if (pairs)
		gv_events_write_header_with(&w);
	else
		gv_events_write_header(&w);
	gv_out_close(out, &e);
	gv_strbuf_add(b, text.s, text.len - 1);
	if (form != LINES_BARE)
		gv_strbuf_fmt(b, ",%s", lines_column(form));
	gv_strbuf_char(b, '\n');
	gv_strbuf_free(&text);
}

/* Whether s[0..len) begins with the name of a seal: its comma was damaged into a line's end. */
static bool
begins_with_column(const char *s, size_t len)
{
	enum lines_form form;

	for (form = LINES_SUMS; form <= LINES_ROWS; form++) {
		size_t n = strlen(lines_column(form));

		if (len > n && memcmp(s, lines_column(form), n) == 0 && s[n] == '\n')
			return true;
	}
	return false;
}

size_t
journal_find_header(const char *s, size_t len, bool *pairs, enum lines_form *form)
{
	size_t found = 0;
	int i;

	for (i = 0; i < 2 * (LINES_ROWS + 1) && found == 0; i++) {
		struct gv_strbuf header = {0};

		*pairs = (i & 1) != 0;
		*form = (enum lines_form)(i / 2);
		journal_header(&header, *pairs, *form);
		if (len >= header.len && memcmp(s, header.s, header.len) == 0)
			found = header.len;
		gv_strbuf_free(&header);
	}
	return found > 0 && *form == LINES_BARE &&
		       begins_with_column(s + found, len - found)
		   ? 0
		   : found;
}

static void
begin(struct journal *l, bool pairs)
{
	l->pairs = pairs;
	l->out = gv_out_memory(&l->row);
	gv_tabw_init(&l->w, l->out, false);
}

/* Takes the row that was formatted, without its line feed. */
static size_t
take_row(struct journal *l)
{
	size_t from = l->pending.len;

	gv_out_flush(l->out);
	gv_strbuf_add(&l->pending, l->row.s, l->row.len - 1);
	gv_strbuf_clear(&l->row);
	return from;
}

static void
add_event(struct journal *l, const struct gv_event *ev)
{
	if (l->pairs)
		gv_events_write_with(&l->w, ev);
	else
		gv_events_write(&l->w, ev);
	lines_seal_row(&l->pending, take_row(l), ++l->rows);
}

static void
end(struct journal *l)
{
	struct gv_error e = {0};

	gv_out_close(l->out, &e);
	gv_strbuf_free(&l->row);
	gv_strbuf_free(&l->pending);
	gv_strbuf_free(&l->gpus);
	l->out = NULL;
}

int
journal_rewrite(
    const char *path, const struct gv_events *events, bool pairs, struct gv_error *e)
{
	struct journal l = {.fd = -1};
	size_t i;
	int rc;

	begin(&l, pairs);
	journal_header(&l.pending, pairs, LINES_ROWS);
	for (i = 0; i < events->n; i++)
		add_event(&l, &events->event[i]);
	rc = gv_file_write(path, l.pending.s, l.pending.len, e);
	end(&l);
	return rc;
}

/* ---- the file ---- */

/* The number of the last row of an open file; 0 = it has none. */
static uint32_t
last_number(int fd, off_t size)
{
	char seal[64];
	size_t n = lines_seal_len(LINES_ROWS);

	if (size < (off_t)n || pread(fd, seal, n, size - (off_t)n) != (ssize_t)n)
		return 0;
	return lines_number(seal, n);
}

int
journal_open(struct journal *l, const char *dir, bool pairs, struct gv_error *e)
{
	struct gv_strbuf path = {0};
	struct stat st;

	*l = (struct journal){.dir = dir};
	gv_strbuf_fmt(&path, "%s/events.csv", dir);
	l->fd = open(path.s, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (l->fd == -1 || fstat(l->fd, &st) != 0) {
		gv_error_sys(e, "%s: cannot open", path.s);
		gv_strbuf_free(&path);
		return -1;
	}
	gv_strbuf_free(&path);
	begin(l, pairs);
	l->size = st.st_size;
	l->rows = last_number(l->fd, l->size);
	if (st.st_size > 0)
		return 0;
	journal_header(&l->pending, pairs, LINES_ROWS);
	journal_commit(l);
	return l->broken ? gv_error_set(e, "%s/events.csv: cannot be begun", dir)
			 : gv_sync_dir(dir, e);
}

void
journal_row(struct journal *l, const struct jobs *jobs, const struct gv_life_row *row)
{
	struct gv_event ev;

	gv_life_event(&jobs->names, &jobs->life, row, &l->gpus, &ev);
	add_event(l, &ev);
}

void
journal_submission(struct journal *l, const struct gv_life *life, const char *id)
{
	struct gv_event ev = GV_EVENT_NONE;

	ev.time_s = life->now_s;
	ev.kind = GV_EVENT_SUBMIT;
	ev.round = life->round;
	ev.reason = (struct gv_cell){id, strlen(id)};
	add_event(l, &ev);
}

void
journal_no_pool(
    struct journal *l, const struct gv_life *life, const char *type, const char *node)
{
	struct gv_event ev = GV_EVENT_NONE;

	ev.time_s = life->now_s;
	ev.kind = GV_EVENT_POOL;
	ev.gpu_type = (struct gv_cell){type, strlen(type)};
	ev.node = (struct gv_cell){node, strlen(node)};
	add_event(l, &ev);
}

static bool
has_pool(const struct gv_cluster *c, const struct gv_event *ev)
{
	size_t p;

	for (p = 0; p < c->n_pools; p++)
		if (gv_cell_is(ev->gpu_type, c->type[c->pool[p].type].name) &&
		    gv_cell_is(ev->node, c->pool[p].node))
			return true;
	return false;
}

/* Whether a later event tells of the same pool. */
static bool
is_told_again(const struct gv_events *events, size_t i)
{
	const struct gv_event *ev = &events->event[i];
	size_t k;

	for (k = i + 1; k < events->n; k++) {
		const struct gv_event *next = &events->event[k];

		if (next->kind == GV_EVENT_POOL &&
		    gv_cell_equal(ev->gpu_type, next->gpu_type) &&
		    gv_cell_equal(ev->node, next->node))
			return true;
	}
	return false;
}

int
journal_gone_pools(
    struct journal *l, const struct jobs *jobs, const char *dir, struct gv_error *e)
{
	struct gv_strbuf path = {0};
	struct gv_events events = {0};
	struct gv_frame f = {0};
	int rc;
	size_t i;

	gv_strbuf_fmt(&path, "%s/events.csv", dir);
	rc = gv_frame_load(&f, path.s, e) == 0 ? gv_events_from(&events, &f, e) : -1;
	for (i = 0; rc == 0 && i < events.n; i++) {
		const struct gv_event *ev = &events.event[i];

		if (ev->kind == GV_EVENT_POOL && ev->gpus.len > 0 &&
		    !has_pool(&jobs->cluster, ev) && !is_told_again(&events, i))
			journal_no_pool(l, &jobs->life, ev->gpu_type.s, ev->node.s);
	}
	gv_events_free(&events);
	gv_strbuf_free(&path);
	return rc;
}

static int
write_all(int fd, const char *s, size_t n)
{
	while (n > 0) {
		ssize_t written = write(fd, s, n);

		if (written == -1 && errno == EINTR)
			continue;
		if (written <= 0)
			return -1;
		s += written;
		n -= (size_t)written;
	}
	return 0;
}

void
journal_commit(struct journal *l)
{
	if (l->pending.len == 0)
		return;
	if (!l->broken &&
	    (write_all(l->fd, l->pending.s, l->pending.len) != 0 || fsync(l->fd) != 0)) {
		gv_warn("%s/events.csv: cannot write: %s", l->dir, strerror(errno));
		l->broken = true;
	}
	if (!l->broken)
		l->size += (off_t)l->pending.len;
	gv_strbuf_clear(&l->pending);
}

void
journal_close(struct journal *l)
{
	if (l->fd == -1 || l->out == NULL)
		return;
	journal_commit(l);
	end(l);
	close(l->fd);
	l->fd = -1;
}
