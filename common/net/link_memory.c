/*
 * Two rings of bytes in memory that two processes share, and a socket between them:
 * a byte on it wakes who sleeps, its end says that the other one is gone.
 */
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/link.h"

/* A writer is woken when so much is free that what it writes then is worth the waking. */
enum { RING = 512 * 1024, ROOM = RING / 2, LINE = 64 };

/* One direction.  Counts run on and on; their difference is what lies in the ring. */
struct ring {
	_Alignas(LINE) atomic_size_t written;
	atomic_bool writer_sleeps;
	_Alignas(LINE) atomic_size_t read;
	atomic_bool reader_sleeps;
	_Alignas(LINE) unsigned char byte[RING];
};

struct memory {
	struct gv_link l;
	struct ring *out, *in;
	void *memory;
	size_t own; /* bytes of it that end with the link */
};

size_t
gv_link_memory_bytes(void)
{
	return 2 * sizeof(struct ring);
}

/* ---- the bell ---- */

/* Wakes the other one if it sleeps; false: it is gone. */
static bool
wake(struct memory *m, atomic_bool *sleeps)
{
	/* after what it shall see: between its last look and its sleep it sees one or the other */
	atomic_thread_fence(memory_order_seq_cst);
	if (!atomic_load_explicit(sleeps, memory_order_relaxed) ||
	    !atomic_exchange(sleeps, false))
		return true;
	return send(m->l.fd, "", 1, MSG_NOSIGNAL) >= 0 || errno == EAGAIN ||
	       errno == EWOULDBLOCK || errno == EINTR;
}

/*
 * Takes the bytes that woke us, which are zero, to b[0..n); -1: the other one is gone.  It may
 * have left before it heard that this end uses the memory: then its last words are here, and
 * how many bytes of them.
 */
static ptrdiff_t
hush(struct memory *m, unsigned char *b, size_t n)
{
	ssize_t got;

	while ((got = recv(m->l.fd, b, n, 0)) > 0) {
		size_t bells = 0;

		while (bells < (size_t)got && b[bells] == 0)
			bells++;
		if (bells < (size_t)got) {
			memmove(b, b + bells, (size_t)got - bells);
			return got - (ssize_t)bells;
		}
	}
	return got == -1 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
		   ? 0
		   : -1;
}

/* ---- bytes ---- */

static size_t
filled(struct ring *r)
{
	return atomic_load_explicit(&r->written, memory_order_acquire) -
	       atomic_load_explicit(&r->read, memory_order_acquire);
}

static void
copy_in(struct ring *r, size_t at, const unsigned char *b, size_t n)
{
	size_t first = RING - at % RING;

	first = first < n ? first : n;
	memcpy(r->byte + at % RING, b, first);
	memcpy(r->byte, b + first, n - first);
}

static void
copy_out(const struct ring *r, size_t at, unsigned char *b, size_t n)
{
	size_t first = RING - at % RING;

	first = first < n ? first : n;
	memcpy(b, r->byte + at % RING, first);
	memcpy(b + first, r->byte, n - first);
}

static ptrdiff_t
memory_send(struct gv_link *l, struct iovec *v, int n)
{
	struct memory *m = (struct memory *)l;
	struct ring *r = m->out;
	size_t at = atomic_load_explicit(&r->written, memory_order_relaxed);
	size_t room = RING - filled(r), sent = 0;
	int i;

	for (i = 0; i < n; i++) {
		size_t len = v[i].iov_len < room ? v[i].iov_len : room;

		if (len > 0)
			copy_in(r, at + sent, v[i].iov_base, len);
		sent += len;
		room -= len;
	}
	if (sent == 0)
		return 0;
	atomic_store_explicit(&r->written, at + sent, memory_order_release);
	return wake(m, &r->reader_sleeps) ? (ptrdiff_t)sent : -1;
}

static ptrdiff_t
memory_recv(struct gv_link *l, struct iovec *v, int n)
{
	struct memory *m = (struct memory *)l;
	struct ring *r = m->in;
	size_t at = atomic_load_explicit(&r->read, memory_order_relaxed);
	size_t have = filled(r), got = 0;
	ptrdiff_t words = have > 0 ? 0 : hush(m, v[0].iov_base, v[0].iov_len);
	int i;

	if (words > 0)
		return words;
	/* its last bytes may have come before it went */
	if (have == 0)
		have = filled(r);
	if (have == 0)
		return words;
	for (i = 0; i < n && got < have; i++) {
		size_t len = v[i].iov_len < have - got ? v[i].iov_len : have - got;

		copy_out(r, at + got, v[i].iov_base, len);
		got += len;
	}
	atomic_store_explicit(&r->read, at + got, memory_order_release);
	if (RING - filled(r) >= ROOM)
		wake(m, &r->writer_sleeps);
	return (ptrdiff_t)got;
}

/* Whoever is about to sleep says so, and looks once more. */
static short
memory_rest(struct gv_link *l, bool sends, bool *ready)
{
	struct memory *m = (struct memory *)l;

	atomic_store(&m->in->reader_sleeps, true);
	atomic_store(&m->out->writer_sleeps, sends);
	atomic_thread_fence(memory_order_seq_cst);
	*ready = filled(m->in) > 0 || (sends && RING - filled(m->out) >= ROOM);
	return POLLIN;
}

/* What was taken lies where the other one can read it. */
static void
memory_close(struct gv_link *l, double deadline)
{
	struct memory *m = (struct memory *)l;

	(void)deadline;
	close(l->fd);
	if (m->own > 0)
		munmap(m->memory, m->own);
	free(m);
}

struct gv_link *
gv_link_memory(int fd, void *memory, bool second, size_t own)
{
	static const struct gv_link_ops ops = {
	    memory_send, memory_recv, memory_close, memory_rest};
	struct memory *m = gv_xcalloc(1, sizeof(*m));
	struct ring *r = memory;

	m->l.ops = &ops;
	m->l.fd = fd;
	m->memory = memory;
	m->own = own;
	m->out = &r[second];
	m->in = &r[!second];
	return &m->l;
}
