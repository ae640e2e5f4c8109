#include "rates_table.h"

#include <math.h>

static void
write_rate(struct gv_tabw *w, const struct cell *c)
{
	if (c->source == KNOWN)
		gv_tabw_cell(w, c->text);
	else
		gv_tabw_double(w, c->steps_per_s);
}

/* Empty where nothing is known. */
static void
write_use(struct gv_tabw *w, const struct cell *c)
{
	if (c->source != TO_MEASURE || c->use.looks == 0) {
		gv_tabw_str(w, "");
		gv_tabw_str(w, "");
		return;
	}
	gv_tabw_double(w, round(1000 * c->use.utilization) / 1000);
	gv_tabw_int(w, c->use.memory_bytes);
}

static const char *const use_columns[] = {"gpu_utilization", "gpu_memory_bytes"};

static bool
is_own(struct gv_cell name, bool usage)
{
	return gv_cell_is(name, "gpu_type") || gv_cell_is(name, "steps_per_s") ||
	       (usage && (gv_cell_is(name, use_columns[0]) ||
			     gv_cell_is(name, use_columns[1])));
}

void
write_rates(struct gv_tabw *w, const struct plan *p, const struct gv_rates *jobs,
    const struct gv_cluster *cluster, bool usage)
{
	const struct gv_frame *f = &jobs->frame;
	size_t i, k, type;

	for (k = 0; k < f->n_columns; k++)
		if (!is_own(f->name[k], usage))
			gv_tabw_cell(w, f->name[k]);
	gv_tabw_str(w, "gpu_type");
	gv_tabw_str(w, "steps_per_s");
	for (k = 0; usage && k < 2; k++)
		gv_tabw_str(w, use_columns[k]);
	gv_tabw_end(w);
	for (i = 0; i < jobs->n_jobs; i++)
		for (type = 0; type < cluster->n_types; type++) {
			if (plan_cell(p, p->class_of[i], type)->source == UNMEASURED)
				continue;
			for (k = 0; k < f->n_columns; k++)
				if (!is_own(f->name[k], usage))
					gv_tabw_cell(w, gv_frame_cell(f, jobs->job[i].row,
							    (ptrdiff_t)k));
			gv_tabw_str(w, cluster->type[type].name);
			write_rate(w, plan_cell(p, p->class_of[i], type));
			if (usage)
				write_use(w, plan_cell(p, p->class_of[i], type));
			gv_tabw_end(w);
		}
}

void
write_throughputs(struct gv_tabw *w, const struct plan *p, const struct gv_rates *jobs,
    const struct gv_cluster *cluster)
{
	static const char *const names[] = {
	    "job_type", "scale_factor", "gpu_type", "steps_per_s"};
	size_t class, type, k;

	for (k = 0; k < 4; k++)
		gv_tabw_str(w, names[k]);
	gv_tabw_end(w);
	for (class = 0; class < p->n_classes; class ++) {
		const struct gv_job *job = &jobs->job[p->job[class]];

		for (type = 0; job->job_type.len > 0 && type < cluster->n_types; type++) {
			if (plan_cell(p, class, type)->source == UNMEASURED)
				continue;
			gv_tabw_cell(w, job->job_type);
			gv_tabw_int(w, job->scale_factor);
			gv_tabw_str(w, cluster->type[type].name);
			write_rate(w, plan_cell(p, class, type));
			gv_tabw_end(w);
		}
	}
}

/* ---- pairs ---- */

static void
write_name(struct gv_tabw *w, const struct gv_job *job)
{
	gv_tabw_cell(w, job->job_type.len > 0 ? job->job_type : job->id);
}

/* Of both in the time in which one after the other would do 1. */
static double
speedup(const struct cell *c, const struct cell *a, const struct cell *b)
{
	if (c->steps_per_s == 0)
		return 0;
	return round(1e4 * (c->steps_per_s / a->steps_per_s +
			       c->second_steps_per_s / b->steps_per_s)) /
	       1e4;
}

static void
write_pair(struct gv_tabw *w, const struct plan *p, size_t i, size_t type, bool usage)
{
	const struct cell *c = plan_cell(p, p->n_classes + i, type);
	const struct cell *a = plan_cell(p, p->pair[i].class[0], type);
	const struct cell *b = plan_cell(p, p->pair[i].class[1], type);

	gv_tabw_double(w, c->steps_per_s);
	gv_tabw_double(w, c->second_steps_per_s);
	write_rate(w, a);
	write_rate(w, b);
	gv_tabw_double(w, speedup(c, a, b));
	if (usage)
		write_use(w, c);
	gv_tabw_end(w);
}

void
write_pairs(struct gv_tabw *w, const struct plan *p, const struct gv_rates *jobs,
    const struct gv_cluster *cluster, bool usage)
{
	static const char *const names[] = {"job_a", "job_b", "scale_factor", "gpu_type",
	    "steps_per_s_a", "steps_per_s_b", "alone_steps_per_s_a",
	    "alone_steps_per_s_b", "speedup"};
	size_t i, k, type;

	for (k = 0; k < sizeof(names) / sizeof(names[0]); k++)
		gv_tabw_str(w, names[k]);
	for (k = 0; usage && k < 2; k++)
		gv_tabw_str(w, use_columns[k]);
	gv_tabw_end(w);
	for (i = 0; i < p->n_pairs; i++)
		for (type = 0; type < cluster->n_types; type++) {
			const struct gv_job *a = &jobs->job[p->job[p->pair[i].class[0]]];

			if (plan_cell(p, p->n_classes + i, type)->source == UNMEASURED)
				continue;
			write_name(w, a);
			write_name(w, &jobs->job[p->job[p->pair[i].class[1]]]);
			gv_tabw_int(w, a->scale_factor);
			gv_tabw_str(w, cluster->type[type].name);
			write_pair(w, p, i, type, usage);
		}
}
