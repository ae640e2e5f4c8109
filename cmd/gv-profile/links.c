/* gv-profile links: how fast bytes pass between processes, of this machine or of several. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/opt.h"
#include "base/strbuf.h"
#include "gv-profile/links/link_gang.h"
#include "gv-profile/links/link_times.h"
#include "profile.h"
#include "table/tab.h"

enum { PROCESSES = 4, PROCESSES_MAX = 64, MEET_S = 60 };

struct options {
	struct gv_opt common;
	struct link_rule rule;
	const char *node;
	struct gv_gang_spec place; /* of this process, where a launcher has started it */
	bool processes, transport; /* were said */
};

static const char usage[] = "usage: gv-profile links [-hqvV] [-n N] [-o FILE] "
			    "[--node=NAME] [--size=BYTES] [--transport=NAME]";

static const char help[] =
    "usage: gv-profile links [option ...]\n"
    "Measures the links between processes of this machine, or those that a launcher\n"
    "has started (WORLD_SIZE), and writes a table of links: each direction alone,\n"
    "with as much coming back, with all other pairs sending; and all to all.\n"
    "Processes are called gpu0, gpu1, ...\n"
    "\n"
    "  -n, --processes=N     so many (default 4)\n"
    "      --node=NAME       call them NAME.gpu0, ...\n"
    "      --repeats=N       measure each N times; the median counts (default 3)\n"
    "      --size=BYTES      of a message (default 1MiB)\n"
    "      --transport=NAME  memory (default) or tcp, over the loopback interface\n"
    "      --tsv             write TSV instead of CSV\n"
    "      --window=TIME     each time for so long (default 50ms)\n"
    "  -o, --output=FILE     write to FILE, which is replaced whole or not at all\n"
    "  -q, --quiet           no progress, no warnings\n"
    "  -v, --verbose         say what is measured\n"
    "  -h, --help            this text\n"
    "  -V, --version         the version\n";

static void
set_processes(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->processes = true;
	o->rule.n = (int)gv_opt_int(&o->common, "--processes", arg, 2, PROCESSES_MAX);
}

static void
set_repeats(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->rule.repeats = (size_t)gv_opt_int(&o->common, "--repeats", arg, 1, 1001);
}

static void
set_size(void *ctx, const char *arg)
{
	struct options *o = ctx;
	int64_t bytes;

	if (gv_parse_bytes(arg, &bytes) != 0 || bytes < 8 || bytes > (int64_t)1 << 30)
		gv_opt_usage(&o->common,
		    "--size: %s: expected 8 to 2^30 bytes, such as 1MiB", arg);
	o->rule.bytes = (size_t)bytes;
}

static void
set_transport(void *ctx, const char *arg)
{
	struct options *o = ctx;

	o->transport = true;
	o->rule.kind = (enum gv_local_kind)gv_opt_one_of(
	    &o->common, "--transport", arg, gv_local_name, GV_LOCAL_KINDS);
}

static void
set_window(void *ctx, const char *arg)
{
	struct options *o = ctx;

	if (gv_parse_duration(arg, &o->rule.window_s) != 0 || o->rule.window_s <= 0 ||
	    o->rule.window_s > 3600)
		gv_opt_usage(
		    &o->common, "--window: %s: expected a time such as 50ms", arg);
}

/* GB/s to four digits, which is more than measurements repeat. */
static void
cell(struct gv_tabw *w, double v)
{
	char text[GV_NUM_LEN];
	int n = snprintf(text, sizeof(text), "%.4g", v);

	gv_tabw_cell(w, (struct gv_cell){text, (size_t)n});
}

static void
write_node(struct gv_tabw *w, const struct options *o, int rank)
{
	struct gv_strbuf name = {0};

	if (o->node != NULL)
		gv_strbuf_fmt(&name, "%s.", o->node);
	gv_strbuf_fmt(&name, "gpu%d", rank);
	gv_tabw_cell(w, (struct gv_cell){name.s, name.len});
	gv_strbuf_free(&name);
}

static const char *
kind_of(const struct options *o)
{
	if (o->place.world > 1)
		return "NET";
	return o->rule.kind == GV_LOCAL_TCP ? "TCP" : "SHM";
}

static void
write_links(struct gv_out *out, const struct options *o, const struct link_time *t)
{
	static const char *const names[] = {"src", "dst", "gbytes_per_s", "kind",
	    "both_gbytes_per_s", "concurrent_gbytes_per_s", "latency_us",
	    "sum_gbytes_per_s", "cpu_s_per_gbyte"};
	struct gv_tabw w;
	size_t i;
	int a, b;

	gv_tabw_init(&w, out, o->common.tsv);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		gv_tabw_str(&w, names[i]);
	gv_tabw_end(&w);
	for (a = 0; a < o->rule.n; a++)
		for (b = 0; b < o->rule.n; b++) {
			const struct link_time *x = &t[a * o->rule.n + b];

			if (a == b)
				continue;
			write_node(&w, o, a);
			write_node(&w, o, b);
			cell(&w, x->alone);
			gv_tabw_str(&w, kind_of(o));
			cell(&w, x->both);
			cell(&w, x->concurrent);
			cell(&w, x->latency_s * 1e6);
			cell(&w, x->sum);
			cell(&w, x->cpu_s);
			gv_tabw_end(&w);
		}
}

/* Repeats that differ are a busy machine, whose links are not what is seen. */
static void
warn_scatter(const struct options *o, const struct link_time *t)
{
	double worst = 1;
	int i;

	for (i = 0; i < o->rule.n * o->rule.n; i++)
		worst = t[i].scatter > worst ? t[i].scatter : worst;
	if (worst > 2 && !o->common.quiet)
		gv_warn(
		    "warning: repeats of one measurement differ by a factor of %.2g: the "
		    "machine was busy",
		    worst);
}

static void
show(size_t done, size_t of)
{
	gv_progress("measuring: %zu of %zu", done, of);
	if (done == of)
		gv_progress(NULL);
}

/* One of those that a launcher has started: they say how many there are. */
static void
set_place(struct options *o)
{
	struct gv_error e = {0};

	if (gv_gang_env(&o->place, &e) != 0)
		gv_die_error(&e);
	if (o->place.world == 1)
		return;
	if (o->processes || o->transport)
		gv_opt_usage(&o->common,
		    "%s is of processes of one machine; here are those that "
		    "a launcher has started (WORLD_SIZE)",
		    o->processes ? "--processes" : "--transport");
	if (o->place.world > PROCESSES_MAX)
		gv_opt_usage(&o->common, "WORLD_SIZE: %d, of at most %d", o->place.world,
		    PROCESSES_MAX);
	o->rule.n = o->place.world;
	/* all must do the same */
	o->place.fingerprint = (uint32_t)o->rule.bytes ^ (uint32_t)o->rule.repeats << 16;
}

static void
say_what(const struct options *o)
{
	gv_warn("%d processes over %s, messages of %zu byte%s, %zu window%s of %g s",
	    o->rule.n, o->place.world > 1 ? "the network" : gv_local_name[o->rule.kind],
	    o->rule.bytes, o->rule.bytes == 1 ? "" : "s", o->rule.repeats,
	    o->rule.repeats == 1 ? "" : "s", o->rule.window_s);
}

int
profile_links(int argc, char **argv)
{
	struct options o = {.common = {.usage = usage, .help = help},
	    .place = {.world = 1, .join_s = MEET_S, .silence_s = MEET_S},
	    .rule = {.n = PROCESSES,
		.kind = GV_LOCAL_MEMORY,
		.bytes = 1 << 20,
		.window_s = .05,
		.repeats = 3}};
	const struct gv_opt_own own[] = {{"node", required_argument, .text = &o.node},
	    {"processes", required_argument, 'n', .set = set_processes},
	    {"repeats", required_argument, .set = set_repeats},
	    {"size", required_argument, .set = set_size},
	    {"transport", required_argument, .set = set_transport},
	    {"window", required_argument, .set = set_window}, {.name = NULL}};
	struct gv_error e = {0};
	struct gv_out *out = NULL;
	struct link_time *t;
	bool writes;

	gv_opt_parse(&o.common, true, own, &o, argc, argv);
	if (optind < argc)
		gv_opt_usage(&o.common, "too many operands");
	set_place(&o);
	writes = o.place.rank == 0;
	o.rule.tell = o.common.quiet ? NULL : show;
	if (writes && gv_out_open(&out, o.common.output, &e) != 0)
		gv_die_error(&e);
	if (o.common.verbose > 0 && writes)
		say_what(&o);
	t = gv_xcalloc((size_t)o.rule.n * (size_t)o.rule.n, sizeof(*t));
	if ((o.place.world > 1 ? link_gang_times(t, &o.rule, &o.place, &e)
			       : link_times(t, &o.rule, &e)) != 0)
		gv_die_error(&e);
	if (writes) {
		warn_scatter(&o, t);
		write_links(out, &o, t);
	}
	free(t);
	if (writes && gv_out_close(out, &e) != 0)
		gv_die_error(&e);
	return gv_finish();
}
