#include "base/nowait.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static int
open_own(int fd, bool *gone)
{
	char path[64];
	int own;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	*gone = own == -1 && errno == ENXIO;
	return own;
}

void
gv_nowait_open(struct gv_nowait *w, int fd)
{
	int mode = fcntl(fd, F_GETFL);
	struct stat st;
	int own = -1;

	*w = (struct gv_nowait){.fd = fd};
	if (fstat(fd, &st) != 0)
		return;
	w->is_socket = S_ISSOCK(st.st_mode);
	w->may_wait = true;
	/* one that was closed is there only to be read (gv_init): writing must fail */
	if ((S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)) && mode != -1 &&
	    (mode & O_ACCMODE) != O_RDONLY)
		own = open_own(fd, &w->gone);
	if (own == -1)
		return;
	w->fd = own;
	w->own = true;
	w->may_wait = false;
}

ssize_t
gv_nowait_write(const struct gv_nowait *w, const char *s, size_t n)
{
	struct pollfd p = {.fd = w->fd, .events = POLLOUT};

	if (w->is_socket)
		return send(w->fd, s, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (!w->may_wait)
		return write(w->fd, s, n);
	/* a pipe that can be written to takes _POSIX_PIPE_BUF bytes at once */
	if (poll(&p, 1, 0) != 1) {
		errno = EAGAIN;
		return -1;
	}
	return write(w->fd, s, n < _POSIX_PIPE_BUF ? n : _POSIX_PIPE_BUF);
}

void
gv_nowait_close(struct gv_nowait *w)
{
	if (w->own)
		close(w->fd);
	*w = (struct gv_nowait){.fd = -1};
}
