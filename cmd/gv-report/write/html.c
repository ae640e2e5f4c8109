/* A page of one history. */
#include "gv-report/page/page.h"
#include "write.h"

void
write_html(struct gv_out *out, const struct report *r, const struct runs *runs,
    bool drawn, unsigned charts, int digits)
{
	struct page p = page_of(out, r, digits, true);

	page_add_jobs(&p);
	page_begin(out, p.text.s, p.text.len);
	gv_strbuf_clear(&p.text);
	if (drawn)
		write_svg(out, r, digits);
	gv_out_str(out, "<h2>Summary</h2>\n<dl>\n");
	page_summary(&p);
	gv_out_str(out, "</dl>\n");
	page_figures(out, runs, charts, digits);
	page_all_tables(&p);
	page_end(out);
	gv_strbuf_free(&p.text);
}
