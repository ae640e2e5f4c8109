/*
 * The GPUs of this node while a run goes on: which NVML says are lost.
 *
 * NVML is asked by a process of its own, every half minute, so that a driver that hangs
 * holds nobody up; where there is no driver it is asked once.
 */
#ifndef GV_LAUNCH_LOCAL_SITE_H
#define GV_LAUNCH_LOCAL_SITE_H

#include "launch/launch.h"

/* As gv_launch_look and gv_launch_usable have it.  One run a process. */
void gv_local_look(const struct gv_launcher *by, bool soon, struct gv_launch_site *site);
bool gv_local_usable(
    const struct gv_launcher *by, const char *node, int gpu, const char **why);

#endif
