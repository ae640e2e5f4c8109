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

int
main(void)
{
	check_short();
	check_random();
	check_errors();
	return done_testing();
}
