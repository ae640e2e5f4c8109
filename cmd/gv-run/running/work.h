/* The workers of the jobs: launched, told to leave, listened to. */
#ifndef WORK_H
#define WORK_H

#include "base/err.h"
#include "gv-run/core/jobs.h"
#include "gv-run/core/settings.h"
#include "gv-run/state/files.h"
#include "gv-run/state/state.h"
#include "launch/launch.h"
#include "launch/progress.h"

/* What stands for a job outside. */
struct worker {
	struct files files;
	struct gv_launch *launch; /* NULL = none */
	struct gv_progress_report report;
	double begun;    /* steps it had told when it was launched */
	bool stepped;    /* it has told another number since */
	int fruitless;   /* launches in a row that were stopped without that */
	double waited_s; /* the longest of them */
	bool told;       /* and that was said */
	bool unreadable; /* its progress cannot be read, and that was said */
};

struct work {
	const struct settings *o;
	const struct state *state;
	struct jobs *jobs;
	const struct gv_launcher *by;
	size_t n;
	struct worker *worker; /* [n] of the jobs of the table */
	char **log;            /* [n] where their words are; theirs */
	size_t n_up, cap_up;
	size_t *up;  /* [n_up] jobs with a launch, in ascending order */
	size_t turn; /* whose progress is read next */
	int told; /* launches that were not up when the run ended: 1 = to stop, 2 = killed */
	char refusal
	    [GV_ERROR_LEN]; /* why jobs could not be launched, as it was said last */
};

/* Names the files of the jobs of the table; their life is made before any is launched.  0 or -1. */
int work_open(struct work *w, const struct settings *o, const struct state *state,
    struct jobs *jobs, const struct gv_launcher *by, struct gv_error *e);
/* Files of n more jobs, named before; takes over what files has. */
void work_grow(struct work *w, const struct files *files, size_t n);
/* Does what the life of the jobs wants: GV_LIFE_START, STOP or KILL. */
void work_do(struct work *w, const struct gv_life_out *out);
/*
 * A run that ends: launches under way that nobody has seen up are told to stop, or killed.
 * Waiting until they are up could take as long as Slurm likes.
 */
void work_end(struct work *w, bool at_once);
/* Tells the life of the jobs which workers have left. */
void work_reap(struct work *w);
/*
 * Tells it what the workers have reported, of those that have told no step since they were
 * launched and of a hundred others, in turn: looking at thousands of files twice a second
 * would cost more than it tells.  A file that cannot be read is warned about.
 */
void work_read_progress(struct work *w);
/* Does so for all jobs that were ever launched, after a restart. */
void work_read_all_progress(struct work *w);
void work_close(struct work *w);

#endif
