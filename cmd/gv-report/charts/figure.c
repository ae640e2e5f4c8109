#include "figure.h"

#include <math.h>
#include <string.h>

#include "bars.h"
#include "cdf.h"
#include "levels.h"
#include "rounds.h"

static bool
has_completion(const struct runs *r)
{
	return any_number(r, offsetof(struct outcome, completion_s));
}

static bool
has_lengths(const struct runs *r)
{
	return r->n_short > 0 && r->n_long > 0;
}

static bool
has_queueing(const struct runs *r)
{
	return any_number(r, offsetof(struct outcome, queueing_s));
}

static bool
has_fairness(const struct runs *r)
{
	return any_number(r, offsetof(struct outcome, fairness));
}

static const struct {
	const char *name, *title;
	bool (*has)(const struct runs *r);
	double (*draw)(struct gv_svg *s, const struct runs *r, double y);
} figures[FIGURES] = {
    [FIGURE_MEASURES] = {"runs", "Runs side by side", any_measures, draw_measures},
    [FIGURE_COMPLETION] = {"completion", "Job completion time", has_completion,
	draw_completion},
    [FIGURE_LENGTHS] = {"lengths", "Completion time of short and long jobs", has_lengths,
	draw_lengths},
    [FIGURE_QUEUEING] = {"queueing", "Queueing", has_queueing, draw_queueing},
    [FIGURE_FAIRNESS] = {"fairness", "Finish-time fairness", has_fairness, draw_fairness},
    [FIGURE_BUSY] = {"busy", "GPUs busy", any_events, draw_busy},
    [FIGURE_WAITING] = {"waiting", "Jobs that wait", any_events, draw_waiting},
    [FIGURE_HELD] = {"held", "Who has the GPUs", any_events, draw_held},
    [FIGURE_ROUNDS] = {"rounds", "Rounds", any_gpus, draw_rounds},
};

const char *
figure_name(enum figure f)
{
	return figures[f].name;
}

bool
figure_has(const struct runs *r, enum figure f)
{
	return figures[f].has(r);
}

double
figure_draw(struct gv_svg *s, const struct runs *r, enum figure f, double y)
{
	return figures[f].draw(s, r, y);
}

void
figure_describe(struct gv_strbuf *b, const struct runs *r, enum figure f)
{
	size_t i;

	gv_strbuf_str(b, figures[f].title);
	if (r->n == 1)
		return;
	gv_strbuf_fmt(b, " of %zu runs:", r->n);
	for (i = 0; i < r->n && i < MOST_PANELS; i++)
		gv_strbuf_fmt(b, "%s %s", i > 0 ? "," : "", r->run[i].name);
}
