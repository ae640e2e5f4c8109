/*
 * A worker for the tests of gv-run: "trains" by counting.
 *
 *   worker [-r STEPS_PER_S] [-n STEPS] [-e EVERY] [-x STEP] [-X STATUS]
 *          [-bicCfs] [-m MARK] [-w FILE]
 *
 * Counts from its checkpoint to -n (default GV_TOTAL_STEPS), a checkpoint every
 * -e steps, and on SIGTERM, when it leaves with 143.
 *
 *   -x STEP    leaves with the status of -X (default 3) when STEP is reached
 *   -b         but only the first time (a file "crashed" tells)
 *   -i         ignores SIGTERM, and so do its children
 *   -c         leaves a child behind; -C in a session of its own; both sleep for an hour
 *   -f         writes a megabyte to standard output
 *   -s         reports no steps
 *   -w FILE    does its last step when FILE is there
 *   -m MARK    does nothing: a word on the command line to be found by
 *
 * Rank 0 counts and the others wait for SIGTERM or for its "done" file.  In
 * GV_CHECKPOINT_DIR: "state" (the checkpoint), "steps" (each step done, one a
 * line), "log" (a line when started), "ranks" (which ranks were there), "alone"
 * (locked while rank 0 runs; "TWICE" is written to the log when it was locked
 * already).
 */
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "launch/progress.h"

static volatile sig_atomic_t told;

static void
on_term(int sig)
{
	(void)sig;
	told = 1;
}

struct options {
	double rate;
	long total;
	long every;
	long crash_at;
	int crash_status;
	bool crash_once;
	bool hang;
	bool child;
	bool session;
	bool fill;
	bool silent;
	const char *wait_for;
};

static void
append(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_APPEND | O_CREAT, 0666);

	if (fd == -1 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		_exit(90);
	close(fd);
}

static long
load(void)
{
	FILE *f = fopen("state", "r");
	long n = 0;

	if (f == NULL)
		return 0;
	if (fscanf(f, "%ld", &n) != 1)
		_exit(91);
	fclose(f);
	return n;
}

static void
save(long n)
{
	struct gv_error e = {0};
	char text[32];

	snprintf(text, sizeof(text), "%ld\n", n);
	unlink("state.new");
	append("state.new", text);
	if (rename("state.new", "state") != 0 ||
	    gv_progress_write("checkpoint", n, &e) != 0)
		_exit(92);
}

static void
leave_child(bool session, bool hang)
{
	if (fork() != 0)
		return;
	if (session)
		setsid();
	signal(SIGTERM, hang ? SIG_IGN : SIG_DFL);
	sleep(3600);
	_exit(0);
}

static void
be_alone(void)
{
	int fd = open(
	    "alone", O_RDWR | O_CREAT, 0666); /* stays open, and so locked, to the end */

	if (fd == -1)
		_exit(93);
	if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		append("log", "TWICE\n");
		_exit(94);
	}
}

static int
other_rank(const char *rank)
{
	append("ranks", rank);
	append("ranks", "\n");
	while (!told && access("done", F_OK) != 0)
		gv_sleep_s(.02);
	return told ? 143 : 0;
}

static int
train(const struct options *o)
{
	long n = load();
	char text[64];

	snprintf(text, sizeof(text), "start %ld gpus %s type %s restart %s\n", n,
	    getenv("GV_GPUS"), getenv("GV_GPU_TYPE"),
	    getenv("TORCHELASTIC_RESTART_COUNT"));
	append("log", text);
	while (n < o->total) {
		struct gv_error e = {0};

		gv_sleep_s(1 / o->rate);
		while (n + 1 == o->total && o->wait_for != NULL &&
		       access(o->wait_for, F_OK) != 0 && !told)
			gv_sleep_s(.01);
		if (told && !o->hang) {
			save(n);
			return 143;
		}
		n++;
		snprintf(text, sizeof(text), "%ld\n", n);
		append("steps", text);
		if (!o->silent && gv_progress_write("step", n, &e) != 0)
			return 95;
		if (n == o->crash_at &&
		    (!o->crash_once || access("crashed", F_OK) != 0)) {
			append("crashed", "");
			return o->crash_status;
		}
		if (o->every > 0 && n % o->every == 0)
			save(n);
	}
	save(n);
	append("done", "");
	return 0;
}

static void
parse(struct options *o, int argc, char **argv)
{
	const char *total = getenv("GV_TOTAL_STEPS");
	int c;

	*o = (struct options){.rate = 100, .crash_at = -1, .crash_status = 3};
	o->total = total != NULL ? atol(total) : 100;
	while ((c = getopt(argc, argv, "r:n:e:x:X:bicCfsm:w:")) != -1)
		switch (c) {
		case 'r':
			o->rate = atof(optarg);
			break;
		case 'n':
			o->total = atol(optarg);
			break;
		case 'e':
			o->every = atol(optarg);
			break;
		case 'x':
			o->crash_at = atol(optarg);
			break;
		case 'X':
			o->crash_status = atoi(optarg);
			break;
		case 'b':
			o->crash_once = true;
			break;
		case 'i':
			o->hang = true;
			break;
		case 'c':
			o->child = true;
			break;
		case 'C':
			o->child = o->session = true;
			break;
		case 'f':
			o->fill = true;
			break;
		case 's':
			o->silent = true;
			break;
		case 'w':
			o->wait_for = optarg;
			break;
		case 'm':
			break;
		default:
			exit(96);
		}
}

int
main(int argc, char **argv)
{
	static char mega[1 << 20];
	struct options o;
	const char *dir = getenv("GV_CHECKPOINT_DIR");
	const char *rank = getenv("RANK");
	struct sigaction sa;

	parse(&o, argc, argv);
	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = o.hang ? SIG_IGN : on_term;
	sigaction(SIGTERM, &sa, NULL);
	if (dir == NULL || chdir(dir) != 0)
		return 97;
	if (rank != NULL && strcmp(rank, "0") != 0)
		return other_rank(rank);
	be_alone();
	append("ranks", "0\n");
	if (o.child)
		leave_child(o.session, o.hang);
	if (o.fill) {
		memset(mega, 'x', sizeof(mega));
		if (write(STDOUT_FILENO, mega, sizeof(mega)) != (ssize_t)sizeof(mega))
			return 98;
	}
	return train(&o);
}
