/* What gv-profile makes of drawn lists of devices and drawn graphs of others is what it was. */
#include <sys/resource.h>

#include "base/strbuf.h"
#include "draws.h"
#include "gv-profile/devices/gpu_type.h"
#include "gv-profile/devices/import_devices.h"
#include "gv-profile/layers/import_graph.h"
#include "recorded_frame.h"
#include "scratch.h"

static struct gv_error e;

static void
put_one(struct gv_strbuf *s, const char *const *list, size_t n)
{
	gv_strbuf_str(s, list[below(n)]);
}
#define PUT(s, list) put_one(s, list, sizeof(list) / sizeof((list)[0]))

/* Some bytes become others, or none. */
static void
spoil(struct gv_strbuf *s)
{
	static const char bytes[] = " ,:=()[]-.\n\t;0127aG\r*";
	size_t n = below(3), i, at;

	for (i = 0; i < n && s->len > 0; i++) {
		at = below(s->len);
		if (below(2) == 0) {
			memmove(s->s + at, s->s + at + 1, s->len - at);
			s->len--;
		} else {
			s->s[at] = bytes[below(sizeof(bytes) - 1)];
		}
	}
	if (below(60) == 0 && s->len > 0)
		s->s[below(2) == 0 ? 0 : below(s->len)] = '\0';
}

/* ---- lists of devices ---- */

static void
draw_gres(struct gv_strbuf *s)
{
	static const char *const resource[] = {"gpu", "gpux", "gpu4", "gpu:4",
	    "gpu:v100:2", "gpu:a100:1", "gpu:h100", "gpu:0", "gpu:v100:0",
	    "gpu:v100:1024", "gpu:v100:1025", "gpu:-1", "gpu:a:b:3",
	    "gpu:a100-sxm4-80gb:8(S:0-1)", "gpu:v100:4(IDX:0-1,3)", "gpu(S:0)",
	    "gpumem:16", "mps:200", "gp:1", "(null)", "gpu:", "gpu::2",
	    "gpu:v100:", "gpu:v100:x", "gpu:v:4(S:0", "nic:2)", "g", "gpu:1g.5gb:7"};
	size_t n = 1 + below(3), i;

	for (i = 0; i < n; i++) {
		gv_strbuf_str(s, i > 0 ? "," : "");
		PUT(s, resource);
	}
}

static void
draw_scontrol(struct gv_strbuf *s)
{
	static const char *const state[] = {"IDLE", "ALLOCATED", "MIXED+CLOUD", "DOWN",
	    "IDLE+DRAIN", "DOWN*", "IDLE*", "FAILING", "IDLE+NOT_RESPONDING", "PLANNED"};
	static const char *const space[] = {" ", "\n", "\n   ", " \t", "\r\n"};
	static const char *const other[] = {
	    "Arch=x86_64", "GresUsed=gpu:v100:1", "CPUTot=64", "State", "Gres", "Gres="};
	size_t n = 1 + below(5), i;

	for (i = 0; i < n; i++) {
		gv_strbuf_fmt(s, "NodeName=n%zu", below(4));
		PUT(s, space);
		if (below(3) > 0) {
			PUT(s, other);
			PUT(s, space);
		}
		if (below(8) > 0) {
			gv_strbuf_str(s, "Gres=");
			draw_gres(s);
			PUT(s, space);
		}
		if (below(8) > 0) {
			gv_strbuf_str(s, "State=");
			PUT(s, state);
			PUT(s, space);
		}
	}
}

static void
draw_sinfo(struct gv_strbuf *s)
{
	static const char *const head[] = {"NODELIST GRES\n",
	    "NODELIST             GRES   \n", "N G\n", "NODEL GRE\r\n", "\n"};
	static const char *const end[] = {
	    "\n", "\n", " \n", "\r\n", "\t\n", " x\n", "\n\n"};
	static const char *const node[] = {
	    "n1", "n2", "n3", "n10", "gpu-a.cluster", "n[1-4]", "N", "NODE"};
	size_t n = below(6), i;

	if (below(2) == 0)
		PUT(s, head);
	for (i = 0; i < n; i++) {
		PUT(s, node);
		gv_strbuf_str(s, below(3) == 0 ? " \t " : " ");
		if (below(12) > 0)
			draw_gres(s);
		PUT(s, end);
	}
}

static void
draw_smi(struct gv_strbuf *s)
{
	static const char *const head[] = {"index, name, memory.total [MiB]", "name",
	    "gpu_name,index", "index,name", "name, memory.total [MiB], index",
	    "uuid,name ,memory.total", "index , gpu_name",
	    "name,gpu_name, memory.total [MiB]", "names,memory.total",
	    "index,name,indexes", ",name", "index,,name"};
	static const char *const cell[] = {"0", "1", " 2", "7", "4096", "4097", "-1", "x",
	    "NVIDIA H100 80GB HBM3", " Tesla V100-SXM2-16GB", " Tesla V100-SXM2-16GB",
	    "81559 MiB", " 16384 MiB", "16384", "[N/A]", " MiB", "-5 MiB", "1e12 MiB",
	    "999999999999 MiB", "0 MiB", "0.5 MiB", "", "\"a, b\"", "40960 GiB"};
	const char *h = head[below(sizeof(head) / sizeof(head[0]))], *name;
	size_t columns = 1, n = below(6), i, k;

	for (i = 0; h[i] != '\0'; i++)
		columns += h[i] == ',';
	gv_strbuf_fmt(s, "%s%s", h, below(3) == 0 ? "\r\n" : "\n");
	for (i = 0; i < n; i++) {
		for (k = 0, name = h; k < columns; k++) {
			size_t from = 0, most = sizeof(cell) / sizeof(cell[0]);

			name += strspn(name, " ");
			if (below(6) > 0) { /* what belongs there, mostly */
				from = *name == 'i' ? 0 : *name == 'm' ? 11 : 8;
				most = *name == 'i' ? 5 : *name == 'm' ? 9 : 3;
			}
			gv_strbuf_fmt(
			    s, "%s%s", k > 0 ? "," : "", cell[from + below(most)]);
			name += strcspn(name, ",");
			name += *name == ',';
		}
		gv_strbuf_str(s, "\n");
	}
}

static void
ask_devices(struct recorded *r, size_t kind)
{
	struct import_devices d;
	struct gv_strbuf s = {0};
	size_t i;

	gv_strbuf_str(&s, "");
	if (kind == 0)
		draw_scontrol(&s);
	else if (kind == 1)
		draw_sinfo(&s);
	else
		draw_smi(&s);
	if (below(3) == 0)
		spoil(&s);
	scratch_file("d.txt", s.s, s.len);
	gv_strbuf_free(&s);
	gv_error_clear(&e);
	recorded_whole(r, import_devices(&d, "d.txt", &e));
	recorded_error(r, &e);
	recorded_error(r, &d.left_out);
	for (i = 0; i < d.n; i++) {
		recorded_text(r, d.pool[i].node);
		recorded_text(r, d.pool[i].name);
		recorded_whole(r, (long long)d.pool[i].gpus);
		recorded_whole(r, d.pool[i].memory_bytes);
		recorded_text(r, d.pool[i].ids);
	}
	import_devices_free(&d);
	unlink("d.txt"); /* to truncate it would wait for the disk */
}

/* ---- names of types ---- */

static void
ask_type(struct recorded *r)
{
	static const char *const word[] = {"NVIDIA", "Tesla", "tesla", "GeForce",
	    "GEFORCE", "V100-SXM2-16GB", "H100", "80GB", "HBM3", "RTX", "3090", "Ti",
	    "A-Z", "a.b", "@[`{", "/0:9", "nvidiax", "Teslas", "(TM)", "\xc2\xb5", "--",
	    "x"};
	static const char *const space[] = {" ", "  ", "-", "/"};
	static const char *const entry[] = {"h100=hopper", "H100=big",
	    "v100-sxm2-16gb=v100", "Tesla V100-SXM2-16GB=volta", "a=b=c", "rtx=", "x=y",
	    "gpu=none", "=empty", "X=z"};
	const char *given[4];
	struct gpu_type_map map = {.entry = given, .n = below(5)};
	struct gv_strbuf s = {0};
	char out[300];
	size_t n = below(5), i, len;

	gv_strbuf_str(&s, "");
	for (i = 0; i < n; i++) {
		if (i > 0)
			PUT(&s, space);
		PUT(&s, word);
	}
	for (; below(40) == 0 && s.len < 300;)
		for (i = 0; i < 40; i++)
			gv_strbuf_str(&s, "ABCDEFG h");
	len = below(4) == 0 ? 1 + below(20) : below(3) == 0 ? sizeof(out) : 64;
	for (i = 0; i < map.n; i++)
		given[i] = entry[below(sizeof(entry) / sizeof(entry[0]))];
	gpu_type_name(out, len, s.s);
	recorded_text(r, out);
	gpu_type_mapped(out, len, s.s, &map);
	recorded_text(r, out);
	gv_strbuf_free(&s);
}

/* ---- graphs ---- */

static void
draw_number(struct gv_strbuf *s, const char *key)
{
	static const char *const number[] = {"0", "1", "2.5", "1e3", "0.000", "4096.000",
	    "[1; 2]", "[1;2; 3.5]", "[]", "[7]", "-1", "x", "", "[1; -2]", "[1;",
	    "[1; x]", "[0; 5]", "nan", "inf", "[1; 2]]", "[;]"};

	gv_strbuf_fmt(s, "%s=%s", key, number[below(below(5) == 0 ? 21 : 8)]);
}

static void
draw_graph(struct gv_strbuf *s)
{
	static const char *const layer[] = {"Conv2d(3, 64, kernel_size=(3, 3))", "Input0",
	    "ReLU", "a -- b", "", " -- forward_compute_time",
	    "Linear, forward_compute_time=1"};
	static const char *const end[] = {
	    "\n", "\n", "\n", "\r\n", "  \n", "\n\n", " \t\n", ",\n"};
	static const char *const comma[] = {", ", ", ", ", ", ",", ",   ", " ", ",,"};
	bool staged = below(2) == 0, good = below(3) > 0;
	size_t n = 1 + below(4), i;

	if (below(6) == 0)
		gv_strbuf_str(s, "\xef\xbb\xbf");
	for (i = 0; i < n; i++) {
		gv_strbuf_fmt(s, "node%zu -- ", good ? i : below(n));
		gv_strbuf_fmt(s, "%s -- ", layer[below(good ? 4 : 7)]);
		draw_number(s, "forward_compute_time");
		gv_strbuf_str(s, comma[below(good ? 4 : 7)]);
		draw_number(s, "backward_compute_time");
		gv_strbuf_str(s, comma[below(good ? 4 : 7)]);
		draw_number(s, "activation_size");
		gv_strbuf_str(s, comma[below(good ? 4 : 7)]);
		draw_number(s, "parameter_size");
		if (staged && (good || below(4) > 0)) {
			gv_strbuf_str(s, below(20) == 0 ? " - " : " -- ");
			draw_number(s, "stage_id");
		}
		gv_strbuf_str(s, end[below(good ? 7 : 8)]);
	}
	n = below(4);
	for (i = 0; i < n; i++) {
		gv_strbuf_str(s, below(6) == 0 ? "\t node" : "\tnode");
		gv_strbuf_fmt(s, "%zu", below(4));
		gv_strbuf_str(s, below(15) == 0 ? " - node" : " -- node");
		gv_strbuf_fmt(s, "%zu", below(4));
		gv_strbuf_str(s, end[below(7)]);
	}
}

static void
ask_graph(struct recorded *r)
{
	struct gv_frame layers = {0}, edges = {0};
	struct gv_strbuf s = {0};
	int rc;

	gv_strbuf_str(&s, "");
	if (below(30) > 0)
		draw_graph(&s);
	if (below(3) == 0)
		spoil(&s);
	scratch_file("g.txt", s.s, s.len);
	gv_strbuf_free(&s);
	gv_error_clear(&e);
	rc = import_graph(&layers, &edges, "g.txt", &e);
	recorded_whole(r, rc);
	recorded_error(r, &e);
	recorded_frame(r, &layers);
	recorded_frame(r, &edges);
	unlink("g.txt");
	gv_frame_free(&layers);
	gv_frame_free(&edges);
}

static void
ask_missing(struct recorded *r)
{
	struct gv_frame layers = {0}, edges = {0};
	struct import_devices d;

	gv_error_clear(&e);
	recorded_whole(r, import_devices(&d, "missing.txt", &e));
	recorded_whole(r, import_graph(&layers, &edges, "missing.txt", &e));
	recorded_error(r, &e);
	import_devices_free(&d);
}

int
main(void)
{
	static const char *const files[] = {NULL};
	static const struct rlimit few = {64, 64};
	static const char *const kinds[] = {"scontrol", "sinfo", "nvidia-smi"};
	struct recorded r;
	size_t i, k;

	recorded_open(&r);
	scratch_enter();
	setrlimit(RLIMIT_NOFILE, &few); /* what is opened is closed */
	ask_missing(&r);
	recorded_answer(&r, "no such files");
	for (i = 0; i < 60; i++) {
		for (k = 0; k < 3; k++) {
			size_t n;

			draws_begin(41, (uint32_t)i, (uint32_t)k);
			for (n = 0; n < 10; n++)
				ask_devices(&r, k);
			recorded_answer(&r, "%s %zu", kinds[k], i);
		}
		draws_begin(41, (uint32_t)i, 3);
		for (k = 0; k < 20; k++)
			ask_type(&r);
		recorded_answer(&r, "types %zu", i);
		for (k = 0; k < 10; k++)
			ask_graph(&r);
		recorded_answer(&r, "graphs %zu", i);
	}
	scratch_leave(files);
	recorded_close(&r);
	return done_testing();
}
