/*
 * Pipelines of all schedules, drawn: their timetables, when everything happens, what is held,
 * and the courses of long runs, as they were before.
 */
#include "answers_help.h"
#include "base/mem.h"
#include "plan/course.h"
#include "plan/graph.h"
#include "plan/machine.h"
#include "plan/simulate.h"

enum { STAGES = 24 }; /* and one behind them, which nobody is to look at */

/* ---- pipelines ---- */

static void
draw_stage(struct gv_pipe_stage *s, enum values time, enum values bytes)
{
	s->forward_s = draw_value(time);
	s->backward_s = draw_value(time);
	s->weight_s = one_in(3) ? 0 : draw_value(time);
	s->receive_s = one_in(3) ? 0 : draw_value(time) / 4;
	s->reduce_s = draw_value(time) / 2;
	s->ready_s = one_in(2) ? 0 : draw_value(time);
	s->beside_s = one_in(2) ? 0 : draw_value(time) / 4;
	s->update_s = one_in(2) ? 0 : draw_value(time) / 4;
	s->parameter = draw_value(bytes);
	s->stash = draw_value(bytes);
	s->working = one_in(2) ? 0 : draw_value(bytes);
	s->memory = one_in(3) ? 0 : draw_value(bytes);
	s->memory *= (double)(1 + below(16));
}

/* Mostly pipelines that can run: what is asked of them holds three times in four. */
static struct gv_pipe
draw_pipe(struct gv_pipe_stage *stage)
{
	struct gv_pipe p = {.stage = stage, .chunks = 1};
	enum values time = draw_values(), bytes = draw_values();
	size_t places = draw_number(4, 8), gpus = 0, k;
	bool equal = one_in(3);

	p.schedule = (enum gv_schedule_kind)below(GV_SCHEDULES);
	if (p.schedule == GV_SCHEDULE_INTERLEAVED) {
		p.chunks = 1 + below(3);
		equal = !one_in(8);
	}
	p.n = places * p.chunks;
	memset(stage, 0, STAGES * sizeof(*stage));
	for (k = p.n; k <= STAGES; k++)
		stage[k] = (struct gv_pipe_stage){
		    3, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
	for (k = 0; k < p.n; k++) {
		draw_stage(&stage[k], time, bytes);
		stage[k].replicas = k >= places         ? stage[k - places].replicas
				    : k > 0 && equal    ? stage[0].replicas
				    : one_in(equal + 2) ? 1
							: draw_number(3, 7);
		gpus += k < places ? stage[k].replicas : 0;
	}
	if (p.schedule == GV_SCHEDULE_INTERLEAVED && one_in(10))
		stage[below(p.n)].replicas++;
	p.micro_batches = 1 + below(4 * gpus);
	if (p.schedule == GV_SCHEDULE_INTERLEAVED && !one_in(6))
		p.micro_batches = gpus * (1 + below(4));
	p.batch = p.micro_batches;
	if (p.schedule == GV_SCHEDULE_2BW) {
		p.batch = one_in(8) ? 1 + below(gpus) : gpus + below(2 * gpus);
		p.micro_batches = 1 + below(4 * p.batch);
	}
	/* steady states are measured over rounds of a batch: these shall be short */
	if (gv_pipe_round(&p) > 60 ||
	    (p.schedule == GV_SCHEDULE_2BW &&
		gv_pipe_round(&p) / gv_gcd(gv_pipe_round(&p), p.batch) * p.batch > 200))
		return draw_pipe(stage);
	p.overlap = one_in(2);
	p.state = (double)below(4) / 2;
	return p;
}

static void
record_step(struct recorded *r, const struct gv_step *s)
{
	recorded_whole(r, s->op);
	recorded_whole(r, s->stage);
	recorded_whole(r, s->micro_batch);
	recorded_whole(r, s->version);
	recorded_double(r, s->start_s);
	recorded_double(r, s->end_s);
}

static void
record_holding(struct recorded *r, const struct gv_holding *h)
{
	recorded_whole(r, (long long)h->in_flight);
	recorded_whole(r, (long long)h->versions);
	recorded_double(r, h->bytes);
}

static void
record_timetable(
    struct recorded *r, const struct gv_timetable *t, const struct gv_pipe *p)
{
	size_t i, k;

	recorded_whole(r, (long long)t->n);
	for (i = 0; i < t->n; i++) {
		const struct gv_lane *l = &t->lane[i];
		struct gv_holding h = {0};

		if (p != NULL) /* of steps in an order that can be */
			h = gv_timetable_holding(l, p);
		recorded_whole(r, (long long)l->place);
		recorded_whole(r, (long long)l->replica);
		recorded_whole(r, (long long)t->first[l->place]);
		recorded_whole(r, (long long)l->n);
		for (k = 0; k < l->n; k++)
			record_step(r, &l->step[k]);
		record_holding(r, &h);
	}
}

/* Steps of a GPU follow each other, and of a stage its updates come last. */
static bool
in_order(const struct gv_timetable *t)
{
	size_t i, k;

	for (i = 0; i < t->n; i++)
		for (k = 1; k < t->lane[i].n; k++) {
			const struct gv_step *s = &t->lane[i].step[k];

			if (s->end_s < s->start_s ||
			    (s->op <= GV_STEP_WEIGHT && s[-1].op <= GV_STEP_WEIGHT &&
				s->start_s < s[-1].end_s))
				return false;
		}
	return true;
}

static bool
ask_simulation(struct recorded *r)
{
	struct gv_pipe_stage stage[STAGES + 1];
	struct gv_pipe p = draw_pipe(stage);
	struct gv_simulation s;
	struct gv_timetable t;
	struct gv_error e = {0};
	bool good = true;
	size_t k;

	memset(&s, 0xa5, sizeof(s));
	memset(&t, 0xa5, sizeof(t));
	if (gv_simulation_run(&s, &t, &p, &e) != 0) {
		recorded_errors(r, &e);
		recorded_whole(
		    r, s.n == 0 && s.place == NULL && t.n == 0 && t.lane == NULL);
		return true;
	}
	recorded_double(r, s.end_s);
	recorded_double(r, s.step_s);
	recorded_double(r, s.bubble);
	for (k = 0; k < s.n; k++) {
		recorded_double(r, s.place[k].busy_s);
		recorded_double(r, s.place[k].bubble);
		record_holding(r, &s.place[k].holding);
	}
	record_timetable(r, &t, &p);
	good = in_order(&t) && s.end_s >= 0 && s.bubble >= 0 && s.bubble <= 1;
	gv_timetable_free(&t);
	gv_simulation_free(&s);
	return good;
}

static void
simulations(struct recorded *r)
{
	enum { ANSWERS = 60, EACH = 150 };
	size_t i, k, wrong = 0;

	for (i = 0; i < ANSWERS; i++) {
		draws_begin(1, (uint32_t)i, 0);
		for (k = 0; k < EACH; k++)
			wrong += !ask_simulation(r);
		recorded_answer(r, "pipelines %zu", i);
	}
	is_int(wrong, 0, "no GPU does two passes at a time");
}

/* ---- timetables that were changed ---- */

/* Two steps of a GPU change places: it goes on, or cannot. */
static void
ask_changed(struct recorded *r, size_t *stuck)
{
	struct gv_pipe_stage stage[STAGES + 1];
	struct gv_pipe p = draw_pipe(stage);
	struct gv_timetable t;
	struct gv_error e = {0};
	double end_s;
	size_t i;

	p.overlap = false;
	if (gv_timetable_check(&p, &e) != 0) {
		recorded_errors(r, &e);
		return;
	}
	gv_timetable_make(&t, &p);
	for (i = below(3); i > 0; i--) {
		struct gv_lane *l = &t.lane[below(t.n)];

		if (l->n > 1) {
			size_t a = below(l->n - 1), b = a + 1;
			struct gv_step s = l->step[a];

			b += one_in(2) && a + 2 < l->n ? below(l->n - a - 1) : 0;
			l->step[a] = l->step[b];
			l->step[b] = s;
		}
	}
	end_s = gv_simulate(&t, &p);
	*stuck += isnan(end_s);
	recorded_double(r, end_s);
	record_timetable(r, &t, NULL);
	gv_timetable_free(&t);
}

static void
changed(struct recorded *r)
{
	enum { ANSWERS = 30, EACH = 40 };
	size_t i, k, stuck = 0;

	for (i = 0; i < ANSWERS; i++) {
		draws_begin(2, (uint32_t)i, 0);
		for (k = 0; k < EACH; k++)
			ask_changed(r, &stuck);
		recorded_answer(r, "changed orders %zu", i);
	}
	ok(stuck > 10, "some orders cannot go on: %zu", stuck);
}

/* ---- courses ---- */

static void
record_course(struct recorded *r, const struct gv_course *c, size_t stages)
{
	uint64_t n = gv_course_length(c), k, last = 0;
	uint32_t i;

	recorded_whole(r, (long long)n);
	recorded_whole(r, (long long)c->first);
	recorded_whole(r, (long long)c->period);
	recorded_whole(r, (long long)c->times);
	recorded_whole(r, c->micro_batches);
	recorded_whole(r, c->versions);
	for (k = 0; k < n; k++) {
		struct gv_course_step s = gv_course_at(c, k);

		recorded_whole(r, s.op);
		recorded_whole(r, s.stage);
		recorded_whole(r, (long long)s.micro_batch);
		recorded_whole(r, (long long)s.version);
		recorded_whole(r, gv_course_puts_off(c, k));
		last = s.micro_batch > last ? s.micro_batch : last;
	}
	for (k = 0; k <= last + 2; k++)
		recorded_whole(r, (long long)gv_course_begin(c, k));
	for (i = 0; i < stages; i++) {
		struct gv_course_needs needs = gv_course_needs(c, i);

		recorded_whole(r, (long long)needs.slots);
		recorded_whole(r, (long long)needs.versions);
	}
}

static void
ask_course(struct recorded *r)
{
	struct gv_pipe_stage stage[STAGES + 1];
	struct gv_pipe p = draw_pipe(stage);
	size_t unit = p.schedule == GV_SCHEDULE_1F1B ? gv_pipe_round(&p) : p.batch;
	uint64_t all = unit * (1 + below(60));
	struct gv_timetable t;
	struct gv_error e = {0};
	size_t i;

	all += one_in(6) ? below(unit) : 0;
	recorded_whole(r, (long long)gv_course_some(&p, all));
	for (i = 0; i < 3; i++)
		recorded_whole(r, (long long)gv_course_some(&p, all + below(2 * unit)));
	p.micro_batches = (size_t)gv_course_some(&p, all);
	if (gv_timetable_check(&p, &e) != 0) {
		recorded_errors(r, &e);
		return;
	}
	if (one_in(4) && p.micro_batches > 1)
		p.micro_batches -= below(p.micro_batches);
	gv_timetable_make(&t, &p);
	i = below(t.n);
	do {
		struct gv_course c;

		if (gv_course_make(
			&c, t.lane[i].step, t.lane[i].n, p.micro_batches, all, &e) == 0 &&
		    gv_course_length(&c) < 2000)
			record_course(r, &c, p.n);
		recorded_errors(r, &e);
		gv_course_free(&c);
		i += 1 + below(t.n);
	} while (i < t.n);
	gv_timetable_free(&t);
}

/* Steps as they come, a stretch of them now and then again. */
static void
ask_steps(struct recorded *r)
{
	struct gv_step step[80] = {{0}};
	size_t n = 1 + below(40), head = below(n), period = 1 + below(n - head), k;
	uint32_t far = (uint32_t)below(3), versions = (uint32_t)below(3);
	struct gv_error e = {0};
	struct gv_course c;
	uint64_t some = 1 + below(6), all = some + below(12);

	for (k = 0; k < n; k++) {
		step[k].op = (enum gv_step_op)below(GV_STEP_OPS);
		step[k].stage = (uint32_t)below(2);
		step[k].micro_batch = (uint32_t)below(4);
		step[k].version = (uint32_t)below(1 + k % 5);
	}
	for (k = head + period; k < n + head % 40 && k < 80; k++) {
		step[k] = step[k - period];
		step[k].micro_batch += far;
		step[k].version += versions;
		n = k + 1 > n ? k + 1 : n;
	}
	if (gv_course_make(&c, step, n, some, all, &e) == 0)
		record_course(r, &c, 2);
	recorded_errors(r, &e);
	gv_course_free(&c);
}

static void
courses(struct recorded *r)
{
	enum { ANSWERS = 40, EACH = 30 };
	size_t i, k;

	for (i = 0; i < ANSWERS; i++) {
		draws_begin(3, (uint32_t)i, 0);
		for (k = 0; k < EACH; k++)
			ask_course(r);
		recorded_answer(r, "courses %zu", i);
		for (k = 0; k < 3 * EACH; k++)
			ask_steps(r);
		recorded_answer(r, "courses of drawn steps %zu", i);
	}
}

/* ---- what needs no timetable ---- */

static void
ask_round(struct recorded *r)
{
	struct gv_pipe_stage stage[STAGES] = {{0}};
	struct gv_pipe p = {.n = below(7), .stage = stage};
	struct gv_error e = {0};
	size_t k, most = (size_t[]){4, 20, 100, 5000}[below(4)], a;

	p.chunks = 1 + below(2);
	p.n -= p.n % p.chunks;
	for (k = 0; k < p.n; k++)
		stage[k].replicas = one_in(9) ? 0 : 1 + below(most);
	if (one_in(2))
		for (k = 1; k < p.n; k++)
			stage[k].replicas = stage[0].replicas;
	p.schedule = (enum gv_schedule_kind)below(GV_SCHEDULES);
	p.batch = p.micro_batches = 1 + below(most * (1 + p.n));
	recorded_whole(r, (long long)gv_pipe_round(&p));
	recorded_whole(r, gv_timetable_check(&p, &e));
	recorded_errors(r, &e);
	a = below(30);
	recorded_whole(r, (long long)gv_gcd(a, below(30)));
	if (p.schedule == GV_SCHEDULE_2BW || p.schedule == GV_SCHEDULE_1F1B)
		for (k = 1; k < 1000000; k *= 7)
			recorded_whole(r, (long long)gv_course_some(&p, k));
}

static void
ask_machine(struct recorded *r)
{
	struct gv_machine m = {.n_levels = 1 + below(GV_PLAN_LEVELS)}, part;
	size_t l, all;

	for (l = 0; l < m.n_levels; l++) {
		m.gpus[l] = 1 + below(6);
		m.bytes_per_s[l] = 1 + draw_value(SMALL);
		m.sum_bytes_per_s[l] = one_in(2) ? 0 : 1 + draw_value(SMALL);
	}
	for (l = 0; l <= m.n_levels; l++)
		recorded_whole(r, (long long)gv_machine_component(&m, l));
	all = gv_machine_component(&m, m.n_levels);
	part = m;
	recorded_whole(r, (long long)gv_machine_take(&part, 1 + below(all)));
	recorded_whole(r, (long long)part.n_levels);
	for (l = 0; l < m.n_levels; l++)
		recorded_whole(r, (long long)part.gpus[l]);
	gv_machine_flatten(&m);
	recorded_whole(r, (long long)m.n_levels);
	recorded_whole(r, (long long)m.gpus[0]);
	recorded_double(r, m.bytes_per_s[0]);
	recorded_double(r, m.sum_bytes_per_s[0]);
}

static void
ask_fleet(struct recorded *r)
{
	struct gv_fleet f = {.n = 1 + below(GV_FLEET_TYPES), .bytes_per_s = 1};
	size_t t;

	for (t = 0; t < f.n; t++) {
		f.type[t].time_s = gv_xcalloc(3, sizeof(double));
		f.type[t].forward_s = gv_xcalloc(3, sizeof(double));
	}
	gv_fleet_free(&f);
	recorded_whole(r, f.n == 0 && f.type[0].time_s == NULL && f.bytes_per_s == 0);
}

static void
ask_graph(struct recorded *r)
{
	struct gv_graph_edge edge[400];
	struct gv_graph g = {.n = 1 + below(30), .edge = edge};
	uint32_t order[30] = {0}, dst[400];
	size_t *at, i, k, density = 1 + below(12);
	bool circles = one_in(5), turned = one_in(2);

	for (i = 0; i < g.n; i++)
		for (k = 0; k < g.n && g.n_edges < 400; k++)
			if (below(20) < density &&
			    (turned ? i > k : i < k || (circles && i != k)))
				edge[g.n_edges++] =
				    (struct gv_graph_edge){(uint32_t)i, (uint32_t)k};
	at = gv_graph_fed(&g, dst);
	for (i = 0; i <= g.n; i++)
		recorded_whole(r, (long long)at[i]);
	for (i = 0; i < g.n_edges; i++)
		recorded_whole(r, dst[i]);
	free(at);
	if (gv_graph_order(&g, order) == 0)
		for (i = 0; i < g.n; i++)
			recorded_whole(r, order[i]);
	else
		recorded_whole(r, -1 - (long long)order[0]);
}

static void
parts(struct recorded *r)
{
	enum { ANSWERS = 10, EACH = 60 };
	size_t i, k;

	for (i = 0; i < ANSWERS; i++) {
		draws_begin(4, (uint32_t)i, 0);
		for (k = 0; k < EACH; k++)
			ask_round(r);
		recorded_answer(r, "rounds and checks %zu", i);
		for (k = 0; k < EACH; k++)
			ask_machine(r);
		ask_fleet(r);
		recorded_answer(r, "machines %zu", i);
		for (k = 0; k < EACH; k++)
			ask_graph(r);
		recorded_answer(r, "orders of layers %zu", i);
	}
}

int
main(void)
{
	struct recorded r;

	recorded_open(&r);
	simulations(&r);
	changed(&r);
	courses(&r);
	parts(&r);
	recorded_close(&r);
	return done_testing();
}
