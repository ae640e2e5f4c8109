/*
 * common/coll: the time of a pipeline against one that is run step by step, the best
 * chunk against all of them, and the search against both.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "coll/model.h"
#include "tap.h"

static uint64_t draws;

static double
draw(double low, double high)
{
	return low * pow(high / low, gv_random_uniform(23, 4, 1, draws++));
}

/* When the last chunk is through the last of depth stages, chunk by chunk. */
static double
by_steps(double whole_s, double chunk_s, double cost_s, size_t depth)
{
	double *free_at = gv_xcalloc(depth, sizeof(*free_at)), left = whole_s, at = 0;
	size_t h;

	while (left > 1e-12 * whole_s) {
		double s = cost_s + fmin(left, chunk_s);

		for (h = 0, at = 0; h < depth; h++)
			at = free_at[h] = fmax(at, free_at[h]) + s;
		left -= chunk_s;
	}
	free(free_at);
	return at;
}

static double
every_chunk(const struct gv_trees *t, const struct gv_coll_cost *c, double bytes)
{
	double best = HUGE_VAL;
	size_t k;

	/* of whole numbers of chunks: uneven ones are never better */
	for (k = 1; k < 5000; k++)
		best = fmin(best, gv_coll_model_s(t, c, bytes, bytes / 2 / (double)k));
	return best;
}

int
main(void)
{
	struct gv_tree tree[2] = {{.weight = 5}, {.weight = 5}};
	struct gv_trees t = {.collective = GV_ALL_REDUCE,
	    .n = 4,
	    .tree = tree,
	    .n_trees = 2,
	    .weight = 10};
	size_t i, bad = 0, not_best = 0, far = 0, noisy = 0;
	double worst = 1, worst_search = 1;

	for (i = 0; i < 300; i++) {
		struct gv_coll_cost c = {draw(1e-6, 1e-3), draw(1, 1000)};
		double bytes = floor(draw(1e4, 1e8)),
		       chunk = floor(draw(bytes / 900, bytes));
		double s, best, found;
		struct gv_tune tune;

		t.depth = 1 + (size_t)draw(1, 14);
		s = gv_coll_model_s(&t, &c, bytes, chunk);
		bad += fabs(s - by_steps(bytes / 10e9 * c.slower,
				    bytes / 10e9 * c.slower / ceil(bytes / 2 / chunk),
				    c.chunk_s, t.depth)) > 1e-9 * s;
		best = every_chunk(&t, &c, bytes);
		found =
		    gv_coll_model_s(&t, &c, bytes, gv_coll_model_chunk(&t, &c, bytes, 4));
		worst = fmax(worst, found / best);
		not_best += found > best * (1 + 1e-9);

		gv_tune_start(&tune, 4096, (size_t)bytes / 2 + 1);
		do
			s = gv_coll_model_s(&t, &c, bytes, (double)tune.chunk);
		while (gv_tune_next(&tune, s));
		s = gv_coll_model_s(&t, &c, bytes, (double)tune.chunk);
		/* smaller chunks than the first are not tried */
		best = fmin(best, gv_coll_model_s(&t, &c, bytes, 4096));
		if (gv_coll_model_chunk(&t, &c, bytes, 4) >= 4096) {
			worst_search = fmax(worst_search, s / best);
			far += s > best * 1.03;
			if (s > best * 1.03)
				printf("# d %zu bytes %g a %g T %g: tune %zu closed %g "
				       "ratio %g\n",
				    t.depth, bytes, c.chunk_s, bytes / 1e10 * c.slower,
				    tune.chunk, gv_coll_model_chunk(&t, &c, bytes, 4),
				    s / best);
		}
		gv_tune_start(&tune, 4096, (size_t)bytes / 2 + 1);
		do
			s = gv_coll_model_s(&t, &c, bytes, (double)tune.chunk);
		while (gv_tune_next(&tune, s * draw(.99, 1.01)));
		if (gv_coll_model_chunk(&t, &c, bytes, 4) >= 4096)
			noisy += gv_coll_model_s(&t, &c, bytes, (double)tune.chunk) >
				 best * 1.06;
	}
	is_int(bad, 0, "times are those of a pipeline, step by step");
	is_int(
	    not_best, 0, "no chunk is faster than the closed form's (worst %g)", worst);
	is_int(far, 0, "the search is within 3 %% of the best (worst %g)", worst_search);
	is_int(noisy, 0, "and within 6 %% where times scatter by 1 %%");

	t.depth = 1;
	{
		struct gv_coll_cost c = {1e-5, 1};

		is_near(gv_coll_model_chunk(&t, &c, 1e6, 4), 5e5, 1e-12,
		    "one hop takes one chunk");
		is_near(
		    gv_coll_model_s(&t, &c, 1e6, 5e5), 1e-5 + 1e-4, 1e-12, "its time");
		is_near(gv_coll_model_s(&t, &c, 0, 1), 0, 0, "nothing takes no time");
	}
	is_near(gv_coll_bus_factor(&t), 1.5, 1e-12, "busbw of an allreduce of four");
	t.collective = GV_ALL_GATHER;
	is_near(gv_coll_bus_factor(&t), .75, 1e-12, "of an allgather");
	t.collective = GV_REDUCE;
	is_near(gv_coll_bus_factor(&t), 1, 1e-12, "of a reduce");
	return done_testing();
}
