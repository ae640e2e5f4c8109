/* Small files by which the parts of a launch tell each other what they have come to. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fileio.h"
#include "launch/slurm/core.h"

char *
gv_slurm_path(const char *dir, const char *name, const char *suffix)
{
	struct gv_strbuf b = {0};

	gv_strbuf_fmt(&b, "%s/%s", dir, name);
	if (suffix != NULL)
		gv_strbuf_fmt(&b, ".%s", suffix);
	return b.s;
}

bool
gv_slurm_file_there(const char *dir, const char *name, const char *suffix)
{
	char *path = gv_slurm_path(dir, name, suffix);
	bool there = access(path, F_OK) == 0;

	free(path);
	return there;
}

int
gv_slurm_file_put(const char *dir, const char *name, const char *suffix, const char *text)
{
	/* not made durable: who reads it needs it only while its writer lives */
	char *path = gv_slurm_path(dir, name, suffix);
	char *fresh = gv_slurm_path(dir, "new", suffix != NULL ? suffix : name);
	size_t len = strlen(text);
	int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int rc = -1;

	if (fd >= 0) {
		rc = write(fd, text, len) == (ssize_t)len ? 0 : -1;
		if (close(fd) != 0 || rc != 0 || rename(fresh, path) != 0)
			rc = -1;
	}
	free(fresh);
	free(path);
	return rc;
}

char *
gv_slurm_file_get(const char *dir, const char *name, const char *suffix)
{
	char *path = gv_slurm_path(dir, name, suffix);
	struct gv_error e = {0};
	char *s = NULL;
	size_t len;

	if (gv_file_read(path, &s, &len, 4096, &e) != 0)
		s = NULL;
	free(path);
	return s;
}
