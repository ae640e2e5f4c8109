/*
 * place/stairs and place/groups: the linear programs of stairs and the mixtures of groups that
 * they ask for, and what they make of the answers, which are by chance: solvers of the test's
 * own stand before the library's.
 */
#include "tap.h"

#include "alloc_draws.h"
#include "alloc/place/groups.h"
#include "alloc/place/hull.h"
#include "alloc/place/turns.h"
#include "lp/tolerance.h"

static struct recorded r;

/* ---- solvers ---- */

static bool stubborn; /* stairs of any length are found, never long enough */

/* Lengths of stairs, the first number how much all have of what they need. */
int
gv_lp_solve(const struct gv_lp *lp, const struct gv_lp_options *opt,
    struct gv_lp_basis *basis, struct gv_lp_solution *sol, struct gv_error *e)
{
	static const double first[] = {
	    1, 1, 1, 1 - GV_TOL_FEASIBLE, 1 - 1.1 * GV_TOL_FEASIBLE, 1.5};
	double way = uniform(), most = uniform() < .5 ? .25 : 1;
	size_t k;

	if (!stubborn)
		recorded_lp(&r, lp);
	recorded_whole(&r, (long long)lp->n_rows);
	recorded_whole(&r, (long long)lp->n_cols);
	recorded_whole(&r, opt != NULL);
	recorded_whole(&r, basis != NULL && basis->n_rows == 0);
	sol->x = gv_xcalloc(lp->n_cols, sizeof(*sol->x));
	sol->status = way < .9 || stubborn ? GV_LP_OPTIMAL : GV_LP_FAILED;
	sol->x[0] = stubborn ? 1 : first[below(6)];
	for (k = 1; k < lp->n_cols; k++)
		sol->x[k] = stubborn ? 0 : most * .25 * (double)below(5);
	if (way < .95 || stubborn)
		return 0;
	sol->status = GV_LP_OPTIMAL; /* said by nobody */
	return gv_error_set(e, "failed");
}

void
gv_hull_init(struct gv_hull *h, const struct gv_problem *p)
{
	*h = (struct gv_hull){.p = p};
}

void
gv_hull_free(struct gv_hull *h)
{
	free(h->point);
	free(h->weight);
}

void
gv_hull_add_rounds(struct gv_hull *h, const double *x, size_t rounds)
{
	recorded_doubles(&r, x, h->p->n * h->p->m);
	recorded_whole(&r, (long long)rounds);
}

/* Some placements of some weight, just the target or not quite. */
int
gv_hull_solve(struct gv_hull *h, struct gv_placement_program *g, const char *name,
    struct gv_error *e)
{
	static const double by[] = {0, 0, 0, 1e-3, -1e-12},
			    less[] = {0, 0, .9 * GV_TOL_HULL, 1.1 * GV_TOL_HULL,
				GV_TOL_HULL, 4 * GV_TOL_HULL};
	size_t cells = h->p->n * h->p->m, k;
	double left = 1, way = uniform();

	recorded_text(&r, name);
	recorded_problem(&r, h->p);
	recorded_doubles(&r, g->each, cells);
	recorded_whole(&r, g->p == h->p);
	recorded_whole(&r, g->level);
	recorded_double(&r, g->target);
	recorded_double(&r, g->effort);
	h->n_placements = 1 + below(4);
	h->point = gv_xcalloc(h->n_placements, cells * sizeof(*h->point));
	h->weight = gv_xcalloc(h->n_placements, sizeof(*h->weight));
	for (k = 0; k < h->n_placements * cells; k++)
		h->point[k] = (double)below(4);
	for (k = 0; k < h->n_placements; k++) {
		h->weight[k] = k + 1 < h->n_placements ? left * .25 * (double)below(5)
						       : fmax(0, left - less[below(6)]);
		left -= h->weight[k];
	}
	g->value = g->target + by[below(5)];
	return way < .95 ? 0 : way < .97 ? 1 : gv_error_set(e, "failed");
}

/* ---- groups ---- */

/* Shares of quarters on one type, two or more; all the time of a job, or nearly. */
static void
draw_row(double *x, size_t m)
{
	static const double nearly[] = {
	    1, 1 - GV_TOL_FEASIBLE, 1 - 1.1 * GV_TOL_FEASIBLE, 1 - .5 * GV_TOL_FEASIBLE};
	size_t types = 1 + below(3), a = below(m), b = below(m), k;
	double all = uniform() < .5 ? nearly[below(4)] : .25 * (double)(1 + below(3));

	if (uniform() < .1)
		return;
	x[a] = all;
	if (types > 1 && b != a) {
		x[a] = all < .5 ? all : .5;
		x[b] = all - x[a];
	}
	if (types > 2)
		for (k = 0; k < m; k++)
			x[k] = .125;
}

static void
ask_groups(void)
{
	size_t n = 1 + below(9), m = 1 + below(3), i;
	size_t most = uniform() < .5 ? 1 : 2, large = uniform() < .3 ? 40 : 6;
	struct gv_problem p;
	double *x;

	gv_problem_alloc(&p, n, m);
	x = gv_xcalloc(n, m * sizeof(*x));
	for (i = 0; i < m; i++)
		p.capacity[i] = .5 * (double)(1 + below(large));
	for (i = 0; i < n; i++) {
		p.weight[i] = 1;
		p.count[i] = (double)(1 + below(most));
		p.scale[i] = (double)(1 + below(2));
		draw_row(&x[i * m], m);
	}
	recorded_whole(&r, gv_groups_fit(&p, x));
	free(x);
	gv_problem_free(&p);
}

static void
test_groups(void)
{
	int k, i;

	for (k = 0; k < 40; k++) {
		draws_begin(1, 0, (uint32_t)k);
		for (i = 0; i < 60; i++)
			ask_groups();
		recorded_answer(&r, "groups, %d", k);
	}
}

/* ---- stairs ---- */

static void
draw_sizes(struct gv_turns_type *t)
{
	double gang = 0;
	size_t k, i;

	t->size = gv_xcalloc(t->n_sizes, sizeof(*t->size));
	for (k = 0; k < t->n_sizes; k++) {
		struct gv_turns_size *s = &t->size[k];
		static const double nearly[] = {
		    1, 1 - GV_TOL_FEASIBLE, 1 - 1.1 * GV_TOL_FEASIBLE};
		bool none = uniform() < .3;

		gang += (double)(1 + below(2));
		s->gang = gang;
		s->spread = uniform() < .6 ? 0 : .25 * (double)below(6);
		s->n = none ? 0 : 1 + below(4);
		s->jobs = gv_xcalloc(s->n + 1, sizeof(*s->jobs));
		for (i = 0; i < s->n; i++) {
			double part = (double)below(9) / 8;

			s->jobs[i].share = uniform() < .2 ? nearly[below(3)] : part;
			s->jobs[i].jobs = (double)(1 + below(3));
		}
	}
}

static void
draw_stays(struct gv_turns_type *t)
{
	static const double near[] = {
	    0, 0, 0, GV_TOL_FEASIBLE, .5 * GV_TOL_FEASIBLE, 2 * GV_TOL_FEASIBLE};
	size_t k;

	t->stay = gv_xcalloc(t->n_stays + 1, sizeof(*t->stay));
	for (k = 0; k < t->n_stays; k++) {
		double from = uniform() < .3 ? 0 : (double)below(8) / 8;
		double length = (double)below(5) / 4;

		t->stay[k].size = below(t->n_sizes);
		t->stay[k].from = from;
		t->stay[k].to = fmin(1, from + (1 - from) * length + near[below(6)]);
	}
}

static void
ask_type(struct gv_turns_type *t)
{
	size_t k, i;

	recorded_whole(&r, gv_turns_fit(t));
	for (k = 0; k < t->n_sizes; k++) {
		for (i = 0; i < t->size[k].n; i++)
			recorded_double(&r, t->size[k].jobs[i].share);
		free(t->size[k].jobs);
	}
	free(t->size);
	free(t->stay);
}

static void
test_stairs(void)
{
	int k, i;

	for (k = 0; k < 50; k++) {
		draws_begin(2, 0, (uint32_t)k);
		for (i = 0; i < 20; i++) {
			struct gv_turns_type t = {0};

			t.gpus = (double)(1 + below(16));
			t.n_sizes = 1 + below(3);
			t.n_stays = uniform() < .5 ? 0 : below(4);
			draw_sizes(&t);
			draw_stays(&t);
			ask_type(&t);
		}
		recorded_answer(&r, "stairs, %d", k);
	}
}

/* So many slots, and sizes of which so many gangs run in the mean. */
static void
ask_many(size_t slots, size_t sizes, double load)
{
	struct gv_turns_type t = {.gpus = 1000, .n_sizes = sizes};
	size_t k;

	t.size = gv_xcalloc(sizes, sizeof(*t.size));
	for (k = 0; k < sizes; k++) {
		t.size[k].gang = (double)(k + 1);
		t.size[k].n = 1;
		t.size[k].jobs = gv_xcalloc(1, sizeof(*t.size[k].jobs));
		t.size[k].jobs[0] = (struct gv_turns_jobs){.5, 2 * load};
	}
	t.n_stays = slots;
	t.stay = gv_xcalloc(slots, sizeof(*t.stay));
	for (k = 0; k < slots; k++)
		t.stay[k] = (struct gv_turns_stay){
		    0, (double)k / (double)slots, (double)(k + 1) / (double)slots};
	ask_type(&t);
	recorded_answer(&r, "%zu slots, %zu sizes, %g gangs", slots, sizes, load);
}

/* One stairs more than are tried: 55 slots with 6 by 6, and two where stays leave 3 by 5 and 6 by 1. */
static void
ask_one_more(void)
{
	enum { SLOTS = 57 };
	static const size_t stays[2][2] = {{11, 9}, {0, 13}};
	struct gv_turns_type t = {.gpus = 1000, .n_sizes = 3};
	size_t k, s, i;

	t.size = gv_xcalloc(3, sizeof(*t.size));
	t.stay = gv_xcalloc(SLOTS + 33, sizeof(*t.stay));
	for (k = 0; k < 3; k++) {
		t.size[k].gang = (double)(k + 1);
		t.size[k].n = 1;
		t.size[k].jobs = gv_xcalloc(1, sizeof(*t.size[k].jobs));
		t.size[k].jobs[0] = (struct gv_turns_jobs){.51, 20};
	}
	for (s = 0; s < SLOTS; s++)
		for (k = 0; k < 3; k++) {
			size_t n = k == 0 ? 1 : s < 2 ? stays[s][k - 1] : 0;

			for (i = 0; i < n; i++)
				t.stay[t.n_stays++] = (struct gv_turns_stay){
				    k, (double)s / SLOTS, (double)(s + 1) / SLOTS};
		}
	ask_type(&t);
	recorded_answer(&r, "2001 stairs");
}

/* Many slots, many stairs, many inequalities: up to so many. */
static void
test_most(void)
{
	size_t slots;

	draws_begin(3, 0, 0);
	for (slots = 62; slots < 67; slots++)
		ask_many(slots, 1, 3);
	stubborn = true;
	for (slots = 15; slots < 18; slots++)
		ask_many(slots, 4, 10);
	ask_one_more();
	stubborn = false;
}

int
main(void)
{
	recorded_open(&r);
	test_groups();
	test_stairs();
	test_most();
	recorded_close(&r);
	return done_testing();
}
