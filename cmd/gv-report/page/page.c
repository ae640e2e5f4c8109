#include "page.h"

/* A heading of the whole report: in a text, an empty line. */
static void
part_heading(struct page *p, const char *what)
{
	if (p->html)
		gv_out_fmt(p->out, "<h2>%s</h2>\n", what);
	else
		gv_out_char(p->out, '\n');
}

void
page_all_tables(struct page *p)
{
	if (p->r->history.n_types > 0) {
		part_heading(p, "GPU types");
		page_types(p);
	}
	if (p->r->summary.n_entities > 1) {
		part_heading(p, "Entities");
		page_entities(p);
	}
	if (p->r->history.n_jobs > 0) {
		part_heading(p, "Jobs");
		page_jobs(p);
	}
}

struct time_unit
page_unit(const struct report *r)
{
	double s = r->history.last_s;

	return s < 600     ? (struct time_unit){"s", 1}
	       : s < 36000 ? (struct time_unit){"min", 60}
			   : (struct time_unit){"h", 3600};
}

struct page
page_of(struct gv_out *out, const struct report *r, int digits, bool html)
{
	struct time_unit unit = page_unit(r);

	return (struct page){.out = out,
	    .r = r,
	    .digits = digits,
	    .unit = unit.name,
	    .unit_s = unit.s,
	    .html = html};
}
