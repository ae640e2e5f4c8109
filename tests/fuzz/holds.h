#ifndef FUZZ_HOLDS_H
#define FUZZ_HOLDS_H

#include <stdio.h>
#include <stdlib.h>

/* Says what does not hold, then stops in a way that fuzzers and tests see. */
#define HOLDS(cond)                                                             \
	do {                                                                    \
		if (!(cond)) {                                                  \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, \
			    __LINE__, #cond);                                   \
			abort();                                                \
		}                                                               \
	} while (0)

#endif
