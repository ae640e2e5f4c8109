/* What targets share that read files: bytes as a file. */
#ifndef FUZZ_FILE_H
#define FUZZ_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "holds.h"

/* The path of a file with these bytes, until the next call for that one of two files. */
static inline const char *
as_file(size_t which, const void *s, size_t len)
{
	static FILE *file[2];
	static char path[2][32];

	if (file[which] == NULL) {
		file[which] = tmpfile();
		HOLDS(file[which] != NULL);
		snprintf(
		    path[which], sizeof(path[which]), "/dev/fd/%d", fileno(file[which]));
	}
	HOLDS(ftruncate(fileno(file[which]), 0) == 0);
	HOLDS(pwrite(fileno(file[which]), s, len, 0) == (ssize_t)len);
	return path[which];
}

#endif
