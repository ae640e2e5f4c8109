/* gv-report: what it says and draws of drawn allocations, dry runs and other tables is what it was. */
#include "tap.h"

#include <string.h>

#include "column_draws.h"
#include "gv-report/sheet/sheet.h"
#include "recorded_frame.h"
#include "recorded_out.h"
#include "sched/cluster.h"
#include "table/kind.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

static struct gv_error e;

static const char *const type[] = {"v100", "p100", "k<80", "t-of-a-long-name",
    "v100_unconsolidated", "p100_unconsolidated"};

/* ---- allocations and rates: a row for each job on each type ---- */

static void
put_job(struct gv_strbuf *s, size_t i, size_t scale)
{
	static const char *const odd[] = {
	    "a job of a name that is longer than there is room", "\xc3\xbc<", "x\xffy"};

	if (i % 7 == 6)
		gv_strbuf_str(s, odd[i / 7 % 3]);
	else
		gv_strbuf_fmt(s, "j%zu", i);
	gv_strbuf_fmt(s, ",%zu", scale);
}

static void
draw_rows(struct gv_strbuf *s, bool shares, size_t wrong)
{
	static const char *const entity[] = {"a", "b/c", ""};
	size_t jobs = below(9) == 0 ? below(70) : below(9), types = 1 + below(4), i, k,
	       n = 0;
	bool steps = below(2) == 0, entities = below(3) == 0, policy = below(2) == 0,
	     gangs = below(2) == 0, spread = below(3) == 0, pairs = below(3) == 0;
	size_t long_ = below(2) == 0 ? 100 : 300000;
	double most = below(3) == 0 ? 1e-5 : 40;

	gv_strbuf_fmt(s, "job_id,scale_factor,gpu_type,steps_per_s%s%s%s%s%s\n",
	    shares ? ",share" : "", steps ? ",total_steps,steps_remaining" : "",
	    entities ? ",entity" : "", policy ? ",policy" : "",
	    pairs ? ",with_job_id,with_steps_per_s" : "");
	for (i = 0; i < jobs; i++) {
		size_t scale = gangs ? 1 + below(4) : 1, all = long_ * below(90),
		       from = n;
		const char *of = entity[below(3)];

		for (k = 0; k < types; k++) {
			struct column_drawn rate = {"", 0, 0, NULL, 0, most, ANY},
					    share = {"", 0, 0, NULL, 0, 1., ANY};

			share.most = 1. / (double)types;
			if (below(6) == 0)
				continue;
			put_job(s, i, scale);
			gv_strbuf_fmt(
			    s, ",%s,", type[spread && k % 2 == 1 ? 4 + k / 2 : k]);
			put_column_cell(s, &rate, i, wrong);
			gv_strbuf_char(s, ',');
			if (shares) {
				put_column_cell(s, &share, i, wrong);
				gv_strbuf_char(s, ',');
			}
			s->len--;
			if (steps)
				gv_strbuf_fmt(
				    s, ",%zu,%zu", all, i % 3 == 0 ? all : all / 2);
			if (entities)
				gv_strbuf_fmt(s, ",%s", of);
			if (policy)
				gv_strbuf_str(s, ",max-min");
			n++;
			if (pairs && i > 0 && n > from + 1 && below(3) == 0) {
				gv_strbuf_fmt(s, ",j%zu", below(i));
				gv_strbuf_fmt(s, ",%.6g", 2 * uniform());
			} else if (pairs)
				gv_strbuf_str(s, ",,");
			gv_strbuf_char(s, '\n');
		}
	}
}

static void
draw_cluster(struct gv_cluster *c)
{
	struct gv_strbuf s = {0};
	struct gv_frame f;
	size_t n = 1 + below(4), i;
	bool priced = below(2) == 0;

	gv_strbuf_fmt(&s, "gpu_type,gpus%s\n", priced ? ",usd_per_h" : "");
	for (i = 0; i < n; i++) {
		gv_strbuf_fmt(&s, "%s,%zu", type[i], below(9));
		if (priced)
			gv_strbuf_fmt(&s, ",%.6g", .25 * (double)below(30));
		gv_strbuf_char(&s, '\n');
	}
	gv_error_clear(&e);
	if (gv_frame_parse(&f, "cluster", s.s, s.len, &e) != 0 ||
	    gv_cluster_from(c, &f, &e) != 0)
		printf("# %s\n", e.text[0]);
	gv_frame_free(&f);
	gv_strbuf_free(&s);
}

/* ---- dry runs ---- */

static void
draw_rounds(struct gv_strbuf *s, size_t wrong)
{
	static const char *const odd_round[] = {"-1,", "10000000,", "10000001,"};
	size_t rounds = below(8) == 0 ? 90 : 1 + below(12), jobs = 1 + below(7), i, k;
	size_t types = below(9) == 0 ? 30 : 1 + below(4), from = below(4) == 0 ? 3 : 0;
	bool any = below(9) > 0;

	if (below(9) == 0)
		jobs = 70;
	gv_strbuf_str(s, "round,job_id,gpu_type,node,gpus\n");
	for (i = from; i < rounds && any; i++)
		for (k = 0; k < jobs; k++) {
			size_t on = types == 30 ? (i + k) % 30 : below(types);

			if (below(3) == 0)
				continue;
			if (wrong > 0 && below(2 * wrong) == 0)
				gv_strbuf_str(s, odd_round[below(3)]);
			else
				gv_strbuf_fmt(s, "%zu,", i);
			gv_strbuf_fmt(
			    s, "j%zu,%s%zu,n,0;1\n", k, on % 3 == 0 ? "t<" : "type", on);
			if (below(9) == 0)
				gv_strbuf_fmt(s, "%zu,j%zu,%s%zu,m,2\n", i, k,
				    on % 3 == 0 ? "t<" : "type", on);
		}
}

/* ---- tables of columns ---- */

static void
draw_stage_times(struct gv_strbuf *s, size_t wrong)
{
	double ms = below(3) == 0 ? 1e-3 : 60;
	const struct column_drawn c[] = {{"stage", 0, 0, NULL, 0, 5, ROWS},
	    {"replica", 0, 0, NULL, 0, 2, WHOLE},
	    {"micro_batches", 0, 0, NULL, 0, 9, WHOLE},
	    {"forward_ms", 0, 12, NULL, 0, ms, ANY},
	    {"backward_ms", 0, 12, NULL, 0, 2 * ms, ANY},
	    {"send_ms", 0, 12, NULL, 0, ms, ANY}, {"update_ms", 0, 12, NULL, 0, ms, ANY},
	    {"wait_ms", 0, 12, NULL, 0, ms, ANY},
	    {"planned_forward_ms", 3, 9, NULL, 0, ms, ANY},
	    {"planned_backward_ms", 3, 9, NULL, 0, 2 * ms, ANY},
	    {"other_ms", 2, 9, NULL, 0, ms, ANY}, {"bubble", 2, 9, NULL, 0, 1, ANY},
	    {"planned_bubble", 2, 9, NULL, 0, 1, ANY},
	    {"memory_bytes", 2, 9, NULL, 0, 3e9, ANY},
	    {"planned_memory_bytes", 2, 9, NULL, 0, 3e9, ANY}};

	draw_columns(s, c, COUNT_OF(c), below(9) == 0 ? below(70) : below(6), wrong);
}

static void
draw_explanation(struct gv_strbuf *s, size_t wrong)
{
	static const char *const kind[] = {
	    "gpu_type", "gpu_type", "job", "job", "job", "entity", "policy", "other"};
	static const char *const name[] = {"v100", "k<80", "j1", "\xc3\xbc", "max-min"};
	static const char *const yes[] = {"yes", "no", ""};
	const struct column_drawn c[] = {{"kind", 0, 0, kind, 4 + below(5), 0, ANY},
	    {"name", 0, 20, name, 5, 0, ANY}, {"binds", 0, 0, yes, 3, 0, ANY},
	    {"bottleneck", 0, 0, yes, 3, 0, ANY}, {"value", 4, 3, NULL, 0, 12, ANY},
	    {"used", 4, 3, NULL, 0, 1, ANY}, {"limit", 4, 3, NULL, 0, 9, ANY},
	    {"price", 4, 3, NULL, 0, .02, ANY}, {"need", 4, 3, NULL, 0, 3, ANY},
	    {"need_price", 4, 3, NULL, 0, 3e-6, ANY},
	    {"one_more_gpu", 4, 3, NULL, 0, 1e5, ANY},
	    {"one_more_quota", 4, 3, NULL, 0, 2, ANY},
	    {"jobs_unlocked", 4, 3, NULL, 0, 5, WHOLE}};

	draw_columns(s, c, COUNT_OF(c), below(8), wrong);
}

static void
draw_plain(struct gv_strbuf *s, size_t wrong)
{
	static const char *const text[] = {
	    "a", "<&>", "x\xffy", "a longer text than others"};
	const struct column_drawn c[] = {{"gpu_type", 0, 9, type, 4, 0, ANY},
	    {"gpus", 0, 5, NULL, 0, 9, WHOLE}, {"usd_per_h", 2, 5, NULL, 0, 7, ANY},
	    {"memory_bytes", 2, 5, NULL, 0, 8e10, ANY},
	    {"much", 3, 0, NULL, 0, 1e-9, ANY}, {"words", 3, 3, text, 4, 0, ANY}};

	draw_columns(s, c, COUNT_OF(c), below(7), wrong);
}

/* ---- */

enum { ALLOCATION, RATES, ROUNDS, STAGE_TIMES, EXPLANATION, PLAIN, VIEWS };

static void
draw_table(struct gv_strbuf *s, size_t which, size_t wrong)
{
	switch (which) {
	case ALLOCATION:
	case RATES:
		draw_rows(s, which == ALLOCATION, wrong);
		break;
	case ROUNDS:
		draw_rounds(s, wrong);
		break;
	case STAGE_TIMES:
		draw_stage_times(s, wrong);
		break;
	case EXPLANATION:
		draw_explanation(s, wrong);
		break;
	default:
		draw_plain(s, wrong);
	}
}

static int
view_of(struct view *v, size_t which, struct gv_tab *t, const struct gv_cluster *c)
{
	return which == ALLOCATION    ? view_allocation(v, t, c, &e)
	       : which == RATES       ? view_rates(v, t, &e)
	       : which == ROUNDS      ? view_rounds(v, t, &e)
	       : which == STAGE_TIMES ? view_stage_times(v, t, &e)
	       : which == EXPLANATION ? view_explanation(v, t, &e)
				      : view_plain(v, t, &e);
}

static void
record_view(struct recorded *r, const struct view *v)
{
	static const char *const part[] = {
	    "job", "type", "entity", "round", "stage", "rows"};
	const struct sheet *by = view_find(v, part[below(6)]);
	int digits = below(2) == 0 ? 1 : (int)below(6), f;
	size_t html = below(3);

	for (f = FORMAT_TEXT; f <= FORMAT_HTML; f++) {
		if (f == FORMAT_SVG || (f == FORMAT_HTML && html > 0))
			continue;
		view_write(answer_begin(), v, NULL, (enum format)f, digits);
		answer_end(r);
		if (by != NULL && f != FORMAT_HTML) {
			view_write(answer_begin(), v, by, (enum format)f, digits);
			answer_end(r);
		}
	}
	if (v->chart == CHART_NONE)
		return;
	view_write_svg(answer_begin(), v);
	answer_end(r);
}

static void
ask(struct recorded *r, size_t which, size_t wrong)
{
	struct gv_cluster cluster = {0};
	struct gv_strbuf s = {0};
	struct view v = {.kind = GV_KIND_NONE};
	struct gv_tab *t;
	bool known = which == ALLOCATION && below(2) == 0;
	int rc;

	if (known)
		draw_cluster(&cluster);
	draw_table(&s, which, wrong);
	gv_error_clear(&e);
	t = table_of(&s, "table", &e);
	v.kind = gv_tab_kind(t);
	rc = view_of(&v, which, t, known ? &cluster : NULL);
	gv_tab_close(t);
	recorded_whole(r, rc);
	recorded_error(r, &e);
	if (rc == 0)
		record_view(r, &v);
	view_free(&v);
	gv_cluster_free(&cluster);
	gv_strbuf_free(&s);
}

int
main(void)
{
	static const char *const name[VIEWS] = {
	    "allocations", "rates", "dry runs", "stage times", "explanations", "others"};
	struct recorded r;
	size_t turn, which, i;

	recorded_open(&r);
	for (turn = 0; turn < 40; turn++) {
		draws_begin(92, 0, (uint32_t)turn);
		for (which = 0; which < VIEWS; which++) {
			for (i = 0; i < 8; i++)
				ask(&r, which, i < 7 ? 0 : 10 + below(60));
			recorded_answer(&r, "%s %zu", name[which], turn);
		}
	}
	answer_free();
	recorded_close(&r);
	return done_testing();
}
