#include "options.h"

#include <string.h>

#include "base/num.h"

static const char usage[] =
    "usage: gv-comm [-qv] [-b SIZE] [-e SIZE] [-f N] [-n N] [-w N] [-c CHUNK] [-l LINKS] "
    "[-t TRANSPORT] [-o FILE] [TREES]";

static const char help[] =
    "usage: gv-comm [options] [TREES]\n"
    "\n"
    "Runs the collective that TREES of gv-tree are of, a process for each GPU,\n"
    "checks every element, and writes times as nccl-tests does; or predicts them.\n"
    "\n"
    "  -b, --min-size=SIZE    bytes of the smallest buffer (64KiB)\n"
    "  -e, --max-size=SIZE    of the largest (64MiB)\n"
    "  -f, --factor=N         from one to the next (4)\n"
    "  -n, --iterations=N     times that the median is of (10)\n"
    "  -w, --warmup=N         times before those (1)\n"
    "  -c, --chunk=CHUNK      bytes of a chunk, search (default: the fastest that is\n"
    "                         found) or formula (the fastest by the model)\n"
    "      --chunk-cost=TIME  of each chunk beside its bytes, for the model (10us)\n"
    "  -l, --links=LINKS      each link carries what this table says, no more; the\n"
    "                         model simulates them, chunk by chunk\n"
    "      --slower=N         all links are N times slower\n"
    "  -t, --transport=NAME   memory (default) or tcp\n"
    "      --op=NAME          sum (default), max or min\n"
    "      --type=NAME        float (default) or double\n"
    "      --model            predict; nothing is run\n"
    "      --tsv              write tabs instead of commas\n"
    "  -o, --output=FILE      write there, atomically (default standard output)\n"
    "  -q, --quiet            no warnings;  -v, --verbose  say what is run\n"
    "  -h, --help; -V, --version  this text; name and version\n";

static void
take_bytes(const struct options *o, const char *option, const char *arg, int64_t *bytes)
{
	if (gv_parse_bytes(arg, bytes) != 0 || *bytes > INT64_C(1) << 40)
		gv_opt_usage(&o->common, "%s: expected bytes, as in 64KiB, got \"%s\"",
		    option, arg);
}

static void
set_least(void *ctx, const char *arg)
{
	struct options *o = ctx;

	take_bytes(o, "--min-size", arg, &o->least_bytes);
}

static void
set_most(void *ctx, const char *arg)
{
	struct options *o = ctx;

	take_bytes(o, "--max-size", arg, &o->most_bytes);
}

static void
set_factor(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->factor = gv_opt_int(&o->common, "--factor", arg, 2, 1024);
}

static void
set_iterations(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->iterations = gv_opt_int(&o->common, "--iterations", arg, 1, 100000);
}

static void
set_warmup(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->warmup = gv_opt_int(&o->common, "--warmup", arg, 0, 100000);
}

static void
set_chunk(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->chunk_by = strcmp(arg, "search") == 0    ? CHUNK_SEARCH
		      : strcmp(arg, "formula") == 0 ? CHUNK_FORMULA
						    : CHUNK_BYTES;
	if (o->chunk_by != CHUNK_BYTES)
		return;
	if (gv_parse_bytes(arg, &o->chunk_bytes) != 0 || o->chunk_bytes < 1 ||
	    o->chunk_bytes > INT64_C(1) << 40)
		gv_opt_usage(&o->common,
		    "--chunk: expected bytes, search or formula, got \"%s\"", arg);
}

static void
set_chunk_cost(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->cost.chunk_s = gv_opt_duration(&o->common, "--chunk-cost", arg);
	if (o->cost.chunk_s <= 0)
		gv_opt_usage(&o->common, "--chunk-cost: expected a time above 0");
}

static void
set_slower(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->cost.slower = gv_opt_double(&o->common, "--slower", arg, 1e-6, 1e6);
}

static void
set_transport(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->transport = (enum gv_local_kind)gv_opt_one_of(
	    &o->common, "--transport", arg, gv_local_name, GV_LOCAL_KINDS);
}

static void
set_type(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->type = (enum gv_coll_type)gv_opt_one_of(
	    &o->common, "--type", arg, gv_coll_type_name, GV_COLL_TYPES);
}

static void
set_op(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->op = (enum gv_coll_op)gv_opt_one_of(
	    &o->common, "--op", arg, gv_coll_op_name, GV_COLL_OPS);
}

void
parse_options(struct options *o, int argc, char **argv)
{
	const struct gv_opt_own own[] = {
	    {"chunk", required_argument, 'c', .set = set_chunk},
	    {"chunk-cost", required_argument, .set = set_chunk_cost},
	    {"factor", required_argument, 'f', .set = set_factor},
	    {"iterations", required_argument, 'n', .set = set_iterations},
	    {"links", required_argument, 'l', .text = &o->links},
	    {"max-size", required_argument, 'e', .set = set_most},
	    {"min-size", required_argument, 'b', .set = set_least},
	    {"model", no_argument, .flag = &o->model},
	    {"op", required_argument, .set = set_op},
	    {"slower", required_argument, .set = set_slower},
	    {"transport", required_argument, 't', .set = set_transport},
	    {"type", required_argument, .set = set_type},
	    {"warmup", required_argument, 'w', .set = set_warmup}, {.name = NULL}};

	*o = (struct options){.common = {.usage = usage, .help = help},
	    .least_bytes = 64 << 10,
	    .most_bytes = 64 << 20,
	    .factor = 4,
	    .iterations = 10,
	    .warmup = 1,
	    .cost = {1e-5, 1}};
	gv_opt_parse(&o->common, true, own, o, argc, argv);
	if (o->least_bytes > o->most_bytes)
		gv_opt_usage(&o->common, "--min-size is above --max-size");
}
