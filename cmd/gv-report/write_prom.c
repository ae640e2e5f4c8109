#include "write.h"

#include <math.h>

#include "base/num.h"
#include "base/utf8.h"

#ifndef GV_VERSION
#define GV_VERSION "unknown"
#endif

/* The text format of Prometheus, version 0.0.4: one family after another. */

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

static void
sample(struct gv_out *out, double v)
{
	char buf[GV_NUM_LEN];

	gv_format_double(buf, v);
	gv_out_fmt(out, " %s\n", buf);
}

/* A family of one sample; left out when there is nothing to say. */
static void
single(
    struct gv_out *out, const char *name, const char *type, const char *meaning, double v)
{
	if (!isfinite(v))
		return;
	family(out, name, type, meaning);
	gv_out_str(out, name);
	sample(out, v);
}

static void
jobs(struct gv_out *out, const struct report *r)
{
	int i;

	family(out, "gv_jobs", "gauge", "Jobs by state.");
	for (i = 0; i < JOB_STATES; i++) {
		gv_out_fmt(
		    out, "gv_jobs{state=\"%s\"}", job_state_name((enum job_state)i));
		sample(out, (double)r->summary.in_state[i]);
	}
}

static void
spread(struct gv_out *out, const char *name, const char *meaning, const struct spread *s)
{
	family(out, name, "summary", meaning);
	gv_out_fmt(out, "%s_sum", name);
	sample(out, s->sum);
	gv_out_fmt(out, "%s_count", name);
	sample(out, (double)s->n);
}

enum of_type { GPUS, AVAILABLE, BUSY };

static void
per_type(struct gv_out *out, const struct report *r, enum of_type which, const char *name,
    const char *type, const char *meaning)
{
	const struct history *h = &r->history;
	size_t i;

	if (h->n_types == 0 || (which != BUSY && h->n_pools == 0))
		return;
	family(out, name, type, meaning);
	for (i = 0; i < h->n_types; i++) {
		const struct gpu_type *t = &h->type[i];

		gv_out_fmt(out, "%s{", name);
		label(out, "gpu_type", t->name, t->name_len);
		gv_out_char(out, '}');
		sample(out, which == GPUS        ? (double)t->gpus
			    : which == AVAILABLE ? t->available_gpu_s
						 : t->busy_gpu_s);
	}
}

enum of_use { PROMISED, RECEIVED, RUNNING };

static void
per_use(struct gv_out *out, const struct report *r, enum of_use which, const char *name,
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
				family(out, name, type, meaning);
			first = false;
			gv_out_fmt(out, "%s{", name);
			label(out, "job_id", j->id, j->id_len);
			gv_out_char(out, ',');
			label(out, "gpu_type", h->type[u->type].name,
			    h->type[u->type].name_len);
			gv_out_char(out, '}');
			sample(out, v);
		}
	}
}

void
write_prom(struct gv_out *out, const struct report *r, bool per_job)
{
	const struct summary *s = &r->summary;

	family(out, "gv_build_info", "gauge", "Version of gv that wrote this.");
	gv_out_str(out, "gv_build_info{version=\"" GV_VERSION "\"} 1\n");
	jobs(out, r);
	single(out, "gv_run_elapsed_seconds", "gauge", "Time of the last event.",
	    s->elapsed_s);
	single(out, "gv_run_ended", "gauge", "1 when the run is over.", r->history.ended);
	spread(
	    out, "gv_job_completion_seconds", "From arrival to finish.", &s->completion);
	spread(
	    out, "gv_job_queueing_seconds", "From arrival to first start.", &s->queueing);
	per_type(out, r, GPUS, "gv_gpus", "gauge", "GPUs of each type.");
	per_type(out, r, AVAILABLE, "gv_gpu_available_seconds_total", "counter",
	    "GPU-seconds there were.");
	per_type(out, r, BUSY, "gv_gpu_busy_seconds_total", "counter",
	    "GPU-seconds used by jobs.");
	single(out, "gv_launches_total", "counter", "Starts and resumes of jobs.",
	    (double)s->launches);
	single(out, "gv_preemptions_total", "counter", "Jobs told to leave.",
	    (double)s->preemptions);
	single(out, "gv_failures_total", "counter", "Runs that failed.",
	    (double)s->failures);
	single(out, "gv_checkpoints_total", "counter", "Checkpoints reported by jobs.",
	    (double)s->checkpoints);
	single(out, "gv_restarts_total", "counter", "Restarts of gv-run itself.",
	    (double)r->history.restarts);
	single(out, "gv_steps_lost_total", "counter",
	    "Steps done again from an older checkpoint.", s->steps_lost);
	single(out, "gv_share_jain_ratio", "gauge",
	    "Jain's index of received over promised shares.", s->jain);
	single(out, "gv_share_least_ratio", "gauge",
	    "Least received over promised share of a job.", s->least_ratio);
	single(out, "gv_share_largest_difference_ratio", "gauge",
	    "Largest difference of received and promised share of a job on a type.",
	    s->worst_difference);
	if (!per_job)
		return;
	per_use(out, r, PROMISED, "gv_job_promised_share_ratio", "gauge",
	    "Share of time promised to a job on a type.");
	per_use(out, r, RECEIVED, "gv_job_received_share_ratio", "gauge",
	    "Share of time received by a job on a type.");
	per_use(out, r, RUNNING, "gv_job_running_seconds_total", "counter",
	    "Time a job has run on a type.");
}
