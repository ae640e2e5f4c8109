/*
 * locker HOW FILE...: locks the files until it is killed; HOW is "flock" (also of
 * directories), "record" (of the whole file, as lockf) or "ours" (base/lock.h, of the open
 * file).  Says "locked" once they are; who has one of them is waited for, up to 10 s.
 */
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/lock.h"

static int
take(const char *how, int fd)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	if (strcmp(how, "flock") == 0)
		return flock(fd, LOCK_EX | LOCK_NB);
	if (strcmp(how, "record") == 0)
		return fcntl(fd, F_SETLK, &whole);
	return gv_lock_take(fd, GV_LOCK_OPEN_FILE, NULL) == GV_LOCK_TAKEN ? 0 : -1;
}

int
main(int argc, char **argv)
{
	const struct timespec moment = {.tv_nsec = 20000000};
	int tries = 500;
	int i;

	for (i = 2; i < argc; i++) {
		int fd = open(argv[i], O_RDWR);

		if (fd == -1)
			fd = open(argv[i], O_RDONLY);
		if (fd == -1)
			return 1;
		while (take(argv[1], fd) != 0)
			if (tries-- == 0 || nanosleep(&moment, NULL) != 0)
				return 1;
	}
	puts("locked");
	fflush(stdout);
	for (;;)
		pause();
}
