/*
 * What the search for placed pipelines answers to models, machines and options of many shapes
 * is what it answered: plans, what they cost, and which pipelines are within a limit.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "gv-partition/graph/prefixes.h"
#include "gv-partition/placed/placed_trial.h"
#include "partition_draws.h"

static struct recorded r;

static void
terms(struct stage_terms t)
{
	recorded_double(&r, t.compute_s);
	recorded_double(&r, t.sync_s);
	recorded_double(&r, t.transfer_s);
	recorded_double(&r, t.load_s);
}

static void
ask_links(const struct gv_machine *m, const struct cost_rules *rules)
{
	struct links x = links_of(m);
	struct stage_size size = {.time_s = uniform()};
	size_t l, i, n;

	size.parameter = uniform();
	recorded_whole(&r, (long long)x.n);
	recorded_whole(&r, (long long)x.n_levels);
	for (l = 0; l < x.n_levels; l++) {
		recorded_whole(&r, (long long)x.group[l]);
		recorded_whole(&r, (long long)x.at[l].n_levels);
		recorded_whole(&r, (long long)x.at[l].gpus[0]);
		recorded_double(&r, x.at[l].bytes_per_s[0]);
		recorded_double(&r, x.at[l].sum_bytes_per_s[0]);
		n = 1 + draw(4);
		terms(links_stage(&x, rules, l, &size, n));
		recorded_double(&r, links_transfer(&x, rules, l, 3, n, false));
		recorded_double(&r, links_transfer(&x, rules, l, 3, n, true));
	}
	for (i = 0; i < x.n; i++)
		for (n = 1; i + n <= x.n; n++)
			recorded_whole(&r, (long long)links_level(&x, i, n));
}

/* ---- what is within a limit ---- */

static void
part(const struct placed_trial *x, size_t a, size_t b, size_t m)
{
	struct part p = part_of(x, a, b);
	struct part_load load;
	size_t l, w;

	recorded_whole(&r, (long long)p.kept);
	recorded_whole(&r, (long long)p.recomputed);
	recorded_double(&r, p.forward_s);
	part_loads(&load, x, &p, m);
	for (l = 0; l < x->links.n_levels; l++) {
		recorded_double(&r, load.own[0][l]);
		recorded_double(&r, load.own[1][l]);
		recorded_double(&r, load.in[l]);
		recorded_double(&r, load.out[l]);
	}
	recorded_whole(&r, (long long)load.n_own[0]);
	recorded_whole(&r, (long long)load.n_own[1]);
	recorded_whole(&r, (long long)load.n_in);
	recorded_whole(&r, (long long)load.n_out);
	for (w = 1; w <= x->links.n; w++)
		recorded_whole(&r, (long long)part_flight(load.fits, w));
}

static void
trial(const struct placed_trial *x)
{
	size_t stride = x->links.n + 1, a, b, w;

	recorded_whole(&r, (long long)x->k.size);
	for (a = 0; a < x->k.size; a++) {
		recorded_whole(&r, x->k.before[a]);
		recorded_whole(&r, x->k.behind[a]);
		for (w = 0; w < stride; w++) {
			recorded_whole(&r, x->kinds[a * stride + w]);
			recorded_whole(&r, x->n_in[a * stride + w]);
			recorded_whole(&r, x->n_out[a * stride + w]);
		}
		for (b = a + 1; b < x->k.size; b++)
			if (ideals_sub(x->s, x->k.prefix[a], x->k.prefix[b])) {
				struct span span = column_span(&x->k, a, b);

				recorded_whole(&r, (long long)span.low);
				recorded_whole(&r, (long long)span.high);
				part(x, a, b, 1 + draw(x->links.n));
			}
	}
}

static void
ask_trials(const struct ideals *s, const struct gv_machine *m,
    const struct search_options *o, double time_s)
{
	static const double times[] = {.5, .9, 1, 1 + 1e-12, 1.3, 2};
	struct placed_trial x;
	struct gv_plan p = {0};
	size_t i, l;

	placed_open(&x, s, m, o);
	for (i = 0; i < x.links.n_levels; i++)
		for (l = 0; l <= x.links.n_levels; l++)
			recorded_whole(&r, x.after[i][l]);
	for (i = 0; i < 3; i++) {
		bool within = placed_try(&x, time_s * times[draw(6)]);

		recorded_whole(&r, within);
		trial(&x);
		if (within) {
			recorded_double(&r, placed_path(&x, &p));
			recorded_plan(&r, &p, 0);
			gv_plan_free(&p);
		}
	}
	placed_close(&x);
	recorded_whole(&r, x.level == NULL && x.kinds == NULL && x.n_in == NULL &&
			       x.n_out == NULL && x.k.prefix == NULL);
}

/* ---- plans ---- */

static void
told(size_t done, size_t of)
{
	recorded_whole(&r, (long long)done);
	recorded_whole(&r, (long long)of);
}

static double
ask_plan(const struct gv_graph *g, const struct ideals *s, const struct gv_machine *m,
    const struct search_options *o)
{
	struct gv_plan p;
	struct plan_report report = {0};
	struct gv_error e = {0};
	double time_s = 1;

	memset(&p, 1, sizeof(p)); /* what stands in it does not matter */
	recorded_whole(&r, placed_search(&p, s, g->n, m, o));
	recorded_plan(&r, &p, g->n);
	if (p.n > 0) {
		recorded_whole(&r, placed_evaluate(&report, &p, g, m, &o->rules,
				       (enum ideals_kind)draw(2), &e));
		recorded_report(&r, &report);
		if (report.bottleneck_s > 0)
			time_s = report.bottleneck_s;
		plan_report_free(&report);
		p.stage[draw(p.n)].replicas[0] = 1 + draw(30);
		recorded_whole(
		    &r, placed_evaluate(&report, &p, g, m, &o->rules, IDEALS_ALL, &e));
		recorded_report(&r, &report);
		recorded_error(&r, &e);
		plan_report_free(&report);
	}
	gv_plan_free(&p);
	return time_s;
}

/* Of up to so many layers and prefixes. */
static void
ask(size_t seed, size_t most, size_t limit)
{
	static const size_t levels[] = {1, 2, 2, 2, 3, 4}, gpus[] = {8, 4, 5, 3, 3, 2};
	struct drawn *d = gv_xcalloc(1, sizeof(*d));
	struct search_options o;
	struct gv_machine m;
	struct prefixes x;
	size_t machine;
	double time_s;

	draws_begin(seed, 43, 1);
	drawn_graph(d, most);
	machine = draw(6);
	m = drawn_machine(levels[machine], gpus[machine]);
	o = drawn_options(&d->g, draw(2) == 0);
	prefixes_make(&x, &d->g, (enum ideals_kind)draw(2), limit, limit);
	if (draw(4) == 0 || limit > 500)
		o.progress = told;
	ask_links(&m, &o.rules);
	time_s = ask_plan(&d->g, &x.s, &m, &o);
	ask_trials(&x.s, &m, &o, time_s);
	prefixes_free(&x);
	free(d);
}

static void
ask_many(size_t first, size_t n, size_t most, size_t limit)
{
	size_t i;

	for (i = first; i < first + n; i++) {
		ask(i, most, limit);
		if ((i + 1) % 10 == 0)
			recorded_answer(&r,
			    "models %zu to %zu, up to %zu layers, %zu prefixes", i - 9, i,
			    most, limit);
	}
}

int
main(void)
{
	recorded_open(&r);
	ask_many(0, 1000, 6, 40);
	ask_many(1000, 200, 12, 90);
	ask_many(1200, 10, 40, 180);
	ask_many(1210, 10, 40, 700);
	recorded_close(&r);
	return done_testing();
}
