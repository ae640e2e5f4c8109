#include "place.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TURN 6.283185307179586

/* Turns of a circle that are tried, and hosts times links times nodes that are looked at so often. */
enum { TURNS = 16, MOST_LOOKED_AT = 1 << 22 };

/* What is known of a node while places are sought. */
struct spot {
	double dx, dy; /* from the middle of its host, of length 1; 0, 0: in the middle */
	size_t ring;   /* 0: GPUs; 1, 2: switches; 3: not known yet */
};

/* A host's part of the square, and by how much its circle is turned. */
struct ground {
	double x, y, size, turn;
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
on_circle(struct spot *spot, const struct named *of, size_t n, size_t ring, double turn)
{
	size_t i;

	for (i = 0; i < n; i++) {
		double angle = TURN * ((double)i + .5) / (double)n - TURN / 4 + turn;

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
	on_circle(spot, of, gpus, 0, g.turn);
	if (gpus > 0) {
		towards(t, host, 0, spot);
		towards(t, host, 1, spot);
		spread_same(of, members(t, host, true, of), fmin(.035, r), spot);
		spread_middle(t, host, spot);
	} else { /* only switches: on a circle of their own */
		on_circle(spot, of, members(t, host, true, of), 0, g.turn);
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

/* All hosts around the middle, each turned, as large as they can be without touching. */
static void
put_hosts(struct topology *t, const double *turn)
{
	size_t n = 0, k = 0, i;
	double size, away;

	for (i = 0; i < t->n_hosts; i++)
		n += has_gpus(t, i);
	size = sin(TURN / 2 / (double)n);
	size = n <= 1 ? 1 : n == 2 ? .46 : fmin(.44, size / (size + 1));
	away = n <= 1 ? 0 : (1 - size) / 2;
	for (i = 0; i < t->n_hosts; i++) {
		double angle = TURN * ((double)k / (double)(n > 0 ? n : 1) + .5);

		if (!has_gpus(t, i)) {
			if (n == 2)
				put_column(t, i, size);
			else
				put_host(t, i,
				    (struct ground){.5, .5, n > 0 ? .4 : 1, turn[i]});
			continue;
		}
		k++;
		put_host(t, i,
		    (struct ground){
			.5 + away * cos(angle), .5 + away * sin(angle), size, turn[i]});
	}
}

/* Whether the link runs below a node at neither of its ends. */
static bool
runs_below(const struct topology *t, const struct topology_link *l, size_t node)
{
	const struct topology_node *a = &t->node[l->src], *b = &t->node[l->dst],
				   *c = &t->node[node];
	double dx = b->x - a->x, dy = b->y - a->y, square = dx * dx + dy * dy, at;

	if (node == l->src || node == l->dst || !(square > 0))
		return false;
	at = ((c->x - a->x) * dx + (c->y - a->y) * dy) / square;
	return at > 0 && at < 1 &&
	       hypot(a->x + at * dx - c->x, a->y + at * dy - c->y) < c->r;
}

/* Puts the hosts so and counts which links run below which nodes. */
static size_t
hidden(struct topology *t, const double *turn)
{
	size_t sum = 0, i, k;

	put_hosts(t, turn);
	for (i = 0; i < t->n_links; i++)
		for (k = 0; k < t->n_nodes; k++)
			sum += runs_below(t, &t->link[i], k);
	return sum;
}

/* Turns all hosts alike, then each by itself, so that the fewest links run below nodes. */
static void
find_turns(struct topology *t, double *turn)
{
	double *best = gv_xcalloc(t->n_hosts, sizeof(*best)), step;
	size_t least = SIZE_MAX, most_gpus = 2, now, h, i, k;

	for (h = 0; h < t->n_hosts; h++) {
		size_t n = 0;

		for (i = 0; i < t->n_nodes; i++)
			n += t->node[i].host == h && !t->node[i].relays;
		most_gpus = n > most_gpus ? n : most_gpus;
	}
	step = TURN / (double)most_gpus / TURNS; /* a circle is then as it was */
	for (h = 0; h <= t->n_hosts; h++)
		for (k = 0; k < TURNS && least > 0; k++) {
			for (i = 0; i < t->n_hosts; i++)
				turn[i] =
				    h == 0 || i == h - 1 ? (double)k * step : best[i];
			now = hidden(t, turn);
			if (now < least) {
				least = now;
				memcpy(best, turn, t->n_hosts * sizeof(*best));
			}
		}
	memcpy(turn, best, t->n_hosts * sizeof(*best));
	free(best);
}

void
topology_place(struct topology *t)
{
	double *turn = gv_xcalloc(t->n_hosts + 1, sizeof(*turn));

	if (t->n_hosts > 1 && t->n_hosts * t->n_links * t->n_nodes <= MOST_LOOKED_AT)
		find_turns(t, turn);
	put_hosts(t, turn);
	free(turn);
	trim(t);
}
