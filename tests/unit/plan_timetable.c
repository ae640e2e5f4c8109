/* Orders of steps and what GPUs hold: small cases worked out by hand. */
#include "tap.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "plan/timetable.h"

enum { MOST = 8 };

struct world {
	struct gv_pipe p;
	struct gv_pipe_stage stage[MOST];
};

/* replicas: "21" is two of the first stage and one of the second. */
static void
begin(struct world *w, enum gv_schedule_kind schedule, const char *replicas, size_t m)
{
	size_t k;

	memset(w, 0, sizeof(*w));
	w->p = (struct gv_pipe){.n = strlen(replicas),
	    .stage = w->stage,
	    .schedule = schedule,
	    .chunks = 1,
	    .micro_batches = m,
	    .batch = m};
	for (k = 0; k < MOST; k++) /* those behind are none of it */
		w->stage[k].replicas = k < w->p.n ? (size_t)(replicas[k] - '0') : 3;
}

/* "F0/1": forward of micro-batch 0, version 1; with chunks the stage before it, "2:F0/1". */
static const char *
order_of(const struct world *w, size_t lane)
{
	static struct gv_strbuf s;
	struct gv_timetable t;
	size_t k;

	gv_strbuf_clear(&s);
	gv_strbuf_str(&s, "");
	gv_timetable_make(&t, &w->p);
	for (k = 0; k < t.lane[lane].n; k++) {
		const struct gv_step *x = &t.lane[lane].step[k];

		gv_strbuf_str(&s, k > 0 ? " " : "");
		if (w->p.chunks > 1)
			gv_strbuf_fmt(&s, "%u:", x->stage);
		gv_strbuf_fmt(
		    &s, "%s%u/%u", gv_step_name[x->op], x->micro_batch, x->version);
	}
	gv_timetable_free(&t);
	return s.s;
}

static struct gv_holding
held(const struct world *w, size_t lane)
{
	struct gv_timetable t;
	struct gv_holding h;

	gv_timetable_make(&t, &w->p);
	h = gv_timetable_holding(&t.lane[lane], &w->p);
	gv_timetable_free(&t);
	return h;
}

static void
orders(void)
{
	static const struct {
		enum gv_schedule_kind schedule;
		const char *replicas;
		size_t m, batch, lane;
		const char *want;
	} row[] = {
	    {GV_SCHEDULE_GPIPE, "11", 2, 2, 0, "F0/0 F1/0 B0/0 B1/0 U1/1"},
	    {GV_SCHEDULE_FLUSH, "111", 3, 3, 0, "F0/0 F1/0 F2/0 B0/0 B1/0 B2/0 U2/1"},
	    {GV_SCHEDULE_FLUSH, "111", 3, 3, 1, "F0/0 F1/0 B0/0 F2/0 B1/0 B2/0 U2/1"},
	    {GV_SCHEDULE_FLUSH, "21", 5, 5, 0,
		"F0/0 F2/0 B0/0 F4/0 B2/0 B4/0 AR4/1 U4/1"},
	    {GV_SCHEDULE_FLUSH, "21", 5, 5, 1, "F1/0 F3/0 B1/0 B3/0 AR3/1 U3/1"},
	    {GV_SCHEDULE_FLUSH, "21", 5, 5, 2,
		"F0/0 B0/0 F1/0 B1/0 F2/0 B2/0 F3/0 B3/0 F4/0 B4/0 U4/1"},
	    {GV_SCHEDULE_FLUSH, "2", 1, 1, 1, ""},
	    {GV_SCHEDULE_1F1B, "11", 3, 3, 0,
		"F0/0 F1/0 B0/0 U0/1 F2/1 B1/0 U1/2 B2/1 U2/3"},
	    {GV_SCHEDULE_1F1B, "21", 4, 4, 1,
		"F1/0 F3/0 B1/0 AR1/1 U1/1 B3/0 AR3/2 U3/2"},
	    {GV_SCHEDULE_1F1B, "21", 4, 4, 2,
		"F0/0 B0/0 U0/1 F1/1 B1/1 U1/2 F2/2 B2/2 U2/3 F3/3 B3/3 U3/4"},
	    {GV_SCHEDULE_2BW, "11", 6, 2, 0,
		"F0/0 F1/0 B0/0 F2/0 B1/0 U1/1 F3/0 B2/0 F4/1 B3/0 U3/2 F5/1 B4/1 B5/1 "
		"U5/3"},
	    {GV_SCHEDULE_2BW, "11", 6, 2, 1,
		"F0/0 B0/0 F1/0 B1/0 U1/1 F2/0 B2/0 F3/0 B3/0 U3/2 F4/1 B4/1 F5/1 B5/1 "
		"U5/3"},
	    {GV_SCHEDULE_2BW, "21", 12, 4, 0,
		"F0/0 F2/0 B0/0 F4/0 B2/0 AR2/1 F6/0 B4/0 U2/1 F8/1 B6/0 AR6/2 F10/1 "
		"B8/1 B10/1 U6/2 AR10/3 U10/3"},
	    {GV_SCHEDULE_2BW, "21", 12, 4, 1,
		"F1/0 F3/0 B1/0 F5/0 B3/0 AR3/1 F7/0 B5/0 U3/1 F9/1 B7/0 AR7/2 F11/1 "
		"B9/1 B11/1 U7/2 AR11/3 U11/3"},
	    {GV_SCHEDULE_2BW, "21", 10, 4, 2,
		"F0/0 B0/0 F1/0 B1/0 F2/0 B2/0 F3/0 B3/0 U3/1 F4/0 B4/0 F5/0 B5/0 F6/0 "
		"B6/0 F7/0 B7/0 U7/2 F8/1 B8/1 F9/1 B9/1 U9/3"},
	    {GV_SCHEDULE_2BW, "2", 9, 4, 1,
		"F1/0 B1/0 F3/0 B3/0 AR3/1 F5/0 B5/0 F7/0 B7/0 U3/1 AR7/2 U7/2"},
	    {GV_SCHEDULE_2BW, "3", 12, 4, 1,
		"F1/0 B1/0 AR1/1 F4/0 B4/0 F7/0 B7/0 U1/1 AR7/2 F10/1 B10/1 U7/2 AR10/3 "
		"U10/3"},
	    {GV_SCHEDULE_ZB_H1, "111", 4, 4, 0,
		"F0/0 F1/0 F2/0 B0/0 W0/0 F3/0 B1/0 W1/0 B2/0 W2/0 B3/0 W3/0 U3/1"},
	    {GV_SCHEDULE_ZB_H1, "111", 4, 4, 1,
		"F0/0 F1/0 B0/0 F2/0 B1/0 W0/0 F3/0 B2/0 W1/0 B3/0 W2/0 W3/0 U3/1"},
	    {GV_SCHEDULE_ZB_H1, "111", 4, 4, 2,
		"F0/0 B0/0 F1/0 B1/0 F2/0 B2/0 W0/0 F3/0 B3/0 W1/0 W2/0 W3/0 U3/1"},
	};
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct world w;

		begin(&w, row[i].schedule, row[i].replicas, row[i].m);
		w.p.batch = row[i].batch;
		is_str(order_of(&w, row[i].lane), row[i].want, "%s, %s, GPU %zu",
		    gv_schedule_name[row[i].schedule], row[i].replicas, row[i].lane);
	}
}

static void
interleaved(void)
{
	struct world w;

	begin(&w, GV_SCHEDULE_INTERLEAVED, "1111", 4);
	w.p.chunks = 2;
	is_str(order_of(&w, 0),
	    "0:F0/0 0:F1/0 2:F0/0 2:F1/0 0:F2/0 2:B0/0 0:F3/0 2:B1/0 2:F2/0 0:B0/0 "
	    "2:F3/0 0:B1/0 2:B2/0 2:B3/0 0:B2/0 0:B3/0 2:U3/1 0:U3/1",
	    "interleaved, the first of two GPUs");
	is_str(order_of(&w, 1),
	    "1:F0/0 1:F1/0 3:F0/0 3:B0/0 3:F1/0 3:B1/0 1:F2/0 1:B0/0 1:F3/0 1:B1/0 "
	    "3:F2/0 3:B2/0 3:F3/0 3:B3/0 1:B2/0 1:B3/0 3:U3/1 1:U3/1",
	    "the second");
	begin(&w, GV_SCHEDULE_INTERLEAVED, "1111", 2);
	w.p.chunks = 2;
	is_str(order_of(&w, 0),
	    "0:F0/0 0:F1/0 2:F0/0 2:F1/0 2:B0/0 2:B1/0 0:B0/0 0:B1/0 2:U1/1 0:U1/1",
	    "as many micro-batches as GPUs: all forward passes first");
	begin(&w, GV_SCHEDULE_INTERLEAVED, "22", 4);
	w.p.chunks = 2;
	is_str(order_of(&w, 1),
	    "0:F1/0 1:F1/0 1:B1/0 0:F3/0 0:B1/0 1:F3/0 1:B3/0 1:AR3/1 0:B3/0 0:AR3/1 "
	    "1:U3/1 0:U3/1",
	    "two chunks on two replicas");
	begin(&w, GV_SCHEDULE_INTERLEAVED, "11", 4);
	is_str(
	    order_of(&w, 0), "F0/0 F1/0 B0/0 F2/0 B1/0 F3/0 B2/0 B3/0 U3/1", "one chunk");
}

/* zb-h1 puts off as many gradients of weights as its memory has room for. */
static void
weights_put_off(void)
{
	static const struct {
		double memory;
		const char *want;
	} row[] = {
	    {0, "F0/0 B0/0 F1/0 B1/0 F2/0 B2/0 W0/0 W1/0 W2/0 U2/1"},
	    /* 3 * 10 of weights, 5 while a backward pass works, 1 + 2 micro-batches of 7 */
	    {35 + 3 * 7 + 2 * 5, "F0/0 B0/0 F1/0 B1/0 F2/0 B2/0 W0/0 W1/0 W2/0 U2/1"},
	    {35 + 3 * 7 + 2 * 5 - 1, "F0/0 B0/0 F1/0 B1/0 W0/0 F2/0 B2/0 W1/0 W2/0 U2/1"},
	    {35 + 2 * 7 + 5, "F0/0 B0/0 F1/0 B1/0 W0/0 F2/0 B2/0 W1/0 W2/0 U2/1"},
	    {35 + 2 * 7 + 5 - 1, "F0/0 B0/0 W0/0 F1/0 B1/0 W1/0 F2/0 B2/0 W2/0 U2/1"},
	    {1, "F0/0 B0/0 W0/0 F1/0 B1/0 W1/0 F2/0 B2/0 W2/0 U2/1"},
	};
	struct world w;
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		begin(&w, GV_SCHEDULE_ZB_H1, "111", 3);
		w.p.state = 1;
		w.stage[2].memory = row[i].memory;
		w.stage[2].parameter = 10;
		w.stage[2].working = 5;
		w.stage[2].stash = 7;
		is_str(order_of(&w, 2), row[i].want, "zb-h1 in %g bytes", row[i].memory);
	}
	/* no more micro-batches are kept than there are */
	begin(&w, GV_SCHEDULE_ZB_H1, "1111", 2);
	w.stage[1].stash = 7;
	w.stage[1].memory = 3 * 7;
	is_str(order_of(&w, 1), "F0/0 F1/0 B0/0 B1/0 W0/0 W1/0 U1/1",
	    "zb-h1, as many as fit with two micro-batches");
	/* more replicas in front have fewer passes in front of theirs: none is put off behind */
	begin(&w, GV_SCHEDULE_ZB_H1, "411", 4);
	w.stage[1].memory = 1000;
	w.stage[1].working = 5;
	is_str(order_of(&w, 4),
	    "F0/0 F1/0 B0/0 W0/0 F2/0 B1/0 W1/0 F3/0 B2/0 W2/0 B3/0 W3/0 U3/1",
	    "zb-h1 behind a stage of more replicas");
}

static void
is_held(const struct world *w, size_t lane, size_t in_flight, size_t versions,
    double bytes, const char *what)
{
	struct gv_holding h = held(w, lane);

	ok(h.in_flight == in_flight && h.versions == versions && h.bytes == bytes,
	    "%s: %zu in flight, %zu versions, %g bytes", what, h.in_flight, h.versions,
	    h.bytes);
}

/* Every stage: 100 of weights, 7 for each micro-batch, 2 while one is worked on. */
static void
fill(struct world *w)
{
	size_t k;

	w->p.state = 1;
	for (k = 0; k < MOST; k++) {
		w->stage[k].parameter = 100;
		w->stage[k].stash = 7;
		w->stage[k].working = 2;
	}
}

static void
holdings(void)
{
	struct world w;

	begin(&w, GV_SCHEDULE_FLUSH, "111", 5);
	fill(&w);
	is_held(&w, 0, 3, 1, 300 + 3 * 7 + 2, "flush, GPU 0");
	is_held(&w, 2, 1, 1, 300 + 7 + 2, "flush, GPU 2");
	begin(&w, GV_SCHEDULE_FLUSH, "2", 1);
	fill(&w);
	is_held(&w, 1, 0, 1, 300, "a GPU without any");
	begin(&w, GV_SCHEDULE_GPIPE, "11", 4);
	fill(&w);
	is_held(&w, 0, 4, 1, 300 + 4 * 7 + 2, "gpipe");
	begin(&w, GV_SCHEDULE_1F1B, "111", 6);
	fill(&w);
	is_held(&w, 0, 3, 3, 300 + 2 * 100 + 3 * 7 + 2, "1f1b, GPU 0");
	is_held(&w, 1, 2, 2, 300 + 100 + 2 * 7 + 2, "1f1b, GPU 1");
	is_held(&w, 2, 1, 1, 300 + 7 + 2, "1f1b, GPU 2");
	begin(&w, GV_SCHEDULE_2BW, "11", 6);
	w.p.batch = 2;
	fill(&w);
	is_held(&w, 0, 2, 2, 300 + 100 + 2 * 7 + 2, "2bw, GPU 0");
	is_held(&w, 1, 1, 2, 300 + 100 + 7 + 2, "2bw, GPU 1");
	/* what waits for its weights' gradients is worked on until then */
	begin(&w, GV_SCHEDULE_ZB_H1, "111", 5);
	fill(&w);
	is_held(&w, 0, 3, 1, 300 + 3 * 7 + 2, "zb-h1, GPU 0");
	is_held(&w, 2, 3, 1, 300 + 3 * 7 + 3 * 2, "zb-h1, GPU 2");
	begin(&w, GV_SCHEDULE_INTERLEAVED, "1111", 4);
	w.p.chunks = 2;
	fill(&w);
	is_held(&w, 0, 5, 1, 600 + 5 * 7 + 2, "interleaved, GPU 0");
	is_held(&w, 1, 3, 1, 600 + 3 * 7 + 2, "interleaved, GPU 1");
}

/* Of replicas on some stages. */
static size_t
round_of(size_t n, const size_t *replicas)
{
	struct world w;
	size_t k;

	begin(&w, GV_SCHEDULE_FLUSH, "", 1);
	w.p.n = n;
	for (k = 0; k < n; k++)
		w.stage[k].replicas = replicas[k];
	return gv_pipe_round(&w.p);
}

static void
rounds(void)
{
	is_int(round_of(3, (size_t[]){4, 6, 3}), 12, "the least common multiple");
	is_int(round_of(2, (size_t[]){1024, 4096}), 4096, "up to 4096");
	is_int(round_of(1, (size_t[]){4097}), 1, "no more");
	is_int(round_of(4, (size_t[]){64, 63, 5, 2}), 4032, "of the first stages then");
	is_int(round_of(2, (size_t[]){2, 0}), 1, "none is one");
	is_int(round_of(0, (size_t[]){0}), 1, "of no stage as well");
}

static void
checks(void)
{
	struct gv_error e = {0};
	struct world w;

	begin(&w, GV_SCHEDULE_INTERLEAVED, "", 3);
	is_int(gv_timetable_check(&w.p, &e), 0, "nothing is wrong with no stages");
	begin(&w, GV_SCHEDULE_INTERLEAVED, "22", 8);
	is_int(gv_timetable_check(&w.p, &e), 0, "a multiple of the GPUs");
	w.p.micro_batches = 6;
	is_int(gv_timetable_check(&w.p, &e), -1, "no multiple");
	is_str(e.text[0],
	    "interleaved needs a multiple of the plan's 4 GPUs as micro-batches, got 6",
	    "says so");
	gv_error_clear(&e);
	begin(&w, GV_SCHEDULE_INTERLEAVED, "221", 5);
	is_int(gv_timetable_check(&w.p, &e), -1, "other replicas on the last stage");
	is_str(e.text[0],
	    "interleaved needs as many replicas on every stage; stage 2 has 1, stage 0 "
	    "has 2",
	    "says so");
	gv_error_clear(&e);
	begin(&w, GV_SCHEDULE_INTERLEAVED, "122", 5);
	is_int(gv_timetable_check(&w.p, &e), -1, "others on the first");
	is_str(e.text[0],
	    "interleaved needs as many replicas on every stage; stage 1 has 2, stage 0 "
	    "has 1",
	    "says so");
	gv_error_clear(&e);
	begin(&w, GV_SCHEDULE_2BW, "21", 9);
	w.p.batch = 3;
	is_int(gv_timetable_check(&w.p, &e), 0, "2bw with as many as GPUs");
	w.p.batch = 2;
	is_int(gv_timetable_check(&w.p, &e), -1, "2bw with one less");
	is_str(e.text[0],
	    "2bw needs as many micro-batches in a batch as the plan has GPUs, 3; got 2",
	    "says so");
	gv_error_clear(&e);
	w.p.schedule = GV_SCHEDULE_FLUSH;
	is_int(gv_timetable_check(&w.p, &e), 0, "flush takes any");
	w.p.stage = gv_xcalloc(1, sizeof(*w.p.stage));
	gv_pipe_free(&w.p);
	ok(w.p.stage == NULL && w.p.n == 0 && w.p.micro_batches == 0,
	    "nothing is left of a freed pipe");
}

int
main(void)
{
	orders();
	interleaved();
	weights_put_off();
	holdings();
	rounds();
	checks();
	return done_testing();
}
