#include "route.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "table.h"

/* The schedule of that name; GV_SCHEDULES: none, so it is a file. */
static enum gv_schedule_kind
kind_of(const char *name)
{
	size_t k = 0;

	while (k < GV_SCHEDULES && strcmp(name, gv_schedule_name[k]) != 0)
		k++;
	return (enum gv_schedule_kind)k;
}

/* What steps and micro-batches have to be, whatever the schedule comes from. */
static int
check(const struct route *r, const struct route_spec *spec, const struct stages *s,
    struct gv_error *e)
{
	size_t k;

	if (r->kind == GV_SCHEDULE_1F1B && spec->micro_batches > 1)
		return gv_error_set(e,
		    "--micro-batches: 1f1b updates the weights behind each micro-batch; "
		    "got %llu",
		    (unsigned long long)spec->micro_batches);
	for (k = 0; k < s->n; k++)
		if (r->unit < s->stage[k].replicas)
			return gv_error_set(e,
			    "stage %zu has replicas=%zu, which need as many "
			    "micro-batches: --micro-batches",
			    k, s->stage[k].replicas);
	if ((spec->steps * r->micro_batches) % r->unit != 0)
		return gv_error_set(e,
		    "1f1b on this plan trains a multiple of %llu steps, got %llu",
		    (unsigned long long)r->unit, (unsigned long long)spec->steps);
	return 0;
}

/* The pipe of a route's stages, under the schedule of its kind. */
static struct gv_pipe
pipe_of(const struct route *r, const struct route_spec *spec, const struct stages *s)
{
	struct gv_pipe p = {.n = s->n,
	    .schedule = r->kind,
	    .chunks = spec->chunks,
	    .batch = r->micro_batches};
	size_t k;

	p.stage = gv_xcalloc(s->n, sizeof(*p.stage));
	for (k = 0; k < s->n; k++)
		p.stage[k].replicas = s->stage[k].replicas;
	return p;
}

/* ---- a schedule by its name ---- */

/* As at the first stage in all stages, counted in micro-batches. */
static void
sync_versions(struct gv_timetable *t, const struct gv_pipe *p)
{
	size_t first = p->stage[0].replicas, i, k;

	for (i = 0; i < t->n; i++) {
		struct gv_lane *l = &t->lane[i];
		size_t own = p->stage[l->place].replicas;

		for (k = 0; k < l->n; k++) {
			struct gv_step *s = &l->step[k];
			const struct gv_lane *at = &t->lane[s->micro_batch % first];
			size_t j;

			if (s->op != GV_STEP_FORWARD && s->op != GV_STEP_BACKWARD)
				continue;
			for (j = 0; at->step[j].op != GV_STEP_FORWARD ||
				    at->step[j].micro_batch != s->micro_batch;
			     j++)
				;
			if (l != at)
				s->version =
				    (uint32_t)(at->step[j].version * first / own);
		}
	}
}

static int
by_name(struct route *r, const struct route_spec *spec, const struct stages *s,
    size_t rank, struct gv_error *e)
{
	uint64_t all = spec->steps * r->micro_batches;
	struct gv_pipe p = pipe_of(r, spec, s);
	struct gv_timetable t;
	const struct gv_lane *l;
	int status;

	r->flushes = r->kind != GV_SCHEDULE_1F1B && r->kind != GV_SCHEDULE_2BW;
	r->unit = r->kind == GV_SCHEDULE_1F1B ? gv_pipe_round(&p) : r->micro_batches;
	p.micro_batches = r->unit;
	status = check(r, spec, s, e);
	if (status == 0)
		status = gv_timetable_check(&p, e);
	if (status == 0) {
		p.micro_batches = gv_course_some(&p, all);
		if (p.micro_batches == 0)
			p.micro_batches = r->unit;
		gv_timetable_make(&t, &p);
		if (spec->vertical_sync)
			sync_versions(&t, &p);
		l = &t.lane[rank];
		status = gv_course_make(&r->course, l->step, l->n, p.micro_batches,
		    all > 0 ? all : p.micro_batches, e);
		gv_timetable_free(&t);
	}
	gv_pipe_free(&p);
	return status;
}

/* ---- a schedule from a table ---- */

static int
check_table(const struct route *r, const struct route_spec *spec, const struct stages *s,
    const struct table *t, struct gv_error *e)
{
	if (spec->vertical_sync)
		return gv_error_set(
		    e, "--vertical-sync: a table has its versions already");
	if (r->kind != GV_SCHEDULE_1F1B && spec->micro_batches != t->together)
		return gv_error_set(e,
		    "%s: an update has %llu micro-batches there; --micro-batches says "
		    "%llu",
		    spec->schedule, (unsigned long long)t->together,
		    (unsigned long long)spec->micro_batches);
	if (spec->steps * r->micro_batches < t->micro_batches)
		return gv_error_set(e, "%s: it has %llu micro-batches, this run %llu",
		    spec->schedule, (unsigned long long)t->micro_batches,
		    (unsigned long long)(spec->steps * r->micro_batches));
	return check(r, spec, s, e);
}

/* Whether a worker of the table does the steps of a lane, in their order. */
static bool
is_lane(const struct table *t, size_t rank, const struct gv_lane *l)
{
	struct gv_step *step;
	bool same;
	size_t n, k;

	step = table_lane(t, rank, &n);
	same = n == l->n;
	for (k = 0; k < n && same; k++)
		same = step[k].op == l->step[k].op && step[k].stage == l->step[k].stage &&
		       step[k].micro_batch == l->step[k].micro_batch &&
		       step[k].version == l->step[k].version;
	free(step);
	return same;
}

/* Whether the table is what its kind has for so many micro-batches: more follow as there. */
static bool
is_named(const struct route *r, const struct route_spec *spec, const struct stages *s,
    const struct table *t)
{
	struct gv_pipe p = pipe_of(r, spec, s);
	struct gv_error none = {0};
	struct gv_timetable named;
	bool same = false;
	size_t i;

	p.micro_batches = (size_t)t->micro_batches;
	if (p.chunks == 1 && gv_timetable_check(&p, &none) == 0) {
		gv_timetable_make(&named, &p);
		for (same = true, i = 0; i < named.n && same; i++)
			same = is_lane(t, i, &named.lane[i]);
		gv_timetable_free(&named);
	}
	gv_pipe_free(&p);
	return same;
}

/* Of the courses of all workers, so that all of them find what cannot be, that of one. */
static int
find_course(struct route *r, const struct route_spec *spec, const struct table *t,
    size_t rank, struct gv_error *e)
{
	int status = 0;
	size_t n, i;

	for (i = 0; i < r->workers && status == 0; i++) {
		struct gv_step *step = table_lane(t, i, &n);
		struct gv_course c;

		status = gv_course_make(
		    &c, step, n, t->micro_batches, spec->steps * r->micro_batches, e);
		if (status == 0 && i == rank)
			r->course = c;
		else
			gv_course_free(&c);
		free(step);
	}
	return status;
}

static int
by_table(struct route *r, const struct route_spec *spec, const struct stages *s,
    size_t rank, struct gv_error *e)
{
	struct gv_pipe p = pipe_of(r, spec, s);
	struct table t;
	bool named;
	int status;

	/* of what every worker has done as much, if it is 1f1b */
	r->unit = gv_pipe_round(&p);
	gv_pipe_free(&p);
	if (table_read(&t, spec->schedule, s, r->rank, r->micro_batches, e) != 0)
		return -1;
	r->kind = t.kind;
	r->table = t.crc;
	r->flushes = t.kind == GV_SCHEDULE_FLUSH;
	if (t.kind != GV_SCHEDULE_1F1B)
		r->unit = r->micro_batches;
	named = !r->flushes && is_named(r, spec, s, &t);
	status = check_table(r, spec, s, &t, e);
	if (status == 0)
		status = named ? by_name(r, spec, s, rank, e)
			       : find_course(r, spec, &t, rank, e);
	table_free(&t);
	return status;
}

/* ---- the whole ---- */

static void
place(struct route *r, const struct route_spec *spec, const struct stages *s)
{
	size_t places = s->n / spec->chunks, rank = 0, k;

	r->rank = gv_xcalloc(s->n, sizeof(*r->rank));
	for (k = 0; k < s->n; k++) {
		r->rank[k] = k < places ? rank : r->rank[k - places];
		rank += k < places ? s->stage[k].replicas : 0;
	}
}

int
route_make(struct route *r, const struct route_spec *spec, const struct stages *s,
    size_t rank, struct gv_error *e)
{
	size_t gpus;
	int status;

	*r = (struct route){.kind = kind_of(spec->schedule),
	    .micro_batches = spec->micro_batches > 0 ? spec->micro_batches : 1};
	if (s->n % spec->chunks != 0)
		return gv_error_set(e,
		    "a plan of stages=%zu has no chunks=%zu on each worker", s->n,
		    spec->chunks);
	gpus = stages_gpus(s, spec->chunks);
	if (gpus != spec->workers)
		return gv_error_set(e, "a plan on gpus=%zu; this gang has workers=%zu",
		    gpus, spec->workers);
	r->workers = gpus;
	place(r, spec, s);
	status = (r->kind == GV_SCHEDULES ? by_table : by_name)(r, spec, s, rank, e);
	r->overlaps = !r->flushes && gpus > s->n / spec->chunks;
	return status;
}

void
route_free(struct route *r)
{
	free(r->rank);
	gv_course_free(&r->course);
	*r = (struct route){0};
}

size_t
route_replica(const struct route *r, size_t replicas, uint64_t micro_batch)
{
	return (size_t)((r->flushes ? micro_batch % r->micro_batches : micro_batch) %
			replicas);
}

uint64_t
route_together(const struct route *r, size_t replicas)
{
	return r->kind == GV_SCHEDULE_1F1B ? replicas : r->micro_batches;
}
