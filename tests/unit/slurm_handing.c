/*
 * What a launch is told through the environment of srun comes to its workers as it was, and out
 * of their environment; small files by which they answer.
 */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "draws.h"
#include "launch/slurm/core.h"
#include "tap.h"

enum { MOST = 8 };

static const char *const node_name[] = {"n1", "node-22", "c.example"};

struct launch {
	struct gv_launch_spec spec;
	int gpus[MOST];
	const char *node[MOST];
};

/* A word of letters, digits and what shells and tables take apart; never empty. */
static char *
word(void)
{
	static const char of[] = "abcXYZ019 =;,\"'$\\\n\t/:%";
	size_t n = 1 + below(12), i;
	char *s = gv_xcalloc(n + 1, 1);

	for (i = 0; i < n; i++)
		s[i] = of[below(sizeof(of) - 1)];
	return s;
}

static char *
perhaps(void)
{
	return uniform() < .3 ? NULL : word();
}

static void
random_launch(struct launch *l)
{
	size_t at = below(3), i;

	*l =
	    (struct launch){.spec = {.job_id = word(),
				.command = word(),
				.working_directory = perhaps(),
				.gpu_type = word(),
				.gpus = l->gpus,
				.node = l->node,
				.n_gpus = 1 + below(MOST),
				.threads = (int)below(9),
				.checkpoint_dir = word(),
				.progress = word(),
				.log = perhaps(),
				.total_steps = uniform() < .3 ? NAN : 1e6 * uniform() / 3,
				.round = (int64_t)below(100) - 1,
				.restart_count = (int)below(5),
				.grace_s = 100 * uniform() / 7,
				.clean_env = uniform() < .5,
				.keep_fd = 3}};
	for (i = 0; i < l->spec.n_gpus; i++) {
		if (i > 0 && uniform() < .4)
			at = (at + 1) % 3;
		l->node[i] = node_name[at];
		l->gpus[i] = (int)(i > 0 && l->node[i] == l->node[i - 1]
				       ? (size_t)l->gpus[i - 1] + 1 + below(3)
				       : below(20));
	}
}

static void
forget(struct launch *l)
{
	free((void *)(uintptr_t)l->spec.job_id);
	free((void *)(uintptr_t)l->spec.command);
	free((void *)(uintptr_t)l->spec.working_directory);
	free((void *)(uintptr_t)l->spec.gpu_type);
	free((void *)(uintptr_t)l->spec.checkpoint_dir);
	free((void *)(uintptr_t)l->spec.progress);
	free((void *)(uintptr_t)l->spec.log);
}

static bool
same(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool
same_gpus(const struct gv_launch_spec *a, const struct gv_launch_spec *b)
{
	size_t i;

	for (i = 0; i < a->n_gpus && i < b->n_gpus; i++)
		if (a->gpus[i] != b->gpus[i] || strcmp(a->node[i], b->node[i]) != 0)
			return false;
	return a->n_gpus == b->n_gpus;
}

static bool
same_numbers(const struct gv_launch_spec *a, const struct gv_launch_spec *b)
{
	bool steps = isnan(a->total_steps) ? isnan(b->total_steps)
					   : !(a->total_steps < b->total_steps ||
						 a->total_steps > b->total_steps);

	return steps && a->threads == b->threads && a->round == b->round &&
	       a->restart_count == b->restart_count && !(a->grace_s < b->grace_s) &&
	       !(a->grace_s > b->grace_s) && a->clean_env == b->clean_env;
}

static size_t
count(char *const *env, const char *prefix)
{
	size_t n = 0;

	for (; *env != NULL; env++)
		n += strncmp(*env, prefix, strlen(prefix)) == 0;
	return n;
}

/* Puts all of env into this process's, as execve would. */
static void
enter(char *const *env)
{
	size_t i;

	for (i = 0; env[i] != NULL; i++) {
		char *name = gv_xstrdup(env[i]);

		name[strcspn(name, "=")] = '\0';
		setenv(name, strchr(env[i], '=') + 1, 1);
		free(name);
	}
}

extern char **environ;

static void
test_round_trip(void)
{
	static char old[] = "GV_WORKER_JOB=old", other[] = "HANDED=1";
	static char *const before[] = {old, other, NULL};
	size_t k, texts = 0, numbers = 0, gpus = 0, left = 0, taken = 0;

	for (k = 0; k < 300; k++) {
		char *dir = word(), *addr = word(), *key = perhaps();
		struct gv_launch_meeting m = {.addr = addr};
		struct gv_handing h;
		struct launch l;
		const struct gv_launch_spec *is = &h.spec, *want = &l.spec;
		char **env;

		random_launch(&l);
		snprintf(m.key, sizeof(m.key), "%s", key != NULL ? key : "");
		env = gv_handing_env(before, want, &m, dir);
		left += count(env, "GV_WORKER_JOB=") != 1 || count(env, "HANDED=1") != 1;
		enter(env);
		gv_launch_env_free(env);
		setenv("SLURMD_NODENAME", "here", 1);
		taken += gv_handing_take(&h) == 0;
		texts += same(is->job_id, want->job_id) &&
			 same(is->command, want->command) &&
			 same(is->working_directory, want->working_directory) &&
			 same(is->gpu_type, want->gpu_type) && same(is->here, "here") &&
			 same(is->checkpoint_dir, want->checkpoint_dir) &&
			 same(is->progress, want->progress) && same(is->log, want->log) &&
			 same(is->master_addr, addr) && same(is->gang_key, key) &&
			 same(h.dir, dir);
		numbers += same_numbers(is, want) && is->keep_fd == -1;
		gpus += same_gpus(is, want);
		left += count(environ, "GV_WORKER_");
		free(h.text);
		free((void *)(uintptr_t)h.spec.gpus);
		free((void *)(uintptr_t)h.spec.node);
		forget(&l);
		free(dir);
		free(addr);
		free(key);
	}
	is_int(taken, 300, "launches are taken");
	is_int(texts, 300, "words are as they were");
	is_int(numbers, 300, "numbers are");
	is_int(gpus, 300, "and GPUs and their nodes, in order");
	is_int(left, 0, "nothing of them is left in the environment");
}

/* GPUs in order of ranks, nodes named once for those that follow each other. */
static void
test_gpus(void)
{
	static const char *const node[] = {"n1", "n1", "n2", "n1", "n1", "n1"};
	static const int gpu[] = {0, 3, 1, 7, 5, 11};
	char *const none[] = {NULL};
	struct gv_launch_meeting m = {.addr = "n1"};
	struct launch l;
	char **env;

	random_launch(&l);
	memcpy(l.node, node, sizeof(node));
	memcpy(l.gpus, gpu, sizeof(gpu));
	l.spec.n_gpus = 6;
	env = gv_handing_env(none, &l.spec, &m, "dir");
	is_int((long long)count(env, "GV_WORKER_GPUS=n1=0,3;n2=1;n1=7,5,11"), 1,
	    "GPUs of nodes");
	gv_launch_env_free(env);
	forget(&l);
}

/* Without one of what each launch has there is none. */
static void
test_lacking(void)
{
	static const char *const name[] = {"GV_LAUNCH_DIR", "GV_WORKER_GPUS",
	    "GV_WORKER_JOB", "GV_WORKER_COMMAND", "GV_WORKER_TYPE", "GV_WORKER_ADDR",
	    "GV_WORKER_CHECKPOINTS", "GV_WORKER_PROGRESS", "SLURMD_NODENAME"};
	static const char *const gpus[] = {"", ";", "n1", "n1=1;n2", ";;"};
	char *const none[] = {NULL};
	struct gv_launch_meeting m = {.addr = "n1"};
	struct gv_handing h;
	struct launch l;
	size_t i, refused = 0;

	random_launch(&l);
	for (i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
		char **env = gv_handing_env(none, &l.spec, &m, "dir");

		enter(env);
		gv_launch_env_free(env);
		setenv("SLURMD_NODENAME", "here", 1);
		unsetenv(name[i]);
		refused += gv_handing_take(&h) == -1;
		free(h.text);
		free((void *)(uintptr_t)h.spec.gpus);
		free((void *)(uintptr_t)h.spec.node);
	}
	is_int(refused, sizeof(name) / sizeof(name[0]),
	    "each of what a launch has is needed");
	setenv("SLURMD_NODENAME", "here", 1);
	for (i = refused = 0; i < sizeof(gpus) / sizeof(gpus[0]); i++) {
		setenv("GV_WORKER_GPUS", gpus[i], 1);
		refused += gv_handing_take(&h) == -1;
		free(h.text);
		free((void *)(uintptr_t)h.spec.gpus);
		free((void *)(uintptr_t)h.spec.node);
	}
	is_int(refused, sizeof(gpus) / sizeof(gpus[0]), "and GPUs on a node");
	forget(&l);
}

static void
test_files(void)
{
	char dir[] = "/tmp/gv-handing.XXXXXX", *path, *s;
	struct stat st;

	if (mkdtemp(dir) == NULL)
		gv_die("%s: %s", dir, strerror(errno));
	ok(!gv_slurm_file_there(dir, "left", "n1"), "no file yet");
	ok(gv_slurm_file_get(dir, "left", "n1") == NULL, "nor what it says");
	is_int(gv_slurm_file_put(dir, "left", "n1", "0 1 own\n"), 0, "it is written");
	is_int(gv_slurm_file_put(dir, "left", "n1", "7 told\n"), 0, "and anew");
	is_int(gv_slurm_file_put(dir, "left", NULL, ""), 0, "another one, empty");
	s = gv_slurm_file_get(dir, "left", "n1");
	is_str(s, "7 told\n", "what was written last");
	free(s);
	s = gv_slurm_file_get(dir, "left", NULL);
	is_str(s, "", "nothing in the other one");
	free(s);
	ok(gv_slurm_file_there(dir, "left", "n1") &&
		gv_slurm_file_there(dir, "left", NULL),
	    "both are there");
	path = gv_slurm_path(dir, "left", "n1");
	ok(strncmp(path, dir, strlen(dir)) == 0, "in the directory");
	is_str(path + strlen(dir), "/left.n1", "by its name and its node's");
	ok(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600, "nobody else's to read");
	unlink(path);
	free(path);
	path = gv_slurm_path(dir, "left", NULL);
	unlink(path);
	free(path);
	is_int(rmdir(dir), 0, "nothing beside them is left");
	is_int(gv_slurm_file_put(dir, "left", "n1", ""), -1, "not where no directory is");
}

int
main(void)
{
	draws_begin(5, 1, 2);
	test_round_trip();
	test_gpus();
	test_lacking();
	test_files();
	return done_testing();
}
