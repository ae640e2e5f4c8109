#define _GNU_SOURCE /* F_OFD_SETLK, which is POSIX since 2024 */
#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <unistd.h>
#ifndef F_OFD_SETLK
#include <sys/file.h>
#endif

static struct flock
range(void)
{
	/* "gv" in front of 32 bits: no file of ours is so large */
	return (struct flock){.l_type = F_WRLCK,
	    .l_whence = SEEK_SET,
	    .l_start = (off_t)0x6776 << 32,
	    .l_len = 1};
}

#ifdef F_OFD_SETLK
static int
take_open_file(int fd)
{
	struct flock l = range();

	return fcntl(fd, F_OFD_SETLK, &l);
}
#else
static int
take_open_file(int fd)
{
	return flock(fd, LOCK_EX | LOCK_NB);
}
#endif

enum gv_lock_state
gv_lock_take(int fd, enum gv_lock_owner owner, pid_t *holder)
{
	struct flock l = range();
	const struct flock ours = l;

	if (holder != NULL)
		*holder = 0;
	if ((owner == GV_LOCK_PROCESS ? fcntl(fd, F_SETLK, &l) : take_open_file(fd)) == 0)
		return GV_LOCK_TAKEN;
	if (errno != EACCES && errno != EAGAIN && errno != EWOULDBLOCK)
		return GV_LOCK_FAILED;
	if (fcntl(fd, F_GETLK, &l) != 0 || l.l_type == F_UNLCK)
		return GV_LOCK_HELD; /* it has just gone, or it is a lock of this process */
	if (holder != NULL && l.l_pid > 0)
		*holder = l.l_pid;
	return l.l_start == ours.l_start && l.l_len == ours.l_len ? GV_LOCK_HELD
								  : GV_LOCK_FOREIGN;
}

enum gv_lock_state
gv_lock_look(int fd)
{
	struct flock l = range();
	const struct flock ours = l;

	if (fcntl(fd, F_GETLK, &l) != 0)
		return GV_LOCK_FAILED;
	if (l.l_type == F_UNLCK)
		return GV_LOCK_TAKEN;
	return l.l_start == ours.l_start && l.l_len == ours.l_len ? GV_LOCK_HELD
								  : GV_LOCK_FOREIGN;
}
