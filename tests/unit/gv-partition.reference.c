/*
 * Plans against those that PipeDream's program made (reference_plans.csv), and
 * the small cases that were proved by enumeration.
 */
#include <stdlib.h>

#include "base/num.h"
#include "gv-partition/search/plan.h"
#include "plan/layers.h"
#include "table/tab.h"
#include "tap.h"

static char dir[4096];

static void
path_of(char path[8192], struct gv_cell model, const char *kind)
{
	snprintf(path, 8192, "%s/%.*s.%s.csv", dir, (int)model.len, model.s, kind);
}

static int
read_model(struct gv_layers *l, struct gv_cell model)
{
	struct gv_error e = {0};
	char rows[8192], edges[8192];

	path_of(rows, model, "layers");
	path_of(edges, model, "edges");
	if (gv_layers_read(l, rows, edges, &e) == 0)
		return 0;
	printf("# %s\n", e.text[0]);
	return -1;
}

/* "4x2" and "1e9;1e8" */
static void
read_machine(struct gv_machine *m, struct gv_cell gpus, struct gv_cell bandwidth)
{
	const char *p = gpus.s, *q = bandwidth.s;
	char *end;

	memset(m, 0, sizeof(*m));
	do {
		m->gpus[m->n_levels] = strtoul(p, &end, 10);
		p = end + 1;
		m->bytes_per_s[m->n_levels++] = strtod(q, &end);
		q = end + 1;
	} while (p[-1] == 'x');
}

static bool
has_option(struct gv_cell c, const char *option)
{
	return strstr(c.s, option) != NULL;
}

static double
bottleneck(const struct gv_layers *l, const struct ideals *s, const struct gv_machine *m,
    const struct search_options *o, enum ideals_kind kind)
{
	struct gv_plan p = {0};
	struct plan_report r = {0};
	struct gv_error e = {0};
	double t = -1;

	if (plan_search(&p, s, l->g.n, m, o) == SEARCH_FOUND &&
	    plan_evaluate(&r, &p, &l->g, m, &o->rules, kind, &e) == 0)
		t = r.bottleneck_s;
	else
		printf("# %s\n", e.text[0]);
	plan_report_free(&r);
	gv_plan_free(&p);
	return t;
}

static double
cell(const struct gv_frame *f, size_t row, const char *name)
{
	struct gv_error e = {0};
	double v = NAN;

	gv_frame_double(f, row, gv_frame_find(f, name), NAN, &v, &e);
	return v;
}

static struct gv_cell
text(const struct gv_frame *f, size_t row, const char *name)
{
	return gv_frame_cell(f, row, gv_frame_find(f, name));
}

/*
 * One row.  Where it has a memory limit ours is planned without: the published
 * rule counts nothing for the last stage and forbids what fits (see the
 * reference, b.4), so that its plans are as fast as ours at most.
 */
static void
check_row(
    const struct gv_frame *f, size_t i, const struct gv_layers *l, const struct ideals *s)
{
	struct gv_cell gpus = text(f, i, "gpus_per_level"), model = text(f, i, "model");
	struct gv_cell options = text(f, i, "options");
	struct gv_machine m;
	struct search_options o = {
	    .rules = {.model = COST_COMPAT, .micro_batches = 1}, .use = USE_ALL};
	double want = cell(f, i, "bottleneck_s"), got;
	bool good;

	read_machine(&m, gpus, text(f, i, "bandwidth_bytes_per_s"));
	o.rules.free_transfers = has_option(options, "no-activation-cost");
	o.straight = has_option(options, "straight");
	if (has_option(options, "fewer"))
		o.use = USE_UP_TO;
	got = bottleneck(l, s, &m, &o, IDEALS_UPSTREAM);
	good = fabs(got - want) <= 1e-9 * want;
	if (has_option(options, "mem="))
		good = got > 0 && got <= want * (1 + 1e-9);
	ok(good, "%s on %s, %s, %s: %.12g", model.s, gpus.s,
	    text(f, i, "bandwidth_bytes_per_s").s, options.s, got);
	if (!good)
		printf("#   got %.12g, want %.12g\n", got, want);
}

static void
published(void)
{
	struct gv_frame f = {0};
	struct gv_error e = {0};
	struct gv_layers l = {0};
	struct ideals s = {0};
	struct gv_cell last = {"", 0};
	char path[8192];
	size_t i;

	snprintf(path, sizeof(path), "%s/reference_plans.csv", dir);
	if (gv_frame_load(&f, path, &e) != 0) {
		skip("no shared data: no %s", path);
		return;
	}
	for (i = 0; i < f.n_rows; i++) {
		struct gv_cell model = text(&f, i, "model");

		if (!gv_cell_equal(model, last)) {
			gv_layers_free(&l);
			ideals_free(&s);
			read_model(&l, model);
			ideals_make(&s, &l.g, IDEALS_UPSTREAM, NULL, 0, 4000);
			is_int(s.n - 1, (long long)cell(&f, i, "states"), "%s: prefixes",
			    model.s);
			last = model;
		}
		check_row(&f, i, &l, &s);
	}
	gv_layers_free(&l);
	ideals_free(&s);
	gv_frame_free(&f);
}

static void
check_small(const struct gv_frame *f, size_t i, enum cost_model model,
    enum ideals_kind kind, const char *column)
{
	struct search_options o = {
	    .rules = {.model = model, .micro_batches = 1}, .use = USE_ALL};
	double want = cell(f, i, column);
	struct gv_layers l = {0};
	struct ideals s = {0};
	struct gv_machine m;

	read_machine(
	    &m, text(f, i, "gpus_per_level"), text(f, i, "bandwidth_bytes_per_s"));
	o.straight = has_option(text(f, i, "options"), "straight");
	read_model(&l, text(f, i, "profile"));
	ideals_make(&s, &l.g, kind, NULL, 0, 4000);
	is_near(bottleneck(&l, &s, &m, &o, kind) / want, 1, 1e-9, "%s, %s",
	    text(f, i, "case_id").s, column);
	gv_layers_free(&l);
	ideals_free(&s);
}

static void
proved(void)
{
	struct gv_frame f = {0};
	struct gv_error e = {0};
	char path[8192];
	size_t i;

	snprintf(path, sizeof(path), "%s/small_cases.csv", dir);
	if (gv_frame_load(&f, path, &e) != 0) {
		skip("no shared data: no %s", path);
		return;
	}
	for (i = 0; i < f.n_rows; i++) {
		check_small(
		    &f, i, COST_COMPAT, IDEALS_UPSTREAM, "true_optimum_compat_refcut_s");
		check_small(
		    &f, i, COST_COMPAT, IDEALS_ALL, "true_optimum_compat_truecut_s");
		check_small(&f, i, COST_PAPER, IDEALS_ALL, "true_optimum_paper_s");
	}
	gv_frame_free(&f);
}

int
main(void)
{
	const char *shared = getenv("GV_SHARED");

	snprintf(
	    dir, sizeof(dir), "%s/data/pipedream", shared != NULL ? shared : "../shared");
	proved();
	published();
	return done_testing();
}
