/*
 * Files that other processes enter into a directory of the state for the run to take:
 * requests and submissions.  Each is entered by rename, so whole, under a name of digits
 * and a point that begins with the time, so that they are taken in order.
 *
 * Who may write to the state may enter them, and nobody else: what is no plain file of
 * the state's owner or root's, can be written by others or has a second name, is refused; no link is
 * followed, nor is the directory itself one.
 */
#ifndef SPOOL_H
#define SPOOL_H

#include <stddef.h>

#include "base/err.h"

/*
 * Enters s[0..len) into DIR/NAME, which is made if need be, durably; the name of it goes to
 * id, if that is not NULL.  0 or -1.
 */
enum { SPOOL_ID_LEN = 64 };
int spool_put(const char *dir, const char *name, const char *s, size_t len,
    char id[SPOOL_ID_LEN], struct gv_error *e);

/* What waits in DIR/NAME, in order; the caller frees each and the list.  NULL: nothing. */
char **spool_list(const char *dir, const char *name, size_t *n);
/* How many wait. */
size_t spool_count(const char *dir, const char *name);
/* How many were refused, NAME.refused in there. */
size_t spool_refused(const char *dir, const char *name);
/* The text of one, for free(); NUL behind it.  0, or -1 with *e set: gone, or refused. */
int spool_read(const char *dir, const char *name, const char *id, char **s, size_t *len,
    struct gv_error *e);
/* Removes it.  0, or -1: it is still there. */
int spool_drop(const char *dir, const char *name, const char *id);

#endif
