/*
 * The launcher that runs workers in an allocation of Slurm: one allocation, one step for
 * each launch, one task for each of its nodes.
 *
 * Process model.  A launch is an srun, child of this process, whose standard input is a
 * pipe of ours; Slurm starts "PROGRAM --worker" on each of its nodes, which starts the
 * node's workers as launch/local does, with a guard and a keeper.  A byte on the pipe
 * reaches every node: stop (GV_TELL_STOP) or kill (GV_TELL_KILL); its end, should this
 * process or srun die, says stop, too.  So workers save themselves whoever goes away,
 * and their children, those of a DataLoader say, are theirs to tell; nothing is sent
 * through slurmctld.
 *
 * What a launch has come to stands in a directory of its own below the state, which all
 * nodes see: here.NODE (a worker program began), up (the first node's workers run), port
 * (MASTER_PORT, chosen on the first node), left.NODE (all have left there: the status).  A
 * directory that is taken away stops the workers that still belong to it.  Where
 * files of nodes lack when srun has gone, a step cleans these nodes up before the launch
 * is over: it kills what has GV_LAUNCH_DIR in its environment.
 *
 * Not started, no fault of the job's: the step could not be made.  Lost, no fault either:
 * a node failed, or srun, its daemons or Slurm itself ended the workers.  Left with 137:
 * the system ran out of memory, or the workers were killed when their grace was over.
 */
#ifndef GV_LAUNCH_SLURM_SLURM_H
#define GV_LAUNCH_SLURM_SLURM_H

#include "launch/launch.h"
#include "launch/slurm/allocation.h"

struct gv_slurm;

struct gv_slurm_options {
	const char *job;       /* id or name; NULL = that of SLURM_JOB_ID */
	const char *dir;       /* absolute, seen by all nodes: launches are told there */
	bool (*stopped)(void); /* whether gv_slurm_clean is to give up; NULL = never */
};

/*
 * Finds the allocation and looks at its nodes: a step on each shows which GPUs a task
 * has there, and that it sees the directory.  0, or -1 with *e set.  The worker program is
 * this one, called with --worker.
 */
int gv_slurm_open(
    struct gv_slurm **s, const struct gv_slurm_options *o, struct gv_error *e);
/*
 * Ends what launches of a process before have left on the nodes; nobody else may use the
 * directory by then.  0, also when it was stopped meanwhile: they end by themselves then;
 * or -1 with *e set.
 */
int gv_slurm_clean(struct gv_slurm *s, struct gv_error *e);
void gv_slurm_close(struct gv_slurm *s); /* NULL is allowed */

const struct gv_launcher *gv_slurm_launcher(const struct gv_slurm *s);
const struct gv_slurm_allocation *gv_slurm_allocation(const struct gv_slurm *s);

/*
 * The other side, what PROGRAM --worker does on a node, where mode is "work", "probe" or
 * "sweep": its exit status.
 */
int gv_slurm_worker(const char *mode);

#endif
