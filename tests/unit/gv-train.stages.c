/*
 * The stages of a plan: rows in their order, what each stage sums up, what rows of one disagree
 * in, the micro-batch that a profile was of.
 */
#include "nn_help.h"

#include "base/strbuf.h"
#include "gv-train/pipeline/stages.h"

static void
read_model(struct gv_model *m, const char *table)
{
	struct gv_error e = {0};

	if (help_read(m, table, &e) != 0)
		gv_die_error(&e);
}

/* ---- order ---- */

static void
sorts(const char *stages, const char *want)
{
	struct gv_strbuf table = {0}, is = {0};
	struct gv_error e = {0};
	struct gv_model m;
	size_t i;
	int status;

	/* rows 1 to 3 read the sample, 4 the sum of them */
	gv_strbuf_fmt(&table,
	    "id,op,from,stage\n1,relu,0,%c\n2,relu,0,%c\n3,relu,0,%c\n4,add,1;2;3,%c\n"
	    "5,linear,4,%c\n6,xent,5,%c\n",
	    stages[0], stages[1], stages[2], stages[3], stages[4], stages[5]);
	read_model(&m, table.s);
	ok(stages_are(&m), "a plan");
	status = stages_sort(&m, &e);
	for (i = 0; status == 0 && i < m.n; i++)
		gv_strbuf_fmt(&is, "%d", (int)m.layer[i].id);
	if (status != 0)
		gv_strbuf_str(&is, strchr(e.text[0], ':') + 1);
	is_str(is.s, want, "stages %s", stages);
	gv_strbuf_free(&is);
	gv_strbuf_free(&table);
	gv_model_free(&m);
}

static void
test_order(void)
{
	struct gv_model m;

	sorts("000000", "123456");
	sorts("001122", "123456");
	sorts("210333", "321456");
	sorts("101222", "213456");
	sorts("010111", "132456");
	sorts("000110", "7: row 6 would stand before row 5, which it reads");
	sorts("0x0000", "3: stage: expected an integer, got \"x\"");
	read_model(&m, "id,op\n1,linear\n2,xent\n");
	ok(!stages_are(&m), "a model that is no plan");
	gv_model_free(&m);
}

/* ---- stages ---- */

#define HEAD                                                                          \
	"id,op,out,stage,replicas,recompute,forward_ms,backward_ms,activation_bytes," \
	"kept_bytes,parameter_bytes\n"

static void
test_read(void)
{
	struct stages s;
	struct gv_model m;
	struct gv_error e = {0};

	read_model(&m,
	    HEAD "1,linear,4,0,2,,1,10,100,,1000\n"
		 "2,relu,,0,2,none,2,20,200,7,2000\n"
		 "3,linear,4,1,1,full,4,40,,,\n4,linear,,1,1,full,,,400,,4000\n"
		 "5,xent,,2,3,,,,0,0,\n");
	is_int(stages_read(&s, &m, &e), 0, "read");
	is_int((long long)s.n, 3, "three stages");
	ok(s.stage[0].first == 0 && s.stage[0].last == 2 && s.stage[1].first == 2 &&
		s.stage[1].last == 4 && s.stage[2].first == 4 && s.stage[2].last == 5,
	    "their rows");
	ok(s.stage[0].replicas == 2 && s.stage[1].replicas == 1 &&
		s.stage[2].replicas == 3,
	    "their replicas");
	ok(!s.stage[0].recompute && s.stage[1].recompute && !s.stage[2].recompute,
	    "what makes its activations again");
	is_near(s.stage[0].forward_s, 3e-3, 1e-12, "forward");
	is_near(s.stage[0].backward_s, 30e-3, 1e-12, "backward");
	is_near(s.stage[0].kept, 107, 0, "what is kept, or else the output");
	is_near(s.stage[0].parameter, 3000, 0, "weights");
	is_near(s.stage[1].forward_s, 4e-3, 1e-12, "what is not told is nothing");
	is_near(s.stage[1].kept, 400, 0, "as is an output");
	is_near(s.stage[2].forward_s + s.stage[2].kept, 0, 0, "of the head");
	is_int((long long)stages_gpus(&s, 1), 6, "GPUs");
	stages_free(&s);
	ok(s.n == 0 && s.stage == NULL, "freed");
	gv_model_free(&m);
}

static void
refused(const char *table, const char *want)
{
	struct gv_error e = {0};
	struct stages s;
	struct gv_model m;

	read_model(&m, table);
	ok(stages_read(&s, &m, &e) == -1 && e.count == 1, "refused");
	is_str(strchr(e.text[0], ':') + 1, want, "%s", want);
	stages_free(&s);
	gv_model_free(&m);
}

static void
test_refused(void)
{
	static const char end[] = "2,xent,,1,1,,,,,,\n";
	static const struct {
		const char *row, *want;
	} of[] = {{"1,linear,4,1,1,,,,,,",
		      "2: stage: no row is of stage 0, this one is of stage 1"},
	    {"1,linear,4,-1,1,,,,,,",
		"2: stage: expected a whole number from 0 to 1, got \"-1\""},
	    {"1,linear,4,2,1,,,,,,",
		"2: stage: expected a whole number from 0 to 1, got \"2\""},
	    {"1,linear,4,1.5,1,,,,,,", "2: stage: expected an integer, got \"1.5\""},
	    {"1,linear,4,0,0,,,,,,",
		"2: replicas: expected a whole number from 1 to 4096, got \"0\""},
	    {"1,linear,4,0,1,some,,,,,",
		"2: recompute: expected none or full, got \"some\""},
	    {"1,linear,4,0,1,,x,,,,", "2: forward_ms: expected a number, got \"x\""},
	    {"1,linear,4,0,1,,,x,,,", "2: backward_ms: expected a number, got \"x\""},
	    {"1,linear,4,0,1,,,,x,,",
		"2: activation_bytes: expected a number, got \"x\""},
	    {"1,linear,4,0,1,,,,,x,", "2: kept_bytes: expected a number, got \"x\""},
	    {"1,linear,4,0,1,,,,,,x",
		"2: parameter_bytes: expected a number, got \"x\""}};
	char table[400];
	size_t i;

	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		snprintf(table, sizeof(table), HEAD "%s\n%s", of[i].row, end);
		refused(table, of[i].want);
	}
	refused(HEAD "1,linear,4,0,1,,,,,,\n3,relu,,0,2,,,,,,\n2,xent,,1,1,,,,,,\n",
	    "3: stage: other rows of stage 0 have another replicas or recompute");
	refused(HEAD "1,linear,4,0,1,,,,,,\n3,relu,,0,1,full,,,,,\n2,xent,,1,1,,,,,,\n",
	    "3: stage: other rows of stage 0 have another replicas or recompute");
	refused("id,op,out\n1,linear,4\n2,xent,\n",
	    "1: missing column \"stage\" (found: id, op, out)");
}

/* ---- the micro-batch of a profile ---- */

static void
samples(const char *first, const char *second, const char *head, size_t want)
{
	struct gv_strbuf table = {0};
	struct gv_error e = {0};
	struct gv_model m;

	/* 5 and 2 numbers */
	gv_strbuf_fmt(&table,
	    "id,op,out,activation_bytes\n1,linear,5,%s\n2,linear,,%s\n3,xent,,%s\n",
	    first, second, head);
	read_model(&m, table.s);
	if (gv_model_shape(&m, (struct gv_shape){3, 1, 1}, 2, &e) != 0)
		gv_die_error(&e);
	is_int((long long)stages_samples(&m), (long long)want, "%s and %s bytes", first,
	    second);
	gv_strbuf_free(&table);
	gv_model_free(&m);
}

static void
test_samples(void)
{
	struct gv_model m;

	samples("160", "64", "4", 8);
	samples("20", "8", "", 1);
	samples("160", "56", "4", 0);
	samples("160", "", "4", 0);
	samples("", "64", "4", 0);
	samples("-160", "-64", "4", 0);
	samples("x", "64", "4", 0);
	samples("30", "12", "4", 0);
	samples("2e10", "8e9", "4", 0);
	read_model(&m, "id,op\n1,linear\n2,xent\n");
	is_int((long long)stages_samples(&m), 0, "of a model that is no profile");
	gv_model_free(&m);
}

int
main(void)
{
	gv_init("gv-train.stages");
	test_order();
	test_read();
	test_refused();
	test_samples();
	return done_testing();
}
