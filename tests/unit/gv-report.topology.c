/* Where nodes of a topology are drawn: no link runs below a GPU that it does not end at. */
#include "gv-report/topology/place.h"

#include <math.h>

#include "base/strbuf.h"
#include "recorded_out.h"
#include "tap.h"

static void
both_ways(struct gv_strbuf *s, size_t h, size_t a, size_t g, size_t b)
{
	gv_strbuf_fmt(s, "h%zu.gpu%zu,h%zu.gpu%zu,10\nh%zu.gpu%zu,h%zu.gpu%zu,10\n", h, a,
	    g, b, g, b, h, a);
}

/* Hosts whose GPUs are all linked, and each to those of its number on the other hosts. */
static void
rails(struct topology *t, size_t hosts, size_t gpus)
{
	struct gv_error e = {0};
	struct gv_strbuf s = {0};
	struct gv_tab *tab;
	size_t h, g, a, b;

	gv_strbuf_str(&s, "src,dst,gbytes_per_s\n");
	for (h = 0; h < hosts; h++)
		for (a = 0; a < gpus; a++) {
			for (b = a + 1; b < gpus; b++)
				both_ways(&s, h, a, h, b);
			for (g = h + 1; g < hosts; g++)
				both_ways(&s, h, a, g, a);
		}
	tab = table_of(&s, "links", &e);
	ok(topology_read(t, tab, &e) == 0, "%zu hosts of %zu GPUs are read", hosts, gpus);
	gv_tab_close(tab);
	gv_strbuf_free(&s);
	topology_finish(t);
	topology_place(t);
}

/* How near the link comes to the node, by steps along it. */
static double
nearest(const struct topology *t, const struct topology_link *l,
    const struct topology_node *n)
{
	const struct topology_node *a = &t->node[l->src], *b = &t->node[l->dst];
	double least = INFINITY;
	size_t k;

	for (k = 0; k <= 1000; k++) {
		double part = (double)k / 1000;

		least = fmin(least, hypot(a->x + part * (b->x - a->x) - n->x,
					a->y + part * (b->y - a->y) - n->y));
	}
	return least;
}

/* How many links run below nodes. */
static size_t
below_nodes(const struct topology *t)
{
	size_t n = 0, i, k;

	for (i = 0; i < t->n_links; i++)
		for (k = 0; k < t->n_nodes; k++)
			if (k != t->link[i].src && k != t->link[i].dst)
				n += nearest(t, &t->link[i], &t->node[k]) < t->node[k].r;
	return n;
}

static bool
apart(const struct topology *t)
{
	bool all = true;
	size_t i, k;

	for (i = 0; i < t->n_nodes; i++)
		for (k = 0; k < i; k++)
			all &= hypot(t->node[i].x - t->node[k].x,
				   t->node[i].y - t->node[k].y) >
			       t->node[i].r + t->node[k].r;
	return all;
}

int
main(void)
{
	/* up to so many GPUs of each of 0, 1, 2 ... hosts all links can be seen */
	static const size_t seen[] = {0, 8, 8, 6, 2, 3, 3, 2, 1};
	size_t hosts, gpus, n;

	for (hosts = 1; hosts <= 8; hosts++)
		for (gpus = 1; gpus <= 8; gpus++) {
			struct topology t = {0};

			rails(&t, hosts, gpus);
			n = gpus <= seen[hosts] ? below_nodes(&t) : 0;
			ok(n == 0, "%zu hosts of %zu GPUs: %zu links below a GPU", hosts,
			    gpus, n);
			ok(apart(&t), "%zu hosts of %zu GPUs: none over another", hosts,
			    gpus);
			topology_free(&t);
		}
	return done_testing();
}
