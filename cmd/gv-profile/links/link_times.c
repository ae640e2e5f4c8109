#include "link_times.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "link_member.h"
#include "net/mesh.h"

#define SILENCE_S 60

/* ---- a table from what members say ---- */

void
link_times_take(struct link_time *t, int n, const struct link_report *r)
{
	struct link_time *x;
	int i;

	if (r->what == LINK_SUM || r->what == LINK_BESIDE) {
		for (i = 0; i < n; i++) {
			x = &t[r->to * n + i];
			if (r->what == LINK_SUM)
				x->sum = r->value;
			if (r->cpu_s > x->cpu_s)
				x->cpu_s = r->cpu_s;
			if (i != r->to && r->what == LINK_SUM && r->scatter > x->scatter)
				x->scatter = r->scatter;
		}
		return;
	}
	if (r->from < 0) /* of no link: nothing that a member says */
		return;
	x = &t[r->from * n + r->to];
	x->scatter = r->scatter > x->scatter ? r->scatter : x->scatter;
	if (r->what == LINK_ALONE)
		x->alone = r->value;
	else if (r->what == LINK_BOTH)
		x->both = r->value;
	else if (r->what == LINK_CONCURRENT)
		x->concurrent = r->value;
	else
		x->latency_s = t[r->to * n + r->from].latency_s = r->value;
}

/* ---- a member ---- */

/* What a member says to the parent, whole in one write. */
struct said {
	bool failed, done; /* done: a measurement has ended */
	struct link_report report;
	char text[GV_ERROR_LEN];
};

struct teller {
	int pipe, rank;
};

static int
say(int pipe, const struct said *s)
{
	ssize_t n;

	do
		n = write(pipe, s, sizeof(*s));
	while (n == -1 && errno == EINTR);
	return n == (ssize_t)sizeof(*s) ? 0 : -1;
}

static void
tell(void *ctx, const struct link_report *r)
{
	const struct teller *t = ctx;
	struct said s;

	memset(&s, 0, sizeof(s));
	if (r != NULL)
		s.report = *r;
	else if (t->rank > 0)
		return;
	s.done = r == NULL;
	if (say(t->pipe, &s) != 0)
		_exit(1); /* nobody is there to be told */
}

static GV_NORETURN void
be_member(const struct link_rule *rule, const struct link_trials *p,
    struct gv_local *links, int rank, int pipe)
{
	struct gv_link **link = gv_xcalloc((size_t)rule->n, sizeof(struct gv_link *));
	struct teller teller = {pipe, rank};
	struct link_member m = {.rank = rank, .rule = rule, .tell = tell, .ctx = &teller};
	struct gv_error e = {0};
	int r, rc;

	gv_local_take(links, rank, link);
	m.gang = gv_mesh_new(rank, rule->n, link, SILENCE_S);
	for (r = 0; r < rule->n; r++)
		snprintf(
		    m.gang->peer[r].host, sizeof(m.gang->peer[r].host), "this machine");
	free(link);
	rc = link_member_run(&m, p, &e);
	gv_gang_leave(m.gang);
	if (rc != 0) {
		struct said s;

		memset(&s, 0, sizeof(s));
		s.failed = true;
		memcpy(s.text, e.text[0], sizeof(s.text));
		say(pipe, &s);
	}
	_exit(rc == 0 ? 0 : 1);
}

/* ---- the parent ---- */

/* Hears the members until none is left. */
static int
listen_to(struct link_time *t, const struct link_rule *rule, size_t trials, int pipe,
    struct gv_error *e)
{
	struct said said;
	size_t done = 0;
	ssize_t n;
	int rc = 0;

	for (;;) {
		n = read(pipe, &said, sizeof(said));
		if (n == -1 && errno == EINTR)
			continue;
		if (n != (ssize_t)sizeof(said))
			break;
		if (said.failed && rc == 0)
			rc = gv_error_set(e, "%s", said.text);
		if (!said.failed && !said.done)
			link_times_take(t, rule->n, &said.report);
		done += said.done;
		if (said.done && rule->tell != NULL)
			rule->tell(done, trials);
	}
	return rc;
}

static bool
all_joined(const void *ctx, int a, int b)
{
	(void)ctx;
	(void)a;
	(void)b;
	return true;
}

/* Forks all; those that could not be are missed by the others, who end. */
static int
start(const struct link_rule *rule, const struct link_trials *p, struct gv_local *links,
    const int ends[2], pid_t *pid, struct gv_error *e)
{
	int r;

	for (r = 0; r < rule->n; r++) {
		pid[r] = fork();
		if (pid[r] == -1)
			return gv_error_sys(e, "cannot start a process");
		if (pid[r] == 0) {
			close(ends[0]);
			be_member(rule, p, links, r, ends[1]);
		}
	}
	return 0;
}

int
link_times(struct link_time *t, const struct link_rule *rule, struct gv_error *e)
{
	struct gv_local *links = NULL;
	struct link_trials p;
	int ends[2], r, rc, heard, status;
	pid_t *pid;

	if (pipe(ends) != 0)
		return gv_error_sys(e, "no pipe");
	if (gv_local_open(&links, rule->n, rule->kind, all_joined, NULL, e) != 0) {
		close(ends[0]);
		close(ends[1]);
		return -1;
	}
	link_trials_make(&p, rule->n);
	pid = gv_xcalloc((size_t)rule->n, sizeof(*pid));
	rc = start(rule, &p, links, ends, pid, e);
	gv_local_close(links);
	close(ends[1]);
	heard = listen_to(t, rule, p.n, ends[0], e);
	close(ends[0]);
	for (r = 0; r < rule->n; r++)
		if (pid[r] > 0 && waitpid(pid[r], &status, 0) == pid[r] &&
		    WIFSIGNALED(status) && rc == 0 && heard == 0)
			rc = gv_error_set(
			    e, "a process was killed by signal %d", WTERMSIG(status));
	link_trials_free(&p);
	free(pid);
	return rc != 0 ? rc : heard;
}
