/*
 * gv-comm: runs the collective that trees of gv-tree are of, and measures it, as
 * processes that send each other what the trees say; or predicts how long it takes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <zlib.h>

#include "base/err.h"
#include "base/fileio.h"
#include "coll/trees.h"
#include "member.h"
#include "options.h"
#include "predict.h"
#include "rows.h"
#include "shape.h"
#include "spawn.h"
#include "table/tab.h"
#include "ways.h"

#define MEET_S 60

/* Where rows go, which is opened with the first one: members have nothing of it. */
struct table {
	const struct gv_trees *t;
	const struct options *o;
	struct gv_out *out;
	struct gv_tabw w;
	double wrong;
};

static int
tell(void *ctx, const struct row *r)
{
	struct table *x = ctx;
	struct gv_error e = {0};

	if (x->out == NULL) {
		if (gv_out_open(&x->out, x->o->common.output, &e) != 0)
			gv_die_error(&e);
		rows_start(&x->w, x->out, x->o->common.tsv);
	}
	row_write(&x->w, x->t, x->o, r);
	if (r->wrong > 0)
		x->wrong += r->wrong;
	return x->o->common.output == NULL ? gv_out_flush(x->out) : 0;
}

/* Status of the whole. */
static int
finish(struct table *x)
{
	struct gv_error e = {0};

	if (x->out != NULL && gv_out_close(x->out, &e) != 0)
		gv_die_error(&e);
	if (x->wrong > 0)
		gv_warn("%.0f elements were wrong", x->wrong);
	return x->wrong > 0 ? GV_EXIT_NO : GV_EXIT_OK;
}

/* The links that --links names; false: none. */
static bool
read_links(struct ways *w, const struct table *x)
{
	struct gv_frame links;
	struct gv_error e = {0};

	if (x->o->links == NULL)
		return false;
	if (gv_frame_load(&links, x->o->links, &e) != 0 ||
	    ways_read(w, x->t, &links, x->o->cost.slower, &e) != 0)
		gv_die_error(&e);
	gv_frame_free(&links);
	return true;
}

static void
predict_all(struct table *x)
{
	struct ways ways = {0};
	bool over_links = read_links(&ways, x);
	int64_t bytes;
	struct row r;

	for (bytes = x->o->least_bytes; bytes >= 0; bytes = row_next(x->o, bytes)) {
		predict(&r, x->t, x->o, over_links ? &ways : NULL, bytes);
		if (r.time_s > 1e18)
			gv_die("chunks of %.0f bytes are too many to simulate; give "
			       "larger ones",
			    r.chunk_bytes);
		tell(x, &r);
	}
	ways_free(&ways);
}

/* All members on this machine, as children. */
static void
run_here(struct table *x)
{
	struct shape *shape = NULL;
	struct ways ways = {0};
	struct gv_error e = {0};

	if (read_links(&ways, x) && shape_new(&shape, &ways, &e) != 0)
		gv_die_error(&e);
	/* without a message: the table could not be written, which closing it says */
	if (spawn(x->t, x->o, shape, tell, x, &e) != 0 && e.count > 0)
		gv_die_error(&e);
	shape_free(shape);
	ways_free(&ways);
}

/* What all members must have been told alike. */
static uint32_t
fingerprint(const struct gv_trees *t, const struct options *o)
{
	char text[400];
	int n = snprintf(text, sizeof(text),
	    "%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %d %" PRId64
	    " %.17g %.17g %d %d",
	    o->least_bytes, o->most_bytes, o->factor, o->iterations, o->warmup,
	    (int)o->chunk_by, o->chunk_bytes, o->cost.chunk_s, o->cost.slower,
	    (int)o->type, (int)o->op);

	return (uint32_t)crc32_z(gv_trees_crc(t), (const Bytef *)text, (size_t)n);
}

/* As one member of those that somebody else has started. */
static void
run_as_member(struct table *x, const struct gv_gang_spec *s)
{
	struct member m = {
	    .rank = s->rank, .trees = x->t, .o = x->o, .tell = tell, .ctx = x};
	struct gv_error e = {0};
	bool failed;

	if (x->o->links != NULL)
		gv_die("--links is of processes on one machine; here are workers that a "
		       "launcher has started");
	if (s->world != x->t->n)
		gv_die("%d workers for trees over %d GPUs", s->world, x->t->n);
	if (gv_gang_join(&m.g, s, &e) != 0)
		gv_die_error(&e);
	failed = member_run(&m, &e) != 0 && e.count > 0;
	/* tells the others who is to blame, before this one is gone, too */
	gv_gang_leave(m.g);
	if (failed)
		gv_die_error(&e);
}

static void
say_what(const struct gv_trees *t, const struct options *o, bool started)
{
	gv_warn("%s over %d GPUs: %zu tree%s, depth %zu, %g GB/s in all",
	    gv_collective_name[t->collective], t->n, t->n_trees,
	    t->n_trees == 1 ? "" : "s", t->depth, t->weight);
	if (!o->model)
		gv_warn("%d processes, over %s%s%s", t->n,
		    started ? "TCP" : gv_local_name[o->transport],
		    o->links != NULL ? ", no faster than " : "",
		    o->links != NULL ? o->links : "");
}

static void
read_trees(struct gv_trees *t, const char *path)
{
	struct gv_frame f;
	struct gv_error e = {0};

	if (gv_frame_load(&f, path, &e) != 0 || gv_trees_read(t, &f, &e) != 0)
		gv_die_error(&e);
	gv_frame_free(&f);
}

int
main(int argc, char **argv)
{
	struct options o;
	struct gv_trees t;
	struct table x = {.t = &t, .o = &o};
	struct gv_gang_spec s = {.world = 1, .join_s = MEET_S, .silence_s = MEET_S};
	struct gv_error e = {0};
	int status;

	gv_init("gv-comm");
	parse_options(&o, argc, argv);
	read_trees(&t, gv_opt_input(&o.common, argc, argv));
	if (gv_gang_env(&s, &e) != 0)
		gv_die_error(&e);
	s.fingerprint = fingerprint(&t, &o);
	if (o.common.verbose > 0 && s.rank == 0)
		say_what(&t, &o, s.world > 1);
	if (o.model)
		predict_all(&x);
	else if (s.world > 1)
		run_as_member(&x, &s);
	else
		run_here(&x);
	status = finish(&x);
	gv_trees_free(&t);
	return status == GV_EXIT_OK ? gv_finish() : status;
}
