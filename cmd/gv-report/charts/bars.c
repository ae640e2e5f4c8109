#include "bars.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw/text.h"

enum { COLUMNS = 3, MOST_RUNS = 24 };

static const struct {
	enum measure m;
	const char *title;
} shown[] = {
    {M_COMPLETION_MEAN, "Mean completion time"},
    {M_COMPLETION_P99, "99th percentile of completion time"},
    {M_MAKESPAN, "Makespan"},
    {M_FAIRNESS_MEAN, "Mean finish-time fairness"},
    {M_FAIRNESS_MAX, "Worst finish-time fairness"},
    {M_UTILISATION, "GPUs busy"},
    {M_USD, "Cost"},
    {M_DEADLINES_MISSED, "Deadlines missed"},
    {M_PREEMPTIONS, "Preemptions"},
};

enum { SHOWN = sizeof(shown) / sizeof(shown[0]) };

/* Of how many runs a measure says something: nothing is drawn of one, or of 0 alone. */
static bool
is_shown(const struct runs *r, enum measure m)
{
	size_t i, n = 0;
	double most = 0;

	for (i = 0; i < r->n; i++) {
		n += !isnan(r->run[i].value[m]);
		most = fmax(most, r->run[i].value[m]);
	}
	return n > 1 && most > 0;
}

bool
any_measures(const struct runs *r)
{
	size_t i;

	for (i = 0; i < SHOWN; i++)
		if (is_shown(r, shown[i].m))
			return true;
	return false;
}

/* The value as people read it, with its unit. */
static void
show(char buf[40], enum measure m, double v, struct time_unit unit)
{
	char number[GV_TICK_LEN];

	if (isnan(v))
		snprintf(buf, 40, "-");
	else if (measures[m].kind == OF_SECONDS)
		snprintf(buf, 40, "%.4g %s", v / unit.s, unit.name);
	else if (measures[m].kind == OF_SHARE)
		snprintf(buf, 40, "%.1f %%", 100 * v);
	else
		snprintf(
		    buf, 40, "%s%s", gv_show_number(number, v), m == M_USD ? " USD" : "");
}

static double
draw_measure(struct gv_svg *s, const struct runs *r, size_t which, struct gv_box box)
{
	enum measure m = shown[which].m;
	size_t n = r->n < MOST_RUNS ? r->n : MOST_RUNS, i;
	struct gv_bar bar[MOST_RUNS];
	char text[MOST_RUNS][40];
	double most = 0, mean = 0, name_w = 40;

	for (i = 0; i < n; i++) {
		most = fmax(most, r->run[i].value[m]);
		mean = fmax(mean, r->run[i].value[M_COMPLETION_MEAN]);
		name_w =
		    fmax(name_w, gv_text_px(r->run[i].name, strlen(r->run[i].name)) + 10);
	}
	for (i = 0; i < n; i++) {
		const struct run *run = &r->run[i];

		show(text[i], m, run->value[m], unit_of_job(mean));
		bar[i] = (struct gv_bar){
		    run->name, strlen(run->name), run->value[m], text[i], i};
	}
	if (measures[m].kind == OF_SHARE)
		most = 1;
	return gv_bars(s, box, shown[which].title, fmin(name_w, 110), most, bar, n);
}

double
draw_measures(struct gv_svg *s, const struct runs *r, double y)
{
	size_t n = r->n < MOST_RUNS ? r->n : MOST_RUNS, i, k = 0;
	double h = 22 + (double)n * GV_BAR_H + 18, head;
	char note[80];

	snprintf(note, sizeof(note), "The first %d of %zu runs.", MOST_RUNS, r->n);
	head =
	    frame_head(s, y, "Runs side by side", r->n > MOST_RUNS ? note : NULL, NULL);
	for (i = 0; i < SHOWN; i++) {
		struct gv_box box = {
		    FRAME_X + (double)(k % COLUMNS) * (INNER_W / COLUMNS),
		    y + head + (double)(k / COLUMNS) * h, INNER_W / COLUMNS - 16, h};

		if (!is_shown(r, shown[i].m))
			continue;
		if (s != NULL)
			draw_measure(s, r, i, box);
		k++;
	}
	return head + (double)((k + COLUMNS - 1) / COLUMNS) * h;
}
