/* Optimisers; their formulas are in net.h. */
#include <math.h>
#include <string.h>

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

struct adam {
	gv_real beta1, beta2, rest1, rest2; /* rest = 1 - beta */
	gv_real step;                       /* lr / (1 - beta1^t) */
	gv_real root;                       /* sqrt(1 - beta2^t) */
	gv_real eps, decay, keep;           /* keep: factor of w, for decoupled decay */
};

GV_HOT static void
adam(gv_real *restrict w, const gv_real *restrict grad, gv_real *restrict m,
    gv_real *restrict v, size_t n, struct adam a)
{
	size_t i;

	for (i = 0; i < n; i++) {
		gv_real g = grad[i] + a.decay * w[i];

		m[i] = a.beta1 * m[i] + a.rest1 * g;
		v[i] = a.beta2 * v[i] + a.rest2 * (g * g);
		w[i] = w[i] * a.keep - a.step * (m[i] / (SQRT(v[i]) / a.root + a.eps));
	}
}

static struct adam
adam_of(const struct gv_nn_update *u, size_t b)
{
	const struct gv_net_coef *c = &u->coef[b];
	bool apart = u->optimiser == GV_ADAMW;
	double t = (double)u->steps[b];

	return (struct adam){(gv_real)c->beta1, (gv_real)c->beta2,
	    (gv_real)(1 - c->beta1), (gv_real)(1 - c->beta2),
	    (gv_real)(c->lr / (1 - pow(c->beta1, t))),
	    (gv_real)sqrt(1 - pow(c->beta2, t)), (gv_real)c->eps,
	    apart ? 0 : (gv_real)c->weight_decay,
	    apart ? (gv_real)(1 - c->lr * c->weight_decay) : 1};
}

/* Numbers [first, last) of model b. */
static void
update(const struct gv_nn_update *u, const struct gv_nn_plan *p, const struct adam *a,
    size_t b, size_t first, size_t last)
{
	const struct gv_net_coef *c = &u->coef[b];
	size_t at = b * p->P + first, n = last - first;
	gv_real *w = u->to + at, *m = u->state + at;
	const gv_real *g = u->grads + at;

	if (u->to != u->from)
		memcpy(w, u->from + at, n * sizeof(*w));
	if (u->optimiser != GV_SGD)
		adam(w, g, m, m + p->B * p->P, n, *a);
	else if (u->momentum && c->momentum != 0)
		sgd(w, g, m, n, (gv_real)c->lr, (gv_real)c->weight_decay,
		    (gv_real)c->momentum);
	else
		sgd_plain(w, g, n, (gv_real)c->lr, (gv_real)c->weight_decay);
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
	struct adam a = {0};

	(void)thread;
	if (!j->u->active[b])
		return;
	if (j->u->optimiser != GV_SGD)
		a = adam_of(j->u, b);
	update(
	    j->u, j->cpu->plan, &a, b, first, gv_cpu_lesser(first + CHUNK, j->u->last));
}

/* Of the only model. */
static void
area(void *ctx, size_t number, size_t thread)
{
	const struct job *j = ctx;
	struct gv_cpu_area one = j->cpu->area[number];
	struct adam a = {0};

	(void)thread;
	if (!j->u->active[0])
		return;
	if (j->u->optimiser != GV_SGD)
		a = adam_of(j->u, 0);
	for (; one.rows > 0; one.rows--, one.at += one.ld)
		update(j->u, j->cpu->plan, &a, 0, one.at, one.at + one.n);
}

int
gv_cpu_update(struct gv_nn_backend *be, const struct gv_nn_update *u)
{
	struct gv_cpu *cpu = (struct gv_cpu *)be;
	size_t n = u->last - u->first;
	struct job j = {cpu, u, (n + CHUNK - 1) / CHUNK};
	/* numbers come from memory and from others' caches: as long as 16 sums each */
	double work = 16 * (double)(cpu->plan->B * n);

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
