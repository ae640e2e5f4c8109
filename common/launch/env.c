/* The environment of a worker. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fileio.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/strbuf.h"
#include "launch/launcher.h"

extern char **environ;

/* Variables that are the launcher's to set: never inherited. */
static const char *const own[] = {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER",
    "GV_GPU_TYPE", "GV_GPUS", "GV_THREADS", "GV_JOB_ID", "GV_ROUND", "GV_TOTAL_STEPS",
    "GV_CHECKPOINT_DIR", "GV_PROGRESS", "RANK", "LOCAL_RANK", "WORLD_SIZE",
    "LOCAL_WORLD_SIZE", "GROUP_RANK", "GROUP_WORLD_SIZE", "ROLE_NAME", "ROLE_RANK",
    "ROLE_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RESTART_COUNT",
    "TORCHELASTIC_MAX_RESTARTS", "TORCHELASTIC_RUN_ID", "GV_GANG_KEY",
    /* these would tell a worker that an agent of torchrun serves it */
    "TORCHELASTIC_USE_AGENT_STORE", "TORCHELASTIC_ERROR_FILE",
    /* set anew, so that they lead to the data of this gv */
    "GV_DATA", "PYTHONPATH"};

static const char *const clean[] = {"PATH", "HOME", "LANG", "TZ", "USER",
    "GV_LAUNCH_DIR"}; /* by which what a launch leaves on a node of Slurm is found */

struct env {
	char **s;
	size_t n;
	size_t cap;
};

static bool
is_one_of(const char *entry, const char *const *names, size_t n)
{
	size_t len = strcspn(entry, "=");
	size_t i;

	for (i = 0; i < n; i++)
		if (strlen(names[i]) == len && memcmp(names[i], entry, len) == 0)
			return true;
	return false;
}

static void
add(struct env *env, char *entry)
{
	env->s = gv_xgrow(env->s, &env->cap, env->n + 2, sizeof(*env->s));
	env->s[env->n++] = entry;
	env->s[env->n] = NULL;
}

static void
set(struct env *env, const char *name, const char *value)
{
	size_t len;
	char *entry;

	if (value == NULL)
		return;
	len = strlen(name) + strlen(value) + 2;
	entry = gv_xcalloc(len, 1);
	snprintf(entry, len, "%s=%s", name, value);
	add(env, entry);
}

static void
set_int(struct env *env, const char *name, int64_t value)
{
	char buf[GV_NUM_LEN];

	gv_format_int(buf, value);
	set(env, name, buf);
}

static void
inherit(struct env *env, const struct gv_launch_spec *spec)
{
	size_t n_own = sizeof(own) / sizeof(own[0]);
	bool threads = spec->threads > 0;
	char **p;

	for (p = environ; p != NULL && *p != NULL; p++) {
		if (is_one_of(*p, own, n_own) ||
		    (threads && strncmp(*p, "OMP_NUM_THREADS=", 16) == 0))
			continue;
		if (spec->clean_env &&
		    !is_one_of(*p, clean, sizeof(clean) / sizeof(clean[0])))
			continue;
		add(env, gv_xstrdup(*p));
	}
}

/* Where a rank is: its node, the first rank there and how many there are. */
struct place {
	size_t node, nodes;
	size_t first, n;
};

static bool
same_node(const struct gv_launch_spec *spec, size_t a, size_t b)
{
	return spec->node == NULL || strcmp(spec->node[a], spec->node[b]) == 0;
}

static struct place
place_of(const struct gv_launch_spec *spec, size_t rank)
{
	struct place p = {0};
	size_t first = 0, i;

	for (i = 1; i <= spec->n_gpus; i++) {
		if (i < spec->n_gpus && same_node(spec, i, first))
			continue;
		if (first <= rank && rank < i)
			p = (struct place){p.nodes, p.nodes, first, i - first};
		p.nodes++;
		first = i;
	}
	return p;
}

static void
set_gpus(struct env *env, const struct gv_launch_spec *spec, const struct place *p,
    const char *name, char separator)
{
	struct gv_strbuf list = {0};
	size_t i;

	for (i = 0; i < p->n; i++) {
		if (i > 0)
			gv_strbuf_char(&list, separator);
		gv_strbuf_fmt(&list, "%d", spec->gpus[p->first + i]);
	}
	set(env, name, list.s != NULL ? list.s : "");
	gv_strbuf_free(&list);
}

static void
set_devices(struct env *env, const struct gv_launch_spec *spec, const struct place *p)
{
	set(env, "GV_GPU_TYPE", spec->gpu_type);
	set_gpus(env, spec, p, "GV_GPUS", ';');
	if (spec->threads > 0) {
		set_int(env, "GV_THREADS", spec->threads);
		set_int(env, "OMP_NUM_THREADS", spec->threads);
		set(env, "CUDA_VISIBLE_DEVICES", "");
	} else {
		set_gpus(env, spec, p, "CUDA_VISIBLE_DEVICES", ',');
		set(env, "CUDA_DEVICE_ORDER", "PCI_BUS_ID");
	}
}

static void
set_ranks(struct env *env, const struct gv_launch_spec *spec, size_t rank,
    const struct place *p)
{
	set_int(env, "RANK", (int64_t)rank);
	set_int(env, "WORLD_SIZE", (int64_t)spec->n_gpus);
	set_int(env, "LOCAL_RANK", (int64_t)(rank - p->first));
	set_int(env, "LOCAL_WORLD_SIZE", (int64_t)p->n);
	set_int(env, "GROUP_RANK", (int64_t)p->node);
	set_int(env, "GROUP_WORLD_SIZE", (int64_t)p->nodes);
	set(env, "ROLE_NAME", "default");
	set_int(env, "ROLE_RANK", (int64_t)rank);
	set_int(env, "ROLE_WORLD_SIZE", (int64_t)spec->n_gpus);
	set(env, "TORCHELASTIC_RUN_ID", spec->job_id);
	set_int(env, "TORCHELASTIC_RESTART_COUNT", spec->restart_count);
	set_int(env, "TORCHELASTIC_MAX_RESTARTS", spec->restart_count);
}

/* Where the worker finds what is shipped with gv; its Python modules behind the user's own. */
static void
set_data(struct env *env, const struct gv_launch_spec *spec)
{
	const char *data = gv_data_dir();
	const char *own_path = spec->clean_env ? NULL : getenv("PYTHONPATH");
	struct gv_strbuf path = {0};

	set(env, "GV_DATA", data);
	if (own_path != NULL && own_path[0] != '\0')
		gv_strbuf_fmt(&path, "%s:", own_path);
	gv_strbuf_str(&path, data);
	set(env, "PYTHONPATH", path.s);
	gv_strbuf_free(&path);
}

static void
set_meeting(struct env *env, const struct gv_launch_meeting *m)
{
	set(env, "MASTER_ADDR", m->addr);
	set_int(env, "MASTER_PORT", m->port);
	if (m->key[0] != '\0')
		set(env, "GV_GANG_KEY", m->key);
}

char **
gv_launch_env(
    const struct gv_launch_spec *spec, size_t rank, const struct gv_launch_meeting *m)
{
	struct place p = place_of(spec, rank);
	struct env env = {0};
	char buf[GV_NUM_LEN];

	inherit(&env, spec);
	set_data(&env, spec);
	set_devices(&env, spec, &p);
	set(&env, "GV_JOB_ID", spec->job_id);
	if (spec->round >= 0)
		set_int(&env, "GV_ROUND", spec->round);
	if (isfinite(spec->total_steps)) {
		/* whole numbers plainly: a shell script cannot read 1e+15 */
		if (spec->total_steps == floor(spec->total_steps) &&
		    fabs(spec->total_steps) < 9e18)
			gv_format_int(buf, (int64_t)spec->total_steps);
		else
			gv_format_double(buf, spec->total_steps);
		set(&env, "GV_TOTAL_STEPS", buf);
	}
	set(&env, "GV_CHECKPOINT_DIR", spec->checkpoint_dir);
	set(&env, "GV_PROGRESS", spec->progress);
	set_ranks(&env, spec, rank, &p);
	set_meeting(&env, m);
	return env.s;
}

void
gv_launch_env_free(char **env)
{
	size_t i;

	for (i = 0; env != NULL && env[i] != NULL; i++)
		free(env[i]);
	free(env);
}
