/* gv-profile: which GPUs measurements have, against brute force. */
#include "tap.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "gv-profile/rates/gpus.h"

enum { NODES = 4, GPUS = 12, TYPES = 2, CASES = 4000 };

static uint64_t n_drawn;

static size_t
draw(size_t below)
{
	return (size_t)(gv_random(7, 0, 0, n_drawn++) % below);
}

struct scene {
	struct gpus g;
	struct gpu gpu[GPUS];
	size_t group[NODES], runs[NODES];
};

static void
make(struct scene *s)
{
	size_t i;

	memset(s, 0, sizeof(*s));
	s->g = (struct gpus){.n = draw(GPUS) + 1,
	    .gpu = s->gpu,
	    .n_nodes = draw(NODES) + 1,
	    .group = s->group,
	    .runs = s->runs,
	    .most_runs = draw(3) + 1};
	for (i = 0; i < s->g.n_nodes; i++) {
		s->group[i] = draw(2);
		s->runs[i] = draw(s->g.most_runs + 1);
	}
	for (i = 0; i < s->g.n; i++)
		s->gpu[i] = (struct gpu){.type = draw(TYPES),
		    .node = i * s->g.n_nodes / s->g.n,
		    .id = (int)i,
		    .busy = draw(3) == 0,
		    .away = draw(5) == 0};
}

static int
counts(const struct scene *s, const struct gpu *gpu, size_t type, int which)
{
	if (gpu->type != type)
		return 0;
	if (which == 0)
		return 1;
	if (which == 1)
		return !gpu->away;
	return !gpu->away && !gpu->busy && s->runs[gpu->node] < s->g.most_runs;
}

/* The fewest nodes of one group that have n: all sets of nodes are tried; 99 = none. */
static size_t
fewest(const struct scene *s, size_t type, size_t n, int which)
{
	size_t best = 99, set, i;

	for (set = 1; set < (size_t)1 << s->g.n_nodes; set++) {
		size_t have = 0, nodes = 0, groups = 0;

		for (i = 0; i < s->g.n_nodes; i++)
			if (set >> i & 1) {
				nodes++;
				groups |= (size_t)1 << s->group[i];
			}
		for (i = 0; i < s->g.n; i++)
			if (set >> s->gpu[i].node & 1)
				have += (size_t)counts(s, &s->gpu[i], type, which);
		if (have >= n && groups != 3 && nodes < best)
			best = nodes;
	}
	return best;
}

/* That gpu[n] are as they should be: counts the nodes, 0 = something is wrong. */
static size_t
nodes_of(const struct scene *before, size_t type, const size_t *gpu, size_t n)
{
	size_t nodes = 0, i, k;

	for (i = 0; i < n; i++) {
		const struct gpu *g = &before->gpu[gpu[i]];

		if (!counts(before, g, type, 2) ||
		    before->group[g->node] != before->group[before->gpu[gpu[0]].node])
			return 0;
		for (k = 0; k < i; k++)
			if (gpu[k] == gpu[i])
				return 0;
		if (i > 0 && before->gpu[gpu[i - 1]].node == g->node)
			continue;
		nodes++;
		for (k = 0; k < i; k++)
			if (before->gpu[gpu[k]].node == g->node)
				return 0; /* its GPUs stand apart */
	}
	return nodes;
}

static void
test_random(void)
{
	size_t wrong_fit = 0, wrong_take = 0, wrong_gpus = 0, wrong_give = 0, taken = 0,
	       c;

	for (c = 0; c < CASES; c++) {
		struct scene s, before;
		size_t type, n, least, gpu[GPUS];
		bool got;

		make(&s);
		before = s;
		type = draw(TYPES);
		n = draw(5) + 1;
		least = fewest(&s, type, n, 1);
		wrong_fit +=
		    gpus_fit(&s.g, type, n, true) != (fewest(&s, type, n, 0) < 99);
		wrong_fit += gpus_fit(&s.g, type, n, false) != (least < 99);
		if (n > s.g.n)
			continue;
		got = gpus_take(&s.g, type, n, gpu);
		wrong_take += got != (least < 99 && fewest(&before, type, n, 2) == least);
		if (!got) {
			wrong_give += memcmp(s.gpu, before.gpu, sizeof(s.gpu)) != 0;
			continue;
		}
		taken++;
		wrong_gpus += nodes_of(&before, type, gpu, n) != least;
		gpus_give(&s.g, gpu, n);
		wrong_give += memcmp(s.gpu, before.gpu, sizeof(s.gpu)) != 0 ||
			      memcmp(s.runs, before.runs, sizeof(s.runs)) != 0;
	}
	ok(wrong_fit == 0, "what fits at all: %zu wrong", wrong_fit);
	ok(wrong_take == 0 && taken > CASES / 10, "what fits now: %zu wrong, %zu taken",
	    wrong_take, taken);
	ok(wrong_gpus == 0,
	    "free GPUs of one group, node by node, on the fewest: %zu wrong", wrong_gpus);
	ok(wrong_give == 0, "given back, it is as before: %zu wrong", wrong_give);
}

/* One GPU of a gang's node is left to others where that is enough. */
static void
test_fullest(void)
{
	struct scene s = {.g = {.n = 6,
			      .gpu = s.gpu,
			      .n_nodes = 2,
			      .group = s.group,
			      .runs = s.runs,
			      .most_runs = 9}};
	size_t gpu[4], i;

	for (i = 0; i < 6; i++)
		s.gpu[i].node = i >= 4;
	ok(gpus_take(&s.g, 0, 1, gpu) && gpu[0] == 4, "the node with fewer GPUs first");
	ok(gpus_take(&s.g, 0, 4, gpu) && gpu[0] == 0, "so that four fit on the other");
	ok(s.runs[0] == 1 && s.runs[1] == 1, "one runs on each");
	ok(!gpus_take(&s.g, 0, 2, gpu), "two would need two nodes");
}

static void
test_left(void)
{
	struct scene s = {.g = {.n = 6,
			      .gpu = s.gpu,
			      .n_nodes = 2,
			      .group = s.group,
			      .runs = s.runs,
			      .most_runs = 9}};
	const double gpu_s[2] = {40, 10};

	s.gpu[4].type = s.gpu[5].type = 1;
	is_near(gpus_left_s(&s.g, gpu_s, 2, 50, 5), 10, 1e-12, "the fullest type");
	is_near(gpus_left_s(&s.g, gpu_s, 2, 50, 12), 12, 1e-12, "the longest one");
	s.gpu[0].away = s.gpu[1].away = true;
	is_near(gpus_left_s(&s.g, gpu_s, 2, 50, 5), 20, 1e-12, "GPUs that are away");
	s.g.most_runs = 1;
	is_near(
	    gpus_left_s(&s.g, gpu_s, 2, 50, 5), 25, 1e-12, "one after another on a node");
}

int
main(void)
{
	test_random();
	test_fullest();
	test_left();
	return done_testing();
}
