/*
 * Signs of life: who holds up all is named, whoever is waited for, and nobody who computes,
 * waits, or was stopped together with who waits for it.
 */
#include "net_help.h"

#include <signal.h>
#include <string.h>

#include "net/mesh.h"

/* ---- the judgement ---- */

enum { WORLD = 4 };

/* Who is to blame that rank 0 waits for rank 1 at second 100, in a gang of silence 10. */
static void
judged(const char *name, enum gv_blame want, int want_culprit, struct gv_sign one,
    struct gv_sign two, struct gv_sign three)
{
	struct gv_sign s[WORLD] = {{.waits_for = -1}, one, two, three};
	int culprit = -1;
	enum gv_blame why = gv_sign_judge(s, WORLD, 0, 1, 10, 100, &culprit);

	is_int(why, want, "%s", name);
	if (want != GV_BLAME_NONE)
		is_int(culprit, want_culprit, "%s: who", name);
}

static struct gv_sign
owes(double since, double heard)
{
	return (struct gv_sign){.asked_s = since, .heard_s = heard, .waits_for = -1};
}

static struct gv_sign
waits(int rank, double waited_s)
{
	struct gv_sign s = {.waits_for = -1};

	gv_sign_take(&s, rank, waited_s, 0, 99);
	return s;
}

/* It has computed 70 ticks when it was asked first, then so many more. */
static struct gv_sign
works(double first_s, uint32_t more, double then_s)
{
	struct gv_sign s = {.waits_for = -1};

	gv_sign_take(&s, -1, 0, 70, first_s);
	gv_sign_take(&s, -1, 0, 70 + more, then_s);
	return s;
}

static void
test_judge(void)
{
	struct gv_sign none = {.waits_for = -1}, far = none, s;

	far.unknown = true;
	judged("it owes an answer", GV_BLAME_SILENT, 1, owes(94, 0), none, none);
	judged("for half of the silence", GV_BLAME_SILENT, 1, owes(95, 0), none, none);
	judged("only now", GV_BLAME_NONE, 0, owes(96, 0), none, none);
	judged("since its last byte", GV_BLAME_SILENT, 1, owes(80, 95), none, none);
	judged("its bytes come", GV_BLAME_NONE, 0, owes(80, 99), none, none);
	judged(
	    "who it waits for owes", GV_BLAME_SILENT, 2, waits(2, 3), owes(94, 0), none);
	judged("and who that waits for", GV_BLAME_SILENT, 3, waits(2, 3), waits(3, 3),
	    owes(94, 0));
	judged("it has not been asked", GV_BLAME_NONE, 0, none, none, none);
	judged("it computes", GV_BLAME_NONE, 0, works(90, 2, 99), none, none);
	judged("it rests", GV_BLAME_HUNG, 1, works(90, 0, 99), none, none);
	judged("clocks differ by one", GV_BLAME_HUNG, 1, works(90, 1, 99), none, none);
	judged("it rests for long enough", GV_BLAME_HUNG, 1, works(93.75, 0, 99), none,
	    none);
	judged("ticks that begin anew", GV_BLAME_NONE, 0, works(90, UINT32_MAX, 99), none,
	    none);
	judged("it rests since now", GV_BLAME_NONE, 0, works(95, 0, 99), none, none);
	judged("who it waits for rests", GV_BLAME_HUNG, 3, waits(3, 1), none,
	    works(90, 0, 99));
	judged("each for the other", GV_BLAME_CIRCLE, 1, waits(0, 10), none, none);
	judged("since now", GV_BLAME_NONE, 0, waits(0, 9), none, none);
	judged("round", GV_BLAME_CIRCLE, 1, waits(2, 10), waits(3, 10), waits(0, 10));
	judged("round, since now", GV_BLAME_NONE, 0, waits(2, 10), waits(3, 9),
	    waits(0, 10));
	judged("round without us", GV_BLAME_CIRCLE, 1, waits(2, 10), waits(3, 10),
	    waits(2, 10));
	judged("one that cannot be asked", GV_BLAME_NONE, 0, waits(2, 19), far, none);
	judged("one that has waited, and one that cannot be asked", GV_BLAME_NONE, 0,
	    waits(2, 20), waits(3, 19.5), far);
	judged("for long", GV_BLAME_CIRCLE, 1, waits(2, 20), far, none);
	s = works(80, 0, 99);
	gv_sign_forgive(&s, 99);
	judged("rested while we did", GV_BLAME_NONE, 0, s, none, none);
	s = owes(80, 0);
	gv_sign_forgive(&s, 99);
	judged("owed while we were stopped", GV_BLAME_NONE, 0, s, none, none);
	s = none;
	gv_sign_forgive(&s, 99);
	judged("nothing owed is forgiven", GV_BLAME_NONE, 0, s, none, none);
	ok(!(s.asked_s > 0), "and nothing is owed since");
	s = waits(2, 5);
	gv_sign_take(&s, -1, 0, 70, 80);
	judged("it waited before", GV_BLAME_HUNG, 1, s, none, none);
	gv_sign_take(&s, 0, 5, 0, 99);
	gv_sign_take(&s, -1, 0, 70, 99);
	judged("it waited in between", GV_BLAME_NONE, 0, s, none, none);
}

/* ---- gangs ---- */

/* above what a busy machine keeps a thread from its cores */
#define SILENCE 3

/* A member has joined: a byte. */
static int joined[2];

static struct gv_gang *
join(struct gv_gang_spec *s)
{
	struct gv_gang *g;

	s->silence_s = SILENCE;
	g = join_or_exit(s);
	if (write(joined[1], "", 1) != 1)
		_exit(1);
	return g;
}

/* What the last rank does when the others wait for it, in a chain. */
enum deed { STOPS, SPINS, SLEEPS, WAITS, DEEDS };

static void
spin(double s)
{
	double until = gv_clock_s() + s;

	while (gv_clock_s() < until)
		;
}

static int
recv_wait(struct gv_gang *g, int from, struct gv_error *e)
{
	struct gv_message m = {0};
	uint32_t x;

	gv_gang_recv(g, &m, from, (struct gv_tag){0, 1}, &x, sizeof(x));
	return gv_gang_wait(g, &m, e);
}

static int
send_wait(struct gv_gang *g, int to, struct gv_error *e)
{
	struct gv_message m = {0};
	uint32_t x = 1;

	gv_gang_send(g, &m, to, (struct gv_tag){0, 1}, &x, sizeof(x));
	return gv_gang_wait(g, &m, e);
}

/* Rank r waits for r + 1; the last one does its deed and then sends. */
static int
chain_member(struct gv_gang_spec *s, void *arg)
{
	static const char *const want[DEEDS] = {
	    [STOPS] = "rank 3 of 127.0.0.1 has not answered for 3 s",
	    [SLEEPS] = "rank 3 of 127.0.0.1 has neither computed nor sent anything "
		       "for 3 s",
	    [WAITS] = " of 127.0.0.1 has waited for 3 s for others that wait for it"};
	enum deed deed = *(enum deed *)arg;
	int last = s->world - 1, status;
	struct gv_error e = {0};
	double from, took;
	struct gv_gang *g;

	g = join(s);
	from = gv_clock_s();
	if (s->rank == last && deed == STOPS)
		kill(getpid(), SIGSTOP);
	else if (s->rank == last && deed == SPINS)
		spin(2.2 * SILENCE);
	else if (s->rank == last && deed == SLEEPS)
		gv_sleep_s(2 * SILENCE);
	status = 0;
	if (s->rank < last || deed == WAITS)
		status = recv_wait(g, (s->rank + 1) % s->world, &e);
	if (status == 0 && s->rank > 0)
		status = send_wait(g, s->rank - 1, &e);
	took = gv_clock_s() - from;
	gv_gang_leave(g);
	if (want[deed] == NULL ? status == 0 : s->rank == last && deed != WAITS)
		return 0;
	/* whoever is blamed for a circle is told so */
	if (want[deed] != NULL && status == -1 && took < 3 * SILENCE &&
	    (strstr(e.text[0], want[deed]) != NULL ||
		(deed == WAITS && strstr(e.text[0], " gave up: ") != NULL)))
		return 0;
	fprintf(stderr, "# deed %d, rank %d: status %d, %.2f s: %s\n", (int)deed, s->rank,
	    status, took, e.text[0]);
	return 1;
}

/* All are stopped while they wait, and go on together, long after. */
static int
together_member(struct gv_gang_spec *s, void *arg)
{
	struct gv_error e = {0};
	struct gv_gang *g;
	int status, i;

	(void)arg;
	g = join(s);
	for (i = 0; s->rank == 0 && i < 100; i++) {
		double from = gv_clock_s();

		gv_sleep_s(.05);
		if (gv_clock_s() - from > 1)
			break;
	}
	status = s->rank == 0 ? send_wait(g, 1, &e) : recv_wait(g, s->rank - 1, &e);
	if (status == 0 && s->rank > 0 && s->rank < s->world - 1)
		status = send_wait(g, s->rank + 1, &e);
	if (status != 0)
		fprintf(stderr, "# rank %d: %s\n", s->rank, e.text[0]);
	gv_gang_leave(g);
	return status != 0;
}

static void
send_signal(const pid_t *pid, int sig)
{
	int r;

	for (r = 0; r < WORLD; r++)
		kill(pid[r], sig);
}

/*
 * The number of members that did not leave with 0.  All are stopped while they wait, if that
 * is wanted, and whoever is stopped goes on after a while.
 */
static int
stopping(int (*member)(struct gv_gang_spec *, void *), void *arg, bool all)
{
	int port = free_port(), r, status, bad = 0;
	pid_t pid[WORLD];
	char there;

	if (pipe(joined) != 0)
		return -1;
	for (r = 0; r < WORLD; r++) {
		pid[r] = fork();
		if (pid[r] == 0) {
			struct gv_gang_spec own = spec(r, WORLD, port);

			_exit(member(&own, arg));
		}
	}
	for (r = 0; r < WORLD && read(joined[0], &there, 1) == 1; r++)
		;
	gv_sleep_s(SILENCE * .4);
	if (all)
		send_signal(pid, SIGSTOP);
	gv_sleep_s(SILENCE * 1.5);
	send_signal(pid, SIGCONT);
	for (r = 0; r < WORLD; r++) {
		waitpid(pid[r], &status, 0);
		bad += status != 0;
	}
	return bad;
}

/* A process for each gang, all at once: they sleep most of their time. */
int
main(void)
{
	static const char *const what[] = {"each waits for the next, the last is stopped",
	    "each waits for the next, the last computes for long",
	    "each waits for the next, the last does nothing",
	    "each waits for the next, the last for the first",
	    "all are stopped and go on"};
	enum { GANGS = 2 * (DEEDS + 1) };
	pid_t pid[GANGS];
	int i, status;

	test_judge();
	with_thread = true;
	fflush(stdout);
	for (i = 0; i < GANGS; i++) {
		int d = i / 2;

		without_memory = i % 2 == 1;
		pid[i] = fork();
		if (pid[i] == 0)
			_exit(d == DEEDS ? stopping(together_member, NULL, true)
					 : stopping(chain_member, &d, false));
	}
	for (i = 0; i < GANGS; i++) {
		waitpid(pid[i], &status, 0);
		is_int(status, 0, "%s: %s", what[i / 2], i % 2 == 1 ? "TCP" : "memory");
	}
	return done_testing();
}
