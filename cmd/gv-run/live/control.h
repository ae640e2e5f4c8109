/*
 * Live control: what users want of a run's jobs, said by another process, without a
 * socket.  A request is a file in DIR/control of the state, a table of what and which
 * job (CSV), entered by rename, so whole; names begin with the time, so that they are
 * taken in order.  The run looks there now and then, does what they say, and removes a
 * request when the journal has all that came of it.  What is there when a run ends or
 * is killed is done when it goes on; doing it twice changes nothing.
 */
#ifndef CONTROL_H
#define CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "gv-run/core/jobs.h"
#include "gv-run/core/settings.h"

/* Where requests are entered in the state (spool.h). */
extern const char control_spool[];
/* Of a kind: its name in requests, which is that of the option. */
extern const char *const control_name[];

/*
 * The user's side: enters a request for jobs of the run in dir.  0, or -1 with *e set: no run
 * there, or it does not know a job (then nothing is entered).
 */
int control_send(const char *dir, enum control_kind kind, char *const *job, size_t n,
    struct gv_error *e);

/* The run's side: requests that were taken and may not be in the journal yet. */
struct control {
	char *dir; /* the state */
	size_t n;
	size_t cap;
	struct control_request *request;
};

void control_open(struct control *c, const char *state_dir);
void control_close(struct control *c); /* also of a zeroed one */
/* Does what new requests say. */
void control_take(struct control *c, struct jobs *jobs);
/* The journal has all rows: removes what is done. */
void control_written(struct control *c, const struct jobs *jobs);

#endif
