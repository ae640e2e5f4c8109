/*
 * What is counted for each job when it is asked for (rounds/accounts.c) beside accounts
 * that are kept at every moment; and idle GPUs that are given to the first of those that
 * wait (rounds/fill.c) beside a plan that looks at all of them.
 */
#include "tap.h"

#include <string.h>

#include "rounds_help.h"

/* ---- accounts ---- */

enum { MANY = 12, WORLDS = 200, MOMENTS = 400 };

struct kept {
	double lag[MANY][2], received[MANY][2], waited[MANY][2];
	ptrdiff_t held[MANY];
};

static void
keep_time(struct kept *k, const struct gv_rounds *r, double dt)
{
	size_t m, j;

	for (m = 0; m < MANY; m++)
		for (j = 0; j < 2 && r->job[m].active && dt > 0; j++) {
			bool held = k->held[m] == (ptrdiff_t)j;

			k->lag[m][j] += (gv_rounds_claim(r, m, j)->share - held) * dt;
			k->lag[m][j] = fmin(k->lag[m][j], GV_ROUND_DEBT * round_s);
			k->received[m][j] += held ? dt : 0;
			k->waited[m][j] = held ? 0 : k->waited[m][j] + dt;
		}
}

static void
keep_settling(struct kept *k, const struct gv_rounds *r)
{
	size_t m, j;

	for (m = 0; m < MANY; m++)
		for (j = 0; j < 2 && r->job[m].active; j++)
			k->lag[m][j] = gv_rounds_claim(r, m, j)->share == 0
					   ? 0
					   : fmin(fmax(k->lag[m][j], 0), round_s);
}

/* Something happens to a job. */
static void
change(struct kept *k, struct gv_rounds *r)
{
	size_t m = below(MANY);

	switch (below(4)) {
	case 0:
		gv_rounds_set_share(
		    r, m, below(2), below(3) == 0 ? 0 : (double)below(64) / 64);
		break;
	case 1:
		if (r->job[m].active)
			k->held[m] = (ptrdiff_t)below(3) - 1;
		gv_rounds_set_held(r, m, k->held[m]);
		break;
	case 2:
		k->held[m] = -1;
		gv_rounds_set_held(r, m, -1);
		gv_rounds_set_active(r, m, !r->job[m].active);
		break;
	default:
		gv_rounds_settle(r);
		keep_settling(k, r);
	}
}

static double
largest_difference(const struct kept *k, struct gv_rounds *r)
{
	double worst = 0;
	size_t m, j;

	gv_rounds_count(r);
	for (m = 0; m < MANY; m++)
		for (j = 0; j < 2; j++) {
			const struct gv_round_claim *c = gv_rounds_claim(r, m, j);

			worst = fmax(worst, fabs(c->lag_s - k->lag[m][j]));
			worst = fmax(worst, fabs(c->received_s - k->received[m][j]));
			worst = fmax(worst, fabs(c->waited_s - k->waited[m][j]));
		}
	return worst;
}

static void
test_accounts(void)
{
	double worst = 0;
	int trial;
	int i;

	for (trial = 0; trial < WORLDS; trial++) {
		struct kept k = {0};
		struct world w;
		double now_s = 0;
		size_t m;

		draws_begin((uint64_t)trial, 21, 0);
		world_begin(&w, 2);
		world_add_pool(&w, 0, 1, "");
		world_start(&w);
		for (m = 0; m < MANY; m++) {
			gv_rounds_add(&w.r, 1);
			k.held[m] = -1;
		}
		for (i = 0; i < MOMENTS; i++) {
			double dt = below(3) == 0 ? 0 : 900 * uniform();

			keep_time(&k, &w.r, dt);
			now_s += dt;
			gv_rounds_at(&w.r, now_s);
			change(&k, &w.r);
			if (below(20) == 0)
				worst = fmax(worst, largest_difference(&k, &w.r));
		}
		worst = fmax(worst, largest_difference(&k, &w.r));
		gv_rounds_free(&w.r);
	}
	printf("# largest difference: %.3g s\n", worst);
	ok(worst < 1e-6, "accounts that are kept at every moment are the same");
}

/* ---- idle GPUs ---- */

enum { WAIT = 150, POOLS = 4 };

/* Jobs, some of which hold GPUs; the others wait. */
static void
make_busy(struct world *w)
{
	size_t m, j, g, n;

	world_begin(w, 3);
	for (g = 0; g < POOLS; g++)
		world_add_pool(w, g % 3, 8, "");
	world_start(w);
	w->r.order = below(3) == 0 ? GV_ROUND_GAVEL : GV_ROUND_OWED;
	w->r.strict = below(3) == 0;
	for (m = 0; m < WAIT; m++) {
		size_t gang = below(2) == 0 ? 1 : 1 + below(4);

		gv_rounds_add(&w->r, gang);
		gv_rounds_set_active(&w->r, m, below(10) > 0);
		w->r.job[m].ready = below(10) > 0;
		for (j = 0; j < 3; j++) {
			struct gv_round_claim *c = gv_rounds_claim(&w->r, m, j);

			c->rate = below(4) == 0 ? 0 : (double)(1 + below(3));
			c->share = below(2) == 0 ? 0 : (double)below(16) / 16;
			c->lag_s = round_s * (below(9) == 0 ? 8 : (double)below(8) / 4);
			c->deficit_s = (double)below(5);
			c->waited_s = (double)below(50);
		}
	}
	gv_rounds_at(&w->r, 10);
	for (m = 0, g = 0; g + 8 <= w->r.n_gpus; g += 8) /* all but a few of each pool */
		for (j = 0, n = 5 + below(4); j < n; j++)
			w->owner[g + j] = (ptrdiff_t)m++;
}

static void
test_fill(void)
{
	long differ = 0;
	long given = 0;
	int trial;

	for (trial = 0; trial < 2000; trial++) {
		ptrdiff_t owner[MAX_GPUS], next[MAX_GPUS], want[MAX_GPUS];
		struct world w;
		size_t g;

		draws_begin((uint64_t)trial, 22, 0);
		make_busy(&w);
		gv_rounds_plan(&w.r, GV_ROUND_FILL, w.owner, next);
		for (g = 0; g < w.r.n_gpus; g++) {
			owner[g] = w.owner[g] < 0 ? GV_GPU_IDLE : GV_GPU_AWAY;
			if (w.owner[g] >= 0)
				w.r.job[w.owner[g]].ready = false;
		}
		gv_rounds_plan(&w.r, GV_ROUND_NEW, owner, want);
		for (g = 0; g < w.r.n_gpus; g++) {
			differ +=
			    w.owner[g] < 0 ? next[g] != want[g] : next[g] != w.owner[g];
			given += w.owner[g] < 0 && next[g] >= 0;
		}
		gv_rounds_free(&w.r);
	}
	ok(given > 2000, "%ld GPUs are given", given);
	is_int(differ, 0, "to the same as where all are looked at");
}

int
main(void)
{
	test_accounts();
	test_fill();
	return done_testing();
}
