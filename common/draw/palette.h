/*
 * Colours of charts, and the style sheet that has them.
 *
 * Series differ to people with any colour vision: six colours of Okabe and Ito's
 * palette without the yellow that nobody sees on white, and a grey.  All lines but the
 * first have dashes of their own, for paper, and since lines that coincide then show.
 */
#ifndef GV_DRAW_PALETTE_H
#define GV_DRAW_PALETTE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fileio.h"

enum { GV_PALETTE = 7, GV_CLASS_LEN = 16 };

/*
 * The classes of the i-th series: of its line (49 differ), in buf, which is returned, and
 * of an area filled with its colour.
 */
const char *gv_line_class(char buf[GV_CLASS_LEN], size_t i);
const char *gv_fill_class(size_t i);

/*
 * Writes the rules for everything that draw/chart.h draws.  In a page (page true)
 * colours are variables, which change where the reader likes dark pages; a drawing
 * that stands alone has them on white, since not every program knows variables.
 */
void gv_chart_style(struct gv_out *out, bool page);

#endif
