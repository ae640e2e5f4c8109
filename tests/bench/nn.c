/*
 * Speed of a training step:
 * nn MODEL HEIGHT WIDTH CHANNELS BATCH [MODELS [CLASSES]].
 * Prints samples per second of one thread and second of its own time, which other programs
 * disturb less: the best of several windows.
 */
#include <time.h>

#include "nn_case.h"

enum { WINDOWS = 9 };

static double
own_s(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

int
main(int argc, char **argv)
{
	struct nn_case n;
	double best = 0, rate;
	size_t i;

	gv_init("nn");
	gv_subnormal_flush(); /* as gv-train does */
	if (argc < 2) {
		puts("nn.sh runs this with its arguments");
		return 0;
	}
	nn_case_new(&n,
	    &(struct nn_asked){argv[1],
		{nn_argument(argc, argv, 4, 1), nn_argument(argc, argv, 2, 16),
		    nn_argument(argc, argv, 3, 16)},
		nn_argument(argc, argv, 5, 64), nn_argument(argc, argv, 6, 1),
		nn_argument(argc, argv, 7, 10)},
	    1);
	nn_case_window(&n, .15, own_s);
	for (i = 0; i < WINDOWS; i++) {
		rate = nn_case_window(&n, .15, own_s);
		if (rate > best)
			best = rate;
	}
	printf("%.2f\n", best);
	nn_case_free(&n);
	return 0;
}
