/*
 * dropout: some numbers become 0, the others are divided by the share that stays
 * (Srivastava et al., "Dropout", 2014).  Which is drawn by a counter (backend.h), once
 * there and once back: nothing is kept.
 */
#include <string.h>

#include "base/rng.h"
#include "nn/cpu/parts.h"

/* y = or += x times the mask of one sample. */
static void
drop(gv_real *y, const gv_real *x, const struct gv_nn_call *c, const struct gv_nn_row *r,
    size_t b, size_t sample, bool add)
{
	uint64_t key = c->f->key[b], below = (uint64_t)(r->l.rate * 0x1p32);
	uint32_t halves[2] = {(uint32_t)key, (uint32_t)(key >> 32)}, u[4];
	uint32_t at[4] = {
	    0, (uint32_t)(c->plan->first + sample), (uint32_t)r->l.place, 0};
	gv_real scale = (gv_real)(1 / (1 - r->l.rate));
	size_t j, k, n = r->out_size;

	for (j = 0; j < n; j += 4, at[0]++) {
		gv_philox(at, halves, u);
		for (k = 0; k < 4 && j + k < n; k++) {
			gv_real v = u[k] < below ? 0 : scale * x[j + k];

			y[j + k] = add ? y[j + k] + v : v;
		}
	}
}

void
gv_cpu_dropout_forward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	const gv_real *x = gv_cpu_x(c, r, s);
	gv_real *y = gv_cpu_y(c, r, s);
	size_t i, n = r->out_size;

	(void)cpu;
	if (!c->training) {
		memcpy(y, x, s->n * n * sizeof(*y));
		return;
	}
	for (i = 0; i < s->n; i++)
		drop(y + i * n, x + i * n, c, r, s->b, s->i + i, false);
}

void
gv_cpu_dropout_backward(const struct gv_cpu *cpu, const struct gv_nn_call *c,
    const struct gv_nn_row *r, const struct gv_cpu_block *s)
{
	size_t i, n = r->out_size;

	(void)cpu;
	for (i = 0; i < s->n; i++)
		drop(gv_cpu_dx(c, r, s) + i * n, gv_cpu_dy(c, r, s) + i * n, c, r, s->b,
		    s->i + i, r->adds[s->input]);
}
