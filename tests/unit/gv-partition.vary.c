/*
 * Varying a plan, on small graphs, where what plans take is drawn: all that is tried is one
 * move away from the plan so far, and at the end every such plan has been tried in vain.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "gv-partition/rank/rank_vary.h"
#include "partition_help.h"
#include "tap.h"

enum { STAGES = DAG_MOST, TYPES = 3, TRIED = 4096 };

/* A pipeline: stage k is between prefixes at[k] and at[k + 1]. */
struct line {
	size_t n, at[STAGES + 1], replicas[STAGES], type[STAGES];
};

struct world {
	struct dag d;
	struct ideals s;
	struct gv_fleet fleet;
	struct search_options o;
	struct vary v;
	struct gv_stage old[STAGES];
	struct line now;
	double best_s;
	struct line tried[TRIED]; /* since it is the plan */
	size_t n_tried, all, wrong, key;
};

static bool
same(const struct line *a, const struct line *b)
{
	size_t k;

	if (a->n != b->n)
		return false;
	for (k = 0; k < a->n; k++)
		if (a->at[k + 1] != b->at[k + 1] || a->replicas[k] != b->replicas[k] ||
		    a->type[k] != b->type[k])
			return false;
	return true;
}

static bool
among(const struct line *list, size_t n, const struct line *l)
{
	size_t i;

	for (i = 0; i < n && !same(&list[i], l); i++)
		;
	return i < n;
}

static size_t
gpus_of(const struct line *l)
{
	size_t n = 0, k;

	for (k = 0; k < l->n; k++)
		n += l->replicas[k];
	return n;
}

/* ---- all that is one move away ---- */

struct moves {
	struct line to[TRIED];
	size_t n;
};

static size_t
idle(const struct world *w, const struct line *l, size_t type)
{
	size_t n = w->v.fleet != NULL ? w->fleet.type[type].gpus : w->v.gpus, k;

	for (k = 0; k < l->n; k++)
		n -= l->type[k] == type ? l->replicas[k] : 0;
	return n;
}

static void
put(struct moves *m, struct line l)
{
	m->to[m->n++] = l;
}

/* Prefixes between two, by time and then by number. */
static size_t
between(const struct world *w, size_t from, size_t to, size_t *place)
{
	size_t n = 0, i, k;

	for (i = 0; i < w->s.n; i++) {
		if (i == from || i == to || (w->s.bits[from] & ~w->s.bits[i]) != 0 ||
		    (w->s.bits[i] & ~w->s.bits[to]) != 0)
			continue;
		for (k = n++; k > 0 && w->s.time_s[place[k - 1]] > w->s.time_s[i]; k--)
			place[k] = place[k - 1];
		place[k] = i;
	}
	return n;
}

static void
put_cuts(const struct world *w, struct moves *m, const struct line *l)
{
	size_t place[1 << DAG_MOST], k, n, at, by;
	struct line x = *l;

	for (k = 1; k < l->n; k++) {
		n = between(w, l->at[k - 1], l->at[k + 1], place);
		for (at = 0; place[at] != l->at[k]; at++)
			;
		for (by = 1; by < n; by *= 2) {
			if (at >= by) {
				x.at[k] = place[at - by];
				put(m, x);
			}
			if (at + by < n) {
				x.at[k] = place[at + by];
				put(m, x);
			}
		}
		x.at[k] = l->at[k];
	}
}

static void
put_replicas(const struct world *w, struct moves *m, const struct line *l)
{
	size_t k, j;
	struct line x;

	for (k = 0; k < l->n; k++) {
		x = *l;
		x.replicas[k]++;
		if (idle(w, l, l->type[k]) > 0)
			put(m, x);
		for (j = 0; j < l->n; j++) {
			x.replicas[j]--;
			if (j != k && l->type[j] == l->type[k] && x.replicas[j] > 0)
				put(m, x);
			x.replicas[j]++;
		}
		x.replicas[k] -= 2;
		if (x.replicas[k] > 0 && l->replicas[k] > 1)
			put(m, x);
	}
}

static void
put_joined(struct moves *m, const struct line *l, size_t k, size_t replicas, size_t type)
{
	struct line x = {.n = l->n - 1, .at = {0}};
	size_t i;

	for (i = 0; i < x.n; i++) {
		size_t old = i < k ? i : i + 1;

		x.at[i + 1] = l->at[(i + 1 < k ? i : i + 1) + 1];
		x.replicas[i] = i + 1 == k ? replicas : l->replicas[old];
		x.type[i] = i + 1 == k ? type : l->type[old];
	}
	put(m, x);
}

static void
put_joins(const struct world *w, struct moves *m, const struct line *l)
{
	size_t k;

	for (k = 1; k < l->n; k++) {
		size_t a = l->replicas[k - 1], b = l->replicas[k];

		if (l->type[k - 1] != l->type[k]) {
			put_joined(m, l, k, a, l->type[k - 1]);
			put_joined(m, l, k, b, l->type[k]);
			continue;
		}
		put_joined(m, l, k, a > b ? a : b, l->type[k]);
		if (!w->o.straight)
			put_joined(m, l, k, a + b, l->type[k]);
	}
}

static void
put_types(const struct world *w, struct moves *m, const struct line *l)
{
	size_t k, t;

	for (k = 0; k < l->n && w->v.fleet != NULL; k++)
		for (t = 0; t < w->fleet.n; t++) {
			size_t spare = idle(w, l, t);
			struct line x = *l;

			if (t == l->type[k] || spare == 0)
				continue;
			x.type[k] = t;
			if (l->replicas[k] <= spare)
				put(m, x);
			x.replicas[k] = spare;
			if (!w->o.straight)
				put(m, x);
		}
}

static void
put_parts(
    const struct world *w, struct moves *m, const struct line *l, size_t k, size_t first)
{
	size_t place[1 << DAG_MOST], n = between(w, l->at[k], l->at[k + 1], place), i, j;
	double from_s = w->s.time_s[l->at[k]], to_s = w->s.time_s[l->at[k + 1]];
	double want = from_s + (to_s - from_s) * (double)first / (double)l->replicas[k];
	struct line x = *l;

	if (n == 0)
		return;
	for (i = 0; i + 1 < n && w->s.time_s[place[i]] < want; i++)
		;
	for (j = l->n; j > k; j--) {
		x.at[j + 1] = x.at[j];
		x.replicas[j] = x.replicas[j - 1];
		x.type[j] = x.type[j - 1];
	}
	x.at[k + 1] = place[i];
	x.replicas[k] = first;
	x.replicas[k + 1] = l->replicas[k] - first;
	x.n++;
	put(m, x);
}

static void
moves_of(const struct world *w, struct moves *m, const struct line *l)
{
	size_t k;

	m->n = 0;
	put_cuts(w, m, l);
	if (w->v.levels)
		return;
	if (!w->o.straight)
		put_replicas(w, m, l);
	put_joins(w, m, l);
	put_types(w, m, l);
	for (k = 0; k < l->n; k++) {
		if (l->replicas[k] > 1)
			put_parts(w, m, l, k, l->replicas[k] - 1);
		if (l->replicas[k] > 2)
			put_parts(w, m, l, k, l->replicas[k] / 2);
	}
}

/* ---- what is tried ---- */

/* The plan as a line; at[k] of no prefix is the number of them. */
static struct line
line_of(const struct world *w, const struct gv_plan *p)
{
	struct line l = {.n = p->n};
	size_t k, v, i;

	for (k = 0; k < p->n; k++) {
		uint64_t set = 0;

		for (v = 0; v < w->d.g.n; v++)
			if (p->of[v] <= k)
				set |= (uint64_t)1 << v;
		for (i = 0; i < w->s.n && w->s.bits[i] != set; i++)
			;
		l.at[k + 1] = i;
		l.replicas[k] = p->stage[k].replicas[0];
		l.type[k] = p->stage[k].type;
	}
	return l;
}

/* Whether stages are as the line says, and keep what they can. */
static bool
stages_good(const struct world *w, const struct gv_plan *p, const struct line *l)
{
	const struct cost_rules *r = &w->o.rules;
	size_t k, i;

	for (k = 0; k < p->n; k++) {
		const struct gv_stage *g = &p->stage[k];
		size_t a = l->at[k], b = l->at[k + 1], behind = 0;
		double memory =
		    w->v.fleet != NULL ? w->fleet.type[g->type].memory : r->memory;
		struct stage_size size = {
		    .parameter = w->s.parameter[b] - w->s.parameter[a]};
		bool again;

		for (i = k; i < p->n; i++)
			behind += l->replicas[i];
		again = r->recompute == RECOMPUTE_FULL;
		if (r->recompute == RECOMPUTE_AUTO && memory > 0)
			again = stage_memory(r, &size,
				    w->s.activation[b] - w->s.activation[a],
				    stage_in_flight(r, l->replicas[k], behind),
				    false) > memory;
		if (g->recompute != again ||
		    g->within[w->v.levels] != (w->v.levels ? 0 : k) ||
		    (w->v.levels && g->replicas[1] != w->old[k].replicas[1]))
			return false;
	}
	return p->fleet == w->v.fleet;
}

/* What a plan takes: one of a few times, or no time is enough. */
static double
takes(const struct world *w, const struct line *l)
{
	uint64_t h = w->key;
	size_t k;

	for (k = 0; k < l->n; k++)
		h = gv_random(
		    h, (uint32_t)l->at[k + 1], (uint32_t)l->replicas[k], l->type[k]);
	return h % 7 == 0 ? INFINITY : 1 + (double)(h / 7 % 40) / 8;
}

static double
step_s(void *ctx, const struct gv_plan *p)
{
	static struct moves m;
	struct world *w = ctx;
	struct line l = line_of(w, p);
	double time_s = takes(w, &l);

	moves_of(w, &m, &w->now);
	w->wrong +=
	    ++w->all > w->v.tries || !among(m.to, m.n, &l) || !stages_good(w, p, &l);
	if (time_s < w->best_s ||
	    (time_s <= w->best_s && gpus_of(&l) < gpus_of(&w->now))) {
		w->now = l;
		w->best_s = time_s;
		w->n_tried = 0;
	} else if (!among(w->tried, w->n_tried, &l)) {
		w->tried[w->n_tried++] = l;
	}
	return time_s;
}

/* Whether all that is one move away was tried, and nothing else. */
static bool
all_tried(const struct world *w)
{
	static struct moves m;
	size_t i;

	moves_of(w, &m, &w->now);
	for (i = 0; i < m.n && among(w->tried, w->n_tried, &m.to[i]); i++)
		;
	return i == m.n;
}

/* ---- worlds ---- */

static void
draw_world(struct world *w)
{
	size_t i;

	memset(w, 0, sizeof(*w));
	dag_begin(&w->d, 2 + draw(6));
	for (i = 0; i < w->d.g.n; i++) {
		w->d.layer[i].time_s = draw(4) ? (double)(1 + draw(9)) : 0;
		w->d.layer[i].activation = w->d.layer[i].kept = (double)draw(9);
		w->d.layer[i].parameter = (double)draw(9);
		dag_draw_edges(&w->d, i, 3 + draw(7));
	}
	ideals_make(&w->s, &w->d.g, IDEALS_ALL, NULL, 0, 1 << DAG_MOST);
	w->o.rules = (struct cost_rules){.schedule = GV_SCHEDULE_1F1B,
	    .recompute = (enum recompute)draw(3),
	    .memory = draw(3) ? (double)(10 + draw(60)) : 0};
	w->o.straight = draw(4) == 0;
	w->v = (struct vary){.s = &w->s,
	    .g = &w->d.g,
	    .o = &w->o,
	    .levels = draw(6) == 0,
	    .tries = draw(5) ? 400 : draw(30),
	    .step_s = step_s,
	    .ctx = w};
	w->v.gpus = draw(8);
	w->key = draw(1000000);
	if (draw(2)) {
		w->v.fleet = &w->fleet;
		w->fleet.n = 1 + draw(TYPES);
		for (i = 0; i < w->fleet.n; i++) {
			w->fleet.type[i].gpus = draw(4);
			w->fleet.type[i].memory = draw(3) ? (double)(10 + draw(60)) : 0;
		}
	}
}

/* A plan of some of the prefixes; its GPUs are there. */
static struct gv_plan
draw_plan(struct world *w)
{
	struct gv_plan p = {.fleet = w->v.fleet};
	size_t at[STAGES + 1] = {0}, i, k, v;

	for (i = 1; i < w->s.n; i++)
		if ((w->s.bits[at[p.n]] & ~w->s.bits[i]) == 0 &&
		    (i + 1 == w->s.n || draw(3) == 0))
			at[++p.n] = i;
	p.stage = gv_xcalloc(p.n, sizeof(*p.stage));
	p.of = gv_xcalloc(w->d.g.n, sizeof(*p.of));
	for (k = 0; k < p.n; k++) {
		p.stage[k].replicas[0] = w->o.straight ? 1 : 1 + draw(4);
		p.stage[k].replicas[1] = 1 + draw(4);
		p.stage[k].within[0] = k;
		p.stage[k].type = w->v.fleet != NULL ? draw(w->fleet.n) : 0;
		if (w->v.fleet != NULL)
			w->fleet.type[p.stage[k].type].gpus += p.stage[k].replicas[0];
		w->v.gpus += p.stage[k].replicas[0];
		w->old[k] = p.stage[k];
		for (v = 0; v < w->d.g.n; v++)
			if (!ideals_has(&w->s, at[k], v) &&
			    ideals_has(&w->s, at[k + 1], v))
				p.of[v] = (uint32_t)k;
	}
	return p;
}

static void
test_random(void)
{
	static struct world w;
	size_t i, wrong = 0, kept = 0, left = 0, at_end = 0;

	for (i = 0; i < 1500; i++) {
		struct gv_plan p;
		struct line l;
		double time_s;

		draws_begin(41, (uint32_t)i, 0);
		draw_world(&w);
		p = draw_plan(&w);
		w.now = line_of(&w, &p);
		w.best_s = takes(&w, &w.now);
		time_s = vary(&p, w.best_s, &w.v);
		l = line_of(&w, &p);
		wrong += w.wrong;
		kept += time_s > w.best_s || time_s < w.best_s || !same(&l, &w.now);
		if (w.all < w.v.tries) {
			at_end++;
			left += !all_tried(&w);
		}
		gv_plan_free(&p);
		ideals_free(&w.s);
	}
	is_int(wrong, 0, "what is tried is one move away from the fastest so far");
	is_int(kept, 0, "which comes out of it");
	is_int(left, 0, "and all that is one move away from it was tried");
	ok(at_end > 1000 && at_end < 1500, "where there were enough tries: %zu times",
	    at_end);
}

/* A plan that is cut where no prefix is stays as it is. */
static void
test_elsewhere(void)
{
	static struct world w;
	struct gv_stage stage[3] = {{.replicas = {1}}, {.replicas = {1}, .within = {1}},
	    {.replicas = {1}, .within = {2}}};
	uint32_t of[3] = {0, 1, 2}, pick[3] = {0, 1, 3};
	struct gv_plan p = {.n = 3, .stage = stage, .of = of};
	struct ideals all;

	memset(&w, 0, sizeof(w));
	dag_begin(&w.d, 3);
	w.d.edge[0] = (struct gv_graph_edge){0, 1};
	w.d.edge[1] = (struct gv_graph_edge){1, 2};
	w.d.g.n_edges = 2;
	ideals_make(&all, &w.d.g, IDEALS_ALL, NULL, 0, 10);
	ideals_pick(&w.s, &all, pick, 3);
	w.v = (struct vary){.s = &w.s,
	    .g = &w.d.g,
	    .o = &w.o,
	    .gpus = 3,
	    .tries = 400,
	    .step_s = step_s,
	    .ctx = &w};
	is_near(vary(&p, 7, &w.v), 7, 0, "cut where no prefix is");
	ok(w.all == 0 && p.stage == stage, "and nothing was tried");
	ideals_free(&w.s);
	ideals_free(&all);
}

enum { LONG = 70 };

/* How many layers the first stages of the plans that were tried have. */
static size_t first[3], n_first;

static double
step_of_none(void *ctx, const struct gv_plan *p)
{
	const size_t *n = ctx;
	size_t v;

	for (v = 0; v < *n; v++)
		first[n_first] += p->of[v] == 0;
	n_first += n_first < 2;
	return INFINITY;
}

/* Of more layers than a word of a set has, cut behind so many: the first two tried. */
static bool
tries_beside(size_t n, size_t cut)
{
	struct gv_graph_layer layer[LONG] = {{0}};
	struct gv_graph_edge edge[LONG];
	struct gv_graph g = {.n = n, .layer = layer, .edge = edge, .n_edges = n - 1};
	struct gv_stage stage[2] = {{.replicas = {1}}, {.replicas = {1}, .within = {1}}};
	uint32_t *of = gv_xcalloc(n, sizeof(*of)); /* not longer */
	struct gv_plan p = {.n = 2, .stage = stage, .of = of};
	struct search_options o = {.straight = true};
	size_t v;
	struct ideals s;
	struct vary near = {.s = &s,
	    .g = &g,
	    .o = &o,
	    .gpus = 2,
	    .tries = 2,
	    .step_s = step_of_none,
	    .ctx = &n};

	for (v = 0; v < n; v++) {
		layer[v].time_s = 1;
		of[v] = v >= cut;
		edge[v] = (struct gv_graph_edge){(uint32_t)v, (uint32_t)v + 1};
	}
	ideals_make(&s, &g, IDEALS_ALL, NULL, 0, 2 * LONG);
	memset(first, 0, sizeof(first));
	n_first = 0;
	vary(&p, 1, &near);
	ideals_free(&s);
	free(of);
	return n_first == 2 && first[0] == cut - 1 && first[1] == cut + 1;
}

static void
test_long(void)
{
	size_t cut, wrong = 0;

	for (cut = 2; cut + 1 < LONG; cut++)
		wrong += !tries_beside(LONG, cut);
	wrong += !tries_beside(64, 62); /* all of a word */
	is_int(wrong, 0, "the cut of a long chain is moved by one first, back and forth");
}

int
main(void)
{
	test_random();
	test_long();
	test_elsewhere();
	return done_testing();
}
