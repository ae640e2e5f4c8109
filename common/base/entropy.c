#include "base/entropy.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int
gv_entropy(void *buf, size_t n)
{
	int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	char *p = buf;
	int error = 0;

	if (fd == -1)
		return -1;
	while (n > 0 && error == 0) {
		ssize_t got = read(fd, p, n);

		if (got > 0) {
			p += got;
			n -= (size_t)got;
		} else if (got == 0 || errno != EINTR) {
			error = got == 0 ? EIO : errno;
		}
	}
	close(fd);
	errno = error;
	return error == 0 ? 0 : -1;
}
