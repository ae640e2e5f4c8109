/* Cuts into equal stages. */
#include "two_bw.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Passes over the pairs of prefixes, done and of so many. */
struct told {
	void (*progress)(size_t done, size_t of);
	size_t done, of;
};

static void
tell(struct told *t)
{
	if (t->progress != NULL)
		t->progress(t->done++, t->of);
}

/* [d * n + j]: the time of the slowest of d stages up to prefix j, infinite for none. */
static double *
slowest(const struct ideals *s, size_t deepest, struct told *told)
{
	double *f = gv_xcalloc((deepest + 1) * s->n, sizeof(*f));
	size_t d, i, k;

	for (i = 0; i < (deepest + 1) * s->n; i++)
		f[i] = INFINITY;
	f[0] = 0;
	for (d = 1; d <= deepest; d++) {
		tell(told);
		for (i = 0; i < s->n; i++) {
			double before = f[(d - 1) * s->n + i];

			if (isinf(before))
				continue;
			for (k = s->sup_at[i]; k < s->sup_at[i + 1]; k++) {
				double t = s->time_s[s->sup[k]] - s->time_s[i];
				double *to = &f[d * s->n + s->sup[k]];

				t = t > before ? t : before;
				if (t < *to)
					*to = t;
			}
		}
	}
	return f;
}

/* The d stages, none over limit, with the least bytes across cuts: at [d + 1]. */
static void
lightest(const struct ideals *s, size_t d, double limit, size_t *at, struct told *told)
{
	double *bytes = gv_xcalloc((d + 1) * s->n, sizeof(*bytes));
	uint32_t *from = gv_xcalloc((d + 1) * s->n, sizeof(*from));
	size_t e, i, k;

	for (i = 0; i < (d + 1) * s->n; i++)
		bytes[i] = INFINITY;
	bytes[0] = 0;
	for (e = 1; e <= d; e++) {
		tell(told);
		for (i = 0; i < s->n; i++) {
			double before = bytes[(e - 1) * s->n + i];

			if (isinf(before))
				continue;
			for (k = s->sup_at[i]; k < s->sup_at[i + 1]; k++) {
				size_t j = s->sup[k];

				if (s->time_s[j] - s->time_s[i] > limit ||
				    before + s->out[j] >= bytes[e * s->n + j])
					continue;
				bytes[e * s->n + j] = before + s->out[j];
				from[e * s->n + j] = (uint32_t)i;
			}
		}
	}
	at[d] = s->n - 1;
	for (e = d; e > 0; e--)
		at[e - 1] = from[e * s->n + at[e]];
	free(from);
	free(bytes);
}

void
two_bw_cuts_make(struct two_bw_cuts *c, const struct ideals *s, size_t most,
    void (*progress)(size_t done, size_t of))
{
	struct told told = {progress, 0, 0};
	double *f, time_s;
	size_t d;

	memset(c, 0, sizeof(*c));
	if (most > s->n - 1)
		most = s->n - 1;
	told.of = most + most * (most + 1) / 2;
	f = slowest(s, most, &told);
	c->at = gv_xcalloc(most + 1, sizeof(*c->at));
	for (d = 1; d <= most; d++) {
		time_s = f[d * s->n + s->n - 1];
		if (isinf(time_s))
			break;
		c->at[d] = gv_xcalloc(d + 1, sizeof(**c->at));
		lightest(s, d, time_s * (1 + 1e-12), c->at[d], &told);
		c->deepest = d;
	}
	free(f);
}

void
two_bw_cuts_free(struct two_bw_cuts *c)
{
	size_t d;

	for (d = 1; d <= c->deepest; d++)
		free(c->at[d]);
	free(c->at);
	memset(c, 0, sizeof(*c));
}
