/* Free ports of a system that is drawn: which are asked for, and which it comes to. */
#undef _FORTIFY_SOURCE /* whose wrappers are inline: the functions are ours here */
#define _XOPEN_SOURCE 700
#include "recorded.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/entropy.h"
#include "draws.h"
#include "launch/launcher.h"

enum { ROUNDS = 40, PER_ROUND = 50, FD = 900 };

static struct {
	struct recorded *r;
	char
	    range[40]; /* what the system says of ports that it hands out; "" = nothing */
	size_t taken;  /* so many of 8 ports are */
	int open;
} sys;

FILE *
fopen(const char *path, const char *mode)
{
	int fd;

	if (strncmp(path, "/proc/", 6) == 0) {
		recorded_text(sys.r, path);
		return sys.range[0] != '\0' ? fmemopen(sys.range, strlen(sys.range), "r")
					    : NULL;
	}
	fd = mode[0] == 'w' ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666)
			    : open(path, O_RDONLY);
	return fd != -1 ? fdopen(fd, mode[0] == 'w' ? "w" : "r") : NULL;
}

int
gv_entropy(void *buf, size_t n)
{
	unsigned char *b = buf;

	if (below(9) == 0)
		return -1;
	while (n-- > 0)
		*b++ = (unsigned char)below(256);
	return 0;
}

int
socket(int family, int type, int protocol)
{
	recorded_whole(sys.r, family == AF_INET);
	recorded_whole(sys.r, type + protocol);
	errno = EMFILE;
	if (below(12) == 0)
		return -1;
	sys.open++;
	return FD;
}

int
bind(int fd, const struct sockaddr *a, socklen_t len)
{
	struct sockaddr_in s;

	memcpy(&s, a, sizeof(s));
	recorded_whole(sys.r, fd);
	recorded_whole(sys.r, (long long)len);
	recorded_whole(sys.r, ntohs(s.sin_port));
	recorded_whole(sys.r, ntohl(s.sin_addr.s_addr));
	recorded_whole(sys.r, s.sin_family == AF_INET);
	return below(8) < sys.taken ? -1 : 0;
}

int
getsockname(int fd, struct sockaddr *a, socklen_t *len)
{
	struct sockaddr_in s = {.sin_family = AF_INET};

	recorded_whole(sys.r, fd);
	recorded_whole(sys.r, (long long)*len);
	s.sin_port = htons((uint16_t)(1 + below(65535)));
	memcpy(a, &s, sizeof(s));
	return below(9) == 0 ? -1 : 0;
}

int
close(int fd)
{
	sys.open -= fd == FD;
	return 0;
}

static bool
ask(struct recorded *r)
{
	static const char *const range[] = {"32768\t60999\n", "20001 60999\n",
	    "20000 3\n", "10000 20000", "1024 65000\n", "x", "", "65535 65535\n"};

	sys.r = r;
	strcpy(sys.range, range[below(8)]);
	sys.taken = below(3) == 0 ? 8 : below(9);
	sys.open = 0;
	recorded_whole(r, gv_launch_free_port());
	return sys.open == 0;
}

int
main(void)
{
	struct recorded r;
	size_t bad = 0, k;
	uint32_t i;

	recorded_open(&r);
	for (i = 0; i < ROUNDS; i++) {
		draws_begin(83, i, 0);
		for (k = 0; k < PER_ROUND; k++)
			bad += !ask(&r);
		recorded_answer(&r, "%d ports", PER_ROUND);
	}
	is_int((long long)bad, 0, "no socket is left open");
	recorded_close(&r);
	return done_testing();
}
