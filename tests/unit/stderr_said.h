/* What is said on standard error, as a part of an answer. */
#ifndef STDERR_SAID_H
#define STDERR_SAID_H

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fileio.h"
#include "recorded.h"

static int stderr_before;

/* From now on it goes to the file "said". */
static inline void
stderr_listen(void)
{
	int fd = open("said", O_RDWR | O_CREAT | O_TRUNC, 0600);

	fflush(stderr);
	stderr_before = dup(2);
	dup2(fd, 2);
	close(fd);
}

/* It goes where it went before. */
static inline void
stderr_said(struct recorded *r)
{
	struct gv_error e = {0};
	size_t len;
	char *s;

	fflush(stderr);
	dup2(stderr_before, 2);
	close(stderr_before);
	if (gv_file_read("said", &s, &len, 1 << 20, &e) != 0)
		gv_die_error(&e);
	recorded_text(r, s);
	free(s);
}

#endif
