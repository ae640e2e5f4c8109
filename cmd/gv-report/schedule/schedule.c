#include "schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/strbuf.h"

static int
by_value(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The stages of a GPU, ascending, each once: how many. */
static size_t
stages_of(const struct schedule *s, const struct schedule_gpu *g, int64_t **stage)
{
	size_t k, n = 0;

	*stage = gv_xcalloc(g->n + 1, sizeof(**stage));
	for (k = 0; k < g->n; k++)
		(*stage)[k] = s->step[g->first + k].stage;
	qsort(*stage, g->n, sizeof(**stage), by_value);
	for (k = 0; k < g->n; k++)
		if (k == 0 || (*stage)[k] != (*stage)[n - 1])
			(*stage)[n++] = (*stage)[k];
	return n;
}

/* The GPU joins the place of its stages. */
static void
find_place(struct schedule *s, struct schedule_gpu *g)
{
	struct gv_strbuf b = {0};
	int64_t *stage;
	size_t n = stages_of(s, g, &stage), k;

	gv_strbuf_str(&b, "");
	for (k = 0; k < n; k++)
		gv_strbuf_fmt(&b, "%s%lld", k > 0 ? ";" : "", (long long)stage[k]);
	if (n > s->n_chunks)
		s->n_chunks = n;
	for (k = s->n_places; k > 0 && strcmp(s->place[k - 1].stages, b.s) != 0; k--)
		;
	if (k == 0) {
		s->place = gv_xrealloc(s->place, s->n_places + 1, sizeof(*s->place));
		s->place[s->n_places++] = (struct schedule_place){
		    .stages = gv_arena_strndup(&s->arena, b.s, b.len)};
		s->n_stages += n;
		k = s->n_places;
	}
	g->place = k - 1;
	s->place[k - 1].gpus++;
	free(stage);
	gv_strbuf_free(&b);
}

/* A micro-batch is in flight until its backward pass, or its W where there are any. */
static void
sum_gpu(const struct schedule *s, struct schedule_gpu *g)
{
	enum gv_step_op last = GV_STEP_BACKWARD;
	size_t k, n = 0;

	for (k = 0; k < g->n; k++) {
		const struct gv_schedule_step *x = &s->step[g->first + k];

		g->op_ms[x->op] += x->end_ms - x->start_ms;
		if (x->op == GV_STEP_WEIGHT)
			last = GV_STEP_WEIGHT;
	}
	for (k = 0; k < g->n; k++) {
		enum gv_step_op op = s->step[g->first + k].op;

		if (op == GV_STEP_FORWARD)
			n++;
		else if (op == last && n > 0)
			n--;
		if (n > g->in_flight)
			g->in_flight = n;
	}
}

static double
busy_ms(const double op_ms[GV_STEP_OPS])
{
	return op_ms[GV_STEP_FORWARD] + op_ms[GV_STEP_BACKWARD] + op_ms[GV_STEP_WEIGHT];
}

static void
sum_up(struct schedule *s)
{
	double whole, busy = 0;
	size_t i, k;

	for (k = 0; k < s->n_steps; k++) {
		const struct gv_schedule_step *x = &s->step[k];

		s->start_ms = k == 0 ? x->start_ms : fmin(s->start_ms, x->start_ms);
		s->end_ms = k == 0 ? x->end_ms : fmax(s->end_ms, x->end_ms);
		if (x->op == GV_STEP_FORWARD &&
		    (size_t)x->micro_batch >= s->n_micro_batches)
			s->n_micro_batches = (size_t)x->micro_batch + 1;
	}
	whole = s->end_ms - s->start_ms;
	for (i = 0; i < s->n_gpus; i++) {
		struct schedule_gpu *g = &s->gpu[i];
		struct schedule_place *p;

		find_place(s, g);
		sum_gpu(s, g);
		p = &s->place[g->place];
		for (k = 0; k < GV_STEP_OPS; k++)
			p->op_ms[k] += g->op_ms[k];
		busy += busy_ms(g->op_ms);
		if (g->in_flight > p->in_flight)
			p->in_flight = g->in_flight;
		if (g->in_flight > s->in_flight)
			s->in_flight = g->in_flight;
	}
	for (i = 0; i < s->n_places; i++) {
		struct schedule_place *p = &s->place[i];

		for (k = 0; k < GV_STEP_OPS; k++)
			p->op_ms[k] /= (double)p->gpus;
		p->busy_share = whole > 0 ? busy_ms(p->op_ms) / whole : 0;
	}
	s->busy_share = whole > 0 ? busy / (whole * (double)s->n_gpus) : 0;
}

int
schedule_read(struct schedule *s, struct gv_tab *t, struct gv_error *e)
{
	struct gv_schedule table;
	size_t i;

	memset(s, 0, sizeof(*s));
	if (gv_schedule_read(&table, t, e) != 0)
		return -1;
	s->n_steps = table.n_steps;
	s->step = table.step;
	table.step = NULL;
	s->n_gpus = table.n_gpus;
	s->gpu = gv_xcalloc(s->n_gpus, sizeof(*s->gpu));
	for (i = 0; i < s->n_gpus; i++)
		s->gpu[i] = (struct schedule_gpu){.gpu = table.gpu[i].gpu,
		    .stage = table.gpu[i].stage,
		    .replica = table.gpu[i].replica,
		    .first = table.gpu[i].first,
		    .n = table.gpu[i].n};
	gv_schedule_free(&table);
	sum_up(s);
	schedule_wait(s);
	return 0;
}

void
schedule_free(struct schedule *s)
{
	free(s->step);
	free(s->wait_ms);
	free(s->gpu);
	free(s->place);
	gv_arena_free(&s->arena);
	memset(s, 0, sizeof(*s));
}

size_t
schedule_chunk(const struct schedule *s, const struct gv_schedule_step *step)
{
	const char *p = s->place[s->gpu[step->gpu].place].stages;
	size_t chunk = 0;

	for (; strtoll(p, NULL, 10) != step->stage; chunk++)
		p = strchr(p, ';') + 1;
	return chunk;
}

struct schedule_unit
schedule_unit(const struct schedule *s)
{
	double ms = s->end_ms - s->start_ms;

	return ms < 1        ? (struct schedule_unit){"us", 1e-3}
	       : ms < 10000  ? (struct schedule_unit){"ms", 1}
	       : ms < 600000 ? (struct schedule_unit){"s", 1e3}
			     : (struct schedule_unit){"min", 6e4};
}
