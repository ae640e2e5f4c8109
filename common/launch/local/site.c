#include "launch/local/site.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "gpu/nvml.h"

/* Between two looks, when nothing and when a round hurries; how long one may take, s. */
static const double look_s = 30, soon_s = 2, patience_s = 60;

enum { MOST_GPUS = 64, DOUBTS = 2 };

static const char nameless[] = "?";

/* What was seen of a GPU, by the number that it had at first. */
struct seen {
	char uuid[GV_GPU_TEXT];
	char problem[GV_GPU_TEXT]; /* "" = none */
};

static struct {
	pid_t pid; /* of who asks, 0 = nobody */
	int fd;
	double begun_s, ended_s;
	bool never;   /* there is no driver: nothing to ask */
	int failures; /* in a row: no answer, though there was one before */
	struct gv_strbuf words;
	size_t n;
	struct seen gpu[MOST_GPUS];
	unsigned turns;
} site;

/*
 * In the process that asks: "driver" and a line "UUID PROBLEM" for each GPU, or "none" or
 * "failed" and why.
 */
static GV_NORETURN void
tell(int fd)
{
	struct gv_gpus g = {0};
	struct gv_error e = {0};
	struct gv_strbuf b = {0};
	size_t i;

	signal(SIGTERM, SIG_DFL);
	if (gv_gpus_list(&g, &e) != 0)
		gv_strbuf_fmt(&b, "failed %s\n", e.text[0]);
	else if (g.driver[0] == '\0')
		gv_strbuf_fmt(&b, "none %s\n", g.why);
	else
		gv_strbuf_str(&b, "driver\n");
	for (i = 0; i < g.n; i++)
		gv_strbuf_fmt(&b, "%s %s\n",
		    g.gpu[i].uuid[0] != '\0' ? g.gpu[i].uuid : nameless,
		    g.gpu[i].problem);
	(void)!write(fd, b.s, b.len);
	_exit(0);
}

static void
begin(void)
{
	int fd[2];

	site.begun_s = gv_clock_s();
	if (pipe(fd) != 0)
		return;
	fcntl(fd[0], F_SETFD, FD_CLOEXEC);
	fcntl(fd[0], F_SETFL, O_NONBLOCK);
	gv_strbuf_clear(&site.words);
	site.pid = fork();
	if (site.pid == 0)
		tell(fd[1]);
	close(fd[1]);
	site.fd = fd[0];
	if (site.pid == -1) {
		site.pid = 0;
		close(fd[0]);
	}
}

static void
read_words(void)
{
	char buf[4096];
	ssize_t n;

	while ((n = read(site.fd, buf, sizeof(buf))) > 0)
		gv_strbuf_add(&site.words, buf, (size_t)n);
}

static const char *
next_line(const char *s)
{
	s += strcspn(s, "\n");
	return s + (*s == '\n');
}

static size_t
count_lines(const char *s)
{
	size_t n = 0;

	for (; *s != '\0'; s = next_line(s))
		n++;
	return n;
}

/*
 * The line of the i-th in what was told, "" = it is not there.  One that is lost has no
 * name to be known by, so the order counts while they are as many as there were.
 */
static const char *
line_of(const char *words, size_t i)
{
	const char *uuid = site.gpu[i].uuid;
	bool as_many = count_lines(words) == site.n;
	size_t at;

	for (at = 0; *words != '\0'; words = next_line(words), at++)
		if (as_many ? at == i
			    : strncmp(words, uuid, strlen(uuid)) == 0 &&
				  words[strlen(uuid)] == ' ')
			return words;
	return "";
}

static void
set_problem(struct seen *gpu, const char *s, size_t len)
{
	char problem[GV_GPU_TEXT];

	snprintf(problem, sizeof(problem), "%.*s",
	    (int)(len < sizeof(problem) ? len : sizeof(problem) - 1), s);
	site.turns += strcmp(problem, gpu->problem) != 0;
	memcpy(gpu->problem, problem, sizeof(problem));
}

static void
set_name(struct seen *gpu, const char *line)
{
	size_t len = strcspn(line, " \n");

	snprintf(gpu->uuid, sizeof(gpu->uuid), "%.*s",
	    (int)(len < sizeof(gpu->uuid) ? len : sizeof(gpu->uuid) - 1), line);
}

/* The first time: who there is, in the order of their numbers. */
static void
meet(const char *words)
{
	for (; *words != '\0' && site.n < MOST_GPUS; words = next_line(words))
		set_name(&site.gpu[site.n++], words);
}

/*
 * No list came though there was one before: the driver was unloaded, does not fit its
 * library any more, or hangs.  Once may be chance.
 */
static void
doubt(const char *words)
{
	const char *why = strchr(words, ' ');
	size_t i;

	if (++site.failures < DOUBTS)
		return;
	why = why != NULL ? why + 1 : "NVML does not answer";
	for (i = 0; i < site.n; i++)
		set_problem(&site.gpu[i], why, strcspn(why, "\n"));
}

static void
take(void)
{
	const char *words = site.words.s != NULL ? site.words.s : "";
	size_t i;

	if (strncmp(words, "none", 4) == 0 && site.n == 0)
		site.never = true;
	if (strncmp(words, "driver\n", 7) != 0) {
		doubt(words);
		return;
	}
	site.failures = 0;
	words += 7;
	if (site.n == 0)
		meet(words);
	for (i = 0; i < site.n; i++) {
		const char *line = line_of(words, i);
		const char *problem = strchr(line, ' ');

		if (*line != '\0' && strcmp(site.gpu[i].uuid, nameless) == 0)
			set_name(&site.gpu[i], line); /* it was lost when it was met */
		if (*line == '\0' || problem == NULL)
			set_problem(&site.gpu[i], "it is gone", 10);
		else
			set_problem(
			    &site.gpu[i], problem + 1, strcspn(problem + 1, "\n"));
	}
}

/* Whether who asks has left; it is not waited for longer than it is worth. */
static bool
has_told(void)
{
	pid_t pid;

	read_words();
	if (gv_clock_s() > site.begun_s + patience_s)
		kill(site.pid, SIGKILL);
	pid = waitpid(site.pid, NULL, WNOHANG);
	if (pid == 0 || (pid == -1 && errno == EINTR))
		return false;
	read_words();
	close(site.fd);
	site.pid = 0;
	site.ended_s = gv_clock_s();
	return true;
}

void
gv_local_look(const struct gv_launcher *by, bool soon, struct gv_launch_site *out)
{
	double wait_s = soon || site.failures > 0 ? soon_s : look_s;

	(void)by;
	if (site.pid > 0 && has_told())
		take();
	if (site.pid == 0 && !site.never &&
	    (site.begun_s == 0 || gv_clock_s() >= site.ended_s + wait_s))
		begin();
	out->turns = site.turns;
}

bool
gv_local_usable(const struct gv_launcher *by, const char *node, int gpu, const char **why)
{
	(void)by;
	(void)node;
	if (gpu < 0 || (size_t)gpu >= site.n || site.gpu[gpu].problem[0] == '\0')
		return true;
	*why = site.gpu[gpu].problem;
	return false;
}
