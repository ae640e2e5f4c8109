/*
 * gv-alloc's water-filling against the loop that the paper describes, job by job
 * and with nothing of ours but the linear programs: raise all by a program, find
 * who is stuck by one small program each, go on.
 */
#include "tap.h"

#include <stdlib.h>

#include "alloc_help.h"

/* kinds 0: all jobs differ.  entities 0: none. */
static struct gv_problem
random_problem(size_t n, size_t m, size_t kinds, size_t entities, bool fifo)
{
	struct gv_problem p;
	double weight[8];
	size_t i, j;

	gv_problem_alloc(&p, n, m);
	if (entities > 0)
		gv_problem_ask(
		    &p, 1u << GV_NUMBER_ENTITY | 1u << GV_NUMBER_ENTITY_WEIGHT);
	if (fifo)
		gv_problem_ask(&p, 1u << GV_NUMBER_POSITION);
	for (j = 0; j < m; j++)
		p.capacity[j] = (double)(1 + below(6));
	for (j = 0; j < entities; j++)
		weight[j] = (double)(1 + below(3));
	for (i = 0; i < n; i++) {
		size_t like = kinds > 0 && i >= kinds ? below(kinds) : i;

		p.count[i] = 1;
		if (entities > 0) {
			size_t entity = below(entities);

			p.number[GV_NUMBER_ENTITY][i] = (double)entity;
			p.number[GV_NUMBER_ENTITY_WEIGHT][i] = weight[entity];
		}
		if (fifo)
			p.number[GV_NUMBER_POSITION][i] = (double)((i * 11) % n);
		if (like < i) {
			copy_job(&p, i, like);
			continue;
		}
		p.scale[i] = (double)(1 << below(3));
		p.weight[i] = uniform() < .5 ? 1 : .25 + 4 * uniform();
		for (j = 0; j < m; j++)
			if (uniform() < .7 && p.scale[i] <= p.capacity[j])
				p.rate[i * m + j] = exp(3 * uniform());
		make_runnable(&p, i);
	}
	return p;
}

static double
number(const struct gv_problem *p, enum gv_problem_number k, size_t i, double otherwise)
{
	return p->number[k] != NULL ? p->number[k][i] : otherwise;
}

/* The columns of two jobs on the same GPUs; the rows are those of highest(). */
static void
add_pair(
    struct gv_lp *lp, const struct gv_problem *p, const double *equal, size_t a, size_t b)
{
	const struct gv_together *t = p->together;
	size_t pair, j;

	if (p->kind[a] > p->kind[b]) {
		size_t swap = a;

		a = b;
		b = swap;
	}
	pair = gv_together_find(t, p->kind[a], p->kind[b]);
	for (j = 0; j < p->m && pair != SIZE_MAX; j++) {
		const double *rate = &t->rate[(pair * p->m + j) * 2];
		size_t col;

		if (rate[0] == 0 && rate[1] == 0)
			continue;
		col = gv_lp_add_col(lp, 0, INFINITY, 0);
		gv_lp_set(lp, j, col, p->scale[a]);
		gv_lp_set(lp, p->m + 2 * a, col, p->scale[a] * rate[0] / equal[a]);
		gv_lp_set(lp, p->m + 2 * a + 1, col, 1);
		gv_lp_set(lp, p->m + 2 * b, col, p->scale[b] * rate[1] / equal[b]);
		gv_lp_set(lp, p->m + 2 * b + 1, col, 1);
	}
}

/*
 * max t: v_i >= floor_i + t rate_i for all jobs.  Infinite when t is not bounded
 * (no rate is above 0).
 */
static double
highest(const struct gv_problem *p, const double *floor, const double *rate)
{
	struct gv_lp lp = {.maximise = true};
	struct gv_lp_solution sol = {0};
	struct gv_error e = {0};
	double *equal = gv_xcalloc(p->n, sizeof(*equal));
	size_t i, j, t;
	double found;

	gv_problem_equal_throughput(p, equal);
	t = gv_lp_add_col(&lp, 0, INFINITY, 1);
	for (j = 0; j < p->m; j++)
		gv_lp_add_row(&lp, -INFINITY, p->capacity[j]);
	for (i = 0; i < p->n; i++) {
		size_t row = gv_lp_add_row(&lp, floor[i], INFINITY);
		size_t time = gv_lp_add_row(&lp, -INFINITY, 1);

		gv_lp_set(&lp, row, t, -rate[i]);
		for (j = 0; j < p->m; j++) {
			size_t col;

			if (gv_problem_rate(p, i, j) == 0)
				continue;
			col = gv_lp_add_col(&lp, 0, INFINITY, 0);
			gv_lp_set(&lp, row, col,
			    p->scale[i] * gv_problem_rate(p, i, j) / equal[i]);
			gv_lp_set(&lp, time, col, 1);
			gv_lp_set(&lp, j, col, p->scale[i]);
		}
	}
	for (i = 0; i < p->n && p->together != NULL; i++)
		for (j = 0; j < i; j++)
			add_pair(&lp, p, equal, i, j);
	if (gv_lp_solve(&lp, NULL, NULL, &sol, &e) != 0)
		gv_die_error(&e);
	found = sol.status == GV_LP_OPTIMAL ? sol.x[t] : NAN;
	gv_lp_solution_free(&sol);
	gv_lp_free(&lp);
	free(equal);
	return found;
}

/* Who rises how fast: the paper's weights. */
static void
rates_of(const struct gv_problem *p, const bool *done, bool fifo, double *rate)
{
	size_t i, k;

	for (i = 0; i < p->n; i++) {
		double entity = number(p, GV_NUMBER_ENTITY, i, 0);
		double sum = 0;
		bool first = true;

		rate[i] = 0;
		if (done[i])
			continue;
		for (k = 0; k < p->n; k++) {
			if (done[k] || number(p, GV_NUMBER_ENTITY, k, 0) != entity)
				continue;
			sum += p->weight[k];
			first = first && !(fifo && p->number[GV_NUMBER_POSITION][k] <
						       p->number[GV_NUMBER_POSITION][i]);
		}
		if (fifo)
			rate[i] = first ? number(p, GV_NUMBER_ENTITY_WEIGHT, i, 1) : 0;
		else
			rate[i] =
			    number(p, GV_NUMBER_ENTITY_WEIGHT, i, 1) * p->weight[i] / sum;
	}
}

/* The paper's loop.  False: a program failed, which says nothing. */
static bool
paper_loop(const struct gv_problem *p, bool fifo, double *v)
{
	double *rate = gv_xcalloc(p->n, sizeof(*rate));
	double *one = gv_xcalloc(p->n, sizeof(*one));
	double *floor = gv_xcalloc(p->n, sizeof(*floor));
	bool *done = gv_xcalloc(p->n, sizeof(*done));
	size_t i, left = p->n;
	bool fine = true;

	memset(v, 0, p->n * sizeof(*v));
	while (left > 0 && fine) {
		size_t before = left;
		double t;

		rates_of(p, done, fifo, rate);
		for (i = 0; i < p->n; i++)
			floor[i] = v[i] * (1 - 1e-13);
		t = highest(p, floor, rate);
		fine = isfinite(t);
		for (i = 0; i < p->n && fine; i++)
			v[i] += t * rate[i];
		for (i = 0; i < p->n; i++)
			floor[i] = v[i] * (1 - 1e-13);
		for (i = 0; i < p->n && fine; i++) {
			double more;

			if (rate[i] == 0)
				continue;
			one[i] = 1;
			more = highest(p, floor, one);
			one[i] = 0;
			fine = isfinite(more);
			if (more <= 1e-7 * fmax(1e-2, v[i])) {
				done[i] = true;
				left--;
			}
		}
		fine = fine && left < before;
	}
	free(rate);
	free(one);
	free(floor);
	free(done);
	return fine;
}

struct outcome {
	double *v; /* [n] levels */
	double gap, excess;
	bool failed; /* GLPK, asked for alone, came to no end; else that is an error */
};

static struct outcome
solve(const struct gv_problem *p, enum gv_solver solver, bool fifo)
{
	struct gv_policy_options opt = {
	    .solve.solver = solver, .inside = fifo ? GV_INSIDE_FIFO : GV_INSIDE_FAIRNESS};
	struct outcome o = {.v = gv_xcalloc(p->n, sizeof(*o.v))};
	struct gv_solution s = {0};
	struct gv_classes c;
	struct gv_error e = {0};
	double *thr = gv_xcalloc(p->n, sizeof(*thr));
	double *equal = gv_xcalloc(p->n, sizeof(*equal));
	size_t i;

	gv_classes_make(&c, p, solver != GV_SOLVER_GLPK);
	s.x = gv_xcalloc(c.p.n, c.p.m * sizeof(*s.x));
	o.failed = gv_policy_water_filling.solve(&c.p, &opt, &s, &e) != 0;
	if (o.failed && solver != GV_SOLVER_GLPK)
		gv_die_error(&e);
	gv_error_clear(&e);
	gv_solution_throughput(&c.p, &s, thr);
	gv_problem_equal_throughput(p, equal);
	for (i = 0; i < p->n; i++)
		o.v[i] = p->scale[i] * thr[c.of[i]] / equal[i];
	o.gap = s.gap;
	o.excess = gv_solution_excess(&c.p, &s);
	free(s.x);
	free(s.pair);
	free(s.late);
	free(thr);
	free(equal);
	gv_classes_free(&c);
	return o;
}

static double
worst_difference(const struct gv_problem *p, const double *v, const double *want)
{
	double worst = 0;
	size_t i;

	for (i = 0; i < p->n; i++)
		worst = fmax(worst, fabs(v[i] - want[i]) / fmax(1, fabs(want[i])));
	return worst;
}

struct tally {
	int lost, bad[3], unproved, excess;
	double worst;
};

static void
compare(struct tally *t, const struct gv_problem *p, bool fifo)
{
	static const enum gv_solver solver[] = {
	    GV_SOLVER_AUTO, GV_SOLVER_GLPK, GV_SOLVER_PRICE};
	/*
	 * Levels of later phases magnify what prices are wrong by in earlier ones; and
	 * the loop takes for stuck who can rise by 1e-7.
	 */
	double much = getenv("GV_LONG") != NULL ? 10 : 1;
	double near[] = {3e-9 * much, 3e-9 * much, 1e-8 * much};
	double *v = gv_xcalloc(p->n, sizeof(*v));
	size_t k;

	if (!paper_loop(p, fifo, v)) {
		t->lost++;
		free(v);
		return;
	}
	for (k = 0; k < 3; k++) {
		struct outcome o = solve(p, solver[k], fifo);
		double d = worst_difference(p, o.v, v);

		t->worst = fmax(t->worst, d);
		t->bad[k] += !(d <= near[k]);
		t->unproved += !(o.gap <= 1e-9 && o.gap >= 0);
		t->excess += !(o.excess <= 1e-12);
		free(o.v);
	}
	free(v);
}

static void
judge(const struct tally *t, const char *name, int rounds)
{
	printf("# %s: %d of %d lost by the loop; worst difference %.2g\n", name, t->lost,
	    rounds, t->worst);
	ok(t->lost <= rounds / 20, "%s: the paper's loop ends", name);
	is_int(t->bad[0], 0, "%s: levels of classes are those of the paper's loop", name);
	is_int(t->bad[1], 0, "%s: those of --solver=glpk, too", name);
	is_int(t->bad[2], 0, "%s: and those of --solver=price", name);
	is_int(t->unproved, 0, "%s: all are proved", name);
	is_int(t->excess, 0, "%s: rows at most 1, types at most full", name);
}

static void
test_paper_loop(const char *name, size_t entities, bool fifo, int rounds)
{
	struct tally t = {0};
	int i;

	for (i = 0; i < rounds; i++) {
		struct gv_problem p = random_problem(
		    1 + below(9), 1 + below(4), below(2) * 3, entities, fifo);

		compare(&t, &p, fifo);
		gv_problem_free(&p);
	}
	judge(&t, name, rounds);
}

/* Jobs of two scales, each of a kind; those of one scale share GPUs as a random table says. */
static void
draw_pairs(struct gv_problem *p, struct gv_together *with, size_t kinds)
{
	struct gv_together_entry entry[256];
	size_t k, a, b, j, made = 0;

	p->kind = gv_xcalloc(p->n, sizeof(*p->kind));
	for (k = 0; k < p->n; k++) {
		p->kind[k] = below(kinds);
		p->scale[k] = p->kind[k] % 2 == 0 ? 1 : 2;
		for (j = 0; j < p->m; j++) {
			p->capacity[j] = fmax(2, p->capacity[j]);
			p->rate[k * p->m + j] =
			    uniform() < .2 && j != k % p->m ? 0 : .5 + uniform();
		}
	}
	for (a = 0; a < kinds; a++)
		for (b = a; b < kinds; b += 2)
			for (j = 0; j < p->m && uniform() < .8; j++)
				entry[made++] =
				    (struct gv_together_entry){.a = (uint32_t)a,
					.b = (uint32_t)b,
					.type = (uint32_t)j,
					.rate_a = .2 + .6 * uniform(),
					.rate_b = .2 + .6 * uniform()};
	gv_together_make(with, kinds, p->m, entry, made);
	p->together = with;
}

static void
test_pairs(const char *name, size_t entities, bool fifo, int rounds)
{
	struct tally t = {0};
	int i;

	for (i = 0; i < rounds; i++) {
		size_t n = 2 + below(6), m = 1 + below(3), kinds = 2 + below(4);
		struct gv_problem p = random_problem(n, m, 0, entities, fifo);
		struct gv_together with;

		draw_pairs(&p, &with, kinds);
		compare(&t, &p, fifo);
		gv_problem_free(&p);
		gv_together_free(&with);
	}
	judge(&t, name, rounds);
}

/* Two nodes at the top with quotas, a leaf of its own and two leaves in the second. */
static const struct gv_tree tree = {.n = 5,
    .parent = (size_t[]){SIZE_MAX, SIZE_MAX, 1, 1, SIZE_MAX},
    .weight = (double[]){1, 2, 1, 3, 1},
    .quota = (double[]){2, 1.5, 0, 1, 0}};

/*
 * More jobs in queues, some with minimums, in a tree: from job to job by one program that lives,
 * and by phases with programs of all pairs.
 */
static void
test_steps(bool trees, bool needs, int rounds)
{
	static const size_t leaf[] = {0, 2, 3, 4};
	int i, bad = 0, unproved = 0, lost = 0;
	double worst = 0;

	for (i = 0; i < rounds; i++) {
		struct gv_problem p = random_problem(
		    10 + below(40), 1 + below(3), 0, trees ? 4 : below(4), true);
		struct gv_together with;
		struct outcome steps, phases;
		double d;
		size_t k;

		draw_pairs(&p, &with, 2 + below(8));
		for (k = 0; k < p.m; k++)
			p.capacity[k] *= 1 + (double)below(5);
		for (k = 0; k < p.n && trees; k++)
			p.number[GV_NUMBER_ENTITY][k] =
			    (double)leaf[(size_t)p.number[GV_NUMBER_ENTITY][k]];
		p.tree = trees ? &tree : NULL;
		gv_problem_ask(&p, GV_NEEDS);
		for (k = 0; k < p.n && needs; k++)
			p.number[GV_NUMBER_MINIMUM][k] =
			    uniform() < .3 ? uniform() / (double)(4 * p.n) : 0;
		steps = solve(&p, GV_SOLVER_AUTO, true);
		phases = solve(&p, GV_SOLVER_GLPK, true);
		/* a program of all pairs may end short, and then says so by its gap */
		phases.failed = phases.failed || phases.gap > 1e-9;
		lost += phases.failed;
		d = phases.failed ? 0 : worst_difference(&p, steps.v, phases.v);
		worst = fmax(worst, d);
		bad += !(d <= 1e-7); /* of phases: 1e-8 for who must stay at 0 */
		unproved += !(steps.gap <= 1e-9);
		free(steps.v);
		free(phases.v);
		gv_problem_free(&p);
		gv_together_free(&with);
	}
	printf("# pairs in queues%s%s: worst difference of steps and phases %.2g\n",
	    trees ? " of a tree" : "", needs ? ", minimums" : "", worst);
	is_int(bad, 0, "pairs in queues: steps and phases end at the same levels");
	is_int(unproved, 0, "pairs in queues: proved");
	ok(lost <= rounds / 20, "pairs in queues: phases came to an end, %d did not",
	    lost);
}

/* More jobs, with GPUs for nearly all: by prices as by programs, and in few phases. */
static void
test_many(size_t entities, bool fifo, int rounds)
{
	int i, bad = 0, unproved = 0, lost = 0;
	double worst = 0;

	for (i = 0; i < rounds; i++) {
		struct gv_problem p =
		    random_problem(40 + below(60), 3, 0, entities, fifo);
		struct outcome program, prices;
		double d;
		size_t j;

		for (j = 0; j < 3; j++)
			p.capacity[j] *= 1 + (double)below(20);
		program = solve(&p, GV_SOLVER_GLPK, fifo);
		prices = solve(&p, GV_SOLVER_AUTO, fifo);
		d = program.failed ? 0 : worst_difference(&p, prices.v, program.v);
		lost += program.failed;
		worst = fmax(worst, d);
		bad += !(d <= 1e-8);
		unproved += !(prices.gap <= 1e-9 && program.gap <= 1e-9);
		free(program.v);
		free(prices.v);
		gv_problem_free(&p);
	}
	printf("# up to 100 jobs, %zu entities%s: worst difference %.2g\n", entities,
	    fifo ? ", fifo" : "", worst);
	is_int(bad, 0, "up to 100 jobs: prices and programs have the same levels");
	is_int(unproved, 0, "up to 100 jobs: proved");
	ok(lost <= rounds / 20, "up to 100 jobs: GLPK alone came to an end, %d did not",
	    lost);
}

/*
 * More types, on which job after job is left with one and is settled: programs of the others have
 * the levels of programs of all.
 */
static void
test_settled(size_t entities, bool fifo, int rounds)
{
	int i, bad = 0, unproved = 0, lost = 0, excess = 0;
	double worst = 0;

	for (i = 0; i < rounds; i++) {
		struct gv_problem p =
		    random_problem(60 + below(100), 5 + below(20), 0, entities, fifo);
		struct outcome all, others;
		double d;
		size_t k;

		for (k = 0; k < p.m; k++)
			p.capacity[k] = fmax(4, p.capacity[k]);
		for (k = 0; k < p.n; k++)
			p.weight[k] = i % 2 == 0 ? p.weight[k] : exp(4 * uniform());
		all = solve(&p, GV_SOLVER_GLPK, fifo);
		others = solve(&p, GV_SOLVER_AUTO, fifo);
		all.failed = all.failed || all.gap > 1e-9;
		d = all.failed ? 0 : worst_difference(&p, others.v, all.v);
		lost += all.failed;
		worst = fmax(worst, d);
		bad += !(d <= 1e-6);
		unproved += !(others.gap <= 1e-9);
		excess += !(others.excess <= 1e-12);
		free(all.v);
		free(others.v);
		gv_problem_free(&p);
	}
	printf("# up to 24 types, %zu entities%s: worst difference %.2g\n", entities,
	    fifo ? ", fifo" : "", worst);
	is_int(bad, 0, "up to 24 types: those settled change nobody's level");
	is_int(unproved, 0, "up to 24 types: proved");
	is_int(excess, 0, "up to 24 types: rows at most 1, types at most full");
	ok(lost <= rounds / 5, "up to 24 types: GLPK alone came to an end, %d did not",
	    lost);
}

int
main(void)
{
	int rounds = getenv("GV_LONG") != NULL ? 20 : 1;

	draws_begin(12, 0, 0);
	test_paper_loop("alone", 0, false, 300 * rounds);
	test_paper_loop("a queue", 1, true, 150 * rounds);
	test_paper_loop("entities", 3, false, 300 * rounds);
	test_paper_loop("entities of queues", 3, true, 300 * rounds);
	test_pairs("pairs", 0, false, 100 * rounds);
	test_pairs("pairs of entities", 2, false, 100 * rounds);
	test_pairs("pairs in queues", 2, true, 60 * rounds);
	test_many(0, false, 6 * rounds);
	test_many(4, false, 6 * rounds);
	test_many(4, true, 6 * rounds);
	test_steps(false, false, 20 * rounds);
	test_steps(true, false, 20 * rounds);
	test_steps(true, true, 20 * rounds);
	draws_begin(1, 0, 0);
	test_settled(0, false, 8 * rounds);
	test_settled(4, false, 8 * rounds);
	test_settled(4, true, 16 * rounds);
	return done_testing();
}
