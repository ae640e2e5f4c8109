/*
 * common/sched: clusters, jobs, rates and events of drawn tables, good and bad ones, what is
 * said of them, and what is made of several.
 */
#include "table_draws.h"

#include "sched/asking/available.h"
#include "sched/events.h"

static long good[4];

enum { TABLES = 3000, PER_ANSWER = 50, MOST_ROWS = 200 };

static const struct drawn_column job_columns[] = {{"job_id", NULL, 4, false},
    {"job_type", "a|b|c|", 2, true}, {"scale_factor", "1|1|2|4|", 2, true},
    {"entity", "x|y|X|x_|", 1, true}, {"node", "n1|n2", 1, true},
    {"command", "run|go", 1, true}, {"working_directory", "/d|", 1, true},
    {"priority_weight", "1|2|0.5|", 1, true}, {"total_steps", "10|1e6|0|", 2, true},
    {"arrival_s", "0|5|-1|", 1, true}, {"deadline_s", "7||100", 1, true},
    {"slo_factor", "1.2|", 1, true}, {"min_steps_per_s", "0|1|", 1, true},
    {"steps_remaining", "5|", 1, true}, {"elapsed_s", "0|9|", 1, true},
    {"isolated_elapsed_s", "0|3|", 1, true}, {"move_cost", "0|1|", 1, true},
    {"gpu_type", "v100|k80|V100|v100_unconsolidated|b", 4, false},
    {"steps_per_s", "1|2|0|3.5|2", 4, false}, {"share", "0|0.25|0.5|1|0", 3, false},
    {"with_job_id", "|", 1, false}, {"with_steps_per_s", "1|0|2", 2, false},
    {"gpus_available", "1|1|2||4", 1, false}, {NULL, NULL, 0, false}};

/* The columns of a table of jobs alone, mostly. */
static void
jobs_table(struct drawn_table *t, size_t n)
{
	static struct drawn_column column[DRAWN_COLUMNS];
	bool twice = below(2) == 0;
	size_t i;

	for (i = 0; i < 17; i++)
		column[i] = job_columns[i];
	for (; i < DRAWN_COLUMNS; i++)
		column[i] = (struct drawn_column){NULL, NULL, 0, false};
	drawn_table_begin(t, column);
	for (i = 0; i < n; i++)
		drawn_table_row(t, twice && below(20) == 0 ? below(n) : i, NULL, NULL);
}

/* Jobs on types, and two of them on one, in whichever order. */
static void
rates_table(struct drawn_table *t, size_t n)
{
	static const char *const type[] = {
	    "v100", "k80", "b", "v100_unconsolidated", "V100", "z"};
	size_t types = 1 + below(6), rows = 0, m, j;
	bool mixed = below(10) == 0, pairs = below(3) == 0;
	char with[24];

	drawn_table_begin(t, job_columns);
	for (m = 0; m < n; m++)
		for (j = 0; j < types && rows < MOST_ROWS; j++, rows++) {
			const char *on = type[mixed ? below(types) : j];

			drawn_table_row(t, mixed ? below(n) : m, on, "");
		}
	for (m = 0; pairs && n > 1 && m < n && below(4) > 0; m++) {
		snprintf(with, sizeof with, "j%zu", below(n));
		drawn_table_row(t, m, type[below(types)], with);
	}
}

/* ---- what is told ---- */

static void
recorded_jobs(struct recorded *r, const struct gv_rates *t)
{
	size_t i;

	recorded_whole(r, (long long)t->n_jobs);
	for (i = 0; i < t->n_jobs; i++) {
		const struct gv_job *j = &t->job[i];

		recorded_cell(r, j->id);
		recorded_cell(r, j->job_type);
		recorded_cell(r, j->entity);
		recorded_cell(r, j->node);
		recorded_cell(r, j->command);
		recorded_cell(r, j->working_directory);
		recorded_whole(r, j->scale_factor);
		recorded_double(r, j->priority_weight);
		recorded_double(r, j->total_steps);
		recorded_double(r, j->arrival_s);
		recorded_double(r, j->deadline_s);
		recorded_double(r, j->slo_factor);
		recorded_double(r, j->min_steps_per_s);
		recorded_double(r, j->steps_remaining);
		recorded_double(r, j->elapsed_s);
		recorded_double(r, j->isolated_elapsed_s);
		recorded_double(r, j->move_cost);
		recorded_whole(r, (long long)j->row);
	}
}

static void
recorded_rates(struct recorded *r, const struct gv_rates *t)
{
	size_t i;

	recorded_jobs(r, t);
	recorded_whole(r, t->has_share);
	for (i = 0; i < t->n_rates; i++) {
		const struct gv_rate *k = &t->rate[i];

		recorded_whole(r, (long long)k->row);
		recorded_whole(r, (long long)k->job);
		recorded_whole(r, k->type);
		recorded_double(r, k->steps_per_s);
		recorded_whole(r, k->with);
		recorded_double(r, k->with_steps_per_s);
		recorded_double(r, k->share);
	}
}

/* ---- clusters ---- */

static void
test_clusters(struct recorded *r)
{
	size_t i;

	for (i = 0; i < TABLES; i++) {
		struct gv_error e = {0};
		struct gv_cluster c;

		draws_begin(i, 61, 0);
		if (draw_table_cluster(&c, &e) != NULL) {
			good[0]++;
			recorded_cluster(r, &c);
			recorded_whole(r, gv_cluster_find(&c, draw_cell("v100|k80|v|")));
			recorded_whole(r, gv_cluster_join(&c, "t.csv", &e));
			recorded_cluster(r, &c);
			gv_cluster_free(&c);
		}
		recorded_error(r, &e);
		if (i % PER_ANSWER == PER_ANSWER - 1)
			recorded_answer(r, "clusters to %zu", i);
	}
}

/* ---- jobs, and how fast they are ---- */

static void
join_throughputs(struct recorded *r, const struct gv_rates *jobs)
{
	static const struct drawn_column column[] = {{"job_type", "a|b|c|d", 4, false},
	    {"scale_factor", "1|2|4|1", 4, false},
	    {"gpu_type", "v100|k80|b|V100", 4, false},
	    {"steps_per_s", "1|2|0|3.5", 4, false}, {NULL, NULL, 0, false}};
	size_t *missing = calloc(jobs->n_jobs + 1, sizeof *missing), n_missing, n, i;
	struct gv_error e = {0};
	struct gv_frame f, out;
	struct drawn_table t;

	drawn_table_begin(&t, column);
	n = below(12);
	for (i = 0; i < n; i++)
		drawn_table_row(&t, i, NULL, NULL);
	if (drawn_table_end(&t, &f, &e) == 0) {
		recorded_whole(r, gv_rates_join(&out, jobs, &f, missing, &n_missing, &e));
		for (i = 0; i < n_missing; i++)
			recorded_whole(r, (long long)missing[i]);
		recorded_frame(r, &out);
		gv_frame_free(&out);
		gv_frame_free(&f);
	}
	recorded_error(r, &e);
	free(missing);
}

static void
test_jobs(struct recorded *r)
{
	size_t i;

	for (i = 0; i < TABLES; i++) {
		struct gv_error e = {0}, w = {0};
		struct gv_rates jobs;
		struct drawn_table t;
		struct gv_frame f;

		draws_begin(i, 62, 0);
		jobs_table(&t, below(12));
		if (drawn_table_end(&t, &f, &e) == 0 &&
		    gv_jobs_from(&jobs, &f, &e) == 0) {
			good[1]++;
			recorded_jobs(r, &jobs);
			gv_rates_slips(&jobs, NULL, &w);
			recorded_error(r, &w);
			join_throughputs(r, &jobs);
			gv_rates_free(&jobs);
		}
		recorded_error(r, &e);
		if (i % PER_ANSWER == PER_ANSWER - 1)
			recorded_answer(r, "jobs to %zu", i);
	}
}

/* ---- rates ---- */

static void
ask_rates(struct recorded *r, struct gv_rates *t, const struct gv_cluster *c)
{
	struct gv_error e = {0}, w = {0};
	struct gv_cluster now;

	recorded_rates(r, t);
	recorded_whole(r, gv_rates_check_types(t, c, &e));
	recorded_whole(r, gv_rates_check_shares(t, &e));
	gv_rates_slips(t, below(4) == 0 ? NULL : c, &w);
	recorded_error(r, &w);
	recorded_whole(r, gv_rates_available(t, c, &now, &e));
	recorded_cluster(r, &now);
	free(now.type);
	gv_rates_spread(t, c);
	recorded_rates(r, t);
	recorded_error(r, &e);
}

static void
test_rates(struct recorded *r)
{
	size_t i;

	for (i = 0; i < TABLES; i++) {
		struct gv_error e = {0};
		struct gv_cluster c;
		struct gv_rates rates;
		struct drawn_table t;
		struct gv_frame f;

		draws_begin(i, 63, 0);
		while (draw_table_cluster(&c, &e) == NULL)
			gv_error_clear(&e);
		rates_table(&t, 1 + below(below(8) == 0 ? 40 : 6));
		if (drawn_table_end(&t, &f, &e) == 0 &&
		    gv_rates_from(&rates, &f, below(9) == 0 ? NULL : &c, &e) == 0) {
			good[2]++;
			ask_rates(r, &rates, &c);
			if (rates.frame.n_rows > 0)
				gv_job_move(&rates.job[0], &rates.frame,
				    below(rates.frame.n_rows));
			recorded_jobs(r, &rates);
			gv_rates_free(&rates);
		}
		recorded_error(r, &e);
		gv_cluster_free(&c);
		if (i % PER_ANSWER == PER_ANSWER - 1)
			recorded_answer(r, "rates to %zu", i);
	}
}

/* ---- events ---- */

static void
recorded_events(struct recorded *r, const struct gv_events *ev)
{
	struct gv_strbuf text = {0};
	struct gv_out *out = gv_out_memory(&text);
	struct gv_error e = {0};
	struct gv_tabw w;
	size_t i, k;
	bool with = below(2) == 0;

	gv_tabw_init(&w, out, false);
	(with ? gv_events_write_header_with : gv_events_write_header)(&w);
	for (i = 0; i < ev->n; i++) {
		recorded_whole(r, ev->event[i].kind);
		recorded_text(r, gv_event_name(ev->event[i].kind));
		recorded_whole(r, ev->event[i].round);
		for (k = 0; k < 4; k++)
			recorded_cell(r, gv_event_node(&ev->event[i], k));
		(with ? gv_events_write_with : gv_events_write)(&w, &ev->event[i]);
	}
	gv_out_close(out, &e);
	recorded_text(r, text.s);
	gv_strbuf_free(&text);
}

static void
test_events(struct recorded *r)
{
	static const struct drawn_column column[] = {
	    {"time_s", "1|1|2|3|10|20|30", 4, false},
	    {"event",
		"pool|arrive|allocate|start|resume|checkpoint|first_step|hold|release|"
		"preempt|finish|fail|drop|submit|restart|end",
		4, false},
	    {"job_id", "j1|j2|j3", 3, false}, {"gpu_type", "v100|k80|", 3, false},
	    {"node", "n1|n1;n2|n1;n2;n3||;n2", 3, false},
	    {"gpus", "0|0;1|0;1;2|", 3, false}, {"steps", "|10|1e6|0", 3, false},
	    {"round", "|0|1|9007199254740992|9007199254740993", 3, false},
	    {"share", "0.5|1|0", 3, false}, {"reason", "|why", 3, false},
	    {"with_job_id", "||j9", 2, false}, {NULL, NULL, 0, false}};
	size_t i, n;

	for (i = 0; i < TABLES; i++) {
		struct gv_error e = {0};
		struct gv_events ev;
		struct drawn_table t;
		struct gv_frame f;

		draws_begin(i, 64, 0);
		drawn_table_begin(&t, column);
		for (n = below(below(2) == 0 ? 2 : 5); n > 0; n--)
			drawn_table_row(&t, n, NULL, NULL);
		if (drawn_table_end(&t, &f, &e) == 0 &&
		    gv_events_from(&ev, &f, &e) == 0) {
			good[3]++;
			recorded_events(r, &ev);
			gv_events_free(&ev);
		}
		recorded_error(r, &e);
		if (i % PER_ANSWER == PER_ANSWER - 1)
			recorded_answer(r, "events to %zu", i);
	}
}

int
main(void)
{
	struct recorded rec;

	recorded_open(&rec);
	test_clusters(&rec);
	test_jobs(&rec);
	test_rates(&rec);
	test_events(&rec);
	ok(good[0] > 500 && good[1] > 1000 && good[2] > 500 && good[3] > 500,
	    "good tables: %ld clusters, %ld of jobs, %ld of rates, %ld of events",
	    good[0], good[1], good[2], good[3]);
	recorded_close(&rec);
	return done_testing();
}
