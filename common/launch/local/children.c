#include "launch/local/children.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * What /proc/PID/stat says behind the name, which may hold anything: " S PARENT ...".
 * buf or NULL.
 */
static const char *
stat_of(pid_t pid, char *buf, size_t size)
{
	char path[64];
	const char *p;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return NULL;
	n = read(fd, buf, size - 1);
	close(fd);
	if (n <= 0)
		return NULL;
	buf[n] = '\0';
	p = strrchr(buf, ')');
	return p != NULL && strlen(p) >= 5 ? p + 1 : NULL;
}

bool
gv_child_is_stopped(pid_t pid)
{
	siginfo_t info = {0};

	/* it stays to be waited for, so that the next look finds it, too */
	return waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid == pid;
}

static long
each_of_all(void (*visit)(void *ctx, pid_t pid), void *ctx)
{
	DIR *d = opendir("/proc");
	const struct dirent *entry;
	pid_t self = getpid();
	long n = 0;

	if (d == NULL)
		return -1;
	while ((entry = readdir(d)) != NULL) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
		char buf[512];
		const char *s = pid > 0 ? stat_of(pid, buf, sizeof(buf)) : NULL;

		if (s == NULL || (pid_t)strtol(s + 3, NULL, 10) != self)
			continue;
		n++;
		visit(ctx, pid);
	}
	closedir(d);
	return n;
}

/* The children of whom last was asked; opened once, since keepers look often. */
static struct {
	pid_t self; /* 0 = none */
	int fd;
} listed;

static int
list_of_children(void)
{
	char path[64];
	pid_t self = getpid();

	if (listed.self == self)
		return listed.fd;
	snprintf(path, sizeof(path), "/proc/self/task/%ld/children", (long)self);
	listed.fd = open(path, O_RDONLY | O_CLOEXEC);
	listed.self = self;
	return listed.fd;
}

long
gv_children_each(void (*visit)(void *ctx, pid_t pid), void *ctx)
{
	char buf[1024];
	long n = 0, pid = 0;
	ssize_t got;
	off_t at;
	int fd = list_of_children();

	if (fd == -1)
		return each_of_all(visit, ctx);
	for (at = 0; (got = pread(fd, buf, sizeof(buf), at)) > 0; at += got) {
		ssize_t i;

		for (i = 0; i < got; i++) {
			if (buf[i] >= '0' && buf[i] <= '9') {
				pid = 10 * pid + (buf[i] - '0');
			} else if (pid > 0) {
				visit(ctx, (pid_t)pid);
				n++;
				pid = 0;
			}
		}
	}
	return n;
}
