/* common/base/entropy: all bytes, or an error that says why, however the system reads. */
#include "tap.h"

#include <errno.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/entropy.h"

/*
 * What each read of this test does next: so many bytes, 0 = the end, less: fails with -n.
 * Not static, since headers may make read an inline function.
 */
extern int next[8];
extern size_t at;
int next[8];
size_t at;

ssize_t
read(int fd, void *buf, size_t n)
{
	int how = next[at++];

	(void)fd;
	if (how < 0) {
		errno = -how;
		return -1;
	}
	if ((size_t)how < n)
		n = (size_t)how;
	memset(buf, (int)at, n);
	return (ssize_t)n;
}

static int
ask(unsigned char got[6], int a, int b, int c)
{
	next[0] = a;
	next[1] = b;
	next[2] = c;
	at = 0;
	memset(got, 0, 6);
	errno = 0;
	return gv_entropy(got, 5);
}

int
main(void)
{
	unsigned char got[6];

	ok(ask(got, 5, EDOM, EDOM) == 0 && memcmp(got, "\1\1\1\1\1", 6) == 0, "at once");
	ok(ask(got, 2, 9, EDOM) == 0 && memcmp(got, "\1\1\2\2\2", 6) == 0, "in parts");
	ok(ask(got, 1, -EINTR, 4) == 0 && memcmp(got, "\1\3\3\3\3", 6) == 0,
	    "it goes on where a signal came");
	ok(ask(got, 1, -EFAULT, 4) == -1 && errno == EFAULT && at == 2, "it fails");
	ok(ask(got, 1, 0, 4) == -1 && errno == EIO && at == 2,
	    "it ends before all is there");
	return done_testing();
}
