#include "reduce.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* The piece of replica k: numbers [*first, *first + size) */
static size_t
piece_of(const struct reduce *r, size_t k, size_t *first)
{
	GV_HOLDS(r->group->n > 0);
	*first = r->n * k / r->group->n;
	return r->n * (k + 1) / r->group->n - *first;
}

static struct gv_tag
tag(const struct reduce *r, enum post_kind kind)
{
	return post_tag(kind, r->group->stage, r->sequence);
}

void
reduce_begin(struct reduce *r, struct group *g, gv_real *v, size_t n)
{
	struct gv_gang *gang = g->post->gang;
	size_t i, k, at, own, size;

	*r = (struct reduce){.group = g, .v = v, .n = n, .sequence = g->sequence++};
	r->piece = gv_xcalloc(g->n, sizeof(struct parcel *));
	r->message = gv_xcalloc(3 * g->n, sizeof(*r->message));
	r->out = r->message + g->n;
	own = piece_of(r, g->own, &at);
	/* the next one first, so that not all send to one at once */
	for (i = 1; i < g->n; i++) {
		k = (g->own + i) % g->n;
		r->piece[k] = post_ask(g->post, own, g->first + k, tag(r, POST_PIECE));
		size = piece_of(r, k, &at);
		/* it comes only once our piece has gone, so it may come to the same place */
		gv_gang_recv(gang, &r->message[k], (int)(g->first + k), tag(r, POST_SUM),
		    v + at, size * sizeof(*v));
		gv_gang_send(gang, &r->out[k], (int)(g->first + k), tag(r, POST_PIECE),
		    v + at, size * sizeof(*v));
	}
	reduce_move(r);
}

static void
add_up(struct reduce *r)
{
	const struct group *g = r->group;
	size_t at, n = piece_of(r, g->own, &at), i, k;
	gv_real *v = r->v + at;

	for (i = 0; i < n; i++) {
		gv_real sum = g->own == 0 ? v[i] : r->piece[0]->v[i];

		for (k = 1; k < g->n; k++)
			sum += k == g->own ? v[i] : r->piece[k]->v[i];
		v[i] = sum;
	}
	for (i = 1; i < g->n; i++) {
		k = (g->own + i) % g->n;
		gv_gang_send(g->post->gang, &r->out[g->n + k], (int)(g->first + k),
		    tag(r, POST_SUM), v, n * sizeof(*v));
	}
	r->added = true;
}

void
reduce_move(struct reduce *r)
{
	size_t k;

	for (k = 0; k < r->group->n && !r->added; k++)
		if (k != r->group->own && !r->piece[k]->m.done)
			return;
	if (!r->added)
		add_up(r);
}

int
reduce_end(struct reduce *r)
{
	const struct group *g = r->group;
	size_t k;
	int status = 0;

	for (k = 0; k < g->n && status == 0; k++)
		if (k != g->own)
			status = post_wait(g->post, &r->piece[k]->m);
	if (status == 0)
		reduce_move(r);
	for (k = 0; k < g->n && status == 0; k++) {
		if (k == g->own)
			continue;
		status = post_wait(g->post, &r->message[k]) != 0 ||
				 post_wait(g->post, &r->out[k]) != 0 ||
				 post_wait(g->post, &r->out[g->n + k]) != 0
			     ? -1
			     : 0;
	}
	return status;
}

void
reduce_free(struct reduce *r)
{
	size_t k;

	for (k = 0; r->piece != NULL && k < r->group->n; k++)
		if (r->piece[k] != NULL)
			post_back(r->group->post, r->piece[k]);
	free(r->piece);
	free(r->message);
	*r = (struct reduce){0};
}
