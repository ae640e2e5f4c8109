#include "sched/rounds/rounds.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sorted.h"
#include "sched/rounds/view.h"

/* ---- state ---- */

void
gv_rounds_init(struct gv_rounds *r, const struct gv_cluster *c, double round_s)
{
	size_t p;
	size_t i;

	*r = (struct gv_rounds){
	    .n_types = c->n_types, .n_pools = c->n_pools, .round_s = round_s};
	r->pool = gv_xcalloc(c->n_pools + 1, sizeof(*r->pool));
	for (p = 0; p < c->n_pools; p++) {
		r->pool[p] =
		    (struct gv_round_pool){c->pool[p].type, r->n_gpus, c->pool[p].gpus};
		r->n_gpus += c->pool[p].gpus;
	}
	r->gpu_pool = gv_xcalloc(r->n_gpus + 1, sizeof(*r->gpu_pool));
	r->turn = gv_xcalloc(r->n_types + 1, sizeof(*r->turn));
	for (i = 0; i < r->n_types; i++)
		r->turn[i] = i;
	for (p = 0; p < c->n_pools; p++)
		for (i = 0; i < r->pool[p].gpus; i++)
			r->gpu_pool[r->pool[p].first + i] = p;
}

void
gv_rounds_free(struct gv_rounds *r)
{
	free(r->pool);
	free(r->gpu_pool);
	free(r->turn);
	free(r->job);
	free(r->claim);
	free(r->live);
	free(r->fresh);
	free(r->pair);
	gv_hash_free(&r->pairs);
	gv_arena_free(&r->arena);
	*r = (struct gv_rounds){0};
}

size_t
gv_rounds_add(struct gv_rounds *r, size_t gang)
{
	size_t n = r->n_jobs;

	r->job = gv_xgrow(r->job, &r->cap_jobs, n + 1, sizeof(*r->job));
	r->claim =
	    gv_xgrow(r->claim, &r->cap_claims, (n + 1) * r->n_types, sizeof(*r->claim));
	r->job[n] = (struct gv_round_job){
	    .gang = gang, .ready = true, .member = {n, n}, .pairs = -1, .held = -1};
	memset(&r->claim[n * r->n_types], 0, r->n_types * sizeof(*r->claim));
	return r->n_jobs++;
}

/* ---- those that are active ---- */

/* Puts m into the list, or takes it out, as it is active or not. */
static void
list(struct gv_rounds *r, size_t m)
{
	bool active = gv_rounds_is_active(r, m);
	size_t i = gv_sorted_place(r->live, r->n_live, m);

	if (active == r->job[m].live)
		return;
	if (active) {
		r->live =
		    gv_xgrow(r->live, &r->cap_live, r->n_live + 1, sizeof(*r->live));
		gv_sorted_insert(r->live, &r->n_live, i, m);
		r->job[m].live = true;
		r->job[m].counted_s = r->now_s;
		gv_rounds_touch(r, m);
	} else {
		gv_rounds_touch(r, m);
		r->job[m].live = false;
		gv_sorted_remove(r->live, &r->n_live, i);
	}
	if (i < r->n_placed)
		r->n_placed = i;
}

size_t
gv_rounds_place(struct gv_rounds *r, size_t m)
{
	for (; r->n_placed < r->n_live; r->n_placed++)
		r->job[r->live[r->n_placed]].place = r->n_placed;
	return r->job[m].place;
}

void
gv_rounds_set_active(struct gv_rounds *r, size_t job, bool active)
{
	ptrdiff_t pair = r->job[job].pairs;

	r->job[job].active = active;
	list(r, job);
	while (pair >= 0) {
		const struct gv_round_job *p = &r->job[pair];

		list(r, (size_t)pair);
		pair = p->next[p->member[1] == job];
	}
}

/* ---- pairs ---- */

struct pair_key {
	size_t job[2];
};

static struct pair_key
pair_key(size_t a, size_t b)
{
	return (struct pair_key){{a < b ? a : b, a < b ? b : a}};
}

ptrdiff_t
gv_rounds_find_pair(const struct gv_rounds *r, size_t a, size_t b)
{
	struct pair_key key = pair_key(a, b);
	ptrdiff_t i = gv_hash_find(&r->pairs, (const char *)&key, sizeof(key));

	return i < 0 ? -1 : (ptrdiff_t)r->pair[i];
}

size_t
gv_rounds_pair(struct gv_rounds *r, size_t a, size_t b)
{
	ptrdiff_t known = gv_rounds_find_pair(r, a, b);
	struct pair_key *key;
	size_t i;
	size_t n;

	if (known >= 0)
		return (size_t)known;
	key = gv_arena_alloc(&r->arena, 1, sizeof(*key));
	*key = pair_key(a, b);
	i = gv_hash_add(&r->pairs, (const char *)key, sizeof(*key));
	r->pair = gv_xgrow(r->pair, &r->cap_pairs, i + 1, sizeof(*r->pair));
	n = gv_rounds_add(r, r->job[a].gang);
	r->job[n].member[0] = a;
	r->job[n].member[1] = b;
	r->job[n].next[0] = r->job[a].pairs;
	r->job[n].next[1] = r->job[b].pairs;
	r->job[a].pairs = r->job[b].pairs = (ptrdiff_t)n;
	list(r, n);
	return r->pair[i] = n;
}

ptrdiff_t
gv_rounds_join(const struct gv_rounds *r, ptrdiff_t owner, size_t job)
{
	return owner < 0 ? (ptrdiff_t)job : gv_rounds_find_pair(r, (size_t)owner, job);
}

ptrdiff_t
gv_rounds_leave(const struct gv_rounds *r, ptrdiff_t owner, size_t job)
{
	const size_t *member;

	if (!gv_rounds_has(r, owner, job))
		return owner;
	member = r->job[owner].member;
	if (member[0] == member[1])
		return GV_GPU_IDLE;
	return (ptrdiff_t)(member[0] == job ? member[1] : member[0]);
}

/* ---- what is known of them ---- */

size_t
gv_rounds_type(const struct gv_rounds *r, size_t gpu)
{
	return r->pool[r->gpu_pool[gpu]].type;
}

static size_t
type_gpus(const struct gv_rounds *r, size_t type)
{
	size_t n = 0;
	size_t p;

	for (p = 0; p < r->n_pools; p++)
		if (r->pool[p].type == type)
			n += r->pool[p].gpus;
	return n;
}

bool
gv_rounds_possible(const struct gv_rounds *r, size_t job)
{
	size_t j;

	for (j = 0; j < r->n_types; j++)
		if (gv_rounds_claim(r, job, j)->rate > 0 &&
		    r->job[job].gang <= type_gpus(r, j))
			return true;
	return false;
}

void
gv_rounds_hold(struct gv_rounds *r, const ptrdiff_t *owner, double seconds)
{
	bool *seen = gv_xcalloc(r->n_jobs + 1, sizeof(*seen));
	size_t i;

	for (i = 0; i < r->n_gpus; i++) {
		if (owner[i] < 0 || seen[owner[i]])
			continue;
		seen[owner[i]] = true;
		gv_rounds_credit(r, (size_t)owner[i], gv_rounds_type(r, i), seconds);
	}
	free(seen);
}
