#include "plan/course.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- the stretch that repeats ---- */

/* Whether every pass reads the first weights: then the steps are those of a batch. */
static bool
is_batch(const struct gv_step *step, size_t n)
{
	size_t k;

	for (k = 0; k < n; k++)
		if (step[k].version >
		    (step[k].op == GV_STEP_UPDATE || step[k].op == GV_STEP_REDUCE))
			return false;
	return true;
}

/* Whether step k + period is step k, so far on. */
static bool
repeats(const struct gv_course *c, size_t k)
{
	const struct gv_step *a = &c->step[k], *b = a + c->period;

	return a->op == b->op && a->stage == b->stage &&
	       a->micro_batch + c->micro_batches == b->micro_batch &&
	       a->version + c->versions == b->version;
}

/* A stretch from step k to the one like it, k + period; true when it is behind itself again. */
static bool
try_stretch(struct gv_course *c, size_t k, size_t period)
{
	const struct gv_step *a = &c->step[k], *b = a + period;
	size_t first = k, last = k;

	if (b->micro_batch <= a->micro_batch || b->version <= a->version)
		return false;
	c->period = period;
	c->micro_batches = b->micro_batch - a->micro_batch;
	c->versions = b->version - a->version;
	while (first > 0 && repeats(c, first - 1))
		first--;
	while (last + period < c->n && repeats(c, last))
		last++;
	c->first = first;
	/* a short one may be behind itself by chance */
	return last - first >= period && 2 * (last - first + period) >= c->n;
}

/* Between two updates in the middle, and some more of them. */
static bool
find_stretch(struct gv_course *c)
{
	size_t updates = 0, k, seen = 0, at;

	for (k = 0; k < c->n; k++)
		updates += c->step[k].op == GV_STEP_UPDATE;
	for (at = 0; at < c->n && seen <= updates / 3; at++)
		seen += c->step[at].op == GV_STEP_UPDATE;
	for (k = at--; k < c->n; k++)
		if (c->step[k].op == GV_STEP_UPDATE && try_stretch(c, at, k - at))
			return true;
	return false;
}

int
gv_course_make(struct gv_course *c, const struct gv_step *step, size_t n, uint64_t some,
    uint64_t all, struct gv_error *e)
{
	*c = (struct gv_course){.n = n};
	c->step = gv_xcalloc(n + 1, sizeof(*step));
	if (n > 0) /* there is a replica without micro-batches */
		memcpy(c->step, step, n * sizeof(*step));
	if (is_batch(step, n)) {
		c->period = n;
		c->micro_batches = (uint32_t)some;
		c->versions = 1;
		c->times = all / some;
		if (all % some == 0)
			return 0;
	} else if (some == all) {
		return 0;
	} else if (find_stretch(c)) {
		c->times = 1 + (all - some) / c->micro_batches;
		if ((all - some) % c->micro_batches == 0)
			return 0;
	} else {
		gv_course_free(c);
		return gv_error_set(e,
		    "a schedule of %llu micro-batches, in which nothing repeats, cannot "
		    "be that of %llu",
		    (unsigned long long)some, (unsigned long long)all);
	}
	gv_error_set(e,
	    "a schedule of %llu micro-batches that repeats itself every %lu cannot be "
	    "that "
	    "of %llu",
	    (unsigned long long)some, (unsigned long)c->micro_batches,
	    (unsigned long long)all);
	gv_course_free(c);
	return -1;
}

void
gv_course_free(struct gv_course *c)
{
	free(c->step);
	*c = (struct gv_course){0};
}

/* ---- its steps ---- */

uint64_t
gv_course_length(const struct gv_course *c)
{
	return c->times == 0 ? c->n : c->n + (c->times - 1) * c->period;
}

struct gv_course_step
gv_course_at(const struct gv_course *c, uint64_t k)
{
	uint64_t round = 0;
	const struct gv_step *s;

	if (c->times > 0 && k >= c->first) {
		round = (k - c->first) / c->period;
		if (round > c->times - 1)
			round = c->times - 1;
		k -= round * c->period;
	}
	s = &c->step[k];
	return (struct gv_course_step){.op = s->op,
	    .stage = s->stage,
	    .micro_batch = s->micro_batch + round * c->micro_batches,
	    .version = s->version + round * c->versions};
}

uint64_t
gv_course_begin(const struct gv_course *c, uint64_t micro_batch)
{
	uint64_t most = 0, round;
	size_t k;

	if (c->times == 0)
		return 0;
	for (k = 0; k < c->first + c->period; k++)
		if (c->step[k].micro_batch > most)
			most = c->step[k].micro_batch;
	if (micro_batch <= most)
		return 0;
	round = (micro_batch - most) / c->micro_batches;
	if (round > c->times - 1)
		round = c->times - 1;
	return c->first + round * c->period;
}

bool
gv_course_puts_off(const struct gv_course *c, uint64_t k)
{
	struct gv_course_step back = gv_course_at(c, k), s;
	uint64_t length = gv_course_length(c);

	while (++k < length) {
		s = gv_course_at(c, k);
		if (s.stage != back.stage)
			continue;
		if (s.op == GV_STEP_UPDATE || s.op == GV_STEP_REDUCE)
			return false;
		if (s.op == GV_STEP_WEIGHT && s.micro_batch == back.micro_batch)
			return true;
	}
	return false;
}

struct gv_course_needs
gv_course_needs(const struct gv_course *c, uint32_t stage)
{
	struct gv_course_needs needs = {1, 1};
	uint64_t length = gv_course_length(c), k, newest = 0;
	size_t in_flight = 0;

	if (c->times > 2)
		length -= (c->times - 2) * c->period;
	for (k = 0; k < length; k++) {
		struct gv_course_step s = gv_course_at(c, k);

		if (s.stage != stage)
			continue;
		/* an update may follow at once what it needs */
		if (s.op == GV_STEP_UPDATE || s.op == GV_STEP_REDUCE) {
			newest = s.version;
			continue;
		}
		if (newest >= s.version && newest - s.version + 1 > needs.versions)
			needs.versions = (size_t)(newest - s.version) + 1;
		in_flight += s.op == GV_STEP_FORWARD;
		if (in_flight > needs.slots)
			needs.slots = in_flight;
		in_flight -= s.op == GV_STEP_WEIGHT ||
			     (s.op == GV_STEP_BACKWARD && !gv_course_puts_off(c, k));
	}
	return needs;
}

uint64_t
gv_course_some(const struct gv_pipe *p, uint64_t all)
{
	uint64_t unit = gv_pipe_round(p), gpus = 0, most = 1, base;
	size_t k;

	if (p->schedule != GV_SCHEDULE_1F1B && p->schedule != GV_SCHEDULE_2BW)
		return p->batch;
	for (k = 0; k < gv_pipe_places(p); k++) {
		gpus += p->stage[k].replicas;
		if (p->stage[k].replicas > most)
			most = p->stage[k].replicas;
	}
	base = 4 * gpus + 16 * most;
	if (p->schedule == GV_SCHEDULE_2BW) {
		unit *= p->batch / gv_gcd(p->batch, unit);
		base = 12 * unit > base ? 12 * unit : base;
	}
	GV_HOLDS(unit > 0);
	base = (base + unit - 1) / unit * unit;
	return all <= base ? all : base + (all - base) % unit;
}
