#include "dryrun.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "table/tab.h"

enum { ROUNDS = 10 };

static void
write_header(struct gv_tabw *w, bool pairs)
{
	static const char *const name[] = {
	    "round", "job_id", "gpu_type", "node", "gpus", "command"};
	size_t i;

	for (i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		gv_tabw_str(w, name[i]);
	if (pairs)
		gv_tabw_str(w, "with_job_id");
	gv_tabw_end(w);
}

static void
write_job(struct gv_tabw *w, const struct jobs *jobs, size_t m)
{
	const struct gv_life *l = &jobs->life;
	const struct gv_life_job *j = &l->job[m];
	ptrdiff_t mate = gv_life_mate(l, l->holder, m, j->gpu[0]);
	struct gv_strbuf ids = {0}, nodes = {0};
	size_t i;

	for (i = 0; i < j->n_gpus; i++)
		gv_strbuf_fmt(&ids, "%s%d", i > 0 ? ";" : "",
		    gv_life_gpu_id(&jobs->names, l, j->gpu[i]));
	gv_tabw_int(w, l->round);
	gv_tabw_cell(w, jobs->table.job[m].id);
	gv_life_nodes(&jobs->names, l, j->gpu, j->n_gpus, &nodes);
	gv_tabw_str(w, jobs->cluster.type[j->type].name);
	gv_tabw_str(w, nodes.s);
	gv_tabw_str(w, ids.s);
	gv_tabw_cell(w, jobs->table.job[m].command);
	if (mate >= 0)
		gv_tabw_cell(w, jobs->table.job[mate].id);
	else if (l->rounds.pairs.n > 0)
		gv_tabw_empty(w);
	gv_tabw_end(w);
	gv_strbuf_free(&nodes);
	gv_strbuf_free(&ids);
}

/* Workers that come and go as soon as they are told to. */
static void
obey(struct jobs *jobs)
{
	struct gv_life *l = &jobs->life;
	struct gv_life_out out;
	char q[GV_QUOTE_LEN];

	while (gv_life_next(l, &out)) {
		if (out.kind == GV_LIFE_ROW && out.row.kind == GV_EVENT_DROP)
			gv_warn("job %s would be dropped: %s",
			    jobs_name(jobs, (size_t)out.row.job, q), out.row.reason);
		else if (out.kind == GV_LIFE_START)
			gv_life_started(l, (size_t)out.row.job);
		else if (out.kind == GV_LIFE_STOP)
			gv_life_left(l, (size_t)out.row.job, 143);
	}
}

/* Writes who runs in the present round: jobs alone first, then pairs. */
static void
write_round(struct gv_tabw *w, const struct jobs *jobs)
{
	const struct gv_rounds *r = &jobs->life.rounds;
	bool *runs = gv_xcalloc(r->n_jobs + 1, sizeof(*runs));
	size_t i;

	for (i = 0; i < r->n_gpus; i++)
		if (jobs->life.holder[i] >= 0)
			runs[jobs->life.holder[i]] = true;
	for (i = 0; i < r->n_jobs; i++) {
		const size_t *member = r->job[i].member;

		if (!runs[i])
			continue;
		write_job(w, jobs, member[0]);
		if (member[0] != member[1])
			write_job(w, jobs, member[1]);
	}
	free(runs);
}

/* A round goes by; jobs that end in it leave at its end. */
static void
play(struct gv_life *l, double round_s)
{
	size_t *runs = gv_xcalloc(l->n_open + 1, sizeof(*runs));
	size_t n = 0;
	size_t i;

	gv_life_time(l, l->now_s + round_s);
	for (i = 0; i < l->n_open; i++) {
		size_t m = l->open[i];

		gv_life_report(
		    l, m, fmax(0, l->job[m].steps) + gv_life_rate(l, m) * round_s, -1);
		if (l->job[m].steps >= l->job[m].spec.total_steps)
			runs[n++] = m;
	}
	for (i = 0; i < n; i++)
		gv_life_left(l, runs[i], 0);
	free(runs);
}

bool
dryrun(struct jobs *jobs, double round_s, struct gv_out *out, bool tsv)
{
	struct gv_life *l = &jobs->life;
	struct gv_tabw w;
	int i;

	gv_tabw_init(&w, out, tsv);
	write_header(&w, l->rounds.pairs.n > 0);
	for (i = 0; i < ROUNDS; i++) {
		gv_life_time(l, l->now_s);
		while (l->n_active == 0 && l->n[GV_LIFE_LATER] > 0)
			gv_life_time(l, gv_life_wakes_s(l, false));
		if (l->n_active == 0)
			break;
		gv_life_turn(l, true);
		obey(jobs);
		gv_life_turn(l, false); /* on GPUs that were left */
		obey(jobs);
		write_round(&w, jobs);
		play(l, round_s);
	}
	obey(jobs);
	return l->n[GV_LIFE_DROPPED] == 0;
}
