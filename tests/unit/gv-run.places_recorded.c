/*
 * Places of gv-run over a launcher that is drawn: GPUs that go and come back, tables that are to
 * come, an allocation that ends; what jobs hear of it, and what is said.
 */
#include <math.h>

#include "gv-run/running/places.h"
#include "launch/launcher.h"
#include "run_draws.h"
#include "scratch.h"
#include "stderr_said.h"

enum { RUNS = 120, LOOKS = 12, PER_ANSWER = 6 };

static struct {
	struct recorded *r;
	struct gv_launch_site site;
	char bad_node[8]; /* cannot be used; "-" = none */
	int bad_gpu;      /* -1 = all of the node */
} fake;

static void
fake_look(const struct gv_launcher *by, bool soon, struct gv_launch_site *site)
{
	(void)by;
	recorded_whole(fake.r, soon);
	*site = fake.site;
}

static bool
fake_usable(const struct gv_launcher *by, const char *node, int gpu, const char **why)
{
	bool good = strcmp(node, fake.bad_node) != 0 ||
		    (fake.bad_gpu >= 0 && gpu != fake.bad_gpu);

	(void)by;
	recorded_text(fake.r, node);
	recorded_whole(fake.r, gpu);
	*why = good ? "" : "it is down";
	return good;
}

static void
draw_site(struct places *p, struct watch *w)
{
	static const char *const node[] = {"-", "", "n0", "n1", "n2"};

	if (one_in(2)) {
		snprintf(fake.bad_node, sizeof(fake.bad_node), "%s", node[below(5)]);
		fake.bad_gpu = (int)below(4) - 1;
		fake.site.turns++;
	}
	if (one_in(5) && w->next.n_types > 0) {
		w->pending = !w->pending;
		w->turns++;
	}
	fake.site.left_s =
	    one_in(9) ? 60 + p->o->grace_s - (double)below(3) + 1 : HUGE_VAL;
	fake.site.over = one_in(20);
}

static void
recorded_away(struct recorded *r, struct jobs *j)
{
	struct gv_life_out out;
	size_t g;

	for (g = 0; g < j->life.rounds.n_gpus; g++)
		recorded_whole(r, j->life.away[g]);
	while (gv_life_next(&j->life, &out)) {
		recorded_whole(r, out.kind);
		recorded_whole(r, out.row.kind);
		recorded_whole(r, (long long)out.row.pool);
		recorded_wholes(r, out.row.gpu, out.row.n_gpus);
		if (out.kind == GV_LIFE_START)
			gv_life_started(&j->life, (size_t)out.row.job);
		if (out.kind == GV_LIFE_STOP)
			gv_life_left(&j->life, (size_t)out.row.job, one_in(2) ? 143 : 0);
	}
}

static void
recorded_room(struct recorded *r, const struct places *p)
{
	struct gv_error e = {0};

	recorded_whole(r, places_check_room(p, &e));
	recorded_error(r, &e);
}

static void
live(struct recorded *r)
{
	struct gv_launcher by = {
	    .name = "fake", .look = fake_look, .usable = fake_usable};
	struct drawn_run d;
	struct gv_error e = {0};
	struct jobs jobs;
	struct watch watch = {.jobs = &jobs};
	struct places p = {.by = &by, .jobs = &jobs, .watch = &watch, .round = -1};
	size_t i;

	draw_run(&d);
	d.o.grace_s = 10;
	d.o.watch = one_in(3);
	d.o.launcher = one_in(4) ? LAUNCHER_SLURM : LAUNCHER_LOCAL;
	p.o = &d.o;
	fake.r = r;
	fake.site = (struct gv_launch_site){.left_s = HUGE_VAL, .reason = "it has ended"};
	strcpy(fake.bad_node, "-");
	if (drawn_begin(&d, &jobs, &e) != 0)
		gv_die_error(&e);
	if (one_in(3))
		jobs.cluster.type[0].threads = 2;
	if (one_in(2)) { /* a table with fewer pools is to come */
		d.n_pools -= d.n_pools > 1;
		if (drawn_cluster(&d, &watch.next, &e) != 0)
			gv_die_error(&e);
	}
	stderr_listen();
	recorded_room(r, &p);
	for (i = 0; i < LOOKS; i++) {
		draw_site(&p, &watch);
		places_look(&p);
		recorded_whole(r, p.over + 2 * p.turns);
		recorded_away(r, &jobs);
		gv_life_time(&jobs.life, jobs.life.now_s + (double)below(8) / 4);
		gv_life_turn(&jobs.life, true);
		recorded_away(r, &jobs);
		if (one_in(4))
			recorded_room(r, &p);
	}
	stderr_said(r);
	gv_cluster_free(&watch.next);
	jobs_free(&jobs);
	drawn_run_free(&d);
}

int
main(void)
{
	static const char *const made[] = {"said", NULL};
	struct recorded r;
	uint32_t i;

	gv_init("gv-run");
	recorded_open(&r);
	scratch_enter();
	for (i = 0; i < RUNS; i++) {
		draws_begin(97, i, 0);
		live(&r);
		if (i % PER_ANSWER == PER_ANSWER - 1)
			recorded_answer(&r, "%d runs", PER_ANSWER);
	}
	scratch_leave(made);
	recorded_close(&r);
	return done_testing();
}
