/*
 * gv-partition - where to cut a model for pipeline and data parallel training.
 *
 * Reads a table of layers (time and bytes of each) and of edges between them,
 * and a description of the machine; finds the plan whose slowest stage is
 * fastest; writes the layers with the stage of each.
 */
#include "base/err.h"
#include "base/fileio.h"
#include "explain.h"
#include "layers.h"
#include "options.h"
#include "prefixes.h"
#include "ptd_run.h"
#include "say.h"

static void
make_plan(
    struct plan *p, const struct options *o, const struct layers *l, struct prefixes *x)
{
	prefixes_make(x, &l->g, o->cut, o->prefixes);
	if (x->n_groups < l->g.n && !o->common.quiet)
		gv_warn(
		    "warning: more than %zu prefixes: %zu layers planned as %zu groups",
		    o->prefixes, l->g.n, x->n_groups);
	if (plan_search(p, &x->s, l->g.n, &o->machine, &o->search) != SEARCH_FOUND)
		say_no_plan(o, l, &x->s);
}

static void
write_plan(const struct options *o, const struct layers *l, const struct plan *p,
    const struct plan_report *r, struct gv_out *out)
{
	switch (o->output) {
	case OUTPUT_PLAN:
		layers_write(l, p, &o->machine, out, o->common.tsv);
		break;
	case OUTPUT_STAGES:
		explain_write(r, p, l, &o->search.rules, out, o->common.tsv);
		break;
	}
}

/* Layers, cut as PipeDream does; the exit status. */
static int
plan_layers(struct options *o)
{
	struct gv_error e = {0};
	struct layers l = {0};
	struct prefixes x = {0};
	struct plan p = {0};
	struct plan_report r = {0};
	struct gv_out *out;
	bool flat = false, good;

	if (layers_read(&l, o->input, o->edges, &e) != 0)
		gv_die_error(&e);
	if (!o->evaluate)
		make_plan(&p, o, &l, &x);
	else if (layers_plan(&p, &l, &o->machine, &flat, &e) != 0)
		gv_die_error(&e);
	if (flat)
		machine_flatten(&o->machine);
	if (plan_evaluate(&r, &p, &l.g, &o->machine, &o->search.rules, o->cut, &e) != 0 ||
	    gv_out_open(&out, o->common.output, &e) != 0)
		gv_die_error(&e);
	if (o->common.verbose > 0)
		say_times(o, &r, &p, &x);
	write_plan(o, &l, &p, &r, out);
	if (out != gv_stdout() && gv_out_close(out, &e) != 0)
		gv_die_error(&e);
	good = say_fits(o, &r);
	plan_report_free(&r);
	plan_free(&p);
	prefixes_free(&x);
	layers_free(&l);
	return good ? GV_EXIT_OK : GV_EXIT_NO;
}

int
main(int argc, char **argv)
{
	struct options o;
	int status;

	gv_init("gv-partition");
	options_parse(&o, argc, argv);
	status = o.planner == PLANNER_PTD_P ? ptd_run(&o) : plan_layers(&o);
	return gv_finish() != 0 ? GV_EXIT_TROUBLE : status;
}
