#include "write.h"

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

struct page
page_of(struct gv_out *out, const struct report *r, int digits, bool html)
{
	struct unit unit = choose_unit(r);

	return (struct page){.out = out,
	    .r = r,
	    .digits = digits,
	    .unit = unit.name,
	    .unit_s = unit.s,
	    .html = html};
}

void
write_text(
    struct gv_out *out, const struct report *r, const struct part *part, int digits)
{
	static void (*const page[PARTS])(struct page *) = {
	    page_summary, page_types, page_entities, page_jobs, page_shares};
	struct page p = page_of(out, r, digits, false);

	if (part != NULL) {
		page[part - parts](&p);
	} else {
		page_summary(&p);
		page_all_tables(&p);
	}
	gv_strbuf_free(&p.text);
}
