#include "previous.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void
gv_previous_free(struct gv_previous *v)
{
	size_t i;

	for (i = 0; i < v->names.n; i++)
		free(v->name[i]);
	gv_hash_free(&v->names);
	free(v->name);
	free(v->share);
	memset(v, 0, sizeof(*v));
}

void
gv_previous_clear(struct gv_previous *v, size_t n_types)
{
	gv_previous_free(v);
	v->m = n_types;
}

void
gv_previous_add(struct gv_previous *v, struct gv_cell job, size_t type, double share)
{
	ptrdiff_t k = gv_hash_find(&v->names, job.s, job.len);

	if (k < 0) {
		char *name = gv_xstrdup(job.s);

		k = (ptrdiff_t)gv_hash_add(&v->names, name, job.len);
		v->name = gv_xgrow(v->name, &v->cap_name, v->names.n, sizeof(*v->name));
		v->name[k] = name;
		v->share = gv_xgrow(
		    v->share, &v->cap_share, v->names.n * v->m, sizeof(*v->share));
		memset(&v->share[(size_t)k * v->m], 0, v->m * sizeof(*v->share));
	}
	v->share[(size_t)k * v->m + type] += share;
}

void
gv_previous_from(
    struct gv_previous *v, const struct gv_rates *r, const struct gv_cluster *c)
{
	size_t i;

	gv_previous_clear(v, c->n_types);
	for (i = 0; i < r->n_rates; i++) {
		const struct gv_rate *rate = &r->rate[i];

		if (rate->type < 0)
			continue;
		gv_previous_add(v, r->job[rate->job].id, (size_t)rate->type, rate->share);
		if (rate->with >= 0)
			gv_previous_add(
			    v, r->job[rate->with].id, (size_t)rate->type, rate->share);
	}
}

const double *
gv_previous_find(const struct gv_previous *v, struct gv_cell job)
{
	ptrdiff_t k = gv_hash_find(&v->names, job.s, job.len);

	return k < 0 ? NULL : &v->share[(size_t)k * v->m];
}
