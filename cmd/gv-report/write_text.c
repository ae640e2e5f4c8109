#include "write.h"

#include <math.h>
#include <stdlib.h>

#include "draw/svg.h"
#include "grid.h"

/* What a page needs everywhere. */
struct page {
	struct gv_out *out;
	const struct report *r;
	int digits;
	const char *unit; /* of all its times */
	double unit_s;
	bool html;
	struct gv_strbuf text; /* of the present line of the summary */
};

/* ---- the summary, in words ---- */

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
		gv_out_fmt(p->out, "%-12s%s\n", label, p->text.s);
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
	add_time(p, ", longest ", s->max);
	line(p, label);
}

static void
add_jobs(struct page *p)
{
	static const enum job_state order[JOB_STATES] = {JOB_FINISHED, JOB_DROPPED, JOB_RUNNING,
	    JOB_PREEMPTED, JOB_FAILED, JOB_WAITING};
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
	add_jobs(p);
	if (p->html) {
		line(p, "jobs");
	} else {
		gv_out_fmt(p->out, "%s\n", p->text.s);
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

static void
summary_page(struct page *p)
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
	gv_strbuf_fmt(&p->text, "%zu launch%s, %zu preemption%s, %zu failure%s, %zu restart%s",
	    s->launches, s->launches == 1 ? "" : "es", s->preemptions, plural(s->preemptions),
	    s->failures, plural(s->failures), h->restarts, plural(h->restarts));
	line(p, "runs");
	if (s->steps_lost > 0) {
		gv_strbuf_fmt(&p->text, "%.0f steps done again from an older checkpoint", s->steps_lost);
		line(p, "lost");
	}
}

/* ---- tables ---- */

static void
heading(struct page *p, struct grid *g, const char *what)
{
	struct gv_strbuf b = {0};

	gv_strbuf_fmt(&b, "%s %s", what, p->unit);
	grid_str(g, b.s);
	gv_strbuf_free(&b);
}

/* Ends a table. */
static void
finish(struct page *p, struct grid *g, const bool *right)
{
	if (p->html)
		grid_html(g, right, p->out);
	else
		grid_print(g, right, p->out);
	grid_free(g);
}

static void
types_page(struct page *p)
{
	static const bool right[] = {false, true, true, true, true, true};
	const struct history *h = &p->r->history;
	struct grid g = {.n_columns = 6};
	size_t i;

	grid_str(&g, "GPU type");
	grid_str(&g, "GPUs");
	heading(p, &g, "available GPU");
	heading(p, &g, "busy GPU");
	grid_str(&g, "busy %");
	grid_str(&g, "launches");
	for (i = 0; i < h->n_types; i++) {
		const struct gpu_type *t = &h->type[i];
		bool told = h->n_pools > 0;

		grid_text(&g, t->name, t->name_len);
		grid_number(&g, told ? (double)t->gpus : NAN, 0);
		grid_number(&g, told ? t->available_gpu_s / p->unit_s : NAN, p->digits);
		grid_number(&g, t->busy_gpu_s / p->unit_s, p->digits);
		grid_number(&g, 100 * t->busy_gpu_s / t->available_gpu_s, p->digits);
		grid_number(&g, (double)t->runs, 0);
	}
	finish(p, &g, right);
}

static void
entities_page(struct page *p)
{
	static const bool right[] = {false, true, true, true, true, true, true};
	const struct summary *s = &p->r->summary;
	struct grid g = {.n_columns = 7};
	size_t i;

	grid_str(&g, "entity");
	grid_str(&g, "jobs");
	grid_str(&g, "finished");
	heading(p, &g, "GPU");
	heading(p, &g, "mean completion");
	heading(p, &g, "mean queueing");
	grid_str(&g, "mean share %");
	for (i = 0; i < s->n_entities; i++) {
		const struct entity *t = &s->entity[i];
		struct gv_strbuf b = {0};
		char got[FIXED_LEN], promised[FIXED_LEN];

		grid_text(&g, t->name, t->name_len);
		grid_number(&g, (double)t->jobs, 0);
		grid_number(&g, (double)t->finished, 0);
		grid_number(&g, t->gpu_s / p->unit_s, p->digits);
		grid_number(&g, t->completion_s / p->unit_s, p->digits);
		grid_number(&g, t->queueing_s / p->unit_s, p->digits);
		gv_strbuf_fmt(&b, "%s/%s", fixed(got, 100 * t->received_share, p->digits),
		    fixed(promised, 100 * t->promised_share, p->digits));
		grid_str(&g, b.s);
		gv_strbuf_free(&b);
	}
	finish(p, &g, right);
}

/* "48.9/50.0"; "-" when neither was. */
static void
share_cell(struct page *p, struct grid *g, double received, double promised)
{
	struct gv_strbuf b = {0};
	char buf[FIXED_LEN];

	if (isnan(received) || (received == 0 && promised == 0)) {
		grid_str(g, "-");
		return;
	}
	gv_strbuf_str(&b, fixed(buf, 100 * received, p->digits));
	gv_strbuf_char(&b, '/');
	gv_strbuf_str(&b, fixed(buf, 100 * promised, p->digits));
	grid_str(g, b.s);
	gv_strbuf_free(&b);
}

/* Which columns of the jobs table have something to say. */
struct shown {
	bool entity, gpus, failed;
};

static struct shown
what_to_show(const struct history *h)
{
	struct shown s = {false, false, false};
	size_t i;

	for (i = 0; i < h->n_jobs; i++) {
		s.entity |= h->job[i].entity_len > 0;
		s.gpus |= h->job[i].gpus > 1;
		s.failed |= h->job[i].failures > 0;
	}
	return s;
}

static void
job_row(struct page *p, struct grid *g, const struct job *j, struct shown show)
{
	const struct history *h = &p->r->history;
	const struct use *u = j->use;
	size_t i;

	grid_text(g, j->id, j->id_len);
	if (show.entity)
		grid_text(g, j->entity, j->entity_len);
	grid_str(g, job_state_name(j->state));
	if (show.gpus)
		grid_number(g, (double)j->gpus, 0);
	grid_number(g, j->arrival_s / p->unit_s, p->digits);
	grid_number(g, job_queueing_s(j) / p->unit_s, p->digits);
	grid_number(g, job_completion_s(j) / p->unit_s, p->digits);
	grid_number(g, j->running_s / p->unit_s, p->digits);
	grid_number(g, (double)j->preemptions, 0);
	if (show.failed)
		grid_number(g, (double)j->failures, 0);
	share_cell(p, g, job_received(h, j), job_promised(h, j));
	for (i = 0; i < h->n_types; i++) {
		if (u != NULL && u->type == i) {
			share_cell(p, g, use_received(h, j, u), use_promised(h, j, u));
			u = u->next;
		} else {
			grid_str(g, "-");
		}
	}
}

static void
jobs_page(struct page *p)
{
	const struct history *h = &p->r->history;
	struct shown show = what_to_show(h);
	struct grid g = {.n_columns = 8 + (size_t)show.entity + (size_t)show.gpus +
		(size_t)show.failed + h->n_types};
	bool *right = gv_xcalloc(g.n_columns, sizeof(*right));
	size_t i;

	for (i = 0; i < g.n_columns; i++)
		right[i] = i >= 2 + (size_t)show.entity;
	grid_str(&g, "job");
	if (show.entity)
		grid_str(&g, "entity");
	grid_str(&g, "state");
	if (show.gpus)
		grid_str(&g, "GPUs");
	grid_str(&g, "arrival");
	grid_str(&g, "queueing");
	grid_str(&g, "completion");
	grid_str(&g, "running");
	grid_str(&g, "preempted");
	if (show.failed)
		grid_str(&g, "failed");
	grid_str(&g, "share");
	for (i = 0; i < h->n_types; i++)
		grid_text(&g, h->type[i].name, h->type[i].name_len);
	for (i = 0; i < h->n_jobs; i++)
		job_row(p, &g, &h->job[i], show);
	finish(p, &g, right);
	gv_out_fmt(p->out,
	    "%sTimes in %s.  Shares are received/promised, in %% of the time from arrival to "
	    "finish.%s\n",
	    p->html ? "<p>" : "", p->unit, p->html ? "</p>" : "");
	free(right);
}

static void
shares_page(struct page *p)
{
	static const bool right[] = {false, false, true, true, true, true, true, true};
	const struct history *h = &p->r->history;
	struct grid g = {.n_columns = 8};
	const struct use *u;
	size_t i;

	grid_str(&g, "job");
	grid_str(&g, "GPU type");
	grid_str(&g, "received %");
	grid_str(&g, "promised %");
	grid_str(&g, "difference");
	heading(p, &g, "running");
	grid_str(&g, "steps");
	grid_str(&g, "steps/s");
	for (i = 0; i < h->n_jobs; i++) {
		const struct job *j = &h->job[i];

		for (u = j->use; u != NULL; u = u->next) {
			double received = use_received(h, j, u), promised = use_promised(h, j, u);

			grid_text(&g, j->id, j->id_len);
			grid_text(&g, h->type[u->type].name, h->type[u->type].name_len);
			grid_number(&g, 100 * received, p->digits);
			grid_number(&g, 100 * promised, p->digits);
			grid_number(&g, 100 * (received - promised), p->digits);
			grid_number(&g, u->running_s / p->unit_s, p->digits);
			grid_number(&g, u->steps, 0);
			grid_number(&g, u->steps / u->steps_s, p->digits);
		}
	}
	finish(p, &g, right);
}

/* A heading of the whole report: in a text, an empty line. */
static void
part_heading(struct page *p, const char *what)
{
	if (p->html)
		gv_out_fmt(p->out, "<h2>%s</h2>\n", what);
	else
		gv_out_char(p->out, '\n');
}

static void
tables(struct page *p)
{
	if (p->r->history.n_types > 0) {
		part_heading(p, "GPU types");
		types_page(p);
	}
	if (p->r->summary.n_entities > 1) {
		part_heading(p, "Entities");
		entities_page(p);
	}
	if (p->r->history.n_jobs > 0) {
		part_heading(p, "Jobs");
		jobs_page(p);
	}
}

static struct page
page_of(struct gv_out *out, const struct report *r, int digits, bool html)
{
	struct unit unit = choose_unit(r);

	return (struct page){
	    .out = out, .r = r, .digits = digits, .unit = unit.name, .unit_s = unit.s, .html = html};
}

void
write_text(struct gv_out *out, const struct report *r, const struct part *part, int digits)
{
	static void (*const page[PARTS])(struct page *) = {
	    summary_page, types_page, entities_page, jobs_page, shares_page};
	struct page p = page_of(out, r, digits, false);

	if (part != NULL) {
		page[part - parts](&p);
	} else {
		summary_page(&p);
		tables(&p);
	}
	gv_strbuf_free(&p.text);
}

static const char html_head[] =
    "<!DOCTYPE html>\n"
    "<html lang=\"en\">\n"
    "<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n"
    "<style>\n"
    "body{font:13.5px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;"
    "color:#343a40;background:#fff;max-width:1130px;margin:0 auto;padding:0 24px 48px}\n"
    "svg{display:block;margin:0 -24px;max-width:calc(100% + 48px);height:auto}\n"
    "h2{font-size:16px;color:#212529;margin:28px 0 8px}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 20px;margin:0}\n"
    "dt{color:#868e96}dd{margin:0}\n"
    "div{overflow-x:auto}\n"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:4px 16px 4px 0;text-align:left;white-space:nowrap}\n"
    "th{font-weight:600;border-bottom:1px solid #adb5bd}\n"
    "td{border-bottom:1px solid #e9ecef}\n"
    ".r{text-align:right}\n"
    "p{color:#868e96}\n"
    "</style>\n";

void
write_html(struct gv_out *out, const struct report *r, int digits)
{
	struct page p = page_of(out, r, digits, true);
	struct gv_svg s = {.out = out};

	gv_out_str(out, html_head);
	add_jobs(&p);
	gv_svg_open(&s, "title");
	gv_svg_text(&s, p.text.s, p.text.len);
	gv_svg_close(&s);
	gv_strbuf_clear(&p.text);
	write_svg(out, r, digits);
	gv_out_str(out, "<h2>Summary</h2>\n<dl>\n");
	summary_page(&p);
	gv_out_str(out, "</dl>\n");
	tables(&p);
	gv_out_str(out, "</html>\n");
	gv_strbuf_free(&p.text);
}
