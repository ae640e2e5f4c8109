#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/num.h"

enum { LINE = 256 };

static const char magic[] = "gv-sim answers 1";

static int
trouble(const struct journal *j, const char *what, struct gv_error *e)
{
	return gv_error_set(e, "%s %s: %s", what, j->path, strerror(errno));
}

/* A whole line, without its end; false = there is none. */
static bool
read_line(struct journal *j, char line[LINE])
{
	size_t len;

	if (fgets(line, LINE, j->file) == NULL)
		return false;
	len = strlen(line);
	if (len == 0 || line[len - 1] != '\n')
		return false;
	line[len - 1] = '\0';
	j->line++;
	return true;
}

/* Nothing is read any more: what comes is written from there on. */
static int
begin_writing(struct journal *j, long at, struct gv_error *e)
{
	j->reading = false;
	if (fseek(j->file, at, SEEK_SET) != 0 || ftruncate(fileno(j->file), at) != 0)
		return trouble(j, "cannot write", e);
	return 0;
}

static int
begin(struct journal *j, const char *key, struct gv_error *e)
{
	char line[LINE];
	char want[LINE];

	snprintf(want, sizeof(want), "%s %s", magic, key);
	if (!read_line(j, line)) {
		if (ftell(j->file) > (long)strlen(want)) /* no line of ours is so long */
			return gv_error_set(e, "%s is no file of --state", j->path);
		if (begin_writing(j, 0, e) != 0)
			return -1;
		if (fprintf(j->file, "%s\n", want) < 0 || fflush(j->file) != 0)
			return trouble(j, "cannot write", e);
		return 0;
	}
	if (strncmp(line, magic, strlen(magic)) != 0)
		return gv_error_set(e, "%s is no file of --state", j->path);
	if (strcmp(line, want) != 0)
		return gv_error_set(e,
		    "%s is of another simulation: its jobs, cluster, policy or options "
		    "are others",
		    j->path);
	j->reading = true;
	return 0;
}

int
journal_open(struct journal *j, const char *path, const char key[JOURNAL_KEY_LEN + 1],
    struct gv_error *e)
{
	struct stat st;
	int fd;

	*j = (struct journal){.path = path};
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || fstat(fd, &st) != 0 || (j->file = fdopen(fd, "r+")) == NULL) {
		trouble(j, "cannot open", e);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	if (!S_ISREG(st.st_mode))
		return gv_error_set(e, "%s is no file of --state", path);
	if (gv_lock_take(fd, GV_LOCK_PROCESS, NULL) != GV_LOCK_TAKEN)
		return gv_error_set(e, "another gv-sim writes to %s", path);
	return begin(j, key, e);
}

void
journal_close(struct journal *j)
{
	if (j->file != NULL)
		fclose(j->file);
	*j = (struct journal){0};
}

/* Numbers between spaces; whether there are n and no more. */
static bool
read_numbers(const char *line, double *v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		size_t len = strcspn(line, " ");

		if (gv_parse_double(line, len, &v[i]) != 0)
			return false;
		line += len + (line[len] == ' ' && i + 1 < n);
	}
	return *line == '\0';
}

/* A number of something of which there are so many, or -1. */
static bool
is_number(double v, size_t n)
{
	return v >= -1 && v < (double)n && v == (double)(int64_t)v;
}

/* Shares of an answer that was begun; whether it is whole. */
static bool
read_shares(
    struct journal *j, double n, size_t n_jobs, size_t n_types, struct gv_reply *reply)
{
	char line[LINE];
	double v[6];
	uint64_t i;

	for (i = 0; (double)i < n; i++) {
		if (!read_line(j, line) || !read_numbers(line, v, 6) || v[0] < 0 ||
		    v[2] < 0 || !is_number(v[0], n_jobs) || !is_number(v[1], n_jobs) ||
		    !is_number(v[2], n_types))
			return false;
		gv_reply_add(reply, &(struct gv_reply_share){.job = (size_t)v[0],
					.with = (ptrdiff_t)v[1],
					.type = (size_t)v[2],
					.share = v[3],
					.rate = v[4],
					.with_rate = v[5]});
	}
	return read_line(j, line) && strcmp(line, "end") == 0;
}

int
journal_next(struct journal *j, double time_s, size_t n_jobs, size_t n_types,
    struct gv_reply *reply, struct gv_error *e)
{
	char line[LINE];
	double v[2];
	long at;

	if (j->path == NULL || !j->reading)
		return 0;
	at = ftell(j->file);
	if (!read_line(j, line) || !read_numbers(line, v, 2) ||
	    !read_shares(j, v[1], n_jobs, n_types, reply)) {
		reply->n = 0;
		return begin_writing(j, at, e);
	}
	if (v[0] != time_s)
		return gv_error_set(e,
		    "%s:%" PRIu64 ": an answer at %.15g s, but the question is at %.15g "
		    "s: of another version of gv-sim",
		    j->path, j->line, v[0], time_s);
	j->n++;
	return 1;
}

static void
write_number(FILE *f, double v, char end)
{
	char buf[GV_NUM_LEN];
	size_t len = gv_format_double(buf, v);

	fprintf(f, "%.*s%c", (int)len, buf, end);
}

int
journal_add(
    struct journal *j, double time_s, const struct gv_reply *reply, struct gv_error *e)
{
	size_t i;

	if (j->path == NULL)
		return 0;
	write_number(j->file, time_s, ' ');
	fprintf(j->file, "%zu\n", reply->n);
	for (i = 0; i < reply->n; i++) {
		const struct gv_reply_share *x = &reply->share[i];

		fprintf(j->file, "%zu %td %zu ", x->job, x->with, x->type);
		write_number(j->file, x->share, ' ');
		write_number(j->file, x->rate, ' ');
		write_number(j->file, x->with_rate, '\n');
	}
	fprintf(j->file, "end\n");
	if (fflush(j->file) != 0 || ferror(j->file))
		return trouble(j, "cannot write", e);
	return 0;
}
