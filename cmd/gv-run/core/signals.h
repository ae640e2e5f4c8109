/* Signals that end the run, and what wakes its loop. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <stdbool.h>

/* Catches them from now on; with hup_asks SIGHUP ends nothing (signals_hup). */
void signals_catch(bool hup_asks);
/* Whether SIGHUP came since this was asked last. */
bool signals_hup(void);
/* The first one that ends the run, 0 = none. */
int signals_first(void);
/*
 * Whether another one came since: that kills.  Repeats of the first do not count, for a
 * terminal that closes sends SIGHUP, and so does its shell.
 */
bool signals_another(void);
/* Readable once a signal, SIGCHLD included, has come since signals_clear. */
int signals_fd(void);
void signals_clear(void);

#endif
