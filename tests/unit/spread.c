/* common/sched: rows of gangs on several nodes, against a choice row by row. */
#include "tap.h"

#include <stdlib.h>

#include "base/rng.h"
#include "sched/asking/isolated.h"
#include "sched/rates.h"

static uint64_t drawn;

static size_t
below(size_t n)
{
	return (size_t)(gv_random_uniform(37, 0, 0, drawn++) * (double)n);
}

enum {
	MAX_JOBS = 6,
	TYPES = 2,
	KINDS = 7
}; /* names of types: a, b, spread, and those unknown */

static const char *const kind[KINDS] = {"a", "b", "a_unconsolidated", "b_unconsolidated",
    "c_unconsolidated", "c", "a_notconsolidate"};

static struct gv_cell
cell(const char *s)
{
	return (struct gv_cell){s, strlen(s)};
}

/* A table of random rates; rate[job][kind], -1 = no row.  Rows of pairs are among them. */
static void
make_table(struct gv_frame *f, size_t n_jobs, const int *gang, int (*rate)[KINDS])
{
	static const char *const names[] = {"job_id", "gpu_type", "steps_per_s",
	    "scale_factor", "with_job_id", "with_steps_per_s"};
	struct gv_cell column[6], row[6];
	char text[4][32];
	size_t i, k, n, with;

	for (k = 0; k < 6; k++)
		column[k] = cell(names[k]);
	gv_frame_start(f, "table", false, column, 6);
	for (i = 0; i < n_jobs; i++) {
		size_t first = below(KINDS);

		snprintf(text[0], sizeof(text[0]), "j%zu", i);
		snprintf(text[2], sizeof(text[2]), "%d", gang[i]);
		row[0] = cell(text[0]);
		row[3] = cell(text[2]);
		for (n = 0; n < KINDS; n++) {
			k = (first + n) % KINDS;
			if (rate[i][k] < 0)
				continue;
			snprintf(text[1], sizeof(text[1]), "%d", rate[i][k]);
			row[1] = cell(kind[k]);
			row[2] = cell(text[1]);
			row[4] = row[5] = cell("");
			gv_frame_add(f, row, 2);
		}
		/* one of an earlier job and this one, faster than either alone */
		with = below(n_jobs);
		if (with >= i || gang[with] != gang[i])
			continue;
		snprintf(text[3], sizeof(text[3]), "j%zu", with);
		row[1] = cell(kind[below(KINDS)]);
		row[2] = row[5] = cell("7");
		row[4] = cell(text[3]);
		gv_frame_add(f, row, 2);
	}
}

/* What the row should count as: its type, or -1. */
static int
expected(const int *rate, int gang, const size_t *node, size_t k)
{
	size_t t = k % 2;
	bool fits = (size_t)gang <= node[t];
	bool several = t == 0 && gang > 1; /* type a lies on two nodes */
	int own = rate[t], spread = rate[t + 2];

	if (k >= 4)
		return -1;
	if (spread < 0 || own < 0)
		return (int)t;
	if (!fits && !several)
		return -1;
	if (!fits || !several)
		return (k == t) == fits ? (int)t : -1;
	return (k == t) == (own >= spread) ? (int)t : -1;
}

static void
test_random(void)
{
	size_t wrong = 0, spread = 0, pairs = 0;
	int trial;

	for (trial = 0; trial < 2000; trial++) {
		struct gv_gpu_type type[TYPES] = {{.name = "a"}, {.name = "b"}};
		struct gv_pool pool[4] = {{.type = 0, .node = "x", .gpus = 1 + below(4)},
		    {.type = 0, .node = "y", .gpus = 1 + below(4)},
		    {.type = 1, .node = "x", .gpus = 1 + below(8)},
		    {.type = 0, .node = "behind", .gpus = 100}};
		struct gv_cluster c = {
		    .n_types = TYPES, .type = type, .n_pools = 3, .pool = pool};
		size_t node[TYPES] = {
		    pool[0].gpus > pool[1].gpus ? pool[0].gpus : pool[1].gpus,
		    pool[2].gpus};
		size_t n_jobs = 1 + below(MAX_JOBS);
		int gang[MAX_JOBS], rate[MAX_JOBS][KINDS];
		struct gv_frame f = {0};
		struct gv_rates r = {0};
		struct gv_error e = {0};
		size_t i, k;

		for (i = 0; i < n_jobs; i++) {
			gang[i] = 1 << below(4);
			for (k = 0; k < KINDS; k++)
				rate[i][k] = below(3) == 0 ? -1 : (int)below(4);
			rate[i][below(KINDS)] = 1;
		}
		make_table(&f, n_jobs, gang, rate);
		if (gv_rates_from(&r, &f, &c, &e) != 0)
			gv_die_error(&e);
		gv_rates_spread(&r, &c);
		for (i = 0; i < r.n_rates; i++) {
			struct gv_cell name = gv_frame_cell(&r.frame, i, 1);
			size_t job = r.rate[i].job;

			for (k = 0; !gv_cell_is(name, kind[k]); k++)
				continue;
			if (r.rate[i].with >= 0) {
				wrong += r.rate[i].type != (k < 2 ? (ptrdiff_t)k : -1);
				pairs++;
				continue;
			}
			wrong +=
			    r.rate[i].type != expected(rate[job], gang[job], node, k);
			spread += k >= 2 && r.rate[i].type >= 0;
		}
		gv_rates_free(&r);
	}
	is_int(wrong, 0, "of two rows on the same GPUs the faster one that is possible");
	ok(pairs > 500, "rows of pairs, of which each counts, were among them: %zu",
	    pairs);
	ok(spread > 500, "spread gangs were among them: %zu", spread);
}

/* A type whose own name ends so is a type as others are. */
static void
test_named_so(void)
{
	struct gv_gpu_type type[TYPES] = {{.name = "a_unconsolidated"}, {.name = "a"}};
	struct gv_pool pool[2] = {{.type = 0, .gpus = 4}, {.type = 1, .gpus = 4}};
	struct gv_cluster c = {
	    .n_types = TYPES, .type = type, .n_pools = 2, .pool = pool};
	int gang[1] = {8}, rate[1][KINDS] = {{1, -1, 2, 3, -1, -1, -1}};
	struct gv_frame f = {0};
	struct gv_rates r = {0};
	struct gv_error e = {0};
	size_t i;
	int wrong = 0;

	make_table(&f, 1, gang, rate);
	if (gv_rates_from(&r, &f, &c, &e) != 0)
		gv_die_error(&e);
	gv_rates_spread(&r, &c);
	for (i = 0; i < r.n_rates; i++)
		wrong += r.rate[i].type != (r.rate[i].steps_per_s == 1      ? 1
					       : r.rate[i].steps_per_s == 2 ? 0
									    : -1);
	is_int(wrong, 0, "a type that is named as another one's spread gangs is itself");
	gv_rates_free(&r);
}

/* ---- isolated times ---- */

/* Steps since the last question over the rate of an equal part of the cluster of then. */
static void
test_isolated(void)
{
	struct gv_pool pool[3] = {{.type = 0, .gpus = 3, .node = ""},
	    {.type = 1, .gpus = 8, .node = ""}, {.type = 0, .gpus = 1, .node = "b"}};
	struct gv_gpu_type type[2] = {{.name = "a", .gpus = 4}, {.name = "b", .gpus = 8}};
	struct gv_cluster c = {.n_types = 2, .type = type, .n_pools = 3, .pool = pool};
	struct gv_rounds r;
	struct gv_isolated v;
	size_t k;

	gv_rounds_init(&r, &c, 10);
	for (k = 0; k < 3; k++)
		gv_rounds_add(&r, 1 + k);
	gv_rounds_claim(&r, 0, 0)->rate = 3;
	gv_rounds_claim(&r, 0, 1)->rate = 1;
	gv_rounds_claim(&r, 1, 1)->rate = 6;
	gv_isolated_init(&v, &r, 3);
	ok(v.gpus[0] == 4 && v.gpus[1] == 8, "GPUs of all pools");
	gv_isolated_count(&v, &r, 0, 24, 100);
	ok(v.elapsed_s[0] == 0 && v.steps[0] == 100,
	    "what was before the first is not known");
	is_near(v.rate[0], 3 * 4. / 24 + 8. / 24, 1e-15, "a 24th of both types");
	gv_isolated_count(&v, &r, 0, 6, 150);
	is_near(v.elapsed_s[0], 50 / (20. / 24), 1e-12, "50 steps at that rate");
	is_near(v.rate[0], (3 * 4. / 6 + 8. / 6) / 2, 1e-12, "no more than all the time");
	gv_isolated_count(&v, &r, 0, 1, 150);
	is_near(v.elapsed_s[0], 60, 1e-12, "no step, no time");
	gv_isolated_count(&v, &r, 0, 1, 140);
	is_near(v.elapsed_s[0], 60, 1e-12, "nor back");
	is_near(v.rate[0], (3 * 4. + 8) / 12, 1e-12, "alone");
	gv_isolated_count(&v, &r, 1, 8, 0);
	is_near(v.rate[1], 6 * 8. / 16, 1e-12, "a gang of two: half the time each");
	gv_isolated_count(&v, &r, 2, 8, 0);
	gv_isolated_count(&v, &r, 2, 8, 10);
	ok(v.rate[2] == 0 && v.elapsed_s[2] == 0, "one that can run nowhere has no time");
	gv_isolated_free(&v);
	gv_isolated_free(&v);
	gv_rounds_free(&r);
}

int
main(void)
{
	gv_init("spread");
	test_random();
	test_named_so();
	test_isolated();
	return done_testing();
}
