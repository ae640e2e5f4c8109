/*
 * A buffer split over two kinds of links, those of the GPUs and those of the host
 * (Blink, section on hybrid communication): trees of their own for each.
 */
#ifndef TREE_HYBRID_H
#define TREE_HYBRID_H

#include "base/fileio.h"
#include "gv-tree/plan/plan.h"
#include "table/tab.h"

struct hybrid {
	bool asked;
	double switch_s; /* T_dpa: what turning the GPUs' own links off and on takes */
	int64_t bytes;   /* D, of the buffer; may be 0 where switch_s is */

	/* what came of it */
	struct plan fast, slow; /* over NVLinks and XGMI; over all other links */
	double slow_part;       /* of the buffer: D_P / D */
	double achieved;        /* GB/s */
};

/*
 * Plans on both, and balances
 *
 *	D_P / B_P + T_dpa = D_N / B_N,	D_P + D_N = D,
 *
 * B = the rates of the plans; no part goes over the host where D <= T_dpa B_N, or where its
 * links do not reach all GPUs.  0, or -1 with *e: the GPUs' own links do not join them.
 */
int hybrid_make(struct hybrid *h, const struct gv_frame *frame, const char *gpus,
    const struct wish *w, struct gv_error *e);
void hybrid_say(const struct hybrid *h);
void hybrid_write(struct gv_out *out, const struct hybrid *h, bool tsv);
void hybrid_free(struct hybrid *h);

#endif
