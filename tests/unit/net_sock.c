/*
 * common/net/sock.h: who is connected to whom, in numbers without a word about families;
 * deadlines; bytes both ways at once.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "net/process.h"
#include "net/sock.h"
#include "tap.h"

static bool
is_set_up(int fd)
{
	return (fcntl(fd, F_GETFL) & O_NONBLOCK) != 0 &&
	       (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0;
}

/* Both ends of a connection to "to", where "at" (NULL: all) is listened on, say the same. */
static void
test_names(const char *at, const char *to)
{
	char came[GV_SOCK_ADDR] = "", name[4][GV_SOCK_ADDR];
	struct gv_error e = {0};
	int listener, here = -1, there = -1, port = 0, rc;

	if (gv_sock_listen(&listener, at, &port, &e) != 0) {
		ok(strchr(at != NULL ? at : "", ':') != NULL, "no %s", to);
		return;
	}
	ok(port > 0 && port < 65536 && is_set_up(listener), "port %d", port);
	rc = gv_sock_connect(&here, to, port, gv_clock_s() + 20, &e);
	ok(rc == 0 && gv_sock_accept(&there, listener, gv_clock_s() + 20, came, &e) == 0,
	    "%s calls %s", to, at != NULL ? at : "all");
	gv_sock_here(here, name[0]);
	gv_sock_there(here, name[1]);
	gv_sock_here(there, name[2]);
	gv_sock_there(there, name[3]);
	for (rc = 0; rc < 4; rc++)
		is_str(name[rc], to, "and is called so: %d", rc);
	is_str(came, to, "by whoever took it, too");
	ok(is_set_up(here) && is_set_up(there),
	    "both are non-blocking, and not inherited");
	close(here);
	close(there);
	there = gv_sock_take(listener, came);
	ok(there == -1 && errno == EAGAIN, "nobody else is there");
	close(listener);
	gv_sock_here(listener, name[0]);
	gv_sock_there(listener, name[1]);
	ok(name[0][0] == '\0' && name[1][0] == '\0', "what is no socket has no name");
}

/* Nobody comes, nobody listens: it ends at the deadline, neither before nor long after. */
static void
test_deadlines(void)
{
	char came[GV_SOCK_ADDR];
	struct gv_error e = {0};
	double began = gv_clock_s(), took;
	int listener, fd, port = 0, rc;

	gv_sock_listen(&listener, "127.0.0.1", &port, &e);
	rc = gv_sock_accept(&fd, listener, began + .2, came, &e);
	took = gv_clock_s() - began;
	ok(rc == -1 && fd == -1 && took >= .2 && took < 20, "nobody came for %.2f s",
	    took);
	is_str(e.text[0], "nobody came", "says so");
	close(listener);
	gv_error_clear(&e);
	began = gv_clock_s();
	rc = gv_sock_connect(&fd, "127.0.0.1", port, began + .2, &e);
	took = gv_clock_s() - began;
	ok(rc == -1 && fd == -1 && took >= .08 && took < 20, "nobody listened, %.2f s",
	    took);
	ok(strncmp(e.text[0], "cannot connect to 127.0.0.1, port ", 34) == 0, "says so");
	ok(gv_sock_call("nowhere", port) == -1 && errno == EINVAL, "no number, no call");
	fd = gv_sock_call("127.0.0.1", port);
	if (fd != -1) {
		struct pollfd p = {fd, POLLOUT, 0};

		poll(&p, 1, 20000);
		rc = gv_sock_error(fd);
		close(fd);
	} else {
		rc = errno;
	}
	is_int(rc, ECONNREFUSED, "a call that nobody takes");
	is_int(gv_sock_error(-1), EBADF, "what is no socket");
}

/* Where somebody listens nobody else can, and what was opened for it is closed again. */
static void
test_taken(void)
{
	struct gv_error e = {0};
	int listener, fd, port = 0, next = dup(0), tries, failed = 0;

	close(next);
	gv_sock_listen(&listener, "127.0.0.1", &port, &e);
	for (tries = 0; tries < 5; tries++) {
		gv_error_clear(&e);
		failed += gv_sock_listen(&fd, "127.0.0.1", &port, &e) == -1 && fd == -1 &&
			  errno == EADDRINUSE;
	}
	is_int(failed, 5, "a port that is taken");
	ok(strncmp(e.text[0], "cannot listen on 127.0.0.1, port ", 33) == 0, "says so");
	close(listener);
	fd = dup(0);
	is_int(fd, next, "no descriptor is left");
	close(fd);
}

/* Far more than fits between them, of different lengths each way; then one leaves. */
static void
test_exchange(size_t there, size_t back)
{
	unsigned char *a = calloc(there + 1, 1), *b = calloc(back + 1, 1);
	struct gv_error e = {0};
	int fd[2], rc;
	size_t i, wrong = 0;
	pid_t pid;

	for (i = 0; i < there; i++)
		a[i] = (unsigned char)(i * 7 >> 3);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) != 0)
		abort();
	fcntl(fd[0], F_SETFL, O_NONBLOCK);
	fcntl(fd[1], F_SETFL, O_NONBLOCK);
	pid = fork();
	if (pid == 0) {
		unsigned char *got = calloc(there + 1, 1);

		close(fd[0]);
		for (i = 0; i < back; i++)
			b[i] = (unsigned char)(i * 5 >> 2);
		gv_sock_exchange(fd[1], b, back, got, there, 20, "the other", &e);
		gv_sock_exchange(fd[1], got, there, NULL, 0, 20, "the other", &e);
		_exit(0);
	}
	close(fd[1]);
	rc = gv_sock_exchange(fd[0], a, there, b, back, 20, "the other", &e);
	for (i = 0; i < back; i++)
		wrong += b[i] != (unsigned char)(i * 5 >> 2);
	ok(rc == 0 && wrong == 0, "%zu bytes one way, %zu the other", there, back);
	memset(a, 0, there);
	rc = gv_sock_exchange(fd[0], NULL, 0, a, there, 20, "the other", &e);
	for (wrong = 0, i = 0; i < there; i++)
		wrong += a[i] != (unsigned char)(i * 7 >> 3);
	ok(rc == 0 && wrong == 0, "and it was received as it was sent");
	ok(gv_sock_exchange(fd[0], NULL, 0, a, 1, 20, "the other", &e) == -1, "it left");
	is_str(e.text[0], "the other is gone", "says so");
	close(fd[0]);
	free(a);
	free(b);
}

static void
test_silence(void)
{
	struct gv_error e = {0};
	double began = gv_clock_s(), took;
	char c;
	int fd[2], rc;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) != 0)
		abort();
	fcntl(fd[0], F_SETFL, O_NONBLOCK);
	rc = gv_sock_exchange(fd[0], "x", 1, &c, 1, .25, "it", &e);
	took = gv_clock_s() - began;
	ok(rc == -1 && took >= .25 && took < 20, "nothing moves for %.2f s", took);
	is_str(e.text[0], "it is silent for 0.25 s", "says so");
	close(fd[0]);
	close(fd[1]);
}

/* What is said of a peer that has left, and of what is none. */
static void
test_gone(void)
{
	struct gv_error e = {0};
	int fd[2], null;
	char c = 0, from[GV_SOCK_ADDR];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) != 0)
		abort();
	ok(send(fd[1], "yz", 2, 0) == 2, "two bytes are on their way");
	ok(gv_sock_exchange(fd[0], "x", 1, &c, 1, 20, "it", &e) == 0 && c == 'y',
	    "one goes, one comes");
	ok(recv(fd[1], &c, 1, 0) == 1 && c == 'x', "which is heard");
	close(fd[1]);
	ok(gv_sock_exchange(fd[0], NULL, 0, &c, 1, 20, "it", &e) == 0 && c == 'z',
	    "the last one comes though the peer has left");
	gv_error_clear(&e);
	ok(gv_sock_exchange(fd[0], "x", 1, NULL, 0, 20, "it", &e) == -1,
	    "nobody can be sent to");
	is_str(e.text[0], "it is gone", "who has left");
	gv_error_clear(&e);
	ok(gv_sock_exchange(fd[0], NULL, 0, &c, 1, 20, "it", &e) == -1,
	    "or received from");
	is_str(e.text[0], "it is gone", "who has left");
	close(fd[0]);

	null = open("/dev/null", O_RDWR);
	gv_error_clear(&e);
	ok(gv_sock_exchange(null, "x", 1, &c, 1, 20, "it", &e) == -1,
	    "what is no socket");
	is_str(e.text[0], "cannot send to it: Socket operation on non-socket",
	    "is sent nothing");
	gv_error_clear(&e);
	ok(gv_sock_exchange(null, NULL, 0, &c, 1, 20, "it", &e) == -1, "nor");
	is_str(e.text[0], "cannot receive from it: Socket operation on non-socket",
	    "says anything");
	gv_error_clear(&e);
	ok(gv_sock_accept(&fd[0], null, gv_clock_s() + 20, from, &e) == -1 &&
		e.count == 1,
	    "nor does anybody call it");
	close(null);
}

static void
is_state(const char *text, char want, const char *name)
{
	char path[] = "/tmp/gv-stat.XXXXXX";
	int fd = mkstemp(path);

	ok(write(fd, text, strlen(text)) == (ssize_t)strlen(text) &&
		gv_process_state(path) == want,
	    "%s", name);
	close(fd);
	unlink(path);
}

static void
test_process(void)
{
	is_state("4711 (gv-train) S 1 2", 'S', "a process that sleeps");
	is_state("4711 (a) R (b) T 1 2", 'T', "whatever its name holds");
	is_state("4711 (gv-train", 0, "what ends too soon says nothing");
	is_state("4711 (gv-train)", 0, "nor behind its name");
	is_state("4711 (gv-train)S", 0, "nor without a space");
	ok(gv_process_state("/nonexistent/stat") == 0, "nor what is not there");
	ok(gv_process_state("/tmp") == 0, "nor a directory");
}

int
main(void)
{
	test_names(NULL, "127.0.0.1");
	test_names("127.0.0.1", "127.0.0.1");
	test_names("::1", "::1");
	test_deadlines();
	test_taken();
	test_exchange(3000000, 5);
	test_exchange(1000, 2000000);
	test_exchange(4000000, 3000000);
	test_silence();
	test_gone();
	test_process();
	return done_testing();
}
