/*
 * What a run of gv-run has around it, drawn: a clock, workers by a launcher that starts none, and
 * a policy that is no process.  All that it is asked to do is part of the answer.
 */
#ifndef VIRTUAL_RUN_H
#define VIRTUAL_RUN_H

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "launch/launcher.h"
#include "policy/policy.h"
#include "run_draws.h"

static struct {
	struct recorded *r;
	double now_s;
	bool barren; /* no worker gets to a step */
	bool keeps;  /* what is in a spool cannot be removed for now */
	struct gv_launch_site site;
	char bad_node[8]; /* cannot be used; "-" = none */
} around;

static inline void
said(const char *what, long long n)
{
	recorded_text(around.r, what);
	recorded_whole(around.r, n);
}

/* ---- time ---- */

int
clock_gettime(clockid_t clock, struct timespec *t)
{
	double s = around.now_s + (clock == CLOCK_REALTIME ? 1e9 : 0);

	around.now_s += 1. / (1 << 14);
	t->tv_sec = (time_t)s;
	t->tv_nsec = (long)((s - floor(s)) * 1e9);
	return 0;
}

/* What is long goes a part at a time. */
ssize_t
write(int fd, const void *b, size_t n)
{
	struct iovec v = {(void *)(uintptr_t)b, n};

	if (fd > 2 && n > 60 && one_in(3))
		v.iov_len = 1 + below(n - 1);
	return writev(fd, &v, 1);
}

/* ---- workers ---- */

struct worker_drawn {
	struct gv_launch launch;
	char *progress;
	double up_s, left_s, steps, rate;
	long long written;
	int status;
	enum gv_launch_state end;
	enum gv_launch_state state; /* that was told last */
	bool starved, reason;
};

static struct gv_launch *
worker_start(const struct gv_launcher *by, const struct gv_launch_spec *spec,
    struct gv_launch_news *news)
{
	static const int status[] = {0, 0, 0, 1, 143, 137};
	struct worker_drawn *w;
	mode_t mask = umask(0);
	size_t i;

	(void)by;
	umask(mask);
	said(spec->job_id, mask);
	recorded_text(around.r, spec->command);
	recorded_text(around.r, spec->working_directory);
	recorded_text(around.r, spec->gpu_type);
	for (i = 0; i < spec->n_gpus; i++)
		said(spec->node != NULL ? spec->node[i] : "here", spec->gpus[i]);
	recorded_text(around.r, spec->checkpoint_dir);
	recorded_text(around.r, spec->progress);
	said(spec->log, spec->threads);
	recorded_double(around.r, spec->total_steps);
	recorded_whole(around.r, spec->round);
	recorded_whole(around.r, spec->restart_count);
	recorded_double(around.r, spec->grace_s);
	recorded_whole(around.r, spec->clean_env * 1000 + spec->keep_fd);
	if (one_in(9)) {
		i = below(2);
		gv_launch_not_started(
		    news, one_in(2) ? EAGAIN : ENOMEM, "no room %zu", i);
		return NULL;
	}
	w = gv_xcalloc(1, sizeof(*w));
	w->progress = gv_xstrdup(spec->progress);
	w->up_s = around.now_s + (one_in(2) ? (double)below(30) / 16 : 0);
	w->left_s = w->up_s + (double)below(one_in(3) ? 60 : 10) / 4;
	w->steps = (double)below(9);
	w->rate = one_in(4) || around.barren ? 0 : (double)(1 + below(8));
	w->written = -1;
	w->status = status[below(6)];
	w->end = one_in(8)   ? GV_LAUNCH_LOST
		 : one_in(9) ? GV_LAUNCH_NOT_STARTED
			     : GV_LAUNCH_LEFT;
	if (around.barren && !one_in(9))
		w->left_s += 40;
	w->starved = one_in(12);
	w->reason = one_in(6);
	w->state = w->up_s <= around.now_s ? GV_LAUNCH_UP : GV_LAUNCH_NONE;
	news->state = w->state;
	return &w->launch;
}

static void
worker_stop(struct gv_launch *l)
{
	struct worker_drawn *w = (struct worker_drawn *)l;

	said("stop", (long long)(w->left_s * 16));
	w->left_s = fmin(w->left_s, around.now_s + (double)below(20) / 8);
	w->status = one_in(3) ? 0 : 143;
}

static void
worker_kill(struct gv_launch *l)
{
	struct worker_drawn *w = (struct worker_drawn *)l;

	said("kill", (long long)(w->left_s * 16));
	w->left_s = around.now_s;
	w->status = 137;
}

/* Its steps up to now; one time in a few something else is where it tells them. */
static void
worker_tells(struct worker_drawn *w)
{
	double to = fmin(around.now_s, w->left_s);
	long long n = (long long)floor(w->steps + w->rate * (to - w->up_s));
	char line[80];
	ssize_t len;
	int fd;

	rmdir(w->progress);
	if (n == w->written || w->rate == 0)
		return;
	if (one_in(30) && unlink(w->progress) == 0) {
		mkdir(w->progress, 0700);
		return;
	}
	w->written = n;
	len = snprintf(line, sizeof(line), "step %lld\n%s %lld\n", n,
	    n % 3 == 0 ? "checkpoint" : "other", n);
	fd = open(w->progress, O_WRONLY | O_APPEND | O_CREAT, 0600);
	if (fd < 0 || write(fd, line, (size_t)len) != len)
		said("progress cannot be written", 0);
	close(fd);
}

static enum gv_launch_state
worker_state(const struct worker_drawn *w)
{
	if (w->end == GV_LAUNCH_NOT_STARTED && around.now_s >= w->up_s &&
	    w->state == GV_LAUNCH_NONE)
		return GV_LAUNCH_NOT_STARTED;
	if (around.now_s >= w->left_s)
		return w->end == GV_LAUNCH_NOT_STARTED ? GV_LAUNCH_LEFT : w->end;
	return around.now_s >= w->up_s ? GV_LAUNCH_UP : GV_LAUNCH_NONE;
}

static void
worker_poll(struct gv_launch *l, bool wait, struct gv_launch_news *news)
{
	struct worker_drawn *w = (struct worker_drawn *)l;

	said("poll", wait);
	news->state = worker_state(w);
	if (news->state == GV_LAUNCH_NOT_STARTED)
		gv_launch_not_started(news, 0, "no room later");
	if (news->state == GV_LAUNCH_LEFT || news->state == GV_LAUNCH_UP)
		worker_tells(w);
	if (news->state == GV_LAUNCH_LEFT) {
		news->status = w->status;
		news->starved = w->starved;
	}
	if (news->state == GV_LAUNCH_LOST || (news->state == GV_LAUNCH_LEFT && w->reason))
		snprintf(news->reason, sizeof(news->reason), "its node is gone");
	w->state = news->state;
}

static void
worker_free(struct gv_launch *l)
{
	rmdir(((struct worker_drawn *)l)->progress);
	free(((struct worker_drawn *)l)->progress);
	free(l);
}

static void
worker_changed(struct gv_launch *const *l, size_t n, bool *changed)
{
	size_t i;

	said("changed", (long long)n);
	for (i = 0; i < n; i++) {
		struct worker_drawn *w = (struct worker_drawn *)l[i];

		changed[i] = worker_state(w) != w->state;
		if (w->state == GV_LAUNCH_UP)
			worker_tells(w);
	}
}

static void
site_look(const struct gv_launcher *by, bool soon, struct gv_launch_site *site)
{
	(void)by;
	said("look", soon);
	*site = around.site;
}

static bool
site_usable(const struct gv_launcher *by, const char *node, int gpu, const char **why)
{
	(void)by;
	*why = "it is down";
	return strcmp(node, around.bad_node) != 0 || gpu > 1;
}

static const struct gv_launcher launcher_drawn = {.name = "drawn",
    .start = worker_start,
    .stop = worker_stop,
    .kill = worker_kill,
    .poll = worker_poll,
    .free = worker_free,
    .changed = worker_changed,
    .look = site_look,
    .usable = site_usable};

/* ---- a policy, in the place of that of the library ---- */

struct gv_policy {
	bool changes, asked;
	double ready_s, until_s;
	struct gv_strbuf answer;
	struct gv_frame known; /* the last whole table */
};

struct gv_policy *
gv_policy_new(const struct gv_policy_spec *spec)
{
	said(spec->directory, spec->streams);
	recorded_text(around.r, spec->command);
	recorded_double(around.r, spec->timeout_s);
	recorded_whole(around.r, (long long)spec->limit_bytes);
	return gv_xcalloc(1, sizeof(struct gv_policy));
}

void
gv_policy_stop(struct gv_policy *p)
{
	said("policy stops", p->asked);
	p->asked = false;
}

void
gv_policy_free(struct gv_policy *p)
{
	if (p == NULL)
		return;
	gv_strbuf_free(&p->answer);
	gv_frame_free(&p->known);
	free(p);
}

/* A cell as it stood. */
static void
add_cell(struct gv_strbuf *b, struct gv_cell c)
{
	size_t k;

	gv_strbuf_char(b, '"');
	for (k = 0; k < c.len; k++)
		gv_strbuf_fmt(b, c.s[k] == '"' ? "\"\"" : "%c", c.s[k]);
	gv_strbuf_str(b, "\",");
}

/* Shares of jobs of the whole table that it knows. */
static void
draw_answer(struct gv_policy *p, bool follows)
{
	static const char *const column[] = {
	    "job_id", "gpu_type", "steps_per_s", "scale_factor"};
	static const char *const wrong[] = {"2", "x", "-1", ""};
	size_t n = p->changes ? 2 : 4, i, k;
	bool bad = one_in(9);

	gv_strbuf_clear(&p->answer);
	for (k = 0; k < n; k++)
		gv_strbuf_fmt(&p->answer, "%s,", column[k]);
	gv_strbuf_fmt(&p->answer, "share%s\n", follows ? ",reads" : "");
	for (i = 0; i < p->known.n_rows; i++) {
		struct gv_cell with = gv_frame_cell(
		    &p->known, i, gv_frame_find(&p->known, "with_job_id"));

		if (one_in(p->changes ? 2 : 5) || (with.len > 0 && !one_in(30)))
			continue;
		for (k = 0; k < n; k++)
			add_cell(&p->answer,
			    gv_frame_cell(
				&p->known, i, gv_frame_find(&p->known, column[k])));
		if (bad && one_in(3))
			gv_strbuf_str(&p->answer, wrong[below(4)]);
		else
			gv_strbuf_fmt(&p->answer, "%g", (double)below(6) / 16);
		gv_strbuf_str(&p->answer, !follows    ? "\n"
					  : one_in(2) ? ",steps_remaining\n"
						      : ",\n");
	}
	p->asked = true;
	p->ready_s = around.now_s + (one_in(2) ? 0 : (double)below(40) / 16);
	p->until_s = around.now_s + 2;
}

int
gv_policy_ask(struct gv_policy *p, struct gv_strbuf *table, struct gv_error *e)
{
	recorded_bytes(around.r, table->s, table->len);
	p->changes = false;
	if (one_in(15))
		return gv_error_set(e, "the policy cannot be started");
	gv_frame_free(&p->known);
	if (gv_frame_parse(&p->known, "question", table->s, table->len, e) != 0)
		return -1;
	gv_strbuf_free(table);
	draw_answer(p, one_in(2));
	return 0;
}

int
gv_policy_ask_changes(struct gv_policy *p, struct gv_strbuf *table)
{
	recorded_bytes(around.r, table->s, table->len);
	if (one_in(5))
		return 1;
	p->changes = true;
	gv_strbuf_free(table);
	draw_answer(p, false);
	return 0;
}

enum gv_policy_state
gv_policy_turn(struct gv_policy *p, struct gv_error *e)
{
	said("policy turns", p->asked);
	if (p->asked && around.now_s < p->ready_s && around.now_s < p->until_s)
		return GV_POLICY_ASKED;
	p->asked = false;
	if (around.now_s < p->until_s)
		return GV_POLICY_ANSWERED;
	gv_error_set(e, "the policy has not answered in 2 s");
	return GV_POLICY_FAILED;
}

size_t
gv_policy_fds(const struct gv_policy *p, struct pollfd fd[2])
{
	fd[0] = (struct pollfd){.fd = -1, .events = POLLOUT};
	fd[1] = (struct pollfd){.fd = -1, .events = POLLIN};
	return p->changes ? 1 : 2;
}

double
gv_policy_wait_s(const struct gv_policy *p)
{
	return fmin(p->ready_s, p->until_s) - around.now_s;
}

const char *
gv_policy_answer(const struct gv_policy *p, size_t *len)
{
	*len = p->answer.len;
	return p->answer.s;
}

int
gv_policy_table(
    const struct gv_policy *p, const char *name, struct gv_frame *f, struct gv_error *e)
{
	return gv_frame_parse(f, name, p->answer.s, p->answer.len, e);
}

#endif
