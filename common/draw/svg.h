/*
 * Writing SVG, element by element; HTML too, which needs the same care.
 *
 * Texts and attributes are escaped; bytes that XML cannot hold (control bytes,
 * what is not UTF-8) become U+FFFD, so that the output is well-formed whatever a
 * table held.  Numbers have at most two digits behind the point: the same bytes
 * everywhere.  Errors stick in the output and show when it is closed.
 */
#ifndef GV_DRAW_SVG_H
#define GV_DRAW_SVG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fileio.h"

enum { GV_SVG_DEPTH = 16 };

/* = {.out = out} is ready for the first element. */
struct gv_svg {
	struct gv_out *out;
	int depth;
	struct {
		const char *name; /* of an open element; the caller's, a literal */
		bool has_content; /* its start tag is complete */
	} level[GV_SVG_DEPTH];
};

/* Begins an element inside the present one; what follows is its attributes, then its content. */
void gv_svg_open(struct gv_svg *s, const char *name);
/* Attributes, only between open and the first content. */
void gv_svg_attr(struct gv_svg *s, const char *name, const char *value);
void gv_svg_num(struct gv_svg *s, const char *name, double value);
/* Content. */
void gv_svg_text(struct gv_svg *s, const char *text, size_t len);
void gv_svg_str(struct gv_svg *s, const char *text);
/* Ends the present element; with its line, when the parent is no text. */
void gv_svg_close(struct gv_svg *s);

/* The root element of a drawing of that size, with its <title>; close it at the end. */
void gv_svg_begin(struct gv_svg *s, double width, double height, const char *title);

/* Common elements; cls is a class of the style sheet, NULL = none. */
void gv_svg_rect(
    struct gv_svg *s, const char *cls, double x, double y, double w, double h);
void gv_svg_line(
    struct gv_svg *s, const char *cls, double x1, double y1, double x2, double y2);
void gv_svg_label(
    struct gv_svg *s, const char *cls, double x, double y, const char *text, size_t len);

/*
 * Places for about n ticks on an axis from 0 to max: the distance between them,
 * 1, 2 or 5 times a power of ten; *digits is how many they need behind the point.
 */
double gv_ticks(double max, int n, int *digits);

#endif
