/*
 * common/net/meet.h on a network that is drawn (virtual_net.h): members that come late, or not,
 * or are killed, that were started wrongly, strangers who say all kinds of things; who has met
 * whom, what the others are told, what is logged, and when.
 */
#undef _FORTIFY_SOURCE /* whose wrappers are inline: the functions are ours here */
#define _XOPEN_SOURCE 700
#include "net/meet_talk.h"
#include "recorded_frame.h"
#include "virtual_calls.h"

enum { ROUNDS = 100, PER_ROUND = 12, MEMBERS = 16, PORT = 700 };

static struct {
	struct recorded *r;
	struct gv_gang_spec spec[FIBERS];
	double delay_s[FIBERS], stays_s[FIBERS];
	bool blames[FIBERS];
	int met;
} w;

static void
hear_line(void *ctx, const char *line)
{
	const struct gv_gang_spec *s = ctx;

	recorded_whole(w.r, s->rank);
	recorded_text(w.r, line);
}

enum { FRAMES = 5, WORDS = FRAMES * (sizeof(struct gv_net_frame) + 90) };

/* What a member may say before it leaves: messages, and that another one was lost. */
static size_t
draw_words(unsigned char b[WORDS], size_t most)
{
	size_t n = below(FRAMES + 1), at = 0;

	for (; n > 0; n--) {
		struct gv_net_frame f = {.magic = GV_FRAME_MAGIC, .type = GV_ABORT};

		if (n > 1 || below(2) == 0)
			f.type = (uint32_t)(1 + below(GV_HERE));
		f.magic += below(12) == 0;
		f.tag.slot = (uint32_t)below(most);
		if (below(12) == 0)
			f.tag.slot = GV_GANG_MAX - 1 + (uint32_t)below(3);
		f.tag.kind = (uint32_t)below(GV_BLAMES + 1);
		f.bytes = f.type == GV_DATA || below(3) == 0 ? below(80) : 0;
		memcpy(b + at, &f, sizeof(f));
		at += sizeof(f);
		if (f.type == GV_DATA) {
			memset(b + at, 'd', (size_t)f.bytes);
			at += (size_t)f.bytes;
		}
	}
	return at > 0 && below(4) == 0 ? below(at) : at;
}

static void
recorded_words(struct recorded *r)
{
	unsigned char b[WORDS];
	enum gv_blame why = GV_BLAME_NONE;
	size_t n = draw_words(b, 9);

	recorded_whole(r, gv_frame_last_words(b, n, &why));
	recorded_whole(r, why);
}

static void
blame(const struct gv_gang_spec *s, const int *fd)
{
	unsigned char b[WORDS];
	size_t n = draw_words(b, (size_t)s->world + 1);
	int r;

	for (r = 0; r < s->world; r++)
		if (r != s->rank)
			(void)!send(fd[r], b, n, 0);
}

static void
member(int fiber)
{
	const struct gv_gang_spec *s = &w.spec[fiber];
	char host[MEMBERS][GV_SOCK_ADDR];
	struct gv_error e = {0};
	int fd[MEMBERS], rc, r;

	memset(host, 0, sizeof(host));
	wait_until(net.now_s + w.delay_s[fiber]);
	rc = gv_meet(s, fd, host, &e);
	if (net.fiber[fiber].dead)
		return;
	recorded_whole(w.r, s->rank);
	recorded_whole(w.r, rc);
	recorded_error(w.r, &e);
	recorded_whole(w.r, (long long)((net.now_s - 1000) * 50));
	for (r = 0; r < s->world; r++)
		recorded_whole(w.r, fd[r] != -1);
	if (rc != 0)
		return;
	w.met++;
	for (r = 0; r < s->world; r++)
		recorded_text(w.r, host[r]);
	wait_until(net.now_s + w.stays_s[fiber]);
	if (w.blames[fiber])
		blame(s, fd);
	for (r = 0; r < s->world; r++)
		if (r != s->rank)
			close(fd[r]);
}

/* Somebody who listens now; -1: nobody does. */
static int
one_who_listens(void)
{
	int first = (int)below((size_t)net.n_sockets + 1), i;

	for (i = 0; i < net.n_sockets; i++) {
		int at = (first + i) % net.n_sockets;

		if (net.s[at].state == VS_LISTENS)
			return at;
	}
	return -1;
}

/* Calls somebody, says something, or the beginning of a hello, and leaves. */
static void
stranger(int fiber)
{
	static const char says[][12] = {
	    "GET / HTTP", "gvH2", "gvH1", "g", "gvC2xxxxxx", ""};
	struct sockaddr_in a;
	struct pollfd p;
	char b[2 * GV_HELLO_LEN] = "";
	size_t n;
	int fd, at;

	wait_until(net.now_s + w.delay_s[fiber]);
	at = one_who_listens();
	fd = socket(AF_INET, SOCK_STREAM, 0);
	to_address((struct sockaddr *)&a, at >= 0 ? net.s[at].host : 0,
	    at >= 0 ? net.s[at].port : PORT);
	connect(fd, (struct sockaddr *)&a, sizeof(a));
	p = (struct pollfd){fd, POLLOUT, 0};
	poll(&p, 1, 100);
	strcpy(b, w.blames[fiber] ? "" : says[below(6)]);
	n = w.blames[fiber] || below(2) == 0 ? strlen(b) : sizeof(b);
	if (n > 0)
		(void)!send(fd, b, n, 0);
	wait_until(net.now_s + w.stays_s[fiber]);
	close(fd);
}

/* Reads n bytes, or what comes within a while. */
static void
hear(int fd, void *b, size_t n)
{
	struct pollfd p = {fd, POLLIN, 0};
	size_t at = 0;
	int turn;

	for (turn = 0; turn < 20 && at < n; turn++) {
		ssize_t got;

		poll(&p, 1, 50);
		got = recv(fd, (char *)b + at, n - at, 0);
		at += got > 0 ? (size_t)got : 0;
	}
}

/* One who may have the key says a hello that is not quite right, and hears the answer. */
static void
forger(int fiber)
{
	static const uint32_t port[] = {0, 5, 65535, 65536};
	const struct gv_gang_spec *s = &w.spec[fiber];
	unsigned char c[GV_CHALLENGE_LEN] = {0}, b[GV_HELLO_LEN],
		      answer[GV_ANSWER_LEN] = {0};
	struct gv_hello h = {.fingerprint = 7 + (uint32_t)(below(5) == 0)};
	struct sockaddr_in a;
	int fd, at;

	wait_until(net.now_s + w.delay_s[fiber]);
	at = one_who_listens();
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (at < 0 || fd < 0) {
		close(fd);
		return;
	}
	to_address((struct sockaddr *)&a, net.s[at].host, net.s[at].port);
	h.rank = (uint32_t)below((size_t)s->world + 1);
	h.world = (uint32_t)s->world + (below(6) == 0);
	h.port = port[below(4)];
	h.to = (uint32_t)(below(5) == 0 ? below(3) : (size_t)net.s[at].host);
	connect(fd, (struct sockaddr *)&a, sizeof(a));
	hear(fd, c, sizeof(c));
	gv_hello_write(b, &h, c, below(8) == 0 ? "other" : s->key);
	(void)!send(fd, b, sizeof(b), 0);
	hear(fd, answer, sizeof(answer));
	recorded_bytes(w.r, answer, 12);
	wait_until(net.now_s + w.stays_s[fiber]);
	close(fd);
}

/* Answers a hello as rank 0 does, but what it likes. */
static void
answer_falsely(const struct gv_gang_spec *s, int guest)
{
	static const char *const addr[] = {"10.0.0.2", "10.0.0.3", "here", "::1", ""};
	unsigned char c[GV_CHALLENGE_LEN], nonce[GV_NONCE_LEN] = {1},
					   b[GV_HELLO_LEN] = {0};
	unsigned char out[GV_ANSWER_LEN + 16 * GV_MEMBER_LEN] = {0};
	struct gv_answer a = {.verdict = (uint32_t)below(GV_VERDICTS + 1)};
	const char *key = below(6) == 0 ? "other" : s->key;
	struct gv_hello h;
	uint32_t i;

	a.members = below(3) == 0 ? 0 : (uint32_t)s->world + (below(9) == 0);
	gv_challenge_write(c, nonce);
	(void)!send(guest, c, sizeof(c), 0);
	hear(guest, b, sizeof(b));
	gv_hello_read(&h, b, c, key);
	for (i = 0; i < a.members; i++) {
		struct gv_member m = {(uint32_t)below(3) * 5, ""};

		strcpy(m.addr, addr[below(5)]);
		if (below(3) > 0)
			gv_member_write(out + GV_ANSWER_LEN + i * GV_MEMBER_LEN, &m);
	}
	gv_answer_write(out, &a, out + GV_ANSWER_LEN, h.nonce, key);
	(void)!send(guest, out, GV_ANSWER_LEN + a.members * GV_MEMBER_LEN, 0);
}

/* Has the port of rank 0 for a while, says nothing, what it likes, or that it is something else. */
static void
other_server(int fiber)
{
	static const char *const says[] = {
	    "SSH-2.0-x and so on, for long", "gvC2", "gvC2 and no more", "gv", ""};
	const char *words = says[below(5)];
	bool speaks = below(2) == 0, leaves = below(3) == 0;
	struct sockaddr_in a;
	socklen_t len = sizeof(a);
	double until_s;
	int fd = socket(AF_INET, SOCK_STREAM, 0), guest;

	wait_until(net.now_s + w.delay_s[fiber]);
	until_s = net.now_s + w.stays_s[fiber];
	to_address((struct sockaddr *)&a, 0, PORT);
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0) {
		listen(fd, 5);
		while (net.now_s < until_s) {
			wait_until(net.now_s + .125);
			guest = accept(fd, (struct sockaddr *)&a, &len);
			if (guest >= 0 && speaks)
				answer_falsely(&w.spec[fiber], guest);
			else if (guest >= 0 && words[0] != '\0')
				(void)!send(guest, words, strlen(words), 0);
			if (guest >= 0 && leaves)
				close(guest);
		}
	}
	close(fd);
}

/* ---- what is drawn ---- */

/* One that was started wrongly. */
static void
spoil(struct gv_gang_spec *s)
{
	switch (below(6)) {
	case 0:
		s->key = s->key == NULL ? "k2" : below(2) == 0 ? NULL : "k2";
		break;
	case 1:
		s->world = s->world < MEMBERS - 1 ? s->world + 1 : s->world;
		break;
	case 2:
		s->fingerprint++;
		break;
	case 3:
		s->rank = s->rank > 1 ? s->rank - 1 : s->rank;
		break;
	case 4:
		s->addr = below(2) == 0 ? "nowhere" : "10.0.0.9";
		break;
	default:
		s->join_s /= 4;
	}
}

static void
draw_members(int world)
{
	const char *key = below(2) == 0 ? "k" : below(2) == 0 ? "" : NULL;
	bool all = below(3) == 0 && world < 9, twice = !all && below(6) == 0;
	double join_s = 1 + (double)below(12) / 2;
	int rank, n = world + twice;

	for (rank = 0; rank < n; rank++) {
		double late_s = below(4) == 0 ? join_s : 1;
		double delay_s = (double)below(16) / 32 * late_s;
		double stays_s = (double)below(16) / 8, dies_s = (double)below(64) / 32;
		bool blames = below(3) == 0, wrong = !all && below(9) == 0,
		     dies = !all && below(9) == 0;
		int f;

		if (!all && below(world < 9 ? 14 : 2) == 0)
			continue;
		f = fiber_new(rank % world, member);
		w.spec[f] = (struct gv_gang_spec){.rank = rank % world,
		    .world = world,
		    .addr = "10.0.0.1",
		    .port = PORT,
		    .join_s = join_s,
		    .silence_s = 5,
		    .fingerprint = 7,
		    .key = key,
		    .log = below(4) == 0 ? NULL : hear_line,
		    .ctx = &w.spec[f]};
		if (wrong)
			spoil(&w.spec[f]);
		w.delay_s[f] = delay_s;
		w.stays_s[f] = all ? 20 : stays_s;
		w.blames[f] = blames;
		if (dies)
			net.fiber[f].dies_s = net.now_s + dies_s;
	}
}

static void
draw_others(void)
{
	bool many = below(14) == 0, server = below(6) == 0, forged = below(5) == 0;
	size_t n = many ? 75 + below(20) : below(2) == 0 ? 0 : below(5);
	int f;

	for (; n > 0; n--) {
		f = fiber_new(20 + (int)below(20), stranger);
		w.delay_s[f] = (double)below(30) / (many ? 256 : 16);
		w.stays_s[f] = (double)below(30) / 4;
		w.blames[f] = many; /* says nothing */
	}
	if (forged) {
		f = fiber_new(20 + (int)below(20), forger);
		w.spec[f] = w.spec[0];
		w.delay_s[f] = (double)below(16) / 16;
		w.stays_s[f] = (double)below(30) / 4;
	}
	if (server) {
		f = fiber_new(0, other_server);
		w.spec[f] = w.spec[0];
		w.delay_s[f] = (double)below(4) / 8;
		w.stays_s[f] = (double)below(20) / 8;
	}
}

/* A meeting; false: somebody waits for ever, or has left a descriptor open. */
static bool
ask(struct recorded *r)
{
	int i, open = 0;
	bool ends;

	net_begin();
	w.r = r;
	w.met = 0;
	memset(&w.spec[0], 0, sizeof(w.spec[0]));
	draw_members(below(20) == 0 ? 9 + (int)below(6) : 1 + (int)below(7));
	draw_others();
	ends = net_run();
	recorded_whole(r, w.met);
	for (i = 0; i < net.n_sockets; i++)
		open += net.s[i].state != VS_FREE &&
			(net.fiber[net.s[i].owner].run == member);
	return ends && open == 0;
}

int
main(void)
{
	struct recorded r;
	size_t bad = 0, k;
	uint32_t i;

	recorded_open(&r);
	for (i = 0; i < ROUNDS; i++) {
		int met = 0;

		draws_begin(79, i, 0);
		for (k = 0; k < 20; k++)
			recorded_words(&r);
		for (k = 0; k < PER_ROUND; k++) {
			bad += !ask(&r);
			met += w.met;
		}
		recorded_answer(&r, "%d meetings, of %d members", PER_ROUND, met);
	}
	is_int((long long)bad, 0, "nobody waits for ever, or leaves anything open");
	net_begin();
	free(net.stack);
	recorded_close(&r);
	return done_testing();
}
