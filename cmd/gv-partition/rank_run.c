#include "rank_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/fileio.h"
#include "gv-partition/rank/rank_table.h"
#include "say.h"

static void
progress(size_t tried, size_t most)
{
	say_progress(tried, most, "plans at most");
}

/* Ends the program when no plan can be run. */
static void
rank(struct ranking *k, const struct options *o, const struct gv_layers *l,
    struct prefixes *x, const struct gv_fleet *fleet)
{
	bool flat = o->placed.n_levels > 0; /* of a machine with levels */
	struct rank_task task = {.s = &x->s,
	    .g = &l->g,
	    .m = flat ? &o->placed : &o->machine,
	    .fleet = fleet,
	    .flat = flat,
	    .o = &o->search,
	    .cut = o->cut,
	    .progress = o->common.quiet ? NULL : progress};

	say_prefixes(x, o, l, o->prefixes, o->prefixes);
	ranking_make(k, &task);
	gv_progress(NULL);
	if (k->n > 0 && o->common.verbose > 0)
		gv_warn("schedule=%s plans=%zu tried=%zu",
		    gv_schedule_name[o->search.rules.schedule], k->n, k->tried);
	if (k->n > 0)
		return;
	if (fleet != NULL)
		say_no_types(FLEET_NONE);
	if (o->search.rules.schedule == GV_SCHEDULE_INTERLEAVED)
		say_no_chunks(o);
	say_no_plan(o, l, &x->s);
}

void
rank_plan(struct gv_plan *p, struct options *o, const struct gv_layers *l,
    struct prefixes *x, const struct gv_fleet *fleet)
{
	struct ranking k;
	struct ranked *r;

	rank(&k, o, l, x, fleet);
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

void
rank_list(
    const struct options *o, const struct gv_layers *l, const struct gv_fleet *fleet)
{
	struct gv_error e = {0};
	struct prefixes x = {0};
	struct ranking k;
	struct gv_out *out;

	rank(&k, o, l, &x, fleet);
	if (gv_out_open(&out, o->common.output, &e) != 0)
		gv_die_error(&e);
	ranking_write(&k, o->top, l, out, o->common.tsv);
	if (out != gv_stdout() && gv_out_close(out, &e) != 0)
		gv_die_error(&e);
	ranking_free(&k);
	prefixes_free(&x);
}
