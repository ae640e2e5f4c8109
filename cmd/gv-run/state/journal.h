/* The journal: events, durably, each line with its number and a checksum. */
#ifndef JOURNAL_H
#define JOURNAL_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/fileio.h"
#include "base/strbuf.h"
#include "gv-run/core/jobs.h"
#include "lines.h"
#include "table/tab.h"

struct journal {
	const char *dir;          /* of the state */
	int fd;                   /* DIR/events.csv, -1 = none */
	off_t size;               /* bytes of it, on disk */
	uint32_t rows;            /* the number of the last one */
	bool pairs;               /* events have the column with_job_id */
	bool broken;              /* it cannot be written */
	struct gv_strbuf pending; /* rows that are not on disk yet */
	struct gv_out *out;       /* formats a row, */
	struct gv_tabw w;
	struct gv_strbuf row; /* here */
	struct gv_strbuf gpus;
};

/*
 * Opens the journal of the state in dir, whose lines are whole and sealed;
 * begins one that is empty.  pairs: events have the column with_job_id.  0 or
 * -1.
 */
int journal_open(struct journal *l, const char *dir, bool pairs, struct gv_error *e);
/* There are no such GPUs any more. */
void journal_no_pool(
    struct journal *l, const struct gv_life *life, const char *type, const char *node);
/* A submission is taken, one of that id. */
void journal_submission(struct journal *l, const struct gv_life *life, const char *id);
void journal_row(
    struct journal *l, const struct jobs *jobs, const struct gv_life_row *row);
/* Makes rows durable.  Sets broken when that fails. */
void journal_commit(struct journal *l);
void journal_close(struct journal *l);

/*
 * The length of the header at the beginning of a journal's text, 0 = it begins
 * with none (of this program); *pairs: it has the column with_job_id, *form: what
 * lines end with.  journal_header: the header itself, with its line feed,
 * appended to b.
 */
size_t journal_find_header(const char *s, size_t len, bool *pairs, enum lines_form *form);
void journal_header(struct gv_strbuf *b, bool pairs, enum lines_form form);

/*
 * Writes a journal anew, sealed, as the file of that path: 0, or -1 with *e
 * set.  It is what a journal becomes that is of an earlier build, has no column
 * with_job_id or has damage.
 */
int journal_rewrite(
    const char *path, const struct gv_events *events, bool pairs, struct gv_error *e);

/*
 * Says of the pools that the journal in dir tells of last, and the cluster does not have any
 * more, that they have no GPUs.  0, or -1 with *e set.  Cost: the journal is read.
 */
int journal_gone_pools(
    struct journal *l, const struct jobs *jobs, const char *dir, struct gv_error *e);

#endif
