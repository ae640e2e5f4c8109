/* Plans of transformers as other programs take them. */
#ifndef GV_PARTITION_PTD_EXPORT_H
#define GV_PARTITION_PTD_EXPORT_H

#include "base/strbuf.h"
#include "ptd.h"

/*
 * Adds the options of Megatron-LM's pretrain_gpt.py that make it train *x as *k
 * says, one line without its end.  0, or -1: Megatron-LM has no such schedule.
 */
int ptd_export_megatron(struct gv_strbuf *s, const struct transformer *x,
    const struct ptd_machine *m, const struct ptd_plan *k);

#endif
