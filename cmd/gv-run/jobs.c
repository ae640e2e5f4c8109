#include "jobs.h"

void
jobs_make(struct jobs *j, const struct settings *o, char *const *log)
{
	size_t m;

	gv_life_names_init(&j->names, &j->cluster, j->table.job, j->table.n_jobs);
	gv_life_init(&j->life, &j->cluster, o->round_s, o->max_failures);
	j->life.rounds.order = o->order;
	for (m = 0; m < j->table.n_jobs; m++) {
		const struct gv_job *job = &j->table.job[m];
		struct gv_life_spec spec = {.gang = (size_t)job->scale_factor,
		    .total_steps = job->total_steps,
		    .arrival_s = job->arrival_s,
		    .see = log != NULL ? log[m] : NULL};

		gv_life_add(&j->life, &spec);
	}
	gv_life_take_shares(&j->life, &j->table);
}

void
jobs_free(struct jobs *j)
{
	gv_life_free(&j->life);
	gv_life_names_free(&j->names);
	gv_rates_free(&j->table);
	gv_cluster_free(&j->cluster);
}

const char *
jobs_name(const struct jobs *j, size_t m, char q[GV_QUOTE_LEN])
{
	return gv_quote(q, j->table.job[m].id.s, j->table.job[m].id.len);
}
