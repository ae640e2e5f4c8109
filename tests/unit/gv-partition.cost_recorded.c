/*
 * What stages and drawn plans cost is what they cost, to the last bit; so are words of loads
 * and the cuts that balance them.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "gv-partition/graph/prefixes.h"
#include "gv-partition/search/balance.h"
#include "gv-partition/search/search.h"
#include "partition_draws.h"

static struct recorded r;

/* ---- a stage ---- */

static struct stage_size
drawn_size(void)
{
	enum drawn_kind kind = drawn_kind();
	struct stage_size s;

	s.time_s = drawn_amount(kind);
	s.parameter = drawn_amount(drawn_kind());
	s.in = drawn_amount(kind);
	s.out = drawn_amount(kind);
	return s;
}

/* The first of low to most with a load within the limit, or most + 1. */
static size_t
first_within(const struct cost_rules *rules, const struct gv_machine *m, size_t level,
    const struct stage_size *s, bool first, double limit, size_t low, size_t most)
{
	while (
	    low <= most && !(stage_cost(rules, m, level, s, low, first).load_s <= limit))
		low++;
	return low > most ? most + 1 : low;
}

static size_t wrong;

static void
ask_stage(const struct cost_rules *rules, const struct gv_machine *m)
{
	struct stage_size s = drawn_size();
	size_t level = draw(m->n_levels), n = 1 + draw(9), low = 1 + draw(4),
	       most = low - 1 + draw(40), fewest;
	bool first = draw(2) == 0;
	struct stage_terms t = stage_cost(rules, m, level, &s, n, first);
	double limit = draw(3) == 0 ? t.load_s : drawn_amount(drawn_kind());

	recorded_double(&r, t.compute_s);
	recorded_double(&r, t.sync_s);
	recorded_double(&r, t.transfer_s);
	recorded_double(&r, t.load_s);
	recorded_double(&r, stage_room(rules, m, level, &s, n, first, limit));
	fewest = stage_fewest(rules, m, level, &s, first, limit, low, most);
	wrong += fewest != first_within(rules, m, level, &s, first, limit, low, most);
	recorded_whole(&r, (long long)fewest);
	recorded_double(&r, data_parallel(rules, m, s.time_s, s.parameter));
}

static void
ask_flight(const struct cost_rules *rules)
{
	struct stage_size s = drawn_size();
	size_t gpus = 1 + draw(12), behind = gpus + draw(20), flight = 1 + draw(9);
	double activation = drawn_amount(drawn_kind());

	recorded_whole(&r, (long long)stage_in_flight(rules, gpus, behind));
	recorded_whole(&r, (long long)stage_replicas_most(rules));
	recorded_whole(&r, (long long)stage_in_flight_most(rules, gpus));
	recorded_whole(&r, (long long)stage_behind_most(rules, gpus, flight));
	recorded_whole(&r, (long long)stage_behind_most(rules, gpus, 0));
	recorded_whole(&r, (long long)stage_gpus_fewest(rules, draw(3) * behind, flight));
	recorded_double(&r, stage_memory(rules, &s, activation, flight, false));
	recorded_double(&r, stage_memory(rules, &s, activation, flight, true));
}

static void
ask_costs(void)
{
	struct drawn *d = gv_xcalloc(1, sizeof(*d));
	size_t i, k;

	draws_begin(1, 42, 1);
	for (i = 0; i < 4000; i++) {
		struct gv_machine m = drawn_machine(1 + draw(4), 9);
		struct search_options o = drawn_options(&d->g, false);

		for (k = 0; k < 4; k++) {
			ask_stage(&o.rules, &m);
			ask_flight(&o.rules);
		}
		if ((i + 1) % 100 == 0)
			recorded_answer(&r, "stages %zu to %zu", i - 99, i);
	}
	is_int(wrong, 0, "the fewest replicas are the first within the limit");
	free(d);
}

/* ---- words ---- */

static struct word
drawn_word(struct gv_arena *arena, int64_t first, size_t most)
{
	struct word w = {.n = draw(most)};
	size_t i;

	w.load = gv_arena_alloc(arena, w.n + 1, sizeof(*w.load));
	for (i = 0; i < w.n; i++)
		w.load[i] = first -= (int64_t)draw(2);
	return w;
}

static void
ask_words(void)
{
	struct gv_arena arena = {0};
	size_t i, k;

	draws_begin(2, 42, 1);
	for (i = 0; i < 20000; i++) {
		struct word a = drawn_word(&arena, 3, 5), b = drawn_word(&arena, 3, 5), w;
		int64_t x = (int64_t)draw(5), y = (int64_t)draw(5);
		int less = word_compare(x, &a, y, &b);
		double load_s;

		recorded_whole(&r, less);
		wrong += word_compare(y, &b, x, &a) != -less;
		word_join(&w, x, &a, &arena);
		for (k = 0; k < w.n; k++)
			recorded_whole(&r, w.load[k]);
		load_s = drawn_amount(DRAWN_FAR);
		recorded_whole(&r, word_units(load_s, (double)draw(4)));
		if ((i + 1) % 2000 == 0)
			recorded_answer(&r, "words %zu to %zu", i - 1999, i);
	}
	is_int(wrong, 0, "of two words one is the lower, whichever is asked about");
	gv_arena_free(&arena);
}

/* ---- cuts that balance ---- */

struct loads {
	const struct ideals *s;
	const struct gv_plan *p; /* which is within: its stages end at prefixes */
	size_t kinds;
	uint64_t seed;
};

static double
load_of(const void *ctx, const struct gv_plan *p, size_t j, size_t i, size_t k,
    bool *recompute)
{
	const struct loads *l = ctx;
	uint64_t bits = gv_random(l->seed, (uint32_t)j, (uint32_t)i, k);
	bool known = (j == 0 ? 0 : l->p->stage[j - 1].within[1]) == i &&
		     l->p->stage[j].within[1] == k;

	recorded_whole(&r, p->n == l->p->n);
	*recompute = bits >> 40 & 1;
	if (!known && bits % 7 == 0)
		return INFINITY;
	return (double)(bits % l->kinds) / (double)(l->kinds - 1) * (known ? 1 : 1.25);
}

static void
ask_balance(struct drawn *d)
{
	struct gv_stage stage[40] = {{.type = 0}};
	struct gv_plan p = {.stage = stage};
	struct loads l = {.p = &p, .seed = draw(1000)};
	struct ideals s;
	size_t at = 0;

	l.kinds = 2 + draw(6);
	drawn_graph(d, 9);
	if (ideals_make(&s, &d->g, IDEALS_ALL, NULL, 0, 120) != 0)
		return;
	l.s = &s;
	for (; at + 1 < s.n; at = s.sup[s.sup_at[at]])
		if (at > 0 && draw(2) == 0)
			stage[p.n++].within[1] = at;
	stage[p.n++].within[1] = at;
	balance(&s, &p, 1, load_of, &l);
	recorded_plan(&r, &p, 0);
	ideals_free(&s);
}

/* ---- plans ---- */

/* Up to four levels of stages in stages; with replicas it may be that are too many. */
static void
drawn_plan(struct gv_plan *p, const struct gv_graph *g, const struct gv_machine *m)
{
	size_t i, l, cut = draw(3);
	uint32_t *order = gv_xcalloc(g->n, sizeof(*order));

	p->stage = gv_xcalloc(g->n + 1, sizeof(*p->stage));
	p->of = gv_xcalloc(g->n, sizeof(*p->of));
	gv_graph_order(g, order);
	for (i = 0; i < g->n; i++) {
		p->n += i == 0 || draw(3) < cut;
		p->of[order[i]] = (uint32_t)p->n - 1;
	}
	p->n += draw(20) == 0; /* a stage without layers */
	if (draw(10) == 0)
		p->of[draw(g->n)] = 0;
	for (i = 0; i < p->n; i++) {
		bool new = i == 0;

		p->stage[i] = i > 0 ? p->stage[i - 1] : p->stage[i];
		p->stage[i].recompute = draw(2) == 0;
		for (l = m->n_levels; l-- > 0;) {
			new = new || l == 0 || draw(3) == 0;
			if (!new)
				continue;
			p->stage[i].within[l] += i > 0;
			p->stage[i].replicas[l] =
			    draw(2) == 0 ? 1 : 1 + draw(m->gpus[l] + 1);
		}
	}
	free(order);
}

static void
ask_plan(struct drawn *d)
{
	struct gv_machine m;
	struct search_options o;
	struct gv_plan p = {0};
	struct plan_report report;
	struct gv_error e = {0};
	size_t replicas = 0;

	drawn_graph(d, draw(8) == 0 ? 140 : 12);
	m = drawn_machine(1 + draw(4), 7);
	o = drawn_options(&d->g, true);
	drawn_plan(&p, &d->g, &m);
	recorded_whole(&r, plan_evaluate(&report, &p, &d->g, &m, &o.rules,
			       (enum ideals_kind)draw(2), &e));
	recorded_report(&r, &report);
	recorded_error(&r, &e);
	recorded_whole(&r, (long long)plan_too_wide(&p, m.n_levels, draw(9), &replicas));
	recorded_whole(&r, (long long)replicas);
	plan_report_free(&report);
	recorded_whole(&r, report.n == 0 && report.row == NULL);
	gv_plan_free(&p);
}

static void
ask_many(const char *what, void ask(struct drawn *), uint64_t seed, size_t n)
{
	struct drawn *d = gv_xcalloc(1, sizeof(*d));
	size_t i;

	draws_begin(seed, 42, 1);
	for (i = 0; i < n; i++) {
		ask(d);
		if ((i + 1) % 20 == 0)
			recorded_answer(&r, "%s %zu to %zu", what, i - 19, i);
	}
	free(d);
}

int
main(void)
{
	recorded_open(&r);
	ask_costs();
	ask_words();
	ask_many("balanced cuts", ask_balance, 3, 1000);
	ask_many("plans", ask_plan, 4, 2000);
	recorded_close(&r);
	return done_testing();
}
