#include "links.h"

#include <string.h>

#include "base/num.h"

void
links_start(struct gv_frame *f, const char *file)
{
	static const struct gv_cell name[] = {
	    {"src", 3}, {"dst", 3}, {"gbytes_per_s", 12}, {"kind", 4}};

	gv_frame_start(f, file, false, name, 4);
}

void
links_one_way(struct gv_frame *f, const char *u, const char *v, double gbytes_per_s,
    const char *kind, long line)
{
	char rate[GV_NUM_LEN];
	size_t len = gv_format_double(rate, gbytes_per_s);
	const struct gv_cell cell[] = {
	    {u, strlen(u)}, {v, strlen(v)}, {rate, len}, {kind, strlen(kind)}};

	gv_frame_add(f, cell, line);
}

void
links_add(struct gv_frame *f, const char *u, const char *v, double gbytes_per_s,
    const char *kind, long line)
{
	links_one_way(f, u, v, gbytes_per_s, kind, line);
	links_one_way(f, v, u, gbytes_per_s, kind, line);
}
