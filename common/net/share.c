#define _GNU_SOURCE /* memfd_create */
#include "net/share.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/entropy.h"
#include "base/mem.h"

enum { PLACE = 160, SECRET = 32, KIND = GV_KIND_OWN + 16 };

/* What is said, in this order. */
enum { SLOT_CARD, SLOT_OFFER, SLOT_TAKEN };

/* Where a member is. */
struct card {
	char place[PLACE]; /* its machine and namespaces; "" = not known */
	int64_t pid;
	int64_t shares; /* 0: it wants none */
};

/* Where to find memory: the lower rank's offer; pid 0: it has none. */
struct offer {
	int64_t pid;
	int64_t fd;
	unsigned char secret[SECRET];
};

struct sharing {
	const struct gv_gang_spec *s;
	struct gv_gang *g;
	struct card own;
	size_t bytes;  /* of a pair's memory; behind it is the secret */
	int shared;    /* pairs that do */
	char why[160]; /* the last that would have, and does not: why */
};

/* ---- places ---- */

/* Appends what a file of one line says, or where a link points; false: neither. */
static bool
append(char place[PLACE], const char *path)
{
	size_t n = strlen(place);
	ssize_t got = readlink(path, place + n, PLACE - 2 - n);
	int fd;

	if (got < 0 && (fd = open(path, O_RDONLY | O_CLOEXEC)) != -1) {
		got = read(fd, place + n, PLACE - 2 - n);
		close(fd);
	}
	place[n + (got > 0 ? (size_t)got : 0)] = '\0';
	strcat(place, " ");
	return got > 0;
}

static void
find_place(struct card *c)
{
	memset(c, 0, sizeof(*c));
	c->pid = getpid();
	if (!append(c->place, "/proc/sys/kernel/random/boot_id") ||
	    !append(c->place, "/proc/self/ns/net") ||
	    !append(c->place, "/proc/self/ns/pid"))
		c->place[0] = '\0';
}

/* ---- memory ---- */

static void
refuse(struct sharing *h, int peer, const char *what)
{
	snprintf(h->why, sizeof(h->why), "no memory is shared with rank %d: %s: %s", peer,
	    what, strerror(errno));
}

static unsigned char *
map(struct sharing *h, int fd)
{
	void *p =
	    mmap(NULL, h->bytes + SECRET, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return p != MAP_FAILED ? p : NULL;
}

/* All of it is there from the beginning: what is missing later would be a SIGBUS. */
static unsigned char *
make(struct sharing *h, int peer, struct offer *o)
{
	unsigned char *p = NULL;
	int fd = memfd_create("gv", MFD_CLOEXEC);
	int failed;

	*o = (struct offer){.fd = fd};
	if (fd == -1) {
		refuse(h, peer, "memfd_create");
		return NULL;
	}
	failed = posix_fallocate(fd, 0, (off_t)(h->bytes + SECRET));
	errno = failed;
	if (failed != 0 || (p = map(h, fd)) == NULL ||
	    gv_entropy(o->secret, SECRET) != 0) {
		refuse(h, peer, "memory");
		if (p != NULL)
			munmap(p, h->bytes + SECRET);
		close(fd);
		return NULL;
	}
	memcpy(p + h->bytes, o->secret, SECRET);
	o->pid = getpid();
	return p;
}

/* The peer's memory; NULL: it is not ours to have, or not what was offered. */
static unsigned char *
attach(struct sharing *h, int peer, const struct offer *o)
{
	unsigned char *p;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%lld/fd/%lld", (long long)o->pid,
	    (long long)o->fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd == -1) {
		refuse(h, peer, path);
		return NULL;
	}
	if (lseek(fd, 0, SEEK_END) != (off_t)(h->bytes + SECRET) ||
	    (p = map(h, fd)) == NULL) {
		refuse(h, peer, "it cannot be mapped");
		close(fd);
		return NULL;
	}
	close(fd);
	if (memcmp(p + h->bytes, o->secret, SECRET) == 0)
		return p;
	munmap(p, h->bytes + SECRET);
	errno = ENOENT;
	refuse(h, peer, path);
	return NULL;
}

/* ---- pairs ---- */

static int
send(
    struct sharing *h, int to, uint32_t slot, const void *b, size_t n, struct gv_error *e)
{
	struct gv_message m = {0}, *one = &m;

	gv_mesh_send(h->g, &m, to, (struct gv_tag){slot, KIND}, b, n);
	return gv_mesh_wait(h->g, &one, 1, e);
}

static int
receive(struct sharing *h, int from, uint32_t slot, void *b, size_t n, struct gv_error *e)
{
	struct gv_peer *p = &h->g->peer[from];
	struct gv_message m = {0}, *one = &m;
	int status;

	/* what follows comes through memory, and the end of the connection may be there already */
	gv_mesh_recv(h->g, &m, from, (struct gv_tag){slot, KIND}, b, n);
	p->last = slot == SLOT_TAKEN ? &m : NULL;
	status = gv_mesh_wait(h->g, &one, 1, e);
	p->last = NULL;
	return status;
}

/* The lower rank's part.  *p = NULL: there is no memory. */
static int
give(struct sharing *h, int peer, unsigned char **p, struct gv_error *e)
{
	unsigned char taken = 0;
	struct offer o;
	int status;

	*p = make(h, peer, &o);
	status = send(h, peer, SLOT_OFFER, &o, sizeof(o), e);
	if (status == 0)
		status = receive(h, peer, SLOT_TAKEN, &taken, 1, e);
	if (*p == NULL)
		return status;
	close((int)o.fd);
	if (status != 0 || taken != 1) {
		munmap(*p, h->bytes + SECRET);
		*p = NULL;
	}
	return status;
}

static int
get(struct sharing *h, int peer, unsigned char **p, struct gv_error *e)
{
	unsigned char taken;
	struct offer o;

	if (receive(h, peer, SLOT_OFFER, &o, sizeof(o), e) != 0)
		return -1;
	*p = o.pid != 0 ? attach(h, peer, &o) : NULL;
	taken = *p != NULL;
	if (send(h, peer, SLOT_TAKEN, &taken, 1, e) == 0)
		return 0;
	if (*p != NULL)
		munmap(*p, h->bytes + SECRET);
	return -1;
}

/*
 * The connection becomes the bell.  Whatever the peer has said over it is read: it rings for
 * the first time when this end has said that it sleeps.
 */
static int
link_pair(struct sharing *h, int r, struct gv_error *e)
{
	bool lower = h->s->rank < r;
	struct gv_peer *peer = &h->g->peer[r];
	unsigned char *p = NULL;
	struct card there;

	if (receive(h, r, SLOT_CARD, &there, sizeof(there), e) != 0)
		return -1;
	there.place[PLACE - 1] = '\0';
	if (h->own.place[0] == '\0' || strcmp(there.place, h->own.place) != 0)
		return 0;
	peer->pid = there.pid;
	if (there.shares && h->own.shares && (lower ? give : get)(h, r, &p, e) != 0)
		return -1;
	if (p == NULL)
		return 0;
	peer->link =
	    gv_link_memory(gv_link_tcp_end(peer->link), p, !lower, h->bytes + SECRET);
	h->g->sign[r].asked_s =
	    0; /* what was asked over the connection may not be heard */
	h->shared++;
	return 0;
}

static void
tell(const struct sharing *h)
{
	char line[160];

	if (h->s->tell == NULL)
		return;
	if (h->why[0] != '\0')
		h->s->tell(h->s->ctx, h->why);
	snprintf(line, sizeof(line),
	    "rank %d shares memory with %d of %d other workers; TCP to the rest",
	    h->s->rank, h->shared, h->s->world - 1);
	h->s->tell(h->s->ctx, line);
}

/*
 * Places first, as nobody waits to send them; then pair by pair in the same order
 * everywhere, so that no circle of members waits for each other.
 */
int
gv_share_links(struct gv_gang *g, const struct gv_gang_spec *s, struct gv_error *e)
{
	struct sharing h = {.s = s, .g = g};
	int r, status = 0;

	h.bytes = gv_link_memory_bytes();
	find_place(&h.own);
	h.own.shares = !s->no_memory;
	for (r = 0; r < s->world && status == 0; r++)
		if (r != s->rank)
			status = send(&h, r, SLOT_CARD, &h.own, sizeof(h.own), e);
	for (r = 0; r < s->world && status == 0; r++)
		if (r != s->rank)
			status = link_pair(&h, r, e);
	if (status == 0)
		tell(&h);
	return status;
}
