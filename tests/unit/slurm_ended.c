/* How a launch under Slurm has ended, from what its nodes and srun have said. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/fileio.h"
#include "launch/slurm/step.h"
#include "tap.h"

static struct gv_slurm_node node[2] = {{.name = "n1"}, {.name = "n2"}};
static const struct gv_slurm_node *const nodes[2] = {&node[0], &node[1]};
static struct gv_slurm slurm;

/* A launch on two nodes, of which words say how each left: "" = nothing is known. */
static struct step *
step(const char *first, const char *second)
{
	struct step *t = gv_xcalloc(1, sizeof(*t));
	struct gv_strbuf b = {0};

	t->slurm = &slurm;
	t->node = gv_xcalloc(2, sizeof(*t->node));
	memcpy(t->node, nodes, sizeof(nodes));
	t->left = gv_xcalloc(2, sizeof(*t->left));
	t->n_nodes = 2;
	t->made = true;
	gv_strbuf_fmt(&b, "%s%s\n", *first != '\0' ? "left n1 " : "", first);
	gv_strbuf_fmt(&b, "%s%s\n", *second != '\0' ? "left n2 " : "", second);
	gv_step_read_told(t, b.s);
	gv_strbuf_free(&b);
	return t;
}

static void
forget(struct step *t)
{
	free(t->node);
	free(t->left);
	free(t);
}

/* It came to a state, with a status, a node and a reason; forgets it. */
static void
is(struct step *t, enum gv_launch_state state, int status, const char *at,
    const char *reason, const char *what)
{
	struct gv_launch_news news = {0};

	gv_step_conclude(t, &news);
	ok(news.state == state && news.status == status && strcmp(news.node, at) == 0 &&
		strcmp(news.reason, reason) == 0,
	    "%s: %d, status %d, node \"%s\", \"%s\"", what, (int)news.state, news.status,
	    news.node, news.reason);
	forget(t);
}

static void
test_left(void)
{
	struct step *t;

	is(step("0 1.5 own 0 ", "0 2 own 0 "), GV_LAUNCH_LEFT, 0, "", "", "all are done");
	is(step("3 2.25 own 0 ", "4 2.125 own 0 "), GV_LAUNCH_LEFT, 4, "", "",
	    "the first that failed");
	is(step("143 1 term 0 ", "5 2 own 0 "), GV_LAUNCH_LEFT, 5, "", "",
	    "not one that others ended");
	is(step("5 2 own 0 ", ""), GV_LAUNCH_LEFT, 5, "", "", "whatever the others do");
	t = step("143 1 told 0 ", "143 2 told 0 ");
	t->launch.told = true;
	is(t, GV_LAUNCH_LEFT, 143, "", "", "told");
	t = step("143 1 told 0 ", "0 2 own 0 ");
	t->launch.told = true;
	is(t, GV_LAUNCH_LEFT, 143, "", "", "told, one was done");
	t = step("0 1 own 0 ", "");
	t->out_of_memory = true;
	is(t, GV_LAUNCH_LEFT, 137, "", "out of memory", "out of memory");
}

static void
test_lost(void)
{
	struct step *t;

	is(step("143 1 term 0 ", "143 1 term 0 "), GV_LAUNCH_LOST, 0, "",
	    "Slurm has ended it", "ended by Slurm");
	t = step("0 1 own 0 ", "");
	snprintf(t->words, sizeof(t->words), "some words");
	is(t, GV_LAUNCH_LOST, 0, "", "Slurm has ended it: some words", "for a reason");
	t = step("143 1 term 0 ", "");
	t->srun_killed = true;
	is(t, GV_LAUNCH_LOST, 0, "", "srun was killed", "srun was killed");
	t = step("143 1 term 0 ", "");
	snprintf(t->failed, sizeof(t->failed), "n2");
	is(t, GV_LAUNCH_LOST, 0, "n2", "node n2 lost", "Slurm has said which node");
	snprintf(node[1].why, sizeof(node[1].why), "it is down");
	is(step("143 1 term 0 ", ""), GV_LAUNCH_LOST, 0, "n2", "node n2 lost",
	    "a node is down");
	node[1].why[0] = '\0';
	is(step("137 1 unkept 0 its guard was killed", "0 1 own 0 "), GV_LAUNCH_LOST, 0,
	    "", "its guard was killed", "who looked after it was killed");
	t = step("137 1 unkept 0 its guard was killed", "143 1 told 0 ");
	t->launch.told = true;
	is(t, GV_LAUNCH_LOST, 0, "", "its guard was killed",
	    "when it had been told, too");
	t = step("143 1 cut 0 ", "143 1 told 0 ");
	t->launch.told = true;
	is(t, GV_LAUNCH_LOST, 0, "", "Slurm has ended it",
	    "who could not have been told");
	slurm.over = true;
	is(step("", ""), GV_LAUNCH_LOST, 0, "", "the allocation has ended",
	    "the allocation has ended");
	slurm.over = false;
}

static void
test_not_started(void)
{
	struct step *t = step("", "");

	t->made = false;
	is(t, GV_LAUNCH_NOT_STARTED, 0, "", "srun has left", "no worker ever ran");
	t = step("", "");
	t->made = false;
	snprintf(t->words, sizeof(t->words), "nodes are busy");
	is(t, GV_LAUNCH_NOT_STARTED, 0, "", "nodes are busy", "srun says why");
	is(step("3 1 own 0 ", "125 1 refused 0 no such directory"), GV_LAUNCH_NOT_STARTED,
	    0, "", "no such directory", "a node could not start its workers");
}

static void
test_reading(void)
{
	struct step *t = step("0 1 own 1 ", "0 1 nonsense 0 ");
	struct gv_launch_news news = {0};

	ok(t->left[0].starved && t->left[0].time_s == 1, "its shell could not fork");
	ok(!t->left[1].known, "what cannot be read is not known");
	gv_step_read_told(t, "left n22 3 1 own 0 \nn2 3 1 own 0 \nleft n2 3 1\n");
	ok(!t->left[1].known, "neither another node's nor half a line");
	gv_step_read_told(
	    t, "some words\n\nleft n2 9 1 own 0 all\nleft n3 3 1 own 0 \nx");
	ok(t->left[1].known && t->left[1].status == 9 &&
		strcmp(t->left[1].text, "all") == 0,
	    "among other lines");
	gv_step_read_told(t, "left n2 0 1 own 0 \n");
	t->left[0].status = 2;
	gv_step_conclude(t, &news);
	ok(news.starved && news.status == 2, "it is told of the one that failed");
	forget(t);
}

/* What srun says, in a directory of a launch. */
static void
test_srun(void)
{
	char dir[] = "/tmp/gv-unit.XXXXXX";
	struct gv_error e = {0};
	struct step *t = step("", "");

	t->dir = mkdtemp(dir);
	ok(gv_slurm_file_put(dir, "srun", NULL,
	       "srun: error: Node failure on n2, n3\n"
	       "slurmstepd: error: Detected 1 oom-kill event(s)\n"
	       "srun: error: n2: task 1: Out Of Memory\n"
	       "srun: error: last\n") == 0,
	    "what srun says");
	gv_step_read_srun(t);
	ok(strcmp(t->failed, "n2") == 0, "a node that failed: %s", t->failed);
	ok(t->out_of_memory, "memory that ran out");
	ok(strcmp(t->words, "last") == 0, "the last words: %s", t->words);
	ok(!gv_step_read_left(t), "no node has begun");
	gv_slurm_file_put(dir, "here", "n1", "");
	ok(gv_step_read_left(t) && !t->left[0].known, "one has");
	gv_slurm_file_put(dir, "left", "n1", "7 1.5 own 0 \n");
	ok(gv_step_read_left(t) && t->left[0].known && t->left[0].status == 7,
	    "and has left");
	gv_remove_tree(dir, &e);
	forget(t);
}

/* In a large launch srun says much, of each of its tasks. */
static void
test_srun_says_much(void)
{
	char dir[] = "/tmp/gv-unit.XXXXXX";
	struct gv_strbuf b = {0};
	struct gv_error e = {0};
	struct step *t = step("", "");
	int i;

	gv_strbuf_str(&b, "srun: error: Node failure on n1\n\n");
	for (i = 0; i < 400000; i++)
		gv_strbuf_fmt(&b, "srun: error: n2: task %d: Out Of Memory\n", i);
	gv_strbuf_str(&b, "srun: error: x\nsrun: error: ");
	t->dir = mkdtemp(dir);
	ok(gv_slurm_file_put(dir, "srun", NULL, b.s) == 0, "%zu bytes", b.len);
	gv_step_read_srun(t);
	is_str(t->failed, "n1", "a node that failed");
	ok(t->out_of_memory, "memory that ran out");
	is_str(t->words, "x", "the last words");
	is(t, GV_LAUNCH_LEFT, 137, "", "out of memory", "what it came to");
	t = step("0 1 own 0 ", "");
	strcpy(t->words, "x");
	is(t, GV_LAUNCH_LOST, 0, "", "Slurm has ended it: x", "words of one letter");
	t = step("", "");
	t->made = false;
	strcpy(t->words, "x");
	is(t, GV_LAUNCH_NOT_STARTED, 0, "", "x", "and of what did not start");
	gv_remove_tree(dir, &e);
	gv_strbuf_free(&b);
}

/* What a worker writes is what is read. */
static void
test_writing(void)
{
	const struct left left = {
	    .status = 9, .time_s = 12.5, .how = UNKEPT, .starved = true, .text = "a b"};
	struct gv_strbuf b = {0};
	struct step *t = step("", "");

	gv_strbuf_str(&b, "left n1 ");
	gv_step_write_left(&b, &left);
	gv_step_read_told(t, b.s);
	ok(t->left[0].known && t->left[0].status == 9 && t->left[0].time_s == 12.5 &&
		t->left[0].how == UNKEPT && t->left[0].starved &&
		strcmp(t->left[0].text, "a b") == 0,
	    "as it was written");
	gv_strbuf_free(&b);
	forget(t);
}

/* A sweep that fails is one that cleaned up if every node told of the launch all the same. */
static void
test_sweep(const char *first, const char *second, bool over)
{
	struct step *t = step("", "");
	struct gv_launch_news news = {0};
	char sh[] = "sh", c[] = "-c", line[200];
	char *argv[] = {sh, c, line, NULL};
	int tries;

	snprintf(line, sizeof(line), "printf '%s%s'; exit 1", first, second);
	node[0].mine = node[1].mine = true;
	t->phase = SETTLING;
	t->gone_s = gv_clock_s();
	t->grace_s = 100;
	t->sweeping = true;
	if (gv_slurm_command_start(&t->sweep, argv, 60) != 0)
		gv_die_sys("no shell");
	for (tries = 0; tries < 3000 && t->sweeping; tries++)
		gv_slurm_step_poll(&t->launch, true, &news);
	ok(!t->sweeping && (t->phase == OVER) == over,
	    "a sweep that fails, told \"%s%s\": %s", first, second,
	    over ? "over" : "once more");
	gv_slurm_command_free(&t->sweep);
	forget(t);
	node[0].mine = node[1].mine = false;
}

int
main(void)
{
	test_sweep("left n1 0 1 own 0 \\n", "left n2 0 1 own 0 \\n", true);
	test_sweep("left n1 0 1 own 0 \\n", "", false);
	test_sweep("", "left n2 0 1 own 0 \\n", false);
	test_sweep("", "", false);
	test_left();
	test_lost();
	test_not_started();
	test_reading();
	test_srun();
	test_srun_says_much();
	test_writing();
	return done_testing();
}
