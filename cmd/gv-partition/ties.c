#include "ties.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "gv-partition/graph/units.h"

static const char *
name_of(const struct gv_layers *l, size_t layer, char quote[GV_QUOTE_LEN])
{
	struct gv_cell id =
	    gv_frame_cell(&l->rows, l->row[layer], gv_frame_find(&l->rows, "node_id"));

	return gv_quote(quote, id.s, id.len);
}

/* One line for each unit that has layers without ties. */
static void
say_units(const struct gv_layers *l)
{
	const struct gv_graph *g = &l->g;
	bool *tied = gv_xcalloc(g->n, sizeof(*tied));
	size_t *between, i;
	char q[2][GV_QUOTE_LEN];
	struct units u;

	units_open(&u, g);
	between = gv_xcalloc(u.g.n, sizeof(*between));
	for (i = 0; i < g->n_ties; i++)
		tied[g->tie[i].src] = tied[g->tie[i].dst] = true;
	for (i = 0; i < g->n; i++)
		between[u.of[i]] += !tied[i];
	for (i = 0; i < g->n_ties; i++) {
		struct gv_graph_edge t = g->tie[i];
		size_t *n = &between[u.of[t.src]];

		if (*n > 0)
			gv_warn("layer %s has the weights of %s: they are in one stage, "
				"with %zu layer%s between; a schedule that flushes, or "
				"--ties=apart, can part them",
			    name_of(l, t.dst, q[0]), name_of(l, t.src, q[1]), *n,
			    *n == 1 ? "" : "s");
		*n = 0;
	}
	units_close(&u);
	free(between);
	free(tied);
}

void
take_ties(const struct options *o, struct gv_layers *l)
{
	if (o->evaluate)
		return;
	if (!o->together)
		l->g.n_ties = 0;
	if (!o->common.quiet &&
	    gv_machine_component(&o->machine, o->machine.n_levels) > 1)
		say_units(l);
}

/* The stage of a row of the table of layers; data is loaded in the first. */
static size_t
stage_of(const struct gv_layers *l, const struct gv_plan *p, size_t row)
{
	return l->layer[row] >= 0 ? p->of[l->layer[row]] : 0;
}

void
say_split_ties(
    const struct options *o, const struct gv_layers *l, const struct gv_plan *p)
{
	ptrdiff_t tied = gv_frame_find(&l->rows, "tied_with");
	ptrdiff_t id = gv_frame_find(&l->rows, "node_id");
	enum gv_schedule_kind k = o->search.rules.schedule;
	struct gv_hash ids = {0};
	char q[2][GV_QUOTE_LEN];
	size_t i;

	if (tied < 0 || o->common.quiet ||
	    (k != GV_SCHEDULE_1F1B && k != GV_SCHEDULE_2BW))
		return;
	for (i = 0; i < l->rows.n_rows; i++) {
		struct gv_cell name = gv_frame_cell(&l->rows, i, id);

		gv_hash_add(&ids, name.s, name.len);
	}
	for (i = 0; i < l->rows.n_rows; i++) {
		struct gv_cell name = gv_frame_cell(&l->rows, i, id);
		struct gv_cell with = gv_frame_cell(&l->rows, i, tied);
		ptrdiff_t row = gv_hash_find(&ids, with.s, with.len);

		if (with.len == 0 || stage_of(l, p, i) == stage_of(l, p, (size_t)row))
			continue;
		gv_warn("warning: layer %s has the weights of %s, and is in another "
			"stage: under %s their copies go apart; schedules that "
			"flush keep them the same",
		    gv_quote(q[0], name.s, name.len), gv_quote(q[1], with.s, with.len),
		    gv_schedule_name[k]);
	}
	gv_hash_free(&ids);
}
