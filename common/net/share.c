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

enum { PLACE = 160, SECRET = 32 };

/* Where to find memory: the lower rank's offer; pid 0: it has none. */
struct offer {
	int64_t pid;
	int64_t fd;
	unsigned char secret[SECRET];
};

struct sharing {
	const struct gv_gang_spec *s;
	const int *fd;
	char (*host)[GV_SOCK_ADDR];
	char place[PLACE]; /* "" = nobody shares with us */
	size_t bytes;      /* of a pair's memory; behind it is the secret */
	int shared;        /* pairs that do */
	char why[160];     /* the last that would have, and does not: why */
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
find_place(struct sharing *h)
{
	memset(h->place, 0, sizeof(h->place));
	if (h->s->no_memory || !append(h->place, "/proc/sys/kernel/random/boot_id") ||
	    !append(h->place, "/proc/self/ns/net") ||
	    !append(h->place, "/proc/self/ns/pid"))
		h->place[0] = '\0';
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
say(const struct sharing *h, int r, const void *out, size_t n_out, void *in, size_t n_in,
    struct gv_error *e)
{
	char who[GV_SOCK_ADDR + 32];

	snprintf(who, sizeof(who), "rank %d of %s", r, h->host[r]);
	return gv_sock_exchange(h->fd[r], out, n_out, in, n_in, h->s->silence_s, who, e);
}

/* The lower rank's part.  *p = NULL: there is no memory. */
static int
give(struct sharing *h, int peer, unsigned char **p, struct gv_error *e)
{
	unsigned char taken = 0;
	struct offer o;
	int status;

	*p = make(h, peer, &o);
	status = say(h, peer, &o, sizeof(o), &taken, 1, e);
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

	if (say(h, peer, NULL, 0, &o, sizeof(o), e) != 0)
		return -1;
	*p = o.pid != 0 ? attach(h, peer, &o) : NULL;
	taken = *p != NULL;
	if (say(h, peer, &taken, 1, NULL, 0, e) == 0)
		return 0;
	if (*p != NULL)
		munmap(*p, h->bytes + SECRET);
	return -1;
}

static int
link_pair(struct sharing *h, int r, struct gv_link **link, struct gv_error *e)
{
	bool lower = h->s->rank < r;
	unsigned char *p = NULL;
	char there[PLACE];

	if (say(h, r, NULL, 0, there, sizeof(there), e) != 0)
		return -1;
	if (h->place[0] != '\0' && memcmp(there, h->place, PLACE) == 0 &&
	    (lower ? give : get)(h, r, &p, e) != 0)
		return -1;
	if (p == NULL) {
		*link = gv_link_tcp(h->fd[r]);
		return 0;
	}
	*link = gv_link_memory(h->fd[r], p, !lower, h->bytes + SECRET);
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
gv_share_links(struct gv_link **link, const struct gv_gang_spec *s, const int *fd,
    char (*host)[GV_SOCK_ADDR], struct gv_error *e)
{
	struct sharing h = {.s = s, .fd = fd, .host = host};
	int r, status = 0;

	h.bytes = gv_link_memory_bytes();
	find_place(&h);
	for (r = 0; r < s->world; r++)
		link[r] = NULL;
	for (r = 0; r < s->world && status == 0; r++)
		if (r != s->rank)
			status = say(&h, r, h.place, PLACE, NULL, 0, e);
	for (r = 0; r < s->world && status == 0; r++)
		if (r != s->rank)
			status = link_pair(&h, r, &link[r], e);
	if (status == 0) {
		tell(&h);
		return 0;
	}
	for (r = 0; r < s->world; r++) {
		if (link[r] != NULL)
			link[r]->ops->close(link[r], 0);
		else if (r != s->rank)
			close(fd[r]);
		link[r] = NULL;
	}
	return -1;
}
