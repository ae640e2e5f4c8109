#include "page.h"

#include <math.h>

#include "draw/svg.h"
#include "grid.h"

enum { ENOUGH = 20 }; /* jobs, for percentiles to say more than the longest */

static const char *
plural(size_t n)
{
	return n == 1 ? "" : "s";
}

/* Puts what is in p->text behind a label. */
static void
line(struct page *p, const char *label)
{
	struct gv_svg s = {.out = p->out};

	if (p->html) {
		gv_svg_open(&s, "dt");
		gv_svg_str(&s, label);
		gv_svg_close(&s);
		gv_svg_open(&s, "dd");
		gv_svg_text(&s, p->text.s, p->text.len);
		gv_svg_close(&s);
	} else {
		grid_line(label, p->text.s, p->out);
	}
	gv_strbuf_clear(&p->text);
}

/* A number of the page's digits, and more. */
static void
add(struct page *p, const char *before, double v, int more_digits, const char *after)
{
	char buf[FIXED_LEN];

	gv_strbuf_str(&p->text, before);
	gv_strbuf_str(&p->text, fixed(buf, v, p->digits + more_digits));
	gv_strbuf_str(&p->text, after);
}

/* A time, with its unit. */
static void
add_time(struct page *p, const char *before, double s)
{
	add(p, before, s / p->unit_s, 0, " ");
	gv_strbuf_str(&p->text, p->unit);
}

static void
spread_line(struct page *p, const char *label, const struct spread *s)
{
	if (s->n == 0)
		return;
	add_time(p, "mean ", s->mean);
	add_time(p, ", median ", s->median);
	if (s->n >= ENOUGH) {
		add_time(p, ", p95 ", s->p95);
		add_time(p, ", p99 ", s->p99);
	}
	add_time(p, ", longest ", s->max);
	line(p, label);
}

void
page_add_jobs(struct page *p)
{
	static const enum job_state order[JOB_STATES] = {JOB_FINISHED, JOB_DROPPED,
	    JOB_RUNNING, JOB_PREEMPTED, JOB_FAILED, JOB_WAITING};
	const struct summary *s = &p->r->summary;
	const char *between = ": ";
	size_t i;

	gv_strbuf_fmt(&p->text, "%zu job%s", s->jobs, plural(s->jobs));
	for (i = 0; i < JOB_STATES; i++) {
		if (s->in_state[order[i]] == 0)
			continue;
		gv_strbuf_fmt(&p->text, "%s%zu %s", between, s->in_state[order[i]],
		    job_state_name(order[i]));
		between = ", ";
	}
}

static void
jobs_line(struct page *p)
{
	page_add_jobs(p);
	if (p->html) {
		line(p, "jobs");
	} else {
		grid_note(p->text.s, false, p->out);
		gv_strbuf_clear(&p->text);
	}
}

static void
shares_line(struct page *p)
{
	const struct history *h = &p->r->history;
	const struct summary *s = &p->r->summary;

	if (isnan(s->worst_difference))
		return;
	add(p, "received within ", 100 * s->worst_difference, 0, " points of promised (");
	text_add(&p->text, h->job[s->worst_job].id, h->job[s->worst_job].id_len);
	gv_strbuf_str(&p->text, " on ");
	text_add(&p->text, h->type[s->worst_type].name, h->type[s->worst_type].name_len);
	gv_strbuf_char(&p->text, ')');
	line(p, "shares");
	if (isnan(s->least_ratio))
		return;
	add(p, "received / promised: Jain index ", s->jain, 2, ", ");
	add(p, "least ", s->least_ratio, 2, " (");
	text_add(&p->text, h->job[s->least_job].id, h->job[s->least_job].id_len);
	gv_strbuf_char(&p->text, ')');
	line(p, "fairness");
}

void
page_summary(struct page *p)
{
	const struct history *h = &p->r->history;
	const struct summary *s = &p->r->summary;

	jobs_line(p);
	add_time(p, "", s->elapsed_s);
	if (!h->ended)
		gv_strbuf_str(&p->text, " up to the last event: the run has not ended");
	if (!isnan(s->makespan_s))
		add_time(p, ", makespan ", s->makespan_s);
	line(p, "time");
	spread_line(p, "completion", &s->completion);
	spread_line(p, "queueing", &s->queueing);
	if (s->available_gpu_s > 0) {
		gv_strbuf_fmt(&p->text, "%.0f, busy ", s->gpus);
		add(p, "", 100 * s->busy_gpu_s / s->available_gpu_s, 0, " % of the time");
		line(p, "GPUs");
	}
	shares_line(p);
	gv_strbuf_fmt(&p->text,
	    "%zu launch%s, %zu preemption%s, %zu failure%s, %zu restart%s", s->launches,
	    s->launches == 1 ? "" : "es", s->preemptions, plural(s->preemptions),
	    s->failures, plural(s->failures), h->restarts, plural(h->restarts));
	line(p, "runs");
	if (s->steps_lost > 0) {
		gv_strbuf_fmt(&p->text, "%.0f steps done again from an older checkpoint",
		    s->steps_lost);
		line(p, "lost");
	}
}
