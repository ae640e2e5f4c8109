/* The state directory: locks, clock, and where the jobs keep their things. */
#ifndef STATE_H
#define STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "gv-run/core/settings.h"
#include "sched/rates.h"

struct state {
	const struct settings *o;
	char *dir; /* absolute; NULL in a dry run */
	bool temporary;
	char *directory; /* where the table was given: jobs run there */
	int lock_fd;
	int workers_fd; /* held by every keeper */
	int clock_fd;
	mode_t user_mask; /* of files that are not the state's */
};

#define STATE_NONE                                              \
	{                                                       \
		.lock_fd = -1, .workers_fd = -1, .clock_fd = -1 \
	}

/* That what dir has of a state are files that can be read without waiting.  0 or -1. */
int state_check(const char *dir, struct gv_error *e);
/*
 * Makes (or finds) the directory and takes its lock.  Exits 75 when another has it.
 * Until state_close files that are made are their owner's alone.
 */
int state_open(struct state *s, const struct settings *o, struct gv_error *e);
/* Whether a gv-run has it now. */
bool state_is_alive(const struct state *s);
/* A path in it; the caller frees. */
char *state_path(const struct state *s, const char *name);
bool state_has(const struct state *s, const char *name);
/* Waits until workers of an earlier gv-run have left, or a signal.  0, or -1 with *e set. */
int state_wait_workers(const struct state *s, struct gv_error *e);
/* Finds s->directory, or keeps it for later.  0 or -1. */
int state_directory(struct state *s, struct gv_error *e);
/* The working directory of a job; the caller frees. */
char *state_directory_of(const struct state *s, const struct gv_job *job);
/* done: nothing will go on, a temporary directory is removed. */
void state_close(struct state *s, bool done);

#endif
