#include "sched/events.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

enum column { TIME, EVENT, JOB, TYPE, NODE, GPUS, STEPS, ROUND, SHARE, REASON, WITH };

static const char *const column_name[GV_EVENT_COLUMNS] = {"time_s", "event", "job_id",
    "gpu_type", "node", "gpus", "steps", "round", "share", "reason", "with_job_id"};

static const char *const kind_name[GV_EVENT_KINDS] = {"pool", "arrive", "allocate",
    "start", "resume", "checkpoint", "first_step", "hold", "release", "preempt", "finish",
    "fail", "drop", "submit", "restart", "end"};

const char *
gv_event_name(enum gv_event_kind kind)
{
	return kind_name[kind];
}

int
gv_event_kind(struct gv_cell name)
{
	int i;

	for (i = 0; i < GV_EVENT_KINDS; i++)
		if (gv_cell_is(name, kind_name[i]))
			return i;
	return -1;
}

static bool
of_a_job(enum gv_event_kind kind)
{
	return kind >= GV_EVENT_ARRIVE && kind <= GV_EVENT_DROP;
}

static void
write_names(struct gv_tabw *w, int n)
{
	int i;

	for (i = 0; i < n; i++)
		gv_tabw_str(w, column_name[i]);
	gv_tabw_end(w);
}

struct gv_cell
gv_event_node(const struct gv_event *ev, size_t i)
{
	struct gv_cell node = ev->node;
	const char *stop;

	if (node.len == 0 || memchr(node.s, ';', node.len) == NULL)
		return node;
	while (i-- > 0 && (stop = memchr(node.s, ';', node.len)) != NULL) {
		node.len -= (size_t)(stop + 1 - node.s);
		node.s = stop + 1;
	}
	stop = node.len > 0 ? memchr(node.s, ';', node.len) : NULL;
	if (stop != NULL)
		node.len = (size_t)(stop - node.s);
	return node;
}

void
gv_events_write_header(struct gv_tabw *w)
{
	write_names(w, WITH);
}

void
gv_events_write_header_with(struct gv_tabw *w)
{
	write_names(w, GV_EVENT_COLUMNS);
}

static void
write_cells(struct gv_tabw *w, const struct gv_event *ev)
{
	gv_tabw_double(w, ev->time_s);
	gv_tabw_str(w, kind_name[ev->kind]);
	gv_tabw_cell(w, ev->job_id);
	gv_tabw_cell(w, ev->gpu_type);
	gv_tabw_cell(w, ev->node);
	gv_tabw_cell(w, ev->gpus);
	gv_tabw_double(w, ev->steps);
	if (ev->round >= 0)
		gv_tabw_int(w, ev->round);
	else
		gv_tabw_empty(w);
	gv_tabw_double(w, ev->share);
	gv_tabw_cell(w, ev->reason);
}

void
gv_events_write(struct gv_tabw *w, const struct gv_event *ev)
{
	write_cells(w, ev);
	gv_tabw_end(w);
}

void
gv_events_write_with(struct gv_tabw *w, const struct gv_event *ev)
{
	write_cells(w, ev);
	gv_tabw_cell(w, ev->with_job_id);
	gv_tabw_end(w);
}

/* ---- reading: a row's cells, from a stream or a frame, become an event ---- */

struct place {
	const char *file;
	long line;
};

static int
bad(const struct place *at, enum column c, struct gv_error *e, const char *what,
    struct gv_cell got)
{
	char q[GV_QUOTE_LEN];

	return gv_error_at(e, at->file, at->line, column_name[c], "expected %s, got %s",
	    what, gv_quote(q, got.s, got.len));
}

static int
unknown_event(const struct place *at, struct gv_error *e, struct gv_cell got)
{
	char known[GV_ERROR_LEN / 2] = "";
	char q[GV_QUOTE_LEN];
	int i;

	for (i = 0; i < GV_EVENT_KINDS; i++) {
		strcat(known, i > 0 ? ", " : "");
		strcat(known, kind_name[i]);
	}
	return gv_error_at(e, at->file, at->line, column_name[EVENT],
	    "unknown event %s; known: %s", gv_quote(q, got.s, got.len), known);
}

/* An optional number in [0, max]. */
static int
number(const struct place *at, const struct gv_cell *cell, enum column c, double max,
    const char *what, double *v, struct gv_error *e)
{
	*v = NAN;
	if (cell[c].len == 0)
		return 0;
	if (gv_parse_double(cell[c].s, cell[c].len, v) != 0 || !(*v >= 0 && *v <= max))
		return bad(at, c, e, what, cell[c]);
	return 0;
}

static int
parse(struct gv_event *ev, const struct gv_cell *cell, const struct place *at,
    double last_s, struct gv_error *e)
{
	char last[GV_NUM_LEN];
	int kind, failed = 0;

	kind = gv_event_kind(cell[EVENT]);
	ev->job_id = cell[JOB];
	ev->gpu_type = cell[TYPE];
	ev->node = cell[NODE];
	ev->gpus = cell[GPUS];
	ev->reason = cell[REASON];
	ev->with_job_id = cell[WITH];
	ev->round = -1;
	if (gv_parse_double(cell[TIME].s, cell[TIME].len, &ev->time_s) != 0 ||
	    !(ev->time_s >= 0)) {
		failed = bad(at, TIME, e, "a time of 0 s or more", cell[TIME]);
	} else if (ev->time_s < last_s) {
		gv_format_double(last, last_s);
		failed = gv_error_at(e, at->file, at->line, column_name[TIME],
		    "expected a time of %s s or more, as in the row before, got \"%.*s\"",
		    last, (int)cell[TIME].len, cell[TIME].s);
	}
	if (kind < 0)
		return unknown_event(at, e, cell[EVENT]);
	ev->kind = (enum gv_event_kind)kind;
	if (of_a_job(ev->kind) && ev->job_id.len == 0)
		failed = gv_error_at(e, at->file, at->line, column_name[JOB],
		    "expected the job of this %s event, got nothing", kind_name[kind]);
	if (ev->with_job_id.len > 0 && gv_cell_equal(ev->with_job_id, ev->job_id))
		failed = bad(at, WITH, e, "another job", cell[WITH]);
	failed |=
	    number(at, cell, STEPS, HUGE_VAL, "a number of 0 or more", &ev->steps, e);
	failed |= number(at, cell, SHARE, 1, "a share from 0 to 1", &ev->share, e);
	if (kind == GV_EVENT_ALLOCATE && cell[SHARE].len == 0)
		failed = bad(at, SHARE, e, "a share from 0 to 1", cell[SHARE]);
	if (cell[ROUND].len > 0 &&
	    (gv_parse_int(cell[ROUND].s, cell[ROUND].len, &ev->round) != 0 ||
		ev->round < 0 || ev->round > GV_EVENT_LAST_ROUND))
		failed = bad(at, ROUND, e, "a whole number of 0 or more", cell[ROUND]);
	return failed != 0 ? -1 : 0;
}

int
gv_events_on(struct gv_events_in *in, struct gv_tab *tab, struct gv_error *e)
{
	size_t found;
	int i;

	*in = (struct gv_events_in){.tab = tab};
	for (i = 0; i < GV_EVENT_COLUMNS; i++)
		in->column[i] = gv_tab_find(in->tab, column_name[i]);
	if (gv_tab_require(in->tab, column_name[TIME], &found, e) == 0 &&
	    gv_tab_require(in->tab, column_name[EVENT], &found, e) == 0)
		return 0;
	gv_events_close(in);
	return -1;
}

int
gv_events_next(struct gv_events_in *in, struct gv_event *ev, struct gv_error *e)
{
	struct gv_cell cell[GV_EVENT_COLUMNS] = {{NULL, 0}};
	struct place at;
	int i, got;

	got = gv_tab_next(in->tab, e);
	if (got <= 0)
		return got;
	for (i = 0; i < GV_EVENT_COLUMNS; i++)
		cell[i] = in->column[i] >= 0 ? gv_tab_cell(in->tab, (size_t)in->column[i])
					     : (struct gv_cell){"", 0};
	at = (struct place){gv_tab_file(in->tab), gv_tab_line(in->tab)};
	if (parse(ev, cell, &at, in->last_s, e) != 0)
		return -1;
	in->last_s = ev->time_s;
	return 1;
}

void
gv_events_close(struct gv_events_in *in)
{
	gv_tab_close(in->tab);
	*in = (struct gv_events_in){0};
}

int
gv_events_from(struct gv_events *ev, struct gv_frame *frame, struct gv_error *e)
{
	ptrdiff_t column[GV_EVENT_COLUMNS];
	double last_s = 0;
	size_t row, before = e->count;
	int i;

	*ev = (struct gv_events){.frame = *frame};
	*frame = (struct gv_frame){0};
	for (i = 0; i < GV_EVENT_COLUMNS; i++)
		column[i] = gv_frame_find(&ev->frame, column_name[i]);
	if (gv_frame_require(&ev->frame, column_name[TIME], &column[TIME], e) != 0 ||
	    gv_frame_require(&ev->frame, column_name[EVENT], &column[EVENT], e) != 0)
		goto fail;
	ev->event = gv_xcalloc(ev->frame.n_rows + 1, sizeof(*ev->event));
	for (row = 0; row < ev->frame.n_rows; row++) {
		struct place at = {ev->frame.file, ev->frame.line[row]};
		struct gv_cell cell[GV_EVENT_COLUMNS] = {{NULL, 0}};

		for (i = 0; i < GV_EVENT_COLUMNS; i++)
			cell[i] = gv_frame_cell(&ev->frame, row, column[i]);
		if (parse(&ev->event[row], cell, &at, last_s, e) == 0)
			last_s = ev->event[row].time_s;
	}
	ev->n = ev->frame.n_rows;
	if (e->count == before)
		return 0;
fail:
	gv_events_free(ev);
	return -1;
}

void
gv_events_free(struct gv_events *ev)
{
	free(ev->event);
	gv_frame_free(&ev->frame);
	*ev = (struct gv_events){0};
}
