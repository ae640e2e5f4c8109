/*
 * Inside what reaches other ranks' devices: one communicator for the sums of all that have
 * joined, and one of two ranks for each link.  Private to gpu/cuda/ranks*.c.
 *
 * Nothing waits in a call that does not come back when a rank dies: communicators do
 * not block, events are asked for, and meanwhile whoever has joined is asked whether all
 * ranks are alive.  If not, all communicators are aborted.
 */
#ifndef GV_CUDA_RANKS_H
#define GV_CUDA_RANKS_H

#include "cuda/nccl.h"
#include "cuda/parts.h"

/* A message on the device, on its way. */
struct gv_cuda_message {
	gv_cu_ptr v; /* 0: not made yet */
	/* moved: it is with the other one, or here; left: it was copied out */
	gv_cu_event moved, left;
	bool taken; /* by a message that was not copied out */
};

struct gv_cuda_link {
	gv_nccl_comm comm;
	gv_cu_stream stream;
	gv_cu_event made; /* what is sent */
	bool sends;
	size_t bytes; /* of each message */
	struct gv_cuda_message *message;
	size_t n, cap, next;
};

struct gv_cuda_ranks {
	struct gv_cuda_nccl n;
	struct gv_nn_watch watch;
	gv_cu_event all;

	/* sums */
	gv_nccl_comm comm; /* NULL: there are none */
	struct gv_nn_join join;
	gv_cu_stream stream;
	gv_cu_event begun, ended;
	struct gv_cuda_queue queue; /* of the stream, at once */
	gv_cu_ptr room;             /* other ranks' numbers */
	size_t room_n;
	bool open; /* sums that the computing stream does not wait for yet */

	struct gv_cuda_link *link;
	size_t links, links_cap;
};

/* NCCL's table.  0, or -1 with *e: there is none. */
int gv_cuda_ranks_load(struct gv_cuda *c, struct gv_cuda_nccl *n, struct gv_error *e);
/* c->ranks, where they are not there yet.  0, or -1 with *e. */
int gv_cuda_ranks_open(
    struct gv_cuda *c, const struct gv_nn_watch *watch, struct gv_error *e);
/* A communicator that does not block, once it is there.  0 or -1. */
int gv_cuda_ranks_meet(
    struct gv_cuda *c, gv_nccl_comm *comm, const unsigned char *id, int rank, int ranks);
/* Ends one, unless it was aborted: all ranks of it do. */
void gv_cuda_ranks_part(struct gv_cuda *c, gv_nccl_comm *comm);

/* Joined, in an order: gets ready for sums.  0 or -1. */
int gv_cuda_sums_connect(struct gv_cuda *c);

/* A call of NCCL has been answered: until what it began is done.  0, or -1. */
int gv_cuda_settle(struct gv_cuda *c, gv_nccl_comm comm, int result);
/* A call of NCCL has failed, unless a rank is gone.  -1. */
int gv_cuda_nccl_failed(struct gv_cuda *c, gv_nccl_comm comm, int result);

/* Asks for all messages, that what they wait for goes on.  0, or -1. */
int gv_cuda_links_look(struct gv_cuda *c);
void gv_cuda_links_abort(struct gv_cuda_ranks *r);
void gv_cuda_links_close(struct gv_cuda *c);

static inline bool
gv_cuda_nccl_well(int result)
{
	return result == GV_NCCL_SUCCESS || result == GV_NCCL_IN_PROGRESS;
}

#endif
