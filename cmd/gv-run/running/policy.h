/*
 * Asks the policy, a command that reads rates and writes an allocation, and takes its
 * answers.
 */
#ifndef POLICY_H
#define POLICY_H

#include <poll.h>
#include <stdbool.h>

#include "base/err.h"
#include "gv-run/core/jobs.h"
#include "gv-run/core/settings.h"
#include "gv-run/state/state.h"
#include "policy/policy.h"
#include "policy/told.h"
#include "sched/asking/follow.h"
#include "sched/asking/isolated.h"

struct policy {
	const struct settings *o;
	const struct state *state;
	struct jobs *jobs;
	char *command;            /* for sh -c; NULL = shares stay as they are */
	bool own;                 /* of -p */
	bool pairs;               /* it may let any two jobs share GPUs */
	struct gv_policy *client; /* NULL until it is asked first */
	struct gv_told told;      /* to whom changes can be told */
	struct gv_follow follow;  /* and its shares */
	bool could_change;        /* the last question said all that changes say */
	bool changes;             /* the present question is what has changed */
	bool asking;              /* its answer is to come */
	bool due;      /* the set of jobs has changed since it was last asked */
	bool answered; /* the table is its answer for all jobs of the table */
	bool broken;   /* the table with the shares cannot be written */
	double asked_s;
	size_t *asked; /* [n_asked] the jobs it was asked about */
	size_t n_asked;
	size_t n_jobs;               /* of the table, as asked and isolated have room */
	struct gv_isolated isolated; /* isolated_elapsed_s; made for the first question */
};

/* Chooses the command.  jobs has its table; its life is made before anybody is asked.  0 or -1. */
int policy_open(struct policy *p, const struct settings *o, const struct state *state,
    struct jobs *jobs, struct gv_error *e);
/* The set of jobs has changed. */
void policy_due(struct policy *p);
/* isolated_elapsed_s of each job, for the table of the state. */
const double *policy_isolated_s(struct policy *p);
/* There are more jobs, or other GPUs (then it is asked anew). */
void policy_grow(struct policy *p);
/* What it knew may be old, such as the cluster: it is begun anew, and asked. */
void policy_renew(struct policy *p);
/* What to wait for beside the time: the number of entries set.  Then policy_turn. */
size_t policy_fds(const struct policy *p, struct pollfd fd[2]);
/* Asks when it is due; takes the answer when it is there. */
void policy_turn(struct policy *p);
/* Whether an answer is so near that decisions should wait for it. */
bool policy_holds(const struct policy *p);
/* When to look again, if nothing happens before. */
double policy_wakes_s(const struct policy *p);
void policy_stop(struct policy *p);
void policy_close(struct policy *p);

#endif
