/* What gv-tree makes of drawn topology files, matrices and tables of links is what it was. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drawn_links.h"
#include "drawn_machines.h"
#include "gv-tree/fabric/fabric.h"
#include "gv-tree/import/import.h"
#include "gv-tree/import/nccl.h"
#include "gv-tree/import/smi.h"
#include "gv-tree/write.h"
#include "recorded_trees.h"

static struct gv_error e;

static void
recorded_findings(struct recorded *r, const struct xml_findings *f)
{
	struct gv_strbuf s = {0};
	struct gv_out *out = gv_out_memory(&s);
	size_t i;

	write_findings(out, f, f->n % 2 == 0);
	recorded_whole(r, gv_out_close(out, &e));
	recorded_text(r, s.s);
	gv_strbuf_free(&s);
	recorded_whole(r, (long long)f->errors);
	for (i = 0; i < f->n; i++) {
		recorded_whole(r, f->finding[i].line);
		recorded_whole(r, f->finding[i].level);
		recorded_text(r, f->finding[i].text);
	}
}

/* A topology file: what is found in it, and its links where there are some. */
static void
ask_xml(struct recorded *r, const char *s, size_t len)
{
	static const double lane[] = {0, 0, 25, 7.5, -1};
	struct xml x;
	struct xml_findings found = {0};
	struct gv_frame f = {0};

	xml_read(&x, "topo.xml", s, len, &found);
	nccl_check(&x, &found);
	recorded_whole(r, (long long)x.n_nodes);
	recorded_findings(r, &found);
	if (found.errors == 0) {
		nccl_links(&f, &x, lane[below(5)]);
		recorded_frame(r, &f);
		gv_frame_free(&f);
	}
	xml_findings_free(&found);
	xml_free(&x);
}

static void
ask_system(struct recorded *r, size_t wrong, bool spoilt)
{
	struct gv_strbuf s = {0};

	draw_system(&s, below(9), wrong);
	if (spoilt)
		spoil_byte(&s);
	ask_xml(r, s.s, s.len);
	gv_strbuf_free(&s);
}

static void
ask_matrix(struct recorded *r, bool spoilt)
{
	struct gv_strbuf s = {0};
	struct gv_frame f = {0};
	bool is;

	draw_matrix(&s);
	if (spoilt)
		spoil_word(&s);
	if (spoilt && below(4) == 0)
		spoil_byte(&s);
	gv_error_clear(&e);
	is = smi_is(s.s, s.len);
	recorded_whole(r, is);
	if (is) {
		recorded_whole(
		    r, smi_links(&f, "m.txt", s.s, s.len, below(3) == 0 ? 20 : 0, &e));
		recorded_frame(r, &f);
		recorded_error(r, &e);
	}
	gv_frame_free(&f);
	gv_strbuf_free(&s);
}

/* ---- tables ---- */

/* Some of the GPUs, in full or by number, in some cases with what is none. */
static const char *
draw_list(struct gv_strbuf *s, const struct links_drawn *d)
{
	static const char *const odd[] = {"", "gpu", "x", "sw0", "gpu0", "0", "1"};
	size_t n = below(5), i;

	if (below(3) == 0)
		return NULL;
	for (i = 0; i <= n; i++) {
		char name[32], *dot;

		drawn_name(name, d, below(d->gpus));
		dot = strchr(name, '.');
		gv_strbuf_str(s, i == 0 ? "" : below(3) == 0 ? ";" : ",");
		if (below(12) == 0)
			gv_strbuf_str(s, one_of(odd, 7));
		else
			gv_strbuf_str(
			    s, below(2) == 0 ? name : (dot != NULL ? dot + 1 : name) + 3);
	}
	return s->s;
}

static const char *const kinds[] = {
    NULL, NULL, NULL, "NV", "NV,XGMI", "PIX;SYS", ",NV1", "", "X,", "NV1;;PI"};

static void
ask_table(struct recorded *r)
{
	struct links_drawn d;
	struct gv_strbuf s = {0}, list = {0};
	struct gv_frame frame;
	struct fabric f;
	size_t gpu = 0;
	const char *gpus, *kind = kinds[below(10)];

	draw_shape(&d, 6, 3);
	draw_links(&s, &d);
	if (below(4) == 0)
		spoil_word(&s);
	if (below(8) == 0)
		gv_strbuf_str(&s, d.kinds ? "gpu0,gpu1,9999,\ngpu0,gpu1,1.5,\n"
					  : "gpu0,gpu1,10000.5\n");
	gpus = draw_list(&list, &d);
	gv_error_clear(&e);
	if (gv_frame_parse(&frame, "links.csv", s.s, s.len, &e) == 0) {
		recorded_frame(r, &frame);
		if (fabric_read(&f, &frame, gpus, kind, below(2) == 0, &e) == 0) {
			recorded_fabric(r, &f);
			recorded_whole(
			    r, fabric_gpu(&f, gpus != NULL ? gpus : "1", &gpu, &e));
			recorded_whole(r, (long long)gpu);
			fabric_balance(&f);
			recorded_fabric(r, &f);
			fabric_free(&f);
		}
		gv_frame_free(&frame);
	}
	recorded_error(r, &e);
	gv_strbuf_free(&s);
	gv_strbuf_free(&list);
}

/* So many nodes in a row. */
static void
ask_many_nodes(struct recorded *r, size_t n)
{
	struct gv_strbuf s = {0};
	struct gv_frame frame;
	struct fabric f;
	size_t i;

	gv_strbuf_str(&s, "src,dst,gbytes_per_s\n");
	for (i = 1; i < n; i++)
		gv_strbuf_fmt(&s, "sw%zu,gpu%zu,1\n", i % 3, i);
	gv_error_clear(&e);
	if (gv_frame_parse(&frame, "links.csv", s.s, s.len, &e) == 0 &&
	    fabric_read(&f, &frame, NULL, NULL, false, &e) == 0) {
		recorded_whole(r, (long long)f.n);
		recorded_whole(r, (long long)f.n_gpus);
		fabric_free(&f);
	}
	recorded_error(r, &e);
	gv_frame_free(&frame);
	gv_strbuf_free(&s);
}

/* ---- limits ---- */

static void
repeat(struct gv_strbuf *s, const char *what, size_t n)
{
	for (; n > 0; n--)
		gv_strbuf_str(s, what);
}

/* A GPU between a front and a back. */
static void
ask_around(
    struct recorded *r, const char *front, const char *what, size_t n, const char *back)
{
	struct gv_strbuf s = {0};

	gv_strbuf_str(&s,
	    "<system version=\"1\">\n<cpu numaid=\"0\" arch=\"arm64\" "
	    "affinity=\"f\">\n<pci busid=\"0000:00:00.0\">\n<gpu dev=\"0\"/>\n");
	gv_strbuf_str(&s, front);
	repeat(&s, what, n);
	gv_strbuf_str(&s, back);
	gv_strbuf_str(&s, "</pci></cpu></system>\n");
	ask_xml(r, s.s, s.len);
	gv_strbuf_free(&s);
}

static void
ask_limits(struct recorded *r)
{
	static const size_t around[] = {
	    0, 1, 15, 16, 17, 126, 127, 128, 251, 252, 253, 254, 255, 256, 257};
	static const char *const ends[] = {"", " ", "<", "<!", "<!-", "<!--", "<!-- ",
	    "<!--->", "<!---->", "<!-->", "<?", "<s", "<s>", "</", "</s", "<s ", "<s a",
	    "<s a=", "<s a=\"", "<s a=\"b\"", "<s/", "<system", "<system>", "<system/>",
	    "<system></system>", "<system version=\"1\"/>",
	    "<system version=\"1\"/><system/>"};
	size_t i;

	for (i = 0; i < sizeof(around) / sizeof(around[0]); i++) {
		size_t n = around[i];

		ask_around(r, "<nic", " a=\"1\"", n, "></nic>");
		ask_around(r, "<nic a='", "x", n, "'/>");
		ask_around(r, "<nic ", "x", n, "/>");
		ask_around(r, "<", "x", n, "/>");
		ask_around(r, "", "<nic/>", n, "");
		ask_around(r, "</pci><pci busid=\"0000:00:00.1\">", "<nic><net/></nic>",
		    n / 2, "");
		ask_around(r, "", "<other>", n, "");
		ask_around(r, "<o", ">", 1, n % 2 == 0 ? "</o>" : "</p>");
		recorded_answer(r, "topology of %zu", n);
	}
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		ask_xml(r, ends[i], strlen(ends[i]));
	recorded_answer(r, "topologies that end");
}

/* As many GPUs, other columns and lanes as there may be. */
static void
ask_large_matrix(struct recorded *r, size_t gpus, size_t nics, const char *cell)
{
	struct gv_strbuf s = {0};
	struct gv_frame f = {0};
	size_t i, k;

	for (i = 0; i < gpus + nics; i++)
		gv_strbuf_fmt(&s, "\t%s%zu", i < gpus ? "GPU" : "NIC", i);
	gv_strbuf_str(&s, "\tNUMA Affinity\n");
	for (i = 0; i < gpus; i++) {
		gv_strbuf_fmt(&s, "GPU%zu", i);
		for (k = 0; k < gpus + nics; k++)
			gv_strbuf_fmt(&s, "\t%s",
			    i == k           ? "X"
			    : k < gpus       ? cell
			    : i % 2 == k % 2 ? "PIX"
					     : "SYS");
		gv_strbuf_str(&s, "\t0\n");
	}
	gv_error_clear(&e);
	recorded_whole(r, smi_is(s.s, s.len));
	if (smi_is(s.s, s.len))
		recorded_whole(r, smi_links(&f, "m.txt", s.s, s.len, 0, &e));
	recorded_frame(r, &f);
	recorded_error(r, &e);
	recorded_answer(r, "matrix of %zu GPUs and %zu others, %s", gpus, nics, cell);
	gv_frame_free(&f);
	gv_strbuf_free(&s);
}

static void
ask_text_matrix(struct recorded *r, const struct gv_strbuf *s)
{
	struct gv_frame f = {0};

	gv_error_clear(&e);
	recorded_whole(r, smi_is(s->s, s->len));
	recorded_whole(r, smi_links(&f, "m.txt", s->s, s->len, 0, &e));
	recorded_frame(r, &f);
	recorded_error(r, &e);
	gv_frame_free(&f);
}

/* Two GPUs that only the last of so many others joins. */
static void
ask_last_joins(struct recorded *r, size_t nics)
{
	struct gv_strbuf s = {0};
	size_t i, k;

	gv_strbuf_str(&s, "\tGPU0\tGPU1\tGPU2");
	repeat(&s, "\tNIC", nics);
	for (i = 0; i < 3; i++) {
		gv_strbuf_fmt(&s, "\nGPU%zu", i);
		for (k = 0; k < 3 + nics; k++)
			gv_strbuf_str(&s, k == i                   ? "\tX"
					  : k == 2 + nics && i < 2 ? "\tPIX"
								   : "\tSYS");
	}
	ask_text_matrix(r, &s);
	recorded_answer(r, "matrix whose column %zu joins", 3 + nics);
	gv_strbuf_free(&s);
}

/* A last column whose name, and a row whose first cell, has so many characters. */
static void
ask_long_cells(struct recorded *r, size_t n)
{
	struct gv_strbuf s = {0};

	gv_strbuf_str(&s, "\tGPU0\tGPU1\t");
	repeat(&s, "x", n - 8);
	gv_strbuf_str(&s, "Affinity\nGPU0\tX\tNV1\nGPU1\tNV1\tX\n");
	repeat(&s, "y", n);
	gv_strbuf_str(&s, "\tX\n");
	ask_text_matrix(r, &s);
	recorded_answer(r, "matrix with a cell of %zu", n);
	gv_strbuf_free(&s);
}

/* Two GPUs, the second of this number. */
static void
ask_number(struct recorded *r, const char *number)
{
	struct gv_strbuf s = {0};

	gv_strbuf_fmt(&s, "\tGPU0\tGPU%s\nGPU0\tX\tNV1\nGPU%s\tNV1\tX\n", number, number);
	ask_text_matrix(r, &s);
	recorded_answer(r, "matrix of GPU%s", number);
	gv_strbuf_free(&s);
}

/* ---- files ---- */

/* The same as a file: what it is shows in its first bytes. */
static void
ask_file(struct recorded *r, const char *s, size_t len, double lane)
{
	char path[] = "/tmp/gv-tree.machinesXXXXXX";
	int fd = mkstemp(path);
	struct gv_frame f;
	size_t i;

	gv_error_clear(&e);
	if (fd < 0 || write(fd, s, len) != (ssize_t)len || close(fd) != 0) {
		perror(path);
		return;
	}
	recorded_whole(r, import_load(&f, path, lane, &e));
	recorded_frame(r, &f);
	for (i = 0; i < e.count && i < GV_ERROR_KEPT; i++)
		recorded_text(r, strncmp(e.text[i], path, strlen(path)) == 0
				     ? e.text[i] + strlen(path)
				     : e.text[i]);
	gv_frame_free(&f);
	unlink(path);
}

static void
ask_files(struct recorded *r)
{
	static const char *const front[] = {"", " ", "\n", "\r\n", "\t", " \n  ", "x"};
	struct links_drawn d;
	size_t i, kind;

	for (i = 0; i < sizeof(front) / sizeof(front[0]); i++) {
		for (kind = 0; kind < 4; kind++) {
			struct gv_strbuf s = {0};

			gv_strbuf_str(&s, front[i]);
			draw_shape(&d, 4, 2);
			if (kind == 0)
				draw_system(&s, 3, below(2) * 20);
			else if (kind == 1)
				draw_matrix(&s);
			else if (kind == 2)
				draw_links(&s, &d);
			ask_file(r, s.s, s.len, kind == 2 ? 0 : 3);
			ask_file(r, s.s, s.len / 2, 0);
			gv_strbuf_free(&s);
		}
		recorded_answer(r, "files %zu", i);
	}
}

int
main(void)
{
	static const char *const cells[] = {
	    "NV1", "NV2", "NV17", "NV18", "NV19", "PIX", "PXB", "NODE", "SYS", "NV9"};
	struct recorded r;
	size_t turn, i;

	recorded_open(&r);
	for (turn = 0; turn < 40; turn++) {
		draws_begin(73, 0, (uint32_t)turn);
		for (i = 0; i < 15; i++)
			ask_system(&r, 0, false);
		for (i = 0; i < 15; i++)
			ask_system(&r, 10 + below(100), i % 4 == 0);
		for (i = 0; i < 15; i++)
			ask_system(&r, 0, true);
		recorded_answer(&r, "topologies %zu", turn);
		for (i = 0; i < 30; i++)
			ask_matrix(&r, i % 2 == 1);
		recorded_answer(&r, "matrices %zu", turn);
		for (i = 0; i < 30; i++)
			ask_table(&r);
		recorded_answer(&r, "tables %zu", turn);
	}
	ask_limits(&r);
	for (i = 0; i < 10; i++) {
		ask_large_matrix(&r, 2 + i % 3, 2, cells[i]);
		ask_large_matrix(&r, 127 + i % 3, 0, cells[i]);
	}
	for (i = 0; i < 6; i++)
		ask_large_matrix(&r, 3, 250 + i, cells[i]);
	for (i = 1023; i < 1028; i++)
		ask_many_nodes(&r, i);
	ask_files(&r);
	for (i = 251; i < 256; i++)
		ask_last_joins(&r, i);
	ask_number(&r, "1");
	ask_number(&r, "100000");
	ask_number(&r, "100001");
	for (i = 62; i < 67; i++)
		ask_long_cells(&r, i);
	recorded_close(&r);
	return done_testing();
}
