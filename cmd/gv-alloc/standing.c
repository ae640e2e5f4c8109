#include "standing.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "changes.h"

enum { SPARE_ROWS = 4096 }; /* of jobs that have gone, beside as many as are there */

/* ---- what is looked at ---- */

static bool
has(const struct gv_rates *r, const char *column)
{
	return gv_frame_find(&r->frame, column) >= 0;
}

const char *
standing_reads(const struct options *o, const struct gv_rates *r)
{
	/* "x;y" of those whose bits are set: remaining 1, elapsed 2, isolated 4 */
	static const char *const list[] = {"", "steps_remaining", "elapsed_s",
	    "steps_remaining;elapsed_s", "isolated_elapsed_s",
	    "steps_remaining;isolated_elapsed_s", "elapsed_s;isolated_elapsed_s",
	    "steps_remaining;elapsed_s;isolated_elapsed_s"};
	unsigned numbers = o->policy->numbers;
	bool needs =
	    numbers & GV_NEEDS &&
	    (has(r, "deadline_s") || has(r, "slo_factor") || has(r, "min_steps_per_s"));
	unsigned bits = 0;

	if (!o->changes || r->n_jobs == 0 || o->throughputs != NULL || o->nodes ||
	    o->sharing != NULL || has(r, "with_job_id") || has(r, "node"))
		return NULL;
	if (numbers >> GV_NUMBER_STEPS & 1 || needs)
		bits |= 1;
	if (numbers >> GV_NUMBER_ELAPSED & 1 || needs)
		bits |= 2;
	if (numbers >> GV_NUMBER_ISOLATED & 1)
		bits |= 4;
	return list[bits];
}

/* ---- the table ---- */

void
standing_free(struct standing *s)
{
	gv_rates_free(&s->r);
	free(s->first);
	free(s->said);
	*s = (struct standing){0};
}

/* The rates by job, jobs in their order. */
static void
group(struct standing *s)
{
	struct gv_rates *r = &s->r;
	size_t *next = gv_xcalloc(r->n_jobs + 1, sizeof(*next));
	struct gv_rate *rate = gv_xcalloc(r->n_rates + 1, sizeof(*rate));
	size_t i;

	free(s->first);
	s->first = gv_xcalloc(r->n_jobs + 2, sizeof(*s->first));
	for (i = 0; i < r->n_rates; i++)
		s->first[r->rate[i].job + 1]++;
	for (i = 0; i < r->n_jobs; i++)
		s->first[i + 1] += s->first[i];
	memcpy(next, s->first, r->n_jobs * sizeof(*next));
	for (i = 0; i < r->n_rates; i++)
		rate[next[r->rate[i].job]++] = r->rate[i];
	free(next);
	free(r->rate);
	r->rate = rate;
}

void
standing_keep(struct standing *s, struct gv_rates *r, const struct gv_answer *a)
{
	size_t i;

	standing_free(s);
	s->known = true;
	s->r = *r;
	*r = (struct gv_rates){0};
	group(s);
	s->said = gv_xcalloc(s->r.n_rates + 1, sizeof(*s->said));
	for (i = 0; i < s->r.n_rates; i++)
		s->said[i] = gv_answer_share(a, &s->r.rate[i]);
}

bool
standing_is_change(const struct gv_tab *t)
{
	return gv_tab_find(t, "change") >= 0 && gv_tab_find(t, "place") >= 0;
}

/* ---- the next table ---- */

/* Rows of new jobs behind those of the table, and the jobs of these rows. */
static void
move_rows(struct standing *s, struct gv_rates *new)
{
	struct gv_frame *to = &s->r.frame;
	size_t before = to->n_rows;
	size_t n = to->n_columns;
	struct gv_cell *cell = gv_xcalloc(n, sizeof(*cell));
	size_t i, k;

	for (i = 0; i < new->frame.n_rows; i++) {
		for (k = 0; k < n; k++)
			cell[k] = gv_frame_cell(&new->frame, i, (ptrdiff_t)k);
		gv_frame_add(to, cell, new->frame.line[i]);
	}
	free(cell);
	for (i = 0; i < new->n_jobs; i++)
		gv_job_move(&new->job[i], to, before + new->job[i].row);
	for (i = 0; i < new->n_rates; i++)
		new->rate[i].row += before;
}

/* The next table while it is made. */
struct next {
	struct gv_job *job;
	struct gv_rate *rate;
	double *said;
	size_t *first;
	size_t n_jobs, n_rates;
};

static void
add_job(struct next *to, const struct standing *from, size_t job)
{
	size_t i;

	for (i = from->first[job]; i < from->first[job + 1]; i++) {
		to->rate[to->n_rates] = from->r.rate[i];
		to->rate[to->n_rates].job = to->n_jobs;
		to->said[to->n_rates++] = from->said[i];
	}
	to->job[to->n_jobs++] = from->r.job[job];
	to->first[to->n_jobs] = to->n_rates;
}

/* Those who stay, with those who come at their places, place[new->r.n_jobs]. */
static void
merge(struct standing *s, const bool *gone, struct standing *new, const size_t *place)
{
	size_t jobs = s->r.n_jobs + new->r.n_jobs;
	size_t rates = s->r.n_rates + new->r.n_rates;
	struct next to = {.job = gv_xcalloc(jobs + 1, sizeof(*to.job)),
	    .rate = gv_xcalloc(rates + 1, sizeof(*to.rate)),
	    .said = gv_xcalloc(rates + 1, sizeof(*to.said)),
	    .first = gv_xcalloc(jobs + 2, sizeof(*to.first))};
	size_t i = 0;
	size_t k = 0;

	while (i < s->r.n_jobs || k < new->r.n_jobs) {
		if (i < s->r.n_jobs && gone[i])
			i++;
		else if (k < new->r.n_jobs && place[k] == to.n_jobs)
			add_job(&to, new, k++);
		else
			add_job(&to, s, i++);
	}
	free(s->r.job);
	free(s->r.rate);
	free(s->said);
	free(s->first);
	s->r.job = to.job;
	s->r.rate = to.rate;
	s->said = to.said;
	s->first = to.first;
	s->r.n_jobs = to.n_jobs;
	s->r.n_rates = to.n_rates;
}

/* The rows of jobs that are there, without those of all that have been. */
static void
compact(struct standing *s)
{
	struct gv_frame old = s->r.frame;
	size_t n = old.n_columns;
	struct gv_cell *cell = gv_xcalloc(n, sizeof(*cell));
	struct gv_frame *to = &s->r.frame;
	size_t i, k;

	gv_frame_start(to, old.file, old.tsv, old.name, n);
	to->header_line = old.header_line;
	for (i = 0; i < s->r.n_rates; i++) {
		struct gv_rate *rate = &s->r.rate[i];

		for (k = 0; k < n; k++)
			cell[k] = gv_frame_cell(&old, rate->row, (ptrdiff_t)k);
		gv_frame_add(to, cell, old.line[rate->row]);
		if (s->first[rate->job] == i)
			gv_job_move(&s->r.job[rate->job], to, i);
		rate->row = i;
	}
	free(cell);
	gv_frame_free(&old);
}

int
standing_change(
    struct standing *s, struct gv_tab *t, const struct gv_cluster *c, struct gv_error *e)
{
	struct standing new = {0};
	struct changes x = {0};
	int rc;

	if (!s->known)
		return gv_error_set(
		    e, "%s: changes of a table that was not given", gv_tab_file(t));
	rc = changes_read(&x, &s->r, t, c, e);
	if (rc == 0 && (x.new.n_jobs > 0 || x.n_gone > 0)) {
		new.r = x.new;
		x.new = (struct gv_rates){0};
		move_rows(s, &new.r);
		group(&new);
		new.said = gv_xcalloc(new.r.n_rates + 1, sizeof(*new.said));
		merge(s, x.gone, &new, x.place);
		standing_free(&new);
	}
	changes_free(&x);
	if (s->r.frame.n_rows > 2 * s->r.n_rates + SPARE_ROWS)
		compact(s);
	return rc;
}

/* ---- the answer ---- */

void
standing_write(struct standing *s, const struct gv_answer *a, const struct gv_cluster *c,
    struct gv_tabw *w)
{
	size_t i;

	gv_tabw_str(w, "job_id");
	gv_tabw_str(w, "gpu_type");
	gv_tabw_str(w, "share");
	gv_tabw_end(w);
	for (i = 0; i < s->r.n_rates; i++) {
		const struct gv_rate *rate = &s->r.rate[i];
		double share = gv_answer_share(a, rate);

		if (share == s->said[i])
			continue;
		gv_tabw_cell(w, s->r.job[rate->job].id);
		gv_tabw_str(w, c->type[rate->type].name);
		gv_tabw_double(w, share);
		gv_tabw_end(w);
		s->said[i] = share;
	}
}
