/* gv-report: what it says and draws of drawn plans, stages and schedules is what it was. */
#include "tap.h"

#include <string.h>

#include "column_draws.h"
#include "gv-report/schedule/schedule.h"
#include "gv-report/stages/stages.h"
#include "recorded_frame.h"
#include "recorded_out.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

static struct gv_error e;

static const char *const layer[] = {"conv1", "conv2_of_a_name_that_is_long", "pool", "fc",
    "Input0", "\xc3\xbc", "a<b", "softmax-with-a-tail-of-its-own"};

/* ---- stages ---- */

static void
draw_stages(struct gv_strbuf *s, size_t wrong)
{
	static const double most[] = {1e-4, .5, 8, 400};
	static const char *const recompute[] = {"full", "none"};
	static const char *const limit[] = {"compute", "sync", "transfer", "l<m"};
	static const char *const type[] = {"v100", "p100"};
	size_t levels = 1 + below(below(2) == 0 ? 3 : 1), rows, k;
	double time = most[below(4)];
	struct column_drawn c[] = {{"level", 3, 0, NULL, 0, (double)levels, WHOLE},
	    {"stage", 0, 0, NULL, 0, 5, ROWS}, {"within", 2, 4, NULL, 0, 2, WHOLE},
	    {"layers", 3, 0, NULL, 0, 3, WHOLE}, {"replicas", 2, 0, NULL, 0, 3, WHOLE},
	    {"gpus", 2, 0, NULL, 0, 6, WHOLE}, {"compute_s", 4, 9, NULL, 0, time, ANY},
	    {"sync_s", 4, 9, NULL, 0, time, ANY},
	    {"transfer_s", 4, 9, NULL, 0, time, ANY},
	    {"load_s", 0, 0, NULL, 0, time, ANY},
	    {"parameter_bytes", 2, 5, NULL, 0, 3e9, ANY},
	    {"activation_bytes", 3, 5, NULL, 0, 3e9, ANY},
	    {"in_flight", 3, 5, NULL, 0, 4, WHOLE},
	    {"memory_bytes", 2, 5, NULL, 0, 3e4, ANY}, {"place", 2, 3, NULL, 0, 2, WHOLE},
	    {"first_layer", 3, 5, layer, 8, 0, ANY},
	    {"last_layer", 3, 5, layer, 8, 0, ANY},
	    {"recompute", 3, 4, recompute, 2, 0, ANY}, {"limit", 2, 5, limit, 4, 0, ANY},
	    {"gpu_type", 2, 5, type, 2, 0, ANY}};

	/* those that count from 1 */
	for (k = 0; k < COUNT_OF(c); k++)
		if (k == 0 || k == 4 || k == 5) {
			static const char *const from_1[] = {"1", "2", "3", "4"};

			c[k].text = from_1;
			c[k].n_texts = k == 0 ? levels : 1 + below(4);
		}
	rows = below(7) == 0 ? below(2) : 1 + below(7);
	draw_columns(s, c, COUNT_OF(c), rows, wrong);
}

static void
draw_plan(struct gv_strbuf *s, size_t wrong)
{
	static const char *const recompute[] = {"full", ""};
	static const char *const type[] = {"v100", "p100"};
	size_t rows = below(7) == 0 ? below(2) : 1 + below(9), stage = 0, i, n = 0,
	       how = below(3);
	bool is_typed = below(3) == 0, recomputes = below(3) == 0, kept = below(3) == 0;

	gv_strbuf_fmt(s,
	    "node_id,layer,forward_ms,backward_ms,activation_bytes,parameter_bytes,stage,"
	    "replicas%s%s%s\n",
	    is_typed ? ",gpu_type" : "", recomputes ? ",recompute" : "",
	    kept ? ",kept_bytes" : "");
	for (i = 0; i < rows; i++) {
		size_t of = below(8);
		struct column_drawn c[] = {{"", 0, 9, NULL, 0, 40, ANY},
		    {"", 0, 9, NULL, 0, 80, ANY}, {"", 0, 9, NULL, 0, 1e7, ANY},
		    {"", 0, 9, NULL, 0, 1e8, ANY}};
		size_t k;

		gv_strbuf_fmt(s, "n%zu,%s,", below(30) == 0 ? 0 : i, layer[of]);
		for (k = 0; k < 4; k++) {
			put_column_cell(s, &c[k], i, wrong);
			gv_strbuf_char(s, ',');
		}
		stage = how == 0 ? below(3) : stage + (i > 0 && below(3) == 0);
		if (wrong > 0 && below(2 * wrong) == 0)
			gv_strbuf_str(s, "x,0");
		else
			gv_strbuf_fmt(s, "%zu,%zu", stage, 1 + stage % 3);
		if (is_typed)
			gv_strbuf_fmt(s, ",%s", type[stage % 2]);
		if (recomputes)
			gv_strbuf_fmt(s, ",%s", recompute[below(2)]);
		if (kept)
			gv_strbuf_fmt(s, ",%zu", below(900));
		gv_strbuf_char(s, '\n');
	}
	if (below(2) == 0)
		return;
	gv_strbuf_fmt(s, "\nsrc,%s\n", wrong > 0 && below(wrong) == 0 ? "to" : "dst");
	for (i = 0; i + 1 < rows; i++) {
		n = below(rows);
		gv_strbuf_fmt(s, "n%zu,n%zu\n", how == 1 ? i + 1 : i, n);
	}
	if (below(9) == 0)
		gv_strbuf_str(s, "\nsrc,dst\nn0,n1\n");
}

static void
ask_stages_of(struct recorded *r, struct gv_strbuf *s, int digits, bool tsv)
{
	struct stages of;
	struct gv_tab *t;
	int rc;

	gv_error_clear(&e);
	t = table_of(s, "stages", &e);
	recorded_whole(r, stages_are(t));
	rc = stages_read(&of, t, &e);
	gv_tab_close(t);
	recorded_whole(r, rc);
	recorded_error(r, &e);
	if (rc != 0)
		return;
	stages_text(answer_begin(), &of, digits);
	answer_end(r);
	stages_table(answer_begin(), &of, tsv);
	answer_end(r);
	stages_json(answer_begin(), &of);
	answer_end(r);
	stages_svg(answer_begin(), &of, digits);
	answer_end(r);
	if (below(4) == 0) {
		stages_html(answer_begin(), &of, digits);
		answer_end(r);
	}
	stages_free(&of);
}

static void
ask_stages(struct recorded *r, bool plan, size_t wrong)
{
	int digits = below(2) == 0 ? 1 : (int)below(5);
	struct gv_strbuf s = {0};
	bool tsv = below(2) == 0;

	if (plan)
		draw_plan(&s, wrong);
	else
		draw_stages(&s, wrong);
	ask_stages_of(r, &s, digits, tsv);
	gv_strbuf_free(&s);
}

/* One cell of a row of stages, behind one that is as it should be. */
static void
ask_stage_cell(struct recorded *r, size_t column, const char *cell)
{
	static const char *const names[] = {"level", "stage", "within", "layers",
	    "replicas", "gpus", "place", "compute_s", "sync_s", "transfer_s", "load_s",
	    "parameter_bytes", "memory_bytes"};
	static const char *const usual[] = {
	    "1", "1", "0", "3", "2", "2", "1", ".25", ".125", ".5", ".5", "1000", "2000"};
	struct gv_strbuf s = {0};
	size_t k, row;

	for (k = 0; k < COUNT_OF(names); k++)
		gv_strbuf_fmt(&s, "%s%s", k > 0 ? "," : "", names[k]);
	for (row = 0; row < 2; row++)
		for (k = 0; k < COUNT_OF(names); k++)
			gv_strbuf_fmt(&s, "%c%s", k > 0 ? ',' : '\n',
			    row == 0 && k == 1        ? "0"
			    : row == 1 && k == column ? cell
						      : usual[k]);
	gv_strbuf_char(&s, '\n');
	ask_stages_of(r, &s, 3, false);
	recorded_answer(r, "%s of %s", names[column], cell);
	gv_strbuf_free(&s);
}

static void
ask_stage_cells(struct recorded *r)
{
	static const char *const cell[] = {
	    "", "-1", "0", "1", "2", "3", "2147483648", "2147483649", "x", "nan", "inf"};
	static const char *const load[] = {
	    "0", "9.99e-4", "1e-3", "9.999", "10", "0.5", "1.5"};
	/* each of the columns first */
	static const char *const table[] = {"load_s,stage\n1,0\n", "stage,load_s\n0,1\n",
	    "load_s,node_id\n1,0\n", "stage,node_id\n0,n\n",
	    "stage,node_id,forward_ms,replicas\n0,n,1,1\n",
	    "node_id,stage,forward_ms,replicas\n0,0,1,1\n",
	    "forward_ms,node_id,stage,replicas\n1,n,0,1\n",
	    "node_id,stage,forward_ms,replicas\n0,0,1,1\n\nsrc,dst\n",
	    "node_id,stage,forward_ms,replicas\n0,0,1,1\n\ndst,src\n",
	    "node_id,stage,forward_ms,replicas\n0,0,1,1\n\ndst,from\n",
	    "node_id,stage,forward_ms,replicas\n0,0,1,1\n\nsrc,dst\n\nsrc,dst\n"};
	/* the layer's name, its times and bytes, what is kept */
	static const char *const plan[] = {"Input,1,2,3,4,5", "Inpu,1,2,3,4,5",
	    "Input0,x,2,3,4,5", "a,,2,3,4,", "a,0,,3,4,0", "a,.5,.25,,4,", "a,1,2,3,,.5",
	    "a,1,2,.5,.5,", "a,-1,2,3,4,5", "a,1,-2,3,4,5", "a,1,2,-3,4,5",
	    "a,1,2,3,-4,5", "a,1,2,3,4,-5"};
	struct gv_strbuf s = {0};
	size_t i, k;

	for (k = 0; k < 13; k++)
		for (i = 0; i < COUNT_OF(cell); i++)
			ask_stage_cell(r, k, cell[i]);
	for (i = 0; i < COUNT_OF(table); i++) {
		gv_strbuf_clear(&s);
		gv_strbuf_str(&s, table[i]);
		ask_stages_of(r, &s, 3, false);
		recorded_answer(r, "stages' table %zu", i);
	}
	for (i = 0; i < COUNT_OF(load); i++)
		ask_stage_cell(r, 10, load[i]);
	for (i = 0; i < COUNT_OF(plan); i++) {
		gv_strbuf_clear(&s);
		gv_strbuf_fmt(&s,
		    "node_id,stage,replicas,layer,forward_ms,backward_ms,activation_"
		    "bytes,"
		    "parameter_bytes,kept_bytes\nn1,0,1,b,1,2,3,4,5\nn2,2,2,%s\n",
		    plan[i]);
		ask_stages_of(r, &s, 3, false);
		recorded_answer(r, "a layer of %s", plan[i]);
	}
	gv_strbuf_free(&s);
}

/* ---- schedules ---- */

static void
draw_schedule(struct gv_strbuf *s, size_t wrong)
{
	static const char *const op[] = {
	    "F", "F", "F", "F", "B", "B", "B", "W", "AR", "U"};
	static const double scale[] = {1e-3, 1, 1, 40, 9000, 3e5};
	size_t gpus = 1 + below(below(6) == 0 ? 80 : 6), g, k, chunks = 1 + below(3);
	size_t ops = below(2) == 0 ? 7 : 10, steps = 1 + below(below(6) == 0 ? 120 : 12);
	double unit = scale[below(6)];
	bool named = below(4) > 0, version = below(2) == 0;

	gv_strbuf_fmt(s, "%sstage,replica,step,op,micro_batch,%sstart_ms,end_ms\n",
	    named ? "gpu," : "", version ? "version," : "");
	for (g = 0; g < gpus && below(40) > 0; g++) {
		double at = unit * (double)below(4);
		size_t replica = below(3) == 0 ? g % 2 : 0;

		for (k = 0; k < steps; k++) {
			double len = unit * (double)below(4);
			const char *is = op[below(ops)];
			size_t stage = named ? g / 2 + below(chunks) * gpus : g / 2;

			if (below(3) == 0)
				len = unit * uniform();
			if (named)
				gv_strbuf_fmt(s, "%zu,", g);
			if (wrong > 0 && below(wrong) == 0)
				is = below(2) == 0 ? "X" : "";
			gv_strbuf_fmt(s, "%zu,%zu,%zu,%s,%zu,", stage,
			    named ? replica : g % 2, k, is, below(1 + steps / 2));
			if (version)
				gv_strbuf_fmt(s, "%zu,", below(3));
			gv_strbuf_fmt(s, "%.9g,%.9g\n", at,
			    at + (wrong > 0 && below(9 * wrong) == 0 ? -1 : len));
			at += is[0] == 'A' && below(2) == 0 ? len / 2 : len;
			if (below(3) == 0)
				at += unit * (double)below(4);
		}
	}
}

static void
ask_schedule(struct recorded *r, size_t wrong)
{
	int digits = below(2) == 0 ? 1 : (int)below(5);
	struct gv_strbuf s = {0};
	struct schedule of;
	struct gv_tab *t;
	bool tsv = below(2) == 0;
	int rc;

	draw_schedule(&s, wrong);
	gv_error_clear(&e);
	t = table_of(&s, "schedule", &e);
	rc = schedule_read(&of, t, &e);
	gv_tab_close(t);
	recorded_whole(r, rc);
	recorded_error(r, &e);
	gv_strbuf_free(&s);
	if (rc != 0)
		return;
	recorded_doubles(r, of.wait_ms, of.n_steps);
	recorded_double(r, of.wait_share);
	schedule_text(answer_begin(), &of, digits);
	answer_end(r);
	schedule_table(answer_begin(), &of, tsv);
	answer_end(r);
	schedule_json(answer_begin(), &of);
	answer_end(r);
	schedule_svg(answer_begin(), &of, digits);
	answer_end(r);
	if (below(4) == 0) {
		schedule_html(answer_begin(), &of, digits);
		answer_end(r);
	}
	schedule_free(&of);
}

int
main(void)
{
	struct recorded r;
	size_t turn, i;

	recorded_open(&r);
	for (turn = 0; turn < 60; turn++) {
		draws_begin(91, 0, (uint32_t)turn);
		for (i = 0; i < 10; i++)
			ask_stages(&r, false, i < 8 ? 0 : 10 + below(60));
		recorded_answer(&r, "stages %zu", turn);
		for (i = 0; i < 10; i++)
			ask_stages(&r, true, i < 8 ? 0 : 10 + below(60));
		recorded_answer(&r, "plans %zu", turn);
		for (i = 0; i < 8; i++)
			ask_schedule(&r, i < 7 ? 0 : 30 + below(60));
		recorded_answer(&r, "schedules %zu", turn);
	}
	ask_stage_cells(&r);
	answer_free();
	recorded_close(&r);
	return done_testing();
}
