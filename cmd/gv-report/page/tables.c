#include "page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "grid.h"

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

void
page_types(struct page *p)
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

void
page_entities(struct page *p)
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

enum { MOST_ROWS = 1000 }; /* of a page: nobody reads on, and browsers slow down */

void
page_jobs(struct page *p)
{
	const struct history *h = &p->r->history;
	size_t n = p->html && h->n_jobs > MOST_ROWS ? MOST_ROWS : h->n_jobs;
	struct shown show = what_to_show(h);
	struct grid g = {.n_columns = 8 + (size_t)show.entity + (size_t)show.gpus +
				      (size_t)show.failed + h->n_types};
	bool *right = gv_xcalloc(g.n_columns, sizeof(*right));
	char note[128];
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
	for (i = 0; i < n; i++)
		job_row(p, &g, &h->job[i], show);
	finish(p, &g, right);
	if (n < h->n_jobs)
		gv_out_fmt(p->out,
		    "<p>The first %zu of %zu jobs; --format=csv has all.</p>\n", n,
		    h->n_jobs);
	snprintf(note, sizeof(note),
	    "Times in %s.  Shares are received/promised, in %% of the time from arrival "
	    "to finish.",
	    p->unit);
	grid_note(note, p->html, p->out);
	free(right);
}

void
page_shares(struct page *p)
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
			double received = use_received(h, j, u),
			       promised = use_promised(h, j, u);

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
