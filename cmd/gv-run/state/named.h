/* The policy that a table names, with its options: the gv-alloc that is asked again. */
#ifndef NAMED_H
#define NAMED_H

#include <stdbool.h>

#include "base/err.h"
#include "state.h"

/* How to ask again. */
struct named {
	char *command; /* for sh -c, for free(); NULL = it cannot be asked */
	bool pairs;    /* it may let any two jobs share GPUs */
};

/*
 * Makes the command for words that gv-alloc writes into the column policy.  Where an
 * option names something that cannot be read again, such as standard input, a warning
 * says so and there is no command.  0, or -1 with *e set: unknown options.
 */
int named_command(
    struct named *n, const struct state *state, const char *words, struct gv_error *e);

#endif
