#include "clip.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { REALS = sizeof(double) / sizeof(gv_real) }; /* of a parcel, to a double */

static size_t
rows_of(const struct clip *c, size_t stage)
{
	const struct stage *s = &c->spec->stages->stage[stage];

	return s->last - s->first;
}

/* The replica of a stage that tells a worker its squares, which all of them know. */
static size_t
teller(const struct clip *c, size_t stage, size_t rank)
{
	return c->spec->route->rank[stage] +
	       rank % c->spec->stages->stage[stage].replicas;
}

static bool
has_stage(const struct clip *c, size_t stage, size_t rank)
{
	size_t first = c->spec->route->rank[stage];

	return rank >= first && rank < first + c->spec->stages->stage[stage].replicas;
}

void
clip_init(struct clip *c, const struct worker_spec *spec, struct post *post)
{
	size_t n = spec->net.models * spec->model->n;

	*c = (struct clip){.spec = spec, .post = post};
	c->square = gv_xcalloc(n, sizeof(*c->square));
	c->own = gv_xcalloc(n, sizeof(*c->own));
	c->from = gv_xcalloc(spec->stages->n, sizeof(struct parcel *));
}

void
clip_free(struct clip *c)
{
	size_t i;

	for (i = 0; c->from != NULL && i < c->spec->stages->n; i++)
		if (c->from[i] != NULL)
			post_back(c->post, c->from[i]);
	free(c->square);
	free(c->own);
	free(c->from);
	*c = (struct clip){0};
}

/* Squares of a stage's rows, [models][its rows], between a parcel and a table [models][rows]. */
static void
move_rows(const struct clip *c, size_t stage, double *table, gv_real *v, bool in)
{
	size_t rows = rows_of(c, stage), first = c->spec->stages->stage[stage].first, b;

	for (b = 0; b < c->spec->net.models; b++) {
		double *at = table + b * c->spec->model->n + first;

		if (in)
			memcpy(at, v + b * rows * REALS, rows * sizeof(*at));
		else
			memcpy(v + b * rows * REALS, at, rows * sizeof(*at));
	}
}

static size_t
size_of(const struct clip *c, size_t stage)
{
	return c->spec->net.models * rows_of(c, stage) * REALS;
}

static void
ask_all(struct clip *c, uint64_t update)
{
	size_t rank = c->spec->rank, i;

	for (i = 0; i < c->spec->stages->n; i++)
		if (!has_stage(c, i, rank))
			c->from[i] = post_ask(c->post, size_of(c, i), teller(c, i, rank),
			    post_tag(POST_SQUARES, i, update));
	c->asked = true;
}

int
clip_tell(struct clip *c, struct chunk *chunk, uint64_t update)
{
	size_t n = c->spec->net.models * c->spec->model->n, i, stage = chunk->stage;

	if (!c->asked) {
		memset(c->square, 0, n * sizeof(*c->square));
		ask_all(c, update);
	}
	if (gv_net_squares(chunk->net, c->own) != 0)
		return -1;
	for (i = 0; i < n; i++)
		c->square[i] += c->own[i];
	for (i = 0; i < c->spec->route->workers; i++) {
		struct parcel *p;

		if (has_stage(c, stage, i) || teller(c, stage, i) != c->spec->rank)
			continue;
		p = post_blank(c->post, size_of(c, stage));
		move_rows(c, stage, c->own, p->v, false);
		post_send(c->post, p, i, post_tag(POST_SQUARES, stage, update));
	}
	return 0;
}

int
clip_wait(struct clip *c)
{
	size_t i;

	for (i = 0; i < c->spec->stages->n; i++) {
		if (c->from[i] == NULL)
			continue;
		if (post_take(c->post, c->from[i]) != 0)
			return -1;
		move_rows(c, i, c->square, c->from[i]->v, true);
		post_back(c->post, c->from[i]);
		c->from[i] = NULL;
	}
	c->asked = false;
	return 0;
}
