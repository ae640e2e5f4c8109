/*
 * The policy is a command: it reads a table of rates and writes an allocation.
 * gv-run and gv-sim ask it whenever the set of jobs has changed.  Any program in any
 * language will do; one that can answer table after table is started once and kept.
 *
 * How it is spoken to.
 *
 *   1. At first the command is started, gets the table and the end of its input, and
 *      answers until its output ends and it exits.  Every filter can do that.
 *   2. Whoever ends this answer with an empty line has said that it answers table
 *      after table (a stream of tables, gv-tables(5); gv-alloc --stream).  From then on it
 *      is started once and its input stays open: a question is a table and an empty
 *      line, so is the answer, and no process is started for it.
 *   3. Whoever does not is started for each question, as in 1.
 *
 *   4. A policy that streams may be asked what has changed alone (policy/told.h), where its
 *      last answer said that it can be.
 *
 * Nobody sees an empty line that it has not asked for by writing one, and telling the
 * two kinds apart takes no waiting and no option.  A command that writes an empty
 * line and yet keeps its answer until its input ends (awk behind a program that
 * streams: its output is buffered) is given the end of its input after a while, ten
 * times as long as its slowest answer and at least half a second; the second time in
 * a row it is taken for one of kind 3 for good.  To end the input of a process that
 * would have answered anyway costs a new process and nothing else, so this patience
 * can be short.
 *
 * A streaming process that has left between two questions is started again.  One
 * that leaves without an answer and with status 0 is started again and asked again,
 * once.  What fails, hangs, answers without end or writes more than an answer is
 * killed with its process group, and the question ends with one sentence; the next
 * question starts it anew.  Its standard error is ours.
 *
 * Nothing here blocks but gv_policy_wait, and it raises no SIGPIPE.  Memory: the
 * question, and the answer up to a limit.  Costs two or three system calls each way,
 * about .1 ms, beside what the policy itself takes; a process of its own a
 * millisecond or more.
 */
#ifndef GV_POLICY_POLICY_H
#define GV_POLICY_POLICY_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "table/tab.h"

struct gv_policy_spec {
	const char *command;   /* for sh -c */
	const char *directory; /* where it runs; NULL = here */
	bool streams;          /* known to be of kind 2, from the first question on */
	double timeout_s;      /* for an answer; then it is killed */
	size_t limit_bytes;    /* of an answer; 0 = 64 MiB and 16 times the question */
};

enum gv_policy_state {
	GV_POLICY_IDLE,     /* nothing was asked */
	GV_POLICY_ASKED,    /* the answer is to come */
	GV_POLICY_ANSWERED, /* it is there */
	GV_POLICY_FAILED    /* there will be none */
};

struct gv_policy;

/* Starts nothing yet.  The texts are copied. */
struct gv_policy *gv_policy_new(const struct gv_policy_spec *spec);
/* gv_policy_stop, then frees.  NULL is allowed. */
void gv_policy_free(struct gv_policy *p);

/*
 * Asks: table is one whole table without an empty line behind it, whose bytes are
 * taken over (*table is empty then).  Starts the command if need be.  Not while an
 * answer is to come.  0, or -1 with *e set: the command cannot be started.
 */
int gv_policy_ask(struct gv_policy *p, struct gv_strbuf *table, struct gv_error *e);

/*
 * Asks by a table of changes (told.h), where the process that gave the last answer is
 * still there to remember what they are changes of; it is not started again for this
 * question.  0; 1: it is not there, table is as it was and a whole one must be asked.
 */
int gv_policy_ask_changes(struct gv_policy *p, struct gv_strbuf *table);

/*
 * A command that can be told changes, told so: gv-alloc with arguments and nothing else
 * that sh(1) would make of it gets the options for it, and *streams is set.  Another one is
 * copied.  free().
 */
char *gv_policy_command(const char *command, bool *streams);

/*
 * For a loop of one's own: what to wait for (the number of entries set), and for how
 * many seconds at most (HUGE_VAL = nothing is asked); then a turn.  A turn after
 * SIGCHLD finds sooner that the command has exited.
 */
size_t gv_policy_fds(const struct gv_policy *p, struct pollfd fd[2]);
double gv_policy_wait_s(const struct gv_policy *p);

/*
 * Gives and takes what can be without blocking.  Returns the state; GV_POLICY_FAILED
 * comes with a sentence in *e that begins with "the policy".
 */
enum gv_policy_state gv_policy_turn(struct gv_policy *p, struct gv_error *e);

/* Turns until there is an answer, for programs without a loop.  0, or -1 with *e set. */
int gv_policy_wait(struct gv_policy *p, struct gv_error *e);

/*
 * The answer, as it was written, without the empty line behind it; it is the policy's
 * own, until the next question.  NULL where there is none.
 */
const char *gv_policy_answer(const struct gv_policy *p, size_t *len);

/* Reads its answer as a table; name is the file in messages.  0, or -1 with *e set. */
int gv_policy_table(
    const struct gv_policy *p, const char *name, struct gv_frame *f, struct gv_error *e);

/* Processes started so far. */
long gv_policy_starts(const struct gv_policy *p);

/*
 * Ends the command: a question under way is given up at once; one that only waits
 * for the next question has a quarter of a second to leave by itself.
 */
void gv_policy_stop(struct gv_policy *p);

#endif
