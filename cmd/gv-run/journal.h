/* Events: to the journal, durably, then to the output. */
#ifndef JOURNAL_H
#define JOURNAL_H

#include <stdbool.h>

#include "base/err.h"
#include "base/fileio.h"
#include "base/strbuf.h"
#include "jobs.h"
#include "table/tab.h"

struct journal {
	const char *dir;     /* of the state */
	struct gv_out *file; /* DIR/events.csv */
	int fd;
	struct gv_tabw file_w;
	bool pairs;         /* events have the column with_job_id */
	struct gv_out *out; /* standard output or -o; NULL once it has failed */
	struct gv_tabw out_w;
	int out_errno; /* of its failure, 0 = none */
	bool out_gone; /* its reader has gone: that is no error of ours */
	bool broken;   /* the journal, or the output, cannot be written */
	bool pending;  /* events not yet on disk */
	struct gv_strbuf gpus;
};

/*
 * Opens the journal of the state in dir; begins both tables.  out: standard output or
 * that of -o, the caller's.  pairs: events have the column with_job_id.  0 or -1.
 */
int journal_open(struct journal *l, const char *dir, struct gv_out *out, bool tsv,
    bool pairs, struct gv_error *e);
void journal_row(
    struct journal *l, const struct jobs *jobs, const struct gv_life_row *row);
/* Makes rows durable and hands them on.  Sets broken or out_gone when that fails. */
void journal_commit(struct journal *l);
/* Nobody reads the output any more. */
void journal_output_gone(struct journal *l);
void journal_close(struct journal *l);

#endif
