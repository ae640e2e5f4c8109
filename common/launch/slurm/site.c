/* What is known of the allocation and its nodes while a run goes on. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "launch/slurm/core.h"

const double gv_slurm_patience_s = 10;

/* Between two looks, s. */
static const double look_s = 10;

void
gv_slurm_look_soon(struct gv_slurm *s)
{
	s->look_s = fmin(s->look_s, gv_clock_s() + .2);
}

static void
begin_look(struct gv_slurm *s)
{
	char squeue[] = "squeue", h[] = "-h", j[] = "-j", o[] = "-o",
	     what[] = GV_SLURM_QUEUE;
	char sinfo[] = "sinfo", n[] = "-N", nodes[] = "-n", of[] = GV_SLURM_INFO;
	char *queue[] = {squeue, h, j, s->jobs, o, what, NULL};
	char *info[] = {sinfo, h, n, nodes, s->nodes, o, of, NULL};

	s->look_s = gv_clock_s() + look_s;
	if (gv_slurm_command_start(&s->queue, queue, gv_slurm_patience_s) == 0 &&
	    gv_slurm_command_start(&s->info, info, gv_slurm_patience_s) == 0)
		s->looking = true;
}

/* The controller has not answered, or does again: said once each. */
static void
answers(struct gv_slurm *s, bool does)
{
	if (s->away == !does)
		return;
	s->away = !does;
	gv_warn(does
		    ? "Slurm answers again"
		    : "warning: Slurm does not answer; what runs goes on, launches wait");
}

static void
is_over(struct gv_slurm *s)
{
	s->over = true;
	snprintf(s->reason, sizeof(s->reason), "the allocation has ended");
}

static void
take_look(struct gv_slurm *s)
{
	bool queue_ok = s->queue.status == 0, info_ok = s->info.status == 0;
	bool changed = false;
	double left_s;

	s->looking = false;
	if (!queue_ok && strstr(s->queue.out.s, "Invalid job id") != NULL) {
		is_over(s);
	} else if (queue_ok) {
		if (gv_slurm_take_queue(&s->allocation, s->queue.out.s, &left_s,
			&changed) == GV_SLURM_OVER)
			is_over(s);
		s->ends_s = gv_clock_s() + left_s;
	}
	if (info_ok)
		changed |=
		    gv_slurm_take_nodes(&s->allocation, s->info.out.s, gv_clock_s());
	s->turns += changed;
	answers(s, queue_ok || s->over);
}

void
gv_slurm_look(const struct gv_launcher *by, bool soon, struct gv_launch_site *site)
{
	struct gv_slurm *s = ((const struct gv_slurm_handle *)by)->slurm;

	if (soon)
		gv_slurm_look_soon(s);
	if (s->looking) {
		bool queue = gv_slurm_command_poll(&s->queue);

		if (gv_slurm_command_poll(&s->info) && queue)
			take_look(s);
	} else if (gv_clock_s() >= s->look_s && !s->over) {
		begin_look(s);
	}
	site->over = s->over;
	site->left_s = s->ends_s - gv_clock_s();
	site->turns = s->turns;
	snprintf(site->reason, sizeof(site->reason), "%s", s->reason);
}

void
gv_slurm_look_first(struct gv_slurm *s)
{
	struct gv_launch_site ignored;

	begin_look(s);
	while (s->looking) {
		gv_sleep_s(.005);
		gv_slurm_look(&s->handle.launcher, false, &ignored);
	}
}

bool
gv_slurm_usable(const struct gv_launcher *by, const char *node, int gpu, const char **why)
{
	const struct gv_slurm *s = ((const struct gv_slurm_handle *)by)->slurm;
	const struct gv_slurm_node *n = gv_slurm_find(&s->allocation, node, strlen(node));

	(void)gpu; /* Slurm takes nodes as wholes */
	*why = n != NULL ? n->why : "it is not in the allocation";
	return n != NULL && n->why[0] == '\0';
}
