/*
 * Processes that train the same model while it is measured, as other stages will: those that
 * are not measured now, since what they leave of the memory's bandwidth is not the same, and
 * stages of two processes that go through them on their own keep step for seconds.
 */
#ifndef GV_PROFILE_BESIDE_H
#define GV_PROFILE_BESIDE_H

#include <sys/types.h>

#include "layer_times.h"

/* = {0} before beside_start */
struct beside {
	pid_t *pid; /* [n] */
	size_t n;
	_Atomic size_t *stage_now; /* shared with them; NULL without any */
};

/*
 * Starts n processes that train m until they are stopped, or this process has gone.  Before
 * threads are.  rule is then to be measured by: its stage_now is theirs.  0, or -1 with *e set;
 * beside_stop also then.
 */
int beside_start(struct beside *b, size_t n, const struct gv_model *m,
    struct times_rule *rule, struct gv_error *e);
/* Which of some stages, two at least, process i trains while one is measured: others in turn. */
size_t beside_stage(size_t measured, size_t i, size_t stages);
/* false: one of them could not train, or was stopped by somebody else. */
bool beside_stop(struct beside *b);

#endif
