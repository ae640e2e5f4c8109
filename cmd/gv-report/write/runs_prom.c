/* Several runs for Prometheus: each family once, with a sample of each run. */
#include <math.h>
#include <string.h>

#include "prom.h"
#include "runs.h"

enum form { COUNTER, GAUGE };

static const struct {
	enum measure m;
	enum form form;
	const char *name, *meaning;
} single[] = {
    {M_JOBS, GAUGE, "gv_run_jobs", "Jobs that were measured."},
    {M_FINISHED, GAUGE, "gv_run_finished_jobs", "Those of them that finished."},
    {M_MAKESPAN, GAUGE, "gv_run_makespan_seconds", "First arrival to last finish."},
    {M_USD, GAUGE, "gv_run_cost_usd", "What the GPUs cost while somebody held them."},
    {M_DEADLINES, GAUGE, "gv_run_deadlines", "Jobs with a deadline."},
    {M_DEADLINES_MISSED, GAUGE, "gv_run_deadlines_missed", "Those that missed it."},
    {M_LAUNCHES, COUNTER, "gv_launches_total", "Starts and resumes of jobs."},
    {M_PREEMPTIONS, COUNTER, "gv_preemptions_total", "Jobs told to leave."},
    {M_FAILURES, COUNTER, "gv_failures_total", "Runs that failed."},
    {M_STEPS_LOST, COUNTER, "gv_steps_lost_total",
	"Steps done again from an older checkpoint."},
    {M_JAIN, GAUGE, "gv_share_jain_ratio",
	"Jain's index of received over promised shares."},
};

static void
measure_family(struct gv_out *out, const struct runs *r, size_t which)
{
	const char *name = single[which].name;
	bool begun = false;
	size_t i;

	for (i = 0; i < r->n; i++) {
		struct prom p = {out, r->run[i].name};
		double v = r->run[i].value[single[which].m];

		if (!isfinite(v))
			continue;
		if (!begun)
			prom_family(out, name,
			    single[which].form == COUNTER ? "counter" : "gauge",
			    single[which].meaning);
		begun = true;
		prom_start(&p, name);
		prom_value(&p, v);
	}
}

static void
spread_family(struct gv_out *out, const struct runs *r, enum measure first,
    const char *name, const char *meaning)
{
	bool begun = false;
	size_t i;

	for (i = 0; i < r->n; i++) {
		struct prom p = {out, r->run[i].name};
		const double *v = r->run[i].value + first;
		double n = r->run[i].value[M_FINISHED];
		struct spread s = {.n = n > 0 ? (size_t)n : 0,
		    .mean = v[0],
		    .median = v[1],
		    .p95 = v[2],
		    .p99 = v[3],
		    .max = v[4]};

		if (isnan(s.mean))
			continue;
		if (!begun)
			prom_family(out, name, "summary", meaning);
		begun = true;
		s.sum = s.mean * (double)s.n;
		prom_spread(&p, name, &s);
	}
}

static void
type_family(struct gv_out *out, const struct runs *r, bool busy)
{
	const char *name = busy ? "gv_gpu_busy_seconds_total" : "gv_gpus";
	bool begun = false;
	size_t i, k;

	for (i = 0; i < r->n; i++) {
		struct prom p = {out, r->run[i].name};

		for (k = 0; k < r->run[i].n_types; k++) {
			const struct run_type *t = &r->run[i].type[k];
			double v = busy ? t->busy_gpu_s : t->gpus;

			if (!isfinite(v))
				continue;
			if (!begun)
				prom_family(out, name, busy ? "counter" : "gauge",
				    busy ? "GPU-seconds used by jobs."
					 : "GPUs of each type.");
			begun = true;
			prom_start(&p, name);
			prom_more(&p, "gpu_type", t->name, t->name_len);
			prom_value(&p, v);
		}
	}
}

void
write_runs_prom(struct gv_out *out, const struct runs *r)
{
	size_t i;

	for (i = 0; i < sizeof(single) / sizeof(single[0]); i++)
		measure_family(out, r, i);
	spread_family(out, r, M_COMPLETION_MEAN, "gv_job_completion_seconds",
	    "From arrival to finish.");
	spread_family(out, r, M_QUEUEING_MEAN, "gv_job_queueing_seconds",
	    "From arrival to first start.");
	spread_family(out, r, M_FAIRNESS_MEAN, "gv_job_fairness_ratio",
	    "Finish-time fairness of jobs.");
	type_family(out, r, false);
	type_family(out, r, true);
}
