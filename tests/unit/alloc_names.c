/*
 * Parts of common/alloc/answer that go by names: policies with options behind "+", the shares
 * of the last answer, a random order; and what the jobs of an answer need.
 */
#include "tap.h"

#include <stdlib.h>

#include "alloc/answer/answer.h"
#include "alloc/answer/draw.h"
#include "alloc/answer/named.h"
#include "alloc/answer/previous.h"
#include "base/mem.h"
#include "draws.h"

static struct gv_cell
cell(const char *s)
{
	return (struct gv_cell){.s = s, .len = strlen(s)};
}

/* ---- names of policies ---- */

/* What a name sets, beside what was set before it. */
static size_t
name_faults(size_t inside, size_t pop, unsigned bits, bool before)
{
	static const char *const insides[] = {"", "+fifo", "+none"};
	static const char *const pops[] = {"", "+pop1", "+pop17", "+pop1000000"};
	static const size_t parts[] = {5, 1, 17, 1000000};
	static const enum gv_inside want[] = {
	    GV_INSIDE_FAIRNESS, GV_INSIDE_FIFO, GV_INSIDE_NONE};
	struct gv_answer_options opt = {.pop = 5, .agnostic = before};
	const struct gv_policy *policy;
	bool set = false;
	char name[100];

	opt.policy.relax_slo = opt.policy.solve.placeable = before;
	snprintf(name, sizeof(name), "makespan%s%s%s%s%s", insides[inside],
	    bits & 1 ? "+agnostic" : "", bits & 2 ? "+placeable" : "",
	    bits & 4 ? "+relax-slo" : "", pops[pop]);
	policy = gv_policy_named(name, &opt, &set);
	return policy != gv_policy_find("makespan") || set != (inside > 0) ||
	       opt.policy.inside != want[inside] ||
	       opt.agnostic != (before || bits & 1) ||
	       opt.policy.solve.placeable != (before || bits & 2) ||
	       opt.policy.relax_slo != (before || bits & 4) || opt.pop != parts[pop];
}

static void
test_named(void)
{
	static const char *const none[] = {"", "+", "+pop3", "+fifo", "+agnostic",
	    "makespan+", "makespan+pop", "makespan+pop0", "makespan+pop-1",
	    "makespan+pop1000001", "makespan+pop2x", "makespan+pop2+pop3",
	    "makespan+pop2+fifo", "makespan+fifo+none", "makespan+agnostic+fifo",
	    "makespan+pip2", "makespan-pop2", "makespan+fif", "fifo+agnostic+agnostic"};
	size_t inside, pop, i, faults = 0;
	unsigned bits;

	for (inside = 0; inside < 3; inside++)
		for (pop = 0; pop < 4; pop++)
			for (bits = 0; bits < 16; bits++)
				faults += name_faults(inside, pop, bits, bits & 8);
	is_int(faults, 0, "a policy with any of its options, in their order");
	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		struct gv_answer_options opt = {0};
		bool set = false;

		ok(gv_policy_named(none[i], &opt, &set) == NULL,
		    "no policy is named \"%s\"", none[i]);
	}
}

/* ---- the last answer ---- */

enum { JOBS = 40, TYPES = 3 };

static size_t
previous_faults(const struct gv_previous *v, double want[JOBS][TYPES], const bool *there)
{
	size_t i, j, faults = 0;

	for (i = 0; i < JOBS; i++) {
		char id[32];
		const double *got;

		snprintf(id, sizeof(id), "job %zu", i);
		got = gv_previous_find(v, cell(id));
		faults += (got != NULL) != there[i];
		for (j = 0; got != NULL && j < TYPES; j++)
			faults += got[j] != want[i][j];
	}
	return faults;
}

/* Adding up by names that do not stay. */
static void
test_previous(void)
{
	struct gv_previous v = {0};
	int k, round;
	size_t faults = 0;

	for (round = 0; round < 3; round++) {
		double want[JOBS][TYPES] = {{0}};
		bool there[JOBS] = {false};

		gv_previous_clear(&v, TYPES);
		faults += v.names.n != 0 || v.m != TYPES ||
			  previous_faults(&v, want, there) != 0;
		for (k = 0; k < 60; k++) {
			size_t i = below(JOBS), j = below(TYPES);
			double share = uniform();
			char id[32];

			snprintf(id, sizeof(id), "job %zu", i);
			gv_previous_add(&v, cell(id), j, share);
			memset(id, '#', sizeof(id));
			want[i][j] += share;
			there[i] = true;
			faults += previous_faults(&v, want, there);
		}
	}
	gv_previous_free(&v);
	gv_previous_free(&v);
	is_int(faults, 0, "each job has what was added to it since the last clearing");
}

/* Of a table: rows alone, of two jobs, of a type that is not there. */
static void
test_table(void)
{
	static struct gv_job job[4];
	static struct gv_rate rate[] = {
	    {.job = 0, .type = 0, .with = -1, .share = .5},
	    {.job = 0, .type = 2, .with = 1, .share = .25},
	    {.job = 1, .type = 2, .with = -1, .share = .125},
	    {.job = 2, .type = -1, .with = -1, .share = .75},
	    {.job = 3, .type = 1, .with = 0, .share = .0625},
	};
	static double want[JOBS][TYPES] = {
	    {.5, .0625, .25}, {0, 0, .375}, {0, 0, 0}, {0, .0625, 0}};
	static const bool there[JOBS] = {true, true, false, true};
	struct gv_rates r = {.n_jobs = 4, .job = job, .n_rates = 5, .rate = rate};
	struct gv_cluster c = {.n_types = TYPES};
	struct gv_previous v = {0};

	job[0].id = cell("job 0");
	job[1].id = cell("job 1");
	job[2].id = cell("job 2");
	job[3].id = cell("job 3");
	gv_previous_clear(&v, 7);
	gv_previous_add(&v, cell("job 9"), 6, 1);
	gv_previous_from(&v, &r, &c);
	is_int(v.m, TYPES, "the types are the cluster's");
	is_int(previous_faults(&v, want, there), 0, "shares alone and in pairs");
	gv_previous_free(&v);
}

/* ---- a random order ---- */

/* FNV-1a of 64 bits. */
static uint64_t
fnv(const char *s)
{
	uint64_t h = UINT64_C(14695981039346656037);

	for (; *s != '\0'; s++)
		h = (h ^ (unsigned char)*s) * UINT64_C(1099511628211);
	return h;
}

/* Jobs of every other draw cannot run; the others stand in any rows. */
static size_t
order_faults(uint64_t seed, size_t n, bool all)
{
	static char name[JOBS][32];
	struct gv_job job[JOBS] = {{.row = 0}};
	struct gv_rates r = {.n_jobs = n, .job = job};
	struct gv_problem p;
	size_t row[JOBS], i, k, runs = 0, faults = 0;

	for (i = 0; i < n; i++) {
		snprintf(name[i], sizeof(name[i]), "%c\xc3%zu", (char)('a' + i % 7), i);
		job[i].id = cell(name[i]);
		row[i] = all || uniform() < .5 ? runs++ : SIZE_MAX;
	}
	for (i = 0; i < n; i++) /* in the reverse order */
		row[i] = row[i] == SIZE_MAX ? SIZE_MAX : runs - 1 - row[i];
	gv_problem_alloc(&p, runs, 1);
	gv_problem_ask(&p, 1u << GV_NUMBER_DRAW);
	gv_draw_order(&p, seed, &r, row);
	for (i = 0; i < n; i++) {
		uint64_t own = gv_random(seed, 0, 0, fnv(name[i]));
		double before = 0;

		if (row[i] == SIZE_MAX)
			continue;
		for (k = 0; k < n; k++)
			before += row[k] != SIZE_MAX &&
				  gv_random(seed, 0, 0, fnv(name[k])) < own;
		faults += p.number[GV_NUMBER_DRAW][row[i]] != before;
	}
	gv_problem_free(&p);
	return faults;
}

static void
test_draw(void)
{
	size_t n, faults = 0;

	ok(fnv("foobar") == UINT64_C(0x85944171f73967e8), "FNV-1a as it is published");
	for (n = 0; n < JOBS; n++)
		faults += order_faults(n / 2, n, n & 1);
	is_int(faults, 0, "jobs stand as numbers drawn by their names alone do");
}

/* ---- needs ---- */

static void
test_needs(void)
{
	double need[] = {.25, 3, INFINITY, 0, INFINITY, 0, 2};
	double minimum[] = {0, 0, 4, 0, 0, .5, 8};
	static const double want[] = {.25, 3, 4, 0, 0, .5, 8},
			    relaxed[] = {0, .5, 1, 2, 4};
	struct gv_answer a = {.p = {.n = 7}};
	size_t i, k, faults = 0;
	double *met;

	met = gv_answer_needs(&a);
	for (i = 0; i < a.p.n; i++)
		faults += met[i] != 0;
	free(met);
	ok(faults == 0 && !gv_answer_has_needs(&a), "who was not asked needs nothing");
	a.p.number[GV_NUMBER_NEED] = need;
	a.p.number[GV_NUMBER_MINIMUM] = minimum;
	for (k = 0; k < sizeof(relaxed) / sizeof(relaxed[0]); k++) {
		a.s.relaxation = relaxed[k];
		met = gv_answer_needs(&a);
		for (i = 0; i < a.p.n; i++)
			faults += met[i] != want[i] / fmax(1, relaxed[k]);
		free(met);
	}
	is_int(faults, 0, "the deadline that can be met or the minimum, as relaxed");
	for (i = 0; i < 7; i++) {
		struct gv_answer one = {.p = {.n = 1}};

		one.p.number[GV_NUMBER_NEED] = &need[i];
		one.p.number[GV_NUMBER_MINIMUM] = &minimum[i];
		faults += gv_answer_has_needs(&one) != (i != 3);
	}
	ok(faults == 0 && gv_answer_has_needs(&a), "any need is one");
	a.p.n = 1;
	a.p.number[GV_NUMBER_NEED] = &need[3];
	a.p.number[GV_NUMBER_MINIMUM] = &minimum[3];
	ok(!gv_answer_has_needs(&a), "none is none");
}

int
main(void)
{
	draws_begin(21, 0, 0);
	test_named();
	test_previous();
	test_table();
	test_draw();
	test_needs();
	return done_testing();
}
