/* Gangs of forked processes, for the tests of common/net. */
#ifndef NET_HELP_H
#define NET_HELP_H

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
#include "tap.h"

/* One where nobody is, below those that the system hands out, so that no test meets another's. */
static inline int
free_port(void)
{
	static uint32_t drawn;
	struct gv_error e = {0};
	int fd, port;

	if (drawn == 0)
		drawn = (uint32_t)getpid() * 7919 + (uint32_t)(gv_clock_s() * 1000);
	do {
		port = 10000 + (int)(drawn++ % 22000);
		gv_error_clear(&e);
	} while (gv_sock_listen(&fd, "127.0.0.1", &port, &e) != 0);
	close(fd);
	return port;
}

static inline struct gv_gang_spec
spec(int rank, int world, int port)
{
	return (struct gv_gang_spec){.rank = rank,
	    .world = world,
	    .addr = "127.0.0.1",
	    .port = port,
	    .join_s = 20,
	    .silence_s = 20,
	    .fingerprint = 7,
	    .key = "abc"};
}

/* A process for each rank; the number that did not leave with 0. */
static inline int
each_rank(int world, int (*member)(struct gv_gang_spec *, void *), void *arg)
{
	int port = free_port(), bad = 0, r;

	fflush(stdout);
	for (r = 0; r < world; r++) {
		if (fork() == 0) {
			struct gv_gang_spec s = spec(r, world, port);

			if (r == 0) /* the others knock before anybody listens */
				gv_sleep_s(0.02);
			_exit(member(&s, arg));
		}
	}
	for (r = 0; r < world; r++) {
		int status;

		wait(&status);
		bad += status != 0;
	}
	return bad;
}

/* Whether gangs have a thread that moves their messages. */
static bool with_thread;
/* Whether all goes over TCP. */
static bool without_memory;

static inline struct gv_gang *
join_or_exit(const struct gv_gang_spec *s)
{
	struct gv_gang_spec own = *s;
	struct gv_error e = {0};
	struct gv_gang *g;

	own.no_memory = own.no_memory || without_memory;
	if (gv_gang_join(&g, &own, &e) == 0 &&
	    (!with_thread || gv_gang_thread(g, &e) == 0))
		return g;
	fprintf(stderr, "# rank %d: %s\n", s->rank, e.text[0]);
	_exit(1);
}

#endif
