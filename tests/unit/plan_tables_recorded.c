/*
 * Drawn tables of layers, plans, schedules and machines, good ones and others: what is read of
 * them, what is said of them, and what is written is as it was before.
 */
#include "answers_help.h"
#include "base/mem.h"
#include "plan/plan.h"
#include "plan/schedule.h"
#include "plan/simulate.h"

enum { ROWS = 40, STAGES = 12 };

/* ---- a model ---- */

/* What the cells of a table of layers say, where they are not odd. */
struct model {
	size_t rows, stages, levels;
	enum values values;
	bool again; /* some ids stand twice */
	struct gv_stage stage[STAGES];
};

static size_t
stage_of(const struct model *m, size_t row)
{
	return row * m->stages / m->rows;
}

static void
node_id(struct gv_strbuf *s, size_t row, const void *ctx)
{
	const struct model *m = ctx;

	gv_strbuf_fmt(s, "n%zu", m->again && one_in(12) ? below(m->rows) : row);
}

static void
layer_name(struct gv_strbuf *s, size_t row, const void *ctx)
{
	static const char *const name[] = {"Linear", "Input1", "Input", "__getitem__(1)",
	    "__getitem__", "", "Inpu", "Conv2d(3, 4)"};

	(void)row;
	(void)ctx;
	gv_strbuf_fmt(s, "\"%s\"", name[one_in(2) ? 0 : below(8)]);
}

static void
amount(struct gv_strbuf *s, size_t row, const void *ctx)
{
	const struct model *m = ctx;

	(void)row;
	gv_strbuf_fmt(s, "%.17g", draw_value(m->values));
}

static void
maybe(struct gv_strbuf *s, size_t row, const void *ctx)
{
	if (one_in(2))
		amount(s, row, ctx);
}

static void
tied(struct gv_strbuf *s, size_t row, const void *ctx)
{
	const struct model *m = ctx;

	(void)row;
	if (one_in(4))
		gv_strbuf_fmt(s, "n%zu", below(m->rows + (m->again ? 1 : 0)));
}

static void
stage(struct gv_strbuf *s, size_t row, const void *ctx)
{
	gv_strbuf_fmt(s, "%zu", stage_of(ctx, row));
}

static void
replicas(struct gv_strbuf *s, size_t row, const void *ctx)
{
	const struct model *m = ctx;
	size_t n = 1, l;

	for (l = 0; l < m->levels; l++)
		n *= m->stage[stage_of(m, row)].replicas[l];
	gv_strbuf_fmt(s, "%zu", n);
}

static void
recompute(struct gv_strbuf *s, size_t row, const void *ctx)
{
	const struct model *m = ctx;
	bool full = m->stage[stage_of(m, row)].recompute;

	gv_strbuf_str(s, full ? "full" : m->values == EQUAL ? "" : "none");
}

static void
place(struct gv_strbuf *s, size_t row, const void *ctx)
{
	const struct model *m = ctx;
	const struct gv_stage *at = &m->stage[stage_of(m, row)];
	size_t l;

	for (l = m->levels; l-- > 0;)
		gv_strbuf_fmt(
		    s, "%zux%zu%s", at->within[l], at->replicas[l], l > 0 ? ";" : "");
}

static void
gpu_type(struct gv_strbuf *s, size_t row, const void *ctx)
{
	gv_strbuf_fmt(s, "t%zu", stage_of(ctx, row) % 2);
}

static const struct drawn_column layer_columns[] = {{"node_id", 0, node_id},
    {"layer", 3, layer_name}, {"forward_ms", 0, amount}, {"backward_ms", 0, amount},
    {"activation_bytes", 0, amount}, {"parameter_bytes", 0, amount},
    {"update_ms", 2, maybe}, {"kept_bytes", 2, maybe}, {"tied_with", 2, tied},
    {"stage", 5, stage}, {"replicas", 5, replicas}, {"recompute", 3, recompute},
    {"place", 3, place}, {"gpu_type", 2, gpu_type}, {"other", 2, maybe}};

/* Edges from a layer to one behind it; now and then against that, or twice. */
static void
edge_row(struct gv_strbuf *s, const struct model *m, char between, bool wrong)
{
	size_t a = below(m->rows), b = below(m->rows), c = a < b ? a : b;

	if (a == b && !wrong)
		return;
	if (!wrong) {
		b = a + b - c;
		a = c;
	}
	gv_strbuf_fmt(s, "n%zu%cn%zu\n", a, between, b + (wrong && one_in(9) ? ROWS : 0));
}

static void
draw_edges(struct gv_strbuf *s, const struct model *m)
{
	char between = one_in(4) ? '\t' : ',';
	size_t n = below(3 * m->rows);
	bool wrong = one_in(4);

	gv_strbuf_fmt(s, "src%c%s\n", between, one_in(20) ? "dest" : "dst");
	for (; n > 0; n--)
		edge_row(s, m, between, wrong && one_in(5));
}

static void
draw_model(struct model *m)
{
	size_t k, l;

	memset(m, 0, sizeof(*m));
	m->rows = one_in(20) ? 0 : draw_number(8, ROWS);
	m->stages = 1 + below(m->rows < STAGES ? m->rows + 1 : STAGES);
	m->levels = 1 + below(3);
	m->values = draw_values();
	m->again = one_in(10);
	for (k = 0; k < STAGES; k++) {
		m->stage[k].recompute = one_in(3);
		for (l = 0; l < m->levels; l++) {
			m->stage[k].replicas[l] = 1 + below(3);
			m->stage[k].within[l] = l == 0 ? k : k / (l + 1);
		}
		if (one_in(40))
			m->stage[k].replicas[0] = GV_PLAN_GPUS;
	}
}

/* ---- reading layers and plans ---- */

static void
record_edges(struct recorded *r, const struct gv_graph_edge *e, size_t n)
{
	size_t i;

	recorded_whole(r, (long long)n);
	for (i = 0; i < n; i++) {
		recorded_whole(r, e[i].src);
		recorded_whole(r, e[i].dst);
	}
}

static void
record_layers(struct recorded *r, const struct gv_layers *l)
{
	size_t i;

	recorded_whole(r, l->edges_behind);
	recorded_whole(r, l->chain);
	recorded_whole(r, (long long)l->g.n);
	for (i = 0; i < l->g.n; i++) {
		const struct gv_graph_layer *a = &l->g.layer[i];
		const double v[] = {a->time_s, a->forward_s, a->update_s, a->activation,
		    a->kept, a->parameter};

		recorded_doubles(r, v, 6);
		recorded_whole(r, (long long)l->row[i]);
	}
	for (i = 0; i < l->rows.n_rows; i++)
		recorded_whole(r, (long long)l->layer[i]);
	record_edges(r, l->g.edge, l->g.n_edges);
	record_edges(r, l->g.tie, l->g.n_ties);
}

static void
record_plan(struct recorded *r, const struct gv_plan *p, const struct gv_layers *l)
{
	size_t i, k;

	recorded_whole(r, (long long)p->n);
	for (i = 0; i < p->n; i++) {
		for (k = 0; k < GV_PLAN_LEVELS; k++) {
			recorded_whole(r, (long long)p->stage[i].replicas[k]);
			recorded_whole(r, (long long)p->stage[i].within[k]);
		}
		recorded_whole(r, p->stage[i].recompute);
	}
	for (i = 0; i < l->g.n; i++)
		recorded_whole(r, p->of[i]);
}

static void
record_written(struct recorded *r, const struct gv_layers *l, const struct gv_plan *p,
    const struct gv_machine *m)
{
	struct gv_strbuf s = {0};
	struct gv_out *out = gv_out_memory(&s);
	struct gv_error e = {0};

	gv_plan_write(l, p, m, out, one_in(2));
	gv_out_close(out, &e);
	recorded_text(r, s.s != NULL ? s.s : "");
	gv_strbuf_free(&s);
}

/* Of the types of a fleet. */
static void
write_drawn(struct recorded *r, const struct gv_layers *l, const struct gv_machine *m)
{
	struct gv_fleet fleet = {
	    .n = 2, .type = {{.name = "one"}, {.name = "an, other"}}};
	struct gv_plan p = {.n = 1 + below(l->g.n)};
	size_t i, k;

	p.fleet = one_in(2) ? &fleet : NULL;
	p.stage = gv_xcalloc(p.n, sizeof(*p.stage));
	p.of = gv_xcalloc(l->g.n, sizeof(*p.of));
	for (i = 0; i < p.n; i++) {
		p.stage[i].recompute = one_in(2);
		p.stage[i].type = below(2);
		for (k = 0; k < m->n_levels; k++) {
			p.stage[i].replicas[k] = 1 + below(4);
			p.stage[i].within[k] = below(4);
		}
	}
	for (i = 0; i < l->g.n; i++)
		p.of[i] = (uint32_t)(i * p.n / l->g.n);
	record_written(r, l, &p, m);
	gv_plan_free(&p);
}

/* What its rows say one by one, where not all of them are layers of the plan. */
static void
record_rows(struct recorded *r, const struct gv_layers *l)
{
	struct gv_plan_columns c = gv_plan_columns(&l->rows);
	struct gv_error e = {0};
	struct gv_plan_row row;
	size_t i;

	for (i = 0; i < l->rows.n_rows && c.stage >= 0; i++)
		if (gv_plan_row(&row, &l->rows, &c, i, 1 + below(9), &e) == 0) {
			recorded_whole(r, row.stage);
			recorded_whole(r, row.replicas);
			recorded_whole(r, row.recompute);
			recorded_bytes(r, row.place.s, row.place.len);
			recorded_bytes(r, row.gpu_type.s, row.gpu_type.len);
		}
	recorded_errors(r, &e);
}

static void
ask_layers(struct recorded *r, const struct answers_file file[2], size_t counts[3])
{
	struct gv_machine machine;
	struct gv_strbuf s = {0}, edges = {0};
	struct gv_error e = {0};
	struct gv_layers l;
	struct gv_plan p;
	struct model m;
	size_t where = below(4); /* edges: of their own, behind the layers, none, none */
	bool flat = false, is_plan;
	int rc;

	draw_model(&m);
	draw_table(&s, layer_columns, sizeof(layer_columns) / sizeof(layer_columns[0]),
	    m.rows, &m, one_in(2) ? 0 : 30 + below(300));
	draw_edges(&edges, &m);
	if (where == 1)
		gv_strbuf_fmt(&s, "\n%s%s", edges.s, one_in(20) ? "\na,b\n1,2\n" : "");
	if (where == 0 && one_in(9))
		gv_strbuf_str(&s, "\na,b\n1,2\n");
	answers_file_put(&file[0], &s);
	answers_file_put(&file[1], &edges);
	counts[0]++;
	rc = gv_layers_read(&l, file[0].path, where == 0 ? file[1].path : NULL, &e);
	recorded_whole(r, rc);
	if (rc == 0) {
		machine = (struct gv_machine){
		    .n_levels = one_in(4) ? 1 + below(GV_PLAN_LEVELS) : m.levels};
		record_layers(r, &l);
		rc = gv_plan_read(&p, &l, &machine, &flat, &e);
		recorded_whole(r, rc);
		is_plan = rc == 0;
		counts[1]++;
		counts[2] += is_plan;
		recorded_whole(r, flat);
		if (is_plan) {
			record_plan(r, &p, &l);
			record_written(r, &l, &p, &machine);
		}
		gv_plan_free(&p);
		write_drawn(r, &l, &machine);
		record_rows(r, &l);
	}
	recorded_errors(r, &e);
	gv_layers_free(&l);
	recorded_whole(r, l.g.n == 0 && l.rows.n_rows == 0 && l.row == NULL);
	gv_strbuf_free(&s);
	gv_strbuf_free(&edges);
}

static void
layers(struct recorded *r)
{
	enum { ANSWERS = 60, EACH = 20 };
	struct answers_file file[2];
	size_t counts[3] = {0}, i, k;

	answers_file_open(&file[0]);
	answers_file_open(&file[1]);
	for (i = 0; i < ANSWERS; i++) {
		draws_begin(1, (uint32_t)i, 0);
		for (k = 0; k < EACH; k++)
			ask_layers(r, file, counts);
		recorded_answer(r, "layers %zu", i);
	}
	answers_file_close(&file[0]);
	answers_file_close(&file[1]);
	ok(counts[1] > 200 && counts[2] > 100, "of %zu tables %zu are layers, %zu a plan",
	    counts[0], counts[1], counts[2]);
}

/* ---- schedules ---- */

static void
small(struct gv_strbuf *s, size_t row, const void *ctx)
{
	(void)row;
	gv_strbuf_fmt(s, "%zu", below(*(const size_t *)ctx));
}

static void
small_or_none(struct gv_strbuf *s, size_t row, const void *ctx)
{
	if (!one_in(4))
		small(s, row, ctx);
}

static void
op(struct gv_strbuf *s, size_t row, const void *ctx)
{
	(void)row;
	(void)ctx;
	gv_strbuf_str(s, gv_step_name[below(GV_STEP_OPS)]);
}

static void
end_ms(struct gv_strbuf *s, size_t row, const void *ctx)
{
	(void)row;
	gv_strbuf_fmt(s, "%zu.5", *(const size_t *)ctx + below(3));
}

static const struct drawn_column schedule_columns[] = {{"gpu", 2, small_or_none},
    {"stage", 0, small}, {"replica", 2, small_or_none}, {"step", 0, small}, {"op", 0, op},
    {"micro_batch", 0, small}, {"version", 2, small_or_none}, {"start_ms", 0, small},
    {"end_ms", 0, end_ms}, {"event", 12, small}};

static void
record_schedule(struct recorded *r, const struct gv_schedule *s)
{
	size_t i;

	recorded_whole(r, (long long)s->n_steps);
	for (i = 0; i < s->n_steps; i++) {
		const struct gv_schedule_step *t = &s->step[i];

		recorded_whole(r, t->op);
		recorded_whole(r, (long long)t->gpu);
		recorded_whole(r, t->step);
		recorded_whole(r, t->stage);
		recorded_whole(r, t->micro_batch);
		recorded_whole(r, t->version);
		recorded_double(r, t->start_ms);
		recorded_double(r, t->end_ms);
		recorded_whole(r, t->line);
	}
	recorded_whole(r, (long long)s->n_gpus);
	for (i = 0; i < s->n_gpus; i++) {
		recorded_whole(r, s->gpu[i].gpu);
		recorded_whole(r, s->gpu[i].stage);
		recorded_whole(r, s->gpu[i].replica);
		recorded_whole(r, (long long)s->gpu[i].first);
		recorded_whole(r, (long long)s->gpu[i].n);
	}
}

static void
read_schedule(struct recorded *r, const struct gv_strbuf *s)
{
	struct gv_schedule schedule;
	int rc;
	struct gv_error e = {0};
	struct gv_in *in;
	struct gv_tab *t;

	gv_in_memory(&in, "s", s->s, s->len, 0, &e);
	t = gv_tab_from(in);
	if (gv_tab_table(t, &e) == 1) {
		recorded_whole(r, gv_schedule_is(t));
		rc = gv_schedule_read(&schedule, t, &e);
		recorded_whole(r, rc);
		if (rc == 0)
			record_schedule(r, &schedule);
		else
			recorded_whole(r, schedule.n_steps == 0 && schedule.gpu == NULL);
		gv_schedule_free(&schedule);
		recorded_whole(r, schedule.n_steps == 0 && schedule.gpu == NULL);
	}
	recorded_errors(r, &e);
	gv_tab_close(t);
}

static void
ask_schedule(struct recorded *r)
{
	struct gv_strbuf s = {0};
	size_t most = 1 + below(5), rows = below(30);

	draw_table(&s, schedule_columns,
	    sizeof(schedule_columns) / sizeof(schedule_columns[0]), rows, &most,
	    one_in(2) ? 0 : 30 + below(200));
	if (one_in(20))
		gv_strbuf_str(&s, "\na,b\n1,2\n");
	read_schedule(r, &s);
	gv_strbuf_free(&s);
}

static void
ask_written(struct recorded *r)
{
	struct gv_pipe_stage stage[8] = {{0}};
	struct gv_pipe p = {.stage = stage, .chunks = 1};
	struct gv_simulation sim;
	struct gv_timetable t;
	struct gv_error e = {0};
	struct gv_strbuf s = {0};
	struct gv_out *out;
	enum values how = draw_values();
	size_t k;

	p.schedule = (enum gv_schedule_kind)below(GV_SCHEDULES);
	p.chunks = p.schedule == GV_SCHEDULE_INTERLEAVED ? 1 + below(2) : 1;
	p.n = p.chunks * (1 + below(3));
	for (k = 0; k < p.n; k++) {
		stage[k].replicas = 1 + (p.chunks == 1 && one_in(4));
		stage[k].forward_s = draw_value(how) / 7;
		stage[k].backward_s = draw_value(how) / 7;
		stage[k].receive_s = draw_value(how) / 70;
	}
	p.micro_batches = p.n / p.chunks * (1 + below(4));
	p.batch = p.micro_batches;
	if (gv_simulation_run(&sim, &t, &p, &e) == 0) {
		out = gv_out_memory(&s);
		gv_schedule_write(&t, &p, out, one_in(2));
		gv_out_close(out, &e);
		recorded_text(r, s.s);
		read_schedule(r, &s);
		gv_strbuf_free(&s);
		gv_timetable_free(&t);
		gv_simulation_free(&sim);
	}
	recorded_errors(r, &e);
}

static void
schedules(struct recorded *r)
{
	enum { ANSWERS = 30, EACH = 20 };
	size_t i, k;

	for (i = 0; i < ANSWERS; i++) {
		draws_begin(2, (uint32_t)i, 0);
		for (k = 0; k < EACH; k++)
			ask_schedule(r);
		recorded_answer(r, "schedules %zu", i);
		for (k = 0; k < EACH; k++)
			ask_written(r);
		recorded_answer(r, "schedules that were written %zu", i);
	}
}

/* ---- machines ---- */

static void
level(struct gv_strbuf *s, size_t row, const void *ctx)
{
	const size_t *turn = ctx;

	gv_strbuf_fmt(s, "%zu", 1 + (row + turn[0]) % turn[1]);
}

static void
gpus(struct gv_strbuf *s, size_t row, const void *ctx)
{
	(void)row;
	(void)ctx;
	gv_strbuf_fmt(s, "%zu", draw_number(8, GV_PLAN_GPUS));
}

static void
rate(struct gv_strbuf *s, size_t row, const void *ctx)
{
	(void)row;
	(void)ctx;
	gv_strbuf_fmt(s, "%.17g", one_in(20) ? 1e9 : draw_value(QUARTERS));
}

static void
rate_or_none(struct gv_strbuf *s, size_t row, const void *ctx)
{
	if (!one_in(3))
		rate(s, row, ctx);
}

static void
ask_machine(struct recorded *r, const struct answers_file *file)
{
	static const struct drawn_column column[] = {{"level", 0, level},
	    {"gpus", 0, gpus}, {"gbytes_per_s", 0, rate},
	    {"sum_gbytes_per_s", 2, rate_or_none}};
	size_t rows = one_in(20) ? 0 : 1 + below(4);
	size_t turn[2] = {below(4), rows + (rows == 0)}, l;
	struct gv_strbuf s = {0};
	struct gv_machine m;
	struct gv_error e = {0};

	if (one_in(4))
		turn[1] = 1 + below(5);
	draw_table(&s, column, 4, rows, turn, one_in(2) ? 0 : 3 + below(20));
	answers_file_put(file, &s);
	recorded_whole(r, gv_machine_read(&m, file->path, &e));
	recorded_whole(r, (long long)m.n_levels);
	for (l = 0; l < GV_PLAN_LEVELS; l++) {
		recorded_whole(r, (long long)m.gpus[l]);
		recorded_double(r, m.bytes_per_s[l]);
		recorded_double(r, m.sum_bytes_per_s[l]);
	}
	recorded_errors(r, &e);
	gv_strbuf_free(&s);
}

static void
machines(struct recorded *r)
{
	enum { ANSWERS = 20, EACH = 20 };
	struct answers_file file;
	size_t i, k;

	answers_file_open(&file);
	for (i = 0; i < ANSWERS; i++) {
		draws_begin(3, (uint32_t)i, 0);
		for (k = 0; k < EACH; k++)
			ask_machine(r, &file);
		recorded_answer(r, "machines %zu", i);
	}
	answers_file_close(&file);
}

int
main(void)
{
	struct recorded r;

	recorded_open(&r);
	layers(&r);
	schedules(&r);
	machines(&r);
	recorded_close(&r);
	return done_testing();
}
