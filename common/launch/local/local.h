/*
 * The launcher that runs workers on this node.
 *
 * Process model.  A launch forks a guard, which forks a keeper, which starts
 * scale_factor workers ("sh -c command"), all in one process group of their own,
 * and waits for them.  The keeper is a child subreaper (on Linux; elsewhere only
 * the group is looked after), so also descendants that left the group are found.
 * When it is told to stop, or when the launcher's process goes away for whatever
 * reason (end of file on the control socket), the keeper sends SIGTERM to the
 * workers, waits up to grace seconds, sends SIGKILL to everything left, reaps it
 * all and leaves.  So no process outlives the launcher by more than the grace time.
 *
 * The guard only waits.  When the keeper is killed (out of memory, kill -9), all it
 * leaves behind becomes the guard's, which kills it; when the guard is killed the
 * keeper is told and stops.  The launcher hears that a launch has left when both
 * are gone.  If both are killed at once, workers die with them, but not what they
 * started.  Their names are gv-guard and gv-keeper, so that "pkill gv-run" does not
 * mean them.
 *
 * A worker's children are the worker's to tell (those of a PyTorch DataLoader
 * must live until the checkpoint is written); they get their SIGTERM when their
 * own parent is gone, so "cd d && python train.py" may be a command.  Whatever
 * runs on when the workers have left is stopped the same way.  When a worker of
 * a gang fails, the others are stopped.
 *
 * Guard and keeper are in sessions of their own and ignore what a terminal
 * sends: only their launcher decides.  Of its descriptors they keep only keep_fd: a
 * lock of the open file held through it is released when the last worker is gone; the
 * workers have none but 0 (/dev/null), 1 and 2 (the log), all signals at their
 * defaults, and die with a keeper that is killed.
 */
#ifndef GV_LAUNCH_LOCAL_H
#define GV_LAUNCH_LOCAL_H

#include <sys/types.h>

#include "launch/launch.h"

extern const struct gv_launcher gv_launch_local;

/* The guard of a launch, whose child is the keeper: for tests, which kill them. */
pid_t gv_launch_local_guard(const struct gv_launch *l);

#endif
