/*
 * common/sched/rounds: on how many nodes gangs lie, beside every way to cut them.
 */
#include "tap.h"

#include <stdint.h>

#include "rounds_help.h"

static void
seed(uint64_t s)
{
	draws_begin(s, 3, 4);
}

enum { FEW_NODES = 3, FEW_GANGS = 4 };

/*
 * The fewest nodes in all on which gangs i.. can lie, by trying every way to cut each of
 * them: how many GPUs it has on each node.
 */
static size_t
fewest_of_all(size_t *idle, size_t n_pools, const size_t *gang, size_t n, size_t p,
    size_t want, bool begun)
{
	size_t best = SIZE_MAX, k, more;

	if (!begun)
		return n == 0 ? 0
			      : fewest_of_all(idle, n_pools, gang, n, 0, gang[0], true);
	if (want == 0)
		return fewest_of_all(idle, n_pools, gang + 1, n - 1, 0, 0, false);
	if (p == n_pools)
		return SIZE_MAX;
	for (k = 0; k <= idle[p] && k <= want; k++) {
		idle[p] -= k;
		more = fewest_of_all(idle, n_pools, gang, n, p + 1, want - k, true);
		idle[p] += k;
		if (more != SIZE_MAX && more + (k > 0) < best)
			best = more + (k > 0);
	}
	return best;
}

/* How many nodes all jobs lie on, each counted by itself. */
static size_t
count_nodes(const struct world *w, const ptrdiff_t *next)
{
	size_t nodes = 0, m, g;

	for (m = 0; m < w->r.n_jobs; m++) {
		bool used[MAX_POOLS] = {false};

		for (g = 0; g < w->r.n_gpus; g++)
			if (next[g] == (ptrdiff_t)m && !used[w->r.gpu_pool[g]]) {
				used[w->r.gpu_pool[g]] = true;
				nodes++;
			}
	}
	return nodes;
}

/*
 * Several gangs at once: largest first, each on the fullest node that has room, which is
 * the fewest nodes in all but for few cases, and one node more then.
 */
static void
test_nodes_of_all(void)
{
	long looked = 0, more = 0, much_more = 0, whole = 0;
	int trial;

	for (trial = 0; trial < 3000; trial++) {
		size_t gang[FEW_GANGS], idle[FEW_NODES] = {0}, left = 0, n = 0, p, best;
		ptrdiff_t next[MAX_GPUS];
		bool equal = trial % 2 == 0; /* nodes of 4, gangs of 1, 2 and 4 */
		struct world w;

		seed(20000 + (uint64_t)trial);
		world_begin(&w, 1);
		for (p = 0; p < FEW_NODES; p++) {
			world_add_pool(&w, 0, equal ? 4 : 1 + below(6), "n");
			idle[p] = w.pool[p].gpus;
			left += idle[p];
		}
		world_start(&w);
		while (n < FEW_GANGS && left > 0) {
			size_t want = equal ? (size_t)1 << below(3) : 1 + below(6);

			if (want > left)
				break;
			gang[n++] = want;
			left -= want;
			gv_rounds_add(&w.r, want);
			gv_rounds_claim(&w.r, n - 1, 0)->rate = 1;
			gv_rounds_claim(&w.r, n - 1, 0)->share = 1;
			gv_rounds_set_active(&w.r, n - 1, true);
		}
		gv_rounds_plan(&w.r, GV_ROUND_NEW, w.owner, next);
		best = fewest_of_all(idle, FEW_NODES, gang, n, 0, 0, false);
		looked += n > 0;
		whole += equal && count_nodes(&w, next) != n;
		more += count_nodes(&w, next) > best;
		much_more += count_nodes(&w, next) > best + 1;
		gv_rounds_free(&w.r);
	}
	printf("# gangs on more nodes than need be: %ld of %ld clusters\n", more, looked);
	is_int(whole, 0, "gangs that are powers of two lie on one node each");
	ok(more * 50 <= looked && much_more == 0,
	    "several gangs lie on as few nodes as they can, but for one more in 2 %% of "
	    "clusters");
}

int
main(void)
{
	test_nodes_of_all();
	return done_testing();
}
