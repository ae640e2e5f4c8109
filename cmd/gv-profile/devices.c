/* gv-profile devices: what this machine has, as a cluster table. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/opt.h"
#include "base/strbuf.h"
#include "gpu/nvml.h"
#include "gv-profile/devices/cpu.h"
#include "gv-profile/devices/device_speed.h"
#include "gv-profile/devices/gpu_type.h"
#include "gv-profile/devices/import_devices.h"
#include "gv-profile/layers/layers_table.h"
#include "profile.h"
#include "table/tab.h"

struct options {
	struct gv_opt common;
	bool list;
	bool cpu;
	bool measure;
	const char *node;
	const char *from;
	struct gpu_type_map map;
};

enum { OPT_LIST = GV_OPT_OWN, OPT_CPU, OPT_NODE, OPT_MAP, OPT_MEASURE, OPT_FROM };

static const char usage[] =
    "usage: gv-profile devices [-hqvV] [-o FILE] [--list] "
    "[--cpu] [--from=FILE] [--measure] [--node=NAME] [--map=FROM=TO]";

static const char help[] =
    "usage: gv-profile devices [option ...]\n"
    "Lists the GPUs of this machine, or its CPU when it has none: a cluster table.\n"
    "\n"
    "      --cpu            the CPU too: type cpu, as many threads as cores\n"
    "      --from=FILE      what scontrol show node, sinfo or nvidia-smi list\n"
    "      --list           a row per device: index, uuid, name, memory, ...\n"
    "      --map=FROM=TO    call GPUs of model (or short name) FROM TO; repeatable\n"
    "      --measure        also how fast: copies, products of matrices, a launch\n"
    "      --node=NAME      fill the column node, for tables of several machines\n"
    "      --tsv            write TSV instead of CSV\n"
    "  -o, --output=FILE    write to FILE, which is replaced whole or not at all\n"
    "  -q, --quiet          no warnings\n"
    "  -v, --verbose        say which driver there is, or why there is none\n"
    "  -h, --help           this text\n"
    "  -V, --version        the version\n";

static const struct option longopts[] = {GV_OPT_COMMON, GV_OPT_TABLE,
    {"cpu", no_argument, NULL, OPT_CPU}, {"list", no_argument, NULL, OPT_LIST},
    {"from", required_argument, NULL, OPT_FROM},
    {"map", required_argument, NULL, OPT_MAP},
    {"measure", no_argument, NULL, OPT_MEASURE},
    {"node", required_argument, NULL, OPT_NODE}, {NULL, 0, NULL, 0}};

static void
add_mapping(struct options *o, const char *arg)
{
	const char *equals = strrchr(arg, '=');
	char q[GV_QUOTE_LEN];

	if (equals == NULL || equals == arg || equals[1] == '\0')
		gv_opt_usage(&o->common, "--map: expected FROM=TO, got %s",
		    gv_quote(q, arg, strlen(arg)));
	o->map.entry =
	    gv_xgrow(o->map.entry, &o->map.cap, o->map.n + 1, sizeof(*o->map.entry));
	o->map.entry[o->map.n++] = arg;
}

static void
parse_options(struct options *o, int argc, char **argv)
{
	int code;

	opterr = 0;
	while ((code = getopt_long(
		    argc, argv, GV_OPT_SHORT GV_OPT_TABLE_SHORT, longopts, NULL)) != -1) {
		switch (code) {
		case OPT_CPU:
			o->cpu = true;
			break;
		case OPT_LIST:
			o->list = true;
			break;
		case OPT_MAP:
			add_mapping(o, optarg);
			break;
		case OPT_FROM:
			o->from = optarg;
			break;
		case OPT_MEASURE:
			o->measure = true;
			break;
		case OPT_NODE:
			o->node = optarg;
			break;
		default:
			gv_opt_common(&o->common, code, argc, argv);
		}
	}
	if (optind < argc)
		gv_opt_usage(&o->common, "too many operands");
	if (o->from != NULL && (o->cpu || o->list || o->measure))
		gv_opt_usage(&o->common,
		    "--from cannot be combined with --cpu, --list or --measure");
}

static void
cell_bytes(struct gv_tabw *w, int64_t v)
{
	if (v < 0)
		gv_tabw_empty(w);
	else
		gv_tabw_int(w, v);
}

static void
header(struct gv_tabw *w, const char *const *names, const struct options *o)
{
	static const char *const measured[] = {"copy_gbytes_per_s", "fp32_gflops_per_s",
	    "tf32_gflops_per_s", "bf16_gflops_per_s", "launch_us"};
	size_t i;

	for (; *names != NULL; names++)
		gv_tabw_str(w, *names);
	for (i = 0; o->measure && i < sizeof(measured) / sizeof(measured[0]); i++)
		gv_tabw_str(w, measured[i]);
	gv_tabw_end(w);
}

static void
cell_measured(struct gv_tabw *w, double v)
{
	if (v > 0)
		write_rounded(w, v);
	else
		gv_tabw_empty(w);
}

/* Measures a device, number < 0: the CPU, and ends its row. */
static void
end_row(struct gv_tabw *w, int number, const struct options *o)
{
	struct gv_nn_device d = {.kind = number < 0 ? GV_NN_CPU : GV_NN_CUDA,
	    .number = number < 0 ? 0 : number,
	    .threads = 1};
	struct device_speed s = {0};
	struct gv_error e = {0};
	size_t i;

	if (o->measure) {
		if (device_speed(&s, &d, &e) != 0 && !o->common.quiet)
			gv_warn("warning: GPU %d: not all is measured: %s", number,
			    e.text[0]);
		cell_measured(w, s.copy_gbytes_per_s);
		for (i = 0; i < DEVICE_MATHS; i++)
			cell_measured(w, s.gflops_per_s[i]);
		cell_measured(w, s.launch_us);
	}
	gv_tabw_end(w);
}

/* ---- the cluster table ---- */

/* GPUs of one type: a row. */
struct group {
	char type[GV_GPU_TEXT];
	size_t gpus;
	int64_t memory_bytes; /* of the smallest, -1 = not told */
	int first;            /* index of the first, which is measured */
	struct gv_strbuf ids;
};

/* Groups usable GPUs by type, in order of their first index. */
static size_t
make_groups(struct group *group, const struct gv_gpus *g, const struct options *o)
{
	size_t n = 0;
	size_t i;

	for (i = 0; i < g->n; i++) {
		const struct gv_gpu *gpu = &g->gpu[i];
		char type[GV_GPU_TEXT];
		size_t k;

		if (gpu->problem[0] != '\0')
			continue;
		gpu_type_mapped(type, sizeof(type), gpu->name, &o->map);
		for (k = 0; k < n && strcmp(group[k].type, type) != 0; k++)
			;
		if (k == n) {
			memcpy(group[n].type, type, sizeof(type));
			group[n].first = gpu->index;
			group[n++].memory_bytes = gpu->memory_bytes;
		}
		if (gpu->memory_bytes < group[k].memory_bytes)
			group[k].memory_bytes = gpu->memory_bytes;
		gv_strbuf_fmt(
		    &group[k].ids, "%s%d", group[k].gpus++ > 0 ? ";" : "", gpu->index);
	}
	return n;
}

static const char *const cluster_names[] = {
    "gpu_type", "gpus", "node", "memory_bytes", "threads", "ids", NULL};

static void
write_cluster(
    struct gv_tabw *w, const struct gv_gpus *g, bool cpu, const struct options *o)
{
	struct group *group = gv_xcalloc(g->n, sizeof(*group));
	size_t n = make_groups(group, g, o);
	size_t i;

	header(w, cluster_names, o);
	for (i = 0; i < n; i++) {
		gv_tabw_str(w, group[i].type);
		gv_tabw_int(w, (int64_t)group[i].gpus);
		gv_tabw_str(w, o->node);
		cell_bytes(w, group[i].memory_bytes);
		gv_tabw_empty(w);
		gv_tabw_str(w, group[i].ids.s);
		end_row(w, group[i].first, o);
		gv_strbuf_free(&group[i].ids);
	}
	free(group);
	if (!cpu)
		return;
	gv_tabw_str(w, "cpu");
	gv_tabw_int(w, 1);
	gv_tabw_str(w, o->node);
	cell_bytes(w, cpu_memory_bytes());
	gv_tabw_int(w, cpu_threads());
	gv_tabw_empty(w);
	end_row(w, -1, o);
}

/* What another program has listed; where it does not say the node, that of --node. */
static void
write_imported(struct gv_tabw *w, const struct options *o)
{
	struct import_devices d;
	struct gv_error e = {0};
	size_t i;

	if (import_devices(&d, o->from, &e) != 0)
		gv_die_error(&e);
	if (!o->common.quiet)
		gv_warn_each(&d.left_out);
	header(w, cluster_names, o);
	for (i = 0; i < d.n; i++) {
		const struct import_pool *p = &d.pool[i];
		char type[GV_GPU_TEXT];

		gpu_type_mapped(type, sizeof(type), p->name, &o->map);
		gv_tabw_str(w, type);
		gv_tabw_int(w, (int64_t)p->gpus);
		gv_tabw_str(w, p->node[0] != '\0' ? p->node : o->node);
		cell_bytes(w, p->memory_bytes);
		gv_tabw_empty(w);
		gv_tabw_str(w, p->ids);
		gv_tabw_end(w);
	}
	import_devices_free(&d);
}

/* ---- a row per device ---- */

static void
write_list(struct gv_tabw *w, const struct gv_gpus *g, bool cpu, const struct options *o)
{
	static const char *const names[] = {"index", "gpu_type", "node", "uuid", "name",
	    "pci_bus_id", "memory_bytes", "memory_free_bytes", "threads", "driver",
	    "problem", NULL};
	size_t i;

	header(w, names, o);
	for (i = 0; i < g->n; i++) {
		const struct gv_gpu *gpu = &g->gpu[i];
		char type[GV_GPU_TEXT] = "";

		if (gpu->name[0] != '\0')
			gpu_type_mapped(type, sizeof(type), gpu->name, &o->map);
		gv_tabw_int(w, gpu->index);
		gv_tabw_str(w, type);
		gv_tabw_str(w, o->node);
		gv_tabw_str(w, gpu->uuid);
		gv_tabw_str(w, gpu->name);
		gv_tabw_str(w, gpu->pci_bus_id);
		cell_bytes(w, gpu->memory_bytes);
		cell_bytes(w, gpu->memory_free_bytes);
		gv_tabw_empty(w);
		gv_tabw_str(w, g->driver);
		gv_tabw_str(w, gpu->problem);
		end_row(w, gpu->index, o);
	}
	if (!cpu)
		return;
	gv_tabw_int(w, 0);
	gv_tabw_str(w, "cpu");
	gv_tabw_str(w, o->node);
	for (i = 0; i < 3; i++)
		gv_tabw_empty(w);
	cell_bytes(w, cpu_memory_bytes());
	gv_tabw_empty(w);
	gv_tabw_int(w, cpu_threads());
	gv_tabw_empty(w);
	gv_tabw_empty(w);
	end_row(w, -1, o);
}

static void
warn_problems(const struct gv_gpus *g)
{
	size_t i;

	for (i = 0; i < g->n; i++)
		if (g->gpu[i].problem[0] != '\0')
			gv_warn("warning: GPU %d is left out: %s", g->gpu[i].index,
			    g->gpu[i].problem);
}

/* --from: nothing of this machine is looked at. */
static int
imported(const struct options *o)
{
	struct gv_error e = {0};
	struct gv_out *out;
	struct gv_tabw w;

	if (gv_out_open(&out, o->common.output, &e) != 0)
		gv_die_error(&e);
	gv_tabw_init(&w, out, o->common.tsv);
	write_imported(&w, o);
	if (gv_out_close(out, &e) != 0)
		gv_die_error(&e);
	free(o->map.entry);
	return gv_finish();
}

int
profile_devices(int argc, char **argv)
{
	struct options o = {.common = {.usage = usage, .help = help}, .node = ""};
	struct gv_error e = {0};
	struct gv_gpus gpus;
	struct gv_out *out;
	struct gv_tabw w;
	size_t i, usable = 0;

	parse_options(&o, argc, argv);
	if (o.from != NULL)
		return imported(&o);
	/* CUDA counts as NVML does */
	setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 0);
	if (gv_gpus_list(&gpus, &e) != 0 || gv_out_open(&out, o.common.output, &e) != 0)
		gv_die_error(&e);
	for (i = 0; i < gpus.n; i++)
		usable += gpus.gpu[i].problem[0] == '\0';
	if (o.common.verbose > 0 && gpus.driver[0] != '\0')
		gv_warn("driver %s, %zu GPUs", gpus.driver, gpus.n);
	else if (o.common.verbose > 0)
		gv_warn("no driver: %s", gpus.why);
	if (!o.common.quiet && !o.list)
		warn_problems(&gpus);
	gv_tabw_init(&w, out, o.common.tsv);
	if (o.list)
		write_list(&w, &gpus, o.cpu || gpus.n == 0, &o);
	else
		write_cluster(&w, &gpus, o.cpu || usable == 0, &o);
	if (gv_out_close(out, &e) != 0)
		gv_die_error(&e);
	gv_gpus_free(&gpus);
	free(o.map.entry);
	return gv_finish();
}
