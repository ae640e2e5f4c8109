/*
 * What a tensor takes from one process to another of this machine, through memory that they
 * share and through TCP: from where it lies to where it is used, and with a buffer at both
 * ends, two copies more.  Microseconds one way, the middle one of ROUNDS times there and back.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "net/gang.h"

enum { ROUNDS = 31, WARM = 3 };

static int
ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
pass(struct gv_gang *g, bool sends, uint32_t slot, unsigned char *at, size_t bytes)
{
	struct gv_message m = {0};
	struct gv_error e = {0};
	struct gv_tag tag = {slot, 0};

	if (sends)
		gv_gang_send(g, &m, 1 - (int)(slot % 2), tag, at, bytes);
	else
		gv_gang_recv(g, &m, (int)(slot % 2), tag, at, bytes);
	if (gv_gang_wait(g, &m, &e) != 0)
		gv_die_error(&e);
}

/* There and back, ROUNDS times. */
static double
one_way(struct gv_gang *g, int rank, size_t bytes, bool buffers)
{
	unsigned char *tensor = gv_xlines(bytes, 1), *buffer = gv_xlines(bytes, 1);
	double took[ROUNDS];
	uint32_t slot;
	int i;

	memset(tensor, 1, bytes);
	memset(buffer, 1, bytes);
	for (i = -WARM; i < ROUNDS; i++) {
		double from = gv_clock_s();

		for (slot = 0; slot < 2; slot++) {
			bool sends = (int)slot == rank;

			if (buffers && sends)
				memcpy(buffer, tensor, bytes);
			pass(g, sends, slot, buffers ? buffer : tensor, bytes);
			if (buffers && !sends)
				memcpy(tensor, buffer, bytes);
		}
		if (i >= 0)
			took[i] = (gv_clock_s() - from) / 2;
	}
	qsort(took, ROUNDS, sizeof(*took), ascending);
	free(tensor);
	free(buffer);
	return took[ROUNDS / 2];
}

static void
member(int rank, int port, bool memory)
{
	static const size_t sizes[] = {65536, 1 << 20, 16 << 20};
	struct gv_gang_spec spec = {.rank = rank,
	    .world = 2,
	    .addr = "127.0.0.1",
	    .port = port,
	    .join_s = 20,
	    .silence_s = 20,
	    .no_memory = !memory};
	struct gv_error e = {0};
	struct gv_gang *g;
	size_t i;

	if (gv_gang_join(&g, &spec, &e) != 0 || gv_gang_thread(g, &e) != 0)
		gv_die_error(&e);
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		double direct = one_way(g, rank, sizes[i], false),
		       through = one_way(g, rank, sizes[i], true);

		if (rank == 0)
			printf("| %s | %zu | %.1f | %.1f | %.2f |\n",
			    memory ? "memory" : "tcp", sizes[i] >> 10, direct * 1e6,
			    through * 1e6, through / direct);
	}
	fflush(stdout);
	gv_gang_leave(g);
}

static void
both(bool memory)
{
	int port = 10000 + (int)((getpid() * 2 + memory) % 20000), status = 1;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		member(1, port, memory);
		_exit(0);
	}
	member(0, port, memory);
	if (waitpid(child, &status, 0) != child || status != 0)
		gv_die("rank 1 failed");
}

int
main(void)
{
	gv_init("messages");
	puts("| link | KiB | direct us | through buffers us | ratio |");
	puts("| --- | --- | --- | --- | --- |");
	both(true);
	both(false);
	return 0;
}
