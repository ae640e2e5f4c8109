/* Plans of transformers as other programs take them. */
#ifndef GV_PARTITION_PTD_EXPORT_H
#define GV_PARTITION_PTD_EXPORT_H

#include "base/strbuf.h"
#include "gv-partition/transformer/ptd.h"

/* Megatron-LM has only two of our schedules. */
static inline bool
ptd_export_can(enum ptd_schedule schedule)
{
	return schedule == PTD_FLUSH || schedule == PTD_INTERLEAVED;
}

/*
 * Adds the options of Megatron-LM's pretrain_gpt.py that make it train *x as *k
 * says, one line without its end.
 */
void ptd_export_megatron(struct gv_strbuf *s, const struct transformer *x,
    const struct ptd_machine *m, const struct ptd_plan *k);

#endif
