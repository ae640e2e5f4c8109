#include "net/mover.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "net/process.h"

/* More than a sign's noise. */
#define STARVED_S (5 * GV_SIGN_TICK_S)

/* A bell that could not be rung is made up for then. */
enum { SLEEP_MS = 200 };

struct gv_mover {
	pthread_t thread;
	pthread_mutex_t gate, lock;
	int bell[2];         /* a byte in it ends the thread's sleep */
	struct pollfd *poll; /* [world + 1] the last is the bell */
	bool sleeps;         /* in poll, for what was to be done when it went there */
	bool stop;
	double own_s;    /* computed by the thread itself, when it looked last */
	char caller[64]; /* where the system says what the thread of the callers does */
	double starved_s;
};

/* ---- the lock ---- */

static void
take(struct gv_mover *v)
{
	pthread_mutex_lock(&v->gate);
	pthread_mutex_lock(&v->lock);
	pthread_mutex_unlock(&v->gate);
}

static void
ring(struct gv_mover *v)
{
	v->sleeps = false;
	while (write(v->bell[1], "", 1) == -1 && errno == EINTR)
		;
}

void
gv_mover_enter(struct gv_gang *g)
{
	if (g->mover != NULL)
		take(g->mover);
}

void
gv_mover_leave(struct gv_gang *g)
{
	struct gv_mover *v = g->mover;

	if (v == NULL)
		return;
	if (v->sleeps && g->stirred)
		ring(v);
	g->stirred = false;
	pthread_mutex_unlock(&v->lock);
}

/*
 * What the process has computed, but for the thread; a little more each time that the callers'
 * thread wants a core and has none.
 */
static double
computed_s(struct gv_gang *g)
{
	struct gv_mover *v = g->mover;

	if (pthread_equal(pthread_self(), v->thread)) {
		v->own_s = gv_clock_thread_s();
		v->starved_s += gv_process_state(v->caller) == 'R' ? STARVED_S : 0;
	}
	return gv_clock_process_s() - v->own_s + v->starved_s;
}

/* ---- the thread ---- */

static void
hush(struct gv_mover *v)
{
	char rest[16];

	while (read(v->bell[0], rest, sizeof(rest)) > 0)
		;
}

static void *
run(void *arg)
{
	struct gv_gang *g = arg;
	struct gv_mover *v = g->mover;
	nfds_t world = (nfds_t)g->world;

	take(v);
	while (!v->stop && g->blame == GV_BLAME_NONE) {
		bool ready = gv_mesh_rest(g, v->poll);

		v->poll[world] = (struct pollfd){v->bell[0], POLLIN, 0};
		v->sleeps = !ready;
		pthread_mutex_unlock(&v->lock);
		if (poll(v->poll, world + 1, ready ? 0 : SLEEP_MS) < 0)
			v->poll[world].revents = 0;
		take(v);
		v->sleeps = false;
		if (v->poll[world].revents != 0)
			hush(v);
		if (!v->stop)
			gv_mesh_move_polled(g, v->poll);
	}
	pthread_mutex_unlock(&v->lock);
	return NULL;
}

/* ---- beginning and end ---- */

static void
free_mover(struct gv_mover *v)
{
	int i;

	for (i = 0; i < 2; i++)
		if (v->bell[i] != -1)
			close(v->bell[i]);
	pthread_mutex_destroy(&v->lock);
	pthread_mutex_destroy(&v->gate);
	free(v->poll);
	free(v);
}

static int
open_bell(struct gv_mover *v, struct gv_error *e)
{
	int i;

	if (pipe(v->bell) != 0) {
		v->bell[0] = v->bell[1] = -1;
		return gv_error_sys(e, "no pipe");
	}
	for (i = 0; i < 2; i++)
		if (fcntl(v->bell[i], F_SETFD, FD_CLOEXEC) == -1 ||
		    fcntl(v->bell[i], F_SETFL, O_NONBLOCK) == -1)
			return gv_error_sys(e, "no pipe");
	return 0;
}

/* Signals are for the thread that knows what to do about them. */
static int
begin_thread(struct gv_gang *g, struct gv_error *e)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	errno = pthread_create(&g->mover->thread, NULL, run, g);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return errno == 0 ? 0 : gv_error_sys(e, "no thread for messages");
}

static void
find_caller(struct gv_mover *v)
{
	char self[48];
	ssize_t n = readlink("/proc/thread-self", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	if (n > 0)
		snprintf(v->caller, sizeof(v->caller), "/proc/%s/stat", self);
}

int
gv_gang_thread(struct gv_gang *g, struct gv_error *e)
{
	struct gv_mover *v;

	if (g->mover != NULL || g->world == 1)
		return 0;
	v = gv_xcalloc(1, sizeof(*v));
	v->bell[0] = v->bell[1] = -1;
	v->poll = gv_xcalloc((size_t)g->world + 1, sizeof(*v->poll));
	pthread_mutex_init(&v->gate, NULL);
	pthread_mutex_init(&v->lock, NULL);
	find_caller(v);
	g->mover = v;
	g->computed_s = computed_s;
	if (open_bell(v, e) == 0 && begin_thread(g, e) == 0)
		return 0;
	g->mover = NULL;
	g->computed_s = NULL;
	free_mover(v);
	return -1;
}

void
gv_mover_stop(struct gv_gang *g)
{
	struct gv_mover *v = g->mover;

	if (v == NULL)
		return;
	take(v);
	v->stop = true;
	ring(v);
	pthread_mutex_unlock(&v->lock);
	pthread_join(v->thread, NULL);
	g->mover = NULL;
	g->computed_s = NULL;
	free_mover(v);
}
