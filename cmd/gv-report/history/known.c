#include "known.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t
history_number(
    struct history *h, struct gv_hash *hash, const char *s, size_t len, bool *is_new)
{
	ptrdiff_t i = gv_hash_find(hash, s, len);

	*is_new = i < 0;
	if (i >= 0)
		return (size_t)i;
	return gv_hash_add(hash, gv_arena_strndup(&h->arena, s, len), len);
}

size_t
history_type(struct history *h, struct gv_cell name)
{
	bool is_new;
	size_t i = history_number(h, &h->types, name.s, name.len, &is_new);

	if (is_new) {
		h->type = gv_xgrow(h->type, &h->cap_types, i + 1, sizeof(*h->type));
		h->type[i] = (struct gpu_type){.name = h->types.key[i].s,
		    .name_len = name.len,
		    .since_s = h->last_s};
		h->n_types = i + 1;
	}
	return i;
}

struct job *
history_job(struct history *h, const struct gv_cell *id, double now)
{
	bool is_new;
	size_t i = history_number(h, &h->jobs, id->s, id->len, &is_new);

	if (is_new) {
		h->job = gv_xgrow(h->job, &h->cap_jobs, i + 1, sizeof(*h->job));
		h->job[i] = (struct job){.id = h->jobs.key[i].s,
		    .id_len = id->len,
		    .entity = "",
		    .entity_no = history_number(h, &h->entities, "", 0, &is_new),
		    .arrival_s = now,
		    .start_s = NAN,
		    .left_s = NAN,
		    .steps = NAN,
		    .total_steps = NAN};
		h->n_jobs = i + 1;
	}
	return &h->job[i];
}

struct use *
history_use(struct history *h, struct job *j, size_t type)
{
	struct use **at = &j->use;
	struct use *u;

	while (*at != NULL && (*at)->type < type)
		at = &(*at)->next;
	if (*at != NULL && (*at)->type == type)
		return *at;
	u = gv_arena_alloc(&h->arena, 1, sizeof(*u));
	*u = (struct use){.next = *at, .type = type, .steps = NAN};
	*at = u;
	return u;
}
