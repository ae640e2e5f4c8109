/* Checkpoints of a pipeline: slices of the workers, and the set of them. */
#include "run_pipeline.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

static struct gv_ckpt_key
key_of(const struct run *r)
{
	return (struct gv_ckpt_key){
	    r->config.s, r->array.n, (const char *const *)r->line};
}

/* ---- going on ---- */

/*
 * What there is in the directory, as slices: a set, or the file of a whole model.  Of both
 * (somebody was killed between writing one and removing the other) the newer one.
 */
static int
find_slices(struct run *r, struct set *s, struct gv_error *e)
{
	int got = set_read(s, r->o->checkpoint, e);
	struct gv_error ignored = {0};
	uint64_t steps = 0;

	if (got < 0 || access(r->ckpt_path, F_OK) != 0)
		return got;
	if (got > 0 &&
	    (gv_ckpt_steps(r->ckpt_path, &steps, &ignored) != 0 || steps <= s->step))
		return got;
	set_free(s);
	s->slice = gv_xcalloc(1, sizeof(*s->slice));
	s->slice[0] =
	    (struct gv_ckpt_slice){gv_xstrdup(r->ckpt_path), 0, r->model.n, NULL};
	s->n = 1;
	return 1;
}

/* Models of one process, or of a joined array, have gone as far as a pipeline takes them. */
static int
check_even(
    const struct run *r, const struct gv_net *net, const char *path, struct gv_error *e)
{
	size_t b;

	for (b = 0; b < r->array.n; b++) {
		uint64_t all = r->array.steps[b], done = gv_net_steps(net, b);

		if (done != (r->step < all ? r->step : all))
			return gv_error_set(e,
			    "%s: model %zu has done %llu steps, another one %llu: a "
			    "pipeline takes them on together",
			    path, b, (unsigned long long)done,
			    (unsigned long long)r->step);
	}
	return 0;
}

/* The nets of this worker: those of its stages, or the one of the whole model. */
static int
fill(struct run *r, const struct set *s, struct gv_error *e)
{
	struct run_pipeline *p = r->pipeline;
	struct gv_ckpt_key key = key_of(r);
	size_t i, stage, b;

	if (p == NULL) {
		if (gv_ckpt_read_slices(s->slice, s->n, &r->model, r->net, 0, r->model.n,
			&key, r->diverged, e) != 0)
			return -1;
		for (b = 0; b < r->array.n; b++)
			if (gv_net_steps(r->net, b) > r->step)
				r->step = gv_net_steps(r->net, b);
		return 0;
	}
	r->step = s->step;
	for (i = 0; i < worker_stages(p->worker); i++) {
		struct gv_net *net = worker_net(p->worker, i, &stage);
		const struct stage *at = &p->stages.stage[stage];

		if (gv_ckpt_read_slices(s->slice, s->n, &r->model, net, at->first,
			at->last, &key, r->diverged, e) != 0)
			return -1;
		for (b = 0; b < r->array.n && s->slice[0].own == NULL; b++)
			if (gv_net_steps(net, b) > r->step)
				r->step = gv_net_steps(net, b);
		if (s->slice[0].own == NULL &&
		    check_even(r, net, s->slice[0].path, e) != 0)
			return -1;
	}
	if (r->step * p->route.micro_batches % p->route.unit != 0)
		return gv_error_set(e,
		    "%s: saved behind step %llu, where the workers of this plan have not "
		    "gone equally far: they have every %llu",
		    s->slice[0].path, (unsigned long long)r->step,
		    (unsigned long long)(p->route.unit / p->route.micro_batches));
	return 0;
}

int
run_slices_restore(struct run *r, struct gv_error *e)
{
	struct set s;
	int got = find_slices(r, &s, e), status = got < 0 ? -1 : 0;

	if (got > 0)
		status = fill(r, &s, e);
	if (status == 0 && got > 0 && r->pipeline != NULL && s.slice[0].own != NULL)
		r->saved_step = r->step;
	if (status == 0 && r->place.rank == 0)
		set_sweep(&s, r->o->checkpoint, true);
	set_free(&s);
	return status;
}

bool
run_slices_there(const struct run *r)
{
	return access(r->set_path, F_OK) == 0;
}

void
run_slices_forget(const struct run *r)
{
	struct set none = {0};

	if (unlink(r->set_path) == 0)
		set_sweep(&none, r->o->checkpoint, true);
}

/* ---- saving ---- */

static int
write_slices(struct run *r, const struct set *s, struct gv_error *e)
{
	struct run_pipeline *p = r->pipeline;
	struct gv_ckpt_key key = key_of(r);
	size_t i, stage;
	int status = 0;

	for (i = 0; i < worker_stages(p->worker) && status == 0; i++) {
		struct gv_net *net = worker_net(p->worker, i, &stage);
		struct gv_strbuf config = {0};

		GV_HOLDS(s->slice != NULL);
		gv_strbuf_fmt(&config, "%s%s", r->config.s, s->slice[stage].own);
		key.config = config.s;
		status = gv_ckpt_write(s->slice[stage].path, net, &key, r->diverged, e);
		gv_strbuf_free(&config);
	}
	return status;
}

/* Rank 0 asks all others that save; they tell it. */
static void
ask_or_tell(struct run *r)
{
	struct run_pipeline *p = r->pipeline;
	struct post *post = worker_post(p->worker);
	size_t rank = (size_t)r->place.rank, i;

	if (rank != 0) {
		struct parcel *x = post_blank(post, 1);

		x->v[0] = 0;
		post_send(post, x, 0, post_tag(POST_SAVED, rank, r->step));
		return;
	}
	for (i = 0; i < p->stages.n; i++) {
		size_t from = worker_rank(p->worker, i);
		bool again = from == 0;
		size_t k;

		for (k = 0; k < i; k++)
			again |= from == worker_rank(p->worker, k);

		p->saved[i] =
		    again ? NULL
			  : post_ask(post, 1, from, post_tag(POST_SAVED, from, r->step));
	}
}

int
run_slices_save(struct run *r, struct gv_error *e)
{
	struct run_pipeline *p = r->pipeline;
	struct set s = {.step = r->step};
	size_t i;

	r->saved_s = gv_clock_s();
	if (r->saved_step == r->step)
		return 0;
	if (run_slices_commit(r, true, e) != 0)
		return -1;
	r->saved_step = r->step;
	for (i = 0; i < p->stages.n; i++)
		set_add(&s, r->o->checkpoint, p->stages.stage[i].first,
		    p->stages.stage[i].last);
	if (worker_saves(p->worker)) {
		if (write_slices(r, &s, e) != 0) {
			set_free(&s);
			return -1;
		}
		ask_or_tell(r);
	}
	if (r->place.rank == 0) {
		p->set = s;
		p->saving = true;
		return run_slices_commit(r, false, e);
	}
	set_free(&s);
	return 0;
}

int
run_slices_commit(struct run *r, bool wait, struct gv_error *e)
{
	struct run_pipeline *p = r->pipeline;
	struct post *post = worker_post(p->worker);
	size_t i;

	if (!p->saving)
		return 0;
	for (i = 0; i < p->stages.n; i++) {
		if (p->saved[i] == NULL)
			continue;
		if (!p->saved[i]->m.done && !wait)
			return 0;
		if (post_wait(post, &p->saved[i]->m) != 0)
			return gv_error_set(e, "%s", post->error.text[0]);
		post_back(post, p->saved[i]);
		p->saved[i] = NULL;
	}
	p->saving = false;
	if (record_flush(&r->record, true, e) != 0 ||
	    set_write(&p->set, r->o->checkpoint, e) != 0)
		return -1;
	/* the newest is the only one */
	unlink(r->ckpt_path);
	unlink(r->old_path);
	set_sweep(&p->set, r->o->checkpoint, false);
	run_tell(r, "checkpoint", p->set.step);
	set_free(&p->set);
	return 0;
}
