#include "net/local.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/shm.h"
#include "net/sock.h"

#define CONNECT_S 10

const char *const gv_local_name[GV_LOCAL_KINDS] = {"memory", "tcp"};

/* Between members a < b; end 0 is a's. */
struct pair {
	int a, b;
	int fd[2];
};

struct gv_local {
	int n;
	enum gv_local_kind kind;
	struct pair *pair;
	size_t n_pairs, cap;
	unsigned char *memory; /* [n_pairs][gv_link_memory_bytes()] */
};

static int
connect_pair(struct pair *p, int listener, int port, struct gv_error *e)
{
	char addr[GV_SOCK_ADDR];
	double deadline = gv_clock_s() + CONNECT_S;

	if (gv_sock_connect(&p->fd[0], "127.0.0.1", port, deadline, e) != 0 ||
	    gv_sock_accept(&p->fd[1], listener, deadline, addr, e) != 0)
		return -1;
	return 0;
}

static int
connect_pairs(struct gv_local *l, struct gv_error *e)
{
	int listener, port = 0, rc = 0;
	size_t i;

	if (gv_sock_listen(&listener, "127.0.0.1", &port, e) != 0)
		return -1;
	for (i = 0; rc == 0 && i < l->n_pairs; i++)
		rc = connect_pair(&l->pair[i], listener, port, e);
	close(listener);
	return rc;
}

static int
share_memory(struct gv_local *l, struct gv_error *e)
{
	size_t i;

	l->memory = gv_shm_new(l->n_pairs * gv_link_memory_bytes() + 1, e);
	if (l->memory == NULL)
		return -1;
	for (i = 0; i < l->n_pairs; i++) {
		int *fd = l->pair[i].fd, end;

		if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) != 0)
			return gv_error_sys(e, "no sockets");
		for (end = 0; end < 2; end++)
			if (fcntl(fd[end], F_SETFD, FD_CLOEXEC) == -1 ||
			    fcntl(fd[end], F_SETFL, O_NONBLOCK) == -1)
				return gv_error_sys(e, "no sockets");
	}
	return 0;
}

int
gv_local_open(struct gv_local **l, int n, enum gv_local_kind kind,
    bool (*joined)(const void *ctx, int a, int b), const void *ctx, struct gv_error *e)
{
	struct gv_local *x = gv_xcalloc(1, sizeof(*x));
	int a, b;

	x->n = n;
	x->kind = kind;
	for (a = 0; a < n; a++)
		for (b = a + 1; b < n; b++)
			if (joined(ctx, a, b)) {
				x->pair = gv_xgrow(
				    x->pair, &x->cap, x->n_pairs + 1, sizeof(*x->pair));
				x->pair[x->n_pairs++] = (struct pair){a, b, {-1, -1}};
			}
	if ((kind == GV_LOCAL_TCP ? connect_pairs(x, e) : share_memory(x, e)) == 0) {
		*l = x;
		return 0;
	}
	gv_local_close(x);
	return -1;
}

static struct gv_link *
link_of(const struct gv_local *l, size_t i, int end)
{
	int fd = l->pair[i].fd[end];

	if (l->kind == GV_LOCAL_TCP)
		return gv_link_tcp(fd);
	return gv_link_memory(fd, l->memory + i * gv_link_memory_bytes(), end == 1, 0);
}

void
gv_local_take(struct gv_local *l, int r, struct gv_link **link)
{
	size_t i;
	int m, end;

	for (m = 0; m < l->n; m++)
		link[m] = NULL;
	for (i = 0; i < l->n_pairs; i++)
		for (end = 0; end < 2; end++) {
			struct pair *p = &l->pair[i];
			int here = end == 0 ? p->a : p->b, there = end == 0 ? p->b : p->a;

			if (here != r)
				continue;
			link[there] = link_of(l, i, end);
			p->fd[end] = -1;
		}
	l->memory = NULL; /* theirs from now on */
	gv_local_close(l);
}

void
gv_local_close(struct gv_local *l)
{
	size_t i;

	if (l == NULL)
		return;
	for (i = 0; i < l->n_pairs; i++) {
		if (l->pair[i].fd[0] != -1)
			close(l->pair[i].fd[0]);
		if (l->pair[i].fd[1] != -1)
			close(l->pair[i].fd[1]);
	}
	gv_shm_free(l->memory, l->n_pairs * gv_link_memory_bytes() + 1);
	free(l->pair);
	free(l);
}
