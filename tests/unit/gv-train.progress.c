/* The line of progress: rates settle, times have units, what is unknown is left out. */
#include "tap.h"

#include "gv-train/progress.h"

static void
is_line(struct progress *p, struct progress_now now, const char *want, const char *name)
{
	char line[PROGRESS_LEN];

	progress_text(line, p, &now);
	is_str(line, want, "%s", name);
}

int
main(void)
{
	double one[] = {0.123456}, three[] = {0.5, (double)NAN, 2.25},
	       none[] = {(double)NAN};
	struct progress p = {0};
	struct progress_now now = {100, 0, 1000, 10, one, 1};
	int i;

	is_line(&p, now, "step 0 of 1000, loss 0.1235", "nothing is known of the speed");
	now.now_s = 101;
	now.step = 10;
	is_line(&p, now, "step 10 of 1000, loss 0.1235, 100 samples/s, 1 min 39 s left",
	    "after a second");
	now.now_s = 101.5;
	is_line(&p, now, "step 10 of 1000, loss 0.1235, 100 samples/s, 1 min 39 s left",
	    "no step more");
	now.now_s = 102;
	now.step = 20;
	is_line(&p, now, "step 20 of 1000, loss 0.1235, 110 samples/s, 1 min 29 s left",
	    "a faster one counts as long as it lasts");
	for (i = 0; i < 100; i++) {
		now.now_s += 1;
		now.step += 2;
		progress_text((char[PROGRESS_LEN]){0}, &p, &now);
	}
	now.now_s += 10;
	now.step += 20;
	now.loss = three;
	now.models = 3;
	is_line(&p, now,
	    "step 240 of 1000, losses 0.5 to 2.25 of 2 models, 40 samples/s, 6 min 20 s "
	    "left",
	    "an array, one model of which is done");
	now.last = 40000;
	now.loss = none;
	now.models = 1;
	is_line(&p, now, "step 240 of 40000, 0 samples/s, 5 h 31 min left", "hours");
	now.last = 1 << 30;
	is_line(&p, now, "step 240 of 1073741824, 0 samples/s, 6213 d 18 h left", "days");
	return done_testing();
}
