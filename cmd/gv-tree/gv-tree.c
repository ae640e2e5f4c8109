/*
 * gv-tree: which way collectives should take through the links between GPUs.
 * Reads a table of links, packs spanning trees into them, writes the trees.
 */
#include <string.h>

#include "base/err.h"
#include "base/fileio.h"
#include "base/opt.h"
#include "plan.h"
#include "score.h"
#include "table/tab.h"
#include "write.h"

struct options {
	struct gv_opt common;
	struct wish wish;
	const char *gpus;
	const char *root;
	size_t score; /* GPUs of the sets that are ranked; 0 = trees are asked for */
};

static const char usage[] = "usage: gv-tree [-qv] [-c COLLECTIVE] [-g GPUS] [-m METHOD] "
			    "[-r ROOT] [-o FILE] [LINKS]";

static const char help[] =
    "usage: gv-tree [options] [LINKS]\n"
    "\n"
    "Packs spanning trees into the links between GPUs, so that a collective is as\n"
    "fast as they allow, and writes the trees.  LINKS has the columns src, dst and\n"
    "gbytes_per_s; nodes named gpuN compute, all others relay.\n"
    "\n"
    "  -c, --collective=NAME  broadcast, reduce, allreduce (default), allgather or\n"
    "                         reducescatter\n"
    "  -g, --gpus=GPU,...     only these GPUs, by name or number\n"
    "  -m, --method=METHOD    auto (default); forest, colgen: the best there is;\n"
    "                         blink, onehop, ring, chain: to compare with\n"
    "  -r, --root=GPU         of broadcast and reduce (default: the first)\n"
    "      --score=N          instead of trees: all sets of N GPUs, the fastest first\n"
    "      --trees=N          at most N trees (of each root), all of one weight\n"
    "      --tsv              write tabs instead of commas\n"
    "  -o, --output=FILE      write there, atomically (default standard output)\n"
    "  -q, --quiet            no warnings\n"
    "  -v, --verbose          say what is best, what is reached, and which link is\n"
    "                         used most\n"
    "  -h, --help; -V, --version  this text; name and version\n";

static void
set_collective(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->wish.collective = (enum collective)gv_opt_one_of(
	    &o->common, "--collective", arg, collective_name, COLLECTIVES);
}

static void
set_method(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->wish.method =
	    (enum method)gv_opt_one_of(&o->common, "--method", arg, method_name, METHODS);
}

static void
set_trees(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->wish.trees = (size_t)gv_opt_int(&o->common, "--trees", arg, 1, 1024);
}

static void
set_score(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->score = (size_t)gv_opt_int(&o->common, "--score", arg, 2, 1024);
}

static void
parse_options(struct options *o, int argc, char **argv)
{
	struct gv_error e = {0};
	const struct gv_opt_own own[] = {
	    {"collective", required_argument, 'c', .set = set_collective},
	    {"gpus", required_argument, 'g', .text = &o->gpus},
	    {"method", required_argument, 'm', .set = set_method},
	    {"root", required_argument, 'r', .text = &o->root},
	    {"score", required_argument, .set = set_score},
	    {"trees", required_argument, .set = set_trees}, {.name = NULL}};

	gv_opt_parse(&o->common, true, own, o, argc, argv);
	if (plan_check(&o->wish, &e) != 0)
		gv_opt_usage(&o->common, "%s", e.text[0]);
	if (o->root != NULL && o->wish.collective != BROADCAST &&
	    o->wish.collective != REDUCE)
		gv_opt_usage(&o->common, "--root is of broadcast and reduce; %s has none",
		    collective_name[o->wish.collective]);
}

/* Fatal: 2 for tables that are wrong, 1 for what cannot be done with right ones. */
static void
read_fabric(struct options *o, const char *path, struct fabric *f)
{
	struct gv_frame frame;
	struct gv_error e = {0};

	if (gv_frame_load(&frame, path, &e) != 0 ||
	    fabric_read(f, &frame, o->gpus, &e) != 0)
		gv_die_error(&e);
	if (f->n_gpus < 2)
		gv_die("%s: %zu GPU%s: a collective needs two (nodes named gpuN)",
		    frame.file, f->n_gpus, f->n_gpus == 1 ? "" : "s");
	if (o->root != NULL && fabric_gpu(f, o->root, &o->wish.root, &e) != 0)
		gv_die_error(&e);
	gv_frame_free(&frame);
}

static struct gv_out *
open_output(const struct options *o)
{
	struct gv_out *out;
	struct gv_error e = {0};

	if (gv_out_open(&out, o->common.output, &e) != 0)
		gv_die_error(&e);
	return out;
}

static void
close_output(struct gv_out *out)
{
	struct gv_error e = {0};

	if (gv_out_close(out, &e) != 0)
		gv_die_error(&e);
}

static int
score(const struct options *o, struct fabric *f)
{
	struct scores s;
	struct gv_error e = {0};
	struct gv_out *out;

	if (scores_find(&s, f, o->score, o->wish.collective, &e) != 0) {
		gv_warn_error(&e);
		fabric_free(f);
		return 1;
	}
	out = open_output(o);
	scores_write(out, &s, f, o->common.tsv);
	close_output(out);
	scores_free(&s);
	fabric_free(f);
	return gv_finish();
}

int
main(int argc, char **argv)
{
	struct options o = {
	    .common = {.usage = usage, .help = help}, .wish = {.collective = ALL_REDUCE}};
	struct fabric f = {0};
	struct plan p;
	struct gv_out *out;
	struct gv_error e = {0};
	bool done;

	gv_init("gv-tree");
	parse_options(&o, argc, argv);
	read_fabric(&o, gv_opt_input(&o.common, argc, argv), &f);
	if (o.score > 0)
		return score(&o, &f);
	done = plan_make(&p, &f, &o.wish, &e) == 0;
	if (!done)
		gv_warn_error(&e);
	if (done && o.common.verbose > 0)
		say_plan(&p);
	if (done) {
		out = open_output(&o);
		write_trees(out, &p, o.common.tsv);
		close_output(out);
	}
	plan_free(&p);
	return done ? gv_finish() : 1;
}
