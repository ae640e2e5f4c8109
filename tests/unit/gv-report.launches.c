/* Launches as bars: those of a lane or a job, against the obvious way at every second. */
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "draw/text.h"
#include "draws.h"
#include "gv-report/write/colour.h"
#include "gv-report/write/drawing.h"

enum { LANES = 3, TYPES = 2, JOBS = 4, RUNS = 12, SECONDS = 40, BARS = RUNS * SECONDS };

static const char *const names[] = {"a", "job", "a longer name", "k2"};

struct world {
	struct history h;
	struct job job[JOBS];
	struct gpu_type type[TYPES];
	struct lane lane[LANES];
	struct launch run[RUNS];
	size_t order[RUNS], first[LANES + JOBS + 2];
	struct drawing d;
};

static void
draw_world(struct world *w, bool one_at_a_time)
{
	size_t i, at[JOBS] = {0}, now = 0;

	memset(w, 0, sizeof(*w));
	w->h = (struct history){.n_jobs = JOBS,
	    .n_types = TYPES,
	    .n_lanes = LANES,
	    .n_runs = below(RUNS + 1),
	    .job = w->job,
	    .type = w->type,
	    .lane = w->lane,
	    .run = w->run};
	for (i = 0; i < JOBS; i++) {
		w->job[i].id = names[i];
		w->job[i].id_len = strlen(names[i]);
	}
	for (i = 0; i < TYPES; i++) {
		w->type[i].name = names[i];
		w->type[i].name_len = strlen(names[i]);
	}
	for (i = 0; i < LANES; i++)
		w->lane[i] = (struct lane){
		    .type = i % TYPES, .node = i == 0 ? "" : "n", .gpu = "1"};
	for (i = 0; i < w->h.n_runs; i++) {
		struct launch *r = &w->run[i];
		size_t begin;

		r->job = below(JOBS);
		r->lane = below(LANES);
		now += below(3);
		begin = one_at_a_time && at[r->job] > now ? at[r->job] : now;
		r->start_s = (double)begin;
		/* what takes no time is there only where nothing runs beside it */
		at[r->job] = begin + (one_at_a_time ? below(4) : 1 + below(6));
		r->end_s = (double)at[r->job];
		r->next = below(5) == 0;
		r->failed = below(5) == 0;
	}
	w->d = (struct drawing){.h = &w->h,
	    .digits = 0,
	    .unit = {.name = "s", .s = 1},
	    .x_per_s = below(3) == 0   ? 1
		       : below(2) == 0 ? 3
				       : 30,
	    .order = w->order};
}

/* ---- what has to be drawn ---- */

struct bar {
	double x, y, w, h;
	bool round, told; /* with round corners, with a tooltip */
	struct colour colour;
};

struct bars {
	struct bar bar[BARS];
	size_t n, fails, labels;
	char title[BARS][64];
};

static void
put(struct bars *b, const struct world *w, const struct launch *r, double start_s,
    double end_s, bool failed, double y, double h, bool of_job)
{
	size_t type = w->lane[r->lane].type;
	double px = fmax((end_s - start_s) * w->d.x_per_s, .4);
	const char *name = of_job ? names[type] : names[r->job];

	b->bar[b->n] = (struct bar){TIME_X + start_s * w->d.x_per_s, y, px, h, px > 4,
	    px > 1, job_colour(r->job, of_job ? type : 0)};
	snprintf(b->title[b->n++], sizeof(b->title[0]), "%s on %s %s1, %.0f to %.0f s%s",
	    names[r->job], names[type], r->lane == 0 ? "" : "n:", start_s, end_s,
	    failed ? ", failed" : "");
	b->fails += failed;
	b->labels += h >= 12 && px > gv_text_px(name, strlen(name)) + 8;
}

/* The place of a launch among those that run in the second, 0: it does not; of how many. */
static size_t
place(const struct launch **run, size_t n, size_t which, double second, size_t *of)
{
	size_t i, at = 0;

	for (i = 0, *of = 0; i < n; i++)
		if (run[i]->start_s <= second && second < run[i]->end_s) {
			++*of;
			at = i == which ? *of : at;
		}
	return at;
}

/* Each has its part of the height while as many run beside it. */
static void
expect_shared(struct bars *b, const struct world *w, const struct launch **run, size_t n,
    double y, double h)
{
	size_t i, of, at, was, was_of;
	double s, from = 0;

	for (i = 0; i < n; i++)
		for (s = run[i]->start_s, was = was_of = 0; s <= run[i]->end_s; s++) {
			at = place(run, n, i, s, &of);
			if (s > run[i]->start_s && (at != was || of != was_of))
				put(b, w, run[i], from, s,
				    run[i]->failed && s >= run[i]->end_s,
				    y + h / (double)was_of * (double)(was - 1),
				    h / (double)was_of, false);
			if (s <= run[i]->start_s || at != was || of != was_of)
				from = s;
			was = at;
			was_of = of;
		}
}

/* Those of a job, or of a lane where none runs beside another; what touches is one. */
static void
expect_alone(struct bars *b, const struct world *w, const struct launch **run, size_t n,
    double y, double h, bool of_job)
{
	double drawn = -1;
	size_t i, k;

	for (i = 0; i < n; i = k) {
		double end_s = run[i]->end_s;

		for (k = i + 1;
		     k < n && !run[i]->failed && !run[k]->failed &&
		     run[k]->job == run[i]->job &&
		     w->lane[run[k]->lane].type == w->lane[run[i]->lane].type &&
		     run[k]->start_s <= end_s;
		     k++)
			end_s = run[k]->end_s;
		if (!run[i]->failed && end_s <= drawn)
			continue;
		drawn = end_s;
		put(b, w, run[i], run[i]->start_s, end_s, run[i]->failed, y, h, of_job);
	}
}

static void
expect(
    struct bars *b, const struct world *w, size_t which, bool of_job, double y, double h)
{
	const struct launch *run[RUNS];
	size_t n = 0, i;
	bool shared = false;

	for (i = 0; i < w->h.n_runs; i++)
		if (of_job ? w->run[i].job == which && w->run[i].next == 0
			   : w->run[i].lane == which)
			run[n++] = &w->run[i];
	for (i = 1; i < n && !of_job; i++)
		shared = shared || run[i]->start_s < run[i - 1]->end_s;
	memset(b, 0, sizeof(*b));
	if (shared)
		expect_shared(b, w, run, n, y, h);
	else
		expect_alone(b, w, run, n, y, h, of_job);
}

/* ---- what is drawn ---- */

static size_t
count(const char *s, const char *what)
{
	size_t n = 0;

	while ((s = strstr(s, what)) != NULL) {
		n++;
		s += strlen(what);
	}
	return n;
}

static bool
is_bar(const struct bar *b, const char *title, const char *s, const char *end)
{
	const char *round = strstr(s, " rx=\"2\""), *told = strstr(s, "<title>");
	double x, y, w, h;
	char text[80];

	if (sscanf(s, "<rect x=\"%lf\" y=\"%lf\" width=\"%lf\" height=\"%lf\"", &x, &y,
		&w, &h) != 4)
		return false;
	snprintf(text, sizeof(text), "<title>%s</title>", title);
	return fabs(x - b->x) < .006 && fabs(y - b->y) < .006 && fabs(w - b->w) < .006 &&
	       fabs(h - b->h) < .006 && (round != NULL && round < end) == b->round &&
	       (told != NULL && told < end) == b->told &&
	       (!b->told || strncmp(told, text, strlen(text)) == 0) &&
	       strncmp(strstr(s, "fill=\"") + 6, b->colour.hex, 7) == 0;
}

/* Whether these bars are drawn, in any order, and nothing else. */
static bool
drawn(const struct bars *b, const char *s)
{
	bool found[BARS] = {false};
	size_t n = 0, i;
	const char *at, *end;

	for (at = s; (at = strstr(at, "<rect")) != NULL; at = end, n++) {
		end = strstr(at + 1, "<rect");
		end = end != NULL ? end : at + strlen(at);
		for (i = 0; i < b->n; i++)
			if (!found[i] && is_bar(&b->bar[i], b->title[i], at, end))
				break;
		if (i == b->n)
			return false;
		found[i] = true;
	}
	return n == b->n && count(s, "class=\"fail\"") == b->fails &&
	       count(s, "<text") == b->labels;
}

static void
test_launches(void)
{
	static struct world w;
	static struct bars b;
	size_t i, k, j, wrong = 0, unsorted = 0, shared = 0;
	struct gv_error e = {0};

	draws_begin(51, 0, 0);
	for (i = 0; i < 3000; i++) {
		bool of_jobs = i % 3 == 0;
		size_t n = of_jobs ? JOBS : LANES, seen = 0, all = 0;

		draw_world(&w, of_jobs);
		memset(w.first, 0xff, sizeof(w.first)); /* it is filled */
		sort_launches(&w.d, of_jobs, w.first);
		for (k = 0; k < n; k++) {
			double h = below(2) == 0 ? 30 : 12, y = (double)below(50);
			struct gv_strbuf s = {0};

			for (j = w.first[k]; j < w.first[k + 1]; j++, seen++) {
				const struct launch *r = &w.run[w.order[j]];

				unsorted +=
				    (of_jobs ? r->job : r->lane) != k ||
				    (of_jobs && r->next > 0) ||
				    (j > w.first[k] && w.order[j] <= w.order[j - 1]);
			}
			gv_strbuf_str(&s, "");
			w.d.s = (struct gv_svg){.out = gv_out_memory(&s)};
			gv_svg_open(&w.d.s, "g");
			draw_launches(&w.d, w.first[k], w.first[k + 1], of_jobs, y, h);
			gv_svg_close(&w.d.s);
			gv_out_close(w.d.s.out, &e);
			expect(&b, &w, k, of_jobs, y, h);
			wrong += !drawn(&b, s.s);
			shared += b.n > w.first[k + 1] - w.first[k];
			gv_strbuf_free(&s);
		}
		for (j = 0; j < w.h.n_runs; j++)
			all += !of_jobs || w.run[j].next == 0;
		unsorted += seen != all || w.first[0] != 0;
	}
	is_int(unsorted, 0, "launches by their lanes and jobs, in their order");
	is_int(wrong, 0, "each has the height while it runs, or its part of it");
	ok(shared > 1000, "some have parts: %zu", shared);
}

int
main(void)
{
	test_launches();
	return done_testing();
}
