/* common/net/meet_lost.c: whom a member that meets the others says to be lost, and to whom. */
#include "tap.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "net/meet_talk.h"

enum { WORLD = 5 };

/* Rank 2 of five, to whom all others are proved; we are at the other end, too. */
static struct gv_gang_spec spec = {.rank = 2, .world = WORLD, .join_s = 3};
static char host[WORLD][GV_SOCK_ADDR];
static struct gv_member member[WORLD];
static int fd[WORLD], other[WORLD];
static struct gv_meeting m;
static struct gv_error e;

static void
begin(void)
{
	int r, pair[2];

	memset(host, 0, sizeof(host));
	memset(member, 0, sizeof(member));
	memset(&e, 0, sizeof(e));
	m = (struct gv_meeting){.s = &spec, .fd = fd, .host = host, .member = member};
	for (r = 0; r < WORLD; r++) {
		fd[r] = other[r] = -1;
		if (r == spec.rank)
			continue;
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
			exit(1);
		fd[r] = pair[0];
		other[r] = pair[1];
		snprintf(host[r], sizeof(host[r]), "n%d", r);
	}
}

static void
end(void)
{
	int r;

	for (r = 0; r < WORLD; r++)
		if (r != spec.rank) {
			close(fd[r]);
			close(other[r]);
		}
}

static struct gv_net_frame
abort_frame(int culprit, enum gv_blame why)
{
	return (struct gv_net_frame){
	    GV_FRAME_MAGIC, GV_ABORT, {(uint32_t)culprit, (uint32_t)why}, 0, 0, 0};
}

static void
says(int rank, int culprit, enum gv_blame why)
{
	struct gv_net_frame f = abort_frame(culprit, why);

	if (send(other[rank], &f, sizeof(f), 0) != (ssize_t)sizeof(f))
		exit(1);
}

static void
test_lost(void)
{
	begin();
	is_int(gv_talk_lost(&m, GV_BLAME_GONE, 3, &e), -1, "lost is lost");
	is_str(e.text[0], "rank 3 of n3 is gone", "who is gone");
	ok(m.why == GV_BLAME_GONE && m.culprit == 3, "and is to blame");
	e = (struct gv_error){0};
	gv_talk_lost(&m, GV_BLAME_SILENT, 4, &e);
	is_str(e.text[0], "rank 4 of n4 did not come within 3 s", "who did not come");
	ok(m.why == GV_BLAME_SILENT && m.culprit == 4, "and is to blame");
	host[3][0] = '\0';
	e = (struct gv_error){0};
	gv_talk_lost(&m, GV_BLAME_GONE, 3, &e);
	is_str(e.text[0], "rank 3 is gone", "without a name");
	strcpy(member[3].addr, "10.0.0.3");
	e = (struct gv_error){0};
	gv_talk_lost(&m, GV_BLAME_GONE, 3, &e);
	is_str(e.text[0], "rank 3 of 10.0.0.3 is gone", "or with an address");
	end();
}

/* Whom rank 1 leaves for, as it says so. */
static void
left(int culprit, enum gv_blame why, const char *want, const char *name)
{
	begin();
	if (why != GV_BLAME_NONE)
		says(1, culprit, why);
	close(other[1]);
	other[1] = open("/dev/null", O_RDONLY);
	is_int(gv_talk_left(&m, 1, &e), -1, "rank 1 has left");
	is_str(e.text[0], want, "%s", name);
	end();
}

static void
test_left(void)
{
	left(0, GV_BLAME_NONE, "rank 1 of n1 is gone", "without a word");
	left(4, GV_BLAME_GONE, "rank 4 of n4 is gone", "for another one that is gone");
	left(0, GV_BLAME_GONE, "rank 0 of n0 is gone", "for the first");
	left(3, GV_BLAME_SILENT, "rank 3 of n3 did not come within 3 s",
	    "for one that does not come");
	left(3, GV_BLAME_STEP, "rank 3 of n3 did not come within 3 s",
	    "for one that says nonsense");
	left(2, GV_BLAME_GONE, "rank 1 of n1 is gone", "not for us, who are here");
	left(5, GV_BLAME_GONE, "rank 1 of n1 is gone", "nor for one that is none");
}

static void
test_no_answer(void)
{
	begin();
	close(other[3]);
	other[3] = open("/dev/null", O_RDONLY);
	is_int(gv_talk_no_answer(&m, 0, "does not answer", &e), -1, "no answer fails");
	is_str(e.text[0], "rank 3 of n3 is gone", "one that left meanwhile is to blame");
	is_int(m.culprit, 3, "and no other");
	end();
	begin();
	says(4, 1, GV_BLAME_GONE);
	shutdown(other[4], SHUT_WR);
	is_int(gv_talk_no_answer(&m, 0, "does not answer", &e), -1, "no answer fails");
	is_str(e.text[0], "rank 1 of n1 is gone", "or for whom one says that it leaves");
	end();
	begin();
	is_int(gv_talk_no_answer(&m, 0, "does not answer", &e), -1, "no answer fails");
	is_str(e.text[0], "rank 0 of n0 does not answer", "else who was called is");
	ok(m.why == GV_BLAME_GONE && m.culprit == 0, "for it is gone");
	end();
}

static volatile sig_atomic_t rings;

static void
ring(int signal)
{
	(void)signal;
	if (++rings == 2)
		shutdown(other[0], SHUT_WR);
}

/* Signals that come meanwhile are no answer, and the first rank is one as others are. */
static void
test_interrupted(void)
{
	struct itimerval often = {{0, 30000}, {0, 30000}}, never = {{0, 0}, {0, 0}};
	struct sigaction a = {.sa_handler = ring};

	begin();
	m.culprit = 4;
	strcpy(host[0], "n");
	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	ok(gv_talk_hears(&m, &e), "heard though signals come");
	setitimer(ITIMER_REAL, &never, NULL);
	is_str(e.text[0], "rank 0 of n is gone", "who has left after the second");
	is_int(m.culprit, 0, "it is the first rank");
	end();
	begin();
	m.culprit = 4;
	gv_talk_no_answer(&m, 1, "is gone", &e);
	is_int(m.culprit, 1, "who was called is to blame, whoever was before");
	end();
}

/* Whether the rank is told that rank 3 is silent. */
static bool
told(int rank)
{
	struct gv_net_frame f = {0}, want = abort_frame(3, GV_BLAME_SILENT);

	return recv(other[rank], &f, sizeof(f), MSG_DONTWAIT) == (ssize_t)sizeof(f) &&
	       memcmp(&f, &want, sizeof(f)) == 0;
}

static void
test_abort(void)
{
	struct gv_talk talk[2] = {{.stage = AWAIT_ANSWER}, {.stage = AWAIT_HELLO}};
	bool called, guest;

	begin();
	m.why = GV_BLAME_SILENT;
	m.culprit = 3;
	gv_talk_abort(&m, WORLD);
	ok(told(0) && told(1) && told(4), "all that are there are told");
	ok(!told(3), "not who is to blame");
	gv_talk_abort(&m, 1);
	ok(told(0) && !told(1) && !told(4), "or only those below a rank");
	talk[0].fd = fd[1];
	talk[1].fd = fd[4];
	m.talk = talk;
	m.n = 2;
	gv_talk_abort(&m, 0);
	called = told(1);
	guest = told(4);
	ok(called && !guest && !told(0),
	    "and who has been called, as it may have welcomed us");
	end();
}

int
main(void)
{
	test_lost();
	test_left();
	test_no_answer();
	test_interrupted();
	test_abort();
	return done_testing();
}
