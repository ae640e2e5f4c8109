/* Whose a state is: what others put there is not run, and not written through. */
#ifndef OWNER_H
#define OWNER_H

#include "base/err.h"

/*
 * Sees that dir, which exists, and everything right in it (links themselves, not where they
 * lead) are this user's or root's; dir is closed to others before its names are looked at,
 * and nothing is changed of one that is another's.  0, or -1 with *e set, a line for each that
 * is not.  What is deeper lies in directories that are looked at here.  Costs a look at each
 * name of dir.
 */
int owner_take(const char *dir, struct gv_error *e);

#endif
