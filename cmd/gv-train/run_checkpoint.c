/* The checkpoint that a run goes on from: what it must agree with, and where it is. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/lock.h"
#include "base/mem.h"
#include "run.h"

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
	if (l->is_tied)
		gv_strbuf_fmt(s, " tied_with=%" PRId64, m->layer[l->tied].id);
	gv_strbuf_str(s, "\n");
}

void
run_describe(struct run *r)
{
	const struct options *o = r->o;
	const struct gv_data *d = &r->data;
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
	if (o->data.own)
		gv_strbuf_str(&r->config, "autoencode\n");
	gv_strbuf_fmt(&r->config, "data_crc %08" PRIx32 "\nscale %s\n", d->crc,
	    gv_data_scale_names[o->data.scale]);
	for (i = 0; i < r->model.n; i++)
		describe_layer(&r->config, &r->model, &r->model.layer[i]);
	r->line = gv_xcalloc(r->array.n, sizeof(*r->line));
	for (i = 0; i < r->array.n; i++) {
		struct gv_strbuf s = {0};

		array_describe(&r->array, i, o->optimiser, &s);
		r->line[i] = s.s;
	}
}

uint32_t
run_gang_key(const struct run *r)
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

char *
run_path(const char *dir, const char *name)
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
	char *path = run_path(dir, ".gv-train.lock");
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
	size_t len = strlen(dir);
	char *path, *slash;
	int status = 0;

	while (len > 1 && dir[len - 1] == '/')
		len--;
	path = gv_xstrndup(dir, len);
	slash = strrchr(path, '/');
	if (mkdir(path, 0700) != 0 && errno == ENOENT && slash != NULL && slash != path) {
		*slash = '\0';
		status = gv_mkdirs(path, e);
		*slash = '/';
		mkdir(path, 0700);
	}
	/* it is there now, or this says why not */
	if (status == 0)
		status = gv_mkdirs(path, e);
	free(path);
	return status;
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
		old = run_path(r->o->checkpoint, "gv-train.ckpt.old");
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

int
run_checkpoint_open(struct run *r, struct gv_error *e)
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
	r->ckpt_path = run_path(dir, "gv-train.ckpt");
	r->old_path = run_path(dir, "gv-train.ckpt.old");
	r->set_path = run_path(dir, "gv-train.set");
	if (r->pipeline != NULL || run_slices_there(r))
		return run_slices_restore(r, e);
	return restore(r, e);
}
