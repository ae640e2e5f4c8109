/*
 * Asks the policy, a command, for new shares.  When the command is gv-alloc itself with
 * options that are known here, the same library answers without a process (alloc.h);
 * any other command is spoken to over pipes (policy/policy.h), by what has changed where it
 * can be (policy/told.h).  The shares are the same.
 */
#ifndef ASKER_H
#define ASKER_H

#include "alloc.h"
#include "journal.h"
#include "policy/policy.h"
#include "policy/told.h"
#include "question.h"
#include "sched/asking/follow.h"

struct asker {
	const char *command; /* NULL = shares stay as they are */
	double timeout_s;
	struct alloc alloc;
	bool within; /* it is gv-alloc itself */
	struct gv_policy *client;
	struct gv_told told;     /* to whom changes can be told */
	struct gv_follow follow; /* and its shares */
	struct question question;
	struct journal journal; /* the caller's to open */
};

/* cluster_file: what -c of the command must name for it to be asked within.  0 or -1. */
int asker_open(struct asker *k, const char *command, const char *cluster_file,
    double timeout_s, struct gv_error *e);
void asker_close(struct asker *k);

/* Before a simulation is run, and after it. */
void asker_begin(struct asker *k, const struct sim *s);
void asker_end(struct asker *k);

/* sim.ask, with an asker as ctx. */
int asker_ask(struct asker *k, struct sim *s, struct gv_error *e);

#endif
