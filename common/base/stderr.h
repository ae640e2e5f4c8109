/*
 * Standard error: written at once, and for a process that must not wait for its reader
 * kept for a while.
 */
#ifndef GV_BASE_STDERR_H
#define GV_BASE_STDERR_H

#include <stdbool.h>
#include <stddef.h>

/*
 * From now on writing waits for nobody: what a full pipe or a stopped terminal does not
 * take is kept, up to 64 KiB, and what is more is counted, which is said when there is
 * room again, by the program's name.
 */
void gv_stderr_nowait(const char *name);

/* Lines, in one write where they are taken at once. */
void gv_stderr_write(const char *s, size_t n);
/* What is worth nothing later: not kept, and not written behind what is. */
void gv_stderr_write_now(const char *s, size_t n);

/* Hands on what is kept, as far as it is taken. */
void gv_stderr_turn(void);
/* Whether something is kept. */
bool gv_stderr_lags(void);
/* Before the end: gives the reader a moment for it. */
void gv_stderr_last(void);

#endif
