/*
 * Any bytes as a table of layers and one of edges.  Holds: what can be read can be
 * planned; the plan written is read again, and costs what was found.  A plan that the
 * columns describe is costed or refused.
 */
#include <math.h>

#include "base/strbuf.h"
#include "file.h"
#include "plan/layers.h"
#include "gv-partition/graph/prefixes.h"
#include "gv-partition/search/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *s, size_t len);

static const struct gv_machine machine = {
    .n_levels = 2, .gpus = {2, 2}, .bytes_per_s = {1e9, 1e8}};

static bool
close_to(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fmax(a, b);
}

/* What the plan in the columns costs; -1 when there is none. */
static double
costs(const struct gv_layers *l, const struct cost_rules *rules)
{
	struct gv_plan p = {0};
	struct plan_report r = {0};
	struct gv_error e = {0};
	struct gv_machine m = machine;
	double time_s = -1;
	bool flat = false;

	if (gv_plan_read(&p, l, &m, &flat, &e) == 0) {
		if (flat)
			gv_machine_flatten(&m);
		if (plan_evaluate(&r, &p, &l->g, &m, rules, IDEALS_ALL, &e) == 0) {
			time_s = r.bottleneck_s;
			HOLDS(isfinite(time_s) && time_s >= 0);
			plan_report_free(&r);
		}
	}
	gv_plan_free(&p);
	return time_s;
}

static double
planned(const struct gv_layers *l, const struct search_options *o, struct gv_strbuf *text)
{
	struct prefixes x;
	struct gv_plan p;
	struct plan_report r;
	struct gv_error e = {0};
	struct gv_out *out = gv_out_memory(text);
	double time_s;

	prefixes_make(&x, &l->g, IDEALS_ALL, 40, 40);
	HOLDS(plan_search(&p, &x.s, l->g.n, &machine, o) == SEARCH_FOUND);
	HOLDS(plan_evaluate(&r, &p, &l->g, &machine, &o->rules, IDEALS_ALL, &e) == 0);
	time_s = r.bottleneck_s;
	gv_plan_write(l, &p, &machine, out, false);
	HOLDS(gv_out_close(out, &e) == 0);
	plan_report_free(&r);
	gv_plan_free(&p);
	prefixes_free(&x);
	return time_s;
}

int
LLVMFuzzerTestOneInput(const uint8_t *s, size_t len)
{
	struct search_options o = {.rules = {.recompute = RECOMPUTE_AUTO}};
	struct gv_strbuf text = {0};
	struct gv_layers l = {0}, again = {0};
	struct gv_error e = {0};
	double time_s;

	if (gv_layers_read(&l, as_file(0, s, len), NULL, &e) == 0) {
		o.rules.model = l.g.n % 2 == 0 ? COST_PAPER : COST_COMPAT;
		costs(&l, &o.rules);
		time_s = planned(&l, &o, &text);
		HOLDS(
		    gv_layers_read(&again, as_file(1, text.s, text.len), NULL, &e) == 0);
		HOLDS(close_to(costs(&again, &o.rules), time_s));
	}
	gv_layers_free(&l);
	gv_layers_free(&again);
	gv_strbuf_free(&text);
	return 0;
}
