/* common/net: sums over gangs of processes, and what happens when one fails. */
#include "tap.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rng.h"
#include "net/gang.h"
#include "net/sock.h"

static int
free_port(void)
{
	struct gv_error e = {0};
	int fd, port = 0;

	if (gv_sock_listen(&fd, "127.0.0.1", &port, &e) != 0)
		return 0;
	close(fd);
	return port;
}

static struct gv_gang_spec
spec(int rank, int world, int port)
{
	return (struct gv_gang_spec){rank, world, "127.0.0.1", port, 5, 5, 7};
}

static float
value(int rank, size_t i)
{
	return (float)(gv_random_uniform(3, (uint32_t)rank, 1, i) - 0.5);
}

/* The sum as one process makes it. */
static float
tree(int first, int n, size_t i)
{
	return n == 1 ? value(first, i)
		      : tree(first, n / 2, i) + tree(first + n / 2, n / 2, i);
}

/* The exit status of a member: 0 right, 1 an error, 2 wrong numbers. */
static int
member(int rank, int world, int port, size_t n, int rounds)
{
	struct gv_gang_spec s = spec(rank, world, port);
	struct gv_error e = {0};
	struct gv_gang *g;
	float *x = calloc(n + 1, sizeof(*x));
	int round;
	size_t i;

	if (gv_gang_join(&g, &s, &e) != 0) {
		fprintf(stderr, "# rank %d: %s\n", rank, e.text[0]);
		return 1;
	}
	for (round = 0; round < rounds; round++) {
		unsigned flags = round == rank ? 4 : 0;

		for (i = 0; i < n; i++)
			x[i] = value(rank, i + (size_t)round);
		if (gv_gang_sum(g, x, n, &flags, &e) != 0)
			return 1;
		if (flags != (round < world ? 4u : 0u))
			return 2;
		for (i = 0; i < n; i++) {
			float want = tree(0, world, i + (size_t)round);

			if (memcmp(&want, &x[i], sizeof(want)) != 0)
				return 2;
		}
	}
	gv_gang_leave(g);
	free(x);
	return 0;
}

static int
run_gang(int world, size_t n, int rounds)
{
	int port = free_port(), bad = 0, r;

	fflush(stdout);
	for (r = 0; r < world; r++) {
		if (fork() == 0) {
			if (r == 0)
				gv_sleep_s(
				    0.02); /* the others knock before anybody listens */
			_exit(member(r, world, port, n, rounds));
		}
	}
	for (r = 0; r < world; r++) {
		int status;

		wait(&status);
		bad += status != 0;
	}
	return bad;
}

static void
test_sums(void)
{
	is_int(run_gang(1, 10, 3), 0, "a gang of one");
	is_int(run_gang(2, 1000, 5), 0, "a gang of two sums as a tree");
	is_int(run_gang(4, 1000, 6), 0, "a gang of four");
	is_int(run_gang(8, 333, 9), 0, "a gang of eight");
	is_int(run_gang(16, 7, 17), 0, "a gang of sixteen");
	is_int(run_gang(2, 2000000, 1), 0, "8 MB each way: more than sockets hold");
	is_int(run_gang(4, 0, 3), 0, "no values, only flags");
}

/* ---- failures ---- */

/* Forks rank 1, which does act after joining; rank 0's error comes back in *e. */
static int
with_partner(const struct gv_gang_spec *other, void (*act)(struct gv_gang *),
    double silence, struct gv_error *e)
{
	struct gv_gang_spec s = spec(0, 2, other->port);
	struct gv_gang *g;
	float x[4] = {1, 2, 3, 4};
	unsigned flags = 0;
	pid_t pid;
	int r;

	s.silence_s = silence;
	s.join_s = 2;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		struct gv_error ignored = {0};
		struct gv_gang *mine;

		if (gv_gang_join(&mine, other, &ignored) == 0 && act != NULL)
			act(mine);
		_exit(0);
	}
	r = gv_gang_join(&g, &s, e);
	if (r == 0)
		r = gv_gang_sum(g, x, 4, &flags, e);
	gv_gang_leave(g);
	waitpid(pid, NULL, 0);
	return r;
}

static void
go_away(struct gv_gang *g)
{
	gv_gang_leave(g);
}

static void
say_nothing(struct gv_gang *g)
{
	(void)g;
	gv_sleep_s(0.5);
}

static void
send_more(struct gv_gang *g)
{
	struct gv_error e = {0};
	float x[5] = {0};
	unsigned flags = 0;

	gv_gang_sum(g, x, 5, &flags, &e);
}

static void
is_error(int r, const struct gv_error *e, const char *want, const char *name)
{
	ok(r == -1 && e->count == 1, "%s: one error", name);
	is_str(e->text[0], want, "%s", name);
}

static void
test_failures(void)
{
	struct gv_gang_spec other = spec(1, 2, free_port());
	struct gv_error e = {0};
	int r;

	r = with_partner(&other, go_away, 5, &e);
	is_error(r, &e, "rank 1 is gone", "a partner that leaves");

	gv_error_clear(&e);
	other.port = free_port();
	r = with_partner(&other, say_nothing, 0.1, &e);
	is_error(r, &e, "rank 1 is silent for 0.1 s", "a partner that hangs");

	gv_error_clear(&e);
	other.port = free_port();
	r = with_partner(&other, send_more, 5, &e);
	is_error(r, &e, "rank 1 is out of step", "a partner that sums something else");

	gv_error_clear(&e);
	other.port = free_port();
	other.key = 8;
	r = with_partner(&other, NULL, 5, &e);
	is_error(r, &e,
	    "rank 1 of 127.0.0.1 cannot join: it computes something else (model, data, "
	    "options or "
	    "checkpoint differ)",
	    "another key");

	gv_error_clear(&e);
	other = spec(3, 4, free_port());
	r = with_partner(&other, NULL, 5, &e);
	is_error(r, &e, "rank 3 of 127.0.0.1 cannot join: its WORLD_SIZE is another",
	    "another world");

	gv_error_clear(&e);
	other = spec(2, 2, free_port());
	r = with_partner(&other, NULL, 5, &e);
	is_error(r, &e, "rank 2 of 127.0.0.1 cannot join: its RANK is not in the gang",
	    "a rank outside");
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
	is_str(e.text[0], "1 of 2 workers came within 0.2 s", "counts who came");
	gv_error_clear(&e);
	s.rank = 1;
	ok(gv_gang_join(&g, &s, &e) == -1, "rank 1 alone");
	snprintf(want, sizeof(want),
	    "cannot connect to 127.0.0.1, port %d: Connection refused", s.port);
	is_str(e.text[0], want, "says where nobody is");
	ok(gv_clock_s() - start < 3, "and both in time");
	gv_error_clear(&e);
	s.addr = "no such host";
	ok(gv_gang_join(&g, &s, &e) == -1, "an address that is none");
	ok(strncmp(e.text[0], "cannot find the address \"no such host\": ", 40) == 0,
	    "%s", e.text[0]);
}

/* A port scanner, then silence: the gang still meets. */
static void
test_strangers(void)
{
	int port = free_port(), fd, status, bad = 0, i;
	struct gv_error e = {0};

	fflush(stdout);
	for (i = 0; i < 2; i++)
		if (fork() == 0) {
			if (i == 1)
				gv_sleep_s(0.1);
			_exit(member(i, 2, port, 10, 1));
		}
	if (gv_sock_connect(&fd, "127.0.0.1", port, gv_clock_s() + 5, &e) == 0) {
		bad = send(fd, "GET / HTTP/1.0\r\n\r\n....", 22, MSG_NOSIGNAL) != 22;
		close(fd);
	}
	is_int(bad + (int)e.count, 0, "a stranger talks to rank 0");
	for (i = 0; i < 2; i++) {
		wait(&status);
		bad += status != 0;
	}
	is_int(bad, 0, "and the gang meets all the same");
}

/* What listens at rank 0's place is something else. */
static void
test_wrong_place(void)
{
	struct gv_gang_spec s = spec(0, 2, free_port());
	struct gv_error e = {0};
	struct gv_gang *g;
	char want[100], addr[GV_SOCK_ADDR];
	int fd, taken, port = s.port;
	pid_t pid;

	gv_sock_listen(&taken, NULL, &port, &e);
	ok(gv_gang_join(&g, &s, &e) == -1, "rank 0: the port is taken");
	snprintf(
	    want, sizeof(want), "cannot listen on port %d: Address already in use", port);
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
}

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
	env_error(NULL, NULL, NULL, NULL, NULL);
	env_error("1", NULL, NULL, NULL, NULL);
	env_error("4", "3", "127.0.0.1", "29500", NULL);
	env_error("3", "0", "127.0.0.1", "29500",
	    "WORLD_SIZE: a gang needs a power of two workers, got 3");
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
}

int
main(void)
{
	test_sums();
	test_failures();
	test_twins();
	test_absence();
	test_strangers();
	test_wrong_place();
	test_environment();
	return done_testing();
}
