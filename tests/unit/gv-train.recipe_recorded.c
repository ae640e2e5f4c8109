/*
 * gv-train: drawn recipes, tables of arrays and records of losses, and what is said of them and
 * of how far a run is, are what they were.
 */
#include <math.h>
#include <unistd.h>

#include "gv-train/array.h"
#include "gv-train/pipeline/laps.h"
#include "gv-train/progress.h"
#include "gv-train/record.h"
#include "scratch.h"
#include "table_draws.h"

static struct gv_error e;

/* ---- schedules of learning rates ---- */

static double
draw_part(void)
{
	static const double part[] = {NAN, NAN, 0, .04, .1, .5, 1};

	return part[below(7)];
}

static struct schedule
draw_schedule(void)
{
	static const double power[] = {1, 2, 0, .5, 3.25, 1048577};
	struct schedule s = SCHEDULE_DEFAULT;

	s.kind = (enum schedule_kind)below(SCHEDULES);
	s.warmup = below(3) == 0 ? 0 : below(12);
	s.start = draw_part();
	s.total = below(3) > 0 ? 0 : below(40);
	s.end = draw_part();
	s.power = power[below(6)];
	s.step = below(3) == 0 ? 0 : 1 + below(9);
	s.gamma = below(2) == 0 ? .1 : .5;
	return s;
}

static void
recorded_schedule(struct recorded *r, const struct schedule *s)
{
	struct gv_strbuf text = {0};

	gv_strbuf_str(&text, "");
	schedule_describe(s, &text);
	recorded_text(r, text.s);
	gv_strbuf_free(&text);
	recorded_whole(r, s->kind);
	recorded_whole(r, (long long)s->warmup);
	recorded_whole(r, (long long)s->total);
	recorded_whole(r, (long long)s->step);
	recorded_double(r, s->start);
	recorded_double(r, s->end);
}

/* pow has a part in some. */
static void
recorded_rate(struct recorded *r, const struct schedule *s, double rate)
{
	if (s->kind == SCHEDULE_POLYNOMIAL)
		recorded_rounded(r, rate, 12);
	else
		recorded_double(r, rate);
}

static void
ask_schedule(struct recorded *r)
{
	struct schedule s = draw_schedule();
	uint64_t steps = below(40), t;
	int rc;

	gv_error_clear(&e);
	rc = schedule_complete(&s, steps, "here", &e);
	recorded_whole(r, rc);
	recorded_error(r, &e);
	if (rc != 0)
		return;
	recorded_schedule(r, &s);
	for (t = 0; t < steps + 5; t++)
		recorded_rate(r, &s, schedule_rate(&s, .1, t));
}

/* ---- arrays ---- */

static const struct drawn_column array_columns[] = {{"seed", "1|2|3||0", 3, false},
    {"order_seed", "1|2||", 2, false}, {"steps", "10|20|5|", 3, false},
    {"lr", "0.1|0.01|1e-3||0", 3, false}, {"momentum", "0|0.9|", 2, false},
    {"weight_decay", "0|1e-4|", 2, false}, {"beta1", "0.8||1", 1, false},
    {"beta2", "0.99|", 1, false}, {"eps", "1e-6|", 1, false},
    {"clip_norm", "0|1|", 1, false}, {"clip_value", "0|0.5|", 1, false},
    {"init", "a.safetensors||b.gvckpt", 1, false},
    {"lr_schedule", "constant|step|linear|polynomial|cosine|one-cycle||", 3, false},
    {"lr_warmup", "0|2|5|", 2, false}, {"lr_start", "0.1||1", 1, false},
    {"lr_total", "10|30||", 1, false}, {"lr_end", "0.1|0|", 2, false},
    {"lr_power", "1|2|", 1, false}, {"lr_step", "3|1||5", 3, false},
    {"lr_gamma", "0.5||1", 2, false}, {"note", "x|", 1, false}, {NULL, NULL, 0, false}};

static struct options
draw_options(void)
{
	struct options o = {.steps = -1, .order_seed = 1};

	o.common.quiet = true;
	if (below(3) > 0)
		o.steps = (int64_t)below(30);
	o.seed = below(5);
	o.coef = (struct gv_net_coef)GV_NET_COEF_DEFAULT;
	o.optimiser = (enum gv_optimiser)below(3);
	o.schedule = below(3) == 0 ? draw_schedule() : (struct schedule)SCHEDULE_DEFAULT;
	o.init = below(4) == 0 ? "c.safetensors" : NULL;
	return o;
}

static void
recorded_array(struct recorded *r, const struct array *a, enum gv_optimiser optimiser)
{
	size_t b;
	uint64_t t;

	for (b = 0; b < a->n; b++) {
		struct gv_strbuf s = {0};

		array_describe(a, b, optimiser, &s);
		recorded_text(r, s.s);
		gv_strbuf_free(&s);
		recorded_text(r, a->init[b] != NULL ? a->init[b] : "none");
		recorded_whole(r, (long long)a->seed[b]);
		recorded_whole(r, (long long)a->order_seed[b]);
		recorded_whole(r, (long long)a->steps[b]);
		recorded_schedule(r, &a->schedule[b]);
		for (t = 0; t < 12; t++)
			recorded_rate(r, &a->schedule[b], array_rate(a, b, t));
	}
	recorded_whole(r, (long long)array_last(a));
}

static void
ask_array(struct recorded *r)
{
	struct options o = draw_options();
	struct drawn_table t;
	struct array a = {0};
	size_t n, i;
	int rc;

	if (below(8) > 0) {
		drawn_table_begin(&t, array_columns);
		n = below(5);
		for (i = 0; i < n; i++)
			drawn_table_row(&t, i, NULL, NULL);
		scratch_file("a.csv", t.text.s, t.text.len);
		gv_strbuf_free(&t.text);
		o.array = "a.csv";
	}
	gv_error_clear(&e);
	rc = array_read(&a, &o, &e);
	recorded_whole(r, rc);
	recorded_error(r, &e);
	if (rc == 0)
		recorded_array(r, &a, o.optimiser);
	array_free(&a);
	unlink("a.csv");
}

/* ---- progress, and times of passes ---- */

static void
ask_progress(struct recorded *r)
{
	double loss[4], at = below(3) == 0 ? 0 : 1 + (double)below(1000);
	struct progress p = {0};
	struct progress_now now = {.loss = loss, .models = 1 + below(4)};
	static const double longer[] = {.5, 1, 4, 6, 100, 5000, 90000};
	char line[PROGRESS_LEN];
	size_t i, b;

	now.last = below(2) == 0 ? 1000 : 1000000;
	now.batch = 1 + below(300);
	for (i = 0; i < 6; i++) {
		for (b = 0; b < now.models; b++)
			loss[b] =
			    below(4) == 0 ? (double)NAN : (double)below(10000) / 256;
		now.now_s = at;
		progress_text(line, &p, &now);
		recorded_text(r, line);
		at += below(6) == 0 ? 0 : longer[below(7)];
		now.step += below(5) == 0 ? 0 : below(200);
	}
}

static void
ask_laps(struct recorded *r)
{
	static struct passes p;
	size_t n = below(3) == 0 ? 1000 + below(100) : below(60), i;

	passes_forget(&p);
	for (i = 0; i < n; i++) {
		double took_s = (double)below(64) / 16;

		passes_add(&p, took_s, below(3) > 0);
		if (n < 100)
			recorded_double(r, passes_typical_s(&p));
	}
	recorded_double(r, passes_typical_s(&p));
}

/* ---- records ---- */

static void
draw_record(struct gv_strbuf *s)
{
	static const char *const odd[] = {"x,0,1,,\n", "3\n", "3,1\n", "-1,0,1,,\n",
	    ",,,,\n", "5,0,0.5", "step,model\n", "\n", "4,9,1,,\n"};
	size_t n = below(9), i;
	uint64_t step = below(3);

	gv_strbuf_str(s, below(12) == 0 ? "step,model,loss\n"
					: "step,model,loss,test_loss,accuracy\n");
	for (i = 0; i < n; i++) {
		gv_strbuf_fmt(s, "%llu,", (unsigned long long)step);
		gv_strbuf_fmt(s, "%zu,0.5,,\n", below(3));
		step += below(3);
		if (below(12) == 0)
			step = below(4);
		if (below(12) == 0)
			gv_strbuf_str(s, odd[below(9)]);
	}
	if (below(4) == 0)
		s->len = below(s->len + 1);
}

static double
draw_loss(void)
{
	return below(4) == 0 ? (double)NAN : (double)below(1000) / 64;
}

static void
ask_record(struct recorded *r)
{
	struct gv_strbuf s = {0}, out = {0};
	struct record_past past[3];
	struct gv_out *to = gv_out_memory(&out);
	size_t models = 1 + below(3), rows = below(5), len, i;
	struct record record;
	bool short_of = false, tsv = below(2) == 0;
	char *bytes;
	int rc;

	gv_strbuf_str(&s, "");
	draw_record(&s);
	if (below(5) > 0)
		scratch_file("r.csv", s.s, s.len);
	for (i = 0; i < 3; i++) {
		past[i].steps = below(2) == 0 ? 6 : below(9);
		past[i].last_row =
		    past[i].steps > 0 ? below((size_t)past[i].steps + 1) : 0;
	}
	gv_error_clear(&e);
	rc = record_open(&record, to, tsv, below(8) == 0 ? NULL : "r.csv", true, past,
	    models, &short_of, &e);
	recorded_whole(r, rc);
	recorded_whole(r, short_of);
	for (i = 0; i < rows && rc == 0; i++) {
		struct row row = {.step = 7 + i};

		row.model = below(models);
		row.loss = draw_loss();
		row.test_loss = draw_loss();
		row.accuracy = draw_loss();
		record_add(&record, &row);
		if (below(3) == 0)
			recorded_whole(r, record_flush(&record, false, &e));
	}
	if (rc == 0)
		recorded_whole(r, record_close(&record, &e));
	recorded_error(r, &e);
	gv_out_close(to, &e);
	recorded_text(r, out.s != NULL ? out.s : "");
	if (gv_file_read("r.csv", &bytes, &len, 1 << 20, &e) == 0) {
		recorded_bytes(r, bytes, len);
		free(bytes);
	}
	unlink("r.csv");
	gv_strbuf_free(&s);
	gv_strbuf_free(&out);
}

int
main(void)
{
	static const char *const files[] = {NULL};
	struct recorded r;
	size_t i, k;

	recorded_open(&r);
	scratch_enter();
	for (i = 0; i < 60; i++) {
		draws_begin(71, (uint32_t)i, 0);
		for (k = 0; k < 20; k++)
			ask_schedule(&r);
		recorded_answer(&r, "schedules %zu", i);
		for (k = 0; k < 20; k++)
			ask_array(&r);
		recorded_answer(&r, "arrays %zu", i);
		draws_begin(71, (uint32_t)i, 100);
		for (k = 0; k < 10; k++)
			ask_progress(&r);
		for (k = 0; k < 3; k++)
			ask_laps(&r);
		recorded_answer(&r, "progress %zu", i);
		for (k = 0; k < 2; k++)
			ask_record(&r);
		recorded_answer(&r, "records %zu", i);
	}
	scratch_leave(files);
	recorded_close(&r);
	return done_testing();
}
