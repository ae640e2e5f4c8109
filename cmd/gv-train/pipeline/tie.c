#include "tie.h"

#include <stdlib.h>

#include "base/mem.h"

static bool
has_row(const struct stage *s, size_t row)
{
	return row >= s->first && row < s->last;
}

/* The stage of a row. */
static size_t
stage_of(const struct stages *s, size_t row)
{
	size_t i = 0;

	while (!has_row(&s->stage[i], row))
		i++;
	return i;
}

bool
tie_across(const struct gv_model *m, const struct stages *s, size_t *row, size_t *to)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (m->layer[i].is_tied &&
		    stage_of(s, i) != stage_of(s, m->layer[i].tied)) {
			*row = i;
			*to = m->layer[i].tied;
			return true;
		}
	return false;
}

/*
 * The next of a stage's rows from *at on that is tied with a row of another stage, which
 * goes to *other.  false: there is none.
 */
static bool
next_tied(const struct worker_spec *spec, const struct chunk *c, size_t *at, size_t *row,
    size_t *other)
{
	const struct gv_model *m = spec->model;

	for (; *at < m->n; ++*at) {
		const struct gv_layer *l = &m->layer[*at];

		if (!l->is_tied || has_row(c->at, *at) == has_row(c->at, l->tied))
			continue;
		*row = has_row(c->at, *at) ? *at : l->tied;
		*other = *row == *at ? l->tied : *at;
		++*at;
		return true;
	}
	return false;
}

/* Sends the gradient of a row to the replicas of a stage that hear it of this one. */
static int
send(const struct worker_spec *spec, struct post *post, struct chunk *c, size_t row,
    size_t stage, uint64_t update)
{
	size_t replicas = spec->stages->stage[stage].replicas, i;

	for (i = c->group.own; i < replicas; i += c->group.n) {
		struct parcel *p = post_blank(post, gv_net_tied_size(c->net, row));

		if (gv_net_tied_get(c->net, row, p->v) != 0) {
			post_back(post, p);
			return -1;
		}
		post_send(post, p, spec->route->rank[stage] + i,
		    post_tag(POST_TIED, row, update));
	}
	return 0;
}

int
tie_tell(const struct worker_spec *spec, struct post *post, struct chunk *c,
    uint64_t update, bool *waits)
{
	size_t at = 0, row, other, n = 0;

	*waits = false;
	if (c->tied == NULL)
		c->tied = gv_xcalloc(spec->model->n, sizeof(struct parcel *));
	while (next_tied(spec, c, &at, &row, &other)) {
		size_t stage = stage_of(spec->stages, other);
		size_t teller = c->group.own % spec->stages->stage[stage].replicas;

		c->tied[n++] = post_ask(post, gv_net_tied_size(c->net, row),
		    spec->route->rank[stage] + teller,
		    post_tag(POST_TIED, other, update));
		*waits = true;
		if (send(spec, post, c, row, stage, update) != 0)
			return -1;
	}
	return 0;
}

int
tie_wait(const struct worker_spec *spec, struct post *post, struct chunk *c, bool *lost)
{
	size_t at = 0, row, other, n = 0;
	int status = 0;

	*lost = false;
	while (status == 0 && next_tied(spec, c, &at, &row, &other)) {
		*lost = post_take(post, c->tied[n]) != 0;
		if (*lost)
			return -1;
		status = gv_net_tie_with(c->net, row, c->tied[n]->v);
		post_back(post, c->tied[n]);
		c->tied[n++] = NULL;
	}
	return status;
}

void
tie_free(struct chunk *c, struct post *post)
{
	size_t i;

	for (i = 0; c->tied != NULL && c->tied[i] != NULL; i++)
		post_back(post, c->tied[i]);
	free(c->tied);
	c->tied = NULL;
}
