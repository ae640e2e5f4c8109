/*
 * Courses: what is made of a short run of a schedule is, step by step, the long run, for
 * random plans; and needs no more slots and versions than that.
 */
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "plan/course.h"
#include "tap.h"

enum { PLANS = 400, STAGES = 5, REPLICAS = 4 };

static size_t
draw(size_t n)
{
	static uint64_t i;

	return (size_t)(gv_random(1, 0, 0, i++) % n);
}

static struct gv_pipe
draw_pipe(struct gv_pipe_stage *stage, size_t *unit)
{
	static const enum gv_schedule_kind kinds[] = {GV_SCHEDULE_1F1B, GV_SCHEDULE_2BW,
	    GV_SCHEDULE_FLUSH, GV_SCHEDULE_GPIPE, GV_SCHEDULE_ZB_H1};
	struct gv_pipe p = {.n = 1 + draw(STAGES), .stage = stage, .chunks = 1};
	size_t gpus = 0, k;

	memset(stage, 0, STAGES * sizeof(*stage));
	p.schedule = kinds[draw(5)];
	for (k = 0; k < p.n; k++)
		gpus += stage[k].replicas = 1 + draw(REPLICAS);
	p.batch = p.schedule == GV_SCHEDULE_1F1B ? 1 : gpus + draw(5);
	*unit = p.schedule == GV_SCHEDULE_1F1B ? gv_pipe_round(&p) : p.batch;
	return p;
}

/* Steps in which the course of a lane differs from the lane of the long run. */
static size_t
wrong_steps(const struct gv_course *c, const struct gv_lane *l)
{
	size_t wrong = gv_course_length(c) != l->n, k;

	for (k = 0; k < l->n && wrong == 0; k++) {
		struct gv_course_step s = gv_course_at(c, k);
		const struct gv_step *t = &l->step[k];

		wrong += s.op != t->op || s.stage != t->stage ||
			 s.micro_batch != t->micro_batch || s.version != t->version;
	}
	return wrong;
}

/* Needs of a lane by its own definition. */
static bool
enough(const struct gv_course *c, const struct gv_pipe *p, const struct gv_lane *l)
{
	struct gv_course_needs needs = gv_course_needs(c, (uint32_t)l->place);
	struct gv_holding h = gv_timetable_holding(l, p);

	/* a run that ends before the pipeline is full has versions that nobody reads */
	return needs.slots == h.in_flight && needs.versions >= h.versions &&
	       (c->times == 0 || needs.versions == h.versions);
}

/* Where the courses of steps before a micro-batch may be left out. */
static bool
begins(const struct gv_course *c, uint64_t micro_batch)
{
	uint64_t k, from = gv_course_begin(c, micro_batch);

	for (k = 0; k < from; k++)
		if (gv_course_at(c, k).micro_batch >= micro_batch)
			return false;
	return true;
}

static void
check_asynchronous(
    struct gv_pipe *p, size_t unit, size_t *wrong, size_t *held, size_t *cut)
{
	struct gv_timetable some, all;
	size_t total = unit * (1 + draw(60)), i;
	struct gv_error e = {0};
	struct gv_course c;

	p->micro_batches = (size_t)gv_course_some(p, total);
	gv_timetable_make(&some, p);
	for (i = 0; i < some.n; i++) {
		size_t few = p->micro_batches;

		if (gv_course_make(
			&c, some.lane[i].step, some.lane[i].n, few, total, &e) != 0) {
			printf("# %s\n", e.text[0]);
			gv_error_clear(&e);
			(*wrong)++;
			continue;
		}
		p->micro_batches = total;
		gv_timetable_make(&all, p);
		*wrong += wrong_steps(&c, &all.lane[i]) != 0;
		*held += !enough(&c, p, &all.lane[i]);
		*cut += !begins(&c, draw(total));
		gv_timetable_free(&all);
		p->micro_batches = few;
		gv_course_free(&c);
	}
	gv_timetable_free(&some);
}

/* A batch, time and again. */
static void
check_batches(struct gv_pipe *p, size_t *wrong)
{
	struct gv_error e = {0};
	struct gv_timetable t;
	size_t times = 1 + draw(5), i, k;
	struct gv_course c;

	p->micro_batches = p->batch;
	gv_timetable_make(&t, p);
	for (i = 0; i < t.n; i++) {
		const struct gv_lane *l = &t.lane[i];

		if (gv_course_make(&c, l->step, l->n, p->batch, times * p->batch, &e) !=
		    0)
			gv_die("%s", e.text[0]);
		*wrong += gv_course_length(&c) != times * l->n;
		for (k = 0; k < times * l->n; k++) {
			struct gv_course_step s = gv_course_at(&c, k);
			const struct gv_step *want = &l->step[k % l->n];

			*wrong +=
			    s.op != want->op ||
			    s.micro_batch != want->micro_batch + k / l->n * p->batch ||
			    s.version != want->version + k / l->n;
		}
		gv_course_free(&c);
	}
	gv_timetable_free(&t);
}

static void
check_random(void)
{
	struct gv_pipe_stage stage[STAGES];
	size_t wrong = 0, held = 0, cut = 0, batches = 0, i, unit;

	for (i = 0; i < PLANS; i++) {
		struct gv_pipe p = draw_pipe(stage, &unit);

		if (p.schedule == GV_SCHEDULE_1F1B || p.schedule == GV_SCHEDULE_2BW)
			check_asynchronous(&p, unit, &wrong, &held, &cut);
		else
			check_batches(&p, &batches);
	}
	is_int(wrong, 0, "1f1b, 2bw: a stretch that repeats is the long run");
	is_int(held, 0, "and holds as many micro-batches and versions");
	is_int(cut, 0, "and what is left out is of earlier micro-batches");
	is_int(batches, 0, "flush, gpipe, zb-h1: a batch, time and again");
}

static void
check_errors(void)
{
	struct gv_step odd[] = {{.op = GV_STEP_FORWARD},
	    {.op = GV_STEP_BACKWARD, .version = 3}, {.op = GV_STEP_UPDATE, .version = 4}};
	struct gv_pipe_stage stage[2] = {{.replicas = 1}, {.replicas = 2}};
	struct gv_pipe p = {
	    .n = 2, .stage = stage, .schedule = GV_SCHEDULE_1F1B, .chunks = 1};
	struct gv_error e = {0};
	struct gv_timetable t;
	struct gv_course c;

	ok(gv_course_make(&c, odd, 3, 1, 5, &e) == -1, "nothing repeats");
	is_str(e.text[0],
	    "a schedule of 1 micro-batches, in which nothing repeats, cannot be that of "
	    "5",
	    "and that is said");
	gv_error_clear(&e);
	p.micro_batches = 40;
	gv_timetable_make(&t, &p);
	ok(gv_course_make(&c, t.lane[1].step, t.lane[1].n, 40, 51, &e) == -1,
	    "a part of a stretch cannot be");
	is_str(e.text[0],
	    "a schedule of 40 micro-batches that repeats itself every 2 cannot be that "
	    "of "
	    "51",
	    "and that is said");
	gv_timetable_free(&t);
}

/* How far on the short run of n steps repeats itself; 0: nowhere. */
static size_t
period_of(const struct gv_step *step, size_t n)
{
	struct gv_error e = {0};
	struct gv_course c;
	size_t period;

	if (gv_course_make(&c, step, n, 2, 5, &e) != 0) {
		gv_error_clear(&e);
		return 0;
	}
	period = c.period;
	gv_course_free(&c);
	return period;
}

/* Two updates are enough; and what comes before the first third of them may be anything. */
static void
check_short(void)
{
	static const struct gv_step two[] = {{.op = GV_STEP_FORWARD},
	    {.op = GV_STEP_BACKWARD}, {.op = GV_STEP_UPDATE, .version = 1},
	    {.op = GV_STEP_FORWARD, .micro_batch = 1, .version = 1},
	    {.op = GV_STEP_BACKWARD, .micro_batch = 1, .version = 1},
	    {.op = GV_STEP_UPDATE, .micro_batch = 1, .version = 2}};
	static const struct gv_step odd_first[] = {{.op = GV_STEP_FORWARD},
	    {.op = GV_STEP_WEIGHT}, {.op = GV_STEP_UPDATE, .version = 1},
	    {.op = GV_STEP_FORWARD, .micro_batch = 2, .version = 1},
	    {.op = GV_STEP_BACKWARD, .micro_batch = 2, .version = 1},
	    {.op = GV_STEP_UPDATE, .micro_batch = 2, .version = 2},
	    {.op = GV_STEP_FORWARD, .micro_batch = 3, .version = 2},
	    {.op = GV_STEP_BACKWARD, .micro_batch = 3, .version = 2},
	    {.op = GV_STEP_UPDATE, .micro_batch = 3, .version = 3}};
	struct gv_step half[13] = {{.op = GV_STEP_FORWARD}, {.op = GV_STEP_WEIGHT},
	    {.op = GV_STEP_WEIGHT}, {.op = GV_STEP_FORWARD}, {.op = GV_STEP_WEIGHT},
	    {.op = GV_STEP_WEIGHT}};
	struct gv_step less[13];

	memcpy(&half[6], two, sizeof(two));
	memcpy(less, half, sizeof(less));
	memmove(&less[7], &half[6], sizeof(two));
	less[6] = (struct gv_step){.op = GV_STEP_WEIGHT};
	is_int(period_of(half, 12), 3, "half of all may be before it");
	is_int(period_of(less, 13), 0, "more may not");
	is_int(period_of(two, 6), 3, "a stretch and itself again are enough");
	is_int(period_of(odd_first, 9), 3, "what is before it need not be like it");
}

/* ---- drawn steps, against the obvious way ---- */

enum { STEPS = 60 };

/* A step of one of two stages, of numbers not far from these. */
static struct gv_step
draw_step(size_t micro_batch, size_t version)
{
	static const enum gv_step_op ops[] = {GV_STEP_FORWARD, GV_STEP_BACKWARD,
	    GV_STEP_WEIGHT, GV_STEP_REDUCE, GV_STEP_UPDATE, GV_STEP_UPDATE};

	return (struct gv_step){.op = ops[draw(6)],
	    .stage = (uint32_t)draw(2),
	    .micro_batch = (uint32_t)(micro_batch + draw(3)),
	    .version = (uint32_t)(version + draw(2))};
}

/* Steps, a stretch a few times, each so many micro-batches and versions on, and steps. */
static size_t
draw_steps(struct gv_step *step)
{
	struct gv_step stretch[6];
	size_t period = 1 + draw(6), n = 0, i, k, times = 1 + draw(5);
	uint32_t micro_batches = (uint32_t)draw(3), versions = (uint32_t)draw(3);

	for (k = draw(7); k > 0; k--)
		step[n++] = draw_step(0, 0);
	for (k = 0; k < period; k++)
		stretch[k] = draw_step(1, 1);
	for (i = 0; i < times; i++)
		for (k = 0; k < period; k++) {
			step[n] = stretch[k];
			step[n].micro_batch += (uint32_t)i * micro_batches;
			step[n++].version += (uint32_t)i * versions;
		}
	for (k = draw(7); k > 0; k--)
		step[n++] = draw_step(9, 9);
	return n;
}

/* Whether step b is step a, so many micro-batches and versions on. */
static bool
is_on(const struct gv_step *a, const struct gv_step *b, uint32_t micro_batches,
    uint32_t versions)
{
	return a->op == b->op && a->stage == b->stage &&
	       b->micro_batch == a->micro_batch + micro_batches &&
	       b->version == a->version + versions;
}

/*
 * The stretch between the first update behind a third of them and the first one behind it
 * that has a stretch: as long as steps before and behind are like those a stretch later, it is
 * more than once behind itself, and half of all steps are in it.  False: none is.
 */
static bool
slow_stretch(struct gv_course *c, const struct gv_step *step, size_t n)
{
	size_t update[STEPS], n_updates = 0, k, i, first, last;

	for (k = 0; k < n; k++)
		if (step[k].op == GV_STEP_UPDATE)
			update[n_updates++] = k;
	for (i = n_updates / 3 + 1; i < n_updates; i++) {
		size_t a = update[n_updates / 3], period = update[i] - a;
		uint32_t m = step[a + period].micro_batch - step[a].micro_batch;
		uint32_t v = step[a + period].version - step[a].version;

		if (step[a + period].micro_batch <= step[a].micro_batch ||
		    step[a + period].version <= step[a].version)
			continue;
		for (first = a; first > 0 &&
				is_on(&step[first - 1], &step[first - 1 + period], m, v);
		     first--)
			;
		for (last = a;
		     last + period < n && is_on(&step[last], &step[last + period], m, v);
		     last++)
			;
		if (last - first < period || 2 * (last + period - first) < n)
			continue;
		*c = (struct gv_course){.n = n,
		    .first = first,
		    .period = period,
		    .micro_batches = m,
		    .versions = v};
		return true;
	}
	return false;
}

/* Steps that all read the first weights, but for what makes others. */
static bool
slow_batch(const struct gv_step *step, size_t n)
{
	size_t most = 0, k;

	for (k = 0; k < n; k++) {
		bool makes = step[k].op == GV_STEP_UPDATE || step[k].op == GV_STEP_REDUCE;

		most += step[k].version > (makes ? 1 : 0);
	}
	return most == 0;
}

/* Whether the course of drawn steps of some micro-batches, for all, is as it has to be. */
static bool
stretch_good(const struct gv_step *step, size_t n, uint64_t some, uint64_t all)
{
	struct gv_course c, want = {.n = n};
	struct gv_error e = {0};
	bool made = gv_course_make(&c, step, n, some, all, &e) == 0, can, good;

	if (slow_batch(step, n)) {
		can = all % some == 0;
		want.period = n;
		want.micro_batches = (uint32_t)some;
		want.versions = 1;
		want.times = all / some;
	} else if (some == all) {
		can = true;
	} else {
		can = slow_stretch(&want, step, n) &&
		      (all - some) % want.micro_batches == 0;
		want.times = can ? 1 + (all - some) / want.micro_batches : 0;
	}
	gv_error_clear(&e);
	if (!made || !can)
		return made == can && c.step == NULL && c.n == 0;
	good = c.n == n && c.first == want.first && c.period == want.period &&
	       c.times == want.times && c.micro_batches == want.micro_batches &&
	       c.versions == want.versions &&
	       memcmp(c.step, step, n * sizeof(*step)) == 0;
	gv_course_free(&c);
	return good;
}

static size_t
put_steps(struct gv_course_step *all, size_t n, const struct gv_course *c, size_t from,
    size_t to, uint64_t round)
{
	for (; from < to; from++) {
		const struct gv_step *s = &c->step[from];

		all[n++] = (struct gv_course_step){s->op, s->stage,
		    s->micro_batch + round * c->micro_batches,
		    s->version + round * c->versions};
	}
	return n;
}

/* All steps of the long run, one after the other; how many. */
static size_t
expand(const struct gv_course *c, struct gv_course_step *all)
{
	size_t end = c->first + c->period, n;
	uint64_t i;

	if (c->times == 0)
		return put_steps(all, 0, c, 0, c->n, 0);
	n = put_steps(all, 0, c, 0, end, 0);
	for (i = 1; i < c->times; i++)
		n = put_steps(all, n, c, c->first, end, i);
	return put_steps(all, n, c, end, c->n, c->times - 1);
}

static bool
slow_puts_off(const struct gv_course_step *all, size_t n, size_t k)
{
	size_t i;

	for (i = k + 1; i < n; i++) {
		if (all[i].stage != all[k].stage)
			continue;
		if (all[i].op == GV_STEP_UPDATE || all[i].op == GV_STEP_REDUCE)
			break;
		if (all[i].op == GV_STEP_WEIGHT &&
		    all[i].micro_batch == all[k].micro_batch)
			return true;
	}
	return false;
}

/*
 * Whether steps, where to begin and what is put off are those of all steps of the course.
 * Where it begins is at most three stretches before the last beginning of one that could be.
 */
static bool
expands(const struct gv_course *c)
{
	static struct gv_course_step all[64 * STEPS];
	size_t n = expand(c, all), k, m, from, best;
	bool good = gv_course_length(c) == n;

	for (k = 0; k < n && good; k++) {
		struct gv_course_step s = gv_course_at(c, k);

		good = s.op == all[k].op && s.stage == all[k].stage &&
		       s.micro_batch == all[k].micro_batch &&
		       s.version == all[k].version &&
		       gv_course_puts_off(c, k) == slow_puts_off(all, n, k);
	}
	for (m = 0; m < 80 && good; m++) {
		for (best = 0; best < n && all[best].micro_batch < m; best++)
			;
		from = (size_t)gv_course_begin(c, m);
		good = from <= best && (c->times > 0 || from == 0) &&
		       (from == 0 || from >= c->first) &&
		       (c->times == 0 || best < c->first + 2 * c->period ||
			   from == c->first + (c->times - 1) * c->period ||
			   from + 3 * c->period > best);
	}
	return good;
}

static void
check_drawn(void)
{
	size_t i, wrong = 0, unlike = 0, n, found = 0;
	struct gv_step step[STEPS];
	struct gv_error e = {0};
	struct gv_course c;

	for (i = 0; i < 20000; i++) {
		uint64_t some = 1 + draw(4), all = some + draw(12);

		n = draw_steps(step);
		wrong += !stretch_good(step, n, some, all);
		if (gv_course_make(&c, step, n, some, all, &e) != 0) {
			gv_error_clear(&e);
			continue;
		}
		found += c.times > 1;
		unlike += !expands(&c);
		gv_course_free(&c);
	}
	is_int(wrong, 0, "stretches of drawn steps");
	is_int(unlike, 0, "and all that comes of them");
	ok(found > 1000, "where there are some (%zu)", found);
}

/* How many micro-batches are enough, by hand: 4 for each GPU and 16 for each replica at most. */
static void
check_some(void)
{
	struct gv_pipe_stage stage[3] = {
	    {.replicas = 2}, {.replicas = 3}, {.replicas = 1}};
	struct gv_pipe p = {.n = 3, .stage = stage, .chunks = 1};

	p.schedule = GV_SCHEDULE_1F1B; /* 4 * 6 + 16 * 3, of rounds of 6 */
	is_int(gv_course_some(&p, 1000), 72 + 928 % 6, "1f1b: rounds, and what is left");
	is_int(gv_course_some(&p, 72), 72, "as many as that are all of them");
	is_int(gv_course_some(&p, 73), 73, "one more is left");
	is_int(gv_course_some(&p, 78), 72, "but a round is not");
	stage[0].replicas = 5; /* 4 * 9 + 16 * 5 = 116, of rounds of 15 */
	is_int(gv_course_some(&p, 1020), 120, "whole rounds");
	p.schedule = GV_SCHEDULE_2BW; /* 12 times the least of whole batches and rounds */
	p.batch = 6;
	is_int(gv_course_some(&p, 3600), 360, "2bw: whole batches as well");
	p.n = 1;
	stage[0].replicas = 1; /* 4 + 16, of 6 */
	is_int(gv_course_some(&p, 3600), 72, "12 of them at least");
	p.batch = 1;
	is_int(gv_course_some(&p, 3600), 20, "more where they are short");
	p.schedule = GV_SCHEDULE_GPIPE;
	p.batch = 7;
	is_int(gv_course_some(&p, 3600), 7, "gpipe: a batch");
}

int
main(void)
{
	check_short();
	check_random();
	check_errors();
	check_drawn();
	check_some();
	return done_testing();
}
