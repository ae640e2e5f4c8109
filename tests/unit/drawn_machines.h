/*
 * Machines as NCCL's topology files and nvidia-smi's matrices describe them, drawn, with and
 * without what is wrong in them.  Behind draws.h.
 */
#ifndef DRAWN_MACHINES_H
#define DRAWN_MACHINES_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "draws.h"

/* ---- topology files ---- */

struct drawn_system {
	struct gv_strbuf *s;
	size_t gpus, made, pcis,
	    wrong; /* one of so many choices is a mistake, 0 = none */
};

static inline bool
mistaken(const struct drawn_system *d)
{
	return d->wrong > 0 && below(d->wrong) == 0;
}

/* KEY="VALUE", or without it, or with another value. */
static inline void
drawn_value(const struct drawn_system *d, const char *key, const char *value)
{
	static const char *const odd[] = {
	    "", "x", "-1", "0", "1e3", "4096", "4097", "7 ", "9999999999999999999"};
	size_t how = mistaken(d) ? below(5) : 5;

	if (how == 0)
		return;
	if (how == 1)
		gv_strbuf_fmt(d->s, " %s=\"%s\"", key, odd[below(9)]);
	else if (how == 2)
		gv_strbuf_fmt(d->s, "  %s='%s'", key, value);
	else if (how == 3)
		gv_strbuf_fmt(d->s, " %s=%s", key, value);
	else if (how == 4)
		gv_strbuf_fmt(d->s, " %s other=\"1\"", key);
	else
		gv_strbuf_fmt(d->s, " %s=\"%s\"", key, value);
}

static inline const char *
one_of(const char *const *text, size_t n)
{
	return text[below(n)];
}

static inline void
drawn_bus(char bus[32], size_t i)
{
	snprintf(bus, 32, "0000:%02zx:00.%zu", i * 16 + 3, i % 8);
}

static inline void
end_open(const struct drawn_system *d)
{
	static const char *const odd[] = {" >\n", "\n>\n", "/ >\n", ">\t\n", ">text\n",
	    ">\r\n", "> <!-- c --> \n", "> <!-- a\nb -->\n", "><?x?>\n", "><!x>\n",
	    "><unknown a=\"1\"><gpu/></unknown>\n"};

	gv_strbuf_str(d->s, mistaken(d) ? one_of(odd, 11) : ">\n");
}

static inline void
drawn_nvlinks(const struct drawn_system *d, size_t self)
{
	size_t links = below(4), k;

	for (k = 0; k < links; k++) {
		char bus[32], count[32];
		size_t to = (self + 1 + below(d->gpus > 1 ? d->gpus - 1 : 1)) % d->gpus;
		bool to_switch = below(3) == 0;

		drawn_bus(bus, mistaken(d) ? self : to);
		snprintf(count, sizeof(count), "%zu", 1 + below(4));
		gv_strbuf_str(d->s, "<nvlink");
		drawn_value(d, "target", to_switch ? "0000:c4:00.0" : bus);
		drawn_value(d, "count", count);
		drawn_value(d, "tclass", to_switch ? "0x068000" : "0x030200");
		gv_strbuf_str(d->s, "/>\n");
	}
}

static inline void
drawn_gpu(struct drawn_system *d)
{
	static const char *const sm[] = {
	    "60", "70", "80", "86", "90", "99", "100", "120"};
	char dev[32];
	size_t self = d->made++;

	snprintf(dev, sizeof(dev), "%zu", mistaken(d) ? 0 : self);
	gv_strbuf_str(d->s, "<gpu");
	drawn_value(d, "dev", dev);
	drawn_value(d, "sm", one_of(sm, 8));
	end_open(d);
	drawn_nvlinks(d, self);
	gv_strbuf_str(d->s, mistaken(d) ? "</gpu >\n" : "</gpu>\n");
}

static inline void
open_pci(struct drawn_system *d, const char *bus)
{
	static const char *const speed[] = {"2.5 GT/s", "5 GT/s", "5.0 GT/s", "8 GT/s",
	    "8.0 GT/s", "16 GT/s", "16.0 GT/s PCIe", "32 GT/s", "32.0 GT/s PCIe",
	    "64.0 GT/s", "GT/s", " PCIe", "8 GT/sPCIe", "", "128 GT/s"};
	static const char *const width[] = {"16", "8", "4", "1", "0", "-3", ""};

	gv_strbuf_str(d->s, "<pci");
	drawn_value(d, "busid", bus);
	drawn_value(d, "class", "0x060400");
	drawn_value(d, "link_speed", speed[below(d->wrong > 0 ? 15 : 10)]);
	drawn_value(d, "link_width", width[below(d->wrong > 0 ? 7 : 4)]);
	end_open(d);
}

/* A bridge of several, or a GPU alone, or a network card. */
static inline void
drawn_pci(struct drawn_system *d, size_t depth)
{
	char bus[32];
	size_t subs = depth < 2 ? below(4) : 0, k;

	if (subs > 1) {
		snprintf(bus, sizeof(bus), "00%02zx:00:01.0", 16 + d->pcis++);
		open_pci(d, bus);
		for (k = 0; k < subs; k++)
			drawn_pci(d, depth + 1);
	} else if (d->made < d->gpus) {
		drawn_bus(bus, d->made);
		open_pci(d, bus);
		drawn_gpu(d);
	} else {
		snprintf(bus, sizeof(bus), "00%02zx:00:02.0", 16 + d->pcis++);
		open_pci(d, bus);
		gv_strbuf_str(d->s, "<nic><net name=\"eth0\"/></nic>\n");
	}
	gv_strbuf_str(d->s, "</pci>\n");
}

static inline void
draw_system(struct gv_strbuf *s, size_t gpus, size_t wrong)
{
	static const char *const vendor[] = {"GenuineIntel", "AuthenticAMD", "Zhaoxin"};
	static const char *const arch[] = {"x86_64", "x86_64", "arm64", "ppc64", "mips"};
	static const char *const model[] = {"0", "84", "85", "142", "143", "206", "207"};
	struct drawn_system d = {s, gpus, 0, 0, wrong};
	size_t cpu = 0;

	gv_strbuf_str(s, "<system");
	drawn_value(&d, "version", "1");
	end_open(&d);
	do {
		char id[32];

		snprintf(id, sizeof(id), "%zu", mistaken(&d) ? 0 : cpu);
		gv_strbuf_str(s, "<cpu");
		drawn_value(&d, "numaid", id);
		drawn_value(&d, "affinity", "ffff");
		drawn_value(&d, "arch", arch[below(wrong > 0 ? 5 : 4)]);
		drawn_value(&d, "vendor", vendor[below(wrong > 0 ? 3 : 2)]);
		drawn_value(&d, "familyid", below(4) == 0 ? "25" : "6");
		drawn_value(&d, "modelid", one_of(model, 7));
		end_open(&d);
		drawn_pci(&d, 0);
		if (below(2) == 0)
			drawn_pci(&d, 0);
		gv_strbuf_str(s, mistaken(&d) ? "</pci>\n" : "</cpu>\n");
	} while (++cpu < 12 && (d.made < gpus || below(3) == 0));
	gv_strbuf_str(s, mistaken(&d) ? "" : "</system>\n");
}

/* A byte is taken away, comes in, or becomes another. */
static inline void
spoil_byte(struct gv_strbuf *s)
{
	static const char odd[] = "<>/=\"' \n\t\r!-?x0";
	size_t at = below(s->len), how = below(3);
	char byte = odd[below(sizeof(odd) - 1)];

	if (how == 0) {
		s->s[at] = byte;
		return;
	}
	if (how == 1) {
		gv_strbuf_char(s, ' ');
		memmove(s->s + at + 1, s->s + at, s->len - at - 1);
		s->s[at] = byte;
		return;
	}
	memmove(s->s + at, s->s + at + 1, s->len - at);
	s->len--;
}

/* ---- matrices ---- */

struct drawn_matrix {
	size_t gpus, nics, numa; /* numa: 0 = no such column, else what it tells */
	bool codes, returns;     /* the terminal's codes; CR before LF */
	size_t step;             /* between numbers of GPUs */
	char cell[16][24][8];
};

static inline void
draw_distances(struct drawn_matrix *m)
{
	static const char *const far[] = {
	    "PIX", "PXB", "PHB", "NODE", "SYS", "NV1", "NV2", "NV6"};
	size_t kinds = 1 + below(8), from = below(8), i, k;

	for (i = 0; i < m->gpus; i++) {
		snprintf(m->cell[i][i], 8, "X");
		for (k = 0; k < i; k++) {
			snprintf(m->cell[i][k], 8, "%s", far[(from + below(kinds)) % 8]);
			memcpy(m->cell[k][i], m->cell[i][k], 8);
		}
		for (k = 0; k < m->nics; k++)
			snprintf(m->cell[i][m->gpus + k], 8, "%s", far[below(5)]);
	}
}

static inline void
matrix_row(struct gv_strbuf *s, const struct drawn_matrix *m, size_t i)
{
	size_t k;

	gv_strbuf_fmt(s, "GPU%zu", i * m->step);
	for (k = 0; k < m->gpus + m->nics; k++)
		gv_strbuf_fmt(s, "\t%s%s", below(4) == 0 ? " " : "", m->cell[i][k]);
	gv_strbuf_str(s, "\t0-15");
	if (m->numa > 0)
		gv_strbuf_fmt(
		    s, "\t%s%zu", m->numa == 1 ? "" : "N/A", i * m->numa / m->gpus);
	gv_strbuf_str(s, m->returns ? "\r\n" : "\n");
}

static inline void
draw_matrix(struct gv_strbuf *s)
{
	struct drawn_matrix m;
	size_t i;

	m.gpus = 1 + below(9);
	m.nics = below(2) == 0 ? 0 : below(4);
	m.numa = below(2) == 0 ? 0 : 1 + below(3);
	m.codes = below(3) == 0;
	m.returns = below(4) == 0;
	m.step = 1 + below(2);
	draw_distances(&m);
	if (below(4) == 0)
		gv_strbuf_str(s, "\n\r\n");
	for (i = 0; i < m.gpus; i++)
		gv_strbuf_fmt(s, "\t%sGPU%zu%s", m.codes ? "\033[4m" : "", i * m.step,
		    m.codes ? "\033[0m" : "");
	for (i = 0; i < m.nics; i++)
		gv_strbuf_fmt(s, "\tNIC%zu", i);
	gv_strbuf_str(s, "\tCPU Affinity");
	if (m.numa > 0)
		gv_strbuf_str(s, "\tNUMA Affinity");
	gv_strbuf_str(s, m.returns ? "\r\n" : "\n");
	for (i = 0; i < m.gpus; i++)
		matrix_row(s, &m, i);
	if (m.nics > 0)
		gv_strbuf_str(s, "NIC0\tPIX\tSYS\n\nLegend:\n\n  X    = Self\n");
}

/* A word becomes another one. */
static inline void
spoil_word(struct gv_strbuf *s)
{
	static const char *const word[] = {"X", "NV0", "NV1", "NV999", "NV1000", "PIX",
	    "SYS", "NODES", "", "GPU0", "GPU1", "GPU77", "GPUx", "\t", "NVx", "N/A",
	    "GPU100001", "PIX\tPIX", "NUMA Affinity"};
	struct gv_strbuf to = {0};
	size_t at = below(s->len), end;

	while (at > 0 && strchr("\t\n ,", s->s[at - 1]) == NULL)
		at--;
	end = at + strcspn(s->s + at, "\t\r\n,");
	gv_strbuf_add(&to, s->s, at);
	gv_strbuf_str(&to, one_of(word, 19));
	gv_strbuf_add(&to, s->s + end, s->len - end);
	gv_strbuf_free(s);
	*s = to;
}

#endif
