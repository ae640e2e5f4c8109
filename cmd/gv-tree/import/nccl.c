#include "nccl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/num.h"
#include "links.h"

enum {
	NODE_NAME = 300,
	LANES_MOST = 4096 /* of one link; sums of them stay small */
};

/* ---- elements ---- */

/* The next element in the order of the file; NULL behind the last. */
static const struct xml_node *
following(const struct xml_node *n)
{
	if (n->sub != NULL)
		return n->sub;
	while (n != NULL && n->next == NULL)
		n = n->up;
	return n != NULL ? n->next : NULL;
}

static bool
is(const struct xml_node *n, const char *name)
{
	GV_HOLDS(n != NULL);
	return strcmp(n->name, name) == 0;
}

static bool
has_sub(const struct xml_node *n, const char *name)
{
	const struct xml_node *s;

	for (s = n->sub; s != NULL; s = s->next)
		if (is(s, name))
			return true;
	return false;
}

static bool
int_value(const struct xml_node *n, const char *key, int64_t *v)
{
	const char *s = xml_value(n, key);

	return s != NULL && gv_parse_int(s, strlen(s), v) == 0;
}

/* Lanes of an NVLink; 0: it says none that can be. */
static int64_t
lanes_of(const struct xml_node *link)
{
	int64_t count;

	return int_value(link, "count", &count) && count > 0 && count <= LANES_MOST
		   ? count
		   : 0;
}

/* Of an NVLink's target: a GPU (false) or an NVSwitch. */
static bool
to_switch(const struct xml_node *link)
{
	const char *class = xml_value(link, "tclass");

	return class != NULL && strncmp(class, "0x0680", 6) == 0;
}

/* GB/s of a lane, nominal, by the GPU's compute capability. */
static double
lane_of(const struct xml_node *gpu)
{
	int64_t sm = 0;

	int_value(gpu, "sm", &sm);
	return sm >= 100 ? 50 : sm == 86 ? 14.0625 : sm == 60 ? 20 : LINKS_LANE;
}

/* PCIe: lanes x rate as NCCL counts them, in 100 Mb/s a lane. */
static bool
pcie_speed(const char *s, double *of_lane)
{
	static const struct {
		const char *text;
		double rate;
	} speed[] = {{"2.5 GT/s", 15}, {"5 GT/s", 30}, {"5.0 GT/s", 30}, {"8 GT/s", 60},
	    {"8.0 GT/s", 60}, {"16 GT/s", 120}, {"16.0 GT/s", 120}, {"32 GT/s", 240},
	    {"32.0 GT/s", 240}, {"64.0 GT/s", 480}};
	size_t i, len = s != NULL ? strlen(s) : 0;

	*of_lane = 60;
	if (len > 5 && strcmp(s + len - 5, " PCIe") == 0)
		len -= 5;
	for (i = 0; i < sizeof(speed) / sizeof(speed[0]); i++)
		if (strlen(speed[i].text) == len && memcmp(speed[i].text, s, len) == 0) {
			*of_lane = speed[i].rate;
			return true;
		}
	return false;
}

static double
pcie_rate(const struct xml_node *pci)
{
	double of_lane;
	int64_t width = 16;

	pcie_speed(xml_value(pci, "link_speed"), &of_lane);
	if (!int_value(pci, "link_width", &width) || width <= 0)
		width = 16;
	return (double)width * of_lane / 80;
}

/* Between two sockets, as NCCL's model has it. */
static double
socket_rate(const struct xml_node *cpu)
{
	const char *arch = xml_value(cpu, "arch"), *vendor = xml_value(cpu, "vendor");
	int64_t family = 0, model = 0;

	int_value(cpu, "familyid", &family);
	int_value(cpu, "modelid", &model);
	if (arch != NULL && strcmp(arch, "ppc64") == 0)
		return 32;
	if (vendor != NULL && strcmp(vendor, "AuthenticAMD") == 0)
		return 16;
	if (vendor != NULL && strcmp(vendor, "GenuineIntel") == 0 && family == 6)
		return model >= 0xCF ? 40 : model >= 0x8F ? 22 : model >= 0x55 ? 10 : 6;
	return LINKS_QPI;
}

/* ---- checking ---- */

struct check {
	struct gv_hash bus, dev, numa;
	struct xml_findings *f;
	size_t gpus, lanes_to_switches, pairs;
};

static void
want(struct check *c, const struct xml_node *n, const char *key)
{
	if (xml_value(n, key) == NULL)
		xml_say(c->f, n->line, XML_WARNING,
		    "%s: no %s: NCCL asks the machine for it, if it runs there", n->name,
		    key);
}

static void
want_int(struct check *c, const struct xml_node *n, const char *key)
{
	int64_t v;

	want(c, n, key);
	if (xml_value(n, key) != NULL && !int_value(n, key, &v))
		xml_say(c->f, n->line, XML_WARNING,
		    "%s: %s=\"%s\": NCCL reads this as a number, with what comes of it",
		    n->name, key, xml_value(n, key));
}

/* Whether s is DDDD:BB:DD.F in hex. */
static bool
is_bus(const char *s)
{
	size_t i;

	if (strlen(s) != 12)
		return false;
	for (i = 0; i < 12; i++) {
		char want = i == 4 || i == 7 ? ':' : i == 10 ? '.' : 'x';

		if (want == 'x' ? strchr("0123456789abcdefABCDEF", s[i]) == NULL
				: s[i] != want)
			return false;
	}
	return true;
}

static void
unique(struct check *c, struct gv_hash *seen, const struct xml_node *n, const char *key)
{
	const char *v = xml_value(n, key);
	size_t before = seen->n;

	if (v == NULL)
		return;
	gv_hash_add(seen, v, strlen(v));
	if (seen->n == before)
		xml_say(c->f, n->line, XML_ERROR,
		    "%s: %s=\"%s\" is there twice: what is in the second goes to the "
		    "first",
		    n->name, key, v);
}

static void
check_cpu(struct check *c, const struct xml_node *n)
{
	const char *arch = xml_value(n, "arch"), *vendor = xml_value(n, "vendor");

	want_int(c, n, "numaid");
	want(c, n, "arch");
	want(c, n, "affinity");
	unique(c, &c->numa, n, "numaid");
	if (arch == NULL)
		return;
	if (strcmp(arch, "x86_64") != 0 && strcmp(arch, "arm64") != 0 &&
	    strcmp(arch, "ppc64") != 0)
		xml_say(c->f, n->line, XML_ERROR,
		    "cpu: arch=\"%s\": NCCL knows x86_64, arm64 and ppc64", arch);
	if (strcmp(arch, "x86_64") != 0)
		return;
	want(c, n, "vendor");
	want_int(c, n, "familyid");
	want_int(c, n, "modelid");
	if (vendor != NULL && strcmp(vendor, "GenuineIntel") != 0 &&
	    strcmp(vendor, "AuthenticAMD") != 0)
		xml_say(c->f, n->line, XML_WARNING,
		    "cpu: vendor=\"%s\": the rate between sockets is a guess", vendor);
}

static void
check_pci(struct check *c, const struct xml_node *n)
{
	const char *bus = xml_value(n, "busid"), *speed = xml_value(n, "link_speed");
	double of_lane;

	if (bus == NULL)
		xml_say(c->f, n->line, XML_ERROR, "pci: no busid");
	else if (!is_bus(bus))
		xml_say(c->f, n->line, XML_ERROR,
		    "pci: busid=\"%s\": expected like 0000:3b:00.0", bus);
	unique(c, &c->bus, n, "busid");
	want(c, n, "class");
	want(c, n, "link_speed");
	want_int(c, n, "link_width");
	if (speed != NULL && !pcie_speed(speed, &of_lane))
		xml_say(c->f, n->line, XML_WARNING,
		    "pci: link_speed=\"%s\" is none that NCCL knows: it takes 8 GT/s",
		    speed);
}

static void
check_gpu(struct check *c, const struct xml_node *n)
{
	c->gpus++;
	want_int(c, n, "dev");
	want_int(c, n, "sm");
	unique(c, &c->dev, n, "dev");
	if (!has_sub(n, "nvlink"))
		xml_say(c->f, n->line, XML_WARNING,
		    "gpu %s: no nvlink: NCCL asks NVML where it runs there",
		    xml_value(n, "dev") != NULL ? xml_value(n, "dev") : "?");
}

/* The GPU behind a bus id, NULL = none. */
static const struct xml_node *
gpu_at(const struct xml *x, const char *bus)
{
	const struct xml_node *n;

	for (n = x->top; n != NULL && bus != NULL; n = following(n))
		if (is(n, "gpu") && xml_value(n->up, "busid") != NULL &&
		    strcmp(xml_value(n->up, "busid"), bus) == 0)
			return n;
	return NULL;
}

/* How many lanes a GPU has to that bus id. */
static int64_t
lanes(const struct xml_node *gpu, const char *bus)
{
	const struct xml_node *l;
	int64_t sum = 0;

	for (l = gpu->sub; l != NULL && bus != NULL; l = l->next)
		if (is(l, "nvlink") && xml_value(l, "target") != NULL &&
		    strcmp(xml_value(l, "target"), bus) == 0)
			sum += lanes_of(l);
	return sum;
}

static void
check_nvlink(struct check *c, const struct xml *x, const struct xml_node *n)
{
	const char *target = xml_value(n, "target"),
		   *here = xml_value(n->up->up, "busid");
	const struct xml_node *there = gpu_at(x, target);
	int64_t count = lanes_of(n);

	if (count == 0)
		xml_say(c->f, n->line, XML_ERROR,
		    "nvlink: no count of lanes, a whole number from 1 to %d", LANES_MOST);
	if (target == NULL) {
		xml_say(c->f, n->line, XML_ERROR, "nvlink: no target");
		return;
	}
	want(c, n, "tclass");
	if (to_switch(n)) {
		c->lanes_to_switches += (size_t)count;
		return;
	}
	if (there == NULL) {
		xml_say(c->f, n->line, XML_WARNING,
		    "nvlink: target=\"%s\" is no GPU of this file: NCCL drops the link",
		    target);
		return;
	}
	if (there == n->up)
		xml_say(c->f, n->line, XML_ERROR, "nvlink: a link to the GPU itself");
	c->pairs++;
	if (here != NULL && there != n->up && lanes(there, here) != lanes(n->up, target))
		xml_say(c->f, n->line, XML_WARNING,
		    "nvlink: %" PRId64 " lanes to %s, which has %" PRId64 " back",
		    lanes(n->up, target), target, lanes(there, here));
}

void
nccl_check(const struct xml *x, struct xml_findings *f)
{
	struct check c = {.f = f};
	const struct xml_node *n;
	const char *version;

	if (x->top == NULL || f->errors > 0) {
		if (x->top == NULL && f->errors == 0)
			xml_say(f, 1, XML_ERROR, "no <system version=\"1\">");
		return;
	}
	version = xml_value(x->top, "version");
	if (version == NULL || strcmp(version, "1") != 0)
		xml_say(f, x->top->line, XML_ERROR,
		    "system: version %s: NCCL reads version 1",
		    version != NULL ? version : "is not there");
	for (n = x->top; n != NULL; n = following(n)) {
		if (is(n, "cpu"))
			check_cpu(&c, n);
		else if (is(n, "pci"))
			check_pci(&c, n);
		else if (is(n, "gpu"))
			check_gpu(&c, n);
		else if (is(n, "nvlink"))
			check_nvlink(&c, x, n);
	}
	if (c.gpus == 0)
		xml_say(f, x->top->line, XML_ERROR, "no gpu in any pci of any cpu");
	else
		xml_say(f, x->top->line, XML_NOTE,
		    "%zu GPU%s, %zu directed NVLink pair%s, %zu lane%s to NVSwitches, "
		    "%zu of %d elements",
		    c.gpus, c.gpus == 1 ? "" : "s", c.pairs, c.pairs == 1 ? "" : "s",
		    c.lanes_to_switches, c.lanes_to_switches == 1 ? "" : "s", x->n_nodes,
		    XML_NODES);
	gv_hash_free(&c.bus);
	gv_hash_free(&c.dev);
	gv_hash_free(&c.numa);
}

/* ---- links ---- */

/* What an element is called: gpuN, plxN in the order of the file, cpuN; "" = it carries nothing. */
static void
name_of(char name[NODE_NAME], const struct xml *x, const struct xml_node *n)
{
	const struct xml_node *m;
	const struct xml_node *gpu;
	size_t before = 0;

	name[0] = '\0';
	if (is(n, "cpu")) {
		snprintf(name, NODE_NAME, "cpu%s",
		    xml_value(n, "numaid") != NULL ? xml_value(n, "numaid") : "0");
		return;
	}
	for (gpu = n->sub; gpu != NULL && is(n, "pci"); gpu = gpu->next)
		if (is(gpu, "gpu")) {
			snprintf(name, NODE_NAME, "gpu%s",
			    xml_value(gpu, "dev") != NULL ? xml_value(gpu, "dev") : "0");
			return;
		}
	if (!is(n, "pci") || !has_sub(n, "pci"))
		return;
	for (m = x->top; m != n; m = following(m))
		before += is(m, "pci") && has_sub(m, "pci") && !has_sub(m, "gpu");
	snprintf(name, NODE_NAME, "plx%zu", before);
}

static void
pcie_links(struct gv_frame *f, const struct xml *x)
{
	const struct xml_node *n;
	char here[NODE_NAME], up[NODE_NAME];

	for (n = x->top; n != NULL; n = following(n)) {
		if (!is(n, "pci"))
			continue;
		name_of(here, x, n);
		name_of(up, x, n->up);
		if (here[0] != '\0' && up[0] != '\0')
			links_add(f, here, up, pcie_rate(n),
			    is(n->up, "cpu") ? "PHB" : "PIX", n->line);
	}
}

static void
socket_links(struct gv_frame *f, const struct xml *x)
{
	const struct xml_node *a, *b;
	char name[2][NODE_NAME];

	for (a = x->top->sub; a != NULL; a = a->next)
		for (b = a->next; b != NULL; b = b->next) {
			double rate = socket_rate(a), other = socket_rate(b);

			name_of(name[0], x, a);
			name_of(name[1], x, b);
			links_add(f, name[0], name[1], rate < other ? rate : other, "SYS",
			    a->line);
		}
}

static void
nvlinks(struct gv_frame *f, const struct xml *x, double lane)
{
	const struct xml_node *n, *there;
	char here[NODE_NAME], target[NODE_NAME], kind[32];
	int64_t count;

	for (n = x->top; n != NULL; n = following(n)) {
		if (!is(n, "nvlink"))
			continue;
		count = lanes_of(n);
		there = gpu_at(x, xml_value(n, "target"));
		name_of(here, x, n->up->up);
		snprintf(kind, sizeof(kind), "NV%" PRId64, count);
		if (to_switch(n)) {
			links_add(f, here, "nvs0",
			    (double)count * (lane > 0 ? lane : lane_of(n->up)), kind,
			    n->line);
		} else if (there != NULL) {
			name_of(target, x, there->up);
			links_one_way(f, here, target,
			    (double)count * (lane > 0 ? lane : lane_of(n->up)), kind,
			    n->line);
		}
	}
}

void
nccl_links(struct gv_frame *f, const struct xml *x, double lane)
{
	links_start(f, x->file);
	nvlinks(f, x, lane);
	pcie_links(f, x);
	socket_links(f, x);
}
