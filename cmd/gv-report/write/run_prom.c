#include "write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "prom.h"

#ifndef GV_VERSION
#define GV_VERSION "unknown"
#endif

static void
jobs(const struct prom *p, const struct report *r)
{
	int i;

	prom_family(p->out, "gv_jobs", "gauge", "Jobs by state.");
	for (i = 0; i < JOB_STATES; i++) {
		const char *state = job_state_name((enum job_state)i);

		prom_start(p, "gv_jobs");
		prom_more(p, "state", state, strlen(state));
		prom_value(p, (double)r->summary.in_state[i]);
	}
}

static void
spread(
    const struct prom *p, const char *name, const char *meaning, const struct spread *s)
{
	prom_family(p->out, name, "summary", meaning);
	prom_spread(p, name, s);
}

enum of_type { GPUS, AVAILABLE, BUSY };

static void
per_type(const struct prom *p, const struct report *r, enum of_type which,
    const char *name, const char *type, const char *meaning)
{
	const struct history *h = &r->history;
	size_t i;

	if (h->n_types == 0 || (which != BUSY && h->n_pools == 0))
		return;
	prom_family(p->out, name, type, meaning);
	for (i = 0; i < h->n_types; i++) {
		const struct gpu_type *t = &h->type[i];

		prom_start(p, name);
		prom_more(p, "gpu_type", t->name, t->name_len);
		prom_value(p, which == GPUS        ? (double)t->gpus
			      : which == AVAILABLE ? t->available_gpu_s
						   : t->busy_gpu_s);
	}
}

enum of_job { STEPS, TOTAL_STEPS };

static void
per_job_steps(const struct prom *p, const struct report *r, enum of_job which,
    const char *name, const char *type, const char *meaning)
{
	const struct history *h = &r->history;
	bool first = true;
	size_t i;

	for (i = 0; i < h->n_jobs; i++) {
		const struct job *j = &h->job[i];
		double v = which == STEPS ? j->steps : j->total_steps;

		if (!isfinite(v))
			continue;
		if (first)
			prom_family(p->out, name, type, meaning);
		first = false;
		prom_start(p, name);
		prom_more(p, "job_id", j->id, j->id_len);
		prom_value(p, v);
	}
}

enum of_use { PROMISED, RECEIVED, RUNNING };

static void
per_use(const struct prom *p, const struct report *r, enum of_use which, const char *name,
    const char *type, const char *meaning)
{
	const struct history *h = &r->history;
	const struct use *u;
	size_t i;
	bool first = true;

	for (i = 0; i < h->n_jobs; i++) {
		const struct job *j = &h->job[i];

		for (u = j->use; u != NULL; u = u->next) {
			double v = which == PROMISED   ? use_promised(h, j, u)
				   : which == RECEIVED ? use_received(h, j, u)
						       : u->running_s;

			if (isnan(v))
				continue;
			if (first)
				prom_family(p->out, name, type, meaning);
			first = false;
			prom_start(p, name);
			prom_more(p, "job_id", j->id, j->id_len);
			prom_more(p, "gpu_type", h->type[u->type].name,
			    h->type[u->type].name_len);
			prom_value(p, v);
		}
	}
}

void
write_prom(struct gv_out *out, const struct report *r, const char *run, bool per_job)
{
	const struct prom to = {out, run}, *p = &to;
	const struct summary *s = &r->summary;

	prom_family(out, "gv_build_info", "gauge", "Version of gv that wrote this.");
	prom_start(p, "gv_build_info");
	prom_more(p, "version", GV_VERSION, strlen(GV_VERSION));
	prom_value(p, 1);
	jobs(p, r);
	prom_single(p, "gv_run_elapsed_seconds", "gauge", "Time of the last event.",
	    s->elapsed_s);
	prom_single(
	    p, "gv_run_ended", "gauge", "1 when the run is over.", r->history.ended);
	spread(p, "gv_job_completion_seconds", "From arrival to finish.", &s->completion);
	spread(
	    p, "gv_job_queueing_seconds", "From arrival to first start.", &s->queueing);
	per_type(p, r, GPUS, "gv_gpus", "gauge", "GPUs of each type.");
	per_type(p, r, AVAILABLE, "gv_gpu_available_seconds_total", "counter",
	    "GPU-seconds there were.");
	per_type(p, r, BUSY, "gv_gpu_busy_seconds_total", "counter",
	    "GPU-seconds used by jobs.");
	prom_single(p, "gv_launches_total", "counter", "Starts and resumes of jobs.",
	    (double)s->launches);
	prom_single(p, "gv_preemptions_total", "counter", "Jobs told to leave.",
	    (double)s->preemptions);
	prom_single(
	    p, "gv_failures_total", "counter", "Runs that failed.", (double)s->failures);
	prom_single(p, "gv_checkpoints_total", "counter", "Checkpoints reported by jobs.",
	    (double)s->checkpoints);
	prom_single(p, "gv_restarts_total", "counter", "Restarts of gv-run itself.",
	    (double)r->history.restarts);
	prom_single(p, "gv_steps_lost_total", "counter",
	    "Steps done again from an older checkpoint.", s->steps_lost);
	prom_single(p, "gv_share_jain_ratio", "gauge",
	    "Jain's index of received over promised shares.", s->jain);
	prom_single(p, "gv_share_least_ratio", "gauge",
	    "Least received over promised share of a job.", s->least_ratio);
	prom_single(p, "gv_share_largest_difference_ratio", "gauge",
	    "Largest difference of received and promised share of a job on a type.",
	    s->worst_difference);
	if (!per_job)
		return;
	per_job_steps(p, r, STEPS, "gv_job_steps", "gauge", "Steps a job has done.");
	per_job_steps(
	    p, r, TOTAL_STEPS, "gv_job_total_steps", "gauge", "Steps a job is to do.");
	per_use(p, r, PROMISED, "gv_job_promised_share_ratio", "gauge",
	    "Share of time promised to a job on a type.");
	per_use(p, r, RECEIVED, "gv_job_received_share_ratio", "gauge",
	    "Share of time received by a job on a type.");
	per_use(p, r, RUNNING, "gv_job_running_seconds_total", "counter",
	    "Time a job has run on a type.");
}
