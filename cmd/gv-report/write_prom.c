#include "write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/utf8.h"

#ifndef GV_VERSION
#define GV_VERSION "unknown"
#endif

/* The text format of Prometheus, version 0.0.4: one family after another. */

/* Where it goes, and the run of all samples. */
struct prom {
	struct gv_out *out;
	const char *run;
};

static void
family(struct gv_out *out, const char *name, const char *type, const char *meaning)
{
	gv_out_fmt(out, "# HELP %s %s\n# TYPE %s %s\n", name, meaning, name, type);
}

/* A label's value: \ " and line feeds escaped, bytes that are no UTF-8 as \xHH. */
static void
label(struct gv_out *out, const char *key, const char *s, size_t len)
{
	size_t i, n;
	uint32_t c;

	gv_out_fmt(out, "%s=\"", key);
	for (i = 0; i < len; i += n) {
		n = gv_utf8_next(s + i, len - i, &c);
		if (c == '"' || c == '\\')
			gv_out_fmt(out, "\\%c", (char)c);
		else if (c == '\n')
			gv_out_str(out, "\\n");
		else if (c == GV_UTF8_BAD && n == 1)
			gv_out_fmt(out, "\\\\x%02x", (unsigned char)s[i]);
		else
			gv_out_write(out, s + i, n);
	}
	gv_out_char(out, '"');
}

/* A sample's name and its label run; more labels may follow, then value. */
static void
start(const struct prom *p, const char *name)
{
	gv_out_fmt(p->out, "%s{", name);
	label(p->out, "run", p->run, strlen(p->run));
}

static void
more(const struct prom *p, const char *key, const char *s, size_t len)
{
	gv_out_char(p->out, ',');
	label(p->out, key, s, len);
}

static void
value(const struct prom *p, double v)
{
	char buf[GV_NUM_LEN];

	gv_format_double(buf, v);
	gv_out_fmt(p->out, "} %s\n", buf);
}

/* A family of one sample; left out when there is nothing to say. */
static void
single(const struct prom *p, const char *name, const char *type, const char *meaning,
    double v)
{
	if (!isfinite(v))
		return;
	family(p->out, name, type, meaning);
	start(p, name);
	value(p, v);
}

static void
jobs(const struct prom *p, const struct report *r)
{
	int i;

	family(p->out, "gv_jobs", "gauge", "Jobs by state.");
	for (i = 0; i < JOB_STATES; i++) {
		const char *state = job_state_name((enum job_state)i);

		start(p, "gv_jobs");
		more(p, "state", state, strlen(state));
		value(p, (double)r->summary.in_state[i]);
	}
}

static void
spread(
    const struct prom *p, const char *name, const char *meaning, const struct spread *s)
{
	char part[64];

	family(p->out, name, "summary", meaning);
	snprintf(part, sizeof(part), "%s_sum", name);
	start(p, part);
	value(p, s->sum);
	snprintf(part, sizeof(part), "%s_count", name);
	start(p, part);
	value(p, (double)s->n);
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
	family(p->out, name, type, meaning);
	for (i = 0; i < h->n_types; i++) {
		const struct gpu_type *t = &h->type[i];

		start(p, name);
		more(p, "gpu_type", t->name, t->name_len);
		value(p, which == GPUS        ? (double)t->gpus
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
			family(p->out, name, type, meaning);
		first = false;
		start(p, name);
		more(p, "job_id", j->id, j->id_len);
		value(p, v);
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
				family(p->out, name, type, meaning);
			first = false;
			start(p, name);
			more(p, "job_id", j->id, j->id_len);
			more(p, "gpu_type", h->type[u->type].name,
			    h->type[u->type].name_len);
			value(p, v);
		}
	}
}

void
write_prom(struct gv_out *out, const struct report *r, const char *run, bool per_job)
{
	const struct prom to = {out, run}, *p = &to;
	const struct summary *s = &r->summary;

	family(out, "gv_build_info", "gauge", "Version of gv that wrote this.");
	start(p, "gv_build_info");
	more(p, "version", GV_VERSION, strlen(GV_VERSION));
	value(p, 1);
	jobs(p, r);
	single(p, "gv_run_elapsed_seconds", "gauge", "Time of the last event.",
	    s->elapsed_s);
	single(p, "gv_run_ended", "gauge", "1 when the run is over.", r->history.ended);
	spread(p, "gv_job_completion_seconds", "From arrival to finish.", &s->completion);
	spread(
	    p, "gv_job_queueing_seconds", "From arrival to first start.", &s->queueing);
	per_type(p, r, GPUS, "gv_gpus", "gauge", "GPUs of each type.");
	per_type(p, r, AVAILABLE, "gv_gpu_available_seconds_total", "counter",
	    "GPU-seconds there were.");
	per_type(p, r, BUSY, "gv_gpu_busy_seconds_total", "counter",
	    "GPU-seconds used by jobs.");
	single(p, "gv_launches_total", "counter", "Starts and resumes of jobs.",
	    (double)s->launches);
	single(p, "gv_preemptions_total", "counter", "Jobs told to leave.",
	    (double)s->preemptions);
	single(
	    p, "gv_failures_total", "counter", "Runs that failed.", (double)s->failures);
	single(p, "gv_checkpoints_total", "counter", "Checkpoints reported by jobs.",
	    (double)s->checkpoints);
	single(p, "gv_restarts_total", "counter", "Restarts of gv-run itself.",
	    (double)r->history.restarts);
	single(p, "gv_steps_lost_total", "counter",
	    "Steps done again from an older checkpoint.", s->steps_lost);
	single(p, "gv_share_jain_ratio", "gauge",
	    "Jain's index of received over promised shares.", s->jain);
	single(p, "gv_share_least_ratio", "gauge",
	    "Least received over promised share of a job.", s->least_ratio);
	single(p, "gv_share_largest_difference_ratio", "gauge",
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
