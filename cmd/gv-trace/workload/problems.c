#include "problems.h"

#include <math.h>
#include <stdlib.h>

const char *
problem_name(enum problem p)
{
	static const char *const names[N_PROBLEMS] = {[PROBLEM_NONE] = "",
	    [PROBLEM_NO_JOB_TYPE] = "no-job-type",
	    [PROBLEM_UNKNOWN_TYPE] = "unknown-type",
	    [PROBLEM_NOT_MEASURED] = "not-measured",
	    [PROBLEM_RUNS_NOWHERE] = "runs-nowhere",
	    [PROBLEM_TOO_LARGE] = "too-large",
	    [PROBLEM_NO_STEPS] = "no-steps",
	    [PROBLEM_LATE] = "late"};

	return names[p];
}

/* GPUs of a type of the throughputs; without a cluster as many as one likes. */
static size_t
gpus_of(const struct problems *p, size_t gpu_type)
{
	const struct gv_hash_key *name = &p->speeds->gpu_types.key[gpu_type];
	ptrdiff_t type;

	if (p->cluster == NULL)
		return SIZE_MAX;
	type = gv_cluster_find(p->cluster, (struct gv_cell){name->s, name->len});
	return type >= 0 ? p->cluster->type[type].gpus : 0;
}

/* Where a gang of a type can run, over all GPU types. */
static enum problem
look(const struct problems *p, ptrdiff_t job_type, int64_t scale_factor)
{
	bool measured = false, runs = false;
	size_t j;

	for (j = 0; j < p->speeds->gpu_types.n; j++) {
		double v = speeds_find(p->speeds, job_type, scale_factor, (ptrdiff_t)j);
		size_t gpus = gpus_of(p, j);

		if (isnan(v) || gpus == 0)
			continue;
		measured = true;
		if (v > 0 && gpus >= (size_t)scale_factor)
			return PROBLEM_NONE;
		runs = runs || v > 0;
	}
	return runs       ? PROBLEM_TOO_LARGE
	       : measured ? PROBLEM_RUNS_NOWHERE
			  : PROBLEM_NOT_MEASURED;
}

/* look(), once for each pair. */
static enum problem
remembered(struct problems *p, ptrdiff_t job_type, int64_t scale_factor)
{
	const int64_t asked[2] = {job_type, scale_factor};
	ptrdiff_t at = gv_hash_find(&p->seen, (const char *)asked, sizeof(asked));
	int64_t *key;

	if (at >= 0)
		return p->found[at];
	key = gv_arena_alloc(&p->arena, 2, sizeof(*key));
	key[0] = asked[0];
	key[1] = asked[1];
	at = (ptrdiff_t)gv_hash_add(&p->seen, (const char *)key, 2 * sizeof(*key));
	p->found = gv_xgrow(p->found, &p->cap, p->seen.n, sizeof(*p->found));
	p->found[at] = look(p, job_type, scale_factor);
	return p->found[at];
}

enum problem
problems_find(struct problems *p, const struct gv_job *job)
{
	ptrdiff_t type =
	    gv_hash_find(&p->speeds->job_types, job->job_type.s, job->job_type.len);
	enum problem found;

	if (job->job_type.len == 0)
		return PROBLEM_NO_JOB_TYPE;
	if (type < 0)
		return PROBLEM_UNKNOWN_TYPE;
	found = remembered(p, type, job->scale_factor);
	if (found != PROBLEM_NONE)
		return found;
	if (!(job->total_steps > 0))
		return PROBLEM_NO_STEPS;
	if (job->deadline_s <= job->arrival_s)
		return PROBLEM_LATE;
	return PROBLEM_NONE;
}

int64_t
problems_clip(struct problems *p, const struct gv_job *job)
{
	ptrdiff_t type =
	    gv_hash_find(&p->speeds->job_types, job->job_type.s, job->job_type.len);
	int64_t scale = job->scale_factor;

	if (type < 0)
		return 0;
	if (scale > p->speeds->max_scale)
		scale = p->speeds->max_scale;
	while (scale > 0 && remembered(p, type, scale) != PROBLEM_NONE)
		scale--;
	return scale;
}

void
problems_free(struct problems *p)
{
	gv_hash_free(&p->seen);
	gv_arena_free(&p->arena);
	free(p->found);
	*p = (struct problems){0};
}
