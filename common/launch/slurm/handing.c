/* A launch in variables of the environment: to srun's, and out of a worker's. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "launch/slurm/core.h"

#define PREFIX "GV_WORKER_"

struct env {
	char **s;
	size_t n, cap;
};

static void
set(struct env *env, const char *name, const char *value)
{
	struct gv_strbuf b = {0};

	gv_strbuf_fmt(&b, "%s=%s", name, value);
	env->s = gv_xgrow(env->s, &env->cap, env->n + 2, sizeof(*env->s));
	env->s[env->n++] = b.s;
	env->s[env->n] = NULL;
}

static void
set_int(struct env *env, const char *name, int64_t value)
{
	char buf[GV_NUM_LEN];

	gv_format_int(buf, value);
	set(env, name, buf);
}

static void
set_double(struct env *env, const char *name, double value)
{
	char buf[64];

	snprintf(buf, sizeof(buf), "%.17g", value);
	set(env, name, buf);
}

/* The GPUs, rank by rank: "n1=0,1;n2=3". */
static void
set_gpus(struct env *env, const struct gv_launch_spec *spec)
{
	struct gv_strbuf b = {0};
	size_t i;

	for (i = 0; i < spec->n_gpus; i++)
		if (i > 0 && strcmp(spec->node[i], spec->node[i - 1]) == 0)
			gv_strbuf_fmt(&b, ",%d", spec->gpus[i]);
		else
			gv_strbuf_fmt(&b, "%s%s=%d", i > 0 ? ";" : "", spec->node[i],
			    spec->gpus[i]);
	set(env, PREFIX "GPUS", b.s);
	gv_strbuf_free(&b);
}

char **
gv_handing_env(char *const *env, const struct gv_launch_spec *spec,
    const struct gv_launch_meeting *m, const char *dir)
{
	struct env out = {0};
	size_t i;

	for (i = 0; env[i] != NULL; i++) {
		if (strncmp(env[i], PREFIX, sizeof(PREFIX) - 1) == 0)
			continue;
		out.s = gv_xgrow(out.s, &out.cap, out.n + 2, sizeof(*out.s));
		out.s[out.n++] = gv_xstrdup(env[i]);
		out.s[out.n] = NULL;
	}
	set(&out, "GV_LAUNCH_DIR", dir);
	set(&out, PREFIX "JOB", spec->job_id);
	set(&out, PREFIX "COMMAND", spec->command);
	if (spec->working_directory != NULL)
		set(&out, PREFIX "DIRECTORY", spec->working_directory);
	set(&out, PREFIX "TYPE", spec->gpu_type);
	set_gpus(&out, spec);
	set(&out, PREFIX "ADDR", m->addr);
	if (m->key[0] != '\0')
		set(&out, PREFIX "KEY", m->key);
	set_int(&out, PREFIX "THREADS", spec->threads);
	set(&out, PREFIX "CHECKPOINTS", spec->checkpoint_dir);
	set(&out, PREFIX "PROGRESS", spec->progress);
	if (spec->log != NULL)
		set(&out, PREFIX "LOG", spec->log);
	if (!isnan(spec->total_steps))
		set_double(&out, PREFIX "STEPS", spec->total_steps);
	set_int(&out, PREFIX "ROUND", spec->round);
	set_int(&out, PREFIX "RESTARTS", spec->restart_count);
	set_double(&out, PREFIX "GRACE", spec->grace_s);
	set_int(&out, PREFIX "CLEAN", spec->clean_env);
	return out.s;
}

/* ---- taken ---- */

static const char *
take(const char *name)
{
	char full[64];

	snprintf(full, sizeof(full), PREFIX "%s", name);
	return getenv(full);
}

static int64_t
take_int(const char *name)
{
	const char *s = take(name);
	int64_t v = 0;

	if (s == NULL || gv_parse_int(s, strlen(s), &v) != 0)
		return 0;
	return v;
}

static double
take_double(const char *name, double otherwise)
{
	const char *s = take(name);

	return s != NULL ? strtod(s, NULL) : otherwise;
}

/* "n1=0,1;n2=3" into a list of GPUs.  0 or -1. */
static int
take_gpus(struct gv_handing *h, const char *s)
{
	size_t n = strlen(s), i = 0;
	char *at, *save = NULL;

	h->text = gv_xstrdup(s);
	h->gpus = gv_xcalloc(n + 1, sizeof(*h->gpus));
	h->node = gv_xcalloc(n + 1, sizeof(*h->node));
	for (at = strtok_r(h->text, ";", &save); at != NULL;
	     at = strtok_r(NULL, ";", &save)) {
		char *id = strchr(at, '=');

		if (id == NULL)
			return -1;
		*id = '\0';
		do {
			h->node[i] = at;
			h->gpus[i++] = (int)strtol(id + 1, &id, 10);
		} while (*id == ',');
	}
	h->spec.gpus = h->gpus;
	h->spec.node = h->node;
	h->spec.n_gpus = i;
	return i > 0 ? 0 : -1;
}

/* Takes the variables out of the environment, whose strings stay: pointers to them are good. */
static void
forget(void)
{
	static const char *const name[] = {"JOB", "COMMAND", "DIRECTORY", "TYPE", "GPUS",
	    "ADDR", "KEY", "THREADS", "CHECKPOINTS", "PROGRESS", "LOG", "STEPS", "ROUND",
	    "RESTARTS", "GRACE", "CLEAN"};
	char full[64];
	size_t i;

	for (i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
		snprintf(full, sizeof(full), PREFIX "%s", name[i]);
		unsetenv(full);
	}
}

int
gv_handing_take(struct gv_handing *h)
{
	const char *gpus = take("GPUS");

	*h = (struct gv_handing){.dir = getenv("GV_LAUNCH_DIR")};
	h->spec = (struct gv_launch_spec){.job_id = take("JOB"),
	    .command = take("COMMAND"),
	    .working_directory = take("DIRECTORY"),
	    .gpu_type = take("TYPE"),
	    .here = getenv("SLURMD_NODENAME"),
	    .master_addr = take("ADDR"),
	    .gang_key = take("KEY"),
	    .threads = (int)take_int("THREADS"),
	    .checkpoint_dir = take("CHECKPOINTS"),
	    .progress = take("PROGRESS"),
	    .log = take("LOG"),
	    .total_steps = take_double("STEPS", NAN),
	    .round = take_int("ROUND"),
	    .restart_count = (int)take_int("RESTARTS"),
	    .grace_s = take_double("GRACE", 0),
	    .clean_env = take_int("CLEAN") != 0,
	    .keep_fd = -1};
	if (h->dir == NULL || gpus == NULL || take_gpus(h, gpus) != 0 ||
	    h->spec.job_id == NULL || h->spec.command == NULL ||
	    h->spec.gpu_type == NULL || h->spec.here == NULL ||
	    h->spec.master_addr == NULL || h->spec.checkpoint_dir == NULL ||
	    h->spec.progress == NULL)
		return -1;
	forget();
	return 0;
}
