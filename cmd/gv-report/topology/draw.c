#include "draw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "draw/text.h"
#include "gv-report/charts/frame.h"

#define MOST_H 460.0 /* of a panel without its title */
#define TOP    22.0

/* A square for the nodes of a panel. */
struct square {
	struct gv_svg *s;
	const struct topology *t;
	double x, y, side;
	double most; /* the largest rate */
};

static double
x_of(const struct square *q, size_t node)
{
	return q->x + q->t->node[node].x * q->side;
}

static double
y_of(const struct square *q, size_t node)
{
	return q->y + q->t->node[node].y * q->side;
}

static void
wide_line(const struct square *q, const char *cls, size_t a, size_t b, double width)
{
	gv_svg_open(q->s, "line");
	gv_svg_attr(q->s, "class", cls);
	gv_svg_num(q->s, "x1", x_of(q, a));
	gv_svg_num(q->s, "y1", y_of(q, a));
	gv_svg_num(q->s, "x2", x_of(q, b));
	gv_svg_num(q->s, "y2", y_of(q, b));
	gv_svg_num(q->s, "stroke-width", width);
	gv_svg_close(q->s);
}

/* All links, the thicker the more they carry; both directions as one. */
static void
links(const struct square *q, const char *cls, double scale)
{
	size_t i;

	for (i = 0; i < q->t->n_links; i++) {
		const struct topology_link *l = &q->t->link[i];
		const size_t back[2] = {l->dst, l->src};
		ptrdiff_t other =
		    gv_hash_find(&q->t->pairs, (const char *)back, sizeof(back));
		double rate = isnan(l->rate) ? l->used : l->rate;

		if (other < 0 || (size_t)other > i)
			wide_line(q, cls, l->src, l->dst,
			    q->most > 0 ? fmax(scale * rate / q->most, .8) : 1);
	}
}

/* What stands behind the host of a name. */
static const char *
short_name(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot != NULL ? dot + 1 : name;
}

/* Beside its node: gpu3 is 3; a switch has its name where that is short. */
static const char *
label_of(const struct topology_node *n, double r)
{
	const char *name = short_name(n->name);

	if (!n->relays && name[3] != '\0') /* all others begin with gpu */
		name += 3;
	if (r < 5 || (n->relays && gv_text_px(name, strlen(name)) > 4 * r))
		return ""; /* a pointer shows it */
	return name;
}

static void
shape(struct gv_svg *s, const struct topology_node *n, const char *cls, double x,
    double y, double r, double half_w)
{
	gv_svg_open(s, n->relays ? "rect" : "circle");
	gv_svg_attr(s, "class", cls);
	gv_svg_num(s, n->relays ? "x" : "cx", n->relays ? x - half_w : x);
	gv_svg_num(s, n->relays ? "y" : "cy", n->relays ? y - r : y);
	if (n->relays) {
		gv_svg_num(s, "width", 2 * half_w);
		gv_svg_num(s, "height", 2 * r);
	} else {
		gv_svg_num(s, "r", r);
	}
	gv_svg_open(s, "title");
	gv_svg_text(s, n->name, n->len);
	gv_svg_close(s);
	gv_svg_close(s);
}

static void
nodes(const struct square *q, size_t root, const char *root_cls)
{
	struct gv_strbuf b = {0};
	size_t i;

	for (i = 0; i < q->t->n_nodes; i++) {
		const struct topology_node *n = &q->t->node[i];
		double r = fmax(n->r * q->side, 1.5), x = x_of(q, i), y = y_of(q, i);
		const char *name = label_of(n, r);
		double half_w = fmax(r, gv_text_px(name, strlen(name)) / 2 + 3);

		shape(q->s, n,
		    n->relays   ? "c-relay"
		    : i == root ? root_cls
				: "c-node",
		    x, y, r, name[0] != '\0' ? half_w : r);
		if (name[0] == '\0')
			continue;
		gv_text_fit(&b, name, strlen(name), n->relays ? 4 * r : 2.4 * r);
		gv_svg_label(q->s, i == root ? "c-mid c-on" : "c-mid c-text", x, y + 4,
		    b.s, b.len);
	}
	gv_strbuf_free(&b);
}

/* The names of hosts above their circles, where there are several. */
static void
hosts(const struct square *q)
{
	size_t i, k;

	for (i = 0; i < q->t->n_hosts && q->t->n_hosts > 1; i++) {
		double top = HUGE_VAL, x = 0, n = 0;

		for (k = 0; k < q->t->n_nodes; k++) {
			if (q->t->node[k].host != i)
				continue;
			x += x_of(q, k);
			n++;
			top = fmin(top, y_of(q, k) - q->t->node[k].r * q->side);
		}
		gv_svg_label(q->s, "c-dim c-mid", x / n, top - 5, q->t->host[i],
		    strlen(q->t->host[i]));
	}
}

/* A way from node to node with a head at its end. */
static void
arrow(const struct square *q, const char *cls, const struct topology_edge *e)
{
	const size_t *hop = q->t->hop + e->first;
	size_t a = hop[e->n - 2], b = hop[e->n - 1], i;
	double dx = x_of(q, b) - x_of(q, a), dy = y_of(q, b) - y_of(q, a);
	double len = hypot(dx, dy), r = q->t->node[b].r * q->side + 1;
	double x, y;

	for (i = 0; i + 1 < e->n; i++)
		wide_line(q, cls, hop[i], hop[i + 1], 2.5);
	if (!(len > 0))
		return;
	dx /= len;
	dy /= len;
	x = x_of(q, b) - r * dx;
	y = y_of(q, b) - r * dy;
	for (i = 0; i < 2; i++) {
		double side = i == 0 ? .5 : -.5;

		gv_svg_line(
		    q->s, cls, x, y, x - 8 * (dx + side * dy), y - 8 * (dy - side * dx));
	}
}

static struct square
square_in(
    struct gv_svg *s, const struct topology *t, struct gv_box box, const char *title)
{
	struct square q = {.s = s, .t = t};
	struct gv_strbuf b = {0};
	size_t i;

	q.side = fmin(box.w, (box.h - TOP) / t->height);
	q.x = box.x + (box.w - q.side) / 2;
	q.y = box.y + TOP;
	for (i = 0; i < t->n_links; i++)
		q.most = fmax(
		    q.most, isnan(t->link[i].rate) ? t->link[i].used : t->link[i].rate);
	gv_text_fit(&b, title, strlen(title), box.w / 1.15);
	gv_svg_label(s, "c-head", box.x, box.y + 12, b.s, b.len);
	gv_strbuf_free(&b);
	return q;
}

static void
draw_tree(struct gv_svg *s, const struct topology *t, size_t k, struct gv_box box)
{
	const struct topology_tree *tree = &t->tree[k];
	struct gv_strbuf title = {0};
	bool reduce = true;
	struct square q;
	size_t i;

	gv_strbuf_fmt(&title, "tree %lld, %s %s: %.4g GB/s", (long long)tree->number,
	    "root", t->node[tree->root].name, tree->weight);
	for (i = 0; i < t->n_edges; i++)
		if (t->edge[i].tree == k && !t->edge[i].reduce)
			reduce = false;
	q = square_in(s, t, box, title.s);
	gv_strbuf_free(&title);
	links(&q, "c-link", 2);
	for (i = 0; i < t->n_edges; i++)
		if (t->edge[i].tree == k && t->edge[i].reduce == reduce) {
			char cls[GV_CLASS_LEN];

			snprintf(cls, sizeof(cls), "l%zu", k % GV_PALETTE);
			arrow(&q, cls, &t->edge[i]);
		}
	nodes(&q, tree->root, gv_fill_class(k));
	hosts(&q);
}

double
topology_draw(struct gv_svg *s, const struct topology *t, double y)
{
	size_t panels = t->n_trees + 1 < MOST_PANELS ? t->n_trees + 1 : MOST_PANELS, i;
	size_t columns = panels == 1 ? 1 : t->height < .7 || panels < 3 ? 2 : 3;
	double w = INNER_W / (double)columns;
	struct grid_of g =
	    grid_in(panels, columns, TOP + 22 + fmin(w * t->height, MOST_H));
	char note[160];
	double head;
	struct square q;

	snprintf(note, sizeof(note),
	    "Links as wide as what they carry, squares are switches.%s%s",
	    t->n_trees > 0 ? " Arrows: where data go on the way down from the root." : "",
	    t->n_trees + 1 > MOST_PANELS ? " Not all trees are shown." : "");
	head = frame_head(s, y, t->has_trees ? "Links and trees" : "Links", note, NULL);
	if (s == NULL)
		return head + grid_height(&g);
	q = square_in(s, t, grid_box(&g, 0, y + head), "links");
	links(&q, "c-wire", 6);
	nodes(&q, t->n_nodes, "c-node");
	hosts(&q);
	for (i = 1; i < panels; i++)
		draw_tree(s, t, i - 1, grid_box(&g, i, y + head));
	return head + grid_height(&g);
}
