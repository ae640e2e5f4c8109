/*
 * common/net/link.h: links through memory and over a socket, both ends in this process: what is
 * taken comes out as it went in, when an end says that it can go on it can, and the same is taken
 * at a time as before.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "recorded.h"

#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "draws.h"
#include "net/link.h"

enum { ROUNDS = 24, LINKS = 4, STEPS = 60, PIECES = 3, MOST = 600000 };

static struct {
	struct gv_link *l[2];
	size_t sent[2], got[2]; /* by end: of the way from it, and to it */
	unsigned char *b;       /* [PIECES * MOST] */
	bool memory;
} w;

static unsigned char
byte_at(size_t end, size_t at)
{
	return (unsigned char)((at * (7 + 2 * end) + at / 251) % 253);
}

static size_t
draw_len(void)
{
	switch (below(6)) {
	case 0:
		return 0;
	case 1:
		return below(MOST);
	case 2:
		return below(20000);
	default:
		return below(300);
	}
}

static size_t
draw_pieces(struct iovec *v)
{
	size_t n = 1 + below(PIECES), i;

	for (i = 0; i < n; i++) {
		size_t len = draw_len();

		v[i] = (struct iovec){w.b + i * MOST, i == 0 && len == 0 ? 1 : len};
	}
	return n;
}

/* What a socket takes at a time is its system's business. */
static void
recorded_moved(struct recorded *r, ptrdiff_t n)
{
	if (w.memory)
		recorded_whole(r, n);
}

static void
do_send(struct recorded *r, size_t end)
{
	struct iovec v[PIECES];
	size_t n = draw_pieces(v), at = w.sent[end], i, k;
	ptrdiff_t sent;

	for (i = 0; i < n; i++)
		for (k = 0; k < v[i].iov_len; k++)
			w.b[i * MOST + k] = byte_at(end, at++);
	sent = w.l[end]->ops->send(w.l[end], v, (int)n);
	recorded_moved(r, sent);
	w.sent[end] += sent > 0 ? (size_t)sent : 0;
}

/* Whether what comes is what went. */
static bool
do_recv(struct recorded *r, size_t end, ptrdiff_t *got)
{
	struct iovec v[PIECES];
	size_t n = draw_pieces(v), left, i, k;

	*got = w.l[end]->ops->recv(w.l[end], v, (int)n);
	recorded_moved(r, *got);
	left = *got > 0 ? (size_t)*got : 0;
	for (i = 0; i < n && left > 0; i++)
		for (k = 0; k < v[i].iov_len && left > 0; k++, left--)
			if (w.b[i * MOST + k] != byte_at(1 - end, w.got[end]++))
				return false;
	return left == 0 && w.got[end] <= w.sent[1 - end];
}

/* Who is about to wait need not, or is woken: by what comes in, or goes out now. */
static bool
do_rest(struct recorded *r, size_t end)
{
	struct pollfd p = {w.l[end]->fd, POLLIN, 0};
	bool sends = below(2) == 0, ready = false;
	size_t other = 1 - end;
	short events;
	ptrdiff_t got;

	if (w.l[end]->ops->rest == NULL)
		return true;
	events = w.l[end]->ops->rest(w.l[end], sends, &ready);
	recorded_whole(r, events);
	recorded_whole(r, ready);
	if (ready)
		return true;
	if (below(2) == 0)
		do_send(r, other);
	else if (!do_recv(r, other, &got))
		return false;
	recorded_whole(r, poll(&p, 1, 0));
	return true;
}

static void
open_link(void)
{
	size_t bytes = gv_link_memory_bytes();
	void *memory;
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) != 0) {
		perror("socketpair");
		return;
	}
	fcntl(fd[0], F_SETFL, O_NONBLOCK);
	fcntl(fd[1], F_SETFL, O_NONBLOCK);
	w.sent[0] = w.sent[1] = w.got[0] = w.got[1] = 0;
	if (!w.memory) {
		w.l[0] = gv_link_tcp(fd[0]);
		w.l[1] = gv_link_tcp(fd[1]);
		return;
	}
	memory =
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	w.l[0] = gv_link_memory(fd[0], memory, false, 0);
	w.l[1] = gv_link_memory(fd[1], memory, true, bytes);
}

/* One end goes; the other one gets all that was taken, and then the end. */
static bool
close_link(struct recorded *r)
{
	static const char words[] = "\0\0last words";
	size_t first = w.memory ? 0 : below(2), rest = 1 - first, turns = 0;
	bool speaks = w.memory && below(3) == 0, good = true;
	ptrdiff_t got = 0;

	if (speaks)
		(void)!send(w.l[first]->fd, words, sizeof(words) - 1, MSG_NOSIGNAL);
	w.l[first]->ops->close(w.l[first], 0);
	while (good && w.got[rest] < w.sent[first] && turns++ < 20000)
		good = do_recv(r, rest, &got);
	for (turns = 0; good && got >= 0 && turns < 40; turns++) {
		struct iovec v = {w.b, 100};

		got = w.l[rest]->ops->recv(w.l[rest], &v, 1);
		recorded_moved(r, got);
		if (w.memory && got > 0)
			recorded_bytes(r, w.b, (size_t)got);
	}
	do_send(r, rest);
	w.l[rest]->ops->close(w.l[rest], 0);
	return good && got == -1;
}

static size_t
ask(struct recorded *r)
{
	size_t i, bad = 0;
	ptrdiff_t got;

	open_link();
	for (i = 0; i < STEPS; i++) {
		size_t end = below(2);

		switch (below(3)) {
		case 0:
			do_send(r, end);
			break;
		case 1:
			bad += !do_recv(r, end, &got);
			break;
		default:
			bad += !do_rest(r, end);
		}
	}
	return bad + !close_link(r);
}

int
main(void)
{
	struct recorded r;
	size_t bad = 0, k;
	uint32_t i;

	recorded_open(&r);
	w.b = gv_xcalloc(PIECES, MOST);
	for (i = 0; i < ROUNDS; i++) {
		w.memory = i % 4 != 0;
		for (k = 0; k < LINKS; k++) {
			draws_begin(101, i, (uint32_t)k);
			bad += ask(&r);
		}
		recorded_answer(&r, "%d links %s", LINKS,
		    w.memory ? "through memory" : "over a socket");
	}
	is_int((long long)bad, 0, "all bytes come, in their order, and then the end");
	free(w.b);
	recorded_close(&r);
	return done_testing();
}
