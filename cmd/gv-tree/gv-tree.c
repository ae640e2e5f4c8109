/*
 * gv-tree: which way collectives should take through the links between GPUs.
 * Reads a table of links, packs spanning trees into them, writes the trees.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/fileio.h"
#include "base/num.h"
#include "base/opt.h"
#include "gv-tree/export/export.h"
#include "gv-tree/import/import.h"
#include "gv-tree/import/nccl.h"
#include "gv-tree/plan/plan.h"
#include "hybrid.h"
#include "score.h"
#include "write.h"

enum { LONG_GPUS = 64 }; /* from here on a plan may take a second */

struct options {
	struct gv_opt common;
	struct wish wish;
	const char *gpus, *kinds;
	const char *root;
	struct hybrid hybrid;
	size_t score; /* GPUs of the sets that are ranked; 0 = trees are asked for */
	bool exports, lint;
	enum export format;
	double lane; /* GB/s of an NVLink; 0 = as the table of links says */
};

static const char usage[] = "usage: gv-tree [-qv] [-c COLLECTIVE] [-g GPUS] [-m METHOD] "
			    "[-r ROOT] [-o FILE] [LINKS]";

static const char help[] =
    "usage: gv-tree [options] [LINKS]\n"
    "\n"
    "Packs spanning trees into the links between GPUs and writes them.  LINKS: src,\n"
    "dst, gbytes_per_s, or what nvidia-smi topo -m prints or NCCL_TOPO_FILE names;\n"
    "nodes named gpuN compute, all others relay.\n"
    "\n"
    "  -c, --collective=NAME  broadcast, reduce, allreduce (default), allgather, ...\n"
    "      --export=FORMAT    instead: dot, links, msccl, nccl-graph, tuner\n"
    "  -g, --gpus=GPU,...     only these GPUs, by name or number\n"
    "      --hybrid=TIME      split over NVLinks and the host's, TIME to change over\n"
    "      --kind=KIND,...    only links whose kind begins so: NV, XGMI, PIX, NET\n"
    "      --lane=RATE        of an NVLink, where LINKS counts lanes\n"
    "      --lint             what NCCL makes of a topology file; no trees\n"
    "  -m, --method=METHOD    auto (default); forest, colgen: the best there is;\n"
    "                         blink, onehop, ring, relayed, chain, phases: others\n"
    "  -r, --root=GPU         of broadcast and reduce (default: the first)\n"
    "      --score=N          instead of trees: all sets of N GPUs, the fastest first\n"
    "      --size=BYTES       of the buffer that --hybrid splits\n"
    "      --trees=N          at most N trees (of each root), all of one weight\n"
    "      --tsv              write tabs instead of commas\n"
    "  -o, --output=FILE      write there, atomically (default standard output)\n"
    "  -q, --quiet            no warnings\n"
    "  -v, --verbose          say what is best, what is reached, what is used most\n"
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
set_export(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->exports = true;
	o->format =
	    (enum export)gv_opt_one_of(&o->common, "--export", arg, export_name, EXPORTS);
}

static void
set_lane(void *ctx, const char *arg)
{
	struct options *o = ctx;

	if (gv_parse_rate(arg, &o->lane) != 0 || o->lane > 1e12)
		gv_opt_usage(
		    &o->common, "--lane: %s: expected a rate such as 25GB/s", arg);
	o->lane /= 1e9;
}

static void
set_hybrid(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->hybrid.asked = true;
	if (gv_parse_duration(arg, &o->hybrid.switch_s) != 0)
		gv_opt_usage(
		    &o->common, "--hybrid: %s: expected a time such as 20us", arg);
}

static void
set_size(void *ctx, const char *arg)
{
	struct options *o = ctx;

	if (gv_parse_bytes(arg, &o->hybrid.bytes) != 0 || o->hybrid.bytes == 0)
		gv_opt_usage(&o->common, "--size: %s: expected bytes such as 64MiB", arg);
}

static void
parse_options(struct options *o, int argc, char **argv)
{
	struct gv_error e = {0};
	const struct gv_opt_own own[] = {
	    {"collective", required_argument, 'c', .set = set_collective},
	    {"export", required_argument, .set = set_export},
	    {"gpus", required_argument, 'g', .text = &o->gpus},
	    {"hybrid", required_argument, .set = set_hybrid},
	    {"kind", required_argument, .text = &o->kinds},
	    {"lane", required_argument, .set = set_lane},
	    {"lint", no_argument, .flag = &o->lint},
	    {"method", required_argument, 'm', .set = set_method},
	    {"root", required_argument, 'r', .text = &o->root},
	    {"score", required_argument, .set = set_score},
	    {"size", required_argument, .set = set_size},
	    {"trees", required_argument, .set = set_trees}, {.name = NULL}};

	gv_opt_parse(&o->common, true, own, o, argc, argv);
	if (plan_check(&o->wish, &e) != 0)
		gv_opt_usage(&o->common, "%s", e.text[0]);
	if (o->hybrid.asked && (o->exports || o->score > 0 || o->kinds != NULL))
		gv_opt_usage(&o->common,
		    "--hybrid splits links by their kind and writes a "
		    "table: not with --export, --kind or --score");
	if (o->score > 0 && o->exports)
		gv_opt_usage(
		    &o->common, "--score writes a table of sets: not with --export");
	if (o->hybrid.asked != (o->hybrid.bytes > 0) &&
	    (o->hybrid.switch_s > 0 || !o->hybrid.asked))
		gv_opt_usage(&o->common, "--hybrid=TIME and --size=BYTES go together");
	if (o->root != NULL && o->wish.collective != BROADCAST &&
	    o->wish.collective != REDUCE)
		gv_opt_usage(&o->common, "--root is of broadcast and reduce; %s has none",
		    collective_name[o->wish.collective]);
}

/* Fatal: 2 for tables that are wrong, 1 for what cannot be done with right ones. */
static void
read_fabric(struct options *o, const char *path, struct fabric *f, struct gv_frame *frame)
{
	struct gv_error e = {0};

	if (import_load(frame, path, o->lane, &e) != 0 ||
	    fabric_read(f, frame, o->gpus, o->kinds, false, &e) != 0)
		gv_die_error(&e);
	if (f->n_gpus < 2)
		gv_die("%s: %zu GPU%s: a collective needs two (nodes named gpuN)",
		    frame->file, f->n_gpus, f->n_gpus == 1 ? "" : "s");
	if (o->root != NULL && fabric_gpu(f, o->root, &o->wish.root, &e) != 0)
		gv_die_error(&e);
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

/* For a terminal; looking at the clock costs more than a set of few GPUs. */
static void
tell_sets(size_t done, size_t of)
{
	if (done % 64 == 1)
		gv_progress("ranking: %zu of %zu sets of GPUs", done, of);
	if (done == of)
		gv_progress(NULL);
}

static int
score(const struct options *o, struct fabric *f)
{
	struct scores s;
	struct gv_error e = {0};
	struct gv_out *out;

	if (scores_find(&s, f, o->score, o->wish.collective, tell_sets, &e) != 0) {
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

/* What NCCL makes of a file: 1 where it would stop. */
static int
lint(const struct options *o, const char *path)
{
	struct xml x;
	struct xml_findings found = {0};
	struct gv_error e = {0};
	struct gv_out *out;
	char *text, *name;
	size_t len;
	bool wrong;

	if (import_text(&text, &len, &name, path, &e) != 0)
		gv_die_error(&e);
	xml_read(&x, name, text, len, &found);
	nccl_check(&x, &found);
	wrong = found.errors > 0;
	out = open_output(o);
	write_findings(out, &found, o->common.tsv);
	close_output(out);
	xml_findings_free(&found);
	xml_free(&x);
	free(text);
	free(name);
	return wrong && gv_finish() == 0 ? 1 : gv_finish();
}

static int
write_plan(const struct options *o, const struct plan *p, struct gv_error *e)
{
	struct gv_out *out = open_output(o);
	struct gv_tabw w;

	if (!o->exports) {
		write_header(&w, out, o->common.tsv);
		write_trees(&w, p, 0, 1);
	} else if (export_write(o->format, p, out, e) != 0) {
		gv_out_discard(out);
		return -1;
	}
	close_output(out);
	return 0;
}

/* Over links of GPUs and over the host's at once, each with trees of its own. */
static int
plan_hybrid(const struct options *o, const struct gv_frame *frame)
{
	struct hybrid h = o->hybrid;
	struct gv_error e = {0};
	struct gv_out *out;
	ptrdiff_t kind;
	int rc;

	if (gv_frame_require(frame, "kind", &kind, &e) != 0)
		gv_die_error(&e);
	rc = hybrid_make(&h, frame, o->gpus, &o->wish, &e);
	if (rc == 0 && o->common.verbose > 0)
		hybrid_say(&h);
	if (rc == 0) {
		out = open_output(o);
		hybrid_write(out, &h, o->common.tsv);
		close_output(out);
	} else {
		gv_warn_error(&e);
	}
	hybrid_free(&h);
	return rc == 0 ? gv_finish() : 1;
}

static int
plan(const struct options *o, struct fabric *f)
{
	struct plan p;
	struct gv_error e = {0};
	bool done;

	if (f->n_gpus >= LONG_GPUS)
		gv_progress("packing trees between %zu GPUs", f->n_gpus);
	done = plan_make(&p, f, &o->wish, &e) == 0;
	gv_progress(NULL);

	if (done && o->common.verbose > 0)
		say_plan(&p);
	done = done && write_plan(o, &p, &e) == 0;
	if (!done)
		gv_warn_error(&e);
	plan_free(&p);
	return done ? gv_finish() : 1;
}

int
main(int argc, char **argv)
{
	struct options o = {
	    .common = {.usage = usage, .help = help}, .wish = {.collective = ALL_REDUCE}};
	struct fabric f = {0};
	struct gv_frame frame;
	struct gv_out *out;
	const char *path;
	int status;

	gv_init("gv-tree");
	parse_options(&o, argc, argv);
	path = gv_opt_input(&o.common, argc, argv);
	if (o.lint)
		return lint(&o, path);
	read_fabric(&o, path, &f, &frame);
	if (o.score > 0) {
		status = score(&o, &f);
	} else if (o.exports && o.format == EXPORT_LINKS) {
		out = open_output(&o);
		write_links(out, &frame, &f, o.common.tsv);
		close_output(out);
		fabric_free(&f);
		status = gv_finish();
	} else if (o.hybrid.asked) {
		fabric_free(&f);
		status = plan_hybrid(&o, &frame);
	} else {
		status = plan(&o, &f);
	}
	gv_frame_free(&frame);
	return status;
}
