/*
 * What a launch leaves behind whose guard and keeper were both killed: its processes become
 * children of the launcher's, which has asked for them, and are ended there.
 */
#ifndef GV_LAUNCH_LOCAL_STRAYS_H
#define GV_LAUNCH_LOCAL_STRAYS_H

#include <stddef.h>

/*
 * From now on orphans below this process become its children (Linux; elsewhere they become
 * init's, and nothing is found).
 */
void gv_strays_adopt(void);

/*
 * Kills the orphans of launches and waits for those that have gone: children of another session
 * than ours that are no guard and no living keeper.  How many are left; what these leave behind
 * becomes a child when they go, so ask until none is.
 */
size_t gv_strays_end(void);

#endif
