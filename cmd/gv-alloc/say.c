#include "say.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "lp/tolerance.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/num.h"

enum { NAMED = 10 }; /* jobs of a kind, at most */

void
say_progress(double part)
{
	if (part > 0 && part < 1)
		gv_progress("mixing placements: %.2f %% of the bound", 100 * part);
}

void
say_missing(
    const struct gv_rates *jobs, const size_t *missing, size_t n, const char *file)
{
	size_t i;

	for (i = 0; i < n && i < NAMED; i++) {
		const struct gv_job *j = &jobs->job[missing[i]];
		char q[2][GV_QUOTE_LEN];

		gv_warn("%s:%ld: job %s is left out: %s has no throughput of %s with "
			"scale_factor %lld",
		    jobs->frame.file, jobs->frame.line[j->row],
		    gv_quote(q[0], j->id.s, j->id.len), file,
		    gv_quote(q[1], j->job_type.s, j->job_type.len),
		    (long long)j->scale_factor);
	}
	if (n > NAMED)
		gv_warn("%zu more jobs are left out", n - NAMED);
}

/* The largest pool on which each job has a rate above 0. */
static size_t *
largest_pools(const struct gv_rates *r, const struct gv_cluster *c)
{
	size_t *largest = gv_xcalloc(r->n_jobs, sizeof(*largest));
	size_t i;

	for (i = 0; i < r->n_rates; i++) {
		const struct gv_rate *rate = &r->rate[i];

		if (rate->type >= 0 && rate->with < 0 && rate->steps_per_s > 0 &&
		    c->type[rate->type].gpus > largest[rate->job])
			largest[rate->job] = c->type[rate->type].gpus;
	}
	return largest;
}

void
say_never_running(
    const struct gv_rates *r, const struct gv_cluster *c, const struct gv_answer *a)
{
	size_t *largest = largest_pools(r, c);
	size_t i, n = 0;

	for (i = 0; i < r->n_jobs; i++) {
		const struct gv_job *j = &r->job[i];
		char q[GV_QUOTE_LEN];

		if (a->row[i] != SIZE_MAX || a->later[i] || n++ >= NAMED)
			continue;
		gv_quote(q, j->id.s, j->id.len);
		if (largest[i] == 0)
			gv_warn("%s:%ld: job %s can never run: no rate above 0 on a GPU "
				"of the cluster",
			    r->frame.file, r->frame.line[j->row], q);
		else if ((size_t)j->scale_factor <= largest[i])
			gv_warn("%s:%ld: job %s can never run: no rate above %g steps/s "
				"where its GPUs are",
			    r->frame.file, r->frame.line[j->row], q, GV_SMALLEST_RATE);
		else
			gv_warn("%s:%ld: job %s can never run: it needs %lld GPUs of one "
				"type, "
				"the largest pool it has a rate on has %zu",
			    r->frame.file, r->frame.line[j->row], q,
			    (long long)j->scale_factor, largest[i]);
	}
	if (n > NAMED)
		gv_warn("%zu more jobs can never run", n - NAMED);
	free(largest);
}

/* What a job cannot have: for its minimum, or for its deadline. */
static const char *
cannot(bool minimum)
{
	return minimum ? "have its min_steps_per_s" : "be done by its deadline";
}

static void
name_hopeless(const struct gv_rates *r, const struct gv_job *j)
{
	bool minimum = isnan(j->deadline_s) && isnan(j->slo_factor);
	char q[GV_QUOTE_LEN];

	gv_warn("%s:%ld: job %s cannot %s: it can never run", r->frame.file,
	    r->frame.line[j->row], gv_quote(q, j->id.s, j->id.len), cannot(minimum));
}

/* The fastest rate of a job on a type of the cluster. */
static double
fastest(const struct gv_answer *a, size_t row)
{
	double most = 0;
	size_t j;

	for (j = 0; j < a->p.m; j++)
		most = fmax(most, gv_problem_rate(&a->p, row, j));
	return most;
}

static void
name_late(const struct gv_rates *r, const struct gv_job *j, double deadline,
    double minimum, double most)
{
	double need = fmax(deadline, minimum);
	const char *what = cannot(minimum >= deadline);
	char q[GV_QUOTE_LEN];
	char num[2][GV_NUM_LEN];

	gv_quote(q, j->id.s, j->id.len);
	gv_format_double(num[0], need);
	gv_format_double(num[1], most);
	if (isinf(need))
		gv_warn("%s:%ld: job %s cannot be done by its deadline: it is over",
		    r->frame.file, r->frame.line[j->row], q);
	else if (need > most)
		gv_warn("%s:%ld: job %s cannot %s: it needs %s "
			"steps/s, its fastest GPU type gives %s",
		    r->frame.file, r->frame.line[j->row], q, what, num[0], num[1]);
	else
		gv_warn("%s:%ld: job %s cannot %s: others need the GPUs, too",
		    r->frame.file, r->frame.line[j->row], q, what);
}

/*
 * How much of the time that is left until a deadline its last digit may be, at most.  A
 * deadline is a moment: where little is left of a long time, as written it may be off by
 * more than needs may be missed by.
 */
static double
last_digit(const struct gv_rates *r, const struct gv_answer *a)
{
	const double *need = a->p.number[GV_NUMBER_NEED];
	double most = 0;
	size_t i;

	for (i = 0; i < r->n_jobs && need != NULL; i++) {
		const struct gv_job *j = &r->job[i];
		size_t row = a->row[i];

		if (row != SIZE_MAX && need[row] > 0 && isfinite(need[row]))
			most = fmax(most, DBL_EPSILON * (j->arrival_s + j->elapsed_s) *
					      need[row] / j->steps_remaining);
	}
	return most;
}

void
relaxation_text(
    char text[GV_NUM_LEN], const struct gv_rates *r, const struct gv_answer *a)
{
	double relaxation = a->s.relaxation;
	double shown, step;

	if (relaxation > 1)
		relaxation *= 1 + last_digit(r, a);
	snprintf(text, GV_NUM_LEN, "%.6g", fmax(1, relaxation));
	shown = strtod(text, NULL);
	/* as much as the needs may be missed by (alloc/solve/deadline.c), and half of it */
	if (shown >= relaxation * (1 - 5e-13))
		return;
	step = pow(10, floor(log10(shown)) - 5);
	snprintf(text, GV_NUM_LEN, "%.6g", shown + step);
}

/* By how much less all could have what they need. */
static void
say_relaxation(const struct gv_rates *r, const struct gv_answer *a)
{
	bool deadlines = false, minimums = false;
	bool relaxed = !a->impossible;
	char num[GV_NUM_LEN];
	size_t i;

	for (i = 0; i < a->p.n; i++) {
		double deadline = a->p.number[GV_NUMBER_NEED][i];

		deadlines = deadlines || (deadline > 0 && isfinite(deadline));
		minimums = minimums || a->p.number[GV_NUMBER_MINIMUM][i] > 0;
	}
	relaxation_text(num, r, a);
	if (deadlines && relaxed)
		gv_warn("deadlines have %s times the time that is left", num);
	else if (deadlines)
		gv_warn(
		    "with %s times the time that is left the deadlines could be met%s "
		    "(--relax-slo)",
		    num, minimums ? ", and each min_steps_per_s divided by it" : "");
	if (minimums && relaxed)
		gv_warn("each min_steps_per_s is divided by %s", num);
	else if (minimums && !deadlines)
		gv_warn(
		    "divided by %s each min_steps_per_s could be met (--relax-slo)", num);
}

void
say_late(const struct options *o, const struct gv_rates *r, const struct gv_answer *a)
{
	const double *deadline = a->p.number[GV_NUMBER_NEED];
	const double *minimum = a->p.number[GV_NUMBER_MINIMUM];
	size_t i, n = 0;

	for (i = 0; i < r->n_jobs; i++) {
		size_t row = a->row[i];

		if (gv_answer_hopeless(a, r, o->policy, i)) {
			if (n++ < NAMED)
				name_hopeless(r, &r->job[i]);
			continue;
		}
		if (row == SIZE_MAX || a->s.late == NULL || !a->s.late[row] ||
		    n++ >= NAMED)
			continue;
		name_late(r, &r->job[i], deadline[row], minimum[row], fastest(a, row));
	}
	if (n > NAMED)
		gv_warn("%zu more jobs cannot have what they need", n - NAMED);
	if (a->s.relaxation > 1)
		say_relaxation(r, a);
}

/* What staying gave up, and what for. */
static void
stayed_text(char *text, size_t size, const struct gv_stayed *t)
{
	char num[3][GV_NUM_LEN];

	gv_format_double(num[0], t->best);
	snprintf(num[1], GV_NUM_LEN, "%.6g", t->moved);
	snprintf(num[2], GV_NUM_LEN, "%.6g", t->without);
	snprintf(text, size, " best=%s slower=%.2g moved=%s instead_of=%s", num[0],
	    t->slower, num[1], num[2]);
}

void
say_never(const struct gv_answer *a)
{
	if (a->p.n > 0 && isinf(a->s.objective))
		gv_warn("warning: what deadlines and minimums need leaves nothing for "
			"other jobs, which are never done");
}

void
say_objective(const struct options *o, const struct gv_rates *r,
    const struct gv_answer *a, double together)
{
	const struct gv_solution *s = &a->s;
	char num[3][GV_NUM_LEN];
	char more[4 * GV_NUM_LEN + 64] = "";
	char pairs[2 * GV_NUM_LEN + 64] = "";
	char stayed[4 * GV_NUM_LEN + 64] = "";
	char apart[GV_NUM_LEN + 64] = "";

	if (isinf(s->objective))
		snprintf(num[0], sizeof(num[0]), "inf");
	else
		gv_format_double(num[0], s->objective);
	gv_format_double(num[1], s->bound);
	snprintf(num[2], sizeof(num[2]), "%.2g", s->gap);
	if (a->p.n > 0 && s->has_bound)
		snprintf(more, sizeof(more), " objective=%s bound=%s gap=%s%s", num[0],
		    num[1], num[2], s->exact ? " certified=yes" : "");
	else if (a->p.n > 0)
		snprintf(more, sizeof(more), " objective=%s", num[0]);
	if (a->p.together != NULL)
		snprintf(
		    pairs, sizeof(pairs), " pairs=%zu shared=%zu", s->n_made, s->n_pairs);
	if (a->stayed.asked)
		stayed_text(stayed, sizeof(stayed), &a->stayed);
	if (!isnan(together)) {
		gv_format_double(num[0], together);
		snprintf(apart, sizeof(apart), " together=%s", num[0]);
	}
	gv_warn("policy=%s jobs=%zu classes=%zu types=%zu%s%s%s%s", o->name, r->n_jobs,
	    a->n_classes, a->p.m, pairs, more, stayed, apart);
}
