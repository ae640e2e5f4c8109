/* The report of a schedule in words and tables. */
#include <stdio.h>

#include "base/num.h"
#include "draw/svg.h"
#include "gv-report/page/grid.h"
#include "gv-report/page/page.h"
#include "schedule.h"

static const char *const column[] = {"stages", "gpus", "forward_ms", "backward_ms",
    "weight_ms", "reduce_ms", "busy_share", "bubble_share", "in_flight"};
enum { COLUMNS = sizeof(column) / sizeof(column[0]) };

/* ---- for people ---- */

static void
counts(struct gv_strbuf *b, const struct schedule *s)
{
	gv_strbuf_fmt(b, "%zu micro-batch%s, %zu stage%s, %zu GPU%s", s->n_micro_batches,
	    s->n_micro_batches == 1 ? "" : "es", s->n_stages, s->n_stages == 1 ? "" : "s",
	    s->n_gpus, s->n_gpus == 1 ? "" : "s");
}

/* Whether any GPU has the op. */
static bool
has(const struct schedule *s, enum gv_step_op op)
{
	size_t k;

	for (k = 0; k < s->n_steps; k++)
		if (s->step[k].op == op)
			return true;
	return false;
}

static void
places(struct gv_out *out, const struct schedule *s, int digits, bool html)
{
	static const char *const name[] = {
	    "forward", "backward", "weights", "all-reduce"};
	struct schedule_unit unit = schedule_unit(s);
	bool shown[GV_STEP_UPDATE], right[COLUMNS];
	struct grid g = {0};
	size_t i, k, n = 0;
	char text[40];

	g.n_columns = 5;
	for (k = 0; k < COLUMNS; k++)
		right[k] = k > 0;
	for (k = 0; k < GV_STEP_UPDATE; k++) {
		shown[k] = k <= GV_STEP_BACKWARD || has(s, (enum gv_step_op)k);
		g.n_columns += shown[k];
	}
	grid_str(&g, s->n_chunks > 1 ? "stages" : "stage");
	grid_str(&g, "GPUs");
	for (k = 0; k < GV_STEP_UPDATE; k++) {
		snprintf(text, sizeof(text), "%s %s", name[k], unit.name);
		if (shown[k])
			grid_str(&g, text);
	}
	grid_str(&g, "busy %");
	grid_str(&g, "bubble %");
	grid_str(&g, "in flight");
	for (i = 0; i < s->n_places; i++, n++) {
		const struct schedule_place *p = &s->place[i];

		grid_str(&g, p->stages);
		grid_number(&g, (double)p->gpus, 0);
		for (k = 0; k < GV_STEP_UPDATE; k++)
			if (shown[k])
				grid_number(&g, p->op_ms[k] / unit.ms, digits);
		grid_number(&g, 100 * p->busy_share, digits);
		grid_number(&g, 100 * (1 - p->busy_share), digits);
		grid_number(&g, (double)p->in_flight, 0);
	}
	if (html)
		grid_html(&g, right, out);
	else
		grid_print(&g, right, out);
	grid_free(&g);
}

/* A line of the summary. */
static void
line(struct gv_out *out, const char *label, const char *text, bool html)
{
	if (html)
		gv_out_fmt(out, "<dt>%s</dt><dd>%s</dd>\n", label, text);
	else
		grid_line(label, text, out);
}

static void
summary(struct gv_out *out, const struct schedule *s, int digits, bool html)
{
	struct schedule_unit unit = schedule_unit(s);
	double ms = s->end_ms - s->start_ms;
	char a[FIXED_LEN], b[FIXED_LEN];
	struct gv_strbuf text = {0};

	gv_strbuf_fmt(&text, "%s %s", fixed(a, ms / unit.ms, digits), unit.name);
	if (s->n_micro_batches > 0)
		gv_strbuf_fmt(&text, ", %s %s a micro-batch",
		    fixed(b, ms / unit.ms / (double)s->n_micro_batches, digits + 1),
		    unit.name);
	line(out, "time", text.s, html);
	gv_strbuf_clear(&text);
	gv_strbuf_fmt(&text, "busy %s %%, bubble %s %%",
	    fixed(a, 100 * s->busy_share, digits),
	    fixed(b, 100 * (1 - s->busy_share), digits));
	line(out, "GPUs", text.s, html);
	gv_strbuf_clear(&text);
	gv_strbuf_fmt(&text, "%zu on a GPU at most", s->in_flight);
	line(out, "in flight", text.s, html);
	gv_strbuf_free(&text);
}

void
schedule_text(struct gv_out *out, const struct schedule *s, int digits)
{
	struct gv_strbuf b = {0};

	counts(&b, s);
	gv_out_fmt(out, "%s\n", b.s);
	summary(out, s, digits, false);
	gv_out_char(out, '\n');
	places(out, s, digits, false);
	gv_strbuf_free(&b);
}

void
schedule_html(struct gv_out *out, const struct schedule *s, int digits)
{
	struct gv_strbuf b = {0};

	counts(&b, s);
	page_begin(out, b.s, b.len);
	schedule_svg(out, s, digits);
	gv_out_str(out, "<h2>Summary</h2>\n<dl>\n");
	summary(out, s, digits, true);
	gv_out_str(out, "</dl>\n<h2>Stages</h2>\n");
	places(out, s, digits, true);
	page_end(out);
	gv_strbuf_free(&b);
}

/* ---- for machines ---- */

/* What stands behind the stages. */
static void
values(const struct schedule_place *p, double v[COLUMNS - 1])
{
	size_t k;

	*v++ = (double)p->gpus;
	for (k = 0; k < GV_STEP_UPDATE; k++)
		*v++ = p->op_ms[k];
	*v++ = p->busy_share;
	*v++ = 1 - p->busy_share;
	*v = (double)p->in_flight;
}

void
schedule_table(struct gv_out *out, const struct schedule *s, bool tsv)
{
	double v[COLUMNS - 1];
	struct gv_tabw w;
	size_t i, k;

	gv_tabw_init(&w, out, tsv);
	for (k = 0; k < COLUMNS; k++)
		gv_tabw_str(&w, column[k]);
	gv_tabw_end(&w);
	for (i = 0; i < s->n_places; i++) {
		gv_tabw_str(&w, s->place[i].stages);
		values(&s->place[i], v);
		for (k = 0; k < COLUMNS - 1; k++)
			gv_tabw_double(&w, v[k]);
		gv_tabw_end(&w);
	}
}

void
schedule_json(struct gv_out *out, const struct schedule *s)
{
	char num[GV_NUM_LEN];
	double v[COLUMNS - 1];
	size_t i, k;

	gv_out_fmt(out, "{\n  \"micro_batches\": %zu,\n  \"gpus\": %zu,\n",
	    s->n_micro_batches, s->n_gpus);
	gv_format_double(num, s->end_ms - s->start_ms);
	gv_out_fmt(out, "  \"time_ms\": %s,\n", num);
	gv_format_double(num, s->busy_share);
	gv_out_fmt(out, "  \"busy_share\": %s,\n  \"in_flight\": %zu,\n  \"stages\": [",
	    num, s->in_flight);
	for (i = 0; i < s->n_places; i++) {
		gv_out_fmt(out, "%s\n    {\"stages\": \"%s\"", i > 0 ? "," : "",
		    s->place[i].stages);
		values(&s->place[i], v);
		for (k = 0; k < COLUMNS - 1; k++) {
			gv_format_double(num, v[k]);
			gv_out_fmt(out, ", \"%s\": %s", column[k + 1], num);
		}
		gv_out_char(out, '}');
	}
	gv_out_str(out, s->n_places > 0 ? "\n  ]\n}\n" : "]\n}\n");
}
