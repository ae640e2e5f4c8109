/* Timing a net's rows: what it adds up to, and that it changes nothing. */
#include "base/clock.h"
#include "nn_help.h"

#define HEAD "id,op,from,out,k,s,p,g,act,bias\n"
static const char table[] =
    HEAD "1,conv,,24,3,1,1,,,\n2,bn,,,,,,,relu,\n3,maxpool,,,2,,,,,\n"
	 "4,linear,,150,,,,,relu,\n5,linear,,,,,,,,\n6,xent,,,,,,,,\n";
enum { ROWS = 6, BATCH = 32, STEPS = 6, SIZE = 16 * 16, CLASSES = 10 };

static gv_real x[BATCH * SIZE];
static int32_t label[BATCH];

static double
sum(const struct gv_net_times *t)
{
	double s = 0;
	size_t k;

	for (k = 0; k < ROWS; k++)
		s += t[k].forward_s + t[k].backward_s + t[k].update_s;
	return s;
}

/* Steps of a timed net beside one that is not. */
static void
compare(const struct gv_model *m, size_t threads)
{
	struct gv_net_config c = {
	    .models = 2, .batch = BATCH, .backend = gv_cpu_new(threads)};
	struct gv_net *timed = help_net(m, c, 0), *plain;
	struct gv_net_times t[ROWS] = {{0}}, before[ROWS];
	double loss[2], wall = 0;
	size_t k;

	c.backend = gv_cpu_new(threads);
	plain = help_net(m, c, 0);
	gv_net_time(timed, t);
	for (k = 0; k < STEPS; k++) {
		double start = gv_clock_s();

		gv_net_step(timed, x, label, loss);
		wall += gv_clock_s() - start;
		gv_net_step(plain, x, label, loss);
	}
	ok(help_differences(timed, 0, plain, 0) + help_differences(timed, 1, plain, 1) ==
		0,
	    "%zu threads: the same bits", threads);
	ok(sum(t) <= wall && sum(t) > 0.75 * wall,
	    "%zu threads: %g s of %g s are of rows", threads, sum(t), wall);
	for (k = 0; k < ROWS; k++)
		ok(t[k].forward_s > 0 && t[k].backward_s > 0 &&
			(t[k].update_s > 0) == (m->layer[k].weights > 0),
		    "%zu threads: row %zu: forward %g s, backward %g s, update %g s",
		    threads, k + 1, t[k].forward_s, t[k].backward_s, t[k].update_s);
	memcpy(before, t, sizeof(t));
	gv_net_eval(timed, x, label, BATCH, NULL, loss, NULL);
	ok(memcmp(before, t, sizeof(t)) == 0, "%zu threads: an evaluation is not timed",
	    threads);
	gv_net_step(timed, x, label, loss);
	ok(sum(t) > sum(before), "%zu threads: steps behind it are", threads);
	memcpy(before, t, sizeof(t));
	gv_net_time(timed, NULL);
	gv_net_step(timed, x, label, loss);
	ok(memcmp(before, t, sizeof(t)) == 0, "%zu threads: no more", threads);
	gv_net_free(timed);
	gv_net_free(plain);
}

/* A row of 16 times the work takes more. */
static void
large_row(void)
{
	struct gv_model m = help_model(HEAD
	    "1,linear,,800,,,,,,\n2,linear,,16,,,,,,\n3,linear,,,,,,,,\n4,xent,,,,,,,,\n",
	    16, 16, 1, CLASSES);
	struct gv_net_config c = {.models = 1, .batch = BATCH};
	struct gv_net *net = help_net(&m, c, 0);
	struct gv_net_times t[4] = {{0}};
	bool more = false;
	double loss[1];
	size_t k, tries;

	gv_net_time(net, t);
	for (tries = 0; tries < 20 && !more;
	     tries++) { /* others may have the processor */
		memset(t, 0, sizeof(t));
		for (k = 0; k < 20; k++)
			gv_net_step(net, x, label, loss);
		more = t[0].forward_s > 4 * t[1].forward_s &&
		       t[0].update_s > 4 * t[1].update_s;
	}
	ok(more, "16 times the work: forward %g s and %g s, update %g s and %g s",
	    t[0].forward_s, t[1].forward_s, t[0].update_s, t[1].update_s);
	gv_net_free(net);
	gv_model_free(&m);
}

/* What a pass finds made is no part of it. */
static void
prepared(const struct gv_model *m)
{
	struct gv_net_config c = {.models = 1, .batch = BATCH};
	struct gv_net *net = help_net(m, c, 0);
	struct gv_net_times made[ROWS] = {{0}}, passed[ROWS] = {{0}};
	struct gv_net_work w = {.last = ROWS};
	size_t k;

	gv_net_load(net, 0, x, label);
	gv_net_time(net, made);
	ok(gv_net_prepare(net, &w) == 0, "weights are prepared");
	gv_net_time(net, passed);
	ok(gv_net_forward(net, &w) == 0 && gv_net_backward(net, &w) == 0, "and used");
	gv_net_time(net, NULL);
	for (k = 0; k < ROWS; k++) {
		ok(!(made[k].forward_s + made[k].backward_s > 0) &&
			!(passed[k].update_s > 0) && passed[k].forward_s > 0,
		    "row %zu: once, before the passes", k + 1);
		/* linear of so few samples takes its weights as they lie */
		ok((made[k].update_s > 0) == (m->layer[k].weights > m->layer[k].biases &&
						 m->layer[k].op != GV_OP_LINEAR),
		    "row %zu: where it has a matrix that is packed", k + 1);
	}
	gv_net_free(net);
}

int
main(void)
{
	struct gv_model m;
	size_t threads;

	gv_init("nn_times");
	m = help_model(table, 16, 16, 1, CLASSES);
	help_batch(x, label, BATCH, SIZE, CLASSES, 0);
	for (threads = 1; threads <= 3; threads += 2)
		compare(&m, threads);
	large_row();
	prepared(&m);
	gv_model_free(&m);
	return done_testing();
}
