/* policy/told.h: what has changed is what a look at each job finds; rows say it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "draws.h"
#include "policy/told.h"
#include "tap.h"

enum { JOBS = 9, TRIALS = 20000 };

/* ---- which jobs ---- */

static size_t
draw_jobs(struct gv_told_job *job)
{
	static const double number[] = {0, 1, 2, NAN};
	size_t n = 0, m, k, rare = 1 + below(4);

	for (m = 0; m < JOBS; m++) {
		if (below(rare + 1) == 0)
			continue;
		job[n].job = 3 * m + 1;
		for (k = 0; k < GV_TOLD_NUMBERS; k++)
			job[n].number[k] = number[below(4)];
		n++;
	}
	return n;
}

/* The job of that number, n = there is none. */
static size_t
find(const struct gv_told_job *job, size_t n, size_t number)
{
	size_t i;

	for (i = 0; i < n && job[i].job != number; i++)
		continue;
	return i;
}

static bool
is_other(
    const struct gv_told *t, const struct gv_told_job *a, const struct gv_told_job *b)
{
	size_t k;

	for (k = 0; k < GV_TOLD_NUMBERS; k++) {
		double x = a->number[k], y = b->number[k];

		if (t->reads[k] && (isnan(x) != isnan(y) || (!isnan(x) && x != y)))
			return true;
	}
	return false;
}

/* Whether a list is that of each job that was told, then each that is new. */
static bool
is_right(const struct gv_told *t, const struct gv_told_job *now, size_t n,
    const struct gv_told_change *list, size_t count)
{
	size_t at = 0, i, k;

	for (i = 0; i < t->n; i++) {
		enum gv_told_kind kind = GV_TOLD_NOW;

		k = find(now, n, t->job[i].job);
		if (k < n && !is_other(t, &t->job[i], &now[k]))
			continue;
		if (k == n) {
			kind = GV_TOLD_GONE;
			k = i;
		}
		if (at == count || list[at].kind != kind || list[at].at != k ||
		    list[at].place != i)
			return false;
		at++;
	}
	for (i = 0; i < n; i++) {
		if (find(t->job, t->n, now[i].job) < t->n)
			continue;
		if (at == count || list[at].kind != GV_TOLD_NEW || list[at].at != i ||
		    list[at].place != i)
			return false;
		at++;
	}
	return at == count;
}

static void
test_random(void)
{
	struct gv_told t = {0};
	int wrong = 0, trial, changes = 0;
	size_t k;

	draws_begin(2, 5, 6);
	for (trial = 0; trial < TRIALS; trial++) {
		struct gv_told_job now[JOBS];
		struct gv_told_change *list;
		size_t n = draw_jobs(now), count;

		for (k = 0; k < GV_TOLD_NUMBERS; k++)
			t.reads[k] = below(2) > 0;
		count = gv_told_compare(&t, now, n, &list);
		wrong += !is_right(&t, now, n, list, count);
		changes += (int)count;
		free(list);
		gv_told_set(&t, now, n);
		wrong += t.n != n || (n > 0 && memcmp(t.job, now, n * sizeof(*now)) != 0);
	}
	t.follows = true;
	gv_told_forget(&t);
	ok(!t.follows && t.n == 0, "what is forgotten was not told");
	gv_told_free(&t);
	gv_told_free(&t);
	is_int(wrong, 0, "who is gone, has other numbers, is new: in order");
	ok(changes > TRIALS, "%d changes", changes);
}

/* ---- rows ---- */

static void
test_rows(void)
{
	static const struct gv_cell name[] = {{"job_id", 6}, {"isolated_elapsed_s", 18},
	    {"gpu_type", 8}, {"steps_remaining", 15}, {"elapsed_s", 9}};
	struct gv_told_job was[] = {{4, {10, 20, 30}}, {7, {1, 2, NAN}}};
	struct gv_told_job now = {7, {5, 3, NAN}};
	struct gv_told t = {.reads = {true, false, true}, .n = 2, .job = was};
	struct gv_told_change gone = {GV_TOLD_GONE, 0, 0}, other = {GV_TOLD_NOW, 0, 1},
			      new = {GV_TOLD_NEW, 1, 1};
	struct gv_strbuf b = {0};
	struct gv_out *out = gv_out_memory(&b);
	struct gv_error e = {0};
	struct gv_told_writer w;
	size_t k;

	gv_told_begin(&w, out, name, 5);
	gv_told_row(&w, &t, &gone, (struct gv_cell){"a", 1}, NULL);
	gv_told_row(&w, &t, &other, (struct gv_cell){"b", 1}, &now);
	now.number[GV_TOLD_ISOLATED] = 8;
	t.reads[GV_TOLD_ELAPSED] = true;
	gv_told_row(&w, &t, &other, (struct gv_cell){"b", 1}, &now);
	gv_told_new(&w, &new);
	for (k = 0; k < 5; k++)
		gv_tabw_int(&w.w, (int64_t)k);
	gv_tabw_end(&w.w);
	gv_told_end(&w);
	gv_out_close(out, &e);
	is_str(b.s,
	    "change,place,job_id,isolated_elapsed_s,gpu_type,steps_remaining,elapsed_s\n"
	    "gone,1,a,,,,\nnow,2,b,,,5,\nnow,2,b,8,,5,3\nnew,2,0,1,2,3,4\n",
	    "what is read and has changed, and no more");
	gv_strbuf_free(&b);
}

/* ---- what it reads ---- */

static void
reads(const char *list, bool first, bool second, bool third)
{
	struct gv_told t = {.reads = {true, true, true}};
	struct gv_error e = {0};
	struct gv_frame f;
	char text[200];

	snprintf(text, sizeof(text), "job_id,reads\na,%s\nb,;;;;;;;;\n", list);
	gv_frame_parse(&f, "x", text, strlen(text), &e);
	gv_told_hear(&t, &f);
	ok(t.follows && t.reads[0] == first && t.reads[1] == second &&
		t.reads[2] == third,
	    "reads %s", list);
	gv_frame_free(&f);
	gv_told_free(&t);
}

/* An answer in shares of two jobs, wherever its column stands. */
static void
test_pairs(void)
{
	static const char text[] = "with_job_id,job_id,reads\n,a,elapsed_s\n";
	struct gv_told t = {0};
	struct gv_error e = {0};
	struct gv_frame f;

	gv_frame_parse(&f, "x", text, strlen(text), &e);
	gv_told_hear(&t, &f);
	ok(!t.follows, "who answers in shares of two jobs is told all");
	gv_frame_free(&f);
	gv_told_free(&t);
}

int
main(void)
{
	test_pairs();
	test_random();
	test_rows();
	reads("", false, false, false);
	reads("steps_remaining", true, false, false);
	reads("elapsed_s;steps_remaining", true, true, false);
	reads(";;isolated_elapsed_s;", false, false, true);
	reads("elapsed_;elapsed_ss;xelapsed_s", false, false, false);
	reads("steps_remaining;elapsed_s;isolated_elapsed_s", true, true, true);
	reads("elapsed_t;isolated_elapsed_s", false, false, true);
	return done_testing();
}
