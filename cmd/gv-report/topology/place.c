#include "place.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TURN 6.283185307179586

/* What is known of a node while places are sought. */
struct spot {
	double dx, dy; /* from the middle of its host, of length 1; 0, 0: in the middle */
	size_t ring;   /* 0: GPUs; 1, 2: switches; 3: not known yet */
};

/* A host's part of the square. */
struct ground {
	double x, y, size;
};

/* ---- GPUs ---- */

struct named {
	const struct topology_node *of;
	size_t node;
};

/* gpu2 before gpu10. */
static int
by_name(const void *a, const void *b)
{
	const struct topology_node *x = ((const struct named *)a)->of;
	const struct topology_node *y = ((const struct named *)b)->of;

	return x->len != y->len ? (x->len > y->len) - (x->len < y->len)
				: memcmp(x->name, y->name, x->len);
}

/* The nodes of a host that are of that kind, in the order of names; their number. */
static size_t
members(const struct topology *t, size_t host, bool relays, struct named *of)
{
	size_t n = 0, i;

	for (i = 0; i < t->n_nodes; i++)
		if (t->node[i].host == host && t->node[i].relays == relays)
			of[n++] = (struct named){&t->node[i], i};
	qsort(of, n, sizeof(*of), by_name);
	return n;
}

static void
on_circle(struct spot *spot, const struct named *of, size_t n, size_t ring)
{
	size_t i;

	for (i = 0; i < n; i++) {
		double angle = TURN * ((double)i + .5) / (double)n - TURN / 4;

		spot[of[i].node] = (struct spot){cos(angle), sin(angle), ring};
	}
}

/* ---- switches ---- */

/* Switches that are linked to nodes on a ring come on the next one, where these are. */
static void
towards(const struct topology *t, size_t host, size_t ring, struct spot *spot)
{
	struct spot *sum = gv_xcalloc(t->n_nodes, sizeof(*sum));
	size_t i;

	for (i = 0; i < t->n_links; i++) {
		size_t a = t->link[i].src, b = t->link[i].dst;

		if (t->node[a].host != host || t->node[b].host != host)
			continue;
		if (spot[a].ring != ring || spot[b].ring != 3)
			continue;
		sum[b].dx += spot[a].dx;
		sum[b].dy += spot[a].dy;
		sum[b].ring++;
	}
	for (i = 0; i < t->n_nodes; i++) {
		double len = hypot(sum[i].dx, sum[i].dy);

		if (sum[i].ring == 0)
			continue;
		spot[i].ring = ring + 1;
		if (len < .2 * (double)sum[i].ring) /* to all sides */
			spot[i].dx = spot[i].dy = 0;
		else
			spot[i].dx = sum[i].dx / len, spot[i].dy = sum[i].dy / len;
	}
	free(sum);
}

static const double radius[] = {.42, .27, .15, .15}; /* of the rings */

/* Switches that would stand in the same place stand beside each other on their ring. */
static void
spread_same(const struct named *of, size_t n, double r, struct spot *spot)
{
	bool *done = gv_xcalloc(n + 1, sizeof(*done));
	size_t *same = gv_xcalloc(n + 1, sizeof(*same));
	size_t i, k;

	for (i = 0; i < n; i++) {
		const struct spot at = spot[of[i].node];
		double step, angle = atan2(at.dy, at.dx);
		size_t n_same = 0;

		if (done[i] || (at.dx == 0 && at.dy == 0))
			continue;
		for (k = i; k < n; k++) {
			const struct spot *s = &spot[of[k].node];

			if (done[k] || s->ring != at.ring ||
			    hypot(s->dx - at.dx, s->dy - at.dy) > 1e-3)
				continue;
			done[k] = true;
			same[n_same++] = of[k].node;
		}
		step = fmin(2.4 * r / radius[at.ring], TURN / (double)n_same);
		for (k = 0; k < n_same && n_same > 1; k++) {
			double turned =
			    angle + ((double)k - (double)(n_same - 1) / 2) * step;

			spot[same[k]].dx = cos(turned);
			spot[same[k]].dy = sin(turned);
		}
	}
	free(same);
	free(done);
}

/* Those of the middle beside each other, if there are several. */
static void
spread_middle(const struct topology *t, size_t host, struct spot *spot)
{
	size_t n = 0, k = 0, i;

	for (i = 0; i < t->n_nodes; i++)
		n += t->node[i].host == host && t->node[i].relays && spot[i].dx == 0 &&
		     spot[i].dy == 0;
	for (i = 0; i < t->n_nodes && n > 1; i++) {
		double angle = TURN * ((double)k + .25) / (double)n;

		if (t->node[i].host != host || !t->node[i].relays || spot[i].dx != 0 ||
		    spot[i].dy != 0)
			continue;
		k++;
		spot[i].dx = .6 * cos(angle);
		spot[i].dy = .6 * sin(angle);
		spot[i].ring = 2;
	}
}

/* ---- hosts ---- */

static void
put_host(struct topology *t, size_t host, struct ground g)
{
	struct spot *spot = gv_xcalloc(t->n_nodes, sizeof(*spot));
	struct named *of = gv_xcalloc(t->n_nodes, sizeof(*of));
	size_t gpus = members(t, host, false, of), i;
	double r = fmin(.055, .42 * TURN / 3 / (double)(gpus + 1));

	for (i = 0; i < t->n_nodes; i++)
		spot[i].ring = 3;
	on_circle(spot, of, gpus, 0);
	if (gpus > 0) {
		towards(t, host, 0, spot);
		towards(t, host, 1, spot);
		spread_same(of, members(t, host, true, of), fmin(.035, r), spot);
		spread_middle(t, host, spot);
	} else { /* only switches: on a circle of their own */
		on_circle(spot, of, members(t, host, true, of), 0);
	}
	for (i = 0; i < t->n_nodes; i++) {
		struct topology_node *n = &t->node[i];

		if (n->host != host)
			continue;
		n->x = g.x + g.size * radius[spot[i].ring] * spot[i].dx;
		n->y = g.y + g.size * radius[spot[i].ring] * spot[i].dy;
		n->r = g.size * (n->relays ? fmin(.035, r) : r);
	}
	free(spot);
	free(of);
}

/* Switches between two hosts stand above each other. */
static void
put_column(struct topology *t, size_t host, double size)
{
	struct named *of = gv_xcalloc(t->n_nodes, sizeof(*of));
	size_t n = members(t, host, true, of), i;

	for (i = 0; i < n; i++) {
		struct topology_node *node = &t->node[of[i].node];

		node->x = .5;
		node->y = .5 + size * (((double)i + .5) / (double)n - .5);
		node->r = fmin(.035 * size, size / 3 / (double)n);
	}
	free(of);
}

static bool
has_gpus(const struct topology *t, size_t host)
{
	size_t i;

	for (i = 0; i < t->n_nodes; i++)
		if (t->node[i].host == host && !t->node[i].relays)
			return true;
	return false;
}

/* Two hosts leave much of the square empty: takes that away. */
static void
trim(struct topology *t)
{
	double top = 1, bottom = 0;
	size_t i;

	for (i = 0; i < t->n_nodes; i++) {
		top = fmin(top, t->node[i].y - t->node[i].r - .04);
		bottom = fmax(bottom, t->node[i].y + t->node[i].r + .02);
	}
	top = fmax(top, 0);
	for (i = 0; i < t->n_nodes; i++)
		t->node[i].y -= top;
	t->height = bottom > top ? fmin(bottom, 1) - top : 1;
}

void
topology_place(struct topology *t)
{
	size_t n = 0, k = 0, i;
	double size, away;

	for (i = 0; i < t->n_hosts; i++)
		n += has_gpus(t, i);
	/* hosts around the middle, as large as they can be without touching */
	size = n <= 1 ? 1 : n == 2 ? .46 : fmin(.44, sin(TURN / 2 / (double)n) * .7);
	away = n <= 1 ? 0 : (1 - size) / 2;
	for (i = 0; i < t->n_hosts; i++) {
		double angle = TURN * ((double)k / (double)(n > 0 ? n : 1) + .5);

		if (!has_gpus(t, i)) {
			if (n == 2)
				put_column(t, i, size);
			else
				put_host(t, i, (struct ground){.5, .5, n > 0 ? .4 : 1});
			continue;
		}
		k++;
		put_host(t, i,
		    (struct ground){
			.5 + away * cos(angle), .5 + away * sin(angle), size});
	}
	trim(t);
}
