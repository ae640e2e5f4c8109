/*
 * gv-profile layers --stages: the rows of each stage are measured in a net of their own, as a
 * worker of a pipeline has them, and all rows are; samples are those of the rule.
 */
#include "gv-profile/layers/beside.h"
#include "gv-profile/layers/bench_parts.h"
#include "nn_help.h"

/* compiled in, with passes that a test may note instead of making them */
static int note_forward(
    struct bench *b, size_t k, size_t slot, size_t first, size_t last);
static int note_backward(
    struct bench *b, size_t k, size_t slot, size_t first, size_t last);
static int note_update(struct bench *b);
static void note_time(struct gv_net *net, struct gv_net_times *times);
#define gv_net_time    note_time
#define bench_forward  note_forward
#define bench_backward note_backward
#define bench_update   note_update
int own_parts_open(struct bench *b, const struct gv_model *m,
    const struct times_rule *rule, struct gv_error *e);
void own_parts_time(struct bench *b, struct gv_net_times *times);
void own_parts_close(struct bench *b);
int own_part_step(struct bench *b, size_t part);
#define bench_parts_open  own_parts_open
#define bench_parts_time  own_parts_time
#define bench_parts_close own_parts_close
#define bench_part_step   own_part_step
#include "../../cmd/gv-profile/layers/bench_parts.c"
#undef gv_net_time
#undef bench_forward
#undef bench_backward
#undef bench_update
#undef bench_parts_open
#undef bench_parts_time
#undef bench_parts_close
#undef bench_part_step

enum { STAGES = 3, BATCH = 8, MICRO_BATCHES = 20 };

static const char table[] = "id,op,from,out,k,p,act\n"
			    "1,conv,0,8,3,1,relu\n"
			    "2,conv,1,8,3,1,\n"
			    "3,add,2;1,,,,relu\n"
			    "4,linear,3,64,,,relu\n"
			    "5,linear,4,64,,,relu\n"
			    "6,linear,5,10,,,\n"
			    "7,xent,6,,,,\n";

static struct gv_net_bytes
bytes_of(const struct gv_model *m, size_t first, size_t last, size_t slots)
{
	uint64_t seed = 1;
	struct gv_net_coef coef = GV_NET_COEF_DEFAULT;
	struct gv_net_config c = {.models = 1,
	    .batch = BATCH,
	    .micro_batches = MICRO_BATCHES,
	    .slots = slots,
	    .first_row = first,
	    .last_row = last,
	    .seed = &seed,
	    .coef = &coef,
	    .places = true,
	    .backend = gv_cpu_new(1)};
	struct gv_net_bytes bytes;
	struct gv_error e = {0};
	struct gv_net *net;

	if (gv_net_new(&net, m, &c, &e) != 0)
		gv_die_error(&e);
	gv_net_bytes(net, &bytes);
	gv_net_free(net);
	return bytes;
}

/* A plan's stages, however little their rows compute. */
static void
test_plan(void)
{
	struct times_rule rule = {.batch = BATCH,
	    .models = 1,
	    .stages = STAGES,
	    .device.threads = 1,
	    .quiet = true};
	struct gv_model m = help_model("id,op,from,out,k,p,act,stage,replicas\n"
				       "1,conv,0,8,3,1,relu,0,1\n"
				       "2,conv,1,8,3,1,,0,1\n"
				       "3,add,2;1,,,,relu,0,1\n"
				       "4,linear,3,64,,,relu,0,1\n"
				       "5,linear,4,64,,,relu,0,1\n"
				       "6,linear,5,10,,,,1,1\n"
				       "7,xent,6,,,,,2,1\n",
	    8, 8, 1, 10);
	struct gv_error e = {0};
	struct bench b = {0};

	if (bench_parts_open(&b, &m, &rule, &e) != 0)
		gv_die_error(&e);
	is_int(b.part[1].row, 5, "a plan's second stage");
	is_int(b.part[2].row, 6, "its third one");
	is_int(b.part[STAGES].row, m.n, "and its end");
	bench_parts_close(&b);
	gv_model_free(&m);
}

/* The samples and labels of a rule, over and over. */
static void
test_samples(const struct gv_model *m)
{
	struct gv_data d = {.n = 5, .h = 8, .w = 8, .c = 1, .size = 64, .targets = 1};
	struct times_rule rule = {.batch = BATCH,
	    .models = 1,
	    .in_flight = 2,
	    .data = &d,
	    .device.threads = 1,
	    .quiet = true};
	struct gv_error e = {0};
	struct bench b = {0};
	size_t i, same = 0, labels = 0;

	d.x = gv_xcalloc(d.n * d.size, sizeof(*d.x));
	d.y = gv_xcalloc(d.n, sizeof(*d.y));
	for (i = 0; i < d.n * d.size; i++)
		d.x[i] = (float)i;
	for (i = 0; i < d.n; i++)
		d.y[i] = (int32_t)(9 - i);
	if (bench_open(&b, m, &rule, NULL, &e) != 0)
		gv_die_error(&e);
	for (i = 0; i < b.in_flight * BATCH * b.sample; i++)
		same += b.x[i] == (float)(i % (d.n * d.size));
	for (i = 0; i < b.in_flight * BATCH; i++)
		labels += ((int32_t *)b.target)[i] == d.y[i % d.n];
	is_int(same, b.in_flight * BATCH * b.sample, "all samples are the rule's");
	is_int(labels, b.in_flight * BATCH, "and all labels");
	bench_close(&b);
	gv_data_free(&d);
}

/* ---- the order of a part's passes ---- */

enum { MOST = 256 };

struct pass {
	char what; /* f, b, u */
	bool timed;
	size_t k, slot, first, last;
};

static struct {
	bool only_notes, timed;
	size_t n, fails_at;
	struct pass pass[MOST];
} noted = {.fails_at = SIZE_MAX};

static int
note(char what, size_t k, size_t slot, size_t first, size_t last)
{
	if (noted.n < MOST)
		noted.pass[noted.n] =
		    (struct pass){what, noted.timed, k, slot, first, last};
	return noted.n++ == noted.fails_at ? -1 : 0;
}

/* What passes read where, by gv_net_side. */
static struct {
	const gv_real *at[2][MOST];
	size_t n[2], wrong;
} came;

/* A pass reads what crosses into c, as it came, where none of some passes before it has. */
static void
look(
    const struct bench *b, const struct bench_part *c, size_t slot, enum gv_net_side side)
{
	const gv_real *v = c->side[side];
	size_t i, k;

	for (k = 0; k < c->n; k++) {
		size_t size = gv_net_row_size(b->net, c->crosses[k]);
		const gv_real *at = gv_net_row_at(b->net, slot, c->crosses[k], side);

		came.wrong += memcmp(at, v, size * sizeof(*v)) != 0;
		for (i = came.n[side] > 4 ? came.n[side] - 4 : 0; i < came.n[side]; i++)
			came.wrong += came.at[side][i] == at;
		if (came.n[side] < MOST)
			came.at[side][came.n[side]++] = at;
		v += size;
	}
}

static int
note_forward(struct bench *b, size_t k, size_t slot, size_t first, size_t last)
{
	if (!noted.only_notes && b->part != NULL && first > 0)
		look(b, b->part + (first == b->part[1].row ? 1 : 2), slot, GV_NET_OUTPUT);
	if (!noted.only_notes)
		return bench_forward(b, k, slot, first, last);
	return note('f', k, slot, first, last);
}

static int
note_backward(struct bench *b, size_t k, size_t slot, size_t first, size_t last)
{
	if (!noted.only_notes && b->part != NULL && last < b->rows)
		look(
		    b, b->part + (last == b->part[1].row ? 1 : 2), slot, GV_NET_GRADIENT);
	if (!noted.only_notes)
		return bench_backward(b, k, slot, first, last);
	return note('b', k, slot, first, last);
}

static int
note_update(struct bench *b)
{
	return noted.only_notes ? note('u', 0, 0, 0, 0) : bench_update(b);
}

static void
note_time(struct gv_net *net, struct gv_net_times *times)
{
	if (!noted.only_notes)
		gv_net_time(net, times);
	noted.timed = times != NULL;
}

/*
 * Each micro-batch once forward and later backward, in order, in a slot that no other one is in;
 * before a backward pass as many are on their way as there are slots, while there are some to
 * come; the update is last.
 */
static bool
is_1f1b(const struct bench *b, size_t part, size_t from)
{
	size_t slots = b->part[part].slots, f = 0, back = 0, i;

	for (i = from; i + 1 < noted.n; i++) {
		const struct pass *p = &noted.pass[i];

		if (p->timed != b->timed || p->first != b->part[part].row ||
		    p->last != b->part[part + 1].row ||
		    p->k != (p->what == 'f' ? f : back) || p->slot != p->k % slots)
			return false;
		if (p->what == 'f' && f++ - back >= slots)
			return false;
		if (p->what == 'b' && f - back++ < slots && f < b->micro_batches)
			return false;
	}
	return f == b->micro_batches && back == f && noted.pass[noted.n - 1].what == 'u';
}

/* Passes of a part alone, some of which fail: then that is the last one, and told. */
static void
test_order(size_t micro_batches, bool timed)
{
	enum { PARTS = 3 };
	struct bench_part part[PARTS + 1] = {{0}};
	struct gv_net_times now[1];
	struct bench b = {.parts = PARTS,
	    .now = now,
	    .part = part,
	    .micro_batches = micro_batches,
	    .timed = timed};
	size_t k, i, wrong = 0, unseen = 0, steps = 0;

	noted.only_notes = true;
	for (k = 0; k < PARTS; k++) {
		size_t ahead = PARTS - k, n;

		noted.timed = timed;
		part[k].slots = ahead < micro_batches ? ahead : micro_batches;
		part[k + 1].row = 2 * k + 3;
		noted.n = 0;
		noted.fails_at = SIZE_MAX;
		wrong += own_part_step(&b, k) != 0 ||
			 noted.n != 2 * micro_batches + 1 + (timed ? 2 : 0) ||
			 !is_1f1b(&b, k, timed ? 2 : 0) ||
			 (timed && (noted.pass[0].timed || noted.pass[1].timed));
		n = noted.n;
		for (i = 0; i < n; i++) {
			noted.n = 0;
			noted.fails_at = i;
			unseen += own_part_step(&b, k) != -1 || noted.n != i + 1;
		}
		steps += n;
	}
	for (i = 0; i < steps; i++) {
		noted.n = 0;
		noted.fails_at = i;
		unseen += step(&b) != -1 || noted.n != i + 1;
	}
	noted.fails_at = SIZE_MAX;
	noted.n = 0;
	unseen += step(&b) != 0 || noted.n != steps;
	noted.only_notes = false;
	is_int(wrong, 0, "%zu micro-batches%s: in the order of 1f1b", micro_batches,
	    timed ? ", warmed up" : "");
	is_int(unseen, 0, "and each pass that fails is the last of %zu", steps);
}

/* Rows that are cut where the next part of the time begins: in their middle at most. */
static void
test_choice(void)
{
	static const struct {
		size_t parts;
		double s[8];
		size_t row[5];
	} choice[] = {
	    {2, {1, 1, 1, 1, 1, 1, 1, 1}, {0, 4, 8}},
	    {4, {1, 1, 1, 1, 1, 1, 1, 1}, {0, 2, 4, 6, 8}},
	    {2, {9, 1, 1, 1, 1, 1, 1, 1}, {0, 1, 8}},
	    {2, {1, 1, 1, 1, 1, 1, 1, 9}, {0, 7, 8}},
	    {3, {1, 1, 1, 1, 1, 1, 1, 90}, {0, 6, 7, 8}},
	    {3, {90, 1, 1, 1, 1, 1, 1, 1}, {0, 1, 2, 8}},
	    {4, {5, 1, 2, 4, 3, 1, 6, 2}, {0, 2, 4, 6, 8}},
	    {2, {2, 2, 3, 4, 5, 6, 7, 8}, {0, 5, 8}},
	    {2, {1, 2, 3, 4, 5, 6, 7, 8}, {0, 6, 8}},
	    {1, {1, 2, 3, 4, 5, 6, 7, 8}, {0, 8}},
	};
	struct gv_net_times now[8];
	size_t i, k, wrong;

	for (i = 0; i < sizeof(choice) / sizeof(choice[0]); i++) {
		struct bench_part part[5] = {{0}};
		struct bench b = {.rows = 8, .parts = choice[i].parts, .now = now};

		for (k = 0; k < 8; k++)
			now[k] = (struct gv_net_times){
			    .forward_s = choice[i].s[k] * (k % 3 == 0 ? .25 : .75),
			    .backward_s = choice[i].s[k] * (k % 3 == 0 ? .75 : .25)};
		choose(&b, part);
		for (k = wrong = 0; k <= b.parts; k++)
			wrong += part[k].row != choice[i].row[k];
		is_int(wrong, 0, "cut %zu: %zu %zu %zu %zu", i, part[1].row, part[2].row,
		    part[3].row, part[4].row);
	}
}

/* Whether a row of the part reads that row, too: then what crosses is not all its gradient. */
static bool
is_read_within(const struct gv_model *m, const struct bench_part *p, size_t row)
{
	size_t i, k;

	for (i = p->row; i < p[1].row; i++)
		for (k = 0; k < m->layer[i].inputs; k++)
			if (m->layer[i].from[k] == (ptrdiff_t)row)
				return true;
	return false;
}

/* What a part is given is what the one before it makes of the same samples, in the first slot. */
static void
test_crossing(const struct bench *b, const struct gv_model *m)
{
	const struct bench_part *p = &b->part[1];
	const gv_real *out = p->side[GV_NET_OUTPUT], *grad = p->side[GV_NET_GRADIENT];
	size_t i, v, wrong = 0, none = 0, back = 0, own = 0, n = 0;

	for (i = 0; i < p->n; i++) {
		size_t row = p->crosses[i], size = gv_net_row_size(p[-1].net, row);
		gv_real *is = gv_xcalloc(size, sizeof(*is));

		if (gv_net_get_row(p[-1].net, 0, row, GV_NET_OUTPUT, is) != 0)
			gv_die("row %zu has no output", row);
		for (v = 0; v < size; v++) {
			wrong += fabs((double)is[v] - (double)out[n + v]) > 1e-5;
			none += grad[n + v] == 0;
		}
		if (gv_net_get_row(p[-1].net, 0, row, GV_NET_GRADIENT, is) != 0)
			gv_die("row %zu has no gradient", row);
		for (v = 0; v < size; v++, n++)
			if (!is_read_within(m, p - 1, row)) {
				own++;
				back += fabs((double)is[v] - (double)grad[n]) > 1e-7;
			}
		free(is);
	}
	ok(n > 0 && wrong == 0, "%zu of %zu numbers that cross a cut are others", wrong,
	    n);
	ok(none < n, "and gradients come back: %zu of %zu are 0", none, n);
	ok(own > 0 && back == 0,
	    "which a row that only later parts read has as its own: %zu of %zu differ",
	    back, own);
}

/* Each other stage has a process beside the one that is measured, if there are so many. */
static void
test_beside(void)
{
	size_t stages, measured, i, wrong = 0;

	for (stages = 2; stages < 7; stages++)
		for (measured = 0; measured < stages; measured++) {
			unsigned seen = 0;

			for (i = 0; i + 1 < stages; i++)
				seen |= 1U << beside_stage(measured, i, stages);
			wrong += seen != ((1U << stages) - 1 - (1U << measured));
			wrong += beside_stage(measured, stages - 1, stages) !=
				 beside_stage(measured, 0, stages);
		}
	is_int(wrong, 0, "processes beside a stage train all others");
}

/*
 * Of what is large there is one copy, and one to warm up; of what is small eight, so that
 * a pass reads none that a pass shortly before it has read.
 */
static void
test_copies(void)
{
	struct bench_part c = {.numbers = 16, .n_copies = 3};
	gv_real memory[4 * 16];
	size_t k, wrong = 0;

	c.copies[GV_NET_OUTPUT] = memory;
	for (k = 0; k < 12; k++)
		wrong +=
		    copy_at(&c, GV_NET_OUTPUT, k) != memory + k % c.n_copies * c.numbers;
	ok(wrong == 0 && copy_at(&c, GV_NET_OUTPUT, WARM_UP) == memory + 3 * 16,
	    "copies in turn, and one behind them to warm up");
	is_int(copies_of(1 << 10), 8, "of what is small eight");
	is_int(copies_of(((size_t)64 << 20) / 3), 3, "of what is larger fewer");
	is_int(copies_of((size_t)64 << 20), 1, "of what is large one");
	is_int(copies_of((size_t)822 << 20), 1, "and of what is larger still");
}

int
main(void)
{
	struct times_rule rule = {.batch = BATCH,
	    .models = 1,
	    .micro_batches = MICRO_BATCHES,
	    .stages = STAGES,
	    .device.threads = 1,
	    .quiet = true};
	_Atomic size_t now = SIZE_MAX;
	struct gv_model m = help_model(table, 8, 8, 1, 10);
	struct gv_net_bytes is, want;
	struct gv_error e = {0};
	struct bench b = {0};
	size_t k, params = 0, times = 0;

	gv_init("gv-profile.parts");
	rule.stage_now = &now;
	if (own_parts_open(&b, &m, &rule, &e) != 0)
		gv_die_error(&e);
	for (k = 0; k < STAGES; k++) {
		const struct bench_part *p = &b.part[k];

		gv_net_bytes(p->net, &is);
		want = bytes_of(&m, p->row, p[1].row, STAGES - k);
		ok(p[1].row > p->row, "stage %zu has rows", k);
		is_int(is.total, want.total, "and what a net of them holds");
		params += is.params;
	}
	is_int(b.part[0].row, 0, "from the first row");
	is_int(b.part[STAGES].row, m.n, "to the last");
	is_int(params, bytes_of(&m, 0, m.n, 1).params, "all weights, once");
	memset(b.now, 0, b.rows * sizeof(*b.now));
	b.timed = true;
	own_parts_time(&b, b.now);
	/* the second step, whose copies are others */
	for (k = 0; k < 2; k++) {
		memset(&came, 0, sizeof(came));
		bench_step(&b, NULL);
	}
	own_parts_time(&b, NULL);
	ok(came.n[0] >= (MICRO_BATCHES + 1) * (STAGES - 1) && came.n[1] >= came.n[0] &&
		came.wrong == 0,
	    "passes read what crosses each in a place of its own, as it came: %zu of %zu "
	    "do "
	    "not",
	    came.wrong, came.n[0] + came.n[1]);
	is_int(now, STAGES - 1, "the stage that is measured is told");
	for (k = 0; k < m.n; k++)
		times += b.now[k].forward_s > 0 && b.now[k].backward_s > 0;
	ok(!b.failed, "a step of all");
	/* a loss that is so small may be made in no time */
	ok(times + 1 >= m.n, "in which all rows are timed: %zu of %zu", times, m.n);
	ok(b.now[0].update_s > 0 && b.now[5].update_s > 0, "and updated");
	test_crossing(&b, &m);
	own_parts_close(&b);
	test_order(1, false);
	test_order(2, true);
	test_order(3, false);
	test_order(8, true);
	test_choice();
	test_beside();
	test_copies();
	test_samples(&m);
	test_plan();
	gv_model_free(&m);
	return done_testing();
}
