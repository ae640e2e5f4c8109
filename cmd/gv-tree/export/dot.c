/* Graphviz. */
#include <string.h>

#include "formats.h"

/* Okabe and Ito's colours, which colour-blind people tell apart. */
static const char *const colour[] = {
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"};
enum { COLOURS = sizeof(colour) / sizeof(colour[0]) };

/* A name as a string of the dot language. */
static void
write_name(struct gv_out *out, const char *s)
{
	gv_out_char(out, '"');
	for (; *s != '\0'; s++) {
		if (*s == '"' || *s == '\\')
			gv_out_char(out, '\\');
		gv_out_char(out, *s);
	}
	gv_out_char(out, '"');
}

static void
write_arc(struct gv_out *out, const char *from, const char *to)
{
	gv_out_str(out, "  ");
	write_name(out, from);
	gv_out_str(out, " -> ");
	write_name(out, to);
}

static void
write_links(const struct plan *p, struct gv_out *out)
{
	const struct fabric *f = &p->f;
	size_t u, v;

	for (u = 0; u < f->n; u++)
		for (v = 0; v < f->n; v++) {
			if (fabric_cap(f, u, v) == 0)
				continue;
			write_arc(out, f->name[u], f->name[v]);
			gv_out_fmt(out,
			    " [color=\"#BBBBBB\", fontcolor=\"#777777\", "
			    "label=\"%.6g\"];\n",
			    (double)fabric_cap(f, u, v) * (double)f->unit * 1e-6);
		}
}

static void
write_tree(const struct plan *p, size_t i, struct gv_out *out)
{
	const struct tree *t = &p->forest.tree[i];
	double unit = (double)p->forest.unit.over / (double)p->forest.unit.under * 1e-6;
	bool up = p->wish.collective == REDUCE || p->wish.collective == REDUCE_SCATTER;
	size_t k, h;

	for (k = 0; k < t->n_edges; k++)
		for (h = 0; h + 1 < t->edge[k].n_path; h++) {
			const char *from = p->f.name[t->edge[k].path[h]];
			const char *to = p->f.name[t->edge[k].path[h + 1]];

			write_arc(out, up ? to : from, up ? from : to);
			gv_out_fmt(out,
			    " [color=\"%s\", penwidth=2, tooltip=\"tree %zu: "
			    "%.6g GB/s\"%s];\n",
			    colour[i % COLOURS], i, (double)t->weight * unit,
			    p->wish.collective == ALL_REDUCE ? ", dir=both" : "");
		}
}

int
export_dot(const struct plan *p, struct gv_out *out, struct gv_error *e)
{
	size_t v, i;

	(void)e;
	gv_out_fmt(out,
	    "digraph trees {\n  label=\"%s by %s: %.6g GB/s, %zu tree%s (grey: links, "
	    "GB/s)\";\n  node [fontname=\"sans-serif\"];\n",
	    collective_name[p->wish.collective], method_name[p->wish.method], p->achieved,
	    p->forest.n, p->forest.n == 1 ? "" : "s");
	for (v = 0; v < p->f.n; v++) {
		gv_out_str(out, "  ");
		write_name(out, p->f.name[v]);
		gv_out_fmt(out, " [shape=%s];\n", v < p->f.n_gpus ? "box" : "ellipse");
	}
	write_links(p, out);
	for (i = 0; i < p->forest.n; i++)
		write_tree(p, i, out);
	gv_out_str(out, "}\n");
	return 0;
}
