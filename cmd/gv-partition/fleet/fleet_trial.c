/* One trial: how many GPUs pipelines within a limit need. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "fleet_trial.h"

static double *
sums(const struct ideals *s, const double *of_layer, size_t n_layers)
{
	double *sum = gv_xcalloc(s->n, sizeof(*sum));
	size_t i, v;

	for (i = 0; i < s->n; i++)
		for (v = 0; v < n_layers; v++)
			if (ideals_has(s, i, v))
				sum[i] += of_layer[v];
	return sum;
}

static bool
any_limit(const struct gv_fleet *f)
{
	size_t t;

	for (t = 0; t < f->n && f->type[t].memory <= 0; t++)
		;
	return t < f->n;
}

bool
trial_open(struct trial *x, const struct ideals *s, size_t n_layers,
    const struct gv_fleet *f, const struct search_options *o)
{
	size_t last = 0, t, k = 0, c;

	*x = (struct trial){.s = s, .f = f, .o = o, .m = fleet_machine(f), .n = 1};
	for (t = 0; t < f->n; t++)
		if (f->type[t].gpus >= f->type[last].gpus)
			last = t;
	for (t = 0; t < f->n; t++)
		if (t != last)
			x->order[k++] = t;
	x->order[k] = last;
	for (; k-- > 0;) {
		x->stride[k] = x->n;
		x->n *= f->type[x->order[k]].gpus + 1;
		if (x->n * s->n > (size_t)1 << 30)
			return false;
	}
	for (t = 0; t < f->n; t++) {
		x->time_s[t] = sums(s, f->type[t].time_s, n_layers);
		x->forward_s[t] = sums(s, f->type[t].forward_s, n_layers);
	}
	x->need = gv_xcalloc(s->n * x->n, sizeof(*x->need));
	x->limited = any_limit(f);
	if (x->limited) {
		x->sum = gv_xcalloc(x->n, sizeof(*x->sum));
		for (c = 0; c < x->n; c++)
			for (k = 0; k + 1 < f->n; k++)
				x->sum[c] =
				    (int16_t)(x->sum[c] +
					      c / x->stride[k] %
						  (f->type[x->order[k]].gpus + 1));
	}
	return true;
}

void
trial_close(struct trial *x)
{
	size_t t;

	for (t = 0; t < GV_FLEET_TYPES; t++) {
		free(x->time_s[t]);
		free(x->forward_s[t]);
	}
	free(x->need);
	free(x->sum);
}

/* ---- one stage ---- */

double
trial_load(const struct trial *x, const struct choice *c, size_t i, size_t m)
{
	return stage_cost(&x->o->rules, &x->m, 0, &c->size, m, i == 0).load_s;
}

size_t
trial_replicas_most(const struct trial *x, size_t type)
{
	size_t most = x->o->straight ? 1 : stage_replicas_most(&x->o->rules);

	return most < x->f->type[type].gpus ? most : x->f->type[type].gpus;
}

/* The fewest replicas, low or more, with a load within the limit. */
static size_t
fewest(const struct trial *x, const struct choice *c, size_t i, size_t low)
{
	size_t most = trial_replicas_most(x, c->type), m;

	m = stage_fewest(&x->o->rules, &x->m, 0, &c->size, i == 0, x->limit_s, low, most);
	return m <= most ? m : FLEET_NO_GPUS;
}

/* The most minibatches in flight for which the stage fits. */
static size_t
most_in_flight(const struct trial *x, const struct choice *c, size_t i, size_t k)
{
	double memory = x->f->type[c->type].memory;
	double activation = x->s->activation[k] - x->s->activation[i];
	size_t low = 0, high = stage_in_flight_most(&x->o->rules, x->m.gpus[0]);

	while (memory > 0 && low < high) {
		size_t mid = (low + high + 1) / 2;

		if (stage_memory(&x->o->rules, &c->size, activation, mid, c->recompute) <=
		    memory)
			low = mid;
		else
			high = mid - 1;
	}
	return high;
}

/* Fills *c; whether it is one within the limit that fits. */
static bool
make_choice(struct choice *c, const struct trial *x, size_t i, size_t k, size_t type,
    bool recompute)
{
	*c = (struct choice){.type = type, .recompute = recompute};
	c->size = (struct stage_size){x->time_s[type][k] - x->time_s[type][i],
	    x->s->parameter[k] - x->s->parameter[i], x->s->out[i], x->s->out[k]};
	if (recompute)
		c->size.time_s += x->forward_s[type][k] - x->forward_s[type][i];
	c->fewest = fewest(x, c, i, 1);
	if (c->fewest == FLEET_NO_GPUS)
		return false;
	c->most = most_in_flight(x, c, i, k);
	return c->most > 0;
}

size_t
trial_choices(struct choice c[2], const struct trial *x, size_t i, size_t k, size_t type)
{
	enum recompute how = x->o->rules.recompute;
	size_t any = stage_in_flight_most(&x->o->rules, x->m.gpus[0]), n = 0;

	if (how != RECOMPUTE_FULL && make_choice(&c[0], x, i, k, type, false))
		n++;
	if (how == RECOMPUTE_NONE || (n == 1 && c[0].most == any) ||
	    (how == RECOMPUTE_AUTO && !x->limited))
		return n; /* nothing is gained by recomputing */
	return n + make_choice(&c[n], x, i, k, type, true);
}

size_t
trial_replicas(const struct trial *x, const struct choice *c, size_t i, size_t behind)
{
	size_t least = stage_gpus_fewest(&x->o->rules, behind, c->most);

	if (least > x->m.gpus[0])
		return FLEET_NO_GPUS;
	return least <= c->fewest ? c->fewest : fewest(x, c, i, least);
}

/* ---- all combinations ---- */

/* to[] = min(to[], from[] + more); by 16, which compilers turn into vectors. */
static void
lower(int16_t *restrict to, const int16_t *restrict from, size_t n, int16_t more)
{
	size_t i, k;

	for (i = 0; i + 16 <= n; i += 16)
		for (k = 0; k < 16; k++) {
			int16_t v = (int16_t)(from[i + k] + more);

			to[i + k] = v < to[i + k] ? v : to[i + k];
		}
	for (; i < n; i++) {
		int16_t v = (int16_t)(from[i] + more);

		to[i] = v < to[i] ? v : to[i];
	}
}

/* A stage that needs c->fewest replicas whatever is behind it. */
static void
add_stage(struct trial *x, const struct choice *c, int16_t *to, const int16_t *from)
{
	size_t m = c->fewest, width, block, i, k;

	for (k = 0; x->order[k] != c->type; k++)
		;
	if (k + 1 == x->f->n) {
		lower(to, from, x->n, (int16_t)m);
		return;
	}
	width = x->f->type[c->type].gpus + 1;
	block = width * x->stride[k];
	for (i = 0; i < x->n; i += block)
		lower(to + i + m * x->stride[k], from + i, (width - m) * x->stride[k], 0);
}

/* A stage whose replicas depend on how many GPUs are behind it. */
static void
add_limited(
    struct trial *x, const struct choice *c, size_t i, int16_t *to, const int16_t *from)
{
	size_t gpus = x->f->type[c->type].gpus, at, k, m;

	for (k = 0; x->order[k] != c->type; k++)
		;
	for (at = 0; at < x->n; at++) {
		int16_t need = from[at];

		if (need >= FLEET_NO_GPUS)
			continue;
		m = trial_replicas(x, c, i, (size_t)x->sum[at] + (size_t)need);
		if (m == FLEET_NO_GPUS)
			continue;
		if (k + 1 == x->f->n) {
			if (need + (int)m < to[at] && need + m <= gpus)
				to[at] = (int16_t)(need + (int)m);
		} else if (at / x->stride[k] % (gpus + 1) + m <= gpus &&
			   need < to[at + m * x->stride[k]]) {
			to[at + m * x->stride[k]] = need;
		}
	}
}

/* The stages from the i-th prefix to another. */
static void
add_stages(struct trial *x, size_t i, size_t k)
{
	int16_t *to = x->need + i * x->n;
	const int16_t *from = x->need + k * x->n;
	struct choice choice[2];
	size_t t, c, n;

	for (t = 0; t < x->f->n; t++) {
		n = trial_choices(choice, x, i, k, t);
		for (c = 0; c < n; c++)
			if (x->limited)
				add_limited(x, &choice[c], i, to, from);
			else
				add_stage(x, &choice[c], to, from);
	}
}

bool
trial_run(struct trial *x, double limit_s)
{
	const struct ideals *s = x->s;
	size_t i, at;
	int16_t most = (int16_t)x->f->type[x->order[x->f->n - 1]].gpus;

	x->limit_s = limit_s;
	for (at = 0; at < s->n * x->n; at++)
		x->need[at] = FLEET_NO_GPUS;
	/* without memory more GPUs than are used do no harm, and fill the combinations */
	for (at = 0; at < (x->limited ? 1 : x->n); at++)
		x->need[(s->n - 1) * x->n + at] = 0;
	for (i = s->n - 1; i-- > 0;) {
		if (x->o->progress != NULL)
			x->o->progress(s->n - i, s->n);
		for (at = s->sup_at[i]; at < s->sup_at[i + 1]; at++)
			add_stages(x, i, s->sup[at]);
	}
	for (at = 0; at < x->n && x->need[at] > most; at++)
		;
	return at < x->n;
}
