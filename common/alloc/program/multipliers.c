#include "multipliers.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void
gv_multipliers_alloc(struct gv_multipliers *to, size_t n, size_t m)
{
	to->gpu = gv_xcalloc(m, sizeof(*to->gpu));
	to->job = gv_xcalloc(n, sizeof(*to->job));
	to->time = gv_xcalloc(n, sizeof(*to->time));
	to->known = false;
}

void
gv_multipliers_free(struct gv_multipliers *mu)
{
	free(mu->gpu);
	free(mu->job);
	free(mu->time);
	*mu = (struct gv_multipliers){0};
}

void
gv_multipliers_of_level(struct gv_multipliers *to, const struct gv_problem *p,
    const size_t *of, const double *a, const struct gv_level *l)
{
	size_t i;

	if (to->gpu == NULL)
		return;
	memcpy(to->gpu, l->price, p->m * sizeof(*to->gpu));
	to->budget = l->budget;
	for (i = 0; l->time != NULL && i < p->n; i++)
		to->time[of != NULL ? of[i] : i] = l->time[i];
	for (i = 0; i < p->n; i++)
		to->job[of != NULL ? of[i] : i] =
		    l->lambda[i] > 0
			? l->lambda[i] * gv_level_per_step(p, a, i) / p->count[i]
			: 0;
	to->known = true;
}

void
gv_multipliers_of_linear(struct gv_multipliers *to, const struct gv_linear *l)
{
	const struct gv_problem *p = l->p;

	if (to->gpu == NULL)
		return;
	memcpy(to->gpu, l->price, p->m * sizeof(*to->gpu));
	memcpy(to->job, l->mu, p->n * sizeof(*to->job));
	if (l->time != NULL)
		memcpy(to->time, l->time, p->n * sizeof(*to->time));
	to->budget = l->budget;
	to->known = true;
}
