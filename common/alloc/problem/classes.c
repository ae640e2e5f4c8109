#include "classes.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

/* A class: what its jobs have in common, and the first of them. */
struct entry {
	double head;       /* key[0], which mostly decides */
	const double *key; /* rates, scale, weight, numbers, kind */
	size_t width;
	size_t first;
};

static int
compare(const void *a, const void *b)
{
	const struct entry *x = a;
	const struct entry *y = b;
	size_t i;

	if (x->head != y->head)
		return x->head < y->head ? -1 : 1;
	for (i = 1; i < x->width; i++)
		if (x->key[i] != y->key[i])
			return x->key[i] < y->key[i] ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

static size_t
key_width(const struct gv_problem *p)
{
	size_t width = p->m + 2;
	size_t k;

	for (k = 0; k < GV_N_NUMBERS; k++)
		width += p->number[k] != NULL;
	return width + (p->kind != NULL);
}

/* [jobs][width]: all that a policy looks at; + 0.0 makes -0 equal 0 in its bytes, too. */
static double *
make_keys(const struct gv_problem *p, size_t width)
{
	double *key = gv_xcalloc(p->n, width * sizeof(*key));
	size_t i, j, k;

	for (i = 0; i < p->n; i++) {
		for (j = 0; j < p->m; j++)
			key[i * width + j] = gv_problem_rate(p, i, j) + 0.0;
		key[i * width + p->m] = p->scale[i];
		key[i * width + p->m + 1] = p->weight[i];
		j = p->m + 2;
		for (k = 0; k < GV_N_NUMBERS; k++)
			if (p->number[k] != NULL)
				key[i * width + j++] = p->number[k][i] + 0.0;
		if (p->kind != NULL)
			key[i * width + j] = (double)p->kind[i];
	}
	return key;
}

/* Finds the classes in order of their first jobs: of[], and one entry each.  Their number. */
static size_t
find_classes(struct entry *entry, size_t *of, const double *key, size_t n, size_t width,
    bool merge)
{
	struct gv_hash hash = {0};
	size_t i, found = 0;

	for (i = 0; i < n; i++) {
		const double *k = &key[i * width];

		of[i] =
		    merge ? gv_hash_add(&hash, (const char *)k, width * sizeof(*k)) : i;
		if (of[i] == found)
			entry[found++] = (struct entry){k[0], k, width, i};
	}
	gv_hash_free(&hash);
	return found;
}

void
gv_classes_make(struct gv_classes *c, const struct gv_problem *jobs, bool merge)
{
	size_t width = key_width(jobs);
	double *key = make_keys(jobs, width);
	struct entry *entry = gv_xcalloc(jobs->n, sizeof(*entry));
	size_t *rank;
	size_t i, j, k, n;

	c->of = gv_xcalloc(jobs->n, sizeof(*c->of));
	n = find_classes(entry, c->of, key, jobs->n, width, merge);
	qsort(entry, n, sizeof(*entry), compare);
	gv_problem_alloc(&c->p, n, jobs->m);
	memcpy(c->p.capacity, jobs->capacity, jobs->m * sizeof(*jobs->capacity));
	memcpy(c->p.price, jobs->price, jobs->m * sizeof(*jobs->price));
	gv_problem_refer(&c->p, jobs->reference);
	c->p.budget = jobs->budget;
	for (k = 0; k < GV_N_NUMBERS; k++)
		gv_problem_ask(&c->p, jobs->number[k] != NULL ? 1u << k : 0);
	c->p.together = jobs->together;
	c->p.tree = jobs->tree;
	if (jobs->kind != NULL)
		c->p.kind = gv_xcalloc(n, sizeof(*c->p.kind));
	rank = gv_xcalloc(n, sizeof(*rank));
	for (i = 0; i < n; i++) {
		size_t job = entry[i].first;

		rank[c->of[job]] = i;
		for (j = 0; j < jobs->m; j++)
			c->p.rate[i * jobs->m + j] = gv_problem_rate(jobs, job, j);
		c->p.scale[i] = jobs->scale[job];
		if (jobs->kind != NULL)
			c->p.kind[i] = jobs->kind[job];
		c->p.weight[i] = jobs->weight[job];
		for (k = 0; k < GV_N_NUMBERS; k++)
			if (jobs->number[k] != NULL)
				c->p.number[k][i] = jobs->number[k][job];
	}
	for (i = 0; i < jobs->n; i++) {
		c->of[i] = rank[c->of[i]];
		c->p.count[c->of[i]] += jobs->count[i];
	}
	free(rank);
	free(entry);
	free(key);
}

void
gv_classes_disaggregate(
    const struct gv_classes *c, size_t n_jobs, const double *class_x, double *x)
{
	size_t m = c->p.m;
	size_t i;

	for (i = 0; i < n_jobs; i++)
		memcpy(&x[i * m], &class_x[c->of[i] * m], m * sizeof(*x));
}

void
gv_classes_free(struct gv_classes *c)
{
	gv_problem_free(&c->p);
	free(c->of);
	c->of = NULL;
}
