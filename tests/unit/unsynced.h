/* What a test writes need not outlive it: a disk that is busy makes it wait for seconds. */
#ifndef UNSYNCED_H
#define UNSYNCED_H

#include <unistd.h>

/* In the place of the C library's. */
int
fsync(int fd)
{
	return fd >= 0 ? 0 : -1;
}

#endif
