/*
 * Rankings of plans, pipelines of drawn plans and interleaved plans, of small drawn models on
 * machines of all kinds, as they were before.
 */
#include "answers_help.h"
#include "base/mem.h"
#include "gv-partition/fleet/fleet.h"
#include "gv-partition/placed/placed.h"
#include "gv-partition/rank/rank.h"
#include "gv-partition/rank/rank_table.h"
#include "gv-partition/schedule/interleave.h"
#include "gv-partition/schedule/pipe.h"

enum { LAYERS = 12 };

/* ---- worlds ---- */

struct world {
	struct gv_graph g;
	struct gv_graph_layer layer[LAYERS];
	struct gv_graph_edge edge[LAYERS * LAYERS];
	struct gv_machine m;
	struct gv_fleet fleet;
	double time_s[GV_FLEET_TYPES][LAYERS], forward_s[GV_FLEET_TYPES][LAYERS];
	struct search_options o;
	enum ideals_kind cut;
	struct ideals s;
};

static void
draw_model(struct world *w, size_t n)
{
	enum values time = draw_values(), bytes = draw_values();
	bool chain = !one_in(3), free = one_in(10);
	size_t v, k;

	w->g = (struct gv_graph){.n = n, .layer = w->layer, .edge = w->edge};
	for (v = 0; v < n; v++) {
		struct gv_graph_layer *a = &w->layer[v];

		a->forward_s = draw_value(time);
		a->time_s = a->forward_s + draw_value(time);
		a->update_s = one_in(3) ? draw_value(time) / 4 : 0;
		a->activation = draw_value(bytes);
		a->kept = one_in(3) ? a->activation + draw_value(bytes) : a->activation;
		a->parameter = one_in(4) ? 0 : draw_value(bytes) * 4;
		if (v > 0 && one_in(6)) { /* a cut in front of it is hardly another */
			a->time_s = a->forward_s = a->update_s = a->parameter = 0;
			a->activation = w->layer[v - 1].activation;
			a->kept = a->activation / 10000;
		}
		if (free)
			a->activation = a->kept = a->parameter = 0;
		for (k = 0; k < v; k++)
			if (chain ? k + 1 == v : one_in(3))
				w->edge[w->g.n_edges++] =
				    (struct gv_graph_edge){(uint32_t)k, (uint32_t)v};
	}
}

static void
draw_levels(struct gv_machine *m, size_t levels)
{
	size_t l;

	*m = (struct gv_machine){.n_levels = levels};
	for (l = 0; l < levels; l++) {
		m->gpus[l] = 1 + below(levels > 1 ? 3 : 5);
		m->bytes_per_s[l] = (1 + (double)below(20)) / (double)(1 + l);
		m->sum_bytes_per_s[l] = one_in(2) ? 0 : m->bytes_per_s[l] / 2;
	}
}

static void
draw_rules(struct cost_rules *r, enum gv_schedule_kind schedule, size_t gpus)
{
	*r = (struct cost_rules){.schedule = schedule};
	r->model = (enum cost_model)below(2);
	r->free_transfers = one_in(5);
	r->memory = one_in(2) ? 0 : (double)(20 + below(400));
	r->micro_batches = schedule == GV_SCHEDULE_1F1B ? 0
			   : schedule == GV_SCHEDULE_2BW
			       ? (one_in(2) ? 0 : gpus + below(9))
			   : one_in(2) ? 12
				       : 1 + below(12);
	r->chunks = schedule == GV_SCHEDULE_INTERLEAVED ? 1 + below(3) : 0;
	r->moving = one_in(3) ? (double)(1 + below(40)) : 0;
	r->state = (double)below(3);
	r->recompute = (enum recompute)below(3);
}

static void
draw_fleet(struct world *w)
{
	static const char *const name[] = {"fast", "slow", "old"};
	size_t t, v;

	w->fleet =
	    (struct gv_fleet){.n = 1 + below(3), .bytes_per_s = w->m.bytes_per_s[0]};
	w->fleet.sum_bytes_per_s = one_in(2) ? 0 : w->fleet.bytes_per_s / 2;
	for (t = 0; t < w->fleet.n; t++) {
		struct gv_fleet_type *type = &w->fleet.type[t];
		double times = 1 + (double)below(4);

		type->name = name[t];
		type->gpus = 1 + below(3);
		type->memory = one_in(2) ? 0 : (double)(20 + below(400));
		type->time_s = w->time_s[t];
		type->forward_s = w->forward_s[t];
		for (v = 0; v < w->g.n; v++) {
			type->time_s[v] = w->layer[v].time_s * times;
			type->forward_s[v] = w->layer[v].forward_s * times;
		}
	}
	w->m = fleet_machine(&w->fleet);
}

static void
begin(struct world *w, size_t layers, size_t levels, enum gv_schedule_kind schedule)
{
	memset(w, 0, sizeof(*w));
	draw_model(w, layers);
	draw_levels(&w->m, schedule == GV_SCHEDULE_INTERLEAVED ? 1 : levels);
	draw_rules(&w->o.rules, schedule, gv_machine_component(&w->m, w->m.n_levels));
	w->o.use = one_in(2) ? USE_UP_TO : (enum use)below(3);
	w->o.straight = one_in(5);
	w->cut = one_in(4) ? IDEALS_UPSTREAM : IDEALS_ALL;
	ideals_make(&w->s, &w->g, w->cut, NULL, 0, 5000);
}

/* ---- what comes of them ---- */

static void
record_plan(struct recorded *r, const struct gv_plan *p, size_t layers)
{
	size_t k, l, v;

	recorded_whole(r, (long long)p->n);
	for (k = 0; k < p->n; k++) {
		for (l = 0; l < GV_PLAN_LEVELS; l++) {
			recorded_whole(r, (long long)p->stage[k].replicas[l]);
			recorded_whole(r, (long long)p->stage[k].within[l]);
		}
		recorded_whole(r, p->stage[k].recompute);
		recorded_whole(r, (long long)p->stage[k].type);
	}
	for (v = 0; v < layers && p->n > 0; v++)
		recorded_whole(r, p->of[v]);
}

static void
record_report(struct recorded *r, const struct plan_report *p)
{
	size_t i, k;

	recorded_whole(r, (long long)p->n);
	for (i = 0; i < p->n; i++) {
		const struct stage_report *s = &p->row[i];
		const size_t n[] = {s->level, s->stage, s->within, s->first, s->last,
		    s->replicas, s->gpus, s->recompute, s->in_flight};
		const double v[] = {s->size.time_s, s->size.parameter, s->size.in,
		    s->size.out, s->activation, s->terms.compute_s, s->terms.sync_s,
		    s->terms.transfer_s, s->terms.load_s, s->memory};

		for (k = 0; k < sizeof(n) / sizeof(n[0]); k++)
			recorded_whole(r, (long long)n[k]);
		recorded_doubles(r, v, sizeof(v) / sizeof(v[0]));
	}
	recorded_double(r, p->bottleneck_s);
	recorded_whole(r, (long long)p->slowest);
	recorded_whole(r, (long long)p->gpus);
	recorded_double(r, p->single_s);
	recorded_double(r, p->data_parallel_s);
	recorded_double(r, p->idle_s);
}

static void
record_pipe(struct recorded *r, const struct gv_pipe *p)
{
	size_t k;

	recorded_whole(r, (long long)p->n);
	recorded_whole(r, p->schedule);
	recorded_whole(r, (long long)p->chunks);
	recorded_whole(r, (long long)p->micro_batches);
	recorded_whole(r, (long long)p->batch);
	recorded_whole(r, p->overlap);
	recorded_double(r, p->state);
	for (k = 0; k < p->n; k++) {
		const struct gv_pipe_stage *s = &p->stage[k];
		const double v[] = {(double)s->replicas, s->memory, s->forward_s,
		    s->backward_s, s->weight_s, s->receive_s, s->reduce_s, s->ready_s,
		    s->beside_s, s->update_s, s->parameter, s->sum_bytes, s->stash,
		    s->working};

		recorded_doubles(r, v, sizeof(v) / sizeof(v[0]));
	}
}

/* ---- rankings ---- */

/* Rows with a name each, some of which are in no layer. */
static void
layers_of(struct gv_layers *l, const struct world *w)
{
	struct gv_cell name = {"node_id", 7};
	size_t v;
	char id[24];

	memset(l, 0, sizeof(*l));
	l->g = w->g;
	l->row = gv_xcalloc(w->g.n, sizeof(*l->row));
	gv_frame_start(&l->rows, "drawn", false, &name, 1);
	for (v = 0; v < w->g.n; v++) {
		snprintf(id, sizeof(id), "n%zu", v);
		gv_frame_add(&l->rows, &(struct gv_cell){id, strlen(id)}, (long)v + 2);
		l->row[v] = v;
	}
}

static struct recorded *told;

static void
progress(size_t tried, size_t most)
{
	recorded_whole(told, (long long)tried);
	recorded_whole(told, (long long)most);
}

static void
record_ranking(struct recorded *r, const struct world *w, const struct ranking *k)
{
	struct gv_strbuf text = {0};
	struct gv_out *out = gv_out_memory(&text);
	struct gv_error e = {0};
	struct gv_layers l;
	size_t top = one_in(2) ? 0 : 1 + below(4), i, j;

	recorded_whole(r, (long long)k->n);
	recorded_whole(r, (long long)k->tried);
	for (i = 0; i < k->n; i++) {
		const struct ranked *row = &k->row[i];

		record_plan(r, &row->plan, w->g.n);
		recorded_whole(r, (long long)row->machine.n_levels);
		for (j = 0; j < row->machine.n_levels; j++)
			recorded_whole(r, (long long)row->machine.gpus[j]);
		recorded_whole(r, row->placed);
		record_report(r, &row->report);
		recorded_double(r, row->step_s);
		recorded_double(r, row->bubble);
		recorded_whole(r, (long long)row->in_flight);
		recorded_double(r, row->bytes);
	}
	layers_of(&l, w);
	ranking_write(k, top, &l, out, one_in(2));
	gv_out_close(out, &e);
	recorded_text(r, text.s);
	gv_strbuf_free(&text);
	gv_frame_free(&l.rows);
	free(l.row);
}

/* The fastest first. */
static bool
in_order(const struct ranking *k)
{
	size_t i;

	for (i = 1; i < k->n; i++)
		if (k->row[i].step_s < k->row[i - 1].step_s * (1 - 1e-8))
			return false;
	return true;
}

static bool
rank(struct recorded *r, struct world *w, bool fleet)
{
	struct rank_task task = {.s = &w->s,
	    .g = &w->g,
	    .m = &w->m,
	    .fleet = fleet ? &w->fleet : NULL,
	    .o = &w->o,
	    .cut = w->cut};
	struct ranking k;
	bool good;

	task.flat = one_in(4);
	task.progress = one_in(2) ? progress : NULL;
	told = r;
	ranking_make(&k, &task);
	record_ranking(r, w, &k);
	good = in_order(&k);
	ranking_free(&k);
	recorded_whole(r, k.n == 0 && k.row == NULL);
	ideals_free(&w->s);
	return good;
}

static bool
ask_ranking(struct recorded *r)
{
	static const size_t levels[] = {1, 1, 2, 3};
	struct world w;
	bool fleet = one_in(4);
	size_t layers = 1 + below(6), n = fleet ? 1 : levels[below(4)];
	enum gv_schedule_kind schedule =
	    (enum gv_schedule_kind)below(fleet ? 4 : GV_SCHEDULES);

	if (schedule == GV_SCHEDULE_INTERLEAVED)
		fleet = false;
	begin(&w, layers, n, schedule);
	while (gv_machine_component(&w.m, w.m.n_levels) > 8)
		w.m.gpus[w.m.n_levels - 1]--;
	if (fleet)
		draw_fleet(&w);
	return rank(r, &w, fleet);
}

/* Many GPUs, of which few are used; many prefixes. */
static bool
ask_large(struct recorded *r, size_t i)
{
	static const size_t gpus[] = {23, 24, 25, 27, 33, 40, 63, 64, 65, 80, 100, 330};
	struct world w;
	size_t n = gpus[i % 12];

	begin(&w, 1 + below(4), 1, i % 2 == 0 ? GV_SCHEDULE_FLUSH : GV_SCHEDULE_GPIPE);
	w.m.gpus[0] = n;
	w.o.straight = true;
	w.o.use = USE_UP_TO;
	return rank(r, &w, false);
}

static bool
ask_wide(struct recorded *r)
{
	struct world w;

	begin(&w, 10, 1, GV_SCHEDULE_FLUSH);
	ideals_free(&w.s);
	w.g.n_edges = 0;
	w.m.gpus[0] = 2;
	ideals_make(&w.s, &w.g, w.cut, NULL, 0, 5000);
	return rank(r, &w, false);
}

static void
rankings(struct recorded *r)
{
	enum { ANSWERS = 120, EACH = 3 };
	size_t i, k, wrong = 0;

	for (i = 0; i < ANSWERS; i++) {
		draws_begin(1, (uint32_t)i, 0);
		for (k = 0; k < EACH; k++)
			wrong += !ask_ranking(r);
		recorded_answer(r, "rankings %zu", i);
	}
	for (i = 0; i < 12; i++) {
		draws_begin(2, (uint32_t)i, 0);
		wrong += !ask_large(r, i);
		recorded_answer(r, "rankings on many GPUs %zu", i);
	}
	draws_begin(3, 0, 0);
	wrong += !ask_wide(r);
	recorded_answer(r, "a ranking of many prefixes");
	is_int(wrong, 0, "the fastest stand first");
}

/* ---- pipelines of drawn plans ---- */

/* Stages of the layers as they stand, each of which has one at least. */
static void
draw_plan(struct world *w, struct gv_plan *p, bool fleet)
{
	size_t most = w->g.n < 6 ? w->g.n : 6, k, l, v;

	*p = (struct gv_plan){.n = 1 + below(most), .fleet = fleet ? &w->fleet : NULL};
	p->stage = gv_xcalloc(p->n, sizeof(*p->stage));
	p->of = gv_xcalloc(w->g.n, sizeof(*p->of));
	for (v = 0; v < w->g.n; v++)
		p->of[v] = (uint32_t)(v * p->n / w->g.n);
	for (k = 0; k < p->n; k++) {
		for (l = 0; l < w->m.n_levels; l++) {
			p->stage[k].replicas[l] = 1 + below(3);
			p->stage[k].within[l] = l == 0 ? k : k / (2 * l);
			if (l > 0 && k > 0 &&
			    p->stage[k].within[l] == p->stage[k - 1].within[l])
				p->stage[k].replicas[l] = p->stage[k - 1].replicas[l];
		}
		p->stage[k].recompute = one_in(3);
		p->stage[k].type = fleet ? below(w->fleet.n) : 0;
	}
}

static int
evaluate(struct plan_report *report, const struct gv_plan *p, struct world *w,
    bool placed, struct gv_error *e)
{
	const struct cost_rules *rules = &w->o.rules;

	if (p->fleet != NULL)
		return fleet_evaluate(report, p, &w->g, &w->fleet, rules, w->cut, e);
	if (placed)
		return placed_evaluate(report, p, &w->g, &w->m, rules, w->cut, e);
	if (rules->schedule == GV_SCHEDULE_INTERLEAVED)
		return interleave_evaluate(report, p, &w->g, &w->m, rules, w->cut, e);
	return plan_evaluate(report, p, &w->g, &w->m, rules, w->cut, e);
}

static void
ask_pipe(struct recorded *r, size_t *made)
{
	struct world w;
	struct plan_report report = {0};
	struct gv_pipe pipe = {0};
	struct gv_error e = {0};
	struct gv_machine m;
	struct gv_plan p;
	bool fleet = one_in(5), placed = !fleet && one_in(3);
	size_t layers = 1 + below(LAYERS), levels = fleet ? 1 : 1 + below(3), l;

	begin(&w, layers, levels, (enum gv_schedule_kind)below(GV_SCHEDULES));
	w.o.rules.micro_batches = one_in(3) ? 0 : w.o.rules.micro_batches;
	for (l = 0; l < w.m.n_levels; l++)
		w.m.gpus[l] = 8;
	placed = placed && w.o.rules.schedule != GV_SCHEDULE_INTERLEAVED;
	m = w.m;
	if (fleet)
		draw_fleet(&w);
	if (placed) {
		gv_machine_flatten(&m);
		w.m.n_levels = 1;
		draw_plan(&w, &p, fleet);
		w.m.n_levels = w.o.rules.schedule == GV_SCHEDULE_INTERLEAVED ? 1 : levels;
	} else {
		draw_plan(&w, &p, fleet);
	}
	if (one_in(2)) /* as many replicas of all, which is needed now and then */
		for (l = 1; l < p.n; l++)
			memcpy(p.stage[l].replicas, p.stage[0].replicas,
			    sizeof(p.stage[l].replicas));
	if (evaluate(&report, &p, &w, placed, &e) == 0) {
		record_report(r, &report);
		if (pipe_make(&pipe, &p, &report, &w.g, placed ? &m : &w.m, &w.o.rules,
			&e) == 0) {
			record_pipe(r, &pipe);
			*made += 1;
			if (placed) {
				pipe_place(&pipe, &p, &report, &w.g, &w.m, &w.o.rules);
				record_pipe(r, &pipe);
			}
		}
	}
	recorded_errors(r, &e);
	gv_pipe_free(&pipe);
	plan_report_free(&report);
	gv_plan_free(&p);
	ideals_free(&w.s);
}

static void
pipes(struct recorded *r)
{
	enum { ANSWERS = 40, EACH = 40 };
	size_t i, k, made = 0;

	for (i = 0; i < ANSWERS; i++) {
		draws_begin(4, (uint32_t)i, 0);
		for (k = 0; k < EACH; k++)
			ask_pipe(r, &made);
		recorded_answer(r, "pipelines of plans %zu", i);
	}
	ok(made > ANSWERS * EACH / 3, "many can be made: %zu", made);
}

/* ---- interleaved plans ---- */

static void
ask_interleaved(struct recorded *r, size_t *found)
{
	struct world w;
	size_t layers = 1 + below(8), places, n;
	struct interleaving x;
	struct gv_plan p;
	double s;

	begin(&w, layers, 1, GV_SCHEDULE_INTERLEAVED);
	w.o.rules.micro_batches = 1 + below(16);
	x = (struct interleaving){&w.s, &w.g, &w.m, &w.o, w.cut};
	for (places = 1; places <= w.m.gpus[0]; places++) {
		n = interleave_replicas(&x, places);
		recorded_whole(r, (long long)n);
		if (n == 0)
			continue;
		s = interleave_cut(&x, places, n, &p);
		recorded_double(r, s);
		record_plan(r, &p, w.g.n);
		gv_plan_free(&p);
	}
	n = interleave_search(&p, &x) == SEARCH_FOUND;
	recorded_whole(r, (long long)n);
	record_plan(r, &p, w.g.n);
	gv_plan_free(&p);
	ideals_free(&w.s);
	*found += n;
}

static void
interleaved(struct recorded *r)
{
	enum { ANSWERS = 40, EACH = 10 };
	size_t i, k, found = 0;

	for (i = 0; i < ANSWERS; i++) {
		draws_begin(5, (uint32_t)i, 0);
		for (k = 0; k < EACH; k++)
			ask_interleaved(r, &found);
		recorded_answer(r, "interleaved plans %zu", i);
	}
	ok(found > ANSWERS * EACH / 5, "many are found: %zu", found);
}

int
main(void)
{
	struct recorded r;

	recorded_open(&r);
	pipes(&r);
	interleaved(&r);
	rankings(&r);
	recorded_close(&r);
	return done_testing();
}
