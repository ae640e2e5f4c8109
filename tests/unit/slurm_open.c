/* common/launch/slurm: how the allocation is found and looked at, by what Slurm's commands say. */
#define _XOPEN_SOURCE 700
#include "tap.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fileio.h"
#include "base/strbuf.h"
#include "launch/slurm/slurm.h"

static char dir[] = "/tmp/gv-slurm.XXXXXX";

/* A command of Slurm that does this; NULL: there is none. */
static void
put(const char *command, const char *does)
{
	struct gv_strbuf path = {0}, text = {0};
	struct gv_error e = {0};

	gv_strbuf_fmt(&path, "%s/bin/%s", dir, command);
	gv_strbuf_fmt(&text, "#!/bin/sh\n%s\n", does != NULL ? does : "");
	unlink(path.s);
	if (does != NULL && (gv_file_write(path.s, text.s, text.len, &e) != 0 ||
				chmod(path.s, 0700) != 0))
		gv_die_error(&e);
	gv_strbuf_free(&path);
	gv_strbuf_free(&text);
}

#define JOB                                                        \
	"echo 'JobId=7 JobState=RUNNING Nodes=n1 CPU_IDs=0 Mem=0 " \
	"GRES=gpu:v100:2(IDX:0-1) Nodes=n2 CPU_IDs=0 Mem=0 "       \
	"GRES=gpu:v100:2(IDX:2-3) X=1'"
#define NODES "printf '%s\\n' 'n1|a1|mix' 'n2|a2|mix'"
#define QUEUE "echo '7|RUNNING|1:00:00|n[1-2]'"
#define PROBES                                                             \
	"for w; do case $w in --worker=probe=*) d=${w#--worker=probe=};; " \
	"esac; done; >$d/probe.n1; >$d/probe.n2\n"

/* Slurm as it should be. */
static void
all_is_well(void)
{
	put("scontrol", JOB);
	put("sinfo", NODES);
	put("squeue", QUEUE);
	put("srun", PROBES "echo 'probe n1 5,4'; echo 'probe n2 '; echo 'probe n3 1'");
}

/* What is found of job (an id or a name), or what is wrong. */
static void
finds(const char *job, const char *want, const char *name)
{
	char state[300];
	struct gv_slurm_options o = {.job = job, .dir = state};
	struct gv_strbuf got = {0};
	struct gv_slurm *s;
	struct gv_error e = {0};
	size_t i, k;

	snprintf(state, sizeof(state), "%s/launches", dir);
	if (gv_slurm_open(&s, &o, &e) != 0) {
		gv_strbuf_str(&got, e.text[0]);
	} else {
		const struct gv_slurm_allocation *a = gv_slurm_allocation(s);

		gv_strbuf_fmt(&got, "%s:", a->job[0]);
		for (i = 0; i < a->n_nodes; i++) {
			gv_strbuf_fmt(
			    &got, " %s %s", a->node[i].name, a->node[i].address);
			for (k = 0; k < a->node[i].n_gpus; k++)
				gv_strbuf_fmt(&got, " %d", a->node[i].gpu[k].id);
		}
	}
	gv_slurm_close(s);
	is_str(got.s, want, "%s", name);
	gv_strbuf_free(&got);
}

static void
test_job(void)
{
	all_is_well();
	finds("7", "7: n1 a1 5 4 n2 a2 2 3",
	    "GPUs are those that tasks see, or Slurm's own");
	unsetenv("SLURM_JOB_ID");
	finds(NULL,
	    "this is no allocation of Slurm's (SLURM_JOB_ID is not set): say which with "
	    "--slurm-job",
	    "no job");
	setenv("SLURM_JOB_ID", "", 1);
	finds(NULL,
	    "this is no allocation of Slurm's (SLURM_JOB_ID is not set): say which with "
	    "--slurm-job",
	    "or one without a number");
	setenv("SLURM_JOB_ID", "7", 1);
	finds(NULL, "7: n1 a1 5 4 n2 a2 2 3", "the job that we are in");
}

static void
test_named(void)
{
	all_is_well();
	put("squeue", "[ $5 = train ] && { echo 7; echo 7; } || " QUEUE);
	finds("train", "7: n1 a1 5 4 n2 a2 2 3", "a job by its name");
	put("squeue", "echo 7; echo 77");
	finds("train", "Slurm runs several jobs \"train\": which one, say by its id",
	    "two of that name");
	put("squeue", "echo 7; echo 8");
	finds("train", "Slurm runs several jobs \"train\": which one, say by its id",
	    "of as many digits");
	put("squeue", ":");
	finds("train", "Slurm runs no job \"train\" of yours", "none of that name");
	put("squeue",
	    "echo slurm: warning; echo slurm_load_jobs error: Invalid user >&2; exit 1");
	finds("train", "squeue: slurm_load_jobs error: Invalid user",
	    "a command that fails: its last line");
	put("squeue", NULL);
	finds("train", "squeue: Slurm's commands are not here", "that is not there");
}

static void
test_commands(void)
{
	all_is_well();
	put("scontrol", ":");
	finds("7", "job 7: no Slurm job runs there", "nothing is said of the job");
	put("scontrol", "echo slurm_load_jobs error: Invalid job id specified; exit 1");
	finds("7", "scontrol: slurm_load_jobs error: Invalid job id specified",
	    "there is none");
	all_is_well();
	put("sinfo", ":");
	finds("7", "7: n1 n1 5 4 n2 n2 2 3", "no addresses: names are");
	all_is_well();
	put("scontrol",
	    "[ -e $0.was ] || { >$0.was; echo Unable to contact slurm controller; "
	    "exit 1; }\n" JOB);
	finds("7", "7: n1 a1 5 4 n2 a2 2 3", "a controller that is away for a moment");
	put("sinfo", "exit 3");
	finds("7", "sinfo: ", "an error without words");
	all_is_well();
	put("srun", PROBES ":");
	finds("7", "node n1: the probe has said nothing", "a step that says nothing");
	put("srun", PROBES "echo 'probe n1 0'");
	finds("7", "node n2: the probe has said nothing", "or nothing of one node");
	put("srun", "echo srun: error: Requested node is not there; exit 1");
	finds(
	    "7", "srun: srun: error: Requested node is not there", "one that cannot be");
}

static void
test_apart(void)
{
	struct gv_strbuf want = {0};

	all_is_well();
	put("srun", "echo 'probe n1 0,1'; echo 'probe n2 0,1'");
	gv_strbuf_fmt(&want,
	    "node n1 does not see %s/launches: the state must be on a file system that "
	    "all "
	    "nodes share",
	    dir);
	finds("7", want.s, "nodes that do not see the state");
	gv_strbuf_free(&want);
}

int
main(void)
{
	char path[500];
	struct gv_error e = {0};

	gv_init("slurm_open");
	if (mkdtemp(dir) == NULL)
		gv_die_sys("%s", dir);
	snprintf(path, sizeof(path), "%s/bin", dir);
	if (mkdir(path, 0700) != 0)
		gv_die_sys("%s", path);
	/* none of a Slurm that is here */
	setenv("PATH", path, 1);
	test_job();
	test_named();
	test_commands();
	test_apart();
	gv_remove_tree(dir, &e);
	return done_testing();
}
