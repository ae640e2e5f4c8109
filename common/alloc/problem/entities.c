#include "entities.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/near.h"
#include "table/kind.h"

struct entity_columns {
	ptrdiff_t entity, weight, parent, quota;
};

/* A cell of a number; absent ones are otherwise. */
static int
read_number(const struct gv_frame *f, size_t row, ptrdiff_t column, double otherwise,
    bool zero, double *v, struct gv_error *e)
{
	if (gv_frame_double(f, row, column, otherwise, v, e) != 0)
		return -1;
	if (*v > 0 || (zero && *v == 0))
		return 0;
	return gv_frame_expected(f, row, column, e, "a number %s 0", zero ? ">=" : ">");
}

static int
read_row(
    struct gv_entities *w, size_t row, const struct entity_columns *c, struct gv_error *e)
{
	const struct gv_frame *f = &w->frame;
	struct gv_cell name = gv_frame_cell(f, row, c->entity);
	size_t known = w->names.n;
	size_t k;
	char q[GV_QUOTE_LEN];
	int rc = 0;

	k = gv_hash_add(&w->names, name.s, name.len);
	if (k < known)
		rc = gv_frame_error(f, row, c->entity, e,
		    "repeated entity %s, first at line %ld",
		    gv_quote(q, name.s, name.len), f->line[w->row[k]]);
	else
		w->row[k] = row;
	rc |= read_number(f, row, c->weight, 1, false, &w->weight[k], e);
	rc |= read_number(f, row, c->quota, 0, true, &w->quota[k], e);
	w->tree = w->tree || w->quota[k] > 0;
	return rc;
}

/* ---- parents and quotas ---- */

static int
find_parents(struct gv_entities *w, const struct entity_columns *c, struct gv_error *e)
{
	const struct gv_frame *f = &w->frame;
	char q[GV_QUOTE_LEN];
	size_t k;
	int rc = 0;

	for (k = 0; k < w->names.n; k++) {
		struct gv_cell name = gv_frame_cell(f, w->row[k], c->parent);
		ptrdiff_t parent;

		w->parent[k] = SIZE_MAX;
		if (name.len == 0)
			continue;
		parent = gv_hash_find(&w->names, name.s, name.len);
		if (parent < 0)
			rc = gv_frame_error(f, w->row[k], c->parent, e,
			    "no entity %s in this table", gv_quote(q, name.s, name.len));
		else
			w->parent[k] = (size_t)parent;
		w->tree = true;
	}
	return rc;
}

/* That nobody is in itself; the first that is. */
static int
check_circles(
    const struct gv_entities *w, const struct entity_columns *c, struct gv_error *e)
{
	char q[GV_QUOTE_LEN];
	size_t k, at, steps;

	for (k = 0; k < w->names.n; k++) {
		struct gv_cell name = gv_frame_cell(&w->frame, w->row[k], c->entity);

		at = w->parent[k];
		for (steps = 0; at != SIZE_MAX && at != k && steps < w->names.n; steps++)
			at = w->parent[at];
		if (at == k)
			return gv_frame_error(&w->frame, w->row[k], c->parent, e,
			    "entity %s is in itself", gv_quote(q, name.s, name.len));
	}
	return 0;
}

/* What the quotas inside each entity add up to, those of entities without one counted as their own; [names.n], the caller's. */
static double *
quotas_inside(const struct gv_entities *w)
{
	double *inside = gv_xcalloc(w->names.n, sizeof(*inside));
	size_t k, at;

	for (k = 0; k < w->names.n; k++) {
		if (!(w->quota[k] > 0))
			continue;
		at = w->parent[k];
		while (at != SIZE_MAX && !(w->quota[at] > 0)) {
			inside[at] += w->quota[k];
			at = w->parent[at];
		}
		if (at != SIZE_MAX)
			inside[at] += w->quota[k];
	}
	return inside;
}

static int
check_quotas(
    const struct gv_entities *w, const struct entity_columns *c, struct gv_error *e)
{
	double *inside = quotas_inside(w);
	size_t k;
	int rc = 0;

	for (k = 0; k < w->names.n; k++)
		if (w->quota[k] > 0 && inside[k] > w->quota[k] * (1 + 1e-12))
			rc = gv_frame_error(&w->frame, w->row[k], c->quota, e,
			    "the quotas inside add up to %g GPUs, this one is %g",
			    inside[k], w->quota[k]);
	free(inside);
	return rc;
}

int
gv_entities_fit(const struct gv_entities *w, double gpus, struct gv_error *e)
{
	double *inside;
	double sum = 0;
	size_t k;

	if (!w->tree)
		return 0;
	inside = quotas_inside(w);
	for (k = 0; k < w->names.n; k++)
		if (w->parent[k] == SIZE_MAX)
			sum += w->quota[k] > 0 ? w->quota[k] : inside[k];
	free(inside);
	if (sum <= gpus * (1 + 1e-12))
		return 0;
	return gv_error_set(e, "%s: the quotas add up to %g GPUs, the cluster has %g",
	    w->frame.file, sum, gpus);
}

int
gv_entities_from(struct gv_entities *w, struct gv_frame *frame, struct gv_error *e)
{
	struct entity_columns c;
	size_t i;
	int rc;

	*w = (struct gv_entities){.frame = *frame};
	*frame = (struct gv_frame){0};
	rc = gv_frame_expect(&w->frame, GV_KIND_ENTITIES, e);
	if (rc == 0) {
		rc = gv_frame_require(&w->frame, "entity", &c.entity, e);
		rc |= gv_frame_require(&w->frame, "weight", &c.weight, e);
	}
	if (rc == 0) {
		c.parent = gv_frame_find(&w->frame, "parent");
		c.quota = gv_frame_find(&w->frame, "quota_gpus");
		w->weight = gv_xcalloc(w->frame.n_rows, sizeof(*w->weight));
		w->row = gv_xcalloc(w->frame.n_rows, sizeof(*w->row));
		w->parent = gv_xcalloc(w->frame.n_rows, sizeof(*w->parent));
		w->quota = gv_xcalloc(w->frame.n_rows, sizeof(*w->quota));
		for (i = 0; i < w->frame.n_rows; i++)
			rc |= read_row(w, i, &c, e);
	}
	if (rc == 0)
		rc = find_parents(w, &c, e);
	if (rc == 0)
		rc = check_circles(w, &c, e);
	if (rc == 0)
		rc = check_quotas(w, &c, e);
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
	free(w->row);
	free(w->parent);
	free(w->quota);
	*w = (struct gv_entities){0};
}

/* ---- slips ---- */

void
gv_entities_slips(
    const struct gv_entities *w, const struct gv_rates *r, struct gv_error *out)
{
	static const char *const columns[] = {"entity", "weight", "parent", "quota_gpus"};
	ptrdiff_t column = gv_frame_find(&r->frame, "entity");
	struct gv_hash forms = {0}, said = {0};
	struct gv_arena arena = {0};
	size_t *first = gv_xcalloc(w->names.n, sizeof(*first));
	char q[GV_QUOTE_LEN];
	size_t i, form, known;

	gv_frame_warn_names(
	    &w->frame, columns, sizeof(columns) / sizeof(columns[0]), out);
	for (i = 0; i < w->names.n; i++) {
		const struct gv_hash_key *k = &w->names.key[i];
		char *folded = gv_arena_alloc(&arena, k->len + 1, 1);

		known = forms.n;
		form = gv_hash_add(&forms, folded, gv_fold(k->s, k->len, folded));
		if (form == known)
			first[form] = i;
	}
	for (i = 0; column >= 0 && i < r->n_jobs; i++) {
		struct gv_cell name = r->job[i].entity;
		char *folded;
		ptrdiff_t at;

		known = said.n;
		if (name.len == 0 || gv_hash_add(&said, name.s, name.len) < known ||
		    gv_hash_find(&w->names, name.s, name.len) >= 0)
			continue;
		folded = gv_arena_alloc(&arena, name.len + 1, 1);
		at = gv_hash_find(&forms, folded, gv_fold(name.s, name.len, folded));
		if (at >= 0)
			gv_frame_error(&r->frame, r->job[i].row, column, out,
			    "%s has no %s; is \"%.*s\" meant?", w->frame.file,
			    gv_quote(q, name.s, name.len),
			    (int)w->names.key[first[at]].len, w->names.key[first[at]].s);
	}
	gv_hash_free(&forms);
	gv_hash_free(&said);
	gv_arena_free(&arena);
	free(first);
}

/* ---- numbers ---- */

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

/* ---- trees ---- */

void
gv_tree_free(struct gv_tree *t)
{
	free(t->parent);
	free(t->weight);
	free(t->quota);
	*t = (struct gv_tree){0};
}

/* Names of the entities that those so far are in. */
static void
add_ancestors(struct gv_hash *names, const struct gv_entities *w)
{
	size_t k;

	for (k = 0; k < names->n; k++) {
		ptrdiff_t at =
		    gv_hash_find(&w->names, names->key[k].s, names->key[k].len);

		if (at >= 0 && w->parent[at] != SIZE_MAX)
			gv_hash_add(names, w->names.key[w->parent[at]].s,
			    w->names.key[w->parent[at]].len);
	}
}

/*
 * The tree of the names by their ranks, and behind them, for each that has jobs, has[],
 * and others in it, a node of its own jobs: own[] of the rank.
 */
static void
make_tree(struct gv_tree *t, const struct gv_entities *w, const struct gv_hash *names,
    const double *rank, const bool *has, size_t *own)
{
	bool *inner = gv_xcalloc(names->n, sizeof(*inner));
	size_t k;

	t->n = names->n;
	t->parent = gv_xcalloc(2 * t->n, sizeof(*t->parent));
	t->weight = gv_xcalloc(2 * t->n, sizeof(*t->weight));
	t->quota = gv_xcalloc(2 * t->n, sizeof(*t->quota));
	for (k = 0; k < names->n; k++) {
		size_t node = (size_t)rank[k];
		ptrdiff_t at =
		    gv_hash_find(&w->names, names->key[k].s, names->key[k].len);

		own[node] = node;
		t->weight[node] = at < 0 ? 1 : w->weight[at];
		t->quota[node] = at < 0 ? 0 : w->quota[at];
		t->parent[node] = SIZE_MAX;
		if (at < 0 || w->parent[at] == SIZE_MAX)
			continue;
		at = gv_hash_find(names, w->names.key[w->parent[at]].s,
		    w->names.key[w->parent[at]].len);
		t->parent[node] = (size_t)rank[at];
		inner[t->parent[node]] = true;
	}
	for (k = 0; k < names->n; k++)
		if (inner[k] && has[k]) {
			t->parent[t->n] = k;
			t->weight[t->n] = 1;
			own[k] = t->n++;
		}
	free(inner);
}

void
gv_entities_number(struct gv_problem *p, struct gv_tree *t, const struct gv_entities *w,
    const struct gv_rates *r, const size_t *row)
{
	struct gv_hash names = {0};
	size_t *of = gv_xcalloc(r->n_jobs, sizeof(*of));
	size_t *own;
	bool *has;
	double *rank;
	size_t i;

	gv_problem_ask(p, 1u << GV_NUMBER_ENTITY | 1u << GV_NUMBER_ENTITY_WEIGHT);
	for (i = 0; i < r->n_jobs; i++)
		if (row[i] != SIZE_MAX)
			of[i] =
			    gv_hash_add(&names, r->job[i].entity.s, r->job[i].entity.len);
	if (w != NULL && w->tree)
		add_ancestors(&names, w);
	rank = ranks(&names);
	has = gv_xcalloc(names.n, sizeof(*has));
	own = gv_xcalloc(names.n, sizeof(*own));
	for (i = 0; i < r->n_jobs; i++)
		if (row[i] != SIZE_MAX)
			has[(size_t)rank[of[i]]] = true;
	if (w != NULL && w->tree) {
		make_tree(t, w, &names, rank, has, own);
		p->tree = t;
	}
	for (i = 0; i < r->n_jobs; i++) {
		struct gv_cell name = r->job[i].entity;
		ptrdiff_t k = w == NULL ? -1 : gv_hash_find(&w->names, name.s, name.len);
		double entity;

		if (row[i] == SIZE_MAX)
			continue;
		entity = rank[of[i]];
		if (p->tree != NULL)
			entity = (double)own[(size_t)entity];
		p->number[GV_NUMBER_ENTITY][row[i]] = entity;
		p->number[GV_NUMBER_ENTITY_WEIGHT][row[i]] = k < 0 ? 1 : w->weight[k];
	}
	gv_hash_free(&names);
	free(own);
	free(has);
	free(rank);
	free(of);
}

void
gv_entities_named(struct gv_hash *names, const struct gv_entities *w,
    const struct gv_rates *r, const size_t *row)
{
	struct gv_hash seen = {0};
	size_t i;

	for (i = 0; i < r->n_jobs; i++)
		if (row[i] != SIZE_MAX)
			gv_hash_add(&seen, r->job[i].entity.s, r->job[i].entity.len);
	if (w != NULL && w->tree)
		add_ancestors(&seen, w);
	if (seen.n > 1)
		qsort(seen.key, seen.n, sizeof(*seen.key), by_name);
	for (i = 0; i < seen.n; i++)
		gv_hash_add(names, seen.key[i].s, seen.key[i].len);
	gv_hash_free(&seen);
}
