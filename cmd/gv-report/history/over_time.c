#include "over_time.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Room for the i-th, those that are new without anything. */
static struct bins *
grown(struct bins *b, size_t *n, size_t *cap, size_t i)
{
	if (i < *n)
		return b;
	b = gv_xgrow(b, cap, i + 1, sizeof(*b));
	memset(b + *n, 0, (i + 1 - *n) * sizeof(*b));
	*n = i + 1;
	return b;
}

static void
type_room(struct over_time *o, size_t type)
{
	size_t n = o->n_types;

	o->busy = grown(o->busy, &n, &o->cap_types, type);
	o->available = grown(o->available, &o->n_types, &o->cap_available, type);
}

void
over_time_available(
    struct over_time *o, size_t type, double from_s, double to_s, double gpus)
{
	type_room(o, type);
	bins_add(&o->available[type], from_s, to_s, gpus);
}

void
over_time_busy(struct over_time *o, size_t type, double from_s, double to_s, double gpus)
{
	type_room(o, type);
	bins_add(&o->busy[type], from_s, to_s, gpus);
}

size_t
gang_size(size_t gpus)
{
	size_t size = 0;

	while (size + 1 < GANG_SIZES && gang_size_most(size) < gpus)
		size++;
	return size;
}

size_t
gang_size_most(size_t size)
{
	return (size_t)1 << size;
}

void
over_time_run(struct over_time *o, size_t job, size_t entity, double from_s, double to_s,
    size_t gpus, const size_t *lane, size_t n_lanes)
{
	double level = (double)gpus;
	size_t i;

	bins_add(&o->running, from_s, to_s, 1);
	bins_add(&o->of_size[gang_size(gpus)], from_s, to_s, level);
	if (job < FIRST_JOBS)
		bins_add(&o->of_job[job], from_s, to_s, level);
	if (entity < MOST_ENTITIES) {
		o->of_entity =
		    grown(o->of_entity, &o->n_entities, &o->cap_entities, entity);
		bins_add(&o->of_entity[entity], from_s, to_s, level);
	}
	for (i = 0; i < n_lanes; i++)
		if (lane[i] < MOST_GPUS)
			moments_add(&o->moments, lane[i], (uint32_t)job, from_s, to_s);
}

void
over_time_free(struct over_time *o)
{
	free(o->busy);
	free(o->available);
	free(o->of_entity);
	moments_free(&o->moments);
	*o = (struct over_time){0};
}
