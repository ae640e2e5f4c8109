/* The first rounds on a virtual clock: what would be started, and nothing is. */
#ifndef DRYRUN_H
#define DRYRUN_H

#include <stdbool.h>

#include "base/fileio.h"
#include "gv-run/core/jobs.h"

/*
 * Plays rounds of round_s, in which jobs are as fast as their rates say, and writes them to out.
 * False: a job would be dropped, which is said.
 */
bool dryrun(struct jobs *jobs, double round_s, struct gv_out *out, bool tsv);

#endif
