/* The queue of what is to be done and written down. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "sched/life/core.h"

void
gv_life_queue(struct gv_life *l, const struct gv_life_out *what)
{
	const struct gv_life_row *row = &what->row;
	const char *reason = row->reason != NULL ? row->reason : "";
	struct gv_life_queued *q;

	l->out = gv_xgrow(l->out, &l->cap_out, l->n_out + 1, sizeof(*l->out));
	q = &l->out[l->n_out++];
	*q = (struct gv_life_queued){*what, l->n_out_gpus, l->out_text.len};
	l->out_gpus = gv_xgrow(l->out_gpus, &l->cap_out_gpus,
	    l->n_out_gpus + row->n_gpus + 1, sizeof(*l->out_gpus));
	if (row->n_gpus > 0)
		memcpy(l->out_gpus + l->n_out_gpus, row->gpu,
		    row->n_gpus * sizeof(*row->gpu));
	l->n_out_gpus += row->n_gpus;
	gv_strbuf_add(&l->out_text, reason, strlen(reason) + 1);
}

bool
gv_life_next(struct gv_life *l, struct gv_life_out *out)
{
	const struct gv_life_queued *q;

	if (l->next_out == l->n_out) {
		l->next_out = l->n_out = l->n_out_gpus = 0;
		gv_strbuf_clear(&l->out_text);
		return false;
	}
	q = &l->out[l->next_out++];
	*out = q->out;
	out->row.gpu = l->out_gpus + q->gpu_at;
	out->row.reason = l->out_text.s + q->text_at;
	if (out->kind == GV_LIFE_ASK)
		l->asked = false;
	return true;
}

void
gv_life_put(struct gv_life *l, enum gv_life_kind kind, ptrdiff_t m)
{
	struct gv_life_out out = {.kind = kind};

	out.row = gv_life_row_of(l, GV_EVENT_KINDS, m, "");
	gv_life_queue(l, &out);
}

struct gv_life_row
gv_life_row_of(
    const struct gv_life *l, enum gv_event_kind kind, ptrdiff_t m, const char *reason)
{
	struct gv_life_row row = {.time_s = l->now_s,
	    .kind = kind,
	    .job = m,
	    .with = -1,
	    .type = -1,
	    .steps = NAN,
	    .round = l->round,
	    .share = NAN,
	    .reason = reason};
	const struct gv_life_job *j = m >= 0 ? &l->job[m] : NULL;

	if (j == NULL)
		return row;
	row.gpu = j->gpu;
	row.n_gpus = j->n_gpus;
	if (j->n_gpus > 0)
		row.type = (ptrdiff_t)j->type;
	row.steps = kind == GV_EVENT_ARRIVE ? j->spec.total_steps
		    : j->steps >= 0         ? j->steps
					    : NAN;
	return row;
}
