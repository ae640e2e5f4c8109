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
		by_hand(&w, given, out);
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

/* Which elements a member is given, and which it has in the end. */
static void
test_counts(void)
{
	struct gv_tree tree = {.root = 1};
	struct gv_trees t = {.n = N, .tree = &tree, .n_trees = 1};
	struct check_what w = {&t, GV_COLL_FLOAT, GV_COLL_SUM, 0, COUNT};
	int of;

	for (of = 0; of < GV_COLLECTIVES; of++)
		for (w.rank = 0; w.rank < N; w.rank++) {
			bool root = w.rank == 1;

			t.collective = (enum gv_collective)of;
			is_int((long long)check_given(&w),
			    of == GV_BROADCAST        ? root * COUNT
			    : of == GV_REDUCE_SCATTER ? N * COUNT
						      : COUNT,
			    "%s: given to %d", gv_collective_name[of], w.rank);
			is_int((long long)check_wanted(&w),
			    of == GV_REDUCE       ? root * COUNT
			    : of == GV_ALL_GATHER ? N * COUNT
						  : COUNT,
			    "%s: wanted of %d", gv_collective_name[of], w.rank);
		}
}

/* Small whole numbers of both signs, the same in both types. */
static void
test_values(void)
{
	static double d[N * COUNT];
	static float f[N * COUNT];
	struct gv_trees t = {.collective = GV_ALL_REDUCE, .n = N};
	struct check_what w = {&t, GV_COLL_FLOAT, GV_COLL_SUM, 2, COUNT};
	double least = 0, most = 0;
	size_t i, other = 0;

	check_fill(&w, f);
	w.type = GV_COLL_DOUBLE;
	check_fill(&w, d);
	for (i = 0; i < COUNT; i++) {
		other +=
		    d[i] < (double)f[i] || d[i] > (double)f[i] || f[i] != rintf(f[i]);
		least = fmin(least, d[i]);
		most = fmax(most, d[i]);
	}
	is_int((long long)other, 0, "values are whole numbers, the same in both types");
	ok(least == -20 && most == 40, "from %g to %g", least, most);
	ok(d[0] == 26 - 20 && d[1] == 33 - 20 && d[1021] == d[0] && d[61] == d[0],
	    "of an element and a rank");
	for (i = 0; i < COUNT; i++)
		d[i] = 0;
	for (w.rank = 0; w.rank < N; w.rank++) {
		w.type = GV_COLL_FLOAT;
		check_fill(&w, f);
		for (i = 0; i < COUNT; i++)
			d[i] += (double)f[i];
		w.type = GV_COLL_DOUBLE;
	}
	w.rank = 0;
	is_int((long long)check_wrong(&w, d), 0, "sums in double");
	d[COUNT - 1] += .5;
	is_int((long long)check_wrong(&w, d), 1, "and one that is none");
	check_spoil(&w, d);
	is_int((long long)check_wrong(&w, d), COUNT, "and none that are written");
}

int
main(void)
{
	int of, op;

	for (of = 0; of < GV_COLLECTIVES; of++)
		for (op = 0; op < GV_COLL_OPS; op++)
			try((enum gv_collective)of, (enum gv_coll_op)op);
	test_counts();
	test_values();
	return done_testing();
}
