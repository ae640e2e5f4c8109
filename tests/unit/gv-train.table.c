/*
 * Schedules from tables: what kind they are, the steps of each GPU, and that none is taken of
 * which a step is missing, there twice, too early, or on weights that are not made.
 */
#include "tap.h"

#include <unistd.h>

#include "base/fileio.h"
#include "base/strbuf.h"
#include "gv-train/pipeline/table.h"

enum { GPUS = 4 };

/* Replicas of two stages, and the steps of each GPU: an operation, a micro-batch, a version. */
struct plan {
	size_t replicas[2];
	const char *lane[GPUS];
};

static char path[] = "/tmp/gv-table.XXXXXX";

static const struct plan flush = {
    {2, 1}, {"F0.0 F2.0 B0.0 B2.0 R2.1 U2.1", "F1.0 F3.0 B1.0 B3.0 R3.1 U3.1",
		"F0.0 B0.0 F1.0 B1.0 F2.0 B2.0 F3.0 B3.0 U3.1"}};
static const struct plan twice = {
    {2, 1}, {"F0.0 F2.0 B0.0 B2.0 R2.1 U2.1 F4.1 F6.1 B4.1 B6.1 R6.2 U6.2",
		"F1.0 F3.0 B1.0 B3.0 R3.1 U3.1 F5.1 F7.1 B5.1 B7.1 R7.2 U7.2",
		"F0.0 B0.0 F1.0 B1.0 F2.0 B2.0 F3.0 B3.0 U3.1 "
		"F4.1 B4.1 F5.1 B5.1 F6.1 B6.1 F7.1 B7.1 U7.2"}};
static const struct plan one_each = {{2, 1},
    {"F0.0 F2.0 B0.0 R0.1 U0.1 B2.0 R2.2 U2.2", "F1.0 F3.0 B1.0 R1.1 U1.1 B3.0 R3.2 U3.2",
	"F0.0 B0.0 U0.1 F1.1 B1.1 U1.2 F2.2 B2.2 U2.3 F3.3 B3.3 U3.4"}};
static const struct plan halves = {
    {1, 1}, {"F0.0 F1.0 B0.0 W0.0 B1.0 W1.0 U1.1", "F0.0 B0.0 F1.0 B1.0 W0.0 W1.0 U1.1"}};
static const struct plan two = {
    {1, 1}, {"F0.0 F1.0 B0.0 U0.1 B1.0 U1.2", "F0.0 B0.0 U0.1 F1.1 B1.1 U1.2"}};
static const struct plan single = {{1, 1}, {"F0.0 B0.0 U0.1", "F0.0 B0.0 U0.1"}};
static const struct plan pairs = {
    {2, 2}, {"F0.0 B0.0 R0.1 U0.1", "F1.0 B1.0 R1.1 U1.1", "F0.0 B0.0 R0.1 U0.1",
		"F1.0 B1.0 R1.1 U1.1"}};

/* One change of a table: row `at` of all is left out, there twice, or of another version. */
struct change {
	int at, left_out, again, version;
};

static size_t
rank_of(const struct plan *p, size_t stage)
{
	return stage == 0 ? 0 : p->replicas[0];
}

static int
add_lane(struct gv_strbuf *s, const struct plan *p, size_t g, bool numbered, int row,
    const struct change *c)
{
	size_t stage = g >= p->replicas[0];
	const char *at = p->lane[g];
	long step = 0;

	for (; *at != '\0'; at += strcspn(at, " "), at += *at == ' ', row++) {
		char op = *at, *end;
		long micro_batch = strtol(at + 1, &end, 10);
		long version = strtol(end + 1, NULL, 10);
		int times = row != c->at ? 1 : 1 - c->left_out + c->again;

		version += row == c->at ? c->version : 0;
		for (; times-- > 0; step++) {
			if (numbered)
				gv_strbuf_fmt(s, "%zu,", g);
			gv_strbuf_fmt(s, "%zu,%zu,%ld,%s,%ld,%ld,%ld,%ld\n", stage,
			    g - rank_of(p, stage), step,
			    op == 'R' ? "AR" : (char[2]){op, '\0'}, micro_batch, version,
			    step, step + 1);
		}
	}
	return row;
}

static int
read_table(struct table *t, const struct plan *p, const struct change *c, bool numbered,
    uint64_t asked, struct gv_error *e)
{
	struct stage stage[2] = {{0}};
	struct stages s = {2, stage};
	size_t rank[2], k, g;
	struct gv_strbuf text = {0};
	int row = 0, status;

	for (k = 0; k < 2; k++) {
		stage[k].replicas = p->replicas[k];
		rank[k] = rank_of(p, k);
	}
	gv_strbuf_str(&text, numbered ? "gpu," : "");
	gv_strbuf_str(
	    &text, "stage,replica,step,op,micro_batch,version,start_ms,end_ms\n");
	for (g = 0; g < p->replicas[0] + p->replicas[1]; g++)
		row = add_lane(&text, p, g, numbered, row, c);
	gv_file_write(path, text.s, text.len, e);
	gv_strbuf_free(&text);
	status = table_read(t, path, &s, rank, asked, e);
	return status;
}

static const struct change none = {-1, 0, 0, 0};

static void
is_kind(const struct plan *p, uint64_t asked, enum gv_schedule_kind kind,
    uint64_t micro_batches, uint64_t together, const char *name)
{
	struct gv_error e = {0};
	struct table t, other;

	ok(read_table(&t, p, &none, true, asked, &e) == 0, "%s: taken", name);
	is_int(t.kind, kind, "its kind");
	is_int(t.micro_batches, micro_batches, "its micro-batches");
	is_int(t.together, together, "of an update");
	ok(read_table(&other, p, &none, false, asked, &e) == 0 && other.crc == t.crc,
	    "the same without the numbers of GPUs");
	table_free(&other);
	table_free(&t);
	ok(t.s.step == NULL && t.micro_batches == 0, "freed");
}

static void
test_kinds(void)
{
	is_kind(&flush, 4, GV_SCHEDULE_FLUSH, 4, 4, "one update");
	is_kind(&twice, 4, GV_SCHEDULE_2BW, 8, 4, "two updates");
	is_kind(&one_each, 1, GV_SCHEDULE_1F1B, 4, 2, "one micro-batch of each GPU");
	is_kind(&halves, 2, GV_SCHEDULE_FLUSH, 2, 2, "backward passes in two halves");
	is_kind(&two, 1, GV_SCHEDULE_1F1B, 2, 1, "updates of one");
	is_kind(
	    &two, 2, GV_SCHEDULE_2BW, 2, 1, "updates of one, where two are asked for");
	is_kind(&single, 1, GV_SCHEDULE_FLUSH, 1, 1, "one that is all");
	is_kind(&pairs, 1, GV_SCHEDULE_1F1B, 2, 2, "two replicas of each stage");
	is_kind(&pairs, 2, GV_SCHEDULE_FLUSH, 2, 2, "the same where two are asked for");
}

static void
test_lanes(void)
{
	static const char letter[] = {[GV_STEP_FORWARD] = 'F',
	    [GV_STEP_BACKWARD] = 'B',
	    [GV_STEP_REDUCE] = 'R',
	    [GV_STEP_UPDATE] = 'U'};
	struct gv_error e = {0};
	struct table t;
	size_t g, i, n;

	ok(read_table(&t, &twice, &none, true, 4, &e) == 0, "a table");
	for (g = 0; g < 4; g++) {
		struct gv_step *step = table_lane(&t, g, &n);
		char text[200] = "";
		size_t wrong = 0;

		for (i = 0; i < n; i++) {
			wrong += step[i].stage != g / 2;
			sprintf(text + strlen(text), "%s%c%u.%u", i > 0 ? " " : "",
			    letter[step[i].op], (unsigned)step[i].micro_batch,
			    (unsigned)step[i].version);
		}
		is_str(text, g < 3 ? twice.lane[g] : "", "the steps of GPU %zu", g);
		is_int(wrong, 0, "are of its stage");
		free(step);
	}
	table_free(&t);
}

static void
is_wrong(const struct plan *p, const char *want)
{
	struct gv_error e = {0};
	struct table t;
	const char *said = "";

	ok(read_table(&t, p, &none, true, 2, &e) == -1 && e.count == 1, "refused");
	if (e.count > 0 && strlen(e.text[0]) > strlen(want))
		said = e.text[0] + strlen(e.text[0]) - strlen(want);
	is_str(said, want, "%s", want);
	ok(t.s.step == NULL, "nothing is left of it");
}

/* Two stages on a GPU each. */
static void
is_wrong_of_two(const char *first, const char *second, const char *want)
{
	struct plan p = {{1, 1}, {first, second}};

	is_wrong(&p, want);
}

static void
test_wrong(void)
{
	static const char right[] = "F0.0 F1.0 B0.0 B1.0 U1.1";
	static const char late[] = "what it needs comes later, or never";
	struct plan p = flush;

	is_wrong_of_two("B0.0 F0.0 F1.0 B1.0 U1.1", right, late);
	is_wrong_of_two(right, "B0.0 F0.0 F1.0 B1.0 U1.1", late);
	is_wrong_of_two(right, "F0.0 F1.0 B0.0 B1.0 U1.1 F2.1", late);
	is_wrong_of_two("F0.0 W0.0 B0.0 F1.0 B1.0 U1.1", right, late);
	is_wrong_of_two("F0.0 B0.0 F1.0 B1.0 U1.1", "F0.0 F1.0 B1.0 B0.0 U1.1", late);
	is_wrong_of_two("F0.0 F1.0 B0.0 W0.0 W0.0 B1.0 U1.1", right, "it is there twice");
	is_wrong_of_two(right, "F0.0 F1.0 B0.0 B1.0 U1.1 W1.0",
	    "its micro-batch is in an update already");
	is_wrong_of_two(right, "F0.0 F1.0 B0.0 U1.1 B1.0",
	    "it is not behind the last of its micro-batches");
	is_wrong_of_two(right, "F0.0 F1.0 B0.0 B1.0 U0.1",
	    "updates of as many micro-batches on all stages, or of one on each GPU, are "
	    "expected");
	is_wrong_of_two(
	    right, "F0.0 F1.0 B0.0 B1.1 U1.1", "its version is not made before");
	is_wrong_of_two(right, "F0.0 F1.0 B0.0 B1.0 U1.2",
	    "it does not make the version behind the newest");
	is_wrong_of_two("F0.0 F1.0 B0.0 B1.0", "F0.0 F1.0 B0.0 B1.0",
	    "stage 0, replica 0: an update is missing");
	is_wrong_of_two(
	    right, "F0.0 F1.0 B0.0 B1.0", "stage 1, replica 0: an update is missing");
	is_wrong_of_two("F0.0 B0.0 U0.1", "F0.0 F1.0 B0.0 B1.0 U1.1", late);
	is_wrong_of_two("F0.0 F1.0 B0.0 B1.0 U1.1", "F0.0 B0.0 U0.1", late);
	is_wrong_of_two("F0.0", "", "micro-batch 0 does not go through stage 0");
	is_wrong_of_two("F0.0 F1.0 B0.0 U0.1", "F0.0 F1.0 B0.0 U0.1",
	    "micro-batch 1 does not go through stage 0");
	is_wrong_of_two(
	    "F0.0 F2147483647.0", "", "micro-batch 1 does not go through stage 0");
	is_wrong_of_two(
	    "F2147483646.0 F0.0", "F1.0", "micro-batch 1 does not go through stage 0");
	is_wrong_of_two("F1.0", "", "micro-batch 0 does not go through stage 0");
	is_wrong_of_two(
	    "F0.0 F1.0 F2.0 F4.0", "", "micro-batch 3 does not go through stage 0");
	p.lane[1] = "F1.0 F3.0 B1.0 B3.0 U3.1";
	is_wrong(&p, "the replicas' gradients are not summed before");
	p.lane[1] = "F1.0 F3.0 B1.0 R3.1 B3.0 U3.1";
	is_wrong(&p, "it is not behind the last of its micro-batches");
	p.lane[1] = "F1.0 F2.0 B1.0 B2.0 R3.1 U3.1";
	is_wrong(&p, "it is another GPU's");
	p = (struct plan){{3, 1}, {"F0.0 B0.0 R0.1 U0.1", "F1.0 B1.0 R1.1 U1.1",
				      "F2.0 B2.0", "F0.0 B0.0 F1.0 B1.0 U1.1 F2.1 B2.1"}};
	is_wrong(&p, "stage 0, replica 2: no micro-batch of an update comes to it");
}

static size_t
rows_of(const struct plan *p)
{
	size_t g, n = 0;
	const char *s;

	for (g = 0; g < p->replicas[0] + p->replicas[1]; g++)
		for (s = p->lane[g]; *s != '\0'; s++)
			n += *s == '.';
	return n;
}

/* Without a row, with one twice, or with one on newer weights a table is no schedule. */
static void
test_changes(void)
{
	static const struct plan *const plans[] = {&flush, &twice, &one_each, &pairs};
	struct table t;
	size_t i;
	int row, taken;

	for (i = 0; i < 4; i++) {
		int rows = (int)rows_of(plans[i]);

		for (row = 0, taken = 0; row < rows; row++) {
			const struct change all[] = {
			    {row, 1, 0, 0}, {row, 0, 1, 0}, {row, 0, 0, 1}};
			size_t k;

			/* one that waits while weights are made may be of those */
			for (k = 0; k < (plans[i] == &one_each ? 2 : 3); k++) {
				struct gv_error e = {0};

				if (read_table(&t, plans[i], &all[k], true, 1, &e) == 0) {
					printf("# row %d, change %zu\n", row, k);
					taken++;
					table_free(&t);
				}
				gv_error_clear(&e);
			}
		}
		is_int(taken, 0, "no change of %d rows is taken", rows);
	}
}

/* What is said of all is in the sum: older weights make another one. */
static void
test_sum(void)
{
	static const struct change older = {6, 0, 0, -1};
	struct gv_error e = {0};
	struct table a, b, c;

	ok(read_table(&a, &twice, &none, true, 4, &e) == 0 &&
		read_table(&b, &twice, &none, true, 4, &e) == 0 &&
		read_table(&c, &twice, &older, true, 4, &e) == 0,
	    "tables");
	ok(a.crc == b.crc && a.crc != c.crc, "the same sum, and another one");
	table_free(&a);
	table_free(&b);
	table_free(&c);
}

/* Numbers of a first row that are none of this plan. */
static void
test_ranges(void)
{
	static const char range[] = "a version is missing, or numbers are out of range";
	static const struct {
		const char *row, *want;
	} of[] = {{"0,1,0,0,F,0,0,0,1", "it is another GPU's"},
	    {"0,2,0,0,F,0,0,0,1", "the plan has no such stage"},
	    {"0,3,0,0,F,0,0,0,1", "the plan has no such stage"},
	    {"0,0,0,0,F,0,-1,0,1", range}, {"0,0,0,0,F,0,,0,1", range},
	    {"0,0,0,0,F,2147483648,0,0,1", range}, {"0,0,0,0,F,0,2147483648,0,1", range},
	    {"0,0,0,0,F,0,2147483647,0,1", "its version is not made before"},
	    {"1,0,0,0,F,0,0,0,1", "it is another GPU's"}};
	struct stage stage[2] = {{.replicas = 1}, {.replicas = 1}};
	struct stages s = {2, stage};
	static const size_t rank[] = {0, 1};
	size_t i;

	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		char text[400];
		struct gv_error e = {0};
		struct table t;

		snprintf(text, sizeof(text),
		    "gpu,stage,replica,step,op,micro_batch,version,start_ms,end_ms\n%s\n"
		    "0,0,0,1,B,0,0,3,4\n0,0,0,2,U,0,1,4,5\n"
		    "1,1,0,0,F,0,0,1,2\n1,1,0,1,B,0,0,2,3\n1,1,0,2,U,0,1,3,4\n",
		    of[i].row);
		gv_file_write(path, text, strlen(text), &e);
		ok(table_read(&t, path, &s, rank, 1, &e) == -1 && e.count == 1 &&
			strstr(e.text[0], of[i].want) != NULL &&
			strstr(e.text[0], ":2: F of") != NULL,
		    "%s: %s", of[i].row, of[i].want);
		gv_error_clear(&e);
	}
}

static void
test_files(void)
{
	static const char head[] = "gpu,stage,replica,step,op,micro_batch,version,"
				   "start_ms,end_ms\n";
	static const char both[] = "gpu,stage,replica,step,op,micro_batch,version,"
				   "start_ms,end_ms\n"
				   "0,0,0,0,F,0,0,0,1\n0,1,0,1,F,0,0,1,2\n"
				   "0,1,0,2,B,0,0,2,3\n0,0,0,3,B,0,0,3,4\n"
				   "0,0,0,4,U,0,1,4,5\n0,1,0,5,U,0,1,5,6\n";
	/* as they are numbered, not as they stand there; of one number, as they stand */
	static const char turned[] = "gpu,stage,replica,step,op,micro_batch,version,"
				     "start_ms,end_ms\n"
				     "0,0,0,2,U,0,1,4,5\n0,0,0,1,B,0,0,3,4\n"
				     "0,0,0,0,F,0,0,0,1\n1,1,0,5,F,0,0,1,2\n"
				     "1,1,0,5,B,0,0,1,2\n1,1,0,5,U,0,1,1,2\n";
	static const char least[] =
	    "gpu,stage,replica,step,op,micro_batch,version,"
	    "start_ms,end_ms\n0,0,0,0,F,-9223372036854775808,0,0,1\n";
	static const char far[] = "gpu,stage,replica,step,op,micro_batch,version,"
				  "start_ms,end_ms\n0,0,0,0,F,2147483647,0,0,1\n";
	struct stage stage[2] = {{.replicas = 1}, {.replicas = 1}};
	struct stages s = {2, stage};
	static const size_t rank[] = {0, 1};
	struct gv_error e = {0};
	struct table t;

	gv_file_write(path, head, sizeof(head) - 1, &e);
	ok(table_read(&t, path, &s, rank, 1, &e) == -1 && e.count == 1 &&
		strstr(e.text[0], ": no steps") != NULL,
	    "no steps");
	gv_error_clear(&e);
	gv_file_write(path, turned, sizeof(turned) - 1, &e);
	ok(table_read(&t, path, &s, rank, 1, &e) == 0, "steps in another order");
	is_int(t.s.step[0].op, GV_STEP_FORWARD, "are done in that of their numbers");
	is_int(t.s.step[4].op, GV_STEP_BACKWARD, "or of their lines");
	table_free(&t);
	gv_file_write(path, both, sizeof(both) - 1, &e);
	ok(table_read(&t, path, &s, rank, 1, &e) == -1 && e.count == 1 &&
		strstr(e.text[0], ":3: F of micro-batch 0 on stage 1: it is another "
				  "GPU's") != NULL,
	    "two stages on one GPU");
	gv_error_clear(&e);
	gv_file_write(path, far, sizeof(far) - 1, &e);
	ok(table_read(&t, path, &s, rank, 1, &e) == -1 && e.count == 1 &&
		strstr(e.text[0], ": micro-batch 0 does not go through stage 0") != NULL,
	    "one micro-batch far behind");
	gv_error_clear(&e);
	gv_file_write(path, least, sizeof(least) - 1, &e);
	ok(table_read(&t, path, &s, rank, 1, &e) == -1 && e.count == 1 &&
		strstr(e.text[0], ":2: micro_batch: expected a whole number from 0 on") !=
		    NULL,
	    "the least number is no micro-batch, nor none");
	gv_error_clear(&e);
	unlink(path);
	ok(table_read(&t, path, &s, rank, 1, &e) == -1 && e.count == 1, "no file");
	gv_error_clear(&e);
}

int
main(void)
{
	close(mkstemp(path));
	test_kinds();
	test_lanes();
	test_wrong();
	test_changes();
	test_sum();
	test_ranges();
	test_files();
	return done_testing();
}
