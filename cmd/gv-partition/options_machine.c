#include "options_machine.h"

#include <math.h>
#include <string.h>

#include "base/num.h"
#include "plan/machine.h"

/* BANDWIDTH or BANDWIDTH:BANDWIDTH, of sums.  0, or -1: it is neither. */
static int
set_rates(struct gv_machine *m, const char *text)
{
	const char *colon = strchr(text, ':');
	size_t len = colon != NULL ? (size_t)(colon - text) : strlen(text);
	double *sum = &m->sum_bytes_per_s[m->n_levels];
	char rate[64];

	if (len >= sizeof(rate))
		return -1;
	memcpy(rate, text, len);
	rate[len] = '\0';
	*sum = 0;
	if (colon != NULL && gv_parse_rate(colon + 1, sum) != 0)
		return -1;
	return gv_parse_rate(rate, &m->bytes_per_s[m->n_levels]);
}

void
options_level(struct options *o, const char *arg)
{
	struct gv_machine *m = &o->machine;
	const char *at = strchr(arg, '@');
	char q[GV_QUOTE_LEN];
	int64_t n = 0;

	if (m->n_levels == GV_PLAN_LEVELS)
		gv_opt_usage(&o->common, "--level: more than %d", GV_PLAN_LEVELS);
	if (at == NULL || set_rates(m, at + 1) != 0 ||
	    (at > arg && (gv_parse_int(arg, (size_t)(at - arg), &n) != 0 || n < 1 ||
			     n > GV_PLAN_GPUS)))
		gv_opt_usage(&o->common,
		    "--level: expected N@BANDWIDTH such as 4@25GB/s or "
		    "4@25GB/s:20GB/s, got %s",
		    gv_quote(q, arg, strlen(arg)));
	m->gpus[m->n_levels++] = (size_t)n;
}

void
options_moving(struct options *o, const char *arg)
{
	char q[GV_QUOTE_LEN];

	if (gv_parse_rate(arg, &o->search.rules.moving) != 0)
		gv_opt_usage(&o->common,
		    "--moving: expected a bandwidth such as 2GB/s, got %s",
		    gv_quote(q, arg, strlen(arg)));
}

void
options_gpu_speed(struct options *o, const char *arg)
{
	struct fleet_times *t = &o->times;
	const char *equals = strrchr(arg, '=');
	size_t len = equals != NULL ? (size_t)(equals - arg) : 0;
	char q[GV_QUOTE_LEN];
	double factor = 0;

	if (t->n_speeds == GV_FLEET_TYPES)
		gv_opt_usage(&o->common, "--gpu-speed: more than %d", GV_FLEET_TYPES);
	if (equals == NULL || len == 0 ||
	    gv_parse_double(equals + 1, strlen(equals + 1), &factor) != 0 ||
	    !(factor >= 1e-9 && factor <= 1e9))
		gv_opt_usage(&o->common,
		    "--gpu-speed: expected TYPE=SPEED such as k80=0.25, got %s",
		    gv_quote(q, arg, strlen(arg)));
	t->speed[t->n_speeds++] = (struct fleet_speed){arg, len, factor};
}

/* The number of the last level, where it was left out. */
static void
count_last(struct options *o)
{
	struct gv_machine *m = &o->machine;
	size_t l, inner = 1;

	for (l = 0; l + 1 < m->n_levels; inner *= m->gpus[l++])
		if (m->gpus[l] == 0)
			gv_opt_usage(
			    &o->common, "--level: only the last can be without N");
	if (m->n_levels == 0 || m->gpus[l] > 0)
		return;
	if (o->cluster != NULL) {
		m->gpus[0] = 1; /* until the cluster is read */
		return;
	}
	if (o->ptd.gpus == 0)
		gv_opt_usage(&o->common, "--level: @BANDWIDTH without N needs --gpus=N");
	if (o->ptd.gpus % inner != 0)
		gv_opt_usage(&o->common, "--gpus: %zu are no whole groups of %zu",
		    o->ptd.gpus, inner);
	m->gpus[l] = o->ptd.gpus / inner;
}

void
options_machine(struct options *o)
{
	struct gv_machine *m = &o->machine;
	struct gv_error e = {0};
	bool counted;
	size_t all, component, l;

	if (o->levels != NULL && m->n_levels > 0)
		gv_opt_usage(&o->common, "--level and --levels: one of them");
	counted = m->n_levels > 0 && m->gpus[m->n_levels - 1] > 0;
	if (o->cluster != NULL && (m->n_levels != 1 || counted || o->ptd.gpus > 0))
		gv_opt_usage(&o->common, "--cluster says how many GPUs there are: one "
					 "--level=@BANDWIDTH, without N, and no --gpus");
	if (o->levels != NULL && gv_machine_read(m, o->levels, &e) != 0)
		gv_die_error(&e);
	for (l = 0; l < m->n_levels && o->levels == NULL; l++)
		if (m->sum_bytes_per_s[l] > 0 && o->planner == PLANNER_PTD_P)
			gv_opt_usage(&o->common, "--level: a bandwidth of sums is not "
						 "for --planner=ptd-p");
	count_last(o);
	all = gv_machine_component(m, m->n_levels);
	if (o->planner == PLANNER_PTD_P || o->ptd.gpus == 0 || m->n_levels == 0)
		return;
	if (o->ptd.gpus > all)
		gv_opt_usage(&o->common, "--gpus: %zu, of which the levels have %zu",
		    o->ptd.gpus, all);
	component = gv_machine_take(m, o->ptd.gpus);
	if (component > 0)
		gv_opt_usage(&o->common, "--gpus: %zu are no whole groups of %zu",
		    o->ptd.gpus, component);
}
