/*
 * gv-partition - where to cut a model for pipeline and data parallel training.
 *
 * Reads a table of layers (time and bytes of each) and of edges between them,
 * and a description of the machine; finds the plan whose slowest stage is
 * fastest; writes the layers with the stage of each.
 */
#include "base/err.h"
#include "base/fileio.h"
#include "compare.h"
#include "explain.h"
#include "gv-partition/export/export.h"
#include "plan/layers.h"
#include "layers_run.h"
#include "options.h"
#include "gv-partition/graph/prefixes.h"
#include "ptd_run.h"
#include "rank_run.h"
#include "say.h"
#include "ties.h"
#include "gv-partition/schedule/pipe.h"
#include "plan/schedule.h"
#include "plan/simulate.h"
#include "plan/timetable.h"
#include "two_bw_run.h"

/* Reads the types of GPUs; where there is one, planning goes on as without types. */
static void
read_fleet(struct fleet_tables *t, struct options *o, struct gv_layers *l)
{
	struct gv_error e = {0};

	if (o->cluster == NULL)
		return;
	if (fleet_read(t, o->cluster, &o->times, o->search.rules.memory, &o->machine, l,
		&e) != 0)
		gv_die_error(&e);
	o->machine = fleet_machine(&t->fleet);
	if (t->fleet.n > 1 && o->search.use == USE_ALL)
		gv_die("--all-gpus is for GPUs of one type, and the cluster has %zu",
		    t->fleet.n);
	if (t->fleet.n > 1)
		return;
	o->search.rules.memory = t->fleet.type[0].memory;
	fleet_apply(&l->g, NULL, &t->fleet);
}

/* Whether the plan, of so many GPUs, can run under its schedule, as far as is known yet. */
static int
check_plan(
    const struct options *o, const struct gv_plan *p, size_t gpus, struct gv_error *e)
{
	const struct cost_rules *rules = &o->search.rules;
	size_t batch = rules->micro_batches, i, replicas;

	if (batch > 0 && gv_timetable_check_batch(rules->schedule, batch, gpus, e) != 0)
		return -1;
	i = plan_too_wide(p, o->machine.n_levels, stage_replicas_most(rules), &replicas);
	return i == p->n ? 0
			 : gv_error_set(e,
			       "stage %zu has replicas=%zu, which need as many "
			       "micro-batches; got %zu%s",
			       i, replicas, batch,
			       o->machine.n_levels > 1 && !o->evaluate
				   ? "; --flat looks for a plan of no more"
				   : "");
}

/* Runs the plan, writes what each GPU does when. */
static int
write_timeline(const struct options *o, const struct gv_layers *l,
    const struct gv_plan *p, const struct plan_report *r, struct gv_out *out,
    struct gv_error *e)
{
	struct gv_pipe pipe = {0};
	struct gv_timetable t = {0};
	struct gv_simulation s = {0};
	int rc;

	rc = pipe_make(&pipe, p, r, &l->g, &o->machine, &o->search.rules, e);
	if (rc == 0 && o->placed.n_levels > 0)
		pipe_place(&pipe, p, r, &l->g, &o->placed, &o->search.rules);
	if (rc == 0)
		rc = gv_simulation_run(&s, &t, &pipe, e);
	if (rc == 0 && o->common.verbose > 0)
		say_simulation(&s, &pipe);
	if (rc == 0)
		gv_schedule_write(&t, &pipe, out, o->common.tsv);
	gv_simulation_free(&s);
	gv_timetable_free(&t);
	gv_pipe_free(&pipe);
	return rc;
}

/* For the program that is to train by it. */
static int
write_export(const struct options *o, const struct gv_layers *l, const struct gv_plan *p,
    const struct plan_report *r, struct gv_out *out, struct gv_error *e)
{
	struct gv_pipe pipe = {0};
	struct export_plan x = {l, p, &o->machine, &pipe, NULL};
	int rc = pipe_make(&pipe, p, r, &l->g, &o->machine, &o->search.rules, e);

	if (rc == 0)
		rc = export_write(o->export, &x, out, e);
	gv_pipe_free(&pipe);
	return rc;
}

/* The plan is one pipeline over all GPUs of a machine with levels. */
static void
on_one_level(struct options *o)
{
	if (o->search.rules.schedule != GV_SCHEDULE_INTERLEAVED)
		o->placed = o->machine;
	gv_machine_flatten(&o->machine);
}

/* Beside the plan of --compare, on the machine that was given. */
static int
write_comparison(const struct options *o, const struct gv_machine *given,
    const struct gv_layers *l, const struct gv_plan *p, const struct plan_report *r,
    struct gv_out *out, struct gv_error *e)
{
	struct options other = *o;
	struct gv_layers b = {0};
	struct gv_plan q = {0};
	struct plan_report s = {0};
	struct gv_error why = {0};
	bool flat = false;
	int rc = compare_read(&b, l, o->compare, e);

	other.machine = *given;
	if (!o->flat)
		other.placed.n_levels = 0;
	if (rc == 0)
		rc = gv_plan_read(&q, &b, given, &flat, e);
	if (flat)
		on_one_level(&other);
	if (rc == 0 && layers_cost(&s, &other, l, &q, &why) != 0)
		rc = gv_error_at(e, o->compare, 0, NULL, "%s", why.text[0]);
	if (rc == 0) {
		const struct compared pair[2] = {{"old", &q, &s}, {"new", p, r}};

		compare_write(l, given, pair, &o->search.rules, out, o->common.tsv);
	}
	plan_report_free(&s);
	gv_plan_free(&q);
	compare_free(&b);
	return rc;
}

static int
write_plan(const struct options *o, const struct gv_machine *given,
    const struct gv_layers *l, const struct gv_plan *p, const struct plan_report *r,
    struct gv_out *out, struct gv_error *e)
{
	switch (o->output) {
	case OUTPUT_PLAN:
		gv_plan_write(l, p, &o->machine, out, o->common.tsv);
		break;
	case OUTPUT_STAGES:
		explain_write(r, p, l, &o->search.rules, out, o->common.tsv);
		break;
	case OUTPUT_TIMELINE:
		return write_timeline(o, l, p, r, out, e);
	case OUTPUT_EXPORT:
		return write_export(o, l, p, r, out, e);
	case OUTPUT_COMPARISON:
		return write_comparison(o, given, l, p, r, out, e);
	}
	return 0;
}

/* Layers, cut as PipeDream does; the exit status. */
static int
plan_layers(struct options *o)
{
	struct gv_error e = {0};
	struct gv_layers l = {0};
	struct prefixes x = {0};
	struct gv_plan p = {0};
	struct plan_report r = {0};
	struct fleet_tables fleet = {0};
	struct gv_machine given;
	struct gv_out *out;
	bool flat = false, good;

	if (gv_layers_read(&l, o->input, o->edges, &e) != 0)
		gv_die_error(&e);
	take_ties(o, &l);
	read_fleet(&fleet, o, &l);
	given = o->machine;
	if (o->listed) {
		rank_list(o, &l, fleet.fleet.n > 1 ? &fleet.fleet : NULL);
		gv_layers_free(&l);
		fleet_tables_free(&fleet);
		return GV_EXIT_OK;
	}
	if (o->planner == PLANNER_2BW)
		two_bw_plan(&p, o, &l, &x);
	else if (o->rank > 0)
		rank_plan(&p, o, &l, &x, fleet.fleet.n > 1 ? &fleet.fleet : NULL);
	else if (!o->evaluate)
		layers_run(&p, o, &l, &x, fleet.fleet.n > 1 ? &fleet.fleet : NULL);
	else if (gv_plan_read(&p, &l, &o->machine, &flat, &e) != 0 ||
		 (o->cluster != NULL && fleet_read_plan(&p, &fleet.fleet, &l, &e) != 0))
		gv_die_error(&e);
	gv_progress(NULL);
	if (flat)
		on_one_level(o);
	if (o->cluster != NULL) {
		p.fleet = &fleet.fleet;
		fleet_apply(&l.g, &p, &fleet.fleet);
	}
	if (layers_cost(&r, o, &l, &p, &e) != 0 || check_plan(o, &p, r.gpus, &e) != 0 ||
	    gv_out_open(&out, o->common.output, &e) != 0)
		gv_die_error(&e);
	if (o->common.verbose > 0 && o->planner != PLANNER_2BW)
		say_times(o, &r, &p, &x);
	if (write_plan(o, &given, &l, &p, &r, out, &e) != 0)
		gv_die_error(&e);
	if (out != gv_stdout() && gv_out_close(out, &e) != 0)
		gv_die_error(&e);
	say_split_ties(o, &l, &p);
	good = say_fits(o, &p, &r);
	plan_report_free(&r);
	gv_plan_free(&p);
	prefixes_free(&x);
	gv_layers_free(&l);
	fleet_tables_free(&fleet);
	return good ? GV_EXIT_OK : GV_EXIT_NO;
}

int
main(int argc, char **argv)
{
	struct options o;
	int status;

	gv_init("gv-partition");
	options_parse(&o, argc, argv);
	if (o.planner == PLANNER_PTD_P)
		status = ptd_run(&o);
	else if (o.planner == PLANNER_2BW && o.listed)
		status = two_bw_list(&o);
	else
		status = plan_layers(&o);
	return gv_finish() != 0 ? GV_EXIT_TROUBLE : status;
}
