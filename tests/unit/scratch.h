/*
 * A folder of a test's own that is the working directory for a while, so that files have short
 * names, which are the same in every run; in memory, where that has folders.
 */
#ifndef SCRATCH_H
#define SCRATCH_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct {
	int back;
	char path[64];
} scratch;

static inline void
scratch_enter(void)
{
	bool made;

	snprintf(scratch.path, sizeof(scratch.path), "/dev/shm/gv-scratch-XXXXXX");
	scratch.back = open(".", O_RDONLY | O_DIRECTORY);
	made = mkdtemp(scratch.path) != NULL;
	if (!made) {
		snprintf(scratch.path, sizeof(scratch.path), "/tmp/gv-scratch-XXXXXX");
		made = mkdtemp(scratch.path) != NULL;
	}
	if (scratch.back < 0 || !made || chdir(scratch.path) != 0) {
		perror(scratch.path);
		exit(1);
	}
}

/* A file with these bytes. */
static inline void
scratch_file(const char *name, const char *s, size_t len)
{
	FILE *f = fopen(name, "w");

	if (f == NULL || fwrite(s, 1, len, f) != len || fclose(f) != 0) {
		perror(name);
		exit(1);
	}
}

/* Back to where it was; name is the list of files that were made, NULL behind the last. */
static inline void
scratch_leave(const char *const *name)
{
	for (; *name != NULL; name++)
		unlink(*name);
	if (fchdir(scratch.back) != 0 || rmdir(scratch.path) != 0)
		perror(scratch.path);
	close(scratch.back);
}

#endif
