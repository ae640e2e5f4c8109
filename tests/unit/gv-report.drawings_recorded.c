/* gv-report: what it says and draws of drawn links, trees and losses is what it was. */
#include "tap.h"

#include <string.h>

#include "base/fileio.h"
#include "column_draws.h"
#include "drawn_trees.h"
#include "gv-report/report_losses.h"
#include "gv-report/report_topology.h"
#include "gv-report/topology/place.h"
#include "recorded_frame.h"
#include "recorded_out.h"
#include "scratch.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

static struct gv_error e;

/* What is written here need not outlive the machine, and waiting for a disk takes long. */
int
fsync(int fd)
{
	(void)fd;
	return 0;
}

/* What was written, pixels to four digits: sines differ between C libraries in their last. */
static void
record_file(struct recorded *r, const char *path)
{
	size_t len, n;
	char *s, *p, *end;

	gv_error_clear(&e);
	if (gv_file_read(path, &s, &len, 1 << 24, &e) != 0) {
		recorded_error(r, &e);
		return;
	}
	for (p = s; p < s + len; p += n) {
		n = strcspn(p, "0123456789");
		recorded_bytes(r, p, n);
		if (p[n] == '\0') {
			n++;
			continue;
		}
		p += n;
		n = strspn(p, "0123456789.");
		end = memchr(p, '.', n);
		if (end != NULL)
			recorded_rounded(r, strtod(p, NULL), 4);
		else
			recorded_bytes(r, p, n);
	}
	recorded_whole(r, (long long)(strchr(s, '\n') != NULL));
	free(s);
	unlink(path);
}

/* ---- links and trees ---- */

static void
put_link(struct gv_strbuf *s, size_t wrong, const char *src, const char *dst, bool both)
{
	static const double rate[] = {10, 10, 20, 25, 0, 1e-3, 300};
	double of = rate[below(7)];

	if (wrong > 0 && below(wrong) == 0)
		gv_strbuf_fmt(s, "%s,%s,%s\n", src, dst, below(2) == 0 ? "-1" : "x");
	else
		gv_strbuf_fmt(s, "%s,%s,%.9g\n", src, dst, of);
	if (both)
		gv_strbuf_fmt(s, "%s,%s,%.9g\n", dst, src, below(5) == 0 ? 2 * of : of);
}

/* Hosts of GPUs and switches, and switches between them. */
static void
draw_links(struct gv_strbuf *s, size_t wrong)
{
	size_t hosts = 1 + below(below(3) == 0 ? 5 : 2),
	       gpus = below(12) == 0 ? 0 : 1 + below(below(4) == 0 ? 16 : 5),
	       switches = below(4), between = below(4), i, k, h;
	static const char *const spine[] = {
	    "spine0", "net.s1", "net.a-very-long-name-of-a-switch"};
	bool named = hosts > 1 || below(2) == 0;
	char a[64], b[64], host[32];

	gv_strbuf_str(s, "src,dst,gbytes_per_s\n");
	for (h = 0; h < hosts; h++) {
		snprintf(host, sizeof(host), "h%zu.", h);
		if (!named)
			snprintf(host, sizeof(host), "%s", below(3) == 0 ? "." : "");
		for (i = 0; i < gpus; i++) {
			snprintf(a, sizeof(a), "%sgpu%zu", host, i);
			for (k = 0; k < switches; k++) {
				snprintf(b, sizeof(b), "%ssw%zu", host, k);
				if (below(3) > 0)
					put_link(s, wrong, a, b, below(8) > 0);
			}
			snprintf(b, sizeof(b), "%sgpu%zu", host, below(gpus));
			if (switches == 0 || below(3) == 0)
				put_link(s, wrong, a, b, below(4) > 0);
		}
		for (k = 0; k < switches; k++) {
			snprintf(a, sizeof(a), "%ssw%zu", host, k);
			i = below(3);
			snprintf(b, sizeof(b), "%s%s%zu", host,
			    below(2) == 0 ? "pci" : "sw", i);
			if (below(2) == 0)
				put_link(s, wrong, a, b, below(4) > 0);
			for (i = 0; i < between; i++)
				if (below(2) == 0)
					put_link(s, wrong, a, spine[i], below(4) > 0);
		}
	}
}

static void
draw_tables(struct gv_strbuf *links, struct gv_strbuf *trees, size_t wrong)
{
	struct trees_drawn d = {.wrong = wrong, .trees = trees, .links = links};
	size_t n = 1 + below(below(9) == 0 ? 26 : 4), k;

	d.n = 2 + below(6);
	d.names = below(2);
	d.weights = below(4);
	d.chain = 1 + below(3);
	d.switches = below(2) == 0;
	d.has_path = below(3) > 0;
	d.collective = (enum gv_collective)below(3);
	gv_strbuf_str(links, "src,dst,gbytes_per_s\n");
	draw_head(&d);
	for (k = 0; k < n; k++)
		drawn_tree(&d, k, below(d.n));
}

/* Where nodes are, and which links carry what. */
static void
record_topology(
    struct recorded *r, const struct gv_strbuf *links, const struct gv_strbuf *trees)
{
	struct topology t = {0};
	struct gv_tab *tab;
	size_t i, k;

	for (k = 0; k < 3; k++) {
		if ((k == 0 ? links : trees)->len == 0 || (k == 2 && below(30) > 0))
			continue;
		gv_error_clear(&e);
		tab = table_of(k == 0 ? links : trees, "table", &e);
		recorded_whole(r, topology_takes(tab) && topology_read(&t, tab, &e) == 0);
		recorded_error(r, &e);
		gv_tab_close(tab);
	}
	topology_finish(&t);
	topology_place(&t);
	for (i = 0; i < t.n_nodes; i++) {
		recorded_text(r, t.node[i].name);
		recorded_whole(r, (long long)t.node[i].host);
		recorded_rounded(r, t.node[i].x, 9);
		recorded_rounded(r, t.node[i].y, 9);
		recorded_rounded(r, t.node[i].r, 9);
	}
	for (i = 0; i < t.n_hosts; i++)
		recorded_text(r, t.host[i]);
	recorded_rounded(r, t.height, 9);
	for (i = 0; i < t.n_links; i++)
		recorded_double(r, t.link[i].used);
	for (i = 0; i < t.n_trees; i++)
		recorded_whole(r, (long long)t.tree[i].depth);
	topology_free(&t);
}

static void
ask_topology(struct recorded *r, size_t kind, size_t wrong)
{
	static const char *const part[] = {"tree", "link"};
	struct options o = {.digits = 1, .expect_points = -1, .charts = ~0u};
	struct gv_strbuf links = {0}, trees = {0};
	char *further[] = {(char[]){"trees"}};
	struct gv_tab *tab;

	if (kind == 0)
		draw_links(&links, wrong);
	else
		draw_tables(&links, &trees, wrong);
	if (kind == 2)
		gv_strbuf_clear(&links);
	record_topology(r, &links, &trees);
	if (wrong == 0) {
		o.common.output = "out";
		o.format = (enum format)below(FORMAT_PROM);
		o.digits = (int)below(4);
		if (o.format == FORMAT_TEXT && kind > 0 && below(2) == 0)
			o.by = part[below(2)];
		if (below(2) == 0)
			o.format = FORMAT_SVG;
		if (trees.len > 0)
			scratch_file("trees", trees.s, trees.len);
		tab = table_of(kind == 2 ? &trees : &links, "table", &e);
		report_topology(&o, tab, further, kind == 1);
		record_file(r, "out");
	}
	gv_strbuf_free(&links);
	gv_strbuf_free(&trees);
}

/* ---- losses ---- */

static void
draw_losses(struct gv_strbuf *s)
{
	static const char *const model[] = {"0", "1", "a<", "", "7"};
	static const double most[] = {1e-3, 1, 1, 8, 1e9};
	size_t rows = below(9) == 0   ? below(3)
		      : below(7) == 0 ? 900
				      : below(60),
	       i, k, models = below(2) == 0 ? 1 : 1 + below(5), step = 0;
	double loss = most[below(5)], keeps = .5 + .5 * uniform();
	bool has_model = models > 1, test = below(2) == 0, right = below(2) == 0,
	     below_0 = below(9) == 0;

	gv_strbuf_fmt(s, "step,%sloss%s%s\n", has_model ? "model," : "",
	    test ? ",test_loss" : "", right ? ",accuracy" : "");
	for (i = 0; i < rows; i++) {
		step += below(5);
		for (k = 0; k < models; k++) {
			gv_strbuf_fmt(s, "%zu,", step);
			if (has_model)
				gv_strbuf_fmt(s, "%s,", model[k]);
			if (below(30) == 0)
				gv_strbuf_char(s, '0');
			else if (below(9) > 0)
				gv_strbuf_fmt(
				    s, "%.9g", loss * (uniform() - (below_0 ? .5 : 0)));
			if (test && below(3) == 0)
				gv_strbuf_fmt(s, ",%.9g", loss * (1 + uniform()));
			else if (test)
				gv_strbuf_char(s, ',');
			if (right)
				gv_strbuf_fmt(s, ",%.6g", uniform());
			gv_strbuf_char(s, '\n');
		}
		loss *= i % 8 == 7 ? keeps : 1;
	}
	if (below(12) == 0)
		gv_strbuf_fmt(s, "%zu", step + 1);
}

static void
ask_losses(struct recorded *r)
{
	struct options o = {.digits = 1, .expect_points = -1, .charts = ~0u};
	static const struct operand operand[] = {
	    {"first", "losses0"}, {"second", "losses1"}, {"the third one", "losses2"}};
	size_t n = below(2) == 0 ? 1 : 1 + below(3), i;
	struct gv_strbuf s[3] = {{0}};

	for (i = 0; i < n; i++) {
		draw_losses(&s[i]);
		scratch_file(operand[i].path, s[i].s, s[i].len);
	}
	o.common.output = "out";
	o.common.quiet = true;
	o.format = below(6) == 0 ? FORMAT_HTML : FORMAT_SVG;
	o.axis = (enum loss_axis)below(3);
	if (below(3) == 0)
		o.smooth = (double)(1 + below(30));
	if (below(5) == 0)
		o.run = "named";
	report_losses(&o, table_of(&s[0], "losses", &e), operand, n);
	record_file(r, "out");
	for (i = 0; i < n; i++)
		gv_strbuf_free(&s[i]);
}

int
main(void)
{
	static const char *const files[] = {
	    "trees", "losses0", "losses1", "losses2", NULL};
	static const char *const name[] = {"links", "links and trees", "trees"};
	struct recorded r;
	size_t turn, kind, i;

	recorded_open(&r);
	scratch_enter();
	for (turn = 0; turn < 40; turn++) {
		draws_begin(93, 0, (uint32_t)turn);
		for (kind = 0; kind < 3; kind++) {
			for (i = 0; i < 5; i++)
				ask_topology(&r, kind, i < 4 ? 0 : 10 + below(60));
			recorded_answer(&r, "%s %zu", name[kind], turn);
		}
		for (i = 0; i < 5; i++)
			ask_losses(&r);
		recorded_answer(&r, "losses %zu", turn);
	}
	scratch_leave(files);
	answer_free();
	recorded_close(&r);
	return done_testing();
}
