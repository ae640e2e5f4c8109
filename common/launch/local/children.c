#include "launch/local/children.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
	char buf[512];
	const char *s = stat_of(pid, buf, sizeof(buf));

	return s != NULL && s[1] == 'T';
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

long
gv_children_each(void (*visit)(void *ctx, pid_t pid), void *ctx)
{
	char path[64], buf[1024];
	long n = 0, pid = 0;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%ld/children", (long)getpid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return each_of_all(visit, ctx);
	while ((got = read(fd, buf, sizeof(buf))) > 0) {
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
	close(fd);
	return n;
}
