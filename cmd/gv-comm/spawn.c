#include "spawn.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "member.h"
#include "net/mesh.h"

#define SILENCE_S  3600 /* links may be that slow; who dies is heard at once */
#define FAREWELL_S 1    /* between the first failure and the end of all */

/* What a member says to its parent, whole in one write. */
struct report {
	int rank;
	bool failed;
	struct row row;
	char text[GV_ERROR_LEN];
};

struct crew {
	const struct gv_trees *t;
	const struct options *o;
	struct shape *shape;
	struct gv_local *links;
	int pipe[2];
	pid_t *pid;     /* [n], 0 = has ended */
	bool *killed;   /* [n], by us */
	int first_dead; /* who died of a signal that was not ours; -1 = nobody */
	int signal;
	bool failed;             /* somebody has */
	char text[GV_ERROR_LEN]; /* what the first of them said */
	double deadline;
	struct report said; /* being read */
	size_t n_said;
};

/* ---- a member ---- */

static bool
are_neighbours(const struct gv_tree_phase *p, int a, int b)
{
	return p->above != NULL && (p->above[a] == b || p->above[b] == a);
}

/* Neighbours in some tree; and everybody with the parent, whose end all hear. */
static bool
joined(const void *ctx, int a, int b)
{
	const struct gv_trees *t = ctx;
	size_t k;

	for (k = 0; b < t->n && k < t->n_trees; k++)
		if (are_neighbours(&t->tree[k].up, a, b) ||
		    are_neighbours(&t->tree[k].down, a, b))
			return true;
	return b == t->n;
}

static int
report(void *ctx, const struct report *r)
{
	const struct crew *c = ctx;
	ssize_t n;

	do
		n = write(c->pipe[1], r, sizeof(*r));
	while (n == -1 && errno == EINTR);
	return n == (ssize_t)sizeof(*r) ? 0 : -1;
}

static int
report_row(void *ctx, const struct row *row)
{
	struct report r = {.row = *row};

	return report(ctx, &r);
}

static GV_NORETURN void
be_member(struct crew *c, int rank)
{
	int n = c->t->n, r;
	struct gv_link **link = gv_xcalloc((size_t)n + 1, sizeof(struct gv_link *));
	struct member m = {NULL, rank, c->t, c->o, shape_pace(c->shape), report_row, c};
	struct gv_error e = {0};

	close(c->pipe[0]);
	gv_local_take(c->links, rank, link);
	m.g = gv_mesh_new(rank, n + 1, link, SILENCE_S);
	for (r = 0; r <= n; r++)
		snprintf(m.g->peer[r].host, sizeof(m.g->peer[r].host), "this machine");
	free(link);
	if (member_run(&m, &e) != 0) {
		struct report said = {.rank = rank, .failed = true};

		memcpy(said.text, e.text[0], sizeof(said.text));
		/* first the others, who wait */
		gv_gang_leave(m.g);
		report(c, &said);
		_exit(1);
	}
	gv_gang_leave(m.g);
	_exit(0);
}

/* ---- the parent ---- */

static void
fail(struct crew *c, const char *text)
{
	if (!c->failed) {
		c->failed = true;
		c->deadline = gv_clock_s() + FAREWELL_S;
		snprintf(c->text, sizeof(c->text), "%s", text);
	}
}

static void
ended(struct crew *c, int rank, int status)
{
	char text[64];

	c->pid[rank] = 0;
	if (WIFSIGNALED(status) && !c->killed[rank] && c->first_dead == -1) {
		c->first_dead = rank;
		c->signal = WTERMSIG(status);
		fail(c, "killed");
	} else if (WIFEXITED(status) && WEXITSTATUS(status) > 1) {
		snprintf(text, sizeof(text), "a member ended with status %d",
		    WEXITSTATUS(status));
		fail(c, text);
	}
}

/* Takes note of those that have ended; true: some are left. */
static bool
reap(struct crew *c)
{
	bool left = false;
	int r, status;

	for (r = 0; r < c->t->n; r++) {
		if (c->pid[r] > 0 && waitpid(c->pid[r], &status, WNOHANG) == c->pid[r])
			ended(c, r, status);
		left = left || c->pid[r] > 0;
	}
	return left;
}

static void
kill_all(struct crew *c)
{
	int r;

	for (r = 0; r < c->t->n; r++)
		if (c->pid[r] > 0) {
			c->killed[r] = true;
			kill(c->pid[r], SIGKILL);
		}
}

/* Reads on; 1 a report is whole, 0 all have closed their ends, -1 nothing yet. */
static int
read_report(struct crew *c)
{
	char *at = (char *)&c->said + c->n_said;
	ssize_t n = read(c->pipe[0], at, sizeof(c->said) - c->n_said);

	if (n == -1 && errno == EINTR)
		return -1;
	if (n == -1)
		fail(c, strerror(errno));
	if (n <= 0)
		return 0;
	c->n_said += (size_t)n;
	if (c->n_said < sizeof(c->said))
		return -1;
	c->n_said = 0;
	return 1;
}

/* Hears what members say until all have ended. */
static int
listen_to(struct crew *c, int (*tell)(void *ctx, const struct row *r), void *ctx)
{
	bool left = true, open = true;
	int rc = 0;

	while (left || open) {
		struct pollfd p = {open ? c->pipe[0] : -1, POLLIN, 0};
		int got = poll(&p, 1, left ? 20 : 0) > 0 ? read_report(c) : -1;

		/* once a row could not be told all are ended: what they miss then is no failure */
		if (got == 1 && c->said.failed && rc == 0)
			fail(c, c->said.text);
		else if (got == 1 && rc == 0)
			rc = tell(ctx, &c->said.row);
		open = open && got != 0;
		left = reap(c);
		if (left && (rc != 0 || (c->failed && gv_clock_s() > c->deadline)))
			kill_all(c);
	}
	return rc;
}

/* Forks all; those who could not be are missed by the others. */
static void
start(struct crew *c)
{
	int r;

	for (r = 0; r < c->t->n && !c->failed; r++) {
		c->pid[r] = fork();
		if (c->pid[r] == 0)
			be_member(c, r);
		if (c->pid[r] == -1) {
			char text[128];

			snprintf(text, sizeof(text), "cannot start a process: %s",
			    strerror(errno));
			fail(c, text);
			c->pid[r] = 0;
		}
	}
}

static int
run_crew(struct crew *c, int (*tell)(void *ctx, const struct row *r), void *ctx,
    struct gv_error *e)
{
	struct gv_link **link = gv_xcalloc((size_t)c->t->n + 1, sizeof(struct gv_link *));
	int r, rc;

	start(c);
	close(c->pipe[1]);
	gv_local_take(c->links, c->t->n, link);
	rc = listen_to(c, tell, ctx);
	close(c->pipe[0]);
	for (r = 0; r < c->t->n; r++)
		link[r]->ops->close(link[r], 0);
	free(link);
	if (c->first_dead != -1)
		return gv_error_set(e, "%s was killed by signal %d",
		    c->t->name[c->first_dead], c->signal);
	if (c->failed)
		return gv_error_set(e, "%s", c->text);
	return rc;
}

/* As many descriptors as this process may have: two for each two neighbours. */
static void
raise_limit(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur < l.rlim_max) {
		l.rlim_cur = l.rlim_max;
		setrlimit(RLIMIT_NOFILE, &l);
	}
}

int
spawn(const struct gv_trees *t, const struct options *o, struct shape *shape,
    int (*tell)(void *ctx, const struct row *r), void *ctx, struct gv_error *e)
{
	struct crew c = {.t = t, .o = o, .shape = shape, .first_dead = -1};
	int rc;

	raise_limit();
	if (pipe(c.pipe) != 0)
		return gv_error_sys(e, "no pipe");
	if (gv_local_open(&c.links, t->n + 1, o->transport, joined, t, e) != 0) {
		close(c.pipe[0]);
		close(c.pipe[1]);
		return -1;
	}
	c.pid = gv_xcalloc((size_t)t->n, sizeof(*c.pid));
	c.killed = gv_xcalloc((size_t)t->n, sizeof(*c.killed));
	rc = run_crew(&c, tell, ctx, e);
	free(c.pid);
	free(c.killed);
	return rc;
}
