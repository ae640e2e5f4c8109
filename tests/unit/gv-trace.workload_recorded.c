/*
 * gv-trace's workloads of drawn tables and lists: speeds, types, jobs and what is wrong with them
 * are what they were.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "draws.h"
#include "gv-trace/workload/problems.h"
#include "gv-trace/workload/sample.h"
#include "recorded_frame.h"
#include "scratch.h"

static struct gv_error e;

static const char *
one_of(const char *const *list, size_t n)
{
	return list[below(n)];
}

/* ---- tables ---- */

static const char *const odd[] = {"", "0", "-1", "x", "1.5", "1e9", "nan", "a", "v100"};

static const char *
odd_cell(const char *cell, bool wrong)
{
	return wrong && below(40) == 0 ? one_of(odd, 9) : cell;
}

static void
draw_speeds(bool wrong)
{
	static const char *const gpu[] = {"v100", "k80", "a100"};
	struct gv_strbuf s = {0};
	size_t types = 1 + below(5), gpus = 1 + below(3), density = 4 + below(7), i, j,
	       scale;
	char cell[2][32];

	gv_strbuf_str(&s, wrong && below(10) == 0
			      ? "job_type,scale,gpu_type,steps_per_s\n"
			      : "job_type,scale_factor,gpu_type,steps_per_s\n");
	for (i = 0; i < types; i++)
		for (scale = 1; scale <= 8; scale *= 2)
			for (j = 0; j < gpus; j++) {
				if (below(10) >= density || (i % 2 == 1 && scale > 1))
					continue;
				snprintf(cell[0], 32, "%zu", scale);
				snprintf(cell[1], 32, "%g",
				    below(5) == 0 ? 0 : .25 * (double)(1 + below(40)));
				gv_strbuf_fmt(&s, "%s%zu,", odd_cell("t", wrong), i);
				gv_strbuf_fmt(&s, "%s,", odd_cell(cell[0], wrong));
				gv_strbuf_fmt(&s, "%s,", odd_cell(gpu[j], wrong));
				gv_strbuf_fmt(&s, "%s\n", odd_cell(cell[1], wrong));
				if (wrong && below(60) == 0)
					gv_strbuf_fmt(&s, "t%zu,1,v100,1\n", i);
			}
	scratch_file("speeds.csv", s.s, s.len);
	gv_strbuf_free(&s);
}

static void
draw_types(bool wrong)
{
	struct gv_strbuf s = {0};
	size_t n = below(6), i, first = below(3);
	bool weights = below(2) == 0;
	bool turned = below(3) == 0; /* the weight first */
	const char *name = wrong && below(10) == 0 ? "type" : "job_type";
	const char *of = weights ? "weight" : "note";

	gv_strbuf_fmt(&s, "%s,%s\n", turned ? of : name, turned ? name : of);
	for (i = 0; i < n; i++) {
		const char *weight = below(2) == 0 ? "1" : ".125";
		char type[32];

		if (wrong && below(15) == 0)
			weight = one_of(odd, 9);
		if (!weights || below(5) == 0)
			weight = "";
		snprintf(
		    type, sizeof(type), "%s%zu", odd_cell("t", wrong), (first + i) % 6);
		gv_strbuf_fmt(
		    &s, "%s,%s\n", turned ? weight : type, turned ? type : weight);
	}
	scratch_file("types.csv", s.s, s.len);
	gv_strbuf_free(&s);
}

static void
recorded_speeds(struct recorded *r, const struct speeds *s)
{
	static const char *const name[] = {"v100", "k80", "none", "a100"};
	size_t i, j;
	int64_t scale;

	recorded_whole(r, (long long)s->job_types.n);
	recorded_whole(r, (long long)s->gpu_types.n);
	recorded_whole(r, s->max_scale);
	for (i = 0; i <= s->job_types.n; i++)
		for (j = 0; j <= s->gpu_types.n; j++)
			for (scale = 0; scale < 9; scale++)
				recorded_double(r, speeds_find(s, (ptrdiff_t)i - 1, scale,
						       (ptrdiff_t)j - 1));
	recorded_whole(r, speeds_gpu_type(s, NULL, &e));
	for (i = 0; i < 4; i++)
		recorded_whole(r, speeds_gpu_type(s, name[i], &e));
}

/* ---- lists ---- */

static void
recorded_weighted(struct recorded *r, const struct weighted *w)
{
	size_t i;

	recorded_whole(r, (long long)w->n);
	recorded_whole(r, w->equal);
	for (i = 0; i < w->n; i++) {
		recorded_text(r, w->text[i]);
		recorded_double(r, w->upto[i]);
	}
	for (i = 0; i < 5; i++)
		recorded_whole(r, (long long)weighted_pick(w, .25 * (double)i));
	for (i = 0; i < 5; i++)
		recorded_whole(r, (long long)weighted_pick(w, uniform()));
}

static void
draw_list(struct gv_strbuf *s, const char *const *value, size_t n, bool wrong)
{
	static const char *const part[] = {".5", ".25", ".125", "0.1", ".3", "1", "1e-3"};
	static const char *const bad[] = {
	    ":", ":0", ":1.5", ":x", ",", ":.9:.1", "::", "..", ",,"};
	size_t elements = 1 + below(4), parts = below(3), i;

	gv_strbuf_clear(s);
	for (i = 0; i < elements; i++) {
		gv_strbuf_fmt(s, "%s%s", i > 0 ? "," : "", value[below(n)]);
		if (parts == 0)
			gv_strbuf_fmt(s, ":%s",
			    elements == 2 ? ".5" : part[below(elements > 2 ? 3 : 7)]);
		if (wrong && below(8) == 0)
			gv_strbuf_str(s, one_of(bad, 9));
	}
}

static void
recorded_numbers(struct recorded *r, const struct numbers *n)
{
	if (n->value != NULL)
		recorded_doubles(r, n->value, n->list.n);
	recorded_weighted(r, &n->list);
}

/* A spec of drawn lists; those that cannot be read are as if they had not been asked for. */
static void
draw_spec(struct recorded *r, struct sample_spec *s, bool wrong)
{
	static const char *const scale[] = {
	    "1", "2", "4", "8", "3", "1000000", "1000001", "0", "1.5"};
	static const char *const number[] = {"1", "2.5", ".1", "10", "0", "-1", "1e400"};
	static const char *const span[] = {"90s", "15m", "1h", "1h..4h", "60..3600",
	    "2h..1h", "0", "x..1h", "1h..", "1d"};
	static const char *const name[] = {"a", "b", "c:d", "e f"};
	struct gv_strbuf list = {0};

	*s = (struct sample_spec){.seed = below(5)};
	s->sampling = below(2) == 0 ? SAMPLING_TESTBED : SAMPLING_SIMULATOR;
	s->rate_per_h = below(2) == 0 ? 0 : 1 + (double)below(20);
	s->every_s = below(2) == 0 ? 0 : 2.5;
	gv_error_clear(&e);
	if (below(3) > 0) {
		draw_list(&list, scale, wrong ? 9 : 4, wrong);
		recorded_whole(r, sample_scales(&s->scale_factor, list.s, &e));
	}
	if (e.count == 0 && below(2) == 0) {
		draw_list(&list, number, wrong ? 7 : 4, wrong);
		recorded_whole(r, sample_positive(&s->priority, list.s, &e));
	}
	if (e.count == 0 && below(2) == 0) {
		draw_list(&list, number, wrong ? 7 : 4, wrong);
		recorded_whole(r, sample_positive(&s->slo, list.s, &e));
	}
	if (e.count == 0 && below(2) == 0) {
		draw_list(&list, span, wrong ? 10 : 5, wrong);
		recorded_whole(r, sample_durations(s, list.s, &e));
	}
	if (e.count == 0 && below(2) == 0) {
		draw_list(&list, name, 4, wrong);
		recorded_whole(r, weighted_parse(&s->entities, list.s, &e));
	}
	recorded_error(r, &e);
	gv_strbuf_free(&list);
}

/* ---- jobs ---- */

static void
ask_sample(struct recorded *r, const struct speeds *speeds, const struct job_types *types,
    bool wrong)
{
	struct sample_spec spec;
	struct sampler s;
	struct sampled job;
	size_t i;

	draw_spec(r, &spec, wrong);
	if (e.count == 0) {
		recorded_numbers(r, &spec.scale_factor);
		recorded_numbers(r, &spec.priority);
		recorded_weighted(r, &spec.durations);
		recorded_weighted(r, &spec.entities);
		for (i = 0; i < spec.durations.n; i++)
			recorded_double(r, spec.span[i].lo + 3 * spec.span[i].hi);
		sample_start(
		    &s, &spec, speeds, types, (ptrdiff_t)below(speeds->gpu_types.n));
		for (i = 0; i < 15 && sample_next(&s, &job, &e) == 0; i++) {
			recorded_rounded(r, job.arrival_s, 9);
			recorded_whole(r, job.scale_factor);
			recorded_rounded(r, job.duration_s, 9);
			recorded_whole(r, (long long)job.type);
			recorded_rounded(r, job.total_steps, 9);
			recorded_double(r, job.priority);
			recorded_double(r, job.slo);
			recorded_whole(r, (long long)job.entity);
		}
		recorded_error(r, &e);
	}
	sample_spec_free(&spec);
}

static void
ask_problems(struct recorded *r, const struct speeds *speeds)
{
	static const char *const type[] = {"t0", "t1", "t2", "t3", "t9", ""};
	static const char table[] = "gpu_type,gpus\nv100,4\nk80,1\n";
	struct gv_frame f;
	struct gv_cluster c = {0};
	struct problems p = {.speeds = speeds};
	size_t i;

	if (gv_frame_parse(&f, "cluster", table, strlen(table), &e) != 0 ||
	    gv_cluster_from(&c, &f, &e) != 0)
		abort();
	if (below(2) == 0)
		p.cluster = &c;
	for (i = 0; i < 15; i++) {
		struct gv_job job = {.arrival_s = 10};
		enum problem found;

		job.job_type.s = one_of(type, 6);
		job.job_type.len = strlen(job.job_type.s);
		job.scale_factor = 1 + (int64_t)below(9);
		job.total_steps = below(5) == 0   ? 0
				  : below(6) == 0 ? NAN
				  : i < 8         ? .5
						  : 100;
		job.deadline_s = below(3) == 0 ? 5 + (double)below(10) : INFINITY;
		found = problems_find(&p, &job);
		recorded_text(r, problem_name(found));
		recorded_whole(r, problems_clip(&p, &job));
	}
	problems_free(&p);
	gv_cluster_free(&c);
	gv_frame_free(&f);
}

static void
ask_tables(struct recorded *r, bool wrong)
{
	struct speeds speeds;
	struct job_types types = {0};
	size_t i;
	int rc;

	draw_speeds(wrong);
	draw_types(wrong);
	gv_error_clear(&e);
	rc = speeds_load(&speeds, "speeds.csv", &e);
	if (rc == 0) {
		recorded_speeds(r, &speeds);
		rc = types_load(&types, below(2) == 0 ? NULL : "types.csv", &speeds, &e);
	}
	recorded_error(r, &e);
	for (i = 0; i < types.n; i++) {
		recorded_text(r, types.name[i].s);
		recorded_whole(r, types.number[i]);
		recorded_double(r, types.upto != NULL ? types.upto[i] : 0);
		recorded_whole(r, types_runs_wide(&types, i, &speeds, 0));
	}
	if (rc == 0 && speeds.gpu_types.n > 0) {
		ask_problems(r, &speeds);
		for (i = 0; i < 3; i++)
			ask_sample(r, &speeds, &types, wrong);
	}
	types_free(&types);
	speeds_free(&speeds);
}

static void
ask_random(struct recorded *r)
{
	struct random x;
	size_t i, n = 1 + below(1000000);

	random_seed(&x, below(2) == 0 ? below(1000) : (uint64_t)1 << below(64));
	for (i = 0; i < 700; i++)
		recorded_whole(r, random_word(&x));
	for (i = 0; i < 20; i++) {
		recorded_double(r, random_double(&x));
		recorded_double(r, random_uniform(&x, -1, 3));
		recorded_whole(r, (long long)random_below(&x, n));
		recorded_whole(r, (long long)random_below(&x, (size_t)1 << i));
		recorded_rounded(r, random_exponential(&x), 9);
	}
}

/* Probabilities that are 1 in all, about. */
static void
ask_sums(struct recorded *r)
{
	static const char *const list[] = {"a:.999999999", "a:.9999999989",
	    "a:.5,b:.500000001", "a:.5,b:.5000000011", "a:1,b:1e-9", "a:1,b:1.1e-9"};
	struct weighted w;
	size_t i;

	for (i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		gv_error_clear(&e);
		recorded_whole(r, weighted_parse(&w, list[i], &e));
		recorded_weighted(r, &w);
		recorded_error(r, &e);
		recorded_answer(r, "probabilities %s", list[i]);
		weighted_free(&w);
	}
}

int
main(void)
{
	static const char *const files[] = {"speeds.csv", "types.csv", NULL};
	struct recorded r;
	size_t turn, i;

	recorded_open(&r);
	scratch_enter();
	for (turn = 0; turn < 60; turn++) {
		draws_begin(79, 0, (uint32_t)turn);
		for (i = 0; i < 10; i++)
			ask_tables(&r, i % 2 == 1);
		recorded_answer(&r, "workloads %zu", turn);
		ask_random(&r);
		recorded_answer(&r, "numbers %zu", turn);
	}
	draws_begin(79, 1, 0);
	ask_sums(&r);
	scratch_leave(files);
	recorded_close(&r);
	return done_testing();
}
