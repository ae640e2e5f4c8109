/*
 * Varies a plan of one pipeline: moves cuts and replicas while that makes it
 * faster.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "rank_vary.h"

/* A pipeline as its cuts. */
struct shape {
	size_t n;
	size_t *at;       /* [n + 1] prefixes: stage k is between at[k] and at[k + 1] */
	size_t *replicas; /* [n] */
	size_t *type;     /* [n] of GPUs */
};

struct varying {
	const struct vary *v;
	const struct gv_stage *old; /* of the plan that is varied */
	bool levels;                /* only cuts move */
	size_t tries;
	struct shape now;
	struct gv_plan best; /* the plan of now */
	double best_s;
};

static struct shape
shape_new(size_t n)
{
	struct shape s = {.n = n};

	s.at = gv_xcalloc(n + 2, sizeof(*s.at));
	s.replicas = gv_xcalloc(n + 1, sizeof(*s.replicas));
	s.type = gv_xcalloc(n + 1, sizeof(*s.type));
	return s;
}

static void
shape_free(struct shape *s)
{
	free(s->at);
	free(s->replicas);
	free(s->type);
}

static struct shape
shape_copy(const struct shape *s)
{
	struct shape c = shape_new(s->n + 1); /* with room for one stage more */

	c.n = s->n;
	memcpy(c.at, s->at, (s->n + 1) * sizeof(*c.at));
	memcpy(c.replicas, s->replicas, s->n * sizeof(*c.replicas));
	memcpy(c.type, s->type, s->n * sizeof(*c.type));
	return c;
}

static size_t
gpus_of(const struct shape *s)
{
	size_t n = 0, k;

	for (k = 0; k < s->n; k++)
		n += s->replicas[k];
	return n;
}

/* GPUs of a type that no stage has. */
static size_t
idle(const struct varying *x, const struct shape *s, size_t type)
{
	size_t n = x->v->fleet != NULL ? x->v->fleet->type[type].gpus : x->v->gpus, k;

	for (k = 0; k < s->n; k++)
		n -= s->type[k] == type ? s->replicas[k] : 0;
	return n;
}

/* Bytes of a GPU of a type; 0 = no limit. */
static double
memory_of(const struct varying *x, size_t type)
{
	return x->v->fleet != NULL ? x->v->fleet->type[type].memory
				   : x->v->o->rules.memory;
}

/* The prefix of the layers of the stages below end, or 0 when it is none of them. */
static size_t
prefix_of(const struct vary *v, const struct gv_plan *p, size_t end)
{
	const struct ideals *s = v->s;
	uint64_t *bits = gv_xcalloc(s->words, sizeof(*bits));
	size_t i;

	for (i = 0; i < v->g->n; i++)
		if (p->of[i] < end)
			bits[i / 64] |= (uint64_t)1 << (i % 64);
	for (i = s->n - 1; i > 0; i--)
		if (memcmp(bits, s->bits + i * s->words, s->words * sizeof(*bits)) == 0)
			break;
	free(bits);
	return i;
}

/* Bytes of the stage, all kept, with as many in flight as its place in the pipeline asks for. */
static double
bytes_of(const struct varying *x, const struct shape *s, size_t k)
{
	const struct ideals *d = x->v->s;
	const struct stage_size size = {
	    .parameter = d->parameter[s->at[k + 1]] - d->parameter[s->at[k]]};
	size_t behind = 0, i;

	for (i = k; i < s->n; i++)
		behind += s->replicas[i];
	return stage_memory(&x->v->o->rules, &size,
	    d->activation[s->at[k + 1]] - d->activation[s->at[k]],
	    stage_in_flight(&x->v->o->rules, s->replicas[k], behind), false);
}

static struct gv_plan
plan_of(const struct varying *x, const struct shape *s)
{
	const struct cost_rules *r = &x->v->o->rules;
	struct gv_plan p = {.n = s->n, .fleet = x->v->fleet};
	double memory;
	size_t k, i;

	p.stage = gv_xcalloc(s->n, sizeof(*p.stage));
	p.of = gv_xcalloc(x->v->g->n, sizeof(*p.of));
	for (k = 0; k < s->n; k++) {
		if (x->levels) {
			p.stage[k] = x->old[k];
		} else {
			p.stage[k].within[0] = k;
			p.stage[k].replicas[0] = s->replicas[k];
			p.stage[k].type = s->type[k];
		}
		memory = memory_of(x, s->type[k]);
		p.stage[k].recompute = r->recompute == RECOMPUTE_FULL ||
				       (r->recompute == RECOMPUTE_AUTO && memory > 0 &&
					   bytes_of(x, s, k) > memory);
		for (i = 0; i < x->v->g->n; i++)
			if (ideals_has(x->v->s, s->at[k + 1], i) &&
			    !ideals_has(x->v->s, s->at[k], i))
				p.of[i] = (uint32_t)k;
	}
	return p;
}

/* Takes the shape over; goes on from it when it is faster, or as fast on fewer GPUs. */
static bool
better(struct varying *x, struct shape s)
{
	struct gv_plan p;
	double step_s;

	if (x->tries == 0) {
		shape_free(&s);
		return false;
	}
	x->tries--;
	p = plan_of(x, &s);
	step_s = x->v->step_s(x->v->ctx, &p);
	if (!(step_s < x->best_s * (1 - 1e-9)) &&
	    !(step_s <= x->best_s && gpus_of(&s) < gpus_of(&x->now))) {
		gv_plan_free(&p);
		shape_free(&s);
		return false;
	}
	x->best_s = step_s;
	shape_free(&x->now);
	x->now = s;
	gv_plan_free(&x->best);
	x->best = p;
	return true;
}

/* ---- moves ---- */

struct place {
	double time_s;
	size_t prefix;
};

static int
by_time(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->time_s < y->time_s || x->time_s > y->time_s)
		return x->time_s < y->time_s ? -1 : 1;
	return (x->prefix > y->prefix) - (x->prefix < y->prefix);
}

/* Where the cut between prefixes from and to can be, by the time in front of it: how many. */
static size_t
places_between(const struct ideals *s, size_t from, size_t to, struct place **place)
{
	size_t i, n = 0;

	*place = gv_xcalloc(s->n, sizeof(**place));
	for (i = from + 1; i < to; i++)
		if (ideals_sub(s, from, i) && ideals_sub(s, i, to))
			(*place)[n++] = (struct place){s->time_s[i], i};
	qsort(*place, n, sizeof(**place), by_time);
	return n;
}

/* Moves the cut in front of stage k by 1, 2, 4 ... places, back and forth. */
static bool
move_cut(struct varying *x, size_t k)
{
	struct place *place;
	size_t n = places_between(x->v->s, x->now.at[k - 1], x->now.at[k + 1], &place);
	size_t at = 0, by;
	bool good = false;

	while (at < n && place[at].prefix != x->now.at[k])
		at++;
	for (by = 1; by < n && !good; by *= 2) {
		struct shape s;

		if (at >= by) {
			s = shape_copy(&x->now);
			s.at[k] = place[at - by].prefix;
			good = better(x, s);
		}
		if (!good && at + by < n) {
			s = shape_copy(&x->now);
			s.at[k] = place[at + by].prefix;
			good = better(x, s);
		}
	}
	free(place);
	return good;
}

/* Gives stage k one replica more, from a stage j or (j = k) an idle GPU. */
static bool
move_replica(struct varying *x, size_t k, size_t j)
{
	struct shape s;

	if (j == k ? idle(x, &x->now, x->now.type[k]) == 0
		   : x->now.replicas[j] < 2 || x->now.type[j] != x->now.type[k])
		return false;
	s = shape_copy(&x->now);
	s.replicas[k]++;
	if (j != k)
		s.replicas[j]--;
	return better(x, s);
}

static bool
drop_replica(struct varying *x, size_t k)
{
	struct shape s;

	if (x->now.replicas[k] < 2)
		return false;
	s = shape_copy(&x->now);
	s.replicas[k]--;
	return better(x, s);
}

/* Puts stage k on idle GPUs of another type, at most as many as there are. */
static bool
change_type(struct varying *x, size_t k, size_t type, size_t replicas)
{
	struct shape s;

	if (type == x->now.type[k] || replicas == 0 || replicas > idle(x, &x->now, type))
		return false;
	s = shape_copy(&x->now);
	s.type[k] = type;
	s.replicas[k] = replicas;
	return better(x, s);
}

/* Makes stages k - 1 and k one, of so many replicas of a type. */
static bool
join(struct varying *x, size_t k, size_t replicas, size_t type)
{
	struct shape s = shape_copy(&x->now);

	s.replicas[k - 1] = replicas;
	s.type[k - 1] = type;
	s.n--;
	memmove(&s.at[k], &s.at[k + 1], (s.n + 1 - k) * sizeof(*s.at));
	memmove(&s.replicas[k], &s.replicas[k + 1], (s.n - k) * sizeof(*s.replicas));
	memmove(&s.type[k], &s.type[k + 1], (s.n - k) * sizeof(*s.type));
	return better(x, s);
}

/* On the GPUs of one of the two; or, where they are of one type, on all of them. */
static bool
join_some_way(struct varying *x, size_t k)
{
	size_t a = x->now.replicas[k - 1], b = x->now.replicas[k];
	size_t type = x->now.type[k - 1], other = x->now.type[k];

	if (type != other)
		return join(x, k, a, type) || join(x, k, b, other);
	return join(x, k, a > b ? a : b, type) ||
	       (!x->v->o->straight && join(x, k, a + b, type));
}

/* Makes two of stage k, the first on so many of its GPUs and with as large a part of its work. */
static bool
part(struct varying *x, size_t k, size_t first)
{
	const struct ideals *d = x->v->s;
	double from_s = d->time_s[x->now.at[k]], to_s = d->time_s[x->now.at[k + 1]], want;
	struct place *place;
	size_t n, i;
	struct shape s;
	bool good = false;

	want = from_s + (to_s - from_s) * (double)first / (double)x->now.replicas[k];
	n = places_between(d, x->now.at[k], x->now.at[k + 1], &place);
	for (i = 0; i + 1 < n && place[i].time_s < want; i++)
		;
	if (n > 0) {
		s = shape_copy(&x->now);
		memmove(&s.at[k + 2], &s.at[k + 1], (s.n - k) * sizeof(*s.at));
		memmove(
		    &s.replicas[k + 1], &s.replicas[k], (s.n - k) * sizeof(*s.replicas));
		memmove(&s.type[k + 1], &s.type[k], (s.n - k) * sizeof(*s.type));
		s.at[k + 1] = place[i].prefix;
		s.replicas[k] = first;
		s.replicas[k + 1] -= first;
		s.n++;
		good = better(x, s);
	}
	free(place);
	return good;
}

/* One round over all moves; whether any was good. */
static bool
round_of_moves(struct varying *x)
{
	bool good = false;
	size_t k, j;

	for (k = 1; k < x->now.n; k++)
		good |= move_cut(x, k);
	if (x->levels)
		return good;
	for (k = 0; k < x->now.n && !x->v->o->straight; k++) {
		for (j = 0; j < x->now.n; j++)
			good |= move_replica(x, k, j);
		good |= drop_replica(x, k);
	}
	for (k = 1; k < x->now.n; k++)
		good |= join_some_way(x, k);
	for (k = 0; k < x->now.n && x->v->fleet != NULL; k++)
		for (j = 0; j < x->v->fleet->n; j++)
			good |= change_type(x, k, j, x->now.replicas[k]) ||
				(!x->v->o->straight &&
				    change_type(x, k, j, idle(x, &x->now, j)));
	for (k = 0; k < x->now.n; k++) {
		if (x->now.replicas[k] > 1)
			good |= part(x, k, x->now.replicas[k] - 1);
		if (x->now.replicas[k] > 2)
			good |= part(x, k, x->now.replicas[k] / 2);
	}
	return good;
}

double
vary(struct gv_plan *p, double step_s, const struct vary *v)
{
	struct varying x = {.v = v,
	    .old = p->stage,
	    .levels = v->levels,
	    .tries = v->tries,
	    .best_s = step_s};
	size_t k;

	memset(&x.best, 0, sizeof(x.best));
	x.now = shape_new(p->n);
	x.now.at[p->n] = v->s->n - 1;
	for (k = 0; k < p->n; k++) {
		x.now.at[k] = k == 0 ? 0 : prefix_of(v, p, k);
		x.now.replicas[k] = p->stage[k].replicas[0];
		x.now.type[k] = p->stage[k].type;
		if (k > 0 && x.now.at[k] == 0)
			x.tries = 0; /* cut where no prefix is, of groups of layers */
	}
	while (x.tries > 0 && round_of_moves(&x))
		;
	shape_free(&x.now);
	if (x.best.n > 0) {
		gv_plan_free(p);
		*p = x.best;
	}
	return x.best_s;
}
