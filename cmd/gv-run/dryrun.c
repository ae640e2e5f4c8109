/* The first rounds on a virtual clock: what would be started, and nothing is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "run.h"

enum { ROUNDS = 10 };

static void
write_job(struct run *r, struct gv_tabw *w, size_t m, ptrdiff_t owner, const size_t *gpu,
    size_t n)
{
	ptrdiff_t mate = gv_rounds_leave(&r->rounds, owner, m);
	const struct gv_pool *pool = &r->cluster.pool[r->rounds.gpu_pool[gpu[0]]];
	struct gv_strbuf ids = {0};
	size_t i;

	for (i = 0; i < n; i++) {
		size_t p = r->rounds.gpu_pool[gpu[i]];

		gv_strbuf_fmt(&ids, "%s%d", i > 0 ? ";" : "",
		    gv_pool_id(&r->cluster.pool[p], gpu[i] - r->rounds.pool[p].first));
	}
	gv_tabw_int(w, r->round);
	gv_tabw_cell(w, r->job[m].spec->id);
	gv_tabw_str(w, r->cluster.type[pool->type].name);
	gv_tabw_str(w, pool->node);
	gv_tabw_str(w, ids.s);
	gv_tabw_cell(w, r->job[m].spec->command);
	if (mate >= 0)
		gv_tabw_cell(w, r->job[mate].spec->id);
	else if (r->rounds.pairs.n > 0)
		gv_tabw_empty(w);
	gv_tabw_end(w);
	gv_strbuf_free(&ids);
}

/* Jobs that have come by now; the time of the next one. */
static double
arrive(struct run *r)
{
	double next_s = HUGE_VAL;
	size_t m;

	for (m = 0; m < r->n_jobs; m++) {
		struct job *j = &r->job[m];

		if (j->state == JOB_LATER && j->spec->arrival_s <= r->now_s) {
			j->state = JOB_WAITING;
			r->rounds.job[m].active = true;
			gv_rounds_settle(&r->rounds);
		} else if (j->state == JOB_LATER) {
			next_s = fmin(next_s, j->spec->arrival_s);
		}
	}
	return next_s;
}

static void
advance(struct run *r, size_t m, double rate)
{
	struct job *j = &r->job[m];

	j->report.steps += rate * r->o->round_s;
	if (j->report.steps >= j->spec->total_steps) {
		j->state = JOB_FINISHED;
		r->rounds.job[m].active = false;
		gv_rounds_settle(&r->rounds);
	}
}

/* Plays one round of which the plan is made; jobs that end in it leave at its end. */
static void
play(struct run *r, struct gv_tabw *w, size_t *gpu)
{
	size_t as;

	gv_rounds_pass(&r->rounds, r->o->round_s);
	for (as = 0; as < r->rounds.n_jobs; as++) {
		const size_t *member = r->rounds.job[as].member;
		size_t n = work_gpus(r, r->plan, member[0], gpu);
		const struct gv_round_claim *c;
		size_t type;

		if (n == 0 || r->plan[gpu[0]] != (ptrdiff_t)as)
			continue;
		type = gv_rounds_type(&r->rounds, gpu[0]);
		c = gv_rounds_claim(&r->rounds, as, type);
		gv_rounds_credit(&r->rounds, as, type, r->o->round_s);
		write_job(r, w, member[0], (ptrdiff_t)as, gpu, n);
		if (member[0] != member[1])
			write_job(r, w, member[1], (ptrdiff_t)as, gpu, n);
		advance(r, member[0], c->rate);
		if (member[0] != member[1])
			advance(r, member[1], c->with_rate);
	}
}

static bool
some_active(const struct run *r)
{
	size_t m;

	for (m = 0; m < r->n_jobs; m++)
		if (r->rounds.job[m].active && gv_rounds_possible(&r->rounds, m))
			return true;
	return false;
}

void
dryrun(struct run *r, struct gv_out *out)
{
	static const char *const name[] = {
	    "round", "job_id", "gpu_type", "node", "gpus", "command"};
	size_t *gpu = gv_xcalloc(r->rounds.n_gpus + 1, sizeof(*gpu));
	struct gv_tabw w;
	size_t i;

	gv_tabw_init(&w, out, r->o->tsv);
	for (i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		gv_tabw_str(&w, name[i]);
	if (r->rounds.pairs.n > 0)
		gv_tabw_str(&w, "with_job_id");
	gv_tabw_end(&w);
	for (i = 0; i < r->n_jobs; i++)
		r->job[i].report.steps = 0;
	for (r->round = 0; r->round < ROUNDS; r->round++) {
		double next_s = arrive(r);

		if (!some_active(r) && next_s == HUGE_VAL)
			break;
		if (!some_active(r)) {
			r->now_s = next_s;
			arrive(r);
		}
		gv_rounds_plan(&r->rounds, GV_ROUND_NEW, r->plan, r->plan);
		play(r, &w, gpu);
		r->now_s += r->o->round_s;
	}
	free(gpu);
}
