#include "launch/slurm/sweep.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/strbuf.h"

/* Killed processes that are still there are given up after so long, s. */
static const double patience_s = 10;

/* Reads /proc/PID/NAME whole.  0 or -1. */
static int
read_proc(struct gv_strbuf *b, pid_t pid, const char *name)
{
	char path[64], buf[4096];
	ssize_t n;
	int fd;

	gv_strbuf_clear(b);
	snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return -1;
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		gv_strbuf_add(b, buf, (size_t)n);
	close(fd);
	return b->len > 0 ? 0 : -1;
}

static bool
is_of(struct gv_strbuf *b, pid_t pid, const char *dir)
{
	static const char name[] = "GV_LAUNCH_DIR=";
	size_t len = strlen(dir), own = sizeof(name) - 1, at;

	if (read_proc(b, pid, "environ") != 0)
		return false;
	for (at = 0; at < b->len; at += strlen(b->s + at) + 1) {
		const char *s = b->s + at;

		if (strncmp(s, name, own) == 0 && strncmp(s + own, dir, len) == 0 &&
		    (s[own + len] == '\0' || dir[len - 1] == '/'))
			return true;
	}
	return false;
}

/* Finds them, and kills them if it shall; how many, and whether a keeper is among them. */
static size_t
look(const char *dir, bool kill_them, bool *kept)
{
	DIR *d = opendir("/proc");
	const struct dirent *entry;
	struct gv_strbuf b = {0};
	size_t n = 0;

	*kept = false;
	while (d != NULL && (entry = readdir(d)) != NULL) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid <= 0 || pid == getpid() || !is_of(&b, pid, dir))
			continue;
		n++;
		if (kill_them)
			kill(pid, SIGKILL);
		if (read_proc(&b, pid, "comm") == 0)
			*kept |= strncmp(b.s, "gv-keeper", 9) == 0;
	}
	if (d != NULL)
		closedir(d);
	gv_strbuf_free(&b);
	return n;
}

int
gv_slurm_sweep(const char *dir, double grace_s)
{
	double now_s = gv_clock_s();
	double kill_s = now_s + grace_s, until_s;
	bool kept = true;

	while (look(dir, false, &kept) > 0 && kept && (now_s = gv_clock_s()) < kill_s)
		gv_sleep_s(.05);
	for (until_s = now_s + patience_s; look(dir, true, &kept) > 0;) {
		if (gv_clock_s() > until_s)
			return -1;
		gv_sleep_s(.02);
	}
	return 0;
}
