/*
 * Learning rates: those that PyTorch's schedulers give, to 1e-12.  Some cases have its
 * numbers in here; 300 random ones ask it (schedule_torch.py).
 */
#include "tap.h"

#include <sys/wait.h>
#include <unistd.h>

#include "gv-train/recipe/schedule.h"

static struct schedule
made(enum schedule_kind kind, uint64_t warmup, uint64_t total)
{
	struct schedule s = SCHEDULE_DEFAULT;
	struct gv_error e = {0};

	s.kind = kind;
	s.warmup = warmup;
	s.step = kind == SCHEDULE_STEP ? 3 : 0;
	ok(schedule_complete(&s, total, "here", &e) == 0 && e.count == 0, "%s: complete",
	    schedule_names[kind]);
	return s;
}

/* rates of PyTorch 2.15 for lr .1, 10 steps, defaults; a warm-up of 4 from 1/4 */
static const struct {
	enum schedule_kind kind;
	uint64_t warmup;
	double rate[10];
} known[] = {
    {SCHEDULE_CONSTANT, 4,
	{0.025, 0.043750000000000004, 0.06250000000000001, 0.08125000000000002, 0.1, 0.1,
	    0.1, 0.1, 0.1, 0.1}},
    {SCHEDULE_STEP, 0,
	{0.1, 0.1, 0.1, 0.010000000000000002, 0.010000000000000002, 0.010000000000000002,
	    0.0010000000000000002, 0.0010000000000000002, 0.0010000000000000002,
	    0.00010000000000000003}},
    {SCHEDULE_LINEAR, 0,
	{0.1, 0.09000000000000001, 0.08, 0.07, 0.06000000000000001, 0.05000000000000001,
	    0.04000000000000001, 0.030000000000000006, 0.020000000000000007,
	    0.010000000000000004}},
    {SCHEDULE_POLYNOMIAL, 4,
	{0.025, 0.043750000000000004, 0.06250000000000001, 0.08125000000000002, 0.1,
	    0.08333333333333334, 0.06666666666666668, 0.05, 0.03333333333333334,
	    0.016666666666666663}},
    {SCHEDULE_COSINE, 4,
	{0.025, 0.043750000000000004, 0.06250000000000001, 0.08125000000000002, 0.1,
	    0.09330127018922195, 0.07500000000000001, 0.05, 0.025000000000000012,
	    0.006698729810778065}},
    {SCHEDULE_ONE_CYCLE, 0,
	{0.0040000000000000036, 0.052000000000000005, 0.1, 0.09504846320134738,
	    0.0811745653949763, 0.06112620219362893, 0.03887419780637107,
	    0.0188258346050237, 0.004951936798652629, 4e-07}},
};

/* A constant rate with steps, one as well, goes down by them; a step of none is none. */
static void
test_steps(void)
{
	struct schedule s = SCHEDULE_DEFAULT;
	struct gv_error e = {0};

	s.kind = SCHEDULE_CONSTANT;
	s.step = 1;
	ok(schedule_complete(&s, 10, "here", &e) == 0 && s.kind == SCHEDULE_STEP &&
		schedule_rate(&s, 1, 1) < 1 &&
		schedule_rate(&s, 1, 2) < schedule_rate(&s, 1, 1),
	    "steps of one");
	s = (struct schedule)SCHEDULE_DEFAULT;
	s.kind = SCHEDULE_STEP;
	ok(schedule_complete(&s, 10, "here", &e) == -1 && e.count == 1, "steps of none");
	gv_error_clear(&e);
}

/* Without a warm-up one begins at the whole rate; what comes to no end may warm up for longer. */
static void
test_starts(void)
{
	static const enum schedule_kind endless[] = {SCHEDULE_CONSTANT, SCHEDULE_STEP};
	size_t i;

	is_near(made(SCHEDULE_LINEAR, 0, 10).start, 1, 0, "no warm-up starts at 1");
	is_near(made(SCHEDULE_LINEAR, 1, 10).start, 1, 0, "one of a step as well");
	is_near(made(SCHEDULE_LINEAR, 2, 10).start, 0.5, 0, "one of two at a half");
	for (i = 0; i < 2; i++) {
		struct schedule s = made(endless[i], 20, 10);

		is_near(schedule_rate(&s, 1, 9), 0.05 + 0.95 * 9 / 20, 1e-15,
		    "a warm-up that is longer than the run");
	}
}

static void
is_described(struct schedule s, const char *want)
{
	struct gv_strbuf text = {0};

	gv_strbuf_str(&text, "");
	schedule_describe(&s, &text);
	is_str(text.s, want, "described as \"%s\"", want);
	gv_strbuf_free(&text);
}

/* What changes a rate is said, and nothing else. */
static void
test_described(void)
{
	struct schedule s = {
	    .start = 0.25, .end = 0.5, .total = 9, .step = 3, .gamma = 0.125, .power = 2};

	s.kind = SCHEDULE_CONSTANT;
	is_described(s, "");
	s.warmup = 1;
	is_described(s, " lr_warmup=1 lr_start=0.25");
	s.kind = SCHEDULE_STEP;
	is_described(s, " lr_step=3 lr_gamma=0.125 lr_warmup=1 lr_start=0.25");
	s.warmup = 0;
	is_described(s, " lr_step=3 lr_gamma=0.125");
	s.kind = SCHEDULE_LINEAR;
	is_described(s, " lr_schedule=linear lr_total=9 lr_end=0.5");
	s.kind = SCHEDULE_ONE_CYCLE;
	is_described(s, " lr_schedule=one-cycle lr_total=9 lr_end=0.5 lr_start=0.25");
	s.kind = SCHEDULE_POLYNOMIAL;
	is_described(s, " lr_schedule=polynomial lr_total=9 lr_end=0.5 lr_power=2");
}

/* Powers whole and not, rates of one-cycle where it turns and ends. */
static void
test_powers(void)
{
	struct schedule s = {
	    .kind = SCHEDULE_POLYNOMIAL, .total = 4, .end = 0, .start = 1, .power = 1.5};

	is_near(schedule_rate(&s, 1, 3), 0.125, 1e-15, "a quarter to the power of 1.5");
	s.power = 0x1p20;
	is_near(schedule_rate(&s, 1, 0), 1, 0, "1 to a large power");
	s.power = 3;
	is_near(schedule_rate(&s, 1, 3), 1. / 64, 1e-15, "a quarter to that of 3");
	s = (struct schedule){
	    .kind = SCHEDULE_ONE_CYCLE, .total = 10, .start = 0.5, .end = 0.25};
	s.warmup = 1;
	is_near(schedule_rate(&s, 1, 0), 1, 0, "a cycle that begins at its top");
	s.warmup = 3;
	is_near(schedule_rate(&s, 1, 0), 0.5, 1e-15, "its start");
	is_near(schedule_rate(&s, 1, 1), 0.75, 1e-15, "half of the way up");
	is_near(schedule_rate(&s, 1, 2), 1, 1e-15, "its top");
	is_near(schedule_rate(&s, 1, 9), 0.25, 0, "its end");
	is_near(schedule_rate(&s, 1, 90), 0.25, 0, "and behind it");
	s.warmup = 10;
	is_near(schedule_rate(&s, 1, 9), 1, 1e-15, "a cycle that only goes up");
	is_near(schedule_rate(&s, 1, 10), 0.25, 0, "ends behind it");
}

static void
test_known(void)
{
	size_t i, t;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct schedule s = made(known[i].kind, known[i].warmup, 10);
		double worst = 0;

		for (t = 0; t < 10; t++)
			worst = fmax(
			    worst, fabs(schedule_rate(&s, 0.1, t) - known[i].rate[t]));
		ok(worst < 1e-15, "%s, warm-up %llu: the rates of PyTorch, to %g",
		    schedule_names[s.kind], (unsigned long long)s.warmup, worst);
	}
}

static double
unit(void)
{
	return (double)rand() / (double)RAND_MAX;
}

static struct schedule
drawn(void)
{
	struct schedule s = {.kind = (enum schedule_kind)(rand() % SCHEDULES)};
	bool cycle = s.kind == SCHEDULE_ONE_CYCLE;

	s.total = 2 + (uint64_t)rand() % 100;
	s.warmup = rand() % 2 ? (uint64_t)rand() % s.total : 0;
	if (cycle)
		s.total += 8, s.warmup += s.warmup > 0;
	s.start = 0.01 + 0.9 * unit();
	s.end = s.kind == SCHEDULE_POLYNOMIAL ? 0 : cycle ? s.start * unit() : unit();
	s.power = rand() % 2 ? (double)(rand() % 4) + 1 : 0.1 + 3 * unit();
	s.step = 1 + (uint64_t)rand() % 20;
	s.gamma = unit();
	return s;
}

enum { CASES = 300, MOST = 120 };

static void
write_cases(const char *path, const struct schedule *s, const double *lr)
{
	FILE *f = fopen(path, "w");
	int i;

	for (i = 0; i < CASES; i++)
		fprintf(f, "%s %.17g %llu %.17g %llu %.17g %.17g %llu %.17g %llu\n",
		    schedule_names[s[i].kind], lr[i], (unsigned long long)s[i].warmup,
		    s[i].start, (unsigned long long)s[i].total, s[i].end, s[i].power,
		    (unsigned long long)s[i].step, s[i].gamma,
		    (unsigned long long)s[i].total);
	fclose(f);
}

static void
test_random(void)
{
	static struct schedule s[CASES];
	double lr[CASES], worst[SCHEDULES] = {0}, want;
	char path[] = "/tmp/gv-schedule.XXXXXX", command[512];
	const char *python = getenv("GV_PYTHON");
	int i, status, fd = mkstemp(path);
	uint64_t t, asked = 0, answered = 0;
	FILE *f;

	srand(1);
	for (i = 0; i < CASES; i++) {
		s[i] = drawn();
		lr[i] = unit();
	}
	close(fd);
	write_cases(path, s, lr);
	snprintf(command, sizeof(command), "'%s' tests/unit/schedule_torch.py %s 2>&1",
	    python != NULL ? python : "false", path);
	f = popen(command, "r");
	for (i = 0; i < CASES; i++)
		asked += s[i].total;
	for (i = 0; i < CASES; i++)
		for (t = 0; t < s[i].total && fscanf(f, "%lf", &want) == 1;
		     t++, answered++)
			worst[s[i].kind] = fmax(worst[s[i].kind],
			    fabs(schedule_rate(&s[i], lr[i], t) - want));
	status = pclose(f);
	unlink(path);
	for (i = 0; i < SCHEDULES; i++) {
		if (python == NULL || WEXITSTATUS(status) == 3)
			skip("no torch; GV_PYTHON names a Python that has it");
		else
			ok(status == 0 && answered == asked && worst[i] < 1e-12,
			    "%s: random ones as PyTorch's, to %g", schedule_names[i],
			    worst[i]);
	}
}

static void
test_wrong(void)
{
	struct schedule s = SCHEDULE_DEFAULT;
	struct gv_error e = {0};
	struct gv_strbuf text = {0};

	s.kind = SCHEDULE_STEP;
	ok(schedule_complete(&s, 10, "here", &e) == -1, "a step schedule without steps");
	is_str(
	    e.text[0], "here: the schedule \"step\" needs lr-step, its steps", "says so");
	gv_error_clear(&e);
	s.kind = SCHEDULE_COSINE;
	s.warmup = 11;
	ok(schedule_complete(&s, 10, "here", &e) == -1, "a warm-up longer than all");
	is_str(e.text[0], "here: a warm-up of 11 steps, the schedule has 10", "says so");
	s.warmup = 10;
	gv_error_clear(&e);
	ok(schedule_complete(&s, 10, "here", &e) == 0, "a warm-up of all");
	is_near(schedule_rate(&s, 2, 9), 1.82, 1e-15, "its last step");
	is_near(schedule_rate(&s, 2, 10), 0, 1e-15, "and behind it");
	s = (struct schedule){.kind = SCHEDULE_POLYNOMIAL,
	    .total = 10,
	    .end = 0.5,
	    .power = 2,
	    .warmup = 2,
	    .start = 0.5};
	schedule_describe(&s, &text);
	is_str(text.s,
	    " lr_schedule=polynomial lr_total=10 lr_end=0.5 lr_power=2 lr_warmup=2 "
	    "lr_start=0.5",
	    "described");
	gv_strbuf_free(&text);
	is_near(
	    schedule_rate(&s, 1, 6), 0.625, 1e-15, "a polynomial that does not end at 0");
	is_near(schedule_rate(&s, 1, 1000), 0.5, 1e-15, "stays at its end");
}

int
main(void)
{
	test_known();
	test_steps();
	test_starts();
	test_described();
	test_powers();
	test_random();
	test_wrong();
	return done_testing();
}
