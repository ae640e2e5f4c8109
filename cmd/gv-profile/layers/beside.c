#include "beside.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench_parts.h"

static void
train(const struct gv_model *m, const struct times_rule *rule, pid_t parent)
{
	struct gv_error e = {0};
	struct bench b = {0};

	if (bench_parts_open(&b, m, rule, &e) != 0)
		_exit(1);
	while (!b.failed && getppid() == parent)
		bench_step(&b, NULL);
	_exit(1);
}

int
beside_start(struct beside *b, size_t n, const struct gv_model *m,
    const struct times_rule *rule, struct gv_error *e)
{
	pid_t parent = getpid();

	b->pid = gv_xcalloc(n + 1, sizeof(*b->pid));
	for (; b->n < n; b->n++) {
		b->pid[b->n] = fork();
		if (b->pid[b->n] < 0)
			return gv_error_sys(e, "cannot start a process");
		if (b->pid[b->n] == 0)
			train(m, rule, parent);
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
	*b = (struct beside){0};
	return all;
}
