/*
 * common/policy/policy.h over commands that are drawn, whose time is its own: some answer table
 * after table, some when their input ends, late, too much, in parts, not at all, or leave; what is
 * given to them, which answers there are and what is said of those that are none.
 */
#undef _FORTIFY_SOURCE /* whose wrappers are inline: the functions are ours here */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "draws.h"
#include "policy/child.h"
#include "policy/policy.h"
#include "recorded_frame.h"

enum { ROUNDS = 60, PER_ROUND = 20, QUESTIONS = 5, PID = 77 };

/* ---- a command ---- */

enum manner { STREAMS, FILTERS, BUFFERS, SILENT, LEAVES, FAILS, KILLED, ODD, MANNERS };

static struct {
	struct recorded *r;
	double now_s, slow_s;
	enum manner manner;
	bool there, ended, over; /* its input has ended; it writes no more */
	struct gv_strbuf in, out;
	size_t heard, told; /* of both */
	double speaks_s;    /* what is in out comes then */
	int status, in_fd, out_fd;
} c;

static void
says(const char *s)
{
	gv_strbuf_str(&c.out, s);
	c.speaks_s = c.now_s + c.slow_s * uniform();
}

/* It has heard something: perhaps a whole question. */
static void
hears(void)
{
	static const char *const odd[] = {"a,b\n1,2\n\nmore\n", "a,b\n1,2\n\n\r\n\n",
	    "\n", "\r\n", "a\n\n", "a,b\r\n1,2\r\n\r\n", "a,b\n1,2",
	    "a,b\n\"x\n\ny\",2\n\n"};
	bool whole = c.in.len >= c.heard + 2 && c.in.s[c.in.len - 1] == '\n' &&
		     c.in.s[c.in.len - 2] == '\n';

	if (!whole && !c.ended)
		return;
	c.heard = c.in.len;
	if (c.manner == STREAMS && whole)
		says("a,b\n1,2\n\n");
	else if (c.manner == ODD && (whole || c.ended))
		says(odd[below(8)]);
	else if (c.manner == BUFFERS && c.ended)
		says("a,b\n3,4\n\n");
	else if ((c.manner == FILTERS || c.manner == STREAMS) && c.ended &&
		 c.out.len == 0)
		says(c.manner == FILTERS ? "a,b\n5,6\n" : "a,b\n1,2\n\n");
	c.over = c.ended || c.manner == LEAVES || c.manner == FAILS || c.manner == KILLED;
}

int
gv_child_start(struct gv_child *child, const char *command, const char *directory,
    struct gv_error *e)
{
	recorded_text(c.r, command);
	recorded_text(c.r, directory != NULL ? directory : "here");
	*child = GV_CHILD_NONE;
	c.there = false;
	if (below(40) == 0)
		return gv_error_set(e, "cannot start a process");
	if (below(3) == 0)
		c.manner = (enum manner)below(MANNERS);
	*child = (struct gv_child){PID, c.in_fd, c.out_fd};
	gv_strbuf_clear(&c.in);
	gv_strbuf_clear(&c.out);
	c.heard = c.told = 0;
	c.ended = c.over = false;
	c.there = true;
	c.status = c.manner == FAILS    ? (1 + (int)below(3)) << 8
		   : c.manner == KILLED ? 9
					: 0;
	c.speaks_s = c.now_s;
	return 0;
}

size_t
gv_child_write(struct gv_child *child, const char *s, size_t len)
{
	size_t n = child->in < 0 || below(4) == 0 ? len : below(len + 1);

	recorded_whole(c.r, (long long)n);
	if (child->in >= 0 && n > 0) {
		recorded_bytes(c.r, s, n);
		gv_strbuf_add(&c.in, s, n);
		hears();
	}
	return n;
}

void
gv_child_end_input(struct gv_child *child)
{
	recorded_whole(c.r, 1000 + child->in);
	child->in = -1;
	c.ended = true;
	hears();
}

ssize_t
gv_child_read(struct gv_child *child, char *buf, size_t len)
{
	size_t n = c.out.len - c.told;

	if (child->out < 0)
		return -1;
	if (c.now_s >= c.speaks_s && n > 0) {
		n = below(3) == 0 ? 1 + below(n) : n;
		n = n < len ? n : len;
		memcpy(buf, c.out.s + c.told, n);
		c.told += n;
		return (ssize_t)n;
	}
	if (!c.over || n > 0)
		return 0;
	child->out = -1;
	return -1;
}

bool
gv_child_exited(struct gv_child *child, int *status)
{
	if (child->pid == 0 || !c.over || c.now_s < c.speaks_s || below(3) == 0)
		return false;
	recorded_whole(c.r, 2000);
	child->pid = 0;
	*status = c.status;
	return true;
}

void
gv_child_kill(struct gv_child *child)
{
	recorded_whole(c.r, 3000 + child->pid);
	*child = GV_CHILD_NONE;
	c.there = false;
}

void
gv_child_dismiss(struct gv_child *child, double seconds)
{
	recorded_double(c.r, seconds);
	gv_child_kill(child);
}

int
clock_gettime(clockid_t clock, struct timespec *t)
{
	(void)clock;
	c.now_s += 1. / 4096;
	t->tv_sec = (time_t)c.now_s;
	t->tv_nsec = (long)((c.now_s - floor(c.now_s)) * 1e9);
	return 0;
}

/* Until something can be written or read, or the time is up. */
int
poll(struct pollfd *p, nfds_t n, int ms)
{
	double until_s = c.now_s + ms * 1e-3;
	nfds_t i;

	recorded_whole(c.r, (long long)n);
	for (i = 0; i < n; i++) {
		recorded_whole(c.r, p[i].fd);
		recorded_whole(c.r, p[i].events);
		if (p[i].events == POLLOUT)
			return 1;
	}
	recorded_whole(c.r, ms / 4);
	c.now_s = c.speaks_s > c.now_s ? fmin(until_s, c.speaks_s) : until_s;
	return 0;
}

/* What is called instead of it where the library is hardened. */
int __poll_chk(struct pollfd *p, nfds_t n, int ms, size_t room);
int
__poll_chk(struct pollfd *p, nfds_t n, int ms, size_t room)
{
	(void)room;
	return poll(p, n, ms);
}

/* ---- questions ---- */

static void
recorded_policy(struct recorded *r, const struct gv_policy *p)
{
	struct gv_error e = {0};
	struct gv_frame f;
	struct pollfd fd[2];
	const char *s;
	size_t len;

	s = gv_policy_answer(p, &len);
	recorded_whole(r, s != NULL ? (long long)len : -1);
	recorded_bytes(r, s != NULL ? s : "", len);
	recorded_whole(r, gv_policy_table(p, "answer", &f, &e));
	recorded_error(r, &e);
	recorded_frame(r, &f);
	gv_frame_free(&f);
	recorded_whole(r, gv_policy_starts(p));
	recorded_whole(r, (long long)gv_policy_fds(p, fd));
	recorded_whole(r, gv_policy_wait_s(p) < HUGE_VAL);
}

static void
draw_question(struct gv_strbuf *b)
{
	size_t n = below(4) == 0 ? below(40) : below(4);

	gv_strbuf_str(b, "job,rate\n");
	for (; n > 0; n--)
		gv_strbuf_fmt(b, "%zu,1\n", n);
}

static void
ask(struct recorded *r)
{
	static const size_t limit[] = {0, 0, 0, 1, 8, 9, 20};
	struct gv_policy_spec spec = {
	    .command = "policy x", .timeout_s = 1 + (double)below(8)};
	struct gv_policy *p;
	size_t i;

	spec.directory = below(2) == 0 ? "/d" : NULL;
	spec.streams = below(2) == 0;
	spec.limit_bytes = limit[below(7)];
	c.r = r;
	c.in_fd = below(4) == 0 ? 0 : 70;
	c.out_fd = below(4) == 0 ? 0 : 71;
	c.now_s = 100;
	c.slow_s = below(2) == 0 ? .1 : below(2) == 0 ? 1 : 10;
	c.manner = below(3) == 0 ? (enum manner)below(MANNERS) : STREAMS;
	p = gv_policy_new(&spec);
	recorded_policy(r, p);
	for (i = 0; i < QUESTIONS; i++) {
		struct gv_strbuf table = {0};
		struct gv_error e = {0};
		int rc = 1;

		draw_question(&table);
		if (below(6) == 0)
			c.manner = LEAVES;
		if (below(2) == 0)
			rc = gv_policy_ask_changes(p, &table);
		recorded_whole(r, rc);
		if (rc != 0)
			rc = gv_policy_ask(p, &table, &e);
		recorded_whole(r, rc);
		recorded_whole(r, (long long)table.len);
		if (below(10) == 0)
			recorded_policy(r, p);
		if (rc == 0 && below(12) > 0)
			recorded_whole(r, gv_policy_wait(p, &e));
		recorded_error(r, &e);
		recorded_policy(r, p);
		recorded_whole(r, (long long)((c.now_s - 100) * 8));
		if (below(5) == 0 && c.there && c.manner == STREAMS)
			says(below(2) == 0 ? "\n\r\n" : "x\n");
		if (below(9) == 0 || (rc == 0 && gv_policy_wait_s(p) < HUGE_VAL))
			gv_policy_stop(p);
		c.now_s += 2;
		gv_strbuf_free(&table);
	}
	gv_policy_free(p);
}

int
main(void)
{
	struct recorded r;
	size_t k;
	uint32_t i;

	recorded_open(&r);
	for (i = 0; i < ROUNDS; i++) {
		draws_begin(103, i, 0);
		for (k = 0; k < PER_ROUND; k++)
			ask(&r);
		recorded_answer(&r, "%d policies", PER_ROUND);
	}
	gv_strbuf_free(&c.in);
	gv_strbuf_free(&c.out);
	recorded_close(&r);
	return done_testing();
}
