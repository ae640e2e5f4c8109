/* common/net/meet_talk.c: who comes to a gang that meets, and what each is answered. */
#include "tap.h"

#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "net/meet_talk.h"

enum { WORLD = 6, MOST = 16, PRINT = 7 };

static char host[MOST][GV_SOCK_ADDR];
static struct gv_member member[MOST];
static unsigned char nonce[MOST][GV_NONCE_LEN];
static int fd[MOST];
static struct gv_strbuf told;

static void
hear_line(void *ctx, const char *line)
{
	(void)ctx;
	gv_strbuf_fmt(&told, "%s;", line);
}

static struct gv_gang_spec spec = {
    .world = WORLD, .join_s = 60, .fingerprint = PRINT, .log = hear_line};
static struct gv_meeting m;
static struct gv_error e;

/* A meeting of that rank, to which so many guests have come; ours are the other ends. */
static void
begin(int rank, const char *key, size_t guests, int *other)
{
	size_t i;
	int r, pair[2];

	memset(host, 0, sizeof(host));
	memset(member, 0, sizeof(member));
	memset(&e, 0, sizeof(e));
	gv_strbuf_clear(&told);
	gv_strbuf_str(&told, "");
	spec.rank = rank;
	spec.key = key;
	m = (struct gv_meeting){.s = &spec,
	    .deadline = gv_clock_s() + spec.join_s,
	    .listener = -1,
	    .fd = fd,
	    .host = host,
	    .member = member,
	    .nonce = nonce,
	    .missing = 1,
	    .talk = gv_xcalloc(guests, sizeof(struct gv_talk)),
	    .n = guests,
	    .cap = guests};
	for (r = 0; r < MOST; r++)
		fd[r] = -1;
	for (i = 0; i < guests; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
			exit(1);
		other[i] = pair[1];
		m.talk[i] = (struct gv_talk){.fd = pair[0],
		    .stage = AWAIT_HELLO,
		    .rank = -1,
		    .deadline = m.deadline};
		snprintf(m.talk[i].addr, sizeof(m.talk[i].addr), "n%zu", i);
		gv_challenge_write(m.talk[i].challenge, nonce[0]);
	}
}

static void
end(void)
{
	int r;

	gv_talk_free(&m);
	for (r = 0; r < MOST; r++)
		if (fd[r] != -1)
			close(fd[r]);
}

static void
say(int to, const struct gv_hello *h, const char *key)
{
	unsigned char b[GV_HELLO_LEN], challenge[GV_CHALLENGE_LEN];

	gv_challenge_write(challenge, nonce[0]);
	gv_hello_write(b, h, challenge, key);
	if (send(to, b, sizeof(b), 0) != (ssize_t)sizeof(b))
		exit(1);
}

/* ---- hellos ---- */

static const struct gv_hello last = {
    .rank = 5, .world = WORLD, .fingerprint = PRINT, .port = 1};

/* The last one that is missing, with whom a meeting ends. */
static void
say_last(int to, int rank)
{
	struct gv_hello h = last;

	h.to = (uint32_t)rank;
	say(to, &h, spec.key);
}

/*
 * What a guest of that hello is answered by the meeting of a rank, where rank 1 (of 0) or 4
 * is there already: a verdict, or "none"; then what the meeting says, or, behind "!", how it ends.
 */
static void
greets(int rank, const char *key, const char *its_key, struct gv_hello h,
    const char *want, const char *name)
{
	struct gv_strbuf got = {0};
	struct gv_answer a;
	unsigned char b[GV_ANSWER_LEN];
	int other[2], pair[2], taken = rank == 0 ? 1 : 4;

	begin(rank, key, 2, other);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		exit(1);
	fd[taken] = pair[0];
	memset(h.nonce, 3, sizeof(h.nonce));
	say(other[0], &h, its_key);
	say_last(other[1], rank);
	if (gv_talk_gather(&m, &e) == 0 && host[h.rank][0] != '\0')
		gv_strbuf_fmt(&got, "in as %s:%lu ", host[h.rank],
		    (unsigned long)member[h.rank].port);
	if (recv(other[0], b, sizeof(b), MSG_DONTWAIT) != (ssize_t)sizeof(b) ||
	    gv_answer_read(&a, b, 0) != 0)
		gv_strbuf_str(&got, "none");
	else
		gv_strbuf_fmt(&got, "%lu%s", (unsigned long)a.verdict,
		    gv_answer_true(b, NULL, h.nonce, its_key) ? "" : " of nobody");
	gv_strbuf_fmt(&got, " %s", told.s);
	if (e.count > 0 && m.why == GV_BLAME_NONE)
		gv_strbuf_fmt(&got, "!%s %d", e.text[0], m.misfit);
	is_str(got.s, want, "%s", name);
	gv_strbuf_free(&got);
	close(other[0]);
	close(other[1]);
	close(pair[1]);
	end();
}

static void
test_hellos(void)
{
	struct gv_hello good = {.rank = 3, .world = WORLD, .fingerprint = PRINT, .to = 2};
	struct gv_hello h;

	greets(2, NULL, NULL, good, "in as n0:0 0 ", "a higher rank is welcome");
	greets(2, "k", "k", good, "in as n0:0 0 ", "also with a key");
	greets(2, "k", "l", good,
	    "5 of nobody n0 is sent away: its GV_GANG_KEY is another;",
	    "with another key it is not");
	h = good;
	h.rank = 2;
	greets(2, NULL, NULL, h,
	    "4 rank 2 of n0 is sent away: its RANK is not in the gang;",
	    "nor is the same rank");
	h.rank = 6;
	greets(2, NULL, NULL, h,
	    "4 rank 6 of n0 is sent away: its RANK is not in the gang;",
	    "or one that there is not");
	h.rank = 4;
	greets(2, NULL, NULL, h,
	    "3 rank 4 of n0 is sent away: its RANK was here already;",
	    "or one that is there");
	h = good;
	h.to = 1;
	greets(2, NULL, NULL, h,
	    "4 rank 3 of n0 is sent away: its RANK is not in the gang;",
	    "or who has called another one");
	h = good;
	h.world = 5;
	greets(2, NULL, NULL, h,
	    "1 rank 3 of n0 is sent away: its WORLD_SIZE is another;",
	    "or of another gang");
	h = good;
	h.fingerprint = PRINT + 1;
	greets(2, NULL, NULL, h,
	    "2 rank 3 of n0 is sent away: it computes something else (model, data, "
	    "options "
	    "or checkpoint differ);",
	    "or who computes something else");
	greets(2, "k", "k", h,
	    "2 !rank 3 of n0 cannot join: it computes something else (model, data, "
	    "options "
	    "or checkpoint differ) 0",
	    "with the key, that is the end");
}

static void
test_first(void)
{
	struct gv_hello first = {
	    .rank = 3, .world = WORLD, .fingerprint = PRINT, .port = 65535};
	struct gv_hello h;

	greets(0, NULL, NULL, first, "in as n0:65535 none ",
	    "rank 0 takes in, and answers when all are there");
	h = first;
	h.port = 65536;
	greets(0, NULL, NULL, h,
	    "4 rank 3 of n0 is sent away: its RANK is not in the gang;",
	    "a port too far");
	h.port = 0;
	greets(0, "k", "k", h,
	    "4 !rank 3 of n0 cannot join: its RANK is not in the gang 3",
	    "and no port: the others are told of it");
	h = first;
	h.rank = 0;
	greets(0, "k", "k", h,
	    "4 !rank 0 of n0 cannot join: its RANK is not in the gang 0",
	    "but not of a rank 0");
	h.rank = 6;
	greets(0, "k", "k", h,
	    "4 !rank 6 of n0 cannot join: its RANK is not in the gang 0",
	    "nor of one that is none of theirs");
}

/* ---- guests that say something else, or nothing ---- */

/* What is said of a guest while the last one comes; bytes: what it says, "" = it leaves. */
static void
strays(const char *bytes, double deadline, const char *want, const char *name)
{
	int other[2];

	begin(2, NULL, 2, other);
	m.talk[0].deadline = deadline;
	if (bytes != NULL && bytes[0] == '\0')
		shutdown(other[0], SHUT_WR);
	else if (bytes != NULL)
		(void)!send(other[0], bytes, strlen(bytes), 0);
	say_last(other[1], 2);
	ok(gv_talk_gather(&m, &e) == 0, "%s", name);
	is_str(told.s, want, "is told");
	close(other[0]);
	close(other[1]);
	end();
}

static void
test_strays(void)
{
	double now = gv_clock_s();

	strays(NULL, now + 60, "", "one that says nothing yet");
	strays(NULL, now - 1, "n0 is sent away: it says nothing;", "nor in time");
	strays(
	    "", now + 60, "n0 is sent away: it left without a hello;", "one that leaves");
	strays("GET / HTTP/1.0\r\n\r\n", now + 60,
	    "n0 is sent away: what it says is no hello of a gang;",
	    "one of another trade");
}

/* A welcome that cannot be said is none. */
static void
test_gone_guest(void)
{
	struct gv_hello h = {.rank = 3, .world = WORLD, .fingerprint = PRINT, .to = 2};
	int other[2];

	begin(2, NULL, 2, other);
	say(other[0], &h, NULL);
	close(other[0]);
	say_last(other[1], 2);
	ok(gv_talk_gather(&m, &e) == 0 && fd[3] == -1 && fd[5] != -1,
	    "one that has left behind its hello is not there");
	close(other[1]);
	end();
}

static void
test_many(void)
{
	enum { STRAYS = 25 };
	int other[STRAYS + 1];
	size_t i, lines = 0;

	begin(2, NULL, STRAYS + 1, other);
	for (i = 0; i < STRAYS; i++)
		shutdown(other[i], SHUT_WR);
	say_last(other[STRAYS], 2);
	ok(gv_talk_gather(&m, &e) == 0, "many that leave");
	for (i = 0; i < told.len; i++)
		lines += told.s[i] == ';';
	ok(lines == 20 && m.sent_away == STRAYS, "are counted, and some are told of");
	for (i = 0; i < STRAYS + 1; i++)
		close(other[i]);
	end();
}

static volatile sig_atomic_t rings;
static int ring_to;

static void
ring(int signal)
{
	struct gv_hello h = last;

	(void)signal;
	h.to = 2;
	if (++rings == 2)
		say(ring_to, &h, NULL);
}

static void
test_interrupted(void)
{
	struct itimerval often = {{0, 30000}, {0, 30000}}, never = {{0, 0}, {0, 0}};
	struct sigaction a = {.sa_handler = ring};

	begin(2, NULL, 1, &ring_to);
	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	ok(gv_talk_gather(&m, &e) == 0 && fd[5] != -1, "signals that come are no end");
	setitimer(ITIMER_REAL, &never, NULL);
	close(ring_to);
	end();
}

/* ---- who does not come ---- */

/* Of a gang whose first so many are there. */
static void
late(int rank, int world, int there, unsigned sent_away, const char *want,
    const char *name)
{
	int other, r;

	spec.world = world;
	begin(rank, NULL, 1, &other);
	m.deadline = gv_clock_s() - 1;
	m.sent_away = sent_away;
	m.missing = world - there;
	for (r = 0; r < there; r++)
		fd[r] = r == rank ? -1 : dup(other);
	ok(gv_talk_gather(&m, &e) == -1 && m.why == GV_BLAME_SILENT, "%s", name);
	is_str(e.text[0], want, "is told");
	is_int(m.culprit, there > rank ? there : there + 1, "the first one is to blame");
	close(other);
	end();
	spec.world = WORLD;
}

static void
test_late(void)
{
	late(0, 3, 2, 0, "2 of 3 workers came within 60 s: rank 2 is missing", "one");
	late(0, 3, 1, 2,
	    "1 of 3 workers came within 60 s: ranks 1, 2 are missing; 2 sent away",
	    "two, and others came");
	late(0, 9, 1, 0,
	    "1 of 9 workers came within 60 s: ranks 1, 2, 3, 4, 5, 6, 7, 8 are missing",
	    "eight");
	late(0, 10, 1, 0,
	    "1 of 10 workers came within 60 s: ranks 1, 2, 3, 4, 5, 6, 7, 8, ... are "
	    "missing",
	    "nine");
	late(2, 6, 4, 1, "rank 4 did not come within 60 s",
	    "another rank says whom it lacks");
}

int
main(void)
{
	gv_init("net_guests");
	test_hellos();
	test_first();
	test_strays();
	test_gone_guest();
	test_many();
	test_interrupted();
	test_late();
	gv_strbuf_free(&told);
	return done_testing();
}
