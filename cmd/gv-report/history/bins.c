#include "bins.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Of tables with times below a second as well; a power of two, so that halves meet. */
#define FIRST_WIDTH_S (1.0 / 1024)

static void
fold(struct bins *b)
{
	size_t i;

	for (i = 0; i < BINS / 2; i++)
		b->sum[i] = b->sum[2 * i] + b->sum[2 * i + 1];
	memset(b->sum + BINS / 2, 0, BINS / 2 * sizeof(b->sum[0]));
	b->width_s *= 2;
}

void
bins_widen(struct bins *b, double width_s)
{
	if (b->width_s == 0)
		b->width_s = FIRST_WIDTH_S;
	while (b->width_s < width_s)
		fold(b);
}

void
bins_add(struct bins *b, double from_s, double to_s, double level)
{
	size_t i, last;

	if (!(to_s > from_s) || !isfinite(to_s))
		return;
	bins_widen(b, to_s / BINS);
	last = (size_t)fmin(to_s / b->width_s, BINS - 1);
	for (i = (size_t)fmin(from_s / b->width_s, BINS - 1); i <= last; i++) {
		double from = fmax(from_s, (double)i * b->width_s);
		double to = fmin(to_s, (double)(i + 1) * b->width_s);

		if (to > from)
			b->sum[i] += level * (to - from);
	}
}

size_t
bins_n(const struct bins *b, double end_s)
{
	return b->width_s > 0 ? (size_t)fmin(ceil(end_s / b->width_s), BINS) : 0;
}

double
bins_mean(const struct bins *b, size_t i, double end_s)
{
	return b->sum[i] / fmin(b->width_s, end_s - (double)i * b->width_s);
}

void
moments_room(struct moments *m, size_t n_gpus)
{
	if (n_gpus <= m->n_gpus)
		return;
	m->who = gv_xgrow(m->who, &m->cap, n_gpus, sizeof(*m->who));
	memset(m->who + m->n_gpus, 0, (n_gpus - m->n_gpus) * sizeof(*m->who));
	m->n_gpus = n_gpus;
}

/* Every second moment is left out. */
static void
thin(struct moments *m)
{
	size_t g, i;

	for (g = 0; g < m->n_gpus; g++) {
		for (i = 1; i < BINS / 2; i++)
			m->who[g][i] = m->who[g][2 * i];
		memset(m->who[g] + BINS / 2, 0, BINS / 2 * sizeof(m->who[g][0]));
	}
	m->width_s *= 2;
}

void
moments_add(struct moments *m, size_t gpu, uint32_t who, double from_s, double to_s)
{
	size_t i;

	if (!(to_s > from_s) || !isfinite(to_s))
		return;
	moments_room(m, gpu + 1);
	if (m->width_s == 0)
		m->width_s = FIRST_WIDTH_S;
	while (to_s > m->width_s * BINS)
		thin(m);
	for (i = (size_t)ceil(from_s / m->width_s);
	     i < BINS && (double)i * m->width_s < to_s; i++)
		m->who[gpu][i] = who + 1;
}

void
moments_free(struct moments *m)
{
	free(m->who);
	*m = (struct moments){0};
}
