/* gv-report: what a schedule's steps come to, against counts and maxima over all of them. */
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fileio.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "draws.h"
#include "gv-report/schedule/schedule.h"

enum { CASES = 400, MOST_STEPS = 14, MOST_STAGES = 4, MICRO_BATCHES = 3 };

/* The schedule of a table; whether it was taken. */
static bool
read_schedule(struct schedule *s, const char *table)
{
	struct gv_error e = {0};
	struct gv_tab *t;
	struct gv_in *in;
	bool taken;

	gv_in_memory(&in, "t.csv", table, strlen(table), strlen(table) + 1, &e);
	t = gv_tab_from(in);
	taken = gv_tab_table(t, &e) == 1 && schedule_read(s, t, &e) == 0;
	gv_tab_close(t);
	return taken;
}

/* Steps of a few GPUs that have one or two stages each: whole times, so that many are equal. */
static void
draw_schedule(struct schedule *s, int c)
{
	size_t gpus = 1 + below(4), g, k;
	struct gv_strbuf b = {0};

	gv_strbuf_str(&b, "gpu,stage,replica,step,op,micro_batch,start_ms,end_ms\n");
	for (g = 0; g < gpus; g++) {
		size_t n = 1 + below(MOST_STEPS), at = below(4) + (c % 3 == 0 ? 5 : 0);
		size_t one = below(MOST_STAGES), other = below(MOST_STAGES);

		for (k = 0; k < n; k++) {
			size_t op = below(10), ms = below(4);

			op = op < 4 ? 0 : op < 7 ? 1 : op - 5;
			gv_strbuf_fmt(&b, "%zu,%zu,0,%zu,%s,%zu,%zu,%zu\n", g,
			    below(3) > 0 ? one : other, k, gv_step_name[op],
			    below(MICRO_BATCHES), at, at + ms);
			/* what comes after an all-reduce may begin before it is over */
			at += op == GV_STEP_REDUCE && ms > 0 ? below(ms + 1) : ms;
			at += below(3) == 0 ? below(6) : 0;
		}
	}
	if (!read_schedule(s, b.s))
		ok(false, "a schedule that was drawn is taken");
	gv_strbuf_free(&b);
}

/* ---- waiting ---- */

/* When the pass that a step needs was last over by the time it began; NAN: there is none. */
static double
came_ms(const struct schedule *s, const struct gv_schedule_step *x)
{
	double last = NAN;
	size_t i;

	for (i = 0; i < s->n_steps; i++) {
		const struct gv_schedule_step *y = &s->step[i];
		int64_t of = x->op == GV_STEP_FORWARD ? x->stage - 1 : x->stage + 1;

		if ((x->op == GV_STEP_FORWARD || x->op == GV_STEP_BACKWARD) &&
		    y->op == x->op && y->stage == of &&
		    y->micro_batch == x->micro_batch && y->end_ms <= x->start_ms)
			last = fmax(last, y->end_ms);
	}
	return last;
}

/* Since when the GPU of a step had nothing else to do. */
static double
free_ms(const struct schedule *s, size_t k)
{
	double since = s->start_ms;
	size_t i;

	for (i = 0; i < k; i++) {
		const struct gv_schedule_step *y = &s->step[i];

		if (y->gpu == s->step[k].gpu &&
		    (y->op != GV_STEP_REDUCE || y->end_ms <= y[1].start_ms))
			since = fmax(since, y->end_ms);
	}
	return since;
}

static void
test_waiting(void)
{
	struct schedule s;
	int c, bad = 0, waits = 0;
	double off = 0;
	size_t k;

	for (c = 0; c < CASES; c++) {
		double sum = 0;

		draw_schedule(&s, c);
		for (k = 0; k < s.n_steps; k++) {
			double came = came_ms(&s, &s.step[k]);
			double from = fmax(came, free_ms(&s, k));
			double want = isnan(came) ? 0 : s.step[k].start_ms - from;

			want = fmax(want, 0);
			bad += fabs(s.wait_ms[k] - want) > 1e-9;
			waits += want > 0;
			sum += want;
		}
		sum /= s.end_ms > s.start_ms ? (s.end_ms - s.start_ms) * (double)s.n_gpus
					     : 1;
		off = fmax(off, fabs(s.wait_share - sum));
		schedule_free(&s);
	}
	ok(bad == 0 && waits > CASES / 4,
	    "a GPU waits for what came after its last step");
	ok(off < 1e-9, "what waits take of all time");
}

/* ---- sums ---- */

static bool
has_stage(const struct schedule *s, size_t gpu, int64_t stage)
{
	size_t k;

	for (k = 0; k < s->n_steps; k++)
		if (s->step[k].gpu == gpu && s->step[k].stage == stage)
			return true;
	return false;
}

/* The stages of a GPU, "0;2", and how many they are. */
static size_t
stages_of(const struct schedule *s, size_t gpu, char text[2 * MOST_STAGES])
{
	size_t n = 0, at = 0;
	int64_t i;

	for (i = 0; i < MOST_STAGES; i++) {
		if (!has_stage(s, gpu, i))
			continue;
		if (n++ > 0)
			text[at++] = ';';
		text[at++] = (char)('0' + i);
	}
	text[at] = '\0';
	return n;
}

/* The most micro-batches that are forward and not yet back. */
static size_t
in_flight(const struct schedule *s, size_t gpu)
{
	enum gv_step_op last = GV_STEP_BACKWARD;
	size_t k, n = 0, most = 0;

	for (k = 0; k < s->n_steps; k++)
		if (s->step[k].gpu == gpu && s->step[k].op == GV_STEP_WEIGHT)
			last = GV_STEP_WEIGHT;
	for (k = 0; k < s->n_steps; k++) {
		if (s->step[k].gpu != gpu)
			continue;
		if (s->step[k].op == GV_STEP_FORWARD)
			n++;
		if (s->step[k].op == last && n > 0)
			n--;
		most = n > most ? n : most;
	}
	return most;
}

/* The time of an op on the GPUs of a place, their mean. */
static double
mean_ms(const struct schedule *s, size_t place, int op)
{
	double sum = 0;
	size_t k;

	for (k = 0; k < s->n_steps; k++)
		if (s->gpu[s->step[k].gpu].place == place && (int)s->step[k].op == op)
			sum += s->step[k].end_ms - s->step[k].start_ms;
	return sum / (double)s->place[place].gpus;
}

/* How many places are not what their GPUs come to. */
static int
wrong_places(const struct schedule *s)
{
	double whole = s->end_ms - s->start_ms, all = 0;
	int bad = 0, op;
	size_t i;

	for (i = 0; i < s->n_places; i++) {
		const struct schedule_place *p = &s->place[i];
		double busy = 0;

		for (op = 0; op < GV_STEP_OPS; op++) {
			bad += fabs(p->op_ms[op] - mean_ms(s, i, op)) > 1e-9;
			if (op <= GV_STEP_WEIGHT)
				busy += mean_ms(s, i, op);
		}
		all += busy * (double)p->gpus;
		bad += fabs(p->busy_share * whole - busy) > 1e-9 && whole > 0;
		bad += whole <= 0 && p->busy_share != 0;
	}
	return bad + (fabs(s->busy_share * whole * (double)s->n_gpus - all) > 1e-9 &&
			 whole > 0);
}

/* How many GPUs are in the wrong place, or have another number in flight. */
static int
wrong_gpus(const struct schedule *s)
{
	size_t g, k, n, stages = 0, chunks = 0, most = 0;
	size_t *gpus = gv_xcalloc(s->n_places, sizeof(*gpus));
	char text[2 * MOST_STAGES];
	int bad = 0;

	for (g = 0; g < s->n_gpus; g++) {
		n = stages_of(s, g, text);
		chunks = n > chunks ? n : chunks;
		k = s->gpu[g].place;
		stages += gpus[k]++ == 0 ? n : 0;
		bad += strcmp(s->place[k].stages, text) != 0;
		bad += s->gpu[g].in_flight != in_flight(s, g);
		bad += s->place[k].in_flight < in_flight(s, g);
		most = s->gpu[g].in_flight > most ? s->gpu[g].in_flight : most;
	}
	for (k = 0; k < s->n_places; k++)
		bad += gpus[k] != s->place[k].gpus;
	free(gpus);
	return bad + (stages != s->n_stages) + (chunks != s->n_chunks) +
	       (most != s->in_flight);
}

/* How many steps are of another of the stages of their GPU. */
static int
wrong_chunks(const struct schedule *s)
{
	char text[2 * MOST_STAGES];
	int bad = 0;
	size_t k;

	for (k = 0; k < s->n_steps; k++) {
		stages_of(s, s->step[k].gpu, text);
		bad += text[2 * schedule_chunk(s, &s->step[k])] - '0' != s->step[k].stage;
	}
	return bad;
}

static void
test_sums(void)
{
	int c, places = 0, gpus = 0, chunks = 0, ends = 0;
	struct schedule s;
	size_t k;

	for (c = 0; c < CASES; c++) {
		double first = HUGE_VAL, last = -HUGE_VAL;
		int64_t most = -1;

		draw_schedule(&s, c);
		for (k = 0; k < s.n_steps; k++) {
			first = fmin(first, s.step[k].start_ms);
			last = fmax(last, s.step[k].end_ms);
			if (s.step[k].op == GV_STEP_FORWARD &&
			    s.step[k].micro_batch > most)
				most = s.step[k].micro_batch;
		}
		ends += s.start_ms != first || s.end_ms != last ||
			(int64_t)s.n_micro_batches != most + 1;
		places += wrong_places(&s);
		gpus += wrong_gpus(&s);
		chunks += wrong_chunks(&s);
		schedule_free(&s);
	}
	is_int(ends, 0, "from the first step to the last, and how many micro-batches");
	is_int(places, 0, "a place has the mean of its GPUs");
	is_int(gpus, 0, "GPUs with the same stages are one place");
	is_int(chunks, 0, "which of its GPU's stages a step is of");
}

static void
test_units(void)
{
	static const struct {
		double ms;
		const char *name;
		double of_ms;
	} of[] = {{0, "us", 1e-3}, {.999, "us", 1e-3}, {1, "ms", 1}, {9999, "ms", 1},
	    {10000, "s", 1e3}, {599999, "s", 1e3}, {600000, "min", 6e4}};
	struct schedule s = {0};
	size_t i;

	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		s.start_ms = 0;
		s.end_ms = of[i].ms;
		is_str(schedule_unit(&s).name, of[i].name, "the unit of %g ms", of[i].ms);
		ok(schedule_unit(&s).ms == of[i].of_ms, "and what it is");
		s.start_ms = of[i].ms;
		s.end_ms = 2 * of[i].ms;
		is_str(schedule_unit(&s).name, of[i].name, "and where it begins later");
	}
}

static void
test_by_hand(void)
{
	struct schedule s;

	ok(read_schedule(&s, "gpu,stage,step,op,micro_batch,start_ms,end_ms\n"
			     "0,3,0,F,0,-4,-3\n"
			     "1,4,0,F,0,-1,4\n"),
	    "times below 0");
	ok(s.wait_ms[1] == 2, "what is on its way from the beginning");
	is_near(s.wait_share, 2. / 16, 1e-12, "of all time");
	schedule_free(&s);
	ok(read_schedule(&s, "gpu,stage,step,op,micro_batch,start_ms,end_ms\n"
			     "0,3,0,F,0,0,1\n"
			     "1,4,0,F,1,0,5\n"
			     "1,4,1,F,0,2,6\n"
			     "1,12,2,F,2,6,7\n"),
	    "steps at the same time");
	ok(s.wait_ms[2] == 0 && s.wait_share == 0, "nobody waits who is at work");
	ok(schedule_chunk(&s, &s.step[3]) == 1 && schedule_chunk(&s, &s.step[2]) == 0,
	    "stages of two digits");
	is_str(s.place[1].stages, "4;12", "by their numbers");
	schedule_free(&s);
	ok(read_schedule(&s, "gpu,stage,step,op,micro_batch,start_ms,end_ms\n"
			     "0,3,0,F,0,0,1\n"
			     "0,3,1,F,1,1,100000\n"
			     "1,4,0,F,0,2,3\n"),
	    "a long time");
	ok(s.wait_ms[2] == 2 - 1, "a short wait counts");
	schedule_free(&s);
}

static void
test_nothing(void)
{
	struct schedule s;

	ok(read_schedule(&s, "gpu,stage,replica,step,op,micro_batch,start_ms,end_ms\n"),
	    "no steps at all");
	ok(s.n_steps == 0 && s.n_gpus == 0 && s.n_places == 0 && s.busy_share == 0 &&
		s.wait_share == 0 && s.start_ms == 0 && s.end_ms == 0,
	    "come to nothing");
	schedule_free(&s);
	ok(!read_schedule(
	       &s, "stage,step,op,micro_batch,start_ms,end_ms\n0,0,X,0,0,1\n") &&
		s.n_steps == 0 && s.step == NULL,
	    "of a step that is none, nothing is left");
}

int
main(void)
{
	draws_begin(5, 1, 1);
	test_waiting();
	test_sums();
	test_units();
	test_by_hand();
	test_nothing();
	return done_testing();
}
