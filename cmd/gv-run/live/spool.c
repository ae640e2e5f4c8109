#include "spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"

enum { LARGEST = 1 << 28 };

/* ---- the directory ---- */

/* Whether only its owner can write to it. */
static bool
is_private(const struct stat *st)
{
	return (st->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* The directory, and whose it and the state must be.  A descriptor, or -1 with *e set. */
static int
open_spool(const char *dir, const char *name, struct stat *st, struct gv_error *e)
{
	int state = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat of_state;
	int fd = state == -1 ? -1
			     : openat(state, name,
				   O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd == -1 || fstat(fd, st) != 0 || fstat(state, &of_state) != 0) {
		gv_error_sys(e, "%s/%s: cannot open", dir, name);
		if (fd != -1)
			close(fd);
		fd = -1;
	} else if (st->st_uid != of_state.st_uid || !is_private(st)) {
		gv_error_set(e,
		    "%s/%s: is refused: others than the owner of the state can write to "
		    "it",
		    dir, name);
		close(fd);
		fd = -1;
	}
	if (state != -1)
		close(state);
	return fd;
}

/* ---- entering ---- */

static int
write_all(int fd, const char *s, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, s, len);

		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		s += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Under a name that is no request's; the state's owner's, also where root enters it. */
static int
write_new(int dir, const char *name, const struct stat *of, const char *s, size_t len)
{
	int fd =
	    openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	bool good = fd != -1;

	if (good && geteuid() == 0 && of->st_uid != 0)
		good = fchown(fd, of->st_uid, of->st_gid) == 0;
	good = good && write_all(fd, s, len) == 0 && fsync(fd) == 0;
	if (fd != -1)
		good = close(fd) == 0 && good;
	return good ? 0 : -1;
}

int
spool_put(const char *dir, const char *name, const char *s, size_t len,
    char id[SPOOL_ID_LEN], struct gv_error *e)
{
	struct gv_strbuf path = {0}, fresh = {0};
	char own[SPOOL_ID_LEN];
	struct timespec now;
	struct stat st;
	int fd = -1, rc = -1;

	if (id == NULL)
		id = own;
	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(id, SPOOL_ID_LEN, "%012lld%09ld.%ld", (long long)now.tv_sec, now.tv_nsec,
	    (long)getpid());
	gv_strbuf_fmt(&path, "%s/%s", dir, name);
	gv_strbuf_fmt(&fresh, ".%s.new", id);
	umask(077);
	if (mkdir(path.s, 0700) != 0 && errno != EEXIST)
		gv_error_sys(e, "%s: cannot make", path.s);
	else
		fd = open_spool(dir, name, &st, e);
	if (fd != -1 && (write_new(fd, fresh.s, &st, s, len) != 0 ||
			    renameat(fd, fresh.s, fd, id) != 0 || fsync(fd) != 0)) {
		gv_error_sys(e, "%s: cannot write", path.s);
		(void)unlinkat(fd, fresh.s, 0);
	} else if (fd != -1) {
		rc = 0;
	}
	if (fd != -1)
		close(fd);
	gv_strbuf_free(&fresh);
	gv_strbuf_free(&path);
	return rc;
}

/* ---- taking ---- */

static bool
is_entry(const char *name)
{
	return name[0] != '.' && name[strspn(name, "0123456789.")] == '\0';
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* NULL: there is no such directory. */
static DIR *
open_list(const char *dir, const char *name)
{
	struct gv_strbuf path = {0};
	DIR *d;

	gv_strbuf_fmt(&path, "%s/%s", dir, name);
	d = opendir(path.s);
	gv_strbuf_free(&path);
	return d;
}

char **
spool_list(const char *dir, const char *name, size_t *n)
{
	const struct dirent *entry;
	char **id = NULL;
	size_t cap = 0;
	DIR *d = open_list(dir, name);

	*n = 0;
	while (d != NULL && (entry = readdir(d)) != NULL) {
		if (!is_entry(entry->d_name))
			continue;
		id = gv_xgrow(id, &cap, *n + 1, sizeof(*id));
		id[(*n)++] = gv_xstrdup(entry->d_name);
	}
	if (d != NULL)
		closedir(d);
	if (id != NULL && *n > 1)
		qsort(id, *n, sizeof(*id), by_name);
	return id;
}

static size_t
count(const char *dir, const char *name, bool refused)
{
	static const char end[] = ".refused";
	const struct dirent *entry;
	size_t n = 0;
	DIR *d = open_list(dir, name);

	while (d != NULL && (entry = readdir(d)) != NULL) {
		size_t len = strlen(entry->d_name);

		n += refused ? len > strlen(end) &&
				   strcmp(entry->d_name + len - strlen(end), end) == 0
			     : is_entry(entry->d_name);
	}
	if (d != NULL)
		closedir(d);
	return n;
}

size_t
spool_count(const char *dir, const char *name)
{
	return count(dir, name, false);
}

size_t
spool_refused(const char *dir, const char *name)
{
	return count(dir, name, true);
}

static int
read_all(int fd, char **s, size_t *len, size_t size)
{
	ssize_t n = 1;

	*s = gv_xcalloc(size + 1, 1);
	for (*len = 0; *len < size && n > 0;) {
		n = read(fd, *s + *len, size - *len);
		if (n == -1 && errno == EINTR)
			n = 1;
		else if (n > 0)
			*len += (size_t)n;
	}
	if (n >= 0)
		return 0;
	free(*s);
	return -1;
}

/* Why a file is none that the owner of the state can have entered; NULL = it is one. */
static const char *
odd(const struct stat *st, const struct stat *of)
{
	if (!S_ISREG(st->st_mode))
		return "no regular file";
	if (st->st_uid != of->st_uid && st->st_uid != 0)
		return "another user's";
	if (!is_private(st))
		return "others can write to it";
	if (st->st_nlink != 1)
		return "it has several names";
	return st->st_size > LARGEST ? "too large" : NULL;
}

int
spool_read(const char *dir, const char *name, const char *id, char **s, size_t *len,
    struct gv_error *e)
{
	struct stat of, st;
	int at = open_spool(dir, name, &of, e);
	const char *why = NULL;
	int fd, rc = -1;

	if (at == -1)
		return -1;
	fd = openat(at, id, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1 && errno == ELOOP)
		why = "a link";
	else if (fd == -1 || fstat(fd, &st) != 0)
		gv_error_sys(e, "%s/%s/%s: cannot open", dir, name, id);
	else if ((why = odd(&st, &of)) == NULL) {
		rc = read_all(fd, s, len, (size_t)st.st_size);
		if (rc != 0)
			gv_error_sys(e, "%s/%s/%s: cannot read", dir, name, id);
	}
	if (why != NULL)
		gv_error_set(e, "%s/%s/%s: is refused: %s", dir, name, id, why);
	if (fd != -1)
		close(fd);
	close(at);
	return rc;
}

int
spool_drop(const char *dir, const char *name, const char *id)
{
	struct gv_strbuf path = {0};
	bool gone;

	gv_strbuf_fmt(&path, "%s/%s/%s", dir, name, id);
	gone = unlink(path.s) == 0 || errno == ENOENT;
	gv_strbuf_free(&path);
	return gone ? 0 : -1;
}
