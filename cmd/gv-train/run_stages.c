/* --stages: what the stages of a pipeline took, beside what their plan says. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "plan/simulate.h"
#include "run_pipeline.h"

/* Of a replica of a stage, on its way to rank 0: seconds and bytes. */
enum {
	FORWARD,
	BACKWARD,
	PASSES,
	OTHER,
	SEND,
	UPDATE,
	WAIT,
	ALL,
	MICRO_BATCHES,
	TIMED,
	HELD,
	PLANNED,
	NUMBERS
};
enum { REALS = NUMBERS * sizeof(double) / sizeof(gv_real) };

/* ---- measured ---- */

static void
fill(double v[NUMBERS], const struct worker_times *t)
{
	v[FORWARD] = t->forward_s;
	v[BACKWARD] = t->backward_s;
	v[PASSES] = t->passes_s;
	v[OTHER] = t->other_s;
	v[SEND] = t->send_s;
	v[UPDATE] = t->update_s;
	v[WAIT] = t->waited_s;
	v[ALL] = t->all_s;
	v[MICRO_BATCHES] = (double)t->micro_batches;
	v[TIMED] = (double)t->timed;
	v[HELD] = t->held;
	v[PLANNED] = t->planned;
}

static int
send_times(struct run *r, struct gv_error *e)
{
	struct worker *w = r->pipeline->worker;
	struct post *post = worker_post(w);
	size_t i, stage;

	for (i = 0; i < worker_stages(w); i++) {
		struct worker_times t = worker_times(w, i);
		struct parcel *p = post_blank(post, REALS);
		double v[NUMBERS];

		worker_net(w, i, &stage);
		fill(v, &t);
		memcpy(p->v, v, sizeof(v));
		post_send(post, p, 0, post_tag(POST_TIMES, stage, 0));
	}
	return post_flush(post) != 0 ? gv_error_set(e, "%s", post->error.text[0]) : 0;
}

static int
take_times(
    struct run *r, size_t stage, size_t replica, double v[NUMBERS], struct gv_error *e)
{
	struct worker *w = r->pipeline->worker;
	struct post *post = worker_post(w);
	struct parcel *p = post_ask(
	    post, REALS, worker_rank(w, stage) + replica, post_tag(POST_TIMES, stage, 0));

	if (post_take(post, p) != 0)
		return gv_error_set(e, "%s", post->error.text[0]);
	memcpy(v, p->v, NUMBERS * sizeof(*v));
	post_back(post, p);
	return 0;
}

/* ---- planned ---- */

/*
 * Shares of the time in which the GPUs of each place compute nothing, [places], if passes
 * take what the plan says and sending nothing; NULL where it does not say.  To be freed.
 */
static double *
planned_bubbles(const struct run *r)
{
	const struct run_pipeline *p = r->pipeline;
	struct gv_pipe pipe = {.n = p->stages.n,
	    .schedule = p->route.kind,
	    .chunks = (size_t)r->o->chunks,
	    .batch = (size_t)p->route.micro_batches};
	struct gv_simulation s = {0};
	struct gv_timetable t = {0};
	struct gv_error ignored = {0};
	double *bubble = NULL;
	bool told = true;
	size_t k;

	pipe.micro_batches = pipe.batch;
	pipe.stage = gv_xcalloc(pipe.n, sizeof(*pipe.stage));
	for (k = 0; k < pipe.n; k++) {
		const struct stage *at = &p->stages.stage[k];
		bool split = pipe.schedule == GV_SCHEDULE_ZB_H1;

		pipe.stage[k] = (struct gv_pipe_stage){.replicas = at->replicas,
		    .forward_s = at->forward_s,
		    .backward_s = split ? at->backward_s / 2 : at->backward_s,
		    .weight_s = split ? at->backward_s / 2 : 0};
		if (at->recompute)
			pipe.stage[k].backward_s += at->forward_s;
		told &= at->forward_s > 0 && at->backward_s > 0;
	}
	if (pipe.schedule == GV_SCHEDULE_1F1B || pipe.schedule == GV_SCHEDULE_2BW)
		pipe.micro_batches = (size_t)gv_course_some(&pipe, UINT64_MAX / 2);
	if (told && gv_simulation_run(&s, &t, &pipe, &ignored) == 0) {
		bubble = gv_xcalloc(s.n, sizeof(*bubble));
		for (k = 0; k < s.n; k++)
			bubble[k] = s.place[k].bubble;
		gv_timetable_free(&t);
		gv_simulation_free(&s);
	}
	gv_pipe_free(&pipe);
	return bubble;
}

/* ---- the table ---- */

static void
write_names(struct gv_tabw *w)
{
	static const char *const names[] = {"stage", "replica", "micro_batches",
	    "forward_ms", "planned_forward_ms", "backward_ms", "planned_backward_ms",
	    "other_ms", "send_ms", "update_ms", "wait_ms", "bubble", "planned_bubble",
	    "memory_bytes", "planned_memory_bytes"};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		gv_tabw_str(w, names[i]);
	gv_tabw_end(w);
}

static double
if_told(double v)
{
	return v > 0 ? v : (double)NAN;
}

static void
write_row(struct gv_tabw *w, const struct run *r, size_t stage, size_t replica,
    const double v[NUMBERS], const double *bubble)
{
	const struct stage *at = &r->pipeline->stages.stage[stage];
	size_t places = r->pipeline->stages.n / (size_t)r->o->chunks;
	double ms = v[TIMED] > 0 ? 1e3 / v[TIMED] : (double)NAN;
	double back = at->backward_s + (at->recompute ? at->forward_s : 0);

	gv_tabw_int(w, (int64_t)stage);
	gv_tabw_int(w, (int64_t)replica);
	gv_tabw_int(w, (int64_t)v[MICRO_BATCHES]);
	gv_tabw_double(w, v[FORWARD] * ms);
	gv_tabw_double(w, if_told(at->forward_s * 1e3));
	gv_tabw_double(w, v[BACKWARD] * ms);
	gv_tabw_double(w, if_told(at->backward_s > 0 ? back * 1e3 : 0));
	gv_tabw_double(w, v[OTHER] * ms);
	gv_tabw_double(w, v[SEND] * ms);
	gv_tabw_double(w, v[UPDATE] * ms);
	gv_tabw_double(w, v[WAIT] * ms);
	gv_tabw_double(w, 1 - v[ALL]);
	gv_tabw_double(w, bubble != NULL ? bubble[stage % places] : (double)NAN);
	gv_tabw_double(w, v[HELD]);
	gv_tabw_double(w, if_told(v[PLANNED]));
	gv_tabw_end(w);
}

/* Of each GPU the share of its time that its passes take, over all its stages, in ALL. */
static void
share_of_passes(const struct run *r, double (*v)[NUMBERS], const size_t *first)
{
	const struct stages *s = &r->pipeline->stages;
	size_t places = s->n / (size_t)r->o->chunks, k, i, c;

	for (k = 0; k < places; k++)
		for (i = 0; i < s->stage[k].replicas; i++) {
			double busy = 0, all = v[first[k] + i][ALL];

			for (c = k; c < s->n; c += places)
				busy += v[first[c] + i][PASSES];
			for (c = k; c < s->n; c += places)
				v[first[c] + i][ALL] = all > 0 ? busy / all : 0;
		}
}

static int
write_table(struct run *r, double (*v)[NUMBERS], const size_t *first, struct gv_error *e)
{
	const struct stages *s = &r->pipeline->stages;
	double *bubble = planned_bubbles(r);
	struct gv_tabw w;
	struct gv_out *out;
	size_t k, i;
	int status = -1;

	share_of_passes(r, v, first);
	if (gv_out_open(&out, r->o->stages, e) == 0) {
		gv_tabw_init(&w, out, r->o->common.tsv);
		write_names(&w);
		for (k = 0; k < s->n; k++)
			for (i = 0; i < s->stage[k].replicas; i++)
				write_row(&w, r, k, i, v[first[k] + i], bubble);
		status = gv_out_close(out, e);
	}
	free(bubble);
	return status;
}

int
run_stages_write(struct run *r, struct gv_error *e)
{
	const struct stages *s = &r->pipeline->stages;
	double(*v)[NUMBERS];
	size_t *first, all = 0, k, i;
	int status;

	if (send_times(r, e) != 0)
		return -1;
	if (r->place.rank != 0)
		return 0;
	first = gv_xcalloc(s->n, sizeof(*first));
	for (k = 0; k < s->n; k++) {
		first[k] = all;
		all += s->stage[k].replicas;
	}
	v = gv_xcalloc(all, sizeof(*v));
	for (status = 0, k = 0; k < s->n && status == 0; k++)
		for (i = 0; i < s->stage[k].replicas && status == 0; i++)
			status = take_times(r, k, i, v[first[k] + i], e);
	if (status == 0 && r->o->stages != NULL)
		status = write_table(r, v, first, e);
	free(first);
	free(v);
	return status;
}
