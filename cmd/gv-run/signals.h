/* Signals that end the run, and what wakes its loop. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <stdbool.h>

/* Catches them from now on. */
void signals_catch(void);
/* The one that came last and ends the run, 0 = none; and whether more than one came. */
int signals_last(void);
bool signals_repeated(void);
/* Readable once a signal, SIGCHLD included, has come since signals_clear. */
int signals_fd(void);
void signals_clear(void);

#endif
