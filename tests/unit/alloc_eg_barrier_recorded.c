/* Steps of the barrier of a market (price/eg_barrier.c), from drawn points: what they were. */
#include "recorded.h"

#include <stdlib.h>

#include "draws.h"

#include "../../common/alloc/price/eg_barrier.c"

enum { JOBS = 3, TYPES = 3 };

/* In quarters, some far more than others. */
static double
draw_step(size_t far)
{
	double step = ((double)below(9) - 4) / 4;

	return below(far) == 0 ? 16 * step : step / 8;
}

static void
draw(struct gv_eg_barrier *s, double *a, size_t far)
{
	const bool rises = below(2) == 0;
	size_t i, j;

	for (j = 0; j < TYPES; j++) {
		s->has_gpus[j] = below(5) != 0;
		s->low[j] = below(2) == 0 ? 0 : .25;
		s->price[j] = s->low[j] + (double)(rises ? j + 1 : TYPES - j) / 2;
		s->high[j] = below(4) == 0 ? INFINITY : s->price[j] + 1;
		s->d_price[j] = draw_step(far);
		s->fixed.slope[j] = (double)below(4);
		s->fixed.own[j] = (double)below(3);
		for (i = 0; i < TYPES; i++)
			s->fixed.pair[j * TYPES + i] =
			    (rises ? i < j : i > j) ? (double)below(3) : 0;
	}
	for (i = 0; i < s->n; i++) {
		s->a[i] = &a[i * TYPES];
		s->count[i] = (double)(1 + below(3));
		s->l[i] = (double)(1 + below(4)) / 4;
		s->time[i] = (double)(1 + below(4)) / 4;
		s->d_l[i] = draw_step(far);
		s->d_time[i] = draw_step(far);
		for (j = 0; j < TYPES; j++) {
			a[i * TYPES + j] = (double)below(3);
			s->slack[i * TYPES + j] = (double)(1 + below(8)) / 4;
			s->d_slack[i * TYPES + j] = draw_step(far);
		}
	}
}

/* Prices just as near to a border as holds them back, or not. */
static void
draw_borders(struct gv_eg_barrier *s)
{
	size_t j;

	for (j = 0; j < TYPES; j++) {
		const double margin = .01 * (s->high[j] - s->low[j]);

		if (isfinite(margin) && below(2) == 0)
			s->price[j] =
			    below(2) == 0 ? s->high[j] - margin : s->low[j] + margin;
	}
}

static void
ask(struct recorded *r, size_t k)
{
	double a[JOBS * TYPES];
	struct gv_eg_barrier s;
	double most;

	gv_eg_barrier_alloc(&s, JOBS, TYPES);
	s.n = 1 + below(JOBS);
	s.mu = s.bend_mu = .125;
	draw(&s, a, k % 2 == 0 ? 1000000 : 10);
	most = step_to_boundary(&s);
	recorded_double(r, most);
	recorded_double(r, fall_at(&s, 0));
	recorded_double(r, fall_at(&s, most / 2));
	take_step(&s, most / 4);
	recorded_doubles(r, s.price, TYPES);
	recorded_doubles(r, s.l, s.n);
	recorded_doubles(r, s.time, s.n);
	recorded_doubles(r, s.slack, s.n * TYPES);
	draw_borders(&s);
	recorded_whole(r, is_inside(&s));
	gv_eg_barrier_free(&s);
	recorded_whole(r, (long long)s.m);
}

int
main(void)
{
	struct recorded r;
	size_t k, part;

	recorded_open(&r);
	for (part = 0; part < 20; part++) {
		draws_begin(16, (uint32_t)part, 0);
		for (k = 0; k < 500; k++)
			ask(&r, k);
		recorded_answer(&r, "steps %zu", part);
	}
	recorded_close(&r);
	return done_testing();
}
