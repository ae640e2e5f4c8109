/* gv-comm's check: what is right passes, each kind of wrong element is found. */
#include <stdlib.h>

#include "base/mem.h"
#include "gv-comm/check.h"
#include "tap.h"

enum { N = 3, COUNT = 5000 };

/* What member rank has in the end, element by element from what all were given. */
static void
by_hand(const struct check_what *w, float *given[N], float *out)
{
	size_t n = check_wanted(w), i;
	enum gv_collective of = w->trees->collective;

	for (i = 0; i < n; i++) {
		size_t at = of == GV_REDUCE_SCATTER ? (size_t)w->rank * COUNT + i : i;
		int r;

		if (of == GV_BROADCAST) {
			out[i] = given[w->trees->tree[0].root][i];
			continue;
		}
		if (of == GV_ALL_GATHER) {
			out[i] = given[i / COUNT][i % COUNT];
			continue;
		}
		out[i] = given[0][at];
		for (r = 1; r < N; r++)
			out[i] = w->op == GV_COLL_SUM   ? out[i] + given[r][at]
				 : w->op == GV_COLL_MAX ? fmaxf(out[i], given[r][at])
							: fminf(out[i], given[r][at]);
	}
}

static void
try(enum gv_collective of, enum gv_coll_op op)
{
	struct gv_tree tree = {.root = 1};
	struct gv_trees t = {.collective = of, .n = N, .tree = &tree, .n_trees = 1};
	struct check_what w = {&t, GV_COLL_FLOAT, op, 0, COUNT};
	float *given[N], *out = gv_xcalloc(N * COUNT, sizeof(*out));
	size_t right = 0, spoilt = 0, one = 0, swapped = 0;

	for (w.rank = 0; w.rank < N; w.rank++) {
		given[w.rank] = gv_xcalloc(N * COUNT, sizeof(float));
		check_fill(&w, given[w.rank]);
	}
	for (w.rank = 0; w.rank < N; w.rank++) {
		size_t n = check_wanted(&w);
		float was;

		by_hand(&w, given, out);
		right += check_wrong(&w, out) == 0;
		if (n == 0)
			continue;
		was = out[n - 1];
		out[n - 1] += 1;
		one += check_wrong(&w, out) == 1;
		out[n - 1] = was;
		/* chunks of 1024 in each other's place */
		memmove(out, out + 1024, 1024 * sizeof(*out));
		swapped += check_wrong(&w, out) > 500;
		check_spoil(&w, out);
		spoilt += check_wrong(&w, out) == n;
	}
	is_int(right, N, "%s, %s: what is right passes", gv_collective_name[of],
	    gv_coll_op_name[op]);
	is_int(one, of == GV_REDUCE ? 1 : N, "one wrong element is found");
	is_int(swapped, of == GV_REDUCE ? 1 : N, "a chunk in another's place is found");
	is_int(spoilt, of == GV_REDUCE ? 1 : N, "nothing that was not written passes");
	for (w.rank = 0; w.rank < N; w.rank++)
		free(given[w.rank]);
	free(out);
}

int
main(void)
{
	int of, op;

	for (of = 0; of < GV_COLLECTIVES; of++)
		for (op = 0; op < GV_COLL_OPS; op++)
			try((enum gv_collective)of, (enum gv_coll_op)op);
	return done_testing();
}
