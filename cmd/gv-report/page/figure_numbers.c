#include "figure_numbers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grid.h"
#include "gv-report/charts/frame.h"

/* ---- how numbers lie ---- */

static const struct {
	const char *head;
	size_t percent;
} quantiles[] = {{"p5", 5}, {"p25", 25}, {"median", 50}, {"p75", 75}, {"p95", 95},
    {"p99", 99}, {"longest", 100}};

enum { QUANTILES = sizeof(quantiles) / sizeof(quantiles[0]) };

static void
quantile_head(struct grid *g, const char *unit)
{
	char head[48];
	size_t i;

	grid_str(g, "run");
	grid_str(g, "jobs");
	snprintf(head, sizeof(head), "mean%s%s", unit[0] != '\0' ? " " : "", unit);
	grid_str(g, head);
	for (i = 0; i < QUANTILES; i++) {
		snprintf(head, sizeof(head), "%s%s%s",
		    unit[0] == '\0' && i + 1 == QUANTILES ? "worst" : quantiles[i].head,
		    unit[0] != '\0' ? " " : "", unit);
		grid_str(g, head);
	}
}

/* What the median is, with two middle ones, others say too. */
static double
quantile(const struct numbers *of, const struct spread *s, size_t i)
{
	if (of->n == 0)
		return NAN;
	if (quantiles[i].percent == 50)
		return s->median;
	return of->v[(quantiles[i].percent * of->n + 99) / 100 - 1];
}

static void
quantile_table(
    struct gv_out *out, const struct runs *r, size_t offset, bool is_time, int digits)
{
	bool right[QUANTILES + 3] = {false};
	struct grid g = {.n_columns = QUANTILES + 3};
	struct time_unit unit = {"", 1};
	double mean = 0;
	size_t i, k;

	for (i = 0; i < r->n; i++) {
		struct spread s;

		free(run_numbers(&r->run[i], offset, LENGTH_UNKNOWN, &s).v);
		mean = fmax(mean, s.mean);
	}
	if (is_time)
		unit = unit_of_job(mean);
	quantile_head(&g, unit.name);
	for (i = 1; i < g.n_columns; i++)
		right[i] = true;
	for (i = 0; i < r->n; i++) {
		struct spread s;
		struct numbers of = run_numbers(&r->run[i], offset, LENGTH_UNKNOWN, &s);

		grid_text(&g, r->run[i].name, strlen(r->run[i].name));
		grid_number(&g, (double)of.n, 0);
		grid_number(&g, s.mean / unit.s, is_time ? digits : digits + 2);
		for (k = 0; k < QUANTILES; k++)
			grid_number(&g, quantile(&of, &s, k) / unit.s,
			    is_time ? digits : digits + 2);
		free(of.v);
	}
	grid_html(&g, right, out);
	grid_free(&g);
}

/* ---- levels ---- */

static double
mean_level(const struct bins *b, double end_s)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < BINS; i++)
		sum += b->sum[i];
	return end_s > 0 ? sum / end_s : NAN;
}

static void
types_table(struct gv_out *out, const struct runs *r, int digits)
{
	static const bool right[] = {false, false, true, true, true};
	struct grid g = {.n_columns = 5};
	size_t i, k;

	grid_str(&g, "run");
	grid_str(&g, "GPU type");
	grid_str(&g, "GPUs");
	grid_str(&g, "busy on average");
	grid_str(&g, "busy %");
	for (i = 0; i < r->n; i++) {
		const struct run *run = &r->run[i];

		for (k = 0; k < run->over.n_types; k++) {
			const struct run_type *t = &run->type[run->type_of[k]];
			double busy = mean_level(&run->over.busy[k], run->end_s);

			grid_text(&g, run->name, strlen(run->name));
			grid_text(&g, t->name, t->name_len);
			grid_number(&g, t->gpus, 0);
			grid_number(&g, busy, digits);
			grid_number(&g, 100 * t->utilisation, digits);
		}
	}
	grid_html(&g, right, out);
	grid_free(&g);
}

static void
waiting_table(struct gv_out *out, const struct runs *r, int digits)
{
	static const bool right[] = {false, true, true, true};
	struct grid g = {.n_columns = 4};
	size_t i;

	grid_str(&g, "run");
	grid_str(&g, "jobs there, on average");
	grid_str(&g, "running");
	grid_str(&g, "waiting");
	for (i = 0; i < r->n; i++) {
		const struct run *run = &r->run[i];
		double active = mean_level(&run->active, run->end_s);
		double running = mean_level(&run->over.running, run->end_s);

		grid_text(&g, run->name, strlen(run->name));
		grid_number(&g, active, digits);
		grid_number(&g, running, digits);
		grid_number(&g, active - running, digits);
	}
	grid_html(&g, right, out);
	grid_free(&g);
}

static void
rounds_table(struct gv_out *out, const struct runs *r, int digits)
{
	static const bool right[] = {false, true, true, true, true};
	struct grid g = {.n_columns = 5};
	size_t i;

	grid_str(&g, "run");
	grid_str(&g, "GPUs");
	grid_str(&g, "launches");
	grid_str(&g, "preemptions");
	grid_str(&g, "launches a job");
	for (i = 0; i < r->n; i++) {
		const struct run *run = &r->run[i];

		grid_text(&g, run->name, strlen(run->name));
		grid_number(&g, (double)run->n_gpus, 0);
		grid_number(&g, run->value[M_LAUNCHES], 0);
		grid_number(&g, run->value[M_PREEMPTIONS], 0);
		grid_number(&g, run->value[M_LAUNCHES] / run->value[M_JOBS], digits);
	}
	grid_html(&g, right, out);
	grid_free(&g);
}

void
figure_numbers(struct gv_out *out, const struct runs *r, enum figure f, int digits)
{
	switch (f) {
	case FIGURE_COMPLETION:
		quantile_table(
		    out, r, offsetof(struct outcome, completion_s), true, digits);
		break;
	case FIGURE_QUEUEING:
		quantile_table(
		    out, r, offsetof(struct outcome, queueing_s), true, digits);
		break;
	case FIGURE_FAIRNESS:
		quantile_table(out, r, offsetof(struct outcome, fairness), false, digits);
		break;
	case FIGURE_BUSY:
		types_table(out, r, digits);
		break;
	case FIGURE_WAITING:
		waiting_table(out, r, digits);
		break;
	case FIGURE_ROUNDS:
		rounds_table(out, r, digits);
		break;
	default:
		break;
	}
}
