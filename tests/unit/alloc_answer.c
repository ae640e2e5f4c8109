/* Rates in, shares out, within a program: the paper's example, memories, and what is refused. */
#include "tap.h"

#include <stdlib.h>

#include "alloc/answer/answer.h"
#include "alloc/answer/named.h"
#include "alloc/answer/shares.h"
#include "alloc/price/price.h"
#include "base/mem.h"

static struct gv_gpu_type types[] = {
    {.name = "v100", .gpus = 1}, {.name = "k80", .gpus = 1}};
static const struct gv_cluster cluster = {.n_types = 2, .type = types};

static struct gv_cell
cell(const char *s)
{
	return (struct gv_cell){.s = s, .len = strlen(s)};
}

/* The rates of n jobs on both types, rate [n][2]. */
static struct gv_rates
rates_of(const double *rate, size_t n)
{
	const struct gv_cell names[] = {
	    cell("job_id"), cell("gpu_type"), cell("steps_per_s")};
	struct gv_frame frame = {0};
	struct gv_rates r = {0};
	struct gv_error e = {0};
	size_t i;

	gv_frame_start(&frame, "memory", false, names, 3);
	for (i = 0; i < 2 * n; i++) {
		char id[32], number[32];
		struct gv_cell row[3];

		snprintf(id, sizeof(id), "job%zu", i / 2);
		snprintf(number, sizeof(number), "%.17g", rate[i]);
		row[0] = cell(id);
		row[1] = cell(types[i % 2].name);
		row[2] = cell(number);
		gv_frame_add(&frame, row, (long)i + 2);
	}
	if (gv_rates_from(&r, &frame, &cluster, &e) != 0)
		gv_die_error(&e);
	return r;
}

/* Gavel's example (OSDI 2020, section 3.1): its shares and its level. */
static void
test_paper(void)
{
	static const double rate[] = {40, 10, 12, 4, 100, 50};
	static const double want[] = {5. / 11, 0, 5. / 11, 1. / 11, 1. / 11, 10. / 11};
	struct gv_rates r = rates_of(rate, 3);
	const struct gv_answer_options opt = {0};
	struct gv_error e = {0};
	struct gv_answer a;
	size_t i;
	double off = 0;
	int rc = gv_answer_make(&a, &r, &cluster, gv_policy_find("max-min"), &opt, &e);

	is_int(rc, 0, "max-min answers");
	for (i = 0; i < r.n_rates; i++)
		off = fmax(off, fabs(gv_answer_share(&a, &r.rate[i]) - want[i]));
	is_near(a.s.objective, 8. / 11, 1e-12, "the level is 8/11");
	ok(a.s.has_bound && a.s.gap <= 1e-12, "its bound meets it");
	ok(off <= 1e-12, "the shares are the paper's");
	gv_answer_free(&a);
	gv_rates_free(&r);
}

static double
draw(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (double)(*state >> 11) / 9007199254740992.;
}

/* Many jobs, asked again and again as they change: with a memory the answer is the same. */
static void
test_memory(void)
{
	enum { N = 600, ROUNDS = 12 };
	double *rate = gv_xcalloc(2 * N, sizeof(*rate));
	struct gv_price_memory memory = {0};
	struct gv_answer_options warm = {.policy.solve.memory = &memory}, cold = {0};
	const struct gv_policy *policy = gv_policy_find("max-min");
	struct gv_error e = {0};
	uint64_t state = 1;
	size_t i, k, differ = 0, failed = 0, loose = 0;

	types[0].gpus = 40;
	types[1].gpus = 60;
	for (i = 0; i < 2 * N; i++)
		rate[i] = 1 + 9 * draw(&state);
	for (k = 0; k < ROUNDS; k++) {
		struct gv_rates r;
		struct gv_answer a[2];

		rate[(size_t)(draw(&state) * 2 * N)] = 1 + 9 * draw(&state);
		r = rates_of(rate, N);
		failed += gv_answer_make(&a[0], &r, &cluster, policy, &warm, &e) != 0;
		failed += gv_answer_make(&a[1], &r, &cluster, policy, &cold, &e) != 0;
		for (i = 0; i < r.n_rates; i++)
			differ += gv_answer_share(&a[0], &r.rate[i]) !=
				  gv_answer_share(&a[1], &r.rate[i]);
		loose += !(a[0].s.gap <= 1e-9);
		gv_answer_free(&a[0]);
		gv_answer_free(&a[1]);
		gv_rates_free(&r);
	}
	is_int(failed, 0, "%d questions about %d jobs are answered", ROUNDS, N);
	is_int(differ, 0, "an answer with a memory is that without, to the last bit");
	is_int(loose, 0, "and proved to 1e-9");
	gv_price_forget(&memory);
	types[0].gpus = types[1].gpus = 1;
	free(rate);
}

/* What cannot be answered says why, and ends nothing. */
static void
test_refused(void)
{
	static const double rate[] = {1, 2, 3, 4};
	struct gv_rates r = rates_of(rate, 2);
	const struct gv_answer_options opt = {0};
	struct gv_error e = {0};
	struct gv_answer a;

	is_int(gv_answer_make(&a, &r, &cluster, gv_policy_find("makespan"), &opt, &e), -1,
	    "a policy asks for a number that the jobs lack");
	ok(e.count > 0, "the error says so");
	gv_error_clear(&e);
	gv_answer_free(&a);
	types[1].usd_per_h = NAN;
	is_int(gv_answer_make(&a, &r, &cluster, gv_policy_find("min-cost"), &opt, &e), -1,
	    "a policy of cost asks for prices");
	ok(strstr(e.text[0], "usd_per_h") != NULL, "the error says so");
	gv_error_clear(&e);
	gv_answer_free(&a);
	gv_rates_free(&r);
}

static double over; /* by how much, relative, the shares of the next are too much */

static int
solve_over(const struct gv_problem *p, const struct gv_policy_options *opt,
    struct gv_solution *s, struct gv_error *e)
{
	size_t i;

	(void)opt;
	(void)e;
	gv_problem_isolated(p, s->x);
	for (i = 0; i < p->n * p->m; i++)
		s->x[i] *= 1 + over;
	s->objective = 1;
	return 0;
}

/* Shares of more GPUs or time than there are, but for rounding, are no answer. */
static void
test_excess(void)
{
	static const double by[] = {1e-12, 1e-8, 1e-6, 1e-2, INFINITY, NAN};
	static const double rate[] = {1, 2, 3, 4};
	static const struct gv_policy policy = {.name = "over", .solve = solve_over};
	struct gv_rates r = rates_of(rate, 2);
	const struct gv_answer_options opt = {0};
	size_t k;

	for (k = 0; k < sizeof(by) / sizeof(by[0]); k++) {
		struct gv_error e = {0};
		struct gv_answer a;
		int rc;

		over = by[k];
		rc = gv_answer_make(&a, &r, &cluster, &policy, &opt, &e);
		is_int(rc, k == 0 ? 0 : -1, "shares too large by %g", by[k]);
		ok((e.count > 0) == (k > 0), "it is said");
		gv_answer_free(&a);
	}
	gv_rates_free(&r);
}

/* All policies by name; as much of that as there is room for. */
static void
test_names(void)
{
	char all[1000], part[1000], word[100];
	size_t i, len, known = 0, cut = 0, n = 0;
	const char *s;

	gv_policy_names(all, sizeof(all));
	for (s = all; *s != '\0'; s += strspn(s, ", "), n++) {
		snprintf(word, sizeof(word), "%.*s", (int)strcspn(s, ","), s);
		known += gv_policy_find(word) != NULL;
		s += strcspn(s, ",");
	}
	ok(n > 10 && known == n, "%zu names, each of a policy", n);
	for (i = 0; i < n; i++)
		known -= gv_policies[i] != NULL;
	ok(known == 0 && gv_policies[n] == NULL, "and each policy has one");
	ok(strstr(all, ", max-min, ") != NULL || strncmp(all, "max-min, ", 9) == 0,
	    "with a comma and a blank between");
	for (len = 1; len <= strlen(all); len++) {
		memset(part, '#', sizeof(part));
		gv_policy_names(part, len);
		cut += strlen(part) == len - 1 && strncmp(part, all, len - 1) == 0 &&
		       part[len] == '#';
	}
	is_int(cut, strlen(all), "cut to any length");
}

/* The problem of r on types of so much and so many GPUs, by a policy. */
static struct gv_answer
problem_on(const struct gv_rates *r, const double price[2], const unsigned gpus[2],
    const unsigned away[2], const struct gv_policy *policy)
{
	struct gv_gpu_type own[] = {types[0], types[1]};
	const struct gv_cluster c = {.n_types = 2, .type = own};
	const struct gv_answer_options opt = {.budget = 7};
	struct gv_error e = {0};
	struct gv_answer a;
	size_t j;

	for (j = 0; j < 2; j++) {
		own[j].usd_per_h = price[j];
		own[j].gpus = gpus[j];
		own[j].away = away[j];
	}
	if (gv_answer_problem(&a, r, &c, policy, &opt, &e) != 0)
		gv_die_error(&e);
	return a;
}

/* A type that costs nothing costs next to nothing where steps are counted per dollar. */
static void
test_free_types(void)
{
	static const double price[][2] = {{0, .5}, {.5, 0}, {0, 0}, {3, .25}};
	static const double want[][2] = {
	    {.5e-6, .5}, {.5, .5e-6}, {1, 1}, {3, .25}}; /* of v100, of k80 */
	static const unsigned one[] = {1, 1}, none[] = {0, 0};
	struct gv_rates r = rates_of((double[]){1, 2}, 1);
	size_t k, j;

	for (k = 0; k < 4; k++) {
		struct gv_answer a =
		    problem_on(&r, price[k], one, none, &gv_policy_per_dollar);
		struct gv_answer b =
		    problem_on(&r, price[k], one, none, &gv_policy_max_min);

		for (j = 0; j < 2; j++) {
			is_near(a.p.price[a.type[j]] / want[k][j], 1, 1e-15,
			    "%g and %g an hour: type %zu", price[k][0], price[k][1], j);
			ok(b.p.price[b.type[j]] == price[k][j], "as it is for others");
		}
		ok(a.p.budget == 7, "the budget");
		gv_answer_free(&a);
		gv_answer_free(&b);
	}
	gv_rates_free(&r);
}

/* Who could run if GPUs that are away came back. */
static void
test_later(void)
{
	static const double rate[] = {1, 1, 1, 1, 1, 1, 1e-290, 1e-290, 0, 1, 1, 0};
	static const double price[] = {1, 1};
	static const unsigned one[] = {1, 1}, away[] = {1, 0}, later[] = {0, 1};
	static const int64_t scale[] = {2, 3, 1, 2, 2, 2};
	static const bool first[] = {true, false, false, false, false, true};
	static const bool second[] = {true, false, false, false, true, false};
	struct gv_rates r = rates_of(rate, 6);
	struct gv_answer a, b;
	size_t i;

	for (i = 0; i < 6; i++)
		r.job[i].scale_factor = scale[i];
	a = problem_on(&r, price, one, away, &gv_policy_max_min);
	b = problem_on(&r, price, one, later, &gv_policy_max_min);
	for (i = 0; i < 6; i++)
		ok(a.later[i] == first[i] && b.later[i] == second[i],
		    "whether job %zu runs later", i);
	is_int(a.p.n, 1, "one runs now");
	gv_answer_free(&a);
	gv_answer_free(&b);
	gv_rates_free(&r);
}

/* A table of rows of two jobs and of one, the first-th of them first. */
static struct gv_rates
shared_rates(size_t first)
{
	static const char *const names[] = {
	    "job_id", "gpu_type", "steps_per_s", "with_job_id", "with_steps_per_s"};
	static const char *const rows[][5] = {{"b", "v100", "0.8", "a", "8"},
	    {"b", "v100", "1", "", ""}, {"a", "v100", "10", "", ""}};
	struct gv_frame frame = {0};
	struct gv_rates r = {0};
	struct gv_error e = {0};
	struct gv_cell of[5];
	size_t i, k;

	for (k = 0; k < 5; k++)
		of[k] = cell(names[k]);
	gv_frame_start(&frame, "memory", false, of, 5);
	for (i = 0; i < 3; i++) {
		for (k = 0; k < 5; k++)
			of[k] = cell(rows[(i + first) % 3][k]);
		gv_frame_add(&frame, of, (long)i + 2);
	}
	if (gv_rates_from(&r, &frame, &cluster, &e) != 0)
		gv_die_error(&e);
	return r;
}

/* Jobs of a table that share, whichever row says so, have ranks by their names. */
static void
test_shared(void)
{
	const struct gv_answer_options opt = {0};
	size_t first, b;

	for (first = 0; first < 3; first++) {
		struct gv_rates r = shared_rates(first);
		struct gv_error e = {0};
		struct gv_answer a;

		ok(gv_answer_problem(&a, &r, &cluster, &gv_policy_max_min, &opt, &e) == 0,
		    "they may share");
		ok(a.p.together != NULL && a.p.n == 2, "they do");
		b = strcmp(r.job[0].id.s, "b") == 0 ? 0 : 1;
		ok(a.rank[a.row[b]] == 1 && a.rank[a.row[1 - b]] == 0, "b is behind a");
		gv_answer_free(&a);
		ok(gv_answer_problem(
		       &a, &r, &cluster, &gv_policy_proportional, &opt, &e) == -1,
		    "not by a policy that has no such programs");
		ok(e.count == 1 && strstr(e.text[0], "gives no GPU to two jobs") != NULL,
		    "which is said");
		gv_answer_free(&a);
		gv_error_clear(&e);
		gv_rates_free(&r);
	}
}

int
main(void)
{
	test_shared();
	test_free_types();
	test_later();
	test_paper();
	test_memory();
	test_refused();
	test_excess();
	test_names();
	return done_testing();
}
