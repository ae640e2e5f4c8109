/* What can be read and was probably meant otherwise, in a table of jobs or rates. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/near.h"
#include "sched/rates.h"

/* Distinct texts by their folded form (base/near.h): the first of each form is kept. */
struct forms {
	struct gv_hash hash;
	struct gv_arena arena;
	struct gv_cell *first; /* [hash.n] */
	size_t *row;           /* [hash.n] of the frame */
	size_t cap_first, cap_row;
};

/* The number of a text's form; it is added when it is new. */
static size_t
form_of(struct forms *s, struct gv_cell text, size_t row)
{
	size_t known = s->hash.n, i;
	char *folded = gv_arena_alloc(&s->arena, text.len + 1, 1);

	i = gv_hash_add(&s->hash, folded, gv_fold(text.s, text.len, folded));
	if (i == known) {
		s->first = gv_xgrow(s->first, &s->cap_first, i + 1, sizeof(*s->first));
		s->row = gv_xgrow(s->row, &s->cap_row, i + 1, sizeof(*s->row));
		s->first[i] = text;
		s->row[i] = row;
	}
	return i;
}

static void
forms_free(struct forms *s)
{
	gv_hash_free(&s->hash);
	gv_arena_free(&s->arena);
	free(s->first);
	free(s->row);
}

static void
entities_alike(const struct gv_rates *r, struct gv_error *w)
{
	ptrdiff_t column = gv_frame_find(&r->frame, "entity");
	struct gv_cell last = {"", 0};
	struct gv_hash said = {0};
	struct forms s = {0};
	char q[2][GV_QUOTE_LEN];
	size_t i, known;

	for (i = 0; column >= 0 && i < r->n_jobs; i++) {
		const struct gv_job *j = &r->job[i];
		size_t form;

		if (j->entity.len == 0 || gv_cell_equal(j->entity, last))
			continue;
		last = j->entity;
		form = form_of(&s, j->entity, j->row);
		known = said.n;
		if (gv_cell_equal(s.first[form], j->entity) ||
		    gv_hash_add(&said, j->entity.s, j->entity.len) < known)
			continue;
		gv_frame_error(&r->frame, j->row, column, w,
		    "%s is another entity than %s at line %ld",
		    gv_quote(q[0], j->entity.s, j->entity.len),
		    gv_quote(q[1], s.first[form].s, s.first[form].len),
		    r->frame.line[s.row[form]]);
	}
	gv_hash_free(&said);
	forms_free(&s);
}

/* Types that the cluster does not have under this name, but under one like it. */
static void
types_alike(
    const struct gv_rates *r, const struct gv_cluster *cluster, struct gv_error *w)
{
	ptrdiff_t column = gv_frame_find(&r->frame, "gpu_type");
	struct gv_hash said = {0};
	struct forms s = {0};
	char q[GV_QUOTE_LEN];
	size_t i, known, there;

	for (i = 0; i < cluster->n_types; i++)
		form_of(&s,
		    (struct gv_cell){
			cluster->type[i].name, strlen(cluster->type[i].name)},
		    i);
	there = s.hash.n;
	for (i = 0; i < r->n_rates; i++) {
		struct gv_cell name;
		size_t form;

		if (r->rate[i].type >= 0)
			continue;
		name = gv_frame_cell(&r->frame, i, column);
		known = said.n;
		if (gv_hash_add(&said, name.s, name.len) < known ||
		    gv_cluster_find(cluster, name) >= 0)
			continue;
		form = form_of(&s, name, i);
		if (form < there)
			gv_frame_error(&r->frame, i, column, w,
			    "the cluster has no %s; is \"%.*s\" meant?",
			    gv_quote(q, name.s, name.len), (int)s.first[form].len,
			    s.first[form].s);
	}
	gv_hash_free(&said);
	forms_free(&s);
}

void
gv_rates_slips(
    const struct gv_rates *r, const struct gv_cluster *cluster, struct gv_error *w)
{
	const char *known[GV_RATES_COLUMNS];

	gv_frame_warn_names(&r->frame, known, gv_rates_columns(known), w);
	entities_alike(r, w);
	if (cluster != NULL && r->n_rates > 0)
		types_alike(r, cluster, w);
}

enum { LIST = 120 };

/* One name more behind a list; false when there is no room for it. */
static bool
list_name(char list[LIST], struct gv_cell name)
{
	size_t len = strlen(list);

	/* behind it there is room for the sign that there are more */
	if (len + strlen(", ") + name.len + sizeof(", ...") > LIST) {
		strcpy(list + len, len > 0 ? ", ..." : "...");
		return false;
	}
	snprintf(list + len, LIST - len, "%s%s", len > 0 ? ", " : "", name.s);
	return true;
}

int
gv_rates_check_types(
    const struct gv_rates *r, const struct gv_cluster *cluster, struct gv_error *e)
{
	ptrdiff_t column = gv_frame_find(&r->frame, "gpu_type");
	char named[LIST] = "", there[LIST] = "";
	struct gv_hash seen = {0};
	size_t i, known;

	for (i = 0; i < r->n_rates; i++)
		if (r->rate[i].type >= 0)
			return 0;
	if (r->n_rates == 0)
		return 0;
	for (i = 0; i < r->n_rates; i++) {
		struct gv_cell name = gv_frame_cell(&r->frame, r->rate[i].row, column);

		known = seen.n;
		if (gv_hash_add(&seen, name.s, name.len) == known &&
		    !list_name(named, name))
			break;
	}
	for (i = 0; i < cluster->n_types; i++)
		if (!list_name(there, (struct gv_cell){cluster->type[i].name,
					  strlen(cluster->type[i].name)}))
			break;
	gv_hash_free(&seen);
	return gv_error_at(e, r->frame.file, 0, NULL,
	    "no GPU type of it is in the cluster: it has %s; the cluster has %s", named,
	    there);
}
