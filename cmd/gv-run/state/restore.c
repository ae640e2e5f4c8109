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

static void
tell_damage(
    struct gv_error *e, const char *path, const char *s, const struct lines_damage *d)
{
	char q[GV_QUOTE_LEN];

	gv_error_at(e, path, d->line, NULL, "damaged: its checksum is wrong: %s",
	    gv_quote(q, s + d->at, d->len > 0 ? d->len - 1 : 0));
}

/* The lines of a journal; *sealed: they have checksums. */
static void
look(struct lines *l, const char *s, size_t len, bool *sealed)
{
	bool pairs;
	size_t header = journal_find_header(s, len, &pairs, sealed);

	if (header == 0)
		*sealed = true; /* of another header nothing is believed but checksums */
	lines_check(l, s, len, header, *sealed);
}

/* The header for a line, by the number of its cells. */
static void
add_header_for(struct gv_strbuf *b, const char *s, size_t len)
{
	bool quoted = false;
	size_t commas = 0;
	size_t n = lines_next(s, len);
	size_t i;

	for (i = 0; i < n; i++) {
		quoted = quoted != (s[i] == '"');
		commas += s[i] == ',' && !quoted;
	}
	journal_header(b, commas >= GV_EVENT_COLUMNS, true);
}

/* The journal without its damaged lines; it is kept as it was. */
static int
leave_out(const char *path, const char *s, const struct lines *l, struct gv_error *e)
{
	struct gv_strbuf kept = {0};
	struct gv_strbuf good = {0};
	size_t at = 0;
	size_t i;
	int rc;

	for (i = 0; i < l->n_damaged; i++) {
		gv_strbuf_add(&good, s + at, l->damaged[i].at - at);
		at = l->damaged[i].at + l->damaged[i].len;
		if (l->damaged[i].at == 0)
			add_header_for(&good, s + at, l->torn_at - at);
	}
	gv_strbuf_add(&good, s + at, l->torn_at - at);
	gv_strbuf_fmt(&kept, "%s.damaged", path);
	rc = gv_file_write(kept.s, s, l->torn_at, e);
	if (rc == 0)
		rc = gv_file_write(path, good.s, good.len, e);
	gv_strbuf_free(&good);
	gv_strbuf_free(&kept);
	return rc;
}

/*
 * How many bytes of a journal are missing at its end, which begins as lines say: it is
 * shorter than it was when the clock was written.  Without any row, see had_begun.
 */
static int64_t
missing(const char *dir, const struct lines *l, bool sealed)
{
	struct clock c;

	if (!sealed || l->rows == 0 || clock_read_in(dir, &c) != 0 ||
	    c.journal_bytes <= (int64_t)l->torn_at)
		return 0;
	return c.journal_bytes - (int64_t)l->torn_at;
}

/*
 * Makes the journal whole: a torn last line is cut off, for a kill can tear it;
 * damaged ones are errors, or left out, and so is an end that is missing.  *sealed: its
 * lines have checksums; *rows: how many.
 */
static int
make_whole(const char *dir, const char *path, bool repair, bool *sealed, size_t *rows,
    struct gv_error *e)
{
	struct gv_error damage = {0};
	int64_t cut;
	struct lines l;
	size_t len;
	size_t i;
	char *s;
	int rc = 0;

	if (gv_file_read(path, &s, &len, LARGEST_JOURNAL, e) != 0)
		return -1;
	look(&l, s, len, sealed);
	for (i = 0; i < l.n_damaged; i++)
		tell_damage(repair ? &damage : e, path, s, &l.damaged[i]);
	cut = missing(dir, &l, *sealed);
	if (cut > 0)
		(void)gv_error_set(repair ? &damage : e,
		    "%s: is cut off: %lld bytes that were written are missing", path,
		    (long long)cut);
	gv_warn_each(&damage);
	if ((l.n_damaged > 0 || cut > 0) && !repair) {
		rc = gv_error_set(e,
		    "without these lines jobs may run again: gv-run --repair says what "
		    "would be lost, with --resume it goes on");
	} else if (l.n_damaged > 0) {
		rc = leave_out(path, s, &l, e);
	} else if (l.torn_at < len && truncate(path, (off_t)l.torn_at) != 0) {
		rc = gv_error_sys(e, "%s: cannot cut off a torn line", path);
	}
	*rows = l.torn_at > 0 ? l.rows + 1 : 0; /* the header counts */
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
	struct gv_strbuf path = {0};
	char q[GV_QUOTE_LEN];
	struct lines l;
	size_t len;
	size_t i;
	bool sealed;
	bool lost;
	int64_t cut;
	char *s;
	int rc;

	gv_strbuf_fmt(&path, "%s/events.csv", dir);
	rc = gv_file_read(path.s, &s, &len, LARGEST_JOURNAL, e);
	gv_strbuf_free(&path);
	if (rc != 0)
		return -1;
	look(&l, s, len, &sealed);
	for (i = 0; i < l.n_damaged; i++) {
		const struct lines_damage *d = &l.damaged[i];

		gv_out_fmt(out, "events.csv:%ld: damaged, would be lost: %s\n", d->line,
		    gv_quote(q, s + d->at, d->len > 0 ? d->len - 1 : 0));
	}
	if (l.torn_at < len)
		gv_out_fmt(out,
		    "events.csv: the last line is torn: %zu bytes, as a kill "
		    "leaves them\n",
		    len - l.torn_at);
	gv_out_fmt(out, "%zu of %zu lines are whole\n", l.rows, l.rows + l.n_damaged);
	if (!sealed)
		gv_out_str(out, "they have no checksums: damage cannot be told\n");
	cut = missing(dir, &l, sealed);
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
	bool sealed;
	char *s = NULL;
	size_t len, i;
	int rc = 0;

	gv_strbuf_fmt(&path, "%s/events.csv", dir);
	if (access(path.s, F_OK) == 0 &&
	    (rc = gv_file_read(path.s, &s, &len, LARGEST_JOURNAL, e)) == 0)
		look(&l, s, len, &sealed);
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
	struct gv_strbuf path = {0};
	bool sealed = true;
	bool has = true;
	size_t rows = 0;
	int rc = 0;

	gv_strbuf_fmt(&path, "%s/events.csv", dir);
	if (access(path.s, F_OK) == 0)
		rc = make_whole(dir, path.s, repair, &sealed, &rows, e);
	if (rc == 0 && rows > 0) {
		rc = gv_frame_load(&f, path.s, e) == 0 ? gv_events_from(&events, &f, e)
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
	if (rows > 0)
		*pairs = *pairs || has;
	if (rc == 0 && rows > 0 && (!sealed || has != *pairs))
		rc = journal_rewrite(path.s, &events, *pairs, e);
	gv_events_free(&events);
	gv_strbuf_free(&path);
	return rc;
}
