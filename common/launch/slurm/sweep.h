/* What a launch has left on a node, found by its environment. */
#ifndef GV_LAUNCH_SLURM_SWEEP_H
#define GV_LAUNCH_SLURM_SWEEP_H

/*
 * Ends all processes of this user whose GV_LAUNCH_DIR is dir (or begins with it, where dir
 * ends with a slash), and comes back when none is left.  While one of them is a keeper,
 * which stops the others by itself, they have up to grace_s.  0, or -1: some cannot be
 * ended.  Cost: a look at every process, several times.
 */
int gv_slurm_sweep(const char *dir, double grace_s);

#endif
