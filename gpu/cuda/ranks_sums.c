/*
 * Sums over ranks, on a stream of their own beside the computing one.
 *
 * In any order: ncclAllReduce, whose order of sums is NCCL's own, the same at all ranks
 * and, while ranks, topology and NCCL stay, from run to run.  In the order of the ranks:
 * every rank gets all ranks' numbers of its own part, adds them with our kernel, and gives
 * the sums to all; as many bytes as around a ring.
 */
#include <stdint.h>

#include "cuda/ranks.h"

/* Part k of n numbers: [*at, *at + its size) */
static size_t
part_of(const struct gv_cuda_ranks *r, size_t n, size_t k, size_t *at)
{
	size_t ranks = (size_t)r->join.ranks;

	*at = n * k / ranks;
	return n * (k + 1) / ranks - *at;
}

/* The result of a group, of whose calls one may have failed. */
static int
end_group(struct gv_cuda *c, int result)
{
	int end = c->ranks->n.group_end();

	return gv_cuda_settle(
	    c, c->ranks->comm, gv_cuda_nccl_well(result) ? end : result);
}

static int
sum_any(struct gv_cuda *c, const struct gv_nn_piece *piece, size_t pieces)
{
	struct gv_cuda_ranks *r = c->ranks;
	int result = r->n.group_start();
	size_t i;

	if (result != GV_NCCL_SUCCESS)
		return gv_cuda_nccl_failed(c, r->comm, result);
	for (i = 0; i < pieces && gv_cuda_nccl_well(result); i++)
		result = r->n.all_reduce(piece[i].v, piece[i].v, piece[i].n,
		    GV_NCCL_FLOAT, GV_NCCL_SUM, r->comm, r->stream);
	return end_group(c, result);
}

/* Room for the own parts of all ranks; a larger one once no sum is in it. */
static int
find_room(struct gv_cuda *c, size_t n)
{
	struct gv_cuda_ranks *r = c->ranks;

	if (n <= r->room_n)
		return 0;
	if (r->room != 0 &&
	    (gv_cuda_check(c, c->d->event_record(r->ended, r->stream), "an event") != 0 ||
		gv_cuda_reach(c, r->ended) != 0 ||
		gv_cuda_check(c, c->d->release(r->room), "memory") != 0))
		return -1;
	r->room = 0;
	r->room_n = 0;
	if (gv_cuda_check(c, c->d->alloc(&r->room, n * sizeof(float)), "memory") != 0)
		return -1;
	r->room_n = n;
	return 0;
}

/* To rank k goes its part of v, or the own one, and here comes .. */
static int
exchange(struct gv_cuda *c, const struct gv_nn_piece *p, float *room, int k, bool sums)
{
	struct gv_cuda_ranks *r = c->ranks;
	size_t own_at, at, own = part_of(r, p->n, (size_t)r->join.rank, &own_at);
	size_t n = part_of(r, p->n, (size_t)k, &at);
	const float *from = sums ? p->v + own_at : p->v + at;
	float *to = sums ? p->v + at : room + (size_t)k * own;
	size_t n_from = sums ? own : n, n_to = sums ? n : own;
	int result = GV_NCCL_SUCCESS;

	if (n_from > 0)
		result = r->n.send(from, n_from, GV_NCCL_FLOAT, k, r->comm, r->stream);
	if (n_to > 0 && gv_cuda_nccl_well(result))
		result = r->n.recv(to, n_to, GV_NCCL_FLOAT, k, r->comm, r->stream);
	return result;
}

/* The numbers of the ranks' parts (sums: their sums) of all pieces, in one group. */
static int
exchange_all(struct gv_cuda *c, const struct gv_nn_piece *piece, size_t pieces, bool sums)
{
	struct gv_cuda_ranks *r = c->ranks;
	float *room = (float *)(uintptr_t)r->room;
	int result = r->n.group_start(), k;
	size_t i, at;

	if (result != GV_NCCL_SUCCESS)
		return gv_cuda_nccl_failed(c, r->comm, result);
	for (i = 0; i < pieces; i++) {
		for (k = 0; k < r->join.ranks && gv_cuda_nccl_well(result); k++)
			if (k != r->join.rank)
				result = exchange(c, &piece[i], room, k, sums);
		room += (size_t)r->join.ranks *
			part_of(r, piece[i].n, (size_t)r->join.rank, &at);
	}
	return end_group(c, result);
}

/* The own part of a piece: all ranks' numbers as a tree over the ranks, or one by one. */
static int
add_up(struct gv_cuda *c, const struct gv_nn_piece *p, float *room)
{
	struct gv_cuda_ranks *r = c->ranks;
	size_t at, n = part_of(r, p->n, (size_t)r->join.rank, &at), k;
	bool chain = r->join.order == GV_NN_CHAIN;
	struct gv_cuda_tree t = {.B = 1, .n = n, .v = room, .to = room};

	if (n == 0)
		return 0;
	if (gv_cuda_check(c,
		c->d->copy((gv_cu_ptr)(uintptr_t)(room + (size_t)r->join.rank * n),
		    (gv_cu_ptr)(uintptr_t)(p->v + at), n * sizeof(float), r->stream),
		"a copy") != 0)
		return -1;
	for (k = 1; k < (size_t)r->join.ranks; k++) {
		t.part_apart = chain ? k * n : n;
		t.parts = chain ? 2 : (size_t)r->join.ranks;
		if (!chain || k + 1 == (size_t)r->join.ranks) {
			t.to = p->v + at;
			t.times = p->times;
			t.by = p->by;
		}
		if (gv_cuda_tree(&r->queue, &t) != 0)
			return -1;
		if (!chain)
			break;
	}
	return 0;
}

static int
sum_ordered(struct gv_cuda *c, const struct gv_nn_piece *piece, size_t pieces)
{
	struct gv_cuda_ranks *r = c->ranks;
	size_t i, at, n = 0;
	float *room;

	for (i = 0; i < pieces; i++)
		n += (size_t)r->join.ranks *
		     part_of(r, piece[i].n, (size_t)r->join.rank, &at);
	if (find_room(c, n) != 0 || exchange_all(c, piece, pieces, false) != 0)
		return -1;
	room = (float *)(uintptr_t)r->room;
	for (i = 0; i < pieces; i++) {
		if (add_up(c, &piece[i], room) != 0)
			return -1;
		room += (size_t)r->join.ranks *
			part_of(r, piece[i].n, (size_t)r->join.rank, &at);
	}
	return exchange_all(c, piece, pieces, true);
}

/*
 * The room that sums will need, so that none waits for another in the middle; and one number
 * to every rank: NCCL connects two at their first message, for which both must be there.
 */
int
gv_cuda_sums_connect(struct gv_cuda *c)
{
	struct gv_cuda_ranks *r = c->ranks;
	int ranks = r->join.ranks, result, k;
	float *room;

	if (r->join.order == GV_NN_ANY)
		return 0;
	if (find_room(c, r->join.most + 2 * (size_t)ranks) != 0)
		return -1;
	room = (float *)(uintptr_t)r->room;
	result = r->n.group_start();
	if (result != GV_NCCL_SUCCESS)
		return gv_cuda_nccl_failed(c, r->comm, result);
	for (k = 0; k < ranks && gv_cuda_nccl_well(result); k++) {
		if (k == r->join.rank)
			continue;
		result = r->n.send(
		    room + r->join.rank, 1, GV_NCCL_FLOAT, k, r->comm, r->stream);
		if (gv_cuda_nccl_well(result))
			result = r->n.recv(
			    room + ranks + k, 1, GV_NCCL_FLOAT, k, r->comm, r->stream);
	}
	if (end_group(c, result) != 0 ||
	    gv_cuda_check(c, c->d->event_record(r->ended, r->stream), "an event") != 0)
		return -1;
	return gv_cuda_reach(c, r->ended);
}

int
gv_cuda_add_ranks(
    struct gv_nn_backend *be, const struct gv_nn_piece *piece, size_t pieces)
{
	struct gv_cuda *c = (struct gv_cuda *)be;
	struct gv_cuda_ranks *r = c->ranks;

	if (gv_cuda_flush(c) != 0 || r->comm == NULL ||
	    gv_cuda_check(c, c->d->event_record(r->begun, c->stream), "an event") != 0 ||
	    gv_cuda_check(c, c->d->stream_wait(r->stream, r->begun, 0), "an event") != 0)
		return -1;
	r->open = true;
	return r->join.order == GV_NN_ANY ? sum_any(c, piece, pieces)
					  : sum_ordered(c, piece, pieces);
}

int
gv_cuda_added(struct gv_nn_backend *be)
{
	struct gv_cuda *c = (struct gv_cuda *)be;
	struct gv_cuda_ranks *r = c->ranks;

	if (gv_cuda_flush(c) != 0)
		return -1;
	if (!r->open)
		return 0;
	r->open = false;
	return gv_cuda_check(c, c->d->event_record(r->ended, r->stream), "an event") !=
			   0 ||
		       gv_cuda_check(
			   c, c->d->stream_wait(c->stream, r->ended, 0), "an event") != 0
		   ? -1
		   : 0;
}
