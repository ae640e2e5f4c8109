/*
 * The answers of a policy in a file, so that a simulation that was ended can go on: the
 * policy is what takes long, all else is done again and gives the same.  Whatever moment
 * it was killed at: an answer counts once it is whole.
 */
#ifndef JOURNAL_H
#define JOURNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "sched/asking/reply.h"

/* What it is a journal of, in hexadecimal digits. */
enum { JOURNAL_KEY_LEN = 64 };

struct journal {
	const char *path; /* NULL = there is none */
	FILE *file;
	bool reading;  /* there may be answers that were given before */
	uint64_t line; /* read last */
	size_t n;      /* answers taken from it */
};

/*
 * Opens it, or makes it; nobody else may have it open.  An existing one must be of the
 * same key.  0, or -1 with *e set.
 */
int journal_open(struct journal *j, const char *path, const char key[JOURNAL_KEY_LEN + 1],
    struct gv_error *e);
void journal_close(struct journal *j); /* also of a zeroed one */

/*
 * The answer at that time, of before, about so many jobs and types: 1; 0: there is none that
 * is whole, journal_add must follow; -1: *e is set.
 */
int journal_next(struct journal *j, double time_s, size_t n_jobs, size_t n_types,
    struct gv_reply *reply, struct gv_error *e);
/* One more answer.  0 or -1. */
int journal_add(
    struct journal *j, double time_s, const struct gv_reply *reply, struct gv_error *e);

#endif
