/*
 * common/net: what members of a gang write to each other, byte by byte, is what they wrote
 * before: a gang within this process, on links that take and give a drawn part of it, with
 * messages, sums, members that leave, that ask for something else, and whose bytes are damaged.
 */
#include "recorded.h"

#include "base/mem.h"
#include "draws.h"
#include "net/mesh.h"

enum { WORLD = 5, MESSAGES = 240, SUMS = 4, KINDS = 3, SLOTS = 3 };

/* ---- links ---- */

/* One end: what it has written and the other has not read is [at, n) of b. */
struct wire {
	struct gv_link l;
	struct wire *other;
	unsigned char *b;
	size_t at, n, cap, room, most;
	uint64_t sum; /* of all bytes */
	bool gone;
};

static size_t
less(size_t a, size_t b)
{
	return a < b ? a : b;
}

static ptrdiff_t
wire_send(struct gv_link *l, struct iovec *v, int n)
{
	struct wire *w = (struct wire *)l;
	size_t may = less(w->room - less(w->room, w->n - w->at), 1 + below(w->most)),
	       all = 0;
	int i;

	if (w->gone)
		return -1;
	for (i = 0; i < n && may > 0; i++) {
		size_t len = less(v[i].iov_len, may), k;

		w->b = gv_xgrow(w->b, &w->cap, w->n + len + 1, 1);
		memcpy(w->b + w->n, v[i].iov_base, len);
		for (k = 0; k < len; k++)
			w->sum = (w->sum ^ w->b[w->n + k]) * 1099511628211U;
		w->n += len;
		all += len;
		may -= len;
	}
	return (ptrdiff_t)all;
}

static ptrdiff_t
wire_recv(struct gv_link *l, struct iovec *v, int n)
{
	struct wire *w = (struct wire *)l, *o = w->other;
	size_t may = less(o->n - o->at, 1 + below(o->most)), got = 0;
	int i;

	if (may == 0 && o->gone)
		return -1;
	for (i = 0; i < n && got < may; i++) {
		size_t len = less(v[i].iov_len, may - got);

		memcpy(v[i].iov_base, o->b + o->at, len);
		o->at += len;
		got += len;
	}
	return (ptrdiff_t)got;
}

static void
wire_close(struct gv_link *l, double deadline)
{
	(void)deadline;
	((struct wire *)l)->gone = true;
}

static short
wire_rest(struct gv_link *l, bool sends, bool *ready)
{
	struct wire *w = (struct wire *)l;

	*ready = sends || w->other->at < w->other->n || w->other->gone;
	return 0;
}

/* ---- a gang ---- */

struct planned {
	int from, to;
	struct gv_tag tag;
	size_t bytes;
	bool sent, received;
	struct gv_message out, in;
	unsigned char *what, *got;
};

static struct {
	int world;
	struct wire wire[WORLD][WORLD];
	struct gv_gang *g[WORLD];
	struct planned plan[MESSAGES];
	struct gv_sum sum[WORLD][SUMS];
	float x[WORLD][SUMS][40000];
	size_t floats[SUMS], begun[WORLD];
} w;

static void
open_gang(int world, size_t most, size_t room)
{
	static const struct gv_link_ops ops = {
	    wire_send, wire_recv, wire_close, wire_rest};
	struct gv_link *link[WORLD];
	int r, k;

	memset(&w, 0, sizeof(w));
	w.world = world;
	for (r = 0; r < world; r++) {
		for (k = 0; k < world; k++) {
			w.wire[r][k] = (struct wire){.l = {&ops, -1},
			    .other = &w.wire[k][r],
			    .room = room,
			    .most = most};
			link[k] = k == r ? NULL : &w.wire[r][k].l;
		}
		w.g[r] = gv_mesh_new(r, world, link, 1e6);
		for (k = 0; k < world; k++)
			snprintf(w.g[r]->peer[k].host, GV_SOCK_ADDR, "host%d", k);
	}
}

static void
draw_plan(void)
{
	size_t k, i;

	for (k = 0; k < MESSAGES; k++) {
		struct planned *p = &w.plan[k];

		p->from = (int)below((size_t)w.world);
		p->to = (p->from + 1 + (int)below((size_t)w.world - 1)) % w.world;
		p->tag.slot = (uint32_t)below(SLOTS);
		p->tag.kind = (uint32_t)below(KINDS);
		/* mostly small, some around the limit, some large */
		switch (below(4)) {
		case 0:
			p->bytes = GV_MESSAGE_SMALL - 2 + below(5);
			break;
		case 1:
			p->bytes = below(4 * GV_MESSAGE_SMALL);
			break;
		default:
			p->bytes = below(100);
			break;
		}
		p->what = gv_xcalloc(p->bytes + 1, 1);
		p->got = gv_xcalloc(p->bytes + 1, 1);
		for (i = 0; i < p->bytes; i++)
			p->what[i] = (unsigned char)(k * 31 + i * 7 + (i >> 8));
	}
	for (k = 0; k < SUMS; k++)
		w.floats[k] = k == 0 ? 1 + below(40) : below(40000);
}

/* So many small ones, to few, that they do not all fit into a window. */
static void
draw_crowd(void)
{
	size_t k;

	draw_plan();
	for (k = 0; k < MESSAGES; k++) {
		struct planned *p = &w.plan[k];

		if (below(12) == 0)
			continue;
		p->from = k % 5 == 0;
		p->to = !p->from;
		p->tag = (struct gv_tag){(uint32_t)below(2), 0};
		free(p->what);
		free(p->got);
		p->bytes = GV_MESSAGE_SMALL - below(3);
		p->what = gv_xcalloc(p->bytes + 1, 1);
		p->got = gv_xcalloc(p->bytes + 1, 1);
		p->what[0] = (unsigned char)k;
	}
}

/* The first message that rank has not posted, of those that it sends, or else receives. */
static void
post(int rank, bool sends)
{
	size_t k;

	for (k = 0; k < MESSAGES; k++) {
		struct planned *p = &w.plan[k];

		if (sends && p->from == rank && !p->sent) {
			p->sent = true;
			p->out.word = (uint32_t)k;
			gv_mesh_send(
			    w.g[rank], &p->out, p->to, p->tag, p->what, p->bytes);
			return;
		}
		if (!sends && p->to == rank && !p->received) {
			p->received = true;
			gv_mesh_recv(
			    w.g[rank], &p->in, p->from, p->tag, p->got, p->bytes);
			return;
		}
	}
}

static void
begin_sum(int rank)
{
	size_t k = w.begun[rank], i;

	if (k == SUMS)
		return;
	w.begun[rank]++;
	for (i = 0; i < w.floats[k]; i++)
		w.x[rank][k][i] = (float)((i * 13 + (size_t)rank * 7) % 101) / 8;
	gv_sum_begin(w.g[rank], &w.sum[rank][k], w.x[rank][k], w.floats[k], 1U << rank);
}

/* ---- what is recorded ---- */

static void
record_wires(struct recorded *r)
{
	int i, k;

	for (i = 0; i < w.world; i++)
		for (k = 0; k < w.world; k++) {
			recorded_whole(r, (long long)w.wire[i][k].sum);
			recorded_whole(r, (long long)w.wire[i][k].n);
			recorded_whole(r, (long long)w.wire[i][k].at);
		}
}

static void
record_peers(struct recorded *r)
{
	int i, k;

	for (i = 0; i < w.world; i++)
		for (k = 0; k < w.world && w.g[i] != NULL; k++) {
			const struct gv_peer *p = &w.g[i]->peer[k];

			recorded_whole(r, p->link != NULL);
			recorded_whole(r, p->left + 2 * p->deaf);
			recorded_whole(r, (long long)p->window);
			recorded_whole(r, (long long)p->kept_bytes);
			recorded_whole(r, (long long)p->taken);
			recorded_whole(r, (long long)p->large);
			recorded_whole(r, (long long)p->in_left);
			recorded_whole(r, (long long)(p->say.n + 1000 * p->asks.n));
			recorded_whole(r, (long long)(p->grants.n + 1000 * p->offers.n));
		}
}

/* What each member says of the gang. */
static void
record_state(struct recorded *r)
{
	int i;

	for (i = 0; i < w.world; i++) {
		struct gv_error e = {0};

		if (w.g[i] == NULL)
			continue;
		recorded_whole(r, gv_mesh_state(w.g[i], &e));
		recorded_text(r, e.count > 0 ? e.text[0] : "");
		recorded_whole(r, w.g[i]->untold);
		gv_error_clear(&e);
	}
}

/* Drawn turns: posts, sums, and moves of one peer or all. */
static void
take_turns(struct recorded *r, size_t turns)
{
	size_t k;

	for (k = 0; k < turns; k++) {
		int rank = (int)below((size_t)w.world),
		    peer = (int)below((size_t)w.world);
		struct gv_gang *g = w.g[rank];

		if (g == NULL)
			continue;
		switch (below(8)) {
		case 0:
			post(rank, true);
			break;
		case 1:
			post(rank, false);
			break;
		case 2:
			begin_sum(rank);
			break;
		case 3:
			if (peer != rank)
				recorded_whole(r, gv_mesh_move(g, &g->peer[peer], 0));
			break;
		default:
			recorded_whole(r, gv_mesh_move(g, NULL, 0));
			break;
		}
		if (k % 16 == 0)
			record_peers(r);
	}
	record_wires(r);
}

/* All that is not posted yet, and moves until nothing moves. */
static void
finish(void)
{
	bool moved = true;
	size_t k;
	int r;

	for (k = 0; k < MESSAGES; k++)
		for (r = 0; r < w.world; r++) {
			post(r, true);
			post(r, false);
			begin_sum(r);
		}
	while (moved) {
		moved = false;
		for (r = 0; r < w.world; r++)
			moved = gv_mesh_move(w.g[r], NULL, 0) || moved;
	}
}

/* How many messages and sums are not what they should be. */
static size_t
wrong(void)
{
	size_t bad = 0, k, i, r;

	for (k = 0; k < MESSAGES; k++) {
		const struct planned *p = &w.plan[k];

		bad += !p->out.done || !p->in.done || p->in.word >= MESSAGES;
		/* of one tag they come in order */
		bad += p->in.word < MESSAGES &&
		       memcmp(p->got, w.plan[p->in.word].what, p->bytes) != 0;
	}
	for (k = 0; k < SUMS; k++)
		for (r = 0; r < (size_t)w.world; r++) {
			bad +=
			    !w.sum[r][k].done || w.sum[r][k].flags != (1U << w.world) - 1;
			for (i = 0; i < w.floats[k]; i++)
				bad += w.x[r][k][i] != w.x[0][k][i];
		}
	return bad;
}

static void
close_gang(void)
{
	size_t k;
	int r, i;

	for (r = 0; r < w.world; r++) {
		if (w.g[r] != NULL) {
			w.g[r]->untold = false; /* nobody is waited for */
			gv_mesh_free(w.g[r]);
		}
		for (i = 0; i < w.world; i++)
			free(w.wire[r][i].b);
	}
	for (k = 0; k < MESSAGES; k++) {
		free(w.plan[k].what);
		free(w.plan[k].got);
	}
}

/* ---- the questions ---- */

static void
test_traffic(struct recorded *r, int world, size_t most, size_t room)
{
	size_t bad;

	draws_begin((uint64_t)world, (uint32_t)most, (uint32_t)room);
	open_gang(world, most, room);
	draw_plan();
	take_turns(r, 600);
	record_state(r);
	finish();
	record_wires(r);
	record_peers(r);
	bad = wrong();
	close_gang();
	recorded_answer(
	    r, "%d members, %zu bytes at once, room for %zu", world, most, room);
	is_int(bad, 0, "and all comes to where it belongs");
}

/* Receives are posted late: what finds no room in the window is offered. */
static void
test_window(struct recorded *r, int world, size_t most)
{
	size_t bad, k;

	draws_begin((uint64_t)world, (uint32_t)most, 5);
	open_gang(world, most, 1000000);
	draw_crowd();
	for (k = 0; k < MESSAGES; k++) {
		post(0, true);
		if (k % 2 == 0)
			post(1, true);
		if (k % 8 == 0) {
			gv_mesh_move(w.g[0], NULL, 0);
			gv_mesh_move(w.g[1], NULL, 0);
			record_peers(r);
		}
	}
	take_turns(r, 1500);
	record_state(r);
	finish();
	record_wires(r);
	record_peers(r);
	bad = wrong();
	close_gang();
	recorded_answer(r, "%d members, full windows, %zu bytes at once", world, most);
	is_int(bad, 0, "and all comes to where it belongs");
}

/* Who adds what to whose in worlds of all sizes. */
static void
test_stages(struct recorded *r)
{
	int world, rank;
	size_t i;

	for (world = 1; world <= 70; world++) {
		for (rank = 0; rank < world; rank++) {
			struct gv_stages s = {.n = 9};

			gv_stages_tree(&s, rank, world);
			recorded_whole(r, (long long)s.n);
			for (i = 0; i < s.n; i++) {
				const struct gv_stage *t = &s.stage[i];
				int k;

				recorded_whole(r, t->to * 1000 + t->from);
				recorded_whole(r, (int)t->level * 2 + t->above);
				for (k = 0; k < t->n_pass; k++)
					recorded_whole(r, t->pass[k]);
			}
		}
		if (world % 10 == 0)
			recorded_answer(r, "stages of up to %d members", world);
	}
}

/* A member leaves in the middle, or is gone, or writes what is no frame. */
static void
test_loss(struct recorded *r, int world, int kind)
{
	int lost;
	size_t k;

	draws_begin((uint64_t)world, 77, (uint32_t)kind);
	open_gang(world, 20000, 100000);
	draw_plan();
	lost = (int)below((size_t)world);
	/* a receive of another size */
	if (kind == 3)
		for (k = 0; k < MESSAGES; k++)
			if (w.plan[k].from == lost && w.plan[k].bytes > 0)
				w.plan[k].bytes--;
	take_turns(r, 150);
	if (kind == 0) {
		gv_mesh_free(w.g[lost]);
		w.g[lost] = NULL;
	}
	for (k = 0; kind == 1 && k < (size_t)world; k++)
		w.wire[lost][k].gone = true;
	if (kind == 2) {
		struct wire *s = &w.wire[lost][(lost + 1) % world];

		for (k = s->at; k < s->n; k++)
			s->b[k] ^= (unsigned char)(1 << below(8));
	}
	if (kind == 4)
		gv_mesh_blame(w.g[lost], GV_BLAME_SILENT, (lost + 1) % world, lost);
	if (kind == 5)
		gv_mesh_blame(w.g[lost], GV_BLAME_HUNG, (lost + 1) % world, lost);
	if (kind == 6)
		gv_mesh_blame(w.g[lost], GV_BLAME_CIRCLE, (lost + 1) % world, lost);
	take_turns(r, 200);
	record_state(r);
	record_peers(r);
	close_gang();
	recorded_answer(r, "%d members, loss of kind %d", world, kind);
}

/* Sixteen thousand notes to a member that does not read, and those it may not have. */
static void
test_notes(struct recorded *r)
{
	struct gv_notes n = {0};
	struct gv_net_frame f = {0};
	size_t k, added = 0;

	draws_begin(1, 2, 3);
	for (k = 0; k < 3000; k++) {
		f.tag = (struct gv_tag){(uint32_t)below(6), (uint32_t)below(2)};
		f.bytes = k;
		if (below(5) < 3)
			recorded_whole(r, gv_notes_add(&n, &f));
		else if (gv_notes_take(&n, f.tag, &f))
			recorded_whole(r, (long long)f.bytes);
		recorded_whole(r, (long long)n.n);
	}
	while (gv_notes_add(&n, &f))
		added++;
	recorded_whole(r, (long long)(added + n.n));
	free(n.note);
	recorded_answer(r, "notes");
}

int
main(void)
{
	static const size_t most[] = {7, 100, 5000, 200000},
			    room[] = {1000, 70000, 10000000};
	struct recorded r;
	size_t i, k;
	int world, kind;

	recorded_open(&r);
	for (world = 2; world <= WORLD; world++) {
		for (i = 0; i < 4; i++)
			for (k = 0; k < 3; k++)
				test_traffic(&r, world, most[i], room[k]);
		for (kind = 0; kind < 7; kind++)
			test_loss(&r, world, kind);
	}
	for (world = 2; world <= 3; world++)
		for (i = 0; i < 4; i++)
			test_window(&r, world, most[i]);
	test_stages(&r);
	test_notes(&r);
	recorded_close(&r);
	return done_testing();
}
