#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "run.h"

/* How often the line of progress is written anew. */
static const double say_every_s = 0.5;

/* ---- names ---- */

size_t
run_jobs(const struct drive *d, size_t cell)
{
	return cell / d->p->n_types < d->p->n_classes ? 1 : 2;
}

const struct gv_job *
run_job(const struct drive *d, size_t cell, size_t which)
{
	return &d->jobs->job[plan_job(d->p, cell / d->p->n_types, which)];
}

const struct gv_gpu_type *
run_type(const struct drive *d, size_t cell)
{
	return &d->site->cluster.type[cell % d->p->n_types];
}

void
run_name(struct gv_error *label, const struct drive *d, size_t cell, size_t which)
{
	const struct gv_job *job = run_job(d, cell, which);
	const struct gv_job *other = run_job(d, cell, 1 - which);
	const struct gv_frame *f = &d->jobs->frame;
	const char *type = run_type(d, cell)->name;
	char q[GV_QUOTE_LEN], r[GV_QUOTE_LEN];

	gv_quote(q, job->id.s, job->id.len);
	if (run_jobs(d, cell) == 1)
		gv_error_at(
		    label, f->file, f->line[job->row], NULL, "job %s on %s", q, type);
	else
		gv_error_at(label, f->file, f->line[job->row], NULL,
		    "job %s beside %s on %s", q, gv_quote(r, other->id.s, other->id.len),
		    type);
}

/* ---- progress ---- */

static void
format_time(char *buf, size_t size, double s)
{
	if (s < 100)
		snprintf(buf, size, "%.0fs", s);
	else if (s < 100 * 60)
		snprintf(buf, size, "%.0fm", s / 60);
	else
		snprintf(buf, size, "%.1fh", s / 3600);
}

/* How long all that is left takes, if it takes as long as what is done. */
static double
left_s(const struct drive *d)
{
	const struct fit_rule *rule = &d->o.measure.rule;
	double each_s = d->n_took > 0 ? d->took_s / (double)d->n_took
				      : rule->warmup_s + rule->window_s;
	double *gpu_s = gv_xcalloc(d->p->n_types, sizeof(*gpu_s));
	double all_s = 0, most_s = d->n_waiting > 0 ? each_s : 0, left;
	size_t i;

	for (i = 0; i < d->n_waiting; i++) {
		const struct waiting *w = &d->waiting[i];

		gpu_s[w->cell % d->p->n_types] += each_s * (double)w->n;
		all_s += each_s;
	}
	for (i = 0; i < d->n_running; i++) {
		const struct running *r = &d->running[i];
		double s = fmax(0, each_s - (gv_clock_s() - r->began_s));

		gpu_s[r->w.cell % d->p->n_types] += s * (double)r->w.n;
		all_s += s;
		most_s = fmax(most_s, s);
	}
	left = gpus_left_s(d->g, gpu_s, d->p->n_types, all_s, most_s);
	free(gpu_s);
	return left;
}

void
run_say(struct drive *d)
{
	char time[32];

	if (d->o.quiet || gv_clock_s() < d->said_s + say_every_s)
		return;
	d->said_s = gv_clock_s();
	format_time(time, sizeof(time), left_s(d));
	if (d->n_running == 1 && d->running[0].n_jobs == 1) {
		size_t cell = d->running[0].w.cell;
		const struct gv_job *job = run_job(d, cell, 0);

		gv_progress("%zu/%zu %s on %s ..., about %s left", d->done + 1, d->total,
		    job->job_type.len > 0 ? job->job_type.s : job->id.s,
		    run_type(d, cell)->name, time);
	} else {
		gv_progress("%zu/%zu measured, %zu run, about %s left", d->done, d->total,
		    d->n_running, time);
	}
}
