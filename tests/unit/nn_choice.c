/* Whether loops are shared: what is faster, soon after it has become so. */
#include "nn/cpu/choice.h"
#include "tap.h"

/* A machine on which steps take so long; noisy: every fifth one takes ten times as long. */
struct machine {
	double shared_s, alone_s;
	bool noisy;
};

/* Steps that are done alone out of n. */
static size_t
steps_alone(struct gv_cpu_choice *c, const struct machine *m, size_t n)
{
	size_t i, alone = 0;

	for (i = 0; i < n; i++) {
		double s = c->alone ? m->alone_s : m->shared_s;

		alone += c->alone;
		gv_cpu_choice_step(c, m->noisy && i % 5 == 0 ? 10 * s : s);
	}
	return alone;
}

static void
test_machine(const char *what, struct machine m, bool alone)
{
	struct gv_cpu_choice c = {0};
	size_t some;

	some = steps_alone(&c, &m, 400);
	ok(alone ? some > 340 : some < 40, "%s: what is faster, within 400 steps", what);
	some = steps_alone(&c, &m, 100000);
	ok(alone ? some > 97500 : some < 500, "%s: trials are rare", what);
	m = (struct machine){m.alone_s, m.shared_s, m.noisy};
	if (m.alone_s == m.shared_s)
		return;
	steps_alone(&c, &m, 5000);
	some = steps_alone(&c, &m, 10000);
	ok(alone ? some < 600 : some > 9700, "%s: and the other way when that changes",
	    what);
}

/* Trials are of ten steps, the first one behind 16; pauses double up to the last one. */
static void
test_pauses(double shared_s, double alone_s, size_t last)
{
	struct gv_cpu_choice c = {0};
	size_t want = 128, trial, steps;

	for (steps = 0; !c.trying; steps++)
		gv_cpu_choice_step(&c, shared_s);
	is_int(steps, 16, "the first trial");
	for (trial = 0; trial < 10; trial++) {
		for (steps = 0; c.trying; steps++)
			gv_cpu_choice_step(&c, c.alone ? alone_s : shared_s);
		is_int(steps, 10, "a trial is of ten steps");
		ok(c.alone == (alone_s < shared_s), "what is faster stays");
		for (steps = 0; !c.trying; steps++)
			gv_cpu_choice_step(&c, c.alone ? alone_s : shared_s);
		is_int(steps, want, "a pause of %zu steps", want);
		want = want < last ? 2 * want : last;
	}
}

/* Of the last seven steps of a trial, and of those before it, the middle one counts. */
static void
test_middle(void)
{
	unsigned which;
	size_t wrong = 0, i, less;

	for (which = 0; which < 1 << 7; which++) {
		struct gv_cpu_choice tried = {0}, usual = {0};

		for (less = 0, i = 0; i < 7; i++)
			less += which >> i & 1;
		for (i = 0; i < 16; i++) {
			gv_cpu_choice_step(&tried, 3e-3);
			/* those before the last seven would tell another tale */
			gv_cpu_choice_step(&usual,
			    i < 9
				? (less > 3 ? 9e-3 : 1e-3)
				: 1e-3 * (which >> (i - 9) & 1 ? 1 + .1 * (double)i : 9));
		}
		for (i = 0; i < 10; i++) {
			gv_cpu_choice_step(&tried,
			    i < 3
				? (less > 3 ? 9e-3 : 1e-3)
				: 1e-3 * (which >> (i - 3) & 1 ? 1 + .1 * (double)i : 9));
			gv_cpu_choice_step(&usual, 4e-3);
		}
		wrong += tried.trying || tried.alone != (less > 3);
		wrong += usual.trying || usual.alone != (less <= 3);
	}
	is_int(wrong, 0, "more than half of seven decide");
}

static void
test_gain(void)
{
	static const double took_s[] = {.89 * 0x1p-7, .9 * 0x1p-7, .91 * 0x1p-7};
	size_t i, k;

	for (i = 0; i < 3; i++) {
		struct gv_cpu_choice c = {0};

		for (k = 0; k < 16; k++)
			gv_cpu_choice_step(&c, 0x1p-7);
		for (k = 0; k < 10; k++)
			gv_cpu_choice_step(&c, took_s[i]);
		is_int(c.alone, i == 0, "alone when that takes less than %g of it",
		    took_s[i] * 0x1p7);
	}
}

/* As long as steps are long their trial does not come nearer. */
static void
test_long(void)
{
	struct gv_cpu_choice c = {0};
	size_t i;

	for (i = 0; i < 10; i++)
		gv_cpu_choice_step(&c, 1e-3);
	gv_cpu_choice_step(&c, 20e-3);
	for (i = 0; !c.trying; i++)
		gv_cpu_choice_step(&c, 19e-3);
	is_int(i, 16, "16 steps behind the last long one");
	for (i = 0; c.trying; i++)
		gv_cpu_choice_step(&c, 30e-3);
	is_int(i, 10, "a trial of long steps ends as well");
}

int
main(void)
{
	struct gv_cpu_choice c = {0};

	ok(!c.alone, "steps are shared at first");
	test_machine(
	    "cores near each other", (struct machine){1e-3, 1.9e-3, false}, false);
	test_machine(
	    "cores far from each other", (struct machine){1e-3, .8e-3, false}, true);
	test_machine("both, noisy: near", (struct machine){1e-3, 1.2e-3, true}, false);
	test_machine("both, noisy: far", (struct machine){1e-3, .8e-3, true}, true);
	test_machine("no difference", (struct machine){1e-3, 1e-3, false}, false);
	is_int((int)steps_alone(&c, &(struct machine){.02, .01, false}, 5000), 0,
	    "long steps are shared without a trial");
	ok(steps_alone(&c, &(struct machine){.002, .001, false}, 400) > 300,
	    "and tried when they are no longer long");
	test_pauses(1e-3, 2e-3, 4096);
	test_pauses(2e-3, 1e-3, 512);
	test_middle();
	test_gain();
	test_long();
	return done_testing();
}
