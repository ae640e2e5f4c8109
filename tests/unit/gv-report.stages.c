/* gv-report: stages in stages, what they come to, and the order of layers. */
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fileio.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "draws.h"
#include "gv-report/stages/stages.h"

enum { CASES = 300, MOST = 9, LAYERS = 12 };

/* The stages of a table; whether it was taken. */
static bool
read_stages(struct stages *s, const char *table, struct gv_error *e)
{
	struct gv_tab *t;
	struct gv_in *in;
	bool taken;

	*e = (struct gv_error){0};
	gv_in_memory(&in, "t.csv", table, strlen(table), strlen(table) + 1, e);
	t = gv_tab_from(in);
	taken = gv_tab_table(t, e) == 1 && stages_are(t) && stages_read(s, t, e) == 0;
	gv_tab_close(t);
	return taken;
}

/* ---- stages in stages ---- */

/* Stages of up to three levels, each in one of the next, in any order of their rows. */
static void
draw_nested(struct stages *s)
{
	size_t on[4] = {0, 1 + below(3), below(4), below(3)}, n = 0, l, i, k;

	*s = (struct stages){0};
	s->stage = gv_xcalloc(MOST + 1, sizeof(*s->stage));
	for (l = 1; l <= 3; l++) {
		for (i = 0; i < on[l] && n < MOST; i++)
			s->stage[n++] = (struct stage){.level = (int64_t)l,
			    .stage = (int64_t)i,
			    .within = (int64_t)below(4),
			    .replicas = (int64_t)(1 + below(3))};
	}
	for (i = n; i > 1; i--) {
		struct stage keep = s->stage[i - 1];

		k = below(i);
		s->stage[i - 1] = s->stage[k];
		s->stage[k] = keep;
	}
	s->n = n;
}

/* Whether the stage is inside the other, at any depth. */
static bool
is_inside(const struct stages *s, size_t i, size_t of)
{
	while (i < s->n && i != of)
		i = s->stage[i].parent;
	return i == of;
}

/* How many are in front of what they are in, or between others of another. */
static int
wrong_order(const struct stages *s, const size_t *order)
{
	bool seen[MOST] = {false};
	int bad = 0;
	size_t i, k;

	for (i = 0; i < s->n; i++) {
		size_t parent = s->stage[order[i]].parent;

		bad += seen[order[i]] || (parent < s->n && !seen[parent]);
		seen[order[i]] = true;
		/* after its last one nothing of a stage comes any more */
		for (k = i + 1; k < s->n; k++)
			bad += !is_inside(s, order[k], order[i]) && k + 1 < s->n &&
			       is_inside(s, order[k + 1], order[i]);
		for (k = i + 1; k < s->n; k++)
			bad +=
			    s->stage[order[k]].parent == parent &&
			    (s->stage[order[k]].stage < s->stage[order[i]].stage ||
				(s->stage[order[k]].stage == s->stage[order[i]].stage &&
				    order[k] < order[i]));
	}
	return bad;
}

static void
test_nested(void)
{
	int c, parents = 0, outer = 0, orders = 0;
	struct stages s;
	size_t i, k;

	for (c = 0; c < CASES; c++) {
		size_t *order;

		draw_nested(&s);
		stages_nest(&s);
		for (i = 0; i < s.n; i++) {
			size_t parent = s.n;
			double product = 1;

			for (k = s.n; k-- > 0;)
				if (s.stage[k].level == s.stage[i].level + 1 &&
				    s.stage[k].stage == s.stage[i].within)
					parent = k;
			parents += s.stage[i].parent != parent;
			for (k = 0; k < s.n; k++)
				if (k != i && is_inside(&s, i, k))
					product *= (double)s.stage[k].replicas;
			outer += s.stage[i].outer != product;
		}
		order = stages_order(&s);
		orders += wrong_order(&s, order);
		free(order);
		free(s.stage);
	}
	is_int(parents, 0, "a stage is in that of the next level that its row names");
	is_int(outer, 0, "whose replicas share its minibatches, on all levels");
	is_int(orders, 0, "each is shown in front of those inside it, by their numbers");
}

/* ---- layers ---- */

/* Layers with names of one letter and edges between them, some of which name no layer. */
static void
draw_layers(struct gv_strbuf *rows, struct gv_strbuf *edges, size_t n, int c,
    bool before[LAYERS][LAYERS])
{
	size_t place[LAYERS], i, k;

	gv_strbuf_str(rows, "node_id\n");
	gv_strbuf_str(edges, "src,dst\n");
	for (i = 0; i < n; i++) {
		k = below(i + 1);
		place[i] = place[k];
		place[k] = i;
		gv_strbuf_fmt(rows, "%c\n", (char)('a' + i));
	}
	memset(before, 0, sizeof(bool[LAYERS][LAYERS]));
	for (i = 0; i < n; i++) {
		size_t a = below(n), b = below(n);

		if (c % 5 != 0 && place[a] > place[b]) /* else there may be a circle */
			k = a, a = b, b = k;
		gv_strbuf_fmt(edges, "%c,%c\n", (char)('a' + a), (char)('a' + b));
		before[a][b] = a != b;
		if (c % 3 == 0)
			gv_strbuf_fmt(
			    edges, "%c,Z\nZ,%c\n", (char)('a' + b), (char)('a' + a));
	}
}

static bool
has_circle(bool before[LAYERS][LAYERS], size_t n)
{
	size_t i, j, k;

	for (k = 0; k < n; k++)
		for (i = 0; i < n; i++)
			for (j = 0; j < n; j++)
				before[i][j] |= before[i][k] && before[k][j];
	for (i = 0; i < n; i++)
		if (before[i][i])
			return true;
	return false;
}

static void
test_layers(void)
{
	int c, bad = 0, circles = 0;

	for (c = 0; c < CASES; c++) {
		struct gv_strbuf rows = {0}, edges = {0};
		struct gv_frame f = {0}, g = {0};
		struct gv_error e = {0};
		bool before[LAYERS][LAYERS], known[LAYERS] = {false}, circle;
		size_t n = 1 + below(LAYERS), *rank, i, k;

		draw_layers(&rows, &edges, n, c, before);
		gv_frame_parse(&f, "rows.csv", rows.s, rows.len, &e);
		gv_frame_parse(&g, "edges.csv", edges.s, edges.len, &e);
		rank = stages_ranks(&f, &g);
		circle = has_circle(before, n);
		circles += circle;
		for (i = 0; i < n; i++) {
			bad += rank[i] >= n || known[rank[i]];
			known[rank[i] % n] = true;
			bad += circle && rank[i] != i;
			for (k = 0; k < n && !circle; k++)
				bad += before[i][k] && rank[i] >= rank[k];
		}
		free(rank);
		gv_frame_free(&f);
		gv_frame_free(&g);
		gv_strbuf_free(&rows);
		gv_strbuf_free(&edges);
	}
	is_int(bad, 0, "each layer stands behind those that it needs, or where it was");
	ok(circles > 5 && circles < CASES / 2, "where there is no such order");
}

/* Where each of three layers stands. */
static void
ranks_are(const char *rows, const char *edges, const char *want, const char *name)
{
	struct gv_frame f = {0}, g = {0};
	struct gv_error e = {0};
	char got[4] = "";
	size_t *rank, i;

	gv_frame_parse(&f, "rows.csv", rows, strlen(rows), &e);
	if (edges != NULL)
		gv_frame_parse(&g, "edges.csv", edges, strlen(edges), &e);
	rank = stages_ranks(&f, &g);
	for (i = 0; i < 3; i++)
		got[i] = (char)('0' + rank[i]);
	is_str(got, want, "%s", name);
	free(rank);
	gv_frame_free(&f);
	gv_frame_free(&g);
}

/* ---- what stages come to ---- */

/* Stages of one level, some of which share their GPUs with others. */
static void
draw_flat(struct gv_strbuf *b, size_t n)
{
	size_t i;

	gv_strbuf_str(b, "load_s,stage,compute_s,gpus,replicas,place,memory_bytes\n");
	for (i = 0; i < n; i++) {
		size_t replicas = 1 + below(2), gpus = replicas * (1 + below(2));

		gv_strbuf_fmt(
		    b, "%zu,%zu,%zu,%zu,%zu,", below(4), i, below(4), gpus, replicas);
		gv_strbuf_fmt(b, below(2) == 0 ? "%zu," : ",", below(2));
		gv_strbuf_fmt(b, below(3) > 0 ? "%zu\n" : "\n", below(3));
	}
}

/* Whether an earlier stage has the same GPUs; and the time of all of these. */
static bool
shares_gpus(const struct stages *s, size_t i, double *sum)
{
	bool earlier = false;
	size_t k;

	*sum = 0;
	for (k = 0; k < s->n; k++) {
		if (k != i &&
		    (s->stage[i].place < 0 || s->stage[k].place != s->stage[i].place))
			continue;
		*sum += s->stage[k].load_s;
		earlier |= k < i;
	}
	return earlier;
}

/* How much of a table of stages does not come to what its rows say. */
static int
wrong_sums(const struct stages *s)
{
	size_t slowest = 0, fullest = s->n, i;
	double most = -1, busy = 0, sum;
	int64_t gpus = 0;
	int bad = 0;

	for (i = 0; i < s->n; i++) {
		const struct stage *x = &s->stage[i];

		gpus += shares_gpus(s, i, &sum) ? 0 : x->gpus;
		bad += x->place_s != sum || x->level != 1 || x->parent != s->n;
		if (sum > most)
			slowest = i, most = sum;
		if (!isnan(x->memory) &&
		    (fullest == s->n || x->memory > s->stage[fullest].memory))
			fullest = i;
	}
	for (i = 0; i < s->n && most > 0; i++)
		busy += s->stage[i].part_s[PART_COMPUTE] / most *
			(double)s->stage[i].replicas;
	return bad + (gpus != s->gpus) + (slowest != s->slowest) +
	       (fullest != s->fullest) + (s->n_stages != s->n) +
	       (fabs(busy / (double)gpus - s->busy_share) > 1e-12) +
	       (s->levels != 1 || !s->whole || s->typed);
}

static void
test_sums(void)
{
	int c, bad = 0, taken = 0;

	for (c = 0; c < CASES; c++) {
		struct gv_strbuf b = {0};
		struct gv_error e;
		struct stages s;

		draw_flat(&b, 1 + below(5));
		if (read_stages(&s, b.s, &e)) {
			taken++;
			bad += wrong_sums(&s);
			stages_free(&s);
		}
		gv_strbuf_free(&b);
	}
	is_int(taken, CASES, "tables of stages are taken");
	is_int(bad, 0, "the slowest, the fullest, and how busy GPUs are");
}

/* ---- a plan's own rows ---- */

static void
test_plan(void)
{
	static const char plan[] =
	    "node_id,layer,stage,replicas,recompute,forward_ms,backward_ms,"
	    "parameter_bytes,activation_bytes,kept_bytes\n"
	    "in,Input,7,1,none,900,900,900,900,900\n"
	    "inp,Inpu,2,2,full,10,20,1,2,\n"
	    "b,Inputs,4,1,none,100,,,,\n"
	    "c,,4,1,none,,1000,8,16,32\n"
	    "d,x,2,2,full,0,0,0,0,0\n";
	struct gv_error e;
	struct stages s;

	ok(read_stages(&s, plan, &e), "a plan");
	ok(s.n == 2 && s.n_stages == 2 && s.gpus == 3 && !s.whole,
	    "what loads data is no layer, and stages without any are none");
	ok(s.stage[0].stage == 2 && s.stage[0].layers == 2 && s.stage[0].replicas == 2 &&
		s.stage[0].gpus == 2 && s.stage[0].level == 1 && s.stage[0].place == -1,
	    "its first stage");
	ok(gv_cell_is(s.stage[0].first, "inp") && gv_cell_is(s.stage[0].last, "d"),
	    "from its first layer to its last");
	is_near(s.stage[0].load_s, .02, 1e-12, "forward twice, on two GPUs");
	ok(s.stage[0].part_s[PART_COMPUTE] == s.stage[0].load_s &&
		isnan(s.stage[0].part_s[PART_SYNC]) &&
		isnan(s.stage[0].part_s[PART_TRANSFER]) && isnan(s.stage[0].memory) &&
		isnan(s.stage[0].in_flight),
	    "what is not told");
	ok(s.stage[0].parameter == 1 && s.stage[0].activation == 2, "its bytes");
	ok(s.stage[1].stage == 4 && s.stage[1].layers == 1, "its second stage");
	is_near(s.stage[1].load_s, 1, 1e-12, "backward alone");
	ok(s.stage[1].parameter == 8 && s.stage[1].activation == 32, "what is kept");
	ok(gv_cell_is(s.stage[0].recompute, "full"), "who recomputes");
	is_near(s.busy_share, (1 + .02 * 2) / 3, 1e-12, "how busy GPUs are");
	stages_free(&s);
	ok(s.n == 0 && s.stage == NULL && s.rows.n_rows == 0, "nothing is left of it");
}

/* ---- units and bounds ---- */

static void
test_units(void)
{
	static const struct {
		double s;
		const char *name;
		double of_s;
	} of[] = {{0, "us", 1e-6}, {.000999, "us", 1e-6}, {.001, "ms", 1e-3},
	    {9.99, "ms", 1e-3}, {10, "s", 1}};
	struct stages s = {0};
	size_t i, k;

	s.stage = gv_xcalloc(3, sizeof(*s.stage));
	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		s.n = 3;
		for (k = 0; k < 3; k++) {
			s.stage[0].load_s = s.stage[1].load_s = s.stage[2].load_s = 0;
			s.stage[k].load_s = of[i].s;
			ok(strcmp(stages_unit(&s).name, of[i].name) == 0 &&
				stages_unit(&s).s == of[i].of_s,
			    "the unit of %g s, stage %zu", of[i].s, k);
		}
	}
	s.n = 0;
	is_str(stages_unit(&s).name, "us", "the unit of nothing");
	free(s.stage);
}

/* Whether a row behind the columns stage, load_s and another one is taken. */
static bool
takes(const char *column, const char *cell)
{
	struct gv_strbuf b = {0};
	struct gv_error e;
	struct stages s;
	bool taken;

	gv_strbuf_fmt(&b, "stage,load_s,%s\n0,1,%s\n", column, cell);
	taken = read_stages(&s, b.s, &e);
	if (taken)
		stages_free(&s);
	gv_strbuf_free(&b);
	return taken;
}

static void
test_bounds(void)
{
	static const char *const whole[] = {
	    "level", "within", "layers", "replicas", "gpus", "place"};
	static const char *const number[] = {"compute_s", "sync_s", "transfer_s",
	    "parameter_bytes", "activation_bytes", "in_flight", "memory_bytes"};
	struct gv_error e;
	struct stages s;
	size_t i;

	for (i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
		bool from_1 = i == 0 || strcmp(whole[i], "replicas") == 0 || i == 4;

		ok(takes(whole[i], "") && takes(whole[i], "1") &&
			takes(whole[i], "2147483648") && !takes(whole[i], "2147483649") &&
			!takes(whole[i], "-1") && !takes(whole[i], "x") &&
			takes(whole[i], "0") == !from_1,
		    "%s: a whole number", whole[i]);
	}
	for (i = 0; i < sizeof(number) / sizeof(number[0]); i++)
		ok(takes(number[i], "") && takes(number[i], "0") &&
			takes(number[i], "1e9") && !takes(number[i], "-1") &&
			!takes(number[i], "x"),
		    "%s: a number from 0 on", number[i]);
	ok(!read_stages(&s, "stage,load_s\n0,\n", &e), "a stage without a load");
	ok(!read_stages(&s, "stage,load_s\n,1\n", &e), "a stage without a number");
	ok(!read_stages(&s, "stage,load_s\n0,1\n1\n", &e), "a short row");
	ok(!read_stages(&s, "stage,load_s\n0,1\n\nsrc,dst\na,b\n", &e), "a table more");
	ok(read_stages(&s, "load_s,stage\n2,0\n", &e) && s.n == 1 &&
		s.stage[0].within == 0 && s.stage[0].layers == 0 &&
		s.stage[0].gpus == 1 && s.stage[0].place == -1 && s.fullest == 1,
	    "what is told of a stage at least");
	stages_free(&s);
	ok(read_stages(&s, "stage,load_s,replicas,gpu_type\n0,1,3,\n1,1,1,v\n", &e) &&
		s.stage[0].gpus == 3 && s.typed && s.slowest == 0 && s.gpus == 4,
	    "as many GPUs as replicas where nothing else is told");
	stages_free(&s);
}

/* Two levels: the slowest is of the outer one, what GPUs do of the inner one. */
static void
test_levels(void)
{
	struct gv_error e;
	struct stages s;

	ok(read_stages(&s,
	       "level,stage,within,load_s,compute_s,replicas,gpus,memory_bytes\n"
	       "1,0,0,8,8,1,1,5\n"
	       "1,1,0,9,9,1,3,5\n"
	       "2,0,0,4,4,2,4,9\n"
	       "2,1,0,4,1,1,1,9\n",
	       &e),
	    "two levels");
	ok(s.levels == 2 && s.slowest == 2 && s.n_stages == 2 && s.gpus == 4 &&
		s.fullest == 0,
	    "the first of equals, of the level that counts");
	is_near(stage_busy(&s, &s.stage[1]), 9. / 3 / 4, 1e-12, "how busy a stage is");
	is_near(s.busy_share, (8. / 4 + 9. / 3 / 4 * 3) / 4, 1e-12, "and all GPUs");
	stages_free(&s);
	ok(read_stages(&s, "stage,load_s,compute_s\n0,0,1\n", &e) &&
		stage_busy(&s, &s.stage[0]) == 0 && s.busy_share == 0,
	    "nothing takes time");
	stages_free(&s);
}

int
main(void)
{
	static const char abc[] = "node_id\na\nb\nc\n";

	draws_begin(7, 1, 1);
	test_nested();
	test_layers();
	ranks_are(abc, "src,dst\nc,a\nb,c\n", "201", "by their edges");
	ranks_are(abc, "src,dst\nc,c\nb,a\n", "102", "an edge to itself says nothing");
	ranks_are(abc, NULL, "012", "without edges as they stand");
	ranks_are("node_id\na\na\nb\n", "src,dst\nb,a\n", "012", "nor by names twice");
	test_sums();
	test_plan();
	test_units();
	test_bounds();
	test_levels();
	return done_testing();
}
