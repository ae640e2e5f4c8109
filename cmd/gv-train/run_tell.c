/* What a run tells of itself while it goes on. */
#include "base/clock.h"
#include "base/term.h"
#include "launch/progress.h"
#include "run.h"

static const double TELL_S = 0.2; /* between two reports of progress */

/* A report that cannot be written stops nobody; it is told once. */
void
run_tell(struct run *r, const char *kind, uint64_t step)
{
	struct gv_error e = {0};

	if (gv_progress_write(kind, (int64_t)step, &e) != 0 && r->told_s >= 0) {
		gv_warn_error(&e);
		r->told_s = -1;
	}
}

static void
show_progress(struct run *r, double now_s)
{
	struct progress_now now = {
	    now_s, r->step, r->last, r->o->batch, r->loss, r->array.n};
	char line[PROGRESS_LEN];

	progress_text(line, &r->progress, &now);
	gv_progress("%s", line);
}

int
run_tell_now_and_then(struct run *r, double now, struct gv_error *e)
{
	if (r->told_s < 0 || now - r->told_s < TELL_S)
		return 0;
	r->told_s = now;
	run_tell(r, "step", r->step);
	if (record_flush(&r->record, false, e) != 0)
		return -1;
	if (!r->o->common.quiet)
		show_progress(r, now);
	return 0;
}
