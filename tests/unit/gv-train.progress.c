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

/* Steps of a second each, of which so many are left. */
static void
is_left(uint64_t steps, const char *want)
{
	static const double loss[] = {1};
	struct progress p = {0};
	struct progress_now now = {0.25, 7, 8 + steps, 1, loss, 1};
	char line[80];

	is_line(&p, (struct progress_now){0.25, 7, 8 + steps, 1, loss, 1},
	    (snprintf(line, sizeof(line), "step 7 of %d, loss 1", (int)steps + 8), line),
	    "steps before the first look have no speed");
	now.now_s = 1.25;
	now.step = 8;
	snprintf(line, sizeof(line), "step 8 of %d, loss 1, 1 samples/s, %s left",
	    (int)steps + 8, want);
	is_line(&p, now, line, want);
}

/* Steps of two seconds, then one of one second; at one moment there is no speed. */
static void
test_slow(void)
{
	static const double loss[] = {1, 1};
	struct progress p = {0};
	struct progress_now now = {10, 0, 100, 20, loss, 2};
	char line[PROGRESS_LEN];

	progress_text(line, &p, &now);
	now.step = 1;
	is_line(&p, now, "step 1 of 100, losses 1 to 1 of 2 models",
	    "a step in no time has no speed");
	now.now_s = 12;
	now.step = 2;
	is_line(&p, now,
	    "step 2 of 100, losses 1 to 1 of 2 models, 20 samples/s, 3 min 16 s left",
	    "slow");
	now.now_s = 13;
	now.step = 3;
	is_line(&p, now,
	    "step 3 of 100, losses 1 to 1 of 2 models, 24 samples/s, 2 min 41 s left",
	    "a little faster");
	now.step = now.last = 4;
	is_line(&p, now, "step 4 of 4, losses 1 to 1 of 2 models, 24 samples/s, 0 s left",
	    "all are done");
	now.step = 5;
	is_line(&p, now, "step 5 of 4, losses 1 to 1 of 2 models", "and more");
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
	test_slow();
	is_left(0, "0 s");
	is_left(59, "59 s");
	is_left(60, "1 min 0 s");
	is_left(3599, "59 min 59 s");
	is_left(3600, "1 h 0 min");
	is_left(86399, "23 h 59 min");
	is_left(86400, "1 d 0 h");
	is_left(1000000001, "11574 d 1 h");
	return done_testing();
}
