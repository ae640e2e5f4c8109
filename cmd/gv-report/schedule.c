#include "schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/strbuf.h"

static const char *const op_name[SCHEDULE_OPS] = {"F", "B", "W", "AR", "U"};

enum { GPU, STAGE, REPLICA, STEP, OP, MICRO_BATCH, VERSION, START_MS, END_MS, COLUMNS };

bool
schedule_is(const struct gv_tab *t)
{
	return gv_tab_find(t, "op") >= 0 && gv_tab_find(t, "stage") >= 0 &&
	       gv_tab_find(t, "event") < 0;
}

/* ---- reading ---- */

struct reader {
	struct schedule *s;
	struct gv_frame f;
	ptrdiff_t at[COLUMNS];
	size_t gpu_cap, step_cap;
};

static int
find_columns(struct reader *r, struct gv_error *e)
{
	size_t before = e->count;

	r->at[GPU] = gv_frame_find(&r->f, "gpu");
	r->at[REPLICA] = gv_frame_find(&r->f, "replica");
	r->at[VERSION] = gv_frame_find(&r->f, "version");
	gv_frame_require(&r->f, "stage", &r->at[STAGE], e);
	gv_frame_require(&r->f, "step", &r->at[STEP], e);
	gv_frame_require(&r->f, "op", &r->at[OP], e);
	gv_frame_require(&r->f, "micro_batch", &r->at[MICRO_BATCH], e);
	gv_frame_require(&r->f, "start_ms", &r->at[START_MS], e);
	gv_frame_require(&r->f, "end_ms", &r->at[END_MS], e);
	return e->count == before ? 0 : -1;
}

/* A whole number that counts from 0. */
static int
count_of(const struct reader *r, size_t row, size_t column, int64_t otherwise, int64_t *v,
    struct gv_error *e)
{
	if (gv_frame_int(&r->f, row, r->at[column], otherwise, v, e) != 0)
		return -1;
	if (*v < 0 && *v != otherwise)
		return gv_frame_error(&r->f, row, r->at[column], e,
		    "expected a whole number from 0 on, got \"%lld\"", (long long)*v);
	return 0;
}

static int
times_of(const struct reader *r, size_t row, struct schedule_step *s, struct gv_error *e)
{
	char num[GV_NUM_LEN];

	if (gv_frame_double(&r->f, row, r->at[START_MS], NAN, &s->start_ms, e) != 0 ||
	    gv_frame_double(&r->f, row, r->at[END_MS], NAN, &s->end_ms, e) != 0)
		return -1;
	gv_format_double(num, s->end_ms);
	if (s->end_ms < s->start_ms)
		return gv_frame_error(&r->f, row, r->at[END_MS], e,
		    "expected no less than start_ms, got \"%s\"", num);
	return 0;
}

/* The GPU of that name, a new one if there is none yet. */
static size_t
gpu_of(struct reader *r, int64_t gpu, int64_t stage, int64_t replica)
{
	struct schedule *s = r->s;
	size_t i;

	for (i = s->n_gpus; i-- > 0;) /* nearly always the last one */
		if (gpu >= 0 ? s->gpu[i].gpu == gpu
			     : s->gpu[i].stage == stage && s->gpu[i].replica == replica)
			return i;
	s->gpu = gv_xgrow(s->gpu, &r->gpu_cap, s->n_gpus + 1, sizeof(*s->gpu));
	s->gpu[s->n_gpus] =
	    (struct schedule_gpu){.gpu = gpu, .stage = stage, .replica = replica};
	return s->n_gpus++;
}

static int
read_row(struct reader *r, size_t row, struct gv_error *e)
{
	struct gv_cell op = gv_frame_cell(&r->f, row, r->at[OP]);
	struct schedule *s = r->s;
	struct schedule_step step;
	int64_t gpu, replica;
	char q[GV_QUOTE_LEN];
	size_t k = 0;

	while (k < SCHEDULE_OPS && !gv_cell_is(op, op_name[k]))
		k++;
	if (k == SCHEDULE_OPS)
		return gv_frame_error(&r->f, row, r->at[OP], e,
		    "expected F, B, W, AR or U, got %s", gv_quote(q, op.s, op.len));
	step.op = (enum schedule_op)k;
	if (count_of(r, row, GPU, -1, &gpu, e) != 0 ||
	    count_of(r, row, STAGE, INT64_MIN, &step.stage, e) != 0 ||
	    count_of(r, row, REPLICA, 0, &replica, e) != 0 ||
	    count_of(r, row, STEP, INT64_MIN, &step.step, e) != 0 ||
	    count_of(r, row, MICRO_BATCH, INT64_MIN, &step.micro_batch, e) != 0 ||
	    count_of(r, row, VERSION, -1, &step.version, e) != 0 ||
	    times_of(r, row, &step, e) != 0)
		return -1;
	step.gpu = gpu_of(r, gpu, step.stage, replica);
	s->gpu[step.gpu].n++;
	s->step = gv_xgrow(s->step, &r->step_cap, s->n_steps + 1, sizeof(*s->step));
	s->step[s->n_steps++] = step;
	return 0;
}

static int
by_gpu(const void *a, const void *b)
{
	const struct schedule_step *x = a, *y = b;

	if (x->gpu != y->gpu)
		return x->gpu < y->gpu ? -1 : 1;
	if (x->start_ms < y->start_ms || x->start_ms > y->start_ms)
		return x->start_ms < y->start_ms ? -1 : 1;
	return (x->step > y->step) - (x->step < y->step);
}

/* ---- what it comes to ---- */

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
	enum schedule_op last = SCHEDULE_B;
	size_t k, n = 0;

	for (k = 0; k < g->n; k++) {
		const struct schedule_step *x = &s->step[g->first + k];

		g->op_ms[x->op] += x->end_ms - x->start_ms;
		if (x->op == SCHEDULE_W)
			last = SCHEDULE_W;
	}
	for (k = 0; k < g->n; k++) {
		enum schedule_op op = s->step[g->first + k].op;

		if (op == SCHEDULE_F)
			n++;
		else if (op == last && n > 0)
			n--;
		if (n > g->in_flight)
			g->in_flight = n;
	}
}

static double
busy_ms(const double op_ms[SCHEDULE_OPS])
{
	return op_ms[SCHEDULE_F] + op_ms[SCHEDULE_B] + op_ms[SCHEDULE_W];
}

static void
sum_up(struct schedule *s)
{
	double whole, busy = 0;
	size_t i, k;

	for (k = 0; k < s->n_steps; k++) {
		const struct schedule_step *x = &s->step[k];

		s->start_ms = k == 0 ? x->start_ms : fmin(s->start_ms, x->start_ms);
		s->end_ms = k == 0 ? x->end_ms : fmax(s->end_ms, x->end_ms);
		if (x->op == SCHEDULE_F && (size_t)x->micro_batch >= s->n_micro_batches)
			s->n_micro_batches = (size_t)x->micro_batch + 1;
	}
	whole = s->end_ms - s->start_ms;
	for (i = 0; i < s->n_gpus; i++) {
		struct schedule_gpu *g = &s->gpu[i];
		struct schedule_place *p;

		g->first = i == 0 ? 0 : g[-1].first + g[-1].n;
		find_place(s, g);
		sum_gpu(s, g);
		p = &s->place[g->place];
		for (k = 0; k < SCHEDULE_OPS; k++)
			p->op_ms[k] += g->op_ms[k];
		busy += busy_ms(g->op_ms);
		if (g->in_flight > p->in_flight)
			p->in_flight = g->in_flight;
		if (g->in_flight > s->in_flight)
			s->in_flight = g->in_flight;
	}
	for (i = 0; i < s->n_places; i++) {
		struct schedule_place *p = &s->place[i];

		for (k = 0; k < SCHEDULE_OPS; k++)
			p->op_ms[k] /= (double)p->gpus;
		p->busy_share = whole > 0 ? busy_ms(p->op_ms) / whole : 0;
	}
	s->busy_share = whole > 0 ? busy / (whole * (double)s->n_gpus) : 0;
}

int
schedule_read(struct schedule *s, struct gv_tab *t, struct gv_error *e)
{
	struct reader r = {.s = s};
	size_t before = e->count, i;

	memset(s, 0, sizeof(*s));
	if (gv_frame_read(&r.f, t, e) != 0)
		return -1;
	if (find_columns(&r, e) == 0)
		for (i = 0; i < r.f.n_rows; i++)
			read_row(&r, i, e);
	if (e->count == before)
		gv_tab_last(t, e);
	gv_frame_free(&r.f);
	if (e->count > before) {
		schedule_free(s);
		return -1;
	}
	if (s->n_steps > 0)
		qsort(s->step, s->n_steps, sizeof(*s->step), by_gpu);
	sum_up(s);
	return 0;
}

void
schedule_free(struct schedule *s)
{
	free(s->step);
	free(s->gpu);
	free(s->place);
	gv_arena_free(&s->arena);
	memset(s, 0, sizeof(*s));
}

size_t
schedule_chunk(const struct schedule *s, const struct schedule_step *step)
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
