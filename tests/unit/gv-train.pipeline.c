/*
 * What the workers of a pipeline compute, against a script in one process, bit for bit: it
 * takes micro-batch after micro-batch through all stages, each with the weights that the
 * paper's definition says, from a list of all versions that there ever were; replicas are
 * nets that add up their own micro-batches, and are summed in their order.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "base/shm.h"
#include "gv-train/pipeline/worker.h"
#include "net/local.h"
#include "net/mesh.h"
#include "nn_help.h"

enum { STAGES = 3, REPLICAS = 3, BATCH = 6, SAMPLES = 90, STEPS = 12, MOST = 4096 };

static const char table[] = "id,op,from,out,act\n"
			    "1,linear,0,12,relu\n"
			    "2,linear,1,12,relu\n"
			    "3,add,2;1,,relu\n"
			    "4,linear,3,10,\n"
			    "5,linear,4,5,\n"
			    "6,xent,5,,\n";

struct scene {
	struct gv_model m;
	struct stages stages;
	struct stage stage[STAGES];
	const char *schedule;
	enum gv_schedule_kind kind;
	bool vertical;
	uint64_t micro_batches; /* of a step */
	size_t steps;
	enum gv_optimiser optimiser;
	double momentum;
	gv_real *x;
	int32_t *label;
};

static double
rate(void *ctx, size_t model, uint64_t step)
{
	(void)ctx;
	(void)model;
	return 0.2 / (double)(1 + step / 5);
}

static void
visit(void *ctx, size_t order, uint64_t micro_batch, uint32_t *sample)
{
	size_t i;

	(void)ctx;
	(void)order;
	for (i = 0; i < BATCH; i++)
		sample[i] = (uint32_t)((micro_batch * BATCH + i) % SAMPLES);
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

static struct gv_net_config
config(const struct scene *s, struct gv_net_coef *coef, uint64_t *seed)
{
	*coef = (struct gv_net_coef)GV_NET_COEF_DEFAULT;
	coef->momentum = s->momentum;
	*seed = 7;
	return (struct gv_net_config){.models = 1,
	    .batch = BATCH,
	    .optimiser = s->optimiser,
	    .seed = seed,
	    .coef = coef};
}

/* Parameters of a net, behind each other; how many. */
static size_t
params(struct gv_net *net, gv_real *v)
{
	struct gv_net_array a;

	gv_net_array(net, 0, &a);
	gv_net_get(net, 0, 0, v);
	return a.n;
}

/* ---- the workers ---- */

/* Weights of each stage at the end, by its replicas, and the losses: what workers leave. */
struct left {
	gv_real v[STAGES][REPLICAS][MOST];
	double loss[STEPS * 8];
};

static void
work(const struct scene *s, struct gv_gang *gang, size_t rank, size_t workers,
    struct left *left)
{
	struct route_spec spec = {.schedule = s->schedule,
	    .chunks = 1,
	    .micro_batches = s->micro_batches,
	    .steps = s->steps,
	    .vertical_sync = s->vertical,
	    .workers = workers};
	struct gv_net_coef coef;
	struct gv_error e = {0};
	struct worker *w;
	struct gv_net *net;
	struct route route;
	uint64_t seed, step = 0, steps = s->steps;
	unsigned heard;
	size_t stage;
	struct worker_spec how = {.model = &s->m,
	    .stages = &s->stages,
	    .route = &route,
	    .rank = rank,
	    .x = s->x,
	    .target = s->label,
	    .samples = SAMPLES,
	    .visit = visit,
	    .steps = &steps,
	    .rate = rate,
	    .device = device,
	    .flags = flags};

	how.net = config(s, &coef, &seed);
	if (route_make(&route, &spec, &s->stages, rank, &e) != 0 ||
	    worker_new(&w, &how, &e) != 0)
		gv_die_error(&e);
	worker_begin(w, gang, 0);
	while (step < s->steps) {
		uint64_t from = step;

		if (worker_go(w, &heard, &e) != 0)
			gv_die_error(&e);
		step = worker_step(w);
		for (; rank == 0 && from < step; from++)
			if (worker_loss(w, from, &left->loss[from], &e) != 0)
				gv_die_error(&e);
	}
	if (worker_meet(w, &heard, &e) != 0)
		gv_die_error(&e);
	net = worker_net(w, 0, &stage);
	params(net, left->v[stage][rank - worker_rank(w, stage)]);
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

static void
run_workers(const struct scene *s, struct left *left)
{
	size_t n = stages_gpus(&s->stages, 1), r;
	struct gv_link *link[STAGES * REPLICAS];
	struct gv_error e = {0};
	struct gv_local *local;

	if (gv_local_open(&local, (int)n, GV_LOCAL_MEMORY, joined, NULL, &e) != 0)
		gv_die_error(&e);
	fflush(stdout);
	for (r = 0; r < n; r++)
		if (fork() == 0) {
			gv_local_take(local, (int)r, link);
			work(s, gv_mesh_new((int)r, (int)n, link, 20), r, n, left);
			_exit(0);
		}
	gv_local_close(local);
	for (r = 0; r < n; r++) {
		int status;

		wait(&status);
		if (status != 0)
			printf("# a worker has failed\n");
	}
}

/* ---- the script ---- */

struct script {
	const struct scene *s;
	struct gv_net *net[STAGES][REPLICAS]; /* of gradients; replica 0 has the state */
	gv_real *version[STAGES][STEPS * 8 + 1];
	size_t updates[STAGES];
	size_t added[STAGES][REPLICAS];
	double partial[REPLICAS];
};

/* Micro-batches in an update of a stage. */
static size_t
together(const struct scene *s, size_t k)
{
	return s->kind == GV_SCHEDULE_1F1B ? s->stage[k].replicas
					   : (size_t)s->micro_batches;
}

static size_t
behind(const struct scene *s, size_t k)
{
	size_t n = 0;

	for (; k < s->stages.n; k++)
		n += s->stage[k].replicas;
	return n;
}

/* The version of the weights that a micro-batch meets, by the papers. */
static size_t
version_of(const struct scene *s, size_t k, size_t i)
{
	size_t r = s->stage[k].replicas, g = i / (size_t)s->micro_batches, own, warm;

	if (s->kind == GV_SCHEDULE_2BW)
		return g > 0 ? g - 1 : 0;
	if (s->kind != GV_SCHEDULE_1F1B)
		return g;
	if (s->vertical && k > 0)
		return version_of(s, 0, i) * s->stage[0].replicas / r;
	own = i / r;
	warm = (behind(s, k) - 1) / r;
	return own > warm ? own - warm : 0;
}

static size_t
replica_of(const struct scene *s, size_t k, size_t i)
{
	bool async = s->kind == GV_SCHEDULE_1F1B || s->kind == GV_SCHEDULE_2BW;

	return (async ? i : i % (size_t)s->micro_batches) % s->stage[k].replicas;
}

static void
open_script(struct script *x, const struct scene *s)
{
	struct gv_net_coef coef;
	struct gv_error e = {0};
	uint64_t seed;
	size_t k, r;

	*x = (struct script){.s = s};
	for (k = 0; k < s->stages.n; k++)
		for (r = 0; r < s->stage[k].replicas; r++) {
			struct gv_net_config c = config(s, &coef, &seed);

			c.first_row = s->stage[k].first;
			c.last_row = s->stage[k].last;
			c.micro_batches = together(s, s->stages.n - 1);
			c.backend = gv_cpu_new(1);
			if (gv_net_new(&x->net[k][r], &s->m, &c, &e) != 0)
				gv_die_error(&e);
			if (r > 0)
				continue; /* they all begin with the same */
			x->version[k][0] = gv_xcalloc(MOST, sizeof(gv_real));
			params(x->net[k][r], x->version[k][0]);
		}
}

/* What crosses the cut in front of stage k. */
static void
cross(struct script *x, size_t k, size_t i, enum gv_net_side side)
{
	struct gv_net *a = x->net[k - 1][replica_of(x->s, k - 1, i)];
	struct gv_net *b = x->net[k][replica_of(x->s, k, i)];
	size_t row[16], n, j;
	gv_real v[MOST];

	gv_net_boundary(b, x->s->stage[k].first, row, &n);
	for (j = 0; j < n; j++)
		if (gv_net_get_row(side == GV_NET_OUTPUT ? a : b, 0, row[j], side, v) !=
			0 ||
		    gv_net_put_row(side == GV_NET_OUTPUT ? b : a, 0, row[j], side, v) !=
			0)
			gv_die("a row does not cross");
}

/* One update of stage k: the sums of its replicas in their order. */
static void
update(struct script *x, size_t k)
{
	const struct scene *s = x->s;
	const struct stage *at = &s->stage[k];
	struct gv_net *net = x->net[k][0];
	size_t n = gv_net_gradients_size(net, at->first, at->last), i, r;
	double scale = (double)together(s, s->stages.n - 1) / (double)together(s, k);
	gv_real sum[MOST], v[MOST];
	struct gv_net_coef coef = gv_net_coef(net, 0);

	gv_net_gradients_get(net, at->first, at->last, sum);
	for (r = 1; r < at->replicas; r++) {
		gv_net_gradients_get(x->net[k][r], at->first, at->last, v);
		for (i = 0; i < n; i++)
			sum[i] += v[i];
	}
	for (i = 0; i < n && (scale < 1 || scale > 1); i++)
		sum[i] = (gv_real)(sum[i] * scale);
	gv_net_gradients_put(net, at->first, at->last, sum);
	gv_net_put(net, 0, 0, x->version[k][x->updates[k]]);
	coef.lr = rate(NULL, 0, x->updates[k] * together(s, k) / s->micro_batches);
	gv_net_set_coef(net, 0, &coef);
	gv_net_advance(net, 0, 0);
	x->version[k][++x->updates[k]] = gv_xcalloc(MOST, sizeof(gv_real));
	params(net, x->version[k][x->updates[k]]);
	memset(x->added[k], 0, sizeof(x->added[k]));
}

/* Micro-batch i there and back; the loss of its step, once that is whole. */
static void
micro_batch(struct script *x, size_t i, double *loss)
{
	const struct scene *s = x->s;
	uint32_t sample[BATCH];
	gv_real in[BATCH * 8];
	int32_t label[BATCH];
	size_t k, j, head = s->stages.n - 1, r = replica_of(s, head, i);

	visit(NULL, 0, i, sample);
	for (j = 0; j < BATCH; j++) {
		memcpy(in + j * 8, s->x + sample[j] * 8, 8 * sizeof(*in));
		label[j] = s->label[sample[j]];
	}
	for (k = 0; k < s->stages.n; k++) {
		struct gv_net *net = x->net[k][replica_of(s, k, i)];
		struct gv_net_work w = {
		    .first = s->stage[k].first, .last = s->stage[k].last};

		gv_net_put(net, 0, 0, x->version[k][version_of(s, k, i)]);
		if (k > 0)
			cross(x, k, i, GV_NET_OUTPUT);
		gv_net_load(net, 0, in, label);
		gv_net_forward(net, &w);
	}
	for (k = s->stages.n; k-- > 0;) {
		size_t own = replica_of(s, k, i);
		struct gv_net_work w = {
		    .first = s->stage[k].first, .last = s->stage[k].last};

		gv_net_backward(x->net[k][own], &w);
		gv_net_gradients(x->net[k][own], &w, x->added[k][own]++ == 0);
		if (k > 0)
			cross(x, k, i, GV_NET_GRADIENT);
	}
	gv_net_sum(x->net[head][r], &x->partial[r]);
	if ((i + 1) % s->micro_batches == 0) {
		gv_real sum = (gv_real)x->partial[0];

		for (j = 1; j < s->stage[head].replicas; j++)
			sum += (gv_real)x->partial[j];
		loss[i / s->micro_batches] =
		    s->kind != GV_SCHEDULE_1F1B
			? (double)sum
			: x->partial[r] * (double)s->stage[head].replicas;
	}
	for (k = 0; k < s->stages.n; k++)
		if ((i + 1) % together(s, k) == 0)
			update(x, k);
}

static size_t
differences(const struct scene *s, struct left *left)
{
	struct script x;
	double loss[STEPS * 8] = {0};
	size_t wrong = 0, i, k, r;

	open_script(&x, s);
	for (i = 0; i < s->steps * s->micro_batches; i++)
		micro_batch(&x, i, loss);
	wrong += memcmp(loss, left->loss, s->steps * sizeof(*loss)) != 0;
	for (k = 0; k < s->stages.n; k++) {
		for (r = 0; r < s->stage[k].replicas; r++) {
			wrong += memcmp(x.version[k][x.updates[k]], left->v[k][r],
				     sizeof(left->v[k][r])) != 0;
			gv_net_free(x.net[k][r]);
		}
		for (i = 0; i <= x.updates[k]; i++)
			free(x.version[k][i]);
	}
	return wrong;
}

/* ---- scenes ---- */

static void
set_stages(struct scene *s, const size_t *cut, size_t n, const size_t *replicas)
{
	size_t k;

	s->stages = (struct stages){n, s->stage};
	for (k = 0; k < n; k++)
		s->stage[k] = (struct stage){.first = cut[k],
		    .last = k + 1 < n ? cut[k + 1] : s->m.n,
		    .replicas = replicas[k]};
}

static void
open_scene(struct scene *s)
{
	size_t i;

	*s = (struct scene){.m = help_model(table, 1, 1, 8, 5)};
	s->x = gv_xcalloc(SAMPLES * 8, sizeof(*s->x));
	s->label = gv_xcalloc(SAMPLES, sizeof(*s->label));
	for (i = 0; i < SAMPLES * 8; i++)
		s->x[i] = (gv_real)gv_random_normal(3, 0, 0, i);
	for (i = 0; i < SAMPLES; i++)
		s->label[i] = (int32_t)(gv_random(3, 1, 0, i) % 5);
}

static void
check(struct scene *s, struct left *left, enum gv_schedule_kind kind, size_t n,
    const size_t *replicas, bool vertical)
{
	static const size_t cuts[4][STAGES] = {{0}, {0}, {0, 2}, {0, 2, 4}};
	size_t i;

	set_stages(s, cuts[n], n, replicas);
	s->kind = kind;
	s->schedule = gv_schedule_name[kind];
	s->vertical = vertical;
	s->micro_batches = kind == GV_SCHEDULE_1F1B ? 1 : 7;
	s->steps = kind == GV_SCHEDULE_1F1B ? 2 * STEPS : STEPS / 2;
	for (i = 0; i < 2; i++) {
		s->optimiser = i == 0 ? GV_SGD : GV_ADAM;
		s->momentum = i == 0 ? 0.9 : 0;
		memset(left, 0, sizeof(*left));
		run_workers(s, left);
		is_int(differences(s, left), 0, "%s%s, %s, %zu stages on %zu %zu %zu",
		    s->schedule, vertical ? " with vertical sync" : "",
		    i == 0 ? "momentum" : "adam", n, replicas[0], n > 1 ? replicas[1] : 0,
		    n > 2 ? replicas[2] : 0);
	}
}

int
main(void)
{
	static const size_t replicas[][STAGES] = {
	    {1, 1, 1}, {2, 1, 1}, {1, 3, 1}, {2, 3, 2}, {3, 1, 2}};
	struct gv_error e = {0};
	struct left *left = gv_shm_new(sizeof(*left), &e);
	struct scene s;
	size_t i, n;

	if (left == NULL)
		gv_die_error(&e);
	open_scene(&s);
	for (i = 0; i < sizeof(replicas) / sizeof(replicas[0]); i++)
		for (n = 2; n <= STAGES; n++) {
			check(&s, left, GV_SCHEDULE_1F1B, n, replicas[i], false);
			check(&s, left, GV_SCHEDULE_1F1B, n, replicas[i], true);
			check(&s, left, GV_SCHEDULE_2BW, n, replicas[i], false);
			check(&s, left, GV_SCHEDULE_FLUSH, n, replicas[i], false);
			check(&s, left, GV_SCHEDULE_GPIPE, n, replicas[i], false);
		}
	gv_model_free(&s.m);
	free(s.x);
	free(s.label);
	return done_testing();
}
