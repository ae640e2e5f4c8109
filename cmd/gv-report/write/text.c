#include "write.h"

#include "gv-report/page/page.h"

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
