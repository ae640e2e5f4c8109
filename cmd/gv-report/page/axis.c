#include "axis.h"

#include <stdio.h>
#include <string.h>

#include "grid.h"

void
axis_draw(struct gv_svg *s, const struct axis *a)
{
	int digits, i;
	double step = gv_ticks(a->last, a->ticks, &digits);
	char buf[FIXED_LEN], name[FIXED_LEN + 8];

	for (i = 0; i * step <= a->last * (1 + 1e-9); i++) {
		double x = a->x + i * step * a->unit * a->px;
		bool is_last = (i + 1) * step > a->last * (1 + 1e-9);

		gv_svg_line(s, "grid", x, a->top, x, a->bottom);
		snprintf(name, sizeof(name), "%s%s%s", fixed(buf, i * step, digits),
		    is_last ? " " : "", is_last ? a->name : "");
		gv_svg_label(s, "mid dim", x, a->bottom + 16, name, strlen(name));
	}
	gv_svg_line(s, "axis", a->x, a->bottom, a->x + a->width, a->bottom);
}
