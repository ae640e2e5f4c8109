#include "rank_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/fileio.h"
#include "rank_table.h"
#include "say.h"

static void
progress(size_t tried)
{
	gv_progress("%zu plans run", tried);
}

/* Ends the program when no plan can be run. */
static void
rank(struct ranking *k, const struct options *o, const struct layers *l,
    struct prefixes *x)
{
	bool flat = o->placed.n_levels > 0; /* of a machine with levels */

	prefixes_make(x, &l->g, o->cut, o->prefixes);
	if (x->n_groups < l->g.n && !o->common.quiet)
		gv_warn(
		    "warning: more than %zu prefixes: %zu layers planned as %zu groups",
		    o->prefixes, l->g.n, x->n_groups);
	ranking_make(k, &x->s, &l->g, flat ? &o->placed : &o->machine, flat, &o->search,
	    o->cut, o->common.quiet ? NULL : progress);
	gv_progress(NULL);
	if (k->n > 0 && o->common.verbose > 0)
		gv_warn("schedule=%s plans=%zu tried=%zu",
		    schedule_name[o->search.rules.schedule], k->n, k->tried);
	if (k->n > 0)
		return;
	if (o->search.rules.schedule == SCHEDULE_INTERLEAVED)
		say_no_chunks(o);
	say_no_plan(o, l, &x->s);
}

void
rank_plan(struct plan *p, struct options *o, const struct layers *l, struct prefixes *x)
{
	struct ranking k;
	struct ranked *r;

	rank(&k, o, l, x);
	if (o->rank > k.n) {
		gv_warn("no plan of rank %zu: %zu were found", o->rank, k.n);
		exit(gv_finish() == GV_EXIT_OK ? GV_EXIT_NO : GV_EXIT_TROUBLE);
	}
	r = &k.row[o->rank - 1];
	*p = r->plan;
	memset(&r->plan, 0, sizeof(r->plan));
	if (r->placed && !o->flat)
		o->placed = o->machine;
	o->machine = r->machine;
	ranking_free(&k);
}

int
rank_list(const struct options *o)
{
	struct gv_error e = {0};
	struct layers l = {0};
	struct prefixes x = {0};
	struct ranking k;
	struct gv_out *out;

	if (layers_read(&l, o->input, o->edges, &e) != 0)
		gv_die_error(&e);
	rank(&k, o, &l, &x);
	if (gv_out_open(&out, o->common.output, &e) != 0)
		gv_die_error(&e);
	ranking_write(&k, o->top, &l, out, o->common.tsv);
	if (out != gv_stdout() && gv_out_close(out, &e) != 0)
		gv_die_error(&e);
	ranking_free(&k);
	prefixes_free(&x);
	layers_free(&l);
	return GV_EXIT_OK;
}
