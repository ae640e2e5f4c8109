/* A schedule as a table. */
#include "plan/schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "table/kind.h"

enum { GPU, STAGE, REPLICA, STEP, OP, MICRO_BATCH, VERSION, START_MS, END_MS, COLUMNS };

bool
gv_schedule_is(const struct gv_tab *t)
{
	return gv_tab_find(t, "op") >= 0 && gv_tab_find(t, "stage") >= 0 &&
	       gv_tab_find(t, "event") < 0;
}

/* ---- reading ---- */

struct reader {
	struct gv_schedule *s;
	struct gv_frame f;
	ptrdiff_t at[COLUMNS];
	size_t gpu_cap, step_cap;
};

static int
find_columns(struct reader *r, struct gv_error *e)
{
	size_t before = e->count;

	if (gv_frame_expect(&r->f, GV_KIND_SCHEDULE, e) != 0)
		return -1;
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
	if (*v < 0 &&
	    (*v != otherwise || otherwise == INT64_MIN)) /* the least is for none */
		return gv_frame_error(&r->f, row, r->at[column], e,
		    "expected a whole number from 0 on, got \"%lld\"", (long long)*v);
	return 0;
}

static int
times_of(
    const struct reader *r, size_t row, struct gv_schedule_step *s, struct gv_error *e)
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
	struct gv_schedule *s = r->s;
	size_t i;

	for (i = s->n_gpus; i-- > 0;) /* nearly always the last one */
		if (gpu >= 0 ? s->gpu[i].gpu == gpu
			     : s->gpu[i].stage == stage && s->gpu[i].replica == replica)
			return i;
	s->gpu = gv_xgrow(s->gpu, &r->gpu_cap, s->n_gpus + 1, sizeof(*s->gpu));
	s->gpu[s->n_gpus] =
	    (struct gv_schedule_gpu){.gpu = gpu, .stage = stage, .replica = replica};
	return s->n_gpus++;
}

static int
read_row(struct reader *r, size_t row, struct gv_error *e)
{
	struct gv_cell op = gv_frame_cell(&r->f, row, r->at[OP]);
	struct gv_schedule *s = r->s;
	struct gv_schedule_step step;
	int64_t gpu, replica;
	size_t k = 0;

	while (k < GV_STEP_OPS && !gv_cell_is(op, gv_step_name[k]))
		k++;
	if (k == GV_STEP_OPS)
		return gv_frame_expected(&r->f, row, r->at[OP], e, "F, B, W, AR or U");
	step.op = (enum gv_step_op)k;
	step.line = r->f.line[row];
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
	const struct gv_schedule_step *x = a, *y = b;

	if (x->gpu != y->gpu)
		return x->gpu < y->gpu ? -1 : 1;
	if (x->start_ms < y->start_ms || x->start_ms > y->start_ms)
		return x->start_ms < y->start_ms ? -1 : 1;
	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

int
gv_schedule_read(struct gv_schedule *s, struct gv_tab *t, struct gv_error *e)
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
		gv_schedule_free(s);
		return -1;
	}
	if (s->n_steps > 0)
		qsort(s->step, s->n_steps, sizeof(*s->step), by_gpu);
	for (i = 1; i < s->n_gpus; i++)
		s->gpu[i].first = s->gpu[i - 1].first + s->gpu[i - 1].n;
	return 0;
}

void
gv_schedule_free(struct gv_schedule *s)
{
	free(s->step);
	free(s->gpu);
	memset(s, 0, sizeof(*s));
}

/* ---- writing ---- */

/* In ms, without the noise of sums. */
static void
write_ms(struct gv_tabw *w, double s)
{
	gv_tabw_double(w, round(s * 1e12) / 1e9);
}

static void
write_step(struct gv_tabw *w, const struct gv_pipe *p, const struct gv_lane *l,
    size_t gpu, size_t k)
{
	const struct gv_step *s = &l->step[k];

	gv_tabw_int(w, (int64_t)gpu);
	gv_tabw_int(w, (int64_t)s->stage);
	gv_tabw_int(w, (int64_t)l->replica);
	if (p->chunks > 1)
		gv_tabw_int(w, (int64_t)(s->stage / gv_pipe_places(p)));
	gv_tabw_int(w, (int64_t)k);
	gv_tabw_str(w, gv_step_name[s->op]);
	gv_tabw_int(w, (int64_t)s->micro_batch);
	gv_tabw_int(w, (int64_t)s->version);
	write_ms(w, s->start_s);
	write_ms(w, s->end_s);
	gv_tabw_end(w);
}

void
gv_schedule_write(
    const struct gv_timetable *t, const struct gv_pipe *p, struct gv_out *out, bool tsv)
{
	static const char *const name[] = {"gpu", "stage", "replica", "chunk", "step",
	    "op", "micro_batch", "version", "start_ms", "end_ms"};
	struct gv_tabw w;
	size_t i, k;

	gv_tabw_init(&w, out, tsv);
	for (i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		if (p->chunks > 1 || strcmp(name[i], "chunk") != 0)
			gv_tabw_str(&w, name[i]);
	gv_tabw_end(&w);
	for (i = 0; i < t->n; i++)
		for (k = 0; k < t->lane[i].n; k++)
			write_step(&w, p, &t->lane[i], i, k);
}
