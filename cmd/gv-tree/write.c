#include "write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "table/tab.h"

#define GB_PER_KB 1e-6

/* What lies between the ends of an edge; in the direction in which data flows. */
static void
write_path(
    struct gv_tabw *w, const struct plan *p, const struct tree_edge *x, bool upwards)
{
	struct gv_strbuf s = {0};
	size_t i;

	for (i = 1; i + 1 < x->n_path; i++) {
		size_t at = upwards ? x->n_path - 1 - i : i;

		if (i > 1)
			gv_strbuf_str(&s, ";");
		gv_strbuf_str(&s, p->f.name[x->path[at]]);
	}
	gv_tabw_cell(w, (struct gv_cell){s.s != NULL ? s.s : "", s.len});
	gv_strbuf_free(&s);
}

static void
write_phase(struct gv_tabw *w, const struct plan *p, size_t i, size_t first, double part,
    bool upwards)
{
	const struct tree *t = &p->forest.tree[i];
	double unit = (double)p->forest.unit.over / (double)p->forest.unit.under * part;
	size_t k;

	for (k = 0; k < t->n_edges; k++) {
		/* leaves first on the way up: a node sends when all below it have sent */
		const struct tree_edge *x = &t->edge[upwards ? t->n_edges - 1 - k : k];

		gv_tabw_int(w, (int64_t)(first + i));
		gv_tabw_str(w, p->f.name[t->root]);
		gv_tabw_double(w, (double)t->weight * unit * GB_PER_KB);
		gv_tabw_str(w, upwards ? "reduce" : "broadcast");
		gv_tabw_str(w, p->f.name[upwards ? x->to : x->from]);
		gv_tabw_str(w, p->f.name[upwards ? x->from : x->to]);
		write_path(w, p, x, upwards);
		gv_tabw_end(w);
	}
}

void
write_header(struct gv_tabw *w, struct gv_out *out, bool tsv)
{
	static const char *const names[] = {
	    "tree", "root", "weight", "phase", "src", "dst", "path"};
	size_t i;

	gv_tabw_init(w, out, tsv);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		gv_tabw_str(w, names[i]);
	gv_tabw_end(w);
}

void
write_trees(struct gv_tabw *w, const struct plan *p, size_t first, double part)
{
	enum collective c = p->wish.collective;
	size_t i;

	for (i = 0; i < p->forest.n; i++) {
		if (c == REDUCE || c == REDUCE_SCATTER || c == ALL_REDUCE)
			write_phase(w, p, i, first, part, true);
		if (c == BROADCAST || c == ALL_GATHER || c == ALL_REDUCE)
			write_phase(w, p, i, first, part, false);
	}
}

static bool
has_node(const struct fabric *f, struct gv_cell name)
{
	size_t v;

	for (v = 0; v < f->n; v++)
		if (gv_cell_is(name, f->name[v]))
			return true;
	return false;
}

void
write_links(
    struct gv_out *out, const struct gv_frame *frame, const struct fabric *f, bool tsv)
{
	static const char *const names[] = {"src", "dst", "gbytes_per_s", "kind"};
	enum { COLUMNS = sizeof(names) / sizeof(names[0]) };
	ptrdiff_t column[COLUMNS];
	struct gv_tabw w;
	size_t row, i;

	gv_tabw_init(&w, out, tsv);
	for (i = 0; i < COLUMNS; i++) {
		column[i] = gv_frame_find(frame, names[i]);
		gv_tabw_str(&w, names[i]);
	}
	gv_tabw_end(&w);
	for (row = 0; row < frame->n_rows; row++) {
		if (!has_node(f, gv_frame_cell(frame, row, column[0])) ||
		    !has_node(f, gv_frame_cell(frame, row, column[1])))
			continue;
		for (i = 0; i < COLUMNS; i++)
			gv_tabw_cell(&w, gv_frame_cell(frame, row, column[i]));
		gv_tabw_end(&w);
	}
}

void
write_findings(struct gv_out *out, const struct xml_findings *f, bool tsv)
{
	struct gv_tabw w;
	size_t i;

	gv_tabw_init(&w, out, tsv);
	gv_tabw_str(&w, "line");
	gv_tabw_str(&w, "level");
	gv_tabw_str(&w, "message");
	gv_tabw_end(&w);
	for (i = 0; i < f->n; i++) {
		gv_tabw_int(&w, f->finding[i].line);
		gv_tabw_str(&w, xml_level_name[f->finding[i].level]);
		gv_tabw_str(&w, f->finding[i].text);
		gv_tabw_end(&w);
	}
}

/* The nodes of the cut that binds. */
static void
say_cut(const struct plan *p)
{
	struct gv_strbuf s = {0};
	size_t v, n = 0;
	bool inside = false; /* the smaller side of the GPUs is named */

	for (v = 0; v < p->f.n_gpus; v++)
		n += p->side[v];
	inside = n * 2 <= p->f.n_gpus;
	for (v = 0, n = 0; v < p->f.n_gpus; v++)
		if (p->side[v] == inside) {
			gv_strbuf_str(&s, n++ > 0 ? ", " : "");
			gv_strbuf_str(&s, p->f.name[v]);
		}
	gv_warn("no plan is faster: all that %s %s is used",
	    inside !=
		    (p->wish.collective == REDUCE || p->wish.collective == REDUCE_SCATTER)
		? "leaves"
		: "enters",
	    s.s != NULL ? s.s : "");
	gv_strbuf_free(&s);
}

void
say_plan(const struct plan *p)
{
	double part = p->optimum > 0 ? p->achieved / p->optimum : 1;

	gv_warn("%s by %s: %.6g of %.6g GB/s (%.4g %%), %zu tree%s",
	    collective_name[p->wish.collective], method_name[p->wish.method], p->achieved,
	    p->optimum, 100 * part, p->forest.n, p->forest.n == 1 ? "" : "s");
	if (p->forest.n > 0)
		gv_warn("busiest link: %s to %s, %.4g %% used",
		    p->f.name[p->busiest_from], p->f.name[p->busiest_to],
		    100 * p->busiest);
	if (p->side != NULL && part > 1 - 1e-9)
		say_cut(p);
	if (p->f.lowered)
		gv_warn("links whose directions differ count as their slower one");
}
