/* common/base/lock: who keeps whom out, and for how long. */
#define _DEFAULT_SOURCE /* flock */
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/lock.h"

static char path[] = "/tmp/gv-lock.XXXXXX";

enum how { BY_FLOCK, BY_RECORD, BY_FIRST, BY_FROM, BY_PROCESS, BY_OPEN_FILE };

/* Another process that holds a lock until it is ended; its pid. */
static pid_t
another(enum how how)
{
	int up[2];
	char c;
	pid_t pid = pipe(up) == 0 ? fork() : -1;

	if (pid == 0) {
		struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
		int fd = open(path, O_RDWR);
		int rc;

		if (how == BY_FROM) /* where ours begins (base/lock.c), and on */
			whole.l_start = (off_t)0x6776 << 32;
		if (how == BY_FIRST)
			whole.l_len = 1;
		rc = how == BY_FLOCK ? flock(fd, LOCK_EX)
		     : how == BY_RECORD || how == BY_FIRST || how == BY_FROM
			 ? fcntl(fd, F_SETLK, &whole)
			 : (int)gv_lock_take(fd,
			       how == BY_PROCESS ? GV_LOCK_PROCESS : GV_LOCK_OPEN_FILE,
			       NULL);

		if (rc == 0)
			(void)!write(up[1], "", 1);
		close(up[1]);
		for (;;)
			pause();
	}
	close(up[1]);
	if (pid == -1 || read(up[0], &c, 1) != 1)
		printf("Bail out! no other process\n");
	close(up[0]);
	return pid;
}

static void
end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void
test_others(enum gv_lock_owner owner)
{
	static const struct {
		const char *who;
		enum how how;
		enum gv_lock_state want;
		bool named;
	} c[] = {{"a flock", BY_FLOCK, GV_LOCK_TAKEN, false},
	    {"a record lock of the whole file", BY_RECORD, GV_LOCK_FOREIGN, true},
	    {"one from where ours is on", BY_FROM, GV_LOCK_FOREIGN, true},
	    {"a record lock of the first byte", BY_FIRST, GV_LOCK_TAKEN, false},
	    {"one of ours of a process", BY_PROCESS, GV_LOCK_HELD, true},
	    {"one of ours of an open file", BY_OPEN_FILE, GV_LOCK_HELD, false}};
	const char *mine = owner == GV_LOCK_PROCESS ? "process" : "open file";
	size_t i;

	for (i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		pid_t pid = another(c[i].how);
		int fd = open(path, O_RDWR);
		pid_t holder = -1;

		is_int(gv_lock_take(fd, owner, &holder), c[i].want, "%s: %s is there",
		    mine, c[i].who);
		is_int(holder, c[i].named ? pid : 0, "%s: and %s", mine,
		    c[i].named ? "who has it" : "nobody is named");
		end(pid);
		is_int(gv_lock_take(fd, owner, NULL), GV_LOCK_TAKEN,
		    "%s: %s has gone: it is free at once", mine, c[i].who);
		close(fd);
	}
}

/* What a fork has of them. */
static void
test_forks(enum gv_lock_owner owner)
{
	int fd = open(path, O_RDWR), other = open(path, O_RDWR);
	pid_t pid;

	ok(gv_lock_take(fd, owner, NULL) == GV_LOCK_TAKEN, "a lock, and then a fork");
	pid = fork();
	if (pid == 0)
		for (;;)
			pause();
	close(fd);
	is_int(gv_lock_take(other, GV_LOCK_OPEN_FILE, NULL),
	    owner == GV_LOCK_PROCESS ? GV_LOCK_TAKEN : GV_LOCK_HELD,
	    "closed here: the fork %s it",
	    owner == GV_LOCK_PROCESS ? "has not" : "still has");
	end(pid);
	is_int(gv_lock_take(other, GV_LOCK_OPEN_FILE, NULL), GV_LOCK_TAKEN,
	    "without the fork it is free");
	close(other);
}

static void
test_failure(void)
{
	int fd = open(path, O_RDONLY);

	is_int(gv_lock_take(fd, GV_LOCK_OPEN_FILE, NULL), GV_LOCK_FAILED,
	    "a file that is open to be read cannot be locked");
	is_int(errno, EBADF, "and errno says so");
	close(fd);
}

int
main(void)
{
	int fd = mkstemp(path);

	close(fd);
	test_others(GV_LOCK_PROCESS);
	test_others(GV_LOCK_OPEN_FILE);
	test_forks(GV_LOCK_PROCESS);
	test_forks(GV_LOCK_OPEN_FILE);
	test_failure();
	unlink(path);
	return done_testing();
}
