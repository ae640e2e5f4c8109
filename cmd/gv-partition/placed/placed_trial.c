/* One trial: which pipelines there are within a limit. */
#include "placed_trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/*
 * A pipeline from a prefix on some GPUs is of one of these kinds: over which level
 * its first stage and the GPU in front of it reach, and which is the last level that
 * can be between this stage and one in front of it.  A set of kinds is a mask.
 */
static uint16_t
kind(size_t reach, size_t most)
{
	return (uint16_t)(1U << (reach % GV_PLAN_LEVELS * GV_PLAN_LEVELS +
				 most % GV_PLAN_LEVELS));
}

/* So many replicas reach over the innermost level that can hold them, at least. */
static size_t
fewest(const void *ctx, const struct stage_size *size, bool first, double limit_s,
    size_t most)
{
	const struct placed_trial *x = ctx;
	size_t l, low = 1, n = most + 1;

	for (l = 0; l < x->links.n_levels && low <= most && n > most; l++) {
		size_t high = x->links.group[l] < most ? x->links.group[l] : most;

		n = stage_fewest(
		    &x->o->rules, &x->links.at[l], 0, size, first, limit_s, low, high);
		if (n > high)
			n = most + 1;
		low = high + 1;
	}
	return n;
}

void
placed_open(struct placed_trial *x, const struct ideals *s, const struct gv_machine *m,
    const struct search_options *o)
{
	size_t i, n, level, out, reach, most;

	*x = (struct placed_trial){.s = s, .o = o, .links = links_of(m)};
	x->fast = (struct search){.s = s,
	    .m = &x->links.at[0],
	    .o = o,
	    .gpus = x->links.n,
	    .limit_s = INFINITY,
	    .fewest = fewest,
	    .ctx = x};
	x->level = gv_xcalloc(x->links.n * (x->links.n + 1), sizeof(*x->level));
	for (i = 0; i < x->links.n; i++)
		for (n = 1; i + n <= x->links.n; n++)
			x->level[i * (x->links.n + 1) + n] =
			    (uint8_t)links_level(&x->links, i, n);
	for (level = 0; level < x->links.n_levels; level++)
		for (out = 0; out <= x->links.n_levels; out++)
			for (reach = 0; reach < x->links.n_levels; reach++)
				for (most = 0; most < x->links.n_levels; most++) {
					size_t l = reach > level ? reach : level;

					if (l <= most && l < out)
						x->after[level][out] |= kind(reach, most);
				}
}

static void
close_trial(struct placed_trial *x)
{
	column_close(&x->k);
	free(x->kinds);
	free(x->n_in);
	free(x->n_out);
	x->kinds = NULL;
	x->n_in = x->n_out = NULL;
}

void
placed_close(struct placed_trial *x)
{
	close_trial(x);
	free(x->level);
	x->level = NULL;
}

/* ---- stages ---- */

struct part
part_of(const struct placed_trial *x, size_t a, size_t b)
{
	size_t i = x->k.prefix[a], k = x->k.prefix[b];
	struct part p = {.a = a, .b = b, .size = search_stage(&x->fast, i, k)};

	p.forward_s = x->s->forward_s[k] - x->s->forward_s[i];
	search_flights(&x->fast, i, k, &p.kept, &p.recomputed);
	return p;
}

void
part_fits(size_t fits[2], const struct placed_trial *x, const struct part *p, size_t m)
{
	fits[0] = stage_behind_most(&x->o->rules, m, p->kept);
	fits[1] = stage_behind_most(&x->o->rules, m, p->recomputed);
}

void
part_loads(
    struct part_load *load, const struct placed_trial *x, const struct part *p, size_t m)
{
	const struct cost_rules *r = &x->o->rules;
	struct stage_size slow = p->size;
	size_t l;

	slow.time_s += p->forward_s;
	memset(load, 0, sizeof(*load));
	part_fits(load->fits, x, p, m);
	for (l = 0; l < x->links.n_levels; l++) {
		load->own[0][l] = links_stage(&x->links, r, l, &p->size, m).load_s;
		load->own[1][l] = links_stage(&x->links, r, l, &slow, m).load_s;
		if (p->a > 0) { /* the first stage's transfers do not count */
			load->in[l] =
			    links_transfer(&x->links, r, l, p->size.in, m, false);
			load->out[l] =
			    links_transfer(&x->links, r, l, p->size.out, m, true);
		}
		/* further out links are slower */
		load->n_own[0] += load->own[0][l] <= x->limit_s;
		load->n_own[1] += load->own[1][l] <= x->limit_s;
		load->n_in += load->in[l] <= x->limit_s;
		load->n_out += load->out[l] <= x->limit_s;
	}
}

/* ---- pipelines ---- */

/* Levels over which a stage on m replicas is within the limit, transfers aside. */
static size_t
own_levels(const struct placed_trial *x, const struct stage_size *size, size_t m)
{
	size_t l = 0;

	while (l < x->links.n_levels &&
	       links_stage(&x->links, &x->o->rules, l, size, m).load_s <= x->limit_s)
		l++;
	return l;
}

/* Levels over which a stage of some prefix on m replicas can receive, or send. */
static uint8_t
transfer_levels(const struct placed_trial *x, size_t prefix, size_t m, bool sends)
{
	double bytes = x->s->out[prefix];
	size_t l = 0;

	while (l < x->links.n_levels &&
	       links_transfer(&x->links, &x->o->rules, l, bytes, m, sends) <= x->limit_s)
		l++;
	return (uint8_t)l;
}

/* Adds what m replicas of the stage make of the pipelines behind it. */
static void
add_part(struct placed_trial *x, const struct part *p, size_t m)
{
	size_t n = x->links.n, w = m + x->k.behind[p->b], most = n - x->k.before[p->a];
	size_t n_own[3] = {own_levels(x, &p->size, m), 0, 0}, fits[2];
	size_t n_in = x->n_in[p->a * (n + 1) + m],
	       n_out = p->a > 0 ? x->n_out[p->b * (n + 1) + m] : x->links.n_levels;
	uint16_t *to = x->kinds + p->a * (n + 1), behind;
	const uint16_t *from = x->kinds + p->b * (n + 1);
	struct stage_size slow = p->size;

	if (p->recomputed > p->kept) {
		slow.time_s += p->forward_s;
		n_own[1] = own_levels(x, &slow, m);
	}
	if (n_own[0] == 0) /* and less so where it recomputes */
		return;
	part_fits(fits, x, p, m);
	if (most > fits[0] && most > fits[1])
		most = fits[fits[0] < fits[1]];
	for (; w <= most; w++) {
		size_t first = n - w, level, reach;

		behind = from[w - m];
		if (behind == 0)
			continue;
		level = placed_level(x, first, m);
		if (p->b + 1 < x->k.size)
			behind &= x->after[level][n_out];
		if (behind == 0 || level >= n_own[part_flight(fits, w)])
			continue;
		if (p->a == 0) {
			to[w] |= kind(level, x->links.n_levels - 1);
		} else {
			reach = placed_level(x, first - 1, m + 1);
			if (reach < n_in)
				to[w] |= kind(reach, n_in - 1);
		}
	}
}

static void
count_transfers(struct placed_trial *x)
{
	size_t stride = x->links.n + 1, a, m;

	x->n_in = gv_xcalloc(x->k.size * stride, sizeof(*x->n_in));
	x->n_out = gv_xcalloc(x->k.size * stride, sizeof(*x->n_out));
	for (a = 0; a < x->k.size; a++)
		for (m = 1; m <= x->links.n; m++) {
			x->n_in[a * stride + m] =
			    transfer_levels(x, x->k.prefix[a], m, false);
			x->n_out[a * stride + m] =
			    transfer_levels(x, x->k.prefix[a], m, true);
		}
}

/* Whether the model has a pipeline on GPUs that it may use. */
static bool
any_plan(const struct placed_trial *x)
{
	size_t w = x->o->use == USE_ALL ? x->links.n : 1;

	while (w <= x->links.n && x->kinds[w] == 0)
		w++;
	return w <= x->links.n;
}

bool
placed_try(struct placed_trial *x, double limit_s)
{
	const struct context c = {.base = 0, .copies = 1};
	struct source all = {0, limit_s, INFINITY};
	size_t stride = x->links.n + 1, a, at, m;

	close_trial(x);
	x->limit_s = limit_s;
	column_open(&x->k, &x->fast, 0, &c, (uint32_t)x->s->n - 1, &all, 1);
	x->kinds = gv_xcalloc(x->k.size * stride, sizeof(*x->kinds));
	count_transfers(x);
	x->kinds[(x->k.size - 1) * stride] = kind(0, x->links.n_levels - 1);
	for (a = x->k.size - 1; a-- > 0;) {
		const struct ideals *s = x->s;
		size_t i = x->k.prefix[a];

		if (x->o->progress != NULL)
			x->o->progress(x->k.size - a, x->k.size);
		for (at = s->sup_at[i]; at < s->sup_at[i + 1]; at++) {
			size_t b = x->k.at[s->sup[at]] - 1;
			struct span span;
			struct part p;

			if ((size_t)x->k.before[a] + x->k.behind[b] >= x->links.n)
				continue;
			span = column_span(&x->k, a, b);
			if (span.low > span.high)
				continue;
			p = part_of(x, a, b);
			for (m = span.low; m <= span.high; m++)
				add_part(x, &p, m);
		}
		/* now it is known how many it needs where GPUs are */
		while (x->k.behind[a] <= x->links.n &&
		       x->kinds[a * stride + x->k.behind[a]] == 0)
			x->k.behind[a]++;
	}
	return any_plan(x);
}
