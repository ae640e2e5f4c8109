#include "restore.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fileio.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "clock.h"
#include "journal.h"
#include "lines.h"

enum { LARGEST_JOURNAL = 1 << 30 };

/* ---- damage ---- */

/* "damaged: ...", behind the place; what would be lost with it is in quotes. */
static void
add_fault(struct gv_strbuf *b, const char *s, const struct lines_damage *d)
{
	const char *plural = d->count == 1 ? " is" : "s are";
	char q[GV_QUOTE_LEN];

	gv_quote(q, s + d->at, d->len > 0 ? d->len - 1 : 0);
	switch (d->fault) {
	case LINES_DAMAGED:
		gv_strbuf_fmt(b, "its checksum is wrong: %s", q);
		break;
	case LINES_MOVED:
		gv_strbuf_fmt(b, "it stood before others that are before it: %s", q);
		break;
	case LINES_TWICE:
		gv_strbuf_fmt(b, "it is there twice: %s", q);
		break;
	case LINES_MISSING:
		gv_strbuf_fmt(b, "%zu line%s missing before it", d->count, plural);
		break;
	}
}

/* The same, as what becomes of it when it is repaired. */
static void
add_loss(struct gv_strbuf *b, const char *s, const struct lines_damage *d)
{
	static const char *const becomes[] = {
	    [LINES_DAMAGED] = "damaged, would be lost: ",
	    [LINES_MOVED] = "stood before others that are before it, would be put back: ",
	    [LINES_TWICE] = "is there twice, would be left once: ",
	    [LINES_MISSING] = "missing before it, are lost: "};
	char q[GV_QUOTE_LEN];

	gv_strbuf_str(b, becomes[d->fault]);
	if (d->fault == LINES_MISSING)
		gv_strbuf_fmt(b, "%zu line%s", d->count, d->count == 1 ? "" : "s");
	else
		gv_strbuf_str(b, gv_quote(q, s + d->at, d->len - 1));
}

static void
tell_damage(
    struct gv_error *e, const char *path, const char *s, const struct lines_damage *d)
{
	struct gv_strbuf what = {0};

	add_fault(&what, s, d);
	gv_error_at(e, path, d->line, NULL, "damaged: %s", what.s);
	gv_strbuf_free(&what);
}

/* The lines of a journal: the length of its header. */
static size_t
look(struct lines *l, const char *s, size_t len, enum lines_form *form)
{
	bool pairs;
	size_t header = journal_find_header(s, len, &pairs, form);

	if (header == 0)
		*form = LINES_ROWS; /* of another header only seals are believed */
	lines_check(l, s, len, header, *form);
	if (header == 0 && l->rows == 0) {
		lines_free(l);
		*form = LINES_SUMS;
		lines_check(l, s, len, header, *form);
	}
	return header;
}

/* The header for a line, by the number of its cells. */
static void
add_header_for(struct gv_strbuf *b, const char *s, size_t len, enum lines_form form)
{
	bool quoted = false;
	size_t commas = 0;
	size_t n = lines_next(s, len);
	size_t i;

	for (i = 0; i < n; i++) {
		quoted = quoted != (s[i] == '"');
		commas += s[i] == ',' && !quoted;
	}
	journal_header(b, commas >= GV_EVENT_COLUMNS, form);
}

/* What is whole of a journal, in the order in which it was written. */
static void
add_whole(struct gv_strbuf *b, const char *s, size_t header, const struct lines *l,
    enum lines_form form)
{
	size_t i;

	if (header > 0)
		gv_strbuf_add(b, s, header);
	else if (l->rows > 0)
		add_header_for(b, s + l->row[0].at, l->row[0].len, form);
	for (i = 0; i < l->rows; i++)
		gv_strbuf_add(b, s + l->row[i].at, l->row[i].len);
}

/* The journal as it is, kept before it is written anew. */
static int
keep_damaged(const char *path, const char *s, size_t len, struct gv_error *e)
{
	struct gv_strbuf kept = {0};
	int rc;

	gv_strbuf_fmt(&kept, "%s.damaged", path);
	rc = gv_file_write(kept.s, s, len, e);
	gv_strbuf_free(&kept);
	return rc;
}

/*
 * How many bytes of a journal are missing at its end, which begins as lines say: it is
 * shorter than it was when the clock was written.  Without any row, see had_begun.
 */
static int64_t
missing(const char *dir, const struct lines *l, enum lines_form form)
{
	struct clock c;

	if (form == LINES_BARE || l->rows == 0 || clock_read_in(dir, &c) != 0 ||
	    c.journal_bytes <= (int64_t)l->torn_at)
		return 0;
	return c.journal_bytes - (int64_t)l->torn_at;
}

/*
 * Reads a journal that is whole to *text, with its header, or nothing: a torn last line is
 * cut off, for a kill can tear it; damaged ones are errors, or left out, and so is an end
 * that is missing.  *anew: the file is not what it should be, and has to be written.
 */
static int
read_whole(const char *dir, const char *path, bool repair, struct gv_strbuf *text,
    bool *anew, struct gv_error *e)
{
	struct gv_error damage = {0};
	enum lines_form form;
	struct lines l;
	size_t header, len, i;
	int64_t cut;
	char *s;
	int rc = 0;

	if (gv_file_read(path, &s, &len, LARGEST_JOURNAL, e) != 0)
		return -1;
	header = look(&l, s, len, &form);
	for (i = 0; i < l.n_damaged; i++)
		tell_damage(repair ? &damage : e, path, s, &l.damaged[i]);
	cut = missing(dir, &l, form);
	if (cut > 0)
		(void)gv_error_set(repair ? &damage : e,
		    "%s: is cut off: %lld bytes that were written are missing", path,
		    (long long)cut);
	gv_warn_each(&damage);
	*anew = form != LINES_ROWS || l.n_damaged > 0;
	if ((l.n_damaged > 0 || cut > 0) && !repair) {
		rc = gv_error_set(e,
		    "without these lines jobs may run again: gv-run --repair says what "
		    "would be lost, with --resume it goes on");
	} else if (l.n_damaged > 0) {
		rc = keep_damaged(path, s, l.torn_at, e);
		add_whole(text, s, header, &l, form);
	} else {
		gv_strbuf_add(text, s, l.torn_at);
		if (l.torn_at < len && truncate(path, (off_t)l.torn_at) != 0)
			rc = gv_error_sys(e, "%s: cannot cut off a torn line", path);
	}
	lines_free(&l);
	free(s);
	return rc;
}

/*
 * Whether the run of this state has written events before: its clock is written
 * behind them.  Then a journal without any is one that was lost.
 */
static bool
had_begun(const char *dir)
{
	struct gv_strbuf path = {0};
	struct stat st;
	bool had;

	gv_strbuf_fmt(&path, "%s/clock", dir);
	had = stat(path.s, &st) == 0 && st.st_size > 0;
	gv_strbuf_free(&path);
	return had;
}

int
restore_inspect(const char *dir, struct gv_out *out, struct gv_error *e)
{
	struct gv_strbuf path = {0}, what = {0};
	enum lines_form form;
	struct lines l;
	size_t len;
	size_t i;
	bool lost;
	int64_t cut;
	char *s;
	int rc;

	gv_strbuf_fmt(&path, "%s/events.csv", dir);
	rc = gv_file_read(path.s, &s, &len, LARGEST_JOURNAL, e);
	gv_strbuf_free(&path);
	if (rc != 0)
		return -1;
	look(&l, s, len, &form);
	for (i = 0; i < l.n_damaged; i++) {
		gv_strbuf_clear(&what);
		add_loss(&what, s, &l.damaged[i]);
		gv_out_fmt(out, "events.csv:%ld: %s\n", l.damaged[i].line, what.s);
	}
	gv_strbuf_free(&what);
	if (l.torn_at < len)
		gv_out_fmt(out,
		    "events.csv: the last line is torn: %zu bytes, as a kill "
		    "leaves them\n",
		    len - l.torn_at);
	gv_out_fmt(out, "%zu of %zu lines are whole\n", l.rows, l.rows + l.lost);
	if (form == LINES_BARE)
		gv_out_str(out, "they have no checksums: damage cannot be told\n");
	cut = missing(dir, &l, form);
	if (cut > 0)
		gv_out_fmt(out,
		    "%lld bytes behind them are missing: what happened since the last "
		    "event "
		    "is lost, and jobs that ended then run again\n",
		    (long long)cut);
	lost = l.rows == 0 && l.n_damaged == 0 && had_begun(dir);
	if (lost)
		gv_out_str(out, "the run had begun: its events are lost, and all jobs "
				"would run again\n");
	rc = l.n_damaged > 0 || lost || cut > 0;
	lines_free(&l);
	free(s);
	return rc;
}

/* ---- replay ---- */

static void
replay(struct jobs *jobs, const struct gv_events *events)
{
	size_t *gpu = gv_xcalloc(jobs->life.rounds.n_gpus + 1, sizeof(*gpu));
	size_t i;

	for (i = 0; i < events->n; i++) {
		const struct gv_event *ev = &events->event[i];
		struct gv_life_row row;

		if (ev->kind == GV_EVENT_SUBMIT)
			jobs_taken(jobs, ev->reason.s, ev->reason.len);
		gv_life_row(&jobs->names, &jobs->life, ev, gpu, &row);
		gv_life_replay(&jobs->life, &row);
	}
	free(gpu);
}

int
restore_view(struct jobs *jobs, const char *dir, struct gv_error *e)
{
	struct gv_strbuf path = {0};
	struct gv_events events = {0};
	struct gv_frame f = {0};
	struct lines l = {0};
	enum lines_form form;
	char *s = NULL;
	size_t len, i;
	int rc = 0;

	gv_strbuf_fmt(&path, "%s/events.csv", dir);
	if (access(path.s, F_OK) == 0 &&
	    (rc = gv_file_read(path.s, &s, &len, LARGEST_JOURNAL, e)) == 0)
		look(&l, s, len, &form);
	for (i = 0; i < l.n_damaged; i++) {
		tell_damage(e, path.s, s, &l.damaged[i]);
		rc = -1;
	}
	if (rc == 0 && l.torn_at > 0) {
		rc = gv_frame_parse(&f, path.s, s, l.torn_at, e) == 0
			 ? gv_events_from(&events, &f, e)
			 : -1;
		if (rc == 0)
			replay(jobs, &events);
	}
	gv_events_free(&events);
	lines_free(&l);
	free(s);
	gv_strbuf_free(&path);
	return rc;
}

int
restore(struct jobs *jobs, const char *dir, bool repair, bool *pairs, bool *any,
    struct gv_error *e)
{
	struct gv_events events = {0};
	struct gv_frame f = {0};
	struct gv_strbuf path = {0}, text = {0};
	bool anew = false;
	bool has = true;
	bool rows;
	int rc = 0;

	gv_strbuf_fmt(&path, "%s/events.csv", dir);
	if (access(path.s, F_OK) == 0)
		rc = read_whole(dir, path.s, repair, &text, &anew, e);
	rows = text.len > 0; /* the header counts */
	if (rc == 0 && rows) {
		rc = gv_frame_parse(&f, path.s, text.s, text.len, e) == 0
			 ? gv_events_from(&events, &f, e)
			 : -1;
		has = rc == 0 && gv_frame_find(&events.frame, "with_job_id") >= 0;
	}
	if (rc == 0)
		replay(jobs, &events);
	*any = events.n > 0;
	if (rc == 0 && !*any && !repair && had_begun(dir))
		rc = gv_error_set(e,
		    "%s: holds no events though the run had begun; --resume --repair "
		    "runs all jobs again",
		    path.s);
	if (rows)
		*pairs = *pairs || has;
	if (rc == 0 && (anew || (rows && has != *pairs)))
		rc = journal_rewrite(path.s, &events, *pairs, e);
	gv_events_free(&events);
	gv_strbuf_free(&text);
	gv_strbuf_free(&path);
	return rc;
}
