#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/strbuf.h"

static void
find_classes(struct plan *p, const struct gv_rates *jobs)
{
	struct gv_hash classes = {0};
	struct gv_arena keys = {0};
	struct gv_strbuf key = {0};
	size_t i;

	for (i = 0; i < jobs->n_jobs; i++) {
		const struct gv_job *job = &jobs->job[i];
		const char *copy;
		size_t class;

		gv_strbuf_clear(&key);
		if (job->job_type.len > 0)
			gv_strbuf_fmt(&key, "%lld ", (long long)job->scale_factor);
		else
			gv_strbuf_fmt(
			    &key, "job %zu", i); /* no number before the space */
		gv_strbuf_add(&key, job->job_type.s, job->job_type.len);
		copy = gv_arena_strndup(&keys, key.s, key.len);
		class = gv_hash_add(&classes, copy, key.len);
		if (class == p->n_classes)
			p->job[p->n_classes++] = i;
		p->class_of[i] = class;
	}
	gv_strbuf_free(&key);
	gv_arena_free(&keys);
	gv_hash_free(&classes);
}

/* Takes what the user knows into the cells. */
static int
take_known(struct plan *p, const struct gv_rates *jobs, const struct gv_cluster *cluster,
    const struct gv_frame *throughputs, struct gv_error *e)
{
	size_t *missing = gv_xcalloc(jobs->n_jobs, sizeof(*missing));
	struct gv_hash ids = {0};
	struct gv_frame joined;
	ptrdiff_t column;
	size_t i, n_missing;
	int rc = gv_rates_join(&joined, jobs, throughputs, missing, &n_missing, e);

	free(missing);
	if (rc != 0 || gv_rates_from(&p->known, &joined, cluster, e) != 0)
		return -1;
	for (i = 0; i < jobs->n_jobs; i++)
		gv_hash_add(&ids, jobs->job[i].id.s, jobs->job[i].id.len);
	column = gv_frame_find(&p->known.frame, "steps_per_s");
	for (i = 0; i < p->known.n_rates; i++) {
		const struct gv_rate *rate = &p->known.rate[i];
		struct gv_cell id = p->known.job[rate->job].id;
		struct cell *c;

		if (rate->type < 0)
			continue;
		c = plan_cell(
		    p, p->class_of[gv_hash_find(&ids, id.s, id.len)], (size_t)rate->type);
		c->source = KNOWN;
		c->text = gv_frame_cell(&p->known.frame, rate->row, column);
		c->steps_per_s = rate->steps_per_s;
	}
	gv_hash_free(&ids);
	return 0;
}

int
plan_make(struct plan *p, const struct gv_rates *jobs, const struct gv_cluster *cluster,
    const struct gv_frame *known, struct gv_error *e)
{
	size_t class, type;

	*p = (struct plan){.n_types = cluster->n_types};
	p->class_of = gv_xcalloc(jobs->n_jobs, sizeof(*p->class_of));
	p->job = gv_xcalloc(jobs->n_jobs, sizeof(*p->job));
	find_classes(p, jobs);
	p->cell = gv_xcalloc(p->n_classes, p->n_types * sizeof(*p->cell));
	if (known != NULL && take_known(p, jobs, cluster, known, e) != 0) {
		plan_free(p);
		return -1;
	}
	for (class = 0; class < p->n_classes; class ++)
		for (type = 0; type < p->n_types; type++) {
			struct cell *c = plan_cell(p, class, type);
			int64_t scale = jobs->job[p->job[class]].scale_factor;

			if (c->source == TO_MEASURE &&
			    (size_t)scale > cluster->type[type].gpus)
				c->source = RUNS_NOT;
		}
	return 0;
}

void
plan_free(struct plan *p)
{
	free(p->class_of);
	free(p->job);
	free(p->pair);
	free(p->cell);
	gv_rates_free(&p->known);
	*p = (struct plan){0};
}

/* ---- pairs ---- */

/* The second job of a class, or where there is none the first once more. */
static size_t
second_job(const struct plan *p, const struct gv_rates *jobs, size_t class)
{
	size_t i;

	for (i = p->job[class] + 1; i < jobs->n_jobs; i++)
		if (p->class_of[i] == class)
			return i;
	return p->job[class];
}

/* What is to be measured has a rate only when it is measured. */
static void
spare_pairs(struct plan *p, bool measured)
{
	size_t i, type, k;

	for (i = 0; i < p->n_pairs; i++)
		for (type = 0; type < p->n_types; type++) {
			struct cell *c = plan_cell(p, p->n_classes + i, type);

			for (k = 0; k < 2; k++) {
				const struct cell *one =
				    plan_cell(p, p->pair[i].class[k], type);

				if (one->source == UNMEASURED)
					c->source = UNMEASURED;
				else if (c->source == TO_MEASURE &&
					 one->steps_per_s == 0 &&
					 (measured || one->source != TO_MEASURE))
					c->source = RUNS_NOT;
			}
		}
}

void
plan_add_pairs(struct plan *p, const struct gv_rates *jobs)
{
	size_t most = p->n_classes * (p->n_classes + 1) / 2, a, b;

	p->pair = gv_xcalloc(most, sizeof(*p->pair));
	for (a = 0; a < p->n_classes; a++)
		for (b = a; b < p->n_classes; b++) {
			const struct gv_job *x = &jobs->job[p->job[a]],
					    *y = &jobs->job[p->job[b]];

			if (x->scale_factor != y->scale_factor ||
			    (a == b && x->job_type.len == 0))
				continue;
			p->pair[p->n_pairs++] = (struct pair){.class = {a, b},
			    .job = {
				p->job[a], a == b ? second_job(p, jobs, a) : p->job[b]}};
		}
	a = p->n_classes * p->n_types;
	b = (p->n_classes + p->n_pairs) * p->n_types;
	p->cell = gv_xrealloc(p->cell, b, sizeof(*p->cell));
	memset(p->cell + a, 0, (b - a) * sizeof(*p->cell));
	spare_pairs(p, false);
}

void
plan_spare_pairs(struct plan *p)
{
	spare_pairs(p, true);
}

size_t
plan_job(const struct plan *p, size_t row, size_t which)
{
	return row < p->n_classes ? p->job[row] : p->pair[row - p->n_classes].job[which];
}

struct cell *
plan_cell(const struct plan *p, size_t row, size_t type)
{
	return &p->cell[row * p->n_types + type];
}

size_t
plan_count(const struct plan *p, enum source source)
{
	size_t i, n = 0;

	for (i = 0; i < (p->n_classes + p->n_pairs) * p->n_types; i++)
		n += p->cell[i].source == source;
	return n;
}
