/* Losses, drawn. */
#ifndef GV_REPORT_REPORT_LOSSES_H
#define GV_REPORT_REPORT_LOSSES_H

#include "gv-report/losses/losses.h"
#include "name.h"
#include "options.h"

/* Whether a table that is alone is drawn so: as a text it is as good as any. */
bool report_losses_takes(const struct gv_tab *t, const struct options *o);

/* Reads the operands, of the first of which tab is at its first table, and draws them. */
void report_losses(
    const struct options *o, struct gv_tab *tab, const struct operand *operand, size_t n);

#endif
