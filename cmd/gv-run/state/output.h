/*
 * The events table as its reader gets it: standard output, or the file of -o.
 *
 * Nothing here waits for a reader.  What is handed on is read back from the journal,
 * which has it already, a piece at a time and as the reader takes it; so a reader that
 * does not read costs no memory and stops nothing.
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/fileio.h"
#include "base/nowait.h"
#include "base/strbuf.h"

struct output {
	struct gv_out *file; /* of -o; NULL = standard output */
	bool tsv;
	struct gv_nowait to; /* standard output */
	int journal_fd;
	off_t sent;           /* bytes of the journal that were taken over */
	off_t end;            /* bytes that it has */
	struct gv_strbuf buf; /* of them, formatted, */
	size_t written;       /* and handed on */
	int error;            /* errno of a failure, 0 = none */
	bool gone;            /* the reader has gone */
};

/*
 * Begins with the header of the journal, which is open for reading and has size bytes;
 * its rows so far are not written.  file: of -o, the caller's; NULL = standard output.
 */
void output_open(
    struct output *o, struct gv_out *file, bool tsv, int journal_fd, off_t size);
/* The journal has so many bytes, on disk: hands on what its reader takes now. */
void output_turn(struct output *o, off_t size);
/* Whether the reader has not taken everything yet. */
bool output_lags(const struct output *o);
/* What to poll: its descriptor, -1 = nothing, and for what. */
int output_poll_fd(const struct output *o, short *events);
/* poll said so about it. */
void output_polled(struct output *o, short revents);
void output_close(struct output *o);

#endif
