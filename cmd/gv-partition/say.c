#include "say.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/fileio.h"
#include "base/num.h"

void
say_progress(size_t done, size_t of, const char *units)
{
	static double last_s;
	double now_s = gv_clock_s();

	if (now_s - last_s < 0.1)
		return;
	last_s = now_s;
	gv_progress("planning: %zu of %zu %s", done, of, units);
}

void
say_prefixes(struct prefixes *x, const struct options *o, const struct gv_layers *l,
    size_t limit, size_t exact)
{
	if (!o->common.quiet)
		gv_progress("planning: looking where %zu layers can be cut", l->g.n);
	prefixes_make(x, &l->g, o->cut, limit, exact);
	if (!x->exact && !o->common.quiet)
		gv_warn("warning: more than %zu prefixes, of which %zu are looked at",
		    exact, x->s.n - 1);
}

GV_NORETURN void
say_no_plan(const struct options *o, const struct gv_layers *l, const struct ideals *s)
{
	struct least_memory least = {.bytes = 0};
	ptrdiff_t id = gv_frame_find(&l->rows, "node_id");
	size_t v, first = 0, last = 0, n = 0;
	char a[GV_QUOTE_LEN], b[GV_QUOTE_LEN], size[2][GV_NUM_LEN];
	char layers[2 * GV_QUOTE_LEN + 64];
	struct gv_cell c, d;

	if (o->search.rules.memory > 0)
		least = plan_least_memory(s, &o->machine, &o->search);
	if (least.bytes <= o->search.rules.memory) {
		gv_warn("no plan: %zu prefixes cannot make stages for %s", s->n - 1,
		    o->search.use == USE_ALL ? "all GPUs"
					     : "this machine within its memory");
		exit(gv_finish() == GV_EXIT_OK ? GV_EXIT_NO : GV_EXIT_TROUBLE);
	}
	for (v = 0; v < l->g.n; v++) {
		if (!ideals_has(s, least.end, v) || ideals_has(s, least.first, v))
			continue;
		if (n++ == 0)
			first = v;
		last = v;
	}
	c = gv_frame_cell(&l->rows, l->row[first], id);
	d = gv_frame_cell(&l->rows, l->row[last], id);
	if (n > 1)
		snprintf(layers, sizeof(layers), "%zu layers from %s to %s", n,
		    gv_quote(a, c.s, c.len), gv_quote(b, d.s, d.len));
	else
		snprintf(
		    layers, sizeof(layers), "layer %s alone", gv_quote(a, c.s, c.len));
	gv_warn(
	    "no plan fits: the fullest stage of the best one, %s with replicas=%zu and "
	    "in_flight=%zu, needs %s on each GPU, %s too much",
	    layers, least.replicas, least.in_flight, gv_show_bytes(size[0], least.bytes),
	    gv_show_bytes(size[1], least.bytes - o->search.rules.memory));
	exit(gv_finish() == GV_EXIT_OK ? GV_EXIT_NO : GV_EXIT_TROUBLE);
}

void
say_times(const struct options *o, const struct plan_report *r, const struct gv_plan *p,
    const struct prefixes *x)
{
	double speedup = 1, over_parallel = 1;
	bool exact = x->exact && o->search.rules.schedule != GV_SCHEDULE_INTERLEAVED;
	bool fastest = exact && !o->evaluate && o->rank == 0;
	char num[4][GV_NUM_LEN], searched[64] = "";

	gv_format_double(num[0], r->bottleneck_s);
	gv_format_double(num[1], r->idle_s);
	gv_format_double(num[2], r->single_s);
	gv_format_double(num[3], r->data_parallel_s);
	if (!o->evaluate)
		snprintf(searched, sizeof(searched), " prefixes=%zu exact=%s", x->s.n - 1,
		    exact ? "yes" : "no");
	/* 0 over 0: as fast */
	if (r->bottleneck_s > 0) {
		speedup = r->single_s / r->bottleneck_s;
		over_parallel = r->data_parallel_s / r->bottleneck_s;
	} else if (r->data_parallel_s > 0) {
		over_parallel = INFINITY;
	}
	gv_warn("cost=%s%s stages=%zu gpus=%zu slowest_s=%s bound_s=%s single_s=%s "
		"data_parallel_s=%s speedup=%.4g speedup_over_data_parallel=%.4g",
	    o->search.rules.model == COST_PAPER ? "paper" : "compat", searched, p->n,
	    r->gpus, num[0], fastest ? num[0] : num[1], num[2], num[3], speedup,
	    over_parallel);
}

GV_NORETURN void
say_no_types(enum fleet_result why)
{
	if (why == FLEET_LARGE)
		gv_die("too many prefixes and numbers of GPUs of each type to plan with; "
		       "--prefixes takes fewer");
	gv_warn("no plan: no stages fit into the memory of these types of GPUs");
	exit(gv_finish() == GV_EXIT_OK ? GV_EXIT_NO : GV_EXIT_TROUBLE);
}

GV_NORETURN void
say_no_chunks(const struct options *o)
{
	gv_warn("no plan: %zu GPUs or fewer, of a number that divides %zu micro-batches, "
		"have no %zu stages each%s",
	    o->machine.gpus[0], o->search.rules.micro_batches, o->search.rules.chunks,
	    o->search.rules.memory > 0 ? " that fit" : "");
	exit(gv_finish() == GV_EXIT_OK ? GV_EXIT_NO : GV_EXIT_TROUBLE);
}

void
say_simulation(const struct gv_simulation *s, const struct gv_pipe *p)
{
	size_t in_flight = 0, versions = 0, k;
	double bytes = 0;
	char num[3][GV_NUM_LEN];

	for (k = 0; k < s->n; k++) {
		const struct gv_holding *h = &s->place[k].holding;

		if (h->in_flight > in_flight)
			in_flight = h->in_flight;
		if (h->versions > versions)
			versions = h->versions;
		if (h->bytes > bytes)
			bytes = h->bytes;
	}
	gv_format_double(num[0], round(s->end_s * 1e12) / 1e12);
	gv_format_double(num[1], round(s->step_s * 1e12) / 1e12);
	gv_format_double(num[2], round(bytes));
	gv_warn(
	    "schedule=%s micro_batches=%zu end_s=%s step_s=%s bubble=%.4g in_flight=%zu "
	    "versions=%zu memory_bytes=%s",
	    gv_schedule_name[p->schedule], p->micro_batches, num[0], num[1],
	    round(s->bubble * 1e9) / 1e9, in_flight, versions, num[2]);
}

bool
say_fits(const struct options *o, const struct gv_plan *p, const struct plan_report *r)
{
	bool all = true;
	size_t i;

	for (i = 0; i < r->n; i++) {
		const struct stage_report *s = &r->row[i];
		char size[2][GV_NUM_LEN];
		double memory = o->search.rules.memory;

		if (p->fleet != NULL)
			memory = p->fleet->type[p->stage[s->first].type].memory;
		if (memory <= 0 || s->memory <= memory)
			continue;
		gv_warn("stage %zu needs %s on each GPU, %s too much", s->stage,
		    gv_show_bytes(size[0], s->memory),
		    gv_show_bytes(size[1], s->memory - memory));
		all = false;
	}
	return all;
}
