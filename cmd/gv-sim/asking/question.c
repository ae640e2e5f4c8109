#include "question.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Columns that are written anew, not carried through. */
static const char *const computed[] = {"steps_remaining", "elapsed_s",
    "isolated_elapsed_s", "share", "policy", "usd_per_h", "gpus_available"};
enum {
	N_COMPUTED = 5,
	N_WRITTEN = 3,
	USD = 5,
	AVAILABLE = 6
}; /* those where they may change */

void
question_init(struct question *q, const struct sim *s)
{
	const struct gv_rates *t = s->table;
	size_t *next;
	size_t i;

	*q = (struct question){.table = t};
	q->at = gv_xcalloc(t->n_jobs + 2, sizeof(*q->at));
	q->row = gv_xcalloc(t->n_rates + 1, sizeof(*q->row));
	q->place = gv_xcalloc(t->n_jobs + 1, sizeof(*q->place));
	gv_isolated_init(&q->isolated, &s->life.rounds, t->n_jobs);
	for (i = 0; i < t->n_rates; i++) {
		q->at[t->rate[i].job + 1]++;
		q->pairs |= t->rate[i].with >= 0;
	}
	for (i = 0; i < t->n_jobs; i++) {
		q->at[i + 1] += q->at[i];
		q->place[i] = -1;
		q->isolated.elapsed_s[i] = t->job[i].isolated_elapsed_s;
	}
	next = gv_xcalloc(t->n_jobs + 1, sizeof(*next));
	for (i = 0; i < t->n_rates; i++) {
		size_t m = t->rate[i].job;

		q->row[q->at[m] + next[m]++] = i;
	}
	free(next);
	q->rates.frame = t->frame;
	q->cluster = *s->cluster;
	q->cluster.type = gv_xcalloc(s->cluster->n_types + 1, sizeof(*q->cluster.type));
	for (i = 0; i < s->cluster->n_types; i++)
		q->cluster.type[i] = s->cluster->type[i];
}

void
question_free(struct question *q)
{
	free(q->at);
	free(q->row);
	free(q->place);
	free(q->job);
	free(q->now);
	free(q->first);
	free(q->rates.job);
	free(q->rates.rate);
	free(q->cluster.type);
	gv_isolated_free(&q->isolated);
	*q = (struct question){0};
}

/* What a job has done and how long it has been there. */
static void
set_progress(struct question *q, const struct sim *s, size_t i)
{
	struct gv_job *j = &q->rates.job[i];
	size_t m = q->job[i];
	double done = sim_steps(s, m);

	gv_isolated_count(&q->isolated, &s->life.rounds, m, s->life.n_active, done);
	j->steps_remaining = fmax(0, j->total_steps - done);
	j->elapsed_s = s->life.now_s - j->arrival_s;
	j->isolated_elapsed_s = q->isolated.elapsed_s[m];
	q->now[i] = (struct gv_told_job){
	    m, {j->steps_remaining, j->elapsed_s, j->isolated_elapsed_s}};
}

static void
add_job(struct question *q, const struct sim *s, size_t m)
{
	struct gv_rates *r = &q->rates;
	size_t n = r->n_jobs + 1;

	q->place[m] = (ptrdiff_t)r->n_jobs;
	q->job = gv_xgrow(q->job, &q->cap_asked, n, sizeof(*q->job));
	q->now = gv_xgrow(q->now, &q->cap_now, n, sizeof(*q->now));
	r->job = gv_xgrow(r->job, &q->cap_jobs, n, sizeof(*r->job));
	q->job[r->n_jobs] = m;
	r->job[r->n_jobs++] = s->table->job[m];
}

/* The rows of a job, those with another one if that is there, too. */
static void
add_rates(struct question *q, const struct sim *s, size_t m)
{
	struct gv_rates *r = &q->rates;
	size_t at = (size_t)q->place[m];
	size_t i;

	q->first = gv_xgrow(q->first, &q->cap_first, at + 2, sizeof(*q->first));
	q->first[at] = r->n_rates;
	r->rate = gv_xgrow(r->rate, &q->cap_rates,
	    r->n_rates + q->at[m + 1] - q->at[m] + 1, sizeof(*r->rate));
	for (i = q->at[m]; i < q->at[m + 1]; i++) {
		struct gv_rate rate = s->table->rate[q->row[i]];

		if (rate.with >= 0 && q->place[rate.with] < 0)
			continue;
		rate.job = at;
		rate.with = rate.with >= 0 ? q->place[rate.with] : -1;
		rate.share = 0;
		r->rate[r->n_rates++] = rate;
	}
	q->first[at + 1] = r->n_rates;
}

/*
 * Those who are active now, with their rates: up to where they are others than in the
 * last question they stay as they are.
 */
static void
set_jobs(struct question *q, const struct sim *s)
{
	struct gv_rates *r = &q->rates;
	size_t same = 0;
	size_t i;

	while (!q->pairs && same < r->n_jobs && same < s->life.n_active &&
	       q->job[same] == s->life.active[same])
		same++;
	for (i = same; i < r->n_jobs; i++)
		q->place[q->job[i]] = -1;
	r->n_jobs = same;
	r->n_rates = same > 0 ? q->first[same] : 0;
	for (i = same; i < s->life.n_active; i++)
		add_job(q, s, s->life.active[i]);
	for (i = same; i < s->life.n_active; i++)
		add_rates(q, s, s->life.active[i]);
}

static bool
same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

/* Of each type what the cheapest of its GPUs costs. */
static void
set_prices(struct question *q, const struct sim *s)
{
	size_t i;

	q->has_prices = s->n_prices > 0;
	for (i = 0; i < s->cluster->n_types && q->has_prices; i++)
		q->cluster.type[i].usd_per_h = NAN;
	for (i = 0; i < s->n_offers && q->has_prices; i++) {
		double *usd = &q->cluster.type[s->offer[i].type].usd_per_h;

		*usd = fmin(*usd, s->offer[i].usd_per_h); /* a number before none */
	}
}

/* Without the GPUs that are away. */
static void
set_available(struct question *q, const struct sim *s)
{
	size_t i;

	q->has_away = s->n_changes > 0 || s->n_nodes > 0 || s->bid != NULL;
	for (i = 0; i < s->cluster->n_types && q->has_away; i++) {
		struct gv_gpu_type *t = &q->cluster.type[i];

		t->gpus = gv_life_available(&s->life, i);
		t->away = s->cluster->type[i].gpus - t->gpus;
	}
}

void
question_make(struct question *q, const struct sim *s)
{
	size_t n = s->cluster->n_types;
	struct gv_gpu_type *before = gv_xcalloc(n + 1, sizeof(*before));
	size_t i;

	memcpy(before, q->cluster.type, n * sizeof(*before));
	set_prices(q, s);
	set_available(q, s);
	for (i = 0, q->moved = false; i < n; i++)
		q->moved |= !same(before[i].usd_per_h, q->cluster.type[i].usd_per_h) ||
			    before[i].gpus != q->cluster.type[i].gpus;
	free(before);
	set_jobs(q, s);
	for (i = 0; i < q->rates.n_jobs; i++)
		set_progress(q, s, i);
}

/* ---- as a table ---- */

static bool
is_computed(const struct question *q, struct gv_cell name)
{
	size_t i;

	for (i = 0; i < N_COMPUTED; i++)
		if (gv_cell_is(name, computed[i]))
			return true;
	return (q->has_prices && gv_cell_is(name, computed[USD])) ||
	       gv_cell_is(name, computed[AVAILABLE]);
}

/* The columns that are carried through, into column [n_columns]; how many. */
static size_t
carried(const struct question *q, ptrdiff_t *column)
{
	const struct gv_frame *f = &q->rates.frame;
	size_t n = 0;
	size_t k;

	for (k = 0; k < f->n_columns; k++)
		if (!is_computed(q, f->name[k]))
			column[n++] = (ptrdiff_t)k;
	return n;
}

/* What is true of the type now; nothing of one that the cluster lacks. */
static void
write_type(const struct question *q, ptrdiff_t type, struct gv_tabw *w)
{
	const struct gv_gpu_type *t = type < 0 ? NULL : &q->cluster.type[type];

	if (q->has_prices && t == NULL)
		gv_tabw_str(w, "");
	else if (q->has_prices)
		gv_tabw_double(w, t->usd_per_h);
	if (q->has_away && t == NULL)
		gv_tabw_str(w, "");
	else if (q->has_away)
		gv_tabw_int(w, (int64_t)t->gpus);
}

/* The columns of the table into name [columns + N_WRITTEN + 2]; how many. */
static size_t
names(const struct question *q, const ptrdiff_t *column, size_t n, struct gv_cell *name)
{
	size_t k;

	for (k = 0; k < n; k++)
		name[k] = q->rates.frame.name[column[k]];
	for (k = 0; k < N_WRITTEN + 2; k++)
		if (k < N_WRITTEN || (k == N_WRITTEN ? q->has_prices : q->has_away)) {
			const char *s = computed[k < N_WRITTEN    ? k
						 : k == N_WRITTEN ? USD
								  : AVAILABLE];

			name[n++] = (struct gv_cell){s, strlen(s)};
		}
	return n;
}

/* A row of the table, without its end. */
static void
write_row(const struct question *q, size_t i, const ptrdiff_t *column, size_t n,
    struct gv_tabw *w)
{
	const struct gv_rate *rate = &q->rates.rate[i];
	const struct gv_job *j = &q->rates.job[rate->job];
	size_t k;

	for (k = 0; k < n; k++)
		gv_tabw_cell(w, gv_frame_cell(&q->rates.frame, rate->row, column[k]));
	gv_tabw_double(w, j->steps_remaining);
	gv_tabw_double(w, j->elapsed_s);
	gv_tabw_double(w, j->isolated_elapsed_s);
	write_type(q, rate->type, w);
}

void
question_write(const struct question *q, struct gv_out *out)
{
	const struct gv_frame *f = &q->rates.frame;
	ptrdiff_t *column = gv_xcalloc(f->n_columns + 1, sizeof(*column));
	struct gv_cell *name = gv_xcalloc(f->n_columns + N_WRITTEN + 2, sizeof(*name));
	size_t n = carried(q, column);
	size_t n_names = names(q, column, n, name);
	struct gv_tabw w;
	size_t i;

	gv_tabw_init(&w, out, false);
	for (i = 0; i < n_names; i++)
		gv_tabw_cell(&w, name[i]);
	gv_tabw_end(&w);
	for (i = 0; i < q->rates.n_rates; i++) {
		write_row(q, i, column, n, &w);
		gv_tabw_end(&w);
	}
	free(name);
	free(column);
}

/* ---- as changes ---- */

bool
question_follows(const struct question *q, const struct gv_told *told)
{
	return told->follows && !q->moved;
}

void
question_write_changes(const struct question *q, const struct gv_told *told,
    const struct gv_told_change *change, size_t n, struct gv_out *out)
{
	const struct gv_frame *f = &q->rates.frame;
	ptrdiff_t *column = gv_xcalloc(f->n_columns + 1, sizeof(*column));
	struct gv_cell *name = gv_xcalloc(f->n_columns + N_WRITTEN + 2, sizeof(*name));
	size_t n_columns = carried(q, column);
	struct gv_told_writer w;
	size_t i;
	size_t k;

	gv_told_begin(&w, out, name, names(q, column, n_columns, name));
	for (i = 0; i < n; i++) {
		const struct gv_told_change *c = &change[i];
		size_t job =
		    c->kind == GV_TOLD_GONE ? told->job[c->at].job : q->job[c->at];

		if (c->kind != GV_TOLD_NEW) {
			gv_told_row(&w, told, c, q->table->job[job].id, &q->now[c->at]);
			continue;
		}
		for (k = q->first[c->at]; k < q->first[c->at + 1]; k++) {
			gv_told_new(&w, c);
			write_row(q, k, column, n_columns, &w.w);
			gv_tabw_end(&w.w);
		}
	}
	gv_told_end(&w);
	free(name);
	free(column);
}
