/*
 * Shares on a virtual clock: workers that take their time to start and to save
 * themselves receive what was promised, over one life of gv-run and over three.
 */
#include "tap.h"

#include <stdlib.h>

#include "base/mem.h"
#include "sched/life/life.h"

enum { BIG, SMALL, TYPES, JOBS = 5, STEP_MS = 10 };

static const double round_s = .2;
static const double start_s = .02; /* a worker takes to come up, */
static const double save_s = .03;  /* and to save itself */

struct promise {
	const char *name;
	size_t gang;
	double share[TYPES];
};

/* All GPUs are promised in full. */
static const struct promise promise[JOBS] = {
    {"half", 1, {.5, 0}},
    {"quarter", 1, {.25, .25}},
    {"rest", 1, {.25, .5}},
    {"gang", 2, {0, .5}},
    {"other", 1, {0, .25}},
};

struct run {
	struct gv_cluster c;
	struct gv_pool pool[TYPES];
	struct gv_gpu_type type[TYPES];
	struct gv_life life;
	double up_s[JOBS];   /* when its workers are there, 0 = none are coming */
	double left_s[JOBS]; /* when they have left, 0 = not told to */
	int preemptions[JOBS];
	int twice; /* GPUs held by two */
	size_t n_rows;
	size_t cap_rows;
	struct gv_life_row *row;
};

static void
make_life(struct run *r)
{
	size_t m;
	size_t t;

	gv_life_init(&r->life, &r->c, round_s, 5);
	for (m = 0; m < JOBS; m++) {
		struct gv_life_spec spec = {
		    .gang = promise[m].gang, .total_steps = NAN, .arrival_s = 0};

		gv_life_add(&r->life, &spec);
		for (t = 0; t < TYPES; t++) {
			gv_rounds_claim(&r->life.rounds, m, t)->rate =
			    promise[m].share[t] > 0;
			gv_life_set_share(&r->life, m, t, promise[m].share[t]);
		}
	}
}

static void
run_init(struct run *r)
{
	*r = (struct run){0};
	r->type[BIG] = (struct gv_gpu_type){.name = "big", .gpus = 1};
	r->type[SMALL] = (struct gv_gpu_type){.name = "small", .gpus = 2};
	r->pool[BIG] = (struct gv_pool){.type = BIG, .gpus = 1, .node = ""};
	r->pool[SMALL] = (struct gv_pool){.type = SMALL, .gpus = 2, .node = ""};
	r->c = (struct gv_cluster){
	    .n_types = TYPES, .type = r->type, .n_pools = TYPES, .pool = r->pool};
	make_life(r);
}

static void
run_free(struct run *r)
{
	size_t i;

	for (i = 0; i < r->n_rows; i++)
		free((void *)(size_t)r->row[i].gpu);
	free(r->row);
	gv_life_free(&r->life);
}

static void
keep_row(struct run *r, const struct gv_life_row *row)
{
	size_t *gpu = gv_xcalloc(row->n_gpus + 1, sizeof(*gpu));

	r->row = gv_xgrow(r->row, &r->cap_rows, r->n_rows + 1, sizeof(*r->row));
	memcpy(gpu, row->gpu, row->n_gpus * sizeof(*gpu));
	r->row[r->n_rows] = *row;
	r->row[r->n_rows].gpu = gpu;
	r->row[r->n_rows++].reason = "";
	if (row->kind == GV_EVENT_PREEMPT)
		r->preemptions[row->job]++;
}

static void
carry_out(struct run *r)
{
	struct gv_life_out out;

	while (gv_life_next(&r->life, &out)) {
		size_t m = (size_t)out.row.job;
		size_t i;

		switch (out.kind) {
		case GV_LIFE_ROW:
			keep_row(r, &out.row);
			break;
		case GV_LIFE_START:
			r->up_s[m] = r->life.now_s + start_s;
			for (i = 0; i < out.row.n_gpus; i++)
				r->twice +=
				    r->life.holder[out.row.gpu[i]] != (ptrdiff_t)m;
			break;
		case GV_LIFE_STOP:
			r->left_s[m] = r->life.now_s + save_s;
			break;
		default:
			break;
		}
	}
}

static void
step(struct run *r, double now_s)
{
	size_t m;

	gv_life_time(&r->life, now_s);
	for (m = 0; m < JOBS; m++) {
		if (r->up_s[m] > 0 && now_s >= r->up_s[m]) {
			r->up_s[m] = 0;
			gv_life_started(&r->life, m);
		}
		if (r->left_s[m] > 0 && now_s >= r->left_s[m]) {
			r->left_s[m] = 0;
			gv_life_left(&r->life, m, 143);
		}
	}
	carry_out(r);
	gv_life_turn(&r->life, true);
	carry_out(r);
}

/* The largest shortfall, of the time that gv-run was there. */
static double
shortfall(struct run *r, double alive_s)
{
	double worst = 0;
	size_t m;
	size_t t;

	gv_life_tell(&r->life, GV_EVENT_END);
	carry_out(r);
	gv_life_count(&r->life);
	for (m = 0; m < JOBS; m++)
		for (t = 0; t < TYPES; t++) {
			double got =
			    gv_rounds_claim(&r->life.rounds, m, t)->received_s / alive_s;

			printf("#   %s on %s: promised %.2f, received %.3f\n",
			    promise[m].name, r->type[t].name, promise[m].share[t], got);
			worst = fmax(worst, promise[m].share[t] - got);
		}
	return worst;
}

/* gv-run is killed and comes back after so long. */
static void
come_back(struct run *r, double away_s)
{
	double now_s = r->life.now_s;
	size_t i;

	gv_life_free(&r->life);
	make_life(r);
	for (i = 0; i < r->n_rows; i++)
		gv_life_replay(&r->life, &r->row[i]);
	gv_life_restart(&r->life, now_s, now_s + away_s, "killed");
	memset(r->up_s, 0, sizeof(r->up_s));
	memset(r->left_s, 0, sizeof(r->left_s));
	carry_out(r);
}

int
main(void)
{
	static const struct {
		int rounds;
		double points;
	} bound[] = {{22, 10}, {100, 5}, {400, 6}};
	struct run r;
	double begin_s;
	int i;
	int k = 0;

	run_init(&r);
	for (i = 0; i < 3; i++) {
		for (; k * STEP_MS * .001 < bound[i].rounds * round_s; k++)
			step(&r, k * STEP_MS * .001);
		ok(shortfall(&r, r.life.now_s) * 100 <= bound[i].points,
		    "after %d rounds nobody is short of more than %g points",
		    bound[i].rounds, bound[i].points);
	}
	is_int(r.twice, 0, "no GPU is given twice");
	ok(r.preemptions[0] >= 100, "jobs are preempted and resumed");
	run_free(&r);

	run_init(&r);
	for (i = 0; i < 3; i++) {
		if (i > 0)
			come_back(&r, 7);
		begin_s = r.life.now_s;
		for (k = 1; k * STEP_MS * .001 <= 20 * round_s; k++)
			step(&r, begin_s + k * STEP_MS * .001);
	}
	ok(shortfall(&r, 60 * round_s) * 100 <= 10,
	    "nor over three lives of 20 rounds, with time away between");
	run_free(&r);
	return done_testing();
}
