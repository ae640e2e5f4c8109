#include "disaggregate.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"

/* The jobs of each class, by their ranks. */
struct members {
	size_t *first; /* [classes + 1] */
	size_t *job;
};

static void
members_make(
    struct members *m, const struct gv_classes *c, size_t n_jobs, const size_t *rank)
{
	size_t *by_rank = gv_xcalloc(n_jobs, sizeof(*by_rank));
	size_t *at = gv_xcalloc(c->p.n, sizeof(*at));
	size_t i;

	m->first = gv_xcalloc(c->p.n + 1, sizeof(*m->first));
	m->job = gv_xcalloc(n_jobs, sizeof(*m->job));
	for (i = 0; i < n_jobs; i++) {
		by_rank[rank[i]] = i;
		m->first[c->of[i] + 1]++;
	}
	for (i = 0; i < c->p.n; i++)
		m->first[i + 1] += m->first[i];
	for (i = 0; i < n_jobs; i++) {
		size_t class = c->of[by_rank[i]];

		m->job[m->first[class] + at[class]++] = by_rank[i];
	}
	free(by_rank);
	free(at);
}

struct pair_list {
	struct gv_pair *pair;
	size_t n, cap;
};

static void
add(struct pair_list *d, const struct gv_pair *of, size_t a, size_t b, double x)
{
	d->pair = gv_xgrow(d->pair, &d->cap, d->n + 1, sizeof(*d->pair));
	d->pair[d->n] = *of;
	d->pair[d->n].a = a;
	d->pair[d->n].b = b;
	d->pair[d->n++].x = x;
}

/* Inside a class of n jobs: each with the next; of two jobs that is one pair. */
static void
ring(struct pair_list *d, const struct gv_pair *of, const size_t *job, size_t n)
{
	size_t i;

	if (n == 2) {
		add(d, of, job[0], job[1], of->x);
		return;
	}
	for (i = 0; i < n; i++)
		add(d, of, job[i], job[(i + 1) % n], of->x / (double)n);
}

/*
 * Job i of n has the part [i/n, (i+1)/n] of what there is, job k of the others' m
 * [k/m, (k+1)/m]; two have together what their parts have in common.
 */
static void
north_west(struct pair_list *d, const struct gv_pair *of, const size_t *a, size_t n,
    const size_t *b, size_t m)
{
	double size = of->x / ((double)n * (double)m);
	size_t i = 0, k = 0;
	uint64_t from = 0;

	while (i < n && k < m) {
		uint64_t end_a = (uint64_t)(i + 1) * m, end_b = (uint64_t)(k + 1) * n;
		uint64_t to = end_a < end_b ? end_a : end_b;

		add(d, of, a[i], b[k], size * (double)(to - from));
		from = to;
		i += end_a == to;
		k += end_b == to;
	}
}

struct gv_pair *
gv_disaggregate_pairs(const struct gv_classes *c, size_t n_jobs, const size_t *rank,
    const struct gv_pair *pair, size_t n_pairs, size_t *n)
{
	struct pair_list d = {0};
	struct members m;
	size_t i;

	members_make(&m, c, n_jobs, rank);
	for (i = 0; i < n_pairs; i++) {
		const struct gv_pair *p = &pair[i];
		const size_t *a = m.job + m.first[p->a], *b = m.job + m.first[p->b];
		size_t n_a = m.first[p->a + 1] - m.first[p->a];
		size_t n_b = m.first[p->b + 1] - m.first[p->b];

		if (p->a == p->b)
			ring(&d, p, a, n_a);
		else
			north_west(&d, p, a, n_a, b, n_b);
	}
	free(m.first);
	free(m.job);
	*n = d.n;
	return d.pair;
}
