/*
 * The same bits whatever the threads, the ranks of a gang and the number of
 * models in the array; and nothing of one model reaches another.
 */
#include <pthread.h>

#include "nn/cpu/gemm.h"
#include "nn_nets.h"

enum { MODELS = 3 };

static const enum gv_optimiser optimisers[] = {GV_SGD, GV_ADAM, GV_ADAMW};
static const char *const optimiser_names[] = {"sgd", "adam", "adamw"};

/* Trains net for the case's steps; the losses of the last step go to loss. */
static void
train(
    struct gv_net *net, const struct gv_model *m, const struct net_case *c, double *loss)
{
	size_t size = gv_shape_size(m->input), first, n, k;
	gv_real *x = gv_xcalloc(c->batch * size, sizeof(*x));
	size_t bytes = help_target_bytes(m);
	char *target = gv_xcalloc(c->batch, bytes);

	gv_net_rows(net, &first, &n);
	for (k = 0; k < c->steps; k++) {
		help_samples(m, x, target, c->batch, k);
		if (gv_net_step(net, x + first * size, target + first * bytes, loss) != 0)
			gv_die("a step failed");
	}
	free(x);
	free(target);
}

/* ---- gangs: threads that meet at a barrier stand for processes ---- */

enum { RANKS = 4 };

struct gang {
	pthread_barrier_t barrier;
	size_t ranks;
	gv_real *v[RANKS];
};

struct member {
	struct gang *gang;
	size_t rank;
	struct gv_net *net;
	const struct gv_model *m;
	const struct net_case *c;
	double loss[MODELS];
};

/* (v0 + v1) + (v2 + v3), into all */
static int
reduce(void *ctx, gv_real *v, size_t n)
{
	struct member *me = ctx;
	struct gang *g = me->gang;
	size_t step, r, i;

	g->v[me->rank] = v;
	pthread_barrier_wait(&g->barrier);
	if (me->rank == 0) {
		for (step = 1; step < g->ranks; step *= 2)
			for (r = 0; r < g->ranks; r += 2 * step)
				for (i = 0; i < n; i++)
					g->v[r][i] += g->v[r + step][i];
		for (r = 1; r < g->ranks; r++)
			memcpy(g->v[r], g->v[0], n * sizeof(*v));
	}
	pthread_barrier_wait(&g->barrier);
	return 0;
}

static void *
member(void *arg)
{
	struct member *me = arg;

	train(me->net, me->m, me->c, me->loss);
	return NULL;
}

/* A gang trains; its members must be like net. */
static void
test_gang(const struct net_case *c, const struct gv_model *m, struct gv_net_config config,
    struct gv_net *net, const double *loss, size_t ranks, const char *optimiser)
{
	struct gang gang = {.ranks = ranks};
	struct member all[RANKS] = {0};
	pthread_t id[RANKS];
	size_t r, b, wrong = 0;

	pthread_barrier_init(&gang.barrier, NULL, (unsigned)ranks);
	for (r = 0; r < ranks; r++) {
		config.ranks = ranks;
		config.rank = r;
		config.reduce = reduce;
		config.ctx = &all[r];
		all[r].gang = &gang;
		all[r].rank = r;
		all[r].m = m;
		all[r].c = c;
		all[r].net = help_net(m, config, 0);
		pthread_create(&id[r], NULL, member, &all[r]);
	}
	for (r = 0; r < ranks; r++)
		pthread_join(id[r], NULL);
	for (r = 0; r < ranks; r++) {
		for (b = 0; b < config.models; b++)
			wrong += help_differences(net, b, all[r].net, b) +
				 (memcmp(&loss[b], &all[r].loss[b], sizeof(*loss)) != 0);
		gv_net_free(all[r].net);
	}
	is_int(wrong, 0, "%s, %s: %zu ranks as one process", c->name, optimiser, ranks);
	pthread_barrier_destroy(&gang.barrier);
}

static void
test_threads(const struct net_case *c, const struct gv_model *m,
    struct gv_net_config config, struct gv_net *net, const double *loss, size_t threads,
    const char *optimiser)
{
	double other_loss[MODELS];
	struct gv_net *other;
	size_t b, wrong = 0;

	config.backend = gv_cpu_new(threads);
	other = help_net(m, config, 0);
	train(other, m, c, other_loss);
	for (b = 0; b < config.models; b++)
		wrong += help_differences(net, b, other, b) +
			 (memcmp(&loss[b], &other_loss[b], sizeof(*loss)) != 0);
	is_int(wrong, 0, "%s, %s: %zu threads as one", c->name, optimiser, threads);
	gv_net_free(other);
}

/* Each model of the array, alone. */
static void
test_alone(const struct net_case *c, const struct gv_model *m,
    struct gv_net_config config, struct gv_net *net, const double *loss,
    const char *optimiser)
{
	size_t b, wrong = 0, models = config.models;

	config.models = 1;
	for (b = 0; b < models; b++) {
		double alone_loss;
		struct gv_net *alone = help_net(m, config, b);

		train(alone, m, c, &alone_loss);
		wrong += help_differences(net, b, alone, 0) +
			 (memcmp(&loss[b], &alone_loss, sizeof(alone_loss)) != 0);
		gv_net_free(alone);
	}
	is_int(wrong, 0, "%s, %s: an array of %zu as %zu models alone", c->name,
	    optimiser, models, models);
}

/* A model alone, whose gradients threads share otherwise than those of an array. */
static void
test_shared(const struct net_case *c, const struct gv_model *m,
    struct gv_net_config config, struct gv_net *net, const double *loss, size_t threads,
    const char *optimiser)
{
	double alone_loss;
	struct gv_net *alone;

	config.models = 1;
	config.backend = gv_cpu_new(threads);
	alone = help_net(m, config, 0);
	train(alone, m, c, &alone_loss);
	is_int(help_differences(net, 0, alone, 0) +
		   (memcmp(&loss[0], &alone_loss, sizeof(alone_loss)) != 0),
	    0, "%s, %s: one model by %zu threads", c->name, optimiser, threads);
	gv_net_free(alone);
}

static void
test_same(const struct net_case *c, size_t o)
{
	struct gv_model m =
	    help_model(c->table, c->height, c->width, c->channels, c->classes);
	struct gv_net_config config = {.models = MODELS,
	    .batch = c->batch,
	    .shards = c->shards,
	    .optimiser = optimisers[o]};
	struct gv_net *net = help_net(&m, config, 0);
	double loss[MODELS];
	struct gv_net_array a;
	size_t i, k, still = 0;

	train(net, &m, c, loss);
	gv_net_array(net, 0, &a);
	for (i = 0; i < MODELS; i++) {
		gv_real *v = help_array(net, 0, i);

		for (k = 0; k < a.n; k++)
			still += !isfinite(v[k]);
		free(v);
	}
	is_int(still, 0, "%s, %s: numbers stay finite", c->name, optimiser_names[o]);
	ok(help_differences(net, 0, net, 1) > a.n / 2, "%s, %s: the models differ",
	    c->name, optimiser_names[o]);
	test_threads(c, &m, config, net, loss, 2, optimiser_names[o]);
	test_threads(c, &m, config, net, loss, 3, optimiser_names[o]);
	test_gang(c, &m, config, net, loss, 2, optimiser_names[o]);
	test_gang(c, &m, config, net, loss, 4, optimiser_names[o]);
	test_alone(c, &m, config, net, loss, optimiser_names[o]);
	test_shared(c, &m, config, net, loss, 2, optimiser_names[o]);
	test_shared(c, &m, config, net, loss, 3, optimiser_names[o]);
	test_shared(c, &m, config, net, loss, 5, optimiser_names[o]);
	gv_net_free(net);
	gv_model_free(&m);
}

/* The kernels of matrix products train alike. */
static void
test_kernels(const struct net_case *c)
{
	struct gv_model m =
	    help_model(c->table, c->height, c->width, c->channels, c->classes);
	struct gv_net_config config = {
	    .models = MODELS, .batch = c->batch, .shards = c->shards};
	struct gv_net *net, *other;
	double loss[MODELS], other_loss[MODELS];
	size_t b, wrong = 0;

	if (!gv_cpu_gemm_use("avx512")) {
		skip("no avx512 on this CPU");
		gv_model_free(&m);
		return;
	}
	net = help_net(&m, config, 0);
	train(net, &m, c, loss);
	gv_cpu_gemm_use("avx2");
	other = help_net(&m, config, 0);
	train(other, &m, c, other_loss);
	for (b = 0; b < MODELS; b++)
		wrong += help_differences(net, b, other, b) + (loss[b] != other_loss[b]);
	is_int(wrong, 0, "%s: avx2 as avx512", c->name);
	gv_net_free(net);
	gv_net_free(other);
	gv_cpu_gemm_use(NULL);
	gv_model_free(&m);
}

/* Model 0 blows up; the others are as if alone. */
static void
test_nan(const struct net_case *c)
{
	struct gv_model m =
	    help_model(c->table, c->height, c->width, c->channels, c->classes);
	struct gv_net_config config = {
	    .models = MODELS, .batch = c->batch, .shards = c->shards};
	struct gv_net *net, *healthy;
	double loss[MODELS], healthy_loss[MODELS];
	struct gv_net_array a;
	struct gv_net_coef coef;
	size_t i, nans = 0;
	gv_real *v;

	config.backend = gv_cpu_new(2);
	net = help_net(&m, config, 0);
	config.backend = gv_cpu_new(2);
	healthy = help_net(&m, config, 0);
	coef = gv_net_coef(net, 0);
	coef.lr = 1e9;
	gv_net_set_coef(net, 0, &coef);
	train(net, &m, c, loss);
	train(healthy, &m, c, healthy_loss);
	gv_net_array(net, 0, &a);
	v = help_array(net, 0, 0);
	for (i = 0; i < a.n; i++)
		nans += !isfinite(v[i]);
	free(v);
	ok(nans > 0 && !isfinite(loss[0]), "%s: model 0 diverges", c->name);
	is_int(
	    help_differences(net, 1, healthy, 1) + help_differences(net, 2, healthy, 2),
	    0, "%s: the others do not notice", c->name);
	ok(memcmp(loss + 1, healthy_loss + 1, 2 * sizeof(*loss)) == 0,
	    "%s: nor do their losses", c->name);
	gv_net_free(net);
	gv_net_free(healthy);
	gv_model_free(&m);
}

/* E6: a model that stops earlier is like one that was trained for fewer steps. */
static void
test_stops(const struct net_case *c)
{
	struct gv_model m =
	    help_model(c->table, c->height, c->width, c->channels, c->classes);
	struct gv_net_config config = {
	    .models = MODELS, .batch = c->batch, .shards = c->shards};
	struct gv_net *net = help_net(&m, config, 0), *whole = help_net(&m, config, 0),
		      *part;
	struct net_case some = *c;
	double loss[MODELS], last[MODELS];
	size_t size = gv_shape_size(m.input), k;
	gv_real *x = gv_xcalloc(c->batch * size, sizeof(*x));
	size_t bytes = help_target_bytes(&m);
	char *target = gv_xcalloc(c->batch, bytes);

	some.steps = c->steps / 2;
	part = help_net(&m, config, 0);
	train(part, &m, &some, loss);
	train(whole, &m, c, loss);
	train(net, &m, &some, loss);
	gv_net_set_active(net, 1, false);
	ok(!gv_net_active(net, 1) && gv_net_active(net, 2), "%s: model 1 is stopped",
	    c->name);
	for (k = some.steps; k < c->steps; k++) {
		help_samples(&m, x, target, c->batch, k);
		gv_net_step(net, x, target, last);
	}
	ok(isnan(last[1]), "%s: a stopped model has no loss", c->name);
	is_int(help_differences(net, 1, part, 1), 0, "%s: it stays as it was", c->name);
	is_int(help_differences(net, 0, whole, 0) + help_differences(net, 2, whole, 2), 0,
	    "%s: the others go on", c->name);
	gv_net_free(net);
	gv_net_free(whole);
	gv_net_free(part);
	gv_model_free(&m);
	free(x);
	free(target);
}

/* A net whose arrays and steps are copied goes on as the other would. */
static void
test_copy(const struct net_case *c, size_t o)
{
	struct gv_model m =
	    help_model(c->table, c->height, c->width, c->channels, c->classes);
	struct gv_net_config config = {.models = MODELS,
	    .batch = c->batch,
	    .shards = c->shards,
	    .optimiser = optimisers[o]};
	struct gv_net *net = help_net(&m, config, 0), *other = help_net(&m, config, 0);
	double loss[MODELS], other_loss[MODELS];
	size_t i, wrong = 0;

	train(net, &m, c, loss);
	help_copy(other, net, MODELS);
	train(net, &m, c, loss);
	train(other, &m, c, other_loss);
	for (i = 0; i < MODELS; i++)
		wrong += help_differences(net, i, other, i) + (loss[i] != other_loss[i]);
	is_int(wrong, 0, "%s, %s: a copy of arrays and steps goes on the same", c->name,
	    optimiser_names[o]);
	gv_net_free(net);
	gv_net_free(other);
	gv_model_free(&m);
}

/* Evaluation: the same for any threads, ranks, and however it is cut. */
static void
test_eval(const struct net_case *c)
{
	enum { SAMPLES = 61 };
	struct gv_model m =
	    help_model(c->table, c->height, c->width, c->channels, c->classes);
	struct gv_net_config config = {
	    .models = MODELS, .batch = c->batch, .shards = c->shards};
	struct gv_net *net = help_net(&m, config, 0), *other;
	size_t size = gv_shape_size(m.input), i, j, b, hits, correct[MODELS],
	       other_correct[MODELS];
	gv_real *x = gv_xcalloc(SAMPLES * size, sizeof(*x));
	gv_real *logits = gv_xcalloc(MODELS * SAMPLES * c->classes, sizeof(*x));
	gv_real *one = gv_xcalloc(MODELS * c->classes, sizeof(*x));
	int32_t label[SAMPLES];
	double loss[MODELS], other_loss[MODELS], sum;
	size_t wrong = 0;

	train(net, &m, c, loss);
	config.backend = gv_cpu_new(3);
	config.ranks = 2;
	config.rank = 1;
	config.reduce = reduce;
	other = help_net(&m, config, 0);
	help_copy(other, net, MODELS);
	help_batch(x, label, SAMPLES, size, c->classes, 999);
	gv_net_eval(net, x, label, SAMPLES, correct, loss, logits);
	gv_net_eval(other, x, label, SAMPLES, other_correct, other_loss, NULL);
	ok(memcmp(loss, other_loss, sizeof(loss)) == 0 &&
		memcmp(correct, other_correct, sizeof(correct)) == 0,
	    "%s: a member of a gang evaluates the same", c->name);
	for (i = 0; i < SAMPLES; i++) {
		gv_net_eval(net, x + i * size, NULL, 1, NULL, NULL, one);
		for (b = 0; b < MODELS; b++)
			wrong += memcmp(one + b * c->classes,
				     logits + (b * SAMPLES + i) * c->classes,
				     c->classes * sizeof(*one)) != 0;
	}
	is_int(wrong, 0, "%s: sample by sample as all at once", c->name);
	for (b = 0; b < MODELS; b++) {
		for (hits = 0, sum = 0, i = 0; i < SAMPLES; i++) {
			const gv_real *v = logits + (b * SAMPLES + i) * c->classes;
			double z = 0;
			size_t best = 0;

			for (j = 0; j < c->classes; j++) {
				best = v[j] > v[best] ? j : best;
				z += exp((double)v[j]);
			}
			hits += best == (size_t)label[i];
			sum += log(z) - (double)v[label[i]];
		}
		is_int(correct[b], hits, "%s: model %zu: correct answers", c->name, b);
		is_near(
		    loss[b], sum / SAMPLES, 1e-5, "%s: model %zu: mean loss", c->name, b);
	}
	gv_net_free(net);
	gv_net_free(other);
	gv_model_free(&m);
	free(x);
	free(logits);
	free(one);
}

int
main(void)
{
	size_t i;

	gv_init("nn_same");
	for (i = 0; i < NETS; i++) {
		test_same(&nets[i], 0);
		if (i > 0)
			test_same(&nets[i], i % 2 + 1);
		test_copy(&nets[i], i % 3);
	}
	test_kernels(&nets[1]);
	test_nan(&nets[0]);
	test_nan(&nets[2]);
	test_stops(&nets[2]);
	test_eval(&nets[2]);
	test_eval(&nets[1]);
	return done_testing();
}
