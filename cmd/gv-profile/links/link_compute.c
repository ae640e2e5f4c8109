#include "link_compute.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

/* Numbers as many as a layer's product has at hand: half of a small second cache. */
enum { NUMBERS = 64 * 1024, ROUNDS_MOST = 1 << 12 };
/* More than caches hold. */
enum { GRADIENTS = 4 * 1024 * 1024 };
static const double PIECE_S = 1e-3;

static void
compute(float *restrict v, size_t n, float a, float b)
{
	size_t i;

	for (i = 0; i < n; i++)
		v[i] = v[i] * a + b;
}

void
link_compute_piece(struct link_compute *c)
{
	size_t i;

	for (i = 0; i < c->rounds; i++)
		compute(c->v, NUMBERS, 0.5F, 1);
}

void
link_compute_make(struct link_compute *c)
{
	double began;

	*c = (struct link_compute){.v = gv_xcalloc(NUMBERS, sizeof(*c->v)),
	    .gradient = gv_xcalloc(GRADIENTS, sizeof(*c->gradient)),
	    .rounds = 1};
	link_compute_piece(c);
	for (; c->rounds < ROUNDS_MOST; c->rounds *= 2) {
		began = gv_clock_thread_s();
		link_compute_piece(c);
		if (gv_clock_thread_s() - began >= PIECE_S)
			break;
	}
}

void
link_compute_free(struct link_compute *c)
{
	free(c->v);
	free(c->gradient);
	*c = (struct link_compute){0};
}

void
link_compute_alone(struct link_compute *c, double window_s)
{
	double began = gv_clock_s(), now;
	size_t n = 0;

	do {
		link_compute_piece(c);
		n++;
		now = gv_clock_s();
	} while (now < began + window_s);
	c->alone = now > began ? (double)n / (now - began) : 0;
}

/* ---- gradients ---- */

/* Numbers of a message, from *at on; the next ones are behind them. */
static size_t
go_on(struct link_compute *c, size_t bytes, size_t *at)
{
	size_t n = bytes / sizeof(float), most = GRADIENTS / 2;

	n = n < most ? n : most;
	*at = c->at + n <= most ? c->at : 0;
	c->at = *at + n;
	return n;
}

void
link_compute_give(struct link_compute *c, size_t bytes)
{
	size_t at, n = go_on(c, bytes, &at);

	memcpy(c->gradient + at, c->gradient + GRADIENTS / 2 + at, n * sizeof(float));
}

void
link_compute_take(struct link_compute *c, size_t bytes)
{
	size_t at, n = go_on(c, bytes, &at), i;
	const float *from = c->gradient + GRADIENTS / 2 + at;
	float *to = c->gradient + at;

	if (c->came++ % 2 == 0) {
		memcpy(to, from, n * sizeof(*to));
		return;
	}
	for (i = 0; i < n; i++)
		to[i] += from[i];
}
