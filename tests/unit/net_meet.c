/* common/net: how a gang meets, and who does not belong to it. */
#include "net_help.h"

#include <signal.h>

#include "net/hello.h"

static char said[8192]; /* what the log was told, a line each */

static void
take_log(void *ctx, const char *line)
{
	(void)ctx;
	if (strlen(said) + strlen(line) + 2 < sizeof(said)) {
		strcat(said, line);
		strcat(said, "\n");
	}
}

static int
meet_member(struct gv_gang_spec *s, void *arg)
{
	struct gv_gang *g = join_or_exit(s);
	struct gv_error e = {0};
	unsigned flags = 1u << s->rank;
	int r;

	(void)arg;
	r = gv_gang_sum(g, NULL, 0, &flags, &e);
	gv_gang_leave(g);
	return r == 0 && flags == (1u << s->world) - 1 ? 0 : 1;
}

/* The other ranks of a gang in processes of their own. */
static void
fork_others(int world, int port, const char *key, pid_t *pid)
{
	int r;

	fflush(stdout);
	for (r = 1; r < world; r++) {
		pid[r] = fork();
		if (pid[r] == 0) {
			struct gv_gang_spec s = spec(r, world, port);

			s.key = key;
			gv_sleep_s(0.3); /* the strangers come first */
			_exit(meet_member(&s, NULL));
		}
	}
}

static int
statuses(int world, const pid_t *pid)
{
	int bad = 0, status, r;

	for (r = 1; r < world; r++) {
		waitpid(pid[r], &status, 0);
		bad += status != 0;
	}
	return bad;
}

/* ---- strangers ---- */

static int
knock(int port)
{
	struct gv_error e = {0};
	int fd;

	if (gv_sock_connect(&fd, "127.0.0.1", port, gv_clock_s() + 5, &e) != 0)
		return -1;
	return fd;
}

/* Twenty bytes as they once ended a meeting, a web browser, half a hello, and silence. */
static void
strangers(int port)
{
	static const uint32_t old[5] = {0x67764849, 1, 99, 7, 4000};
	unsigned char b[GV_CHALLENGE_LEN], half[GV_HELLO_LEN] = "gvH2";
	struct gv_error e = {0};
	int fd[8], i;

	for (i = 0; i < 8; i++)
		fd[i] = knock(port);
	(void)!send(fd[0], old, sizeof(old), MSG_NOSIGNAL);
	(void)!send(fd[1], "GET / HTTP/1.0\r\n\r\n", 18, MSG_NOSIGNAL);
	(void)!send(fd[2], half, 30, MSG_NOSIGNAL);
	(void)!send(fd[3], half, sizeof(half), MSG_NOSIGNAL); /* a false MAC */
	close(fd[4]);
	/* an echo */
	gv_sock_exchange(fd[5], NULL, 0, b, sizeof(b), 5, "", &e);
	(void)!send(fd[5], b, sizeof(b), MSG_NOSIGNAL);
	/* one byte at a time */
	for (i = 0; i < 4; i++)
		(void)!send(fd[6], half + i, 1, MSG_NOSIGNAL);
	for (;;) /* until it is killed */
		pause();
}

static void
test_strangers(const char *key)
{
	enum { WORLD = 4 };
	int port = free_port();
	struct gv_gang_spec s = spec(0, WORLD, port);
	const char *name = key != NULL ? "with a key" : "without a key";
	double start = gv_clock_s();
	struct gv_error e = {0};
	pid_t pid[WORLD];
	struct gv_gang *g;
	unsigned flags = 1;

	said[0] = '\0';
	s.log = take_log;
	s.key = key;
	fflush(stdout);
	pid[0] = fork();
	if (pid[0] == 0)
		strangers(port);
	fork_others(WORLD, port, key, pid);
	ok(gv_gang_join(&g, &s, &e) == 0, "%s: the gang meets among strangers", name);
	ok(g != NULL && gv_gang_sum(g, NULL, 0, &flags, &e) == 0 && flags == 15,
	    "%s: all four", name);
	is_int(statuses(WORLD, pid), 0, "%s: none has failed", name);
	/* a guest has five seconds to say hello */
	ok(gv_clock_s() - start < 5, "%s: and nobody had to wait", name);
	ok(strstr(said, "127.0.0.1 is sent away: what it says is no hello of a gang\n") !=
		NULL,
	    "%s: they are named: garbage", name);
	ok(strstr(said, "127.0.0.1 is sent away: its GV_GANG_KEY is another\n") != NULL,
	    "%s: they are named: a false key", name);
	ok(strstr(said, "127.0.0.1 is sent away: it left without a hello\n") != NULL,
	    "%s: they are named: gone", name);
	gv_gang_leave(g);
	kill(pid[0], SIGKILL);
	waitpid(pid[0], NULL, 0);
}

/* More silent ones than a door has room for, at rank 0 and at rank 1. */
static void
test_silence(void)
{
	enum { WORLD = 3, SILENT = 200 };
	int port = free_port(), i;
	struct gv_gang_spec s = spec(0, WORLD, port);
	double start = gv_clock_s();
	struct gv_error e = {0};
	pid_t pid[WORLD];
	struct gv_gang *g;
	unsigned flags = 1;

	s.log = take_log;
	said[0] = '\0';
	fflush(stdout);
	pid[0] = fork();
	if (pid[0] == 0) {
		for (i = 0; i < SILENT; i++)
			(void)knock(port);
		for (;;) /* until it is killed */
			pause();
	}
	fork_others(WORLD, port, "abc", pid);
	ok(gv_gang_join(&g, &s, &e) == 0, "the gang meets among many that say nothing");
	ok(g != NULL && gv_gang_sum(g, NULL, 0, &flags, &e) == 0 && flags == 7,
	    "all three");
	is_int(statuses(WORLD, pid), 0, "none has failed");
	ok(gv_clock_s() - start < 5, "nobody had to wait");
	ok(strstr(said, "too many came at once") != NULL, "the oldest made room");
	gv_gang_leave(g);
	kill(pid[0], SIGKILL);
	waitpid(pid[0], NULL, 0);
}

/* Some that come and go as fast as they can. */
static void
test_flood(void)
{
	enum { WORLD = 3, FLOODS = 3 };
	int port = free_port(), i;
	struct gv_gang_spec s = spec(0, WORLD, port);
	struct gv_error e = {0};
	pid_t pid[WORLD] = {0}, flood[FLOODS];
	struct gv_gang *g;
	unsigned flags = 1;

	fflush(stdout);
	for (i = 0; i < FLOODS; i++) {
		flood[i] = fork();
		while (flood[i] == 0) {
			int fd = knock(port);

			if (fd != -1)
				close(fd);
		}
	}
	fork_others(WORLD, port, "abc", pid);
	ok(gv_gang_join(&g, &s, &e) == 0, "the gang meets among many that come and go");
	ok(g != NULL && gv_gang_sum(g, NULL, 0, &flags, &e) == 0 && flags == 7,
	    "and is complete");
	for (i = 0; i < FLOODS; i++) {
		kill(flood[i], SIGKILL);
		waitpid(flood[i], NULL, 0);
	}
	pid[0] = 0;
	gv_gang_leave(g);
	is_int(statuses(WORLD, pid), 0, "among them none has failed");
}

/* ---- keys ---- */

/* Rank 0 with one key, rank 1 with another; their errors. */
static void
two_keys(const char *key0, const char *key1, char *e0, char *e1)
{
	int port = free_port(), out[2];
	struct gv_gang_spec s = spec(0, 2, port);
	struct gv_error e = {0};
	struct gv_gang *g;
	ssize_t n;
	pid_t pid;

	e1[0] = '\0';
	if (pipe(out) != 0)
		return;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		struct gv_gang_spec other = spec(1, 2, port);

		other.key = key1;
		if (gv_gang_join(&g, &other, &e) != 0)
			(void)!write(out[1], e.text[0], strlen(e.text[0]));
		gv_gang_leave(g);
		_exit(0);
	}
	close(out[1]);
	s.key = key0;
	s.join_s = 2;
	s.log = take_log;
	said[0] = '\0';
	gv_gang_join(&g, &s, &e);
	gv_gang_leave(g);
	snprintf(e0, 400, "%s", e.text[0]);
	n = read(out[0], e1, 399);
	e1[n > 0 ? n : 0] = '\0';
	close(out[0]);
	waitpid(pid, NULL, 0);
}

static void
test_keys(void)
{
	static const char *const pair[][2] = {
	    {"abc", "abd"}, {"abc", NULL}, {NULL, "abc"}, {"abc", ""}};
	char e0[400], e1[400];
	size_t i;

	for (i = 0; i < 4; i++) {
		two_keys(pair[i][0], pair[i][1], e0, e1);
		is_str(e0,
		    "1 of 2 workers came within 2 s: rank 1 is missing; 1 sent away",
		    "another key: rank 0");
		is_str(e1, "rank 0 refused rank 1: its GV_GANG_KEY is another",
		    "another key: rank 1");
		is_str(said, "127.0.0.1 is sent away: its GV_GANG_KEY is another\n",
		    "another key: logged");
	}
	two_keys("", NULL, e0, e1);
	ok(e0[0] == '\0' && e1[0] == '\0', "an empty key is none");
	two_keys(NULL, NULL, e0, e1);
	ok(e0[0] == '\0' && e1[0] == '\0', "none is as good as the other");
}

/*
 * A false rank 0 without the key: it answers with a roster whose addresses have no
 * end.  With keyed, it has the key.
 */
static void
false_rank_0(int listener, const char *key, const struct gv_member *member)
{
	unsigned char c[GV_CHALLENGE_LEN], h[GV_HELLO_LEN], a[GV_ANSWER_LEN];
	unsigned char roster[2 * GV_MEMBER_LEN] = {0}, nonce[GV_NONCE_LEN] = "nonce";
	struct gv_answer yes = {GV_WELCOME, 2};
	struct gv_error e = {0};
	struct gv_hello hello;
	char addr[GV_SOCK_ADDR];
	int fd;

	if (gv_sock_accept(&fd, listener, gv_clock_s() + 5, addr, &e) != 0)
		_exit(1);
	gv_challenge_write(c, nonce);
	gv_sock_exchange(fd, c, sizeof(c), h, sizeof(h), 5, "", &e);
	gv_hello_read(&hello, h, c, key);
	if (member != NULL)
		gv_member_write(roster + GV_MEMBER_LEN, member);
	else
		memset(roster + GV_MEMBER_LEN, 'A', GV_MEMBER_LEN);
	gv_answer_write(a, &yes, roster, hello.nonce, key);
	gv_sock_exchange(fd, a, sizeof(a), NULL, 0, 5, "", &e);
	gv_sock_exchange(fd, roster, sizeof(roster), NULL, 0, 5, "", &e);
	gv_sleep_s(0.3);
	_exit(0);
}

static void
test_false_rank_0(void)
{
	static const struct gv_member no_port = {0, "127.0.0.1"},
				      a_name = {4000, "localhost"}, nothing = {4000, ""};
	static const struct {
		const char *key;
		const struct gv_member *member;
		const char *want;
	} row[] = {
	    {"xyz", NULL, NULL},
	    {"abc", NULL, "rank 0 says of rank 1 what cannot be"},
	    {"abc", &no_port, "rank 0 says of rank 1 what cannot be"},
	    {"abc", &a_name, "rank 0 says of rank 1 what cannot be"},
	    {"abc", &nothing, "rank 0 says of rank 1 what cannot be"},
	};
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct gv_error e = {0};
		int fd, port = 0;
		struct gv_gang_spec s;
		struct gv_gang *g;
		char want[200];
		pid_t pid;

		gv_sock_listen(&fd, "127.0.0.1", &port, &e);
		fflush(stdout);
		pid = fork();
		if (pid == 0)
			false_rank_0(fd, row[i].key, row[i].member);
		close(fd);
		s = spec(1, 2, port);
		ok(gv_gang_join(&g, &s, &e) == -1, "a false rank 0");
		snprintf(want, sizeof(want),
		    "127.0.0.1, port %d: who is there does not have this GV_GANG_KEY",
		    port);
		is_str(
		    e.text[0], row[i].want != NULL ? row[i].want : want, "is found out");
		waitpid(pid, NULL, 0);
	}
}

/* ---- members that do not fit ---- */

static void
misfit(struct gv_gang_spec other, const char *key, const char *why)
{
	struct gv_gang_spec s = spec(0, 2, other.port);
	double start = gv_clock_s();
	struct gv_error e = {0};
	struct gv_gang *g;
	char want[300];
	pid_t pid;

	other.key = s.key = key;
	s.join_s = key != NULL ? 20 : 2;
	s.log = take_log;
	said[0] = '\0';
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		gv_gang_join(&g, &other, &e);
		snprintf(
		    want, sizeof(want), "rank 0 refused rank %d: %s", other.rank, why);
		_exit(strcmp(e.text[0], want) != 0);
	}
	ok(gv_gang_join(&g, &s, &e) == -1, "a worker that does not fit");
	if (key != NULL) {
		snprintf(want, sizeof(want), "rank %d of 127.0.0.1 cannot join: %s",
		    other.rank, why);
		is_str(e.text[0], want, "says why");
		ok(gv_clock_s() - start < 10, "at once, since it has the key");
	} else {
		snprintf(want, sizeof(want), "rank %d of 127.0.0.1 is sent away: %s\n",
		    other.rank, why);
		is_str(said, want, "without a key it is logged");
		ok(strncmp(e.text[0], "1 of 2 workers came within 2 s: ", 32) == 0,
		    "and another one waited for");
	}
	{
		int status;

		waitpid(pid, &status, 0);
		is_int(status, 0, "it is told");
	}
}

static void
test_misfits(void)
{
	static const char *const key[] = {"abc", NULL};
	struct gv_gang_spec other;
	int i;

	for (i = 0; i < 2; i++) {
		other = spec(1, 2, free_port());
		other.fingerprint = 8;
		misfit(other, key[i],
		    "it computes something else (model, data, options or checkpoint "
		    "differ)");
		other = spec(3, 4, free_port());
		misfit(other, key[i], "its WORLD_SIZE is another");
		other = spec(2, 2, free_port());
		misfit(other, key[i], "its RANK is not in the gang");
	}
}

static bool says(const struct gv_error *e, const char *want);
static void await_calls(int port, int n);

/* Two members with the key claim one rank, or one computes something else: all hear of it. */
static void
test_misfit_is_told(void)
{
	static const char *const why[] = {"its RANK was here already",
	    "it computes something else (model, data, options or checkpoint differ)"};
	int i, r;

	for (i = 0; i < 2; i++) {
		int port = free_port(), bad = 0, status;
		double start = gv_clock_s();
		pid_t pid[4];

		fflush(stdout);
		for (r = 0; r < 4; r++) {
			bool misfit = r == 3;
			struct gv_gang_spec s = spec(misfit ? 2 : r, 4, port);
			struct gv_error e = {0};
			struct gv_gang *g;
			char want[200];

			if (misfit) /* 1 and 2 have come */
				await_calls(port, 2);
			pid[r] = fork();
			if (pid[r] != 0)
				continue;
			s.key = "abc";
			s.join_s = 40;
			s.fingerprint += (uint32_t)(misfit && i == 1);
			if (misfit)
				gv_sleep_s(.3); /* for them to say hello */
			snprintf(want, sizeof(want), "%s %d%s%s",
			    misfit   ? "rank 0 refused rank"
			    : r == 2 ? "another rank"
				     : "rank",
			    2, misfit ? ": " : " of 127.0.0.1 cannot join: ", why[i]);
			_exit(gv_gang_join(&g, &s, &e) != -1 || !says(&e, want));
		}
		for (r = 0; r < 4; r++) {
			waitpid(pid[r], &status, 0);
			bad += status != 0;
		}
		is_int(bad, 0, "all say that rank 2 cannot join: %s", why[i]);
		ok(gv_clock_s() - start < 10, "at once");
	}
}

/* Two members claim rank 1 of four. */
static void
test_twins(void)
{
	struct gv_error e = {0};
	struct gv_gang_spec s = spec(0, 4, free_port());
	struct gv_gang *g;
	pid_t pid[2];
	int i;

	fflush(stdout);
	for (i = 0; i < 2; i++) {
		pid[i] = fork();
		if (pid[i] == 0) {
			struct gv_gang_spec twin = spec(1, 4, s.port);

			gv_gang_join(&g, &twin, &e);
			_exit(0);
		}
	}
	ok(gv_gang_join(&g, &s, &e) == -1, "two of one rank");
	is_str(e.text[0], "rank 1 of 127.0.0.1 cannot join: its RANK was here already",
	    "says which");
	for (i = 0; i < 2; i++)
		waitpid(pid[i], NULL, 0);
}

/* Whether the one error of a member says this first. */
static bool
says(const struct gv_error *e, const char *want)
{
	bool so = e->count == 1 && strncmp(e->text[0], want, strlen(want)) == 0;

	if (!so)
		fprintf(stderr, "# %s; want %s\n", e->count > 0 ? e->text[0] : "-", want);
	return so;
}

/* Waits until n have connected to a port of this machine, for a while. */
static void
await_calls(int port, int n)
{
	double end = gv_clock_s() + 10;
	char line[256], there[24];
	int found;
	FILE *f;

	/* remote port, ESTABLISHED */
	snprintf(there, sizeof(there), ":%04X 01 ", (unsigned)port);
	do {
		gv_sleep_s(.01);
		found = 0;
		f = fopen("/proc/net/tcp", "r");
		while (f != NULL && fgets(line, sizeof(line), f) != NULL)
			found += strstr(line, there) != NULL;
		if (f != NULL)
			fclose(f);
	} while (found < n && gv_clock_s() < end);
}

/* A member leaves, or never comes, while the others wait: all of them say which, and when. */
static void
test_lost_early(void)
{
	static const struct {
		bool killed;
		double join_s, within_s;
		const char *rank_0, *other;
	} row[] = {
	    {true, 40, 20, "rank 1 of 127.0.0.1 is gone", "rank 1 of 127.0.0.1 is gone"},
	    {false, 2, 20, "3 of 4 workers came within 2 s: rank 3 is missing",
		"rank 3 did not come within 2 s"}};
	size_t i;
	int r;

	for (i = 0; i < 2; i++) {
		int port = free_port(), bad = 0, status;
		double start = gv_clock_s();
		pid_t pid[3];

		fflush(stdout);
		for (r = 0; r < 3; r++) {
			struct gv_gang_spec s = spec(r, 4, port);
			struct gv_error e = {0};
			struct gv_gang *g;

			pid[r] = fork();
			if (pid[r] != 0)
				continue;
			s.join_s = row[i].join_s;
			_exit(gv_gang_join(&g, &s, &e) != -1 ||
			      !says(&e, r == 0 ? row[i].rank_0 : row[i].other));
		}
		if (row[i].killed) {
			await_calls(port, 2);
			gv_sleep_s(.3); /* to say hello */
			kill(pid[1], SIGKILL);
		}
		for (r = 0; r < 3; r++) {
			waitpid(pid[r], &status, 0);
			bad += status != 0 && !(row[i].killed && r == 1);
		}
		is_int(bad, 0, "one %s, which all say",
		    row[i].killed ? "is killed before all are there" : "never comes");
		ok(gv_clock_s() - start < row[i].within_s, "in time");
	}
}

/* Rank 0 comes late, and another one never: who has come before them all hears it. */
static void
test_late_rank_0(void)
{
	int port = free_port(), r, status, bad = 0;
	pid_t pid[2];

	fflush(stdout);
	for (r = 0; r < 2; r++) {
		struct gv_gang_spec s = spec(r, 3, port);
		struct gv_error e = {0};
		struct gv_gang *g;

		pid[r] = fork();
		if (pid[r] != 0)
			continue;
		s.join_s = 2;
		gv_sleep_s(r == 0 ? 1.5 : 0);
		_exit(
		    gv_gang_join(&g, &s, &e) != -1 ||
		    !says(&e, r == 0 ? "2 of 3 workers came within 2 s: rank 2 is missing"
				     : "rank 2 did not come within 2 s"));
	}
	for (r = 0; r < 2; r++) {
		waitpid(pid[r], &status, 0);
		bad += status != 0;
	}
	is_int(bad, 0, "rank 0 comes late: who came before hears who is missing");
}

/* Whether the victim is named. */
static bool
names(const struct gv_error *e, int victim)
{
	char who[20];
	bool so;

	snprintf(who, sizeof(who), "rank %d ", victim);
	so = strstr(e->text[0], who) != NULL;
	if (!so)
		fprintf(stderr, "# %d is killed: %s\n", victim, e->text[0]);
	return so;
}

enum { KILLED_WORLD = 4, KILLED_ROUNDS = 60, KILLED_AT_ONCE = 10 };

/* A member that meets, then sums, until another one is killed; its status. */
static int
meet_victim(int rank, int port, int victim)
{
	struct gv_gang_spec s = spec(rank, KILLED_WORLD, port);
	struct gv_error e = {0};
	struct gv_gang *g;
	float x[100] = {0};
	unsigned flags = 0;

	/* above what a busy machine keeps a member from its cores */
	s.join_s = s.silence_s = 3;
	if (gv_gang_join(&g, &s, &e) == 0)
		while (gv_gang_sum(g, x, 100, &flags, &e) == 0)
			;
	return e.count != 1 ? 1 : names(&e, victim) ? 0 : 2;
}

/* A member is killed at any moment of the meeting or the first sums: nobody hangs. */
static void
test_killed_meeting(void)
{
	static pid_t pid[KILLED_ROUNDS][KILLED_WORLD];
	double start = gv_clock_s();
	int round, r, bad = 0, other = 0;

	/* while the others of a round wait, the next begins */
	for (round = 0; round < KILLED_ROUNDS + KILLED_AT_ONCE; round++) {
		int port = free_port(), victim = round % KILLED_WORLD;
		int ends = round - KILLED_AT_ONCE;

		for (r = 0; ends >= 0 && r < KILLED_WORLD; r++) {
			int status;

			waitpid(pid[ends][r], &status, 0);
			if (r == ends % KILLED_WORLD || !WIFEXITED(status))
				continue;
			bad += WEXITSTATUS(status) == 1;
			other += WEXITSTATUS(status) == 2;
		}
		if (round >= KILLED_ROUNDS)
			continue;
		fflush(stdout);
		for (r = 0; r < KILLED_WORLD; r++) {
			pid[round][r] = fork();
			if (pid[round][r] == 0)
				_exit(meet_victim(r, port, victim));
		}
		gv_sleep_s(gv_random_uniform(8, 1, 1, (uint64_t)round) * 0.02);
		kill(pid[round][victim], SIGKILL);
	}
	is_int(bad, 0, "a member is killed while they meet: all others say one thing");
	is_int(other, 0, "its name");
	ok(gv_clock_s() - start < 120, "and nobody hangs");
}

static void
test_absence(void)
{
	struct gv_gang_spec s = spec(0, 2, free_port());
	struct gv_error e = {0};
	struct gv_gang *g;
	char want[100];
	double start = gv_clock_s();

	s.join_s = 0.2;
	ok(gv_gang_join(&g, &s, &e) == -1 && g == NULL, "rank 0 alone");
	is_str(e.text[0], "1 of 2 workers came within 0.2 s: rank 1 is missing",
	    "counts who came");
	gv_error_clear(&e);
	s.world = 12;
	ok(gv_gang_join(&g, &s, &e) == -1 && g == NULL, "rank 0 of twelve alone");
	is_str(e.text[0],
	    "1 of 12 workers came within 0.2 s: ranks 1, 2, 3, 4, 5, 6, 7, 8, ... are "
	    "missing",
	    "names some");
	gv_error_clear(&e);
	s.rank = 1;
	ok(gv_gang_join(&g, &s, &e) == -1, "rank 1 alone");
	snprintf(want, sizeof(want),
	    "rank 0 cannot be reached: cannot connect to 127.0.0.1, port %d: "
	    "Connection refused",
	    s.port);
	is_str(e.text[0], want, "says where nobody is");
	ok(gv_clock_s() - start < 10, "and all in time");
	gv_error_clear(&e);
	s.addr = "no such host";
	ok(gv_gang_join(&g, &s, &e) == -1, "an address that is none");
	ok(strncmp(e.text[0],
	       "rank 0 cannot be reached: cannot find the address \"no such host\": ",
	       66) == 0,
	    "%s", e.text[0]);
}

/* ---- places ---- */

static void
test_place(void)
{
	struct gv_gang_spec s = spec(0, 2, free_port());
	struct gv_error e = {0};
	struct gv_gang *g;
	char want[100], addr[GV_SOCK_ADDR];
	int fd, taken, port = s.port;
	pid_t pid;

	gv_sock_listen(&taken, NULL, &port, &e);
	ok(gv_gang_join(&g, &s, &e) == -1, "rank 0: the port is taken");
	snprintf(want, sizeof(want),
	    "cannot listen on 127.0.0.1, port %d: Address already in use", port);
	is_str(e.text[0], want, "rank 0: says so");
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		char in[20];

		if (gv_sock_accept(&fd, taken, gv_clock_s() + 5, addr, &e) == 0)
			gv_sock_exchange(
			    fd, "220 smtp ready", 14, in, sizeof(in), 5, "", &e);
		_exit(0);
	}
	s.rank = 1;
	gv_error_clear(&e);
	ok(gv_gang_join(&g, &s, &e) == -1, "rank 1: a mail server is there");
	snprintf(
	    want, sizeof(want), "127.0.0.1, port %d: no rank 0 of a gang is there", port);
	is_str(e.text[0], want, "rank 1: says so");
	waitpid(pid, NULL, 0);
	gv_error_clear(&e);
	ok(gv_sock_accept(&fd, taken, gv_clock_s() + .05, addr, &e) == -1,
	    "accepting has a deadline");
	is_str(e.text[0], "nobody came", "and says so");
	close(taken);
	gv_error_clear(&e);
	s = spec(0, 2, free_port());
	s.addr = "192.0.2.1"; /* kept for documentation: nobody has it */
	ok(gv_gang_join(&g, &s, &e) == -1, "rank 0: an address of another host");
	snprintf(want, sizeof(want),
	    "cannot listen on 192.0.2.1, port %d: Cannot assign requested address",
	    s.port);
	is_str(e.text[0], want, "says so");
}

/* While a gang meets at 127.0.0.1, 127.0.0.2 of the same host does not answer. */
static void
test_bound(void)
{
	int port = free_port(), fd;
	struct gv_error e = {0};
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		struct gv_gang_spec s = spec(0, 2, port);
		struct gv_gang *g;

		s.join_s = 1;
		gv_gang_join(&g, &s, &e);
		_exit(0);
	}
	ok((fd = knock(port)) != -1, "rank 0 listens at the address that is named");
	close(fd);
	ok(gv_sock_connect(&fd, "127.0.0.2", port, gv_clock_s() + .1, &e) == -1,
	    "and only there");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* ---- the environment ---- */

static void
env_error(const char *world, const char *rank, const char *addr, const char *port,
    const char *want)
{
	struct gv_gang_spec s = {0};
	struct gv_error e = {0};
	const char *name[] = {"WORLD_SIZE", "RANK", "MASTER_ADDR", "MASTER_PORT"};
	const char *v[4];
	int i;

	v[0] = world, v[1] = rank, v[2] = addr, v[3] = port;
	for (i = 0; i < 4; i++)
		if (v[i] == NULL || setenv(name[i], v[i], 1) != 0)
			unsetenv(name[i]);
	if (want == NULL) {
		ok(gv_gang_env(&s, &e) == 0, "an environment that is right");
		return;
	}
	ok(gv_gang_env(&s, &e) == -1, "a wrong environment");
	is_str(e.text[0], want, "%s", want);
}

static void
test_environment(void)
{
	struct gv_gang_spec s = {0};
	struct gv_error e = {0};

	env_error(NULL, NULL, NULL, NULL, NULL);
	env_error("1", NULL, NULL, NULL, NULL);
	env_error("4", "3", "127.0.0.1", "29500", NULL);
	env_error("3", "0", "127.0.0.1", "29500", NULL);
	env_error("x", "0", "127.0.0.1", "29500",
	    "WORLD_SIZE: expected a whole number from 1 to 1024, got \"x\"");
	env_error("2", "2", "127.0.0.1", "29500",
	    "RANK: expected a whole number from 0 to 1, got \"2\"");
	env_error(
	    "2", NULL, "127.0.0.1", "29500", "RANK is not set, and WORLD_SIZE is over 1");
	env_error(
	    "2", "0", NULL, "29500", "MASTER_ADDR is not set, and WORLD_SIZE is over 1");
	env_error("2", "0", "127.0.0.1", NULL,
	    "MASTER_PORT is not set, and WORLD_SIZE is over 1");
	env_error("2", "0", "127.0.0.1", "0",
	    "MASTER_PORT: expected a whole number from 1 to 65535, got \"0\"");
	setenv("MASTER_PORT", "29500", 1);
	setenv("GV_GANG_KEY", "k", 1);
	ok(gv_gang_env(&s, &e) == 0 && strcmp(s.key, "k") == 0, "with a key");
	unsetenv("GV_GANG_KEY");
	ok(gv_gang_env(&s, &e) == 0 && s.key == NULL, "without one");
	ok(!s.no_memory, "memory is shared");
	setenv("GV_GANG_LINK", "tcp", 1);
	ok(gv_gang_env(&s, &e) == 0 && s.no_memory, "unless TCP alone is wanted");
	setenv("GV_GANG_LINK", "auto", 1);
	ok(gv_gang_env(&s, &e) == 0 && !s.no_memory, "or said that it may be");
	setenv("GV_GANG_LINK", "unix", 1);
	ok(gv_gang_env(&s, &e) == -1, "another link");
	is_str(
	    e.text[0], "GV_GANG_LINK: expected auto or tcp, got \"unix\"", "is an error");
	unsetenv("GV_GANG_LINK");
}

int
main(void)
{
	test_strangers("abc");
	test_strangers(NULL);
	test_silence();
	test_flood();
	test_keys();
	test_false_rank_0();
	test_misfits();
	test_twins();
	test_misfit_is_told();
	test_lost_early();
	test_late_rank_0();
	test_killed_meeting();
	test_absence();
	test_place();
	test_bound();
	test_environment();
	return done_testing();
}
