/* What gv-partition says of its options, planner by planner. */
#ifndef GV_PARTITION_HELP_H
#define GV_PARTITION_HELP_H

#include "options.h"

struct help {
	const char *usage; /* one line, behind a usage error */
	const char *help;  /* a screen */
};
extern const struct help planner_help[PLANNERS];

#endif
