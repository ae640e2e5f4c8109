/* common/net: messages between the members of a gang, element by element. */
#include "net_help.h"

#include "base/mem.h"
#include "net/mesh.h"

enum { MESSAGES = 400, SLOTS = 4, KINDS = 3 };

/* Message k of a plan that all ranks draw alike. */
struct planned {
	int from, to;
	struct gv_tag tag;
	size_t bytes;
};

struct traffic {
	uint64_t seed;
	size_t largest;
};

static double
draw(uint64_t seed, uint32_t a, uint64_t i)
{
	return gv_random_uniform(seed, a, 9, i);
}

static struct planned
plan(const struct traffic *t, int world, size_t k)
{
	struct planned p;
	double size = draw(t->seed, 4, k);

	p.from = (int)(draw(t->seed, 1, k) * world);
	p.to = (p.from + 1 + (int)(draw(t->seed, 2, k) * (world - 1))) % world;
	p.tag.slot = (uint32_t)(draw(t->seed, 3, k) * SLOTS);
	p.tag.kind = (uint32_t)(draw(t->seed, 5, k) * KINDS);
	/* mostly small, some around the limit, some large */
	if (size < 0.5)
		p.bytes = (size_t)(draw(t->seed, 6, k) * 100);
	else if (size < 0.7)
		p.bytes = GV_MESSAGE_SMALL - 2 + (size_t)(draw(t->seed, 6, k) * 5);
	else
		p.bytes = (size_t)(draw(t->seed, 6, k) * (double)t->largest);
	return p;
}

static unsigned char
byte(size_t k, size_t i)
{
	return (unsigned char)(k * 31 + i * 7 + (i >> 8));
}

enum { PIECES = 20 };

struct post {
	struct gv_message m;
	unsigned char *data, *copy;
	struct iovec piece[PIECES];
};

static void
post_send(struct gv_gang *g, struct post *s, const struct planned *p, size_t k)
{
	size_t i, pieces;

	s->data = gv_xcalloc(p->bytes + 1, 1);
	for (i = 0; i < p->bytes; i++)
		s->data[i] = byte(k, i);
	s->m.word = (uint32_t)k;
	if (k % 3 != 0) {
		gv_gang_send(g, &s->m, p->to, p->tag, s->data, p->bytes);
		return;
	}
	/* in pieces, some of them empty */
	pieces = k % PIECES + 1;
	for (i = 0; i < pieces; i++) {
		size_t first = i * i * p->bytes / (pieces * pieces),
		       last = (i + 1) * (i + 1) * p->bytes / (pieces * pieces);

		s->piece[i] = (struct iovec){s->data + first, last - first};
	}
	gv_gang_send_pieces(g, &s->m, p->to, p->tag, s->piece, pieces);
}

/* What it is sent from is wanted for something else. */
static void
take_back(struct gv_gang *g, struct post *s, const struct planned *p)
{
	s->copy = gv_xcalloc(p->bytes + 1, 1);
	if (!gv_gang_send_copy(g, &s->m, s->copy) && s->copy[0] != 0)
		_exit(3);
	memset(s->data, 0xee, p->bytes);
	memset(s->piece, 0xee, sizeof(s->piece));
}

static void
post_recv(struct gv_gang *g, struct post *r, const struct planned *p)
{
	r->data = gv_xcalloc(p->bytes + 1, 1);
	gv_gang_recv(g, &r->m, p->from, p->tag, r->data, p->bytes);
}

/*
 * Sends in the order of the plan; receives tag by tag in an order of this rank's
 * own, mixed with the sends at random.  0 right, 1 an error, 2 wrong bytes.
 */
static int
random_member(struct gv_gang_spec *s, void *arg)
{
	const struct traffic *t = arg;
	struct gv_gang *g = join_or_exit(s);
	struct post *send = gv_xcalloc(MESSAGES, sizeof(*send));
	struct post *recv = gv_xcalloc(MESSAGES, sizeof(*recv));
	size_t next_send = 0, next_recv = 0, step, k, i;
	struct gv_error e = {0};
	uint32_t turn = (uint32_t)(draw(t->seed, 7, (uint64_t)s->rank) * SLOTS * KINDS);

	for (step = 0; next_send < MESSAGES || next_recv < MESSAGES * SLOTS * KINDS;
	     step++) {
		double d = draw(t->seed, 10 + (uint32_t)s->rank, step);
		struct planned p;

		if (d < 0.1 && gv_gang_poll(g, &e) != 0)
			return 1;
		if (d < 0.5 && next_send < MESSAGES) {
			k = next_send++;
			p = plan(t, s->world, k);
			if (p.from != s->rank)
				continue;
			post_send(g, &send[k], &p, k);
			if (k % 5 < 2)
				take_back(g, &send[k], &p);
		} else if (next_recv < MESSAGES * SLOTS * KINDS) {
			uint32_t tag =
			    (uint32_t)(next_recv / MESSAGES + turn) % (SLOTS * KINDS);

			k = next_recv++ % MESSAGES;
			p = plan(t, s->world, k);
			if (p.to == s->rank && p.tag.slot * KINDS + p.tag.kind == tag)
				post_recv(g, &recv[k], &p);
		}
	}
	for (k = MESSAGES; k-- > 0;) {
		struct planned p = plan(t, s->world, k);

		if (recv[k].data == NULL)
			continue;
		if (gv_gang_wait(g, &recv[k].m, &e) != 0) {
			fprintf(stderr, "# rank %d: %s\n", s->rank, e.text[0]);
			return 1;
		}
		for (i = 0; i < p.bytes; i++)
			if (recv[k].data[i] != byte(k, i))
				return 2;
		if (recv[k].m.word != k || recv[k].data[p.bytes] != 0)
			return 2;
	}
	for (k = 0; k < MESSAGES; k++) {
		if (send[k].data != NULL && gv_gang_wait(g, &send[k].m, &e) != 0)
			return 1;
		free(send[k].data);
		free(send[k].copy);
		free(recv[k].data);
	}
	free(send);
	free(recv);
	gv_gang_leave(g);
	return 0;
}

static void
test_random(void)
{
	int world, seed;

	for (world = 2; world <= 9; world++)
		for (seed = 0; seed < 3; seed++)
			is_int(each_rank(world, random_member,
				   &(struct traffic){
				       (uint64_t)seed + 1, seed == 2 ? 400000 : 30000}),
			    0, "random messages in a gang of %d, %d", world, seed);
}

/* More small messages than a window holds, before anybody asks for them, both ways. */
static int
flood_member(struct gv_gang_spec *s, void *arg)
{
	enum { N = 6000, BYTES = 500 };
	struct gv_gang *g = join_or_exit(s);
	struct gv_message *send = gv_xcalloc(N, sizeof(*send));
	struct gv_message *recv = gv_xcalloc(N, sizeof(*recv));
	unsigned char(*in)[BYTES] = gv_xcalloc(N, BYTES);
	static unsigned char out[BYTES];
	struct gv_message counted[2] = {0};
	struct gv_error e = {0};
	int other = 1 - s->rank, early = 0, turn;
	uint32_t k;

	(void)arg;
	for (k = 0; k < N; k++) {
		send[k].word = k;
		gv_gang_send(g, &send[k], other, (struct gv_tag){k, 1}, out, BYTES);
	}
	for (turn = 0; turn < 50 || (early < 100 && turn < 5000); turn++) {
		gv_sleep_s(0.002);
		if (gv_gang_poll(g, &e) != 0)
			return 1;
		for (early = 0, k = 0; k < N; k++)
			early += send[k].done;
	}
	if (early == N || early < 100) /* a window is all that goes ahead */
		return 3;
	/* nobody asks before the other one has counted */
	gv_gang_recv(g, &counted[0], other, (struct gv_tag){0, 2}, NULL, 0);
	gv_gang_send(g, &counted[1], other, (struct gv_tag){0, 2}, NULL, 0);
	if (gv_gang_wait(g, &counted[0], &e) != 0 ||
	    gv_gang_wait(g, &counted[1], &e) != 0)
		return 1;
	for (k = N; k-- > 0;) /* the last first: nothing stands in its way */
		gv_gang_recv(g, &recv[k], other, (struct gv_tag){k, 1}, in[k], BYTES);
	for (k = N; k-- > 0;)
		if (gv_gang_wait(g, &recv[k], &e) != 0 || recv[k].word != k)
			return 1;
	for (k = 0; k < N; k++)
		if (gv_gang_wait(g, &send[k], &e) != 0)
			return 1;
	gv_gang_leave(g);
	return 0;
}

/*
 * Small messages of some tags that nobody asks for before another one has come: they may fill
 * the window, and do not keep that from going.  Both ways.
 */
static int
crowd_member(struct gv_gang_spec *s, void *arg)
{
	enum { N = 900, BYTES = 1000, TAGS = 3 };
	struct gv_gang *g = join_or_exit(s);
	struct gv_message *send = gv_xcalloc(N, sizeof(*send));
	struct gv_message *recv = gv_xcalloc(N, sizeof(*recv));
	struct gv_message asked[2] = {0}, out = {0};
	unsigned char(*in)[BYTES] = gv_xcalloc(N, BYTES);
	static unsigned char bytes[BYTES];
	struct gv_error e = {0};
	int other = 1 - s->rank, i;
	uint32_t k;

	(void)arg;
	alarm(120); /* else it would wait for ever */
	for (k = 0; k < N; k++) {
		send[k].word = k;
		gv_gang_send(
		    g, &send[k], other, (struct gv_tag){k % TAGS, 1}, bytes, BYTES);
	}
	for (i = 0; i < 2; i++) { /* asked for before it comes, and behind */
		struct gv_tag tag = {(uint32_t)i, 2};

		if (i == 0)
			gv_gang_recv(g, &asked[i], other, tag, in[0], BYTES);
		gv_gang_send(g, &out, other, tag, bytes, BYTES);
		if (i == 1) {
			gv_sleep_s(.05);
			if (gv_gang_poll(g, &e) != 0)
				return 1;
			gv_gang_recv(g, &asked[i], other, tag, in[0], BYTES);
		}
		if (gv_gang_wait(g, &asked[i], &e) != 0 || gv_gang_wait(g, &out, &e) != 0)
			return 1;
	}
	for (k = 0; k < N; k++)
		gv_gang_recv(
		    g, &recv[k], other, (struct gv_tag){k % TAGS, 1}, in[k], BYTES);
	for (k = 0; k < N; k++)
		if (gv_gang_wait(g, &recv[k], &e) != 0 || recv[k].word != k)
			return 1;
	for (k = 0; k < N; k++)
		if (gv_gang_wait(g, &send[k], &e) != 0)
			return 1;
	alarm(0);
	gv_gang_leave(g);
	return 0;
}

/* A message that nobody asked for yet does not stand in the way of another. */
static int
passing_member(struct gv_gang_spec *s, void *arg)
{
	enum { BIG = 3000000 };
	struct gv_gang *g = join_or_exit(s);
	unsigned char *a = gv_xcalloc(BIG, 1), *b = gv_xcalloc(BIG, 1), c = 1;
	struct gv_message big = {0}, also = {0}, small = {0}, answer = {0}, seen = {0};
	struct gv_tag t1 = {1, 1}, t2 = {2, 1}, t3 = {3, 1}, t4 = {4, 1}, t5 = {5, 1};
	struct gv_error e = {0};
	int bad = 0;

	(void)arg;
	if (s->rank == 0) {
		gv_gang_send(g, &big, 1, t1, a, BIG);
		gv_gang_send(g, &also, 1, t2, b, BIG);
		gv_gang_send(g, &small, 1, t3, &c, 1);
		gv_gang_recv(g, &answer, 1, t4, NULL, 0);
		bad |= gv_gang_wait(g, &answer, &e) != 0 || big.done;
		gv_gang_send(g, &seen, 1, t5, NULL, 0);
		bad |= gv_gang_wait(g, &also, &e) != 0;
		bad |= gv_gang_wait(g, &big, &e) != 0 || gv_gang_wait(g, &seen, &e) != 0;
	} else {
		gv_gang_recv(g, &small, 0, t3, &c, 1);
		bad |= gv_gang_wait(g, &small, &e) != 0;
		gv_gang_recv(g, &also, 0, t2, b, BIG);
		bad |= gv_gang_wait(g, &also, &e) != 0;
		gv_gang_send(g, &answer, 0, t4, NULL, 0);
		gv_gang_recv(g, &seen, 0, t5, NULL, 0);
		bad |= gv_gang_wait(g, &seen, &e) != 0;
		gv_gang_recv(g, &big, 0, t1, a, BIG);
		bad |= gv_gang_wait(g, &big, &e) != 0;
	}
	gv_gang_leave(g);
	free(a);
	free(b);
	return bad;
}

/* What is sent before leaving arrives, and who left is no trouble to the others. */
static int
leaving_member(struct gv_gang_spec *s, void *arg)
{
	struct gv_gang *g = join_or_exit(s);
	struct gv_message m = {0};
	struct gv_error e = {0};
	uint32_t x = 5;
	int bad = 0;

	(void)arg;
	if (s->rank == 0) {
		gv_gang_send(g, &m, 1, (struct gv_tag){0, 1}, &x, sizeof(x));
		bad |= gv_gang_wait(g, &m, &e) != 0;
		gv_gang_leave(g);
		return bad;
	}
	gv_sleep_s(0.1);
	if (s->rank == 1) {
		gv_gang_recv(g, &m, 0, (struct gv_tag){0, 1}, &x, sizeof(x));
		bad |= gv_gang_wait(g, &m, &e) != 0 || x != 5;
		gv_gang_send(g, &m, 2, (struct gv_tag){0, 1}, &x, sizeof(x));
	} else {
		gv_gang_recv(g, &m, 1, (struct gv_tag){0, 1}, &x, sizeof(x));
	}
	bad |= gv_gang_wait(g, &m, &e) != 0 || x != 5;
	if (s->rank == 2) {
		/* but waiting for it is */
		gv_gang_recv(g, &m, 0, (struct gv_tag){0, 1}, &x, sizeof(x));
		bad |= gv_gang_wait(g, &m, &e) != -1;
		bad |= strcmp(e.text[0], "rank 0 of 127.0.0.1 is gone") != 0;
	}
	gv_gang_leave(g);
	return bad;
}

/* Rank 1 receives something else than rank 0 sends. */
struct sizes {
	size_t sent, wanted;
};

static int
mismatched_member(struct gv_gang_spec *s, void *arg)
{
	const struct sizes *z = arg;
	struct gv_gang *g = join_or_exit(s);
	unsigned char *data = gv_xcalloc(1000000, 1);
	struct gv_message m = {0};
	struct gv_error e = {0};
	int bad;

	if (s->rank == 0)
		gv_gang_send(g, &m, 1, (struct gv_tag){0, 1}, data, z->sent);
	else
		gv_gang_recv(g, &m, 0, (struct gv_tag){0, 1}, data, z->wanted);
	bad = gv_gang_wait(g, &m, &e) != -1;
	if (s->rank == 0 && z->sent <= GV_MESSAGE_SMALL)
		bad = 0; /* it has left long ago */
	else if (strstr(e.text[0], "of 127.0.0.1 is out of step") == NULL)
		bad = 1;
	gv_gang_leave(g);
	free(data);
	return bad;
}

static int
stray_member(struct gv_gang_spec *s, void *arg)
{
	struct gv_gang *g = join_or_exit(s);
	struct gv_message m = {0};
	struct gv_error e = {0};
	int bad;

	gv_gang_send(g, &m, *(int *)arg, (struct gv_tag){0, 1}, NULL, 0);
	bad = gv_gang_wait(g, &m, &e) != -1;
	gv_gang_leave(g);
	return bad;
}

static void
test_all(void)
{
	static const int nowhere[] = {-1, 2, 0};
	int i;

	test_random();
	is_int(each_rank(2, flood_member, NULL), 0, "more than a window of small ones");
	is_int(each_rank(2, crowd_member, NULL), 0,
	    "a window that is full keeps nothing back that is waited for");
	is_int(each_rank(2, passing_member, NULL), 0, "messages pass each other");
	is_int(each_rank(3, leaving_member, NULL), 0, "leaving in order");
	is_int(each_rank(2, mismatched_member, &(struct sizes){10, 11}), 0,
	    "sizes differ: small");
	is_int(each_rank(2, mismatched_member, &(struct sizes){100000, 100001}), 0,
	    "sizes differ: large");
	is_int(each_rank(2, mismatched_member, &(struct sizes){100000, 10}), 0,
	    "sizes differ: large for small");
	is_int(each_rank(2, mismatched_member, &(struct sizes){10, 100000}), 0,
	    "sizes differ: small for large");
	for (i = 0; i < 2; i++)
		is_int(each_rank(2, stray_member, (void *)(uintptr_t)&nowhere[i]), 0,
		    "a peer that is not there: %d", nowhere[i]);
}

/*
 * Neither calls anything while a message passes that no buffer of the system holds,
 * one each way.
 */
static int
beside_member(struct gv_gang_spec *s, void *arg)
{
	enum { N = 1 << 26 };
	struct gv_gang *g = join_or_exit(s);
	struct gv_message send = {.word = 5}, recv;
	unsigned char *out = gv_xcalloc(N, 1), *in = gv_xcalloc(N, 1);
	struct gv_tag tag = {1, 1};
	double until = gv_clock_s() + 60; /* a machine may be busy */
	size_t i;

	(void)arg;
	for (i = 0; i < N; i += 997)
		out[i] = byte((size_t)s->rank, i);
	gv_gang_recv(g, &recv, 1 - s->rank, tag, in, N);
	gv_gang_send(g, &send, 1 - s->rank, tag, out, N);
	while ((!send.done || !recv.done) && gv_clock_s() < until)
		gv_sleep_s(.01);
	if (!send.done || !recv.done || recv.word != 5)
		return 1;
	for (i = 0; i < N; i += 997)
		if (in[i] != byte(1 - (size_t)s->rank, i))
			return 2;
	free(in);
	free(out);
	gv_gang_leave(g);
	return 0;
}

/* Whoever dies is named by who waits, and the thread ends. */
static int
dying_member(struct gv_gang_spec *s, void *arg)
{
	struct gv_gang *g = join_or_exit(s);
	struct gv_tag tag = {1, 1};
	struct gv_error e = {0};
	struct gv_message recv, here = {0};
	char b[8] = "", there[8] = "";

	(void)arg;
	if (s->rank == 1) { /* when both others have joined */
		int rc = 0, r;

		for (r = 0; r <= 2; r += 2) {
			gv_gang_recv(g, &recv, r, tag, b, sizeof(b));
			rc = rc != 0 || gv_gang_wait(g, &recv, &e) != 0;
		}
		_exit(rc);
	}
	gv_gang_send(g, &here, 1, tag, there, sizeof(there));
	gv_gang_recv(g, &recv, 1, tag, b, sizeof(b));
	if (gv_gang_wait(g, &recv, &e) == 0 ||
	    strstr(e.text[0], "rank 1 of 127.0.0.1 is gone") == NULL ||
	    gv_gang_culprit(g) != 1)
		return 1;
	gv_gang_leave(g);
	return 0;
}

/* ---- copies ---- */

/* A link within this process that counts what it takes, and gives, where it lies. */
struct wire {
	struct gv_link l;
	struct wire *other;
	unsigned char *b; /* what the other one is to read: [at, n) */
	size_t at, n, cap;
	const unsigned char *from, *until;
	size_t there; /* bytes from, or to, [from, until) */
	uint64_t turn;
};

static void
count(struct wire *w, const struct iovec *v, size_t n)
{
	const unsigned char *b = v->iov_base;

	if (b >= w->from && b + n <= w->until)
		w->there += n;
}

/* Some of it: no link takes all at once. */
static size_t
some(struct wire *w, size_t n)
{
	size_t most = 1 + (size_t)(draw(5, 1, w->turn++) * 100000);

	return n < most ? n : most;
}

static ptrdiff_t
wire_send(struct gv_link *l, struct iovec *v, int n)
{
	struct wire *w = (struct wire *)l;
	size_t all = 0;
	int i;

	for (i = 0; i < n; i++) {
		size_t len = some(w, v[i].iov_len);

		w->b = gv_xgrow(w->b, &w->cap, w->n + len + 1, 1);
		memcpy(w->b + w->n, v[i].iov_base, len);
		count(w, &v[i], len);
		w->n += len;
		all += len;
		if (len < v[i].iov_len)
			break;
	}
	return (ptrdiff_t)all;
}

static ptrdiff_t
wire_recv(struct gv_link *l, struct iovec *v, int n)
{
	struct wire *w = (struct wire *)l, *o = w->other;
	size_t have = some(w, o->n - o->at), got = 0;
	int i;

	for (i = 0; i < n && got < have; i++) {
		size_t len = v[i].iov_len < have - got ? v[i].iov_len : have - got;

		memcpy(v[i].iov_base, o->b + o->at, len);
		count(w, &v[i], len);
		o->at += len;
		got += len;
	}
	return (ptrdiff_t)got;
}

static void
wire_close(struct gv_link *l, double deadline)
{
	(void)l;
	(void)deadline;
}

static short
wire_rest(struct gv_link *l, bool sends, bool *ready)
{
	(void)l;
	(void)sends;
	*ready = true;
	return 0;
}

/*
 * All bytes of large messages go from where they lie to the link, and from the link to where
 * they belong, with small ones between them.
 */
static void
test_copies(size_t bytes)
{
	static const struct gv_link_ops ops = {
	    wire_send, wire_recv, wire_close, wire_rest};
	enum { LARGE = 6 };
	struct wire w[2] = {
	    {.l = {&ops, -1}, .other = &w[1]}, {.l = {&ops, -1}, .other = &w[0]}};
	struct gv_link *link[2][2] = {{NULL, &w[0].l}, {&w[1].l, NULL}};
	struct gv_message out[2 * LARGE] = {0}, in[2 * LARGE] = {0};
	struct iovec piece[LARGE][3];
	size_t all = LARGE * bytes, i, k;
	unsigned char *from = gv_xcalloc(all, 1), *to = gv_xcalloc(all, 1);
	unsigned char word[2 * LARGE][100] = {{0}}, heard[LARGE][100];
	struct gv_gang *g[2];
	struct gv_error e = {0};
	bool done = false;

	for (i = 0; i < 2; i++)
		g[i] = gv_mesh_new((int)i, 2, link[i], 1);
	for (i = 0; i < all; i++)
		from[i] = byte(bytes, i);
	w[0].from = from;
	w[0].until = from + all;
	w[1].from = to;
	w[1].until = to + all;
	for (k = 0; k < LARGE; k++) {
		gv_gang_recv(g[1], &in[2 * k], 0, (struct gv_tag){(uint32_t)k, 0},
		    to + k * bytes, bytes);
		gv_gang_recv(g[1], &in[2 * k + 1], 0, (struct gv_tag){(uint32_t)k, 1},
		    heard[k], sizeof(heard[k]));
	}
	for (k = 0; k < LARGE; k++) {
		for (i = 0; i < 3; i++)
			piece[k][i] = (struct iovec){from + k * bytes + i * bytes / 3,
			    (i + 1) * bytes / 3 - i * bytes / 3};
		gv_gang_send_pieces(
		    g[0], &out[2 * k], 1, (struct gv_tag){(uint32_t)k, 0}, piece[k], 3);
		gv_gang_send(g[0], &out[2 * k + 1], 1, (struct gv_tag){(uint32_t)k, 1},
		    word[k], sizeof(word[k]));
	}
	while (!done) {
		done = true;
		for (i = 0; i < 2; i++)
			if (gv_gang_poll(g[i], &e) != 0)
				gv_die_error(&e);
		for (k = 0; k < 2 * LARGE; k++)
			done = done && out[k].done && in[k].done;
	}
	is_int(memcmp(from, to, all), 0, "%zu bytes arrive", bytes);
	is_int(w[0].there, all, "all go from where they lie");
	is_int(w[1].there, all, "and come to where they belong");
	for (i = 0; i < 2; i++) {
		gv_gang_leave(g[i]);
		free(w[i].b);
	}
	free(from);
	free(to);
}

int
main(void)
{
	static const size_t large[] = {GV_MESSAGE_SMALL + 1, 40000, 300000, 3000000};
	int i;

	for (i = 0; i < (int)(sizeof(large) / sizeof(*large)); i++)
		test_copies(large[i]);
	for (i = 0; i < 4; i++) {
		with_thread = i / 2 == 1;
		without_memory = i % 2 == 1;
		test_all();
	}
	for (i = 0; i < 2; i++) {
		without_memory = i == 1;
		is_int(each_rank(2, beside_member, NULL), 0,
		    "messages move while nobody calls");
		is_int(each_rank(3, dying_member, NULL), 0, "who dies is named");
	}
	return done_testing();
}
