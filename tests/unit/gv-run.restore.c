/*
 * gv-run's journal, cut at every byte as a kill may leave it, gives back the
 * state at the last whole event: against an account kept apart from it.
 */
#define _XOPEN_SOURCE 700
#include "tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fileio.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "gv-run/core/jobs.h"
#include "gv-run/state/journal.h"
#include "gv-run/state/lines.h"
#include "gv-run/state/restore.h"
#include "unsynced.h"

static const char cluster_text[] = "gpu_type,gpus,threads\nbig,1,2\nsmall,2,1\n";
static const char jobs_text[] = "job_id,total_steps,command,gpu_type,steps_per_s,share\n"
				"a,100,x,big,10,0.5\n"
				"a,100,x,small,5,0.25\n"
				"\"b, \"\"q\"\"\",100,x,big,10,0.5\n"
				"c,100,x,small,5,0.5\n";

/* The history: what each event must do to the account. */
struct line {
	double time_s;
	int job; /* -1 = of none */
	enum gv_event_kind kind;
	int type; /* of GPU, for a start */
	double steps;
	int round;
	const char *text;
};

#define B "\"b, \"\"q\"\"\""
static const struct line history[] = {
    {0, -1, GV_EVENT_POOL, -1, NAN, -1, "0,pool,,big,,0,,,,"},
    {0, 0, GV_EVENT_ARRIVE, -1, NAN, -1, "0,arrive,a,,,,100,,,"},
    {0, 1, GV_EVENT_ARRIVE, -1, NAN, -1, "0,arrive," B ",,,,100,,,\"two\nlines\""},
    {0, 0, GV_EVENT_ALLOCATE, 0, NAN, -1, "0,allocate,a,big,,,,,0.5,"},
    {0, 1, GV_EVENT_ALLOCATE, 0, NAN, -1, "0,allocate," B ",big,,,,,0.5,"},
    {0.5, 0, GV_EVENT_START, 0, NAN, 0, "0.5,start,a,big,,0,,0,,"},
    {2, 0, GV_EVENT_CHECKPOINT, -1, 15, 0, "2,checkpoint,a,big,,0,15,0,,"},
    {3, 0, GV_EVENT_PREEMPT, -1, 20, 1, "3,preempt,a,big,,0,20,1,,"},
    {3, 1, GV_EVENT_START, 0, NAN, 1, "3,start," B ",big,,0,,1,,"},
    {3.25, 0, GV_EVENT_RESUME, 1, 20, 1, "3.25,resume,a,small,,1,20,1,,"},
    {4, 1, GV_EVENT_FAIL, -1, 5, 1, "4,fail," B ",big,,0,5,1,,status 3"},
    {4, 1, GV_EVENT_RESUME, 0, 5, 1, "4,resume," B ",big,,0,5,1,,"},
    {5, 1, GV_EVENT_FAIL, -1, 5, 1, "5,fail," B ",big,,0,5,1,,status 3"},
    {5.5, 2, GV_EVENT_ARRIVE, -1, NAN, 1, "5.5,arrive,c,,,,100,1,,"},
    {6, 0, GV_EVENT_FINISH, -1, 100, 2, "6,finish,a,small,,1,100,2,,"},
    {6, 1, GV_EVENT_RESUME, 0, 5, 2, "6,resume," B ",big,,0,5,2,,"},
    {8, 1, GV_EVENT_FAIL, -1, 9, 2, "8,fail," B ",big,,0,9,2,,status 3"},
    {9, 1, GV_EVENT_DROP, -1, 9, 2, "9,drop," B ",,,,9,2,,\"too, often\""},
    {9, -1, GV_EVENT_RESTART, -1, NAN, 2, "9,restart,,,,,,2,,"},
    {9.5, 2, GV_EVENT_START, 1, NAN, 3, "9.5,start,c,small,,0,,3,,"},
};
enum { N_LINES = sizeof(history) / sizeof(history[0]) };

/* ---- the account ---- */

struct account {
	enum gv_life_state state[3];
	int launches[3];
	int failures[3];
	double most[3]; /* steps at failures */
	double received[3][2];
	int on[3]; /* type, -1 = nowhere */
	double steps[3];
	double checkpoint[3];
	int round;
};

static void
account_of(struct account *a, size_t n_lines)
{
	double time_s = 0;
	size_t i;
	int m;

	*a = (struct account){.round = -1};
	for (m = 0; m < 3; m++) {
		a->on[m] = -1;
		a->most[m] = a->steps[m] = a->checkpoint[m] = -1;
	}
	for (i = 0; i < n_lines; i++) {
		const struct line *l = &history[i];

		for (m = 0; m < 3; m++)
			if (a->on[m] >= 0)
				a->received[m][a->on[m]] += l->time_s - time_s;
		time_s = l->time_s;
		a->round = l->round > a->round ? l->round : a->round;
		m = l->job;
		if (m < 0)
			continue;
		if (l->kind == GV_EVENT_CHECKPOINT)
			a->checkpoint[m] = l->steps;
		else if (!isnan(l->steps))
			a->steps[m] = l->steps;
		if (l->kind == GV_EVENT_START || l->kind == GV_EVENT_RESUME) {
			a->launches[m]++;
			a->on[m] = l->type;
		} else if (l->kind >= GV_EVENT_PREEMPT) {
			a->on[m] = -1;
		}
		if (l->kind == GV_EVENT_FAIL) {
			a->failures[m] = l->steps > a->most[m] ? 1 : a->failures[m] + 1;
			a->most[m] = fmax(a->most[m], l->steps);
		}
		if (l->kind == GV_EVENT_ARRIVE)
			a->state[m] = GV_LIFE_WAITING;
		if (l->kind == GV_EVENT_FINISH)
			a->state[m] = GV_LIFE_FINISHED;
		if (l->kind == GV_EVENT_DROP)
			a->state[m] = GV_LIFE_DROPPED;
	}
}

/* ---- a run on a directory ---- */

struct run {
	struct jobs jobs;
	struct journal journal;
};

static char dir[] = "/tmp/gv-restore.XXXXXX";
static const struct settings settings = {.round_s = 1, .max_failures = 100};

static void
put(const char *name, const char *text, size_t len)
{
	char path[256];
	struct gv_error e = {0};

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (gv_file_write(path, text, len, &e) != 0)
		gv_die_error(&e);
}

static void
open_run(struct run *r)
{
	struct gv_frame f = {0};
	struct gv_error e = {0};
	char path[256];

	*r = (struct run){0};
	snprintf(path, sizeof(path), "%s/cluster.csv", dir);
	if (gv_cluster_read(&r->jobs.cluster, path, &e) != 0)
		gv_die_error(&e);
	snprintf(path, sizeof(path), "%s/jobs.csv", dir);
	if (gv_frame_load(&f, path, &e) != 0 ||
	    gv_rates_from(&r->jobs.table, &f, &r->jobs.cluster, &e) != 0)
		gv_die_error(&e);
	jobs_make(&r->jobs, &settings, NULL);
}

/* Replays the journal, and closes what was open in it. */
static int
restore_run(struct run *r, struct gv_error *e)
{
	bool pairs = r->jobs.life.rounds.pairs.n > 0;
	bool any;

	if (restore(&r->jobs, dir, false, &pairs, &any, e) != 0)
		return -1;
	return journal_open(&r->journal, dir, pairs, e);
}

static void
close_run(struct run *r)
{
	struct gv_life *l = &r->jobs.life;
	struct gv_life_out row;

	if (r->journal.out != NULL) {
		gv_life_restart(l, l->now_s, l->now_s, "gv-run was killed");
		while (gv_life_next(l, &row))
			if (row.kind == GV_LIFE_ROW)
				journal_row(&r->journal, &r->jobs, &row.row);
		journal_close(&r->journal);
	}
	jobs_free(&r->jobs);
}

/* The number of things that are not as in the account. */
static int
differs(const struct run *r, const struct account *a)
{
	const struct gv_life *l = &r->jobs.life;
	int n = l->round != a->round;
	int m;
	int j;

	for (m = 0; m < 3; m++) {
		const struct gv_life_job *job = &l->job[m];

		n += job->state != (a->on[m] >= 0 ? GV_LIFE_RUNNING : a->state[m]);
		n += job->launches != a->launches[m] || job->failures != a->failures[m];
		n += job->steps != a->steps[m] || job->checkpoint != a->checkpoint[m];
		n += l->rounds.job[m].active != (a->state[m] == GV_LIFE_WAITING);
		for (j = 0; j < 2; j++)
			n += fabs(gv_rounds_claim(&l->rounds, (size_t)m, (size_t)j)
				      ->received_s -
				  a->received[m][j]) > 1e-12;
	}
	return n;
}

/* The journal again, after restore: how many preempt events it has for jobs that were open. */
static size_t
closed_again(void)
{
	struct gv_events ev = {0};
	struct gv_frame f = {0};
	struct gv_error e = {0};
	char path[256];
	size_t n = 0;
	size_t i;

	snprintf(path, sizeof(path), "%s/events.csv", dir);
	if (gv_frame_load(&f, path, &e) != 0 || gv_events_from(&ev, &f, &e) != 0)
		return 999;
	for (i = 0; i < ev.n; i++)
		n += gv_cell_is(ev.event[i].reason, "gv-run was killed");
	gv_events_free(&ev);
	return n;
}

static void
test_cuts(void)
{
	static const char header[] =
	    "time_s,event,job_id,gpu_type,node,gpus,steps,round,share,reason\n";
	char text[4096];
	size_t end[N_LINES + 1]; /* of the header and each line */
	size_t len = strlen(header);
	size_t cut;
	size_t lines = 0;
	int failed = 0;
	int wrong = 0;
	int open = 0;

	memcpy(text, header, len);
	end[0] = len;
	for (cut = 0; cut < N_LINES; cut++) {
		len += (size_t)snprintf(
		    text + len, sizeof(text) - len, "%s\n", history[cut].text);
		end[cut + 1] = len;
	}
	for (cut = 0; cut <= len; cut++) {
		struct account a;
		struct gv_error e = {0};
		struct run r;
		size_t n_open = 0;
		int m;

		while (lines < N_LINES && end[lines + 1] <= cut)
			lines++;
		account_of(&a, lines);
		for (m = 0; m < 3; m++)
			n_open += a.on[m] >= 0;
		put("events.csv", text, cut);
		open_run(&r);
		if (restore_run(&r, &e) != 0) {
			failed++;
			printf("# cut at %zu: %s\n", cut, e.text[0]);
		} else {
			gv_rounds_count(&r.jobs.life.rounds);
			wrong += differs(&r, &a) > 0;
		}
		close_run(&r);
		open += closed_again() != n_open;
	}
	printf("# %zu cuts of a journal of %d events\n", len + 1, (int)N_LINES);
	is_int(failed, 0, "every cut can be restored");
	is_int(wrong, 0, "to the state at its last whole event");
	is_int(open, 0, "and is a whole table again, where nobody runs");
}

/* ---- two jobs on the same GPUs ---- */

static const char pairs_text[] =
    "job_id,total_steps,command,gpu_type,steps_per_s,with_job_id,with_steps_per_s,share\n"
    "a,100,x,big,10,,,0.25\n"
    "b,100,x,big,10,,,0\n"
    "c,100,x,big,10,,,0.25\n"
    "b,100,x,big,8,a,7,0.5\n"
    "b,100,x,big,6,c,5,0.25\n";

/*
 * a alone for 1 s, with b for 2 s, b alone for .5 s, with c for 3 s, c alone for 1 s,
 * then a alone again for 1 s though it was b's companion once.
 */
static const char pairs_journal[] =
    "time_s,event,job_id,gpu_type,node,gpus,steps,round,share,reason,with_job_id\n"
    "0,arrive,a,,,,100,,,,\n0,arrive,b,,,,100,,,,\n0,arrive,c,,,,100,,,,\n"
    "0,allocate,b,big,,,,,0.5,,a\n"
    "0,allocate,b,big,,,,,0.25,,gone\n"
    "1,start,a,big,,0,,0,,,\n"
    "2,start,b,big,,0,,0,,,a\n"
    "4,preempt,a,big,,0,9,1,,,\n"
    "4.5,start,c,big,,0,,1,,,b\n"
    "7.5,finish,b,big,,0,100,1,,,\n"
    "8.5,preempt,c,big,,0,50,2,,,\n"
    "8.5,resume,a,big,,0,9,2,,,\n"
    "9.5,checkpoint,a,big,,0,19,2,,,\n";

static double
received(const struct run *r, size_t a, size_t b)
{
	ptrdiff_t m =
	    a == b ? (ptrdiff_t)a : gv_rounds_find_pair(&r->jobs.life.rounds, a, b);

	return m < 0 ? -1
		     : gv_rounds_claim(&r->jobs.life.rounds, (size_t)m, 0)->received_s;
}

static void
test_pairs(void)
{
	static const char old[] =
	    "time_s,event,job_id,gpu_type,node,gpus,steps,round,share,reason\n"
	    "0,arrive,a,,,,100,,,\n1,start,a,big,,0,,0,,\n";
	struct gv_error e = {0};
	struct gv_frame f = {0};
	struct run r;
	char path[256];

	put("jobs.csv", pairs_text, strlen(pairs_text));
	put("events.csv", pairs_journal, strlen(pairs_journal));
	open_run(&r);
	is_int((long long)r.jobs.life.rounds.n_jobs, 5, "three jobs and two pairs");
	is_near(
	    gv_rounds_claim(&r.jobs.life.rounds, 3, 0)->rate, 8, 0, "b's rate beside a");
	is_near(
	    gv_rounds_claim(&r.jobs.life.rounds, 3, 0)->with_rate, 7, 0, "a's beside b");
	ok(restore_run(&r, &e) == 0, "restored");
	gv_rounds_count(&r.jobs.life.rounds);
	is_near(received(&r, 0, 0), 2, 1e-12, "a alone");
	is_near(received(&r, 0, 1), 2, 1e-12, "a and b");
	is_near(received(&r, 1, 1), .5, 1e-12, "b alone");
	is_near(received(&r, 1, 2), 3, 1e-12, "b and c");
	is_near(received(&r, 2, 2), 1, 1e-12, "c alone");
	is_near(r.jobs.life.told[3 * 2], .5, 0, "what was promised to a and b");
	is_near(r.jobs.life.told[1 * 2], 0, 0,
	    "what b was promised with one who is not there is not its own");
	close_run(&r);
	is_int((long long)closed_again(), 1, "who was open is closed");

	put("events.csv", old, strlen(old));
	open_run(&r);
	ok(restore_run(&r, &e) == 0, "a journal from before there were pairs");
	close_run(&r);
	is_int((long long)closed_again(), 1, "is read and goes on");
	snprintf(path, sizeof(path), "%s/events.csv", dir);
	ok(gv_frame_load(&f, path, &e) == 0 && gv_frame_find(&f, "with_job_id") == 10 &&
		f.n_rows == 4,
	    "with the column");
	gv_frame_free(&f);
}

/* ---- damage, as it is told ---- */

/* What restore_inspect writes of a journal. */
static void
is_inspected(const char *text, size_t len, int status, const char *want, const char *name)
{
	struct gv_strbuf got = {0};
	struct gv_out *out = gv_out_memory(&got);
	struct gv_error e = {0};

	put("events.csv", text, len);
	is_int(restore_inspect(dir, out, &e), status, "%s", name);
	gv_out_close(out, &e);
	is_str(got.s, want, "as it says");
	gv_strbuf_free(&got);
}

static void
test_inspect(void)
{
	static const char *const row[] = {
	    "0,arrive,a,,,,100,,,", "1,start,a,big,,0,,0,,", "2,finish,a,big,,0,100,0,,"};
	struct gv_strbuf bare = {0}, whole = {0}, cut = {0};
	size_t end[4], from, i;

	journal_header(&bare, false, LINES_BARE);
	journal_header(&whole, false, LINES_ROWS);
	end[0] = whole.len;
	for (i = 0; i < 3; i++) {
		gv_strbuf_fmt(&bare, "%s\n", row[i]);
		from = whole.len;
		gv_strbuf_str(&whole, row[i]);
		lines_seal_row(&whole, from, (uint32_t)i + 1);
		end[i + 1] = whole.len;
	}
	is_inspected(bare.s, bare.len, 0,
	    "3 of 3 lines are whole\nthey have no checksums: damage cannot be told\n",
	    "a journal of before");
	is_inspected(whole.s, whole.len, 0, "3 of 3 lines are whole\n", "one of now");
	is_inspected(whole.s, whole.len - 5, 0,
	    "events.csv: the last line is torn: 38 bytes, as a kill leaves them\n"
	    "2 of 2 lines are whole\n",
	    "one whose end a kill has torn");
	gv_strbuf_add(&cut, whole.s, end[0]);
	gv_strbuf_add(&cut, whole.s + end[1], end[2] - end[1]);
	gv_strbuf_add(&cut, whole.s + end[1], end[2] - end[1]);
	is_inspected(cut.s, cut.len, 1,
	    "events.csv:2: missing before it, are lost: 1 line\n"
	    "events.csv:3: is there twice, would be left once: "
	    "\"1,start,a,big,,0,,0,,,000000020a9affb2\"\n"
	    "1 of 2 lines are whole\n",
	    "a line is missing, and one there twice");
	gv_strbuf_free(&bare);
	gv_strbuf_free(&whole);
	gv_strbuf_free(&cut);
}

/* A journal without its header gets that of its rows, whatever commas they have in quotes. */
static void
test_lost_header(bool pairs)
{
	struct gv_strbuf text = {0}, header = {0};
	struct gv_error e = {0};
	struct run r;
	bool has = false, any;
	char path[256], *s;
	size_t len, from;

	gv_strbuf_str(&text, "time_s,of,another,table\n");
	from = text.len;
	gv_strbuf_fmt(&text, "0,arrive," B ",,,,100,,,\"a,b\"%s", pairs ? "," : "");
	lines_seal_row(&text, from, 1);
	put("jobs.csv", jobs_text, strlen(jobs_text));
	put("events.csv", text.s, text.len);
	open_run(&r);
	ok(restore(&r.jobs, dir, true, &has, &any, &e) == 0 && any && has == pairs,
	    "a header is lost, of a run %s pairs", pairs ? "with" : "without");
	ok(r.jobs.life.job[1].state == GV_LIFE_WAITING, "what stands behind it is read");
	jobs_free(&r.jobs);
	journal_header(&header, pairs, LINES_ROWS);
	gv_strbuf_add(&header, text.s + from, text.len - from);
	snprintf(path, sizeof(path), "%s/events.csv", dir);
	if (gv_file_read(path, &s, &len, 1 << 20, &e) != 0)
		gv_die_error(&e);
	ok(len == header.len && memcmp(s, header.s, len) == 0,
	    "and written anew with one");
	free(s);
	gv_strbuf_free(&text);
	gv_strbuf_free(&header);
}

int
main(void)
{
	struct gv_error e = {0};

	gv_init("gv-run");
	if (mkdtemp(dir) == NULL)
		gv_die_sys("%s", dir);
	put("cluster.csv", cluster_text, strlen(cluster_text));
	put("jobs.csv", jobs_text, strlen(jobs_text));
	test_cuts();
	test_pairs();
	test_inspect();
	test_lost_header(false);
	test_lost_header(true);
	gv_remove_tree(dir, &e);
	return done_testing();
}
