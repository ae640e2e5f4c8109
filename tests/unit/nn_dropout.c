/* What dropout draws: how much, and that it is another draw for each of what it depends on. */
#include <string.h>

#include "nn_help.h"

enum { N = 40, SIZE = 103, CLASSES = 3 };
static const char table[] = "id,op,out,rate\n1,dropout,,0.3\n2,dropout,,0.3\n"
			    "3,linear,,\n4,xent,,\n";

static gv_real sample[N * SIZE];
static int32_t label[N];

/* Which numbers of a row are 0, after one forward. */
static void
mask(struct gv_net *net, size_t row, uint64_t number, bool evaluate, bool *zero,
    gv_real *largest)
{
	struct gv_net_work w = {.last = 4, .evaluate = evaluate};
	gv_real *v = gv_xcalloc(gv_net_row_size(net, row), sizeof(*v));
	size_t i;

	gv_net_load(net, 0, sample, label);
	gv_net_number(net, 0, number);
	gv_net_forward(net, &w);
	gv_net_get_row(net, 0, row, GV_NET_OUTPUT, v);
	*largest = 0;
	for (i = 0; i < N * SIZE; i++) {
		zero[i] = v[i] == 0;
		*largest = v[i] > *largest ? v[i] : *largest;
	}
	free(v);
}

static size_t
count(const bool *zero)
{
	size_t i, n = 0;

	for (i = 0; i < N * SIZE; i++)
		n += zero[i];
	return n;
}

/* Two draws that have nothing to do with each other agree in 58 of 100 places. */
static void
is_other(const bool *a, const bool *b, const char *what)
{
	size_t i, same = 0;

	for (i = 0; i < N * SIZE; i++)
		same += a[i] == b[i];
	ok(same > N * SIZE * 55 / 100 && same < N * SIZE * 61 / 100,
	    "another %s, another draw: %zu of %d as before", what, same, N * SIZE);
}

/* Draws of neighbours, sample by sample and number by number, agree as rarely. */
static void
test_neighbours(const bool *zero)
{
	size_t i, along = 0, across = 0;

	for (i = 0; i + SIZE < N * SIZE; i++) {
		along += zero[i] == zero[i + 1];
		across += zero[i] == zero[i + SIZE];
	}
	ok(along > N * SIZE * 52 / 100 && along < N * SIZE * 61 / 100,
	    "neighbours in a sample: %zu", along);
	ok(across > N * SIZE * 52 / 100 && across < N * SIZE * 61 / 100,
	    "neighbouring samples: %zu", across);
}

int
main(void)
{
	static bool first[N * SIZE], other[N * SIZE];
	struct gv_model m;
	uint64_t seed = 5;
	struct gv_net_config c = {.models = 1, .batch = N, .seed = &seed};
	struct gv_net *net;
	gv_real largest;
	double loss;
	size_t i;

	gv_init("nn_dropout");
	m = help_model(table, 1, 1, SIZE, CLASSES);
	for (i = 0; i < N * SIZE; i++)
		sample[i] = 1;
	net = help_net(&m, c, 0);
	mask(net, 0, 7, false, first, &largest);
	ok(count(first) > N * SIZE * 27 / 100 && count(first) < N * SIZE * 33 / 100,
	    "about three in ten become 0: %zu of %d", count(first), N * SIZE);
	is_near((double)largest, 1 / 0.7, 1e-6, "and the others grow");
	test_neighbours(first);
	mask(net, 0, 7, false, other, &largest);
	ok(memcmp(first, other, sizeof(first)) == 0, "the same again");
	mask(net, 0, 8, false, other, &largest);
	is_other(first, other, "micro-batch");
	mask(net, 1, 7, false, other, &largest);
	for (i = 0; i < N * SIZE; i++)
		other[i] = other[i] && !first[i];
	ok(count(other) > N * SIZE * 18 / 100 && count(other) < N * SIZE * 24 / 100,
	    "another row, another draw");
	mask(net, 1, 7, true, other, &largest);
	ok(count(other) == 0 && largest == 1, "an evaluation leaves all as it is");

	/* a step counts by itself: update 3 of one micro-batch is number 3 */
	gv_net_set_steps(net, 0, 3);
	mask(net, 0, 3, false, first, &largest);
	gv_net_gradient(net, sample, label, &loss);
	{
		gv_real *v = gv_xcalloc(gv_net_row_size(net, 0), sizeof(*v));

		gv_net_get_row(net, 0, 0, GV_NET_OUTPUT, v);
		for (i = 0; i < N * SIZE; i++)
			other[i] = v[i] == 0;
		free(v);
	}
	ok(memcmp(first, other, sizeof(first)) == 0, "a step draws as its number");
	gv_net_free(net);
	seed = 6;
	net = help_net(&m, c, 0);
	mask(net, 0, 3, false, other, &largest);
	is_other(first, other, "seed");
	gv_net_free(net);
	gv_model_free(&m);
	return done_testing();
}
