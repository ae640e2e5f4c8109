#define _XOPEN_SOURCE 700
#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fileio.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "gv-run/core/signals.h"
#include "owner.h"

char *
state_path(const struct state *s, const char *name)
{
	struct gv_strbuf b = {0};

	gv_strbuf_fmt(&b, "%s/%s", s->dir, name);
	return b.s;
}

bool
state_has(const struct state *s, const char *name)
{
	char *path = state_path(s, name);
	bool there = access(path, F_OK) == 0;

	free(path);
	return there;
}

/* ---- the directory and its locks ---- */

static int
open_in(const struct state *s, const char *name, int *fd, struct gv_error *e)
{
	char *path = state_path(s, name);

	*fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (*fd == -1)
		gv_error_sys(e, "%s: cannot open", path);
	free(path);
	return *fd == -1 ? -1 : 0;
}

/* The lock of a process: a keeper, which is a fork, must not hold it for one moment. */
static int
lock(const struct state *s, struct gv_error *e)
{
	pid_t holder;

	switch (gv_lock_take(s->lock_fd, GV_LOCK_PROCESS, &holder)) {
	case GV_LOCK_TAKEN:
		return 0;
	case GV_LOCK_FAILED:
		return gv_error_sys(e, "%s/lock: cannot lock", s->dir);
	case GV_LOCK_FOREIGN:
		gv_warn("%s/lock: locked by process %ld, which is no gv-run", s->dir,
		    (long)holder);
		break;
	case GV_LOCK_HELD:
		if (holder > 0)
			gv_warn("%s: gv-run already runs here, process %ld", s->dir,
			    (long)holder);
		else
			gv_warn("%s: gv-run already runs here", s->dir);
		break;
	}
	exit(GV_EXIT_TEMPFAIL);
}

bool
state_is_alive(const struct state *s)
{
	char *path = state_path(s, "lock");
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool alive = fd != -1 && gv_lock_look(fd) == GV_LOCK_HELD;

	if (fd != -1)
		close(fd);
	free(path);
	return alive;
}

static int
make_temporary(struct state *s, struct gv_error *e)
{
	const char *tmp = getenv("TMPDIR");
	struct gv_strbuf b = {0};

	if (tmp == NULL || tmp[0] == '\0')
		tmp = "/tmp";
	gv_strbuf_fmt(&b, "%s/gv-run.XXXXXX", tmp);
	if (mkdtemp(b.s) == NULL) {
		gv_error_sys(e, "%s: cannot make a directory in it", tmp);
		gv_strbuf_free(&b);
		return -1;
	}
	s->temporary = true;
	s->dir = realpath(b.s, NULL);
	gv_strbuf_free(&b);
	return s->dir != NULL ? 0 : gv_error_sys(e, "%s: cannot open", tmp);
}

static int
find_named(struct state *s, struct gv_error *e)
{
	const char *dir = s->o->state;

	if (!s->o->resume && gv_mkdirs(dir, e) != 0)
		return -1;
	s->dir = realpath(dir, NULL);
	if (s->dir == NULL && s->o->resume && errno == ENOENT)
		return gv_error_set(e, "%s: holds no run to resume", dir);
	if (s->dir == NULL)
		return gv_error_sys(e, "%s: cannot open", dir);
	if (s->o->resume && !state_has(s, "jobs.csv"))
		return gv_error_set(e, "%s: holds no run to resume", dir);
	return 0;
}

int
state_check(const char *dir, struct gv_error *e)
{
	static const char *const name[] = {"lock", "workers.lock", "clock", "directory",
	    "events.csv", "jobs.csv", "cluster.csv", "policy", "policy.in.csv",
	    "policy.out.csv"};
	struct gv_strbuf path = {0};
	struct stat st;
	size_t i;
	int rc = 0;

	for (i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
		gv_strbuf_clear(&path);
		gv_strbuf_fmt(&path, "%s/%s", dir, name[i]);
		if (stat(path.s, &st) == 0 && !S_ISREG(st.st_mode))
			rc = gv_error_set(e, "%s: not a regular file", path.s);
	}
	gv_strbuf_free(&path);
	return rc;
}

int
state_open(struct state *s, const struct settings *o, struct gv_error *e)
{
	s->o = o;
	s->user_mask = umask(077);
	if ((s->o->state == NULL ? make_temporary(s, e) : find_named(s, e)) != 0)
		return -1;
	if (owner_take(s->dir, e) != 0)
		return -1;
	if (open_in(s, "lock", &s->lock_fd, e) != 0 || lock(s, e) != 0)
		return -1;
	if (open_in(s, "workers.lock", &s->workers_fd, e) != 0)
		return -1;
	return open_in(s, "clock", &s->clock_fd, e);
}

/* The time is up. */
static GV_NORETURN void
give_up_workers(const struct state *s, enum gv_lock_state lock, pid_t holder)
{
	if (lock == GV_LOCK_FOREIGN)
		gv_warn(
		    "%s/workers.lock: locked by process %ld, which is none of gv-run's",
		    s->dir, (long)holder);
	else
		gv_warn("%s: workers of the gv-run before are still there", s->dir);
	exit(GV_EXIT_TEMPFAIL);
}

int
state_wait_workers(const struct state *s, struct gv_error *e)
{
	double until_s = gv_clock_s() + s->o->grace_s + 2;
	enum gv_lock_state lock = GV_LOCK_HELD;
	bool told = false;
	pid_t holder;

	while (signals_first() == 0) {
		lock = gv_lock_take(s->workers_fd, GV_LOCK_OPEN_FILE, &holder);
		if (lock == GV_LOCK_TAKEN)
			return 0;
		if (lock == GV_LOCK_FAILED && errno != EINTR)
			return gv_error_sys(e, "%s/workers.lock: cannot lock", s->dir);
		if (!told && !s->o->quiet)
			gv_warn("waiting for workers of the gv-run before to leave");
		told = true;
		if (gv_clock_s() > until_s)
			give_up_workers(s, lock, holder);
		gv_sleep_s(.02);
	}
	return 0;
}

void
state_close(struct state *s, bool done)
{
	struct gv_error e = {0};

	if (s->dir == NULL)
		return;
	umask(s->user_mask);
	if (s->temporary && done && gv_remove_tree(s->dir, &e) != 0)
		gv_warn_error(&e);
	if (s->temporary && !done && !s->o->quiet)
		gv_warn("the state is kept: go on with gv-run --resume -s %s", s->dir);
	close(s->lock_fd);
	close(s->workers_fd);
	close(s->clock_fd);
	free(s->directory);
	free(s->dir);
	s->directory = s->dir = NULL;
}

/* ---- where jobs run ---- */

/*
 * Paths in commands are meant from where the table was given, so a run that is
 * resumed from elsewhere (cron) goes on there.
 */
int
state_directory(struct state *s, struct gv_error *e)
{
	char *path = state_path(s, "directory");
	char here[4096];
	size_t len;
	int rc = 0;

	if (s->o->resume && access(path, F_OK) == 0)
		rc = gv_file_read(path, &s->directory, &len, sizeof(here), e);
	else if (getcwd(here, sizeof(here)) == NULL)
		rc = gv_error_sys(e, "cannot find the working directory");
	else
		rc = gv_file_write(path, here, strlen(here), e);
	if (rc == 0 && s->directory == NULL)
		s->directory = gv_xstrdup(here);
	free(path);
	return rc;
}

char *
state_directory_of(const struct state *s, const struct gv_job *job)
{
	const char *own = job->working_directory.s;
	struct gv_strbuf b = {0};

	if (job->working_directory.len == 0)
		return gv_xstrdup(s->directory);
	if (own[0] == '/')
		return gv_xstrdup(own);
	gv_strbuf_fmt(&b, "%s/%s", s->directory, own);
	return b.s;
}
