/*
 * How a training step scales over two cores:
 * nn_two MODEL HEIGHT WIDTH CHANNELS BATCH [ROUNDS].
 * Prints samples per second, by the clock, of one thread, of two threads, and of two
 * processes of one thread each that train at once and know nothing of each other: what
 * the machine's memory and caches leave of twice one.  The three take turns; the best
 * window of each counts.  Last the nanoseconds from one core to another and back, before
 * and behind, the greater.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "nn_case.h"
#include "trip.h"

static const double window_s = .04;

/* A window of the other process, when it is told to. */
static void
other(const struct nn_asked *a, int told, int answer)
{
	struct nn_case n;
	double rate;
	char c;

	nn_case_new(&n, a, 1);
	nn_case_window(&n, window_s, gv_clock_s);
	while (read(told, &c, 1) == 1) {
		rate = nn_case_window(&n, window_s, gv_clock_s);
		if (write(answer, &rate, sizeof(rate)) != sizeof(rate))
			break;
	}
	nn_case_free(&n);
	_exit(0);
}

static double
both(struct nn_case *one, int tell, int answer)
{
	double mine, theirs;

	if (write(tell, "", 1) != 1)
		gv_die("the other process has gone");
	mine = nn_case_window(one, window_s, gv_clock_s);
	if (read(answer, &theirs, sizeof(theirs)) != sizeof(theirs))
		gv_die("the other process has gone");
	return mine + theirs;
}

static void
keep(double *best, double rate)
{
	if (rate > *best)
		*best = rate;
}

int
main(int argc, char **argv)
{
	struct nn_asked a = {.models = 1, .classes = 10};
	struct nn_case one, two;
	double best_one = 0, best_two = 0, best_both = 0, before, behind;
	size_t i, rounds;
	int tell[2], answer[2];
	pid_t pid;

	gv_init("nn_two");
	gv_subnormal_flush(); /* as gv-train does */
	if (argc < 6) {
		puts("nn.sh runs this with its arguments");
		return 0;
	}
	a.file = argv[1];
	a.shape = (struct gv_shape){nn_argument(argc, argv, 4, 1),
	    nn_argument(argc, argv, 2, 16), nn_argument(argc, argv, 3, 16)};
	a.batch = nn_argument(argc, argv, 5, 64);
	rounds = nn_argument(argc, argv, 6, 25);
	if (pipe(tell) != 0 || pipe(answer) != 0 || (pid = fork()) < 0)
		gv_die("no second process");
	if (pid == 0) {
		close(tell[1]);
		other(&a, tell[0], answer[1]);
	}
	nn_case_new(&one, &a, 1);
	nn_case_new(&two, &a, 2);
	both(&one, tell[1], answer[0]);
	nn_case_window(&two, window_s, gv_clock_s);
	before = trip_ns();
	for (i = 0; i < rounds; i++) {
		keep(&best_one, nn_case_window(&one, window_s, gv_clock_s));
		keep(&best_two, nn_case_window(&two, window_s, gv_clock_s));
		keep(&best_both, both(&one, tell[1], answer[0]));
	}
	behind = trip_ns();
	close(tell[1]);
	waitpid(pid, NULL, 0);
	printf("%.2f %.2f %.2f %.0f\n", best_one, best_two, best_both,
	    before > behind ? before : behind);
	nn_case_free(&one);
	nn_case_free(&two);
	return 0;
}
