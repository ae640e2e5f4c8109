/*
 * Cuts into equal stages against trying every chain of prefixes, on random graphs of up to 9
 * layers; what is told of the progress is all of it.
 */
#include <stdlib.h>

#include "gv-partition/two_bw/two_bw.h"
#include "partition_help.h"
#include "tap.h"

/* ---- trying everything ---- */

struct best {
	double slowest, bytes;
};

/* The best of depth stages behind prefix i; slowest, bytes: of those before. */
static void
try_all(const struct ideals *s, size_t i, size_t depth, struct best so_far, double limit,
    struct best *best)
{
	size_t k;

	if (depth == 0) {
		if (i + 1 == s->n && so_far.slowest < best->slowest)
			best->slowest = so_far.slowest;
		if (i + 1 == s->n && so_far.slowest <= limit &&
		    so_far.bytes < best->bytes)
			best->bytes = so_far.bytes;
		return;
	}
	for (k = i + 1; k < s->n; k++)
		if (ideals_sub(s, i, k))
			try_all(s, k, depth - 1,
			    (struct best){
				fmax(so_far.slowest, s->time_s[k] - s->time_s[i]),
				so_far.bytes + s->out[k]},
			    limit, best);
}

/* The fastest slowest stage, and the least bytes at it. */
static struct best
best_of(const struct ideals *s, size_t depth)
{
	struct best best = {INFINITY, INFINITY}, none = {0, 0};

	try_all(s, 0, depth, none, -1, &best);
	if (!isinf(best.slowest))
		try_all(s, 0, depth, none, best.slowest * (1 + 1e-12), &best);
	return best;
}

static struct best
value_of(const struct ideals *s, const size_t *at, size_t depth)
{
	struct best b = {0, 0};
	size_t k;

	for (k = 0; k < depth; k++) {
		if (!ideals_sub(s, at[k], at[k + 1]))
			return (struct best){INFINITY, INFINITY};
		b.slowest = fmax(b.slowest, s->time_s[at[k + 1]] - s->time_s[at[k]]);
		b.bytes += s->out[at[k + 1]];
	}
	return b;
}

/* ---- what is told ---- */

static size_t told_n, told_of, told_wrong;

static void
told(size_t done, size_t of)
{
	told_wrong += done != told_n++ || done >= of || (told_of != 0 && of != told_of);
	told_of = of;
}

/* ---- the tests ---- */

static void
draw_graph(struct dag *d, size_t n)
{
	size_t density = draw(8), i;

	memset(d, 0, sizeof(*d));
	dag_begin(d, n);
	for (i = 0; i < n; i++) {
		/* few different times, so that many cuts are as good */
		d->layer[i].time_s =
		    .125 * (double)(1 + draw(4)) + 1e-9 * (double)draw(2);
		d->layer[i].activation = (double)draw(5);
		dag_draw_edges(d, i, density);
	}
}

int
main(void)
{
	size_t trial, d, wrong = 0, heavy = 0, shallow = 0, stages = 0, unfinished = 0,
			 unfreed = 0;

	gv_init("gv-partition.two_bw");
	for (trial = 0; trial < 1500; trial++) {
		struct two_bw_cuts c;
		struct ideals s;
		struct dag g;
		size_t n, most, deepest = 0;

		draws_begin(7, (uint32_t)trial, 0);
		n = 1 + draw(6);
		most = draw(9);
		draw_graph(&g, n);
		if (ideals_make(&s, &g.g, IDEALS_ALL, NULL, 0, 4000) != 0)
			gv_die("no prefixes");
		told_n = told_of = 0;
		memset(&c, 0x55, sizeof(c));
		two_bw_cuts_make(&c, &s, most, told);
		for (d = 1; d <= most; d++) {
			struct best best = best_of(&s, d), is;

			if (isinf(best.slowest))
				break;
			deepest = d;
			if (d > c.deepest)
				continue;
			is = value_of(&s, c.at[d], d);
			wrong += c.at[d][0] != 0 || c.at[d][d] != s.n - 1 ||
				 !(is.slowest <= best.slowest * (1 + 1e-12));
			heavy += !(is.bytes <= best.bytes);
			stages++;
		}
		shallow += c.deepest != deepest;
		/* depths that there are not are not looked for */
		unfinished += deepest > 0 && (deepest == most || deepest == s.n - 1) &&
			      (told_n == 0 || told_n != told_of);
		two_bw_cuts_free(&c);
		unfreed += c.deepest != 0 || c.at != NULL;
		ideals_free(&s);
	}
	is_int(shallow, 0, "as many stages as the prefixes allow");
	is_int(wrong, 0, "the slowest stage of %zu cuts is as fast as any", stages);
	is_int(heavy, 0, "and as few bytes cross as can");
	is_int(told_wrong, 0, "passes are told in order, of as many as before");
	is_int(unfinished, 0, "all of them");
	is_int(unfreed, 0, "and nothing is left");
	ok(stages > 3000, "%zu cuts", stages);
	return done_testing();
}
