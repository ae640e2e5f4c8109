#include "write.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "grid.h"

/* What a page needs everywhere. */
struct page {
	struct gv_out *out;
	const struct report *r;
	int digits;
	const char *unit; /* of all its times */
	double unit_s;
};

/* One unit for a page, so that its times can be compared by eye. */
static void
choose_unit(struct page *p)
{
	double s = p->r->history.last_s;

	p->unit = s < 600 ? "s" : s < 36000 ? "min" : "h";
	p->unit_s = s < 600 ? 1 : s < 36000 ? 60 : 3600;
}

/* ---- the summary, in words ---- */

static const char *
plural(size_t n)
{
	return n == 1 ? "" : "s";
}

static void
line(struct page *p, const char *label)
{
	gv_out_fmt(p->out, "%-12s", label);
}

static void
spread_line(struct page *p, const char *label, const struct spread *s)
{
	char a[FIXED_LEN], b[FIXED_LEN], c[FIXED_LEN];

	if (s->n == 0)
		return;
	line(p, label);
	gv_out_fmt(p->out, "mean %s %s, median %s %s, longest %s %s\n",
	    fixed(a, s->mean / p->unit_s, p->digits), p->unit,
	    fixed(b, s->median / p->unit_s, p->digits), p->unit,
	    fixed(c, s->max / p->unit_s, p->digits), p->unit);
}

static void
jobs_line(struct page *p)
{
	static const enum job_state order[JOB_STATES] = {JOB_FINISHED, JOB_DROPPED, JOB_RUNNING,
	    JOB_PREEMPTED, JOB_FAILED, JOB_WAITING};
	const struct summary *s = &p->r->summary;
	const char *between = ": ";
	size_t i;

	gv_out_fmt(p->out, "%zu job%s", s->jobs, plural(s->jobs));
	for (i = 0; i < JOB_STATES; i++) {
		if (s->in_state[order[i]] == 0)
			continue;
		gv_out_fmt(p->out, "%s%zu %s", between, s->in_state[order[i]],
		    job_state_name(order[i]));
		between = ", ";
	}
	gv_out_char(p->out, '\n');
}

static void
shares_line(struct page *p)
{
	const struct history *h = &p->r->history;
	const struct summary *s = &p->r->summary;
	struct gv_strbuf who = {0};
	char a[FIXED_LEN];

	if (isnan(s->worst_difference))
		return;
	line(p, "shares");
	text_add(&who, h->job[s->worst_job].id, h->job[s->worst_job].id_len);
	gv_strbuf_str(&who, " on ");
	text_add(&who, h->type[s->worst_type].name, h->type[s->worst_type].name_len);
	gv_out_fmt(p->out, "received within %s points of promised (%s)\n",
	    fixed(a, 100 * s->worst_difference, p->digits), who.s);
	if (!isnan(s->least_ratio)) {
		line(p, "fairness");
		gv_strbuf_clear(&who);
		text_add(&who, h->job[s->least_job].id, h->job[s->least_job].id_len);
		gv_out_fmt(p->out, "received / promised: Jain index %s, ",
		    fixed(a, s->jain, p->digits + 2));
		gv_out_fmt(p->out, "least %s (%s)\n", fixed(a, s->least_ratio, p->digits + 2),
		    who.s);
	}
	gv_strbuf_free(&who);
}

static void
summary_page(struct page *p)
{
	const struct history *h = &p->r->history;
	const struct summary *s = &p->r->summary;
	char a[FIXED_LEN];

	jobs_line(p);
	line(p, "time");
	gv_out_fmt(p->out, "%s %s", fixed(a, s->elapsed_s / p->unit_s, p->digits), p->unit);
	if (!h->ended)
		gv_out_str(p->out, " up to the last event: the run has not ended");
	if (!isnan(s->makespan_s))
		gv_out_fmt(p->out, ", makespan %s %s",
		    fixed(a, s->makespan_s / p->unit_s, p->digits), p->unit);
	gv_out_char(p->out, '\n');
	spread_line(p, "completion", &s->completion);
	spread_line(p, "queueing", &s->queueing);
	if (s->available_gpu_s > 0) {
		line(p, "GPUs");
		gv_out_fmt(p->out, "%.0f, busy %s %% of the time\n", s->gpus,
		    fixed(a, 100 * s->busy_gpu_s / s->available_gpu_s, p->digits));
	}
	shares_line(p);
	line(p, "runs");
	gv_out_fmt(p->out, "%zu launch%s, %zu preemption%s, %zu failure%s, %zu restart%s\n",
	    s->launches, s->launches == 1 ? "" : "es", s->preemptions, plural(s->preemptions),
	    s->failures, plural(s->failures), h->restarts, plural(h->restarts));
	if (s->steps_lost > 0) {
		line(p, "lost");
		gv_out_fmt(p->out, "%s steps done again from an older checkpoint\n",
		    fixed(a, s->steps_lost, 0));
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
	grid_print(&g, right, p->out);
	grid_free(&g);
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
	grid_print(&g, right, p->out);
	grid_free(&g);
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
	grid_print(&g, right, p->out);
	gv_out_fmt(p->out, "Times in %s.  Shares are received/promised, in %% of the time from arrival "
	    "to finish.\n", p->unit);
	grid_free(&g);
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
	grid_print(&g, right, p->out);
	grid_free(&g);
}

void
write_text(struct gv_out *out, const struct report *r, const struct part *part, int digits)
{
	static void (*const page[PARTS])(struct page *) = {
	    summary_page, types_page, entities_page, jobs_page, shares_page};
	struct page p = {.out = out, .r = r, .digits = digits};

	choose_unit(&p);
	if (part != NULL) {
		page[part - parts](&p);
		return;
	}
	summary_page(&p);
	if (r->history.n_types > 0) {
		gv_out_char(out, '\n');
		types_page(&p);
	}
	if (r->summary.n_entities > 1) {
		gv_out_char(out, '\n');
		entities_page(&p);
	}
	if (r->history.n_jobs > 0) {
		gv_out_char(out, '\n');
		jobs_page(&p);
	}
}
