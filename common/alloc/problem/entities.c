#include "entities.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "table/kind.h"

static int
read_row(struct gv_entities *w, size_t row, ptrdiff_t entity, ptrdiff_t weight,
    size_t *first, struct gv_error *e)
{
	const struct gv_frame *f = &w->frame;
	struct gv_cell name = gv_frame_cell(f, row, entity);
	struct gv_cell cell = gv_frame_cell(f, row, weight);
	size_t known = w->names.n;
	size_t k;
	char q[GV_QUOTE_LEN];
	int rc = 0;

	k = gv_hash_add(&w->names, name.s, name.len);
	if (k < known)
		rc = gv_frame_error(f, row, entity, e,
		    "repeated entity %s, first at line %ld",
		    gv_quote(q, name.s, name.len), f->line[first[k]]);
	else
		first[k] = row;
	if (gv_frame_double(f, row, weight, 1, &w->weight[k], e) != 0)
		return -1;
	if (!(w->weight[k] > 0))
		rc = gv_frame_error(f, row, weight, e, "expected a number > 0, got %s",
		    gv_quote(q, cell.s, cell.len));
	return rc;
}

int
gv_entities_from(struct gv_entities *w, struct gv_frame *frame, struct gv_error *e)
{
	ptrdiff_t entity, weight;
	size_t *first = NULL;
	size_t i;
	int rc;

	*w = (struct gv_entities){.frame = *frame};
	*frame = (struct gv_frame){0};
	rc = gv_frame_expect(&w->frame, GV_KIND_ENTITIES, e);
	if (rc == 0) {
		rc = gv_frame_require(&w->frame, "entity", &entity, e);
		rc |= gv_frame_require(&w->frame, "weight", &weight, e);
	}
	if (rc == 0) {
		first = gv_xcalloc(w->frame.n_rows, sizeof(*first));
		w->weight = gv_xcalloc(w->frame.n_rows, sizeof(*w->weight));
		for (i = 0; i < w->frame.n_rows; i++)
			rc |= read_row(w, i, entity, weight, first, e);
	}
	free(first);
	if (rc != 0)
		gv_entities_free(w);
	return rc == 0 ? 0 : -1;
}

void
gv_entities_free(struct gv_entities *w)
{
	gv_frame_free(&w->frame);
	gv_hash_free(&w->names);
	free(w->weight);
	*w = (struct gv_entities){0};
}

static int
by_name(const void *a, const void *b)
{
	const struct gv_hash_key *x = a, *y = b;
	size_t len = x->len < y->len ? x->len : y->len;
	int way = len > 0 ? memcmp(x->s, y->s, len) : 0;

	return way != 0 ? way : (x->len > y->len) - (x->len < y->len);
}

/* The rank of each name among them all. */
static double *
ranks(const struct gv_hash *names)
{
	struct gv_hash_key *sorted = gv_xcalloc(names->n, sizeof(*sorted));
	double *rank = gv_xcalloc(names->n, sizeof(*rank));
	size_t k;

	for (k = 0; k < names->n; k++)
		sorted[k] = names->key[k];
	qsort(sorted, names->n, sizeof(*sorted), by_name);
	for (k = 0; k < names->n; k++)
		rank[gv_hash_find(names, sorted[k].s, sorted[k].len)] = (double)k;
	free(sorted);
	return rank;
}

void
gv_entities_number(struct gv_problem *p, const struct gv_entities *w,
    const struct gv_rates *r, const size_t *row)
{
	struct gv_hash names = {0};
	size_t *of = gv_xcalloc(r->n_jobs, sizeof(*of));
	double *rank;
	size_t i;

	gv_problem_ask(p, 1u << GV_NUMBER_ENTITY | 1u << GV_NUMBER_ENTITY_WEIGHT);
	for (i = 0; i < r->n_jobs; i++)
		if (row[i] != SIZE_MAX)
			of[i] =
			    gv_hash_add(&names, r->job[i].entity.s, r->job[i].entity.len);
	rank = ranks(&names);
	for (i = 0; i < r->n_jobs; i++) {
		struct gv_cell name = r->job[i].entity;
		ptrdiff_t k = w == NULL ? -1 : gv_hash_find(&w->names, name.s, name.len);

		if (row[i] == SIZE_MAX)
			continue;
		p->number[GV_NUMBER_ENTITY][row[i]] = rank[of[i]];
		p->number[GV_NUMBER_ENTITY_WEIGHT][row[i]] = k < 0 ? 1 : w->weight[k];
	}
	gv_hash_free(&names);
	free(rank);
	free(of);
}
