/* What comes of running a timetable. */
#include "plan/simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/*
 * Seconds for a micro-batch in steady state: from the ends of the backward passes
 * on the first stage, of whole rounds of a run between what fills the pipeline and
 * what drains it.
 */
static double
steady(const struct gv_pipe *pipe)
{
	enum { FILL = 16, MEASURE = 12, DRAIN = 2 }; /* times as many as GPUs */
	struct gv_pipe p = *pipe;
	struct gv_timetable t;
	size_t round = gv_pipe_round(&p), gpus = 0, fill, measure, k, i, j;
	double at[2] = {0, 0};

	if (p.schedule == GV_SCHEDULE_2BW)
		round *= p.batch / gv_gcd(round, p.batch);
	for (k = 0; k < p.n; k++)
		gpus += p.stage[k].replicas;
	fill = FILL * gpus;
	measure = ((MEASURE * gpus - 1) / round + 1) * round;
	p.micro_batches = fill + measure + DRAIN * gpus;
	gv_timetable_make(&t, &p);
	if (isnan(gv_simulate(&t, &p))) {
		gv_timetable_free(&t);
		return NAN;
	}
	for (i = 0; i < t.first[1]; i++)
		for (j = 0; j < t.lane[i].n; j++) {
			const struct gv_step *s = &t.lane[i].step[j];

			if (s->op != GV_STEP_BACKWARD)
				continue;
			for (k = 0; k < 2; k++)
				if (s->micro_batch < fill + k * measure)
					at[k] = fmax(at[k], s->end_s);
		}
	gv_timetable_free(&t);
	return (at[1] - at[0]) / (double)measure;
}

static void
report_place(struct gv_simulation *s, const struct gv_timetable *t,
    const struct gv_pipe *p, size_t place)
{
	struct gv_place_report *r = &s->place[place];
	size_t i, k, n = t->first[place + 1] - t->first[place];
	struct gv_holding h;

	for (i = t->first[place]; i < t->first[place + 1]; i++) {
		for (k = 0; k < t->lane[i].n; k++)
			if (t->lane[i].step[k].op <= GV_STEP_WEIGHT)
				r->busy_s += (t->lane[i].step[k].end_s -
						 t->lane[i].step[k].start_s) /
					     (double)n;
		h = gv_timetable_holding(&t->lane[i], p);
		if (h.in_flight > r->holding.in_flight)
			r->holding.in_flight = h.in_flight;
		if (h.versions > r->holding.versions)
			r->holding.versions = h.versions;
		if (h.bytes > r->holding.bytes)
			r->holding.bytes = h.bytes;
	}
}

/* Seconds that a micro-batch keeps a place's GPUs, over their number. */
static double
share_of_time(const struct gv_pipe *p, size_t place)
{
	double s = 0;
	size_t k;

	for (k = place; k < p->n; k += gv_pipe_places(p))
		s +=
		    p->stage[k].forward_s + p->stage[k].backward_s + p->stage[k].weight_s;
	return s / (double)p->stage[place].replicas;
}

int
gv_simulation_run(struct gv_simulation *s, struct gv_timetable *t,
    const struct gv_pipe *p, struct gv_error *e)
{
	bool flushes = p->schedule != GV_SCHEDULE_1F1B && p->schedule != GV_SCHEDULE_2BW;
	double gpus, busy = 0;
	size_t k;

	memset(s, 0, sizeof(*s));
	memset(t, 0, sizeof(*t));
	if (gv_timetable_check(p, e) != 0)
		return -1;
	gv_timetable_make(t, p);
	s->end_s = gv_simulate(t, p);
	s->step_s = flushes ? s->end_s / (double)p->micro_batches : steady(p);
	if (isnan(s->end_s) || isnan(s->step_s)) {
		gv_timetable_free(t);
		return gv_error_set(e, "the schedule cannot go on");
	}
	s->n = gv_pipe_places(p);
	s->place = gv_xcalloc(s->n, sizeof(*s->place));
	gpus = (double)t->n;
	for (k = 0; k < s->n; k++) {
		double share = share_of_time(p, k);

		report_place(s, t, p, k);
		busy += share * (double)p->stage[k].replicas;
		s->place[k].bubble = s->step_s > 0 ? fmax(0, 1 - share / s->step_s) : 0;
	}
	s->bubble = s->step_s > 0 ? fmax(0, 1 - busy / (gpus * s->step_s)) : 0;
	return 0;
}

void
gv_simulation_free(struct gv_simulation *s)
{
	free(s->place);
	memset(s, 0, sizeof(*s));
}
