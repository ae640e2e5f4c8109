#include "beside.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/shm.h"
#include "bench_parts.h"

/*
 * A stage's micro-batch, and then a sleep of as long as that of the slowest one takes longer, for
 * which it would wait.
 */
static void
step_of_stage(struct bench *b, size_t stage, double *took_s)
{
	double began_s = gv_clock_s(), most_s = 0;
	size_t k;

	if (bench_part_step(b, stage) != 0)
		b->failed = true;
	took_s[stage] = gv_clock_s() - began_s;
	for (k = 0; k < b->parts; k++)
		most_s = fmax(most_s, took_s[k]);
	gv_sleep_s(most_s - took_s[stage]);
}

size_t
beside_stage(size_t measured, size_t i, size_t stages)
{
	return (measured + 1 + i % (stages - 1)) % stages;
}

/* Process i, until its parent has gone. */
static void
train(size_t i, const struct gv_model *m, const struct times_rule *rule, pid_t parent)
{
	_Atomic size_t *now = rule->stage_now;
	struct times_rule own = *rule;
	struct gv_error e = {0};
	struct bench b = {0};
	double *took_s;

	own.stage_now = NULL;
	if (bench_parts_open(&b, m, &own, &e) != 0)
		_exit(1);
	/* one at a time, so that it soon sees what is measured now */
	if (b.parts > 1)
		b.micro_batches = 1;
	took_s = gv_xcalloc(b.parts, sizeof(*took_s));
	while (!b.failed && getppid() == parent)
		if (b.parts == 1)
			bench_step(&b, NULL);
		else
			step_of_stage(&b, beside_stage(*now, i, b.parts), took_s);
	_exit(1);
}

int
beside_start(struct beside *b, size_t n, const struct gv_model *m,
    struct times_rule *rule, struct gv_error *e)
{
	pid_t parent = getpid();

	if (n > 0) {
		b->stage_now = gv_shm_new(sizeof(*b->stage_now), e);
		if (b->stage_now == NULL)
			return -1;
		rule->stage_now = b->stage_now;
	}
	b->pid = gv_xcalloc(n + 1, sizeof(*b->pid));
	for (; b->n < n; b->n++) {
		b->pid[b->n] = fork();
		if (b->pid[b->n] < 0)
			return gv_error_sys(e, "cannot start a process");
		if (b->pid[b->n] == 0)
			train(b->n, m, rule, parent);
	}
	return 0;
}

bool
beside_stop(struct beside *b)
{
	bool all = true;
	size_t i;

	for (i = 0; i < b->n; i++)
		if (waitpid(b->pid[i], NULL, WNOHANG) != 0)
			all = false;
		else
			kill(b->pid[i], SIGKILL);
	for (i = 0; i < b->n; i++)
		while (waitpid(b->pid[i], NULL, 0) < 0 && errno == EINTR)
			;
	free(b->pid);
	gv_shm_free(b->stage_now, sizeof(*b->stage_now));
	*b = (struct beside){0};
	return all;
}
