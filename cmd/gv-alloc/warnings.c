#include "warnings.h"

#include <math.h>
#include <string.h>

/* Policies to which a job's weight means something. */
static bool
has_weights(const struct gv_policy *p)
{
	return p == &gv_policy_max_min || p == &gv_policy_water_filling;
}

static bool
some_deadline(const struct gv_job *j)
{
	return !isnan(j->deadline_s);
}

static bool
some_slo(const struct gv_job *j)
{
	return !isnan(j->slo_factor);
}

static bool
some_minimum(const struct gv_job *j)
{
	return j->min_steps_per_s > 0;
}

static bool
some_weight(const struct gv_job *j)
{
	return j->priority_weight != 1;
}

/* A column that the policy does not look at, where some job has a value of its own. */
static void
warn_of_column(const struct options *o, const struct gv_rates *r, const char *column,
    bool (*set)(const struct gv_job *j), struct gv_error *w)
{
	size_t i;

	for (i = 0; i < r->n_jobs; i++)
		if (set(&r->job[i])) {
			gv_frame_error(&r->frame, r->job[i].row,
			    gv_frame_find(&r->frame, column), w,
			    "policy %s does not look at it", o->policy->name);
			return;
		}
}

static void
warn_of_options(const struct options *o, const struct gv_rates *r, struct gv_error *w)
{
	if (o->prices != NULL && !o->policy->prices && !(o->answer.budget > 0))
		gv_error_set(w,
		    "--prices changes nothing: policy %s does not look at "
		    "what GPUs cost",
		    o->policy->name);
	if (o->entities != NULL && gv_frame_find(&r->frame, "entity") < 0)
		gv_error_set(w, "--entities changes nothing: %s has no column \"entity\"",
		    r->frame.file);
	if (o->answer.policy.solve.solver != GV_SOLVER_AUTO &&
	    o->policy->measure == GV_MEASURE_NONE)
		gv_error_set(
		    w, "--solver changes nothing: policy %s has none", o->policy->name);
}

void
warn_of_slips(const struct options *o, const struct gv_rates *r,
    const struct gv_cluster *cluster, const struct gv_entities *entities)
{
	static bool asked; /* before: the tables of a stream are much alike */
	struct gv_error w = {0};

	if (o->common.quiet || gv_frame_find(&r->frame, "policy") >= 0 ||
	    (o->stream && asked))
		return;
	asked = true;
	if (cluster->warnings != NULL)
		w = *cluster->warnings;
	gv_rates_slips(r, cluster, &w);
	if (entities != NULL)
		gv_entities_slips(entities, r, &w);
	if (!(o->policy->numbers & GV_NEEDS)) {
		warn_of_column(o, r, "min_steps_per_s", some_minimum, &w);
		warn_of_column(o, r, "deadline_s", some_deadline, &w);
		warn_of_column(o, r, "slo_factor", some_slo, &w);
	}
	if (!has_weights(o->policy))
		warn_of_column(o, r, "priority_weight", some_weight, &w);
	warn_of_options(o, r, &w);
	gv_warn_each(&w);
}
