/*
 * What the search answers to models, machines and options of many shapes is what it answered:
 * plans and what they cost, and what of pipelines within a limit is looked at, to the last bit.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "gv-partition/graph/prefixes.h"
#include "gv-partition/search/search.h"
#include "partition_draws.h"

static struct recorded r;

/* ---- what is looked at ---- */

static void
arcs(const struct column *k, size_t a)
{
	struct arcs arcs = {0};
	size_t i, w;

	arcs_from(&arcs, k, a);
	recorded_whole(&r, (long long)arcs.n);
	for (i = 0; i < arcs.n; i++) {
		const struct arc *arc = &arcs.arc[i];

		recorded_whole(&r, arc->to);
		recorded_whole(&r, arc->most);
		recorded_whole(&r, arc->m);
		recorded_whole(&r, arc->only);
		recorded_whole(&r, arc->recompute);
		recorded_double(&r, arc->first);
		recorded_double(&r, arc->next);
		for (w = 1; w <= k->n; w++)
			recorded_whole(&r, arc_fits(k, arc, w));
	}
	free(arcs.arc);
}

static void
column(const struct column *k)
{
	size_t a, b;

	recorded_whole(&r, (long long)k->size);
	recorded_double(&r, k->limit_s);
	recorded_double(&r, k->gpus);
	recorded_double(&r, k->work_s);
	for (a = 0; a < k->size; a++) {
		recorded_whole(&r, k->prefix[a]);
		recorded_double(&r, k->source_s[a]);
		recorded_whole(&r, k->before[a]);
		recorded_whole(&r, k->behind[a]);
		for (b = a + 1; b < k->size; b++)
			if (ideals_sub(k->x->s, k->prefix[a], k->prefix[b])) {
				struct span span = column_span(k, a, b);

				recorded_whole(&r, (long long)span.low);
				recorded_whole(&r, (long long)span.high);
			}
		if (a + 1 < k->size && (size_t)k->before[a] + k->behind[a] <= k->n)
			arcs(k, a);
	}
	for (a = 0; a < k->x->s->n; a++)
		recorded_whole(&r, k->at[a]);
}

static void
times(const struct search *x, size_t level, const struct context *c)
{
	size_t i, k;

	for (i = 0; i < x->s->n; i++)
		for (k = i + 1; k < x->s->n; k++)
			recorded_double(
			    &r, times_get(x, level, c, (uint32_t)i, (uint32_t)k));
}

/* A column of pipelines to a prefix from some before it, within limits around a time. */
static void
ask_column(const struct search *x, double time_s)
{
	static const double part[] = {.5, .9, 1, 1 + 1e-9, 1.2, 1.5, 2, 4, INFINITY};
	size_t level = draw(x->m->n_levels), n = 0, i;
	uint32_t end = (uint32_t)(draw(2) == 0 ? x->s->n - 1 : 1 + draw(x->s->n - 1));
	struct source *source = gv_xcalloc(x->s->n, sizeof(*source));
	struct context c = {.base = draw(3)}, inside;
	bool many = draw(2) == 0;
	struct column k;

	c.copies = 1 + draw(2);
	for (i = 0; i < end; i++) {
		double limit = time_s * part[draw(9)];

		if (ideals_sub(x->s, i, end) && (n == 0 || (many && draw(3) == 0)))
			source[n++] = (struct source){(uint32_t)i, limit, -1};
	}
	if (level + 1 == x->m->n_levels)
		c = (struct context){0, 1};
	column_open(&k, x, level, &c, end, source, n);
	column(&k);
	column_times(&k, source, n);
	for (i = 0; i < n; i++)
		recorded_double(&r, source[i].time_s);
	for (i = 1; level > 0 && i <= k.n; i++) {
		inside = search_inside(x, level, &c, k.n, i);
		times(x, level - 1, &inside);
		recorded_whole(&r, (long long)inside.base);
		recorded_whole(&r, (long long)search_in_flight(x, &c, k.n, i));
	}
	column_close(&k);
	recorded_whole(&r, k.size == 0 && k.prefix == NULL && k.n == 0);
	free(source);
}

static void
ask_flights(const struct search *x)
{
	size_t i, k, pass, kept, recomputed;

	recorded_whole(&r, x->flights != NULL);
	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < x->s->n; i++)
			for (k = i + 1; k < x->s->n; k++) {
				search_flights(x, i, k, &kept, &recomputed);
				recorded_whole(&r, (long long)kept);
				recorded_whole(&r, (long long)recomputed);
			}
}

/* Some layers' costs, and the plan of the whole as if it took time_s. */
static void
ask_parts(const struct ideals *s, const struct gv_machine *m,
    const struct search_options *o, double time_s)
{
	struct search x = {.s = s,
	    .m = m,
	    .o = o,
	    .gpus = gv_machine_component(m, m->n_levels),
	    .limit_s = time_s * (draw(2) == 0 ? 1 + 1e-11 : 1.3)};
	uint32_t *pick = gv_xcalloc(s->n, sizeof(*pick));
	struct gv_plan p = {0};
	size_t i, n;

	x.times = times_new();
	x.flights = search_flights_new(&x);
	ask_flights(&x);
	ask_column(&x, time_s);
	recorded_double(&r, search_path(&p, &x));
	recorded_plan(&r, &p, 0);
	gv_plan_free(&p);
	n = search_few(pick, s, 1 + draw(2 * s->n));
	recorded_whole(&r, (long long)n);
	for (i = 0; i < n; i++)
		recorded_whole(&r, pick[i]);
	recorded_whole(&r, search_limited(&x));
	for (i = 0; i < m->n_levels; i++)
		recorded_whole(&r, search_whole(&x, i));
	times_free(x.times);
	free(x.flights);
	free(pick);
}

/* ---- plans ---- */

static void
told(size_t done, size_t of)
{
	recorded_whole(&r, (long long)done);
	recorded_whole(&r, (long long)of);
}

static void
least(const struct least_memory *l)
{
	recorded_double(&r, l->bytes);
	recorded_whole(&r, (long long)l->first);
	recorded_whole(&r, (long long)l->end);
	recorded_whole(&r, (long long)l->replicas);
	recorded_whole(&r, (long long)l->in_flight);
}

/* The time of the plan; 1 where there is none. */
static double
ask_plan(const struct gv_graph *g, const struct ideals *s, const struct gv_machine *m,
    const struct search_options *o)
{
	struct gv_plan p;
	struct plan_report report = {0};
	struct gv_error e = {0};
	struct least_memory l;
	size_t replicas = 0;
	double time_s = 1;

	memset(&p, 1, sizeof(p)); /* what stands in it does not matter */
	recorded_whole(&r, plan_search(&p, s, g->n, m, o));
	recorded_plan(&r, &p, g->n);
	if (p.n > 0) {
		recorded_whole(
		    &r, plan_evaluate(&report, &p, g, m, &o->rules, IDEALS_ALL, &e));
		recorded_report(&r, &report);
		if (report.bottleneck_s > 0)
			time_s = report.bottleneck_s;
		plan_report_free(&report);
		recorded_whole(
		    &r, (long long)plan_too_wide(&p, m->n_levels, draw(4), &replicas));
		recorded_whole(&r, (long long)replicas);
	}
	if (gv_machine_component(m, m->n_levels) <= 20) {
		l = plan_least_memory(s, m, o);
		least(&l);
	}
	gv_plan_free(&p);
	return time_s;
}

static struct gv_machine
machine(size_t most)
{
	static const size_t levels[] = {1, 1, 2, 2, 3, 4}, gpus[] = {12, 12, 4, 3, 2, 2};
	size_t i = draw(6);

	return drawn_machine(levels[i], gpus[i] < most ? gpus[i] : most);
}

/* Of up to so many layers and prefixes. */
static void
ask(size_t seed, size_t most, size_t limit, size_t gpus)
{
	struct drawn *d = gv_xcalloc(1, sizeof(*d));
	struct search_options o;
	struct gv_machine m;
	struct prefixes x;
	double time_s;

	draws_begin(seed, 41, 1);
	drawn_graph(d, most);
	m = machine(gpus);
	o = drawn_options(&d->g, draw(2) == 0);
	prefixes_make(&x, &d->g, (enum ideals_kind)draw(2), limit, limit);
	if (draw(4) == 0 || limit > 500)
		o.progress = told;
	time_s = ask_plan(&d->g, &x.s, &m, &o);
	ask_parts(&x.s, &m, &o, time_s);
	prefixes_free(&x);
	free(d);
}

static void
ask_many(size_t first, size_t n, size_t most, size_t limit, size_t gpus)
{
	size_t i;

	for (i = first; i < first + n; i++) {
		ask(i, most, limit, gpus);
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
	ask_many(0, 1000, 6, 40, 12);
	ask_many(1000, 200, 12, 90, 12);
	ask_many(1200, 20, 40, 180, 4);
	ask_many(1220, 10, 150, 60, 4);
	ask_many(1230, 10, 90, 300, 4);
	ask_many(1240, 10, 40, 700, 2);
	recorded_close(&r);
	return done_testing();
}
