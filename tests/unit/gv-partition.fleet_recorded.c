/*
 * What GPUs of several types get of models of many shapes is what they got: plans, what they
 * cost, how many GPUs pipelines within a limit need; and what tables of them are read as.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "gv-partition/fleet/fleet_read.h"
#include "gv-partition/fleet/fleet_trial.h"
#include "gv-partition/graph/prefixes.h"
#include "partition_draws.h"

static struct recorded r;

/* ---- fleets ---- */

static const char *const names[] = {"a", "b", "c", "d"};

static void
drawn_fleet(struct gv_fleet *f, const struct gv_graph *g, bool memory, size_t gpus)
{
	enum drawn_kind speed = drawn_kind();
	double all = 0;
	size_t t, v;

	*f = (struct gv_fleet){.n = 1 + draw(GV_FLEET_TYPES)};
	f->bytes_per_s = (double)(1 + draw(30)) / 4;
	if (draw(3) == 0)
		f->sum_bytes_per_s = f->bytes_per_s / 2;
	for (v = 0; v < g->n; v++)
		all += g->layer[v].parameter + g->layer[v].kept;
	for (t = 0; t < f->n; t++) {
		struct gv_fleet_type *type = &f->type[t];

		type->name = names[t];
		type->gpus = 1 + draw(f->n < 3 ? gpus : 3);
		if (memory && draw(4) > 0)
			type->memory = all * (double)(1 + draw(24)) / 6;
		type->time_s = gv_xcalloc(g->n, sizeof(double));
		type->forward_s = gv_xcalloc(g->n, sizeof(double));
		for (v = 0; v < g->n; v++) {
			type->forward_s[v] = drawn_amount(speed) / 4;
			type->time_s[v] = type->forward_s[v] + drawn_amount(speed);
		}
	}
}

/* ---- what is within a limit ---- */

static void
choices(const struct trial *x, size_t i, size_t k, size_t type)
{
	struct choice c[2];
	size_t n = trial_choices(c, x, i, k, type), j;

	recorded_whole(&r, (long long)n);
	recorded_whole(&r, (long long)trial_replicas_most(x, type));
	for (j = 0; j < n; j++) {
		recorded_whole(&r, c[j].recompute);
		recorded_double(&r, c[j].size.time_s);
		recorded_whole(&r, (long long)c[j].fewest);
		recorded_whole(&r, (long long)c[j].most);
		recorded_double(&r, trial_load(x, &c[j], i, 1 + draw(4)));
		recorded_whole(
		    &r, (long long)trial_replicas(x, &c[j], i, draw(x->m.gpus[0] + 1)));
	}
}

static void
ask_trials(const struct ideals *s, size_t n_layers, const struct gv_fleet *f,
    const struct search_options *o, double time_s)
{
	static const double times[] = {.5, .9, 1, 1 + 1e-12, 1.3, 2, INFINITY};
	struct trial x;
	size_t i, k, t;

	recorded_whole(&r, trial_open(&x, s, n_layers, f, o));
	for (t = 0; t < f->n; t++) {
		recorded_whole(&r, (long long)x.order[t]);
		recorded_whole(&r, (long long)x.stride[t]);
		recorded_doubles(&r, x.time_s[t], s->n);
		recorded_doubles(&r, x.forward_s[t], s->n);
	}
	for (i = 0; x.limited && i < x.n; i++)
		recorded_whole(&r, x.sum[i]);
	for (t = 0; t < 3; t++) {
		recorded_whole(&r, trial_run(&x, time_s * times[draw(7)]));
		for (i = 0; i < s->n * x.n; i++)
			recorded_whole(&r, x.need[i]);
		for (i = 0; i < s->n; i++)
			for (k = i + 1; k < s->n; k++)
				if (ideals_sub(s, i, k))
					choices(&x, i, k, draw(f->n));
	}
	trial_close(&x);
}

/* ---- plans ---- */

static void
told(size_t done, size_t of)
{
	recorded_whole(&r, (long long)done);
	recorded_whole(&r, (long long)of);
}

static double
ask_plan(const struct gv_graph *g, const struct ideals *s, const struct gv_fleet *f,
    const struct search_options *o)
{
	struct gv_plan p;
	struct plan_report report = {0};
	struct gv_error e = {0};
	struct gv_stage *stage;
	double time_s = 1;

	memset(&p, 1, sizeof(p)); /* what stands in it does not matter */
	recorded_whole(&r, fleet_search(&p, s, g->n, f, o));
	recorded_plan(&r, &p, g->n);
	if (p.n > 0) {
		recorded_whole(&r, fleet_evaluate(&report, &p, g, f, &o->rules,
				       (enum ideals_kind)draw(2), &e));
		recorded_report(&r, &report);
		if (report.bottleneck_s > 0)
			time_s = report.bottleneck_s;
		plan_report_free(&report);
		stage = &p.stage[draw(p.n)];
		stage->replicas[0] = 1 + draw(9);
		stage->type = draw(f->n);
		p.of[draw(g->n)] = 0;
		memset(&report, 1, sizeof(report));
		recorded_whole(
		    &r, fleet_evaluate(&report, &p, g, f, &o->rules, IDEALS_ALL, &e));
		recorded_report(&r, &report);
		recorded_error(&r, &e);
		plan_report_free(&report);
	}
	gv_plan_free(&p);
	return time_s;
}

/* Of up to so many layers and prefixes. */
static void
ask(size_t seed, size_t most, size_t limit, size_t gpus)
{
	struct drawn *d = gv_xcalloc(1, sizeof(*d));
	struct search_options o;
	struct gv_machine m;
	struct gv_fleet f;
	struct prefixes x;
	double time_s;

	draws_begin(seed, 44, 1);
	drawn_graph(d, most);
	drawn_fleet(&f, &d->g, draw(2) == 0, gpus);
	o = drawn_options(&d->g, false);
	prefixes_make(&x, &d->g, (enum ideals_kind)draw(2), limit, limit);
	if (draw(4) == 0)
		o.progress = told;
	m = fleet_machine(&f);
	recorded_whole(&r, (long long)m.n_levels);
	recorded_whole(&r, (long long)m.gpus[0]);
	recorded_double(&r, m.bytes_per_s[0]);
	recorded_double(&r, m.sum_bytes_per_s[0]);
	time_s = ask_plan(&d->g, &x.s, &f, &o);
	ask_trials(&x.s, d->g.n, &f, &o, time_s);
	prefixes_free(&x);
	gv_fleet_free(&f);
	free(d);
}

static void
ask_many(size_t first, size_t n, size_t most, size_t limit, size_t gpus)
{
	size_t i;

	for (i = first; i < first + n; i++) {
		ask(i, most, limit, gpus);
		if ((i + 1) % 10 == 0)
			recorded_answer(&r,
			    "models %zu to %zu, up to %zu layers, %zu prefixes", i - 9, i,
			    most, limit);
	}
}

/* More GPUs of two types than combinations are looked at. */
static void
ask_large(size_t prefixes, size_t gpus)
{
	double none[2] = {0};
	struct gv_fleet f = {.n = 3,
	    .type = {{.name = "a", .gpus = gpus, .time_s = none, .forward_s = none},
		{.name = "b", .gpus = gpus, .time_s = none, .forward_s = none},
		{.name = "c", .gpus = gpus, .time_s = none, .forward_s = none}}};
	struct search_options o = {.use = USE_FEWEST};
	struct ideals s = {.n = prefixes};
	struct trial x;

	recorded_whole(&r, trial_open(&x, &s, 0, &f, &o));
	recorded_whole(&r, (long long)x.n);
	trial_close(&x);
}

/* ---- tables ---- */

static void
text(const char *file, const char *s)
{
	FILE *to;

	unlink(file); /* a file written over waits for the disk */
	to = fopen(file, "w");
	fputs(s, to);
	fclose(to);
}

static const char *const clusters[] = {"gpu_type,gpus\na,2\nb,3\n",
    "gpu_type,gpus\na,2\n", "gpu_type,gpus\na,0\n", "gpu_type,gpus\na,0\nb,1\nc,3\n",
    "gpu_type,gpus\na,4095\nb,1\n", "gpu_type,gpus\na,4096\nb,1\n",
    "gpu_type,gpus\na,1\nb,1\nc,1\nd,1\n", "gpu_type,gpus\na,1\nb,1\nc,1\nd,1\ne,1\n",
    "gpu_type,gpus\na,1\nb,1\nc,1\nd,1\ne,0\n", "gpu_type\na\n", "gpu_type,gpus\na,x\n",
    "gpu_type,gpus,memory_bytes\na,2,100\nb,3,2000\nc,1,\n",
    "gpu_type,gpus,memory_bytes\na,2,1\nb,3,51\n"};

static const char *const models[] = {
    "node_id,forward_ms,backward_ms,activation_bytes,parameter_bytes,gpu_type\n"
    "x,1,2,3,4,a\ny,5,7,3,4,b\nz,.5,0,3,4,b\n",
    "node_id,forward_ms,backward_ms,activation_bytes,parameter_bytes,gpu_type\n"
    "x,0,0,3,4,a\ny,0,0,3,4,e\nz,0,0,3,4,b\n",
    "node_id,forward_ms,backward_ms,activation_bytes,parameter_bytes\n"
    "x,1,2,3,4\n"};

static const char *const times[] = {NULL, "gpu_type,steps_per_s\na,2\nb,4\n",
    "gpu_type,steps_per_s\na,2\nb,4\nc,1\nd,3\na,5\n",
    "gpu_type,steps_per_s\na,2\nb,1e-12\n", "gpu_type,steps_per_s\na,2\nb,9e-13\n",
    "gpu_type,steps_per_s\na,1e18\nb,1.1e18\n", "gpu_type,steps_per_s\na,\nb,2\n",
    "gpu_type,steps_per_s,scale_factor\nb,1,2\na,2,1\nb,3,1\na,9,2\n",
    "gpu_type,steps_per_s,scale_factor\nb,1,q\na,2,1\n",
    "gpu_type,steps_per_s,job_type\nz,9,p\na,1,q\nb,2,q\n",
    "gpu_type,steps_per_s,job_type\na,1,q\nb,2,p\n", "gpu_type,rate\na,1\n",
    "steps_per_s\n2\n", "gpu_type,node_id,forward_ms\na,x,1\n",
    "gpu_type,node_id,backward_ms\na,x,1\n",
    "gpu_type,node_id,forward_ms,backward_ms\na,x,1,2\na,y,3,4\na,z,5,6\n"
    "b,x,0,.5\nb,y,7,8\nb,z,1e18,0\nq,x,1,1\n",
    "gpu_type,node_id,forward_ms,backward_ms\na,x,1,2\na,y,3,4\nb,z,5,6\n",
    "gpu_type,node_id,forward_ms,backward_ms\na,y,1,2\na,z,3,4\n",
    "gpu_type,node_id,forward_ms,backward_ms\na,x,1,2\na,z,3,4\n",
    "gpu_type,node_id,forward_ms,backward_ms\na,x,1,2\na,x,3,4\na,w,1,1\nb,z,5,6\n",
    "gpu_type,node_id,forward_ms,backward_ms\na,x,1,2\na,w,1,1\na,x,-1,1\n",
    "gpu_type,node_id,forward_ms,backward_ms\na,x,-1,2\na,y,1,1e19\n"};

enum {
	CLUSTERS = sizeof(clusters) / sizeof(clusters[0]),
	MODELS = sizeof(models) / sizeof(models[0]),
	TIMES = sizeof(times) / sizeof(times[0]),
	SPEEDS = 6
};

static void
fleet(const struct gv_fleet *f, size_t n_layers)
{
	size_t t;

	recorded_whole(&r, (long long)f->n);
	recorded_double(&r, f->bytes_per_s);
	recorded_double(&r, f->sum_bytes_per_s);
	for (t = 0; t < f->n; t++) {
		const struct gv_fleet_type *type = &f->type[t];

		recorded_text(&r, type->name);
		recorded_whole(&r, (long long)type->gpus);
		recorded_double(&r, type->memory);
		if (type->time_s != NULL && type->forward_s != NULL) {
			recorded_doubles(&r, type->time_s, n_layers);
			recorded_doubles(&r, type->forward_s, n_layers);
		}
	}
}

/* What the rows say of types, and what the layers take with them. */
static void
ask_types(struct gv_layers *l, const struct gv_fleet *f)
{
	struct gv_stage stage[3] = {{.type = 0}};
	uint32_t of[3] = {0};
	struct gv_plan p = {.n = 3, .stage = stage, .of = of};
	struct gv_error e = {0};
	size_t v, stages = 1 + draw(3);

	for (v = 1; v < l->g.n; v++)
		of[v] = (uint32_t)(v < stages ? v : stages - 1);
	recorded_whole(&r, fleet_read_plan(&p, f, l, &e));
	recorded_error(&r, &e);
	for (v = 0; v < 3; v++)
		recorded_whole(&r, (long long)stage[v].type);
	if (e.count == 0) {
		fleet_apply(&l->g, draw(2) == 0 ? &p : NULL, f);
		for (v = 0; v < l->g.n; v++) {
			recorded_double(&r, l->g.layer[v].time_s);
			recorded_double(&r, l->g.layer[v].forward_s);
		}
	}
}

static void
ask_table(size_t cluster, size_t model, size_t time, size_t speeds)
{
	static const struct fleet_speed speed[SPEEDS][2] = {{{"a", 1, 2}, {"b", 1, .5}},
	    {{"a", 1, 1}, {"b", 1, 1}}, {{"ba", 1, 4}, {"b", 1, .5}},
	    {{"a", 1, 2}, {"e", 1, .5}}, {{"c", 1, 3}, {"a", 1, 7}},
	    {{"ab", 2, 1}, {"a", 1, 1}}};
	struct gv_machine m = {.bytes_per_s = {5}, .sum_bytes_per_s = {3}};
	struct fleet_times how = {
	    .file = times[time] != NULL ? "times.csv" : NULL, .n_speeds = speeds % 3};
	double memory = draw(3) == 0 ? 0 : (double)(50 << draw(6));
	struct gv_layers l = {0};
	struct gv_error e = {0};
	struct fleet_tables t;

	memcpy(how.speed, speed[speeds % SPEEDS], sizeof(speed[0]));
	text("cluster.csv", clusters[cluster]);
	text("layers.csv", models[model]);
	if (times[time] != NULL)
		text("times.csv", times[time]);
	recorded_whole(&r, gv_layers_read(&l, "layers.csv", NULL, &e));
	memset(&t, 1, sizeof(t));
	recorded_whole(&r, fleet_read(&t, "cluster.csv", &how, memory, &m, &l, &e));
	recorded_error(&r, &e);
	fleet(&t.fleet, l.g.n);
	if (e.count == 0)
		ask_types(&l, &t.fleet);
	fleet_tables_free(&t);
	gv_layers_free(&l);
}

static void
ask_tables(void)
{
	char dir[] = "/tmp/fleet.XXXXXX";
	int here = open(".", O_RDONLY | O_DIRECTORY);
	size_t i, k, model;

	draws_begin(2, 44, 1);
	if (here < 0 || mkdtemp(dir) == NULL || chdir(dir) != 0) {
		perror(dir);
		exit(1);
	}
	for (i = 0; i < CLUSTERS; i++) {
		for (k = 0; k < TIMES; k++) {
			model = draw(MODELS);
			ask_table(i, model, k, draw(3 * SPEEDS));
		}
		for (k = 0; k < 3 * SPEEDS; k++) {
			model = draw(MODELS);
			ask_table(i, model, draw(5) == 0 ? draw(TIMES) : 0, k);
		}
		recorded_answer(&r, "cluster %zu", i);
	}
	for (k = 0; k < TIMES; k++) {
		for (i = 0; i < MODELS; i++)
			ask_table(0, i, k, 3 * draw(SPEEDS));
		recorded_answer(&r, "times %zu", k);
	}
	unlink("cluster.csv");
	unlink("layers.csv");
	unlink("times.csv");
	if (fchdir(here) != 0 || rmdir(dir) != 0)
		perror(dir);
	close(here);
}

int
main(void)
{
	recorded_open(&r);
	ask_many(0, 600, 6, 40, 5);
	ask_many(600, 100, 3, 40, 20);
	ask_many(700, 40, 12, 60, 5);
	ask_many(740, 60, 30, 90, 3);
	ask_many(800, 10, 50, 160, 3);
	ask_large(1, 32768);
	ask_large(65, 4095);
	recorded_answer(&r, "many GPUs");
	ask_tables();
	recorded_close(&r);
	return done_testing();
}
