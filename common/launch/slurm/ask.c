/* Commands that are waited for before a run begins: Slurm may be about to restart. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "launch/slurm/core.h"

/* A controller that does not answer may be about to restart, s. */
static const double restart_s = 60;

/* A command that takes longer is told of, s. */
static const double slow_command_s = 5;

/* Whether it may succeed a little later: the controller is away, or restarts. */
static bool
is_passing(const struct gv_slurm_command *c)
{
	static const char *const words[] = {"Unable to contact slurm controller",
	    "Unable to confirm allocation", "Connection refused", "Zero Bytes were",
	    "Socket timed out", "nodes are busy", "Communication connection failure",
	    "Transport endpoint is not connected",
	    /* nodes have not registered yet with a controller that has restarted */
	    "Memory required by task is not available"};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (c->out.s != NULL && strstr(c->out.s, words[i]) != NULL)
			return true;
	return c->status == 124;
}

bool
gv_slurm_is_stopped(const struct gv_slurm *s)
{
	return s->stopped != NULL && s->stopped();
}

/* Waits for it, and says once that it takes its time: its status. */
static int
await(const struct gv_slurm *s, struct gv_slurm_command *c, const char *name,
    double limit_s, bool *told)
{
	double slow_s = gv_clock_s() + slow_command_s;

	while (!gv_slurm_command_poll(c) && !gv_slurm_is_stopped(s)) {
		gv_sleep_s(.005);
		if (*told || gv_clock_s() < slow_s)
			continue;
		*told = true;
		gv_warn("warning: %s of Slurm does not answer; it is waited for up to "
			"%.0f s",
		    name, fmax(limit_s, restart_s));
	}
	return c->status;
}

int
gv_slurm_ask(const struct gv_slurm *s, struct gv_slurm_command *c, char *const *argv,
    double limit_s)
{
	double until_s = gv_clock_s() + restart_s;
	double wait_s = .25;
	bool told = false;

	for (;;) {
		c->status = -1;
		if (gv_slurm_command_start(c, argv, limit_s) != 0)
			return c->status;
		if (await(s, c, argv[0], limit_s, &told) == 0 || gv_slurm_is_stopped(s) ||
		    !is_passing(c) || gv_clock_s() >= until_s)
			return c->status;
		gv_sleep_s(wait_s);
		wait_s = fmin(2 * wait_s, 4);
	}
}

int
gv_slurm_cannot(struct gv_error *e, const struct gv_slurm_command *c, const char *what)
{
	const char *line = c->out.s != NULL ? c->out.s : "", *at;

	if (c->status == 127 && *line == '\0')
		return gv_error_set(e, "%s: Slurm's commands are not here", what);
	if (c->status == 124)
		return gv_error_set(e, "%s: Slurm does not answer", what);
	for (at = line; *at != '\0'; at += strcspn(at, "\n"), at += *at == '\n')
		line = at; /* the last one: warnings go before */
	return gv_error_set(e, "%s: %.*s", what, (int)strcspn(line, "\n"), line);
}
