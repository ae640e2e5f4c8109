/* Random bytes that nobody can guess: for keys and nonces.  Draws that repeat: rng.h. */
#ifndef GV_BASE_ENTROPY_H
#define GV_BASE_ENTROPY_H

#include <stddef.h>

/* Fills buf[0..n) from the system's source.  0, or -1 with errno set. */
int gv_entropy(void *buf, size_t n);

#endif
