#include "run_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/num.h"
#include "scratch.h"

static const double much_error = 0.05; /* of the rate: worth a warning */

static char *scratch; /* of the measurements that go on, NULL = none */

static bool
is_here(const char *node, const struct run_options *o)
{
	char host[256] = "";
	size_t n = strlen(node);

	if (n == 0 || strcmp(node, "localhost") == 0)
		return true;
	if (o->node != NULL)
		return strcmp(node, o->node) == 0;
	gethostname(host, sizeof(host) - 1);
	return strncmp(node, host, n) == 0 && (host[n] == '\0' || host[n] == '.');
}

/* The pool of a type on this machine with the most GPUs, NULL = none. */
static const struct gv_pool *
find_pool(const struct gv_cluster *cluster, size_t type, const struct run_options *o)
{
	const struct gv_pool *best = NULL;
	size_t i;

	for (i = 0; i < cluster->n_pools; i++) {
		const struct gv_pool *p = &cluster->pool[i];

		if (p->type == type && is_here(p->node, o) &&
		    (best == NULL || p->gpus > best->gpus))
			best = p;
	}
	return best;
}

/* Why a class cannot be measured on a type.  0 it can, or an exit status with *e set. */
static int
check_cell(const struct gv_rates *jobs, const struct gv_job *job,
    const struct gv_gpu_type *type, const struct gv_pool *pool, struct gv_error *e)
{
	ptrdiff_t command = gv_frame_find(&jobs->frame, "command");
	size_t here = pool != NULL ? pool->gpus : 0;

	if (command == -1) {
		gv_frame_require(&jobs->frame, "command", &command, e);
		return GV_EXIT_TROUBLE;
	}
	if (job->command.len == 0) {
		gv_frame_error(&jobs->frame, job->row, command, e,
		    "expected a command to run, got \"\"");
		return GV_EXIT_TROUBLE;
	}
	if (here >= (size_t)job->scale_factor)
		return 0;
	gv_error_set(e,
	    "cannot measure job \"%s\" here: it needs %lld of type %s, this machine has "
	    "%zu; "
	    "give its rate with -t",
	    job->id.s, (long long)job->scale_factor, type->name, here);
	return GV_EXIT_NO;
}

int
run_check(const struct plan *p, const struct gv_rates *jobs,
    const struct gv_cluster *cluster, const struct run_options *o, struct gv_error *e)
{
	size_t i;

	for (i = 0; i < p->n_classes * p->n_types; i++) {
		size_t type = i % p->n_types;
		int status;

		if (p->cell[i].source != TO_MEASURE)
			continue;
		status = check_cell(jobs, &jobs->job[p->job[i / p->n_types]],
		    &cluster->type[type], find_pool(cluster, type, o), e);
		if (status != 0)
			return status;
	}
	return 0;
}

/* What the user should know about a measurement. */
static void
warn_of(const char *label, const struct measurement *m, const struct run_options *o)
{
	char q[GV_QUOTE_LEN];

	if (m->verdict == FAILED && m->last_line[0] == '\0')
		gv_warn("warning: %s: failed with status %d and wrote nothing", label,
		    m->status);
	else if (m->verdict == FAILED)
		gv_warn("warning: %s: failed with status %d: %s", label, m->status,
		    gv_quote(q, m->last_line, strlen(m->last_line)));
	else if (m->verdict == SILENT && m->left)
		gv_warn("warning: %s: left without having reported a step: a job "
			"appends \"step N\" to the file $GV_PROGRESS",
		    label);
	else if (m->verdict == SILENT)
		gv_warn("warning: %s: reported no step within %g s: a job appends "
			"\"step N\" to the file $GV_PROGRESS",
		    label, o->measure.timeout_s);
	else if (m->verdict == SHORT && m->fit.n < 2)
		gv_warn("warning: %s: too short to measure: the time of its start is "
			"counted in",
		    label);
	else if (m->verdict == SHORT)
		gv_warn("warning: %s: only %zu reports%s", label, m->fit.n,
		    m->left ? ", then it was done" : " before time was out");
	else if (m->fit.standard_error > much_error * m->fit.steps_per_s)
		gv_warn("warning: %s: its speed varies: standard error %.0f %%", label,
		    100 * m->fit.standard_error / m->fit.steps_per_s);
}

static void
say_rate(const char *label, const struct measurement *m)
{
	char rate[GV_NUM_LEN];
	char error[64] = "";

	gv_format_double(rate, m->fit.steps_per_s);
	if (m->fit.n > 2)
		snprintf(error, sizeof(error), ", standard error %.2g %%",
		    100 * m->fit.standard_error / m->fit.steps_per_s);
	gv_warn("%s: %s steps/s%s, %zu reports in %.3g s", label, rate, error, m->fit.n,
	    m->fit.span_s);
}

/* More digits than a measurement has would be noise. */
static double
round_6(double v)
{
	char text[GV_NUM_LEN];

	snprintf(text, sizeof(text), "%.6g", v);
	return strtod(text, NULL);
}

static int
measure_cell(struct cell *c, const struct gv_rates *jobs, const struct gv_job *job,
    const struct gv_gpu_type *type, const struct gv_pool *pool,
    const struct run_options *o, struct gv_error *e)
{
	int *ids = gv_xcalloc((size_t)job->scale_factor, sizeof(*ids));
	struct gv_error label = {0};
	struct measurement m;
	char q[GV_QUOTE_LEN];
	size_t k;
	int rc;

	for (k = 0; k < (size_t)job->scale_factor; k++)
		ids[k] = gv_pool_id(pool, k);
	rc = measure_job(&m, job, type, ids, &o->measure, e);
	free(ids);
	if (rc != 0)
		return rc;
	m.fit.steps_per_s = round_6(m.fit.steps_per_s);
	c->steps_per_s = m.fit.steps_per_s;
	gv_error_at(&label, jobs->frame.file, jobs->frame.line[job->row], NULL,
	    "job %s on %s", gv_quote(q, job->id.s, job->id.len), type->name);
	if (!o->quiet)
		warn_of(label.text[0], &m, o);
	if (o->verbose > 0 && m.fit.steps_per_s > 0)
		say_rate(label.text[0], &m);
	return 0;
}

/* The last thing when the program dies while it measures. */
static void
clean_up(void)
{
	struct gv_error ignored = {0};

	measure_abort();
	scratch_remove(scratch, &ignored);
}

int
run_plan(const struct plan *p, const struct gv_rates *jobs,
    const struct gv_cluster *cluster, const struct run_options *options,
    struct gv_error *e)
{
	struct run_options o = *options;
	size_t n = plan_count(p, TO_MEASURE);
	size_t i, done = 0;
	int rc = 0;

	if (n == 0)
		return 0;
	scratch = scratch_make(e);
	if (scratch == NULL)
		return -1;
	gv_on_die(clean_up);
	o.measure.scratch = scratch;
	for (i = 0; rc == 0 && i < p->n_classes * p->n_types; i++) {
		const struct gv_job *job = &jobs->job[p->job[i / p->n_types]];
		size_t type = i % p->n_types;

		if (p->cell[i].source != TO_MEASURE)
			continue;
		if (!o.quiet)
			gv_progress("%zu/%zu %s on %s ...", ++done, n,
			    job->job_type.len > 0 ? job->job_type.s : job->id.s,
			    cluster->type[type].name);
		rc = measure_cell(&p->cell[i], jobs, job, &cluster->type[type],
		    find_pool(cluster, type, &o), &o, e);
	}
	gv_progress(NULL);
	gv_on_die(NULL);
	if (scratch_remove(scratch, e) != 0)
		rc = -1;
	free(scratch);
	scratch = NULL;
	return rc;
}
