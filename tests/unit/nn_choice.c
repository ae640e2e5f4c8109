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
	return done_testing();
}
