/*
 * Drawn models, cut into stages at drawn rows: pipelines that flush leave the bits of as many
 * nets that are trained alone and whole, of arrays whose models have other samples, steps and
 * coefficients, with tied rows, dropout, clipped gradients and activations made again; and what
 * is tested in them is what these nets say.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "base/shm.h"
#include "drawn_model.h"
#include "gv-train/pipeline/worker.h"
#include "net/local.h"
#include "net/mesh.h"
#include "nn_help.h"

enum {
	MOST_STAGES = 4,
	MOST_REPLICAS = 3,
	MOST_MODELS = 3,
	MOST_STEPS = 4,
	SAMPLES = 24,
	MOST = 3000,
	ARRAYS = 4
};

struct scene {
	struct gv_model m;
	struct stages stages;
	struct stage stage[MOST_STAGES];
	struct route_spec route;
	struct gv_net_config c;
	struct gv_net_coef coef[MOST_MODELS];
	uint64_t seed[MOST_MODELS], steps[MOST_MODELS];
	size_t order_of[MOST_MODELS], tested;
	double tolerance; /* replicas add in another order; 0: all bits are the same */
	gv_real *x;
	char *target;
	struct gv_strbuf table;
};

/* What workers leave: of each model its arrays, losses, and what a test gave. */
struct left {
	gv_real v[MOST_MODELS][ARRAYS][MOST];
	double loss[MOST_STEPS][MOST_MODELS], test_loss[MOST_MODELS];
	size_t correct[MOST_MODELS];
};

static double
rate(void *ctx, size_t model, uint64_t step)
{
	(void)ctx;
	return .05 / (double)(1 + model + step);
}

/* Two orders. */
static void
visit(void *ctx, size_t order, uint64_t micro_batch, uint32_t *sample)
{
	const struct scene *s = ctx;
	size_t i;

	for (i = 0; i < s->c.batch; i++)
		sample[i] = (uint32_t)((micro_batch * s->c.batch + i) *
				       (order == 0 ? 1 : 7) % SAMPLES);
}

static unsigned
flags(void *ctx)
{
	(void)ctx;
	return 0;
}

static struct gv_nn_backend *
device(void *ctx, struct gv_error *e)
{
	(void)ctx;
	(void)e;
	return gv_cpu_new(1);
}

/* ---- workers ---- */

/* Numbers of an array in rows before one. */
static size_t
before(const struct gv_model *m, const char *array, size_t row)
{
	size_t n = 0, i;

	for (i = 0; i < row; i++)
		n += strcmp(array, "running") == 0
			 ? m->layer[i].running
			 : m->layer[i].weights + m->layer[i].biases;
	return n;
}

/* Which of left's an array is. */
static size_t
place_of(const char *array)
{
	return strcmp(array, "running") == 0  ? 1
	       : strcmp(array, "adam_v") == 0 ? 2
	       : strcmp(array, "params") == 0 ? 0
					      : 3;
}

static void
leave_arrays(const struct scene *s, struct gv_net *net, size_t stage, struct left *left)
{
	struct gv_net_array a;
	size_t i, b;

	for (i = 0; gv_net_array(net, i, &a) == 0; i++)
		for (b = 0; b < s->c.models; b++)
			gv_net_get(net, i, b,
			    left->v[b][place_of(a.name)] +
				before(&s->m, a.name, s->stage[stage].first));
}

static void
work(struct scene *s, struct gv_gang *gang, size_t rank, struct left *left)
{
	struct gv_error e = {0};
	struct worker *w;
	struct route route;
	uint64_t step = 0;
	unsigned heard;
	double loss[MOST_MODELS];
	size_t correct[MOST_MODELS], i, stage;
	struct worker_spec how = {.model = &s->m,
	    .stages = &s->stages,
	    .route = &route,
	    .rank = rank,
	    .net = s->c,
	    .tests = true,
	    .x = s->x,
	    .target = s->target,
	    .samples = SAMPLES,
	    .ctx = s,
	    .orders = 2,
	    .order_of = s->order_of,
	    .visit = visit,
	    .steps = s->steps,
	    .rate = rate,
	    .device = device,
	    .flags = flags};

	if (route_make(&route, &s->route, &s->stages, rank, &e) != 0 ||
	    worker_new(&w, &how, &e) != 0)
		gv_die_error(&e);
	worker_begin(w, gang, 0);
	while (step < s->route.steps) {
		uint64_t from = step;

		if (worker_go(w, &heard, &e) != 0)
			gv_die_error(&e);
		step = worker_step(w);
		for (; rank == 0 && from < step; from++)
			if (worker_loss(w, from, left->loss[from], &e) != 0)
				gv_die_error(&e);
	}
	if (worker_rest(w, &e) != 0 ||
	    worker_test(w, s->x, s->target, s->tested,
		rank == 0 ? left->correct : correct, rank == 0 ? left->test_loss : loss,
		&e) != 0 ||
	    worker_meet(w, &heard, &e) != 0)
		gv_die_error(&e);
	for (i = 0; i < worker_stages(w); i++) {
		struct gv_net *net = worker_net(w, i, &stage);

		leave_arrays(s, net, stage, left);
	}
	gv_gang_leave(gang);
	worker_free(w);
	route_free(&route);
}

static bool
joined(const void *ctx, int a, int b)
{
	(void)ctx;
	return a != b;
}

/* How many have failed. */
static size_t
run_workers(struct scene *s, struct left *left)
{
	struct gv_link *link[MOST_STAGES * MOST_REPLICAS];
	size_t n = s->route.workers, r, failed = 0;
	struct gv_error e = {0};
	struct gv_local *local;

	if (gv_local_open(&local, (int)n, GV_LOCAL_MEMORY, joined, NULL, &e) != 0)
		gv_die_error(&e);
	fflush(stdout);
	for (r = 0; r < n; r++)
		if (fork() == 0) {
			gv_local_take(local, (int)r, link);
			work(s, gv_mesh_new((int)r, (int)n, link, 20), r, left);
			_exit(0);
		}
	gv_local_close(local);
	for (r = 0; r < n; r++) {
		int status;

		wait(&status);
		failed += status != 0;
	}
	return failed;
}

/* ---- nets alone ---- */

/* How much of model b the workers have left is not what it has. */
static bool
differ(const struct scene *s, double a, double b)
{
	return !(fabs(a - b) <= s->tolerance * (1e-2 + fabs(a)));
}

/*
 * What an update that the net has made leaves of bn's running statistics where stages have
 * replicas: the mean of what each makes of its own micro-batches.  alone is such a net, to
 * which the weights before the update go; x and target are those of the update.
 */
static void
mean_running(const struct scene *s, struct gv_net *alone, const gv_real *params,
    const gv_real *x, const char *target, uint64_t update, gv_real *running)
{
	size_t size = s->c.batch * gv_shape_size(s->m.input), k, r, i, n;
	size_t bytes = s->c.batch * help_target_bytes(&s->m);
	size_t array = gv_net_find_array(alone, "running", &n), weights;
	struct gv_error e = {0};
	struct gv_net_work w = {.last = s->m.n};
	gv_real v[MOST], was[MOST];
	struct route route;
	uint64_t m;

	if (route_make(&route, &s->route, &s->stages, 0, &e) != 0)
		gv_die_error(&e);
	weights = gv_net_find_array(alone, "params", &i);
	memcpy(was, running, n * sizeof(*was));
	for (k = 0; k < s->stages.n; k++) {
		size_t from = before(&s->m, "running", s->stage[k].first),
		       to = before(&s->m, "running", s->stage[k].last);

		for (i = from; i < to; i++)
			running[i] = 0;
		for (r = 0; r < s->stage[k].replicas; r++) {
			bool first = true;

			gv_net_put(alone, weights, 0, params);
			gv_net_put(alone, array, 0, was);
			for (m = 0; m < s->route.micro_batches; m++) {
				if (route_replica(&route, s->stage[k].replicas, m) != r)
					continue;
				gv_net_load(alone, 0, x + m * size, target + m * bytes);
				gv_net_number(
				    alone, 0, update * s->route.micro_batches + m);
				gv_net_forward(alone, &w);
				gv_net_backward(alone, &w);
				gv_net_gradients(alone, &w, first);
				first = false;
			}
			gv_net_advance(alone, 0, 0);
			gv_net_get(alone, array, 0, v);
			for (i = from; i < to; i++)
				running[i] += v[i] / (gv_real)s->stage[k].replicas;
		}
	}
	route_free(&route);
}

static size_t
unlike(const struct scene *s, struct gv_net *net, size_t b, struct left *left)
{
	size_t n = 0, i, k, correct;
	struct gv_net_array a;
	gv_real v[MOST];
	double loss;

	for (i = 0; gv_net_array(net, i, &a) == 0; i++) {
		gv_net_get(net, i, 0, v);
		for (k = 0; k < a.n; k++)
			n += differ(
			    s, (double)v[k], (double)left->v[b][place_of(a.name)][k]);
	}
	gv_net_eval(net, s->x, s->target, s->tested, &correct, &loss, NULL);
	n += s->tolerance > 0 ? 0 : correct != left->correct[b];
	n += !(
	    fabs(loss - left->test_loss[b]) <= (1e-5 + s->tolerance) * fabs(loss) + 1e-7);
	return n;
}

static struct gv_net *
net_of(const struct scene *s, struct gv_net_config *c)
{
	struct gv_error e = {0};
	struct gv_net *net;

	c->backend = gv_cpu_new(1);
	if (gv_net_new(&net, &s->m, c, &e) != 0)
		gv_die_error(&e);
	return net;
}

static size_t
wrong_in_model(const struct scene *s, size_t b, struct left *left)
{
	size_t size = gv_shape_size(s->m.input), bytes = help_target_bytes(&s->m);
	size_t M = (size_t)s->route.micro_batches, n = M * s->c.batch, wrong = 0, i, k;
	gv_real *x = gv_xcalloc(n * size, sizeof(*x));
	char *target = gv_xcalloc(n, bytes);
	struct gv_net_config c = s->c;
	struct gv_net *net, *alone;
	gv_real params[MOST], running[MOST];
	size_t weights, statistics, numbers;
	uint32_t sample[8];
	double loss;

	c.models = 1;
	c.micro_batches = M;
	c.seed = &s->seed[b];
	c.coef = &s->coef[b];
	net = net_of(s, &c);
	alone = net_of(s, &c);
	weights = gv_net_find_array(net, "params", &numbers);
	statistics = gv_net_find_array(net, "running", &numbers);
	for (i = 0; i < s->steps[b]; i++) {
		struct gv_net_coef coef = gv_net_coef(net, 0);

		for (k = 0; k < n; k++) {
			if (k % s->c.batch == 0)
				visit((void *)(uintptr_t)s, s->order_of[b],
				    i * M + k / s->c.batch, sample);
			memcpy(x + k * size, s->x + sample[k % s->c.batch] * size,
			    size * sizeof(*x));
			memcpy(target + k * bytes,
			    s->target + sample[k % s->c.batch] * bytes, bytes);
		}
		coef.lr = rate(NULL, b, i);
		gv_net_set_coef(net, 0, &coef);
		gv_net_get(net, weights, 0, params);
		if (statistics != SIZE_MAX)
			gv_net_get(net, statistics, 0, running);
		gv_net_step(net, x, target, &loss);
		wrong += differ(s, loss, left->loss[i][b]);
		if (statistics == SIZE_MAX || s->tolerance == 0)
			continue;
		mean_running(s, alone, params, x, target, i, running);
		gv_net_put(net, statistics, 0, running);
	}
	wrong += unlike(s, net, b, left);
	gv_net_free(net);
	gv_net_free(alone);
	free(x);
	free(target);
	return wrong;
}

/* ---- scenes ---- */

static void
draw_stages(struct scene *s)
{
	static const char *const schedules[] = {"flush", "gpipe", "zb-h1"};
	size_t n = 2 + below(2), k, first = 0;

	s->route = (struct route_spec){.chunks = 1, .schedule = schedules[below(3)]};
	if (s->m.n >= 4 && below(4) == 0) {
		n = 4;
		s->route.chunks = 2;
		s->route.schedule = "interleaved";
	}
	n = n < s->m.n ? n : s->m.n;
	s->route.micro_batches = s->route.chunks == 2 ? 2 + 2 * below(2) : 1 + below(4);
	s->route.steps = 1 + below(MOST_STEPS);
	s->stages = (struct stages){n, s->stage};
	for (k = 0; k < n; k++) {
		size_t left = s->m.n - first - (n - 1 - k);
		size_t rows = k + 1 == n ? left : 1 + below(left);

		s->stage[k] = (struct stage){.first = first,
		    .last = first + rows,
		    .replicas = 1,
		    .recompute = below(3) == 0};
		first += rows;
	}
	if (s->route.chunks == 1 && below(s->m.running > 0 ? 2 : 3) == 0) {
		s->tolerance = 1e-3;
		for (k = 0; k < n; k++)
			s->stage[k].replicas = 1 + below(MOST_REPLICAS);
		s->route.micro_batches = MOST_REPLICAS + below(3);
	}
	s->route.workers = stages_gpus(&s->stages, s->route.chunks);
}

static void
draw_models(struct scene *s)
{
	bool orders = below(3) == 0;
	size_t b;

	s->c = (struct gv_net_config){.models = 1 + below(MOST_MODELS)};
	s->c.batch = 2 + below(4);
	s->c.optimiser = s->tolerance > 0 ? GV_SGD : (enum gv_optimiser)below(3);
	s->c.seed = s->seed;
	s->c.coef = s->coef;
	for (b = 0; b < s->c.models; b++) {
		s->seed[b] = below(100);
		s->coef[b] = (struct gv_net_coef)GV_NET_COEF_DEFAULT;
		s->coef[b].momentum = below(2) == 0 ? .9 : 0;
		s->coef[b].weight_decay = below(2) == 0 ? .01 : 0;
		s->coef[b].clip_norm = below(4) == 0 ? .1 : 0;
		s->coef[b].clip_value = below(4) == 0 ? .02 : 0;
		s->order_of[b] = orders ? below(2) : 0;
		s->steps[b] =
		    below(3) == 0 ? 1 + below((size_t)s->route.steps) : s->route.steps;
	}
	s->steps[below(s->c.models)] = s->route.steps;
	s->tested = 1 + below(SAMPLES);
}

static bool
open_scene(struct scene *s)
{
	struct gv_shape input = {1 + below(4), 1, 1};
	struct gv_error e = {0};
	struct drawn_model d;
	struct gv_frame f;

	*s = (struct scene){0};
	input.height = 1 + below(4);
	input.width = below(2) == 0 ? 1 : 1 + below(4);
	draw_model(&d, input, 4, 6);
	model_table(&d, &s->table, 0);
	if (gv_frame_parse(&f, "m.csv", s->table.s, s->table.len, &e) != 0 ||
	    gv_model_from_frame(&s->m, &f, &e) != 0 ||
	    gv_model_shape(&s->m, input, 4, &e) != 0 || s->m.n < 2 ||
	    s->m.parameters > MOST || s->m.running > MOST) {
		gv_error_clear(&e);
		return false;
	}
	draw_stages(s);
	draw_models(s);
	s->x = gv_xcalloc(SAMPLES * gv_shape_size(input), sizeof(*s->x));
	s->target = gv_xcalloc(SAMPLES, help_target_bytes(&s->m));
	help_samples(&s->m, s->x, s->target, SAMPLES, below(100));
	return true;
}

int
main(void)
{
	struct gv_error e = {0};
	struct left *left = gv_shm_new(sizeof(*left), &e);
	struct scene s;
	size_t i, b;

	if (left == NULL)
		gv_die_error(&e);
	for (i = 0; i < 60; i++) {
		draws_begin(87, (uint32_t)i, 0);
		if (open_scene(&s)) {
			size_t wrong;

			memset(left, 0, sizeof(*left));
			wrong = run_workers(&s, left);
			for (b = 0; b < s.c.models && wrong == 0; b++)
				wrong += wrong_in_model(&s, b, left);
			is_int((long long)wrong, 0,
			    "%s on %zu, %zu models, %llu steps of %llu x %zu samples, "
			    "stages "
			    "from "
			    "%zu, %zu",
			    s.route.schedule, s.route.workers, s.c.models,
			    (unsigned long long)s.route.steps,
			    (unsigned long long)s.route.micro_batches, s.c.batch,
			    s.stage[1].first, s.stage[2].first);
			if (wrong > 0)
				printf("# %s\n", s.table.s);
		}
		gv_model_free(&s.m);
		gv_strbuf_free(&s.table);
		free(s.x);
		free(s.target);
	}
	return done_testing();
}
