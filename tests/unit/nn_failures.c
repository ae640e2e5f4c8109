/*
 * Whatever of a backend fails, and whenever: a step says so, and until its update
 * nothing has changed; so does a reduce that fails.
 */
#include "nn_fixture.h"

enum { MOST_CALLS = 4000 };

static struct gv_nn_backend real;
static size_t calls, failing;
/* the backend's memory is not the host's; gradients are clipped */
static bool away, clips;

static bool
fails(void)
{
	return calls++ == failing;
}

static int
put(struct gv_nn_backend *be, void *to, const void *from, size_t bytes)
{
	return fails() ? -1 : real.put(be, to, from, bytes);
}

static int
get(struct gv_nn_backend *be, void *to, const void *from, size_t bytes)
{
	return fails() ? -1 : real.get(be, to, from, bytes);
}

static int
copy(struct gv_nn_backend *be, void *to, const void *from, size_t bytes)
{
	return fails() ? -1 : real.copy(be, to, from, bytes);
}

static int
gather(struct gv_nn_backend *be, int stream, void *to, const void *from,
    const uint32_t *index, size_t n, size_t bytes)
{
	return fails() ? -1 : real.gather(be, stream, to, from, index, n, bytes);
}

static int
pack(struct gv_nn_backend *be, const struct gv_nn_call *c, size_t first, size_t last,
    unsigned what)
{
	return fails() ? -1 : real.pack(be, c, first, last, what);
}

static int
forward(struct gv_nn_backend *be, const struct gv_nn_call *c, size_t first, size_t last)
{
	return fails() ? -1 : real.forward(be, c, first, last);
}

static int
backward(struct gv_nn_backend *be, const struct gv_nn_call *c, size_t first, size_t last)
{
	return fails() ? -1 : real.backward(be, c, first, last);
}

static int
gradient(struct gv_nn_backend *be, const struct gv_nn_call *c, size_t first, size_t last,
    const struct gv_nn_grads *g, bool add)
{
	return fails() ? -1 : real.gradient(be, c, first, last, g, add);
}

static int
losses(struct gv_nn_backend *be, const struct gv_nn_call *c, const struct gv_nn_grads *g,
    bool add)
{
	return fails() ? -1 : real.losses(be, c, g, add);
}

static int
bn_sum(
    struct gv_nn_backend *be, const struct gv_nn_call *c, size_t row, enum gv_nn_sum what)
{
	return fails() ? -1 : real.bn_sum(be, c, row, what);
}

static int
bn_take(
    struct gv_nn_backend *be, const struct gv_nn_call *c, size_t row, enum gv_nn_sum what)
{
	return fails() ? -1 : real.bn_take(be, c, row, what);
}

static int
bn_use_running(struct gv_nn_backend *be, const struct gv_nn_call *c, size_t row)
{
	return fails() ? -1 : real.bn_use_running(be, c, row);
}

static int
bn_update_running(
    struct gv_nn_backend *be, const struct gv_nn_call *c, size_t row, gv_real *to)
{
	return fails() ? -1 : real.bn_update_running(be, c, row, to);
}

static int
update(struct gv_nn_backend *be, const struct gv_nn_update *u)
{
	return fails() ? -1 : real.update(be, u);
}

static int
sync_all(struct gv_nn_backend *be)
{
	return fails() ? -1 : real.sync(be);
}

static int
act_back(struct gv_nn_backend *be, const struct gv_nn_call *c, size_t row)
{
	return fails() ? -1 : real.act_back(be, c, row);
}

static int
learn(struct gv_nn_backend *be, const struct gv_nn_call *c, const struct gv_nn_grads *g,
    bool add, const struct gv_nn_update *u)
{
	return fails() ? -1 : real.learn(be, c, g, add, u);
}

static struct gv_nn_backend *
failing_backend(void)
{
	struct gv_nn_backend *be = gv_cpu_new(1);

	be->host_memory = !away;
	real = *be;
	be->act_back = act_back;
	be->learn = learn;
	be->put = put;
	be->get = get;
	be->copy = copy;
	be->gather = gather;
	be->pack = pack;
	be->forward = forward;
	be->backward = backward;
	be->gradient = gradient;
	be->losses = losses;
	be->bn_sum = bn_sum;
	be->bn_take = bn_take;
	be->bn_use_running = bn_use_running;
	be->bn_update_running = bn_update_running;
	be->update = update;
	be->sync = sync_all;
	return be;
}

/* Alone among two ranks: the sum is what it has, or fails as a call does. */
static int
reduce(void *ctx, gv_real *v, size_t n)
{
	(void)ctx;
	(void)v;
	(void)n;
	return fails() ? -1 : 0;
}

/* What a step of a net is asked by. */
typedef int ask(struct gv_net *net, const struct fixture *f, double *loss);

static int
ask_step(struct gv_net *net, const struct fixture *f, double *loss)
{
	return gv_net_step(net, f->x, f->target, loss);
}

static int
ask_gradient(struct gv_net *net, const struct fixture *f, double *loss)
{
	return gv_net_gradient(net, f->x, f->target, loss);
}

static int
ask_gather(struct gv_net *net, const struct fixture *f, double *loss)
{
	static uint32_t visit[256];

	return gv_net_data(net, f->x, f->target, f->most) != 0 ||
		       gv_net_step_of(net, visit, loss) != 0
		   ? -1
		   : 0;
}

static int
ask_evaluation(struct gv_net *net, const struct fixture *f, double *loss)
{
	size_t correct[HELP_MODELS], n = f->c->models * f->most * f->m.outputs;
	gv_real *logits = gv_xcalloc(n, sizeof(*logits));
	int status = gv_net_eval(net, f->x, f->target, f->most, correct, loss, logits);

	free(logits);
	return status;
}

static void
set_clips(const struct fixture *f, struct gv_net *net)
{
	size_t b;

	for (b = 0; clips && b < f->c->models; b++) {
		struct gv_net_coef coef = gv_net_coef(net, b);

		coef.clip_norm = .01;
		coef.clip_value = .1;
		gv_net_set_coef(net, b, &coef);
	}
}

/* Every call of the backend fails once; those that change nothing must leave all as it was. */
static void
test_failures(const struct fixture *f, ask *question, bool changes, const char *what)
{
	struct gv_net *net, *same;
	double loss[HELP_MODELS];
	size_t unsaid = 0, changed = 0, made, n;

	for (n = 0; n < MOST_CALLS; n++) {
		failing = SIZE_MAX;
		net = make(f, failing_backend());
		same = make(f, gv_cpu_new(1));
		set_clips(f, net);
		set_clips(f, same);
		calls = 0;
		failing = n;
		if (question(net, f, loss) == 0)
			unsaid += calls > failing;
		made = calls;
		failing = SIZE_MAX;
		if (!changes)
			changed += differences(f, net, same);
		gv_net_free(net);
		gv_net_free(same);
		if (made <= n)
			break;
	}
	ok(n > 4 && n < MOST_CALLS, "%s: %s%s%s, %zu calls", f->c->name, what,
	    away ? ", on a device" : "", clips ? ", clipped" : "", n);
	is_int(unsaid, 0, "%s: each one's failure is said", f->c->name);
	is_int(changed, 0, "%s: and nothing has changed", f->c->name);
}

static void
test_net(size_t i)
{
	struct fixture f;
	int k;

	open_fixture(&f, i);
	draw(&f, 3);
	f.config.micro_batches = 2;
	f.config.ranks = f.c->shards > 1 ? 2 : 1;
	f.config.reduce = reduce;
	for (k = 0; k < 3; k++) {
		away = k > 0;
		clips = k == 2;
		test_failures(&f, ask_step, true, "a step");
		test_failures(&f, ask_gather, true, "a step by numbers");
		test_failures(&f, ask_gradient, false, "gradients");
		test_failures(&f, ask_evaluation, false, "an evaluation");
	}
	close_fixture(&f);
}

int
main(void)
{
	size_t i;

	gv_init("nn_failures");
	for (i = 0; i < CASES; i += 4)
		test_net(i);
	test_net(CASES - 1);
	return done_testing();
}
