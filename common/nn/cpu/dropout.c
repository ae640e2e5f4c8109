/*
 * dropout: some numbers become 0, the others are divided by the share that stays
 * (Srivastava et al., "Dropout", 2014).  Which is drawn by a counter (backend.h), once
 * there and once back: nothing is kept.
 */
#include <string.h>

#include "base/rng.h"
#include "nn/cpu/parts.h"
#include "nn/cpu/simd.h"

enum { DRAWS = 128, EACH = 4 }; /* counters at a time, and numbers of one */

/* Of DRAWS counters one after another. */
GV_HOT static void
draw(const uint32_t counter[4], const uint32_t key[2], uint32_t u[restrict DRAWS * EACH])
{
	uint32_t i;

	for (i = 0; i < DRAWS; i++) {
		uint32_t at[4] = {counter[0] + i, counter[1], counter[2], counter[3]};
		uint32_t v[4];

		gv_philox(at, key, v);
		u[EACH * i] = v[0];
		u[EACH * i + 1] = v[1];
		u[EACH * i + 2] = v[2];
		u[EACH * i + 3] = v[3];
	}
}

GV_HOT static void
mask(gv_real *y, const gv_real *x, const uint32_t *restrict u, uint32_t below,
    gv_real scale, size_t n, bool add)
{
	size_t j;

	if (add)
		for (j = 0; j < n; j++)
			y[j] += u[j] < below ? 0 : scale * x[j];
	else
		for (j = 0; j < n; j++)
			y[j] = u[j] < below ? 0 : scale * x[j];
}

/* y = or += x times the mask of one sample. */
static void
drop(gv_real *y, const gv_real *x, const struct gv_nn_call *c, const struct gv_nn_row *r,
    size_t b, size_t sample, bool add)
{
	uint64_t key = c->f->key[b];
	uint32_t halves[2] = {(uint32_t)key, (uint32_t)(key >> 32)};
	uint32_t at[4] = {
	    0, (uint32_t)(c->plan->first + sample), (uint32_t)r->l.place, 0};
	uint32_t below = (uint32_t)(r->l.rate * 0x1p32), u[DRAWS * EACH];
	gv_real scale = (gv_real)(1 / (1 - r->l.rate));
	size_t j, some, n = r->out_size;

	for (j = 0; j < n; j += some, at[0] += DRAWS) {
		some = gv_cpu_lesser(n - j, DRAWS * EACH);
		draw(at, halves, u);
		mask(y + j, x + j, u, below, scale, some, add);
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
