/* How wide texts are in drawings, before anything has rendered them. */
#ifndef GV_DRAW_TEXT_H
#define GV_DRAW_TEXT_H

#include <stddef.h>

#include "base/strbuf.h"

/*
 * Of a text at a font size of 11, about: most characters are as wide as the mean of
 * Latin ones, those of East Asian scripts and pictures as wide as they are high,
 * and marks on other characters add nothing.
 */
double gv_text_px(const char *s, size_t len);

/*
 * Sets b to the text, or where that is wider than px, to its beginning and its end with
 * ... between: names often differ at their ends.  Whole characters; at least one of them.
 */
void gv_text_fit(struct gv_strbuf *b, const char *s, size_t len, double px);

#endif
