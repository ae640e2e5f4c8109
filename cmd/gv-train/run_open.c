/* The beginning and the end of a run. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/num.h"
#include "plan/plan.h"
#include "run.h"

static int
read_data(struct run *r, struct gv_error *e)
{
	const struct options *o = r->o;
	struct data_spec spec = o->data;

	spec.numbers = r->model.target == GV_TARGET_NUMBERS;
	if (data_open(&r->data, &spec, e) != 0)
		return -1;
	if (o->test.text == NULL)
		return 0;
	spec = o->test;
	spec.numbers = r->model.target == GV_TARGET_NUMBERS;
	if (data_open(&r->test, &spec, e) != 0)
		return -1;
	if (r->test.h != r->data.h || r->test.w != r->data.w || r->test.c != r->data.c)
		return gv_error_set(e,
		    "%s: samples of %zux%zux%zu, those of %s are %zux%zux%zu",
		    o->test.text, r->test.h, r->test.w, r->test.c, o->data.text,
		    r->data.h, r->data.w, r->data.c);
	if (r->test.classes > r->data.classes)
		return gv_error_set(e, "%s: label %zu, the largest of %s is %zu",
		    o->test.text, r->test.classes - 1, o->data.text, r->data.classes - 1);
	return 0;
}

/* Samples that are their own targets. */
static int
make_own(struct run *r, struct gv_error *e)
{
	if (r->model.target != GV_TARGET_NUMBERS)
		return gv_error_set(e,
		    "--autoencode: the head of %s compares with labels, not numbers",
		    r->model.table.file);
	data_own_targets(&r->data);
	if (r->test.n > 0)
		data_own_targets(&r->test);
	return 0;
}

/* Labels for a model that wants numbers. */
static void
make_numbers(struct run *r)
{
	size_t classes = r->data.classes;

	if (r->model.target != GV_TARGET_NUMBERS || r->data.y == NULL)
		return;
	data_one_hot(&r->data, classes);
	if (r->test.n > 0)
		data_one_hot(&r->test, classes);
}

/* Samples for a model that embeds them are tokens that it knows. */
static int
check_tokens(
    const struct run *r, const struct data *d, const char *name, struct gv_error *e)
{
	size_t i, known = r->model.tokens;

	for (i = 0; i < d->n * d->size && known > 0; i++)
		if (!(d->x[i] >= 0 && d->x[i] < (float)known &&
			d->x[i] == floorf(d->x[i])))
			return gv_error_set(e,
			    "%s: sample %zu: %g is no token from 0 to %zu, which embed "
			    "knows",
			    name, i / d->size, (double)d->x[i], known - 1);
	return 0;
}

int
run_read(struct run *r, struct gv_error *e)
{
	char *path = gv_model_path(r->o->model);
	int status = gv_model_read(&r->model, path, e);
	struct gv_shape input;
	size_t vocabulary;

	free(path);
	if (status != 0 || read_data(r, e) != 0)
		return -1;
	if (r->o->autoencode && make_own(r, e) != 0)
		return -1;
	make_numbers(r);
	vocabulary = gv_model_vocabulary(&r->model);
	if (vocabulary > r->data.classes && r->data.y != NULL && r->data.targets > 1)
		r->data.classes = vocabulary;
	input = (struct gv_shape){r->data.c, r->data.h, r->data.w};
	if (gv_model_shape(&r->model, input, r->data.classes, e) != 0)
		return -1;
	if (r->model.targets != r->data.targets)
		return gv_error_set(e,
		    "%s: a sample of %s has %zu targets, the model's head wants %zu",
		    r->model.table.file, r->o->data.text, r->data.targets,
		    r->model.targets);
	if (check_tokens(r, &r->data, r->o->data.text, e) != 0)
		return -1;
	return check_tokens(r, &r->test, r->o->test.text, e);
}

/* ---- what the checkpoint must agree with ---- */

static void
describe_layer(struct gv_strbuf *s, const struct gv_model *m, const struct gv_layer *l)
{
	char act[GV_ACT_LEN];
	size_t k;

	gv_strbuf_fmt(s, "row %" PRId64 " %s from=", l->id, gv_op_name(l->op));
	for (k = 0; k < l->inputs; k++)
		gv_strbuf_fmt(s, "%s%" PRId64, k > 0 ? ";" : "",
		    l->from[k] == GV_FROM_INPUT ? 0 : m->layer[l->from[k]].id);
	gv_strbuf_fmt(s, " out=%zu", l->out_shape.channels);
	if (l->op == GV_OP_CONV || l->op == GV_OP_TCONV || l->op == GV_OP_MAXPOOL ||
	    l->op == GV_OP_AVGPOOL)
		gv_strbuf_fmt(s, " k=%zu s=%zu p=%zu g=%zu", l->k, l->s, l->p, l->g);
	else if (l->k > 0 || l->g > 1)
		gv_strbuf_fmt(s, " k=%zu g=%zu", l->k, l->g);
	gv_act_text(l, act);
	gv_strbuf_fmt(
	    s, "%s%s%s", l->bias ? " bias" : "", act[0] != '\0' ? " " : "", act);
	if (l->op == GV_OP_DROPOUT)
		gv_strbuf_fmt(s, " rate=%.17g", l->rate);
	if (l->op == GV_OP_LSTM)
		gv_strbuf_fmt(s, " dir=%d", (int)l->dir);
	gv_strbuf_str(s, "\n");
}

static void
describe(struct run *r)
{
	const struct options *o = r->o;
	const struct data *d = &r->data;
	size_t shards =
	    o->shards > 0 ? o->shards : gv_net_shards(o->batch / o->micro_batches);
	size_t i;

	gv_strbuf_fmt(&r->config, "optimizer %s\nbatch %" PRIu64 "\n",
	    optimiser_names[o->optimiser], o->batch);
	if (o->micro_batches > 1)
		gv_strbuf_fmt(
		    &r->config, "micro_batches %" PRIu64 "\n", o->micro_batches);
	gv_strbuf_fmt(&r->config, "shards %zu\n", shards);
	gv_strbuf_fmt(&r->config, "samples %zu\nshape %zux%zux%zu\nclasses %zu\n", d->n,
	    d->h, d->w, d->c, d->classes);
	if (d->targets > 1)
		gv_strbuf_fmt(&r->config, "targets %zu\n", d->targets);
	if (o->autoencode)
		gv_strbuf_str(&r->config, "autoencode\n");
	gv_strbuf_fmt(&r->config, "data_crc %08" PRIx32 "\nscale %s\n", d->crc,
	    scale_names[o->scale]);
	for (i = 0; i < r->model.n; i++)
		describe_layer(&r->config, &r->model, &r->model.layer[i]);
	r->line = gv_xcalloc(r->array.n, sizeof(*r->line));
	for (i = 0; i < r->array.n; i++) {
		struct gv_strbuf s = {0};

		array_describe(&r->array, i, o->optimiser, &s);
		r->line[i] = s.s;
	}
}

/* What all ranks must share: the computation, and where it starts. */
static uint32_t
gang_key(struct run *r)
{
	uLong crc = crc32_z(crc32(0, NULL, 0), (const Bytef *)r->config.s, r->config.len);
	size_t b;

	for (b = 0; b < r->array.n; b++) {
		uint64_t n[2] = {r->net != NULL ? gv_net_steps(r->net, b) : r->step,
		    r->array.steps[b]};

		crc = crc32_z(crc, (const Bytef *)r->line[b], strlen(r->line[b]));
		crc = crc32_z(crc, (const Bytef *)n, sizeof(n));
	}
	return (uint32_t)crc;
}

/* ---- checkpoints ---- */

static char *
join(const char *dir, const char *name)
{
	size_t len = strlen(dir) + strlen(name) + 2;
	char *s = gv_xcalloc(len, 1);

	snprintf(s, len, "%s/%s", dir, name);
	return s;
}

/*
 * The lock goes with the descriptor.  It is on a file that only its owner can
 * open, since a lock on the directory can be held by whoever may read it.  Where
 * locks do not work, or the file is somebody else's, there is none.
 */
static int
lock_directory(struct run *r, const char *dir, struct gv_error *e)
{
	char *path = join(dir, ".gv-train.lock");
	struct stat st;

	r->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (r->lock == -1 && errno != EACCES && errno != ELOOP)
		gv_error_sys(e, "%s: cannot open", path);
	else if (r->lock == -1 || fstat(r->lock, &st) != 0 || st.st_uid != geteuid())
		gv_warn("warning: %s: not this user's: nothing keeps a second gv-train "
			"from this directory",
		    path);
	else if (gv_lock_take(r->lock, GV_LOCK_OPEN_FILE, NULL) == GV_LOCK_HELD)
		gv_error_set(e, "%s: another gv-train is at work there", dir);
	free(path);
	if (e->count == 0)
		return 0;
	return r->lock == -1 ? -1 : GV_EXIT_TEMPFAIL;
}

/* A directory that is made here is its owner's alone; one that is there stays as it is. */
static int
make_directory(const char *dir, struct gv_error *e)
{
	const char *slash = strrchr(dir, '/');
	char *parent;
	int status = 0;

	if (mkdir(dir, 0700) == 0)
		return 0;
	if (errno == ENOENT && slash != NULL && slash != dir && slash[1] != '\0') {
		parent = gv_xstrndup(dir, (size_t)(slash - dir));
		status = gv_mkdirs(parent, e);
		free(parent);
		if (status != 0 || mkdir(dir, 0700) == 0)
			return status;
	}
	return gv_mkdirs(dir, e);
}

/* What a process that was killed while it saved has left: gv-train.ckpt.XXXXXX. */
static void
remove_leftovers(const char *dir)
{
	static const char name[] = "gv-train.ckpt.";
	DIR *d = opendir(dir);
	struct dirent *entry;

	while (d != NULL && (entry = readdir(d)) != NULL)
		if (strncmp(entry->d_name, name, sizeof(name) - 1) == 0 &&
		    strlen(entry->d_name) == sizeof(name) - 1 + 6)
			unlinkat(dirfd(d), entry->d_name, 0);
	if (d != NULL)
		closedir(d);
}

static struct gv_ckpt_key
key_of(const struct run *r)
{
	return (struct gv_ckpt_key){
	    r->config.s, r->array.n, (const char *const *)r->line};
}

/* The last checkpoint; when that is damaged the one before it. */
static int
restore(struct run *r, struct gv_error *e)
{
	struct gv_ckpt_key key = key_of(r);
	struct gv_error before = {0};
	enum gv_ckpt_result got;
	bool damaged, whole = true;
	char *old;
	size_t b;

	got = gv_ckpt_read(r->ckpt_path, r->net, &key, r->diverged, &damaged, e);
	if (got == GV_CKPT_ERROR && damaged) {
		old = join(r->o->checkpoint, "gv-train.ckpt.old");
		if (gv_ckpt_read(old, r->net, &key, r->diverged, &damaged, &before) ==
		    GV_CKPT_READ) {
			if (r->place.rank == 0) {
				gv_warn_error(e);
				gv_warn("warning: going on from %s", old);
			}
			gv_error_clear(e);
			got = GV_CKPT_READ;
			whole = false;
		}
		free(old);
	}
	for (b = 0; got == GV_CKPT_READ && b < r->array.n; b++)
		if (gv_net_steps(r->net, b) > r->step)
			r->step = gv_net_steps(r->net, b);
	if (got == GV_CKPT_READ && whole)
		r->saved_step = r->step;
	return got == GV_CKPT_ERROR ? -1 : 0;
}

static int
open_checkpoint(struct run *r, struct gv_error *e)
{
	const char *dir = r->o->checkpoint;
	int status;

	if (dir == NULL)
		return 0;
	if (make_directory(dir, e) != 0)
		return -1;
	status = r->place.rank == 0 ? lock_directory(r, dir, e) : 0;
	if (status != 0)
		return status;
	if (r->place.rank == 0)
		remove_leftovers(dir);
	r->ckpt_path = join(dir, "gv-train.ckpt");
	r->old_path = join(dir, "gv-train.ckpt.old");
	r->set_path = join(dir, "gv-train.set");
	if (r->pipeline != NULL || run_slices_there(r))
		return run_slices_restore(r, e);
	return restore(r, e);
}

/* ---- outputs ---- */

static uint64_t
steps_of(const struct run *r, size_t b)
{
	uint64_t all = r->array.steps[b];

	if (r->net != NULL)
		return gv_net_steps(r->net, b);
	return r->step < all ? r->step : all;
}

/* What each model has done, and the last step up to there that wrote a row. */
static struct record_past *
past_of(const struct run *r)
{
	struct record_past *past = gv_xcalloc(r->array.n, sizeof(*past));
	uint64_t log = (uint64_t)r->o->log_every;
	size_t b;

	for (b = 0; b < r->array.n; b++) {
		uint64_t done = steps_of(r, b);

		past[b].steps = done;
		past[b].last_row = done == r->array.steps[b] ? done : done / log * log;
	}
	return past;
}

static int
open_outputs(struct run *r, struct gv_error *e)
{
	struct record_past *past;
	bool short_of;
	int status;

	if (r->place.rank != 0)
		return 0;
	if (r->o->record != NULL)
		r->record_path = gv_xstrdup(r->o->record);
	else if (r->ckpt_path != NULL)
		r->record_path = join(r->o->checkpoint, "losses.csv");
	if (gv_out_open(&r->out, r->o->common.output, e) != 0)
		return -1;
	past = past_of(r);
	status = record_open(&r->record, r->out, r->o->common.tsv, r->record_path,
	    r->o->record == NULL, past, r->array.n, &short_of, e);
	free(past);
	if (status == 0 && short_of && !r->o->common.quiet)
		gv_warn("warning: %s: rows before step %llu are missing", r->record_path,
		    (unsigned long long)r->step);
	return status;
}

/* ---- the net ---- */

static int
reduce(void *ctx, gv_real *v, size_t n)
{
	struct run *r = ctx;
	unsigned flags = run_flags();

	if (r->coll != NULL) {
		if (run_trees_sum(r, v, n) != 0)
			return -1;
		n = 0; /* the flags are left */
	}
	if (gv_gang_sum(r->gang, v, n, &flags, &r->gang_error) != 0)
		return -1;
	r->agreed |= flags;
	return 0;
}

static int
build(struct run *r, struct gv_error *e)
{
	const struct options *o = r->o;
	struct gv_net_config c = {0};

	c.models = r->array.n;
	c.batch = o->batch / o->micro_batches;
	c.micro_batches = o->micro_batches;
	c.shards = o->shards;
	c.rank = (size_t)r->place.rank;
	c.ranks = (size_t)r->place.world;
	c.backend = run_device(r, e);
	if (c.backend == NULL)
		return -1;
	c.optimiser = o->optimiser;
	c.seed = r->array.seed;
	c.coef = r->array.coef;
	c.reduce = r->place.world > 1 ? reduce : NULL;
	c.ctx = r;
	if (gv_net_new(&r->net, &r->model, &c, e) != 0)
		return -1;
	if (gv_net_data(r->net, r->data.x, data_targets(&r->data), r->data.n) != 0)
		return gv_error_set(e, "%s", gv_net_error(r->net));
	gv_net_rows(r->net, &r->first, &r->rows);
	r->diverged = gv_xcalloc(r->array.n, sizeof(*r->diverged));
	r->loss = gv_xcalloc(r->array.n, sizeof(*r->loss));
	r->visit = gv_xcalloc(r->rows * o->micro_batches, sizeof(*r->visit));
	run_orders_make(r);
	return 0;
}

static void
say_what(const struct run *r)
{
	struct gv_net_bytes bytes;

	gv_net_bytes(r->net, &bytes);
	gv_warn("%zu models of %zu parameters, %" PRIu64
		" flops forward a sample; %zu samples; "
		"%zu bytes; step %" PRIu64 " of %" PRIu64,
	    r->array.n, r->model.parameters, r->model.flops, r->data.n, bytes.total,
	    r->step, r->last);
}

/* A model with the columns of a plan: what of it is not followed here. */
static void
warn_plan(const struct run *r)
{
	const struct gv_frame *f = &r->model.table;
	struct gv_plan_columns c = gv_plan_columns(f);
	int64_t last = -1, stages = 0, gpus = 0;
	struct gv_error ignored = {0};
	struct gv_plan_row row;
	size_t i;

	for (i = 0; c.stage >= 0 && i < f->n_rows; i++) {
		if (gv_plan_row(&row, f, &c, i, f->n_rows, &ignored) != 0 ||
		    row.stage <= last)
			continue;
		last = row.stage;
		stages++;
		gpus += row.replicas;
	}
	if (stages > 1 || gpus > r->place.world)
		gv_warn("warning: %s: a plan of stages=%lld on gpus=%lld: the whole "
			"model is trained here on workers=%d",
		    f->file, (long long)stages, (long long)gpus, r->place.world);
}

/* Somebody came to where the gang meets and does not belong to it. */
static void
say_stranger(void *ctx, const char *line)
{
	(void)ctx;
	gv_warn("warning: %s", line);
}

static void
say_link(void *ctx, const char *line)
{
	(void)ctx;
	gv_warn("%s", line);
}

int
run_open(struct run *r, struct gv_error *e)
{
	int status;

	r->lock = -1;
	r->record.fd = -1;
	r->saved_step = r->told_step = UINT64_MAX;
	r->last = array_last(&r->array);
	r->place.join_s = r->place.silence_s = r->o->timeout_s;
	r->place.log = r->o->common.quiet ? NULL : say_stranger;
	r->place.tell = r->o->common.verbose > 0 ? say_link : NULL;
	if (gv_gang_env(&r->place, e) != 0 || run_trees_read(r, e) != 0)
		return -1;
	data_scale(&r->data, r->test.n > 0 ? &r->test : NULL,
	    r->model.tokens > 0 ? SCALE_NONE : r->o->scale);
	if (r->o->autoencode)
		data_own_targets_fill(&r->data);
	if (r->o->autoencode && r->test.n > 0)
		data_own_targets_fill(&r->test);
	if ((r->o->pipeline != NULL ? run_pipeline_build : build)(r, e) != 0 ||
	    run_weights_take(r, e) != 0)
		return -1;
	describe(r);
	status = open_checkpoint(r, e);
	if (status != 0)
		return status;
	r->place.fingerprint = run_trees_key(r, gang_key(r));
	if (gv_gang_join(&r->gang, &r->place, e) != 0 ||
	    gv_gang_thread(r->gang, e) != 0 || open_outputs(r, e) != 0)
		return -1;
	run_trees_start(r);
	if (run_ranks_start(r, e) != 0)
		return -1;
	r->saved_s = gv_clock_s();
	if (!r->o->common.quiet && r->place.rank == 0 && r->pipeline == NULL)
		warn_plan(r);
	if (r->o->common.verbose > 0 && r->place.rank == 0 && r->pipeline == NULL) {
		say_what(r);
		run_losses_say(r);
	}
	return 0;
}

void
run_close(struct run *r)
{
	size_t b;

	for (b = 0; r->line != NULL && b < r->array.n; b++)
		free(r->line[b]);
	free(r->line);
	gv_strbuf_free(&r->config);
	run_ranks_end(r);
	gv_gang_leave(r->gang);
	gv_coll_free(r->coll);
	run_pipeline_close(r);
	gv_trees_free(&r->trees);
	gv_net_free(r->net);
	gv_model_free(&r->model);
	array_free(&r->array);
	data_free(&r->data);
	data_free(&r->test);
	for (b = 0; b < r->orders; b++)
		data_order_free(&r->order[b]);
	free(r->order);
	free(r->order_of);
	run_losses_free(r);
	free(r->diverged);
	free(r->loss);
	free(r->visit);
	free(r->ckpt_path);
	free(r->old_path);
	free(r->set_path);
	free(r->record_path);
	if (r->lock > 2)
		close(r->lock);
}
