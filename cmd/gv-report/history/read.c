#include "read.h"

int
history_read(struct history *h, struct gv_tab *tab, long *cut, struct gv_error *e)
{
	size_t before = e->count, bad;
	struct gv_events_in in;
	struct gv_event ev;
	int got;

	*cut = 0;
	if (gv_events_on(&in, tab, e) != 0)
		return -1;
	for (bad = before; (got = gv_events_next(&in, &ev, e)) != 0; bad = e->count) {
		if (got > 0) {
			history_event(h, &ev, gv_tab_file(tab), gv_tab_line(tab), e);
		} else if (gv_tab_cut(tab) && !h->ended) {
			e->count = bad;
			*cut = gv_tab_line(tab);
		}
	}
	history_close(h);
	return e->count == before ? 0 : -1;
}
