/*
 * A member of a gang whose peer may send anything, in pieces of any size.  Holds:
 * posted receives end only when all their bytes have come, nothing is written
 * outside of them, what is sent back is whole frames, and a broken gang says one
 * thing and goes on saying it.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "holds.h"
#include "net/mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t *s, size_t len);

/* A link over the input; the first byte of it says how much each call moves. */
struct input {
	struct gv_link link;
	const uint8_t *s;
	size_t len;
	size_t piece;
	size_t sent;
};

static ptrdiff_t
input_send(struct gv_link *l, struct iovec *v, int n)
{
	struct input *in = (struct input *)l;
	size_t all = 0;
	int i;

	for (i = 0; i < n; i++)
		all += v[i].iov_len;
	all = all < in->piece ? all : in->piece;
	in->sent += all;
	return (ptrdiff_t)all;
}

static ptrdiff_t
input_recv(struct gv_link *l, struct iovec *v, int n)
{
	struct input *in = (struct input *)l;
	size_t most = in->piece < in->len ? in->piece : in->len, got = 0;
	int i;

	if (in->len == 0)
		return -1;
	for (i = 0; i < n && got < most; i++) {
		size_t len = v[i].iov_len < most - got ? v[i].iov_len : most - got;

		memcpy(v[i].iov_base, in->s + got, len);
		got += len;
	}
	in->s += got;
	in->len -= got;
	return (ptrdiff_t)got;
}

static void
input_close(struct gv_link *l, double deadline)
{
	(void)deadline;
	free(l);
}

static struct gv_link *
link_over(const uint8_t *s, size_t len, int fd)
{
	static const struct gv_link_ops ops = {input_send, input_recv, input_close, NULL};
	struct input *in = gv_xcalloc(1, sizeof(*in));

	in->link.ops = &ops;
	in->link.fd = fd;
	in->piece = len > 0 ? (size_t)s[0] + 1 : 1;
	in->s = len > 0 ? s + 1 : s;
	in->len = len > 0 ? len - 1 : 0;
	return &in->link;
}

enum { RECVS = 4, GUARD = 16 };

int
LLVMFuzzerTestOneInput(const uint8_t *s, size_t len)
{
	static const size_t size[RECVS] = {0, 5, 40, GV_MESSAGE_SMALL + 100};
	static int fd = -1;
	unsigned char *data[RECVS];
	struct gv_message recv[RECVS], send[2];
	static unsigned char out[GV_MESSAGE_SMALL + 1];
	struct gv_link *link[2] = {NULL, NULL};
	struct gv_error e = {0}, again = {0};
	struct gv_gang *g;
	float x[3] = {1, 2, 3};
	struct gv_sum sum;
	size_t i, j;
	int turn;

	if (fd == -1)
		fd = open("/dev/zero", O_RDWR); /* is ready always */
	link[1] = link_over(s, len, fd);
	g = gv_mesh_new(0, 2, link, 60);
	memset(recv, 0, sizeof(recv));
	memset(send, 0, sizeof(send));
	for (i = 0; i < RECVS; i++) {
		data[i] = gv_xcalloc(size[i] + GUARD, 1);
		memset(data[i] + size[i], 0x5a, GUARD);
	}
	gv_gang_recv(g, &recv[1], 1, (struct gv_tag){1, 1}, data[1], size[1]);
	gv_gang_recv(g, &recv[3], 1, (struct gv_tag){3, 1}, data[3], size[3]);
	gv_gang_send(g, &send[0], 1, (struct gv_tag){1, 2}, out, 7);
	gv_gang_send(g, &send[1], 1, (struct gv_tag){2, 2}, out, sizeof(out));
	gv_gang_sum_begin(g, &sum, x, 3, 1);
	for (turn = 0; turn < 2000 && gv_gang_poll(g, &e) == 0; turn++) {
		if (turn == 2) { /* late: what came before is kept */
			gv_gang_recv(
			    g, &recv[0], 1, (struct gv_tag){0, 1}, data[0], size[0]);
			gv_gang_recv(
			    g, &recv[2], 1, (struct gv_tag){2, 1}, data[2], size[2]);
		}
		if (g->peer[1].link == NULL)
			break;
	}
	HOLDS(e.count <= 1);
	if (e.count == 1) {
		HOLDS(gv_gang_wait(g, &recv[3], &again) == -1 || recv[3].done);
		HOLDS(again.count == 0 || strcmp(e.text[0], again.text[0]) == 0);
	}
	for (i = 0; i < RECVS; i++) {
		for (j = 0; j < GUARD; j++)
			HOLDS(data[i][size[i] + j] == 0x5a);
		HOLDS(!recv[i].done || len > size[i]);
	}
	gv_gang_leave(g);
	for (i = 0; i < RECVS; i++)
		free(data[i]);
	return 0;
}
