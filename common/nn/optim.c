/* Optimisers; their formulas are in net.h. */
#include <math.h>

#include "nn/impl.h"
#include "nn/simd.h"

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

void
optimiser_update(struct gv_net *net, size_t b, size_t first, size_t last)
{
	const struct gv_net_coef *c = &net->coef[b];
	size_t at = b * net->P + first, n = last - first;
	gv_real *w = net->params + at, *m = net->state + at;
	const gv_real *g = net->grads + at;
	double t = (double)net->steps[b];

	if (net->optimiser != GV_SGD) {
		bool apart = net->optimiser == GV_ADAMW;
		struct adam a = {(gv_real)c->beta1, (gv_real)c->beta2,
		    (gv_real)(1 - c->beta1), (gv_real)(1 - c->beta2),
		    (gv_real)(c->lr / (1 - pow(c->beta1, t))),
		    (gv_real)sqrt(1 - pow(c->beta2, t)), (gv_real)c->eps,
		    apart ? 0 : (gv_real)c->weight_decay,
		    apart ? (gv_real)(1 - c->lr * c->weight_decay) : 1};

		adam(w, g, m, m + net->B * net->P, n, a);
	} else if (net->momentum && c->momentum != 0) {
		sgd(w, g, m, n, (gv_real)c->lr, (gv_real)c->weight_decay,
		    (gv_real)c->momentum);
	} else {
		sgd_plain(w, g, n, (gv_real)c->lr, (gv_real)c->weight_decay);
	}
}
