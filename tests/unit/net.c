/* common/net: sums over gangs of processes, and what happens when one fails. */
#include "net_help.h"

#include <signal.h>

static float
value(int rank, size_t i)
{
	return (float)(gv_random_uniform(3, (uint32_t)rank, 1, i) - 0.5);
}

/*
 * The sum as one process makes it: neighbouring blocks of 1, 2, 4, ... ranks, so
 * that the first part is the largest power of two below n.
 */
static float
tree(int first, int n, size_t i)
{
	int half = 1;

	if (n == 1)
		return value(first, i);
	while (2 * half < n)
		half *= 2;
	return tree(first, half, i) + tree(first + half, n - half, i);
}

struct sums {
	size_t n;
	int rounds;
};

/* The exit status of a member: 0 right, 1 an error, 2 wrong numbers. */
static int
sum_member(struct gv_gang_spec *s, void *arg)
{
	const struct sums *o = arg;
	struct gv_gang *g = join_or_exit(s);
	struct gv_error e = {0};
	float *x = calloc(o->n + 1, sizeof(*x));
	int round;
	size_t i;

	for (round = 0; round < o->rounds; round++) {
		unsigned flags = round == s->rank ? 4 : 0;

		for (i = 0; i < o->n; i++)
			x[i] = value(s->rank, i + (size_t)round);
		if (gv_gang_sum(g, x, o->n, &flags, &e) != 0)
			return 1;
		if (flags != (round < s->world ? 4u : 0u))
			return 2;
		for (i = 0; i < o->n; i++) {
			float want = tree(0, s->world, i + (size_t)round);

			if (memcmp(&want, &x[i], sizeof(want)) != 0)
				return 2;
		}
	}
	gv_gang_leave(g);
	free(x);
	return 0;
}

static void
test_sums(void)
{
	int world;

	for (world = 1; world <= 9; world++)
		is_int(each_rank(world, sum_member, &(struct sums){1000, 9}), 0,
		    "a gang of %d sums as a tree", world);
	is_int(each_rank(16, sum_member, &(struct sums){7, 17}), 0, "a gang of sixteen");
	is_int(
	    each_rank(21, sum_member, &(struct sums){30, 3}), 0, "a gang of twenty-one");
	is_int(each_rank(2, sum_member, &(struct sums){2000000, 1}), 0,
	    "8 MB each way: more than sockets hold");
	is_int(each_rank(3, sum_member, &(struct sums){100000, 3}), 0,
	    "large ones in a gang of three");
	is_int(
	    each_rank(5, sum_member, &(struct sums){0, 6}), 0, "no values, only flags");
	is_int(each_rank(2, sum_member, &(struct sums){2048, 3}), 0,
	    "the largest that leaves at once");
	is_int(each_rank(2, sum_member, &(struct sums){2049, 3}), 0,
	    "the smallest that does not");
}

/* Shards of one process, of two, of three: an equal run of a power of two each. */
static float
shard_tree(int first, int n, size_t i)
{
	return tree(first, n, i);
}

static void
test_shards(void)
{
	size_t i, bad = 0;
	int world;

	/* what gang.h promises: a tree over ranks of trees over runs is the tree over all */
	for (world = 1; world <= 9; world++) {
		for (i = 0; i < 200; i++) {
			float run[9], want = shard_tree(0, 4 * world, i), got = 0;
			int size, r;

			for (r = 0; r < world; r++)
				run[r] = shard_tree(4 * r, 4, i);
			for (size = 1; size < world; size *= 2)
				for (r = 0; r + size < world; r += 2 * size)
					run[r] += run[r + size];
			got = run[0];
			bad += memcmp(&want, &got, sizeof(got)) != 0;
		}
	}
	is_int((int)bad, 0, "a tree of runs has the bits of the tree of all shards");
}

/* Several sums on their way at once, of all sizes. */
static int
many_member(struct gv_gang_spec *s, void *arg)
{
	enum { SUMS = 12 };
	static const size_t size[SUMS] = {
	    1, 70000, 0, 300, 2048, 2049, 5, 9000, 100, 40000, 2, 3};
	struct gv_gang *g = join_or_exit(s);
	struct gv_error e = {0};
	struct gv_sum sum[SUMS];
	float *x[SUMS];
	size_t i;
	int k;

	(void)arg;
	for (k = 0; k < SUMS; k++) {
		x[k] = calloc(size[k] + 1, sizeof(**x));
		for (i = 0; i < size[k]; i++)
			x[k][i] = value(s->rank, i + (size_t)k);
		gv_gang_sum_begin(g, &sum[k], x[k], size[k], 1u << s->rank);
		if (k % 3 == s->rank % 3 && gv_gang_poll(g, &e) != 0)
			return 1;
	}
	for (k = 0; k < SUMS; k++) {
		int which = s->rank % 2 ? k : SUMS - 1 - k; /* waited for in any order */

		if (gv_gang_sum_wait(g, &sum[which], &e) != 0)
			return 1;
		if (sum[which].flags != (1u << s->world) - 1)
			return 2;
		for (i = 0; i < size[which]; i++)
			if (x[which][i] != tree(0, s->world, i + (size_t)which))
				return 2;
		free(x[which]);
	}
	gv_gang_leave(g);
	return 0;
}

static void
test_many(void)
{
	int world;

	for (world = 1; world <= 7; world++)
		is_int(each_rank(world, many_member, NULL), 0,
		    "twelve sums on their way in a gang of %d", world);
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
die(struct gv_gang *g)
{
	(void)g;
	raise(SIGKILL);
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
send_much_more(struct gv_gang *g)
{
	struct gv_error e = {0};
	static float x[100000];
	unsigned flags = 0;

	gv_gang_sum(g, x, 100000, &flags, &e);
}

static void
is_error(int r, const struct gv_error *e, const char *want, const char *name)
{
	ok(r == -1 && e->count == 1, "%s: one error", name);
	ok(strncmp(e->text[0], want, strlen(want)) == 0, "%s: %s", name, e->text[0]);
}

static void
test_failures(void)
{
	static const struct {
		void (*act)(struct gv_gang *);
		double silence;
		const char *want, *name;
	} row[] = {
	    {go_away, 5, "rank 1 of 127.0.0.1 is gone", "a partner that leaves"},
	    {die, 5, "rank 1 of 127.0.0.1 is gone", "a partner that is killed"},
	    {say_nothing, 0.1, "rank 1 of 127.0.0.1 has not answered for 0.1 s",
		"a partner that hangs"},
	    {send_more, 5, "rank 1 of 127.0.0.1 is out of step",
		"a partner that sums something else"},
	    {send_much_more, 5, "rank 1 of 127.0.0.1 is out of step",
		"a partner that sums much more"},
	};
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct gv_gang_spec other = spec(1, 2, free_port());
		struct gv_error e = {0};

		is_error(with_partner(&other, row[i].act, row[i].silence, &e), &e,
		    row[i].want, row[i].name);
	}
}

/* One of five is killed while they sum: all others name it, whomever they waited for. */
static void
test_blame(void)
{
	enum { WORLD = 5, SOON_S = 60 }; /* half of what silence takes */
	int round, r;

	for (round = 0; round < 8; round++) {
		int victim = (int)(gv_random_uniform(5, 1, 2, (uint64_t)round) * WORLD);
		int port = free_port(), out[2], met[2], right = 0, lines = 0;
		char want[64], all[4096] = "", *line;
		double start = gv_clock_s();
		pid_t pid[WORLD];
		ssize_t n;

		if (pipe(out) != 0 || pipe(met) != 0)
			return;
		fflush(stdout);
		for (r = 0; r < WORLD; r++) {
			pid[r] = fork();
			if (pid[r] == 0) {
				struct gv_gang_spec s = spec(r, WORLD, port);
				struct gv_gang *g;
				static float x[60000];
				struct gv_error e = {0};
				unsigned flags = 0;

				s.join_s = s.silence_s = 2 * SOON_S;
				g = join_or_exit(&s);
				(void)!write(met[1], "", 1);
				while (gv_gang_sum(
					   g, x, round % 2 ? 60000 : 10, &flags, &e) == 0)
					;
				strcat(e.text[0], "\n");
				n = write(out[1], e.text[0], strlen(e.text[0]));
				gv_gang_leave(g);
				_exit(1);
			}
		}
		close(met[1]);
		for (r = 0; r < WORLD && read(met[0], all, 1) == 1; r++)
			;
		close(met[0]);
		gv_sleep_s(gv_random_uniform(5, 2, 2, (uint64_t)round) * 0.1);
		kill(pid[victim], SIGKILL);
		for (r = 0; r < WORLD; r++)
			waitpid(pid[r], NULL, 0);
		close(out[1]);
		n = read(out[0], all, sizeof(all) - 1);
		close(out[0]);
		all[n > 0 ? n : 0] = '\0';
		snprintf(want, sizeof(want), "rank %d of 127.0.0.1 is gone", victim);
		for (line = strtok(all, "\n"); line != NULL; line = strtok(NULL, "\n")) {
			lines++;
			right += strcmp(line, want) == 0;
			if (strcmp(line, want) != 0)
				printf("# rank %d was killed: %s\n", victim, line);
		}
		ok(right == WORLD - 1 && lines == right,
		    "rank %d is killed: the other four say so", victim);
		ok(gv_clock_s() - start < SOON_S, "and soon");
	}
}

/* A signal that this thread does not want is pending: the gang's takes none. */
static int
signal_member(struct gv_gang_spec *s, void *arg)
{
	struct gv_gang *g = join_or_exit(s);
	sigset_t set, pending;

	(void)arg;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	kill(getpid(), SIGUSR1); /* ends the process where any thread takes it */
	gv_sleep_s(0.02);
	sigpending(&pending);
	gv_gang_leave(g);
	return sigismember(&pending, SIGUSR1) ? 0 : 2;
}

int
main(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		with_thread = i == 1;
		without_memory = i == 0;
		test_sums();
		test_shards();
		test_many();
		test_failures();
		test_blame();
		is_int(
		    each_rank(2, signal_member, NULL), 0, "signals are for the caller");
	}
	return done_testing();
}
