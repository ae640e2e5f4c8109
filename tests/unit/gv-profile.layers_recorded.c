/*
 * gv-profile: tables of layers and their edges, what memory holds over a step, medians, and who
 * sends to whom when links are measured are what they were.
 */
#include "drawn_model.h"
#include "gv-profile/layers/bench.h"
#include "gv-profile/layers/beside.h"
#include "gv-profile/layers/layers_table.h"
#include "gv-profile/links/link_member.h"
#include "recorded_frame.h"

static struct gv_error e;

/* false: none that can be trained. */
static bool
open_model(struct gv_model *m)
{
	struct gv_shape input = {1 + below(4), 1, 1};
	struct gv_strbuf s = {0};
	struct drawn_model d;
	struct gv_frame f;
	bool fits;

	*m = (struct gv_model){0};
	input.height = 2 + below(5);
	input.width = below(3) == 0 ? 1 : 2 + below(5);
	draw_model(&d, input, 3, 7);
	model_table(&d, &s, 0);
	fits = gv_frame_parse(&f, "m.csv", s.s, s.len, &e) == 0 &&
	       gv_model_from_frame(m, &f, &e) == 0 &&
	       gv_model_shape(m, input, 3, &e) == 0;
	gv_strbuf_free(&s);
	return fits;
}

/* ---- tables of layers ---- */

static struct spread
draw_spread(void)
{
	struct spread s = {0};

	s.median_s = below(5) == 0 ? (below(2) == 0 ? 1e-12 : 1e-13)
				   : (double)(1 + below(1000000)) / 3e6;
	s.deviation_s = (double)below(1000) / 7e6;
	return s;
}

static void
ask_layers(struct recorded *r)
{
	struct gv_strbuf s = {0};
	struct gv_out *out = gv_out_memory(&s);
	struct layer_times t = {.steps = 1 + below(50)};
	struct layer_time layer[MODEL_ROWS];
	struct gv_model m;
	struct gv_tabw w;
	size_t i, batch = 1 + below(20);

	if (open_model(&m)) {
		t.layer = layer;
		t.n = m.n;
		for (i = 0; i < m.n; i++) {
			layer[i].forward = draw_spread();
			layer[i].backward = draw_spread();
			layer[i].update = draw_spread();
		}
		gv_tabw_init(&w, out, below(2) == 0);
		write_layers(&w, &m, &t, batch);
		write_edges(&w, &m);
	}
	recorded_whole(r, gv_out_close(out, &e));
	recorded_text(r, s.s != NULL ? s.s : "");
	recorded_error(r, &e);
	gv_error_clear(&e);
	gv_strbuf_free(&s);
	gv_model_free(&m);
}

/* ---- what memory holds ---- */

static void
ask_memory(struct recorded *r)
{
	struct times_rule rule = {.models = 1 + below(2), .quiet = true};
	struct memory_log log = {0};
	struct bench b = {0};
	struct gv_model m;
	int64_t sum = 0;
	size_t i;

	rule.batch = 2 + below(5);
	rule.device.threads = 1;
	rule.optimiser = (enum gv_optimiser)below(3);
	if (open_model(&m) && bench_open(&b, &m, &rule, &log, &e) == 0) {
		memory_log_samples();
		bench_step(&b, NULL);
		for (i = 0; i < log.n; i++) {
			/* weights packed for products, and what is made of them, are a processor's */
			if (strcmp(log.event[i].tensor, "scratch") == 0)
				log.event[i].bytes = 0;
			sum -= log.event[i].bytes;
		}
		memory_log_step(&m);
		bench_step(&b, NULL);
		memory_log_end();
		for (i = 0; i < log.n; i++) {
			const struct memory_event *v = &log.event[i];

			recorded_text(r, v->tensor);
			recorded_whole(r, v->bytes);
			recorded_whole(r, i > 0 && v->time_s < v[-1].time_s);
			sum += v->bytes;
		}
		recorded_whole(r, sum);
		recorded_whole(r, b.failed);
	}
	recorded_error(r, &e);
	gv_error_clear(&e);
	bench_close(&b);
	memory_log_free(&log);
	gv_model_free(&m);
}

/* ---- medians ---- */

static void
ask_spread(struct recorded *r)
{
	double v[30];
	size_t n = 1 + below(30), i;
	struct spread s;

	for (i = 0; i < n; i++)
		v[i] = (double)below(500) / 16;
	s = spread_of(v, n);
	recorded_double(r, s.median_s);
	recorded_double(r, s.deviation_s);
	recorded_double(r, s.error_s);
}

/* ---- links ---- */

static void
ask_trials(struct recorded *r, int n)
{
	struct link_trials p;
	size_t i;
	int k;

	link_trials_make(&p, n);
	for (i = 0; i < p.n; i++) {
		recorded_whole(r, p.trial[i].what);
		recorded_whole(r, link_trial_all(&p.trial[i]));
		for (k = 0; k < n; k++) {
			recorded_whole(r, p.trial[i].to[k]);
			recorded_whole(r, link_trial_peer(&p.trial[i], n, k));
		}
	}
	link_trials_free(&p);
}

static void
ask_reports(struct recorded *r)
{
	enum { MOST = 5 };
	struct link_time t[MOST * MOST] = {{0}};
	int n = 2 + (int)below(MOST - 1), i, reports = (int)below(60);

	for (i = 0; i < reports; i++) {
		struct link_report x = {.what = (enum link_what)below(LINK_LATENCY + 1)};

		x.from = (int)below((size_t)n + 1) - 1;
		x.to = (int)below((size_t)n);
		x.value = (double)below(1000) / 8;
		x.scatter = (double)below(100) / 8;
		x.cpu_s = (double)below(100) / 16;
		link_times_take(t, n, &x);
	}
	for (i = 0; i < n * n; i++) {
		recorded_double(r, t[i].alone);
		recorded_double(r, t[i].both);
		recorded_double(r, t[i].concurrent);
		recorded_double(r, t[i].sum);
		recorded_double(r, t[i].cpu_s);
		recorded_double(r, t[i].latency_s);
		recorded_double(r, t[i].scatter);
	}
}

int
main(void)
{
	struct recorded r;
	size_t i, k, stages;

	recorded_open(&r);
	for (i = 0; i < 60; i++) {
		draws_begin(45, (uint32_t)i, 0);
		for (k = 0; k < 20; k++)
			ask_layers(&r);
		recorded_answer(&r, "layers %zu", i);
		draws_begin(45, (uint32_t)i, 100);
		for (k = 0; k < 5; k++)
			ask_memory(&r);
		recorded_answer(&r, "memory %zu", i);
		for (k = 0; k < 20; k++)
			ask_spread(&r);
		for (k = 0; k < 5; k++)
			ask_reports(&r);
		recorded_answer(&r, "medians and links %zu", i);
	}
	for (i = 2; i < 9; i++) {
		ask_trials(&r, (int)i);
		recorded_answer(&r, "%zu processes", i);
	}
	for (stages = 2; stages < 6; stages++)
		for (i = 0; i < stages; i++)
			for (k = 0; k < 8; k++)
				recorded_whole(&r, (long long)beside_stage(i, k, stages));
	recorded_answer(&r, "stages beside");
	recorded_close(&r);
	return done_testing();
}
