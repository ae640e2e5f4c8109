/*
 * gv-sim: what gv-run would do with these jobs on these GPUs, on a virtual clock.
 *
 * Reads jobs (with throughputs, or as rates), lets them live through the same life
 * cycle and the same rounds as gv-run, asks the policy when jobs come and go, and
 * writes events, the jobs with what became of them, and a summary.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "asking/asker.h"
#include "base/clock.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "key.h"
#include "options.h"
#include "results.h"
#include "sched/life/events.h"
#include "tables.h"

static const double progress_s = .1; /* from one line to the next */

/* One simulation, and who hears of it. */
struct run {
	const struct options *o;
	struct sim sim;
	struct asker asker;
	struct gv_life_names names;
	struct gv_out *out; /* for the events; NULL = nobody wants them */
	struct gv_tabw w;
	bool pairs;
	struct gv_strbuf gpus;
	unsigned calls;
	double said_s;
};

static int
ask(void *ctx, struct sim *s, struct gv_error *e)
{
	struct run *r = ctx;

	return asker_ask(&r->asker, s, e);
}

static void
write_row(void *ctx, const struct sim *s, const struct gv_life_row *row)
{
	struct run *r = ctx;
	struct gv_event ev;

	gv_life_event(&r->names, &s->life, row, &r->gpus, &ev);
	if (r->pairs)
		gv_events_write_with(&r->w, &ev);
	else
		gv_events_write(&r->w, &ev);
}

static void
say_progress(void *ctx, const struct sim *s)
{
	struct run *r = ctx;
	const size_t *n = s->life.n;

	if (++r->calls % 64 != 0 || gv_clock_s() < r->said_s + progress_s)
		return;
	r->said_s = gv_clock_s();
	gv_progress("%.1f days: %zu running, %zu waiting, %zu to come, %zu of %zu done",
	    s->life.now_s / 86400, s->life.n_open, n[GV_LIFE_WAITING], n[GV_LIFE_LATER],
	    n[GV_LIFE_FINISHED] + n[GV_LIFE_DROPPED], s->life.n_jobs);
}

static bool
has_pairs(const struct gv_rates *r)
{
	size_t i;

	for (i = 0; i < r->n_rates; i++)
		if (r->rate[i].with >= 0)
			return true;
	return false;
}

static void
begin(struct run *r, const struct options *o, const struct tables *t, const char *policy,
    struct gv_out *out)
{
	struct gv_error e = {0};

	*r = (struct run){.o = o, .out = out};
	if (asker_open(&r->asker, policy, o->cluster, o->timeout_s, &e) != 0)
		gv_die_error(&e);
	sim_init(&r->sim, &o->sim, &t->cluster, &t->rates);
	asker_begin(&r->asker, &r->sim);
	r->sim.change = t->change;
	r->sim.n_changes = t->n_changes;
	if (t->offers.n > 0)
		sim_offers(&r->sim, t->offers.of_pool, t->offers.n);
	r->sim.price = t->offers.price;
	r->sim.n_prices = t->offers.n_prices;
	r->sim.bid = t->offers.bid;
	r->sim.ctx = r;
	r->sim.ask = policy != NULL ? ask : NULL;
	r->sim.progress = o->common.quiet ? NULL : say_progress;
	if (out == NULL)
		return;
	gv_life_names_init(&r->names, &t->cluster, t->rates.job, t->rates.n_jobs);
	r->sim.row = write_row;
	r->pairs = policy != NULL || has_pairs(&t->rates);
	gv_tabw_init(&r->w, out, o->common.tsv);
	if (r->pairs)
		gv_events_write_header_with(&r->w);
	else
		gv_events_write_header(&r->w);
}

/* What the policy answers is kept, and what it has answered is taken. */
static void
keep_answers(struct run *r, const struct tables *t)
{
	char key[JOURNAL_KEY_LEN + 1];
	struct gv_error e = {0};

	if (r->o->state == NULL)
		return;
	key_of(t, r->o, key);
	if (journal_open(&r->asker.journal, r->o->state, key, &e) != 0)
		gv_die_error(&e);
}

static void
play(struct run *r)
{
	struct gv_error e = {0};

	if (sim_run(&r->sim, &e) == SIM_FAILED || sim_check(&r->sim, &e) != 0) {
		gv_progress(NULL);
		gv_warn("after %.15g s of the simulation:", r->sim.life.now_s);
		gv_die_error(&e);
	}
	gv_progress(NULL);
}

static void
end(struct run *r)
{
	asker_end(&r->asker);
	asker_close(&r->asker);
	sim_free(&r->sim);
	gv_life_names_free(&r->names);
	gv_strbuf_free(&r->gpus);
}

/* Where a table goes; NULL = nowhere. */
static struct gv_out *
open_table(const struct options *o, const char *path)
{
	struct gv_error e = {0};
	struct gv_out *out = NULL;

	if (path != NULL && strcmp(path, "-") == 0)
		path = o->common.output != NULL ? o->common.output : "-";
	if (path != NULL && gv_out_open(&out, path, &e) != 0)
		gv_die_error(&e);
	return out;
}

static void
close_table(struct gv_out *out)
{
	struct gv_error e = {0};

	if (out != NULL && out != gv_stdout() && gv_out_close(out, &e) != 0)
		gv_die_error(&e);
}

/* The first few jobs that were dropped, or else that are there, by name. */
static void
add_names(struct gv_strbuf *text, const struct sim *s, bool dropped)
{
	enum { NAMED = 3 };
	char q[GV_QUOTE_LEN];
	size_t m, n = 0;

	for (m = 0; m < s->life.n_jobs && n <= NAMED; m++) {
		struct gv_cell id = s->table->job[m].id;
		bool is = dropped ? s->life.job[m].state == GV_LIFE_DROPPED
				  : s->life.rounds.job[m].active;

		if (is && n++ < NAMED)
			gv_strbuf_fmt(
			    text, "%s%s", n > 1 ? ", " : "", gv_quote(q, id.s, id.len));
	}
	if (n > NAMED)
		gv_strbuf_str(text, ", ...");
}

/* How it ended: the exit status. */
static int
say_end(const struct run *r)
{
	const struct sim *s = &r->sim;
	size_t dropped = s->life.n[GV_LIFE_DROPPED];
	struct gv_strbuf names = {0};

	add_names(&names, s, s->end != SIM_STUCK);
	if (s->end == SIM_SATURATED)
		gv_warn("saturated: after %.15g s %zu jobs wait, more than "
			"--most-waiting=%zu",
		    s->waited_s, s->most_waited, s->o->most_waiting);
	else if (s->end == SIM_STUCK)
		gv_warn("after %.15g s: jobs wait for ever, without a promise or without "
			"GPUs: %zu (%s)",
		    s->life.now_s, s->life.n_active, names.s);
	else if (s->end == SIM_UNTIL)
		gv_warn("--until: %zu of the measured jobs are not done", s->left);
	else if (dropped > 0 && !r->o->common.quiet)
		gv_warn("warning: %zu job%s could never run%s, of %zu: %s", dropped,
		    dropped == 1 ? "" : "s",
		    s->job_failures > 0 ? " or failed too often" : "", s->life.n_jobs,
		    names.s);
	else if (r->o->common.verbose > 0)
		gv_warn("jobs: %zu, rounds: %lld, questions to the policy: %zu, at the "
			"end: %.15g s",
		    s->life.n_jobs, (long long)s->life.round + 1, s->questions,
		    s->life.now_s);
	gv_strbuf_free(&names);
	return s->end != SIM_DONE || dropped > 0 ? GV_EXIT_NO : GV_EXIT_OK;
}

int
main(int argc, char **argv)
{
	struct options o;
	struct tables t = {0};
	struct gv_error slips = {0};
	struct gv_error e = {0};
	struct gv_out *events;
	struct gv_out *jobs;
	struct gv_out *summary;
	struct run run;
	struct run isolated;
	struct gv_tabw w;
	int status;

	gv_init("gv-sim");
	options_parse(&o, argc, argv);
	if (tables_read(&t, &o, &slips, &e) != 0)
		gv_die_error(&e);
	if (!o.common.quiet)
		gv_warn_each(&slips);
	events = open_table(&o, o.events);
	jobs = open_table(&o, o.jobs);
	summary = open_table(&o, o.summary);
	begin(&run, &o, &t, o.policy, events);
	keep_answers(&run, &t);
	play(&run);
	if (o.isolated) {
		begin(&isolated, &o, &t, "gv-alloc -p isolated", NULL);
		play(&isolated);
	}
	if (jobs != NULL) {
		gv_tabw_init(&w, jobs, o.common.tsv);
		results_jobs(&t, &run.sim, o.isolated ? &isolated.sim : NULL, &w);
	}
	if (summary != NULL) {
		gv_tabw_init(&w, summary, o.common.tsv);
		results_summary(&run.sim, o.isolated ? &isolated.sim : NULL, &w);
	}
	status = say_end(&run);
	close_table(events);
	close_table(jobs);
	close_table(summary);
	if (o.isolated)
		end(&isolated);
	end(&run);
	tables_free(&t);
	return gv_finish() != 0 ? GV_EXIT_TROUBLE : status;
}
