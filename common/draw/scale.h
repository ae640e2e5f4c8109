/* Numbers to places in a drawing, and where the ticks of an axis are. */
#ifndef GV_DRAW_SCALE_H
#define GV_DRAW_SCALE_H

#include <stdbool.h>
#include <stddef.h>

/* From min at from_px to max at to_px, in proportion or (log) by ratio, min > 0. */
struct gv_scale {
	double min, max;
	bool log;
	bool
	    whole; /* in proportion, of things that are counted: ticks at whole numbers */
	double from_px, to_px;
};

enum { GV_TICKS = 96, GV_TICK_LEN = 24 };

struct gv_tick {
	double value;
	bool named; /* else a short stroke between two that are */
	char name[GV_TICK_LEN];
};

/* Where v is; what lies outside is at the nearer end, also numbers <= 0 where log. */
double gv_scale_px(const struct gv_scale *s, double v);

/*
 * A scale of round ends around what lies between least and most: from 0 on where it
 * is in proportion, between 1, 2 or 5 times powers of ten where it is by ratio.
 * Something even for no numbers at all (most < least, NAN).
 */
struct gv_scale gv_scale_linear(double most);
/* In proportion, of things that are counted, up to a whole number. */
struct gv_scale gv_scale_count(double most);
struct gv_scale gv_scale_log(double least, double most);

/* About so many named ticks in tick[GV_TICKS], rising; their number. */
size_t gv_scale_ticks(const struct gv_scale *s, int about, struct gv_tick *tick);

/*
 * A number for people: four digits, or with k, M, G, T (10^3 ...) those of a number of
 * 10,000 or more.  Returns buf.
 */
char *gv_show_number(char buf[GV_TICK_LEN], double v);

#endif
