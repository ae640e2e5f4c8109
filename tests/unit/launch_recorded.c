/*
 * The environment of drawn workers in drawn environments, on one node and several; how they
 * meet; launches by a launcher that does what is drawn; and progress files that are read while they grow, by reads that are cut short.
 */
#undef _FORTIFY_SOURCE /* whose wrappers are inline: the functions are ours here */
#define _XOPEN_SOURCE 700
#include "recorded.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "draws.h"
#include "launch/launcher.h"
#include "launch/progress.h"
#include "scratch.h"

enum { ROUNDS = 40, PER_ROUND = 40, MOST_GPUS = 8, MOST_VARIABLES = 21 };

extern char **environ;

/* ---- a system that answers little at a time ---- */

static bool fails; /* now and then */

ssize_t
pread(int fd, void *buf, size_t n, off_t offset)
{
	ssize_t got;

	if (fails && below(3) == 0) {
		errno = EINTR;
		return -1;
	}
	if (fails && below(4) == 0 && n > 300)
		n = 2 + below(n - 2);
	if (lseek(fd, offset, SEEK_SET) == -1)
		return -1;
	do
		got = read(fd, buf, n);
	while (got == -1 && errno == EINTR);
	return got;
}

/* What is called instead of it where the library is hardened. */
ssize_t __pread_chk(int fd, void *buf, size_t n, off_t offset, size_t room);
ssize_t
__pread_chk(int fd, void *buf, size_t n, off_t offset, size_t room)
{
	(void)room;
	return pread(fd, buf, n, offset);
}

/* ---- environments ---- */

static void
draw_environment(char **env)
{
	static char variable[][40] = {"GV_DATA=/data", "PATH=/bin", "HOME=/h", "LANG=C",
	    "TZ=UTC", "USER=u", "GV_LAUNCH_DIR=/l", "CUDA_VISIBLE_DEVICES=7", "RANK=9",
	    "RANKS=9", "MASTER_ADDR=x", "GV_JOB_ID", "GV_PROGRESS=/p",
	    "OMP_NUM_THREADS=4", "OMP_NUM_THREADSX=4", "PYTHONPATH=/a:/b",
	    "PYTHONPATH=", "GV_GANG_KEY=k", "TORCHELASTIC_ERROR_FILE=f", "LOCAL_RANK=1",
	    "PATHS=/x"};
	size_t n = 0, first = below(MOST_VARIABLES), i;

	env[n++] = variable[0];
	for (i = 1; i < MOST_VARIABLES; i++)
		if (below(2) == 0)
			env[n++] = variable[1 + (first + i) % (MOST_VARIABLES - 1)];
	env[n] = NULL;
}

static void
draw_spec(struct gv_launch_spec *s, int *gpu, const char **node)
{
	static const char *const name[] = {"n1", "n2", "n3", "n1"};
	static const double total[] = {NAN, 10, 2.5, 1e15, 9e18, 1e19, 0, HUGE_VAL};
	size_t at = 0, i;

	*s = (struct gv_launch_spec){.job_id = below(2) == 0 ? "a" : "job 7",
	    .gpu_type = "v100",
	    .gpus = gpu,
	    .checkpoint_dir = "/s/c",
	    .progress = "/s/p"};
	s->n_gpus = 1 + below(MOST_GPUS);
	for (i = 0; i < s->n_gpus; i++) {
		at += i > 0 && at < 3 && below(3) == 0;
		gpu[i] = (int)(i + below(3));
		node[i] = name[at];
	}
	s->node = below(2) == 0 ? node : NULL;
	s->threads = below(3) == 0 ? 1 + (int)below(8) : 0;
	s->total_steps = total[below(8)];
	s->round = (int64_t)below(5) - 1;
	s->restart_count = (int)below(4);
	s->clean_env = below(3) == 0;
	s->master_addr = below(4) == 0 ? "10.0.0.1" : NULL;
	s->master_port = 1 + (int)below(60000);
	s->gang_key = below(2) == 0 ? "0123456789abcdef" : NULL;
}

/* A key that is drawn: 64 digits, of each gang others. */
static bool
is_key(const char *key, char last[GV_LAUNCH_KEY_LEN + 1])
{
	bool is = strlen(key) == GV_LAUNCH_KEY_LEN &&
		  strspn(key, "0123456789abcdef") == GV_LAUNCH_KEY_LEN &&
		  strcmp(key, last) != 0;

	strcpy(last, key);
	return is;
}

static size_t
ask_environment(struct recorded *r)
{
	static char last[GV_LAUNCH_KEY_LEN + 1];
	char *drawn[MOST_VARIABLES + 1], **before = environ, **env;
	struct gv_launch_meeting m;
	struct gv_launch_spec s;
	int gpu[MOST_GPUS];
	const char *node[MOST_GPUS];
	size_t rank, i, bad = 0;
	bool empty = below(20) == 0;

	draw_spec(&s, gpu, node);
	rank = below(s.n_gpus);
	if (gv_launch_meet(&m, &s) != 0)
		return 1;
	if (s.gang_key == NULL && s.n_gpus > 1) {
		bad += !is_key(m.key, last);
		strcpy(m.key, "drawn");
	}
	recorded_text(r, m.key);
	draw_environment(drawn);
	environ = empty ? NULL : drawn;
	env = gv_launch_env(&s, rank, &m);
	environ = before;
	for (i = 0; env[i] != NULL; i++)
		if (!empty || (strncmp(env[i], "GV_DATA=", 8) != 0 &&
				  strncmp(env[i], "PYTHONPATH=", 11) != 0))
			recorded_text(r, env[i]);
	recorded_whole(r, (long long)i);
	gv_launch_env_free(env);
	return bad;
}

/* ---- launchers ---- */

static struct {
	struct recorded *r;
	struct gv_launch launch;
	enum gv_launch_state state; /* what comes next */
} fake;

static struct gv_launch *
fake_start(const struct gv_launcher *by, const struct gv_launch_spec *spec,
    struct gv_launch_news *news)
{
	recorded_text(fake.r, by->name);
	recorded_whole(fake.r, (long long)spec->n_gpus);
	fake.launch = (struct gv_launch){0};
	news->state = fake.state;
	if (fake.state == GV_LAUNCH_NOT_STARTED) {
		gv_launch_not_started(
		    news, below(2) == 0 ? ENOENT : 0, "no %s on \"%s\"", "shell", "n1");
		return NULL;
	}
	return &fake.launch;
}

static void
fake_stop(struct gv_launch *l)
{
	recorded_whole(fake.r, 1 + 2 * l->told);
}

static void
fake_kill(struct gv_launch *l)
{
	recorded_whole(fake.r, 5 + 2 * l->told);
}

static void
fake_poll(struct gv_launch *l, bool wait, struct gv_launch_news *news)
{
	recorded_whole(fake.r, wait + 2 * l->told);
	news->state = fake.state;
	news->status = 3;
}

static void
fake_free(struct gv_launch *l)
{
	recorded_whole(fake.r, l == &fake.launch);
}

static void
fake_look(const struct gv_launcher *by, bool soon, struct gv_launch_site *site)
{
	recorded_text(fake.r, by->name);
	recorded_whole(fake.r, soon);
	site->turns = 7;
}

static bool
fake_usable(const struct gv_launcher *by, const char *node, int gpu, const char **why)
{
	recorded_text(fake.r, by->name);
	*why = node;
	return gpu > 0;
}

static void
fake_changed(struct gv_launch *const *l, size_t n, bool *changed)
{
	recorded_whole(fake.r, l[0] == &fake.launch);
	changed[n - 1] = false;
}

static void
ask_site(struct recorded *r, const struct gv_launcher *by)
{
	struct gv_launch_site site;
	const char *why = NULL;
	bool soon = below(2) == 0;

	gv_launch_look(by, soon, &site);
	recorded_whole(r, site.turns + 100 * site.over);
	recorded_double(r, site.left_s < HUGE_VAL ? site.left_s : -1);
	recorded_whole(r, gv_launch_usable(by, "n1", (int)below(2), &why));
	recorded_text(r, why);
}

/* A launch by a launcher that has all functions or those it must have. */
static void
ask_launch(struct recorded *r)
{
	static const enum gv_launch_state state[] = {GV_LAUNCH_UP, GV_LAUNCH_NONE,
	    GV_LAUNCH_UP, GV_LAUNCH_LEFT, GV_LAUNCH_LOST, GV_LAUNCH_NOT_STARTED};
	struct gv_launcher by = {.name = "fake",
	    .start = fake_start,
	    .stop = fake_stop,
	    .kill = fake_kill,
	    .poll = fake_poll,
	    .free = fake_free};
	struct gv_launch_spec spec = {.job_id = "a", .n_gpus = below(6)};
	struct gv_launch_news news;
	struct gv_launch *l;
	size_t turns = 6, n;
	bool waits;
	bool changed[2] = {false, false};

	fake.r = r;
	by.look = below(2) == 0 ? fake_look : NULL;
	by.usable = below(2) == 0 ? fake_usable : NULL;
	by.changed = below(2) == 0 ? fake_changed : NULL;
	ask_site(r, &by);
	fake.state = below(4) == 0 ? GV_LAUNCH_NOT_STARTED : state[below(2)];
	recorded_whole(r, gv_launch_start(&l, &by, &spec, &news));
	for (; turns > 0; turns--) {
		recorded_whole(r, l != NULL);
		recorded_text(r, news.reason);
		recorded_whole(r, news.error + 1000 * news.told + 2000 * news.status);
		if (below(3) == 0)
			gv_launch_stop(l);
		if (below(5) == 0)
			gv_launch_kill(l);
		n = l != NULL ? below(3) : 0;
		gv_launch_changed((struct gv_launch *const[]){l, l}, n, changed);
		recorded_whole(r, changed[0] + 2 * changed[1]);
		fake.state = state[below(6)];
		waits = below(2) == 0;
		recorded_whole(r, gv_launch_poll(&l, waits, &news));
	}
}

/* ---- progress ---- */

static void
draw_lines(struct gv_strbuf *b)
{
	static const char *const line[] = {"step 1\n", "step 2.5\n", "step 1e3\n",
	    "step 7", "checkpoint 5\n", "checkpoint 12\n", "\n", "noise\n", "step -1\n",
	    "step x\n", "step \n", "checkpoint\n", "step 3 \n", "checkpoint 4\r\n",
	    " step 9\n", "step 00\n"};
	size_t n = below(5), i;

	for (; n > 0; n--)
		gv_strbuf_str(b, line[below(16)]);
	if (below(40) == 0)
		for (i = below(3) == 0 ? 70000 : below(600); i > 0; i--)
			gv_strbuf_char(b, 'x');
}

/*
 * What is said of a file that grows: with every read whole, and with reads that are cut short
 * or interrupted, the same.
 */
static size_t
ask_progress(struct recorded *r)
{
	struct gv_progress_report whole = GV_PROGRESS_NONE, torn = GV_PROGRESS_NONE;
	struct gv_strbuf text = {0};
	struct gv_error e = {0};
	size_t times = 1 + below(4), bad = 0;
	int fd = dup(0);

	close(fd);
	gv_strbuf_str(&text, "");
	for (; times > 0; times--) {
		if (below(12) == 0)
			gv_strbuf_clear(&text); /* somebody has emptied it */
		draw_lines(&text);
		scratch_file("progress", text.s, text.len);
		bad += gv_progress_read("progress", &whole, &e) != 0;
		fails = true;
		bad += gv_progress_read("progress", &torn, &e) != 0;
		fails = false;
		bad += gv_progress_read("progress", &torn, &e) != 0;
		recorded_double(r, whole.steps);
		recorded_double(r, whole.checkpoint);
		recorded_whole(r, whole.offset);
		bad += torn.steps != whole.steps || torn.checkpoint != whole.checkpoint;
	}
	bad += dup(0) != fd; /* none is left open */
	close(fd);
	gv_strbuf_free(&text);
	return bad;
}

static void
test_environments(struct recorded *r)
{
	size_t bad = 0, k;
	uint32_t i;

	for (i = 0; i < ROUNDS; i++) {
		draws_begin(67, i, 0);
		for (k = 0; k < PER_ROUND; k++) {
			bad += ask_environment(r);
			ask_launch(r);
		}
		recorded_answer(r, "%d environments and launches", PER_ROUND);
	}
	is_int((long long)bad, 0, "keys are drawn anew");
}

static void
test_progress(struct recorded *r)
{
	size_t bad = 0, k;
	uint32_t i;

	for (i = 0; i < ROUNDS; i++) {
		draws_begin(71, i, 0);
		for (k = 0; k < PER_ROUND; k++)
			bad += ask_progress(r);
		recorded_answer(r, "%d progress files", PER_ROUND);
	}
	is_int((long long)bad, 0,
	    "reads that are cut short lose nothing, and leave no file open");
}

int
main(void)
{
	static const char *const made[] = {"progress", NULL};
	struct recorded r;

	recorded_open(&r);
	scratch_enter();
	test_environments(&r);
	test_progress(&r);
	scratch_leave(made);
	recorded_close(&r);
	return done_testing();
}
