/*
 * What Slurm's commands may say, whole and damaged: the allocation, its nodes and GPUs, what
 * becomes of them, the words of an srun there, and how a launch has ended.
 */
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/strbuf.h"
#include "draws.h"
#include "launch/slurm/step.h"
#include "recorded_frame.h"
#include "scratch.h"

enum { ROUNDS = 60, PER_ROUND = 40, LOOKS = 6, MOST_NODES = 8 };

static const char *
one_of(const char *const *list, size_t n)
{
	return list[below(n)];
}

#define ONE_OF(list) one_of(list, sizeof(list) / sizeof((list)[0]))

/* A byte is another, missing or there twice. */
static void
spoil(struct gv_strbuf *b)
{
	static const char to[] = "|[],-:()= \n*0x";
	size_t n = below(3) > 0 ? 0 : 1 + below(2), i;

	for (; n > 0 && b->len > 0; n--) {
		i = below(b->len);
		switch (below(3)) {
		case 0:
			b->s[i] = to[below(sizeof(to) - 1)];
			break;
		case 1:
			memmove(b->s + i, b->s + i + 1, b->len - i);
			b->len--;
			break;
		default:
			gv_strbuf_char(b, b->s[b->len - 1]);
			memmove(b->s + i + 1, b->s + i, b->len - 1 - i);
		}
	}
}

/* ---- what scontrol, squeue and sinfo say ---- */

static void
draw_list(struct gv_strbuf *b)
{
	static const char *const list[] = {"n1", "n2", "n[1-3]", "n[08-11,3]", "m,n1",
	    "m", "r[1-2]n[1-2]", "n[2-3],m", "n[1,2]-ib", "", "n[1-2", "n[3-1]"};

	gv_strbuf_str(b, list[below(below(5) == 0 ? 12 : 9)]);
}

static void
draw_gres(struct gv_strbuf *b)
{
	static const char *const gres[] = {"gpu:v100:4(IDX:0-3)", "gpu:2(IDX:1,3)",
	    "gpu:a:2(IDX:2-3)", "gpu:b:2(IDX:0-1)", "shard:2(IDX:0)", "gpu:a:1(IDX:7)",
	    "gpu:a:1(IDX:7),gpu:b:1(IDX:7)", "gpu:0(IDX:N/A)", "gpu:1(IDX:0-0,0)",
	    "mps:1,gpu:1(IDX:5)", "gpu:1(IDX:9-4)", "gpu:4", "gpu:1(CNT:1)"};
	size_t n = below(4), i;

	for (i = 0; i < n; i++)
		gv_strbuf_fmt(
		    b, "%s%s", i > 0 ? "," : "", gres[below(below(8) == 0 ? 13 : 10)]);
}

static void
draw_jobs(struct gv_strbuf *b)
{
	static const char *const state[] = {
	    "RUNNING", "RUNNING", "RUNNING", "PENDING", "RUNNINGS", ""};
	size_t n = 1 + below(3), i, k;

	for (i = 0; i < n; i++) {
		size_t groups = 1 + below(3);

		gv_strbuf_fmt(b, "JobId=%zu HetJobId=5 JobState=%s NumNodes=2", 5 + i,
		    ONE_OF(state));
		for (k = 0; k < groups; k++) {
			gv_strbuf_str(b, "   Nodes=");
			draw_list(b);
			gv_strbuf_str(b, " CPU_IDs=0-7 Mem=0 GRES=");
			draw_gres(b);
		}
		gv_strbuf_str(b, below(4) > 0 ? " MinCPUsNode=1\n" : "\n");
	}
	spoil(b);
}

static void
draw_queue(struct gv_strbuf *b)
{
	static const char *const state[] = {"RUNNING", "RUNNING", "SUSPENDED", "RESIZING",
	    "PENDING", "CONFIGURING", "REQUEUED", "COMPLETING", ""};
	static const char *const left[] = {"0:05", "9:59", "2:00:00", "1-02:03:04",
	    "12-00:00:00", "UNLIMITED", "INVALID", "", "7", ":30", "1-", "-1:00",
	    "1-2-3"};
	size_t n = below(4), i;

	for (i = 0; i < n; i++) {
		const char *is = ONE_OF(state), *until = ONE_OF(left);

		gv_strbuf_fmt(b, "%zu|%s|%s|", 5 + i, is, until);
		draw_list(b);
		gv_strbuf_str(b, below(9) > 0 ? "\n" : "|x\n");
	}
	spoil(b);
}

static void
draw_info(struct gv_strbuf *b)
{
	static const char *const node[] = {
	    "n1", "n2", "n3", "n08", "m", "r1n2", "n1-ib", "z", "n"};
	static const char *const state[] = {"idle", "mix", "alloc", "alloc*", "down",
	    "down*", "drng", "unk", "no_respond", "power", "pow_up", "boot", "", "*",
	    "maint-with-a-name-that-is-longer-than-32",
	    "failing-and-more-than-32-bytes-of-it"};
	size_t n = below(7), i;

	for (i = 0; i < n; i++) {
		const char *name = ONE_OF(node),
			   *address = below(2) == 0 ? name : ONE_OF(node);
		const char *is = ONE_OF(state);

		gv_strbuf_fmt(b, "%s|%s|%s\n", name, below(5) == 0 ? "" : address, is);
	}
	spoil(b);
}

/* ---- the allocation ---- */

static void
recorded_nodes(struct recorded *r, const struct gv_slurm_allocation *a)
{
	size_t i, k;

	recorded_whole(r, (long long)a->n_jobs);
	for (i = 0; i < a->n_jobs; i++)
		recorded_text(r, a->job[i]);
	for (i = 0; i < a->n_nodes; i++) {
		const struct gv_slurm_node *n = &a->node[i];

		recorded_text(r, n->name);
		recorded_text(r, n->address);
		recorded_text(r, n->why);
		recorded_whole(r, (long long)n->group);
		recorded_whole(r, n->bad + 8 * n->mine + 16 * n->seen);
		recorded_double(r, n->bad_since_s);
		for (k = 0; k < n->n_gpus; k++) {
			recorded_text(r, n->gpu[k].type);
			recorded_whole(r, n->gpu[k].id);
		}
	}
}

static void
look(struct recorded *r, struct gv_slurm_allocation *a, double now_s)
{
	struct gv_strbuf text = {0};
	bool changed = below(2) == 0;
	double left_s;

	gv_strbuf_str(&text, "");
	if (below(3) == 0) {
		draw_queue(&text);
		recorded_whole(r, gv_slurm_take_queue(a, text.s, &left_s, &changed));
		recorded_double(r, left_s);
		recorded_whole(r, changed);
	} else {
		draw_info(&text);
		recorded_whole(r, gv_slurm_take_nodes(a, text.s, now_s));
	}
	recorded_nodes(r, a);
	gv_strbuf_free(&text);
}

/* An srun on some of the nodes. */
static void
recorded_srun(struct recorded *r, const struct gv_slurm_allocation *a)
{
	static char self[] = "/bin/gv";
	struct gv_slurm s = {.allocation = *a, .self = self};
	const struct gv_slurm_node *node[MOST_NODES];
	struct gv_srun words;
	size_t first = below(a->n_nodes), n = 0, i;

	for (i = first; i < a->n_nodes && n < MOST_NODES; i++)
		node[n++] = &a->node[i];
	gv_srun_make(&words, &s, node, n, "gv:a", below(2) == 0 ? "work" : "probe");
	for (i = 0; words.word[i] != NULL; i++)
		recorded_text(r, words.word[i]);
	gv_srun_free(&words);
}

/* ---- how a launch ended ---- */

static void
draw_left(struct gv_strbuf *b)
{
	static const char *const status[] = {"0", "0", "143", "1", "137", "x", ""};
	static const char *const how[] = {
	    "own", "own", "told", "cut", "term", "fenced", "unkept", "refused", "owns"};
	static const char *const text[] = {
	    "", "", "its guard was killed", "no such directory"};
	size_t time = below(90), starved = below(4);

	const char *with = ONE_OF(status), *why = ONE_OF(how), *words = ONE_OF(text);

	gv_strbuf_fmt(
	    b, "%s %g %s %d %s", with, (double)time / 8, why, starved > 0, words);
	gv_strbuf_str(b, below(20) > 0 ? "\n" : "");
}

static void
draw_srun(struct gv_strbuf *b)
{
	static const char *const line[] = {"srun: error: Node failure on n2, n3\n",
	    "slurmstepd: error: Detected 1 oom-kill event(s)\n",
	    "srun: error: n2: task 1: Out Of Memory\n", "srun: error: last\n", "\n",
	    "srun: job 5 queued\n", "x srun: error: y\n", "Node failure on m:\n",
	    "srun: error: ", "words without an end"};
	size_t n = below(4);

	for (; n > 0; n--)
		gv_strbuf_str(b, ONE_OF(line));
}

static void
recorded_end(struct recorded *r, const struct step *t)
{
	struct gv_launch_news news = {0};
	struct gv_strbuf line = {0};
	size_t i;

	for (i = 0; i < t->n_nodes; i++) {
		const struct left *l = &t->left[i];

		recorded_whole(r, l->known + 2 * l->starved);
		gv_step_write_left(&line, l);
	}
	recorded_text(r, line.s);
	gv_strbuf_free(&line);
	recorded_text(r, t->failed);
	recorded_text(r, t->words);
	recorded_whole(r, t->out_of_memory);
	gv_step_conclude(t, &news);
	recorded_whole(r, news.state);
	recorded_whole(r, news.status + 1000 * news.starved);
	recorded_text(r, news.node);
	recorded_text(r, news.reason);
}

/* What sruns and sweeps say of a launch on some of the nodes. */
static void
ask_end(struct recorded *r, struct gv_slurm_allocation *a)
{
	static char here[] = ".";
	const struct gv_slurm_node *node[3];
	struct left left[3] = {{0}};
	struct gv_slurm slurm = {.over = below(5) == 0};
	struct step t = {.slurm = &slurm, .node = node, .left = left, .dir = here};
	struct gv_strbuf text = {0}, said = {0};
	bool begun;
	size_t i;

	gv_strbuf_str(&text, "");
	gv_strbuf_str(&said, "");
	t.n_nodes = 1 + below(a->n_nodes < 3 ? a->n_nodes : 3);
	t.made = below(5) > 0;
	t.srun_killed = below(4) == 0;
	t.launch.told = below(3) == 0;
	for (i = 0; i < t.n_nodes; i++) {
		node[i] = &a->node[i];
		if (below(5) > 0) {
			gv_strbuf_fmt(&text, "%s %s ", below(9) > 0 ? "left" : "lef",
			    a->node[i].name);
			draw_left(&text);
		}
	}
	if (below(4) == 0)
		spoil(&text);
	gv_step_read_told(&t, text.s);
	draw_srun(&said);
	scratch_file("srun", said.s, said.len);
	gv_step_read_srun(&t);
	gv_strbuf_clear(&text);
	draw_left(&text);
	if (below(3) == 0)
		gv_slurm_file_put(here, "left", a->node[0].name, text.s);
	if (below(3) == 0)
		gv_slurm_file_put(here, "here", a->node[0].name, "");
	begun = gv_step_read_left(&t);
	recorded_whole(r, begun);
	recorded_end(r, &t);
	for (i = 0; i < 2; i++) {
		char *path =
		    gv_slurm_path(here, i == 0 ? "left" : "here", a->node[0].name);

		unlink(path);
		free(path);
	}
	gv_strbuf_free(&text);
	gv_strbuf_free(&said);
}

static size_t
ask(struct recorded *r)
{
	struct gv_slurm_allocation a;
	struct gv_strbuf text = {0};
	struct gv_error e = {0};
	double now_s = 100;
	size_t i, good;

	draw_jobs(&text);
	good = gv_slurm_allocation_read(&a, text.s, &e) == 0;
	recorded_error(r, &e);
	recorded_nodes(r, &a);
	for (i = 0; i < LOOKS; i++) {
		now_s += (double)below(16) / 4;
		look(r, &a, now_s);
	}
	if (good) {
		recorded_srun(r, &a);
		ask_end(r, &a);
		ask_end(r, &a);
	}
	gv_slurm_allocation_free(&a);
	recorded_nodes(r, &a);
	gv_strbuf_free(&text);
	return good;
}

/* Files that cannot be written, or are too long. */
static void
test_files(void)
{
	char *text = gv_xcalloc(4098, 1), *got;

	is_int(gv_slurm_file_put("none", "a", "b", "x"), -1, "no such folder");
	mkdir("a.b", 0700);
	mkdir("c", 0700);
	is_int(gv_slurm_file_put(".", "a", "b", "x"), -1, "a folder is in its place");
	ok(gv_slurm_file_there(".", "new", "b"), "it is written beside it first");
	is_int(gv_slurm_file_put(".", "c", NULL, "x"), -1, "nor there");
	ok(gv_slurm_file_there(".", "new", "c"),
	    "by its own name, where it has no other");
	rmdir("a.b");
	rmdir("c");
	memset(text, 'x', 4097);
	is_int(gv_slurm_file_put(".", "a", "b", text), 0, "4,097 bytes");
	ok(gv_slurm_file_get(".", "a", "b") == NULL, "are not read");
	text[4096] = '\0';
	is_int(gv_slurm_file_put(".", "a", "b", text), 0, "4,096");
	got = gv_slurm_file_get(".", "a", "b");
	ok(got != NULL && strcmp(got, text) == 0, "are");
	free(got);
	free(text);
}

int
main(void)
{
	static const char *const made[] = {"srun", "a.b", "new.b", "new.c", NULL};
	struct recorded r;
	uint32_t i;

	recorded_open(&r);
	scratch_enter();
	test_files();
	for (i = 0; i < ROUNDS; i++) {
		size_t good = 0, k;

		draws_begin(61, i, 0);
		for (k = 0; k < PER_ROUND; k++)
			good += ask(&r);
		recorded_answer(&r, "%d allocations, %zu good", PER_ROUND, good);
	}
	scratch_leave(made);
	recorded_close(&r);
	return done_testing();
}
