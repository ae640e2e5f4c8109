/* Weights of trees in whole numbers: which are taken, by hand. */
#include "tap.h"

#define packing_colgen  colgen_here
#define packing_relayed relayed_here
#include "../../cmd/gv-tree/packing/colgen.c"

/* Three GPUs and a switch; GPUs 0 and 1 are joined over it, too. */
struct scene {
	struct fabric f;
	struct program p;
	int64_t cap[16];
	int64_t weight[3];
};

static size_t about[] = {0, 3, 1}; /* the way over the switch */

/* With these capacities of 0-1, 0-2, 1-2, 0-3 and 1-3; 0: no such link. */
static void
begin(struct scene *s, const int64_t cap[5])
{
	static const size_t pair[5][2] = {{0, 1}, {0, 2}, {1, 2}, {0, 3}, {1, 3}};
	size_t i;

	*s = (struct scene){.f = {.n = 4, .n_gpus = 3, .unit = 1}};
	s->f.cap = s->cap;
	for (i = 0; i < 5; i++)
		s->cap[pair[i][0] * 4 + pair[i][1]] =
		    s->cap[pair[i][1] * 4 + pair[i][0]] = cap[i];
	start(&s->p, &s->f);
}

/* A tree of two ways; a way of 0-1 goes over the switch when over. */
static void
tree(struct scene *s, size_t a, size_t b, size_t c, size_t d, bool over)
{
	struct program *p = &s->p;
	size_t column = p->lp.n_cols;

	p->tree = gv_xgrow(p->tree, &p->cap_tree, (column + 1) * 2, sizeof(*p->tree));
	p->tree[column * 2] = (struct way){.u = a, .v = b, .n = 2};
	if (over)
		p->tree[column * 2] = (struct way){.u = a, .v = b, .n = 3, .node = about};
	p->tree[column * 2 + 1] = (struct way){.u = c, .v = d, .n = 2};
	gv_lp_add_col(&p->lp, 0, INFINITY, 1);
}

static bool
takes(
    struct scene *s, const double *x, int64_t under, struct ratio strength, double total)
{
	return exact_weights(&s->p, x, under, strength, total, s->weight);
}

/* Links of one unit, all three trees: 3/2 units. */
static void
test_triangle(void)
{
	const struct ratio strength = {3, 2}, none = {0, 1};
	const double half[] = {.5, .5, .5}, two[] = {.5, .5, 0}, off[] = {.4, .6, .5};
	struct scene s;

	begin(&s, (const int64_t[]){1, 1, 1, 0, 0});
	tree(&s, 0, 1, 0, 2, false);
	tree(&s, 0, 1, 1, 2, false);
	tree(&s, 0, 2, 1, 2, false);
	ok(takes(&s, half, 2, strength, 0), "three halves are the strength");
	ok(s.weight[0] == 1 && s.weight[1] == 1 && s.weight[2] == 1,
	    "one each, over two");
	ok(takes(&s, off, 2, strength, 0), "what rounds to them is taken, too");
	ok(takes(&s, half, 2, none, 1.5), "so they are where only the total is known");
	ok(takes(&s, half, 2, none, 1.5 * (1 + 5e-10)), "to nine digits");
	ok(!takes(&s, half, 2, none, 1.5 * (1 + 4e-9)), "but less is not taken");
	ok(!takes(&s, two, 2, strength, 0), "nor is less than the strength");
	ok(takes(&s, two, 2, none, 1), "two halves are a total of 1");
	ok(!takes(&s, half, 1, strength, 0), "over one, links carry two");
	ok(!takes(&s, half, 1, none, 1.5), "which they cannot");
	ok(!takes(&s, half, 1, (struct ratio){3, 1}, 0), "even where the sum is right");
	end(&s.p);
}

/* One link after the other is too small for one tree. */
static void
test_each_link(void)
{
	const double one[] = {2};
	size_t i, over, wrong = 0;

	for (over = 0; over < 2; over++)
		for (i = 0; i < 5; i++) {
			int64_t cap[5] = {2, 2, 2, 2, 2};
			bool passed = over != 0 ? i != 0 && i != 1 : i == 0 || i == 2;
			struct scene s;

			cap[i] = 1;
			begin(&s, cap);
			tree(&s, 0, 1, 1, 2, over != 0);
			wrong += takes(&s, one, 1, (struct ratio){0, 1}, 2) == passed;
			wrong += takes(&s, one, 1, (struct ratio){2, 1}, 0) == passed;
			end(&s.p);
		}
	is_int(
	    wrong, 0, "each link that a tree passes must carry it, about switches too");
}

int
main(void)
{
	test_triangle();
	test_each_link();
	return done_testing();
}
