/*
 * A worker that "trains" by sleeping to a fixed schedule, so that its rate is
 * known on however busy a machine.  Rank 0 reports.
 *
 *   -r RATE        steps per second, times GV_THREADS if that is set (default 100)
 *   -g TYPE=RATE   steps per second on the GPU type TYPE
 *   -k N           report every N steps (default 1)
 *   -n N           done after N steps (default GV_TOTAL_STEPS, or never)
 *   -s SECONDS     before the first step
 *   -j FRACTION    vary the time of every 10 steps by up to this much
 *   -x STATUS      leave with STATUS instead of finishing
 *   -f RANK        only this rank does what -x says, the others go on
 *   -m             mute: report nothing
 *   -i             ignore SIGTERM
 *   -d             start a child in a session of its own that ignores SIGTERM
 *   -w TEXT        write TEXT and a line feed to stderr first
 *   -c FILE        write the environment to FILE first
 *   -p DIR         those that say so on the same GPUs take turns: each is as much slower as
 *                  they are many; they know each other by files in DIR
 *
 * On SIGTERM it writes GV_CHECKPOINT_DIR/state, reports the checkpoint and
 * leaves with 143; the next one goes on from there.
 */
#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rng.h"
#include "launch/progress.h"

extern char **environ;

struct options {
	double rate;
	long every;
	double steps;
	double start_s;
	double jitter;
	int status; /* -1 = finish */
	int failing_rank;
	bool mute;
	const char *shared; /* NULL = none */
	char own[4096];     /* file that says that it is there */
};

static volatile sig_atomic_t told;

static void
on_signal(int sig)
{
	(void)sig;
	told = 1;
}

static double
env_number(const char *name, double otherwise)
{
	const char *s = getenv(name);

	return s != NULL && s[0] != '\0' ? atof(s) : otherwise;
}

static void
write_environment(const char *path)
{
	FILE *f = fopen(path, "w");
	char **p;

	for (p = environ; f != NULL && *p != NULL; p++)
		fprintf(f, "%s\n", *p);
	if (f == NULL || fclose(f) != 0)
		exit(99);
}

static void
start_daemon(void)
{
	if (fork() != 0)
		return;
	setsid();
	signal(SIGTERM, SIG_IGN);
	for (;;)
		sleep(1000);
}

static void
take_type(struct options *o, const char *arg)
{
	const char *type = getenv("GV_GPU_TYPE");
	size_t n = strcspn(arg, "=");

	if (type != NULL && arg[n] == '=' && strlen(type) == n &&
	    strncmp(type, arg, n) == 0)
		o->rate = atof(arg + n + 1);
}

static void
parse(struct options *o, int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "r:g:k:n:s:j:x:f:midw:c:p:")) != -1) {
		switch (c) {
		case 'r':
			o->rate = atof(optarg) * env_number("GV_THREADS", 1);
			break;
		case 'g':
			take_type(o, optarg);
			break;
		case 'k':
			o->every = atol(optarg);
			break;
		case 'n':
			o->steps = atof(optarg);
			break;
		case 's':
			o->start_s = atof(optarg);
			break;
		case 'j':
			o->jitter = atof(optarg);
			break;
		case 'x':
			o->status = atoi(optarg);
			break;
		case 'f':
			o->failing_rank = atoi(optarg);
			break;
		case 'm':
			o->mute = true;
			break;
		case 'i':
			signal(SIGTERM, SIG_IGN);
			break;
		case 'd':
			start_daemon();
			break;
		case 'w':
			fprintf(stderr, "%s\n", optarg);
			break;
		case 'c':
			write_environment(optarg);
			break;
		case 'p':
			o->shared = optarg;
			break;
		default:
			exit(98);
		}
	}
}

static void
report(const struct options *o, const char *kind, double steps)
{
	struct gv_error e = {0};

	if (!o->mute && env_number("RANK", 0) == 0 &&
	    gv_progress_write(kind, (int64_t)steps, &e) != 0)
		exit(97);
}

static double
restore(void)
{
	const char *dir = getenv("GV_CHECKPOINT_DIR");
	char path[4096];
	double steps = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/state", dir != NULL ? dir : "/nonexistent");
	f = fopen(path, "r");
	if (f != NULL) {
		if (fscanf(f, "%lf", &steps) != 1)
			exit(96);
		fclose(f);
	}
	return steps;
}

static void
save(const struct options *o, double steps)
{
	const char *dir = getenv("GV_CHECKPOINT_DIR");
	char path[4096];
	FILE *f;

	if (dir == NULL || env_number("RANK", 0) != 0)
		return;
	snprintf(path, sizeof(path), "%s/state", dir);
	f = fopen(path, "w");
	if (f == NULL || fprintf(f, "%.0f\n", steps) < 0 || fclose(f) != 0)
		exit(95);
	report(o, "checkpoint", steps);
}

/* ---- sharing GPUs ---- */

static void
join(struct options *o)
{
	const char *type = getenv("GV_GPU_TYPE"), *gpus = getenv("GV_GPUS");
	FILE *f;

	if (o->shared == NULL)
		return;
	snprintf(o->own, sizeof(o->own), "%s/%s-%s,%ld", o->shared,
	    type != NULL ? type : "", gpus != NULL ? gpus : "", (long)getpid());
	f = fopen(o->own, "w");
	if (f == NULL || fclose(f) != 0)
		exit(94);
}

/* How many have these GPUs now. */
static double
sharers(const struct options *o)
{
	const char *name = o->shared != NULL ? strrchr(o->own, '/') + 1 : "";
	size_t n = strcspn(name, ",") + 1;
	const struct dirent *entry;
	double some = 0;
	DIR *d;

	if (o->shared == NULL)
		return 1;
	d = opendir(o->shared);
	while (d != NULL && (entry = readdir(d)) != NULL)
		some += strncmp(entry->d_name, name, n) == 0;
	if (d != NULL)
		closedir(d);
	return some > 0 ? some : 1;
}

static void
leave(const struct options *o)
{
	if (o->shared != NULL)
		unlink(o->own);
}

int
main(int argc, char **argv)
{
	struct options o = {.rate = 100,
	    .every = 1,
	    .steps = env_number("GV_TOTAL_STEPS", INFINITY),
	    .status = -1,
	    .failing_rank = -1};
	double due = gv_clock_s();
	double step;

	signal(SIGTERM, on_signal);
	parse(&o, argc, argv);
	if (o.failing_rank >= 0 && (int)env_number("RANK", 0) != o.failing_rank) {
		o.status = -1;
		o.steps = INFINITY;
	}
	join(&o);
	due += o.start_s;
	for (step = restore(); step < o.steps && !told;) {
		double slower = 2 * gv_random_uniform(1, 0, 0, (uint64_t)(step / 10)) - 1;

		due += sharers(&o) * (1 + o.jitter * slower) / o.rate;
		while (gv_clock_s() < due && !told)
			gv_sleep_s(due - gv_clock_s());
		if (!told && fmod(++step, (double)o.every) == 0)
			report(&o, "step", step);
	}
	leave(&o);
	if (told) {
		save(&o, step);
		return 143;
	}
	return o.status >= 0 ? o.status : 0;
}
