/* A policy that is gv-alloc itself: the library that it calls, without a process. */
#ifndef ALLOC_H
#define ALLOC_H

#include "alloc/answer/answer.h"
#include "alloc/price/price.h"
#include "question.h"
#include "sched/asking/reply.h"

struct alloc {
	const struct gv_policy *policy;
	struct gv_answer_options options;
	struct gv_price_memory memory;
	struct gv_pairs pairs;
	struct gv_entities weights;
};

/*
 * Whether a command is gv-alloc with a policy and no more than the options
 * --agnostic, -c (cluster_file), --entities, --quiet, --space-sharing and --stream, words
 * between spaces without anything that sh(1) would change: 1 yes, and *k is ready;
 * 0 no; -1 with *e set: a table that it names cannot be read.
 */
int alloc_open(
    struct alloc *k, const char *command, const char *cluster_file, struct gv_error *e);
void alloc_close(struct alloc *k); /* also of a zeroed one */

/* Nothing is known of earlier questions any more. */
void alloc_forget(struct alloc *k);

/* Answers a question.  0, or -1 with *e set. */
int alloc_ask(struct alloc *k, const struct sim *s, const struct question *q,
    struct gv_reply *out, struct gv_error *e);

#endif
