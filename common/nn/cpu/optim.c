/* Optimisers; their formulas are in net.h. */
#include <math.h>
#include <string.h>

#include "nn/cpu/optim.h"
#include "nn/cpu/parts.h"
#include "nn/cpu/simd.h"
#include "nn/cpu/times.h"

#ifdef GV_REAL_DOUBLE
#define SQRT sqrt
#else
#define SQRT sqrtf
#endif

GV_HOT static void
sgd(gv_real *restrict w, const gv_real *restrict grad, gv_real *restrict m, size_t n,
    gv_real lr, gv_real decay, gv_real momentum)
{
	size_t i;

	for (i = 0; i < n; i++) {
		m[i] = momentum * m[i] + (grad[i] + decay * w[i]);
		w[i] -= lr * m[i];
	}
}

GV_HOT static void
sgd_plain(gv_real *restrict w, const gv_real *restrict grad, size_t n, gv_real lr,
    gv_real decay)
{
	size_t i;

	for (i = 0; i < n; i++)
		w[i] -= lr * (grad[i] + decay * w[i]);
}

GV_HOT static void
adam(gv_real *restrict w, const gv_real *restrict grad, gv_real *restrict m,
    gv_real *restrict v, size_t n, struct gv_cpu_adam a)
{
	size_t i;

	for (i = 0; i < n; i++) {
		gv_real g = grad[i] + a.decay * w[i];

		m[i] = a.beta1 * m[i] + a.rest1 * g;
		v[i] = a.beta2 * v[i] + a.rest2 * (g * g);
		w[i] = w[i] * a.keep - a.step * (m[i] / (SQRT(v[i]) / a.root + a.eps));
	}
}

static struct gv_cpu_adam
adam_of(const struct gv_nn_update *u, size_t b)
{
	const struct gv_net_coef *c = &u->coef[b];
	bool apart = u->optimiser == GV_ADAMW;
	double t = (double)u->steps[b];

	return (struct gv_cpu_adam){(gv_real)c->beta1, (gv_real)c->beta2,
	    (gv_real)(1 - c->beta1), (gv_real)(1 - c->beta2),
	    (gv_real)(c->lr / (1 - pow(c->beta1, t))),
	    (gv_real)sqrt(1 - pow(c->beta2, t)), (gv_real)c->eps,
	    apart ? 0 : (gv_real)c->weight_decay,
	    apart ? (gv_real)(1 - c->lr * c->weight_decay) : 1};
}

struct gv_cpu_optimiser
gv_cpu_optimiser(const struct gv_nn_update *u, const struct gv_nn_plan *p, size_t b)
{
	struct gv_cpu_optimiser o = {.u = u,
	    .coef = &u->coef[b],
	    .model = b * p->P,
	    .second = p->B * p->P,
	    .active = u->active[b]};

	if (u->optimiser != GV_SGD)
		o.adam = adam_of(u, b);
	return o;
}

void
gv_cpu_optimise(
    const struct gv_cpu_optimiser *o, size_t first, const gv_real *g, size_t n)
{
	const struct gv_net_coef *c = o->coef;
	const struct gv_nn_update *u = o->u;
	size_t at = o->model + first;
	gv_real *w = u->to + at, *m = u->state + at;

	if (!o->active)
		return;
	if (u->to != u->from)
		memcpy(w, u->from + at, n * sizeof(*w));
	if (u->optimiser != GV_SGD)
		adam(w, g, m, m + o->second, n, o->adam);
	else if (u->momentum && c->momentum != 0)
		sgd(w, g, m, n, (gv_real)c->lr, (gv_real)c->weight_decay,
		    (gv_real)c->momentum);
	else
		sgd_plain(w, g, n, (gv_real)c->lr, (gv_real)c->weight_decay);
}

void
gv_cpu_optimiser_fetch(const struct gv_cpu_optimiser *o, size_t first, size_t n)
{
#ifdef __GNUC__
	enum { LINE = 64 / sizeof(gv_real) };
	const gv_real *w = o->u->to + o->model + first;
	const gv_real *m = o->u->state + o->model + first;
	size_t i;

	for (i = 0; i < n; i += LINE) {
		__builtin_prefetch(w + i, 1);
		if (o->u->momentum || o->u->optimiser != GV_SGD)
			__builtin_prefetch(m + i, 1);
	}
#else
	(void)o;
	(void)first;
	(void)n;
#endif
}

enum { CHUNK = 8192 };

struct job {
	const struct gv_cpu *cpu;
	const struct gv_nn_update *u;
	size_t chunks;
};

static void
chunk(void *ctx, size_t number, size_t thread)
{
	const struct job *j = ctx;
	size_t b = number / j->chunks, first = j->u->first + number % j->chunks * CHUNK;
	struct gv_cpu_optimiser o = gv_cpu_optimiser(j->u, j->cpu->plan, b);

	(void)thread;
	gv_cpu_optimise(&o, first, j->u->grads + o.model + first,
	    gv_cpu_lesser(CHUNK, j->u->last - first));
}

/* Of the only model. */
static void
area(void *ctx, size_t number, size_t thread)
{
	const struct job *j = ctx;
	struct gv_cpu_area one = j->cpu->area[number];
	struct gv_cpu_optimiser o = gv_cpu_optimiser(j->u, j->cpu->plan, 0);

	(void)thread;
	for (; one.rows > 0; one.rows--, one.at += one.ld)
		gv_cpu_optimise(&o, one.at, j->u->grads + one.at, one.n);
}

int
gv_cpu_update(struct gv_nn_backend *be, const struct gv_nn_update *u)
{
	struct gv_cpu *cpu = (struct gv_cpu *)be;
	size_t n = u->last - u->first;
	struct job j = {cpu, u, (n + CHUNK - 1) / CHUNK};
	double work = 2 * GV_CPU_MOVED * (double)(cpu->plan->B * n);

	gv_cpu_times_loop(cpu->times);
	/* who made a gradient has it in its cache, and the weights */
	if (cpu->plan->B == 1 && n == cpu->plan->P)
		gv_cpu_threads_run_own(
		    cpu->pool, cpu->areas, cpu->area_begins, work, area, &j);
	else
		gv_cpu_threads_run(cpu->pool, cpu->plan->B * j.chunks, work, chunk, &j);
	gv_cpu_times_update_end(cpu->times, cpu->plan);
	if (u->last == cpu->plan->P)
		gv_cpu_threads_step(cpu->pool);
	return 0;
}
