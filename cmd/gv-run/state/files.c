#include "files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fileio.h"
#include "base/mem.h"
#include "base/strbuf.h"

enum { LONGEST_NAME = 200 };

/* A job's id as the name of a file: other bytes than letters, digits, - _ . become %XX. */
static void
add_name(struct gv_strbuf *b, struct gv_cell id)
{
	size_t i;

	for (i = 0; i < id.len; i++) {
		unsigned char c = (unsigned char)id.s[i];

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		    (c >= '0' && c <= '9') || c == '-' || c == '_' || (c == '.' && i > 0))
			gv_strbuf_char(b, (char)c);
		else
			gv_strbuf_fmt(b, "%%%02X", c);
	}
}

char *
files_progress(const char *dir, struct gv_cell id)
{
	struct gv_strbuf path = {0};

	gv_strbuf_fmt(&path, "%s/jobs/", dir);
	add_name(&path, id);
	gv_strbuf_str(&path, "/progress");
	return path.s;
}

/* DIR/NAME, and end behind it. */
static char *
path_of(const char *dir, const char *name, const char *end)
{
	struct gv_strbuf path = {0};

	gv_strbuf_fmt(&path, "%s/%s%s", dir, name, end);
	return path.s;
}

/* That it is none that is waited for when it is opened. */
static int
check_file(const char *path, struct gv_error *e)
{
	struct stat st;

	if (stat(path, &st) == 0 && S_ISFIFO(st.st_mode))
		return gv_error_set(e, "%s: is a pipe", path);
	return 0;
}

int
files_name(
    struct files *files, const struct state *s, struct gv_cell id, struct gv_error *e)
{
	struct gv_strbuf name = {0}, dir = {0};
	char q[GV_QUOTE_LEN];
	int rc;

	*files = (struct files){0};
	add_name(&name, id);
	if (name.len > LONGEST_NAME) {
		gv_strbuf_free(&name);
		return gv_error_set(
		    e, "job %s: its name is too long", gv_quote(q, id.s, id.len));
	}
	gv_strbuf_fmt(&dir, "%s/jobs/%s", s->dir, name.s);
	files->checkpoint_dir = path_of(dir.s, "checkpoint", "");
	files->progress = path_of(dir.s, "progress", "");
	files->log = s->o->log_dir != NULL ? path_of(s->o->log_dir, name.s, ".log")
					   : path_of(dir.s, "log", "");
	rc = check_file(files->log, e);
	gv_strbuf_free(&dir);
	gv_strbuf_free(&name);
	return rc;
}

/* A file of a job exists, for its owner, before workers with another mask write it. */
static int
make_file(const char *path, struct gv_error *e)
{
	int fd;

	if (access(path, F_OK) == 0)
		return check_file(path, e);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd == -1)
		return gv_error_sys(e, "%s: cannot open", path);
	close(fd);
	return 0;
}

int
files_make(const struct files *files, struct gv_error *e)
{
	struct gv_error ignored = {0};

	if (gv_mkdirs(files->checkpoint_dir, e) != 0 || make_file(files->log, e) != 0)
		return -1;
	(void)!make_file(
	    files->progress, &ignored); /* whoever reads it says what is wrong */
	return 0;
}

void
files_free(struct files *files)
{
	free(files->checkpoint_dir);
	free(files->progress);
	free(files->log);
	*files = (struct files){0};
}
