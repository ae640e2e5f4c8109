#include "run_plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "measured.h"
#include "run.h"

/* How often running jobs are looked at: the error in the time of a report. */
static const double look_every_s = 0.005;
/* Between two tries of one measurement at most, s; and how many. */
static const double longest_wait_s = 30;
enum { MOST_TRIES = 8 };
/* How often it is tried to begin some when nothing has changed, s. */
static const double begin_every_s = 0.2;
/* What a step of Slurm takes to begin and to end, s. */
static const double step_s = 10;

/* ---- what can be measured ---- */

/* Why a class cannot be measured on a type.  0 it can, or an exit status with *e set. */
static int
check_cell(const struct gv_rates *jobs, const struct gv_job *job, const struct site *s,
    const struct gpus *g, size_t type, struct gv_error *e)
{
	ptrdiff_t command = gv_frame_find(&jobs->frame, "command");
	size_t here = 0, i;

	if (command == -1) {
		gv_frame_require(&jobs->frame, "command", &command, e);
		return GV_EXIT_TROUBLE;
	}
	if (job->command.len == 0) {
		gv_frame_error(&jobs->frame, job->row, command, e,
		    "expected a command to run, got \"\"");
		return GV_EXIT_TROUBLE;
	}
	if (gpus_fit(g, type, (size_t)job->scale_factor, true))
		return 0;
	for (i = 0; i < g->n; i++)
		here += g->gpu[i].type == type;
	gv_error_set(e,
	    "cannot measure job \"%s\" here: it needs %lld of type %s, %s has %zu; "
	    "give its rate with -t",
	    job->id.s, (long long)job->scale_factor, s->cluster.type[type].name,
	    s->slurm != NULL ? "a group of the allocation" : "this machine", here);
	return GV_EXIT_NO;
}

int
run_check(const struct plan *p, const struct gv_rates *jobs, const struct site *s,
    const struct gpus *g, struct gv_error *e)
{
	size_t i;

	for (i = 0; i < 2 * (p->n_classes + p->n_pairs) * p->n_types; i++) {
		size_t row = i / 2 / p->n_types, type = i / 2 % p->n_types;
		int status;

		if (plan_cell(p, row, type)->source != TO_MEASURE)
			continue;
		status =
		    check_cell(jobs, &jobs->job[plan_job(p, row, i % 2)], s, g, type, e);
		if (status != 0)
			return status;
	}
	return 0;
}

/* ---- what waits ---- */

static struct waiting
remove_at(struct drive *d, size_t at)
{
	struct waiting w = d->waiting[at];

	d->n_waiting--;
	memmove(&d->waiting[at], &d->waiting[at + 1],
	    (d->n_waiting - at) * sizeof(*d->waiting));
	return w;
}

/* Nothing will be known of its rate. */
static void
give_up(struct drive *d, const struct waiting *w, const char *reason)
{
	struct gv_error label = {0};

	d->p->cell[w->cell].source = UNMEASURED;
	run_name(&label, d, w->cell, 0);
	gv_warn("%s: not measured: %s", label.text[0], reason);
	d->done++;
}

static void
give_all_up(struct drive *d, const char *reason)
{
	while (d->n_waiting > 0) {
		struct waiting w = remove_at(d, 0);

		give_up(d, &w, reason);
	}
}

/* A try has come to nothing: it waits again, if it has not been tried often. */
static void
wait_again(struct drive *d, struct waiting w, const char *reason)
{
	w.tries++;
	w.passed = 0;
	w.from_s = gv_clock_s() + fmin(longest_wait_s, ldexp(.5, (int)w.tries));
	if (w.tries == MOST_TRIES)
		give_up(d, &w, reason);
	else
		d->waiting[d->n_waiting++] = w;
}

/* ---- beginning ---- */

/* Those of r that have begun are ended.  0 or -1. */
static int
end_jobs(struct running *r, struct gv_error *e)
{
	int rc = 0;
	size_t k;

	for (k = 0; k < r->n_jobs; k++)
		if (r->measuring[k] != NULL)
			rc |= measure_end(r->measuring[k], e);
	return rc;
}

/* Starts the jobs of r at a place; *state is as of the first that cannot.  0 or -1. */
static int
begin_jobs(struct drive *d, struct running *r, const struct measure_place *place,
    enum measure_state *state, struct gv_error *e)
{
	size_t k;

	*state = MEASURE_GOES_ON;
	for (k = 0; k < r->n_jobs && *state == MEASURE_GOES_ON; k++)
		r->measuring[k] = measure_begin(
		    run_job(d, r->w.cell, k), place, &d->o.measure, state, e);
	if (*state != MEASURE_GOES_ON)
		return end_jobs(r, e);
	if (r->n_jobs == 2)
		measure_beside(r->measuring[0], r->measuring[1]);
	return 0;
}

/* Starts it on GPUs gpu[w.n], which are given back if it cannot.  0 or -1. */
static int
begin(struct drive *d, struct waiting w, size_t *gpu, struct gv_error *e)
{
	const char **node = gv_xcalloc(w.n, sizeof(*node));
	int *id = gv_xcalloc(w.n, sizeof(*id));
	struct measure_place place = {.type = run_type(d, w.cell),
	    .id = id,
	    .node = d->site->slurm != NULL ? node : NULL};
	struct running r = {
	    .w = w, .n_jobs = run_jobs(d, w.cell), .gpu = gpu, .began_s = gv_clock_s()};
	struct gv_error why = {0};
	enum measure_state state;
	size_t i;

	for (i = 0; i < w.n; i++) {
		id[i] = d->g->gpu[gpu[i]].id;
		node[i] = site_node(d->site, &d->g->gpu[gpu[i]]);
	}
	if (begin_jobs(d, &r, &place, &state, &why) != 0)
		state = MEASURE_BROKEN;
	free(node);
	free(id);
	if (state == MEASURE_GOES_ON) {
		d->running[d->n_running++] = r;
		return 0;
	}
	gpus_give(d->g, gpu, w.n);
	free(gpu);
	if (state == MEASURE_BROKEN || d->site->slurm == NULL)
		return gv_error_set(e, "%s", why.text[0]);
	wait_again(d, w, why.text[0]);
	return 0;
}

/*
 * Starts what there are GPUs for, in order.  One for which there are not enough lets as many
 * smaller ones of its type pass as it needs GPUs.  0 or -1.
 */
static int
begin_some(struct drive *d, struct gv_error *e)
{
	/* of each type the first for which there are not enough */
	struct waiting **first = gv_xcalloc(d->p->n_types, sizeof(struct waiting *));
	bool later = false;
	size_t at = 0;
	int rc = 0;

	while (rc == 0 && at < d->n_waiting) {
		struct waiting *w = &d->waiting[at++];
		size_t type = w->cell % d->p->n_types;
		struct waiting *f = first[type];
		size_t *gpu;

		later |= gv_clock_s() < w->from_s;
		if (gv_clock_s() < w->from_s ||
		    (f != NULL && (w->n >= f->n || f->passed >= f->n)))
			continue;
		gpu = gv_xcalloc(w->n, sizeof(*gpu));
		if (gpus_take(d->g, type, w->n, gpu)) {
			if (f != NULL)
				f->passed++;
			rc = begin(d, remove_at(d, --at), gpu, e);
			continue;
		}
		free(gpu);
		if (gpus_fit(d->g, type, w->n, false))
			first[type] = w;
	}
	if (d->n_running > 0 || later || d->n_waiting == 0)
		d->stuck_s = 0;
	else if (d->stuck_s == 0)
		d->stuck_s = gv_clock_s();
	d->look_s = gv_clock_s() + begin_every_s;
	free(first);
	return rc;
}

/* ---- while they run ---- */

static void
take(struct drive *d, const struct running *r)
{
	struct cell *c = &d->p->cell[r->w.cell];
	struct gv_error label = {0};
	double rate[2] = {0};
	size_t k;

	for (k = 0; k < r->n_jobs; k++) {
		const struct measurement *m = &r->m[k];

		rate[k] = measured_rate(m);
		if (m->use.looks > c->use.looks)
			c->use = m->use;
		gv_error_clear(&label);
		run_name(&label, d, r->w.cell, k);
		if (!d->o.quiet)
			measured_warn(label.text[0], m, d->o.measure.timeout_s);
		if (d->o.verbose > 0 && rate[k] > 0)
			measured_say(label.text[0], m);
	}
	/* the rate of one beside one that does not run is that of one alone */
	if (r->n_jobs == 1 || (rate[0] > 0 && rate[1] > 0)) {
		c->steps_per_s = rate[0];
		c->second_steps_per_s = rate[1];
	}
	d->took_s += gv_clock_s() - r->began_s;
	d->n_took++;
	d->done++;
}

/* The one at is over: its GPUs are free.  0 or -1. */
static int
end(struct drive *d, size_t at, struct gv_error *e)
{
	struct running *r = &d->running[at];
	int rc = end_jobs(r, e);

	gpus_give(d->g, r->gpu, r->w.n);
	free(r->gpu);
	*r = d->running[--d->n_running];
	d->look_s = 0;
	return rc;
}

/* Looks at the jobs of one: DONE when all are, or what the first is that cannot be. */
static enum measure_state
turn_jobs(struct running *r, struct gv_error *why)
{
	enum measure_state all = MEASURE_DONE, state;
	size_t k;

	for (k = 0; k < r->n_jobs; k++) {
		if (r->done[k])
			continue;
		state = measure_turn(r->measuring[k], &r->m[k], why);
		if (state != MEASURE_DONE && state != MEASURE_GOES_ON)
			return state;
		r->done[k] = state == MEASURE_DONE;
		if (!r->done[k])
			all = MEASURE_GOES_ON;
	}
	return all;
}

/* Looks at the one at.  0 or -1. */
static int
turn(struct drive *d, size_t at, struct gv_error *e)
{
	struct waiting w = d->running[at].w;
	struct gv_launch_site site;
	struct gv_error why = {0};
	enum measure_state state = turn_jobs(&d->running[at], &why);

	if (state == MEASURE_GOES_ON)
		return 0;
	if (state == MEASURE_DONE)
		take(d, &d->running[at]);
	if (end(d, at, e) != 0)
		return -1;
	if (state == MEASURE_DONE || *d->o.measure.interrupt != 0)
		return 0;
	if (state == MEASURE_BROKEN || d->site->slurm == NULL)
		return gv_error_set(e, "%s", why.text[0]);
	gv_launch_look(d->site->by, true, &site); /* what has become of its node */
	wait_again(d, w, why.text[0]);
	return 0;
}

/* Which GPUs can be used now; why says why some cannot. */
static const char *
look_at_gpus(struct drive *d)
{
	const char *last = "its GPUs are in use", *why;
	size_t i;

	for (i = 0; i < d->g->n; i++) {
		struct gpu *gpu = &d->g->gpu[i];

		gpu->away = !gv_launch_usable(
		    d->site->by, site_node(d->site, gpu), gpu->id, &why);
		if (gpu->away)
			last = why;
	}
	d->look_s = 0;
	return last;
}

/* Looks at where they run; what can never begin any more is given up. */
static void
look_around(struct drive *d)
{
	const struct measure_options *m = &d->o.measure;
	double need_s = m->rule.warmup_s + m->rule.window_s + m->grace_s + step_s;
	struct gv_launch_site site;
	char words[64];

	if (d->site->slurm == NULL)
		return;
	gv_launch_look(d->site->by, false, &site);
	if (site.turns != d->turns)
		look_at_gpus(d);
	d->turns = site.turns;
	if (site.over) {
		give_all_up(d, site.reason);
	} else if (site.left_s < need_s) {
		snprintf(words, sizeof(words), "the allocation ends in %.0f s",
		    fmax(0, site.left_s));
		give_all_up(d, words);
	} else if (d->stuck_s > 0 && gv_clock_s() > d->stuck_s + m->timeout_s) {
		give_all_up(d, look_at_gpus(d));
	}
}

/* ---- the whole ---- */

/* The largest first, which find room the less the more runs. */
static int
by_size(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	if (x->n != y->n)
		return x->n < y->n ? 1 : -1;
	return (x->cell > y->cell) - (x->cell < y->cell);
}

static void
prepare(struct drive *d, size_t from, size_t to)
{
	size_t i;

	d->waiting = gv_xcalloc((to - from), d->p->n_types * sizeof(*d->waiting));
	d->running = gv_xcalloc((to - from), d->p->n_types * sizeof(*d->running));
	for (i = from * d->p->n_types; i < to * d->p->n_types; i++)
		if (d->p->cell[i].source == TO_MEASURE)
			d->waiting[d->n_waiting++] = (struct waiting){
			    .cell = i, .n = (size_t)run_job(d, i, 0)->scale_factor};
	d->total = d->n_waiting;
	if (d->g->most_runs > 1 || d->g->n_nodes > 1)
		qsort(d->waiting, d->n_waiting, sizeof(*d->waiting), by_size);
}

static int
drive(struct drive *d, struct gv_error *e)
{
	int rc = 0;

	while (rc == 0 && (d->n_running > 0 || d->n_waiting > 0)) {
		size_t at;

		if (*d->o.measure.interrupt != 0) {
			d->n_waiting = 0;
		} else {
			look_around(d);
			if (gv_clock_s() >= d->look_s)
				rc = begin_some(d, e);
		}
		for (at = d->n_running; rc == 0 && at-- > 0;)
			rc = turn(d, at, e);
		run_say(d);
		if (rc == 0 && d->n_running > 0)
			gv_sleep_s(look_every_s);
		else if (rc == 0 && d->n_waiting > 0)
			gv_sleep_s(10 * look_every_s);
	}
	return rc;
}

/* As run_plan(), of rows from to to - 1. */
static int
run_rows(const struct drive *all, size_t from, size_t to, struct gv_error *e)
{
	struct drive d = *all;
	size_t i;
	int rc = 0;

	prepare(&d, from, to);
	if (d.total > 0)
		rc = drive(&d, e);
	gv_progress(NULL);
	measure_abort();
	for (i = 0; i < d.n_running; i++)
		free(d.running[i].gpu);
	free(d.waiting);
	free(d.running);
	return rc == 0 && d.total > 0 && *d.o.measure.interrupt != 0 ? 1 : rc;
}

int
run_plan(struct plan *p, const struct gv_rates *jobs, const struct site *s,
    struct gpus *g, const struct run_options *options, struct gv_error *e)
{
	struct drive d = {.p = p, .jobs = jobs, .site = s, .g = g, .o = *options};
	int rc;

	d.o.measure.by = s->by;
	d.o.measure.scratch = s->scratch;
	rc = run_rows(&d, 0, p->n_classes, e);
	if (rc != 0 || p->n_pairs == 0)
		return rc;
	plan_spare_pairs(p);
	return run_rows(&d, p->n_classes, p->n_classes + p->n_pairs, e);
}
