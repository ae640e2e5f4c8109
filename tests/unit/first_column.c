/*
 * Tables whose first column is one that others lack: it is there as in any other place, in
 * rates, numbers of jobs, entities, GPUs that are available, answers, layers and plans.
 */
#include "tap.h"

#include "alloc/problem/entities.h"
#include "alloc/problem/problem.h"
#include "base/strbuf.h"
#include "plan/plan.h"
#include "plan/schedule.h"
#include "policy/told.h"
#include "sched/asking/available.h"
#include "sched/events.h"
#include "sched/rates.h"
#include "scratch.h"

static struct gv_gpu_type type[1] = {{.name = "a", .gpus = 3}};
static const struct gv_cluster cluster = {.n_types = 1, .type = type};

static struct gv_frame
frame(const char *text)
{
	struct gv_error e = {0};
	struct gv_frame f;

	if (gv_frame_parse(&f, "t", text, strlen(text), &e) != 0)
		gv_die_error(&e);
	return f;
}

static struct gv_rates
rates(const char *text)
{
	struct gv_frame f = frame(text);
	struct gv_error e = {0};
	struct gv_rates r;

	if (gv_rates_from(&r, &f, &cluster, &e) != 0)
		gv_die_error(&e);
	return r;
}

/* All that is said, a line each. */
static void
says(struct gv_error *e, const char *want)
{
	struct gv_strbuf all = {0};
	size_t i;

	gv_strbuf_str(&all, "");
	for (i = 0; i < e->count; i++)
		gv_strbuf_fmt(&all, "%s%s", i > 0 ? "\n" : "", e->text[i]);
	is_str(all.s, want, "what is said");
	gv_strbuf_free(&all);
	gv_error_clear(e);
}

/* ---- rates ---- */

static void
refused_rates(const char *text, const char *want)
{
	struct gv_frame f = frame(text);
	struct gv_error e = {0};
	struct gv_rates r;

	is_int(gv_rates_from(&r, &f, &cluster, &e), -1, "no such rates");
	says(&e, want);
}

static void
test_rates(void)
{
	struct gv_rates r = rates("share,job_id,gpu_type,steps_per_s\n0.5,x,a,1\n");

	ok(r.has_share && r.rate[0].share == .5, "shares");
	gv_rates_free(&r);
	r = rates("job_id,share,gpu_type,steps_per_s\nx,0.5,a,1\n");
	ok(r.has_share && r.rate[0].share == .5, "in the second column");
	gv_rates_free(&r);
	r = rates("job_id,gpu_type,steps_per_s\nx,a,1\n");
	ok(!r.has_share && r.rate[0].share == 0, "none");
	gv_rates_free(&r);
	r = rates("with_job_id,job_id,gpu_type,steps_per_s,with_steps_per_s\n"
		  ",x,a,1,\n,y,a,1,\ny,x,a,1,2\n");
	ok(r.rate[2].with == 1 && r.rate[2].with_steps_per_s == 2, "others");
	ok(r.rate[0].with == -1 && r.rate[1].with == -1, "and alone");
	gv_rates_free(&r);
	refused_rates("with_job_id,job_id,gpu_type,steps_per_s\n",
	    "t:1: missing column \"with_steps_per_s\" (found: with_job_id, job_id, "
	    "gpu_type, steps_per_s)");
	refused_rates("with_steps_per_s,job_id,gpu_type,steps_per_s,with_job_id\n"
		      "2,x,a,1,z\n",
	    "t:2: with_job_id: expected another job of the table, got \"z\"");
	refused_rates("scale_factor,job_id,gpu_type,steps_per_s\n1,x,a,1\n2,x,b,1\n",
	    "t:3: scale_factor: expected \"1\" as at line 2, got \"2\"");
	refused_rates("node,job_id,gpu_type,steps_per_s\nm,x,a,1\nn,x,b,1\n",
	    "t:3: node: expected \"m\" as at line 2, got \"n\"");
}

static void
test_available(void)
{
	struct gv_rates r =
	    rates("gpus_available,job_id,gpu_type,steps_per_s\n2,x,a,1\n");
	struct gv_error e = {0};
	struct gv_cluster now;

	is_int(gv_rates_available(&r, &cluster, &now, &e), 0, "GPUs that are there");
	is_int(now.type[0].gpus, 2, "so many");
	is_int(now.type[0].away, 1, "the others are away");
	free(now.type);
	gv_rates_free(&r);
}

/* ---- numbers of jobs ---- */

static void
numbers(const char *text, unsigned asked, const char *want)
{
	static const size_t row[2] = {0, 1};
	struct gv_rates r = rates(text);
	struct gv_error e = {0};
	struct gv_problem p;
	size_t i;

	gv_problem_alloc(&p, 2, 1);
	for (i = 0; i < 2; i++)
		p.rate[i] = p.scale[i] = p.count[i] = 1;
	is_int(gv_problem_numbers(&p, &r, asked, row, &e), *want == '\0' ? 0 : -1,
	    "numbers");
	says(&e, want);
	gv_problem_free(&p);
	gv_rates_free(&r);
}

static void
test_numbers(void)
{
	static const char want[] = "t:3: %s: expected a number, got \"\"";
	static const char *const name[] = {"steps_remaining", "total_steps"};
	char text[200], said[100];
	size_t i;

	for (i = 0; i < 2; i++) {
		snprintf(text, sizeof(text),
		    "%s,job_id,gpu_type,steps_per_s\n5,x,a,1\n7,y,a,1\n", name[i]);
		numbers(text, 1u << GV_NUMBER_STEPS, "");
		snprintf(text, sizeof(text),
		    "%s,job_id,gpu_type,steps_per_s\n5,x,a,1\n,y,a,1\n", name[i]);
		snprintf(said, sizeof(said), want, name[i]);
		numbers(text, 1u << GV_NUMBER_STEPS, said);
		snprintf(text, sizeof(text),
		    "%s,job_id,gpu_type,steps_per_s,deadline_s\n,x,a,1,\n,y,a,1,9\n",
		    name[i]);
		numbers(text, GV_NEEDS, said);
	}
	numbers("job_id,gpu_type,steps_per_s\nx,a,1\ny,a,1\n", 1u << GV_NUMBER_STEPS,
	    "t:1: missing column \"total_steps\" (found: job_id, gpu_type, steps_per_s)");
	numbers("job_id,gpu_type,steps_per_s,slo_factor\nx,a,1,\ny,a,1,2\n", GV_NEEDS,
	    "t:1: missing column \"total_steps\" (found: job_id, gpu_type, steps_per_s, "
	    "slo_factor)");
}

static void
test_entities(void)
{
	struct gv_frame f = frame("quota_gpus,parent,entity,weight\n2,,E,1\n1,E,g,3\n");
	struct gv_rates r =
	    rates("entity,job_id,gpu_type,steps_per_s\ne,x,a,1\ng,y,a,1\n");
	struct gv_error e = {0};
	struct gv_entities w;

	is_int(gv_entities_from(&w, &f, &e), 0, "entities");
	ok(w.tree && w.quota[0] == 2 && w.quota[1] == 1 && w.parent[1] == 0,
	    "their quotas and parents");
	gv_entities_slips(&w, &r, &e);
	says(&e, "t:2: entity: t has no \"e\"; is \"E\" meant?");
	gv_entities_free(&w);
	gv_rates_free(&r);
}

/* ---- answers and events ---- */

static void
test_told(void)
{
	struct gv_frame f = frame("reads,job_id\nelapsed_s;steps_remaining,x\n");
	struct gv_told t = {0};

	gv_told_hear(&t, &f);
	ok(t.follows && t.reads[0] && t.reads[1] && !t.reads[2], "what it reads");
	gv_frame_free(&f);
	f = frame("with_job_id,reads\n,elapsed_s\n");
	gv_told_hear(&t, &f);
	ok(!t.follows, "who shares GPUs is not told changes");
	gv_frame_free(&f);
}

static struct gv_tab *
tab(const char *text)
{
	struct gv_error e = {0};
	struct gv_tab *t;

	scratch_file("t", text, strlen(text));
	if (gv_tab_open(&t, "t", &e) != 0 || gv_tab_table(t, &e) != 1)
		gv_die_error(&e);
	return t;
}

static void
test_events(void)
{
	struct gv_error e = {0};
	struct gv_events_in in;
	struct gv_event ev;

	is_int(
	    gv_events_on(&in, tab("event,job_id,time_s\narrive,x,7\n"), &e), 0, "events");
	is_int(gv_events_next(&in, &ev, &e), 1, "one");
	ok(ev.time_s == 7 && (int)ev.kind == gv_event_kind((struct gv_cell){"arrive", 6}),
	    "when and what");
	is_int(gv_events_next(&in, &ev, &e), 0, "no more");
	gv_events_close(&in);
	ok(in.tab == NULL && in.column[0] == 0, "nothing is open");
}

static void
is_schedule(const char *header, bool want)
{
	struct gv_tab *t = tab(header);

	is_int(gv_schedule_is(t), want, "%.*s", (int)strcspn(header, "\n"), header);
	gv_tab_close(t);
}

/* ---- layers and plans ---- */

static void
test_layers(void)
{
	static const char *const header[] = {
	    "update_ms,kept_bytes", "kept_bytes,update_ms"};
	struct gv_layers l;
	struct gv_error e = {0};
	char text[300];
	size_t i;

	for (i = 0; i < 2; i++) {
		snprintf(text, sizeof(text),
		    "%s,node_id,forward_ms,backward_ms,activation_bytes,parameter_bytes\n"
		    "3000,3000,n0,1,2,5,8\n,,n1,1,2,5,8\n",
		    header[i]);
		scratch_file("t", text, strlen(text));
		is_int(gv_layers_read(&l, "t", NULL, &e), 0, "layers, %s", header[i]);
		says(&e, "");
		ok(l.g.layer[0].update_s == 3 && l.g.layer[0].kept == 3000,
		    "what is there counts");
		ok(l.g.layer[1].update_s == 0 && l.g.layer[1].kept == 5,
		    "what is not is 0, and what is sent");
		gv_layers_free(&l);
		ok(l.row == NULL && l.rows.n_rows == 0, "and is gone");
	}
}

static void
test_plan_rows(void)
{
	struct gv_frame f = frame("replicas,stage\n3,1\n2,0\n");
	struct gv_plan_columns c = gv_plan_columns(&f);
	struct gv_error e = {0};
	struct gv_plan_row r;

	is_int(gv_plan_row(&r, &f, &c, 0, 2, &e), 0, "a row of a plan");
	ok(r.stage == 1 && r.replicas == 3 && !r.recompute, "stage and replicas");
	is_int(gv_plan_row(&r, &f, &c, 1, 2, &e), 0, "another one");
	ok(r.stage == 0 && r.replicas == 2, "and its");
	gv_frame_free(&f);
	f = frame("stage,recompute\n1,full\n");
	c = gv_plan_columns(&f);
	is_int(gv_plan_row(&r, &f, &c, 0, 2, &e), 0, "without replicas");
	ok(r.stage == 1 && r.replicas == 1 && r.recompute, "there is one");
	is_int(gv_plan_row(&r, &f, &c, 0, 1, &e), -1, "a stage that there is not");
	says(&e, "t:2: stage: expected a whole number from 0 to 0, got \"1\"");
	gv_frame_free(&f);
}

int
main(void)
{
	static const char *const made[] = {"t", NULL};

	scratch_enter();
	test_rates();
	test_available();
	test_numbers();
	test_entities();
	test_told();
	test_events();
	is_schedule("op,stage\nF,0\n", true);
	is_schedule("stage,op\n0,F\n", true);
	is_schedule("stage,step\n0,0\n", false);
	is_schedule("op,step\nF,0\n", false);
	is_schedule("event,op,stage\nx,F,0\n", false);
	is_schedule("op,event,stage\nF,x,0\n", false);
	is_schedule("op,stage,event\nF,0,x\n", false);
	test_layers();
	test_plan_rows();
	scratch_leave(made);
	return done_testing();
}
