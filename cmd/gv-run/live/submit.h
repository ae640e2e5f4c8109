/* The user's side of a submission: jobs for a run, said by another process. */
#ifndef SUBMIT_H
#define SUBMIT_H

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "gv-run/core/settings.h"

/* Where submissions are entered in the state (spool.h). */
extern const char submit_spool[];

/* Adds the ids of jobs that wait in the state dir to be taken. */
void submit_waiting(const char *dir, struct gv_hash *ids, struct gv_arena *arena);

/*
 * Enters the table of settings.input for the run of settings.state.  *slips: what looks
 * like one.  0, or -1 with *e set: no run there, or the table is not good; then nothing is
 * entered.
 */
int submit_send(const struct settings *o, struct gv_error *slips, struct gv_error *e);

#endif
