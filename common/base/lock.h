/*
 * Locks that keep one program of ours from another.
 *
 * Each is a record lock on one byte far behind the end of any file, so a flock(2) on
 * the file, whoever holds it, is no matter; and a record lock that stops us says
 * by its range whether one of ours holds it.  (On NFS a flock is a record lock of
 * the whole file, and then a foreign one.)
 */
#ifndef GV_BASE_LOCK_H
#define GV_BASE_LOCK_H

#include <sys/types.h>

/* Whose a lock is, and so when it ends. */
enum gv_lock_owner {
	GV_LOCK_PROCESS, /* this process: ends with it; a fork does not have it */
	/* the open file: ends when its last descriptor is closed, also of forks */
	GV_LOCK_OPEN_FILE
};

enum gv_lock_state {
	GV_LOCK_TAKEN,
	GV_LOCK_HELD,    /* by one of ours */
	GV_LOCK_FOREIGN, /* by another program's lock of the file */
	GV_LOCK_FAILED   /* errno: the file cannot be locked */
};

/*
 * Takes the lock on an open, writable file without waiting.  When it is held,
 * *holder is the process, 0 where it is not known (the lock of an open file has
 * none); holder may be NULL.
 */
enum gv_lock_state gv_lock_take(int fd, enum gv_lock_owner owner, pid_t *holder);

/* Who has it, without taking it: HELD by one of ours that is alive, else TAKEN (it could be), FOREIGN or FAILED. */
enum gv_lock_state gv_lock_look(int fd);

#endif
