#include "write.h"

#include "draw/svg.h"
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

static void
tables(struct page *p)
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

static struct page
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
		tables(&p);
	}
	gv_strbuf_free(&p.text);
}

const char page_head[] =
    "<!DOCTYPE html>\n"
    "<html lang=\"en\">\n"
    "<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n"
    "<style>\n"
    "body{font:13.5px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu "
    "Sans',sans-serif;"
    "color:#343a40;background:#fff;max-width:1130px;margin:0 auto;padding:0 24px 48px}\n"
    "svg{display:block;margin:0 -24px;max-width:calc(100% + 48px);height:auto}\n"
    "h2{font-size:16px;color:#212529;margin:28px 0 8px}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 20px;margin:0}\n"
    "dt{color:#868e96}dd{margin:0}\n"
    "div{overflow-x:auto}\n"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:4px 16px 4px 0;text-align:left;white-space:nowrap}\n"
    "th{font-weight:600;border-bottom:1px solid #adb5bd}\n"
    "td{border-bottom:1px solid #e9ecef}\n"
    ".r{text-align:right}\n"
    "p{color:#868e96}\n"
    "</style>\n";

void
write_html(struct gv_out *out, const struct report *r, int digits)
{
	struct page p = page_of(out, r, digits, true);
	struct gv_svg s = {.out = out};

	gv_out_str(out, page_head);
	page_add_jobs(&p);
	gv_svg_open(&s, "title");
	gv_svg_text(&s, p.text.s, p.text.len);
	gv_svg_close(&s);
	gv_strbuf_clear(&p.text);
	write_svg(out, r, digits);
	gv_out_str(out, "<h2>Summary</h2>\n<dl>\n");
	page_summary(&p);
	gv_out_str(out, "</dl>\n");
	tables(&p);
	gv_out_str(out, "</html>\n");
	gv_strbuf_free(&p.text);
}
