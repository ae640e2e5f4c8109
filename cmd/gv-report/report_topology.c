#include "report_topology.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draw/palette.h"
#include "gv-report/charts/figure.h"
#include "gv-report/page/page.h"
#include "gv-report/sheet/sheet.h"
#include "gv-report/topology/draw.h"
#include "gv-report/topology/place.h"
#include "table/kind.h"

bool
report_topology_takes(const struct gv_tab *t, const struct options *o)
{
	/* links alone are a table as good as any, but for a drawing */
	return topology_takes(t) &&
	       (gv_tab_kind(t) == GV_KIND_TREES || o->format == FORMAT_SVG ||
		   o->format == FORMAT_HTML);
}

/* ---- sheets ---- */

static struct gv_cell
name_of(const struct topology *t, size_t node)
{
	return (struct gv_cell){t->node[node].name, t->node[node].len};
}

static void
trees_sheet(struct view *v, const struct topology *t)
{
	struct sheet *s = view_sheet(v, "tree", "trees", t->n_trees > 0, 5);
	size_t i;

	sheet_column(s, "tree", "tree", SHEET_COUNT);
	sheet_column(s, "root", "root", SHEET_TEXT);
	sheet_column(s, "weight", "GB/s", SHEET_NUMBER);
	sheet_column(s, "edges", "edges", SHEET_COUNT);
	sheet_column(s, "depth", "depth", SHEET_COUNT);
	for (i = 0; i < t->n_trees; i++) {
		sheet_number(s, (double)t->tree[i].number);
		sheet_text(s, name_of(t, t->tree[i].root));
		sheet_number(s, t->tree[i].weight);
		sheet_number(s, (double)t->tree[i].edges);
		sheet_number(s, (double)t->tree[i].depth);
	}
}

static void
links_sheet(struct view *v, const struct topology *t)
{
	struct sheet *s = view_sheet(v, "link", "links", true, 5);
	size_t i;

	sheet_column(s, "src", "from", SHEET_TEXT);
	sheet_column(s, "dst", "to", SHEET_TEXT);
	sheet_column(s, "gbytes_per_s", t->has_links ? "GB/s" : NULL, SHEET_NUMBER);
	sheet_column(s, "used_gbytes_per_s", t->has_trees ? "used" : NULL, SHEET_NUMBER);
	sheet_column(
	    s, "used_share", t->has_links && t->has_trees ? "used" : NULL, SHEET_SHARE);
	for (i = 0; i < t->n_links; i++) {
		const struct topology_link *l = &t->link[i];

		sheet_text(s, name_of(t, l->src));
		sheet_text(s, name_of(t, l->dst));
		sheet_number(s, l->rate);
		sheet_number(s, t->has_trees ? l->used : NAN);
		sheet_number(s, t->has_trees && l->rate > 0 ? l->used / l->rate : NAN);
	}
}

static void
title(struct view *v, const struct topology *t)
{
	size_t gpus = 0, depth = 0, i;
	double rate = 0, busiest = 0;
	struct gv_strbuf *b;

	for (i = 0; i < t->n_nodes; i++)
		gpus += !t->node[i].relays;
	for (i = 0; i < t->n_trees; i++) {
		rate += t->tree[i].weight;
		depth = t->tree[i].depth > depth ? t->tree[i].depth : depth;
	}
	for (i = 0; i < t->n_links; i++)
		if (t->link[i].rate > 0)
			busiest = fmax(busiest, t->link[i].used / t->link[i].rate);
	gv_strbuf_fmt(&v->title, "%zu GPU%s, %zu switch%s, %zu direction%s of links",
	    gpus, gpus == 1 ? "" : "s", t->n_nodes - gpus,
	    t->n_nodes - gpus == 1 ? "" : "es", t->n_links, t->n_links == 1 ? "" : "s");
	if (!t->has_trees)
		return;
	b = view_line(v, "trees");
	gv_strbuf_fmt(
	    b, "%zu, together %.6g GB/s, no deeper than %zu", t->n_trees, rate, depth);
	if (t->has_links) {
		b = view_line(v, "busiest");
		gv_strbuf_fmt(b, "%.1f %% of a link", 100 * busiest);
	}
}

/* ---- formats ---- */

/* Links, nodes and switches; the other classes are those of charts. */
static const char rules[] =
    ".c-wire{stroke:#8a94a0;stroke-linecap:round}.c-link{stroke:#8a94a0;opacity:.3}"
    ".c-node{fill:#fff;stroke:#59626b;stroke-width:1.5}"
    ".c-relay{fill:#dfe3e8;stroke:#59626b;stroke-width:1.5}"
    ".chart .c-on{fill:#fff;font-weight:600}circle+.c-text,rect+.c-text{fill:#212529}\n";

static void
drawing(struct gv_out *out, const struct topology *t, bool page)
{
	double height = topology_draw(NULL, t, 12) + 24;
	struct gv_svg s = {.out = out};

	gv_chart_begin(
	    &s, FIGURE_W, height, "Links between GPUs and trees over them", page, rules);
	topology_draw(&s, t, 12);
	gv_chart_end(&s);
}

static void
page(struct gv_out *out, const struct topology *t, const struct view *v, int digits)
{
	page_begin(out, v->title.s, v->title.len);
	page_heading(out, "h1", v->title.s, v->title.len);
	drawing(out, t, true);
	view_write_sheets(out, v, digits);
	page_end(out);
}

static void
write_all(struct gv_out *out, const struct topology *t, const struct view *v,
    const struct sheet *by, const struct options *o)
{
	if (o->format == FORMAT_SVG)
		drawing(out, t, false);
	else if (o->format == FORMAT_HTML)
		page(out, t, v, o->digits);
	else
		view_write(out, v, by, o->format, o->digits);
}

static void
check_options(const struct options *o)
{
	const char *what = o->chart != NULL           ? "chart"
			   : o->run != NULL           ? "run"
			   : o->cluster != NULL       ? "cluster"
			   : o->expect_finished       ? "expect-finished"
			   : o->expect_points >= 0    ? "expect-shares"
			   : o->format == FORMAT_PROM ? "format=prom"
						      : NULL;

	if (what != NULL)
		gv_opt_usage(
		    &o->common, "--%s is for runs, these are links and trees", what);
}

/* All tables of an input, from the present one on; closes it. */
static void
take(struct topology *t, struct gv_tab *tab)
{
	struct gv_error e = {0};
	int more;

	do {
		if (topology_read(t, tab, &e) != 0)
			gv_die_error(&e);
		if ((more = gv_tab_table(tab, &e)) < 0)
			gv_die_error(&e);
	} while (more > 0);
	gv_tab_close(tab);
}

void
report_topology(const struct options *o, struct gv_tab *tab, char **further, size_t n)
{
	struct view v = {.kind = GV_KIND_TREES};
	const struct sheet *by = NULL;
	struct gv_error e = {0};
	struct topology t = {0};
	struct gv_out *out;
	size_t i;

	check_options(o);
	take(&t, tab);
	for (i = 0; i < n; i++) {
		if (gv_tab_open(&tab, further[i], &e) != 0 || gv_tab_table(tab, &e) != 1)
			gv_die_error(&e);
		take(&t, tab);
	}
	topology_finish(&t);
	topology_place(&t);
	title(&v, &t);
	trees_sheet(&v, &t);
	links_sheet(&v, &t);
	if (o->by != NULL && (by = view_find(&v, o->by)) == NULL)
		gv_opt_usage(&o->common,
		    "--by=%s: these are links and trees, which have the parts tree and "
		    "link",
		    o->by);
	if (o->common.verbose > 0)
		gv_warn("%zu links, %zu trees", t.n_links, t.n_trees);
	if (gv_out_open(&out, o->common.output, &e) != 0)
		gv_die_error(&e);
	write_all(out, &t, &v, by, o);
	if (out != gv_stdout() && gv_out_close(out, &e) != 0)
		gv_die_error(&e);
	view_free(&v);
	topology_free(&t);
}
